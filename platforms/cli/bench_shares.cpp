// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/bench_shares.h"

#include "platforms/cli/cli.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace weft::cli {

namespace {

// By shortest paths the bound is that of the links to board and rack, which an exchange loads alike; with detours it
// counts lanes to the backplane as well.
constexpr const char* k_board =
    "platform: ub_mesh\nmesh: {boards: 1, npus: 8, backplane: false}\nub: {paths: shortest}\n";
constexpr const char* k_rack = "platform: ub_mesh\nmesh: {boards: 8, npus: 8}\nub: {paths: shortest}\n";
constexpr const char* k_small_rack = "platform: ub_mesh\nmesh: {boards: 4, npus: 4}\nub: {paths: shortest}\n";
constexpr const char* k_four_racks = "platform: ub_mesh\nmesh: {rack_cols: 4}\n";
constexpr const char* k_pod =
    "platform: ub_mesh\nmesh: {rack_rows: 4, rack_cols: 4, hrs: true}\nub: {paths: shortest}\n";
constexpr const char* k_mesh = "platform: tpu_v3\nmesh: {rows: 8, cols: 8}\n";
constexpr const char* k_torus = "platform: tpu_v3\nmesh: {rows: 8, cols: 8, wrap: both}\n";

struct share_row {
    const char* machine_text;
    const char* machine;
    const char* keys; ///< of the entry of `workload`
    double least_percent;
    bool only_full = false;
};

const share_row k_rows[] = {
    {"board of 8 NPUs", k_board, "op: all_reduce, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"board of 8 NPUs", k_board, "op: reduce_scatter, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"board of 8 NPUs", k_board, "op: all_gather, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"rack of 64 NPUs", k_rack, "op: all_reduce, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"rack of 64 NPUs", k_rack, "op: reduce_scatter, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"rack of 64 NPUs", k_rack, "op: all_gather, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"rack of 64 NPUs", k_rack, "op: all_to_all, algorithms: [direct], sizes: [16 MiB]", 90},
    {"one NPU in each of four racks", k_four_racks,
     "op: all_reduce, algorithms: [direct], groups: [\"0,64,128,192\"], sizes: [64 MiB]", 95},
    {"pod of 1,024 NPUs", k_pod, "op: all_reduce, algorithms: [multi_axis], sizes: [64 MiB]", 85, true},
    {"8x8 mesh", k_mesh, "op: all_reduce, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"8x8 mesh", k_mesh, "op: reduce_scatter, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"8x8 mesh", k_mesh, "op: all_gather, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"8x8 mesh", k_mesh, "op: all_to_all, algorithms: [two_phase], sizes: [16 MiB]", 85},
    {"8x8 mesh", k_mesh, "op: broadcast, algorithms: [mesh_tree], sizes: [64 MiB]", 85},
    {"8x8 torus", k_torus, "op: all_reduce, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"8x8 torus", k_torus, "op: reduce_scatter, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"8x8 torus", k_torus, "op: all_gather, algorithms: [multi_axis], sizes: [64 MiB]", 90},
    {"8x8 torus", k_torus, "op: all_to_all, algorithms: [two_phase], sizes: [16 MiB]", 85},
    {"8x8 torus", k_torus, "op: broadcast, algorithms: [mesh_tree], sizes: [64 MiB]", 85},
};

/// Runs the entries one after the other: "us0", "percent0", "us1", ...
run_figures run_entries(const std::string& machine, const std::string& entries)
{
    const loaded_platform loaded = read_platform_text(
        fmt::format("{}name: bench\ndata: \"off\"\nburst: 1 packet\nworkload: [{}]\n", machine, entries), "bench");
    if (!loaded.platform)
        throw bug("bench", 0, loaded.message());
    const std::unique_ptr<weft::machine> built = loaded.platform->build();
    collective_runner runner("host", *built, loaded.platform->run(), nullptr);
    const run_outcome outcome = runner.run();
    if (!outcome.failure.empty())
        throw bug("bench", built->time().now_ps(), "a collective failed: " + outcome.failure);
    run_figures figures;
    for (std::size_t i = 0; i < outcome.cases.size(); ++i) {
        const double us = static_cast<double>(outcome.cases[i].time_ps) * 1e-6;
        const auto bound = bound_on(*loaded.platform, outcome.cases[i].what);
        figures[fmt::format("us{}", i)] = us;
        figures[fmt::format("percent{}", i)] = bound ? 100 * bound->us / us : 0;
    }
    return figures;
}

std::string entry(const std::string& keys) { return fmt::format("{{{}}}", keys); }

/// One collective by one algorithm, of one size.
std::string short_text(const std::string& machine, const collective_spec& spec)
{
    return fmt::format("{}, {} of {} by {}", machine, name_of(spec.op), to_string(spec.sizes.front()),
                       name_of(spec.algorithms.front()));
}

void measure_paths(bench_page& out, const bench_settings& how)
{
    constexpr double k_least = 1.8;
    const std::pair<const char*, const char*> racks[] = {{"4x4 NPUs", k_small_rack}, {"8x8 NPUs", k_rack}};
    for (const auto& [text, machine] : racks) {
        const run_figures f = how.isolated([machine = machine] {
            return run_entries(machine,
                               entry("op: all_to_all, algorithms: [two_phase, two_phase_one_path], sizes: [16 MiB]"));
        });
        const double gain = f.at("us1") / f.at("us0");
        out.line(fmt::format("{}, all_to_all of 16 MiB over two paths for one", text),
                 fmt::format("{:.2f} times", gain), ">= 1.8 times", gain >= k_least);
    }
}

void measure_short(bench_page& out, const bench_settings& how)
{
    std::string entries = entry("op: all_reduce, algorithms: [auto], sizes: [4 KiB]");
    for (const char* op : {"reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all"})
        entries += fmt::format(", {{op: {}, algorithms: [auto], sizes: [4 KiB]}}", op);
    const std::pair<const char*, const char*> machines[] = {
        {"board", k_board}, {"rack", k_rack}, {"8x8 mesh", k_mesh}, {"8x8 torus", k_torus}};
    for (const auto& [text, machine] : machines) {
        const run_figures f = how.isolated([machine = machine, &entries] { return run_entries(machine, entries); });
        double longest = 0;
        for (unsigned i = 1; i < 6; ++i)
            longest = std::max(longest, f.at(fmt::format("us{}", i)));
        out.line(fmt::format("{}, the slowest operation of 4 KiB over an all_reduce", text),
                 fmt::format("{:.2f}", longest / f.at("us0")), "<= 1", longest <= f.at("us0"));
    }
}

} // namespace

void measure_shares(bench_page& out, const bench_settings& how)
{
    out.title("Share of what links and memories allow (simulated times, single packets)");
    for (const share_row& row : k_rows) {
        if (row.only_full && !how.full)
            continue;
        const loaded_platform read =
            read_platform_text(fmt::format("{}workload: [{}]\n", row.machine, entry(row.keys)), "bench");
        if (!read.platform)
            throw bug("bench", 0, read.message());
        const run_figures f = how.isolated([&] { return run_entries(row.machine, entry(row.keys)); });
        out.line(short_text(row.machine_text, read.platform->run().workload.front()),
                 fmt::format("{:.1f} %, {:.1f} us", f.at("percent0"), f.at("us0")),
                 fmt::format(">= {:.0f} %", row.least_percent), f.at("percent0") >= row.least_percent);
    }
    measure_paths(out, how);
    measure_short(out, how);
}

} // namespace weft::cli
