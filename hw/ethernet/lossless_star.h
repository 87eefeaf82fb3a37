// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lossless Ethernet between DMA engines: n machines at one switch, for collectives that run over RDMA (ring,
// halving-doubling, parameter servers). Reliable transport and priority flow control are abstracted as credits: nothing
// is lost, a full buffer stops the sender. Frames are those of RoCE v2: every packet is charged its headers, check
// sequence, preamble and gap.
//
// Models: line rate of each port and direction, propagation; the NIC as a router with one local port of twice the line
// rate; the switch with a buffer for each input port, in which every output has a FIFO of its own (VOQ), and round
// robin. These FIFOs grow with the square of the machines: 134 MB of host memory for 4,096. Does not model:
// acknowledgements (about 1 % of the other direction), congestion control.
//
// Timing, zero load, one packet of p bytes from machine to machine:
//   p / local rate (cut-through: its head) + 2 propagations + pipeline of NIC, switch, NIC + (p + 98 B) / rate
// RTL twin: none. Routing: to the destination's port (hw/routing/star.h); what a machine sends to itself the switch
// sends back.
#pragma once

#include "hw/fabric/plan_fabric.h"
#include "hw/routing/star.h"
#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <vector>

namespace weft {

struct lossless_star_config {
    bandwidth rate{100'000'000'000};
    duration propagation{500'000};
    duration switch_latency{600'000};
    duration nic_latency{300'000};
    data_size buffer{256 << 10};
    data_size max_payload{1024};

    /// RoCE v2 write of one packet: Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4, FCS 4, preamble and gap 20.
    static constexpr std::uint32_t k_header_bytes = 98;

    packet_format format() const;
    std::vector<config_problem> validate() const;
};

/// What is built and what is proved. Routing: star_routing.
fabric_plan lossless_star_plan(std::uint32_t machines, const lossless_star_config& config);

class lossless_star final : public plan_fabric {
public:
    /// Without `routing` it is star_routing.
    lossless_star(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, std::uint32_t machines,
                  const lossless_star_config& config, std::shared_ptr<const routing_policy> routing = nullptr);
};

} // namespace weft
