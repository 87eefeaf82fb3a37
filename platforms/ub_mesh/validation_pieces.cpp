// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/validation_pieces.h"

#include "platforms/config/config_dump.h"
#include "platforms/workload/case_times.h"
#include "platforms/workload/collective_runner.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <stdexcept>
#include <string>

namespace weft {

double ub_time_of_size::us(double mib) const
{
    double least = 0;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const double affine = ways[i].small_us + (ways[i].large_us - ways[i].small_us) * (mib - k_small_mib) / (k_large_mib - k_small_mib);
        const double us = std::max(0.0, affine);
        least = i == 0 ? us : std::min(least, us);
    }
    return least;
}

namespace {

constexpr std::uint64_t k_mib_bytes = 1 << 20;
constexpr std::uint64_t k_chunk_bytes = k_mib_bytes;

run_figures simulate(const ub_mesh_config& config)
{
    ub_machine machine(config, std::make_shared<ub_routes>(config));
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    run_figures figures = case_times(config.run.name, outcome);
    for (const component* c : machine.time().components())
        if (const auto* const unit = dynamic_cast<const ccu*>(c)) {
            figures["units_read"] += static_cast<double>(unit->memory_read.value());
            figures["units_written"] += static_cast<double>(unit->memory_written.value());
            figures["units_sent"] += static_cast<double>(unit->bytes_sent.value());
        }
    return figures;
}

ub_mesh_config machine_of(const ub_shape& shape, ub_path_use paths, ub_choice choice)
{
    ub_mesh_config config;
    config.run.data = data_mode::off;
    config.mesh = shape;
    config.deepen_buffers(); // times on a rack are those of the default buffers
    config.ub.paths = paths;
    config.ub.choice = choice;
    return config;
}

/// Process groups, as a workload names them.
using group_texts = std::vector<std::string>;

group_texts group_by(const ub_mesh_config& config, const std::function<std::uint32_t(std::uint32_t)>& group)
{
    group_texts lists;
    for (std::uint32_t r = 0; r < config.mesh.ranks(); ++r) {
        if (lists.size() <= group(r))
            lists.resize(group(r) + 1);
        std::string& list = lists[group(r)];
        list += fmt::format("{}{}", list.empty() ? "" : ",", r);
    }
    return lists;
}

/// The schemes of the ranks; a transfer counts by the fastest, as `algorithms: [auto]` would choose. Direct gathers
/// over two racks send each shard to every rank of the other one, multi_axis once.
std::vector<abi::algorithm> algorithms_of(abi::collective_op op)
{
    if (op == abi::collective_op::all_to_all)
        return {abi::algorithm::direct};
    if (op == abi::collective_op::all_gather)
        return {abi::algorithm::direct, abi::algorithm::multi_axis};
    return {abi::algorithm::direct, abi::algorithm::multi_axis, abi::algorithm::hierarchical};
}

void add_work(ub_mesh_config& config, abi::collective_op op, const std::vector<double>& sizes_mib, const group_texts& groups)
{
    collective_spec spec;
    spec.op = op;
    spec.groups = groups;
    spec.algorithms = algorithms_of(op);
    spec.chunk = data_size(k_chunk_bytes);
    for (const double mib : sizes_mib)
        spec.sizes.push_back(data_size(static_cast<std::uint64_t>(mib * k_mib_bytes)));
    config.run.workload.push_back(spec);
}

const std::vector<double> k_sizes{ub_time_of_size::k_small_mib, ub_time_of_size::k_large_mib};

/// Runs the collectives and stores their times in order.
bool run(const isolated_run& isolated, ub_mesh_config& config, const group_texts& groups,
         const std::vector<abi::collective_op>& ops, const std::vector<ub_time_of_size*>& into)
{
    config.run.workload.clear();
    for (const abi::collective_op op : ops)
        add_work(config, op, k_sizes, groups);
    const run_figures figures = isolated([&config] { return simulate(config); }, to_yaml(describe(config)));
    std::size_t at = 0; // cases stand by operation, algorithm and size
    for (std::size_t i = 0; i < into.size(); ++i)
        for (std::size_t algorithm = 0; algorithm < algorithms_of(ops[i]).size(); ++algorithm, at += 2) {
            const auto small = figure(figures, fmt::format("time_us_{}", at));
            const auto large = figure(figures, fmt::format("time_us_{}", at + 1));
            if (!small || !large)
                return false;
            into[i]->ways.push_back({*small, *large});
        }
    return true;
}

constexpr auto k_all_reduce = abi::collective_op::all_reduce;
constexpr auto k_all_gather = abi::collective_op::all_gather;
constexpr auto k_all_to_all = abi::collective_op::all_to_all;

/// Gathers and exchanges of `racks` NPUs, where group_of says which ones.
using groups_of_racks = std::function<std::uint32_t(std::uint32_t rank, std::uint32_t racks)>;

/// `data_stride`: how far apart the four ranks of a column are.
std::optional<ub_far_times> far_work(const isolated_run& isolated, ub_mesh_config& config, const groups_of_racks& group_of,
                                     std::uint32_t data_stride)
{
    ub_far_times times;
    for (const std::uint32_t racks : k_rack_ranks) {
        const group_texts groups = group_by(config, [&](std::uint32_t r) { return group_of(r, racks); });
        if (!run(isolated, config, groups, {k_all_gather, k_all_to_all}, {&times.gather[racks], &times.all_to_all[racks]}))
            return std::nullopt;
    }
    if (!run(isolated, config, group_by(config, [data_stride](std::uint32_t r) { return r % data_stride; }), {k_all_reduce}, {&times.all_reduce}))
        return std::nullopt;
    return times;
}

} // namespace

std::optional<ub_rack_times> rack_times(const isolated_run& isolated, ub_rack_kind kind, ub_path_use paths,
                                        ub_choice choice)
{
    ub_shape shape;
    shape.rack = kind;
    ub_mesh_config config = machine_of(shape, paths, choice);
    config.run.name = fmt::format("rack of {}", name_of(kind));
    ub_rack_times times;
    for (const std::uint32_t ranks : k_tensor_ranks)
        if (!run(isolated, config, group_by(config, [&](std::uint32_t r) { return r / ranks; }), {k_all_reduce}, {&times.all_reduce[ranks]}))
            return std::nullopt;
    for (const std::uint32_t ranks : k_column_ranks) {
        const auto group_of = [&](std::uint32_t r) { return r / 8 % (8 / ranks) * 8 + r % 8; };
        if (!run(isolated, config, group_by(config, group_of), {k_all_gather, k_all_to_all}, {&times.gather[ranks], &times.all_to_all[ranks]}))
            return std::nullopt;
    }
    return times;
}

std::optional<ub_far_times> far_times(const isolated_run& isolated, const ub_far_machine& what)
{
    ub_shape shape;
    shape.boards = 1;
    shape.rack_rows = shape.rack_cols = 4;
    shape.rack = what.rack;
    shape.pod = what.pod;
    shape.hrs = what.rack == ub_rack_kind::full_mesh_2d;
    if (what.rack == ub_rack_kind::full_mesh_2d)
        shape.backplane_lanes = what.lanes;
    shape.rack_link_lanes = what.lanes; // x128 of 8 boards for x16 of an NPU
    ub_mesh_config config = machine_of(shape, what.paths, what.choice);
    config.run.name = fmt::format("slice of a pod, x{}", what.lanes);
    return far_work(isolated, config, [](std::uint32_t r, std::uint32_t racks) { return r / 8 / racks * 8 + r % 8; }, 32);
}

std::optional<ub_far_times> far_times_of_clos(const isolated_run& isolated)
{
    ub_shape shape;
    shape.rack = ub_rack_kind::clos;
    ub_mesh_config config = machine_of(shape, ub_path_use::all, ub_choice::weighted);
    config.run.name = "Clos";
    return far_work(isolated, config, [](std::uint32_t r, std::uint32_t racks) { return r / racks; }, 16);
}

namespace {

/// Workload and machine of board_times() and board_unit_bytes().
ub_mesh_config board_of(const ub_board_machine& what, abi::collective_op op, const std::string& algorithm, const std::vector<double>& sizes_mib)
{
    ub_mesh_config config;
    config.run.name = fmt::format("{} x {} NPUs, {}", what.boards, what.npus, name_of(op));
    config.run.data = data_mode::off;
    config.mesh.boards = what.boards;
    config.mesh.npus = what.npus;
    config.mesh.backplane = false;
    config.ub.lane_rate = bandwidth(what.lane_gbps * 1'000'000'000ull);
    config.ub.fec = what.fec_inside ? ub_fec::inside : ub_fec::outside;
    config.ub.efficiency = what.efficiency;
    config.npu.core.clock = frequency(what.clock_mhz * 1'000'000);
    collective_spec spec;
    spec.op = op;
    const auto known = std::find_if(std::begin(enum_names<abi::algorithm>::values), std::end(enum_names<abi::algorithm>::values),
                                    [&](const auto& row) { return row.second == algorithm; });
    if (known == std::end(enum_names<abi::algorithm>::values))
        throw std::invalid_argument("no algorithm is called " + algorithm);
    spec.algorithms = {known->first};
    for (const double mib : sizes_mib)
        spec.sizes.push_back(data_size(static_cast<std::uint64_t>(mib * k_mib_bytes)));
    config.run.workload = {spec};
    return config;
}

} // namespace

std::vector<std::optional<double>> board_times(const isolated_run& isolated, const ub_board_machine& what, abi::collective_op op,
                                               const std::string& algorithm, const std::vector<double>& sizes_mib)
{
    const ub_mesh_config config = board_of(what, op, algorithm, sizes_mib);
    const run_figures figures = isolated([&config] { return simulate(config); }, to_yaml(describe(config)));
    std::vector<std::optional<double>> times;
    for (std::size_t i = 0; i < sizes_mib.size(); ++i)
        times.push_back(figure(figures, fmt::format("time_us_{}", i)));
    return times;
}

ub_unit_bytes board_unit_bytes(const isolated_run& isolated, const ub_board_machine& what, abi::collective_op op, const std::string& algorithm,
                               double size_mib)
{
    const ub_mesh_config config = board_of(what, op, algorithm, {size_mib});
    const run_figures figures = isolated([&config] { return simulate(config); }, to_yaml(describe(config)));
    return {figure(figures, "units_read"), figure(figures, "units_written"), figure(figures, "units_sent")};
}

std::optional<double> tensor_us(const isolated_run& isolated, ub_rack_kind kind, double mib)
{
    ub_shape shape;
    shape.rack = kind;
    ub_mesh_config config = machine_of(shape, ub_path_use::all, ub_choice::weighted);
    add_work(config, k_all_reduce, {mib}, group_by(config, [](std::uint32_t r) { return r / 16; }));
    const run_figures figures = isolated([&config] { return simulate(config); }, to_yaml(describe(config)));
    std::optional<double> least;
    for (std::size_t i = 0; i < algorithms_of(k_all_reduce).size(); ++i)
        if (const auto us = figure(figures, fmt::format("time_us_{}", i)); us && (!least || *us < *least))
            least = us;
    return least;
}

} // namespace weft
