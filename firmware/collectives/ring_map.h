// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// All rings of a machine, whichever they are: those of a 2-D mesh (rings.h) and those of more dimensions (full_mesh.h).
#pragma once

#include "firmware/collectives/full_mesh.h"
#include "firmware/costs.h"

namespace weft::firmware {

struct ring_map {
    explicit ring_map(const abi::platform_table& t) : table(t), as_mesh(mesh_of(t)) {}

    ring_view view(ring_id ring) const
    {
        return more_dimensions(ring) ? view_ring(table, ring) : view_ring(as_mesh, ring, table.rank);
    }
    std::uint32_t view_cost(ring_id ring) const
    {
        return ring.kind == ring_kind::whole  ? table.dim_count * costs::k_whole_view
               : ring.kind == ring_kind::axis ? table.dim_count * costs::k_axis_view
               : as_mesh.broken()             ? costs::k_broken_view
                                              : costs::k_view;
    }
    /// Rank at `position` of the ring that this rank is on. Of rings of kind `axis`: none.
    std::uint32_t member(ring_id ring, std::uint32_t position) const
    {
        return more_dimensions(ring) ? ring_member(table, ring, position)
                                     : ring_member(as_mesh, ring, table.rank, position);
    }
    std::uint32_t member_cost(ring_id ring) const
    {
        return more_dimensions(ring) ? costs::k_whole_member + table.dim_count * costs::k_whole_axis : costs::k_member;
    }
    /// The nearest position, downwards and around, of a rank below `limit`. Of rings over all ranks.
    std::uint32_t position_below(ring_id ring, std::uint32_t position, std::uint32_t limit) const
    {
        return more_dimensions(ring) ? ring_position_below(table, ring, position, limit)
                                     : ring_position_below(as_mesh, ring, position, limit);
    }
    std::uint32_t jump_cost(ring_id ring) const
    {
        return more_dimensions(ring) ? table.dim_count * costs::k_whole_jump : costs::k_jump;
    }

    const abi::platform_table& table;
    mesh as_mesh; ///< its `tree` is set where the ring over all ranks walks around failed chips

private:
    static bool more_dimensions(ring_id ring) { return ring.kind >= ring_kind::whole; }
};

} // namespace weft::firmware
