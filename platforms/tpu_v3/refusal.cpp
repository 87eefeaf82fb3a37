// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the firmware cannot run on a mesh, why, and what would work.
#include "firmware/collectives/supports.h"
#include "platforms/machine/workload_checks.h"
#include "platforms/tpu_v3/tpu_v3.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

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
    const std::string runs_there = what_runs(even.rank_table(0), op);
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
    const std::string where = fmt::format("a {}x{} mesh (rows x columns){}", mesh.rows, mesh.cols,
                                          faults.regions.empty() ? "" : " with failed chips");
    const abi::platform_table table = rank_table(0);
    const std::string refusal = firmware_refusal(table, op, algo, transposed, where);
    if (refusal.empty() || faults.regions.empty() || !what_runs(table, op).empty())
        return refusal;
    return firmware_refusal(table, op, algo, transposed, where, even_regions_remedy(*this, op));
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
