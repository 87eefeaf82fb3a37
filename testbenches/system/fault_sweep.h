// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs all collectives that a pod with failed chips supports.
#pragma once

#include "firmware/collectives/mesh.h"
#include "firmware/collectives/supports.h"
#include "testbenches/support/small_machines.h"

#include <fmt/format.h>

namespace weft::test {

/// How often each of them ran, so that no sweep passes by refusing.
struct sweep_counts {
    unsigned pods = 0, ring_1d = 0, row_pair = 0, row_pair_forward = 0, broadcast = 0, reduce = 0, all_to_all = 0;
};

struct sweep_options {
    std::uint64_t bytes = 1000;
    std::uint64_t walk_bytes = 1000; ///< of ring_1d, whose steps are as many as ranks
    std::uint64_t chunk = 64;        ///< several messages per step
    std::vector<bool> orientations{false, true};
    bool all_to_all = true;
    bool lean = false; ///< of reduce_scatter, all_gather and the roots one, in turn
};

/// Every collective that runs on this pod in these orientations, some roots, in one run: nothing wrong, routing proved.
inline void sweep_pod(tpu_v3_config config, sweep_counts& counts, const sweep_options& options = {})
{
    using abi::algorithm;
    using abi::collective_op;
    const abi::platform_table table = config.rank_table(0);
    const std::uint32_t ranks = config.ranks();
    const auto add = [&](collective_op op, algorithm algo, bool transposed, unsigned& counter, std::uint32_t root = 0) {
        const char* reason = nullptr;
        if (!firmware::supports(op, algo, table, transposed, &reason))
            return;
        collective_spec s = spec(op, {algo}, {algo == algorithm::ring_1d ? options.walk_bytes : options.bytes});
        s.transposed = transposed;
        s.chunk = data_size(options.chunk);
        s.root = root;
        config.run.workload.push_back(s);
        ++counter;
    };
    config.run.workload.clear();
    config.run.burst = packet_count(16);
    const firmware::mesh m = firmware::mesh_of(table);
    for (const bool transposed : options.orientations) {
        add(collective_op::all_reduce, algorithm::ring_1d, transposed, counts.ring_1d);
        add(collective_op::all_reduce, algorithm::row_pair, transposed, counts.row_pair);
        add(collective_op::all_reduce, algorithm::row_pair_forward, transposed, counts.row_pair_forward);
        if (!options.lean || counts.pods % 4 == 0)
            add(collective_op::reduce_scatter, algorithm::ring_1d, transposed, counts.ring_1d);
        if (!options.lean || counts.pods % 4 == 2)
            add(collective_op::all_gather, algorithm::ring_1d, transposed, counts.ring_1d);
        std::vector<std::uint32_t> roots{0, ranks / 2 + (transposed ? 1 : 0), ranks - 1};
        if (options.lean)
            roots = {counts.pods * 37 % ranks};
        for (const std::uint32_t root : roots) {
            const firmware::place at = firmware::place_of(m, root);
            if (firmware::tree_reaches_all(table, at.row, at.col, transposed))
                for (const collective_op op : {collective_op::broadcast, collective_op::reduce})
                    add(op, algorithm::mesh_tree, transposed,
                        op == collective_op::broadcast ? counts.broadcast : counts.reduce, root);
        }
    }
    if (options.all_to_all)
        add(collective_op::all_to_all, algorithm::direct, false, counts.all_to_all);
    ++counts.pods;

    std::string pod = fmt::format("{}x{}", config.mesh.rows, config.mesh.cols);
    for (const failed_region_config& f : config.faults.regions)
        pod += fmt::format(" without {}x{} at ({},{})", f.rows, f.cols, f.row, f.col);
    for (const link_fault_config& f : config.faults.links_down)
        pod += " without link " + f.link_text();
    INFO(pod);
    const verdict v = run(config, {}, {}, true);
    check_exact(v, config.run);
    CHECK_THAT(v.proof, Catch::Matchers::Contains("acyclic"));
    CHECK(v.cases.size() == config.run.workload.size());
    CHECK(v.checked == v.cases.size());
}

/// Every even position of a region of this shape that leaves the pod in one piece.
inline sweep_counts sweep_positions(std::uint32_t side, std::uint32_t rows, std::uint32_t cols,
                                    const sweep_options& options = {})
{
    sweep_counts counts;
    for (std::uint32_t row = 0; row + rows <= side; row += 2)
        for (std::uint32_t col = 0; col + cols <= side; col += 2) {
            const bool splits =
                (rows == side && col != 0 && col + cols != side) || (cols == side && row != 0 && row + rows != side);
            if (splits)
                continue;
            tpu_v3_config config = pod(side, side);
            config.faults.regions = {{row, col, rows, cols}};
            sweep_pod(config, counts, options);
        }
    return counts;
}

} // namespace weft::test
