// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of NeuronLink and of the fabric on a Trainium chip.
#pragma once

#include "hw/routing/neuronlink/neuronlink_plan.h"
#include "tlm/config_fields.h"
#include "tlm/packet.h"
#include "tlm/units.h"

#include <algorithm>

namespace weft {

struct neuronlink_config {
    static constexpr config_part k_part = config_part::links;
    bandwidth link_rate = bandwidth(1'024'000'000'000);
    bandwidth node_link_rate = bandwidth(512'000'000'000);
    duration propagation = duration(10'000);
    duration node_propagation = duration(25'000);
    bandwidth half_rate = bandwidth(4'096'000'000'000);
    std::uint32_t ports = 8;
    bandwidth port_rate = bandwidth(2'048'000'000'000);
    duration router_latency = duration(20'000);
    data_size buffer_per_vl = data_size(32 << 10);
    data_size port_buffer = data_size(128 << 10);
    data_size max_payload = data_size(2 << 10);
    data_size frame = data_size(256);
    data_size frame_overhead = data_size(28);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        const bandwidth slowest(1'000'000'000), fastest(100'000'000'000'000);
        const auto rate = between(slowest, fastest).because("; write for example \"128 GB/s\"");
        const auto wire = between(duration(1), duration(1'000'000'000)).because(": every link has some latency, by which events of different chips are ordered");
        visit("link_rate", self.link_rate, "Of a link of the torus, per direction, frames included",
              derived("128 GB/s: 1024 GB/s of a Trn2 chip inside its node / 4 neighbours / 2 directions, AWS Neuron documentation"), rate);
        visit("node_link_rate", self.node_link_rate, "Of a link between nodes, per direction, frames included",
              derived("64 GB/s: 256 GB/s of a Trn2 chip between nodes / 2 neighbours / 2 directions, AWS Neuron documentation"), rate);
        visit("propagation", self.propagation, "Wire between two chips of a node", assumed("nothing is published"), wire);
        visit("node_propagation", self.node_propagation, "Wire between chips of two nodes", assumed("nothing is published"), wire);
        visit("half_rate", self.half_rate, "Of the fabric between the two halves of a chip, per direction; what engines read of the other half has as much to itself",
              assumed("512 GB/s; nothing is published"), rate);
        visit("ports", self.ports, "Ports of a rank at its half of the chip: queue q of the DMA engines uses port q modulo ports",
              assumed("8: engines do not wait for each other's reads"), between(1, 16));
        visit("port_rate", self.port_rate, "Of such a port, per direction", assumed("256 GB/s: twice a link, for what is sent twice"), rate);
        visit("router_latency", self.router_latency, "Head of a packet through one half of a chip", assumed("nothing is published"), at_most(duration(1'000'000'000)));
        visit("buffer_per_vl", self.buffer_per_vl, "Input buffer per link and VL", assumed("twice link_rate x round trip"), at_most(data_size(1 << 30)));
        visit("port_buffer", self.port_buffer, "Input buffer of a half per rank and VL", assumed("nothing is published"), at_most(data_size(1 << 30)));
        visit("max_payload", self.max_payload, "Largest payload of a packet, which is a row of frames that travel together",
              assumed("2 KiB (assumed): the packet format is not published; DMA transfers of 2 KiB and more are recommended, AWS Neuron documentation (quoted)"),
              between(data_size(64), data_size(64 << 10)).multiple_of(32));
        visit("frame", self.frame, "Payload of a frame", assumed("256 B"), between(data_size(32), data_size(64 << 10)).multiple_of(32));
        visit("frame_overhead", self.frame_overhead, "Header and check sum of a frame",
              assumed("28 B: with 256 B of payload nine tenths of a link remain"), between(data_size(0), data_size(4096)));
    }

    /// Frames one behind the other, each with its overhead; credits are for 32 B.
    packet_format format() const
    {
        packet_format f;
        f.max_payload_bytes = static_cast<std::uint32_t>(max_payload.value());
        f.flit_bytes = 4;
        f.cell_flits = 8;
        f.header_bytes = static_cast<std::uint32_t>(frame_overhead.value());
        f.block_flits = static_cast<std::uint32_t>((frame.value() + frame_overhead.value() + 3) / 4);
        f.block_header_bytes = static_cast<std::uint32_t>(frame_overhead.value());
        f.block_trailer_bytes = 0;
        return f;
    }
    neuronlink_wires wires() const;
};

} // namespace weft
