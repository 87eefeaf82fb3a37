// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Delays of a fabric have 32 bits, 4.29 ms: what would not fit is refused with its key, what just fits is right.
#include "testbenches/issues/exact_runs.h"

using nlohmann::json;
using weft::testing::exact_runs;
using weft::testing::program_folder;
using weft::testing::text_of;

namespace {

void refused(const char* file, const std::string& settings, const char* key, const char* sentence)
{
    const program_folder folder;
    const exact_runs machine(file);
    CHECK(folder.weft(fmt::format("check {} --set 'workload=[{{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}}]' {}", machine.file(), settings)) == 2);
    const std::string told = text_of(folder.path() / "stderr");
    INFO(settings << "\n" << told);
    CHECK(told.find(std::string("error: ") + key + ": ") != std::string::npos);
    CHECK(told.find(sentence) != std::string::npos);
}

} // namespace

TEST_CASE("delays of a hop that 32 bits cannot hold are refused on every platform")
{
    const char* const packet = "it may take at most 4 ms. Write a higher rate or a smaller packet.";
    const char* const hop = "it may take at most 4 ms. Write a smaller one.";
    refused("switchml/rack_4x10g.yaml", "--set 'network.cable.propagation=4.3 ms'", "network.cable.propagation", hop);
    refused("switchml/rack_4x10g.yaml", "--set 'network.cable.propagation=3.5 ms' --set 'network.nic_latency=1 ms'",
            "network.cable.propagation", hop);
    refused("switchml/rack_4x10g.yaml", "--set 'network.rate=2 Mbps'", "network.rate", packet);
    refused("ub_mesh/board.yaml", "--set 'ub.lane_rate=1 Gbps' --set ub.efficiency=0.01 --set mesh.x_lanes=1 --set 'ub.max_payload=8 KiB' --set 'ub.buffer_per_vl=64 MiB' --set 'npu.dma.receive_buffer=64 MiB'",
            "ub.lane_rate", packet);
    refused("ipu_pod/pod16.yaml", "--set 'ipu_link.latency=1 ms' --set ipu_link.congestion=10", "ipu_link.latency", hop);
    refused("trainium/trn2.yaml",
            "--set 'neuronlink.link_rate=1 Gbps' --set 'neuronlink.frame_overhead=4 KiB' --set 'neuronlink.max_payload=64 KiB' --set 'neuronlink.buffer_per_vl=64 MiB' --set 'neuronlink.port_buffer=64 MiB' --set 'chip.dma.receive_buffer=64 MiB'",
            "neuronlink.link_rate", packet);
    const std::string framed = "--set 'neuronlink.frame_overhead=4 KiB' --set 'neuronlink.max_payload=64 KiB' --set 'neuronlink.buffer_per_vl=64 MiB' --set 'neuronlink.port_buffer=64 MiB' --set 'chip.dma.receive_buffer=64 MiB' ";
    refused("trainium/ultraserver_4x4x4.yaml", framed + "--set 'neuronlink.node_link_rate=2 Gbps'", "neuronlink.node_link_rate", packet);
    refused("trainium/trn2.yaml", framed + "--set 'neuronlink.port_rate=2 Gbps'", "neuronlink.port_rate", packet);
    refused("tpu_v3/mesh_4x4.yaml", "--set 'ici.link_rate=1 Mbps'", "ici.link_rate", "it may take at most 1 ms");
}

TEST_CASE("switches that sum know longer cables and what fits keeps its bound")
{
    const exact_runs rack("switchml/rack_4x10g.yaml", "--set 'firmware_timeout=10 s'");
    CHECK(rack.time_us("[{op: all_reduce, algorithms: [switchml], sizes: [64 KiB]}]", "--set 'network.cable.propagation=5 ms'") > 10000);
    CHECK(rack.time_us("[{op: all_to_all, algorithms: [direct], sizes: [4 KiB]}]", "--set 'network.cable.propagation=3.9 ms'") > 2 * 3900);
    const json slow = rack.exact("[{op: all_to_all, algorithms: [direct], sizes: [4 KiB]}]", "--set 'network.rate=3 Mbps'");
    CHECK(slow.at("results").at(0).at("bound_share").get<double>() <= 1);
}
