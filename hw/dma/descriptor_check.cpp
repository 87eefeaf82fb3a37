// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/descriptor_check.h"

#include "hw/dma/dma_interrupt.h"
#include "tlm/mem_socket.h"

#include <cstddef>
#include <cstring>

namespace weft {

namespace {
std::uint64_t check_of(const abi::dma_descriptor& d)
{
    std::uint32_t words[abi::k_descriptor_bytes / 4];
    std::memcpy(words, &d, sizeof words);
    return abi::check_word(words, offsetof(abi::dma_descriptor, check) / 4);
}

/// Each line relies on those before it. nullptr: none is broken.
const char* broken_rule(const abi::dma_descriptor& d, const descriptor_limits& l)
{
    const bool to_ranks = d.rank_stride != 0;
    const bool strided = d.more_pieces != 0 && !to_ranks;
    const std::uint64_t last_rank = d.destination_rank + std::uint64_t{d.more_pieces} * d.rank_stride;
    const bool bad_type = static_cast<unsigned>(d.type) >= abi::k_element_types;
    const std::uint32_t element = bad_type || d.redop == abi::reduce_op::none ? 1 : abi::element_bytes(d.type);
    return d.check != check_of(d)                              ? "its check word is wrong"
           : d.destination_rank >= l.ranks                     ? "its rank does not exist"
           : to_ranks && last_rank >= l.ranks                  ? "its last rank does not exist"
           : d.destination_port >= l.ports                     ? "its port does not exist"
           : d.by_fabric > (l.returns_to_sender ? 1 : 0)       ? "by_fabric is set where no packet comes back"
           : d.shortest_paths > 1                              ? "shortest_paths is neither 0 nor 1"
           : d.remote_semaphore != abi::k_no_semaphore &&
                   d.remote_semaphore >= l.semaphores          ? "its semaphore does not exist"
           : d.redop > abi::reduce_op::min                     ? "its operation does not exist"
           : bad_type                                          ? "its element type does not exist"
           : d.bytes % element != 0                            ? "its bytes are no whole elements"
           : d.destination_offset % element != 0               ? "its destination is not aligned to an element"
           : strided && d.bytes == 0                           ? "its pieces are empty"
           : strided && d.stride < d.bytes                     ? "its pieces overlap"
           : strided && d.stride % element != 0                ? "its stride is no whole elements"
                                                               : nullptr;
}

bool source_in_memory(const abi::dma_descriptor& d, std::uint64_t memory_bytes)
{
    // No sum may wrap: all three numbers are the firmware's.
    if (d.bytes > memory_bytes || (d.stride != 0 && d.more_pieces > memory_bytes / d.stride))
        return false;
    const std::uint64_t last_piece = d.more_pieces * d.stride;
    return in_capacity(d.source_offset, last_piece + d.bytes, memory_bytes);
}
} // namespace

dma_fault fault_of(const abi::dma_descriptor& d, const descriptor_limits& limits)
{
    if (const char* const reason = broken_rule(d, limits))
        return {k_dma_error_descriptor, reason};
    if (!source_in_memory(d, limits.memory_bytes))
        return {k_dma_error_memory, "it reads beyond the memory"};
    return {};
}

} // namespace weft
