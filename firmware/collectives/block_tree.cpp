// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/block_tree.h"

namespace weft::firmware {

namespace {

struct side {
    std::int32_t down, right; ///< of the block behind it
    std::uint8_t mine, theirs;
};
using t = block_tree;
constexpr side k_west_first[4] = {{0, -1, t::k_west, t::k_east},
                                  {-1, 0, t::k_north, t::k_south},
                                  {0, 1, t::k_east, t::k_west},
                                  {1, 0, t::k_south, t::k_north}};
constexpr side k_north_first[4] = {{-1, 0, t::k_north, t::k_south},
                                   {0, -1, t::k_west, t::k_east},
                                   {1, 0, t::k_south, t::k_north},
                                   {0, 1, t::k_east, t::k_west}};

std::uint8_t edges_of(const mesh& m, place p) { return m.tree[p.row / 2 * (m.cols / 2) + p.col / 2]; }

} // namespace

bool fits_blocks(const mesh& m)
{
    std::uint32_t odd = m.rows | m.cols;
    for (std::uint32_t i = 0; i < m.regions; ++i)
        odd |= m.failed[i].row | m.failed[i].col | m.failed[i].rows | m.failed[i].cols;
    return odd % 2 == 0 && m.rows != 0 && m.cols != 0;
}

bool build(block_tree& tree, const mesh& m, bool transposed, std::uint32_t& visits)
{
    const std::uint32_t rows = m.rows / 2;
    const std::uint32_t cols = m.cols / 2;
    const side* const sides = transposed ? k_north_first : k_west_first;
    std::uint32_t missing = 0;
    bool rooted = false;
    for (std::uint32_t b = 0; b < rows * cols; ++b) {
        tree.edges[b] = 0;
        if (!works(m, {b / cols * 2, b % cols * 2}))
            continue;
        if (rooted)
            ++missing;
        else
            tree.edges[b] = block_tree::k_reached;
        rooted = true;
    }
    visits = rows * cols;
    // Every sweep hangs blocks on the tree; one sweep does nearly all, more are needed behind failed regions only.
    for (bool grew = true; grew && missing != 0;) {
        grew = false;
        for (std::uint32_t b = 0; b < rows * cols; ++b) {
            ++visits;
            const place p{b / cols, b % cols};
            if ((tree.edges[b] & block_tree::k_reached) != 0 || !works(m, {p.row * 2, p.col * 2}))
                continue;
            for (std::uint32_t i = 0; i < 4; ++i) {
                const side& s = sides[i];
                const place q{p.row + static_cast<std::uint32_t>(s.down), p.col + static_cast<std::uint32_t>(s.right)};
                if (q.row >= rows || q.col >= cols || (tree.edges[q.row * cols + q.col] & block_tree::k_reached) == 0)
                    continue;
                tree.edges[b] = static_cast<std::uint8_t>(block_tree::k_reached | s.mine);
                tree.edges[q.row * cols + q.col] |= s.theirs;
                grew = true;
                --missing;
                break;
            }
        }
    }
    tree.built = missing == 0;
    tree.transposed = transposed;
    return tree.built;
}

place tree_successor(const mesh& m, place p)
{
    const std::uint8_t edges = edges_of(m, p);
    if (p.row % 2 == 0)
        return p.col % 2 == 0 ? ((edges & t::k_north) != 0 ? place{p.row - 1, p.col} : place{p.row, p.col + 1})
                              : ((edges & t::k_east) != 0 ? place{p.row, p.col + 1} : place{p.row + 1, p.col});
    return p.col % 2 == 0 ? ((edges & t::k_west) != 0 ? place{p.row, p.col - 1} : place{p.row - 1, p.col})
                          : ((edges & t::k_south) != 0 ? place{p.row + 1, p.col} : place{p.row, p.col - 1});
}

place tree_predecessor(const mesh& m, place p)
{
    const std::uint8_t edges = edges_of(m, p);
    if (p.row % 2 == 0)
        return p.col % 2 == 0 ? ((edges & t::k_west) != 0 ? place{p.row, p.col - 1} : place{p.row + 1, p.col})
                              : ((edges & t::k_north) != 0 ? place{p.row - 1, p.col} : place{p.row, p.col - 1});
    return p.col % 2 == 0 ? ((edges & t::k_south) != 0 ? place{p.row + 1, p.col} : place{p.row, p.col + 1})
                          : ((edges & t::k_east) != 0 ? place{p.row, p.col + 1} : place{p.row - 1, p.col});
}

} // namespace weft::firmware
