// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/descriptor_check.h"

#include "hw/dma/dma_interrupt.h"
#include "tlm/mem_socket.h"

#include <cstddef>
#include <cstring>

namespace weft {

namespace {
std::uint32_t element_size(const abi::dma_descriptor& d) { return d.redop == abi::reduce_op::none ? 1 : abi::element_bytes(d.type); }

bool reads_own(const abi::dma_descriptor& d) { return d.source_offset != abi::k_no_source; }

/// Each line relies on those before it. nullptr: none is broken.
const char* broken_rule(const abi::dma_descriptor& d, const descriptor_limits& l)
{
    const bool to_ranks = d.rank_stride != 0;
    const bool strided = d.more_pieces != 0 && !to_ranks;
    const std::uint64_t last_rank = d.destination_rank + std::uint64_t{d.more_pieces} * d.rank_stride;
    const bool bad_type = static_cast<unsigned>(d.type) >= abi::k_element_types;
    const std::uint32_t element = bad_type ? 1 : element_size(d);
    return d.check != abi::check_of(d)                         ? "its check word is wrong"
           : d.destination_rank >= l.ranks                     ? "its rank does not exist"
           : to_ranks && last_rank >= l.ranks                  ? "its last rank does not exist"
           : d.destination_port >= l.ports                     ? "its port does not exist"
           : d.by_fabric > (l.returns_to_sender ? 1 : 0)       ? "by_fabric is set where no packet comes back"
           : d.shortest_paths > 1                              ? "shortest_paths is neither 0 nor 1"
           : d.remote_semaphore != abi::k_no_semaphore &&
                   d.remote_semaphore >= l.semaphores          ? "its semaphore does not exist"
           : d.redop > abi::reduce_op::min                     ? "its operation does not exist"
           : bad_type                                          ? "its element type does not exist"
           : d.redop != abi::reduce_op::none &&
                   !abi::memory_reduces(d.type)                ? "memories reduce no 8-bit floats"
           : d.bytes % element != 0                            ? "its bytes are no whole elements"
           : d.destination_offset % element != 0               ? "its destination is not aligned to an element"
           : strided && d.bytes == 0                           ? "its pieces are empty"
           : strided && d.stride < d.bytes                     ? "its pieces overlap"
           : strided && d.stride % element != 0                ? "its stride is no whole elements"
           : d.element_entries == 0 && !reads_own(d)           ? "it has no source and no elements"
           : d.element_entries > abi::k_most_element_entries   ? "it has too many entries of elements"
           : d.element_entries != 0 && d.more_pieces != 0      ? "it has pieces and elements"
           : d.element_entries != 0 && d.by_fabric != 0        ? "it has elements and by_fabric"
                                                               : nullptr;
}

bool source_in_memory(const abi::dma_descriptor& d, std::uint64_t memory_bytes)
{
    if (!reads_own(d))
        return true;
    // No sum may wrap: all three numbers are the firmware's.
    if (d.bytes > memory_bytes || (d.stride != 0 && d.more_pieces > memory_bytes / d.stride))
        return false;
    const std::uint64_t last_piece = d.more_pieces * d.stride;
    return in_capacity(d.source_offset, last_piece + d.bytes, memory_bytes);
}

std::uint64_t readable_bytes(const descriptor_limits& l, std::uint32_t rank)
{
    if (rank == l.rank)
        return l.memory_bytes;
    for (const readable_memory& m : l.neighbours)
        if (m.rank == rank)
            return m.bytes;
    return 0;
}

dma_fault fault_of_source(const abi::dma_descriptor& d, const abi::dma_element& e, const descriptor_limits& l)
{
    const std::uint64_t bytes = readable_bytes(l, e.rank);
    if (bytes == 0)
        return {k_dma_error_descriptor, "an element reads memory that the engine does not reach"};
    if (e.offset % element_size(d) != 0)
        return {k_dma_error_descriptor, "the source of an element is not aligned to an element of its type"};
    if (!in_capacity(e.offset, d.bytes, bytes))
        return {k_dma_error_memory, "an element reads beyond the memory"};
    return {};
}

const char* broken_rule(const abi::dma_descriptor& d, const std::vector<abi::dma_element_entry>& entries, const descriptor_limits& l)
{
    const abi::dma_element_entry& first = entries.front();
    const std::uint32_t elements = std::uint32_t{first.more_sources} + first.more_destinations;
    for (const abi::dma_element_entry& e : entries)
        if (e.check != abi::check_of(e))
            return "the check word of its elements is wrong";
    const std::uint32_t sources = std::uint32_t{first.more_sources} + (reads_own(d) ? 1 : 0);
    return first.more_sources >= abi::k_most_sources                           ? "it has too many sources"
           : first.more_destinations >= abi::k_most_destinations               ? "it has too many destinations"
           : abi::entries_of_elements(elements) != entries.size()              ? "its elements do not fill their entries"
           : sources > 1 && d.bytes == 0                                       ? "it has several sources and no bytes"
           : sources == 0                                                      ? "it has no source"
           : sources > 1 && d.redop == abi::reduce_op::none                    ? "it has several sources and no operation"
           : sources > 1 && reads_own(d) && d.source_offset % element_size(d) != 0 ? "its source is not aligned to an element"
           : first.wait_semaphore != abi::k_waits_for_none && first.wait_semaphore >= l.semaphores
               ? "the semaphore that it waits for does not exist"
               : nullptr;
}

dma_fault fault_of_destination(const abi::dma_descriptor& d, bool accumulates, const abi::dma_element& e, const descriptor_limits& l)
{
    return e.rank >= l.ranks ? dma_fault{k_dma_error_descriptor, "the rank of an element does not exist"}
           : e.semaphore != abi::k_no_semaphore && e.semaphore >= l.semaphores
               ? dma_fault{k_dma_error_descriptor, "the semaphore of an element does not exist"}
           : accumulates && e.offset % element_size(d) != 0
               ? dma_fault{k_dma_error_descriptor, "the destination of an element is not aligned to an element of its type"}
               : dma_fault{};
}
} // namespace

dma_fault fault_of_elements(const abi::dma_descriptor& d, const std::vector<abi::dma_element_entry>& entries, const descriptor_limits& limits)
{
    if (const char* const reason = broken_rule(d, entries, limits))
        return {k_dma_error_descriptor, reason};
    const abi::dma_element_entry& first = entries.front();
    const bool accumulates = first.more_sources + (reads_own(d) ? 1 : 0) == 1 && d.redop != abi::reduce_op::none;
    for (std::uint32_t i = 0; i < std::uint32_t{first.more_sources} + first.more_destinations; ++i) {
        const abi::dma_element& e = entries[i / abi::k_elements_of_entry].element[i % abi::k_elements_of_entry];
        if (const dma_fault fault = i < first.more_sources ? fault_of_source(d, e, limits) : fault_of_destination(d, accumulates, e, limits))
            return fault;
    }
    return {};
}

dma_fault fault_of(const abi::dma_descriptor& d, const descriptor_limits& limits)
{
    if (const char* const reason = broken_rule(d, limits))
        return {k_dma_error_descriptor, reason};
    if (!source_in_memory(d, limits.memory_bytes))
        return {k_dma_error_memory, "it reads beyond the memory"};
    return {};
}

} // namespace weft
