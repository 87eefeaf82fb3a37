// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where trains are compared with single packets: meshes with and without wraps, and with what is lost.
#include "platforms/tpu_v3/bursts.h"

namespace weft::bursts {

namespace {

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
    const burst_list one{"64 KiB", "8 MiB"};
    const burst_list deep{"ici.buffer_per_vl=64 KiB", "chip.dma.receive_buffer=1 MiB", "chip.dma.read_ahead=1024"};
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
    const burst_list large{"16 MiB"};
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
                   value("a host lost in one of three pairs",
                         {"mesh.rows=6", "mesh.cols=6", "faults.regions=[{row: 2, col: 0, rows: 2, cols: 4}]", "ici.buffer_per_vl=256 KiB",
                          "ici.local_buffer=1 MiB", "chip.dma.read_ahead=4096", "chip.dma.receive_buffer=4 MiB"},
                         "all_reduce", "row_pair", {"48 MiB"}),
                   value("a board lost in one of two pairs", {"mesh.cols=6", k_failed_board, "chip.hbm.rate=1200 GB/s"}, "all_reduce",
                         "row_pair", {"32 MiB"}),
                   value("cores of 50 MHz",
                         {"mesh.cols=5", "ici.max_payload=148 B", "ici.link_rate=100 GB/s", "ici.flit=128 B", "chip.hbm.latency=1 ns", "chip.core.clock=50 MHz",
                          "chip.dma.read_ahead=511", "chip.dma.queues=4"},
                         "all_gather", "ring_1d", {"10162652 B"}),
                   value("one pair of columns",
                         {"mesh.rows=6", "mesh.cols=2", "ici.max_payload=64 B", "ici.link_rate=41 GB/s", "ici.buffer_per_vl=1 MiB",
                          "ici.cable_propagation=100 ns", "chip.hbm.latency=60 ns", "chip.dma.read_ahead=257"},
                         "all_reduce", "row_pair", {"2391412 B"}),
                   value("one pair of columns, slow links",
                         {"mesh.rows=8", "mesh.cols=2", "ici.max_payload=64 B", "ici.link_rate=10 GB/s", "ici.buffer_per_vl=1 MiB",
                          "chip.dma.read_ahead=512"},
                         "all_reduce", "row_pair", {"3374516 B"}, "chunk: 64 KiB"),
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
    const burst_list large{"64 MiB"};
    f.axes = {{"what",
               {
                   value("8x8, router 94 cycles", {"ici.router_latency=94 cycles"}, "all_reduce", "two_d", large),
                   value("8x8, buffer 4 KiB", {"ici.buffer_per_vl=4 KiB"}, "all_reduce", "two_d", large),
                   value("8x8, ring_1d", {}, "all_reduce", "ring_1d", large),
                   value("8x8, all_to_all", {}, "all_to_all", "direct", {"16 MiB"}),
                   value("8x8, a board lost", {k_failed_board}, "all_reduce", "row_pair_forward", large),
                   value("8x8, a board lost in one pair", {k_failed_board}, "all_reduce", "row_pair", large),
                   value("8x8, a host lost across two pairs", {"faults.regions=[{row: 2, col: 2, rows: 4, cols: 2}]"}, "all_reduce",
                         "row_pair", large),
                   value("16x16, router 40 cycles", {"mesh.rows=16", "mesh.cols=16", "ici.router_latency=40 cycles"},
                         "all_reduce", "two_d", {"16 MiB"}),
                   value("16x16 with wraps", {"mesh.rows=16", "mesh.cols=16", "mesh.wrap=both"}, "all_to_all", "direct",
                         {"4 MiB"}),
               }}};
    return f;
}

} // namespace

} // namespace weft::bursts

std::vector<weft::sweep_family> weft::bursts_of_tpu_v3()
{
    return {bursts::tpu_corner(), bursts::tpu_mesh(), bursts::tpu_what_ifs(), bursts::tpu_large(), bursts::tpu_found()};
}
