// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/tpu_v3/tiles.h"

#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

std::uint32_t working_chips(const mesh_description& mesh)
{
    std::uint32_t chips = mesh.rows * mesh.cols;
    for (const mesh_region& f : mesh.failed)
        chips -= f.rows * f.cols;
    return chips;
}

bool divides(const mesh_description& mesh, chip_tile tile)
{
    return mesh.rows % tile.rows == 0 && mesh.cols % tile.cols == 0;
}

std::uint32_t overlap(std::uint32_t a, std::uint32_t a_count, std::uint32_t b, std::uint32_t b_count)
{
    const std::uint32_t first = std::max(a, b);
    const std::uint32_t end = std::min(a + a_count, b + b_count);
    return end > first ? end - first : 0;
}

struct half_dead_tile {
    mesh_region tile;
    std::size_t region;
};

/// The first tile of which a region takes a part. Two regions that share a tile are refused too: the firmware looks at
/// one after the other.
std::optional<half_dead_tile> half_dead(const mesh_description& mesh, chip_tile tile)
{
    if (mesh.failed.empty())
        return std::nullopt;
    for (std::uint32_t row = 0; row < mesh.rows; row += tile.rows)
        for (std::uint32_t col = 0; col < mesh.cols; col += tile.cols)
            for (std::size_t i = 0; i < mesh.failed.size(); ++i) {
                const mesh_region& f = mesh.failed[i];
                const std::uint32_t dead =
                    overlap(row, tile.rows, f.row, f.rows) * overlap(col, tile.cols, f.col, f.cols);
                if (dead > 0 && dead < tile.rows * tile.cols)
                    return half_dead_tile{{row, col, tile.rows, tile.cols}, i};
            }
    return std::nullopt;
}

/// "write 2, 4 or 8, or remove this key to exchange over all ranks."
std::string remedy(const mesh_description& mesh)
{
    std::vector<std::uint32_t> possible;
    const std::uint32_t chips = working_chips(mesh);
    for (std::uint32_t n = 2; n < chips; n *= 2)
        if (divides(mesh, *tile_of(n)) && !half_dead(mesh, *tile_of(n)))
            possible.push_back(n);
    std::string text;
    for (std::size_t i = 0; i < possible.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "write " : i + 1 == possible.size() ? " or " : ", ", possible[i]);
    return fmt::format("{}{}remove this key to exchange over all {} ranks.", text, text.empty() ? "" : ", or ", chips);
}

} // namespace

std::optional<chip_tile> tile_of(std::uint32_t ranks_per_group)
{
    if (ranks_per_group < 2 || (ranks_per_group & (ranks_per_group - 1)) != 0)
        return std::nullopt;
    chip_tile tile{1, 1};
    for (std::uint32_t n = ranks_per_group; n > 1; n /= 2)
        (tile.rows > tile.cols ? tile.cols : tile.rows) *= 2;
    return tile;
}

std::string tile_refusal(const mesh_description& mesh, std::uint32_t ranks_per_group)
{
    const std::uint32_t chips = working_chips(mesh);
    if (ranks_per_group == chips)
        return {};
    if (ranks_per_group > chips)
        return fmt::format("is {}, but the mesh has {} working chips; {}", ranks_per_group, chips, remedy(mesh));
    const std::optional<chip_tile> tile = tile_of(ranks_per_group);
    if (!tile)
        return fmt::format("is {}, but groups are tiles of the mesh whose sides are powers of two; {}", ranks_per_group,
                           remedy(mesh));
    if (!divides(mesh, *tile))
        return fmt::format("is {}, a tile of {}x{} chips (rows x columns), which does not divide a {}x{} mesh; {}",
                           ranks_per_group, tile->rows, tile->cols, mesh.rows, mesh.cols, remedy(mesh));
    if (const auto found = half_dead(mesh, *tile))
        return fmt::format(
            "is {}, tiles of {}x{} chips (rows x columns), but faults.regions.{} fails only a part of the "
            "tile at ({},{}) to ({},{}), and a region must take tiles as a whole; {}",
            ranks_per_group, tile->rows, tile->cols, found->region, found->tile.row, found->tile.col,
            found->tile.row + tile->rows - 1, found->tile.col + tile->cols - 1, remedy(mesh));
    return {};
}

group_layout tile_groups(const mesh& topology, std::uint32_t ranks_per_group)
{
    const mesh_description& d = topology.description();
    if (const std::string refusal = tile_refusal(d, ranks_per_group); !refusal.empty())
        throw bug("tile_groups", 0, "the size of a group " + refusal);
    group_layout layout;
    if (ranks_per_group == topology.ranks()) {
        layout.members.resize(1);
        for (std::uint32_t rank = 0; rank < topology.ranks(); ++rank)
            layout.members[0].push_back(rank);
        return layout;
    }
    const chip_tile tile = *tile_of(ranks_per_group);
    for (std::uint32_t row = 0; row < d.rows; row += tile.rows)
        for (std::uint32_t col = 0; col < d.cols; col += tile.cols) {
            if (topology.rank_at(row, col) == mesh::k_none)
                continue;
            std::vector<std::uint32_t>& members = layout.members.emplace_back();
            for (std::uint32_t r = row; r < row + tile.rows; ++r)
                for (std::uint32_t c = col; c < col + tile.cols; ++c)
                    members.push_back(topology.rank_at(r, c));
        }
    return layout;
}

} // namespace weft
