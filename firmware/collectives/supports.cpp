// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/supports.h"

#include "firmware/collectives/rings.h"
#include "firmware/context.h"

namespace weft::firmware {

namespace {

const char* refuse_pair(abi::collective_op op, abi::algorithm algo)
{
    using abi::algorithm;
    switch (op) {
    case abi::collective_op::all_reduce:
        if (algo == algorithm::ring_1d || algo == algorithm::two_d || algo == algorithm::row_pair)
            return nullptr;
        return "all_reduce runs by ring_1d, two_d or row_pair";
    case abi::collective_op::reduce_scatter:
        return algo == algorithm::ring_1d ? nullptr : "reduce_scatter runs by ring_1d only";
    case abi::collective_op::all_gather:
        return algo == algorithm::ring_1d ? nullptr : "all_gather runs by ring_1d only";
    case abi::collective_op::broadcast:
        return algo == algorithm::mesh_tree ? nullptr : "broadcast runs by mesh_tree only";
    case abi::collective_op::all_to_all: return algo == algorithm::direct ? nullptr : "all_to_all runs by direct only";
    }
    return "unknown collective";
}

const char* refuse_topology(abi::algorithm algo, const abi::platform_table& table, bool transposed)
{
    if (algo == abi::algorithm::direct)
        return table.ranks <= (1u << k_barrier_rounds) ? nullptr : "direct is limited to 65536 ranks";
    if (table.dim_count < 1 || table.dim_count > 2)
        return "this algorithm needs a 2-D mesh";
    const mesh m = mesh_of(table);
    if (algo == abi::algorithm::ring_1d && (m.rows < 2 || m.cols < 2 || (m.rows % 2 != 0 && m.cols % 2 != 0)))
        return "ring_1d needs an even number of rows or columns and at least 2 of each";
    if (algo == abi::algorithm::row_pair && (transposed ? m.cols : m.rows) % 2 != 0)
        return transposed ? "row_pair transposed needs an even number of columns"
                          : "row_pair needs an even number of rows";
    return nullptr;
}

} // namespace

bool supports(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table, bool transposed,
              const char** reason)
{
    const char* refusal = refuse_pair(op, algo);
    if (refusal == nullptr && table.ranks != 1)
        refusal = refuse_topology(algo, table, transposed);
    *reason = refusal == nullptr ? "" : refusal;
    return refusal == nullptr;
}

} // namespace weft::firmware
