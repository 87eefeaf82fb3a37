// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The end-to-end transport sends nothing again that was not lost, and where it does it says so.
#include "testbenches/system/ub_bench.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

ub_mesh_config loaded_rack(std::uint64_t bytes)
{
    ub_mesh_config config = ub_rack();
    config.ub.transport = ub_transport::rtp;
    config.run.data = data_mode::off;
    config.run.workload = {ub_spec(collective_op::all_to_all, {algorithm::direct}, {bytes})};
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
        const ub_verdict v = run_exact(config);
        fmt::print("{}: {} packets sent, {} again, {:.1f} us\n", name_of(use), v.sent, v.resent,
                   static_cast<double>(v.time()) / 1e6);
        CHECK(v.dropped == 0);
        CHECK(v.resent == 0);
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
    config.ub.rtp_timeout = duration(500'000);
    const std::vector<config_problem> told = config.validate();
    const auto warning =
        std::find_if(told.begin(), told.end(), [](const config_problem& p) { return p.key == "ub.rtp_timeout"; });
    REQUIRE(warning != told.end());
    CHECK(warning->level == severity::warning);
    CHECK(warning->message.find("an acknowledgement takes") != std::string::npos);
    const ub_verdict v = run_exact(config);
    CHECK(v.dropped == 0);
    CHECK(v.resent > 0);
    INFO(v.warnings.data());
    CHECK(v.warns("packets were sent again"));
    CHECK(v.warns("although the first copy arrived"));
    // The default wait is above the loaded round trip that can be computed.
    for (const config_problem& p : loaded_rack(1 << 20).validate())
        CHECK(p.key != "ub.rtp_timeout");
}
