// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of the sweep: what an architect turns, on machines so small that a point costs about a second.
#include "platforms/cli/burst_points.h"

#include <fmt/format.h>

namespace weft::cli {

namespace {

using list = std::vector<std::string>;

sweep_value value(std::string name, list overrides = {}) { return {std::move(name), std::move(overrides), {}}; }

/// One collective by one algorithm, and nothing else; `entry_keys` are further keys of its entry ("root: 5").
sweep_value value(std::string name, list overrides, const char* op, const char* algorithm, list sizes, const char* entry_keys = "")
{
    return {std::move(name), std::move(overrides), {{{op, algorithm}}, std::move(sizes), entry_keys}};
}

list both(list first, const list& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

sweep_value in_chunks_of(const char* chunk)
{
    return {fmt::format("chunk {}", chunk), {}, {{}, {"64 KiB", "1 MiB"}, fmt::format("chunk: {}", chunk)}};
}

/// One value for each text, which stands for {} in all `keys`.
std::vector<sweep_value> values(const list& texts, const list& keys, const list& others = {})
{
    std::vector<sweep_value> all;
    for (const std::string& text : texts) {
        sweep_value v = value(text, others);
        for (const std::string& key : keys)
            v.overrides.push_back(key + "=" + text);
        all.push_back(std::move(v));
    }
    return all;
}

const list k_buffers{"4 KiB", "8 KiB", "16 KiB", "64 KiB"};
const list k_cables{"1 ns", "25 ns", "100 ns", "1000 ns"};

/// DMA engines whose buffers let trains be long; in those of the shipped files most of them are short.
sweep_axis dma_buffers(const std::string& dma, list others = {})
{
    others.push_back(dma + ".receive_buffer=4 MiB");
    others.push_back(dma + ".read_ahead=1024");
    return {"DMA", {value("as shipped"), value("1024 packets read ahead, receive buffer 4 MiB", others)}};
}

// TPU-v3.

constexpr const char* k_tpu_file = "tpu_v3/mesh_4x4.yaml";
constexpr const char* k_failed_board = "faults.regions=[{row: 2, col: 2, rows: 2, cols: 2}]";
constexpr const char* k_failed_wire =
    "faults.links_down=[{row: 1, col: 1, direction: +X}, {row: 1, col: 2, direction: -X}]";

sweep_family tpu_mesh()
{
    sweep_family f;
    f.name = "tpu_v3 mesh";
    f.platform = "tpu_v3";
    f.file = k_tpu_file;
    f.large_cases = 1;
    f.share = 5;
    f.axes = {
        {"mesh", {value("4x4"), value("4x4 with wraps", {"mesh.wrap=both"}), value("4x8", {"mesh.cols=8"})}, true},
        {"fault",
         {value("none"), value("a board of 2x2 chips lost", {k_failed_board}), value("a wire lost", {k_failed_wire})},
         true},
        {"buffer", values(k_buffers, {"ici.buffer_per_vl"})},
        {"router", values({"4 cycles", "40 cycles", "94 cycles"}, {"ici.router_latency"})},
        {"cable", values(k_cables, {"ici.cable_propagation"})},
        {"links",
         {value("82 GB/s"), value("41 GB/s", {"ici.link_rate=328 Gbps"}),
          value("20.5 GB/s", {"ici.link_rate=164 Gbps"}),
          value("local ports half as fast as links", {"ici.local_port_rate=328 Gbps"})}},
        dma_buffers("chip.dma"),
        {"packet", values({"64 B", "256 B", "1 KiB"}, {"ici.max_payload"})},
    };
    return f;
}

sweep_family tpu_what_ifs()
{
    sweep_family f;
    f.name = "tpu_v3 what-if";
    f.platform = "tpu_v3";
    f.file = k_tpu_file;
    f.large_cases = 2;
    f.share = 3;
    f.axes = {
        {"what",
         {
             value("as shipped"),
             value("5x7 chips", {"mesh.rows=5", "mesh.cols=7"}),
             value("3x5 chips with wraps", {"mesh.rows=3", "mesh.cols=5", "mesh.wrap=both"}),
             value("2x2 chips", {"mesh.rows=2", "mesh.cols=2"}),
             value("1x8 chips", {"mesh.rows=1", "mesh.cols=8"}),
             value("8x2 chips", {"mesh.rows=8", "mesh.cols=2"}),
             value("buffer 5 KiB", {"ici.buffer_per_vl=5 KiB"}),
             value("buffer 1 KiB", {"ici.buffer_per_vl=1 KiB"}),
             value("buffer 12 KiB and router 40 cycles", {"ici.buffer_per_vl=12 KiB", "ici.router_latency=40 cycles"}),
             value("buffer 1 MiB", {"ici.buffer_per_vl=1 MiB"}),
             value("HBM 300 GB/s", {"chip.hbm.rate=300 GB/s"}),
             value("HBM 100 GB/s", {"chip.hbm.rate=100 GB/s"}),
             value("HBM 1000 ns", {"chip.hbm.latency=1000 ns"}),
             value("HBM 200 ns", {"chip.hbm.latency=200 ns"}),
             value("local buffer 48 KiB", {"ici.local_buffer=48 KiB"}),
             value("read ahead 4 packets", {"chip.dma.read_ahead=4"}),
             value("read ahead 16 packets", {"chip.dma.read_ahead=16"}),
             value("read ahead 1024 packets", {"chip.dma.read_ahead=1024"}),
             value("prefetch 1 descriptor", {"chip.dma.prefetch=1"}),
             value("prefetch 64 descriptors", {"chip.dma.prefetch=64"}),
             value("ring of 4 descriptors", {"chip.dma.ring_entries=4"}),
             value("receive buffer 1 KiB", {"chip.dma.receive_buffer=1 KiB"}),
             value("receive buffer 4 KiB", {"chip.dma.receive_buffer=4 KiB"}),
             value("receive buffer 256 KiB", {"chip.dma.receive_buffer=256 KiB"}),
             value("4 DMA queues", {"chip.dma.queues=4"}),
             value("1 local port", {"ici.local_ports=1"}),
             value("4 local ports", {"ici.local_ports=4"}),
             value("local ports as fast as links", {"ici.local_port_rate=656 Gbps"}),
             value("1 virtual lane", {"ici.virtual_lanes=1"}),
             value("8 virtual lanes", {"ici.virtual_lanes=8"}),
             value("store-and-forward", {"ici.switching=store_and_forward"}),
             value("link rate counts headers", {"ici.rate_counts=wire"}),
             value("flit 128 B", {"ici.flit=128 B"}),
             value("header 64 B", {"ici.header=64 B"}),
             value("packets of 4 KiB", {"ici.max_payload=4 KiB"}),
             value("packets of 100 B", {"ici.max_payload=100 B"}),
             value("router 0 cycles", {"ici.router_latency=0 cycles"}),
             value("router 940 cycles", {"ici.router_latency=940 cycles"}),
             value("links 10 GB/s", {"ici.link_rate=80 Gbps"}),
             value("links 328 GB/s", {"ici.link_rate=2624 Gbps"}),
             value("slow cores", {"chip.core.cpi=2"}),
             value("cases back to back", {"cases=continuous"}),
             in_chunks_of("8 KiB"),
             in_chunks_of("33 KiB"),
             in_chunks_of("1 MiB"),
         },
         true}};
    return f;
}

sweep_family tpu_corner()
{
    sweep_family f;
    f.name = "tpu_v3 corner";
    f.platform = "tpu_v3";
    f.file = k_tpu_file;
    f.corner = true;
    f.share = 1;
    const list one{"64 KiB", "8 MiB"};
    const list deep{"ici.buffer_per_vl=64 KiB", "chip.dma.receive_buffer=1 MiB", "chip.dma.read_ahead=1024"};
    f.axes = {{"what",
               {
                   value("router 94 cycles", {"ici.router_latency=94 cycles"}, "all_reduce", "two_d", one),
                   value("buffer 4 KiB", {"ici.buffer_per_vl=4 KiB"}, "all_reduce", "two_d", one),
                   value("buffer 8 KiB and cable 100 ns", {"ici.buffer_per_vl=8 KiB", "ici.cable_propagation=100 ns"},
                         "all_to_all", "direct", one),
                   value("links 20.5 GB/s", {"ici.link_rate=164 Gbps"}, "broadcast", "mesh_tree", one),
                   value("a board lost", {k_failed_board}, "all_reduce", "ring_1d", {"64 KiB", "12 MiB"}),
                   value("long trains, two_d", deep, "all_reduce", "two_d", {"64 KiB", "8 MiB", "12 MiB"}),
                   value("long trains, row_pair", deep, "all_reduce", "row_pair", {"64 KiB", "8 MiB", "12 MiB"}),
                   value("long trains, ring", deep, "all_reduce", "ring_1d", {"12 MiB"}),
                   value("wrap links, two_d", {"mesh.wrap=both"}, "all_reduce", "two_d", {"4 MiB"}),
                   value("wrap links, ring", {"mesh.wrap=both"}, "all_reduce", "ring_1d", {"4 MiB", "16 MiB"}),
                   value("read ahead 41 packets", {"chip.dma.read_ahead=41"}, "all_reduce", "ring_1d", {"12 MiB"}),
                   value("broadcast from the middle", {}, "broadcast", "mesh_tree", {"4 MiB"}, "root: 5"),
               }}};
    return f;
}

/// Machines on which trains once erred: what set their length in the end was not held against a buffer, or streams
/// shared what they were taken to own.
sweep_family tpu_found()
{
    sweep_family f;
    f.name = "tpu_v3 found";
    f.platform = "tpu_v3";
    f.file = k_tpu_file;
    f.share = 1;
    const list large{"16 MiB"};
    f.axes = {{"what",
               {
                   value("detours meet streams, buffers of 256 KiB",
                         {"mesh.rows=6", "mesh.cols=4", "faults.regions=[{row: 2, col: 2, rows: 2, cols: 2}]", "ici.buffer_per_vl=256 KiB",
                          "chip.dma.read_ahead=4096", "chip.dma.receive_buffer=512 KiB"},
                         "all_reduce", "row_pair", {"32 MiB"}),
                   value("links down, buffers of 256 KiB",
                         {"mesh.rows=6", "mesh.cols=4",
                          "faults.links_down=[{row: 2, col: 1, direction: +X}, {row: 2, col: 2, direction: -X}]", "ici.buffer_per_vl=256 KiB",
                          "ici.local_buffer=1 MiB", "chip.dma.read_ahead=1024", "chip.dma.receive_buffer=512 KiB"},
                         "all_reduce", "row_pair", {"32 MiB"}),
                   value("detours of slow links, buffers of 8 KiB",
                         {"mesh.cols=8", "faults.regions=[{row: 2, col: 2, rows: 2, cols: 2}]", "ici.buffer_per_vl=8 KiB",
                          "ici.link_rate=328 Gbps", "ici.cable_propagation=1 ns", "ici.max_payload=256 B",
                          "chip.dma.read_ahead=1024", "chip.dma.receive_buffer=4 MiB"},
                         "all_reduce", "row_pair_forward", large),
                   value("read ahead 41 packets, two_d", {"chip.dma.read_ahead=41"}, "all_reduce", "two_d", large),
                   value("packets of 160 B", {"ici.max_payload=160 B"}, "all_reduce", "ring_1d", large),
                   value("packets of 128 B, 2x5 chips, buffers of 64 KiB",
                         {"mesh.rows=2", "mesh.cols=5", "ici.max_payload=128 B", "ici.link_rate=500 Gbps", "ici.buffer_per_vl=64 KiB"},
                         "all_reduce", "ring_1d", {"2 MiB", "8 MiB"}),
                   value("HBM 180 ns", {"chip.hbm.latency=180 ns"}, "all_reduce", "row_pair", large),
                   value("HBM 165 ns, buffer 32 KiB", {"chip.hbm.latency=165 ns", "ici.buffer_per_vl=32 KiB"}, "all_reduce", "ring_1d", large),
                   value("links 95 GB/s, HBM 160 ns", {"ici.link_rate=95 GB/s", "chip.hbm.latency=160 ns"}, "all_reduce", "ring_1d", large),
                   value("broadcast from the middle, read ahead 48", {"chip.dma.read_ahead=48"}, "broadcast", "mesh_tree", large, "root: 5"),
                   value("broadcast with wraps, read ahead 42", {"mesh.wrap=both", "chip.dma.read_ahead=42"}, "broadcast", "mesh_tree", large,
                         "root: 1"),
                   value("a row", {"mesh.rows=1", "mesh.cols=8"}, "all_reduce", "two_d", {"4 MiB"}, "chunk: 256 KiB"),
                   value("packets of 64 B, router 94 cycles",
                         {"ici.max_payload=64 B", "ici.router_latency=94 cycles", "ici.link_rate=164 Gbps", "ici.cable_propagation=1 ns",
                          "ici.buffer_per_vl=8 KiB"},
                         "all_reduce", "row_pair", {"1 MiB"}),
                   value("a column of 16", {"mesh.rows=16", "mesh.cols=1"}, "all_reduce", "two_d", {"8 MiB"}, "chunk: 512 KiB"),
               }}};
    return f;
}

sweep_family tpu_large()
{
    sweep_family f;
    f.name = "tpu_v3 large";
    f.platform = "tpu_v3";
    f.file = "tpu_v3/mesh_8x8.yaml";
    f.overrides = {"data=off"};
    f.seconds_of_host = 1800;
    const list large{"64 MiB"};
    f.axes = {{"what",
               {
                   value("8x8, router 94 cycles", {"ici.router_latency=94 cycles"}, "all_reduce", "two_d", large),
                   value("8x8, buffer 4 KiB", {"ici.buffer_per_vl=4 KiB"}, "all_reduce", "two_d", large),
                   value("8x8, ring_1d", {}, "all_reduce", "ring_1d", large),
                   value("8x8, all_to_all", {}, "all_to_all", "direct", {"16 MiB"}),
                   value("8x8, a board lost", {k_failed_board}, "all_reduce", "row_pair_forward", large),
                   value("16x16, router 40 cycles", {"mesh.rows=16", "mesh.cols=16", "ici.router_latency=40 cycles"},
                         "all_reduce", "two_d", {"16 MiB"}),
                   value("16x16 with wraps", {"mesh.rows=16", "mesh.cols=16", "mesh.wrap=both"}, "all_to_all", "direct",
                         {"4 MiB"}),
               }}};
    return f;
}

// UB-Mesh.

constexpr const char* k_ub_file = "ub_mesh/board.yaml";
constexpr const char* k_ub_ends = "from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\"";

/// The link fails when the first collective is under way: cores boot for about 5 us first.
sweep_value ub_failing_link(const char* op, const char* algorithm, const char* at)
{
    return value(fmt::format("a link lost at {} of {} {}", at, op, algorithm),
                 {fmt::format("faults.links=[{{{}, at: {}}}]", k_ub_ends, at), "ub.transport=rtp"}, op, algorithm,
                 {"4 MiB"});
}

sweep_axis ub_faults()
{
    return {"fault",
            {value("none"), value("an NPU lost", {"faults.npus=[{npu: \"npu(p0,r0,b0,2)\"}]", "faults.recovery=mask"}),
             value("a link lost", {fmt::format("faults.links=[{{{}}}]", k_ub_ends)}),
             value("3 of 4 lanes of a link lost", {fmt::format("faults.links=[{{{}, lanes: 1}}]", k_ub_ends)}),
             ub_failing_link("all_to_all", "direct", "12 us"), ub_failing_link("all_reduce", "ring_1d", "20 us"),
             ub_failing_link("all_reduce", "direct", "12 us")},
            true};
}

sweep_family ub_machines()
{
    sweep_family f;
    f.name = "ub_mesh";
    f.platform = "ub_mesh";
    f.file = k_ub_file;
    f.overrides = {"ub.buffers_cover_round_trip=false"};
    f.large_cases = 1;
    f.share = 5;
    f.axes = {
        {"machine",
         {value("a board of 8 NPUs"),
          value("a rack of 4x4 NPUs", {"mesh.boards=4", "mesh.npus=4", "mesh.backplane=true"})},
         true},
        ub_faults(),
        {"paths",
         {value("shortest", {"ub.paths=shortest"}), value("all", {"ub.paths=all"}),
          value("all, adaptive", {"ub.paths=all", "ub.choice=adaptive"})}},
        {"buffer", values({"4 KiB", "8 KiB", "16 KiB", "64 KiB", "4480 KiB"}, {"ub.buffer_per_vl"})},
        {"devices",
         {value("4 ns", {"ub.npu_latency=4 ns", "ub.lrs_latency=4 ns"}), value("175 ns", {}),
          value("400 ns", {"ub.npu_latency=400 ns", "ub.lrs_latency=400 ns"})}},
        {"cable", values(k_cables, {"cables.x", "cables.y"})},
        {"links",
         {value("112 Gb/s a lane"), value("56 Gb/s a lane", {"ub.lane_rate=56 Gbps"}),
          value("28 Gb/s a lane", {"ub.lane_rate=28 Gbps"}),
          value("uneven: x 2 and y 4 lanes", {"mesh.x_lanes=2", "mesh.y_lanes=4"})}},
        dma_buffers("npu.dma", {"ub.transmit_queue=4096"}),
        {"packet", values({"256 B", "1 KiB", "2 KiB"}, {"ub.max_payload"})},
    };
    return f;
}

sweep_family ub_what_ifs()
{
    const list rack{"mesh.boards=4", "mesh.npus=4", "mesh.backplane=true"};
    const auto in_rack = [&](const char* name, list more, const char* op, const char* algorithm) {
        more.insert(more.begin(), rack.begin(), rack.end());
        return value(name, std::move(more), op, algorithm, {"64 KiB", "1 MiB", "16 MiB"});
    };
    sweep_family f;
    f.name = "ub_mesh what-if";
    f.platform = "ub_mesh";
    f.file = k_ub_file;
    f.large_cases = 2;
    f.share = 3;
    f.axes = {
        {"what",
         {
             value("as shipped"),
             value("5 boards of 7 NPUs", {"mesh.boards=5", "mesh.npus=7"}),
             value("3 boards of 5 NPUs, adaptive", {"mesh.boards=3", "mesh.npus=5", "ub.choice=adaptive"}),
             value("7 NPUs", {"mesh.npus=7"}),
             value("2 NPUs", {"mesh.npus=2"}),
             value("detours alone", {"mesh.boards=4", "mesh.npus=4", "ub.paths=detour"}),
             in_rack("borrowed paths alone", {"ub.paths=borrow"}, "all_reduce", "direct"),
             in_rack("a spare NPU takes over", {"faults.npus=[{npu: \"npu(p0,r0,b0,2)\"}]"}, "all_reduce", "direct"),
             in_rack("LRS 1000 ns", {"ub.lrs_latency=1000 ns"}, "all_to_all", "direct"),
             in_rack("relays do not go first", {"ub.relays_first=false"}, "all_to_all", "direct"),
             in_rack("no turn between dies", {"ub.die_crossing=0 ns"}, "all_to_all", "direct"),
             in_rack("backplane of 4 lanes", {"mesh.backplane_lanes=4"}, "all_to_all", "direct"),
             value("a path for each flow", {"ub.spreading=flow"}),
             value("a path for each flow, adaptive", {"ub.spreading=flow", "ub.choice=adaptive"}),
             value("RTP", {"ub.transport=rtp"}),
             value("RTP, window of 16 packets", {"ub.transport=rtp", "ub.rtp_window=16"}),
             value("RTP, 64 packets kept", {"ub.transport=rtp", "ub.rtp_send_buffer=64"}),
             value("RTP, an acknowledgement for each packet", {"ub.transport=rtp", "ub.rtp_packets_per_ack=1"}),
             value("RTP, adaptive", {"ub.transport=rtp", "ub.choice=adaptive"}),
             value("bit errors, 1e-7", {"ub.bit_error_rate=1e-7"}),
             value("one FIFO for all outputs", {"ub.voq=false"}),
             value("transmit queue of 4 packets", {"ub.transmit_queue=4"}),
             value("transmit queue of 1024 packets", {"ub.transmit_queue=1024"}),
             value("buffer 5 KiB", {"ub.buffer_per_vl=5 KiB", "ub.buffers_cover_round_trip=false"}),
             value("buffer 32 KiB and 250 ns cables",
                   {"ub.buffer_per_vl=32 KiB", "ub.buffers_cover_round_trip=false", "cables.x=250 ns"}),
             value("MAC 300 ns", {"ub.mac_latency=300 ns"}),
             value("packets of 4 KiB", {"ub.max_payload=4 KiB"}),
             value("packets of 500 B", {"ub.max_payload=500 B"}),
             value("cells of 32 flits", {"ub.cell_flits=32"}),
             value("FEC outside", {"ub.fec=outside"}),
             value("local port 100 GB/s", {"ub.local_port_rate=100 GB/s"}),
             value("x8 links", {"mesh.x_lanes=8"}),
             value("x1 links", {"mesh.x_lanes=1"}),
             value("HBM 400 GB/s", {"npu.hbm.rate=400 GB/s"}),
             value("HBM 1000 ns", {"npu.hbm.latency=1000 ns"}),
             value("read ahead 4 packets", {"npu.dma.read_ahead=4"}),
             value("read ahead 16 packets", {"npu.dma.read_ahead=16"}),
             value("prefetch 1 descriptor", {"npu.dma.prefetch=1"}),
             value("prefetch 64 descriptors", {"npu.dma.prefetch=64"}),
             value("receive buffer 4 KiB", {"npu.dma.receive_buffer=4 KiB"}),
             value("receive buffer 256 KiB", {"npu.dma.receive_buffer=256 KiB"}),
             value("4 DMA queues", {"npu.dma.queues=4"}),
             value("cases back to back", {"cases=continuous"}),
             in_chunks_of("8 KiB"),
             in_chunks_of("33 KiB"),
             in_chunks_of("1 MiB"),
         },
         true}};
    return f;
}

/// As configs/ub_mesh/superpod.yaml: no buffer shortens a train.
const list k_ub_deep{"ub.buffer_per_vl=4480 KiB", "ub.transmit_queue=16384", "npu.dma.receive_buffer=4 MiB", "npu.dma.read_ahead=2048"};

sweep_family ub_corner()
{
    sweep_family f;
    f.name = "ub_mesh corner";
    f.platform = "ub_mesh";
    f.file = k_ub_file;
    f.corner = true;
    f.share = 1;
    const list one{"64 KiB", "8 MiB"};
    const char* const exact_buffers = "ub.buffers_cover_round_trip=false";
    const list shallow{"ub.transmit_queue=512", "npu.dma.receive_buffer=1 MiB", "npu.dma.read_ahead=512"};
    const list three_boards = both({"mesh.boards=3", "mesh.npus=4", "mesh.backplane=false"}, shallow);
    const list narrow{"mesh.boards=2", "mesh.npus=2", "mesh.y_lanes=1", "mesh.backplane=false", "ub.paths=shortest",
                      "ub.buffer_per_vl=2 KiB", "cables.x=2 us", "npu.dma.receive_buffer=128 KiB"};
    const list large{"16 MiB"};
    f.axes = {{"what",
               {
                   value("all paths", {}, "all_to_all", "direct", one),
                   value("all paths, adaptive", {"ub.choice=adaptive"}, "all_reduce", "ring_1d", one),
                   value("buffer 4 KiB", {"ub.buffer_per_vl=4 KiB", exact_buffers}, "all_reduce", "direct", one),
                   value("shortest paths, buffer 16 KiB, cables 1000 ns",
                         {"ub.paths=shortest", "ub.buffer_per_vl=16 KiB", exact_buffers, "cables.x=1000 ns"},
                         "all_gather", "ring_1d", one),
                   value("3 of 4 lanes of a link lost", {fmt::format("faults.links=[{{{}, lanes: 1}}]", k_ub_ends)},
                         "all_reduce", "direct", one),
                   ub_failing_link("all_to_all", "direct", "12 us"),
                   value("long trains, all paths, all_reduce", k_ub_deep, "all_reduce", "direct", large),
                   value("long trains, all paths, hierarchical", k_ub_deep, "all_reduce", "hierarchical", {"48 MiB"}, "chunk: 4 MiB"),
                   value("long trains, all paths, all_to_all", k_ub_deep, "all_to_all", "direct", large),
                   // Relays keep their precedence where both send trains.
                   value("long trains in buffers of 64 KiB", shallow, "all_reduce", "hierarchical", {"48 MiB"}, "chunk: 4 MiB"),
                   value("long trains, 3 boards without backplane", three_boards, "all_reduce", "hierarchical", {"32 MiB"}, "chunk: 4 MiB"),
                   value("narrow Y links in small buffers", narrow, "all_reduce", "ring_1d", {"16 MiB"}),
                   value("lanes of 1 Gb/s", {"ub.lane_rate=1 Gbps", "ub.max_payload=4 KiB", "ub.paths=shortest", "ub.buffer_per_vl=64 MiB",
                                             "npu.dma.receive_buffer=64 MiB", "npu.dma.read_ahead=4096", "ub.transmit_queue=16384"},
                         "all_reduce", "ring_1d", large),
                   value("small messages", {}, "all_reduce", "halving_doubling", {"4 KiB"}),
               }}};
    return f;
}

/// As tpu_found().
sweep_family ub_found()
{
    sweep_family f;
    f.name = "ub_mesh found";
    f.platform = "ub_mesh";
    f.file = k_ub_file;
    f.share = 1;
    const list slow_ports = both(k_ub_deep, {"ub.local_port_rate=150 GB/s"});
    const list pod = both(k_ub_deep, {"mesh.boards=4", "mesh.npus=4", "mesh.backplane=true", "mesh.rack_rows=2", "mesh.rack_link_lanes=16"});
    const list in_step{"ub.buffers_cover_round_trip=false", "ub.paths=all", "ub.buffer_per_vl=64 KiB", "ub.npu_latency=4 ns", "cables.x=25 ns",
                       "mesh.x_lanes=2", "ub.transmit_queue=4096", "npu.dma.receive_buffer=4 MiB", "npu.dma.read_ahead=1024",
                       "ub.max_payload=256 B"};
    const list far{"mesh.x_lanes=1", "ub.paths=shortest", "cables.x=2500 ns"};
    const char* const chunk = "chunk: 4 MiB";
    f.axes = {{"what",
               {
                   value("an NPU masked",
                         both(k_ub_deep, {"mesh.boards=3", "mesh.npus=4", "mesh.backplane=false", "faults.npus=[{npu: \"npu(p0,r0,b0,1)\"}]",
                                          "faults.recovery=mask"}),
                         "all_reduce", "hierarchical", {"32 MiB"}),
                   value("local ports 150 GB/s", slow_ports, "all_reduce", "halving_doubling", {"19 MiB"}, chunk),
                   value("local ports 150 GB/s, ring", slow_ports, "all_reduce", "ring_1d", {"16 MiB"}, "chunk: 1 MiB"),
                   value("two racks without HRS", pod, "all_reduce", "hierarchical", {"64 MiB"}, chunk),
                   value("long trains, halving and doubling", k_ub_deep, "all_reduce", "halving_doubling", {"20 MiB", "40 MiB"}, chunk),
                   value("HBM 885 GB/s", both(k_ub_deep, {"npu.hbm.rate=885 GB/s"}), "all_reduce", "halving_doubling", {"19 MiB"}, chunk),
                   value("queues far deeper than buffers",
                         {"mesh.npus=8", "ub.buffer_per_vl=448 KiB", "ub.transmit_queue=16384", "npu.dma.receive_buffer=4 MiB",
                          "npu.dma.read_ahead=2048"},
                         "all_reduce", "halving_doubling", {"64 MiB"}, chunk),
                   value("cables of 2.5 us, x1", far, "all_gather", "ring_1d", {"11 MiB"}),
                   value("3 x 3 NPUs", both(k_ub_deep, {"mesh.boards=3", "mesh.npus=3", "mesh.backplane=false"}), "all_reduce", "ring_1d",
                         {"12 MiB", "30 MiB"}, chunk),
                   value("packets in step", in_step, "all_reduce", "halving_doubling", {"16 MiB"}),
                   value("packets in step, ring", both(in_step, {"faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\"}]"}),
                         "reduce_scatter", "ring_1d", {"16 MiB"}),
                   value("2 x 3 NPUs", {"mesh.boards=2", "mesh.npus=3", "mesh.backplane=false", "ub.buffer_per_vl=1 MiB", "ub.transmit_queue=1152"},
                         "all_reduce", "hierarchical", {"16 MiB"}),
                   value("4 x 2 NPUs", {"mesh.boards=4", "mesh.npus=2", "mesh.backplane=false", "ub.buffer_per_vl=1 MiB", "ub.transmit_queue=1152"},
                         "all_reduce", "hierarchical", {"48 MiB"}),
               }}};
    return f;
}

sweep_family ub_large()
{
    sweep_family f;
    f.name = "ub_mesh large";
    f.platform = "ub_mesh";
    f.file = "ub_mesh/rack.yaml";
    f.overrides = {"data=off"};
    f.seconds_of_host = 1800;
    const list pod{"mesh.rack_rows=2", "mesh.rack_cols=2", "mesh.hrs=true"};
    const auto in_pod = [&](const char* name, const list& more, const char* op, const char* algorithm, list sizes) {
        return value(name, both(pod, more), op, algorithm, std::move(sizes));
    };
    const list large{"16 MiB"};
    f.axes = {{"what",
               {
                   value("a rack, all_reduce hierarchical", {}, "all_reduce", "hierarchical", large),
                   value("a rack, adaptive, all_reduce hierarchical", {"ub.choice=adaptive"}, "all_reduce",
                         "hierarchical", large),
                   // Steps of few packets erred most: see k_short_spread_step_packets.
                   value("a rack, long trains, all_reduce hierarchical", k_ub_deep, "all_reduce", "hierarchical",
                         {"16 MiB", "32 MiB", "48 MiB", "64 MiB", "128 MiB"}),
                   value("a rack, all_reduce direct", {}, "all_reduce", "direct", large),
                   value("a rack, all_to_all direct", {}, "all_to_all", "direct", large),
                   value("a rack, all_reduce two_d", {}, "all_reduce", "two_d", large),
                   value("a rack, all_reduce ring_1d", {}, "all_reduce", "ring_1d", large),
                   value("a rack of Clos, all_to_all direct", {"mesh.rack=clos"}, "all_to_all", "direct", large),
                   in_pod("a pod of 4 racks, all_reduce hierarchical", {}, "all_reduce", "hierarchical", large),
                   in_pod("a pod of 4 racks, shortest paths, all_reduce hierarchical", {"ub.paths=shortest"},
                          "all_reduce", "hierarchical", large),
                   in_pod("a pod of 4 racks, all_to_all direct", {}, "all_to_all", "direct", {"1 MiB"}),
               }}};
    return f;
}

// SwitchML: the lossless star. Its frames carry 1 KiB.

constexpr const char* k_switchml_file = "switchml/rack_4x10g.yaml";

list switchml_rate(const char* rate) { return {fmt::format("network.rate={}", rate)}; }

sweep_family switchml_star()
{
    sweep_family f;
    f.name = "switchml star";
    f.platform = "switchml";
    f.file = k_switchml_file;
    f.large_cases = 1;
    f.share = 3;
    f.axes = {
        {"machines",
         {value("4 workers"), value("8 workers", {"workers=8"}), value("5 workers", {"workers=5"}),
          value("4 workers and 4 servers", {"servers=4"})},
         true},
        {"buffer", values({"4 KiB", "8 KiB", "16 KiB", "64 KiB", "256 KiB"}, {"network.lossless_buffer"})},
        {"pipelines",
         {value("4 ns", {"switch.ingress_latency=2 ns", "switch.first_pass_latency=4 ns", "network.nic_latency=4 ns"}),
          value("100 ns",
                {"switch.ingress_latency=50 ns", "switch.first_pass_latency=100 ns", "network.nic_latency=100 ns"}),
          value("600 and 300 ns")}},
        {"cable", values(k_cables, {"network.cable.propagation"})},
        {"links",
         {value("100 Gb/s", switchml_rate("100 Gbps")), value("50 Gb/s", switchml_rate("50 Gbps")),
          value("25 Gb/s", switchml_rate("25 Gbps")), value("10 Gb/s", switchml_rate("10 Gbps"))}},
        dma_buffers("worker.dma"),
    };
    return f;
}

sweep_family switchml_what_ifs()
{
    sweep_family f;
    f.name = "switchml what-if";
    f.platform = "switchml";
    f.file = k_switchml_file;
    f.overrides = switchml_rate("100 Gbps");
    f.large_cases = 2;
    f.share = 2;
    f.axes = {{"what",
               {
                   value("as shipped, 100 Gb/s"),
                   value("buffer 5 KiB", {"network.lossless_buffer=5 KiB"}),
                   value("7 workers", {"workers=7"}),
                   value("16 workers", {"workers=16"}),
                   value("16 workers, buffer 16 KiB", {"workers=16", "network.lossless_buffer=16 KiB"}),
                   value("4 workers and 1 server", {"servers=1"}),
                   value("1 core a worker", {"worker.cores=1"}),
                   value("memory 10 GB/s", {"worker.memory.rate=10 GB/s"}),
                   value("memory 1000 ns", {"worker.memory.latency=1000 ns"}),
                   value("read ahead 4 packets", {"worker.dma.read_ahead=4"}),
                   value("prefetch 1 descriptor", {"worker.dma.prefetch=1"}),
                   value("receive buffer 4 KiB", {"worker.dma.receive_buffer=4 KiB"}),
                   value("receive buffer 256 KiB", {"worker.dma.receive_buffer=256 KiB"}),
                   value("switch 5 us", {"switch.first_pass_latency=5 us"}),
                   in_chunks_of("8 KiB"),
                   in_chunks_of("1 MiB"),
               },
               true}};
    return f;
}

/// As tpu_found().
sweep_family switchml_found()
{
    sweep_family f;
    f.name = "switchml found";
    f.platform = "switchml";
    f.file = k_switchml_file;
    f.overrides = switchml_rate("100 Gbps");
    f.share = 1;
    const list large{"16 MiB"};
    f.axes = {{"what",
               {
                   value("read ahead 15 packets, memory 1150 ns", {"worker.dma.read_ahead=15", "worker.memory.latency=1150 ns"}, "all_reduce",
                         "ring_1d", large),
                   value("read ahead 31 packets, memory 2400 ns",
                         {"worker.dma.read_ahead=31", "worker.memory.latency=2400 ns", "worker.dma.receive_buffer=70 KiB"}, "all_reduce",
                         "halving_doubling", large),
                   value("memory of 2.26 times the rate of links",
                         {"workers=13", "worker.memory.rate=226 Gbps", "worker.dma.read_ahead=100", "worker.dma.receive_buffer=4800000 B"},
                         "all_reduce", "ring_1d", {"51 MiB"}),
                   value("deep buffers, 7 workers at 10 Gb/s",
                         {"workers=7", "network.rate=10 Gbps", "network.lossless_buffer=9530 KiB", "worker.memory.rate=7.62 GB/s",
                          "worker.dma.read_ahead=46"},
                         "all_reduce", "ring_1d", {"47217596 B"}),
                   value("deep buffers, 3 workers at 200 Gb/s",
                         {"workers=3", "network.rate=200 Gbps", "network.lossless_buffer=4187 KiB", "worker.memory.rate=75 GB/s",
                          "worker.dma.read_ahead=168", "worker.dma.receive_buffer=815 KiB"},
                         "all_reduce", "hierarchical", {"37969924 B"}),
               }}};
    return f;
}

sweep_family switchml_corner()
{
    sweep_family f;
    f.name = "switchml corner";
    f.platform = "switchml";
    f.file = k_switchml_file;
    f.overrides = switchml_rate("100 Gbps");
    f.corner = true;
    f.share = 1;
    const list one{"64 KiB", "8 MiB"}, large{"12 MiB"}; // in trains
    f.axes = {{"what",
               {
                   value("as shipped, 100 Gb/s", {}, "all_reduce", "ring_1d", large),
                   value("buffer 4 KiB", {"network.lossless_buffer=4 KiB"}, "all_reduce", "halving_doubling", large),
                   value("cable 1000 ns", {"network.cable.propagation=1000 ns"}, "all_reduce", "parameter_server", one),
                   value("long trains", {"network.lossless_buffer=256 KiB", "worker.dma.receive_buffer=1 MiB", "worker.dma.read_ahead=1024"},
                         "all_reduce", "ring_1d", large),
               }}};
    return f;
}

} // namespace

const std::vector<sweep_family>& sweep_families()
{
    static const std::vector<sweep_family> all{tpu_corner(),      tpu_mesh(),      tpu_what_ifs(),     tpu_large(),      tpu_found(),
                                               ub_corner(),       ub_machines(),   ub_what_ifs(),      ub_large(),       ub_found(),
                                               switchml_corner(), switchml_star(), switchml_what_ifs(), switchml_found()};
    return all;
}

} // namespace weft::cli
