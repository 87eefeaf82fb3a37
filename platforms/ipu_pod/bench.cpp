// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ipu_pod/bench.h"

#include "platforms/ipu_pod/ipu_pod.h"
#include "platforms/workload/case_times.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_use.h"

#include <fmt/format.h>

namespace weft {

namespace {

/// As configs/ipu_pod/pod256.yaml: "time_us_0", "cpu_s", "resident_MiB".
run_figures measure(std::uint32_t domains, std::uint64_t bytes)
{
    ipu_pod_config config;
    config.run.name = "bench";
    config.run.data = data_mode::off;
    config.pod.machines = 16;
    config.pod.domains = domains;
    config.pod.topology = ipu_topology::torus;
    collective_spec spec;
    spec.op = abi::collective_op::all_reduce;
    spec.algorithms = {abi::algorithm::bidirectional_pair};
    spec.types = {abi::element_type::float32};
    spec.sizes = {data_size(bytes)};
    config.run.workload = {spec};
    config.complete();
    require_sound(config.validate());
    ipu_pod_machine machine(config, ipu_pod_planned_routing(config), {});
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    run_figures figures = case_times(config.run.name, outcome);
    figures["cpu_s"] = outcome.cpu_seconds;
    figures["resident_MiB"] = resident_bytes() / (1 << 20);
    return figures;
}

} // namespace

void bench_ipu_pod(bench_page& out, const bench_settings& how)
{
    constexpr std::uint64_t k_bytes = 100'000'000;
    constexpr double k_seconds = 120;
    if (how.quick)
        return;
    out.title("IPU-Pod: four Pod64 all-reduce 100 MB by bidirectional_pair in three phases, data off, `burst: auto`");
    const auto r = how.isolated([] { return measure(4, k_bytes); });
    out.line("simulated time", fmt::format("{:.3f} ms", r.at("time_us_0") / 1000));
    out.line("CPU time", fmt::format("{:.1f} s", r.at("cpu_s")), "<= 2 min", r.at("cpu_s") <= k_seconds);
    out.line("resident memory", fmt::format("{:.0f} MiB", r.at("resident_MiB")));
}

} // namespace weft
