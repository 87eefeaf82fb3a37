// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft run` writes beside its table: CSV, the log of components, -v; and sizes by the names of nccl-tests.
#include "testbenches/issues/program_shell.h"

#include <nlohmann/json.hpp>

#include <sstream>

using namespace weft::testing;

namespace {

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

std::string times_of(const program_shell& sh)
{
    std::string all;
    const auto results = nlohmann::json::parse(sh.read("out/results.json"));
    for (const auto& row : results.at("results"))
        all += row.at("size_bytes").dump() + ": " + row.at("time_us").dump() + "\n";
    return all;
}

} // namespace

TEST_CASE("results as CSV are those of results.json")
{
    const program_shell sh;
    const shell_result r = sh.run("$weft run small.yaml -b 4K -e 64K -f 4 --out out --csv -");
    REQUIRE(r.exit_code == 0);
    const auto lines = lines_of(r.out);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].rfind("op,algorithm,group,type,redop,size (B),time (us),", 0) == 0);
    const auto rows = nlohmann::json::parse(sh.read("out/results.json")).at("results");
    REQUIRE(rows.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        INFO(lines[i + 1]);
        CHECK(has(lines[i + 1], "," + rows[i].at("size_bytes").dump() + "," + rows[i].at("time_us").dump() + ","));
    }
    CHECK(sh.run("$weft run small.yaml --out out --csv file.csv").exit_code == 0);
    CHECK(lines_of(sh.read("file.csv")).size() == 2);
    CHECK(sh.run("$weft run small.yaml --out out --csv small.yaml").exit_code == 2);
    CHECK(sh.run("$weft run small.yaml --out out --csv /dev/full").exit_code == 1);
}

TEST_CASE("sizes and repeats on the command line stand in place of those of every entry")
{
    const program_shell sh;
    sh.write("two.yaml", "platform: tpu_v3\n"
                         "name: two\n"
                         "mesh: {rows: 2, cols: 2}\n"
                         "workload:\n"
                         "  - {op: all_reduce, sizes: [4 kB]}\n"
                         "  - {op: broadcast, range: {from: 4 B, to: 64 B}}\n");
    const auto sizes = [&](const std::string& options) {
        const shell_result r = sh.run("$weft run two.yaml --out out --quiet " + options);
        INFO(options << "\n" << r.err);
        REQUIRE(r.exit_code == 0);
        std::string all;
        const auto results = nlohmann::json::parse(sh.read("out/results.json"));
        for (const auto& row : results.at("results"))
            all += row.at("op").get<std::string>().substr(0, 1) + row.at("size_bytes").dump() + " ";
        return all;
    };
    CHECK(sizes("") == "a4000 b4 b16 b64 ");
    CHECK(sizes("-b 512") == "a512 b512 ");
    CHECK(sizes("--minbytes '1 KiB' --maxbytes 4k --stepfactor 2") == "a1024 a2048 a4096 b1024 b2048 b4096 ");
    CHECK(sizes("-b 1K -e 3K -f 2") == "a1024 a2048 a3072 b1024 b2048 b3072 ");
    CHECK(sizes("-b 1K --set 'workload.1.sizes=[8 B]'") == "a1024 b8 b1024 ");
    CHECK(sizes("-b 1K --set 'workload=[{op: all_reduce, sizes: [8 B]}]'") == "a1024 ");
    CHECK(sizes("--set 'workload.*.sizes=[8 B]'") == "a8 b8 b4 b16 b64 ");
    CHECK(sizes("-n 3 -b 64") == "a64 b64 ");
    CHECK(has(sh.read("out/results.json"), "\"times_us\""));

    for (const auto& [options, text] :
         std::vector<std::pair<std::string, std::string>>{{"-b 1X", "1X"},
                                                          {"-e 1K", "--minbytes"},
                                                          {"-b 1K -f 2", "--maxbytes"},
                                                          {"-b 1K -e 2K -f 1", "from 2"},
                                                          {"-b 3", "-b: error: workload.0.range.from: is 3 B"},
                                                          {"-b 4 -e 2K --set 'workload.0.range.from=3 B'", "--set: error: workload.0.range.from: is 3 B"},
                                                          {"-b 4 -e 2K --set 'workload.*.range.from=3 B'", "--set: error: workload.0.range.from: is 3 B"},
                                                          {"-n 2 --set 'workload=[]'", "-n: error: workload.*.repeats"},
                                                          {"--set 'mesh.*.rows=2'", "'mesh' is no list"},
                                                          {"--set 'nothing.*.rows=2'", "'nothing' is not in the file"},
                                                          {"--set 'workload.*=3'", "workload.0"}}) {
        const shell_result r = sh.run("$weft check two.yaml " + options);
        INFO(options << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, text));
    }
}

TEST_CASE("the log has a line for everything that components do and changes no time")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --out out").exit_code == 0);
    const std::string times = times_of(sh);
    const shell_result r = sh.run("$weft run small.yaml --out out --log log.txt --trace trace.json");
    REQUIRE(r.exit_code == 0);
    CHECK(times_of(sh) == times);
    const auto lines = lines_of(sh.read("log.txt"));
    CHECK(has(r.out, "log:     log.txt (" + std::to_string(lines.size()) + " lines)"));
    REQUIRE(lines.size() > 100);
    CHECK(has(lines[0], "host                     all_reduce ring_1d 4 kB begins"));
    CHECK(has(lines.back(), " ends after "));
    std::size_t sends = 0, links = 0, cores = 0;
    for (const std::string& line : lines) {
        cores += has(line, "chip_0_0.core            works, for ");
        CHECK((!has(line, "core core") && line.back() != ' '));
        sends += has(line, "chip_0_1.dma DMA sends");
        links += has(line, "chip(0,1).-X ") && has(line, "\"bytes\":");
    }
    CHECK(sends > 0);
    CHECK(links > 0);
    CHECK(cores > 0);
    // As many records as a trace has, which does not have the two lines of the host.
    CHECK(has(r.out, "trace.json (" + std::to_string(lines.size() - 2) + " records"));

    const shell_result part = sh.run("$weft run small.yaml --out out --log part.txt --log-components 'chip_0_1.dma'");
    REQUIRE(part.exit_code == 0);
    const auto some = lines_of(sh.read("part.txt"));
    CHECK(has(part.out, "of other components left out"));
    CHECK(some.size() > 2);
    for (std::size_t i = 1; i + 1 < some.size(); ++i)
        CHECK(has(some[i], "chip_0_1.dma "));
    const shell_result cut = sh.run("$weft run small.yaml --out out --log cut.txt --log-limit 5");
    CHECK(has(cut.out, "5 lines, " + std::to_string(lines.size() - 5) + " more beyond --log-limit"));
    CHECK(lines_of(sh.read("cut.txt")).size() == 6);
    const shell_result none = sh.run("$weft run small.yaml --out out --log none.txt --log-components xyz");
    CHECK(none.exit_code == 2);
    CHECK(has(none.err, "leaves nothing to log"));
    CHECK_FALSE(sh.exists("none.txt"));
    CHECK(sh.run("$weft run small.yaml --out out --log /dev/full").exit_code == 1);
}

TEST_CASE("the option -v says on stderr when collectives begin and end")
{
    const program_shell sh;
    const shell_result r = sh.run("$weft run small.yaml --out out -v");
    REQUIRE(r.exit_code == 0);
    const auto lines = lines_of(r.err);
    REQUIRE(lines.size() == 2);
    CHECK(has(lines[0], " us  all_reduce ring_1d 4 kB begins"));
    CHECK(has(lines[1], " us  all_reduce ring_1d 4 kB ends after "));
    CHECK(has(lines[1], " s of CPU time"));
}
