// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The collectives as RISC-V binaries: the same answers as on native cores, for a stated price in time.
#include "hw/core/iss.h"
#include "testbenches/system/pod_bench.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;
using namespace weft::test;

namespace {

/// What is left of a case when it is sent through a pipe.
struct case_record {
    std::uint64_t payload_digest = 0;
    std::uint64_t time_ps = 0;
    std::uint64_t steps = 0;
    std::uint64_t messages = 0;
};

std::vector<case_record> records_of(const run_outcome& outcome)
{
    std::vector<case_record> all;
    for (const case_result& c : outcome.cases)
        all.push_back({c.check.digest, c.time_ps, c.steps, c.messages});
    return all;
}

/// Runs it in a process of its own: a process has one kernel.
std::vector<case_record> records_in_a_child(const tpu_pod_config& config)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close(ends[0]);
        const std::vector<case_record> all = records_of(run(config));
        const std::size_t bytes = all.size() * sizeof(case_record);
        std::_Exit(write(ends[1], all.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
    }
    close(ends[1]);
    std::vector<case_record> all;
    case_record one;
    while (read(ends[0], &one, sizeof one) == static_cast<ssize_t>(sizeof one))
        all.push_back(one);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    return all;
}

void compare(tpu_pod_config config)
{
    if (*iss_engine_name() == '\0')
        return; // a build without an engine
    config.chip.core.model = core_model::native;
    const std::vector<case_record> native = records_in_a_child(config);
    config.chip.core.model = core_model::rv64;
    const std::vector<case_record> rv64 = records_of(run(config));
    REQUIRE(native.size() == rv64.size());
    for (std::size_t i = 0; i < rv64.size(); ++i) {
        INFO("case " << i << ": native " << native[i].time_ps / 1000 << " ns, rv64 " << rv64[i].time_ps / 1000
                     << " ns");
        CHECK(rv64[i].payload_digest == native[i].payload_digest);
        CHECK(rv64[i].payload_digest != 0);
        CHECK(rv64[i].steps == native[i].steps);
        CHECK(rv64[i].messages == native[i].messages);
        // The cost table of native cores is not calibrated from instruction counts yet.
        CHECK(rv64[i].time_ps > native[i].time_ps / 2);
        CHECK(rv64[i].time_ps < native[i].time_ps * 8);
    }
}

} // namespace

TEST_CASE("collectives on 4x4 rv64 cores give the bytes of native cores")
{
    tpu_pod_config config = pod(4, 4);
    config.run.workload = everything({4, 100, 4096, 65540, 1 << 20});
    compare(config);
}

TEST_CASE("collectives on 4x4 rv64 cores with small rings")
{
    // The firmware polls HEAD for free entries.
    tpu_pod_config config = pod(4, 4);
    config.chip.dma.ring_entries = 4;
    config.chip.core.cpi = 0.25;
    config.chip.core.mmio_overhead = cycle_count(0);
    config.run.workload = everything({1000, 65536});
    for (collective_spec& s : config.run.workload)
        s.chunk = data_size(2 << 10);
    compare(config);
}

TEST_CASE("a dead neighbour is reported by rv64 firmware")
{
    if (*iss_engine_name() == '\0')
        return;
    tpu_pod_config config = pod(2, 2);
    config.chip.core.model = core_model::rv64;
    config.run.firmware_timeout = duration(1'000'000'000);
    config.faults.links_down = {{0, 0, mesh_direction::plus_x, false}};
    config.run.workload = {spec(abi::collective_op::all_reduce, {abi::algorithm::ring_1d}, {4096})};
    tpu_pod machine(config);
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    INFO(outcome.failure);
    CHECK_THAT(outcome.failure, Catch::Contains("a wait timed out on DMA.SEM_PENDING"));
    CHECK_THAT(outcome.failure, Catch::Contains("each sleeps until an interrupt of DMA"));
}
