// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The collectives end to end: firmware on modelled cores, bytes through the modelled fabric, every answer checked.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

TEST_CASE("every collective is exact on 8x8 from one element to 1 MiB")
{
    tpu_v3_config config = pod(8, 8);
    config.run.burst = packet_count(16);
    config.run.workload = everything({4, 8, 12, 252, 256, 260, 4096, 65532, 1 << 20});
    run_exact(config);
}

TEST_CASE("every collective is exact on 4x6 with single packets and odd counts")
{
    tpu_v3_config config = pod(4, 6);
    config.run.workload = everything({4, 92, 96, 100, 4000, 100004});
    run_exact(config);
}

TEST_CASE("every collective is exact on 2x2 and chunks of a few elements")
{
    tpu_v3_config config = pod(2, 2);
    config.run.workload = everything({4, 20, 1028, 65540});
    for (collective_spec& s : config.run.workload)
        s.chunk = data_size(1 << 10);
    run_exact(config);
}

TEST_CASE("every collective is exact on a torus")
{
    tpu_v3_config config = pod(4, 8);
    config.mesh.wrap = mesh_wrap::both;
    config.run.workload = everything({4, 1000, 262144});
    run_exact(config);
}

TEST_CASE("transposed schemes and odd meshes")
{
    tpu_v3_config config = pod(3, 4);
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::row_pair}, {4, 5000}),
                           spec(collective_op::all_reduce, {algorithm::two_d}, {4, 5000})};
    config.run.workload[0].transposed = true;
    run_exact(config);
}

TEST_CASE("all types and reductions")
{
    tpu_v3_config config = pod(4, 4);
    config.run.workload = {
        spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d, algorithm::row_pair}, {4, 10000}),
        spec(collective_op::reduce_scatter, {algorithm::ring_1d}, {4, 10000})};
    for (collective_spec& s : config.run.workload) {
        s.types = {abi::element_type::int32, abi::element_type::float32, abi::element_type::float16,
                   abi::element_type::bfloat16};
        s.redops = {abi::reduce_op::sum, abi::reduce_op::max, abi::reduce_op::min};
    }
    run_exact(config);
}

TEST_CASE("random floats stay within the rounding bound")
{
    tpu_v3_config config = pod(4, 4);
    config.run.workload = {
        spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d, algorithm::row_pair}, {40000})};
    config.run.workload[0].types = {abi::element_type::float32, abi::element_type::float16,
                                    abi::element_type::bfloat16};
    config.run.workload[0].inputs = data_style::random;
    run_exact(config);
}

TEST_CASE("small rings and buffers still give exact answers")
{
    tpu_v3_config config = pod(4, 4);
    config.chip.dma.ring_entries = 4;
    config.chip.dma.prefetch = 1;
    config.chip.dma.read_ahead = 1;
    config.chip.dma.receive_buffer = data_size(512);
    config.ici.buffer_per_vl = data_size(288);
    config.ici.virtual_lanes = 1;
    config.ici.local_ports = 1;
    config.run.workload = everything({4, 1000, 65536});
    for (collective_spec& s : config.run.workload)
        s.chunk = data_size(4 << 10);
    for (const config_problem& p : config.validate())
        CHECK(p.level == severity::warning);
    run_exact(config);
}

TEST_CASE("store-and-forward routers give the same answers later")
{
    tpu_v3_config config = pod(4, 4);
    config.ici.switching = switching_mode::store_and_forward;
    config.run.workload = everything({4, 65536});
    run_exact(config);
}
