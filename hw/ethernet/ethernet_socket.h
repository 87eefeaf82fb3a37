// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How Ethernet devices meet: one call over TLM-2.0 base sockets with a protocol type of its own. Nothing comes back:
// Ethernet has no credits, and whoever has no room drops the frame and counts it.
//
//   receive(frame, delay)   the last byte of the frame is at the receiver `delay_ps` after the caller's present time
//                           (notifier::now_ps). The receiver schedules what it does then; it never does it in the call.
//
// A frame is a packet of the pool: `payload` holds the first `payload_bytes` bytes of the frame, from the destination
// address on and without the frame check sequence. A frame whose data is switched off (`data: off`) carries its headers
// only;
// `wire_bytes` is always the whole of it on the wire, frame check sequence, preamble and gap included.
// packet_flags::k_corrupted: the frame check sequence is wrong; MACs drop such a frame and count it.
#pragma once

#include "tlm/packet.h"

#include <systemc>
#include <tlm>

namespace weft {

struct ethernet_protocol_types {}; ///< makes our sockets differ from those of every other protocol

class ethernet_fw_if : public virtual sc_core::sc_interface {
public:
    using protocol_types = ethernet_protocol_types;
    virtual void receive(packet_ptr frame, std::uint64_t delay_ps) = 0;
};

class ethernet_bw_if : public virtual sc_core::sc_interface {
public:
    using protocol_types = ethernet_protocol_types;
};

namespace detail {
using ethernet_initiator_base =
    ::tlm::tlm_base_initiator_socket<32, ethernet_fw_if, ethernet_bw_if, 1, sc_core::SC_ONE_OR_MORE_BOUND>;
using ethernet_target_base =
    ::tlm::tlm_base_target_socket<32, ethernet_fw_if, ethernet_bw_if, 1, sc_core::SC_ONE_OR_MORE_BOUND>;
} // namespace detail

/// Transmits; bind it to a receiving socket. One direction of a port.
class ethernet_transmit_socket : public detail::ethernet_initiator_base, private ethernet_bw_if {
public:
    explicit ethernet_transmit_socket(const char* name) : detail::ethernet_initiator_base(name)
    {
        detail::ethernet_initiator_base::bind(static_cast<ethernet_bw_if&>(*this));
    }
    std::type_index get_protocol_types() const override { return typeid(ethernet_protocol_types); }
    const char* kind() const override { return "weft::ethernet_transmit_socket"; }
    using detail::ethernet_initiator_base::bind;
};

/// Receives; calls `device.on_frame(port, frame, delay)`. One direction of a port.
class ethernet_device {
public:
    virtual void on_frame(std::uint32_t port, packet_ptr frame, std::uint64_t delay_ps) = 0;

protected:
    ~ethernet_device() = default;
};

class ethernet_receive_socket : public detail::ethernet_target_base, private ethernet_fw_if {
public:
    ethernet_receive_socket(const char* name, ethernet_device& device, std::uint32_t port)
        : detail::ethernet_target_base(name), device_(device), port_(port)
    {
        detail::ethernet_target_base::bind(static_cast<ethernet_fw_if&>(*this));
    }
    std::type_index get_protocol_types() const override { return typeid(ethernet_protocol_types); }
    const char* kind() const override { return "weft::ethernet_receive_socket"; }
    using detail::ethernet_target_base::bind;

private:
    void receive(packet_ptr frame, std::uint64_t delay_ps) override
    {
        device_.on_frame(port_, std::move(frame), delay_ps);
    }
    ethernet_device& device_;
    std::uint32_t port_;
};

} // namespace weft
