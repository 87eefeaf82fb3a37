// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// dispatch and combine of tokens for experts: answers over shapes, sizes, types, groups and failures, on all platforms;
// native and RV64 cores; what is refused.
#include "testbenches/issues/exact_runs.h"

#include "hw/core/iss.h"

using nlohmann::json;
using weft::testing::exact_runs;
using weft::testing::program_folder;
using weft::testing::stat_of;
using weft::testing::text_of;

namespace {

std::string entry(const char* op, const std::string& algorithms, const std::string& more)
{
    return fmt::format("{{op: {}, algorithms: [{}], {}}}", op, algorithms, more);
}
std::string both(const std::string& algorithms, const std::string& more)
{
    return fmt::format("[{}, {}]", entry("dispatch", algorithms, more), entry("combine", algorithms, more));
}
std::string by_all(const std::string& more) { return both("direct, hierarchical", more); }

std::vector<double> times(const json& results)
{
    std::vector<double> all;
    for (const auto& r : results.at("results"))
        all.push_back(r.at("time_us"));
    return all;
}

} // namespace

TEST_CASE("experts: exact over shapes and numbers of experts")
{
    const exact_runs rack("ub_mesh/rack.yaml");
    for (const char* shape : {"--set mesh.boards=2 --set mesh.npus=2", "--set mesh.boards=3 --set mesh.npus=5",
                              "--set mesh.boards=4 --set mesh.npus=4", "--set mesh.boards=7 --set mesh.npus=2"})
        for (const char* experts : {"experts_per_token: 1", "experts_per_token: 3"})
            rack.exact(by_all(fmt::format("{}, token: 300 B, types: [int32, float16], sizes: [300 B, 3000 B, 40000 B]", experts)), shape);
    // Every token to every rank; more experts than lines; a line of another size.
    rack.exact(by_all("experts_per_token: 15, token: 64 B, sizes: [64 B, 10000 B]"), "--set mesh.boards=3 --set mesh.npus=5");
    rack.exact(by_all("experts_per_token: 8, token: 24 KiB, sizes: [240 KiB]"), "--set mesh.boards=5 --set mesh.npus=3");
    exact_runs("ub_mesh/rack.yaml").exact(by_all("token: 100 B, sizes: [700 B]"), "--set mesh.rack_cols=2 --set mesh.boards=2 --set mesh.npus=4");
}

TEST_CASE("experts: all platforms")
{
    for (const char* file : {"tpu_v3/mesh_4x4.yaml", "trainium/trn2.yaml", "ipu_pod/pod16.yaml"})
        exact_runs(file).exact(by_all("experts_per_token: 3, token: 1000 B, types: [bfloat16], sizes: [1000 B, 20000 B]"));
    for (const char* file : {"tpu_v3/mesh_4x4.yaml", "trainium/trn2.yaml", "ipu_pod/pod16.yaml"})
        exact_runs(file).exact(by_all("types: [bfloat16], sizes: [2 B]")); // a token of one element
    for (const char* file : {"ub_mesh/board.yaml", "switchml/rack_4x10g.yaml", "tpu_v3/mesh_8x8_failed_host.yaml"})
        exact_runs(file).exact(both("direct", "experts_per_token: 3, sizes: [4 B, 1000 B, 90000 B]"));
    exact_runs("tpu_v3/mesh_4x4.yaml").exact(by_all("token: 64 B, sizes: [640 B]"), "--set mesh.wrap=both --set mesh.rows=3 --set mesh.cols=7");
}

TEST_CASE("experts: sums of all kinds and random inputs and a skew")
{
    const exact_runs rack("ub_mesh/rack.yaml", "--set mesh.boards=3 --set mesh.npus=4");
    rack.exact("[" + entry("combine", "direct, hierarchical", "redops: [max, min, sum], types: [int32, float32, bfloat16], token: 80 B, sizes: [4000 B]") + "]");
    rack.exact("[" + entry("combine", "direct, hierarchical", "inputs: random, types: [float32, float16, bfloat16], token: 80 B, sizes: [4000 B]") + "]");
    const auto us = [&](const char* skew) {
        return times(rack.exact(by_all(fmt::format("expert_skew: {}, experts_per_token: 2, token: 16 KiB, sizes: [4 MiB]", skew)), "--set data=off"));
    };
    const std::vector<double> even = us("0"), skewed = us("0.8");
    for (std::size_t i = 0; i < even.size(); ++i)
        CHECK(skewed[i] > 1.3 * even[i]); // a quarter of the ranks gets most
    rack.exact(by_all("expert_skew: 1, experts_per_token: 6, token: 40 B, sizes: [4000 B]")); // more than the quarter has
}

TEST_CASE("experts: in groups and one call after the other and with little room")
{
    const exact_runs rack("ub_mesh/rack.yaml", "--set mesh.boards=4 --set mesh.npus=4");
    const std::string few = "experts_per_token: 3, token: 200 B, sizes: [200 B, 5000 B]";
    rack.exact(both("direct", few + ", groups: [rows]"));
    rack.exact(both("direct", few + ", groups: [\"0-5\", \"7,9,12-15\"]"));
    rack.exact(by_all(few + ", groups: [\"blocks of 8\"]"));
    rack.exact(by_all("experts_per_token: 3, token: 200 B, sizes: [5000 B, 200 B, 5000 B]"), "--set cases=continuous");
    rack.exact(by_all(few), "--set npu.dma.ring_entries=4 --set npu.dma.queues=4");
    rack.exact(by_all(few), "--set npu.dma.read_ahead=2 --set ub.transmit_queue=16");
    rack.exact(by_all(few + ", repeats: 3"));
    rack.exact(by_all(few), "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\"}]'");
}

TEST_CASE("experts: cores of both kinds and runs without data agree")
{
    const exact_runs rack("ub_mesh/rack.yaml", "--set mesh.boards=4 --set mesh.npus=4");
    const std::string workload = by_all("experts_per_token: 6, token: 1 KiB, sizes: [4 KiB, 96 KiB]");
    const json native = rack.exact(workload);
    CHECK(times(rack.exact(workload, "--set data=off")) == times(native));
    if (*weft::iss_engine_name() != '\0') {
        const json rv64 = rack.exact(workload, "--set npu.core.model=rv64");
        for (std::size_t i = 0; i < times(native).size(); ++i)
            CHECK(times(rv64)[i] == Approx(times(native)[i]).epsilon(0.02));
    }
}

TEST_CASE("experts: no time is below its bound and leaders pay where lines are busy")
{
    const exact_runs rack("ub_mesh/rack.yaml", "--set mesh.boards=4 --set mesh.npus=4 --set data=off");
    for (const char* experts : {"1", "8", "16"}) {
        const json results = rack.exact(by_all(fmt::format("experts_per_token: {}, sizes: [24 KiB, 4 MiB]", experts)), "--set data=off");
        for (const auto& r : results.at("results")) {
            INFO(r.dump());
            CHECK(r.value("bound_share", 0.0) <= 1.0); // none, where all may stay at home
            CHECK(r.at("token_bytes") == 24576);
        }
    }
    // Few tokens, far from the average, to ranks at the ends of lines.
    for (const char* seed : {"1", "2", "3", "4"})
        for (const char* more : {"experts_per_token: 1", "experts_per_token: 2, expert_skew: 1"}) {
            const json results = exact_runs("tpu_v3/mesh_4x4.yaml").exact(by_all(fmt::format("{}, token: 100 KiB, sizes: [100 KiB, 2 MB]", more)), fmt::format("--set data=off --seed {}", seed));
            for (const auto& r : results.at("results")) {
                INFO(r.dump());
                CHECK(r.value("bound_share", 0.0) <= 1.0);
            }
        }
    const std::vector<double> large = times(rack.exact(by_all("experts_per_token: 8, sizes: [4 MiB]"), "--set data=off"));
    REQUIRE(large.size() == 4);
    CHECK(large[1] < large[0]);
    CHECK(large[3] < large[2]);
    // Detours take links that others need: 57 %.
    const json board = exact_runs("ub_mesh/board.yaml").exact("[{op: dispatch, sizes: [6 MiB]}, {op: combine, sizes: [6 MiB]}]", "--set data=off");
    for (const auto& r : board.at("results"))
        CHECK(r.at("bound_share") > 0.9);
}

TEST_CASE("experts: what cannot be is refused with its place")
{
    const auto refused = [](const std::string& more, const char* sentence, const char* file = "ub_mesh/board.yaml") {
        const program_folder folder;
        const exact_runs board(file);
        CHECK(folder.weft(fmt::format("check {} --set 'workload=[{{op: dispatch, {}}}]'", board.file(), more)) == 2);
        INFO(more << "\n" << text_of(folder.path() / "stderr"));
        CHECK(text_of(folder.path() / "stderr").find(sentence) != std::string::npos);
    };
    refused("sizes: [1 MiB], experts_per_token: 9", "workload.0.experts_per_token: is 9, but there are 8 ranks");
    refused("sizes: [1 MiB], experts_per_token: 5, groups: [\"0-3\"]", "workload.0.experts_per_token: is 5, more than a group has, ranks 0 to 3: each token");
    refused("sizes: [1 MiB], experts_per_token: 0", "workload.0.experts_per_token");
    refused("sizes: [1 MiB], expert_skew: 1.5", "workload.0.expert_skew");
    refused("sizes: [1 KiB], token: 2 KiB", "workload.0.token: is 2 KiB, more than the size of 1 KiB");
    refused("sizes: [8 GiB], token: 4 B", "which are more than 1048576 tokens of 4 B");
    refused("sizes: [1 MiB], experts_per_token: 1025", "workload.0.experts_per_token");
    refused("sizes: [1 KiB], token: 6 B", "workload.0.token: is 6 B, no whole number of elements of int32 (4 B)");
    refused("sizes: [1 KiB], algorithms: [ring_1d]", "dispatch runs by direct or hierarchical");
    refused("sizes: [1 KiB], algorithms: [hierarchical]", "needs two dimensions of several ranks");
    refused("sizes: [1 KiB]", "limited to 1024 ranks", "ub_mesh/superpod.yaml");
}

TEST_CASE("experts: a link that fails in mid-run is told or sent again")
{
    const program_folder folder;
    const exact_runs rack("ub_mesh/rack.yaml", "--set mesh.boards=2 --set mesh.npus=3");
    const std::string fault = "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 5 us}]'";
    const std::string workload = by_all("experts_per_token: 4, token: 4 KiB, sizes: [400 KiB]");
    rack.exact(workload, fault + " --set ub.transport=rtp");
    for (const char* seed : {"1", "2", "3"}) { // packets, of lists as well, are lost and come later than those sent behind them
        const json lossy = rack.exact(workload, fmt::format("--set ub.transport=rtp --set ub.bit_error_rate=6e-8 --set ub.retries=0 --set ub.reinitialisations=0 --set ub.error_seed={}", seed));
        CHECK(stat_of(lossy, "ub.resent") > 1000);
    }
    CHECK(folder.weft(rack.command(workload, fault + " --set ub.transport=ctp --set firmware_timeout='200 us'")) == 1);
    const std::string told = text_of(folder.path() / "stderr");
    INFO(told);
    CHECK(told.find("dispatch direct") != std::string::npos);
    CHECK(told.find("npu(p0,r0,b0,0).X") != std::string::npos);
}

TEST_CASE("experts: tables and comparisons tell numbers of experts apart and tuned ones are asked for their own")
{
    const program_folder folder;
    const exact_runs rack("ub_mesh/rack.yaml", "--set mesh.boards=2 --set mesh.npus=4");
    const std::string workload = fmt::format("[{}, {}]", entry("dispatch", "direct", "experts_per_token: 2, sizes: [48 KiB]"),
                                             entry("dispatch", "direct", "experts_per_token: 3, expert_skew: 0.5, sizes: [48 KiB]"));
    REQUIRE(folder.weft(fmt::format("run {} --set 'workload={}' --set mesh.boards=2 --set mesh.npus=4 --out out", rack.file(), workload)) == 0);
    const std::string table = text_of(folder.path() / "stdout");
    INFO(table);
    CHECK(table.find("# dispatch of tokens of 24 KiB, each to 2 ranks\n") != std::string::npos);
    CHECK(table.find("# dispatch of tokens of 24 KiB, each to 3 ranks, skew 0.5\n") != std::string::npos);
    REQUIRE(folder.weft(fmt::format("run {} --set 'workload={}' --set mesh.boards=2 --set mesh.npus=4 --seed 9 --quiet --out other", rack.file(), workload)) == 0);
    CHECK(folder.weft("compare out other --tolerance 0") == 1);
    const std::string compared = text_of(folder.path() / "stdout");
    INFO(compared);
    CHECK(compared.find("dispatch direct 49152 B tokens of 24576 B to 2 int32") != std::string::npos);
    CHECK(compared.find("dispatch direct 49152 B tokens of 24576 B to 3 skew 0.5 int32") != std::string::npos);
    // A table of one number of experts says nothing of another one.
    const std::string machine = fmt::format("{} --set mesh.boards=2 --set mesh.npus=4 --set cases=independent", rack.file());
    REQUIRE(folder.weft(fmt::format("tune {} --set 'workload=[{{op: dispatch, experts_per_token: 2, sizes: [48 KiB]}}]' --sizes 48KiB --out tuned", machine)) == 0);
    const std::string tuned = text_of(folder.path() / "tuned" / "tuning.yaml");
    INFO(tuned);
    CHECK(tuned.find("experts_per_token: 2") != std::string::npos);
    CHECK(folder.weft(fmt::format("tune {} --set 'workload=[{{op: combine, token: 1 KiB, sizes: [4 KiB]}}]' --sizes 512B --out other_table", machine)) == 2);
    CHECK(text_of(folder.path() / "stderr").find("--sizes: 512 B is less than one token (1024 B)") != std::string::npos);
    CHECK(folder.weft(fmt::format("tune {} --set 'workload=[{{op: combine, token: 1 KiB, sizes: [4 KiB]}}]' --sizes 4KiB --out other_table", machine)) == 0);
    const auto chosen_by = [&](const char* experts) {
        const json results = rack.exact(fmt::format("[{}]", entry("dispatch", "auto", fmt::format("experts_per_token: {}, sizes: [48 KiB]", experts))),
                                        fmt::format("--set tuning={} --set cases=independent", (folder.path() / "tuned" / "tuning.yaml").string()));
        return results.at("results").at(0).at("chosen_by").get<std::string>();
    };
    CHECK(chosen_by("2").find("tuning") == 0);
    CHECK(chosen_by("3") == "prediction");
}
