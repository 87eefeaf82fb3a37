// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where trains are compared with single packets: the lossless star, whose frames carry 1 KiB.
#include "platforms/switchml/bursts.h"

namespace weft::bursts {

namespace {

constexpr const char* k_switchml_file = "switchml/rack_4x10g.yaml";

burst_list switchml_rate(const char* rate) { return {fmt::format("network.rate={}", rate)}; }

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
    const burst_list large{"16 MiB"};
    f.axes = {{"what",
               {
                   value("read ahead 15 packets, memory 1150 ns", {"worker.dma.read_ahead=15", "worker.memory.latency=1150 ns"}, "all_reduce",
                         "ring_1d", large),
                   value("read ahead 31 packets, memory 2400 ns",
                         {"worker.dma.read_ahead=31", "worker.memory.latency=2400 ns", "worker.dma.receive_buffer=70 KiB"}, "all_reduce",
                         "halving_doubling", large),
                   value("one chunk a step, both ways around, 13 workers", {"workers=13", "network.rate=10 Gbps"}, "all_reduce", "ring_1d", {"43 MiB"},
                         "chunk: 2 MiB"),
                   value("memory of 3 times the rate of links",
                         {"workers=7", "network.rate=400 Gbps", "network.lossless_buffer=1000 KiB", "switch.first_pass_latency=10 us",
                          "worker.memory.rate=150 GB/s", "worker.memory.latency=200 ns", "worker.dma.read_ahead=1000", "worker.dma.receive_buffer=9 KiB",
                          "worker.bus.latency=300 ns", "worker.core.clock=5 GHz"},
                         "all_reduce", "ring_1d", {"21391988 B", "18970748 B"}),
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
    const burst_list one{"64 KiB", "8 MiB"}, large{"12 MiB"}; // in trains
    f.axes = {{"what",
               {
                   value("as shipped, 100 Gb/s", {}, "all_reduce", "ring_1d", large),
                   value("one chunk a step, both ways around, 10 workers", {"workers=10", "network.rate=10 Gbps"}, "all_reduce", "ring_1d", {"29441644 B"},
                         "chunk: 4 MiB"),
                   value("buffer 4 KiB", {"network.lossless_buffer=4 KiB"}, "all_reduce", "halving_doubling", large),
                   value("cable 1000 ns", {"network.cable.propagation=1000 ns"}, "all_reduce", "parameter_server", one),
                   value("long trains", {"network.lossless_buffer=256 KiB", "worker.dma.receive_buffer=1 MiB", "worker.dma.read_ahead=1024"},
                         "all_reduce", "ring_1d", large),
               }}};
    return f;
}

} // namespace

} // namespace weft::bursts

std::vector<weft::sweep_family> weft::bursts_of_switchml()
{
    return {bursts::switchml_corner(), bursts::switchml_star(), bursts::switchml_what_ifs(), bursts::switchml_found()};
}
