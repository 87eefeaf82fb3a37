// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// DMA descriptor: 64 bytes in a ring in HBM. One descriptor is one message: `bytes` read from local HBM, carried as
// packets to `destination_rank` and written (or accumulated) at `destination_offset` of its HBM. When the whole message
// is in the destination's memory its semaphore `remote_semaphore` counts up by one. bytes == 0 is a pure notification.
//
// A descriptor may have `element_entries` more ring entries behind it, with what it reads and writes besides, and what
// it waits for:
//   sources       the message is the reduction `redop` of all sources, in their order, made on its way out (inline
//                 reduction: 2R1W with one more source)
//   destinations  every destination gets the same message, which is read once (duplication: 1R2W with one more
//                 destination)
//   semaphore     it is not begun before a semaphore of its own engine has counted so far; those behind it in the queue
//                 wait, too
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::abi {

inline constexpr std::uint32_t k_no_semaphore = 0xffff'ffff;
inline constexpr std::uint32_t k_descriptor_bytes = 64;

inline constexpr std::uint64_t k_no_source = ~std::uint64_t{0};

struct alignas(8) dma_descriptor {
    std::uint64_t source_offset = 0; ///< byte offset in local HBM; k_no_source: only elements are read
    /// Byte offset in the destination's HBM; a multiple of element_bytes(type) when redop != none.
    std::uint64_t destination_offset = 0;
    std::uint64_t bytes = 0;            ///< a multiple of element_bytes(type) when redop != none
    std::uint32_t destination_rank = 0; ///< own rank: a local copy, the fabric is not used unless `by_fabric`
    std::uint32_t remote_semaphore = k_no_semaphore;
    reduce_op redop = reduce_op::none;
    element_type type = element_type::int32;
    std::uint8_t destination_port = 0; ///< local port of the destination that receives
    std::uint8_t by_fabric = 0; ///< 1: to the own rank as to any other; only where the fabric brings it back
    std::uint32_t tag = 0; ///< free for firmware; shows up in traces
    /// 1: by shortest paths only, where the fabric has others (UB: the routing type of its link header). For exchanges
    /// in which all links are loaded alike, detours cost others what they bring.
    std::uint8_t shortest_paths = 0;
    std::uint8_t element_entries = 0; ///< ring entries of elements behind this one
    std::uint16_t first_piece = 0; ///< of messages to several ranks: whose packet goes first
    /// 0: pieces belong to one message. Else each is a message of its own: piece k goes to rank destination_rank + k x
    /// rank_stride, from `stride` x k behind source_offset, to destination_offset. Packets are taken from all pieces in
    /// turn.
    std::uint16_t rank_stride = 0;
    /// Pieces of `bytes` besides the first one. Of one message: piece k lies `stride` x k behind both offsets.
    std::uint16_t more_pieces = 0;
    /// Of pieces of one message: at least `bytes`, which is not 0; whole elements when redop != none.
    std::uint64_t stride = 0;
    std::uint64_t check = 0; ///< check_word of everything before it
};
static_assert(sizeof(dma_descriptor) == k_descriptor_bytes, "descriptor layout is part of the ABI");
static_assert(sizeof(dma_descriptor::first_piece) == sizeof(dma_descriptor::more_pieces), "any piece may go first");

inline constexpr std::uint32_t k_most_sources = 16;     ///< of a descriptor, its own included
inline constexpr std::uint32_t k_most_destinations = 8; ///< the same

/// 16 bytes: one more place that a descriptor reads or writes.
struct alignas(8) dma_element {
    std::uint64_t offset = 0; ///< in HBM of `rank`; a multiple of element_bytes(type) when redop != none
    std::uint32_t rank = 0;   ///< of a source: the own one, or another one of the chip whose memory the engine reaches
    std::uint32_t semaphore = k_no_semaphore; ///< of a destination: counts there; of a source: k_no_semaphore
};
static_assert(sizeof(dma_element) == 16, "element layout is part of the ABI");

inline constexpr std::uint32_t k_elements_of_entry = 3;

inline constexpr std::uint16_t k_waits_for_none = 0xffff;

/// Ring entry of elements, as long as a descriptor. Of the first one behind a descriptor the counts and the semaphore
/// are read, of the others only elements: first all sources, then all destinations.
struct alignas(8) dma_element_entry {
    dma_element element[k_elements_of_entry];
    /// Elements that are read. Messages of several sources carry no operation any more.
    std::uint8_t more_sources = 0;
    std::uint8_t more_destinations = 0; ///< elements that are written
    std::uint16_t wait_semaphore = k_waits_for_none; ///< of the own engine
    std::uint32_t wait_count = 0;       ///< its COUNT - this >= 0 (signed): begin
    std::uint64_t check = 0;            ///< check_word of everything before it
};
static_assert(sizeof(dma_element_entry) == k_descriptor_bytes, "every ring entry is as long");

/// Ring entries that so many elements take; one where there are none.
constexpr std::uint32_t entries_of_elements(std::uint32_t elements)
{
    return elements <= k_elements_of_entry ? 1 : (elements + k_elements_of_entry - 1) / k_elements_of_entry;
}
inline constexpr std::uint32_t k_most_element_entries = entries_of_elements(k_most_sources - 1 + k_most_destinations - 1);

} // namespace weft::abi
