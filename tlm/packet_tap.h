// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where wires hand over what they carry, packet by packet with its bytes, for tools that read captured packets. A
// component has a tap that is null unless somebody captures.
#pragma once

#include <cstdint>

namespace weft {

class component;
struct packet;

/// What the bytes of a packet are.
enum class wire_protocol : std::uint8_t {
    ethernet, ///< payload is the frame (hw/ethernet/ethernet_socket.h)
    fabric    ///< payload is data; headers stand in the members of the packet
};

/// What a wire has done to a packet.
enum class wire_fate : std::uint8_t { carried, damaged, lost };

class packet_tap {
public:
    static constexpr std::uint32_t k_hidden =
        0xffff'ffff; ///< a wire that nobody captures: its packets need not be told

    /// Wire `wire` of `owner`, as in component::wires(). Returns its number for the calls below.
    virtual std::uint32_t add_wire(const component& owner, std::uint32_t wire, wire_protocol protocol) = 0;
    /// At `now_ps` it is known that `p` will have crossed, or is lost, at `time_ps` >= now_ps. `remark`: what else has
    /// happened to it, static.
    virtual void on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps,
                           wire_fate fate, const char* remark) = 0;
    /// The machine begins anew, in this sequence of chance (component::reset).
    virtual void on_reset(std::uint32_t wire, std::uint32_t draw) = 0;

protected:
    ~packet_tap() = default;
};

/// A component whose wires() can be tapped.
class tapped_wires {
public:
    /// From now on the packets of its wires are handed over with their bytes. Before the simulation starts; `tap`
    /// outlives the run.
    virtual void tap_wires(packet_tap& tap) = 0;

protected:
    ~tapped_wires() = default;
};

} // namespace weft
