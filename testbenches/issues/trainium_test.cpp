// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Trainium from its file: families of algorithms in groups of every legal kind, what two groups at once cost each other, which algorithm `auto`
// takes, and what is said of a machine or a list of ranks on which something cannot run.
#include "firmware/collectives/device_map.h"
#include "platforms/trainium/trainium.h"
#include "testbenches/issues/exact_runs.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace weft;
using weft::testing::exact_runs;
using weft::testing::program_folder;
using weft::testing::text_of;
using Catch::Contains;

namespace {

const exact_runs k_node("trainium/trn2.yaml", "--set 'chip.hbm.capacity=4 GiB'");

nlohmann::json exact(const std::string& workload, const std::string& more = "") { return k_node.exact(workload, more); }
double time_us(const std::string& workload, const std::string& more = "--set data=off") { return k_node.time_us(workload, more); }

const char* const k_families = "device_ring, device_mesh";

} // namespace

TEST_CASE("trainium: every family is exact in rows and columns and halves and single chips and with one rank of each chip", "[trainium]")
{
    const std::string sizes = "sizes: [4 B, 52 B, 4100 B, 60 KiB]";
    struct one {
        const char* groups;
        const char* algorithms;
    };
    for (const one& o : {one{"rows", "device_ring, device_mesh"}, {"blocks of 16", "device_ring, kangaring, device_mesh, rdh, rdh_same_axis"},
                         {"blocks of 32", "device_ring, kangaring, device_mesh, rdh"}, {"blocks of 4", "device_ring, kangaring, device_mesh, rdh"},
                         {"\"0-63/4\", \"1-63/4\", \"2-63/4\", \"3-63/4\"", "device_ring, device_mesh, rdh"},
                         {"\"5,1,62\", \"8-22\"", "device_ring, device_mesh"}}) {
        const std::string of = fmt::format("groups: [{}], algorithms: [{}], {}", o.groups, o.algorithms, sizes);
        INFO(of);
        exact(fmt::format("[{{op: all_reduce, {0}, types: [int32, bfloat16]}}, {{op: reduce_scatter, {0}}}, {{op: all_gather, {0}}}]", of));
        exact(fmt::format("[{{op: all_reduce, groups: [{}], algorithms: [device_mesh_one_step], {}}}, {{op: all_to_all, groups: [{}], sizes: [4 KiB]}}]", o.groups,
                          "sizes: [4 B, 4100 B]", o.groups));
    }
}

TEST_CASE("trainium: broadcast and reduce by trees are exact in every kind of group", "[trainium]")
{
    struct one {
        const char* groups;
        int root;
    };
    for (const one& o : {one{"rows", 1}, {"blocks of 16", 7}, {"blocks of 32", 31}, {"blocks of 4", 2}, {"\"0-63/4\", \"1-63/4\", \"2-63/4\", \"3-63/4\"", 9},
                         {"\"0-63/2\", \"1-63/2\"", 9}, {"\"5,1,62\", \"8-22\"", 2}, {"dimension 2", 3}}) {
        INFO(o.groups);
        const std::string of = fmt::format("algorithms: [device_tree], root: {}, groups: [{}], sizes: [4 B, 52 B, 4100 B, 60 KiB, 1000004 B]", o.root, o.groups);
        exact(fmt::format("[{{op: broadcast, types: [int32, bfloat16], {0}}}, {{op: reduce, types: [int32, float16], redops: [sum, max], {0}}}]", of));
    }
}

TEST_CASE("trainium: broadcast and reduce by trees are exact on chips and nodes of every shape", "[trainium]")
{
    struct one {
        const char* shape;
        int root;
    };
    for (const one& o : {one{"--set node.rows=3 --set node.cols=3", 17}, {"--set node.rows=3 --set node.cols=2 --set chip.ranks=2", 11},
                         {"--set node.rows=1 --set node.cols=5 --set chip.ranks=8", 13}, {"--set node.rows=1 --set node.cols=2 --set chip.ranks=6", 7},
                         {"--set node.rows=4 --set node.cols=3 --set chip.ranks=1", 7}, {"--set node.rows=1 --set node.cols=1", 3},
                         {"--set node.rows=3 --set node.cols=2 --set node.nodes=3 --set chip.ranks=2", 35}, {"--set node.rows=2 --set node.cols=2 --set node.nodes=2", 5},
                         {"--set cases=continuous --seed 7 --set node.rows=3", 20}}) {
        INFO(o.shape);
        const std::string of = fmt::format("algorithms: [device_tree], root: {}, sizes: [4 B, 4100 B, 60 KiB, 1000004 B]", o.root);
        exact(fmt::format("[{{op: broadcast, types: [int32, bfloat16], {0}}}, {{op: reduce, types: [float32, float16], redops: [sum, min], {0}}}]", of), o.shape);
    }
}

TEST_CASE("trainium: broadcast and reduce come near what links and memory carry", "[trainium]")
{
    const nlohmann::json results = exact("[{op: broadcast, algorithms: [auto], sizes: [4 KiB, 64 MiB]}, {op: reduce, algorithms: [auto], sizes: [4 KiB, 64 MiB]}, "
                                         "{op: all_reduce, algorithms: [auto], sizes: [4 KiB]}]",
                                         "--set data=off");
    const nlohmann::json& all = results.at("results");
    const double all_reduce_us = all.at(4).at("time_us");
    for (const int first : {0, 2}) {
        const nlohmann::json &small = all.at(first), &large = all.at(first + 1);
        INFO(small.at("op") << ": " << small.at("time_us") << " us, " << large.at("time_us") << " us");
        CHECK(small.at("algorithm") == "device_tree");
        CHECK(small.at("time_us").get<double>() <= all_reduce_us);
        CHECK(large.at("bound_share").get<double>() > 0.75);
        CHECK(large.at("bound_share").get<double>() < 1);
    }
}

TEST_CASE("trainium: predictions of broadcast and reduce are within a fifth of simulations", "[trainium]")
{
    const char* const entry = "{op: %s, algorithms: [auto], sizes: [4 KiB, 64 KiB, 1 MiB, 4 MiB, 16 MiB, 64 MiB]}";
    for (const std::string op : {"broadcast", "reduce"}) {
        std::string workload = entry;
        workload.replace(workload.find("%s"), 2, op);
        const program_folder folder;
        REQUIRE(folder.weft(fmt::format("run {} --set 'workload=[{}]' --set data=off --out out", k_node.file(), workload)) == 0);
        const std::string text = folder.read("stdout");
        const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
        for (const auto& r : results.at("results")) {
            const std::string of = fmt::format("{} of {} B by {}: ", op, r.at("size_bytes").get<std::uint64_t>(), r.at("algorithm").get<std::string>());
            const std::size_t at = text.find(of);
            INFO(of << text);
            REQUIRE(at != std::string::npos);
            CHECK(std::stod(text.substr(at + of.size())) == Approx(r.at("time_us").get<double>()).epsilon(0.2));
        }
    }
}

TEST_CASE("trainium: every operation and type is exact in every family", "[trainium]")
{
    exact("[{op: all_reduce, algorithms: [device_ring, kangaring, device_mesh, device_mesh_one_step, rdh], types: [int32, float32, float16, bfloat16], "
          "redops: [sum, max, min], sizes: [4100 B]}]",
          "--set node.rows=2 --set node.cols=2");
    exact("[{op: all_reduce, algorithms: [device_ring, kangaring, device_mesh, rdh], types: [float32, bfloat16], inputs: random, sizes: [12 B, 36 KiB]}]",
          "--set node.rows=2 --set node.cols=4");
    exact("[{op: all_reduce, algorithms: [device_ring, kangaring, device_mesh, device_mesh_one_step, rdh], sizes: [4 B, 20 KiB]}, "
          "{op: all_gather, algorithms: [kangaring, rdh], sizes: [4 B, 20 KiB]}, {op: reduce_scatter, algorithms: [device_mesh, device_ring], sizes: [4 B, 20 KiB]}]",
          "--set node.rows=2 --set node.cols=2 --set cases=continuous --seed 7");
}

TEST_CASE("trainium: halves of a node that share nothing take the time of one alone", "[trainium]")
{
    // Rows 0 and 1, rows 2 and 3. What differs is the stagger of cores, by picoseconds.
    const auto time = [](const char* by, const std::string& groups) {
        return time_us(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [4 MiB], groups: [{}]}}]", by, groups));
    };
    for (const char* by : {"kangaring", "rdh"}) {
        INFO(by);
        const double alone = time(by, "\"0-31\""), both = time(by, "\"0-31\", \"32-63\"");
        CHECK(both == Approx(alone).epsilon(0.05));
    }
}

TEST_CASE("trainium: groups with one rank of each chip share the links as counting says", "[trainium]")
{
    // Two directed cycles both ways use all links of every chip. All-gather of S among 16 ranks, a quarter each way: 15/16 S / 4 on each link.
    const double bytes = 64 << 20;
    const auto time = [&](const std::string& groups) {
        return time_us(fmt::format("[{{op: all_gather, algorithms: [device_ring], sizes: [64 MiB], groups: [{}]}}]", groups));
    };
    const double payload_rate = 128e3 * 2048 / (2048 + 8 * 28); // bytes per us
    const double link_us = bytes * 15 / 16 / 4 / payload_rate;
    const double two = time("\"0-63/4\", \"1-63/4\""), four = time("\"0-63/4\", \"1-63/4\", \"2-63/4\", \"3-63/4\"");
    CHECK(two == Approx(2 * link_us).epsilon(0.05));
    CHECK(four == Approx(4 * link_us).epsilon(0.05));
}

TEST_CASE("trainium: groups with one rank of each chip begin RDH with different axes", "[trainium]")
{
    const auto time = [](const char* by, const std::string& groups) {
        return time_us(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [16 MiB], groups: [{}]}}]", by, groups));
    };
    const std::string all = "\"0-63/4\", \"1-63/4\", \"2-63/4\", \"3-63/4\"";
    // One group leaves links of three axes idle, which the others take.
    CHECK(time("rdh", all) < 0.7 * time("rdh_same_axis", all));
    // Step after step, each group on its axis: 2 x 15/16 of S on one link of every chip.
    const double payload_rate = 128e3 * 2048 / (2048 + 8 * 28); // bytes per us
    CHECK(time("rdh", all) < 1.2 * 2 * 15 / 16 * (16 << 20) / payload_rate);
    CHECK(time("rdh", "\"0-63/4\"") == Approx(time("rdh", "\"1-63/4\"")).epsilon(0.01));
}

// On nodes that the published table is not of.
TEST_CASE("trainium: auto takes the fastest family on other tori and in a half of a node", "[trainium]")
{
    const auto check_best = [](const std::string& groups, const std::string& more) {
        const auto rows = [&](const char* by) {
            return exact(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [1 MiB, 16 MiB, 64 MiB]{}}}]", by, groups), "--set data=off " + more).at("results");
        };
        const nlohmann::json taken = rows("auto"), rdh = rows("rdh"), kangaring = rows("kangaring");
        for (std::size_t i = 0; i < taken.size(); ++i) {
            const double best = std::min(rdh.at(i).at("time_us").get<double>(), kangaring.at(i).at("time_us").get<double>());
            INFO(groups << " " << more << ", " << taken.at(i).at("size_bytes") << " B by " << taken.at(i).at("algorithm"));
            CHECK(taken.at(i).at("time_us").get<double>() < 1.1 * best);
        }
    };
    check_best("", "--set node.rows=2 --set node.cols=2");
    check_best("", "--set node.rows=4 --set node.cols=2");
    check_best("", "--set node.rows=8 --set node.cols=1");
    check_best(", groups: [\"0-31\", \"32-63\"]", "");
}

TEST_CASE("trainium: auto follows the published ranges and what a group cannot run is passed over", "[trainium]")
{
    const auto chosen = [](const std::string& entry, const std::string& more = "") {
        std::vector<std::string> all;
        const nlohmann::json results = exact("[" + entry + "]", "--set data=off " + more);
        for (const auto& r : results.at("results"))
            all.push_back(r.at("algorithm"));
        return all;
    };
    using names = std::vector<std::string>;
    CHECK(chosen("{op: all_reduce, algorithms: [auto], sizes: [999996 B, 1000000 B, 56000000 B, 56000004 B]}") ==
          names{"device_mesh", "rdh", "rdh", "kangaring"});
    // Rows of 3 chips are no hypercube.
    CHECK(chosen("{op: all_gather, algorithms: [auto], sizes: [4 KiB, 4 MiB]}", "--set node.cols=3 --set node.rows=1") == names{"device_mesh", "kangaring"});
    CHECK(chosen("{op: all_reduce, algorithms: [auto], sizes: [4000000 B, 4000004 B]}", "--set node.cols=3 --set node.rows=2") == names{"device_mesh", "kangaring"});
    CHECK(chosen("{op: all_reduce, algorithms: [auto], groups: [\"0,1,5\"], sizes: [4 KiB, 4 MiB]}") == names{"device_mesh_one_step", "device_ring"});
    CHECK(chosen("{op: all_reduce, algorithms: [auto], sizes: [4 B, 1536 B, 1540 B]}") == names{"device_mesh_one_step", "device_mesh_one_step", "device_mesh"});
    CHECK(chosen("{op: all_gather, algorithms: [auto], sizes: [1 KiB]}") == names{"device_mesh"});
    CHECK(chosen("{op: all_reduce, algorithms: [auto], sizes: [1 KiB]}", "--set chip.ranks=8") == names{"device_mesh"});
    CHECK(chosen("{op: all_to_all, algorithms: [auto], sizes: [4 KiB]}", "--set node.cols=2 --set node.rows=1") == names{"direct"});
    const program_folder folder;
    REQUIRE(folder.weft("list --bounds " + k_node.file()) == 0);
    CHECK_THAT(folder.read("stdout"), Contains("AWS Neuron documentation, table of algorithms") && Contains("rdh") && Contains("56"));
}

TEST_CASE("trainium: where rdh cannot run auto loses little to the best one", "[trainium]")
{
    const nlohmann::json results = exact("[{op: all_reduce, algorithms: [device_mesh, kangaring, auto], sizes: [1 MiB, 2 MiB, 8 MiB, 32 MiB]}]",
                                         "--set data=off --set node.cols=2 --set node.rows=3");
    std::map<std::uint64_t, std::vector<double>> times;
    for (const auto& r : results.at("results"))
        times[r.at("size_bytes").get<std::uint64_t>()].push_back(r.at("time_us").get<double>());
    REQUIRE(times.size() == 4);
    for (const auto& [size, us] : times) {
        INFO(size << " B");
        REQUIRE(us.size() == 3);
        CHECK(us[2] <= 1.15 * std::min(us[0], us[1]));
    }
}

TEST_CASE("trainium: what cannot run is refused in a sentence", "[trainium]")
{
    const auto refusal = [](const std::string& workload, const std::string& more = "") {
        const program_folder folder;
        CHECK(folder.weft(fmt::format("check {} --set 'workload={}' {}", k_node.file(), workload, more)) == 2);
        return folder.read("stderr");
    };
    CHECK_THAT(refusal("[{op: all_reduce, algorithms: [kangaring], sizes: [4 KiB], groups: [\"0-63/4\"]}]"), Contains("kangaring needs all ranks of each device"));
    CHECK_THAT(refusal("[{op: all_reduce, algorithms: [rdh], sizes: [4 KiB]}]", "--set node.cols=3"), Contains("rdh needs 2^m devices in each dimension"));
    CHECK_THAT(refusal("[{op: all_reduce, algorithms: [kangaring], sizes: [4 KiB]}]", "--set chip.ranks=1"), Contains("kangaring needs all ranks of each device"));
    CHECK_THAT(refusal("[{op: all_reduce, algorithms: [rdh], sizes: [4 KiB]}]", "--set chip.ranks=3"), Contains("chip.ranks") && Contains("1, 2, 4, 6 or 8"));
    CHECK_THAT(refusal("[{op: all_reduce, algorithms: [device_ring], sizes: [4 KiB], groups: [\"0,64\"]}]"), Contains("64"));
    CHECK_THAT(refusal("[{op: all_reduce, algorithms: [device_mesh], sizes: [4 KiB]}]", "--set chip.dma.ring_entries=8"),
               Contains("device_mesh needs chip.dma.ring_entries of 16 at least"));
}

TEST_CASE("trainium: a link that fails unannounced ends in a picture with its queue and semaphore", "[trainium]")
{
    for (const char* by : {"device_ring", "kangaring", "device_mesh", "rdh"}) {
        const program_folder folder;
        INFO(by);
        const int code = folder.weft(k_node.command(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [64 KiB]}}]", by),
                                                 "--set 'faults.links_down=[{row: 1, col: 1, direction: +X, at: 6 us}]' --set 'firmware_timeout=1 ms'"));
        CHECK(code == 1);
        CHECK_THAT(folder.read("stderr"), Contains("did not complete") && Contains("went down at 6 us") && Contains("DMA queue") && Contains("waits for its semaphore"));
    }
}

TEST_CASE("trainium: announced links are gone around and rings shorter than a collective are no obstacle", "[trainium]")
{
    exact(fmt::format("[{{op: all_reduce, algorithms: [{}, kangaring, rdh], sizes: [4 B, 100 KiB]}}]", k_families),
          "--set 'faults.links_down=[{row: 1, col: 1, direction: +X}, {row: 3, col: 0, direction: -Y}]'");
    exact(fmt::format("[{{op: all_reduce, algorithms: [{}, kangaring, rdh], sizes: [4 B, 100 KiB]}}]", k_families),
          "--set chip.dma.ring_entries=16 --set chip.dma.prefetch=1 --set node.rows=2");
    const std::string trees = "[{op: broadcast, algorithms: [device_tree], root: 20, sizes: [4 B, 100 KiB, 1 MiB]}, {op: reduce, algorithms: [device_tree], root: 20, sizes: [4 B, 100 KiB, 1 MiB]}]";
    exact(trees, "--set 'faults.links_down=[{row: 1, col: 1, direction: +X}, {row: 3, col: 0, direction: -Y}]'");
    // Ranks waited for each other: one for room in a queue, while it had not announced what it had put into others.
    exact(trees, "--set chip.dma.ring_entries=16 --set chip.dma.queues=5 --set node.rows=3 --set node.cols=3");
}

TEST_CASE("trainium: plans with more streams than queues share them without waiting for each other", "[trainium]")
{
    for (const char* shape : {"--set node.rows=2 --set node.cols=2", "--set node.rows=1 --set node.cols=4", "--set node.rows=2 --set node.cols=2 --set node.nodes=2"})
        for (const int queues : {4, 5, 7, 9}) {
            const std::string more = fmt::format("{} --set chip.dma.queues={}", shape, queues);
            exact("[{op: all_reduce, algorithms: [device_ring, kangaring, device_mesh, device_mesh_one_step, rdh], sizes: [4 B, 20 KiB, 1 MiB]}, "
                  "{op: all_gather, algorithms: [kangaring, device_mesh, rdh], sizes: [20 KiB]}, "
                  "{op: reduce_scatter, algorithms: [kangaring, device_mesh, rdh], sizes: [20 KiB]}, "
                  "{op: broadcast, algorithms: [device_tree], sizes: [20 KiB, 1 MiB]}, {op: reduce, algorithms: [device_tree], sizes: [20 KiB, 1 MiB]}]",
                  more);
        }
}

#ifdef WEFT_RV64_PROGRAMS
TEST_CASE("trainium: native and rv64 cores agree in answers and times", "[trainium]")
{
    const auto times = [](const char* core) {
        std::vector<double> all;
        const nlohmann::json results = exact("[{op: all_reduce, algorithms: [device_ring, kangaring, device_mesh, device_mesh_one_step, rdh], sizes: [4 B, 64 KiB]}, "
                                             "{op: all_gather, algorithms: [kangaring, device_mesh, rdh], sizes: [4 KiB]}, "
                                             "{op: reduce_scatter, algorithms: [device_ring, device_mesh, rdh], sizes: [4 KiB]}, "
                                             "{op: broadcast, algorithms: [device_tree], sizes: [4 B, 64 KiB, 1 MiB]}, "
                                             "{op: reduce, algorithms: [device_tree], sizes: [4 B, 64 KiB, 1 MiB]}]",
                                             fmt::format("--set node.rows=2 --set node.cols=2 --set chip.ranks=2 --set chip.core.cpi=1 --set chip.core.model={}", core));
        for (const auto& r : results.at("results"))
            all.push_back(r.at("time_us"));
        return all;
    };
    const std::vector<double> native = times("native"), rv64 = times("rv64");
    REQUIRE(native.size() == rv64.size());
    for (std::size_t i = 0; i < native.size(); ++i) {
        INFO("case " << i << ": " << native[i] << " us, rv64 " << rv64[i] << " us");
        CHECK(native[i] / rv64[i] > 0.9);
        CHECK(native[i] / rv64[i] < 1.1);
    }
}
#endif

// A shard passes 64 ranks, 32 pairs, with so many accesses of HBM each as the document counts; at the ends of its way one
// or two fewer. Descriptors come besides, each of 128 B with its elements, which the core writes and the engine fetches.
TEST_CASE("trainium: rings touch HBM exactly as often as counting says", "[trainium]")
{
    struct one {
        const char *op, *algorithm;
        double touches, ends;
    };
    for (const one& o : {one{"all_gather", "device_ring", 4, 2}, one{"reduce_scatter", "device_ring", 6, 1}, one{"all_reduce", "device_ring", 10, 3},
                         one{"all_gather", "kangaring", 3, 1}, one{"reduce_scatter", "kangaring", 4, 1}, one{"all_reduce", "kangaring", 7, 2}})
        for (const double bytes : {256.0, 65540.0, 1048576.0, 3145732.0}) {
            const nlohmann::json all =
                exact(fmt::format("[{{op: {}, algorithms: [{}], sizes: [{:.0f} B]}}]", o.op, o.algorithm, bytes), "--set data=off");
            const double touched = weft::testing::stat_of(all, "hbm.bytes_read") + weft::testing::stat_of(all, "hbm.bytes_written");
            INFO(o.op << " by " << o.algorithm << ", " << bytes << " B");
            CHECK(touched - 2 * 128 * weft::testing::stat_of(all, "dma.descriptors") == (32 * o.touches - o.ends) * bytes);
        }
}

TEST_CASE("trainium: fewer descriptors on chip are not faster", "[trainium]")
{
    const auto time = [](int prefetch) {
        return time_us("[{op: all_reduce, algorithms: [kangaring], sizes: [1 KiB]}]", fmt::format("--set data=off --set chip.dma.prefetch={}", prefetch));
    };
    CHECK(time(1) >= time(4));
}

TEST_CASE("trainium: nothing moves faster than the memory of a chip and its engines", "[trainium]")
{
    for (const int ranks : {2, 4, 8}) {
        const std::string more = fmt::format("--set data=off --set chip.ranks={} --set node.rows=2 --set node.cols=2", ranks);
        for (const char* by : {"device_ring", "kangaring", "device_mesh", "rdh"}) {
            INFO(by << ", " << ranks << " ranks of a chip");
            const nlohmann::json r = exact(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [32 MiB]}}]", by), more);
            CHECK(r.at("results").at(0).at("bound_share").get<double>() < 1);
            // Every input of a chip is read and all but the own part of every result is written, at 2.9 TB/s whatever the number of ranks.
            const double bytes = 32 << 20, all_ranks = 4 * ranks;
            CHECK(r.at("results").at(0).at("time_us").get<double>() > ranks * bytes * (2 - 1 / all_ranks) / 2.9e6);
        }
    }
}

TEST_CASE("trainium: cycles visit every device once and two of a square torus share no link", "[trainium]")
{
    for (std::uint32_t rows = 1; rows <= 9; ++rows)
        for (std::uint32_t cols = 1; cols <= 9; ++cols) {
            if (rows * cols < 2)
                continue;
            trainium_config c;
            c.node.rows = rows;
            c.node.cols = cols;
            const firmware::device_map map(c.rank_table(0));
            const firmware::device_cycles cycles(map);
            INFO(rows << " x " << cols);
            CHECK(cycles.count() == (rows == cols && rows >= 3 ? 2 : 1));
            std::set<std::pair<std::uint32_t, std::uint32_t>> links;
            for (std::uint32_t cycle = 0; cycle < cycles.count(); ++cycle) {
                std::set<std::uint32_t> visited;
                for (std::uint32_t p = 0; p < map.devices; ++p) {
                    const std::uint32_t device = cycles.device_at(cycle, p);
                    visited.insert(device);
                    CHECK(cycles.position_of(cycle, device) == p);
                    if (cycles.count() == 2)
                        CHECK(links.insert(std::minmax(device, cycles.device_at(cycle, (p + 1) % map.devices))).second);
                }
                CHECK(visited.size() == map.devices);
                CHECK(*visited.rbegin() == map.devices - 1);
            }
        }
}
