// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// fabric_socket: one port of a router as a pair of link sockets, the joint between a fabric engine and whatever stands
// outside: the chip behind a local port, another engine behind a tlm/link, an RTL model, a foreign SystemC component.
//
// Timing. Into the engine: a packet's head reaches arbitration `pipeline` after its head reached the socket. Out of the
// engine: the head leaves the socket `out_params.propagation` after the transmission began. The input propagation of
// `in_params` is the way of the credits back and must be what the sender's side charges for packets; both are zero where
// a tlm/link flies between two engines. Two engines joined so behave as one engine with an internal link, except that
// the first credits arrive one propagation after time zero (testbenches/hw/fabric_test.cpp).
#pragma once

#include "hw/fabric/fabric_engine.h"
#include "tlm/link_socket.h"

#include <string>

namespace weft {

class fabric_socket final : public link_fw_if, public link_bw_if, public fabric_edge_if {
public:
    link_target_socket in;     ///< packets into the fabric
    link_initiator_socket out; ///< packets out of the fabric

    /// The sockets are named `name`_in and `name`_out and belong to the module being built. in_params.depth_cells is the
    /// buffer behind `in`; the depth behind `out` is what its receiver advertises.
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
        for (std::uint32_t vl = 0; vl < engine_.vl_count(); ++vl)
            in->credit(vl, engine_.depth_cells(input_), 0);
    }

    std::uint32_t input_link() const { return input_; }
    std::uint32_t output_link() const { return output_; }

    void send(packet_ptr p, std::uint64_t delay_ps) override { engine_.inject(input_, std::move(p), delay_ps); }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        engine_.edge_credit(output_, vl, cells, delay_ps);
    }
    void deliver(packet_ptr p, std::uint64_t delay_ps) override { out->send(std::move(p), delay_ps); }
    void return_credit(std::uint32_t vl, std::uint32_t cells, std::uint32_t, std::uint64_t delay_ps) override
    {
        in->credit(vl, cells, delay_ps);
    }

private:
    fabric_engine& engine_;
    std::uint32_t input_;
    std::uint32_t output_;
};

} // namespace weft
