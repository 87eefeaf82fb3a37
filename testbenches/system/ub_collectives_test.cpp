// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives on UB-Mesh end to end: every one and every algorithm that the firmware can run there, on boards, racks, odd shapes,
// several racks and pods and the baselines, under all ways to spread packets. Packets overtake each other; answers are exact.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {
const std::vector<std::uint64_t> k_odd_sizes = {4, 8, 252, 1028, 4096, 65532};
}

TEST_CASE("every collective is exact on a board from 4 B to 1 MiB", "[ub]")
{
    ub_mesh_config config = ub_board();
    config.run.workload = all_that_runs(config, {4, 8, 12, 252, 256, 1020, 1024, 1028, 4096, 65532, 1 << 20});
    CHECK(config.run.case_count() >= 8 * 11);
    run_exact(config);
}

TEST_CASE("every collective is exact on a rack", "[ub]")
{
    ub_mesh_config config = ub_rack();
    config.run.burst = packet_count(4);
    config.run.workload = all_that_runs(config, {4, 260, 65532});
    CHECK(config.run.case_count() >= 8 * 3);
    run_exact(config);
    config.run.workload = {
        spec(collective_op::all_reduce, {algorithm::two_d, algorithm::hierarchical, algorithm::direct}, {1 << 20}),
        spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20})};
    run_exact(config);
}

TEST_CASE("every collective is exact on odd shapes", "[ub]")
{
    std::vector<ub_mesh_config> machines = {ub_machine_of(6, 5),        ub_machine_of(3, 3), ub_machine_of(2, 2),
                                            ub_machine_of(1, 2, false), ub_board(3),         ub_machine_of(3, 1, false),
                                            ub_machine_of(2, 7, false)};
    for (ub_mesh_config& config : machines) {
        INFO(config.mesh.boards << " boards of " << config.mesh.npus);
        config.run.workload = all_that_runs(config, k_odd_sizes);
        run_exact(config);
    }
}

TEST_CASE("every collective is exact across racks and pods", "[ub]")
{
    ub_mesh_config racks = ub_racks(2, 2, 2, 2);
    racks.run.workload = all_that_runs(racks, k_odd_sizes);
    run_exact(racks);
    ub_mesh_config line = ub_racks(1, 3, 2, 3);
    line.mesh.hrs = true;
    line.run.workload = all_that_runs(line, {4, 65532});
    run_exact(line);
    ub_mesh_config pods = ub_racks(1, 1, 2, 2);
    pods.mesh.pods = 2;
    pods.mesh.hrs = true;
    pods.run.workload = all_that_runs(pods, k_odd_sizes);
    run_exact(pods);
    ub_mesh_config super = ub_racks(2, 2, 2, 2);
    super.mesh.pods = 2;
    super.mesh.hrs = true;
    super.run.workload = all_that_runs(super, {4, 65532});
    run_exact(super);
}

TEST_CASE("every collective is exact on the baselines", "[ub]")
{
    for (const ub_rack_kind kind : {ub_rack_kind::full_mesh_1d_a, ub_rack_kind::full_mesh_1d_b, ub_rack_kind::clos}) {
        ub_mesh_config config = ub_machine_of(4, 8);
        config.mesh.rack = kind;
        INFO(name_of(kind));
        config.run.workload = all_that_runs(config, {4, 65532});
        run_exact(config);
    }
    ub_mesh_config pod = ub_racks(2, 2, 2, 2);
    pod.mesh.pod = ub_pod_kind::clos;
    pod.mesh.hrs = true;
    pod.run.workload = all_that_runs(pod, {4, 65532});
    run_exact(pod);
}

TEST_CASE("every collective is exact for all types and reductions", "[ub]")
{
    ub_mesh_config config = ub_machine_of(2, 4);
    config.run.workload = all_that_runs(config, {4, 10000});
    for (collective_spec& s : config.run.workload) {
        s.types = {abi::element_type::int32, abi::element_type::float32, abi::element_type::float16,
                   abi::element_type::bfloat16};
        if (reduces(s.op))
            s.redops = {abi::reduce_op::sum, abi::reduce_op::max, abi::reduce_op::min};
    }
    run_exact(config);
    config.run.workload = {
        spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::hierarchical, algorithm::direct}, {40000})};
    config.run.workload[0].types = {abi::element_type::float32, abi::element_type::bfloat16};
    config.run.workload[0].inputs = data_style::random;
    run_exact(config);
}

TEST_CASE("collectives are exact however packets are spread and the same run gives the same digest", "[ub]")
{
    std::uint64_t payload = 0;
    std::vector<std::uint64_t> digests;
    for (const ub_path_use paths : {ub_path_use::shortest, ub_path_use::detour, ub_path_use::borrow, ub_path_use::all})
        for (const ub_spreading spreading : {ub_spreading::flow, ub_spreading::packet})
            for (const ub_choice choice : {ub_choice::weighted, ub_choice::adaptive})
                for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
                    ub_mesh_config config = ub_racks(1, 2, 2, 3);
                    config.mesh.hrs = true;
                    config.ub.paths = paths;
                    config.ub.spreading = spreading;
                    config.ub.choice = choice;
                    config.ub.transport = transport;
                    config.run.workload = {
                        spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::hierarchical}, {4, 120'000}), // small messages go by shortest paths
                        spec(collective_op::all_to_all, {algorithm::direct}, {30000})};
                    INFO(name_of(paths) << " " << name_of(spreading) << " " << name_of(choice) << " "
                                        << name_of(transport));
                    const verdict v = run_exact(config);
                    CHECK(run(config).digest == v.digest);
                    CHECK(v.stat("ub.resent") == 0); // nothing is lost, so nothing is sent twice
                    CHECK(v.stat("ub.duplicates_dropped") == 0);
                    CHECK((payload == 0 || v.payload_digest == payload));
                    payload = v.payload_digest;
                    digests.push_back(v.digest);
                }
    std::sort(digests.begin(), digests.end());
    CHECK(std::unique(digests.begin(), digests.end()) - digests.begin() > 16); // the options do something
}

TEST_CASE("times are the same without data", "[ub]")
{
    for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_mesh_config config = ub_machine_of(4, 4);
        config.ub.transport = transport;
        config.run.workload = all_that_runs(config, {4, 100000});
        const verdict with = run_exact(config);
        config.run.data = data_mode::off;
        const verdict without = run_exact(config);
        CHECK(with.times() == without.times());
        CHECK(with.simulated_time_ps == without.simulated_time_ps);
        CHECK(with.hops == without.hops);
    }
}

TEST_CASE("bursts give the same answers as single packets at nearly the same time", "[ub]")
{
    ub_mesh_config config = ub_rack();
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::hierarchical, algorithm::direct}, {1 << 20}),
                           spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20})};
    const verdict single = run_exact(config);
    for (const std::uint64_t burst : {2, 8}) {
        config.run.burst = packet_count(burst);
        const verdict v = run_exact(config);
        CHECK(v.payload_digest == single.payload_digest);
        for (std::size_t i = 0; i < 3; ++i) {
            const double ratio = static_cast<double>(v.time(i)) / static_cast<double>(single.time(i));
            INFO("case " << i << " with " << burst << " packets a burst: " << ratio);
            CHECK(ratio > 0.9);
            CHECK(ratio < 1.25);
        }
    }
}

TEST_CASE("small buffers and queues still give exact answers", "[ub]")
{
    ub_mesh_config config = ub_machine_of(4, 4);
    config.ub.buffers_cover_round_trip = false;
    config.ub.buffer_per_vl = data_size(2400);
    config.ub.transmit_queue = 2;
    config.ub.rtp_window = 4;
    config.ub.rtp_send_buffer = 8;
    config.npu.dma.ring_entries = 4;
    config.npu.dma.prefetch = 1;
    config.npu.dma.read_ahead = 1;
    for (const bool voq : {true, false})
        for (const ub_transport transport : {ub_transport::ctp, ub_transport::rtp}) {
            config.ub.voq = voq;
            config.ub.transport = transport;
            config.run.workload = all_that_runs(config, {4, 65536});
            for (collective_spec& s : config.run.workload)
                s.chunk = data_size(4 << 10);
            run_exact(config);
        }
}

TEST_CASE("real RISC-V cores give the same answers on a board", "[ub][rv64]")
{
    ub_mesh_config config = ub_board(4);
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::direct, algorithm::multi_ring}, {4, 65536}),
                           spec(collective_op::all_to_all, {algorithm::direct}, {65536})};
    const verdict native = run_exact(config);
    config.npu.core.model = core_model::rv64;
    const verdict rv64 = run_exact(config);
    CHECK(rv64.payload_digest == native.payload_digest);
    for (std::size_t i = 0; i < native.cases.size(); ++i) {
        const double ratio = static_cast<double>(rv64.time(i)) / static_cast<double>(native.time(i));
        INFO("case " << i << ": " << ratio);
        CHECK(ratio > 0.95);
        CHECK(ratio < 1.05);
    }
}
