// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables that page 17 shows of collective communication units on a board are those that the program gives today. Rows above 16 MiB are left out: they take a
// minute.
#include "testbenches/issues/exact_runs.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

using weft::testing::exact_runs;
using weft::testing::stat_of;
using weft::testing::text_of;

namespace {

const exact_runs k_board("ub_mesh/board_ccu.yaml");

using row = std::vector<std::string>; ///< cells

/// Rows of the table of page 17 whose first line is `header`.
std::vector<row> table(const std::string& header)
{
    std::istringstream page(text_of(std::string(WEFT_SOURCE_DIR) + "/docs/17_ub_mesh.md"));
    std::vector<row> rows;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (!inside || line.empty() || line[0] != '|') {
            inside = line == header;
            continue;
        }
        if (line.rfind("|---", 0) == 0)
            continue;
        row cells;
        std::istringstream of_line(line.substr(1));
        for (std::string cell; std::getline(of_line, cell, '|');) {
            const std::size_t first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
            cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
        }
        rows.push_back(cells);
    }
    INFO(header);
    REQUIRE(!rows.empty());
    return rows;
}

nlohmann::json run(const std::string& op, const std::string& algorithm, const std::string& size, const std::string& more = "")
{
    return k_board.exact(fmt::format("[{{op: {}, algorithms: [{}], sizes: [{}]}}]", op, algorithm, size), "--set data=off " + more);
}
std::string time_of(const nlohmann::json& results) { return fmt::format("{:.1f} us", results.at("results").at(0).at("time_us").get<double>()); }
/// Of the eight NPUs together, as the page has it of one.
std::string bytes_of_npu(double bytes)
{
    const double kib = bytes / 8 / 1024;
    return kib < 1000 ? fmt::format("{:.0f} KiB", kib) : fmt::format("{:.2g} MiB", kib / 1024);
}
bool is_long(const std::string& size) { return size == "64 MiB"; }

} // namespace

TEST_CASE("page 17: times of an all_reduce by units and by cores on a board")
{
    std::string size;
    for (const row& r : table("| size | by | time | core cycles | memory read | memory written |")) {
        size = r.at(0).empty() ? size : r.at(0);
        if (is_long(size))
            continue;
        INFO(size << " by " << r.at(1));
        const auto results = run("all_reduce", r.at(1), size);
        const auto& one = results.at("results").at(0);
        CHECK(time_of(results) == r.at(2));
        CHECK(fmt::format("{:.0f}", 1000 * one.at("busy_shares").at("core").get<double>() * one.at("time_us").get<double>()) == r.at(3));
        CHECK(bytes_of_npu(stat_of(results, "hbm.bytes_read")) == r.at(4));
        CHECK(bytes_of_npu(stat_of(results, "hbm.bytes_written")) == r.at(5));
    }
}

TEST_CASE("page 17: times beside computation that uses the memory")
{
    for (const row& r : table("| load of compute units on the memory | `ccu` | `multi_axis` |")) {
        INFO("load " << r.at(0));
        const std::string load = "--set npu.hbm.load=" + r.at(0);
        CHECK(time_of(run("all_reduce", "ccu", "16 MiB", load)) == r.at(1));
        CHECK(time_of(run("all_reduce", "multi_axis", "16 MiB", load)) == r.at(2));
    }
}

TEST_CASE("page 17: times of a reduce on a board and what auto takes")
{
    for (const row& r : table("| size | `ccu` | `mesh_tree` | `multi_axis` | `auto` takes |")) {
        if (is_long(r.at(0)))
            continue;
        INFO(r.at(0));
        CHECK(time_of(run("reduce", "ccu", r.at(0))) == r.at(1));
        CHECK(time_of(run("reduce", "mesh_tree", r.at(0))) == r.at(2));
        CHECK(time_of(run("reduce", "multi_axis", r.at(0))) == r.at(3));
        CHECK(run("reduce", "auto", r.at(0)).at("results").at(0).at("algorithm") == r.at(4));
    }
}
