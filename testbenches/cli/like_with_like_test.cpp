// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is compared is of one kind: winners of sweeps, changes of explain, results of compare; and what a table leaves out.
#include "testbenches/issues/program_shell.h"

#include <nlohmann/json.hpp>

#include <sstream>

using namespace weft::testing;
using nlohmann::json;

TEST_CASE("changes that make other work of a case are no gains")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --quiet --out out").exit_code == 0);
    for (const auto& [change, why] : std::vector<std::pair<std::string, std::string>>{
             {"workload.0.sizes=[1 KiB]", "1 KiB in place of 4 kB"},
             {"workload.0.op=all_gather", "all_gather in place of all_reduce"},
             {"workload.0.types=[float16]", "float16 in place of int32"},
             {"mesh.cols=4", "8 ranks in place of 4 ranks"},
             {"workload.0.groups=[rows]", "in groups rows in place of 4 ranks"},
             {"workload.0.sizes=[4 kB, 8 kB]", "2 collectives in place of one"}}) {
        const shell_result r = sh.run("$weft explain out --no-reruns --quiet --changes '" + change + "'");
        INFO(change << "\n" << r.err << r.out);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, "makes other work of the case: "));
        CHECK(has(r.err, why));
        CHECK(r.out.empty());
    }
    const shell_result fine = sh.run("$weft explain out --no-reruns --quiet --changes 'ici.link_rate=164 GB/s,ici.clock=1880 MHz'");
    INFO(fine.err);
    CHECK(fine.exit_code == 0);
    CHECK(sh.run("$weft explain out --no-reruns --quiet --changes 'workload.0.algorithms=[two_d]'").exit_code == 0);
    CHECK(fine.err.empty());
    const shell_result unused = sh.run("$weft explain out --no-reruns --quiet --changes 'workload.0.start_skew=1 us'");
    CHECK(has(unused.err, "warning: --changes: workload.0.start_skew=1 us: workload.0.start_skew: is set, but nothing uses it"));
}

TEST_CASE("the CSV of a run has what limited it and the spread of repeats")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --out out --quiet --csv all.csv -n 4").exit_code == 0);
    const json row = json::parse(sh.read("out/results.json")).at("results").at(0);
    std::istringstream lines(sh.read("all.csv"));
    std::string heading, line;
    std::getline(lines, heading);
    std::getline(lines, line);
    const auto cell = [&](const std::string& name) {
        std::istringstream names(heading), values(line);
        for (std::string n, v; std::getline(names, n, ',') && std::getline(values, v, ',');)
            if (n == name)
                return v;
        return std::string("no such column");
    };
    CHECK(cell("limited by") == row.at("limited_by").get<std::string>());
    CHECK(cell("repeats") == "4");
    CHECK(cell("min (us)") == row.at("repeats").at("min_us").dump());
    CHECK(cell("max (us)") == row.at("repeats").at("max_us").dump());
    CHECK(cell("deviation (us)") == row.at("repeats").at("standard_deviation_us").dump());
    CHECK(std::stod(cell("min (us)")) < std::stod(cell("max (us)")));
    // A sweep has the same columns; a case that is run once has no spread.
    sh.write("s.yaml", "sweep: {platform: small.yaml, out: sweep}\ngrid: {mesh.cols: [2, 3]}\n");
    REQUIRE(sh.run("$weft sweep s.yaml --quiet").exit_code == 0);
    const std::string csv = sh.read("sweep/sweep.csv");
    CHECK(has(csv, ",wrong,limited by,repeats,min (us),max (us),deviation (us),token (B),experts per token,expert skew,chosen by,digest,"));
    CHECK(has(csv, ",,,,"));
}

TEST_CASE("no line of a sweep is the fastest where lines are of different sizes")
{
    const program_shell sh;
    sh.write("s.yaml", "sweep: {platform: small.yaml, out: out, set: {'workload.0.sizes': [4 KiB, 64 KiB]}}\n"
                       "grid: {ici.router_latency: [4 cycles, 47 cycles]}\nplot: {x: ici.router_latency, lines: [size]}\n");
    const shell_result r = sh.run("$weft sweep s.yaml");
    INFO(r.out);
    CHECK(r.exit_code == 0);
    CHECK(has(r.out, "none: its lines are of different operations or sizes"));
    CHECK_FALSE(has(r.out, "size 4 KiB everywhere"));
    CHECK(has(sh.read("out/sweep.html"), "none: its lines are of different operations or sizes"));
    // By size, algorithms are compared as before.
    sh.write("t.yaml", "sweep: {platform: small.yaml, out: like, set: {'workload.0.sizes': [4 KiB, 64 KiB], 'workload.0.algorithms': [ring_1d, two_d]}}\n"
                       "grid: {ici.router_latency: [4 cycles, 47 cycles]}\nplot: {x: ici.router_latency, lines: [algorithm]}\n");
    const shell_result like = sh.run("$weft sweep t.yaml");
    INFO(like.out);
    CHECK(has(like.out, "everywhere"));
    CHECK_FALSE(has(like.out, "none:"));
}

TEST_CASE("compare says which results are no whole answer")
{
    const program_shell sh;
    sh.write("fails.yaml", "platform: tpu_v3\nname: fails\ndata: off\nmesh: {rows: 2, cols: 2}\ntime_limit: 300 us\n"
                           "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB, 64 MiB]}]\n");
    REQUIRE(sh.run("$weft run fails.yaml --quiet --out a").exit_code == 1);
    REQUIRE(sh.run("$weft run fails.yaml --quiet --out b").exit_code == 1);
    shell_result r = sh.run("$weft compare a b --html d.html");
    INFO(r.out);
    CHECK(r.exit_code == 0); // what both have is equal
    for (const std::string which : {"A", "B"})
        CHECK(has(r.out, "# note: " + which + ": the run did not end, and has only what had ended before: all_reduce"));
    CHECK(has(sh.read("d.html"), "A: the run did not end"));
    CHECK(has(sh.run("$weft compare a b --csv").out, ",note,"));
    json changed = json::parse(sh.read("b/results.json"));
    changed["results"][0]["time_us"] = 1.0;
    sh.write("b/results.json", changed.dump());
    r = sh.run("$weft compare a b");
    INFO(r.out);
    CHECK(has(r.out, "# note: B: b/results.json is not what its run has written"));
    sh.run("mv a/results.json a/results.previous.json");
    r = sh.run("$weft compare a b");
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, "a: has no results.json: a run works there, or was killed. Those of the run before are a/results.previous.json."));
    // Points of sweeps, too, although all figures are equal.
    sh.write("s.yaml", "sweep: {platform: fails.yaml}\ngrid: {mesh.cols: [2, 3]}\n");
    sh.run("$weft sweep s.yaml --quiet --out x; $weft sweep s.yaml --quiet --out y");
    r = sh.run("$weft compare x y");
    INFO(r.out);
    CHECK(has(r.out, "## mesh.cols=2\n# note: A: the run did not end"));
    REQUIRE(sh.run("$weft run small.yaml --quiet --out whole").exit_code == 0);
    CHECK_FALSE(has(sh.run("$weft compare whole whole").out, "# note"));
}

TEST_CASE("a seed that nothing draws from is a warning")
{
    const program_shell sh;
    const std::string words = "warning: seed: is set, but nothing uses it: it applies only with data: checked, start_skew, dispatch and combine, or faults by chance.";
    const auto check = [&](const std::string& arguments) { return sh.run("$weft check " + arguments).err; };
    CHECK(has(check("small.yaml --set data=off --set seed=3"), words));
    CHECK(has(check("small.yaml --set data=off --seed 3"), words));
    CHECK_FALSE(has(check("small.yaml --seed 3"), "seed"));
    CHECK_FALSE(has(check("small.yaml --set data=off --seed 3 -n 3"), "seed"));
    CHECK(has(check("small.yaml --set data=off --seed 3 -n 3 --set 'workload.0.start_skew=0 ns'"), words));
    sh.write("rack.yaml", "platform: switchml\nname: rack\ndata: off\nseed: 3\nworkers: 4\n"
                          "workload: [{op: all_reduce, algorithms: [switchml], sizes: [4 KiB]}]\n");
    CHECK(has(check("rack.yaml"), words));
    CHECK_FALSE(has(check("rack.yaml --set network.cable.impairments.loss=0.01"), "warning: seed"));
    CHECK_FALSE(has(check("rack.yaml --set switch.ingress_drop=0.01"), "warning: seed"));
}

TEST_CASE("options that would do nothing are refused before the run")
{
    const program_shell sh;
    sh.write("rack.yaml", "platform: switchml\nname: rack\nworkers: 2\n"
                          "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [1 KiB]}]\n");
    const auto refused = [&](const std::string& arguments, const std::string& why) {
        const shell_result r = sh.run("$weft run " + arguments);
        INFO(arguments << "\n" << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, why));
        CHECK_FALSE(sh.exists("out"));
    };
    refused("rack.yaml --waves w.fst", "--waves: no algorithm of this workload uses the aggregation pipes of a switch");
    refused("small.yaml --waves w.fst", "--waves: the platform tpu_v3 has no signals to draw");
    refused("small.yaml --pcap cap --pcap-limit '0 B'", "--pcap-limit 0 B: no packet fits");
    refused("small.yaml --trace t.json --trace-window '5 us..5 us'", "--trace-window 5 us..5 us: ends where it begins");
    refused("small.yaml --pcap cap --pcap-window '0 us..0 us'", "--pcap-window 0 us..0 us: ends where it begins");
    const shell_result one = sh.run("$weft run small.yaml --trace t.json --trace-limit 1");
    CHECK(has(one.out, "trace:   t.json (1 record, "));
}

TEST_CASE("a run that stands still ends at its limit and not at a timeout")
{
    const program_shell sh;
    sh.write("stuck.yaml", "platform: tpu_v3\nname: stuck\ndata: off\nmesh: {rows: 2, cols: 2}\ntime_limit: 1 ms\n"
                           "faults: {links_down: [{row: 0, col: 0, direction: +X, announced: false}]}\n"
                           "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}]\n");
    const shell_result r = sh.run("$weft run stuck.yaml --quiet --out out");
    INFO(r.err);
    CHECK(r.exit_code == 1);
    CHECK(has(r.err, "time_limit = 1 ms of simulated time is over"));
    CHECK(json::parse(sh.read("out/results.json")).at("simulated_time_ps").get<double>() < 1.001e9);
}
