// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The order in which a rank serves all others in a direct exchange, so that no rank is everybody's target at once: by
// rank, from the next one on. In a full mesh of several dimensions, so that all dimensions are loaded alike, along the
// diagonals: a round goes once through the innermost dimension, and each of its peers is one further in every other
// dimension, too; queue i has the peers that are i further in the innermost dimension.
#pragma once

#include "firmware/collectives/full_mesh.h"
#include "firmware/costs.h"

namespace weft::firmware {

struct peer {
    std::uint32_t rank = 0;
    std::uint32_t queue = 0; ///< modulo the number of queues
};

class peer_order {
public:
    explicit peer_order(const abi::platform_table& table) : table_(table)
    {
        by_dimension_ = table.dim_count > 1 && full_mesh(table);
    }

    /// Number k < ranks; 0 is the rank itself.
    peer at(std::uint32_t k) const
    {
        if (!by_dimension_)
            return {table_.rank + k < table_.ranks ? table_.rank + k : table_.rank + k - table_.ranks, k};
        const std::uint32_t inner = table_.dims[table_.dim_count - 1];
        std::uint32_t round = k / inner;
        const std::uint32_t i = k - round * inner;
        std::uint32_t rank = (table_.coord[table_.dim_count - 1] + i) % inner;
        std::uint32_t stride = inner;
        for (std::uint32_t d = table_.dim_count - 1; d-- > 0;) {
            const std::uint32_t size = table_.dims[d];
            rank += (table_.coord[d] + round % size + i) % size * stride;
            round /= size;
            stride *= size;
        }
        return {rank, i};
    }

    /// Instructions of at().
    std::uint32_t cost() const
    {
        return by_dimension_ ? costs::k_diagonal_peer + cost_of_axes() : costs::k_direct_peer;
    }
    /// Of these, those for its dimensions.
    std::uint32_t cost_of_axes() const { return by_dimension_ ? table_.dim_count * costs::k_diagonal_axis : 0; }

private:
    const abi::platform_table& table_;
    bool by_dimension_ = false;
};

} // namespace weft::firmware
