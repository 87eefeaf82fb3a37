// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/gapped_lines.h"

namespace weft::firmware {

gapped_lines::gapped_lines(const abi::gapped_mesh& mesh, bool along_columns) : mesh_(mesh), along_columns_(along_columns)
{
    for (std::uint32_t i = 0; i < mesh.gaps; ++i) {
        const auto row = static_cast<std::uint16_t>(mesh.gap[i] / mesh.cols), col = static_cast<std::uint16_t>(mesh.gap[i] - row * mesh.cols);
        gap_[i] = along_columns ? position{col, row} : position{row, col};
    }
}

std::uint32_t gapped_lines::rank(std::uint32_t line, std::uint32_t place) const
{
    const std::uint32_t at = number(line, place);
    std::uint32_t before = 0;
    while (before < mesh_.gaps && mesh_.gap[before] < at)
        ++before;
    return at - before;
}

void gapped_lines::find(std::uint32_t rank, std::uint32_t& line, std::uint32_t& place) const
{
    std::uint32_t at = rank;
    for (std::uint32_t i = 0; i < mesh_.gaps && mesh_.gap[i] <= at; ++i)
        ++at;
    const std::uint32_t row = at / mesh_.cols, col = at - row * mesh_.cols;
    line = along_columns_ ? col : row;
    place = along_columns_ ? row : col;
}

std::uint32_t gapped_lines::cell(std::uint32_t line, std::uint32_t place) const
{
    std::uint32_t n = place * lines() + line;
    for (std::uint32_t i = 0; i < mesh_.gaps; ++i)
        n -= gap_[i].place < place || (gap_[i].place == place && gap_[i].line < line) ? 1 : 0;
    return n;
}

// In turn, over all cells whose places are gaps in this line.
std::uint32_t gapped_lines::stand_in(std::uint32_t line, std::uint32_t of_line, std::uint32_t place) const
{
    std::uint32_t turn = of_line;
    for (std::uint32_t i = 0; i < mesh_.gaps; ++i) {
        turn -= gap_[i].place == place && gap_[i].line < of_line ? 1 : 0;
        if (gap_[i].line == line && gap_[i].place < place)
            turn += ranks_at(gap_[i].place);
    }
    turn %= ranks_of_line(line);
    for (std::uint32_t at = 0;; ++at)
        if (has(line, at) && turn-- == 0)
            return at;
}

std::uint32_t gapped_lines::cells_stood_in_for(std::uint32_t line, std::uint32_t place) const
{
    std::uint32_t n = 0;
    each_stood_in_for(line, place, [&](std::uint32_t, std::uint32_t) { ++n; });
    return n;
}

// A rank sends 1/places of a half to each other one of its line, on one link.
std::uint32_t share_of_rows(const abi::gapped_mesh& mesh)
{
    const std::uint64_t along_rows = std::uint64_t{mesh.cols} * mesh.row_mbps * (mesh.rows - 1);
    const std::uint64_t along_columns = std::uint64_t{mesh.rows} * mesh.col_mbps * (mesh.cols - 1);
    return along_rows + along_columns == 0 ? 128 : static_cast<std::uint32_t>(256 * along_rows / (along_rows + along_columns));
}

} // namespace weft::firmware
