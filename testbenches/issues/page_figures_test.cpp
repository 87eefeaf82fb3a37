// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The figures that the pages of first runs and quickstart show are those that the program prints today. Lines about the host are left out, and
// so is the mesh of 8x8, which takes minutes with its data.
#include "testbenches/issues/program.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

using weft::testing::has;
using weft::testing::program_folder;
using weft::testing::text_of;

namespace {

const fs::path k_root = WEFT_SOURCE_DIR;

std::string output_of(const std::string& arguments)
{
    const program_folder folder;
    REQUIRE(folder.weft(arguments) == 0);
    return text_of(folder.path() / "stdout");
}

std::string config(const std::string& name) { return (k_root / "configs" / name).string(); }

/// Lines of results, digest and simulated time of every indented block that begins with "# weft ..., <name>:".
std::vector<std::string> shown_lines(const fs::path& page, const std::string& name)
{
    static const std::regex told(R"( +\d+ +\d+ +\w+ +\w+ +\w+ +[\d.]+ .*|Digest .*|Simulated time .*|HBM traffic .*)");
    std::vector<std::string> all;
    std::istringstream lines(text_of(page));
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("    # weft ", 0) == 0)
            inside = has(line, ", " + name + ":");
        else if (!line.empty() && line.rfind("    ", 0) != 0)
            inside = false;
        else if (inside && line.size() > 4 && std::regex_match(line.substr(4), told))
            all.push_back(line.substr(4));
    }
    return all;
}

/// Of a shipped platform, run once.
const std::string& run_of(const std::string& file)
{
    static std::map<std::string, std::string> known;
    std::string& said = known[file];
    if (said.empty())
        said = output_of("run " + config(file) + " --out out");
    return said;
}

void check_shown(const std::string& file, const std::string& name, std::size_t at_least)
{
    const std::string& said = run_of(file);
    const std::vector<std::string> shown = shown_lines(k_root / "docs/26_first_runs.md", name);
    CHECK(shown.size() >= at_least);
    for (const std::string& line : shown) {
        INFO("docs/26_first_runs.md shows " << line);
        CHECK(has(said, line + "\n"));
    }
}

/// "29.221" of the line of this size and algorithm.
std::string time_in(const std::string& said, const std::string& size, const std::string& algorithm)
{
    std::smatch found;
    const std::regex line("\n +" + size + " +\\d+ +int32 +sum +" + algorithm + " +([\\d.]+) ");
    return std::regex_search(said, found, line) ? found[1].str() : "";
}

} // namespace

TEST_CASE("figures of the first runs are those of a run: SwitchML rack and UB-Mesh board")
{
    check_shown("switchml/rack_4x10g.yaml", "switchml_rack_4x10g", 3);
    check_shown("ub_mesh/board.yaml", "ub_mesh_board", 3);
}

TEST_CASE("figures of the README are those of a run: lines of the table and of the refusal")
{
    const std::string readme = text_of(k_root / "README.md");
    const std::string& said = run_of("ub_mesh/board.yaml");
    std::istringstream lines(readme);
    std::size_t compared = 0;
    static const std::regex row(R"( +\d+ +\d+ +int32 +sum .*)");
    for (std::string line; std::getline(lines, line);)
        if (line.size() > 4 && std::regex_match(line.substr(4), row)) {
            INFO(line);
            CHECK(has(said, line.substr(4) + "\n"));
            ++compared;
        }
    CHECK(compared >= 4);
    // The broken file that it shows.
    const program_folder folder;
    std::string broken = text_of(k_root / "configs/tpu_v3/mesh_4x4.yaml");
    broken = std::regex_replace(broken, std::regex("rows: 4"), "rows: 0");
    broken = std::regex_replace(broken, std::regex("max_payload"), "max_paylod");
    folder.write("broken.yaml", broken);
    CHECK(folder.weft("run broken.yaml") == 2);
    std::istringstream refusal(folder.read("stderr"));
    for (std::string line; std::getline(refusal, line);) {
        INFO(line);
        CHECK(has(readme, "    " + line + "\n"));
    }
}

TEST_CASE("figures of the first runs are those of a run: one line changed")
{
    const std::string run = "run " + config("tpu_v3/mesh_4x4.yaml") +
                            " --out out --set 'workload=[{op: all_reduce, algorithms: [ring_1d, two_d], sizes: [4 B, 4 MiB]}]'";
    const std::string as_shipped = output_of(run);
    const std::string twice = output_of(run + " --set 'ici.link_rate=164 GB/s'");
    const std::string page = text_of(k_root / "docs/26_first_runs.md");
    for (const std::string algorithm : {"ring_1d", "two_d"})
        for (const auto& [size, shown] : {std::pair{"4", "4 B"}, std::pair{"4194304", "4 MiB"}}) {
            const std::string row = std::string("| ") + shown + " | " + algorithm + " | " +
                                    time_in(as_shipped, size, algorithm) + " us | " + time_in(twice, size, algorithm) +
                                    " us |";
            INFO(row);
            CHECK(has(page, row));
        }
}

TEST_CASE("figures of the quickstart are those of a run")
{
    const std::string page = text_of(k_root / "docs/02_quickstart.md");
    const std::string said = output_of("run " + config("tpu_v3/mesh_4x4.yaml") + " --out out");
    std::istringstream lines(said);
    std::size_t compared = 0;
    for (std::string line; std::getline(lines, line);)
        for (const char* what : {"Busiest links", "HBM traffic", "Simulated time", "Digest"})
            if (line.rfind(what, 0) == 0) {
                INFO(line);
                CHECK(has(page, "    " + line + "\n"));
                ++compared;
            }
    CHECK(compared == 4);
    const std::string rack = output_of("run " + config("switchml/rack_4x10g.yaml") + " --out out");
    const std::size_t digest = rack.find("Digest ");
    REQUIRE(digest != std::string::npos);
    const std::string line = rack.substr(digest, rack.find('\n', digest) - digest);
    INFO(line);
    CHECK(has(page, "    " + line + "\n"));
}
