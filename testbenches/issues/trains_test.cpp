// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Trains carry data as single packets do: the same times without them, the same answers, and every audit of the fabric.
#include "testbenches/issues/program.h"

#include <nlohmann/json.hpp>

using namespace weft::testing;
using nlohmann::json;

namespace {

json results_of(const program_folder& folder, const std::string& file, const std::string& more)
{
    REQUIRE(folder.weft("run " WEFT_SOURCE_DIR "/configs/" + file + " --quiet --out out " + more) == 0);
    return json::parse(folder.read("out/results.json"));
}

std::vector<double> times_of(const json& results)
{
    std::vector<double> all; // us, with six digits behind the point: picoseconds
    for (const json& r : results.at("results"))
        all.push_back(r.at("time_us"));
    return all;
}

} // namespace

TEST_CASE("trains take the same time with data and without")
{
    struct machine {
        const char* file;
        const char* keys;
    };
    const machine machines[] = {
        {"tpu_v3/mesh_4x4.yaml", "--set ici.buffer_per_vl='64 KiB' --set workload='[{op: all_reduce, algorithms: [ring_1d, two_d], "
                                 "sizes: [16 MiB]}]'"},
        {"ub_mesh/board.yaml",
         "--set mesh.boards=4 --set mesh.npus=4 --set mesh.backplane=true --set ub.buffer_per_vl='4480 KiB' --set ub.transmit_queue=16384 "
         "--set npu.dma.receive_buffer='4 MiB' --set npu.dma.read_ahead=2048 "
         "--set workload='[{op: all_reduce, algorithms: [hierarchical], sizes: [32 MiB]}]'"},
        {"ub_mesh/board.yaml",
         "--set ub.paths=shortest --set ub.buffer_per_vl='4480 KiB' --set ub.transmit_queue=16384 --set npu.dma.receive_buffer='4 MiB' "
         "--set npu.dma.read_ahead=2048 --set workload='[{op: all_reduce, algorithms: [halving_doubling, ring_1d], sizes: [24 MiB]}]'"},
        {"switchml/rack_4x10g.yaml", "--set network.lossless_buffer='256 KiB' --set workload='[{op: all_reduce, algorithms: [ring_1d, "
                                     "halving_doubling], sizes: [16 MiB]}]'"},
    };
    for (const machine& m : machines) {
        const program_folder folder;
        const json carried = results_of(folder, m.file, std::string("--set data=checked ") + m.keys);
        const json off = results_of(folder, m.file, std::string("--set data=off ") + m.keys);
        const json single = results_of(folder, m.file, std::string("--set data=checked --set 'burst=1 packet' ") + m.keys);
        INFO(m.file);
        CHECK(times_of(carried) == times_of(off));
        CHECK(carried.at("timeline_events") == off.at("timeline_events"));
        CHECK(carried.at("packet_hops") == single.at("packet_hops"));
        CHECK(2 * carried.at("timeline_events").get<std::uint64_t>() < single.at("timeline_events").get<std::uint64_t>()); // there are trains
        for (const json& r : carried.at("results"))
            CHECK(r.at("wrong") == 0);
    }
}
