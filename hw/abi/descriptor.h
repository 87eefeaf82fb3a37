// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// DMA descriptor: 64 bytes in a ring in HBM. One descriptor is one message: `bytes` read from local HBM, carried as packets
// to `destination_rank` and written (or accumulated) at `destination_offset` of its HBM. When the whole message is in the
// destination's memory its semaphore `remote_semaphore` counts up by one. bytes == 0 is a pure notification.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::abi {

inline constexpr std::uint32_t k_no_semaphore = 0xffff'ffff;
inline constexpr std::uint32_t k_descriptor_bytes = 64;

struct alignas(8) dma_descriptor {
    std::uint64_t source_offset = 0; ///< byte offset in local HBM
    std::uint64_t destination_offset =
        0; ///< byte offset in the destination's HBM; a multiple of element_bytes(type) when redop != none
    std::uint64_t bytes = 0;            ///< a multiple of element_bytes(type) when redop != none
    std::uint32_t destination_rank = 0; ///< own rank: a local copy, the fabric is not used unless `by_fabric`
    std::uint32_t remote_semaphore = k_no_semaphore;
    reduce_op redop = reduce_op::none;
    element_type type = element_type::int32;
    std::uint8_t destination_port = 0; ///< local port of the destination that receives
    std::uint8_t by_fabric = 0; ///< 1: to the own rank as to any other; only where the fabric brings it back
    std::uint32_t tag = 0; ///< free for firmware; shows up in traces
    /// 1: by shortest paths only, where the fabric has others (UB: the routing type of its link header). For exchanges in which all links
    /// are loaded alike, detours cost others what they bring.
    std::uint8_t shortest_paths = 0;
    std::uint8_t first_piece = 0; ///< of messages to several ranks: whose packet goes first
    /// 0: pieces belong to one message. Else each is a message of its own: piece k goes to rank destination_rank + k x rank_stride, from
    /// `stride` x k behind source_offset, to destination_offset. Packets are taken from all pieces in turn.
    std::uint16_t rank_stride = 0;
    /// Pieces of `bytes` besides the first one. Of one message: piece k lies `stride` x k behind both offsets.
    std::uint32_t more_pieces = 0;
    std::uint64_t stride = 0; ///< of pieces of one message: at least `bytes`, which is not 0; whole elements when redop != none
    std::uint64_t check = 0; ///< check_word of everything before it
};
static_assert(sizeof(dma_descriptor) == k_descriptor_bytes, "descriptor layout is part of the ABI");

} // namespace weft::abi
