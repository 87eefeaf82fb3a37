// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft tune`, as a user starts it: what it measures, the table that `auto` follows, and what it does when it is stopped. Which of several
// curves is the lowest: unit/tuning_curves_test.
#include "testbenches/issues/program.h"
#include "testbenches/issues/started_program.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace fs = std::filesystem;
using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// Eight NPUs: short all_reduces go by direct, long ones by multi_axis, and a ring is in no place the fastest.
const std::string k_board = "platform: ub_mesh\nname: board\nmesh: {boards: 1, npus: 4, backplane: false}\n";
const std::string k_mesh = "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 4}\n";
const std::string k_rack = "platform: switchml\nname: rack\nworkers: 4\nnetwork: {rate: 10 Gbps}\njob: {slots: 32}\n";

std::string entry(const std::string& op, const std::string& algorithm, const std::string& size,
                  const std::string& more = "")
{
    return fmt::format("--set 'workload=[{{op: {}, algorithms: [{}], sizes: [{}]{}}}]'", op, algorithm, size, more);
}

json result_of_run(const program_folder& folder, const std::string& file, const std::string& options)
{
    REQUIRE(folder.weft(fmt::format("run {} --quiet --set data=off {} --out run", file, options)) == 0);
    return json::parse(folder.read("run/results.json")).at("results").at(0);
}

/// Whole files; one that is being written has a name of its own.
std::vector<fs::path> files_of(const fs::path& folder)
{
    std::vector<fs::path> all;
    std::error_code none;
    for (const auto& file : fs::directory_iterator(folder, none))
        if (file.path().extension() == ".json")
            all.push_back(file.path());
    return all;
}
std::size_t files_in(const fs::path& folder) { return files_of(folder).size(); }

/// A table for `auto` with one range, of the machine in `folder`/out/tuning.yaml.
std::string table_of(const program_folder& folder, const std::string& tables)
{
    const std::string made = folder.read("out/tuning.yaml");
    return made.substr(0, made.find("tables:\n")) + "tables:\n" + tables;
}

} // namespace

TEST_CASE("tune: the fastest of the table is the fastest that weft run measures")
{
    const program_folder folder;
    folder.write("a.yaml", k_board);
    REQUIRE(folder.weft("tune a.yaml --sizes 4B,1000003B,4KiB..256KiB --factor 8 --out out") == 0);
    const std::string out = folder.read("stdout"), err = folder.read("stderr");
    const json tuned = json::parse(folder.read("out/tuning.json"));
    const json& table = tuned.at("tables").at(0);
    CHECK(table.at("op") == "all_reduce");
    CHECK(table.at("rows").size() == 5);
    CHECK(table.at("rows").at(4).at("size_bytes") == 1000000); // whole elements, as weft run does
    CHECK(tuned.at("finished") == tuned.at("points"));
    for (const json& row : table.at("rows")) {
        std::map<double, std::string> by_time;
        REQUIRE(row.at("time_us").size() >= 4);
        for (const auto& [algorithm, us] : row.at("time_us").items()) {
            const json run =
                result_of_run(folder, "a.yaml", entry("all_reduce", algorithm, row.at("size_bytes").dump() + " B"));
            INFO(algorithm << " of " << row.at("size_bytes"));
            CHECK(run.at("time_us") == us);
            by_time.emplace(run.at("time_us").get<double>(), algorithm);
        }
        CHECK(row.at("fastest") == by_time.begin()->second);
        CHECK(row.at("time_us").at(row.at("next").get<std::string>()).get<double>() >= by_time.begin()->first);
        CHECK(row.at("next_factor").get<double>() >= 1);
        const json chosen =
            result_of_run(folder, "a.yaml", entry("all_reduce", "auto", row.at("size_bytes").dump() + " B"));
        CHECK(row.at("predicted") == chosen.at("algorithm"));
        CHECK(row.at("predicted_factor").get<double>() ==
              Approx(chosen.at("time_us").get<double>() / by_time.begin()->first));
    }
    CHECK_THAT(out, Contains("all_reduce, int32, sum; us by algorithm") && Contains("next/fastest") &&
                        Contains("auto/fastest"));
    CHECK_THAT(out, Contains("Table            out/tuning.yaml"));
    CHECK(out.find('\x1b') == std::string::npos);
    CHECK_THAT(err, Contains("] all_reduce by direct, 4 KiB: "));
    CHECK_THAT(folder.read("out/all_reduce.svg"), Contains("</svg>") && Contains("multi_axis"));
}

TEST_CASE("tune: crossovers lie between the sizes whose fastest algorithms differ and ranges have no hole")
{
    const program_folder folder;
    folder.write(
        "a.yaml",
        k_board +
            "workload: [{op: all_reduce, sizes: [4 KiB]}, {op: all_to_all, sizes: [4 KiB]}, {op: all_gather, sizes: [4 KiB]}]\n");
    REQUIRE(folder.weft("tune a.yaml --sizes 4B..4MiB --factor 16 --out out --json -") == 0);
    const json tuned = json::parse(folder.read("stdout"));
    CHECK(tuned == json::parse(folder.read("out/tuning.json")));
    REQUIRE(tuned.at("tables").size() == 3);
    std::size_t crossovers = 0;
    for (const json& table : tuned.at("tables")) {
        const json &rows = table.at("rows"), &ranges = table.at("ranges");
        CHECK(ranges.front().at("from_bytes") == 4);
        CHECK(ranges.back().at("to_bytes") == 4 << 20);
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            if (i > 0)
                CHECK(ranges[i].at("from_bytes") == ranges[i - 1].at("to_bytes").get<std::uint64_t>() + 1);
            for (const json& row : rows)
                if (row.at("size_bytes") >= ranges[i].at("from_bytes") &&
                    row.at("size_bytes") <= ranges[i].at("to_bytes"))
                    CHECK(row.at("fastest") == ranges[i].at("algorithm"));
        }
        CHECK(table.at("crossovers").size() + 1 == ranges.size());
        for (const json& c : table.at("crossovers")) {
            ++crossovers;
            std::size_t above = 0;
            while (rows[above].at("size_bytes").get<double>() < c.at("bytes").get<double>())
                ++above;
            REQUIRE(above > 0);
            CHECK(c.at("below") != c.at("above"));
            // The time lies between those of the fastest at both sizes.
            const auto fastest_us = [&](const json& row) {
                return row.at("time_us").at(row.at("fastest").get<std::string>()).get<double>();
            };
            CHECK(c.at("us").get<double>() >= fastest_us(rows[above - 1]) * 0.999);
            CHECK(c.at("us").get<double>() <= fastest_us(rows[above]) * 1.001);
        }
    }
    CHECK(crossovers > 0);
}

TEST_CASE("tune: the same inputs give the same bytes whatever was kept and however many points run at once")
{
    const program_folder folder;
    folder.write("a.yaml", k_mesh);
    const std::string tune = "tune a.yaml --op all_reduce,all_to_all --sizes 1KiB..64KiB ";
    REQUIRE(folder.weft(tune + "--jobs 1 --out out") == 0);
    REQUIRE(folder.weft(tune + "--jobs 3 --out other") == 0);
    CHECK(folder.read("out/tuning.yaml") == folder.read("other/tuning.yaml"));
    CHECK(folder.read("out/all_reduce.svg") == folder.read("other/all_reduce.svg"));
    const std::string first = folder.read("out/tuning.yaml");
    const std::size_t points = files_in(folder / "out/points");
    REQUIRE(folder.weft(tune + "--out out") == 0);
    CHECK(folder.read("out/tuning.yaml") == first);
    CHECK(files_in(folder / "out/points") == points);
    const json tuned = json::parse(folder.read("out/tuning.json"));
    CHECK(tuned.at("kept") == tuned.at("points"));
    CHECK(tuned.at("kept") == points);
    CHECK_THAT(folder.read("stdout"), Contains("of them from an earlier call"));
    // Another machine, or other bytes on the wire, is another point; a damaged file is none.
    REQUIRE(folder.weft(tune + "--set 'ici.link_rate=50 GB/s' --out out") == 0);
    CHECK(json::parse(folder.read("out/tuning.json")).at("kept") == 0);
    for (const auto& file : fs::directory_iterator(folder / "other/points"))
        folder.write("other/points/" + file.path().filename().string(), "{\"key\": 5");
    REQUIRE(folder.weft(tune + "--out other") == 0);
    CHECK(json::parse(folder.read("other/tuning.json")).at("kept") == 0);
    CHECK(folder.read("other/tuning.yaml") == first);
}

TEST_CASE("tune: what is finished before Ctrl-C or a kill is not simulated again")
{
    for (const int signal : {SIGINT, SIGKILL}) {
        started_program weft;
        weft.write("a.yaml", k_mesh);
        // Short points, then one that takes the host minutes.
        const std::vector<std::string> tune{"tune",         "a.yaml",
                                            "--sizes",      "1KiB,4KiB,64GB",
                                            "--algorithms", "ring_1d,two_d",
                                            "--jobs",       "1",
                                            "--out",        "out",
                                            "--set",        "burst=1 packet",
                                            "--set",        "chip.hbm.capacity=256 GiB"};
        weft.start(tune);
        weft.until([&] { return files_in(weft / "out/points") >= 4; });
        std::map<std::string, fs::file_time_type> kept;
        for (const fs::path& file : files_of(weft / "out/points"))
            kept[file.filename().string()] = fs::last_write_time(file);
        weft.signal(signal);
        const int code = weft.finish();
        INFO(weft.err());
        CHECK(code == (signal == SIGINT ? 130 : 1000 + SIGKILL));
        CHECK_FALSE(weft.exists("out/tuning.yaml"));
        CHECK(weft.names_with(".part").empty());
        if (signal == SIGINT) {
            CHECK(has(weft.err(), "4 of 6 points are kept in out/points; the same command goes on from there."));
            CHECK(has(weft.out(), "not run"));
        }
        // The same but for the long size: the others are the same points.
        std::vector<std::string> rest = tune;
        rest[3] = "1KiB,4KiB,16KiB";
        CHECK(weft.run(rest) == 0);
        const json tuned = weft.results("out/tuning.json");
        CHECK(tuned.at("kept") == 4);
        CHECK(tuned.at("points") == 6);
        for (const auto& [name, time] : kept)
            CHECK(fs::last_write_time(weft / ("out/points/" + name)) == time);
    }
}

TEST_CASE("tune: auto follows the table where it has the case and says so")
{
    const program_folder folder;
    folder.write("a.yaml", k_board);
    REQUIRE(folder.weft("tune a.yaml --sizes 1KiB..256KiB --out out") == 0);
    const json rows = json::parse(folder.read("out/tuning.json")).at("tables").at(0).at("rows");
    for (const json& row : rows) {
        const json r = result_of_run(folder, "a.yaml",
                                     "--set tuning=out/tuning.yaml " +
                                         entry("all_reduce", "auto", row.at("size_bytes").dump() + " B"));
        CHECK(r.at("algorithm") == row.at("fastest"));
        CHECK(r.at("time_us") == row.at("time_us").at(row.at("fastest").get<std::string>()));
        CHECK(r.at("chosen_by") == "tuning out/tuning.yaml");
        CHECK(folder.read("stderr").empty());
    }
    // A table that names a slower one is followed, too.
    folder.write(
        "slow.yaml",
        table_of(
            folder,
            "  - {op: all_reduce, type: int32, redop: sum, ranges: [{from: 4 B, to: 16 KiB, algorithm: ring_1d}]}\n"));
    const std::string with = "--set tuning=slow.yaml ";
    const json slow = result_of_run(folder, "a.yaml", with + entry("all_reduce", "auto", "16 KiB"));
    CHECK(slow.at("algorithm") == "ring_1d");
    CHECK(slow.at("time_us").get<double>() >
          1.2 * rows.at(2).at("time_us").at(rows.at(2).at("fastest").get<std::string>()).get<double>());
    CHECK(slow.contains("predicted_us"));
    CHECK(folder.weft("run a.yaml --out run --set data=off " + with + entry("all_reduce", "auto", "16 KiB")) == 0);
    CHECK_THAT(folder.read("stdout"),
               Contains("Chosen by auto   all_reduce of 16384 B by ring_1d: by tuning slow.yaml, "));
    CHECK(folder.weft("check a.yaml " + with + entry("all_reduce", "auto", "16 KiB")) == 0);
    CHECK_THAT(folder.read("stdout"),
               Contains("int32 of 16 KiB: ring_1d, by tuning slow.yaml, ") && Contains(" us predicted; next "));
    // Outside of it, by one byte, by type, by reduction, by operation, by chunk and in groups, the prediction decides.
    for (const std::string& other :
         {entry("all_reduce", "auto", "16388 B"), entry("all_reduce", "auto", "16 KiB", ", types: [float32]"),
          entry("all_reduce", "auto", "16 KiB", ", redops: [max]"), entry("all_gather", "auto", "16 KiB"),
          entry("all_reduce", "auto", "16 KiB", ", chunk: 64 KiB"),
          entry("all_reduce", "auto", "16 KiB", ", groups: [blocks of 2]")}) {
        INFO(other);
        const json r = result_of_run(folder, "a.yaml", with + other);
        CHECK(r.at("algorithm") != "ring_1d");
        CHECK(r.at("chosen_by") == "prediction");
    }
    CHECK(folder.weft("check a.yaml " + with + entry("all_reduce", "auto", "32 KiB")) == 0);
    CHECK_THAT(folder.read("stdout"), Contains("us predicted, as slow.yaml does not have this case; next "));
    // The key in the file, from the folder of the file; training steps.
    folder.write(
        "sub/b.yaml",
        k_board +
            "tuning: slow.yaml\ntraining_step: {compute: 1 us, algorithm: auto, groups: [{bytes: 16 KiB, type: int32}]}\n");
    folder.write("sub/slow.yaml", folder.read("slow.yaml"));
    REQUIRE(folder.weft("run sub/b.yaml --quiet --out run") == 0);
    const json by_table =
        json::parse(folder.read("run/results.json")).at("training_step").at("steps").at(0).at("time_us");
    REQUIRE(folder.weft("run sub/b.yaml --quiet --out run --set training_step.algorithm=ring_1d") == 0);
    CHECK(json::parse(folder.read("run/results.json")).at("training_step").at("steps").at(0).at("time_us") == by_table);
    CHECK_THAT(folder.read("stderr"),
               Contains("warning: tuning: is set, but nothing uses it: it applies only with algorithms: [auto]."));
    REQUIRE(folder.weft("check sub/b.yaml --resolved") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("\ntuning: sub/slow.yaml"));
}

TEST_CASE("tune: a table lets auto take what has no prediction")
{
    const program_folder folder;
    folder.write("a.yaml", k_rack);
    CHECK(folder.weft("check a.yaml " + entry("all_reduce", "auto", "64 KiB")) == 0);
    REQUIRE(folder.weft("tune a.yaml --sizes 16KiB,64KiB --out out") == 0);
    const json rows = json::parse(folder.read("out/tuning.json")).at("tables").at(0).at("rows");
    CHECK(rows.at(1).at("fastest").get<std::string>().rfind("switchml", 0) == 0); // it sends half of the bytes
    CHECK(rows.at(1).at("time_us").contains("halving_doubling"));
    REQUIRE(folder.weft("run a.yaml --quiet --out run --set tuning=out/tuning.yaml " +
                        entry("all_reduce", "auto", "64 KiB")) == 0);
    const json r = json::parse(folder.read("run/results.json"));
    CHECK(r.at("results").at(0).at("algorithm") == rows.at(1).at("fastest"));
    CHECK(r.at("results").at(0).at("time_us") ==
          rows.at(1).at("time_us").at(rows.at(1).at("fastest").get<std::string>()));
    CHECK(r.at("results").at(0).at("wrong") == 0);
    CHECK(folder.read("stderr").empty()); // keys of the job are used by what the table takes
}

TEST_CASE("tune: a table of another machine is followed with a warning that names what differs")
{
    const program_folder folder;
    folder.write("a.yaml", k_mesh);
    REQUIRE(folder.weft("tune a.yaml --sizes 64KiB --algorithms row_pair --out out") == 0);
    const std::string with = "--set tuning=out/tuning.yaml " + entry("all_reduce", "auto", "64 KiB");
    CHECK(folder.weft("check a.yaml --set name=b --set data=off --set 'burst=1 packet' " + with) == 0);
    CHECK(folder.read("stderr").empty());
    CHECK(folder.weft("check a.yaml --set seed=5 " + with) == 0);
    CHECK(folder.read("stderr").empty());
    CHECK(folder.weft("check a.yaml --set data=off --set seed=5 " + with) == 0);
    const std::string of_seed = folder.read("stderr"); // a warning that nothing draws from it, and no more
    CHECK_THAT(of_seed, Contains("seed") && !Contains("tuning"));
    CHECK(std::count(of_seed.begin(), of_seed.end(), '\n') == 1);
    CHECK(folder.weft("check a.yaml --set 'ici.link_rate=50 GB/s' --set chip.core.cpi=2 " + with) == 0);
    CHECK_THAT(folder.read("stderr"),
               Contains("warning: tuning: is a table for another machine: ici.link_rate is 50 GB/s here and was ") &&
                   Contains("chip.core.cpi is 2 here and was "));
    CHECK_THAT(folder.read("stdout"), Contains("row_pair, by tuning out/tuning.yaml"));
    // Three rows have no pairs.
    CHECK(folder.weft("check a.yaml --set mesh.rows=3 " + with) == 2);
    CHECK_THAT(
        folder.read("stderr"),
        Contains(
            "workload.0.algorithms.0: takes row_pair by tuning out/tuning.yaml, a table that does not fit this machine; "
            "make it anew with `weft tune`. all_reduce by row_pair cannot run on a 3x4 mesh"));
    // The table of a machine is no part of it, and tune may replace the table that its file names.
    folder.write("b.yaml",
                 k_mesh +
                     "tuning: out/tuning.yaml\nworkload: [{op: all_reduce, algorithms: [auto], sizes: [4 KiB]}]\n");
    CHECK(folder.weft("tune b.yaml --sizes 64KiB --algorithms row_pair,two_d --out out") == 0);
    CHECK(folder.weft("check b.yaml") == 0);
    CHECK(folder.read("stderr").empty());
}

TEST_CASE("tune: wrong tables are refused with their lines and all problems at once")
{
    const program_folder folder;
    folder.write("a.yaml",
                 k_board + "tuning: t.yaml\nworkload: [{op: all_reduce, algorithms: [auto], sizes: [64 KiB]}]\n");
    const auto refused = [&](const std::string& table) {
        folder.write("t.yaml", table);
        return refusal_of(folder, "a.yaml");
    };
    const std::string head = "format: 1\nmachine: {digest: \"0\"}\n";
    const std::string all = refused(head + "tables:\n"
                                           "  - op: all_reduce\n"
                                           "    typ: int32\n"
                                           "    ranges:\n"
                                           "      - {from: 4 B, to: 64 KiB, algorithm: rng_1d}\n"
                                           "      - {from: 64 KiB, to: 4 KiB, algorithm: two_phase}\n"
                                           "      - {from: 1, to: 1 MiB, algorithm: auto}\n"
                                           "  - {op: all_reduce, ranges: [{from: 4 B, to: 8 B, algorithm: direct}]}\n");
    CHECK_THAT(all, Contains("t.yaml:5:5: error: tables.0.typ: unknown key; did you mean 'type'?"));
    CHECK_THAT(all,
               Contains("t.yaml:7:44: error: tables.0.ranges.0.algorithm: ") && Contains("did you mean 'ring_1d'?"));
    CHECK_THAT(all, Contains("t.yaml:8:28: error: tables.0.ranges.1.to: is 4 KiB, below from (64 KiB)."));
    CHECK_THAT(
        all,
        Contains(
            "tables.0.ranges.1.from: is 64 KiB, but the range before it goes to 64 KiB; ranges go from small to large"));
    CHECK_THAT(
        all,
        Contains(
            "tables.0.ranges.1.algorithm: is two_phase, which does not run all_reduce; write one of: ring_1d, two_d"));
    CHECK_THAT(all, Contains("t.yaml:9:16: error: tables.0.ranges.2.from: ") && Contains("a size in B, KiB"));
    CHECK_THAT(all, Contains("tables.0.ranges.2.algorithm: is missing or auto"));
    CHECK_THAT(all, Contains("tables.1: has the same cases as tables.0"));
    CHECK_THAT(refused("tables: []\n"), Contains("format: is missing, so this is no table of `weft tune`") &&
                                            Contains("tables: is missing or empty"));
    CHECK_THAT(refused("format: 2\n" + head.substr(10) + "tables: [{ranges: []}]\n"),
               Contains("t.yaml:1:9: error: format: is 2, and this weft reads format 1") &&
                   Contains("tables.0.ranges: is missing or empty"));
    CHECK_THAT(refused("format: [\n"), Contains("t.yaml:"));
    CHECK_THAT(refused(""), Contains("t.yaml"));
    CHECK(folder.weft("check a.yaml --set tuning=nowhere.yaml") == 2);
    CHECK_THAT(
        folder.read("stderr"),
        Contains("error: tuning: names 'nowhere.yaml', which cannot be read: No such file or directory. It is looked for in the folder of the file"));
    CHECK(folder.weft("check a.yaml --set tuning=.") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("error: tuning: names '.', which is no file."));
}

TEST_CASE("tune: points that are refused or fail are told and do not stop the others")
{
    const program_folder folder;
    // 4 MiB do not fit twice.
    folder.write("a.yaml", k_mesh + "chip: {hbm: {capacity: 4 MiB}}\n");
    CHECK(folder.weft("tune a.yaml --op all_to_all --sizes 64KiB,4MiB --out out") == 1);
    const json refused = json::parse(folder.read("out/tuning.json"));
    CHECK_THAT(refused.at("tables").at(0).at("rows").at(1).at("missing").at("direct").get<std::string>(),
               Contains("refused: ") && Contains("HBM per chip"));
    CHECK(refused.at("tables").at(0).at("rows").at(0).at("time_us").size() == 3);
    CHECK(refused.at("tables").at(0).at("rows").at(1).at("missing").size() == 3);
    CHECK(refused.at("finished") == 3);
    CHECK_THAT(folder.read("stdout"), Contains("Refused          direct of 4194304 B: "));
    CHECK_THAT(folder.read("out/tuning.yaml"), Contains("{from: 64 KiB, to: 64 KiB, algorithm: "));
    folder.write("b.yaml", k_mesh + "time_limit: 20 us\n");
    CHECK(folder.weft("tune b.yaml --algorithms ring_1d,two_d --sizes 4KiB,1MiB --out out") == 1);
    const json failed = json::parse(folder.read("out/tuning.json")).at("tables").at(0).at("rows").at(1);
    CHECK_THAT(failed.at("missing").at("ring_1d").get<std::string>(), Contains("failed: "));
    CHECK(failed.at("fastest").is_null());
    CHECK(
        folder.weft(
            "tune a.yaml --sizes 16GiB --set 'chip.hbm.capacity=64 GiB' --set 'burst=1 packet' --algorithms ring_1d --point-timeout 1 --out late") ==
        1);
    CHECK_THAT(folder.read("stderr"),
               Contains("all_reduce by ring_1d, 16 GiB: failed: did not end in 1 s of host time"));
    CHECK_FALSE(folder.exists("late/tuning.yaml"));
}

TEST_CASE("tune: one algorithm and one size and groups and prime sizes")
{
    const program_folder folder;
    folder.write("a.yaml",
                 k_mesh +
                     "workload: [{op: all_reduce, types: [float16], redops: [max], sizes: [4 KiB], groups: [rows]}, "
                     "{op: all_reduce, types: [float16], redops: [max], sizes: [8 KiB], groups: [rows]}]\n");
    REQUIRE(folder.weft("tune a.yaml --sizes 7919B --algorithms ring_1d --set 'workload=[]' --out one") == 0);
    const std::string one = folder.read("one/tuning.yaml");
    CHECK_THAT(one, Contains("ranges:\n      - {from: 7916 B, to: 7916 B, algorithm: ring_1d}\n"));
    CHECK_THAT(folder.read("stdout"), Contains("ring_1d at 7.73 KiB"));
    REQUIRE(folder.weft("tune a.yaml --sizes 7919B,7918B,104729B --out out") == 0);
    const json tables = json::parse(folder.read("out/tuning.json")).at("tables");
    REQUIRE(tables.size() == 1); // both entries differ in their sizes alone
    CHECK(tables.at(0).at("how") == "groups rows");
    CHECK(tables.at(0).at("type") == "float16");
    REQUIRE(tables.at(0).at("rows").size() == 2);
    CHECK(tables.at(0).at("rows").at(1).at("size_bytes") == 104728);
    CHECK_THAT(folder.read("out/tuning.yaml"), Contains("    groups:\n      - \"rows\"\n"));
    const std::string in_rows = ", types: [float16], redops: [max], groups: [rows]";
    const json r = result_of_run(folder, "a.yaml",
                                 "--set tuning=out/tuning.yaml " + entry("all_reduce", "auto", "104729 B", in_rows));
    CHECK(r.at("algorithm") == tables.at(0).at("rows").at(1).at("fastest"));
    CHECK(r.at("time_us") == tables.at(0).at("rows").at(1).at("time_us").at(r.at("algorithm").get<std::string>()));
    CHECK(r.at("chosen_by") == "tuning out/tuning.yaml");
}

TEST_CASE("tune: where frames are lost by chance one draw is warned of and means of several are compared")
{
    const program_folder folder;
    folder.write("a.yaml", k_rack + "workload: [{op: all_reduce, sizes: [64 KiB]}]\n");
    const std::string lossy = "tune a.yaml --quiet --sizes 64KiB --algorithms switchml --out out --set network.cable.impairments.loss=0.01 ";
    REQUIRE(folder.weft("tune a.yaml --quiet --sizes 64KiB --algorithms switchml --out out") == 0);
    CHECK_FALSE(has(folder.read("stderr"), "chance"));
    REQUIRE(folder.weft("tune a.yaml --quiet --sizes 64KiB --algorithms switchml --out out --set data=checked") == 0);
    CHECK_FALSE(has(folder.read("stderr"), "chance")); // a seed makes the data, but no time
    REQUIRE(folder.weft(lossy) == 0);
    CHECK_THAT(folder.read("stderr"), Contains("times depend on chance here"));
    const json once = json::parse(folder.read("out/tuning.json")).at("tables").at(0);
    REQUIRE(folder.weft(lossy + "-n 5") == 0);
    CHECK_FALSE(has(folder.read("stderr"), "chance"));
    const json mean = json::parse(folder.read("out/tuning.json")).at("tables").at(0);
    CHECK(mean.at("how") == "means of 5");
    CHECK(mean.at("rows").at(0).at("time_us") != once.at("rows").at(0).at("time_us"));
    CHECK_THAT(folder.read("out/tuning.yaml"), Contains("-n 5"));
    const json run = result_of_run(folder, "a.yaml", "-n 5 --set network.cable.impairments.loss=0.01 " + entry("all_reduce", "switchml", "64 KiB", ", repeats: 5"));
    CHECK(run.at("time_us") == mean.at("rows").at(0).at("time_us").at("switchml"));
}

TEST_CASE("tune: input that cannot be used is refused and nothing is written")
{
    const program_folder folder;
    folder.write("a.yaml", k_mesh + "workload: [{op: all_reduce, sizes: [4 KiB]}]\n");
    const auto refused = [&](const std::string& options) {
        INFO(options);
        CHECK(folder.weft("tune " + options) == 2);
        CHECK_FALSE(folder.exists("out"));
        return folder.read("stderr");
    };
    CHECK_THAT(refused("a.yaml --op all_reduec"),
               Contains("--op: 'all_reduec' cannot be measured; did you mean 'all_reduce'?"));
    CHECK_THAT(refused("a.yaml --algorithms auto"), Contains("--algorithms: 'auto' cannot be measured"));
    CHECK_THAT(refused("a.yaml --algorithms two_phase"), Contains("two_phase"));
    CHECK_THAT(refused("a.yaml --op all_reduce,all_to_all --algorithms direct,mesh_tree"), Contains("mesh_tree"));
    CHECK_THAT(refused("a.yaml --sizes 4"), Contains("--sizes: '4' is no size; write a size in B"));
    CHECK_THAT(refused("a.yaml --sizes 1MiB..4KiB"), Contains("ends below its beginning"));
    CHECK_THAT(refused("a.yaml --sizes 2B"), Contains("--sizes: 2 B is less than one int32 (4 B)"));
    CHECK_THAT(refused("a.yaml --set mesh.rows=0"), Contains("mesh.rows: is 0"));
    CHECK_THAT(refused("a.yaml --set mesh.row=4"), Contains("did you mean 'rows'?"));
    CHECK_THAT(refused("a.yaml --set 'workload.0.types=[int33]'"), Contains("int32"));
    CHECK_THAT(refused("a.yaml --set workload.7.op=broadcast"), Contains("workload.7.op: 'workload' has no entry 7"));
    CHECK_THAT(refused("nowhere.yaml"), Contains("nowhere.yaml"));
    CHECK_THAT(refused(""), Contains("a platform file is missing"));
    CHECK_THAT(refused("a.yaml --jobs 0"), Contains("is no number of points"));
    CHECK_THAT(refused("a.yaml --json a.yaml"), Contains("is the platform file, which this command reads"));
    CHECK(folder.weft("tune - --sizes 4KiB --algorithms two_d --out out < a.yaml") == 0); // standard input is read once
    CHECK_THAT(folder.read("out/tuning.yaml"), Contains("weft tune '<stdin>' --sizes 4KiB --algorithms two_d`"));
    CHECK(folder.weft("tune a.yaml --sizes 4KiB --algorithms two_d --out out --set 'mesh={rows: 2,\n cols: 2}'") == 0);
    CHECK(folder.weft("check a.yaml --set mesh.cols=2 --set tuning=out/tuning.yaml " + entry("all_reduce", "auto", "4 KiB")) == 0);
    CHECK(folder.read("stderr").empty());
}
