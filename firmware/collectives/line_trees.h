// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Spanning trees of a full mesh of any number of dimensions, a part of the data each: no two trees of a root use the
// same link in the same direction. There are as many as a rank has links: one for each neighbour of the root.
//
// A colour has the trees of one dimension, its own. The tree of coordinate v goes from the root to its neighbour at v
// along the own dimension; from there to all others at v, dimension by dimension, the one behind the own first; and
// from each rank at v to all others of its line along the own dimension. So a rank sends on in one tree of each colour
// only, that of its own coordinate, and has one parent there. It is a leaf of the others. A reduce goes the same way
// back.
//
// Links of dimension d are those of its own colour where the sender's coordinate is not the root's, or the sender is
// the root. Those of another colour have senders with the root's coordinate in d, and in other dimensions coordinates
// of which one tells the colours apart.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// A dimension of more than one rank, as this rank sees it.
struct tree_line {
    std::uint32_t axis = 0; ///< counted from the innermost
    std::uint32_t size = 1;
    std::uint32_t at = 0;          ///< coordinate of this rank
    std::uint32_t root_at = 0;     ///< and of the root
    std::uint32_t stride = 1;      ///< of ranks
    std::uint32_t first_tree = 0;  ///< of the colour
    std::uint32_t first_queue = 0; ///< that of the next rank of the line; the others follow

    bool relays() const { return at != root_at; }
    std::uint32_t tree(std::uint32_t coordinate) const
    {
        return first_tree + coordinate - (coordinate > root_at ? 1 : 0);
    }
    /// Ranks of the line in whose trees this rank is a leaf; of the root, all others.
    std::uint32_t others() const { return size - (relays() ? 2 : 1); }
    /// How far the `turn`-th of them is away, rising. So not all begin with the same.
    std::uint32_t away(std::uint32_t turn) const
    {
        const std::uint32_t root_away = root_at >= at ? root_at - at : root_at + size - at;
        return turn + (relays() && turn + 1 >= root_away ? 2 : 1);
    }
    std::uint32_t coordinate(std::uint32_t away) const { return at + away < size ? at + away : at + away - size; }
};

struct line_trees {
    std::uint32_t count = 0; ///< dimensions of more than one rank, and colours
    std::uint32_t trees = 0;
    std::uint32_t pieces = 1; ///< messages of a part
    bool is_root = true;
    tree_line line[abi::k_max_dims];

    line_trees() = default;
    line_trees(const abi::platform_table& table, std::uint32_t root);

    /// The n-th dimension of a colour behind its own.
    std::uint32_t behind(std::uint32_t colour, std::uint32_t n) const
    {
        return colour + n < count ? colour + n : colour + n - count;
    }
    /// Where this rank relays: dimensions behind the own one, up to the last in which it differs from the root.
    std::uint32_t came_by(std::uint32_t colour) const;
    /// The parent in this tree, rank `here`.
    std::uint32_t parent(std::uint32_t colour, std::uint32_t here) const;
    /// Of a relay; those along its own dimension come last.
    std::uint32_t children(std::uint32_t colour) const;
    /// Among them, those along its own dimension: all but the root.
    std::uint32_t leaves(std::uint32_t colour) const { return line[colour].size - (came_by(colour) == 0 ? 2 : 1); }
    abi::element_range piece(std::uint64_t elements, std::uint32_t tree, std::uint32_t number) const
    {
        const abi::element_range part = abi::shard_of(elements, trees, tree);
        const abi::element_range found = abi::shard_of(part.count, pieces, number);
        return {part.first + found.first, found.count};
    }
};

} // namespace weft::firmware
