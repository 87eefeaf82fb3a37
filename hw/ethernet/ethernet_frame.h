// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Frames as packets of the pool (ethernet_socket.h tells what the fields mean): make, copy, damage, decode, and say in
// words.
#pragma once

#include "hw/abi/switchml.h"
#include "hw/ethernet/ethernet_format.h"
#include "tlm/packet.h"

#include <string>

namespace weft {

/// Bytes of the frame without frame check sequence, preamble and gap, whether it carries them or not.
inline std::uint32_t frame_bytes(const packet& frame)
{
    return frame.wire_bytes - k_fcs_bytes - k_preamble_and_gap_bytes;
}

/// A frame of `bytes` bytes on the wire (padded to the minimum) that carries the first `carried_bytes` of them,
/// undefined.
/// With data on that is all, with data off the headers.
packet_ptr make_frame(packet_pool& pool, std::uint32_t bytes, std::uint32_t carried_bytes);

/// The same frame again, for multicast and for duplicates.
packet_ptr copy_frame(packet_pool& pool, const packet& frame);

/// Flip one of the bits it carries, chosen by `random`, and mark it.
void corrupt_frame(packet& frame, std::uint64_t random);

enum class frame_kind : std::uint8_t { other, udp, switchml, roce };

/// What the headers of a frame say. Members beyond `kind` hold only what that kind has.
struct frame_summary {
    frame_kind kind = frame_kind::other;
    bool corrupted = false;
    std::uint32_t wire_bytes = 0;
    std::uint32_t ether_type = 0;
    std::uint32_t payload_bytes = 0;    ///< after all headers below; roce: without ICRC
    abi::switchml::addresses addresses; ///< other: MACs only
    abi::switchml::header switchml;
    abi::switchml::bth bth;
    abi::switchml::reth reth;    ///< of packets that begin a message
    std::uint32_t immediate = 0; ///< of packets with one
};
/// SwitchML frames go to or come from ports 0xbee0 to 0xbeef.
frame_summary decode_frame(const packet& frame);

/// "SwitchML job 1 slot 5 version 0 id 7 exponents 3/4, 256 words, 02:00:00:00:00:01 > 02:00:00:00:00:ff, 1100 B"
std::string to_string(const frame_summary& frame);
/// The same of a frame.
std::string frame_text(const packet& frame);

} // namespace weft
