// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings of replicas that go in lock-step, as the Graphcore Communication Library builds them: in every step all
// replicas synchronise, one copy between replicas moves a fragment along each ring, then it is added (reduce-scatter)
// or stored (all-gather). Pure functions; replica_collectives.cpp runs them.
//
//   method                rings                                   fragments for N replicas  steps of a phase
//   clockwise             1                                       N                         N - 1
//   anticlockwise         1                                       N                         N - 1
//   bidirectional_pair    2 opposite, half of the data each       2N                        N - 1
//   meet_in_the_middle    2 opposite, half of the way each        N                         1 + N/2 and one fewer: N/2
//                         exchanges, then both are combined
//   quad_directional      2 serpents in 2 directions, a quarter   4N                        N - 1
// Source: the last open version of the library, as weft's facts quote it (docs/20_ipu_pod.md).
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// Replica at `position` of a ring of `n`. `mirrored`: of the serpent, the other one.
constexpr std::uint32_t replica_at(abi::ring_order order, bool mirrored, std::uint32_t n, std::uint32_t position)
{
    if (order == abi::ring_order::serpent)
        return position ^ (position >> 1 & 1) ^ (mirrored ? 1 : 0);
    if (order != abi::ring_order::interleaved)
        return position;
    const std::uint32_t going = (n + 1) / 2; // even ones, then the odd ones on the way back
    return position < going ? 2 * position : 2 * (n - 1 - position) + 1;
}
constexpr std::uint32_t position_of(abi::ring_order order, bool mirrored, std::uint32_t n, std::uint32_t replica)
{
    if (order == abi::ring_order::serpent) {
        const std::uint32_t own = replica ^ (mirrored ? 1 : 0);
        return own ^ (own >> 1 & 1);
    }
    if (order != abi::ring_order::interleaved)
        return replica;
    return replica % 2 == 0 ? replica / 2 : n - 1 - (replica - 1) / 2;
}

inline constexpr std::uint32_t k_most_replica_rings = 4;

/// command::gathers_by for that method.
constexpr std::uint8_t gathered_by(abi::algorithm method) { return static_cast<std::uint8_t>(1 + static_cast<std::uint32_t>(method)); }
constexpr abi::algorithm gather_method(const abi::command& command)
{
    return command.gathers_by != 0 ? static_cast<abi::algorithm>(command.gathers_by - 1) : command.algo;
}

/// One ring in one direction, as one replica sees it. Positions count along the order; `reversed` walks it backwards.
struct replica_ring {
    abi::ring_order order = abi::ring_order::flat;
    bool mirrored = false;
    bool reversed = false;
    /// What it brings its own fragment last goes to a place of its own, and is added when the other ring has come, too.
    bool combines = false;
    std::uint32_t size = 1;
    std::uint32_t position = 0;
    std::uint32_t hops = 0;       ///< exchanges of a fragment: ranks that it passes
    std::uint32_t first_step = 0; ///< exchanges before are dummies
    std::uint32_t part = 0;       ///< of every fragment
    std::uint32_t parts = 1;

    std::uint32_t from_position(std::uint32_t ahead) const ///< ahead < 2 * size, in the ring's direction
    {
        return (reversed ? position + 2 * size - ahead : position + ahead) % size;
    }
    std::uint32_t replica(std::uint32_t at) const { return replica_at(order, mirrored, size, at); }
    std::uint32_t successor() const { return replica(from_position(1)); }
    std::uint32_t predecessor() const { return replica(from_position(size - 1)); }
    bool works_in(std::uint32_t step) const { return step >= first_step && step - first_step < hops; }
    /// Replica whose fragment goes on in a step in which the ring works, and the one whose fragment comes.
    std::uint32_t sent(bool reduces, std::uint32_t step) const { return replica(from_position(sent_ahead(reduces, step))); }
    std::uint32_t received(bool reduces, std::uint32_t step) const { return replica(from_position(sent_ahead(reduces, step) + size - 1)); }
    bool is_last(std::uint32_t step) const { return step - first_step + 1 == hops; }

private:
    std::uint32_t sent_ahead(bool reduces, std::uint32_t step) const
    {
        const std::uint32_t done = step - first_step;
        return reduces ? hops - done : size - done;
    }
};

/// The rings of a method as `replica` of `n` sees them.
struct replica_rings {
    replica_rings(abi::algorithm method, abi::ring_order order, std::uint32_t n, std::uint32_t replica);

    std::uint32_t count = 0;
    std::uint32_t exchanges = 0; ///< of a phase
    std::uint32_t steps = 0;     ///< the same, and the one that combines
    replica_ring ring[k_most_replica_rings];
};

/// Over gateways rings are flat; two replicas, or a number that serpents do not cover, stand on a line.
constexpr abi::ring_order order_of_phase(abi::ring_order order, std::uint32_t size, bool over_gateways)
{
    if (order == abi::ring_order::serpent && size % 4 != 0)
        return abi::ring_order::interleaved;
    return over_gateways ? abi::ring_order::flat : order;
}
/// The source gives none for the phase between domains (docs/20_ipu_pod.md).
inline constexpr abi::algorithm k_method_over_gateways = abi::algorithm::bidirectional_pair;

/// Which elements the fragment of a replica is: pieces, one after the other.
struct fragment_map {
    enum class form : std::uint8_t {
        shards,  ///< of `range`, one for each replica
        columns, ///< those of all domains' replicas of that number: shards of all ranks, `line` apart
        row      ///< the shard of rank owner * line + at
    };
    form by = form::shards;
    abi::element_range range;
    std::uint32_t owners = 1;
    std::uint32_t ranks = 1;
    std::uint32_t line = 1;
    std::uint32_t at = 0;

    std::uint32_t pieces() const { return by == form::columns ? ranks / line : 1; }
    abi::element_range piece(std::uint32_t owner, std::uint32_t k) const
    {
        if (by == form::columns)
            return abi::shard_of(range.count, ranks, k * line + owner);
        if (by == form::row)
            return abi::shard_of(range.count, ranks, owner * line + at);
        const abi::element_range s = abi::shard_of(range.count, owners, owner);
        return {range.first + s.first, s.count};
    }
};

/// Replicas of a domain, of those of `table`.
constexpr std::uint32_t replicas_of_domain(const abi::platform_table& table)
{
    return table.gateway_dims == 0 || table.dims[0] == 0 ? table.ranks : table.ranks / table.dims[0];
}

/// Where a rank stands in the phases of a collective, and which elements move in them: reduce-scatter in its domain and
/// among like-numbered replicas of all domains, then all-gathers the other way round.
struct replica_phases {
    replica_phases(const abi::platform_table& table, const abi::command& command);

    std::uint32_t domain_size, domains, at, domain;
    bool reduces, gathers;
    fragment_map inside, across;
};

} // namespace weft::firmware
