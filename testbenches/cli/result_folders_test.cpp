// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Folders of results: full disks, two programs at once, files that were changed by hand, and what was there before.
#include "testbenches/issues/program_shell.h"

#include <nlohmann/json.hpp>

using namespace weft::testing;
using nlohmann::json;

namespace {

/// A disk of so many bytes in the folder "disk"; only root may have one.
class small_disk {
public:
    small_disk(const program_shell& sh, const std::string& size) : sh_(sh)
    {
        there_ = sh.run("mkdir disk && mount -t tmpfs -o size=" + size + " weft_test disk").exit_code == 0;
        if (!there_)
            WARN("this host lets nobody mount a disk: not tested");
    }
    ~small_disk()
    {
        if (there_)
            sh_.run("umount -l disk");
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;
    bool there() const { return there_; }

private:
    const program_shell& sh_;
    bool there_ = false;
};

} // namespace

TEST_CASE("a trace and a log that fill the disk do not cost the results")
{
    const program_shell sh;
    const small_disk disk(sh, "200k");
    if (!disk.there())
        return;
    const std::string run = "$weft run small.yaml --out disk/out --set 'workload.0.sizes=[64 KiB]' ";
    for (const auto& [option, what] : {std::pair<std::string, std::string>{"--trace disk/t.json", "The trace"}, {"--log disk/log.txt", "The log"}}) {
        const shell_result r = sh.run("rm -rf disk/*; " + run + option);
        INFO(option << "\n" << r.err << r.out);
        CHECK(r.exit_code == 1);
        CHECK(has(r.err, "cannot be written: No space left on device."));
        CHECK(has(r.err, " " + what + " is missing.\n"));
        CHECK(has(r.out, "results: disk/out/results.json"));
        CHECK_FALSE(has(r.out, "trace:  "));
        REQUIRE(sh.exists("disk/out/results.json"));
        CHECK(json::parse(sh.read("disk/out/results.json")).at("results").size() == 1);
        CHECK(sh.run("ls disk | grep -v '^out$'").out.empty());
    }
    const shell_result captured = sh.run("rm -rf disk/*; " + run + "--pcap disk/cap");
    INFO(captured.err);
    CHECK(captured.exit_code == 1);
    CHECK(has(captured.err, "A capture is missing."));
    CHECK(sh.exists("disk/out/results.json"));
    // What an earlier run has left there is not taken for this one's.
    const shell_result stale = sh.run("rm -rf disk/*; echo earlier > disk/t.json; " + run + "--trace disk/t.json");
    INFO(stale.err);
    CHECK(has(stale.err, "disk/t.json is still that of an earlier run."));
    CHECK_FALSE(has(stale.out, "replaced: "));
    CHECK(sh.read("disk/t.json") == "earlier\n");
    // A trace that just fits beside nothing else gives its room to the results.
    REQUIRE(sh.run("$weft run small.yaml --out whole --quiet --trace t.json --trace-limit 900").exit_code == 0);
    const shell_result sized = sh.run("rm -rf disk/*; head -c $((204800 - $(wc -c < t.json) - 8192)) /dev/zero > disk/filler; "
                                      "$weft run small.yaml --out disk/out --trace disk/t.json --trace-limit 900");
    INFO(sized.err);
    CHECK(sized.exit_code == 1);
    CHECK(has(sized.err, "The trace is missing."));
    CHECK(sh.exists("disk/out/results.json"));
    CHECK_FALSE(sh.exists("disk/t.json"));
}

TEST_CASE("outputs on a full device are told as missing and the results stand")
{
    const program_shell sh;
    for (const auto& [option, what] : {std::pair<std::string, std::string>{"--trace", "The trace"}, {"--log", "The log"}}) {
        const shell_result r = sh.run("rm -rf out; $weft run small.yaml " + option + " /dev/full");
        INFO(r.err);
        CHECK(r.exit_code == 1);
        CHECK(has(r.err, what + " is missing.\n"));
        CHECK(has(r.out, "results: out/small/results.json"));
        CHECK(sh.exists("out/small/results.json"));
    }
}

TEST_CASE("a disk that is full from the begin is exit code 1 and no bad input")
{
    const program_shell sh;
    const small_disk disk(sh, "64k");
    if (!disk.there())
        return;
    sh.write("s.yaml", "sweep: {platform: small.yaml, out: disk/sweep}\ngrid: {mesh.cols: [2, 3]}\n");
    sh.run("mkdir disk/out disk/sweep; head -c 100000 /dev/zero > disk/filler");
    for (const std::string command : {"run small.yaml --out disk/out", "run small.yaml --trace disk/t.json --out out",
                                      "sweep s.yaml", "run small.yaml --json disk/j.json --out out"}) {
        const shell_result r = sh.run("$weft " + command + " --quiet");
        INFO(command << "\n" << r.err);
        CHECK(r.exit_code == 1);
        CHECK(has(r.err, "No space left on device"));
    }
}

TEST_CASE("a second run into a folder in which one works is refused")
{
    const program_shell sh;
    sh.write("long.yaml", "platform: tpu_v3\nname: long\ndata: off\nburst: 1 packet\nmesh: {rows: 2, cols: 4}\n"
                          "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB, 4 GiB]}]\n");
    const shell_result r = sh.run("$weft run long.yaml --out out --quiet 2> first.err & pid=$!\n"
                                  "for i in $(seq 200); do test -d out && break; sleep 0.05; done; sleep 0.5\n"
                                  "$weft run small.yaml --out out; echo code $?\n"
                                  "kill -TERM $pid; wait $pid; echo first $?");
    INFO(r.err << sh.read("first.err"));
    CHECK(has(r.out, "code 2\n"));
    CHECK(has(r.err, "out: another `weft` works in this folder"));
    CHECK(has(r.out, "first 143\n"));
    // The first one's results, whole.
    CHECK(json::parse(sh.read("out/results.json")).at("config").at("name") == "long");
    // A run that was killed leaves no lock.
    sh.run("$weft run long.yaml --out out --quiet & pid=$!; sleep 1; kill -KILL $pid; wait $pid");
    const shell_result after = sh.run("$weft run small.yaml --out out --quiet");
    INFO(after.err);
    CHECK(after.exit_code == 0);
    CHECK(json::parse(sh.read("out/results.json")).at("config").at("name") == "small");
}

TEST_CASE("a report of files that were changed or are of two runs is refused")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --report --quiet --out a").exit_code == 0);
    REQUIRE(sh.run("$weft run small.yaml --report --quiet --out b --set data=off --set 'time_limit=7 s'").exit_code == 0);
    REQUIRE(sh.run("$weft run small.yaml --report --quiet --out c --set data=off --set 'time_limit=8 s'").exit_code == 0);
    REQUIRE(sh.run("$weft report a").exit_code == 0);
    const std::string results = sh.read("a/results.json"), activity = sh.read("a/activity.json");
    sh.run("rm a/report.html b/report.html");
    const auto refused = [&](const std::string& dir, const std::string& why) {
        const shell_result r = sh.run("$weft report " + dir);
        INFO(r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, why));
        CHECK_FALSE(sh.exists(dir + "/report.html"));
    };
    json changed = json::parse(results);
    changed["results"][0]["time_us"] = 1.0;
    sh.write("a/results.json", changed.dump());
    refused("a", "a/results.json: is not what the run has written: it was changed since");
    sh.write("a/results.json", results);
    changed = json::parse(activity);
    changed["cases"][0]["time_us"] = 1.0;
    sh.write("a/activity.json", changed.dump());
    refused("a", "a/activity.json: is not what the run has written");
    // Another layout, and other seconds of the host, are the same results.
    sh.write("a/activity.json", activity);
    changed = json::parse(results);
    changed["host_seconds"] = 1e6;
    sh.write("a/results.json", changed.dump());
    CHECK(sh.run("$weft report a").exit_code == 0);
    // Equal digests, other configurations.
    REQUIRE(json::parse(sh.read("b/results.json")).at("digest") == json::parse(sh.read("c/results.json")).at("digest"));
    sh.run("cp c/activity.json b/activity.json");
    refused("b", "b/activity.json: belongs to another run than results.json");
}

TEST_CASE("a report takes a file of the folder for the folder")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --report --quiet --out a").exit_code == 0);
    sh.run("rm a/report.html");
    const shell_result r = sh.run("$weft report a/results.json");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(has(r.out, "report:  a/report.html"));
    CHECK(sh.exists("a/report.html"));
    CHECK(sh.run("cd a && $weft report results.json").exit_code == 0);
    const shell_result other = sh.run("$weft report small.yaml");
    CHECK(other.exit_code == 2);
    CHECK(has(other.err, "small.yaml: is a file; give the folder of a `weft run --report`."));
}

TEST_CASE("a sweep runs points again whose files were changed and says so")
{
    const program_shell sh;
    sh.write("s.yaml", "sweep: {platform: small.yaml, out: out}\ngrid: {mesh.cols: [2, 3]}\n");
    REQUIRE(sh.run("$weft sweep s.yaml --quiet").exit_code == 0);
    const std::string csv = sh.read("out/sweep.csv");
    const std::string point = sh.run("ls -d out/points/3_*").out.substr(0, 21);
    INFO(point);
    const std::string results = sh.read(point + "/results.json");
    json changed = json::parse(results);
    changed["results"][0]["time_us"] = 1.0;
    sh.write(point + "/results.json", changed.dump());
    shell_result r = sh.run("$weft sweep s.yaml");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(has(r.err, "2 points, 1 done by earlier calls; 1 to run"));
    CHECK(has(r.err, "warning: " + point + ": results.json was changed after the run had written it; the point runs again."));
    CHECK(json::parse(sh.read(point + "/results.json")).at("results") == json::parse(results).at("results"));
    json noted = json::parse(sh.read(point + "/point.json"));
    noted["name"] = "mesh.cols=4";
    sh.write(point + "/point.json", noted.dump());
    r = sh.run("$weft sweep s.yaml");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(has(r.err, "point.json was changed after the sweep had written it; the point runs again."));
    CHECK(json::parse(sh.read(point + "/point.json")).at("name") == "mesh.cols=3");
    // A folder in its place is the user's, not a bug.
    sh.run("rm " + point + "/point.json; mkdir " + point + "/point.json");
    r = sh.run("$weft sweep s.yaml");
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK(has(r.err, point + "/point.json: is no regular file"));
    CHECK_FALSE(has(r.err, "bug"));
    r = sh.run("$weft compare out out");
    CHECK_FALSE(has(r.err, "bug"));
}

TEST_CASE("files of an earlier run that are replaced are named")
{
    const program_shell sh;
    const std::string run = "$weft run small.yaml --out out --trace t.json --csv all.csv --log log.txt";
    const shell_result first = sh.run(run);
    CHECK(first.exit_code == 0);
    CHECK_FALSE(has(first.out, "replaced"));
    CHECK_FALSE(has(first.out, "kept"));
    const shell_result again = sh.run(run);
    INFO(again.out);
    CHECK(again.exit_code == 0);
    for (const char* file : {"t.json", "all.csv", "log.txt"})
        CHECK(has(again.out, "replaced: " + std::string(file) + " (there was one before)\n"));
    CHECK(has(again.out, "kept:    out/results.previous.json (of the run before)\n"));
}

TEST_CASE("every command names the files of an earlier call that it replaces")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --report --quiet --out out").exit_code == 0);
    sh.write("s.yaml", "sweep: {platform: small.yaml, out: sweep}\ngrid: {seed: [1, 2]}\n");
    const std::vector<std::pair<std::string, std::vector<std::string>>> commands{
        {"explain out --no-reruns --json e.json", {"e.json"}},
        {"compare out out --html c.html", {"c.html"}},
        {"report out --out page.html", {"page.html"}},
        {"new tpu_v3 mine.yaml --force", {"mine.yaml"}},
        {"sweep s.yaml", {"sweep/sweep.csv", "sweep/sweep.html"}},
        {"tune small.yaml --sizes 4KiB --algorithms ring_1d --out t --json t.json", {"t/tuning.yaml", "t/tuning.json", "t.json"}},
        {"firmware test collective --runs 1 --device wrong_version --out f.json", {"f.json"}}};
    for (const auto& [line, files] : commands) {
        const shell_result first = sh.run("$weft " + line);
        INFO(line << "\n" << first.out << first.err);
        CHECK(first.exit_code == 0);
        CHECK_FALSE(has(first.out, "replaced: "));
        const shell_result again = sh.run("$weft " + line);
        INFO(again.out << again.err);
        CHECK(again.exit_code == 0);
        for (const std::string& file : files)
            CHECK(has(again.out, "replaced: " + file + " (there was one before)\n"));
    }
    // Captures of many cables are one line; one that nothing crosses any more is removed, and that is told.
    const std::string capture = "$weft run small.yaml --out out --pcap cap --set mesh.cols=4";
    CHECK_FALSE(has(sh.run(capture).out, "replaced: "));
    const shell_result again = sh.run(capture);
    INFO(again.out);
    CHECK(has(again.out, " files in cap (there were such before)\n"));
    const shell_result none = sh.run(capture + " --pcap-window 1s..2s");
    INFO(none.out);
    CHECK(has(none.out, " files of an earlier run removed: nothing crossed those cables)\n"));
    CHECK_FALSE(has(none.out, "replaced: "));
}

TEST_CASE("Ctrl-C of a report writes no file and ends with the code of signals")
{
    const program_shell sh;
    sh.write("mesh.yaml", "platform: tpu_v3\nname: mesh\ndata: off\nmesh: {rows: 16, cols: 16}\n"
                          "workload: [{op: all_reduce, algorithms: [two_d], sizes: [64 KiB]}]\n");
    REQUIRE(sh.run("$weft run mesh.yaml --report --quiet --out a && rm a/report.html").exit_code == 0);
    // The charting library is read last: a FIFO holds the report there.
    const shell_result r = sh.run("mkfifo chart; WEFT_CHART_JS=chart $weft report a & pid=$!; sleep 1; kill -TERM $pid; sleep 0.2; "
                                  "echo x > chart; wait $pid; echo code $?");
    INFO(r.err);
    CHECK(has(r.out, "code 143\n"));
    CHECK(has(r.err, "a/report.html was not written."));
    CHECK_FALSE(sh.exists("a/report.html"));
}

TEST_CASE("a table or capture that finds no room is not told as if it were there")
{
    const program_shell sh;
    sh.write("s.yaml", "sweep: {platform: small.yaml, out: out}\ngrid: {seed: [1, 2]}\n");
    sh.run("mkdir -p out cap; ln -s /dev/full out/sweep.html");
    shell_result r = sh.run("$weft sweep s.yaml");
    INFO(r.out << r.err);
    CHECK(r.exit_code == 1);
    CHECK(has(r.out, "Table            out/sweep.csv\n"));
    CHECK(has(r.out, "Page             out/sweep.html: could not be written\n"));
    CHECK(has(r.err, "error: out/sweep.html cannot be written: No space left on device."));
    REQUIRE(sh.run("$weft run small.yaml --quiet --out o --pcap cap").exit_code == 0);
    sh.run("for f in cap/*; do ln -sf /dev/full $f; done");
    r = sh.run("$weft run small.yaml --quiet --out o --pcap cap");
    INFO(r.err);
    CHECK(r.exit_code == 1);
    CHECK(has(r.err, "error: cap/"));
    CHECK_FALSE(has(r.err, "error: error:"));
}

TEST_CASE("explain says of results that they were edited")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --quiet --out out").exit_code == 0);
    CHECK_FALSE(has(sh.run("$weft explain out --no-reruns").err, "warning"));
    sh.run("sed -i 's/\"time_us\": 8/\"time_us\": 9/' out/results.json");
    const shell_result r = sh.run("$weft explain out --no-reruns");
    INFO(r.err);
    CHECK(r.exit_code == 0);
    CHECK(has(r.err, "warning: out/results.json: is not what its run has written: it was changed since"));
}
