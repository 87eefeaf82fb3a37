// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The end-to-end transport sends nothing again that was not lost, and where it does it says so. What was lost costs one timeout.
#include "hw/ub/ub_link.h"
#include "testbenches/issues/program.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;
using Catch::Matchers::Contains;
using weft::testing::program_folder;

namespace {

ub_mesh_config loaded_rack(std::uint64_t bytes)
{
    ub_mesh_config config = ub_rack();
    config.ub.transport = ub_transport::rtp;
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {bytes})};
    return config;
}

} // namespace

TEST_CASE("nothing is sent again on a loaded rack that loses nothing", "[ub]")
{
    for (const auto use : {ub_path_use::shortest, ub_path_use::all}) {
        ub_mesh_config config = loaded_rack(6 << 20);
        config.ub.paths = use;
        // Above the loaded round trip that `weft check` computes; 32 MiB a rank with the default need as much, and longer runs.
        config.ub.rtp_timeout = duration(15 * k_us);
        const verdict v = run_exact(config);
        fmt::print("{}: {} packets sent, {} again, {:.1f} us\n", name_of(use), v.stat("ub.sent"), v.stat("ub.resent"),
                   static_cast<double>(v.time()) / 1e6);
        CHECK(v.stat("ub.lost") == 0);
        CHECK(v.stat("ub.resent") == 0);
        CHECK_FALSE(v.warns("sent again"));
    }
}

// Without back-off of the whole channel new packets would always wait too short: each is sent twice, so none gives a sample.
TEST_CASE("a wait that proved too short stays doubled for new packets until a round trip is measured", "[ub]")
{
    constexpr std::uint64_t round_trip = 350;
    rtp_round_trip all;
    rtp_sender s(8, 100, 7, all);
    unsigned resent = 0;
    const auto run_until = [&](std::uint64_t end_ps) {
        for (std::uint64_t at = s.next_deadline_ps(); at < end_ps; at = s.next_deadline_ps())
            REQUIRE(s.expire(at, 0, [&](std::uint32_t, const rtp_sender::slot&) { ++resent; }));
    };
    const auto nothing = [](const rtp_sender::slot&) {};
    s.push(1, 0, 0);
    run_until(round_trip);
    CHECK(resent == 2); // at 100 and 300
    s.acknowledge({1, 0, 0}, round_trip, 1, nothing);
    CHECK(all.wait_ps() == 0); // nobody knows which copy it was
    s.push(2, 0, 400);
    CHECK(s.next_deadline_ps() == 400 + 4 * 100); // not 500: it would be sent again before its answer can come
    run_until(400 + round_trip);
    CHECK(resent == 2);
    s.acknowledge({2, 0, 0}, 400 + round_trip, 1, nothing);
    CHECK(all.wait_ps() == 2 * round_trip);
    s.push(3, 0, 1000);
    CHECK(s.next_deadline_ps() == 1000 + 2 * round_trip); // measured: no doubling any more
}

TEST_CASE("packets that are sent again though none was lost are reported", "[ub]")
{
    // A wait far below the first round trip: no estimate can know better before the first acknowledgement.
    ub_mesh_config config = loaded_rack(1 << 20);
    config.ub.rtp_timeout = duration(1 * k_us);
    const std::vector<config_problem> told = config.validate();
    const auto warning =
        std::find_if(told.begin(), told.end(), [](const config_problem& p) { return p.key == "ub.rtp_timeout"; });
    REQUIRE(warning != told.end());
    CHECK(warning->level == severity::warning);
    CHECK(warning->message.find("an acknowledgement takes") != std::string::npos);
    const verdict v = run_exact(config);
    CHECK(v.stat("ub.lost") == 0);
    CHECK(v.stat("ub.resent") > 0);
    INFO(v.warning_text());
    CHECK(v.warns("packets were sent again"));
    CHECK(v.warns("although the first copy arrived"));
    // The default wait is above the loaded round trip that can be computed.
    for (const config_problem& p : loaded_rack(1 << 20).validate())
        CHECK(p.key != "ub.rtp_timeout");
}

// Sources hear of the link 13 us after it has failed, long before any of these waits ends.
TEST_CASE("a lost link costs one timeout however many packets were on it", "[ub]")
{
    ub_mesh_config config = ub_board();
    config.ub.transport = ub_transport::rtp;
    config.ub.spreading = ub_spreading::packet;
    config.run.data = data_mode::off;
    config.run.firmware_timeout = duration(100 * k_ms);
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {4 << 20})};
    for (const std::uint32_t window : {256u, 16u}) {
        config.ub.rtp_window = window;
        config.ub.rtp_tries = 7;
        config.ub.rtp_timeout = duration(25'600'000);
        config.faults.links.clear();
        const std::uint64_t healthy_ps = run_exact(config).time();
        config.faults.links = {link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", 6 * k_us)};
        for (const std::uint64_t wait_ps : {25'600 * k_us / 1000, 200 * k_us, 1 * k_ms})
            for (const std::uint32_t tries : {7u, 1u}) {
                if (tries == 1 && window != 256)
                    continue; // a last try goes over all paths, which small windows wait for
                config.ub.rtp_timeout = duration(wait_ps);
                config.ub.rtp_tries = tries;
                const verdict v = run_exact(config);
                fmt::print("window {}, {} tries, wait {} us: {:.1f} us, without the failure {:.1f}; {} lost, {} sent again\n",
                           window, tries, wait_ps / k_us, static_cast<double>(v.time()) / 1e6,
                           static_cast<double>(healthy_ps) / 1e6, v.stat("ub.lost"), v.stat("ub.resent"));
                CHECK(v.stat("ub.lost") > 0);
                // What is left when the link fails comes behind the wait where windows are small: one descriptor of a local port serves all
                // ranks in turn, so it waits with the rank whose window is closed, and sends the rest 16 packets at a time.
                CHECK(v.time() < wait_ps + healthy_ps + (window == 256 ? 15 : 30) * k_us);
                if (window == 256)
                    CHECK(v.time() < wait_ps + 60 * k_us);
            }
    }
}

TEST_CASE("packets lost together are sent again together and the first round trip ends the doubling", "[ub]")
{
    rtp_round_trip all;
    rtp_sender s(8, 100, 7, all);
    std::vector<std::uint64_t> resent;
    const auto again = [&](std::uint64_t now) {
        REQUIRE(s.expire(now, 0, [&](std::uint32_t, const rtp_sender::slot&) { resent.push_back(now); }));
    };
    const auto nothing = [](const rtp_sender::slot&) {};
    for (std::uint64_t i = 0; i < 4; ++i)
        s.push(1, 0, i < 3 ? 0 : 10);
    again(s.next_deadline_ps());
    again(s.next_deadline_ps());
    CHECK(resent == std::vector<std::uint64_t>{100, 100, 100, 110});
    s.push(1, 0, 120);
    CHECK_FALSE(s.acknowledge({4, 0, 0}, 130, 1, nothing));
    CHECK(s.next_deadline_ps() == 120 + 2 * 100);
    s.push(1, 0, 140);
    CHECK(s.acknowledge({5, 0, 0}, 150, 1, nothing)); // number 4, sent once
    CHECK(s.next_deadline_ps() == 140 + 100);
}

TEST_CASE("an acknowledgement that was lost makes no round trip of the wait", "[ub]")
{
    rtp_round_trip all;
    rtp_sender s(8, 100, 7, all);
    const auto nothing = [](const rtp_sender::slot&) {};
    s.push(1, 0, 0);
    s.push(2, 0, 50);
    unsigned resent = 0;
    REQUIRE(s.expire(100, 0, [&](std::uint32_t, const rtp_sender::slot&) { ++resent; }));
    CHECK(resent == 1);
    s.acknowledge({2, 0, 0}, 110, 1, nothing); // of the copy; tells of number 1 as well, which came long ago
    CHECK(s.empty());
    CHECK(all.wait_ps() == 0);
}

TEST_CASE("a wait below the round trip of an idle machine is refused and no destination is unreachable by haste",
          "[ub]")
{
    const program_folder folder;
    const auto says = [&](const char* mesh, const char* wait) {
        folder.write("a.yaml", fmt::format("platform: ub_mesh\nname: a\ndata: off\nmesh: {{{}}}\nub:\n  transport: rtp\n"
                                           "  rtp_timeout: {}\nworkload: [{{op: all_to_all, sizes: [1 MiB]}}]\n",
                                           mesh, wait));
        const int code = folder.weft("check a.yaml");
        return fmt::format("{}: {}", code, folder.read("stderr"));
    };
    ub_mesh_config config = ub_board();
    const std::uint64_t least_ps =
        ub_zero_load_round_trip_ps(config.ub, {{config.mesh.x_lanes, config.cables.x, ub_device::npu, false}});
    CHECK(least_ps > 4 * config.ub.npu_latency.value());
    const std::string refused = says("boards: 1, npus: 8, backplane: false", "1 ps");
    CHECK_THAT(refused, Catch::Matchers::StartsWith("2: a.yaml:7:16: error: ub.rtp_timeout: is 1 ps, but a packet to the "
                                                    "nearest NPU and its acknowledgement take ") &&
                            Contains(fmt::format("write {} or more", to_string(duration(least_ps)))));
    CHECK_THAT(says("boards: 1, npus: 8, backplane: false", to_string(duration(least_ps)).c_str()), !Contains("error"));
    CHECK_THAT(says("boards: 8, npus: 8", "1 ps"), Contains("error: ub.rtp_timeout"));
    // The least that is taken, and one try: slower than any queue.
    config.ub.transport = ub_transport::rtp;
    config.ub.rtp_timeout = duration(least_ps);
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20})};
    for (const std::uint32_t tries : {1u, 2u, 7u}) {
        config.ub.rtp_tries = tries;
        CHECK(run_exact(config).stat("ub.lost") == 0);
    }
}
