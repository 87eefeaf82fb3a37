// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where trains are compared with single packets: boards, racks, small pods, with faults and kinds of paths.
#include "platforms/ub_mesh/bursts.h"

namespace weft::bursts {

namespace {

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
    const burst_list rack{"mesh.boards=4", "mesh.npus=4", "mesh.backplane=true"};
    const auto in_rack = [&](const char* name, burst_list more, const char* op, const char* algorithm) {
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
const burst_list k_ub_deep{"ub.buffer_per_vl=4480 KiB", "ub.transmit_queue=16384", "npu.dma.receive_buffer=4 MiB", "npu.dma.read_ahead=2048"};

sweep_family ub_corner()
{
    sweep_family f;
    f.name = "ub_mesh corner";
    f.platform = "ub_mesh";
    f.file = k_ub_file;
    f.corner = true;
    f.share = 1;
    const burst_list one{"64 KiB", "8 MiB"};
    const char* const exact_buffers = "ub.buffers_cover_round_trip=false";
    const burst_list shallow{"ub.transmit_queue=512", "npu.dma.receive_buffer=1 MiB", "npu.dma.read_ahead=512"};
    const burst_list three_boards = both({"mesh.boards=3", "mesh.npus=4", "mesh.backplane=false"}, shallow);
    const burst_list narrow{"mesh.boards=2", "mesh.npus=2", "mesh.y_lanes=1", "mesh.backplane=false", "ub.paths=shortest",
                      "ub.buffer_per_vl=2 KiB", "cables.x=2 us", "npu.dma.receive_buffer=128 KiB"};
    const burst_list large{"16 MiB"};
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
    const burst_list slow_ports = both(k_ub_deep, {"ub.local_port_rate=150 GB/s"});
    const burst_list pod = both(k_ub_deep, {"mesh.boards=4", "mesh.npus=4", "mesh.backplane=true", "mesh.rack_rows=2", "mesh.rack_link_lanes=16"});
    const burst_list in_step{"ub.buffers_cover_round_trip=false", "ub.paths=all", "ub.buffer_per_vl=64 KiB", "ub.npu_latency=4 ns", "cables.x=25 ns",
                       "mesh.x_lanes=2", "ub.transmit_queue=4096", "npu.dma.receive_buffer=4 MiB", "npu.dma.read_ahead=1024",
                       "ub.max_payload=256 B"};
    const burst_list far{"mesh.x_lanes=1", "ub.paths=shortest", "cables.x=2500 ns"};
    const burst_list in_trains{"ub.buffers_cover_round_trip=false", "mesh.boards=4", "mesh.npus=4", "mesh.backplane=true", "ub.npu_latency=4 ns",
                               "ub.lrs_latency=4 ns", "cables.x=25 ns", "ub.transmit_queue=4096", "npu.dma.receive_buffer=4 MiB",
                               "npu.dma.read_ahead=1024", "ub.max_payload=256 B"};
    const char* const k_masked = "faults.npus=[{npu: \"npu(p0,r0,b0,2)\"}]";
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
                   value("a board of 5",
                         {"mesh.npus=5", "npu.dma.receive_buffer=256 KiB", "npu.dma.read_ahead=12800", "ub.buffers_cover_round_trip=false", "ub.paths=detour",
                          "ub.transmit_queue=1000", "ub.max_payload=256 B"},
                         "all_reduce", "hierarchical", {"48 MiB"}),
                   value("two NPUs and a backplane",
                         {"mesh.npus=2", "mesh.backplane=true", "npu.dma.receive_buffer=1 MiB", "npu.dma.read_ahead=1024", "ub.max_payload=128 B"},
                         "all_reduce", "ring_1d", {"1732348 B"}, chunk),
                   value("an NPU masked, trees", both(in_trains, {"ub.paths=shortest", "ub.buffer_per_vl=64 KiB", k_masked, "faults.recovery=mask", "cables.x=100 ns"}),
                         "broadcast", "mesh_tree", {"16 MiB"}),
                   value("an NPU masked, trees, lanes of 28 Gb/s",
                         both(in_trains, {"ub.paths=shortest", "ub.buffer_per_vl=8 KiB", "ub.lane_rate=28 Gbps", k_masked, "faults.recovery=mask"}),
                         "broadcast", "mesh_tree", {"16 MiB"}),
                   value("lanes of X and Y unlike", both(in_trains, {"ub.paths=all", "ub.buffer_per_vl=64 KiB", "mesh.x_lanes=2", "mesh.y_lanes=4"}),
                         "all_reduce", "hierarchical", {"16 MiB"}),
                   value("a link lost, spread",
                         both(in_trains, {"ub.paths=all", "ub.buffer_per_vl=64 KiB", fmt::format("faults.links=[{{{}}}]", k_ub_ends),
                                          "ub.npu_latency=400 ns", "ub.lrs_latency=400 ns"}),
                         "all_reduce", "row_pair", {"16 MiB"}),
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
    const burst_list pod{"mesh.rack_rows=2", "mesh.rack_cols=2", "mesh.hrs=true"};
    const auto in_pod = [&](const char* name, const burst_list& more, const char* op, const char* algorithm, burst_list sizes) {
        return value(name, both(pod, more), op, algorithm, std::move(sizes));
    };
    const burst_list large{"16 MiB"};
    f.axes = {{"what",
               {
                   value("a rack, all_reduce hierarchical", {}, "all_reduce", "hierarchical", large),
                   value("a rack, adaptive, all_reduce hierarchical", {"ub.choice=adaptive"}, "all_reduce",
                         "hierarchical", large),
                   // Steps of few packets erred most: see k_short_step_packets of platforms/workload/train_choice.cpp.
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

} // namespace

} // namespace weft::bursts

std::vector<weft::sweep_family> weft::bursts_of_ub_mesh()
{
    return {bursts::ub_corner(), bursts::ub_machines(), bursts::ub_what_ifs(), bursts::ub_large(), bursts::ub_found()};
}
