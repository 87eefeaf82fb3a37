// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the paper and arithmetic say about the times of collectives (docs/03_timing_model.md).
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {
double us(std::uint64_t ps) { return static_cast<double>(ps) * 1e-6; }
} // namespace

TEST_CASE("step counts are 2(N-1) for the ring and O(R+C) for the two-dimensional schemes")
{
    tpu_v3_config config = pod(4, 6);
    config.run.workload = {
        spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d, algorithm::row_pair}, {100'000})};
    const verdict outcome = run_exact(config);
    REQUIRE(outcome.cases.size() == 3);
    CHECK(outcome.cases[0].steps == 2 * (24 - 1));
    CHECK(outcome.cases[1].steps == 2 * ((4 - 1) + (6 - 1)));
    CHECK(outcome.cases[2].steps == 2 * ((2 * 6 - 1) + (4 / 2 - 1)));
}

TEST_CASE("the 1-D ring on 8x8 is within 1 % of its closed form at 64 MiB")
{
    tpu_v3_config config = pod(8, 8);
    config.run.data = data_mode::off;
    config.run.burst = packet_count(16);
    constexpr std::uint64_t bytes = 64ull << 20;
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, {4, bytes})};
    const verdict outcome = run_exact(config);
    REQUIRE(outcome.cases.size() == 2);
    // Both directions carry half of the data: 2 (N-1)/N x S / (2 B). Chunks hide the step latency but for the first and last
    // one: entering, the ready handshake, filling and draining take what a few steps of the 4 B ring take.
    const double n = 64;
    const double rate = static_cast<double>(config.ici.link_rate.value()) / 8; // B/s
    const double streaming_us = 2 * (n - 1) / n * static_cast<double>(bytes) / (2 * rate) * 1e6;
    const double step_us = us(outcome.cases[0].time_ps) / outcome.cases[0].steps;
    const double closed_form_us = streaming_us + 4 * step_us;
    INFO("closed form " << closed_form_us << " us, simulated " << us(outcome.cases[1].time_ps) << " us, step "
                        << step_us << " us");
    CHECK(us(outcome.cases[1].time_ps) == Approx(closed_form_us).epsilon(0.01));
    CHECK(us(outcome.cases[1].time_ps) >= streaming_us); // never faster than the links
}

TEST_CASE("at small sizes the schemes rank by their step counts")
{
    tpu_v3_config config = pod(8, 8);
    config.run.data = data_mode::off;
    // Enough elements that no shard is empty and every step is a message: 64 ranks x 2 directions.
    config.run.workload = {
        spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d, algorithm::row_pair}, {4096})};
    const verdict outcome = run_exact(config);
    const double ring = us(outcome.cases[0].time_ps);
    const double two_d = us(outcome.cases[1].time_ps);
    const double row_pair = us(outcome.cases[2].time_ps);
    const auto steps = [&](std::size_t i) { return static_cast<double>(outcome.cases[i].steps); };
    INFO("ring " << ring << " us, two_d " << two_d << " us, row_pair " << row_pair << " us");
    // Latency-bound: the ratio of times is the ratio of steps (126 / 28 = 4.5; 126 / 36 = 3.5), but for the start and the longer
    // hops of interleaved rings.
    CHECK(ring / two_d == Approx(steps(0) / steps(1)).epsilon(0.15));
    CHECK(ring / row_pair == Approx(steps(0) / steps(2)).epsilon(0.15));
}

TEST_CASE("a ring step of the firmware takes about one microsecond")
{
    // The JAX scaling book quotes about 1 us per hop as software sees it; the core's cost table is calibrated to that.
    tpu_v3_config config = pod(8, 8);
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, {4096, 8192})};
    const verdict outcome = run_exact(config);
    for (const case_result& r : outcome.cases) {
        INFO(r.what.size_bytes << " B: " << us(r.time_ps) / r.steps << " us per step");
        CHECK(us(r.time_ps) / r.steps == Approx(1.0).epsilon(0.15));
    }
}

TEST_CASE("one local port feeds two links at once")
{
    // A local port is twice as fast as a link: the middle chip of a row sends to both neighbours at once.
    tpu_v3_config config = pod(1, 3);
    config.ici.local_ports = 1;
    config.run.data = data_mode::off;
    constexpr std::uint64_t bytes = 4 << 20;
    config.run.workload = {spec(collective_op::broadcast, {algorithm::mesh_tree}, {bytes})};
    config.run.workload[0].root = 1;
    const verdict outcome = run_exact(config);
    const double one_link_us = static_cast<double>(bytes) * 8 / static_cast<double>(config.ici.link_rate.value()) * 1e6;
    INFO("one link " << one_link_us << " us, simulated " << us(outcome.cases[0].time_ps) << " us");
    CHECK(us(outcome.cases[0].time_ps) > one_link_us);
    // Less than one after the other would take; two packets in a row for one link still block the other behind them.
    CHECK(us(outcome.cases[0].time_ps) < 1.5 * one_link_us);
}

TEST_CASE("a case takes the same time as the first one of a run and as a later one")
{
    tpu_v3_config config = pod(4, 4);
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d}, {4, 4})};
    const verdict outcome = run_exact(config);
    CHECK(outcome.cases[0].time_ps == outcome.cases[1].time_ps);
    CHECK(outcome.cases[2].time_ps == outcome.cases[3].time_ps);
}

TEST_CASE("links that close the rows to rings do not make collectives slower")
{
    tpu_v3_config config = pod(4, 4);
    config.run.data = data_mode::off;
    config.run.burst = packet_count(16);
    config.mesh.wrap = mesh_wrap::both;
    constexpr std::uint64_t bytes = 16 << 20;
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::two_d, algorithm::row_pair}, {bytes})};
    const verdict outcome = run_exact(config);
    // What two_d cannot beat without wrap links: (C - 1)(R + 1) / (R C) of the bytes over one link.
    const double rate = static_cast<double>(config.ici.link_rate.value()) / 8; // B/s
    const double mesh_bound_us = static_cast<double>(bytes) / rate * 3.0 * 5.0 / 16.0 * 1e6;
    CHECK(us(outcome.cases[0].time_ps) < mesh_bound_us);
}
