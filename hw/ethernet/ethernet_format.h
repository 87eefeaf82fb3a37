// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes of an Ethernet frame on the wire (IEEE 802.3, quoted).
#pragma once

#include <cstdint>

namespace weft {

inline constexpr std::uint32_t k_preamble_and_gap_bytes = 20; ///< 7 preamble, 1 start of frame, 12 inter-packet gap
inline constexpr std::uint32_t k_fcs_bytes = 4;
inline constexpr std::uint32_t k_min_frame_bytes = 60; ///< without frame check sequence; shorter ones are padded

/// Bytes that a frame of `frame_bytes` (from the destination address on, without frame check sequence) takes on the
/// wire.
constexpr std::uint32_t ethernet_wire_bytes(std::uint32_t frame_bytes)
{
    return (frame_bytes < k_min_frame_bytes ? k_min_frame_bytes : frame_bytes) + k_fcs_bytes + k_preamble_and_gap_bytes;
}

} // namespace weft
