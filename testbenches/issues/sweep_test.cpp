// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft sweep` and `weft compare`, as a user starts them. Files, panels and pairs by themselves: unit/sweep_test.
#include "testbenches/issues/program.h"
#include "testbenches/issues/started_program.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace fs = std::filesystem;
using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const std::string k_mesh = "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\n"
                           "workload: [{op: all_reduce, algorithms: [ring_1d, two_d], sizes: [4 KiB, 64 KiB]}]\n";

using table = std::vector<std::map<std::string, std::string>>;

/// Fields of these tables have no commas.
table csv_of(const std::string& text)
{
    const auto split = [](const std::string& line) {
        std::vector<std::string> all{""};
        for (const char c : line)
            if (c == ',')
                all.emplace_back();
            else
                all.back() += c;
        return all;
    };
    table rows;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> heading = split(line);
    while (std::getline(lines, line)) {
        const std::vector<std::string> fields = split(line);
        rows.emplace_back();
        for (std::size_t i = 0; i < heading.size() && i < fields.size(); ++i)
            rows.back()[heading[i]] = fields[i];
    }
    return rows;
}
/// Without what differs from call to call.
table without_host(const std::string& csv)
{
    table rows = csv_of(csv);
    for (auto& row : rows)
        row.erase("host (s)");
    return rows;
}

std::map<std::string, json> points_of(const fs::path& folder)
{
    std::map<std::string, json> all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder / "points", none))
        if (fs::exists(entry.path() / "point.json"))
            all[entry.path().filename().string()] = json::parse(text_of(entry.path() / "point.json"));
    return all;
}
std::map<std::string, fs::file_time_type> results_in(const fs::path& folder)
{
    std::map<std::string, fs::file_time_type> all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder / "points", none))
        if (fs::exists(entry.path() / "results.json"))
            all[entry.path().filename().string()] = fs::last_write_time(entry.path() / "results.json");
    return all;
}

} // namespace

TEST_CASE("sweep: every point is what weft run gives and jobs do not matter")
{
    const program_folder folder;
    folder.write("p/a.yaml", k_mesh);
    folder.write("s/latency.yaml", "sweep: {platform: ../p/a.yaml, set: {data: off}}\n"
                                   "grid:\n  mesh.cols: [2, 3, 5]\n  ici.router_latency: [4 cycles, 47 cycles]\n"
                                   "plot: {x: ici.router_latency, y: busbw}\n");
    REQUIRE(folder.weft("sweep s/latency.yaml --jobs 1 --out one --set seed=7") == 0);
    const std::string out = folder.read("stdout"), err = folder.read("stderr");
    CHECK_THAT(err, Contains("s/latency.yaml: 6 points; 6 to run, the largest with ") &&
                        Contains(" at a time (estimated from bytes and packets)"));
    CHECK_THAT(err, Contains("[1/6] mesh.cols=2, ici.router_latency=4 cycles: 4 results in ") && Contains(" left"));
    CHECK_THAT(out, Contains("Points           6 of 6 are done") && Contains("fastest by ici.router_latency"));
    REQUIRE(folder.weft("sweep s/latency.yaml --jobs 2 --set seed=7 --quiet") == 0);
    CHECK(folder.read("stdout").empty());
    CHECK(without_host(folder.read("one/sweep.csv")) == without_host(folder.read("out/sweeps/latency/sweep.csv")));
    CHECK(folder.read("one/sweep.html") == folder.read("out/sweeps/latency/sweep.html"));
    const table rows = csv_of(folder.read("one/sweep.csv"));
    REQUIRE(rows.size() == 6 * 4);
    CHECK(rows[0].at("ici.router_latency (cycles)") == "4");
    CHECK(rows[23].at("mesh.cols") == "5");
    REQUIRE(
        folder.weft(
            "run p/a.yaml --quiet --set data=off --set seed=7 --set mesh.cols=5 --set 'ici.router_latency=47 cycles' --out run") ==
        0);
    const json run = json::parse(folder.read("run/results.json"));
    for (std::size_t i = 0; i < 4; ++i) {
        const json& r = run.at("results").at(i);
        CHECK(rows[20 + i].at("algorithm") == r.at("algorithm"));
        CHECK(rows[20 + i].at("time (us)") == fmt::format("{}", r.at("time_us").get<double>()));
        CHECK(rows[20 + i].at("digest") == run.at("digest"));
        CHECK(rows[20 + i].at("wrong").empty());
    }
    // A point is repeated by its command, and its configuration is there.
    const fs::path point = folder / ("one/" + rows[23].at("folder"));
    const json noted = json::parse(text_of(point / "point.json"));
    CHECK_THAT(
        noted.at("command").get<std::string>(),
        Contains(
            "weft run p/a.yaml --set data=off --set seed=7 --set mesh.cols=5 --set 'ici.router_latency=47 cycles' --out one/points/"));
    CHECK_THAT(text_of(point / "config.yaml"), Contains("cols: 5"));
    CHECK(folder.weft("compare run one/" + rows[23].at("folder") + " --tolerance 0") == 0);
    CHECK(folder.weft("compare one out/sweeps/latency --tolerance 0") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("6 points compared: 6 are equal within 0 %"));
    CHECK(folder.weft("compare one run") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("one: is the folder of a sweep, and run is not"));
}

TEST_CASE("sweep: a point that fails is told with its reason and does not stop the rest")
{
    const program_folder folder;
    folder.write("a.yaml", k_mesh);
    folder.write(
        "s.yaml",
        "sweep: {platform: a.yaml, out: out, set: {mesh.cols: 4, 'workload.0.sizes': [1 MiB], 'workload.0.algorithms': [ring_1d]}}\n"
        "grid: {time_limit: [1 s, 20 us, 2 s]}\n");
    CHECK(folder.weft("sweep s.yaml") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("time_limit=20 us: failed: "));
    CHECK_THAT(folder.read("stdout"), Contains("2 of 3 are done, 1 is failed"));
    const table rows = csv_of(folder.read("out/sweep.csv"));
    REQUIRE(rows.size() == 3);
    CHECK(rows[1].at("state") == "failed");
    CHECK(rows[1].at("time (us)").empty());
    CHECK(rows[2].at("wrong") == "0");
    CHECK_THAT(folder.read("out/sweep.html"),
               Contains("1 point failed: see the table of points") && Contains("<td class=\"bad\">failed</td>"));
    // Host time ends a point, too; the platform would take minutes.
    folder.write(
        "t.yaml",
        "sweep: {platform: a.yaml, out: late, set: {burst: 1 packet, data: off}}\n"
        "grid: {workload: [[{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}], [{op: all_reduce, algorithms: [ring_1d], sizes: [4 GiB]}]]}\n");
    CHECK(folder.weft("sweep t.yaml --timeout 8") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("failed: did not end in 8 s of host time"));
    CHECK_THAT(folder.read("stdout"), Contains("1 of 2 are done, 1 is failed"));
}

TEST_CASE("sweep: Ctrl-C keeps finished points whole and says what is missing and a second call goes on")
{
    started_program sweep;
    sweep.write("a.yaml", k_mesh);
    std::string values;
    for (int i = 0; i < 13; ++i)
        values += fmt::format("{}{} cycles", i == 0 ? "" : ", ", 4 + i);
    sweep.write("s.yaml", "sweep: {platform: a.yaml, out: out}\ngrid: {ici.router_latency: [" + values + "]}\n");
    const std::vector<std::string> command{"sweep", "s.yaml", "--jobs", "2"};
    sweep.start(command);
    sweep.until([&] { return results_in(sweep / "out").size() >= 3 || sweep.ended(); });
    sweep.signal(SIGINT);
    CHECK(sweep.finish() == 130);
    auto kept = results_in(sweep / "out");
    const auto is_stopped = [&](const std::string& name) {
        return json::parse(sweep.read("out/points/" + name + "/results.json")).at("failure") != "";
    };
    std::size_t unfinished = 0; // those that ran have saved what they had, if it was anything
    for (auto at = kept.begin(); at != kept.end();) {
        const bool stopped = is_stopped(at->first);
        unfinished += stopped ? 1 : 0;
        at = stopped ? kept.erase(at) : std::next(at);
    }
    CHECK(unfinished <= 2);
    REQUIRE(kept.size() >= 3);
    REQUIRE(kept.size() + unfinished < 13);
    CHECK_THAT(
        sweep.err(),
        Contains(fmt::format(
            "{} of 13 points are finished and kept in out/points; the same command goes on from there.", kept.size())));
    CHECK_THAT(sweep.err(), Contains("  missing 12: ici.router_latency=16 cycles\n"));
    const table half = csv_of(sweep.read("out/sweep.csv"));
    CHECK(half.back().at("state") == "missing");
    CHECK_THAT(sweep.read("out/sweep.html"), Contains(fmt::format("{} points missing", 13 - kept.size() - unfinished)));
    CHECK(sweep.run(command) == 0);
    CHECK_THAT(sweep.err(),
               Contains(fmt::format("13 points, {} done by earlier calls; {} to run", kept.size(), 13 - kept.size())) &&
                   Contains("(estimated from those)"));
    const auto all = results_in(sweep / "out");
    CHECK(all.size() == 13);
    for (const auto& [name, time] : kept)
        CHECK(all.at(name) == time); // not run again
    CHECK(sweep.names_with(".part").empty());
    CHECK(sweep.run({"sweep", "s.yaml", "--out", "other"}) == 0);
    CHECK(without_host(sweep.read("other/sweep.csv")) == without_host(sweep.read("out/sweep.csv")));
}

TEST_CASE("sweep: only what has changed runs again")
{
    const program_folder folder;
    const auto file = [&](const std::string& values) {
        folder.write("s.yaml", "sweep: {platform: a.yaml, out: out}\ngrid: {mesh.rows: [" + values + "]}\n");
    };
    const auto told = [&] {
        CHECK(folder.weft("sweep s.yaml") == 0);
        return folder.read("stderr");
    };
    folder.write("a.yaml", k_mesh);
    file("2, 3");
    CHECK_THAT(told(), Contains("2 points; 2 to run"));
    CHECK(told() == "s.yaml: 2 points, 2 done by earlier calls\n");
    file("5, 3, 2"); // the places of points do not matter
    CHECK_THAT(told(), Contains("3 points, 2 done by earlier calls; 1 to run") && Contains("[1/1] mesh.rows=5: "));
    file("3");
    CHECK(told() == "s.yaml: 1 point, 1 done by earlier calls\n");
    CHECK_THAT(folder.read("stdout"), Contains("2 folders in out/points of points that the sweep does not have now"));
    // A comment changes nothing; a value of the platform file does, and so does one of the command line.
    folder.write("a.yaml", "# again\n" + k_mesh);
    CHECK(told() == "s.yaml: 1 point, 1 done by earlier calls\n");
    folder.write("a.yaml", k_mesh + "seed: 5\n");
    CHECK_THAT(told(), Contains("1 point; 1 to run"));
    CHECK(folder.weft("sweep s.yaml --set seed=6") == 0);
    CHECK_THAT(folder.read("stderr"), Contains("1 point; 1 to run"));
    const std::string point = "out/" + csv_of(folder.read("out/sweep.csv")).front().at("folder");
    CHECK(folder.exists(point + "/results.previous.json"));
    CHECK(json::parse(folder.read(point + "/results.json")).at("config").at("seed") == 6);
    // Half a file is no result, and neither is that of another program.
    const std::string results = folder.read(point + "/results.json");
    folder.write(point + "/results.json", results.substr(0, results.size() / 2));
    CHECK(folder.weft("sweep s.yaml --set seed=6") == 0);
    CHECK_THAT(folder.read("stderr"), Contains("1 point; 1 to run"));
    json noted = json::parse(folder.read(point + "/point.json"));
    noted["identity"] = "0";
    folder.write(point + "/point.json", noted.dump());
    CHECK(folder.weft("sweep s.yaml --set seed=6") == 0);
    CHECK_THAT(folder.read("stderr"), Contains("1 point; 1 to run"));
}

TEST_CASE("sweep: a full disk keeps finished points and says what is missing")
{
    const program_folder folder;
    folder.write("a.yaml", k_mesh);
    folder.write("s.yaml", "sweep: {platform: a.yaml, out: out}\ngrid: {mesh.rows: [2, 3, 5]}\n");
    REQUIRE(folder.weft("sweep s.yaml --jobs 1") == 0);
    const std::string whole = folder.read("out/sweep.csv");
    const auto before = results_in(folder / "out");
    // The second point finds no room for its results.
    std::map<std::string, std::string> folders;
    for (const auto& [name, point] : points_of(folder / "out"))
        folders[point.at("name").get<std::string>()] = name;
    const std::string second = folders.at("mesh.rows=3"), third = folders.at("mesh.rows=5");
    fs::remove_all(folder / ("out/points/" + third));
    fs::remove(folder / ("out/points/" + second + "/results.json"));
    fs::create_symlink("/dev/full", folder / ("out/points/" + second + "/results.json"));
    CHECK(folder.weft("sweep s.yaml --jobs 1") == 1);
    const std::string err = folder.read("stderr");
    CHECK_THAT(err, Contains("The sweep stops: out/points/") && Contains("No space left on device"));
    CHECK_THAT(
        err,
        Contains(
            "1 of 3 points are finished and kept in out/points; the same command goes on from there.\n  missing 1: mesh.rows=3") &&
            Contains("  missing 2: mesh.rows=5"));
    CHECK_FALSE(folder.exists("out/points/" + third)); // nothing more is tried
    CHECK(csv_of(folder.read("out/sweep.csv"))[0].at("state") == "done");
    fs::remove(folder / ("out/points/" + second + "/results.json"));
    CHECK(folder.weft("sweep s.yaml --jobs 1") == 0);
    CHECK(without_host(folder.read("out/sweep.csv")) == without_host(whole));
    std::size_t same = 0;
    for (const auto& [name, time] : results_in(folder / "out"))
        same += before.at(name) == time ? 1 : 0;
    CHECK(same == 1);
}

TEST_CASE("sweep: words of a full disk in the name of a file are no full disk")
{
    const program_folder folder;
    // A warning in the text of a run that fails names it.
    folder.write("No space left on device/a.yaml",
                 "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\n"
                 "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}]\nchip: {core: {clock_read: 5 cycles}}\n");
    folder.write("s.yaml", "sweep: {platform: No space left on device/a.yaml, out: out}\ngrid: {time_limit: [1 us, 1 s]}\n");
    CHECK(folder.weft("sweep s.yaml --jobs 1") == 1);
    const std::string err = folder.read("stderr");
    INFO(err);
    CHECK_FALSE(has(err, "The sweep stops"));
    CHECK_THAT(folder.read("stdout"), Contains("1 of 2 are done, 1 is failed"));
}

TEST_CASE("sweep: wrong keys and values are refused with the lines of the sweep file before anything runs")
{
    const program_folder folder;
    folder.write("a.yaml", k_mesh);
    folder.write("s.yaml", "sweep: {platform: a.yaml, out: out, set: {chip.core.cpii: 2}}\n"
                           "grid:\n"
                           "  ici.router_latancy: [4 cycles, 8 cycles]\n"
                           "  ici.link_rate: [80 GB/s, 80]\n"
                           "  mesh.rows: [2, 0]\n"
                           "  workload.3.op: [all_to_all]\n");
    CHECK(folder.weft("sweep s.yaml") == 2);
    const std::string err = folder.read("stderr");
    CHECK_THAT(err, Contains("s.yaml:3:3: error: ici.router_latancy: unknown key; did you mean 'router_latency'?"));
    CHECK_THAT(err, Contains("s.yaml:4:28: error: ici.link_rate: "));
    CHECK_THAT(err, Contains("s.yaml:5:18: error: mesh.rows: is 0"));
    CHECK_THAT(err, Contains("s.yaml:6:3: error: workload.3.op: 'workload' has no entry 3"));
    CHECK_THAT(err, Contains("s.yaml:1:43: error: chip.core.cpii: unknown key; did you mean 'cpi'?"));
    CHECK_THAT(err, Contains("s.yaml: 8 of 8 points cannot run; nothing was run or written."));
    CHECK(err.find("did you mean 'router_latency'?") ==
          err.rfind("did you mean 'router_latency'?")); // once for all points
    CHECK_FALSE(folder.exists("out"));
    // Values that only together cannot be are told with the points that have them; the rest may run.
    folder.write(
        "t.yaml",
        "sweep: {platform: a.yaml, out: out, set: {'workload.0.algorithms': [row_pair]}}\ngrid:\n  mesh.rows: [2, 3]\n  mesh.cols: [2, 3]\n");
    CHECK(folder.weft("sweep t.yaml") == 2);
    CHECK_THAT(folder.read("stderr"),
               Contains("row_pair") && Contains("of 4 points") && Contains("--skip-invalid runs the other "));
    CHECK_FALSE(folder.exists("out"));
    CHECK(folder.weft("sweep t.yaml --skip-invalid") == 0);
    const table rows = csv_of(folder.read("out/sweep.csv"));
    CHECK(std::any_of(rows.begin(), rows.end(),
                      [](const auto& row) { return row.at("state") == "refused" && row.at("mesh.rows") == "3"; }));
    CHECK(std::any_of(rows.begin(), rows.end(),
                      [](const auto& row) { return row.at("state") == "done" && row.at("mesh.rows") == "2"; }));
    const auto refused = [&](const std::string& arguments) {
        INFO(arguments);
        CHECK(folder.weft("sweep " + arguments) == 2);
        CHECK_FALSE(folder.exists("new"));
        return folder.read("stderr");
    };
    CHECK_THAT(refused("t.yaml --out new --set mesh.rows=4"),
               Contains("t.yaml:3:3: error: mesh.rows: is swept here, so that --set 'mesh.rows=4' would be replaced"));
    CHECK_THAT(refused("t.yaml --out new --set mesh.rwos=4"), Contains("mesh.rwos: unknown key"));
    CHECK_THAT(refused("t.yaml --out new --memory 4"), Contains("--memory: '4' is no size"));
    CHECK_THAT(refused("t.yaml --out new --engine slurm --memory 4GiB"),
               Contains("--memory: is for points of this host"));
    CHECK_THAT(refused("t.yaml --out new --sbatch --mem=4G"), Contains("--sbatch: is for --engine slurm"));
    CHECK_THAT(refused("nowhere.yaml"), Contains("nowhere.yaml: error: there is no such file"));
    CHECK_THAT(refused(""),
               Contains("a sweep file is missing, for example weft sweep configs/sweeps/board_lane_rate.yaml"));
    CHECK_THAT(refused("t.yaml --engine clurm --out new"), Contains("clurm"));
    folder.write("u.yaml", "sweep: {platform: b.yaml}\ngrid: {mesh.rows: [2]}\n");
    CHECK_THAT(refused("u.yaml"), Contains("b.yaml: error: there is no such file"));
    folder.write("v.yaml", "sweep: {platform: a.yaml, out: new}\ngrid: {ici.router_latency: [4 cycles, 8 cycles, 4cycles]}\n");
    CHECK(folder.weft("sweep v.yaml --dry-run") == 0); // a value that is written in two ways
    CHECK_THAT(folder.read("stderr"),
               Contains("v.yaml: warning: points 0 and 2 are the same run: ici.router_latency=4 cycles and ici.router_latency=4cycles; remove one."));
    CHECK(folder.weft("sweep t.yaml --dry-run --skip-invalid --out new --set mesh.wrap=none") == 0);
    CHECK_THAT(folder.read("stdout"),
               Contains("0  mesh.rows=2, mesh.cols=2  (about ") && Contains("3  mesh.rows=3, mesh.cols=3  refused: "));
    CHECK_FALSE(folder.exists("new"));
}

TEST_CASE("sweep: two programs do not share a folder and outputs do not replace inputs")
{
    started_program sweep;
    sweep.write("a.yaml", k_mesh);
    sweep.write(
        "s.yaml",
        "sweep: {platform: a.yaml, out: out, set: {burst: 1 packet, data: off, workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [1 GiB]}]}}\n"
        "grid: {mesh.rows: [2, 3]}\n");
    sweep.start({"sweep", "s.yaml", "--jobs", "1"});
    sweep.until([&] { return !points_of(sweep / "out").empty() || sweep.ended(); });
    const int second =
        std::system(fmt::format("cd {} && {} sweep s.yaml 2> second.err", sweep.path().string(), WEFT_PROGRAM).c_str());
    CHECK(WEXITSTATUS(second) == 2);
    CHECK_THAT(sweep.read("second.err"), Contains("out: another `weft` works in this folder"));
    sweep.signal(SIGTERM);
    CHECK(sweep.finish() == 143);
    CHECK_THAT(sweep.err(), Contains("0 of 2 points are finished"));
    sweep.write("out/sweep.csv", "sweep: {platform: ../a.yaml, out: out}\ngrid: {mesh.rows: [2]}\n");
    CHECK(sweep.run({"sweep", "out/sweep.csv"}) == 2);
    CHECK_THAT(sweep.err(), Contains("out/sweep.csv is the sweep file, which this command reads"));
}

TEST_CASE("sweep: wrong bytes of checkpoints and host traffic are wrong answers also for compare")
{
    const program_folder folder;
    folder.write("a.yaml", "platform: ub_mesh\nmesh: {boards: 2, npus: 2}\nhost: {compare: false, traffic: [{rate: 1 GB/s}], checkpoint: {state: 64 KiB}}\n"
                           "workload: [{op: all_reduce, algorithms: [direct], sizes: [4 KiB]}]\n");
    folder.write("s.yaml", "sweep: {platform: a.yaml, out: out}\ngrid:\n  seed: [1, 2]\n");
    REQUIRE(folder.weft("sweep s.yaml --quiet") == 0);
    for (const char* part : {"checkpoints", "traffic"}) {
        const std::string file = "out/" + csv_of(folder.read("out/sweep.csv"))[1].at("folder") + "/results.json", before = folder.read(file);
        json wrong = json::parse(before);
        REQUIRE(wrong["host"][part][0]["wrong_bytes"] == 0);
        wrong["host"][part][0]["wrong_bytes"] = 24;
        folder.write(file, wrong.dump());
        folder.write("whole/results.json", before);
        CHECK(folder.weft("compare whole " + file) == 1);
        CHECK_THAT(folder.read("stdout"), Contains("wrong bytes of checkpoints and host traffic  0  24"));
        CHECK(folder.weft("sweep s.yaml") == 0);
        CHECK_THAT(folder.read("stderr"), Contains("2 points, 1 done by earlier calls; 1 to run")); // a wrong one runs again
        CHECK(json::parse(folder.read(file))["host"] == json::parse(before)["host"]);
    }
}

TEST_CASE("sweep: times of checkpoints are results and streams are statistics also for compare")
{
    const program_folder folder;
    folder.write("a.yaml", "platform: ub_mesh\ndata: off\nmesh: {boards: 2, npus: 2}\nhost: {compare: false, traffic: [{rate: 1 GB/s}], checkpoint: {state: 256 KiB}}\n"
                           "workload: [{op: all_reduce, algorithms: [direct], sizes: [4 KiB]}]\n");
    folder.write("s.yaml", "sweep: {platform: a.yaml, out: out}\ngrid:\n  nic.dcn_rate: [50 Gbps, 100 Gbps]\n");
    REQUIRE(folder.weft("sweep s.yaml --quiet") == 0);
    std::vector<double> saves;
    std::vector<std::string> folders;
    for (const auto& row : csv_of(folder.read("out/sweep.csv")))
        if (row.at("op") == "checkpoint") {
            CHECK(row.at("algorithm") == "save");
            saves.push_back(std::stod(row.at("time (us)")));
            folders.push_back("out/" + row.at("folder"));
        }
    REQUIRE(saves.size() == 2);
    CHECK(saves[0] > 1.5 * saves[1]);
    CHECK(folder.weft("compare " + folders[0] + " " + folders[1]) == 1);
    CHECK_THAT(folder.read("stdout"), Contains("checkpoint save 1048576 B number 0: time"));
    REQUIRE(folder.weft("run a.yaml --quiet --out slow --set 'host.traffic=[{rate: 1 MB/s}]'") == 0);
    REQUIRE(folder.weft("run a.yaml --quiet --out fast --set 'host.traffic=[{rate: 8 GB/s}]'") == 0);
    CHECK(folder.weft("compare slow fast") == 1);
    CHECK_THAT(folder.read("stdout"), Contains("host.traffic.0.samples.messages"));
}

TEST_CASE("sweep: mistakes of the file and of its points come in one pass")
{
    const program_folder folder;
    folder.write("mesh.yaml", k_mesh);
    folder.write("s.yaml", "sweep: {platform: mesh.yaml, nmae: x}\ngrid:\n  ici.router_latnecy: [4 cycles, 8 cycles]\n"
                           "  ici.buffer_per_vl: [4 KiB, 4 KiB]\nplot: {x: sise}\n");
    CHECK(folder.weft("sweep s.yaml") == 2);
    const std::string err = folder.read("stderr");
    for (const char* part : {"ici.router_latnecy: unknown key", "sweep.nmae: unknown key", "has '4 KiB' twice", "did you mean 'size'?"})
        CHECK_THAT(err, Contains(part));
    CHECK_FALSE(folder.exists("out"));
}

TEST_CASE("sweep: what auto takes at one size only does not put sizes into one panel")
{
    const program_folder folder;
    folder.write("mesh.yaml", "platform: tpu_v3\nname: mesh\nmesh: {rows: 4, cols: 2}\nworkload: [{op: all_reduce, algorithms: [auto], sizes: [4 B, 8 MB]}]\n");
    folder.write("s.yaml", "sweep: {platform: mesh.yaml, set: {data: off}}\ngrid:\n  mesh.cols: [2, 4]\n");
    REQUIRE(folder.weft("sweep s.yaml") == 0);
    const std::string out = folder.read("stdout");
    CHECK_THAT(out, Contains("size 4 B") && Contains("size 7.63 MiB"));
    CHECK_THAT(out, !Contains("of different operations or sizes"));
}

TEST_CASE("compare: two runs without a result are not equal")
{
    const program_folder folder;
    folder.write("mesh.yaml", "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\ntime_limit: 5 us\nworkload: [{op: all_reduce, algorithms: [two_d], sizes: [1 MiB]}]\n");
    CHECK(folder.weft("run mesh.yaml --out a") == 1);
    CHECK(folder.weft("compare a a") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("neither has a result: nothing was compared"));
}

TEST_CASE("compare: exit codes and what comes first")
{
    const program_folder folder;
    folder.write("a.yaml", k_mesh);
    REQUIRE(folder.weft("run a.yaml --quiet --out a") == 0);
    REQUIRE(folder.weft("run a.yaml --quiet --out b --set 'ici.router_latency=47 cycles'") == 0);
    REQUIRE(folder.weft("run a.yaml --quiet --out c") == 0);
    CHECK(folder.weft("compare a c --tolerance 0") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("both have the digest "));
    CHECK(folder.weft("compare a b/results.json --html d.html") == 1);
    const std::string text = folder.read("stdout");
    CHECK_THAT(text, Contains("ici.router_latency  4 cycles  47 cycles") &&
                         Contains("all_reduce ring_1d 4096 B int32 sum: time"));
    CHECK(text.find("ici.router_latency") > text.find(": time")); // what came out is read first
    CHECK_THAT(folder.read("d.html"), Contains("<h1>Different</h1>") && Contains("ici.router_latency"));
    // Times stand before the bounds, which differ by more.
    REQUIRE(folder.weft("run a.yaml --quiet --out slow --set 'ici.link_rate=8 GB/s'") == 0);
    CHECK(folder.weft("compare a slow") == 1);
    const std::string slow = folder.read("stdout");
    CHECK(slow.find(": least time by the bound") > slow.rfind(": time  "));
    CHECK(slow.find(": least time by the bound") < slow.find("# statistic"));
    CHECK(slow.find("# result") < slow.find("# configuration"));
    CHECK(folder.weft("compare a b --tolerance 10000% --csv") == 0);
    CHECK_THAT(folder.read("stdout"), Contains(",configuration,ici.router_latency,4 cycles,47 cycles,,\n"));
    const auto refused = [&](const std::string& arguments) {
        CHECK(folder.weft("compare " + arguments) == 2);
        return folder.read("stderr");
    };
    CHECK_THAT(refused("a nowhere"), Contains("nowhere: there is no such file or folder"));
    CHECK_THAT(refused("a a.yaml"), Contains("a.yaml: is no results.json of `weft run`: it is not JSON"));
    CHECK_THAT(refused("a b --tolerance -1%"), Contains("--tolerance: '-1%' is no share"));
    CHECK_THAT(refused("a b --html a/results.json"),
               Contains("a/results.json is a file that is compared, which this command reads"));
    folder.write("empty/points/.keep", "");
    CHECK_THAT(refused("a empty"), Contains("empty: has no results.json and no points of a sweep"));
    CHECK(folder.weft("compare --help") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("Exit codes: 0 all figures are equal within the tolerance"));
}
