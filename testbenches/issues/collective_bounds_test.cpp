// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How much of what the links of a rank can carry collectives of long buffers reach. The bound is computed here: bytes that every rank
// has to send, over the payload rate of all its links.
#include "hw/ub/ub_config.h"
#include "testbenches/issues/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;

using weft::testing::program_folder;
using weft::testing::text_of;

namespace {

/// Times in us of the cases of `workload` on a shipped machine, without data.
std::vector<double> times(const std::string& file, const std::string& workload, const std::string& more = "")
{
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("run {} --set data=off --set \"workload={}\" {} --out out",
                                    (fs::path(WEFT_SOURCE_DIR) / "configs" / file).string(), workload, more)) == 0);
    const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
    std::vector<double> all;
    for (const auto& r : results.at("results"))
        all.push_back(r.at("time_us"));
    return all;
}

double ub_link_bytes_per_us(std::uint32_t lanes)
{
    const weft::ub_config ub;
    const weft::packet_format format = ub.format();
    return static_cast<double>(ub.link_rate(lanes).value()) / 8e6 * 1024 /
           static_cast<double>(format.wire_bytes_of_one(1024));
}

constexpr double k_64_mib = 64 << 20;
const std::string k_multi_axis_64_mib =
    "[{op: all_reduce, algorithms: [multi_axis], sizes: [64 MiB]}, {op: reduce_scatter, algorithms: [multi_axis], sizes: [64 MiB]}, "
    "{op: all_gather, algorithms: [multi_axis], sizes: [64 MiB]}]";

/// Shares of the bound: `rounds` x 64 MiB x (n-1)/n from each rank, over `bytes_per_us`.
void check_shares(const std::vector<double>& us, std::uint32_t ranks, double bytes_per_us,
                  const std::vector<double>& at_least)
{
    REQUIRE(us.size() == at_least.size());
    for (std::size_t i = 0; i < us.size(); ++i) {
        const double bytes = k_64_mib * (ranks - 1) / ranks * (i == 0 ? 2 : 1);
        const double share = bytes / bytes_per_us / us[i];
        INFO("case " << i << ": " << us[i] << " us, " << 100 * share << " % of the bound");
        CHECK(share >= at_least[i]);
        CHECK(share <= 1.0);
    }
}

} // namespace

TEST_CASE("multi_axis on a board: shares of the seven links of an NPU")
{
    check_shares(times("ub_mesh/board.yaml", k_multi_axis_64_mib), 8, 7 * ub_link_bytes_per_us(4), {0.95, 0.93, 0.93});
}

TEST_CASE("multi_axis on a rack: shares of the 14 links of an NPU")
{
    check_shares(times("ub_mesh/rack.yaml", k_multi_axis_64_mib), 64, 14 * ub_link_bytes_per_us(4), {0.94, 0.90, 0.90});
}

// With a half of the data for each dimension, the links of the shorter one were the last, and those of the other idle.
TEST_CASE("multi_ring: shares of the links of an NPU that rings own")
{
    const std::string by_rings = "[{op: all_reduce, algorithms: [multi_ring], sizes: [64 MiB]}]";
    const double link = ub_link_bytes_per_us(4);
    check_shares(times("ub_mesh/board.yaml", by_rings, "--set mesh.npus=7"), 7, 6 * link, {0.94});
    check_shares(times("ub_mesh/board.yaml", by_rings), 8, 6 * link, {0.94}); // one of seven is left over
    // One core makes 28 messages for each of twelve rings.
    check_shares(times("ub_mesh/rack.yaml", by_rings), 64, 12 * link, {0.56});
    // Two lanes, of four rings along five ranks and two along three.
    check_shares(times("ub_mesh/board.yaml", by_rings, "--set mesh.boards=3 --set mesh.npus=5"), 15, 6 * link, {0.78});
}

TEST_CASE("multi_axis on racks of unlike dimensions: shares of all links of an NPU")
{
    const auto check = [](std::uint32_t boards, std::uint32_t npus, const std::vector<double>& at_least) {
        INFO(boards << " boards of " << npus);
        check_shares(times("ub_mesh/rack.yaml", k_multi_axis_64_mib, fmt::format("--set mesh.boards={} --set mesh.npus={}", boards, npus)),
                     boards * npus, (boards + npus - 2) * ub_link_bytes_per_us(4), at_least);
    };
    check(4, 8, {0.91, 0.90, 0.90}); // 76, 66 and 66 % before
    check(3, 5, {0.91, 0.90, 0.90}); // 77, 76 and 76 %
    check(5, 8, {0.91, 0.90, 0.90}); // 74, 75 and 74 %
}

// With a lane for two of four dimensions the links between racks waited for those inside: 32, 41 and 41 %.
TEST_CASE("multi_axis on four racks: shares of the ten ports of an NPU")
{
    check_shares(times("ub_mesh/pod.yaml", k_multi_axis_64_mib,
                       "--set mesh.rack_rows=2 --set mesh.rack_cols=2 --set mesh.boards=4 --set mesh.npus=4"),
                 64, 10 * ub_link_bytes_per_us(4), {0.79, 0.75, 0.76});
}

TEST_CASE("multi_axis on an 8x8 mesh: shares of the two links of a corner")
{
    check_shares(times("tpu_v3/mesh_8x8.yaml", k_multi_axis_64_mib), 64, 2 * 82e3, {0.98, 0.95, 0.93});
}

TEST_CASE("multi_axis on an 8x8 torus: shares of the four links of a chip")
{
    check_shares(times("tpu_v3/mesh_8x8.yaml", k_multi_axis_64_mib, "--set mesh.wrap=both"), 64, 4 * 82e3,
                 {0.90, 0.82, 0.92}); // memory allows 0.91 of a reduce_scatter
}

// Where lanes began together on a rack, an all_reduce took 27.8 us for 1.5 MiB and 47.8 us for 2 MiB.
TEST_CASE("multi_axis on full meshes: a fifth more bytes take no fourth longer")
{
    const std::string file = GENERATE(as<std::string>{}, "ub_mesh/rack.yaml", "ub_mesh/board.yaml");
    std::string sizes;
    for (int k = 0; k <= 20; ++k) // 256 KiB to 8 MiB
        sizes += fmt::format("{}{} B", k == 0 ? "" : ", ", static_cast<long>(std::pow(2, 18 + k / 4.0)) / 4096 * 4096);
    for (const char* op : {"all_reduce", "reduce_scatter", "all_gather"}) {
        const std::vector<double> us =
            times(file, fmt::format("[{{op: {}, algorithms: [multi_axis], sizes: [{}]}}]", op, sizes));
        REQUIRE(us.size() == 21);
        for (std::size_t i = 1; i < us.size(); ++i) {
            INFO(file << " " << op << " 2^(18 + " << i << "/4) B: " << us[i - 1] << " us, then " << us[i] << " us");
            CHECK(us[i] < 1.25 * us[i - 1]);
        }
    }
}

TEST_CASE("short buffers: no half of an all_reduce takes longer than all of it")
{
    const std::string workload =
        "[{op: all_reduce, algorithms: [multi_axis], sizes: [4 KiB]}, {op: reduce_scatter, algorithms: [multi_axis], sizes: [4 KiB]}, "
        "{op: all_gather, algorithms: [multi_axis], sizes: [4 KiB]}]";
    for (const char* file : {"ub_mesh/board.yaml", "ub_mesh/rack.yaml", "tpu_v3/mesh_8x8.yaml"}) {
        const std::vector<double> us = times(file, workload);
        INFO(file);
        REQUIRE(us.size() == 3);
        CHECK(us[1] < us[0]);
        CHECK(us[2] < us[0]);
    }
    for (const char* shape : {"--set mesh.rows=1 --set mesh.cols=7", "--set mesh.rows=3 --set mesh.cols=3",
                              "--set mesh.rows=5 --set mesh.cols=5"}) {
        const std::vector<double> us = times("tpu_v3/mesh_8x8.yaml", workload, shape); // ring_1d has no ring there
        INFO(shape);
        REQUIRE(us.size() == 3);
        CHECK(us[1] < us[0]);
        CHECK(us[2] < us[0]);
    }
}

TEST_CASE("an all_to_all on full meshes of two dimensions: shares of its bound")
{
    // Of n x n ranks, 2 (n - 1) get their block over one link and (n - 1)^2 over two, all links alike.
    const std::string workload = "[{op: all_to_all, sizes: [16 MiB]}]";
    for (const auto& [side, at_least] : {std::pair{8u, 0.90}, std::pair{4u, 0.94}}) {
        const std::string shape = fmt::format("--set mesh.boards={0} --set mesh.npus={0} --set mesh.backplane=false", side);
        const std::vector<double> us = times("ub_mesh/rack.yaml", workload, shape);
        const std::vector<double> one_path = times("ub_mesh/rack.yaml", workload, shape + " --set ub.spreading=flow");
        REQUIRE(us.size() == 1);
        REQUIRE(one_path.size() == 1);
        const double links = 2.0 * (side - 1), hops = links + 2.0 * (side - 1) * (side - 1);
        const double bound = (16 << 20) / double(side * side) * hops / (links * ub_link_bytes_per_us(4));
        INFO(us[0] << " us, one path for each pair " << one_path[0] << " us, bound " << bound << " us");
        CHECK(bound / us[0] >= at_least);
        CHECK(bound / us[0] <= 1.0);
        CHECK(one_path[0] / us[0] > 1.6);
    }
}

TEST_CASE("an all_to_all of 4 KiB takes no longer than an all_reduce")
{
    for (const char* file : {"ub_mesh/board.yaml", "ub_mesh/rack.yaml"}) {
        const std::vector<double> us = times(
            file, "[{op: all_to_all, sizes: [4 KiB]}, {op: all_reduce, algorithms: [multi_axis, direct], sizes: [4 KiB]}]");
        INFO(file);
        REQUIRE(us.size() == 3);
        CHECK(us[0] < us[1]);
        CHECK(us[0] < us[2]);
    }
}

TEST_CASE("shards of two lengths cost a reduce_scatter little")
{
    const std::vector<double> us = times("ub_mesh/rack.yaml", "[{op: reduce_scatter, algorithms: [multi_axis], sizes: [8 MiB, 8388612 B]}]");
    REQUIRE(us.size() == 2);
    CHECK(us[1] < 1.5 * us[0]); // two messages where one is enough
}

TEST_CASE("one rank in each of four racks: shares of its links to the LRS")
{
    const std::string group = "groups: ['0,64,128,192']";
    for (const char* racks : {"--set mesh.rack_rows=1 --set mesh.rack_cols=4", "--set mesh.rack_rows=2 --set mesh.rack_cols=2"})
        for (const auto& [op, rounds] : {std::pair{"all_to_all", 1}, std::pair{"all_gather", 1}, std::pair{"all_reduce", 2}}) {
            const std::vector<double> us = times(
                "ub_mesh/rack.yaml", fmt::format("[{{op: {}, algorithms: [direct], sizes: [64 MiB], {}}}]", op, group), racks);
            REQUIRE(us.size() == 1);
            const double share = rounds * k_64_mib * 3 / 4 / (4 * ub_link_bytes_per_us(4)) / us[0];
            INFO(racks << " " << op << ": " << us[0] << " us, " << 100 * share << " % of the bound");
            CHECK(share >= 0.95);
            CHECK(share <= 1.0);
        }
}

TEST_CASE("no process group beats its bound")
{
    for (const char* group : {"0,64,128,192", "0-7", "0,9,18,27", "0-255/8", "0-63"}) {
        const program_folder folder;
        REQUIRE(folder.weft(fmt::format(
                    "run {} --set data=off --set mesh.rack_rows=2 --set mesh.rack_cols=2 --set \"workload=[{{op: all_to_all, sizes: [4 MiB], "
                    "groups: ['{}']}}, {{op: all_gather, sizes: [4 MiB], groups: ['{}']}}]\" --out out",
                    (fs::path(WEFT_SOURCE_DIR) / "configs/ub_mesh/rack.yaml").string(), group, group)) == 0);
        const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
        for (const auto& r : results.at("results")) {
            INFO(group << ": " << r.dump());
            CHECK(r.at("bound_share") > 0);
            CHECK(r.at("bound_share") <= 1);
        }
    }
}

TEST_CASE("no collective beats the bound that a backplane gives it")
{
    for (const char* shape : {"1 --set mesh.npus=3 --set mesh.x_lanes=1", "2 --set mesh.npus=2", "1 --set mesh.npus=2", "5 --set mesh.npus=3 --set mesh.y_lanes=2"}) {
        const program_folder folder;
        REQUIRE(folder.weft(fmt::format("run {} --set data=off --set mesh.backplane=true --set mesh.boards={} --set \"workload=[{{op: all_gather, algorithms: "
                                        "[ring_1d], sizes: [4 MiB]}}, {{op: broadcast, sizes: [4 MiB]}}, {{op: all_to_all, sizes: [4 MiB]}}]\" --out out",
                                        (fs::path(WEFT_SOURCE_DIR) / "configs/ub_mesh/rack.yaml").string(), shape)) == 0);
        const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
        for (const auto& r : results.at("results")) {
            INFO(shape << ": " << r.dump());
            CHECK(r.at("bound_share") <= 1);
        }
    }
}

TEST_CASE("no all_to_all beats its bound on small racks and pods")
{
    // Racks of few NPUs have more lanes to other racks and to HRS for each of them than the ports that they have.
    const char* const k_shapes[] = {
        "{pods: 2, rack_cols: 2, boards: 1, npus: 1, hrs: true}", "{pods: 4, rack_cols: 2, boards: 1, npus: 1, hrs: true}",
        "{pods: 3, rack_cols: 2, boards: 4, npus: 2, hrs: true}", "{pods: 2, rack_cols: 2, boards: 1, npus: 2, hrs: true}",
        "{pods: 3, rack_rows: 2, boards: 2, npus: 1, hrs: true}", "{rack_cols: 2, boards: 1, npus: 2, hrs: true}",
        "{rack_cols: 2, boards: 1, npus: 4, backplane_lanes: 32}", "{rack_cols: 3, boards: 2, npus: 2, hrs: true, pod: clos}",
        "{boards: 3, npus: 3, rack: clos}",                       "{rack_cols: 3, boards: 2, npus: 2, rack: 1d_fm_b}"};
    for (const char* shape : k_shapes)
        for (const char* paths : {"all", "shortest"}) {
            const program_folder folder;
            REQUIRE(folder.weft(fmt::format("run {} --set data=off --set ub.paths={} --set \"mesh={}\" --set "
                                            "\"workload=[{{op: all_to_all, algorithms: [direct], sizes: [16 MiB]}}]\" --out out",
                                            (fs::path(WEFT_SOURCE_DIR) / "configs/ub_mesh/rack.yaml").string(), paths, shape)) == 0);
            const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
            INFO(shape << ", paths: " << paths << ": " << results.at("results").dump());
            REQUIRE(results.at("results").size() == 1);
            CHECK(results.at("results")[0].at("bound_share") <= 1);
            CHECK(results.at("results")[0].at("bound_share") > 0.2); // a bound that says something
        }
}

TEST_CASE("broadcast in two colours: share of the two links of a corner")
{
    const std::vector<double> us =
        times("tpu_v3/mesh_8x8.yaml", "[{op: broadcast, sizes: [64 MiB]}]", "--set \"burst=1 packet\"");
    REQUIRE(us.size() == 1);
    const double share = k_64_mib / (2 * 82e3) / us[0];
    INFO(us[0] << " us, " << 100 * share << " % of the bound");
    CHECK(share >= 0.88);
    CHECK(share <= 1.0);
}

TEST_CASE("broadcast in four colours: share of the four links of a chip of a torus")
{
    const std::vector<double> us = times("tpu_v3/mesh_8x8.yaml", "[{op: broadcast, sizes: [64 MiB]}]",
                                         "--set \"burst=1 packet\" --set mesh.wrap=both");
    REQUIRE(us.size() == 1);
    const double share = k_64_mib / (4 * 82e3) / us[0];
    INFO(us[0] << " us, " << 100 * share << " % of the bound");
    CHECK(share >= 0.85);
    CHECK(share <= 1.0);
}

TEST_CASE("all_to_all in two phases: share of what the middle of a mesh and of a torus carries")
{
    // Half of what half of the ranks of a row or column send crosses its middle, which a torus has twice.
    for (const auto& [wrap, middles] : {std::pair{"none", 1}, std::pair{"both", 2}}) {
        const std::vector<double> us = times("tpu_v3/mesh_8x8.yaml", "[{op: all_to_all, algorithms: [two_phase, direct], sizes: [16 MiB]}]",
                                             fmt::format("--set \"burst=1 packet\" --set mesh.wrap={}", wrap).c_str());
        REQUIRE(us.size() == 2);
        const double bound = 4.0 * (16 << 20) / 2 / 82e3 / middles;
        INFO(wrap << ": " << us[0] << " us, direct " << us[1] << " us, bound " << bound << " us");
        CHECK(bound / us[0] >= 0.85);
        CHECK(bound / us[0] <= 1.0);
        CHECK(us[0] < us[1]);
    }
}

TEST_CASE("domains of IPU-Pods bound an all_to_all by the ways around their ring")
{
    const program_folder folder;
    REQUIRE(folder.weft("list --bounds " + (std::filesystem::path(WEFT_SOURCE_DIR) / "configs/ipu_pod/eight_pod16.yaml").string()) == 0);
    // Cuts know the GW-Links of a domain, rates of dimensions the whole ring.
    CHECK_THAT(folder.read("stdout"), Catch::Matchers::Contains("2.894  links of dimension 2"));
    CHECK_THAT(folder.read("stdout"), Catch::Matchers::Contains("replica_broadcast    from 0 B to 16 B, all_reduce"));
}

namespace {

// Of machines with links that are down, process groups and compute beside.
std::string shipped(const std::string& file) { return (fs::path(WEFT_SOURCE_DIR) / "configs" / file).string(); }

/// Of 64 MiB in us, as `weft list --bounds` prints it; 0 where it is not known.
double listed(const std::string& file, const std::string& op, const std::string& more)
{
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("list --bounds {} {}", shipped(file), more)) == 0);
    const std::string text = folder.read("stdout");
    const std::size_t at = text.find("  " + op + " ");
    REQUIRE(at != std::string::npos);
    return std::atof(text.c_str() + at + 2 + op.size());
}

nlohmann::json results(const std::string& file, const std::string& workload, const std::string& more)
{
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("run {} --set data=off --set \"workload={}\" {} --out out", shipped(file), workload, more)) == 0);
    return nlohmann::json::parse(text_of(folder.path() / "out" / "results.json")).at("results");
}

/// Shares of the bound, each at most 1, and at least so much.
void check_shares(const nlohmann::json& rows, double at_least)
{
    for (const auto& r : rows) {
        INFO(r.dump());
        REQUIRE(r.contains("bound_share"));
        CHECK(r.at("bound_share") <= 1);
        CHECK(r.at("bound_share") >= at_least);
    }
}

} // namespace

TEST_CASE("bounds know the links that are down on every platform")
{
    // A chip with one of its links: the all_gather of a rank with half or a third of its links takes twice or three
    // times as long. NPUs of a board go on over six of seven links.
    const auto slower = [](const std::string& file, const std::string& op, const std::string& down, const std::string& more = "") {
        return listed(file, op, more + " --set \"" + down + "\"") / listed(file, op, more);
    };
    CHECK(slower("trainium/trn2.yaml", "all_to_all", "faults.links_down=[{row: 0, col: 0, direction: +X}]", "--set node.rows=1") == Approx(2).margin(0.01));
    CHECK(slower("trainium/trn2.yaml", "all_gather", "faults.links_down=[{row: 0, col: 1, direction: -X}]",
                 "--set node.rows=1 --set 'neuronlink.link_rate=16 GB/s'") == Approx(2).margin(0.01));
    CHECK(slower("tpu_v3/mesh_4x4.yaml", "reduce_scatter", "faults.links_down=[{row: 0, col: 0, direction: +X}]") == Approx(2).margin(0.01));
    CHECK(slower("ub_mesh/board.yaml", "all_gather", "faults.links=[{from: 'npu(p0,r0,b0,0)', to: 'npu(p0,r0,b0,1)'}]") == Approx(7 / 6.0).margin(0.01));
    CHECK(slower("ub_mesh/board.yaml", "all_gather", "faults.links=[{from: 'npu(p0,r0,b0,0)', to: 'npu(p0,r0,b0,1)', lanes: 2}]") ==
          Approx(7 / 6.5).margin(0.01));
    // A link that works again, or goes down later, may carry all that while.
    CHECK(slower("ub_mesh/board.yaml", "all_gather", "faults.links=[{from: 'npu(p0,r0,b0,0)', to: 'npu(p0,r0,b0,1)', at: 5 us}]") == Approx(1));
}

TEST_CASE("a pod without some of its chips has a bound")
{
    const double whole = listed("tpu_v3/mesh_8x8.yaml", "all_gather", "");
    const double less = listed("tpu_v3/mesh_8x8.yaml", "all_gather", "--set \"faults.regions=[{row: 0, col: 2}]\" --set \"workload=[]\"");
    CHECK(less > 0.9 * whole);
    CHECK(less < 1.1 * whole); // chips beside the hole have two links, as corners have
}

TEST_CASE("no collective beats its bound where links are down")
{
    check_shares(results("trainium/trn2.yaml", "[{op: all_reduce, algorithms: [kangaring, device_ring], sizes: [1 MiB]}, {op: all_to_all, sizes: [1 MiB]}]",
                         "--set \"faults.links_down=[{row: 0, col: 0, direction: +X}, {row: 0, col: 0, direction: -X}, {row: 0, col: 0, direction: +Y}]\""),
                 0.02);
    check_shares(results("tpu_v3/mesh_4x4.yaml", "[{op: all_to_all, sizes: [4 MiB]}]", "--set \"faults.links_down=[{row: 1, col: 1, direction: +X}]\""), 0.2);
}

TEST_CASE("process groups of Trainium have a bound")
{
    for (const char* groups : {"rows", "columns", "0-63/4", "blocks of 16", "0-15,20"}) {
        INFO(groups);
        check_shares(results("trainium/trn2.yaml",
                             fmt::format("[{{op: all_reduce, algorithms: [auto], sizes: [4 MiB], groups: ['{}']}}, {{op: all_gather, algorithms: [auto], sizes: "
                                         "[4 MiB], groups: ['{}']}}, {{op: all_to_all, sizes: [1 MiB], groups: ['{}']}}]",
                                         groups, groups, groups),
                             ""),
                     0.05);
    }
}

TEST_CASE("bounds know what compute takes of memory and no run beats them by chance")
{
    CHECK(listed("trainium/trn2.yaml", "all_reduce", "--set chip.hbm.load=0.9") > 2 * listed("trainium/trn2.yaml", "all_reduce", ""));
    CHECK(listed("ub_mesh/board.yaml", "reduce_scatter", "--set npu.hbm.load=0.95") > 1.5 * listed("ub_mesh/board.yaml", "reduce_scatter", ""));
    for (int seed = 1; seed <= 3; ++seed)
        check_shares(results("trainium/trn2.yaml", "[{op: all_reduce, algorithms: [device_ring], sizes: [64 KiB, 1 MiB]}]",
                             fmt::format("--set chip.hbm.load=0.9 --set node.rows=1 --set node.cols=2 --set seed={}", seed)),
                     0.01);
}
