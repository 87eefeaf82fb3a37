// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of ring_1d, two_d, row_pair on a whole mesh, and hierarchical: rings over all ranks or over lines of them.
#include "firmware/collectives/planners.h"
#include "firmware/collectives/schedule_writer.h"

namespace weft::firmware {

namespace {

std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

/// The ring over all chips: the asked orientation if the mesh allows it, else the other.
ring_id hamiltonian_ring(const mesh& m, bool transposed, bool reversed)
{
    const bool asked_fits = (transposed ? m.cols : m.rows) % 2 == 0;
    return {ring_kind::hamiltonian, transposed == asked_fits, reversed};
}

class ring_planner : public schedule_writer {
public:
    using schedule_writer::schedule_writer;

    void plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours, bool both_ways);
    abi::status plan_ring_1d(block_tree& tree);
    void plan_hierarchical();
};

void ring_planner::plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours,
                                 bool both_ways)
{
    const std::uint32_t directions = both_ways ? 2 : 1;
    for (std::uint32_t d = 0; d < directions; ++d) {
        first.reversed = second.reversed = d != 0;
        channel_plan& c = add_channel(colour * directions + d);
        lane_plan& l = make_lane(c.lane, abi::shard_of(command_.count, colours * directions, c.lane));
        const ring_view& outer = view(first);
        l.lists[1] = abi::shard_of(l.lists[0].count, outer.size, outer.position);
        l.lists[1].first += l.lists[0].first;
        add_ring(c, first, true);
        add_ring(c, second, true, 1);
        add_ring(c, second, false, 1);
        add_ring(c, first, false);
    }
    out_.steps = larger(out_.steps, 2 * (ring_size(mesh_, first) - 1 + ring_size(mesh_, second) - 1));
}

abi::status ring_planner::plan_ring_1d(block_tree& tree)
{
    const bool transposed = command_.transposed != 0;
    if (mesh_.broken()) {
        if (!tree.built || tree.transposed != transposed) {
            std::uint32_t visits = 0;
            const bool connected = build(tree, mesh_, transposed, visits);
            charge(visits * costs::k_tree_block);
            if (!connected)
                return {abi::status_code::unsupported, "failed regions split the mesh", 0};
        }
        mesh_.tree = tree.edges;
    }
    // On a switched network every rank is next to every other: the ring is 0, 1, .., n-1.
    const bool flat = table_.dim_count == 1;
    const bool whole = full_mesh(table_) || (!mesh_.broken() && (table_.dim_count > 2 || !has_hamiltonian_ring(mesh_)));
    const bool reduces = command_.op != abi::collective_op::all_gather;
    const bool gathers = command_.op != abi::collective_op::reduce_scatter;
    // With only one half of the work the user sees which rank has which shard, so shards go by rank; a walk around
    // failed chips has no positions to go by.
    const run_source source = mesh_.broken()          ? run_source::ring_walk
                              : !(reduces && gathers) ? run_source::ring_rank
                                                      : run_source::ring;
    for (std::uint32_t d = 0; d < 2; ++d) {
        const ring_id ring = flat    ? ring_id{ring_kind::line, false, d != 0}
                             : whole ? ring_id{ring_kind::whole, false, d != 0}
                                     : hamiltonian_ring(mesh_, transposed, d != 0);
        channel_plan& c = add_channel(d);
        make_lane(d, source == run_source::ring ? abi::shard_of(command_.count, 2, d)
                                                : abi::element_range{0, command_.count});
        if (reduces)
            add_ring(c, ring, true).source = source;
        if (gathers)
            add_ring(c, ring, false).source = source;
        out_.steps = c.pass_count * (table_.ranks - 1);
    }
    return {};
}

// From the innermost dimension outwards, each inside the shard that the one before left here; then the same way back.
// Both passes of a ring count on one semaphore: they have one sender, which sends the shards of the first before those
// of the second.
void ring_planner::plan_hierarchical()
{
    const std::uint32_t dims = table_.dim_count;
    for (std::uint32_t d = 0; d < 2; ++d) {
        channel_plan& c = add_channel(d);
        make_lane(d, abi::shard_of(command_.count, 2, d));
        out_.steps = 0;
        ring_id rings[abi::k_max_dims];
        std::uint32_t levels = 0;
        for (std::uint32_t i = 0; i < dims; ++i) {
            ring_id ring{ring_kind::axis, false, d != 0};
            ring.axis = static_cast<std::uint8_t>(command_.transposed != 0 ? dims - 1 - i : i);
            const std::uint32_t size = view(ring).size;
            if (size < 2)
                continue;
            rings[levels++] = ring;
            out_.steps += 2 * (size - 1);
        }
        add_nested_rings(c, levels, [&](std::uint32_t level, bool accumulate) { add_ring(c, rings[level], accumulate, level); });
    }
}

} // namespace

void plan_two_d(ring_map& rings, const abi::command& command, schedule& out)
{
    const bool transposed = command.transposed != 0;
    // A ring over a line without wrap uses the links of both directions already; a closed one needs a second channel.
    const bool both_ways = rings.as_mesh.wrap_rows || rings.as_mesh.wrap_cols;
    const ring_id x{ring_kind::line, transposed, false};
    const ring_id y{ring_kind::line, !transposed, false};
    ring_planner p(rings, command, out);
    p.plan_all_reduce_2d(x, y, 0, 2, both_ways);
    p.plan_all_reduce_2d(y, x, 1, 2, both_ways);
    p.announce_rings();
}

void plan_row_pair(ring_map& rings, const abi::command& command, schedule& out)
{
    const bool transposed = command.transposed != 0;
    ring_planner p(rings, command, out);
    p.plan_all_reduce_2d({ring_kind::pair, transposed, false}, {ring_kind::alternate, transposed, false}, 0, 1, true);
    p.announce_rings();
}

void plan_hierarchical(ring_map& rings, const abi::command& command, schedule& out)
{
    ring_planner p(rings, command, out);
    p.plan_hierarchical();
    p.announce_rings();
}

abi::status plan_ring_1d(ring_map& rings, block_tree& tree, const abi::command& command, schedule& out)
{
    ring_planner p(rings, command, out);
    if (const abi::status s = p.plan_ring_1d(tree); !s.ok())
        return s;
    p.announce_rings();
    return {};
}

} // namespace weft::firmware
