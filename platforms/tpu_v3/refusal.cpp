// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the firmware cannot run on a mesh, why, and what would work.
#include "firmware/collectives/supports.h"
#include "platforms/tpu_v3/tpu_v3.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

bool runs(const tpu_v3_config& config, abi::collective_op op, abi::algorithm algo, bool transposed)
{
    const char* reason = "";
    return firmware::supports(op, algo, config.rank_table(0), transposed, &reason);
}

/// "ring_1d or row_pair with transposed: true"; "" when nothing runs `op`.
std::string what_runs(const tpu_v3_config& config, abi::collective_op op)
{
    std::vector<std::string> names;
    for (const auto& [algo, name] : enum_names<abi::algorithm>::values) {
        const bool plain = runs(config, op, algo, false);
        if (plain || runs(config, op, algo, true))
            names.push_back(plain ? std::string(name) : fmt::format("{} with transposed: true", name));
    }
    if (names.size() < 2)
        return names.empty() ? std::string() : names.front();
    const std::string last = names.back();
    names.pop_back();
    return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

/// Every region grown to even rows and columns.
tpu_v3_config with_even_regions(tpu_v3_config config)
{
    for (failed_region_config& f : config.faults.regions) {
        const std::uint32_t end_row = std::min((f.row + f.rows + 1) & ~1u, config.mesh.rows);
        const std::uint32_t end_col = std::min((f.col + f.cols + 1) & ~1u, config.mesh.cols);
        f.row &= ~1u;
        f.col &= ~1u;
        f.rows = end_row - f.row;
        f.cols = end_col - f.col;
    }
    return config;
}

std::string even_regions_remedy(const tpu_v3_config& config, abi::collective_op op)
{
    const tpu_v3_config even = with_even_regions(config);
    if (!no_errors(even.fault_problems()))
        return {};
    const std::string runs_there = what_runs(even, op);
    if (runs_there.empty())
        return {};
    std::string regions;
    for (std::size_t i = 0; i < even.faults.regions.size(); ++i) {
        const failed_region_config& f = even.faults.regions[i];
        const failed_region_config& given = config.faults.regions[i];
        if (f.row == given.row && f.col == given.col && f.rows == given.rows && f.cols == given.cols)
            continue;
        regions += fmt::format("{}faults.regions.{} as {{row: {}, col: {}, rows: {}, cols: {}}}",
                               regions.empty() ? "" : " and ", i, f.row, f.col, f.rows, f.cols);
    }
    return fmt::format("; with {}, which leaves out {} more chips, it runs by {}", regions,
                       config.ranks() - even.ranks(), runs_there);
}

} // namespace

std::vector<config_problem> tpu_v3_config::fault_problems() const
{
    std::vector<config_problem> p;
    check_faults(p);
    return p;
}

std::string tpu_v3_config::refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const
{
    abi::platform_table any_shape;
    any_shape.ranks = 1;
    const char* reason = "";
    if (!firmware::supports(op, algo, any_shape, transposed, &reason))
        return fmt::format("{} cannot run by {}: {}.", name_of(op), name_of(algo), reason);
    if (firmware::supports(op, algo, rank_table(0), transposed, &reason))
        return {};
    std::string remedy;
    if (const std::string others = what_runs(*this, op); !others.empty())
        remedy = fmt::format("; {} runs there", others);
    else if (!faults.regions.empty())
        remedy = even_regions_remedy(*this, op);
    return fmt::format("{} by {} cannot run on a {}x{} mesh (rows x columns){}: {}{}.", name_of(op), name_of(algo),
                       mesh.rows, mesh.cols, faults.regions.empty() ? "" : " with failed chips", reason, remedy);
}

std::string tpu_v3_config::broadcast_refusal(std::uint32_t root, bool transposed) const
{
    if (faults.regions.empty())
        return {};
    const mesh_description d = description();
    const weft::mesh::place at = weft::mesh(d).place_of(root);
    if (firmware::tree_reaches_all(rank_table(0), at.row, at.col, transposed))
        return {};
    return fmt::format("is {}, chip ({},{}), but failed regions keep mesh_tree from reaching all chips from there{}.",
                       root, at.row, at.col,
                       firmware::tree_reaches_all(rank_table(0), at.row, at.col, !transposed)
                           ? fmt::format("; with transposed: {} it does", transposed ? "false" : "true")
                           : "; choose another root");
}

} // namespace weft
