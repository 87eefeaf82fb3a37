// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_io_controller.h"

#include <algorithm>

namespace weft {

ub_io_controller::ub_io_controller(const sc_core::sc_module_name& name, fabric_engine& engine, ub_endpoint& endpoint,
                                   const ub_ports& ports, std::uint32_t die, const ub_config& config,
                                   std::uint32_t queue_cells, std::uint32_t users)
    : sc_core::sc_module(name), in("in", k_ub_vls), out("out", k_ub_vls),
      stats(std::string(this->name())), engine_(engine), endpoint_(endpoint), die_(die), queue_cells_(queue_cells * users),
      way_out_(*this)
{
    in.bind(static_cast<link_fw_if&>(*this));
    out.bind(static_cast<link_bw_if&>(*this));
    // The way between controller and chip is part of the router's latency.
    const fabric_link_params local{config.local_port_rate, duration(0), queue_cells};
    const fabric_link_params way_in{config.local_port_rate, duration(0), queue_cells_};
    ub_endpoint::die_links links;
    links.chip = this;
    links.port_cells = std::max(1u, queue_cells / ub_config::ports_of_controller(ports.ub, ports.local));
    queues_.reserve(ports.ways_in());
    for (std::uint32_t p = 0; p < ports.ways_in(); ++p) {
        queues_.emplace_back(*this, p);
        const std::uint32_t link =
            engine.add_edge_input(endpoint.router(), ports.from_chip(die, p), way_in, queues_.back());
        links.first_transmit = p == 0 ? link : links.first_transmit;
    }
    to_chip_ = engine.add_edge_output(endpoint.router(), ports.to_chip(die), local, way_out_);
    links.to_chip = to_chip_;
    endpoint.add_die(std::move(links));
    if (die == 0) { // of both dies together
        stats.add("sent", "packets", "Packets of the chip, once each", endpoint.sent);
        stats.add("delivered", "packets", "Packets handed to the chip", endpoint.delivered);
        stats.add("resent", "packets", "Packets sent again", endpoint.resent);
        stats.add("duplicates_dropped", "packets", "Packets that had arrived before", endpoint.duplicates_dropped);
        stats.add("corrupted_dropped", "packets", "Packets whose end-to-end CRC was wrong", endpoint.corrupted_dropped);
        stats.add("acknowledgements", "packets", "Acknowledgements sent", endpoint.acknowledgements);
        stats.add("given_up", "packets", "Packets sent and never acknowledged", endpoint.given_up);
        stats.add("not_sent", "packets", "Packets without a path", endpoint.not_sent);
    }
}

void ub_io_controller::start_of_simulation()
{
    chip_in_ = out.operator->();
    chip_out_ = in.operator->();
    for (std::uint32_t c = 0; c < k_ub_classes; ++c)
        chip_out_->credit(c * k_ub_lanes_per_class, queue_cells_, 0);
}

void ub_io_controller::transmit_queue::deliver(packet_ptr, std::uint64_t)
{
    throw bug(owner.name(), 0, "a transmit queue was asked to deliver");
}

} // namespace weft
