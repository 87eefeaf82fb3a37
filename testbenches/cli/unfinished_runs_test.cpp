// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs, sweeps and validations that were interrupted or failed: what had ended is kept, can be used, and is told apart.
#include "testbenches/issues/program_shell.h"

#include <nlohmann/json.hpp>

#include <sstream>
#include <vector>

using namespace weft::testing;
using nlohmann::json;

namespace {

/// The last of three collectives does not end within the limit.
void write_failing(const program_shell& sh)
{
    sh.write("fails.yaml", "platform: tpu_v3\n"
                           "name: fails\n"
                           "data: off\n"
                           "mesh: {rows: 2, cols: 2}\n"
                           "time_limit: 300 us\n"
                           "workload:\n"
                           "  - {op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB, 16 KiB, 64 MiB, 128 MiB]}\n");
}

std::size_t occurrences(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
        ++n;
    return n;
}

} // namespace

TEST_CASE("explain takes what had ended of a run that failed and names the rest")
{
    const program_shell sh;
    write_failing(sh);
    REQUIRE(sh.run("$weft run fails.yaml --quiet --out out").exit_code == 1);
    REQUIRE(json::parse(sh.read("out/results.json")).at("results").size() == 2);
    const shell_result r = sh.run("$weft explain out --no-reruns --quiet --json all.json");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(has(r.out, "all_reduce ring_1d of 16 KiB"));
    CHECK(has(r.err, "out/results.json: the run did not end: all_reduce ring_1d of 67108864 B"));
    CHECK(has(r.err, "2 of its 4 collectives had not ended:\n"
                     "    2  all_reduce:ring_1d:64 MiB  int32 sum\n"
                     "    3  all_reduce:ring_1d:128 MiB  int32 sum\n"));
    const json all = json::parse(sh.read("all.json"));
    CHECK(all.at("unfinished").size() == 2);
    // A finished case is explained as in a run of its own.
    REQUIRE(sh.run("$weft run fails.yaml --quiet --out whole --set 'workload.0.sizes=[4 KiB, 16 KiB]'").exit_code == 0);
    REQUIRE(sh.run("$weft explain whole --no-reruns --quiet --json whole.json").exit_code == 0);
    CHECK(all.at("critical_path") == json::parse(sh.read("whole.json")).at("critical_path"));
    CHECK_FALSE(json::parse(sh.read("whole.json")).contains("unfinished"));

    const shell_result missing = sh.run("$weft explain out --no-reruns --quiet --case 2");
    CHECK(missing.exit_code == 2);
    CHECK(has(missing.err, "--case: case 2 is one of these; out/results.json has:"));
    const shell_result named = sh.run("$weft explain out --no-reruns --quiet --case all_reduce:ring_1d:64MiB");
    CHECK(named.exit_code == 2);
    CHECK(has(named.err, "there is no case 'all_reduce:ring_1d:64MiB' that has ended"));
    REQUIRE(sh.run("$weft run fails.yaml --quiet --out none --set 'workload.0.sizes=[64 MiB]'").exit_code == 1);
    const shell_result none = sh.run("$weft explain none --quiet");
    CHECK(none.exit_code == 2);
    CHECK(has(none.err, "No collective had ended, so that none can be explained. Run it again."));
}

TEST_CASE("a sweep keeps what a point had finished before it failed and marks it")
{
    const program_shell sh;
    write_failing(sh);
    sh.write("s.yaml", "sweep: {platform: fails.yaml, out: out}\ngrid: {time_limit: [300 us, 10000000 us]}\n");
    const shell_result r = sh.run("$weft sweep s.yaml --set 'workload.0.sizes=[4 KiB, 16 KiB, 64 MiB]'");
    INFO(r.err);
    CHECK(r.exit_code == 1);
    CHECK(has(r.err, "time_limit=300 us: failed: "));
    CHECK(has(r.err, " 2 results that had ended before are kept."));
    CHECK(has(r.out, "1 of 2 are done, 1 is failed; of those that did not end 2 results are kept"));
    const std::string csv = sh.read("out/sweep.csv");
    INFO(csv);
    CHECK(occurrences(csv, "\n0,300,kept,all_reduce,ring_1d,") == 2);
    CHECK(occurrences(csv, "\n0,300,failed,,,,,,,,") == 1);
    CHECK(occurrences(csv, "\n1,") == 3);
    CHECK(occurrences(csv, ",done,all_reduce,") == 3);
    // What is kept is what the whole run has.
    std::vector<std::string> kept, whole;
    std::istringstream lines(csv);
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t at = line.find(",all_reduce,"); at != std::string::npos)
            (has(line, ",kept,") ? kept : whole).push_back(line.substr(at, line.find(",sum,") + 20 - at));
    REQUIRE(kept.size() == 2);
    CHECK(kept == std::vector<std::string>(whole.begin(), whole.begin() + 2));
    const std::string page = sh.read("out/sweep.html");
    CHECK(has(page, "2 results of points that did not end are drawn with the others."));
    CHECK(has(page, "<td class=\"n\">2 kept</td>"));
    // The point runs again, and its bound is a reason by itself.
    CHECK(sh.run("$weft sweep s.yaml --set 'workload.0.sizes=[4 KiB, 16 KiB, 64 MiB]'").exit_code == 1);
}

TEST_CASE("a point of a sweep that takes too long keeps what it had finished")
{
    const program_shell sh;
    sh.write("long.yaml", "platform: tpu_v3\nname: long\ndata: off\nburst: 1 packet\nmesh: {rows: 2, cols: 4}\n"
                          "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB, 4 GiB]}]\n");
    sh.write("s.yaml", "sweep: {platform: long.yaml, out: out}\ngrid: {mesh.cols: [4]}\n");
    const shell_result r = sh.run("$weft sweep s.yaml --timeout 6");
    INFO(r.err);
    CHECK(r.exit_code == 1);
    CHECK(has(r.err, "failed: did not end in 6 s of host time; 1 result that had ended before is kept."));
    CHECK(occurrences(sh.read("out/sweep.csv"), ",kept,all_reduce,ring_1d,") == 1);
}

TEST_CASE("a sweep that is stopped keeps what the points that run had finished")
{
    const program_shell sh;
    sh.write("long.yaml", "platform: tpu_v3\nname: long\ndata: off\nburst: 1 packet\nmesh: {rows: 2, cols: 4}\n"
                          "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB, 16 KiB, 4 GiB]}]\n");
    sh.write("s.yaml", "sweep: {platform: long.yaml, out: out}\ngrid: {mesh.cols: [2, 3, 4]}\n");
    const shell_result r = sh.run("$weft sweep s.yaml --jobs 2 & pid=$!; for i in $(seq 600); do "
                                  "test -e out/points/3_*/point.json && break; sleep 0.05; done; sleep 4; "
                                  "kill -TERM $pid; wait $pid; echo code $?");
    INFO(r.out << r.err);
    CHECK(has(r.out, "code 143\n"));
    CHECK(has(r.out, "0 of 3 are done, 2 are unfinished, 1 is missing; of those that did not end 4 results are kept"));
    CHECK(has(r.err, "0 of 3 points are finished and kept in out/points; the same command goes on from there.\n"
                     "  unfinished 0: mesh.cols=2: stopped at "));
    CHECK(has(r.err, " 2 results that had ended before are kept.\n  missing 2: mesh.cols=4\n"));
    const std::string csv = sh.read("out/sweep.csv");
    INFO(csv);
    for (const char* point : {"0,2", "1,3"}) {
        CHECK(occurrences(csv, "\n" + std::string(point) + ",kept,all_reduce,ring_1d,") == 2);
        CHECK(occurrences(csv, "\n" + std::string(point) + ",unfinished,,") == 1);
    }
    CHECK(has(csv, "\n2,4,missing,,"));
    CHECK(has(sh.read("out/sweep.html"), "4 results of points that did not end are drawn with the others."));
    // They run again, whole.
    const shell_result again = sh.run("$weft sweep s.yaml --dry-run; $weft sweep s.yaml --jobs 2 & pid=$!; sleep 1; kill -TERM $pid; wait $pid");
    INFO(again.err);
    CHECK(has(again.err, "3 points; 3 to run"));
}

TEST_CASE("a validation that is interrupted keeps the rows that are finished")
{
    const program_shell sh;
    REQUIRE(sh.run("mkdir page && cp " WEFT_SOURCE_DIR "/docs/06_validation_ub_mesh.md page/v.md").exit_code == 0);
    const std::string before = sh.read("page/v.md");
    const shell_result r =
        sh.run("$weft validate ub_mesh --quick --configs " WEFT_SOURCE_DIR "/configs/ub_mesh --out page/v.md --json page/v.json "
               "> rows.txt & pid=$!; for i in $(seq 1200); do test $(wc -l < rows.txt) -ge 3 -a -e page/v.kept.json && break; sleep 0.05; done; "
               "kill -TERM $pid; wait $pid");
    INFO(r.err);
    CHECK(r.exit_code == 143);
    CHECK(sh.read("page/v.md") == before);
    CHECK(has(r.err, " are missing:\n  V"));
    CHECK(has(r.err, "They are in page/v.partial.md; page/v.md stays as it was."));
    const json partial = json::parse(sh.read("page/v.partial.json"));
    CHECK(partial.at("interrupted") == true);
    const std::size_t rows = partial.at("targets").size(), missing = partial.at("missing").size();
    CHECK(rows >= 3);
    CHECK(missing >= 1);
    CHECK(has(r.err, std::to_string(rows) + " rows are finished, " + std::to_string(missing) + " of page/v.md are missing:"));
    const std::string page = sh.read("page/v.partial.md");
    CHECK(has(page, "This run was interrupted: rows are missing"));
    for (const json& row : partial.at("targets"))
        CHECK(has(page, row.at("what").get<std::string>()));
    // The same command goes on with the simulations that have ended; one that stopped at once lost none of them.
    const std::size_t kept = json::parse(sh.read("page/v.kept.json")).at("runs").size();
    CHECK(kept >= 1);
    CHECK(has(r.err, "The same command goes on with " + std::to_string(kept) + " simulation"));
    const shell_result again = sh.run("$weft validate ub_mesh --quick --configs " WEFT_SOURCE_DIR "/configs/ub_mesh --out page/v.md > rows.txt & pid=$!; sleep 0.3; "
                                      "kill -TERM $pid; wait $pid");
    INFO(again.err);
    CHECK(has(again.err, "of an interrupted call"));
    CHECK(json::parse(sh.read("page/v.kept.json")).at("runs").size() >= kept);
}
