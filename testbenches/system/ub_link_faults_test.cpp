// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Links of UB-Mesh that fail, come back, narrow or have bit errors while collectives run. With end-to-end transport every packet is
// delivered exactly once and every answer is exact; without, a run names the link, or completes because it did not need it.
#include "testbenches/support/small_machines.h"

#include <random>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

constexpr const char* k_from = "npu(p0,r0,b0,0)";
constexpr const char* k_to = "npu(p0,r0,b0,1)";

ub_mesh_config small_rack(ub_transport transport)
{
    ub_mesh_config config = ub_machine_of(4, 4);
    config.ub.transport = transport;
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::hierarchical, algorithm::direct}, {200000}),
                           spec(collective_op::all_to_all, {algorithm::direct}, {200000})};
    return config;
}

} // namespace

TEST_CASE("a link that fails at any time loses nothing with end-to-end transport", "[ub]")
{
    ub_mesh_config config = small_rack(ub_transport::rtp);
    const verdict healthy = run_exact(config);
    unsigned resent = 0, told = 0, runs = 0;
    for (const ub_notification notification :
         {ub_notification::direct, ub_notification::hop_by_hop, ub_notification::none}) {
        config.faults.notification = notification;
        config.faults.flood_per_hop = duration(5 * k_us);
        const std::uint64_t end_ps = healthy.simulated_time_ps;
        for (std::uint64_t at = k_us / 2; at < end_ps + 5 * k_us; at += end_ps / 9 + 777) {
            config.faults.links = {link_fault(k_from, k_to, at)};
            INFO(name_of(notification) << ", down at " << at << " ps");
            const verdict v = run_exact(config);
            INFO(v.warning_text());
            CHECK(v.payload_digest == healthy.payload_digest);
            // The last acknowledgements may be lost: others tell the same, and nothing is sent again.
            const bool some_acknowledgements = v.stat("ub.lost") <= 4;
            CHECK((some_acknowledgements || v.stat("ub.resent") > 0));
            CHECK_FALSE(v.warns("no collective needed it"));
            CHECK(v.warns(fmt::format("link {}.X1 to {} and back ", k_from, k_to).c_str()));
            resent += v.stat("ub.resent") > 0 ? 1 : 0;
            told += v.warns("; data among them was sent again.") ? 1 : 0;
            if (v.stat("ub.lost") > v.stat("ub.resent") && !some_acknowledgements) // acknowledgements may be lost, too
                CHECK(v.stat("ub.duplicates_dropped") + v.stat("ub.resent") > 0);
            ++runs;
        }
    }
    CHECK(resent > runs / 2);
    CHECK(told >= resent);
}

TEST_CASE("links of every kind fail and collectives go on", "[ub]")
{
    ub_mesh_config config = ub_racks(1, 2, 2, 3);
    config.mesh.hrs = true;
    config.ub.transport = ub_transport::rtp;
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::hierarchical}, {100000}),
                           spec(collective_op::all_to_all, {algorithm::direct}, {200000})};
    const verdict healthy = run_exact(config);
    const std::pair<const char*, const char*> links[] = {{"npu(p0,r0,b0,0)", "npu(p0,r0,b1,0)"},
                                                         {"npu(p0,r0,b0,0)", "leaf(p0,r0,1.1)"},
                                                         {"leaf(p0,r0,1.1)", "leaf(p0,r1,1.1)"},
                                                         {"leaf(p0,r0,1.1)", "spine(p0,r0,1.1)"},
                                                         {"leaf(p0,r0,1.1)", "hrs(0)"}};
    for (const ub_notification notification : {ub_notification::direct, ub_notification::hop_by_hop})
        for (const auto& [from, to] : links) {
            config.faults.notification = notification;
            config.faults.flood_per_hop = duration(3 * k_us);
            config.faults.links = {link_fault(from, to, healthy.time(0) + 10 * k_us)};
            INFO(name_of(notification) << ", " << from << " to " << to);
            CHECK(run_exact(config).payload_digest == healthy.payload_digest);
        }
}

TEST_CASE("several links fail at once and one after another", "[ub]")
{
    ub_mesh_config config = small_rack(ub_transport::rtp);
    const verdict healthy = run_exact(config);
    for (const bool together : {true, false}) {
        config.faults.links.clear();
        std::uint64_t at = 15 * k_us;
        for (const char* to :
             {"npu(p0,r0,b0,1)", "npu(p0,r0,b0,2)", "npu(p0,r0,b1,0)", "npu(p0,r0,b2,0)", "leaf(p0,r0,2.1)"}) {
            config.faults.links.push_back(link_fault(k_from, to, at));
            at += together ? 0 : 4 * k_us;
        }
        const verdict v = run_exact(config);
        INFO(v.warning_text());
        CHECK(v.payload_digest == healthy.payload_digest);
        CHECK(v.stat("ub.resent") > 0);
        CHECK(v.simulated_time_ps > healthy.simulated_time_ps);
        CHECK(run(config).digest == v.digest);
    }
    // Random ones: by a seed, of all links between NPUs.
    std::mt19937 random(7);
    for (unsigned round = 0; round < 12; ++round) {
        config.faults.links.clear();
        while (config.faults.links.size() < 3) {
            const unsigned board = random() % 4, unit = random() % 4, other = random() % 4;
            const bool along_x = random() % 2 == 0;
            if (other == (along_x ? unit : board))
                continue;
            const std::string a = fmt::format("npu(p0,r0,b{},{})", board, unit);
            const std::string b = along_x ? fmt::format("npu(p0,r0,b{},{})", board, other)
                                          : fmt::format("npu(p0,r0,b{},{})", other, unit);
            std::vector<ub_link_fault_config>& all = config.faults.links;
            if (std::none_of(all.begin(), all.end(),
                             [&](const auto& f) { return (f.from == a && f.to == b) || (f.from == b && f.to == a); }))
                all.push_back(link_fault(a.c_str(), b.c_str(), 1 + random() % healthy.simulated_time_ps));
        }
        INFO("round " << round);
        CHECK(run_exact(config).payload_digest == healthy.payload_digest);
    }
}

TEST_CASE("a link that comes back is used again", "[ub]")
{
    ub_mesh_config config = ub_board(3); // where two have no other way but by the third
    config.ub.transport = ub_transport::rtp;
    config.run.workload = {
        spec(collective_op::all_to_all, {algorithm::direct}, std::vector<std::uint64_t>(8, 2 << 20))};
    config.ub.paths = ub_path_use::shortest;
    const verdict healthy = run_exact(config);
    ub_link_fault_config f = link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", healthy.simulated_time_ps / 4);
    config.faults.links = {f};
    const verdict for_ever = run_exact(config);
    f.until = duration(healthy.simulated_time_ps / 2);
    config.faults.links = {f};
    const verdict back = run_exact(config);
    CHECK(back.payload_digest == healthy.payload_digest);
    const auto as_healthy = [&](std::uint64_t time_ps) { // packets may go round robin in another order
        return static_cast<double>(time_ps) == Approx(static_cast<double>(healthy.time(7))).epsilon(0.005);
    };
    CHECK(as_healthy(back.time(7)));
    CHECK_FALSE(as_healthy(for_ever.time(7)));
    // Down from the start, and repaired.
    f.at = duration(0);
    config.faults.links = {f};
    const verdict repaired = run_exact(config);
    CHECK_FALSE(as_healthy(repaired.time(0)));
    CHECK(as_healthy(repaired.time(7)));
    CHECK(repaired.stat("ub.lost") == 0);
}

TEST_CASE("a failure between two collectives affects the second one", "[ub]")
{
    ub_mesh_config config = small_rack(ub_transport::rtp);
    const verdict healthy = run_exact(config);
    // Far behind the first collective nothing has been waited for: the second begins when it would have.
    config.faults.links = {link_fault(k_from, k_to, 50 * k_ms)};
    const verdict late = run_exact(config);
    CHECK(late.simulated_time_ps == healthy.simulated_time_ps);
    CHECK(late.digest == healthy.digest);
    CHECK(late.warns("goes down at 50 ms, after the end of the run at "));
    CHECK(late.warns("the fault had no effect."));
}

TEST_CASE("links that are down from the start are routed around", "[ub]")
{
    for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_mesh_config config = small_rack(transport);
        const verdict healthy = run_exact(config);
        for (const char* to :
             {"npu(p0,r0,b0,1)", "npu(p0,r0,b0,2)", "npu(p0,r0,b1,0)", "leaf(p0,r0,2.1)", "leaf(p0,r0,4.1)"}) {
            config.faults.links.push_back(link_fault(k_from, to, 0));
            const verdict v = run_exact(config);
            CHECK(v.payload_digest == healthy.payload_digest);
            CHECK(v.stat("ub.lost") == 0);
            CHECK(v.stat("ub.resent") == 0);
            CHECK(v.warnings.empty());
        }
    }
}

TEST_CASE("a narrowed link slows down what goes over it", "[ub]")
{
    for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_mesh_config config = ub_board(2);
        config.ub.transport = transport;
        config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {4 << 20, 4 << 20})};
        const verdict healthy = run_exact(config);
        ub_link_fault_config f = link_fault("npu(p0,r0,b0,1)", "npu(p0,r0,b0,0)", 0);
        for (const std::uint32_t lanes : {1u, 2u, 3u}) {
            f.lanes = lanes;
            f.at = duration(0);
            config.faults.links = {f};
            const verdict v = run_exact(config);
            const double ratio = static_cast<double>(v.time()) / static_cast<double>(healthy.time());
            INFO(lanes << " lanes of 4: " << ratio);
            CHECK(ratio == Approx(4.0 / lanes).epsilon(0.05));
            f.at = duration(healthy.time(0) + 5 * k_us); // the first is over, or nearly
            config.faults.links = {f};
            const verdict later = run_exact(config);
            CHECK(later.time(0) < v.time(0));
            CHECK(later.time(1) > healthy.time(1));
        }
    }
}

TEST_CASE("bit errors are repaired by the links", "[ub]")
{
    for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_mesh_config config = small_rack(transport);
        const verdict healthy = run_exact(config);
        config.ub.bit_error_rate = 1e-5; // each case draws anew: with less, a case may meet none
        const verdict v = run_exact(config);
        CHECK(v.payload_digest == healthy.payload_digest);
        CHECK(v.simulated_time_ps > healthy.simulated_time_ps);
        CHECK(run(config).digest == v.digest);
        config.ub.error_seed = 2;
        CHECK(run_exact(config).digest != v.digest);
        // One link alone.
        config.ub.bit_error_rate = 0;
        ub_link_fault_config bad = link_fault(k_from, k_to, 0);
        bad.bit_error_rate = 1e-5;
        config.faults.links = {bad};
        const verdict one = run_exact(config);
        CHECK(one.payload_digest == healthy.payload_digest);
        CHECK(one.digest != healthy.digest);
    }
}

TEST_CASE("links repeat one transmission for every packet that a bit error rate of 1e-6 damages", "[ub]")
{
    for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_mesh_config config = small_rack(transport);
        config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {4 << 20})};
        const verdict healthy = run_exact(config);
        CHECK(healthy.stat("ub.retries") == 0);
        config.ub.bit_error_rate = 1e-6;
        const verdict v = run_exact(config);
        CHECK(v.payload_digest == healthy.payload_digest);
        CHECK(v.simulated_time_ps > healthy.simulated_time_ps);
        // Damaged blocks are so rare that no transmission has two.
        const double expected = 1e-6 * static_cast<double>(v.more.at("wire_bits").get<std::uint64_t>());
        fmt::print("{}: {} repeated transmissions, {:.0f} expected\n", name_of(transport), v.stat("ub.retries"),
                   expected);
        CHECK(expected > 400);
        CHECK(std::fabs(static_cast<double>(v.stat("ub.retries")) - expected) < 5 * std::sqrt(expected)); // Poisson
    }
}

TEST_CASE("without end-to-end transport a run names the link that failed and what was lost", "[ub]")
{
    ub_mesh_config config = small_rack(ub_transport::ctp);
    config.run.firmware_timeout = duration(500 * k_us);
    const verdict healthy = run_exact(config);
    unsigned failures = 0, completed = 0;
    const std::uint64_t end_ps = healthy.simulated_time_ps;
    for (std::uint64_t at = k_us; at < end_ps + 20 * k_us; at += end_ps / 12 + 777) {
        config.faults.links = {link_fault(k_from, k_to, at)};
        const std::vector<config_problem> problems = config.validate();
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].key == "faults.links.0.at");
        CHECK(problems[0].message.find("with ub.transport: ctp what is on a link when it fails is lost") !=
              std::string::npos);
        const verdict v = run(config);
        INFO("down at " << at << " ps: " << v.failure << v.warning_text());
        CHECK(v.wrong == 0);
        CHECK(v.unsound == "");
        if (!v.failed) {
            ++completed;
            CHECK(v.stat("ub.lost") == 0);
            CHECK(v.payload_digest == healthy.payload_digest);
            continue;
        }
        ++failures;
        CHECK(v.says(
            fmt::format("link {}.X1 to {} and back went down at {}", k_from, k_to, to_string(duration(at))).c_str()));
        CHECK(v.says(" lost on it or before it."));
        CHECK(v.says("a wait timed out on DMA."));
        CHECK_FALSE(v.says("Nothing was blocked for good"));
        CHECK(v.stat("ub.lost") > 0);
    }
    CHECK(failures > 3);
    CHECK(completed > 0);
}

TEST_CASE("a device that loses all its links is named", "[ub]")
{
    ub_mesh_config config = ub_board(3);
    config.ub.transport = ub_transport::rtp;
    config.run.firmware_timeout = duration(20 * k_ms);
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {4 << 20})};
    config.faults.links = {link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", 20 * k_us),
                           link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,2)", 20 * k_us)};
    const verdict v = run(config);
    INFO(v.failure);
    CHECK(v.failed);
    CHECK(v.wrong == 0);
    CHECK(v.says("npu(p0,r0,b0,0) cannot reach npu(p0,r0,b0,1)"));
    CHECK(v.says("went down at 20 us"));
}

TEST_CASE("a link that its bit errors bring down is a failure like any other", "[ub]")
{
    ub_mesh_config config = small_rack(ub_transport::rtp);
    const verdict healthy = run_exact(config);
    config.ub.bit_error_rate = 1e-8;
    config.ub.retries = config.ub.reinitialisations = 0; // the first error is the last
    unsigned brought_down = 0;
    for (config.ub.error_seed = 1; config.ub.error_seed <= 8; ++config.ub.error_seed) {
        INFO("seed " << config.ub.error_seed);
        const verdict v = run_exact(config);
        INFO(v.warning_text());
        CHECK(v.payload_digest == healthy.payload_digest);
        CHECK((v.stat("ub.lost") > 0) == v.warns(" and back went down at "));
        CHECK((v.stat("ub.lost") > 0) == (v.stat("ub.resent") > 0));
        brought_down += v.stat("ub.lost") > 0 ? 1 : 0;
        CHECK(run(config).digest == v.digest);
    }
    CHECK(brought_down >= 2);
    CHECK(brought_down <= 8);
}
