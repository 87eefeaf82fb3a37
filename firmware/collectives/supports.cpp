// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/supports.h"

#include "firmware/collectives/engine.h"
#include "firmware/collectives/full_mesh.h"

namespace weft::firmware {

namespace {

const char* refuse_pair(abi::collective_op op, abi::algorithm algo)
{
    using abi::algorithm;
    switch (op) {
    case abi::collective_op::all_reduce:
        if (algo == algorithm::ring_1d || algo == algorithm::two_d || algo == algorithm::row_pair ||
            algo == algorithm::row_pair_forward || algo == algorithm::direct || algo >= algorithm::switchml)
            return nullptr;
        return "all_reduce runs by ring_1d, two_d, row_pair or row_pair_forward, on a torus or full mesh by hierarchical or "
               "direct, and on a switched network by switchml, switchml_lossless, halving_doubling or parameter_server";
    case abi::collective_op::reduce_scatter:
        return algo == algorithm::ring_1d || algo == algorithm::direct ? nullptr
                                                                       : "reduce_scatter runs by ring_1d or direct";
    case abi::collective_op::all_gather:
        return algo == algorithm::ring_1d || algo == algorithm::direct ? nullptr
                                                                       : "all_gather runs by ring_1d or direct";
    case abi::collective_op::broadcast:
        return algo == algorithm::mesh_tree ? nullptr : "broadcast runs by mesh_tree only";
    case abi::collective_op::all_to_all: return algo == algorithm::direct ? nullptr : "all_to_all runs by direct only";
    }
    return "unknown collective";
}

const char* refuse_whole_mesh(abi::algorithm algo, const mesh& m, bool transposed)
{
    if (algo == abi::algorithm::ring_1d && (m.rows < 2 || m.cols < 2 || (m.rows % 2 != 0 && m.cols % 2 != 0)))
        return "ring_1d needs an even number of rows or columns and at least 2 of each";
    if (algo == abi::algorithm::row_pair && (transposed ? m.cols : m.rows) % 2 != 0)
        return transposed ? "row_pair transposed needs an even number of columns"
                          : "row_pair needs an even number of rows";
    if (algo == abi::algorithm::row_pair_forward)
        return "row_pair_forward differs from row_pair only where chips have failed, and none has: use row_pair";
    return nullptr;
}

/// Neighbours of failed chips find a whole pair of rows, and none of its chips gets too many of them.
const char* refuse_forwarding(const mesh& o, bool transposed)
{
    if (whole_pairs(o) == 0)
        return transposed ? "row_pair transposed needs a pair of columns without failed chips"
                          : "row_pair needs a pair of rows without failed chips";
    for (std::uint32_t row = 0; row < o.rows; ++row) {
        place target;
        std::uint32_t distance = 0;
        if (!pair_is_whole(o, row / 2) && forward_target(o, {row, 0}, target, distance) && distance > k_max_donors)
            return transposed
                       ? "row_pair transposed needs a column without failed chips in its pair within 4 columns of each "
                         "column next to failed chips"
                       : "row_pair needs a row without failed chips in its pair within 4 rows of each row next to "
                         "failed chips";
    }
    return nullptr;
}

const char* refuse_column_forwarding(const mesh& o)
{
    for (std::uint32_t col = 0; col < o.cols; ++col) {
        if (!column_is_whole(o, col))
            continue;
        std::uint32_t adopted = 0;
        for (std::uint32_t other = 0; other < o.cols; ++other) {
            std::uint32_t taker = 0;
            adopted += !column_is_whole(o, other) && nearest_whole_column(o, other, taker) && taker == col ? 1 : 0;
        }
        if (adopted > k_max_adopted)
            return "row_pair_forward lets a whole column serve at most 8 columns with failed chips";
    }
    std::uint32_t any = 0;
    return nearest_whole_column(o, 0, any) ? nullptr : "row_pair_forward needs a column without failed chips";
}

const char* refuse_broken_mesh(abi::algorithm algo, const mesh& m, bool transposed)
{
    using abi::algorithm;
    const bool pairs = algo == algorithm::row_pair || algo == algorithm::row_pair_forward;
    if (algo == algorithm::two_d)
        return "two_d needs a mesh without failed chips";
    if (algo == algorithm::ring_1d && (!fits_blocks(m) || m.rows / 2 * (m.cols / 2) > k_max_blocks))
        return "ring_1d around failed chips needs an even number of rows and of columns, and failed regions of even size that "
               "start on even rows and columns";
    if (!pairs)
        return nullptr;
    if (!fits_blocks(m))
        return "row_pair around failed chips needs an even number of rows and of columns, and failed regions of even size that "
               "start on even rows and columns";
    const mesh o = oriented(m, transposed);
    const char* refusal = refuse_forwarding(o, transposed);
    return refusal == nullptr && algo == algorithm::row_pair_forward ? refuse_column_forwarding(o) : refusal;
}

// Every rank reaches every other without a third: ranks around one switch or a tree of them, or one full mesh.
bool all_reach_all(const abi::platform_table& table)
{
    return table.dim_count == 1 &&
           (table.kind[0] == abi::dimension_kind::switched || table.kind[0] == abi::dimension_kind::full);
}

const char* refuse_switched(abi::algorithm algo, const abi::platform_table& table)
{
    if (algo == abi::algorithm::parameter_server)
        return all_reach_all(table) && table.ranks <= 1u << k_barrier_rounds
                   ? nullptr
                   : "parameter_server needs a switched network, or one full mesh, of up to 16384 ranks";
    if (!all_reach_all(table))
        return "halving_doubling needs a switched network or one full mesh";
    if ((table.ranks & (table.ranks - 1)) != 0)
        return "halving_doubling needs a number of ranks that is a power of two";
    return table.ranks <= 1u << k_partner_rounds ? nullptr : "halving_doubling is limited to 256 ranks";
}

const char* refuse_job(const abi::switchml::table* job)
{
    return job != nullptr && present(*job) ? nullptr
                                           : "switchml needs workers with an Ethernet NIC below a SwitchML switch";
}

const char* refuse_direct(abi::collective_op op, const abi::platform_table& table)
{
    if (op != abi::collective_op::all_to_all && !closes(table))
        return "direct, except for all_to_all, needs every dimension to be a ring or a full mesh, and no failed chips";
    return table.ranks <= 1u << k_barrier_rounds ? nullptr
                                                 : "direct is limited to 16384 ranks: its barrier has 14 semaphores";
}

const char* refuse_topology(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table,
                            bool transposed)
{
    if (algo == abi::algorithm::direct)
        return refuse_direct(op, table);
    if (algo == abi::algorithm::hierarchical)
        return closes(table) ? nullptr
                             : "hierarchical needs every dimension to be a ring or a full mesh, and no failed chips";
    if (algo == abi::algorithm::halving_doubling || algo == abi::algorithm::parameter_server)
        return refuse_switched(algo, table);
    if (algo == abi::algorithm::ring_1d && all_reach_all(table))
        return nullptr;
    const bool any_full_mesh = algo == abi::algorithm::ring_1d || algo == abi::algorithm::mesh_tree;
    if (any_full_mesh && full_mesh(table))
        return nullptr;
    if (table.dim_count < 1 || table.dim_count > 2)
        return any_full_mesh ? "this algorithm needs at most two dimensions, or a full mesh in every dimension"
                             : "this algorithm needs a 2-D mesh";
    const mesh m = mesh_of(table);
    return m.broken() ? refuse_broken_mesh(algo, m, transposed) : refuse_whole_mesh(algo, m, transposed);
}

} // namespace

bool supports(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table, bool transposed,
              const char** reason, const abi::switchml::table* job)
{
    const char* refusal = refuse_pair(op, algo);
    if (refusal == nullptr && by_switch(algo))
        refusal = refuse_job(job);
    else if (refusal == nullptr && job != nullptr && present(*job) && job->core != 0)
        refusal = "cores of a worker beyond the first run switchml and switchml_lossless only";
    else if (refusal == nullptr && table.ranks != 1)
        refusal = refuse_topology(op, algo, table, transposed);
    *reason = refusal == nullptr ? "" : refusal;
    return refusal == nullptr;
}

bool supports_groups(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table, std::uint32_t rows,
                     std::uint32_t cols, const char** reason)
{
    const mesh m = mesh_of(table);
    const auto refuse = [&](const char* why) {
        *reason = why;
        return false;
    };
    *reason = "";
    if (op != abi::collective_op::all_reduce || algo != abi::algorithm::ring_1d)
        return refuse("groups run all_reduce by ring_1d only");
    if (table.dim_count != 2 || !is_ring_tile(rows, cols))
        return refuse("groups are tiles of 2x1, 2x2, 4x2 or 4x4 chips of a 2-D mesh");
    if (m.rows % rows != 0 || m.cols % cols != 0)
        return refuse("groups must divide the mesh");
    for (std::uint32_t i = 0; i < m.regions; ++i) {
        const abi::failed_region& f = m.failed[i];
        if (f.row % rows != 0 || f.rows % rows != 0 || f.col % cols != 0 || f.cols % cols != 0)
            return refuse("failed regions must consist of whole groups");
    }
    return true;
}

bool tree_reaches_all(const abi::platform_table& table, std::uint32_t row, std::uint32_t col, bool transposed)
{
    const mesh m = oriented(mesh_of(table), transposed);
    const place root = oriented(place{row, col}, transposed);
    for (std::uint32_t r = 0; r < m.rows; ++r)
        for (std::uint32_t c = 0; c < m.cols; ++c) {
            const place p{r, c};
            place parent;
            if (works(m, p) && !(p == root) && !tree_parent(m, root, p, parent))
                return false;
        }
    return true;
}

} // namespace weft::firmware
