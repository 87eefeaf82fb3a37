// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/replica_rings.h"

namespace weft::firmware {

replica_rings::replica_rings(abi::algorithm method, abi::ring_order order, std::uint32_t n, std::uint32_t replica)
{
    const auto add = [&](bool mirrored, bool reversed, std::uint32_t hops, std::uint32_t part, std::uint32_t parts) -> replica_ring& {
        replica_ring& r = ring[count++];
        r.order = order;
        r.mirrored = mirrored;
        r.reversed = reversed;
        r.size = n;
        r.position = position_of(order, mirrored, n, replica);
        r.hops = hops;
        r.part = part;
        r.parts = parts;
        return r;
    };
    exchanges = steps = n - 1;
    switch (method) {
    case abi::algorithm::anticlockwise: add(false, true, n - 1, 0, 1); break;
    case abi::algorithm::bidirectional_pair:
        add(false, false, n - 1, 0, 2);
        add(false, true, n - 1, 1, 2);
        break;
    case abi::algorithm::meet_in_the_middle: {
        const std::uint32_t half = n / 2;
        add(false, false, half, 0, 1);
        replica_ring& other = add(false, true, n - 1 - half, 0, 1);
        other.first_step = 1;
        other.combines = true;
        exchanges = 1 + other.hops > half ? 1 + other.hops : half;
        steps = exchanges + 1;
        break;
    }
    // Rings 0 and 1 cross rungs in the same direction, and so do 2 and 3: on different lanes.
    case abi::algorithm::quad_directional:
        add(false, false, n - 1, 0, 4);
        add(true, true, n - 1, 1, 4);
        add(false, true, n - 1, 2, 4);
        add(true, false, n - 1, 3, 4);
        break;
    default: add(false, false, n - 1, 0, 1); break;
    }
}

replica_phases::replica_phases(const abi::platform_table& table, const abi::command& command)
    : domain_size(replicas_of_domain(table)), domains(table.ranks / domain_size), at(table.rank % domain_size),
      domain(table.rank / domain_size), reduces(command.op != abi::collective_op::all_gather),
      gathers(command.op != abi::collective_op::reduce_scatter)
{
    inside.range = {0, command.count};
    inside.owners = domain_size;
    inside.ranks = across.ranks = table.ranks;
    inside.line = across.line = domain_size;
    across.at = at;
    across.owners = domains;
    if (domains > 1 && reduces && gathers) {
        across.range = inside.piece(at, 0);
    } else if (domains > 1) { // shards are those of all ranks
        inside.by = fragment_map::form::columns;
        across.by = fragment_map::form::row;
        across.range = inside.range;
    }
}

} // namespace weft::firmware
