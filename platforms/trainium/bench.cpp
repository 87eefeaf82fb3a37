// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/trainium/bench.h"

#include "platforms/trainium/trainium.h"
#include "platforms/workload/case_times.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_use.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

/// An all-reduce of 64 ranks, as in configs/trainium/trn2.yaml: "time_us_0", "cpu_s" (data included),
/// "resident_MiB".
run_figures measure(abi::algorithm by, std::uint64_t bytes, data_mode data)
{
    trainium_config config;
    config.run.name = "bench";
    config.run.data = data;
    collective_spec spec;
    spec.op = abi::collective_op::all_reduce;
    spec.algorithms = {by};
    spec.sizes = {data_size(bytes)};
    config.run.workload = {spec};
    require_sound(config.validate());
    const double start = cpu_seconds();
    trainium_machine machine(config, trainium_routing(config), {});
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    run_figures figures = case_times(config.run.name, outcome);
    figures["cpu_s"] = cpu_seconds() - start;
    figures["resident_MiB"] = resident_bytes() / (1 << 20);
    return figures;
}

/// Every family at 1 KiB, 4 KiB ... up to `most` bytes.
void sweep(bench_page& out, const bench_settings& how, const char* text, std::uint64_t most, data_mode data, double minutes)
{
    using abi::algorithm;
    double cpu_s = 0, longest_s = 0, resident_MiB = 0;
    unsigned points = 0;
    for (const algorithm by : {algorithm::device_ring, algorithm::device_mesh, algorithm::kangaring, algorithm::rdh})
        for (std::uint64_t bytes = 1024; bytes <= most; bytes *= 4, ++points) {
            const auto r = how.isolated([=] { return measure(by, bytes, data); });
            cpu_s += r.at("cpu_s");
            longest_s = std::max(longest_s, r.at("cpu_s"));
            resident_MiB = std::max(resident_MiB, r.at("resident_MiB"));
        }
    constexpr double k_cores = 2; // points are processes of their own: `weft tune`
    out.line(fmt::format("{}: CPU time of {} points", text, points), fmt::format("{:.0f} s", cpu_s),
             fmt::format("<= {:.0f} min on two cores", minutes), cpu_s <= k_cores * minutes * 60);
    out.line("the longest of them, and its most memory", fmt::format("{:.0f} s, {:.0f} MiB", longest_s, resident_MiB));
}

} // namespace

void bench_trainium(bench_page& out, const bench_settings& how)
{
    constexpr double k_off_minutes = 5, k_checked_minutes = 15;
    if (!how.full)
        return;
    out.title("Trainium: all-reduces of 64 ranks by all four families, `burst: auto`");
    sweep(out, how, "1 KiB to 1 GiB, data off", 1ull << 30, data_mode::off, k_off_minutes);
    sweep(out, how, "1 KiB to 64 MiB, data checked", 64ull << 20, data_mode::checked, k_checked_minutes);
}

} // namespace weft
