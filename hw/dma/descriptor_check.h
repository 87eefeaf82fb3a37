// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What makes a DMA engine refuse a descriptor. Plain C++.
#pragma once

#include "hw/abi/descriptor.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Memory of another rank that an engine reads without the fabric.
struct readable_memory {
    std::uint32_t rank = 0;
    std::uint64_t bytes = 0;
};

/// What an engine can do, as far as a descriptor can ask for more.
struct descriptor_limits {
    std::uint32_t ranks = 1;
    std::uint32_t ports = 1;
    std::uint32_t semaphores = 0;
    bool returns_to_sender = false; ///< the fabric brings a packet to the own rank back
    std::uint64_t memory_bytes = 0;
    std::uint32_t rank = 0;
    std::vector<readable_memory> neighbours; ///< what elements may read besides the own memory
};

/// Why a queue stops.
struct dma_fault {
    std::uint32_t error_bits = 0;  ///< of ERROR; 0: no fault
    const char* reason = nullptr; ///< a clause, for reports
    explicit operator bool() const { return error_bits != 0; }
};

/// The first fault of `d`: what it says of itself comes before where it reads.
dma_fault fault_of(const abi::dma_descriptor& d, const descriptor_limits& limits);
/// The same of its elements, once it has none itself.
dma_fault fault_of_elements(const abi::dma_descriptor& d, const std::vector<abi::dma_element_entry>& entries, const descriptor_limits& limits);

} // namespace weft
