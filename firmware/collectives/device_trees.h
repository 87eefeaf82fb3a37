// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees over devices: those of broadcast_trees.h, each with one rank of every device. A tree comes to a device by one
// link, at one half. Its rank is of that half, as far as numbers tell: a group of some columns may count them
// otherwise.
#pragma once

#include "firmware/collectives/broadcast_trees.h"
#include "firmware/collectives/device_map.h"

namespace weft::firmware {

class device_trees {
public:
    static constexpr std::uint32_t k_none = ~0u;
    static constexpr std::uint32_t k_most_children = 4;

    device_trees(const device_map& map, std::uint32_t root) : map_(map), root_(root)
    {
        grid_.cols = map.dims == 0 ? 1 : map.size[map.dims - 1];
        grid_.rows = map.devices / grid_.cols;
        grid_.wrap_cols = map.dims != 0 && map.kind[map.dims - 1] == abi::dimension_kind::ring;
        // Layers of rows are one snake of rows, which closes where the last of an even number of layers is beside the
        // first.
        layer_rows_ = map.dims >= 2 ? map.size[map.dims - 2] : 1;
        const std::uint32_t layers = grid_.rows / layer_rows_;
        grid_.wrap_rows = map.dims >= 2 && map.kind[0] == abi::dimension_kind::ring && (map.dims == 2 || (map.dims == 3 && layers % 2 == 0));
        root_at_ = place_of_device(root_device());
        colours_ = map.devices == 1 ? 1 : tree_colours(grid_);
    }
    std::uint32_t colours() const { return colours_; }
    void use_one() { colours_ = 1; } ///< the one of least depth
    std::uint32_t root_device() const { return root_ / map_.per_device; }
    const mesh& grid() const { return grid_; }
    /// Links from the root to the farthest device.
    std::uint32_t depth() const { return map_.devices == 1 ? 0 : tree_depth(grid_, root_at_, colours_, torus_trees::even); }

    /// The device from which tree `colour` comes to `device`; k_none for that of the root.
    std::uint32_t parent(std::uint32_t colour, std::uint32_t device) const
    {
        place found;
        if (device == root_device() || !linked_chip(grid_, place_of_device(device), towards_root(colour, device), found))
            return k_none;
        return device_at(found);
    }
    /// Devices to which it goes on, into `found`; how many.
    std::uint32_t children(std::uint32_t colour, std::uint32_t device, std::uint32_t* found) const
    {
        const place at = place_of_device(device);
        std::uint32_t count = 0;
        for (std::uint32_t i = 0; i < k_most_children && map_.devices > 1; ++i) {
            place next;
            const auto d = static_cast<direction>(i);
            if (linked_chip(grid_, at, d, next) && !(next == root_at_) && parent_direction(grid_, root_at_, colours_, colour, next, torus_trees::even) == opposite(d))
                found[count++] = device_at(next);
        }
        return count;
    }
    /// The rank that has tree `colour` on `device`. `turn`: another one of the same half, where there is one.
    std::uint32_t rank_on(std::uint32_t colour, std::uint32_t device, std::uint32_t turn) const
    {
        if (colours_ == 1 && device == root_device() && turn == 0)
            return root_;
        if (half() == map_.per_device)
            return map_.rank_of(device, (colour + turn) % map_.per_device);
        std::uint32_t children_of_root[k_most_children];
        direction d = direction::west;
        if (device != root_device())
            d = towards_root(colour, device);
        else if (children(colour, device, children_of_root) != 0)
            d = opposite(towards_root(colour, children_of_root[0]));
        // Links along a row leave by one half up and by the other one down; along a column, by halves that alternate.
        const bool across = d == direction::north || d == direction::south;
        const std::uint32_t of_half = (static_cast<std::uint32_t>(d) & 1u) ^ (across ? place_of_device(device).col & 1u : 0);
        return map_.rank_of(device, of_half * half() + ((across ? 1 : 0) + turn) % half());
    }
    /// Ranks of half a device; all of them where they have none.
    std::uint32_t half() const { return map_.per_device % 2 == 0 ? map_.per_device / 2 : map_.per_device; }

private:
    direction towards_root(std::uint32_t colour, std::uint32_t device) const
    {
        return parent_direction(grid_, root_at_, colours_, colour, place_of_device(device), torus_trees::even);
    }
    // Every second layer is taken from its last row.
    std::uint32_t in_snake(std::uint32_t row) const
    {
        const std::uint32_t layer = row / layer_rows_;
        return layer % 2 == 0 ? row : layer * layer_rows_ + layer_rows_ - 1 - row % layer_rows_;
    }
    place place_of_device(std::uint32_t device) const { return {in_snake(device / grid_.cols), device % grid_.cols}; }
    std::uint32_t device_at(place p) const { return in_snake(p.row) * grid_.cols + p.col; }

    const device_map& map_;
    std::uint32_t root_;
    mesh grid_;
    place root_at_;
    std::uint32_t layer_rows_ = 1;
    std::uint32_t colours_ = 1;
};

/// How data is parted among trees.
struct tree_shape {
    std::uint32_t turns = 1;  ///< of a tree: ranks of a device that have a part of its data each
    std::uint32_t slices = 1; ///< of a part
};

inline constexpr std::uint32_t k_turns_of_tree = 2;
inline constexpr std::uint32_t k_most_tree_parts = k_turns_of_tree * k_most_colours;
// Chosen on the models of all Trainium machines, 64 KiB to 64 MiB. Longer slices fill trees later, shorter ones take
// more descriptors.
inline constexpr std::uint64_t k_slice_bytes = 64 << 10, k_short_slice_bytes = 32 << 10, k_short_part_bytes = 512 << 10;
// Where one tree of least depth is left for several: its links carry less, but those of several are more levels deep.
// And where each goes twice.
inline constexpr std::uint64_t k_bytes_of_a_level = 170 << 10, k_broadcast_twice_bytes = 2 << 20, k_reduce_twice_bytes = 64 << 10;

/// Takes the one tree of least depth where that is better.
inline tree_shape shape_of_trees(device_trees& trees, std::uint64_t bytes, bool reduces)
{
    device_trees one = trees;
    one.use_one();
    if (bytes < (trees.depth() - one.depth()) * k_bytes_of_a_level)
        trees.use_one();
    tree_shape shape;
    shape.turns = bytes < (reduces ? k_reduce_twice_bytes : k_broadcast_twice_bytes) * trees.colours() ? 1 : k_turns_of_tree;
    const std::uint64_t part = bytes / (shape.turns * trees.colours());
    const std::uint64_t slice = part < k_short_part_bytes ? k_short_slice_bytes : k_slice_bytes;
    shape.slices = part <= slice ? 1 : static_cast<std::uint32_t>((part + slice - 1) / slice);
    return shape;
}

} // namespace weft::firmware
