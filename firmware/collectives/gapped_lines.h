// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// multi_axis on a full mesh of rows and columns with gaps (abi::gapped_mesh): a reduce-scatter goes along lines, then
// across them, an all-gather back. One half of the data has rows for its lines, the other one columns, so that all
// links work at once.
//
// The data of a half is cut into cells, one for each rank. Along a line a rank gathers the cells of all ranks at its
// own place of a line, and then sends each across to its rank. Where a line has a gap, its other ranks share the cells
// of that place, and send them across on ways of two links.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// The mesh as one half sees it: `line` and `place` in it are row and column, or column and row.
class gapped_lines {
public:
    gapped_lines(const abi::gapped_mesh& mesh, bool along_columns);

    std::uint32_t lines() const { return along_columns_ ? mesh_.cols : mesh_.rows; }
    std::uint32_t places() const { return along_columns_ ? mesh_.rows : mesh_.cols; }
    bool has(std::uint32_t line, std::uint32_t place) const
    {
        for (std::uint32_t i = 0; i < mesh_.gaps; ++i)
            if (gap_[i].place == place && gap_[i].line == line)
                return false;
        return true;
    }
    std::uint32_t rank(std::uint32_t line, std::uint32_t place) const;
    /// Where a rank is.
    void find(std::uint32_t rank, std::uint32_t& line, std::uint32_t& place) const;
    /// Ranks of a line, and of all lines at a place.
    std::uint32_t ranks_of_line(std::uint32_t line) const
    {
        std::uint32_t n = places();
        for (std::uint32_t i = 0; i < mesh_.gaps; ++i)
            n -= gap_[i].line == line ? 1 : 0;
        return n;
    }
    std::uint32_t ranks_at(std::uint32_t place) const
    {
        std::uint32_t n = lines();
        for (std::uint32_t i = 0; i < mesh_.gaps; ++i)
            n -= gap_[i].place == place ? 1 : 0;
        return n;
    }
    /// Number of a cell: place by place, so that those of a place lie side by side.
    std::uint32_t cell(std::uint32_t line, std::uint32_t place) const;

    /// Place of the rank of `line` that gathers the cell of another rank there, whose place is a gap in `line`.
    std::uint32_t stand_in(std::uint32_t line, std::uint32_t of_line, std::uint32_t place) const;
    /// The place in `line` that gathers the cell of the rank at (of_line, place).
    std::uint32_t holder(std::uint32_t line, std::uint32_t of_line, std::uint32_t place) const
    {
        return has(line, place) ? place : stand_in(line, of_line, place);
    }
    /// Cells of others that the rank there gathers in its line as such a stand-in.
    std::uint32_t cells_stood_in_for(std::uint32_t line, std::uint32_t place) const;
    /// Calls see(of_line, place) for these.
    template <class See> void each_stood_in_for(std::uint32_t line, std::uint32_t at, See&& see) const
    {
        std::uint32_t turn = at; // number of the rank in its line
        for (std::uint32_t i = 0; i < mesh_.gaps; ++i)
            turn -= gap_[i].line == line && gap_[i].place < at ? 1 : 0;
        const std::uint32_t ranks = ranks_of_line(line);
        for (std::uint32_t i = 0; i < mesh_.gaps; ++i) { // in the order of places
            if (gap_[i].line != line)
                continue;
            const std::uint32_t place = gap_[i].place, cells = ranks_at(place);
            for (; turn < cells; turn += ranks) {
                std::uint32_t of = turn;
                for (std::uint32_t k = 0; k < mesh_.gaps; ++k) // in the order of lines
                    of += gap_[k].place == place && gap_[k].line <= of ? 1 : 0;
                see(of, place);
            }
            turn -= cells;
        }
    }
    std::uint32_t gaps() const { return mesh_.gaps; }

private:
    struct position {
        std::uint16_t line, place;
    };
    std::uint32_t number(std::uint32_t line, std::uint32_t place) const
    {
        return along_columns_ ? place * mesh_.cols + line : line * mesh_.cols + place;
    }

    const abi::gapped_mesh& mesh_;
    bool along_columns_;
    position gap_[abi::k_most_gaps]; ///< those of a line by place, and those at a place by line
};

/// Whether a collective by `algo` takes these lines.
constexpr bool goes_around_gaps(const abi::platform_table& table, abi::collective_op op, abi::algorithm algo)
{
    return algo == abi::algorithm::multi_axis && table.on_mesh.rows > 1 && table.on_mesh.cols > 1 &&
           (op == abi::collective_op::all_reduce || op == abi::collective_op::reduce_scatter || op == abi::collective_op::all_gather);
}

/// The part of the data whose lines are rows, in 256ths, so that both halves take links for equally long.
std::uint32_t share_of_rows(const abi::gapped_mesh& mesh);

} // namespace weft::firmware
