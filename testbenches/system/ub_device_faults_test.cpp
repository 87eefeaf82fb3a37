// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Devices of UB-Mesh that fail: switches, CPUs, NICs and the spare NPU, alone and in pairs, from the start and at a time; several links of one
// device. A collective is exact, or the pairs that it names have no way left; and behind the failure it is as fast as with the same faults from
// the start.
#include "hw/routing/ub/ub_paths.h"
#include "testbenches/support/small_machines.h"

#include <random>
#include <set>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

constexpr std::uint64_t k_at_ps = 20 * k_us;

ub_mesh_config small_rack(ub_path_use use = ub_path_use::all)
{
    ub_mesh_config config = ub_machine_of(2, 4);
    config.ub.transport = ub_transport::rtp;
    config.ub.paths = use;
    config.run.firmware_timeout = duration(20 * k_ms);
    // The first ones meet the failure, the last one knows of it.
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {65532, 65532, 65532}),
                           spec(collective_op::all_reduce, {algorithm::ring_1d}, {65532, 65532})};
    return config;
}

ub_device_fault_config device_fault(const std::string& device, std::uint64_t at_ps)
{
    ub_device_fault_config f;
    f.device = device;
    f.at = duration(at_ps);
    return f;
}

/// Both times are of collectives that know what is broken.
void check_as_fast(const verdict& later, const verdict& from_start)
{
    const double ratio = static_cast<double>(later.times().back()) / static_cast<double>(from_start.times().back());
    INFO("behind the failure " << ratio << " times as long as with the fault from the start");
    CHECK(ratio < 1.03);
    CHECK(ratio > 0.97);
}

/// With the same faults at a time and from the start.
void check_both(ub_mesh_config config, std::uint64_t payload_digest)
{
    const verdict later = run_exact(config);
    INFO(later.warning_text() << later.restart_text());
    for (ub_device_fault_config& f : config.faults.devices)
        f.at = duration(0);
    for (ub_link_fault_config& f : config.faults.links)
        f.at = duration(0);
    const verdict from_start = run_exact(config);
    CHECK(later.payload_digest == payload_digest);
    CHECK(from_start.payload_digest == payload_digest);
    check_as_fast(later, from_start);
}

} // namespace

TEST_CASE("every switch and CPU and NIC and the spare NPU of a rack fails by itself", "[ub]")
{
    ub_mesh_config config = small_rack();
    const std::uint64_t healthy = run_exact(config).payload_digest;
    const std::vector<std::string> all = devices_of(config);
    CHECK(all.size() > 20);
    for (const std::string& device : all) {
        INFO(device);
        config.faults.devices = {device_fault(device, k_at_ps)};
        check_both(config, healthy);
    }
}

TEST_CASE("devices of a rack fail in pairs", "[ub]")
{
    ub_mesh_config config = small_rack();
    const std::uint64_t healthy = run_exact(config).payload_digest;
    const std::vector<std::string> all = devices_of(config);
    std::mt19937 random(5);
    for (unsigned i = 0; i < 30; ++i) {
        const std::string one = all[random() % all.size()], other = all[random() % all.size()];
        if (one == other)
            continue;
        INFO(one << " and " << other);
        config.faults.devices = {device_fault(one, k_at_ps), device_fault(other, k_at_ps + random() % (20 * k_us))};
        check_both(config, healthy);
    }
}

TEST_CASE("single links fail with every kind of paths", "[ub]")
{
    for (const ub_path_use use : {ub_path_use::shortest, ub_path_use::detour, ub_path_use::borrow, ub_path_use::all}) {
        ub_mesh_config config = small_rack(use);
        const std::uint64_t healthy = run_exact(config).payload_digest;
        const ub_topology topology(config.mesh, config.cables);
        const ub_plan& plan = topology.plan();
        for (std::uint32_t l = 0; l < plan.links.size(); l += use == ub_path_use::all ? 6 : 14) {
            config.faults.links = {link_fault(plan.routers[plan.links[l].from].name.c_str(), plan.routers[plan.links[l].to].name.c_str(), k_at_ps)};
            INFO(name_of(use) << ": " << config.faults.links[0].from << " - " << config.faults.links[0].to);
            check_both(config, healthy);
        }
    }
}

TEST_CASE("two to six links of one NPU fail", "[ub]")
{
    for (const ub_path_use use : {ub_path_use::shortest, ub_path_use::detour, ub_path_use::borrow, ub_path_use::all}) {
        ub_mesh_config config = small_rack(use);
        const std::uint64_t healthy = run_exact(config).payload_digest;
        const auto topology = std::make_shared<const ub_topology>(config.mesh, config.cables);
        const ub_plan& plan = topology->plan();
        const ub_paths paths(topology, lane_rule_of(lane_word_for(config.mesh)), {});
        std::mt19937 random(7);
        for (unsigned count = 2; count <= 6; ++count) {
            const std::uint32_t npu = static_cast<std::uint32_t>(random() % config.mesh.ranks());
            std::vector<std::uint32_t> links;
            for (std::uint32_t port = 0; port < topology->ports(npu); ++port)
                if (const std::uint32_t l = topology->out_link(npu, port); l != ub_topology::k_none)
                    links.push_back(l);
            std::shuffle(links.begin(), links.end(), random);
            links.resize(std::min<std::size_t>(count, links.size()));
            config.faults.links.clear();
            std::vector<bool> down(plan.links.size(), false);
            std::string text;
            for (const std::uint32_t l : links) {
                config.faults.links.push_back(link_fault(plan.routers[plan.links[l].from].name.c_str(), plan.routers[plan.links[l].to].name.c_str(), k_at_ps));
                down[l] = down[topology->reverse_of(l)] = true;
                text += plan.routers[plan.links[l].to].name + " ";
            }
            INFO(name_of(use) << ": " << plan.routers[npu].name << " loses " << text);
            std::set<std::string> lost; // pairs without any way
            for (std::uint32_t other = 0; other < config.mesh.ranks(); ++other)
                for (const auto& [from, to] : {std::pair{npu, other}, std::pair{other, npu}})
                    if (from != to && paths.paths(from, to, down).empty())
                        lost.insert(fmt::format("{} cannot reach {}", plan.routers[from].name, plan.routers[to].name));
            if (lost.empty()) {
                check_both(config, healthy);
                continue;
            }
            const verdict v = run(config);
            CHECK(v.failed);
            CHECK(v.wrong == 0);
            CHECK(std::any_of(lost.begin(), lost.end(), [&](const std::string& pair) { return v.says(pair); }));
        }
    }
}

TEST_CASE("a second NPU of a rack fails while its spare NPU is in use and the job goes on without it", "[ub]")
{
    ub_mesh_config config = small_rack();
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, std::vector<std::uint64_t>(4, 65532))};
    config.faults.checkpoint_load = duration(30'000 * k_ms);
    config.faults.npus = {npu_fault("npu(p0,r0,b0,1)", 20 * k_us), npu_fault("npu(p0,r0,b1,2)", 60 * k_us)};
    const verdict v = run_exact(config);
    INFO(v.restart_text());
    REQUIRE(v.restarts.size() == 2);
    CHECK(v.restarts[0].text.find("the spare NPU of its rack had taken over and its checkpoint was loaded back in 30 s by 210 s") != std::string::npos);
    CHECK(v.restarts[1].text.find("the job was set up again on 7 NPUs and its checkpoint was loaded back in 30 s by 420 s") != std::string::npos);
    CHECK(v.restarts[1].resumed_ps >= 420'000 * k_ms);
    config.faults.npus[0].at = config.faults.npus[1].at = duration(0);
    const verdict from_start = run_exact(config);
    CHECK(from_start.restarts.empty());
    check_as_fast(v, from_start);
    CHECK(describe_faults(config).find("npu(p0,r0,b1,2) fails from the start; the spare NPU of its rack is in use or has failed, and the job runs "
                                       "without it") != std::string::npos);
}

TEST_CASE("a spare NPU that fails before or while it stands in means masking", "[ub]")
{
    ub_mesh_config config = small_rack();
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, std::vector<std::uint64_t>(4, 65532))};
    config.faults.npus = {npu_fault("npu(p0,r0,b0,1)", 40 * k_us)};
    for (const std::uint64_t at : {std::uint64_t{0}, 20 * k_us, 40 * k_us, 60 * k_us}) {
        config.faults.devices = {device_fault("spare(p0,r0)", at)};
        INFO("the spare NPU fails at " << at);
        const verdict v = run_exact(config);
        INFO(v.restart_text() << v.warning_text());
        CHECK(v.restarts.size() == (at > 40 * k_us ? 2 : 1));
        CHECK(v.restart_text().find("the job was set up again on 7 NPUs") != std::string::npos);
        CHECK((v.restart_text().find("the spare NPU of its rack had taken over") != std::string::npos) == (at > 40 * k_us));
        ub_mesh_config start = config;
        start.faults.npus[0].at = start.faults.devices[0].at = duration(0);
        check_as_fast(v, run_exact(start));
    }
}

TEST_CASE("without end-to-end transport a device that fails is named", "[ub]")
{
    ub_mesh_config config = small_rack();
    config.ub.transport = ub_transport::ctp;
    config.run.firmware_timeout = duration(500 * k_us);
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, {16 << 20})};
    config.faults.devices = {device_fault("leaf(p0,r0,1.1)", 60 * k_us)};
    const std::vector<config_problem> problems = config.validate();
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].key == "faults.devices.0.at");
    const verdict v = run(config);
    INFO(v.failure << v.warning_text());
    CHECK(v.wrong == 0);
    if (v.failed)
        CHECK(v.says("leaf(p0,r0,1.1)"));
    CHECK(v.warns("leaf(p0,r0,1.1) failed at 60 us"));
}
