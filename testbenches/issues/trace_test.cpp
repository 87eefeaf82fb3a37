// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces: Perfetto draws slices of one track only where they nest, and everything that moves is in them.
#include "testbenches/issues/program.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct slice {
    double start = 0, end = 0;
};

struct trace {
    std::map<std::string, std::vector<slice>> tracks; ///< by "process / track"
    std::map<std::string, std::size_t> marks;
    std::size_t slices = 0;
    std::size_t crossings = 0;
    std::string example;
};

/// Microseconds of the file as Perfetto takes them: whole nanoseconds, cut.
double nanoseconds(const json& us) { return std::floor(us.get<double>() * 1000 + 1e-6); }

/// The track of a record: its process and its number there.
using track_id = std::pair<int, int>;
track_id track_of(const json& event) { return {event.at("pid"), event.at("tid")}; }

/// Names that a trace gives to processes and tracks.
struct track_names {
    explicit track_names(const json& events)
    {
        for (const json& e : events) {
            if (e.at("ph") == "M" && e.at("name") == "process_name")
                processes[track_of(e).first] = e.at("args").at("name");
            if (e.at("ph") == "M" && e.at("name") == "thread_name")
                tracks[track_of(e)] = e.at("args").at("name");
        }
    }
    std::string whole(const track_id& track) { return processes[track.first] + " / " + tracks[track]; }
    std::map<int, std::string> processes;
    std::map<track_id, std::string> tracks;
};

trace trace_of(const std::string& text)
{
    trace t;
    std::map<track_id, std::vector<slice>> slices;
    const json events = json::parse(text).at("traceEvents");
    track_names names(events);
    for (const json& e : events) {
        if (e.at("ph") == "X")
            slices[track_of(e)].push_back({nanoseconds(e.at("ts")), nanoseconds(e.at("ts")) + nanoseconds(e.at("dur"))});
        if (e.at("ph") == "i")
            ++t.marks[names.tracks[track_of(e)]];
    }
    for (auto& [track, all] : slices) {
        const std::string name = names.whole(track);
        CHECK(!names.tracks[track].empty());
        std::stable_sort(all.begin(), all.end(), [](const slice& a, const slice& b) {
            return a.start < b.start || (a.start == b.start && a.end > b.end);
        });
        std::vector<double> open; // ends of the slices around
        for (const slice& s : all) {
            while (!open.empty() && open.back() <= s.start)
                open.pop_back();
            if (!open.empty() && open.back() < s.end) {
                ++t.crossings;
                t.example = fmt::format("{}: {} to {} crosses one until {}", name, s.start, s.end, open.back());
            }
            open.push_back(s.end);
        }
        t.slices += all.size();
        t.tracks[name] = all;
    }
    return t;
}

trace traced(const program_folder& folder, const std::string& yaml)
{
    folder.write("a.yaml", yaml);
    REQUIRE(folder.weft("run a.yaml --quiet --trace t.json") == 0);
    trace t = trace_of(folder.read("t.json"));
    INFO(t.example);
    CHECK(t.crossings == 0);
    CHECK(t.slices > 100);
    return t;
}

std::size_t slices_in(const trace& t, const std::string& part)
{
    std::size_t n = 0;
    for (const auto& [name, all] : t.tracks)
        n += name.find(part) != std::string::npos ? all.size() : 0;
    return n;
}

} // namespace

TEST_CASE("trace of a TPU pod: slices of one track do not cross")
{
    const program_folder folder;
    const trace t = traced(folder, R"yaml(platform: tpu_v3
name: a
mesh: {rows: 4, cols: 4}
workload:
  - {op: all_reduce, algorithms: [two_d, row_pair], sizes: [64 KiB]}
  - {op: all_to_all, sizes: [64 KiB]}
)yaml");
    CHECK(slices_in(t, "DMA sends") > 0);
    CHECK(slices_in(t, "DMA sends") <= slices_in(t, "DMA receives")); // a copy on one chip is not sent
    CHECK(slices_in(t, "links / ") > 0);
}

TEST_CASE("trace of a UB mesh: slices of one track do not cross and links are traced after a restart")
{
    const program_folder folder;
    const trace plain = traced(folder, R"yaml(platform: ub_mesh
name: a
mesh: {boards: 2, npus: 4}
workload:
  - {op: all_to_all, sizes: [1 MiB]}
  - {op: all_reduce, algorithms: [direct], sizes: [256 KiB]}
)yaml");
    CHECK(slices_in(plain, "links / ") > 0);
    const trace restarted = traced(folder, R"yaml(platform: ub_mesh
name: a
mesh: {boards: 2, npus: 4}
faults:
  npus: [{npu: "npu(p0,r0,b0,3)", at: 10 us}]
  take_over: 1 ms
workload:
  - {op: all_to_all, sizes: [256 KiB]}
  - {op: all_reduce, algorithms: [direct], sizes: [256 KiB]}
)yaml");
    std::size_t links_after = 0;
    for (const auto& [name, all] : restarted.tracks)
        if (name.rfind("links / ", 0) == 0)
            links_after += static_cast<std::size_t>(
                std::count_if(all.begin(), all.end(), [](const slice& s) { return s.start > 1'000'000; }));
    CHECK(links_after > 0);
}

TEST_CASE("trace of a UB mesh: control blocks are slices of their links")
{
    const program_folder folder;
    const trace t = traced(folder, R"yaml(platform: ub_mesh
name: a
mesh: {boards: 1, npus: 4, backplane: false}
ub: {bit_error_rate: 1e-6}
workload:
  - {op: all_to_all, sizes: [1 MiB]}
  - {op: all_reduce, algorithms: [ring_1d], sizes: [256 KiB]}
)yaml");
    CHECK(slices_in(t, "links / ") > 0);
    const json events = json::parse(folder.read("t.json")).at("traceEvents");
    const track_names names(events);
    std::map<std::string, std::uint64_t> bytes;
    std::set<track_id> links;
    for (const json& e : events) {
        const std::string name = e.at("name");
        if (e.at("ph") != "X" || (name != "credits and acknowledgements" && name != "request to send again"))
            continue;
        CHECK(names.processes.at(track_of(e).first) == "links");
        links.insert(track_of(e));
        bytes[name] += e.at("args").at("bytes").get<std::uint64_t>();
        CHECK(e.at("dur").get<double>() > 0);
    }
    const std::uint64_t blocks = bytes["credits and acknowledgements"], requests = bytes["request to send again"];
    CHECK(blocks > 0);
    CHECK(blocks % 40 == 0);
    CHECK(requests > 0);
    CHECK(requests % (33 * 20) == 0);
    std::uint64_t carried = 0;
    const json results = json::parse(folder.read("out/a/results.json"));
    for (const json& s : results.at("stats"))
        if (s.at("name") == "fabric.control_bytes")
            carried = s.at("value");
    // What a wire owes when the run ends, a block at most, goes behind it.
    constexpr std::uint64_t k_wires = 4 * 3;
    CHECK(blocks + requests <= carried);
    CHECK(blocks + requests + k_wires * 40 >= carried);
    CHECK(links.size() >= k_wires);
    REQUIRE(folder.weft("run a.yaml --quiet --trace few.json --trace-limit 100") == 0);
    CHECK(json::parse(folder.read("few.json")).at("traceEvents").size() < 300);
    CHECK_THAT(folder.read("stderr"), Contains("warning: --trace few.json has 100 records, ") && Contains(" more beyond --trace-limit"));
}

TEST_CASE("trace of SwitchML: NIC and cables and switch record and no slices cross")
{
    const program_folder folder;
    const auto check = [&](const std::string& keys, bool lossy) {
        INFO(keys);
        const trace t = traced(folder, "platform: switchml\nname: a\nworkers: 4\n" + keys + R"yaml(
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}
)yaml");
        const json results = json::parse(folder.read("out/a/results.json"));
        std::size_t frames = 0;
        for (const json& s : results.at("stats"))
            if (s.at("name") == "cables.frames")
                frames = s.at("value");
        CHECK(frames > 0);
        std::size_t on_cables = 0;
        for (const std::string direction : {"up", "down"})
            on_cables += slices_in(t, " " + direction);
        CHECK(on_cables == frames);
        CHECK(slices_in(t, "NIC sends") > 0);
        CHECK(slices_in(t, "NIC receives") > 0);
        CHECK(slices_in(t, "switch_0 / from port 0") > 0);
        std::size_t lost = 0;
        for (const auto& [track, n] : t.marks)
            lost += n;
        CHECK((lost > 0) == lossy);
    };
    check("job: {slots: 64}\n", false);
    check(
        "job: {slots: 64, timeout: 200 us}\nnetwork: {cable: {impairments: {loss: 0.05, duplication: 0.05, reordering: 0.05}}}\n",
        true);
    check("job: {transport: rdma, slots: 64, packets_per_message: 4}\nworker: {cores: 1}\n", false);
    check("tree: [2, 2]\njob: {slots: 64}\n", false);
}

TEST_CASE("a trace without records says so")
{
    const program_folder folder;
    folder.write("a.yaml", "platform: tpu_v3\nname: a\nmesh: {rows: 2, cols: 2}\ntime_limit: 1 us\n"
                           "workload: [{op: all_gather, sizes: [4 KiB]}]\n");
    CHECK(folder.weft("run a.yaml --trace t.json") == 1);
    CHECK_THAT(folder.read("stdout"), Contains("(no records: nothing moved"));
    CHECK(json::parse(folder.read("t.json")).at("traceEvents").size() < 20);
}

namespace {

struct arrow {
    std::vector<std::string> tracks; ///< "process / track" of its slices, in order
    bool whole = false;              ///< it ends at a slice of whoever receives
};

/// All arrows of a trace; each step must stand at the start of a slice of its track.
std::vector<arrow> arrows_of(const std::string& text)
{
    const json events = json::parse(text).at("traceEvents");
    track_names names(events);
    std::map<track_id, std::set<double>> starts;
    for (const json& e : events)
        if (e.at("ph") == "X")
            starts[track_of(e)].insert(e.at("ts").get<double>());
    std::map<int, arrow> arrows;
    std::map<int, double> last;
    std::size_t astray = 0;
    for (const json& e : events) {
        const std::string step = e.at("ph");
        if (step != "s" && step != "t" && step != "f")
            continue;
        const int id = e.at("id");
        const track_id track = track_of(e);
        const double at = e.at("ts");
        astray += starts[track].count(at) == 0 ? 1 : 0;
        astray += (arrows.count(id) == 0) != (step == "s") ? 1 : 0; // begins once
        astray += arrows[id].whole ? 1 : 0;                         // and goes not on behind its end
        astray += last[id] > at ? 1 : 0;
        last[id] = at;
        arrows[id].tracks.push_back(names.whole(track));
        arrows[id].whole = step == "f";
    }
    CHECK(astray == 0);
    std::vector<arrow> all;
    for (auto& [id, a] : arrows)
        all.push_back(std::move(a));
    return all;
}

const char* const k_four_chips = R"yaml(platform: tpu_v3
name: a
mesh: {rows: 1, cols: 4}
workload:
  - {op: all_to_all, sizes: [64 KiB]}
)yaml";

} // namespace

TEST_CASE("arrows of a trace lead from a sender over every link of the way to the receiver")
{
    const program_folder folder;
    folder.write("a.yaml", k_four_chips);
    REQUIRE(folder.weft("run a.yaml --quiet --trace t.json") == 0);
    const std::vector<arrow> arrows = arrows_of(folder.read("t.json"));
    std::size_t over_three_links = 0;
    for (const arrow& a : arrows) {
        REQUIRE(a.whole);
        CHECK(a.tracks.front().find("DMA sends") != std::string::npos);
        CHECK(a.tracks.back().find("DMA receives") != std::string::npos);
        CHECK(a.tracks.size() >= 3);
        over_three_links += a.tracks.size() == 5 ? 1 : 0;
    }
    CHECK(arrows.size() >= 12);   // blocks of four ranks to three others
    CHECK(over_three_links >= 2); // from one end to the other, both ways
}

TEST_CASE("arrows of a trace of SwitchML lead from a NIC over cable and switch to NICs")
{
    const program_folder folder;
    folder.write("a.yaml", R"yaml(platform: switchml
name: a
workers: 2
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [4 KiB]}
)yaml");
    REQUIRE(folder.weft("run a.yaml --quiet --trace t.json") == 0);
    std::size_t to_switch = 0, to_workers = 0;
    for (const arrow& a : arrows_of(folder.read("t.json"))) {
        to_switch += a.tracks.front().find("NIC sends") != std::string::npos ? 1 : 0;
        to_workers += a.whole && a.tracks.back().find("NIC receives") != std::string::npos ? 1 : 0;
    }
    CHECK(to_switch > 0);
    CHECK(to_workers >= to_switch);
}

TEST_CASE("packets that a failing link cuts or stops are in trace and log and the report names the link first")
{
    const program_folder folder;
    folder.write("a.yaml", "platform: ub_mesh\nname: cut\nmesh: {boards: 1, npus: 4, backplane: false}\nfirmware_timeout: 200 us\n"
                           "faults: {links: [{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 5 us}]}\n"
                           "workload: [{op: all_to_all, sizes: [1 MiB]}]\n");
    REQUIRE(folder.weft("run a.yaml --set ub.transport=ctp --report --out out --trace t.json --log l.txt --trace-limit 10000000") == 1);
    const std::string failure = json::parse(folder.read("out/results.json")).at("failure");
    const std::size_t at = failure.find(" after the start of this collective: ");
    REQUIRE(at != std::string::npos);
    const auto lost = std::stoul(failure.substr(at + 37));
    CHECK(lost > 0);
    const std::string log = folder.read("l.txt");
    std::size_t packets = 0;
    for (std::size_t i = log.find("lost: to "); i != std::string::npos; i = log.find("lost: to ", i + 1)) {
        const std::string line = log.substr(log.rfind('\n', i) + 1, i - log.rfind('\n', i) - 1);
        CHECK((has(line, "npu(p0,r0,b0,0).X") || has(line, "npu(p0,r0,b0,1).X")));
        const std::size_t bytes = log.find("\"bytes\":", i);
        packets += std::stoul(log.substr(bytes + 8)) / 1024; // of trains, all of them
    }
    CHECK(packets == lost);
    const trace t = trace_of(folder.read("t.json"));
    CHECK(t.crossings == 0);
    const json wires = json::parse(folder.read("out/activity.json")).at("cases").at(0).at("wires");
    for (int i : {0, 1})
        CHECK_THAT(wires.at(i).at(6).get<std::string>(), Catch::StartsWith("down since 5 us: "));
    CHECK(wires.at(2).at(6) == "");
}

TEST_CASE("a trace shows the ranks and links and the time that are asked for")
{
    const program_folder folder;
    folder.write("a.yaml", k_four_chips);
    const auto trace_with = [&](const std::string& options) {
        REQUIRE(folder.weft("run a.yaml --quiet --trace t.json " + options) == 0);
        return trace_of(folder.read("t.json"));
    };
    const trace all = trace_with("");
    const trace first = trace_with("--trace-ranks 0");
    CHECK(slices_in(first, "rank 0 ") == slices_in(all, "rank 0 "));
    CHECK((slices_in(first, "rank 1 ") == 0 && slices_in(first, "rank 3 ") == 0));
    CHECK(slices_in(first, "links / ") > 0); // that messages of rank 0 take
    CHECK(slices_in(first, "links / ") < slices_in(all, "links / "));
    const trace one_link = trace_with("--trace-links 'chip(0,1).+X'");
    CHECK(slices_in(one_link, "links / chip(0,1).+X") == slices_in(all, "links / chip(0,1).+X"));
    CHECK(slices_in(one_link, "links / ") == slices_in(one_link, "links / chip(0,1).+X"));

    double begin = 1e12, end = 0;
    for (const auto& [name, slices] : all.tracks)
        for (const slice& s : slices) {
            begin = std::min(begin, s.start);
            end = std::max(end, s.end);
        }
    const double middle_us = std::floor((begin + end) / 2) / 1000;
    const trace late = trace_with(fmt::format("--trace-window '{} us..'", middle_us));
    const std::string late_text = folder.read("t.json");
    const trace early = trace_with(fmt::format("--trace-window '..{} us'", middle_us));
    CHECK((late.slices > 0 && early.slices > 0));
    CHECK(late.slices + early.slices >= all.slices); // what reaches over the middle is in both
    for (const auto& [name, slices] : late.tracks)
        for (const slice& s : slices)
            CHECK(s.end >= middle_us * 1000 - 1);
    CHECK(!arrows_of(late_text).empty());
    // Whatever is left out, an arrow that is drawn has an end.
    for (const std::string& options : {std::string("--trace-ranks 0"), std::string("--trace-links 'chip(0,1).+X'"),
                                      fmt::format("--trace-window '..{} us'", middle_us), std::string("--trace-limit 300")}) {
        INFO(options);
        trace_with(options);
        const std::vector<arrow> arrows = arrows_of(folder.read("t.json"));
        CHECK(!arrows.empty());
        for (const arrow& a : arrows) {
            CHECK(a.whole);
            CHECK(a.tracks.size() > 1);
        }
    }
}

TEST_CASE("a trace has a track for each queue of a DMA engine and for each core")
{
    const program_folder folder;
    const trace t = traced(folder, "platform: tpu_v3\nname: a\nmesh: {rows: 3, cols: 3}\n"
                                   "workload: [{op: all_reduce, algorithms: [two_d], sizes: [64 KiB]}]\n");
    std::set<std::string> queues, cores;
    for (const auto& [name, all] : t.tracks) {
        if (name.find("rank 4 ") == std::string::npos)
            continue;
        if (name.find("DMA sends, queue ") != std::string::npos)
            queues.insert(name.substr(0, name.find(", lane")));
        if (name.find("works and waits") != std::string::npos)
            cores.insert(name);
    }
    CHECK(queues.size() > 1);
    CHECK(cores.size() == 1);
    const json results = json::parse(folder.read("out/a/results.json"));
    const json events = json::parse(folder.read("t.json")).at("traceEvents");
    track_names names(events);
    double worked_us = 0;
    std::set<std::string> waits;
    for (const json& e : events)
        if (e.at("ph") == "X" && names.whole(track_of(e)).find("works and waits") != std::string::npos) {
            if (e.at("name") == "works")
                worked_us += e.at("dur").get<double>();
            else
                waits.insert(e.at("name"));
        }
    CHECK(waits.count("sleeps until an interrupt of DMA") == 1);
    double busy_ps = 0;
    for (const json& s : results.at("stats"))
        if (s.at("name") == "core.busy_time")
            busy_ps = s.at("value");
    CHECK(worked_us > 0);
    CHECK(worked_us * 1e6 <= busy_ps * 1.001); // what polls and wakes is busy, too
}

TEST_CASE("parts of a trace that do not exist are refused before anything runs")
{
    const program_folder folder;
    folder.write("a.yaml", k_four_chips);
    const auto refused = [&](const std::string& options, const std::string& text) {
        CAPTURE(options);
        CHECK(folder.weft("run a.yaml --trace t.json " + options) == 2);
        CHECK_THAT(folder.read("stderr"), Contains(text));
        CHECK(!folder.exists("t.json"));
    };
    refused("--trace-ranks 9", "--trace-ranks");
    refused("--trace-ranks nobody", "--trace-ranks");
    refused("--trace-links nowhere --trace-ranks 0-3 --trace-window 5us", "--trace-window");
    refused("--trace-links nowhere", "--trace-links nowhere: no link or cable has this in its name");
    refused("--trace-links +X --trace-links nowhere", "--trace-links nowhere");
    refused("--trace-window '20 us..10 us'", "ends before it begins");
    refused("--trace-window '20 us..20 us'", "ends where it begins, so nothing is in it");
    refused("--trace-window '1 fortnight..'", "--trace-window");
    CHECK(folder.weft("run a.yaml --trace-ranks 0") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("--trace"));
}

TEST_CASE("a trace that is cut says so where it ends and at the end of the file")
{
    const program_folder folder;
    folder.write("a.yaml", k_four_chips);
    REQUIRE(folder.weft("run a.yaml --quiet --trace t.json --trace-limit 20") == 0);
    const json trace = json::parse(folder.read("t.json"));
    CHECK(trace.at("otherData").at("records beyond --trace-limit") > 0);
    const json& last = trace.at("traceEvents").back();
    CHECK(last.at("name") == "cut: later records are beyond --trace-limit");
    CHECK(last.at("s") == "g");
    REQUIRE(folder.weft("run a.yaml --quiet --trace t.json") == 0);
    CHECK(!json::parse(folder.read("t.json")).contains("otherData"));
}
