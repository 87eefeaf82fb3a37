// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// fabric_socket: one port of a router as a pair of link sockets, the joint between a fabric engine and whatever stands
// outside: the chip behind a local port, another engine behind a tlm/link, an RTL model, a foreign SystemC component.
//
// Timing. Into the engine: a packet's head reaches arbitration `pipeline` after its head reached the socket. Out of the
// engine: the head leaves the socket `out_params.propagation` after the transmission began. The input propagation of
// `in_params` is the way of the credits back and must be what the sender's side charges for packets; both are zero
// where a tlm/link flies between two engines. Two engines joined so behave as one engine with an internal link, except
// that the first credits arrive one propagation after time zero (testbenches/hw/fabric_test.cpp).
#pragma once

#include "hw/fabric/fabric_engine.h"
#include "tlm/link_socket.h"

#include <string>
#include <vector>

namespace weft {

class fabric_socket final : public link_fw_if, public link_bw_if, public fabric_edge_if {
public:
    link_target_socket in;     ///< packets into the fabric
    link_initiator_socket out; ///< packets out of the fabric

    /// The sockets are named `name`_in and `name`_out and belong to the module being built. in_params.depth_cells is
    /// the buffer behind `in`; the depth behind `out` is what its receiver advertises.
    fabric_socket(const std::string& name, fabric_engine& engine, std::uint32_t router, std::uint32_t port,
                  const fabric_link_params& in_params, const fabric_link_params& out_params)
        : in((name + "_in").c_str(), engine.vl_count()), out((name + "_out").c_str(), engine.vl_count()),
          engine_(engine), input_(engine.add_edge_input(router, port, in_params, *this)),
          output_(engine.add_edge_output(router, port, out_params, *this))
    {
        in.bind(static_cast<link_fw_if&>(*this));
        out.bind(static_cast<link_bw_if&>(*this));
    }

    /// Buffer depth to whoever sends into `in`; its owner calls this once at start of simulation.
    void advertise()
    {
        if (engine_.voq())
            part_buffer();
        for (std::uint32_t vl = 0; vl < engine_.vl_count(); ++vl)
            in->credit(vl, engine_.depth_cells(input_), 0);
    }

    std::uint32_t input_link() const { return input_; }
    std::uint32_t output_link() const { return output_; }

    void send(packet_ptr p, std::uint64_t delay_ps) override
    {
        const std::uint32_t cells = p->cells;
        const std::uint32_t out_link = engine_.inject(input_, std::move(p), delay_ps);
        if (share_cells_ != 0)
            count_queued(out_link, cells);
    }
    /// With a FIFO for each output, none of them may fill the buffer: each has an equal share, and keeps what is on its
    /// way.
    bool has_room(std::uint32_t destination, bool) override
    {
        if (full_outputs_ == 0)
            return true;
        probe_.destination = destination;
        return queued_[engine_.output_port(input_, probe_)] < share_cells_;
    }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        engine_.edge_credit(output_, vl, cells, delay_ps);
    }
    void deliver(packet_ptr p, std::uint64_t delay_ps) override { out->send(std::move(p), delay_ps); }
    void return_credit(std::uint32_t vl, std::uint32_t cells, std::uint32_t out_link, std::uint64_t delay_ps) override
    {
        if (share_cells_ != 0)
            count_queued(out_link, 0u - cells);
        in->credit(vl, cells, delay_ps);
    }

private:
    void part_buffer()
    {
        const std::uint32_t router = engine_.link_ends(input_).second;
        std::uint32_t outputs = 0;
        for (std::uint32_t port = 0; port < engine_.port_count(router); ++port) {
            const std::uint32_t link = engine_.out_link(router, port);
            outputs += link != fabric_engine::k_none && engine_.is_router_link(link) ? 1 : 0;
        }
        queued_.assign(engine_.port_count(router), 0);
        share_cells_ = std::max(1u, engine_.depth_cells(input_) / std::max(1u, outputs)); // 0 would mean: not parted
    }
    /// `cells`, or ~cells + 1, more wait here for the output that sends on `out_link`.
    void count_queued(std::uint32_t out_link, std::uint32_t cells)
    {
        std::uint32_t& queued = queued_[engine_.sending_port(out_link)];
        full_outputs_ -= queued >= share_cells_ ? 1 : 0;
        queued += cells; // unsigned: wraps back
        full_outputs_ += queued >= share_cells_ ? 1 : 0;
    }

    fabric_engine& engine_;
    std::uint32_t input_;
    std::uint32_t output_;
    std::uint32_t share_cells_ = 0;  ///< of each output; 0: one FIFO for all
    std::uint32_t full_outputs_ = 0; ///< that have their share, or more
    std::vector<std::uint32_t> queued_; ///< cells that wait here, by output port
    packet probe_;
};

} // namespace weft
