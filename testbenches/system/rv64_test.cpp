// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The collectives as RISC-V binaries: the same answers as on native cores, for a stated price in time.
#include "hw/core/iss.h"
#include "testbenches/support/small_machines.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace weft;
using namespace weft::test;

namespace {

/// How far the times of the two kinds of cores may lie apart. Instructions agree within 2 %, and most times within 1 %. Where
/// both directions of a ring keep the cores busy all the time, a difference of a few nanoseconds can settle in another rhythm
/// (docs/03_timing_model.md, section 6); a chip of a short broadcast may sleep once more (264 ns).
struct tolerance {
    double mean; ///< of the absolute errors
    double worst;
};

/// Runs the workload on both kinds of cores.
void compare(tpu_v3_config config, tolerance allowed)
{
    if (*iss_engine_name() == '\0')
        return; // a build without an engine
    config.chip.core.model = core_model::native;
    const verdict native = run_exact(config);
    config.chip.core.model = core_model::rv64;
    const verdict rv64 = run_exact(config);
    REQUIRE(native.cases.size() == config.run.case_count());
    REQUIRE(native.cases.size() == rv64.cases.size());
    double sum = 0;
    for (std::size_t i = 0; i < rv64.cases.size(); ++i) {
        const double error = static_cast<double>(native.time(i)) / static_cast<double>(rv64.time(i)) - 1;
        const collective_case& c = native.cases[i].what;
        INFO(name_of(c.op) << " " << name_of(c.algo) << " " << c.size_bytes << " B: native "
                                  << native.time(i) / 1000 << " ns, rv64 " << rv64.time(i) / 1000 << " ns, "
                                  << error * 100 << " %");
        CHECK(rv64.cases[i].check.digest == native.cases[i].check.digest);
        CHECK(rv64.cases[i].check.digest != 0);
        CHECK(rv64.cases[i].steps == native.cases[i].steps);
        CHECK(rv64.cases[i].messages == native.cases[i].messages);
        CHECK(std::abs(error) < allowed.worst);
        sum += std::abs(error);
    }
    INFO("mean error " << 100 * sum / static_cast<double>(rv64.cases.size()) << " %");
    CHECK(sum / static_cast<double>(rv64.cases.size()) < allowed.mean);
}

/// Instructions of one command on all cores: those of two runs, less those of one.
double instructions_of(tpu_v3_config config, core_model model, std::size_t times)
{
    config.chip.core.model = model;
    config.run.cases = case_start::continuous; // cores boot once
    const std::vector<collective_spec> once = config.run.workload;
    const std::uint64_t first = run_exact(config).stat("core.instructions");
    for (std::size_t i = 0; i < times; ++i)
        config.run.workload.insert(config.run.workload.end(), once.begin(), once.end());
    return static_cast<double>(run_exact(config).stat("core.instructions") - first) / static_cast<double>(times);
}

/// The cost table (firmware/costs.h) against the counters of RV64 cores.
void compare_instructions(const tpu_v3_config& base, const std::vector<collective_spec>& workload, double tolerance)
{
    if (*iss_engine_name() == '\0')
        return;
    for (const collective_spec& s : workload)
        for (const abi::algorithm algorithm : s.algorithms) {
            tpu_v3_config config = base;
            config.run.data = data_mode::off;
            config.run.workload = {s};
            config.run.workload.front().algorithms = {algorithm};
            const double charged = instructions_of(config, core_model::native, 2);
            const double executed = instructions_of(config, core_model::rv64, 2);
            std::printf("%-14s %-16s charged %9.0f, executed %9.0f: %+.1f %%\n", name_of(s.op), name_of(algorithm),
                        charged, executed, 100 * (charged / executed - 1));
            INFO(name_of(s.op) << " " << name_of(algorithm) << ": charged " << charged << ", executed " << executed);
            CHECK(charged == Approx(executed).epsilon(tolerance));
        }
}

tpu_v3_config at_cpi_1(std::uint32_t rows, std::uint32_t cols)
{
    tpu_v3_config config = pod(rows, cols);
    config.chip.core.cpi = 1;
    return config;
}

tpu_v3_config with_failed_board(tpu_v3_config config)
{
    failed_region_config region;
    region.row = region.col = 2;
    config.faults.regions = {region};
    return config;
}

const std::vector<collective_spec> k_around_failed_chips = {spec(
    abi::collective_op::all_reduce,
    {abi::algorithm::row_pair, abi::algorithm::row_pair_forward, abi::algorithm::ring_1d}, {4, 16 << 10, 256 << 10})};

} // namespace

TEST_CASE("collectives on 4x4 rv64 cores give the bytes and times of native cores")
{
    tpu_v3_config config = pod(4, 4);
    config.run.workload = everything({4, 100, 4096, 65540, 1 << 20});
    compare(config, {0.01, 0.04});
}

TEST_CASE("collectives on 8x8 rv64 cores give the bytes and times of native cores")
{
    tpu_v3_config config = pod(8, 8);
    config.run.workload = everything({4, 16 << 10, 1 << 20});
    compare(config, {0.01, 0.06}); // row_pair of 1 MiB: 5.7 %, the other rhythm; all others below 1 %
}

TEST_CASE("collectives around failed chips on rv64 cores give the bytes and times of native cores")
{
    tpu_v3_config config = with_failed_board(pod(8, 8));
    config.run.workload = k_around_failed_chips;
    compare(config, {0.02, 0.03});
}

TEST_CASE("cores five times as slow still agree")
{
    tpu_v3_config config = at_cpi_1(4, 4); // nothing but cores matters
    config.run.workload = everything({4, 100, 4096, 65540, 1 << 20});
    compare(config, {0.02, 0.06});
}

TEST_CASE("native cores charge the instructions that rv64 cores execute")
{
    compare_instructions(at_cpi_1(4, 4), everything({4, 4096, 65540}), 0.02);
}

TEST_CASE("native cores charge the instructions that rv64 cores execute around failed chips")
{
    compare_instructions(with_failed_board(at_cpi_1(6, 6)), k_around_failed_chips, 0.05);
}

TEST_CASE("native cores charge the instructions that rv64 cores execute on a torus")
{
    using abi::algorithm;
    using abi::collective_op;
    tpu_v3_config config = at_cpi_1(4, 4);
    config.mesh.wrap = mesh_wrap::both;
    const std::vector<std::uint64_t> bytes = {4, 4096, 65540};
    compare_instructions(config,
                         {spec(collective_op::all_reduce, {algorithm::hierarchical, algorithm::direct, algorithm::multi_axis}, bytes),
                          spec(collective_op::reduce_scatter, {algorithm::direct, algorithm::multi_axis}, bytes),
                          spec(collective_op::all_gather, {algorithm::direct, algorithm::multi_axis}, bytes)},
                         0.05);
    std::vector<collective_spec> trees = {spec(collective_op::broadcast, {algorithm::mesh_tree}, {4, 256 << 10}),
                                          spec(collective_op::reduce, {algorithm::mesh_tree}, {4, 256 << 10})};
    for (collective_spec& s : trees)
        s.chunk = data_size(1 << 10); // most of the work is messages that wait in the DMA engine
    compare_instructions(config, trees, 0.05);
}

TEST_CASE("trees of a torus on rv64 cores give the bytes and times of native cores")
{
    using abi::algorithm;
    using abi::collective_op;
    tpu_v3_config config = pod(4, 4);
    config.mesh.wrap = mesh_wrap::both;
    config.run.workload = {spec(collective_op::broadcast, {algorithm::mesh_tree}, {65540, 1 << 20}),
                           spec(collective_op::reduce, {algorithm::mesh_tree}, {65540, 1 << 20})};
    compare(config, {0.03, 0.04});
}

TEST_CASE("collectives on 4x4 rv64 cores with small rings")
{
    // The firmware polls HEAD for free entries.
    tpu_v3_config config = pod(4, 4);
    config.chip.dma.ring_entries = 4;
    config.chip.core.cpi = 0.25;
    config.chip.core.mmio_overhead = cycle_count(0);
    config.run.workload = everything({1000, 65536});
    for (collective_spec& s : config.run.workload)
        s.chunk = data_size(2 << 10);
    // Ever longer intervals between two reads of HEAD make large steps of small differences.
    compare(config, {0.06, 0.40});
}

TEST_CASE("a dead neighbour is reported by rv64 firmware")
{
    if (*iss_engine_name() == '\0')
        return;
    tpu_v3_config config = pod(2, 2);
    config.chip.core.model = core_model::rv64;
    config.run.firmware_timeout = duration(1'000'000'000);
    config.faults.links_down = {{0, 0, mesh_direction::plus_x, false}};
    config.run.workload = {spec(abi::collective_op::all_reduce, {abi::algorithm::ring_1d}, {4096})};
    const verdict outcome = run(config);
    INFO(outcome.failure);
    CHECK_THAT(outcome.failure, Catch::Contains("a wait timed out on DMA.SEM_PENDING"));
    CHECK_THAT(outcome.failure, Catch::Contains("each sleeps until an interrupt of DMA"));
}
