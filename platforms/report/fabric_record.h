// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A packet of a fabric as bytes of a capture (link type 147). The layout is ours: the model knows what headers say, and
// how many bytes they take on the wire, not where each bit of them is. Source-route header: as on the wire
// (hw/abi/ub.h). Numbers are big-endian.
//
//    0  2  magic "WF"              12  4  destination rank       40  4  bytes on the wire, whole train
//    2  1  version, 2              16  4  message, or group *    44  4  bytes of payload, whole train
//    3  1  flags (tlm/packet.h)    20  4  semaphore              48  8  source-route header; 0: routed by tables
//    4  1  VL                      24  4  packet number *        56  8  whose fabric: platform, ASCII, first 8 letters
//                                                                64     payload, with data on
//    5  1  write operation         28  4  packets of the train
//    6  1  element type            32  8  offset in the destination's memory, or bits *
//    7  1  port at the destination
//    8  4  source rank             * of an acknowledgement: first number that is missing, and 64 from `group` on, a bit
//       each
#pragma once

#include "tlm/packet.h"

#include <string>
#include <string_view>

namespace weft {

inline constexpr std::uint32_t k_fabric_record_bytes = 64; ///< before the payload

/// Of at most `longest` bytes, header included; 0: whole. `platform`: whose fabric.
std::string fabric_record(const packet& p, std::string_view platform, std::uint32_t longest);

} // namespace weft
