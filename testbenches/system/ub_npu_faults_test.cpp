// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// NPUs of UB-Mesh that fail: the spare NPU of the rack takes over (64+1), or the job goes on without them; what a restart costs and
// what it does not; the paper's ordering (section 3.3.2): a spare NPU against masking the failed one, or its board.
#include "hw/routing/ub/ub_paths.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

constexpr const char* k_npu = "npu(p0,r0,b1,2)";

ub_mesh_config small_rack()
{
    ub_mesh_config config = ub_machine_of(4, 4);
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::direct}, {200000}),
                           spec(collective_op::all_to_all, {algorithm::direct}, {200000})};
    return config;
}

} // namespace

TEST_CASE("a spare NPU stands in from the start", "[ub]")
{
    for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp})
        for (const char* npu : {"npu(p0,r0,b0,0)", k_npu, "npu(p0,r0,b3,3)"}) {
            ub_mesh_config config = small_rack();
            config.ub.transport = transport;
            config.run.workload = all_that_runs(config, {4, 65532});
            const verdict healthy = run_exact(config);
            CHECK(healthy.more.at("spare_packets") == 0);
            config.faults.npus = {npu_fault(npu, 0)};
            INFO(name_of(transport) << " " << npu);
            const verdict v = run_exact(config);
            INFO(v.warning_text());
            CHECK(v.payload_digest == healthy.payload_digest);
            CHECK(v.restarts.empty());
            CHECK(v.warnings.empty());
            CHECK(v.stat("ub.lost") == 0);
            CHECK(v.more.at("failed_npu_packets") == 0);
            CHECK(v.more.at("spare_packets") > 0);
        }
}

TEST_CASE("peers of a failed NPU reach the spare one through the LRS", "[ub]")
{
    const ub_shape shape = ub_rack().mesh;
    const auto topology = std::make_shared<const ub_topology>(shape);
    ub_path_options options;
    options.detour = options.borrow = true;
    const ub_paths paths(topology, lane_rule_of(lane_word_for(shape)), options);
    const std::uint32_t failed = 1 * 8 + 2, spare = topology->spare_router(0);
    std::vector<bool> down(topology->plan().links.size(), false);
    for (std::uint32_t port = 0; port < topology->ports(failed); ++port)
        if (const std::uint32_t l = topology->out_link(failed, port); l != ub_topology::k_none)
            down[l] = down[topology->reverse_of(l)] = true;
    for (std::uint32_t npu = 0; npu < shape.ranks(); ++npu) {
        if (npu == failed)
            continue;
        for (const auto& [from, to] : {std::pair{npu, spare}, std::pair{spare, npu}}) {
            const std::vector<ub_path> all = paths.paths(from, to, down);
            REQUIRE_FALSE(all.empty());
            for (const ub_path& p : all) {
                CHECK((p.kind != ub_path_kind::shortest || p.hops == 3)); // NPU, leaf, spine, spare NPU
                std::uint32_t switches = 0;
                for (const std::uint32_t l : p.links) {
                    CHECK_FALSE(down[l]);
                    const auto is = topology->place_of(topology->plan().links[l].to).is;
                    switches += is == ub_place::role::leaf || is == ub_place::role::spine ? 1 : 0;
                }
                CHECK(switches >= 2);
            }
        }
    }
}

TEST_CASE("a spare NPU takes over at any time and the job goes on from its checkpoint", "[ub]")
{
    for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_mesh_config config = small_rack();
        config.ub.transport = transport;
        const verdict healthy = run_exact(config);
        unsigned nothing_lost = 0, lost = 0, never = 0;
        const std::uint64_t end_ps = healthy.simulated_time_ps;
        for (std::uint64_t at = 1000; at < end_ps + 8 * k_us; at += end_ps / 17 + 777) {
            config.faults.npus = {npu_fault(k_npu, at)};
            INFO(name_of(transport) << ", at " << at << " ps");
            const verdict v = run_exact(config);
            INFO(v.restart_text() << v.warning_text());
            CHECK(v.payload_digest == healthy.payload_digest);
            if (v.restarts.empty()) {
                ++never;
                CHECK(at > healthy.simulated_time_ps);
                CHECK(v.digest == healthy.digest);
                CHECK(v.warns(
                    fmt::format("faults: {} fails at {}, after the end of the run at ", k_npu, to_string(duration(at)))
                        .c_str()));
                continue;
            }
            CHECK(v.warnings.empty());
            CHECK(v.restarts[0].at_ps == at);
            CHECK(v.restarts[0].resumed_ps >= at + config.faults.take_over.value()); // 180 s, behind time_limit = 100 s
            // Packets that nobody acknowledges any more are given up first: after seven tries.
            const std::uint64_t tries_ps = transport == ub_transport::rtp ? config.ub.rtp_tries_ps() : 0;
            CHECK(v.restarts[0].resumed_ps < at + config.faults.take_over.value() + tries_ps + 20 * k_us);
            CHECK(v.restarts[0].lost_ps <= at);
            CHECK(v.more.at("spare_packets") > 0);
            CHECK(v.more.at("failed_npu_packets") == 0);
            const std::string text = v.restart_text();
            CHECK(text.find(fmt::format("{} failed at ", k_npu)) == 0);
            CHECK(text.find("the spare NPU of its rack had taken over by 180 s") != std::string::npos);
            nothing_lost += text.find("; nothing was under way;") != std::string::npos ? 1 : 0;
            lost += text.find(" was lost with ") != std::string::npos ? 1 : 0;
        }
        CHECK(nothing_lost >= 1); // while the cores booted
        CHECK(lost >= 10);
        CHECK(never >= 1);
    }
}

TEST_CASE("time_limit bounds the work and not the take-over", "[ub]")
{
    ub_mesh_config config = small_rack();
    config.faults.npus = {npu_fault(k_npu, 20 * k_us)};
    config.run.time_limit = duration(10 * k_ms);
    run_exact(config);
    config.run.time_limit = duration(30 * k_us);
    const verdict v = run(config);
    INFO(v.failure);
    CHECK(v.says("time_limit = 30 us of simulated time is over"));
    CHECK(v.restarts.size() == 1);
}

TEST_CASE("an NPU fails inside a training step", "[ub]")
{
    ub_mesh_config config = ub_machine_of(4, 4);
    training_step_config step;
    step.steps = 2;
    step.compute = duration(200 * k_us);
    step.overlap = overlap_rule::when_ready;
    step.algorithm = algorithm::direct;
    for (const double ready : {0.3, 0.6, 1.0}) {
        gradient_group g;
        g.bytes = data_size(400000);
        g.ready = ready;
        step.groups.push_back(g);
    }
    config.run.training_step = step;
    const verdict healthy = run_exact(config);
    for (std::uint64_t at = 10 * k_us; at < healthy.simulated_time_ps; at += healthy.simulated_time_ps / 9) {
        for (const ub_recovery recovery : {ub_recovery::spare, ub_recovery::mask}) {
            config.faults.recovery = recovery;
            config.faults.npus = {npu_fault(k_npu, at)};
            INFO(name_of(recovery) << " at " << at << " ps");
            const verdict v = run_exact(config);
            INFO(v.restart_text());
            CHECK(v.restarts.size() == 1);
            CHECK((recovery == ub_recovery::mask || v.payload_digest == healthy.payload_digest));
            const std::string text = v.restart_text();
            CHECK(text.find(at < healthy.simulated_time_ps / 2 - k_us ? "training step 0" : "training step ") !=
                  std::string::npos);
            if (recovery == ub_recovery::mask)
                CHECK(text.find("the job was set up again on 15 NPUs by 180 s") != std::string::npos);
        }
    }
}

TEST_CASE("NPUs of several racks fail at once and one after another", "[ub]")
{
    ub_mesh_config config = ub_racks(1, 2, 2, 3);
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::hierarchical, algorithm::ring_1d}, {100000}),
                           spec(collective_op::all_to_all, {algorithm::direct}, {100000})};
    const verdict healthy = run_exact(config);
    for (const std::uint64_t second : {30 * k_us, 55 * k_us, 31 * k_us}) {
        config.faults.npus = {npu_fault("npu(p0,r0,b1,2)", 30 * k_us), npu_fault("npu(p0,r1,b0,0)", second)};
        // The one in the middle of the take-over of the other, the last, is only seen behind it.
        const verdict v = run_exact(config);
        INFO(v.restart_text());
        CHECK(v.payload_digest == healthy.payload_digest);
        CHECK(v.more.at("failed_npu_packets") == 0);
        CHECK(v.restarts.size() == (second == 30 * k_us ? 1 : 2));
        const std::string text = v.restart_text();
        if (v.restarts.size() == 1) {
            CHECK(text.find("npu(p0,r0,b1,2) and npu(p0,r1,b0,0) failed at 30 us; ") == 0);
            CHECK(text.find("the spare NPUs of their racks had taken over by 180 s") != std::string::npos);
        } else {
            CHECK(text.find(fmt::format("npu(p0,r1,b0,0) failed at {}; nothing was under way",
                                        to_string(duration(second)))) != std::string::npos);
        }
        config.faults.npus[0].at = config.faults.npus[1].at = duration(0);
        CHECK(run_exact(config).payload_digest == healthy.payload_digest);
    }
}

TEST_CASE("the job goes on without the NPUs that have failed", "[ub]")
{
    ub_mesh_config config = ub_rack();
    config.faults.recovery = ub_recovery::mask;
    config.faults.npus = {npu_fault("npu(p0,r0,b3,5)", 0)};
    CHECK(config.ranks() == 63);
    config.run.burst = packet_count(4);
    config.run.workload = all_that_runs(config, {4, 65532});
    CHECK(config.run.case_count() >= 10);
    const verdict v = run_exact(config);
    CHECK(v.more.at("failed_npu_packets") == 0);
    CHECK(v.more.at("spare_packets") == 0);
    config.faults.npus = {npu_fault("npu(p0,r0,b3,5)", 30 * k_us), npu_fault("npu(p0,r0,b3,6)", 0),
                          npu_fault("npu(p0,r0,b0,0)", 0)};
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::direct}, {65532})};
    const verdict later = run_exact(config);
    CHECK(later.restarts.size() == 1);
    CHECK(later.restart_text().find("the job was set up again on 61 NPUs by 180 s") != std::string::npos);
}

TEST_CASE("a link and an NPU fail in the same run", "[ub]")
{
    for (const ub_recovery recovery : {ub_recovery::spare, ub_recovery::mask}) {
        ub_mesh_config config = small_rack();
        config.ub.transport = ub_transport::rtp;
        config.faults.recovery = recovery;
        config.faults.links = {link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", 20 * k_us),
                               link_fault("leaf(p0,r0,1.1)", "spine(p0,r0,1.1)", 20 * k_us),
                               link_fault("spare(p0,r0)", "spine(p0,r0,1.2)", 0)};
        config.faults.npus = {npu_fault(k_npu, 35 * k_us)};
        const verdict v = run_exact(config);
        INFO(v.restart_text() << v.warning_text());
        CHECK(v.restarts.size() == 1);
        CHECK(v.more.at("failed_npu_packets") == 0);
        config.faults.npus[0].at = duration(0);
        CHECK(run_exact(config).restarts.empty());
    }
}

namespace {
/// Time of an all-reduce of 16 MiB by the best algorithm that runs there.
std::uint64_t best_all_reduce_ps(ub_mesh_config config)
{
    config.run.data = data_mode::off;
    config.run.burst = packet_count(16);
    config.run.workload = all_that_runs(config, {16 << 20});
    config.run.workload.resize(1); // all_reduce
    const std::vector<std::uint64_t> times = run_exact(config).times();
    return *std::min_element(times.begin(), times.end());
}
} // namespace

TEST_CASE("a spare NPU beats masking the failed one or its board", "[ub]")
{
    const ub_mesh_config healthy = ub_rack();
    ub_mesh_config spare = healthy, mask = healthy, board = healthy;
    spare.faults.npus = mask.faults.npus = {npu_fault("npu(p0,r0,b3,5)", 0)};
    mask.faults.recovery = ub_recovery::mask;
    board.mesh.boards = 7; // section 3.3.2: groups of eight NPUs exchange tensors, so the other seven stand still, too
    struct row {
        const char* name;
        double npus;
        std::uint64_t reduce_ps;
    };
    const row rows[] = {{"healthy", 64, best_all_reduce_ps(healthy)},
                        {"spare NPU", 64, best_all_reduce_ps(spare)},
                        {"without the NPU", 63, best_all_reduce_ps(mask)},
                        {"without its board", 56, best_all_reduce_ps(board)}};
    // The same work on fewer NPUs takes each of them longer; an all-reduce of 16 MiB follows.
    fmt::print("{:<18}{:>6}{:>16}", "", "NPUs", "all-reduce");
    const double computes_us[] = {500, 2000, 10000};
    for (const double compute_us : computes_us)
        fmt::print("{:>16}", fmt::format("{} us compute", compute_us));
    fmt::print("\n");
    for (const row& r : rows) {
        fmt::print("{:<18}{:>6}{:>13.1f} us", r.name, r.npus, static_cast<double>(r.reduce_ps) / 1e6);
        for (const double compute_us : computes_us)
            fmt::print("{:>13.1f} us", compute_us * 64 / r.npus + static_cast<double>(r.reduce_ps) / 1e6);
        fmt::print("\n");
    }
    for (const double compute_us : computes_us) {
        const auto step_us = [&](const row& r) {
            return compute_us * 64 / r.npus + static_cast<double>(r.reduce_ps) / 1e6;
        };
        INFO("compute of " << compute_us << " us");
        CHECK(step_us(rows[0]) <= step_us(rows[1]));
        CHECK(step_us(rows[1]) < step_us(rows[2]));
        CHECK(step_us(rows[1]) < step_us(rows[3]));
    }
}
