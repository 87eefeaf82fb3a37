// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/progress.h"
#include "platforms/report/run_report.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

namespace {

run_report small_report()
{
    run_report r;
    r.title = "mesh_2x2: 4 chips";
    r.version = "0.1.0";
    r.rows = {
        {"all_reduce", "ring_1d", "int32", "sum", 4, 1, 12'345'678, 0.000324, 0.000486, 0, 6},
        {"broadcast", "mesh_tree", "int32", "none", 4, 1, 2'000'000, 0.002, 0.002, std::nullopt, 2},
        {"all_reduce", "two_d", "bfloat16", "sum", 67'108'864, 33'554'432, 1'234'567'890'500, 54.358, 81.537, 3, 8},
    };
    r.busiest_links = {{"chip[0,0] x+ to chip[0,1]", 123'456'789, 97.125}, {"chip[1,1] y-", 999, 0.5}};
    r.memory = {"HBM", 5'000'000'000, 2'500'000, "chip[0,0]", 1'250'000'000};
    r.simulated_time_ps = 1'234'582'236'178;
    r.host_seconds = 1.5;
    r.host_cpu_seconds = 1.25;
    r.packet_hops = 5'000'000;
    r.packet_hops_per_cpu_s = 4e6;
    r.timeline_events = 7'000'000;
    r.kernel_activations = 600;
    r.digest = 0x0123'4567'89ab'cdef;
    r.warnings = {"ici.buffer: 4 KiB is less than 16.4 KB"};
    r.config = {{"platform", "tpu_v3"}, {"rows", 2}};
    r.stats = {{"ici.packets", std::uint64_t{12}, "1", "packets sent"}, {"ici.load", 0.5, "%", "mean load"}};
    return r;
}

std::string table_of(const run_report& r, const table_style& style = {})
{
    std::ostringstream out;
    print_table(out, r, style);
    return out.str();
}

/// A folder of its own that goes away.
struct scratch_folder {
    scratch_folder()
    {
        std::string name = (fs::temp_directory_path() / "weft_report_XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~scratch_folder() { fs::remove_all(path); }
    std::vector<std::string> names() const
    {
        std::vector<std::string> all;
        for (const auto& entry : fs::directory_iterator(path))
            all.push_back(entry.path().filename().string());
        std::sort(all.begin(), all.end());
        return all;
    }
    fs::path path;
};

std::string content_of(const fs::path& path)
{
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string message_of(const std::string& dir)
{
    try {
        prepare_output_dir(dir);
    } catch (const user_error& e) {
        return e.what();
    }
    return "";
}

progress::time_point fake_now{};
progress::time_point read_fake_clock() { return fake_now; }

} // namespace

TEST_CASE("the table is as approved", "[report]")
{
    const std::string expected =
        R"(# weft 0.1.0, mesh_2x2: 4 chips
#
# warning: ici.buffer: 4 KiB is less than 16.4 KB
# all_reduce
#      size(B)         count      type  redop  algorithm      time(us)  algbw(GB/s)  busbw(GB/s)  #wrong
             4             1     int32    sum    ring_1d        12.346     0.000324     0.000486       0
      67108864      33554432  bfloat16    sum      two_d   1234567.891       54.358       81.537       3

# broadcast
#      size(B)         count      type  redop  algorithm      time(us)  algbw(GB/s)  busbw(GB/s)  #wrong
             4             1     int32   none  mesh_tree         2.000        0.002        0.002     n/a

Busiest links    chip[0,0] x+ to chip[0,1]    123.5 MB   97.12 %
                 chip[1,1] y-                    999 B    0.50 %
HBM traffic      5.0 GB read, 2.5 MB written; busiest chip[0,0] with 1.2 GB
Simulated time   1234582.236178 us
Host time        1.50 s, of which 1.25 s of CPU for the simulation, the rest for data, checks and other programs
Packet hops      5000000, 4.00 million per CPU second; 7000000 timeline events, 600 kernel activations
Wrong elements   3 in 1 of 2 checked results, 1 carried no data
Digest           0123456789abcdef
)";
    CHECK(table_of(small_report()) == expected);
}

TEST_CASE("results with a bound show the share of it", "[report]")
{
    run_report r = small_report();
    r.rows[0].bound_us = 6.173;
    const std::string table = table_of(r);
    CHECK_THAT(table, Catch::Contains("busbw(GB/s)  bound(%)  #wrong"));
    CHECK_THAT(table, Catch::Contains("0.000486      50.0       0")); // 6.173 us of 12.346
    CHECK_THAT(table, Catch::Contains("81.537         -       3"));
}

TEST_CASE("columns stay aligned whatever the numbers", "[report]")
{
    auto r = small_report();
    r.rows[0].size_bytes = std::numeric_limits<std::uint64_t>::max();
    r.rows[0].time_ps = std::numeric_limits<std::uint64_t>::max();
    r.rows[0].wrong = std::numeric_limits<std::uint64_t>::max();
    std::istringstream lines(table_of(r));
    std::vector<std::size_t> lengths;
    for (std::string line; std::getline(lines, line);)
        if (line.find("int32") != std::string::npos || line.find("bfloat16") != std::string::npos ||
            line.find("size(B)") != std::string::npos)
            lengths.push_back(line.size());
    REQUIRE(lengths.size() == 5);
    CHECK(std::all_of(lengths.begin(), lengths.end(), [&](std::size_t n) { return n == lengths[0]; }));
}

TEST_CASE("a narrow terminal cuts names and colours come only where asked", "[report]")
{
    auto r = small_report();
    r.busiest_links[0].name = std::string(200, 'x');
    std::istringstream lines(table_of(r, {80, false}));
    for (std::string line; std::getline(lines, line);)
        if (line.find("xxx") != std::string::npos) {
            CHECK(line.size() == 80);
            CHECK(line.find("x...") != std::string::npos);
        }
    CHECK(table_of(r).find('\x1b') == std::string::npos);
    CHECK(table_of(r, {0, true}).find("\x1b[1;31m") != std::string::npos);
}

TEST_CASE("a run without data and one without errors say so", "[report]")
{
    auto r = small_report();
    r.rows[2].wrong = 0;
    CHECK(table_of(r).find("Wrong elements   0 in 2 of 3 results, 1 carried no data\n") != std::string::npos);
    for (auto& row : r.rows)
        row.wrong.reset();
    CHECK(table_of(r).find("Wrong elements   n/a: nothing was checked") != std::string::npos);
}

TEST_CASE("results.json has the promised fields", "[report]")
{
    const auto j = to_json(small_report());
    std::vector<std::string> keys;
    for (const auto& item : j.items())
        keys.push_back(item.key());
    CHECK(keys == std::vector<std::string>{"schema", "version", "results", "links", "ranks", "digest", "simulated_time_ps",
                                           "host_seconds", "packet_hops", "packet_hops_per_cpu_s", "timeline_events", "config",
                                           "failure", "failed_case", "warnings", "stats", "checksum"});
    REQUIRE(j["results"].size() == 3);
    keys.clear();
    for (const auto& item : j["results"][0].items())
        keys.push_back(item.key());
    CHECK(keys == std::vector<std::string>{"op", "algorithm", "type", "redop", "size_bytes", "count", "time_us",
                                           "algbw_GBps", "busbw_GBps", "wrong", "answers", "steps", "train_packets"});
    CHECK(j["results"][0].dump() ==
          R"({"op":"all_reduce","algorithm":"ring_1d","type":"int32","redop":"sum","size_bytes":4,"count":1,)"
          R"("time_us":12.345678,"algbw_GBps":0.000324,"busbw_GBps":0.000486,"wrong":0,"answers":null,"steps":6,"train_packets":1})");
    CHECK(j["results"][1]["wrong"].is_null());
    CHECK(j["results"][2]["time_us"].dump() == "1234567.8905");
    CHECK(j["digest"] == "0123456789abcdef");
    CHECK(j["config"].dump() == R"({"platform":"tpu_v3","rows":2})");
    bool found = false;
    for (const auto& stat : j["stats"]) {
        CHECK(stat.size() == 4);
        CHECK_FALSE(stat["unit"].get<std::string>().empty());
        found = found || stat.dump() == R"({"name":"ici.packets","value":12,"unit":"1","description":"packets sent"})";
    }
    CHECK(found);
}

TEST_CASE("parts of a training step tell over how many ranks they sum", "[report]")
{
    run_report r = small_report();
    training_part_row gradients;
    gradients.name = "gradients";
    gradients.calls = 1;
    training_part_row statistics = gradients;
    statistics.name = "statistics";
    statistics.is_exchange = true;
    statistics.ranks_per_group = 4;
    training_step_row step;
    step.parts = {gradients, statistics};
    r.training = training_report{"row_pair", false, "none", "", {step}};
    const std::string table = table_of(r);
    CHECK(table.find("  gradients   all ranks   ") != std::string::npos);
    CHECK(table.find("  statistics  4 ranks each") != std::string::npos);
    const auto j = to_json(r)["training_step"]["steps"][0];
    CHECK(j["groups"][0]["ranks_per_group"].is_null());
    CHECK(j["exchanges"][0]["ranks_per_group"] == 4);
}

TEST_CASE("numbers that are not finite never reach a file", "[report]")
{
    auto r = small_report();
    r.rows[1].busbw_GBps = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(to_json(r), bug);
    r = small_report();
    r.stats[1].value = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(to_json(r), Catch::Contains("ici.load"));
}

TEST_CASE("times are exact decimals", "[report]")
{
    CHECK(exact_us(0) == "0");
    CHECK(exact_us(1) == "0.000001");
    CHECK(exact_us(1'234'500) == "1.2345");
    CHECK(exact_us(2'000'000) == "2");
    CHECK(exact_us(10'000'000) == "10");
    CHECK(exact_us(18'446'744'073'709'551'615ull) == "18446744073709.551615");
}

TEST_CASE("results are written whole or not at all", "[report]")
{
    const scratch_folder scratch;
    const std::string dir = (scratch.path / "a/b").string();
    prepare_output_dir(dir);
    CHECK(fs::is_empty(dir)); // the probe is gone
    write_results(dir, small_report());
    CHECK(nlohmann::ordered_json::parse(content_of(dir + "/results.json")) == to_json(small_report()));
    CHECK(std::distance(fs::directory_iterator(dir), {}) == 1);

    // Something goes wrong on the second run: the first results stay, and no temporary file does.
    const std::string before = content_of(dir + "/results.json");
    auto broken = small_report();
    broken.host_seconds = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(write_results(dir, broken), bug);
    CHECK(content_of(dir + "/results.json") == before);
    prepare_output_dir(dir); // nor does a check touch them
    CHECK(content_of(dir + "/results.json") == before);

    // The name is taken by a folder: refused before the run and after it.
    const std::string taken = (scratch.path / "taken").string();
    fs::create_directories(taken + "/results.json/x");
    CHECK_THROWS_AS(prepare_output_dir(taken), user_error);
    CHECK_THROWS_AS(write_results(taken, small_report()), user_error);
    CHECK(std::distance(fs::directory_iterator(taken), {}) == 1);
}

TEST_CASE("an output folder that cannot be written is refused with a remedy", "[report]")
{
    const scratch_folder scratch;
    const std::string file = (scratch.path / "file").string();
    std::ofstream(file) << "x";
    CHECK(message_of(file).find("A file stands where a folder is needed") != std::string::npos);
    CHECK(message_of(file + "/sub").find("A file stands where a folder is needed") != std::string::npos);
    CHECK(message_of("/proc/weft").find("Give another place") != std::string::npos);
    if (::geteuid() != 0) { // root may write anywhere
        const fs::path locked = scratch.path / "locked";
        fs::create_directory(locked);
        fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
        CHECK(message_of(locked.string()).find("change its permissions") != std::string::npos);
        fs::permissions(locked, fs::perms::owner_all);
    }
    CHECK(scratch.names().front() == "file");
}

TEST_CASE("names that are not UTF-8 do not lose the results", "[report]")
{
    const scratch_folder scratch;
    auto r = small_report();
    r.config["file"] = "\xff.yaml";
    CHECK_NOTHROW(write_results(scratch.path.string(), r));
    CHECK_NOTHROW(nlohmann::json::parse(content_of(scratch.path / "results.json")));
}

TEST_CASE("progress draws one line at most ten times a second and clears it", "[report]")
{
    using std::chrono::milliseconds;
    std::ostringstream out;
    fake_now = {};
    {
        progress bar(out, true, 25, 80, read_fake_clock);
        bar.begin_case(2, "all_reduce ring_1d 64 MiB");
        CHECK(out.str() == "\r[3/25] [                    ]   0% 00:00  all_reduce ring_1d 64 MiB\x1b[K");
        out.str("");
        for (int i = 0; i < 1000; ++i) { // one second of updates
            fake_now += milliseconds(1);
            bar.update(i / 1000.0);
        }
        const std::string text = out.str();
        CHECK(std::count(text.begin(), text.end(), '\r') == 10);
        out.str("");
        fake_now += std::chrono::seconds(75);
        bar.update(0.4); // two fifths in 76 s
        CHECK(out.str() == "\r[3/25] [========            ]  40% 01:16, 01:54 left  all_reduce ring_1d 64 MiB\x1b[K");
        out.str("");
        fake_now += milliseconds(100);
        bar.update(7.0); // more than everything is everything
        CHECK(out.str() == "\r[3/25] [====================] 100% 01:16  all_reduce ring_1d 64 MiB\x1b[K");
        out.str("");
    }
    CHECK(out.str() == "\r\x1b[K");
}

TEST_CASE("progress never wraps a line and is silent in a pipe", "[report]")
{
    std::ostringstream out;
    fake_now = {};
    progress narrow(out, true, 3, 20, read_fake_clock);
    narrow.begin_case(0, "all_reduce");
    CHECK(out.str().size() == 1 + 19 + 3);
    out.str("");
    narrow.finish();
    narrow.update(0.5);
    CHECK(out.str() == "\r\x1b[K");
    out.str("");
    {
        progress silent(out, false, 3, 80, read_fake_clock);
        silent.begin_case(0, "x");
        silent.update(0.5);
    }
    CHECK(out.str().empty());
}
