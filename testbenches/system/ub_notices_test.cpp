// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Direct notification against hop by hop (UB-Mesh, section 4.2): time until the last source that uses a failed link has switched to other
// paths, at rack, pod and SuperPod scale, and what a job in a rack sees of it.
#include "hw/ub/ub_notice_times.h"
#include "hw/routing/ub/ub_paths.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

/// The first link of every class.
std::vector<std::pair<ub_channel, std::uint32_t>> one_of_each_class(const ub_plan& plan)
{
    std::vector<std::pair<ub_channel, std::uint32_t>> all;
    for (std::uint32_t l = 0; l < plan.links.size(); l += 2) { // the other direction has the number behind
        const ub_channel c = plan.links[l].channel;
        if (std::none_of(all.begin(), all.end(), [&](const auto& a) { return a.first == c; }))
            all.emplace_back(c, l);
    }
    return all;
}

/// Closed form by relaxation over all links until nothing changes: least time of a notice from either end of `link` to each router, when every
/// control processor works on it for `per_hop_ps`.
std::vector<std::uint64_t> least_flood(const ub_plan& plan, const ub_config& ub, std::uint32_t link, std::uint64_t per_hop_ps)
{
    std::vector<std::uint64_t> at(plan.routers.size(), k_never_ps);
    at[plan.links[link].from] = at[plan.links[link].to] = 0;
    const auto device_ps = [&](std::uint32_t router) {
        const ub_device d = plan.routers[router].device;
        return (d == ub_device::hrs ? ub.hrs_latency : d == ub_device::lrs ? ub.lrs_latency : ub.npu_latency).value();
    };
    const auto crossing_ps = [&](std::uint32_t router, std::uint32_t port) { // the control processor is on the first die
        const ub_router_plan& r = plan.routers[router];
        return r.local_ports >= 2 && port >= r.second_die_from ? ub.die_crossing.value() : 0;
    };
    const double notice_bits = 100 * 8;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t l = 0; l < plan.links.size(); ++l) {
            const ub_link_plan& k = plan.links[l];
            if (l == link || l == (link ^ 1u) || at[k.from] == k_never_ps)
                continue;
            const double bits_per_ps = static_cast<double>(ub.lane_rate.value()) * k.lanes * 120 / 128 / 1e12;
            // Into the device as fast as the local port is, through it, over the wire, through the next one; the last byte.
            const auto wire_ps = static_cast<std::uint64_t>(notice_bits / bits_per_ps + 0.5);
            const std::uint64_t then = at[k.from] + per_hop_ps + device_ps(k.from) + crossing_ps(k.from, k.from_port) + k.propagation.value() +
                                       ub.mac_latency.value() + device_ps(k.to) + crossing_ps(k.to, k.to_port) + wire_ps;
            if (then < at[k.to])
                at[k.to] = then, changed = true;
        }
    }
    return at;
}

struct scale {
    const char* name;
    ub_mesh_config config;
};

std::vector<scale> scales()
{
    ub_mesh_config pod = ub_racks(4, 4, 8, 8);
    pod.mesh.hrs = true;
    ub_mesh_config super = pod;
    super.mesh.pods = 8;
    return {{"rack", ub_rack()}, {"pod", pod}, {"SuperPod", super}};
}

} // namespace

TEST_CASE("direct notification beats hop by hop at rack and pod and SuperPod scale", "[ub]")
{
    fmt::print("{:<10}{:<8}{:>9}{:>14}{:>16}{:>9}\n", "", "link", "sources", "direct", "hop by hop", "factor");
    for (const scale& s : scales()) {
        const ub_mesh_config& config = s.config;
        const ub_routes routes(config);
        const ub_plan& plan = routes.plan;
        for (const auto& [channel, link] : one_of_each_class(plan)) {
            const std::vector<std::uint32_t> affected = routes.sources_over(link);
            INFO(s.name << ", link " << name_of(channel));
            REQUIRE_FALSE(affected.empty());
            std::uint64_t last_ps[2] = {};
            for (const bool direct : {true, false}) {
                ub_notice_config faults;
                faults.notification = direct ? ub_notification::direct : ub_notification::hop_by_hop;
                const ub_notice_times times(plan, config.ub, faults, routes.down);
                last_ps[direct ? 0 : 1] = ub_notice_times::last_after_ps(times.of(link, affected));
                CHECK(times.at_most_ps(link, affected, 0) > last_ps[direct ? 0 : 1]);
                if (direct)
                    continue; // system/ub_notice_packets_test
                const std::vector<std::uint64_t> ways = least_flood(plan, config.ub, link, faults.flood_per_hop.value());
                std::uint64_t last = 0;
                for (const std::uint32_t source : affected)
                    last = std::max(last, ways[source]);
                const std::uint64_t closed =
                    config.ub.detection.value() + last + faults.flood_per_hop.value() + faults.table_write.value();
                // Serialisation is rounded to a picosecond, and the local port is not much faster than a link.
                CHECK(last_ps[1] + 2000 > closed);
                CHECK(last_ps[1] < closed + 2000);
            }
            const double factor = static_cast<double>(last_ps[1]) / static_cast<double>(last_ps[0]);
            fmt::print("{:<10}{:<8}{:>9}{:>11.3f} us{:>13.3f} us{:>9.1f}\n", s.name, name_of(channel), affected.size(),
                       static_cast<double>(last_ps[0]) / 1e6, static_cast<double>(last_ps[1]) / 1e6, factor);
            CHECK(factor > 1);
        }
    }
}

TEST_CASE("a source is told of the links that it uses and of no others", "[ub]")
{
    const ub_mesh_config config = ub_rack();
    const auto topology = std::make_shared<const ub_topology>(config.mesh, config.cables);
    const ub_paths paths(topology, lane_rule_of(lane_word_for(config.mesh)), {});
    const std::uint32_t nics_from = topology->nic_router(0, 0); // NICs speak to NPUs and CPUs, not to each other
    for (const auto& [channel, link] : one_of_each_class(topology->plan())) {
        std::vector<bool> uses(topology->endpoints(), false);
        for (std::uint32_t from = 0; from < topology->endpoints(); ++from)
            for (std::uint32_t to = 0; to < topology->endpoints() && !uses[from]; ++to)
                if (from != to && (from < nics_from || to < nics_from))
                    for (const ub_path& p : paths.paths(from, to, {}))
                        uses[from] = uses[from] || std::find(p.links.begin(), p.links.end(), link) != p.links.end();
        const std::vector<std::uint32_t> told = paths.affected_sources(link);
        CHECK_FALSE(told.empty());
        INFO(name_of(channel) << " " << topology->plan().routers[topology->plan().links[link].from].name << " to "
                              << topology->plan().routers[topology->plan().links[link].to].name);
        for (std::uint32_t e = 0; e < uses.size(); ++e)
            if (uses[e] != std::binary_search(told.begin(), told.end(), e))
                FAIL_CHECK(topology->plan().routers[e].name
                           << (uses[e] ? " uses it and is not told" : " is told and does not use it"));
    }
}

TEST_CASE("a job sees the difference between direct and hop by hop notification", "[ub]")
{
    ub_mesh_config config = ub_machine_of(4, 4);
    config.ub.transport = ub_transport::rtp;
    config.run.data = data_mode::off;
    config.run.burst = packet_count(8);
    config.run.workload = {
        spec(collective_op::all_to_all, {algorithm::direct}, std::vector<std::uint64_t>(100, 1 << 20))};
    run_exact(config);
    config.faults.links = {link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", 20 * k_us)};
    std::uint64_t lost_ps[2] = {}, affected[2] = {};
    for (const bool direct : {true, false}) {
        config.faults.notification = direct ? ub_notification::direct : ub_notification::hop_by_hop;
        const verdict v = run_exact(config);
        // Cases that had to send something again take longer than the last one, which knows of the failure.
        for (std::size_t i = 0; i < v.cases.size(); ++i) {
            const std::uint64_t knowing_ps = v.time(v.cases.size() - 1);
            if (v.time(i) <= knowing_ps + 10 * k_us)
                continue;
            ++affected[direct ? 0 : 1];
            lost_ps[direct ? 0 : 1] += v.time(i) - knowing_ps;
        }
    }
    const double factor = static_cast<double>(lost_ps[1]) / static_cast<double>(lost_ps[0]);
    fmt::print(
        "a link of a board of 4 x 4 NPUs fails among 100 all-to-alls: direct costs {:.1f} us and blocks {}, hop by hop "
        "{:.1f} us and {}: {:.1f} times as much\n",
        static_cast<double>(lost_ps[0]) / 1e6, affected[0], static_cast<double>(lost_ps[1]) / 1e6, affected[1], factor);
    CHECK(factor > 3);
    CHECK(affected[0] <= 3);
    CHECK(affected[1] > 10);
}

TEST_CASE("results tell how many notices were sent and their bytes and the slowest of them", "[ub]")
{
    ub_mesh_config config = ub_machine_of(4, 4);
    config.ub.transport = ub_transport::rtp;
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20, 1 << 20})};
    const verdict healthy = run_exact(config);
    CHECK(healthy.stats.count("notices.notices") == 0); // nobody is told of anything
    config.faults.links = {link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", 5 * k_us)};
    for (const ub_notification how : {ub_notification::direct, ub_notification::hop_by_hop}) {
        config.faults.notification = how;
        config.faults.flood_per_hop = duration(k_us);
        const verdict v = run_exact(config);
        INFO(name_of(how));
        CHECK(v.stat("notices.notices") >= 23);
        CHECK(v.stat("notices.bytes") == (v.stat("notices.notices") + v.stat("notices.acknowledgements")) * 100);
        CHECK(v.stat("notices.slowest") > 10 * k_us);
        CHECK(v.stat("notices.slowest") < 20 * k_us);
        CHECK(v.stat("notices.not_arrived") == 0);
        config.faults.notice_payload = data_size(100);
        CHECK(run_exact(config).stat("notices.bytes") == v.stat("notices.bytes") / 100 * 180);
        config.faults.notice_payload = data_size(16);
    }
}

TEST_CASE("nobody is told of the links of an NPU that has failed from the start", "[ub]")
{
    ub_mesh_config config = ub_machine_of(4, 4);
    config.ub.transport = ub_transport::rtp;
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20, 1 << 20})};
    config.faults.recovery = ub_recovery::mask;
    ub_npu_fault_config failed;
    failed.npu = "npu(p0,r0,b3,3)";
    config.faults.npus = {failed};
    config.faults.links = {link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", 5 * k_us)};
    const verdict v = run_exact(config);
    CHECK(v.stat("notices.notices") > 10);
    CHECK(v.stat("notices.notices") <= 30 + v.stat("notices.repeats")); // one for each source of the one link
    CHECK(v.stat("notices.repeats") < 10);
}
