// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// UB-Mesh: all-to-all between the 64 NPUs of a rack in single packets, without chips.
#include "platforms/cli/bench_cases.h"
#include "platforms/workload/host_use.h"
#include "testbenches/support/ub_patterns.h"
#include "tlm/check.h"

#include <benchmark/benchmark.h>

using namespace weft;
using namespace weft::testing;

namespace {

run_figures rack_all_to_all(ub_path_use use, std::uint64_t rounds)
{
    const ub_ways ways(ub_rack());
    ub_load load;
    load.destinations.resize(64);
    for (std::uint32_t r = 0; r < 64; ++r)
        for (std::uint32_t k = 1; k < 64; ++k)
            load.destinations[r].push_back((r + k) % 64);
    load.packets_each = 63 * rounds;
    ub_config config;
    config.paths = use;
    ub_world w(ways, config, load);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const double start = cpu_seconds();
    sc_core::sc_start();
    const double spent = cpu_seconds() - start;
    if (const std::string complaint = w.complaint(); !complaint.empty())
        throw bug("bench", w.time.now_ps(), complaint);
    const auto hops = static_cast<double>(w.fabric.engine().packet_hops());
    return {
        {"hops", hops}, {"hops_per_s", hops / spent}, {"events_per_hop", static_cast<double>(w.time.events()) / hops}};
}

/// Arguments: 0 shortest paths, 1 all.
void ub_rack_all_to_all(benchmark::State& state)
{
    run_figures f;
    for (auto _ : state) {
        f = cli::in_child(
            [&] { return rack_all_to_all(state.range(0) != 0 ? ub_path_use::all : ub_path_use::shortest, 200); });
        state.SetIterationTime(f.at("hops") / f.at("hops_per_s"));
    }
    state.counters["hops_per_cpu_s"] = f.at("hops_per_s");
    state.counters["events_per_hop"] = f.at("events_per_hop");
}
BENCHMARK(ub_rack_all_to_all)
    ->Arg(0)
    ->Arg(1)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(3)
    ->Unit(benchmark::kMillisecond);

} // namespace
