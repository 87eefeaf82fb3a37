// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// link: the wire between two devices that are joined by sockets. The sender serialises (it must know when its wire is
// free); the wire flies. Models: propagation both ways, a fault hook. Does not model: bit errors and retry (see hw/ub),
// width changes. Timing: first byte arrives `propagation` after the sender's call, a credit likewise. Inside one fabric
// engine the same arithmetic is done without this module; testbenches/hw/fabric_test.cpp shows that both joints behave
// identically.
#pragma once

#include "tlm/link_socket.h"
#include "tlm/units.h"

namespace weft {

/// What happens to a packet on a wire.
struct link_verdict {
    bool drop = false;    ///< lost; its credits come back after the wire's round trip, as after a link-layer discard
    bool corrupt = false; ///< one payload bit flips and packet_flags::k_corrupted is set
    std::uint64_t extra_delay_ps = 0; ///< arrives later, and whatever follows on the wire arrives behind it
};

/// Fault hook: asked for every packet that enters the wire. A train is asked for once, and `p.packet_count` packets
/// share the verdict: set `burst: 1 packet` where single ones are to be lost.
class link_fault_if {
public:
    virtual link_verdict on_packet(std::uint64_t now_ps, const packet& p) = 0;

protected:
    ~link_fault_if() = default;
};

/// Flip one bit of the payload (the first one) and mark the packet.
void corrupt(packet& p);

class link final : public sc_core::sc_module, public link_fw_if, public link_bw_if {
public:
    link_target_socket in;     ///< from the sender
    link_initiator_socket out; ///< to the receiver

    link(const sc_core::sc_module_name& name, std::uint32_t vl_count, duration propagation);

    void set_fault_hook(link_fault_if* hook) { hook_ = hook; }

    void send(packet_ptr p, std::uint64_t delay_ps) override;
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override;

    std::uint64_t packets() const { return packets_; }
    std::uint64_t dropped() const { return dropped_; }

private:
    std::uint64_t propagation_ps_;
    link_fault_if* hook_ = nullptr;
    std::uint64_t last_tail_ps_ = 0; ///< arrival of the last byte sent: extra delays must not reorder
    std::uint64_t packets_ = 0;
    std::uint64_t dropped_ = 0;
};

} // namespace weft
