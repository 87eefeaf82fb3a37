// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user sets of a DMA engine, and what the engine is told of the fabric behind its ports.
#pragma once

#include "hw/abi/registers.h"
#include "tlm/config_fields.h"
#include "tlm/packet.h"
#include "tlm/units.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// What an engine takes besides its memory and its ports; as long as nothing is set, nothing. The platform sets it.
struct dma_engine_timing {
    duration start{0};          ///< from a doorbell to the fetch of its descriptors
    duration wake{0};           ///< from the semaphore that a descriptor waited for to its first read
    bandwidth queue_rate{0};    ///< bytes that one queue moves; 0: as fast as memory and ports
    bandwidth rate{0};          ///< the same of all queues together; 0: no bound
    /// Engines that share a transfer: it is cut into so many elements where each is as long as `least_element`.
    std::uint32_t spread = 1;
    data_size least_element{512};
    data_size element{64 << 10}; ///< longest element
    data_size element_overhead{0}; ///< each takes as long as this many bytes more

    /// Elements of a transfer's first `bytes`.
    std::uint64_t elements_of(std::uint64_t bytes) const
    {
        const auto parts = [bytes](data_size s) { return (bytes + s.value() - 1) / s.value(); };
        return std::max(parts(element), std::min<std::uint64_t>(spread, parts(least_element)));
    }
};

struct dma_config {
    static constexpr config_part k_part = config_part::dma;
    static constexpr std::uint32_t k_most_queues = abi::dma::TAIL_count;

    std::uint32_t queues = 8;
    std::uint32_t ring_entries = 64;
    std::uint32_t prefetch = 4;
    std::uint32_t read_ahead = 64;
    data_size receive_buffer = data_size(32 << 10);
    duration register_latency = duration(20'000);
    dma_engine_timing engine = {}; ///< no key of a file

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("queues", self.queues, "Descriptor queues; queue q uses local port q modulo ports", assumed("nothing is published"),
              between(4, k_most_queues).because(": the collectives run up to four channels at once"));
        visit("ring_entries", self.ring_entries, "Descriptors per ring, a power of two", assumed("nothing is published"),
              between(4, 65'536).powers_of_two());
        visit("prefetch", self.prefetch, "Descriptors of one queue held on chip", assumed("nothing is published"),
              between(1, 64).because(" descriptors"));
        visit("read_ahead", self.read_ahead, "Packets of one port between memory and wire",
              assumed("covers HBM latency at port rate"), between(1, 65'536).because(" packets"));
        visit("receive_buffer", self.receive_buffer,
              "Buffer per local port and VL for packets on their way to memory", assumed("nothing is published"),
              at_most(data_size(1 << 30)));
        visit("register_latency", self.register_latency, "One register access inside the DMA", assumed("nothing is published"),
              at_most(duration(10'000'000)));
    }
    std::vector<config_problem> validate() const { return limit_problems(*this); }
};

/// What the fabric behind the local ports looks like.
struct dma_fabric_view {
    std::uint32_t ports = 1;
    std::uint32_t vl_count = 1;
    bandwidth port_rate;
    packet_format format;
    std::uint32_t train = 1;        ///< packets of a message that go as one transaction
    bool carry_data = true;         ///< false: no payload bytes, same times
    bool in_order = true;           ///< false: packets may overtake each other
    bool returns_to_sender = false; ///< a packet to the own rank comes back
};

} // namespace weft
