// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/supports.h"

#include "firmware/collectives/ccu_microcode.h"
#include "firmware/collectives/device_collectives.h"
#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/gapped_lines.h"
#include "firmware/collectives/replica_collectives.h"
#include "firmware/collectives/schedule.h"
#include "firmware/collectives/token_lines.h"

namespace weft::firmware {

namespace {

/// "all_gather runs by ring_1d or direct"
struct sentence {
    char text[480] = {};
};

/// Of algorithms that only some machines run; nobody else is told of them.
constexpr std::uint32_t k_families[] = {0, abi::traits::on_devices, abi::traits::of_replicas, abi::traits::by_ccu};
constexpr std::uint32_t k_all_families = abi::traits::on_devices | abi::traits::of_replicas | abi::traits::by_ccu;
std::uint32_t family_of(const abi::platform_table& table)
{
    return table.device_ranks != 0 ? 1 : table.order != abi::ring_order::none ? 2 : 0;
}

constexpr sentence who_runs(const char* collective, std::uint32_t operation, std::uint32_t family)
{
    const auto runs = [&](const abi::algorithm_row& row) {
        return (row.operations & operation) != 0 && (row.traits & k_all_families & ~family) == 0;
    };
    sentence s;
    std::size_t length = 0;
    const auto add = [&](const char* part) {
        for (; *part != '\0'; ++part)
            s.text[length++] = *part;
    };
    add(collective);
    add(" runs by ");
    unsigned all = 0;
    for (const abi::algorithm_row& row : abi::k_algorithm_rows)
        all += runs(row) ? 1 : 0;
    unsigned left = all;
    for (const abi::algorithm_row& row : abi::k_algorithm_rows)
        if (runs(row)) {
            add(row.name);
            --left;
            add(left > 1 ? ", " : left == 1 ? " or " : all == 1 ? " only" : "");
        }
    return s;
}

/// By operation and k_families.
constexpr sentence k_who_runs[abi::k_collective_ops][4] = {
#define WEFT_WHO_RUNS(op)                                                                                              \
    {                                                                                                                  \
        who_runs(#op, abi::operations::op, k_families[0]), who_runs(#op, abi::operations::op, k_families[1]),          \
            who_runs(#op, abi::operations::op, k_families[2]), who_runs(#op, abi::operations::op, k_families[3])       \
    }
    WEFT_WHO_RUNS(all_reduce), WEFT_WHO_RUNS(reduce_scatter), WEFT_WHO_RUNS(all_gather),
    WEFT_WHO_RUNS(broadcast),  WEFT_WHO_RUNS(all_to_all),     WEFT_WHO_RUNS(reduce),
    WEFT_WHO_RUNS(dispatch),   WEFT_WHO_RUNS(combine),
#undef WEFT_WHO_RUNS
};
static_assert(k_who_runs[abi::k_collective_ops - 1][0].text[0] != '\0', "a collective that nobody is said to run");

const char* refuse_pair(abi::collective_op op, abi::algorithm algo, std::uint32_t family, const abi::platform_table& table)
{
    if (static_cast<unsigned>(op) >= abi::k_collective_ops || static_cast<unsigned>(algo) >= abi::k_algorithms)
        return "unknown collective or algorithm";
    const abi::algorithm_row& row = abi::k_algorithm_rows[static_cast<unsigned>(algo)];
    if ((row.operations & abi::operations::of(op)) != 0)
        return nullptr;
    return k_who_runs[static_cast<unsigned>(op)][family == 0 && table.ccus != 0 ? 3 : family].text;
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

// Every rank reaches every other without a third: ranks around one switch or a tree of them, or one full mesh.
bool all_reach_all(const abi::platform_table& table)
{
    return table.dim_count == 1 &&
           (table.kind[0] == abi::dimension_kind::switched || table.kind[0] == abi::dimension_kind::full);
}

bool is_mesh(const abi::platform_table& table) { return table.dim_count == 1 || table.dim_count == 2; }

// Ranks around switches stand in none, whatever their numbers; a broadcast goes from one to the next.
bool has_rows_and_columns(const abi::platform_table& table)
{
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.kind[d] == abi::dimension_kind::switched)
            return false;
    return is_mesh(table);
}

// What is asked: needs_<algorithm>() says what the machine lacks, or nullptr.
struct question {
    abi::collective_op op;
    const abi::platform_table& table;
    bool transposed;
    const abi::switchml::table* job;
};

constexpr const char* k_needs_mesh = "this algorithm needs a 2-D mesh";
constexpr std::uint32_t k_most_tree_dimensions = 4;
static_assert(1 + 2 * k_most_tree_dimensions <= k_max_channels, "a parent, and two children in each");

const char* needs_ring_1d(const question& q)
{
    if (closes(q.table))
        return nullptr;
    if (!is_mesh(q.table))
        return "ring_1d needs at most two dimensions, or a ring or a full mesh in every dimension";
    const mesh m = mesh_of(q.table);
    if (m.broken())
        return fits_blocks(m) && m.rows / 2 * (m.cols / 2) <= k_max_blocks
                   ? nullptr
                   : "ring_1d around failed chips needs an even number of rows and of columns, and failed regions of even size that "
                     "start on even rows and columns";
    return has_hamiltonian_ring(m) ? nullptr : "ring_1d needs an even number of rows or columns and at least 2 of each";
}

const char* needs_two_d(const question& q)
{
    if (!has_rows_and_columns(q.table))
        return k_needs_mesh;
    return mesh_of(q.table).broken() ? "two_d needs a mesh without failed chips" : nullptr;
}

// Of rings around failed chips.
const char* refuse_pairs(const mesh& m, bool transposed)
{
    if (!fits_blocks(m))
        return "row_pair around failed chips needs an even number of rows and of columns, and failed regions of even size that "
               "start on even rows and columns";
    return refuse_forwarding(oriented(m, transposed), transposed);
}

const char* needs_row_pair(const question& q)
{
    if (!has_rows_and_columns(q.table))
        return k_needs_mesh;
    const mesh m = mesh_of(q.table);
    if (m.broken())
        return refuse_pairs(m, q.transposed);
    if ((q.transposed ? m.cols : m.rows) % 2 == 0)
        return nullptr;
    return q.transposed ? "row_pair transposed needs an even number of columns" : "row_pair needs an even number of rows";
}

const char* needs_row_pair_forward(const question& q)
{
    if (!has_rows_and_columns(q.table))
        return k_needs_mesh;
    const mesh m = mesh_of(q.table);
    if (!m.broken())
        return "row_pair_forward differs from row_pair only where chips have failed, and none has: use row_pair";
    const char* const refusal = refuse_pairs(m, q.transposed);
    return refusal != nullptr ? refusal : refuse_column_forwarding(oriented(m, q.transposed));
}

const char* needs_mesh_tree(const question& q)
{
    if (full_mesh(q.table) || is_mesh(q.table))
        return nullptr;
    std::uint32_t dimensions = 0;
    for (std::uint32_t d = 0; d < q.table.dim_count; ++d)
        dimensions += q.table.dims[d] > 1 ? 1 : 0;
    return dimensions != 0 && dimensions <= k_most_tree_dimensions && q.table.failed_regions == 0
               ? nullptr
               : "mesh_tree needs at most four dimensions, or a full mesh in every dimension";
}

const char* refuse_tokens(const question& q)
{
    return q.table.ranks <= abi::k_most_token_ranks
               ? nullptr
               : "dispatch and combine are limited to 1024 ranks: each rank has a list of tokens for each other one";
}

const char* needs_direct(const question& q)
{
    if (q.op != abi::collective_op::all_to_all) {
        if (abi::moves_tokens(q.op))
            return refuse_tokens(q);
        if (!closes(q.table))
            return "direct, except for all_to_all, dispatch and combine, needs every dimension to be a ring or a full mesh, and no failed chips";
    }
    return q.table.ranks <= 1u << k_barrier_rounds ? nullptr
                                                   : "direct is limited to 16384 ranks: its barrier has 14 semaphores";
}

const char* needs_switchml(const question& q)
{
    return q.job != nullptr && present(*q.job) ? nullptr
                                               : "switchml needs workers with an Ethernet NIC below a SwitchML switch";
}

const char* needs_switchml_lossless(const question& q) { return needs_switchml(q); }

const char* needs_halving_doubling(const question& q)
{
    if (!all_reach_all(q.table))
        return "halving_doubling needs a switched network or one full mesh";
    if ((q.table.ranks & (q.table.ranks - 1)) != 0)
        return "halving_doubling needs a number of ranks that is a power of two";
    return q.table.ranks <= 1u << k_partner_rounds ? nullptr : "halving_doubling is limited to 256 ranks";
}

const char* needs_parameter_server(const question& q)
{
    return all_reach_all(q.table) && q.table.ranks <= 1u << k_barrier_rounds
               ? nullptr
               : "parameter_server needs a switched network, or one full mesh, of up to 16384 ranks";
}

const char* needs_hierarchical(const question& q)
{
    if (abi::moves_tokens(q.op)) {
        if (const char* const refusal = refuse_tokens(q))
            return refusal;
        return token_line(q.table) > 1
                   ? nullptr
                   : "hierarchical, for dispatch and combine, needs two dimensions of several ranks, the innermost of 64 at most, and no failed chips";
    }
    return closes(q.table) ? nullptr : "hierarchical needs every dimension to be a ring or a full mesh, and no failed chips";
}

const char* needs_multi_axis(const question& q)
{
    if (goes_around_gaps(q.table, q.op, abi::algorithm::multi_axis))
        return nullptr;
    if (q.table.failed_regions != 0 || q.table.dim_count == 0 || q.table.dim_count > abi::k_max_dims)
        return "multi_axis needs a machine without failed chips";
    for (std::uint32_t d = 0; d < q.table.dim_count; ++d)
        if (q.table.dims[d] > 64)
            return "multi_axis needs dimensions of up to 64 ranks";
    return nullptr;
}

const char* needs_two_phase(const question& q)
{
    std::uint32_t lines = 0;
    bool joined_by_links = is_mesh(q.table);
    for (std::uint32_t d = 0; d < q.table.dim_count; ++d) {
        lines += q.table.dims[d] > 1 ? 1 : 0;
        joined_by_links = joined_by_links && (q.table.kind[d] == abi::dimension_kind::line ||
                                              q.table.kind[d] == abi::dimension_kind::ring);
    }
    if (!joined_by_links && !(full_mesh(q.table) && lines == 2))
        return "two_phase needs a mesh or torus of rows and columns, or a full mesh of two dimensions";
    if (q.table.failed_regions != 0)
        return "two_phase needs a mesh without failed chips";
    return q.table.ranks <= 1u << k_barrier_rounds ? nullptr
                                                   : "two_phase is limited to 16384 ranks: its barrier has 14 semaphores";
}

const char* needs_multi_ring(const question& q)
{
    return full_mesh(q.table) ? nullptr : "multi_ring needs a full mesh in every dimension, and no failed chips";
}

const char* needs_two_phase_one_path(const question& q) { return needs_two_phase(q); }

const char* needs_device_ring(const question& q)
{
    return q.table.device_ranks != 0 ? nullptr : "this algorithm needs devices whose DMA engines sum and wait, as those of Trainium";
}

const char* needs_kangaring(const question& q)
{
    if (const char* const refusal = needs_device_ring(q))
        return refusal;
    return q.table.device_members == q.table.device_ranks && q.table.device_ranks % 2 == 0
               ? nullptr
               : "kangaring needs all ranks of each device in the group, and an even number of them";
}

const char* needs_device_mesh(const question& q) { return needs_device_ring(q); }

const char* needs_device_mesh_one_step(const question& q)
{
    if (const char* const refusal = needs_device_ring(q))
        return refusal;
    return q.table.ranks <= 256 ? nullptr : "device_mesh_one_step is limited to 256 ranks";
}

const char* needs_device_tree(const question& q) { return needs_device_ring(q); }

const char* needs_rdh(const question& q)
{
    if (const char* const refusal = needs_device_ring(q))
        return refusal;
    return is_hypercube(q.table) ? nullptr : "rdh needs 2^m devices in each dimension, 64 at most in all";
}

const char* needs_rdh_same_axis(const question& q) { return needs_rdh(q); }

const char* needs_clockwise(const question& q)
{
    return q.table.order != abi::ring_order::none ? nullptr : "this algorithm needs replicas with a sync network, as those of an IPU-POD";
}

const char* needs_anticlockwise(const question& q) { return needs_clockwise(q); }
const char* needs_bidirectional_pair(const question& q) { return needs_clockwise(q); }
const char* needs_meet_in_the_middle(const question& q) { return needs_clockwise(q); }

const char* needs_quad_directional(const question& q)
{
    if (const char* const refusal = needs_clockwise(q))
        return refusal;
    return q.table.order == abi::ring_order::serpent && replicas_of_domain(q.table) % 4 == 0
               ? nullptr
               : "quad_directional needs a Barley twist with one IPU per replica, and a multiple of four replicas in a domain";
}

const char* needs_replica_broadcast(const question& q)
{
    if (const char* const refusal = needs_clockwise(q))
        return refusal;
    return q.table.ranks <= 256 ? nullptr : "replica_broadcast is limited to 256 ranks";
}

const char* refuse_units(const question& q)
{
    if (q.table.ccus != abi::ccu::k_dies)
        return "this algorithm needs chips with two collective communication units, as NPUs of UB-Mesh have";
    return q.table.failed_regions == 0 ? nullptr : "collective communication units need a machine without failed chips";
}

bool has_channels(const question& q, abi::algorithm algo)
{
    const std::uint32_t needed = ccu_channels_of(q.op, algo, q.table);
    return needed <= q.table.ccu_channels && needed <= k_ccu_channels;
}

const char* needs_ccu(const question& q)
{
    if (const char* const refusal = refuse_units(q))
        return refusal;
    if (q.op == abi::collective_op::all_to_all)
        return q.table.ranks <= 1u << k_barrier_rounds ? nullptr : "ccu is limited to 16384 ranks: the barrier before its rounds has 14 semaphores";
    return has_channels(q, abi::algorithm::ccu)
               ? nullptr
               : "ccu needs a channel to each other rank, of 128 at most; ccu_axes needs those along the dimensions only";
}

const char* needs_ccu_one_shot(const question& q)
{
    if (const char* const refusal = needs_ccu(q))
        return refusal;
    return q.table.ranks <= 64 ? nullptr : "ccu_one_shot is limited to 64 ranks";
}

const char* needs_ccu_axes(const question& q)
{
    if (const char* const refusal = refuse_units(q))
        return refusal;
    if (q.table.dim_count == 0 || q.table.dim_count > abi::k_max_dims)
        return "ccu_axes needs one to six dimensions";
    for (std::uint32_t d = 0; d < q.table.dim_count; ++d)
        if (q.table.dims[d] > 64)
            return "ccu_axes needs dimensions of up to 64 ranks";
    if (q.op == abi::collective_op::all_to_all && q.table.ranks > k_ccu_most_forwarded)
        return "ccu_axes is limited to 4096 ranks in all_to_all: each of its transfers has a check bit";
    return has_channels(q, abi::algorithm::ccu_axes)
               ? nullptr
               : "ccu_axes needs a channel to each other rank of the own lines, of 128 at most";
}

using needs_function = const char* (*)(const question&);
constexpr needs_function k_needs[] = {
#define WEFT_ALGORITHM(name, runs, runner, has, needs, summary) needs_##name,
#include "hw/abi/algorithms.def"
#undef WEFT_ALGORITHM
};

} // namespace

std::uint32_t ccu_channels_of(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table)
{
    if (algo != abi::algorithm::ccu_axes) // rounds of an all_to_all have as many partners as there are channels
        return op == abi::collective_op::all_to_all ? 1 : table.ranks - 1;
    std::uint32_t peers = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        peers += table.dims[d] - 1;
    return peers;
}

bool supports(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table, bool transposed,
              const char** reason, const abi::switchml::table* job)
{
    const char* refusal = refuse_pair(op, algo, family_of(table), table);
    if (refusal == nullptr && !by_switch(algo) && job != nullptr && present(*job) && job->core != 0)
        refusal = "cores of a worker beyond the first run switchml and switchml_lossless only";
    else if (refusal == nullptr && (table.ranks != 1 || by_switch(algo)))
        refusal = k_needs[static_cast<unsigned>(algo)]({op, table, transposed, job});
    *reason = refusal == nullptr ? "" : refusal;
    return refusal == nullptr;
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
