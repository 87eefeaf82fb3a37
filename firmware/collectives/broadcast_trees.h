// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Spanning trees of a 2-D mesh or torus without failed chips, in several colours: no two trees of a root use the same
// link in the same direction, so each carries a part of the data at the rate of a link. There are as many as the chip
// with the fewest links has:
//   line                     one
//   closed line, mesh        two
//   mesh with closed rows    three (or columns)
//   torus                    four
// On a mesh: colour 0 goes along the root's row, then down all other columns, from which chips in the root's column get
// it. Colour 1 does the same with rows and columns swapped. On a torus each colour leaves the root by another link. It
// goes around the root's row (or column), and from the near half of it by the shorter way along the columns. From there
// rows lead to the chips of the far half: 7 + 4 links deep on 8x8 chips, where each chip is 8 from the root at most.
// Even trees go around whole rows and columns one way, 15 links deep, and no chip has more than two children.
#pragma once

#include "firmware/collectives/mesh.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_most_colours = 4;
/// Of four colours. Shallow ones are filled sooner; even ones load memories alike, which sum and copy what they carry.
enum class torus_trees : std::uint8_t { shallow, even };

constexpr direction opposite(direction d) { return static_cast<direction>(static_cast<std::uint32_t>(d) ^ 1u); }
/// The neighbour in this direction, over a wrap link as well. False where there is no link.
bool linked_chip(const mesh& m, place p, direction d, place& found);

/// How many trees `m` has.
std::uint32_t tree_colours(const mesh& m);
/// Where the parent of `p` lies in tree `colour` of `colours`: tree_colours(), or 1 for the tree of least depth. `p` is
/// not the root.
direction parent_direction(const mesh& m, place root, std::uint32_t colours, std::uint32_t colour, place p,
                           torus_trees kind = torus_trees::shallow);
/// Links from the root to the chip that is farthest from it, over all trees.
std::uint32_t tree_depth(const mesh& m, place root, std::uint32_t colours, torus_trees kind = torus_trees::shallow);

} // namespace weft::firmware
