// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows and columns of a full mesh with gaps: numbers of ranks, and who gathers which cell along a line.
#include "firmware/collectives/gapped_lines.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

using namespace weft;
using firmware::gapped_lines;

namespace {

abi::gapped_mesh mesh_of(std::uint16_t rows, std::uint16_t cols, const std::set<std::uint16_t>& gaps)
{
    abi::gapped_mesh m;
    m.rows = rows;
    m.cols = cols;
    for (const std::uint16_t gap : gaps)
        m.gap[m.gaps++] = gap;
    return m;
}

void check(const abi::gapped_mesh& mesh, bool along_columns)
{
    const gapped_lines lines(mesh, along_columns);
    const std::uint32_t ranks = std::uint32_t{mesh.rows} * mesh.cols - mesh.gaps;
    std::set<std::uint32_t> numbers, cells;
    for (std::uint32_t line = 0; line < lines.lines(); ++line)
        for (std::uint32_t place = 0; place < lines.places(); ++place) {
            if (!lines.has(line, place))
                continue;
            std::uint32_t found_line = 0, found_place = 0;
            lines.find(lines.rank(line, place), found_line, found_place);
            CHECK((found_line == line && found_place == place));
            numbers.insert(lines.rank(line, place));
            cells.insert(lines.cell(line, place));
        }
    CHECK((numbers.size() == ranks && *numbers.rbegin() == ranks - 1));
    CHECK((cells.size() == ranks && *cells.rbegin() == ranks - 1));
    for (std::uint32_t line = 0; line < lines.lines(); ++line) {
        if (lines.ranks_of_line(line) == 0)
            continue;
        std::vector<std::uint32_t> stood_in(lines.places(), 0);
        for (std::uint32_t of = 0; of < lines.lines(); ++of)
            for (std::uint32_t place = 0; place < lines.places(); ++place) {
                if (!lines.has(of, place))
                    continue;
                const std::uint32_t holder = lines.holder(line, of, place);
                REQUIRE(lines.has(line, holder));
                CHECK((of != line || holder == place)); // its own rank
                stood_in[holder] += holder != place ? 1 : 0;
            }
        std::uint32_t least = ~0u, most = 0;
        for (std::uint32_t place = 0; place < lines.places(); ++place)
            if (lines.has(line, place)) {
                least = std::min(least, stood_in[place]);
                most = std::max(most, stood_in[place]);
            }
        CHECK(most - least <= 1);
    }
}

} // namespace

TEST_CASE("cells of a mesh with gaps have one holder in each line and are dealt evenly", "[gaps]")
{
    check(mesh_of(4, 4, {1}), false);
    check(mesh_of(8, 8, {63}), true);
    check(mesh_of(2, 2, {0, 1}), false); // a whole line
    std::mt19937 draw(7);
    for (unsigned i = 0; i < 300; ++i) {
        const auto rows = static_cast<std::uint16_t>(2 + draw() % 8), cols = static_cast<std::uint16_t>(2 + draw() % 8);
        std::set<std::uint16_t> gaps;
        const std::uint32_t most = std::min<std::uint32_t>(abi::k_most_gaps, rows * cols - 2);
        for (const auto n = static_cast<std::uint32_t>(draw() % (most + 1)); gaps.size() < n;)
            gaps.insert(static_cast<std::uint16_t>(draw() % (rows * cols)));
        INFO(rows << " x " << cols << ", " << gaps.size() << " gaps");
        check(mesh_of(rows, cols, gaps), i % 2 != 0);
    }
}

TEST_CASE("the halves of a mesh with gaps take links for equally long", "[gaps]")
{
    abi::gapped_mesh m = mesh_of(8, 8, {3});
    m.row_mbps = m.col_mbps = 700;
    CHECK(firmware::share_of_rows(m) == 128);
    m.col_mbps = 350; // half of the lanes
    CHECK(firmware::share_of_rows(m) == 170);
    m = mesh_of(2, 8, {3});
    m.row_mbps = 700; // seven links; one along a column
    m.col_mbps = 100;
    CHECK(firmware::share_of_rows(m) == 204);
}
