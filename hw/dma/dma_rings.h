// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Descriptor rings of a DMA engine: they bring what doorbells announce from memory onto the chip, at most `prefetch` of
// a queue.
#pragma once

#include "hw/abi/descriptor.h"
#include "hw/dma/descriptor_ring.h"
#include "hw/dma/dma_shared.h"
#include "tlm/reg_file.h"
#include "tlm/stats.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class dma_rings {
public:
    dma_rings(dma_shared& shared, const reg_file& registers)
        : shared_(shared), regs_(registers), queues_(shared.config.queues)
    {
    }

    // --- Registers
    void enable(bool on);
    /// A doorbell that takes effect at `at_ps`; false: there is no such ring, or it does not hold so many.
    bool post(std::uint32_t q, std::uint32_t tail, std::uint64_t at_ps);
    /// 0 for a queue that does not exist.
    std::uint32_t head(std::uint32_t q);

    // --- Events
    void doorbell(std::uint32_t q);
    /// The fetch of queue `q` is done: its descriptor goes to `d`; false where the ring lies beyond the memory.
    bool fetched(std::uint32_t q, abi::dma_descriptor& d);
    /// Fetches the elements of `d`, which was fetched and is sound; false where not all of them are posted.
    bool fetch_elements(std::uint32_t q, const abi::dma_descriptor& d);
    /// The fetch that is done was of elements.
    bool awaits_elements(std::uint32_t q) const { return queues_[q].elements_of != nullptr; }
    /// The fetch of elements is done; false as for fetched().
    bool fetched_elements(std::uint32_t q, abi::dma_descriptor& d, std::vector<abi::dma_element_entry>& entries);

    // --- Steps of a descriptor
    /// What was fetched, of `entries`, is sound: it is held on chip.
    void hold(std::uint32_t q, std::uint32_t entries);
    /// The oldest one that is held has been read to its end, which leaves room for another.
    void read_out(std::uint32_t q)
    {
        --queues_[q].held;
        start_fetch(q);
    }
    /// The last packet of one, of `entries`, starts now; it has left at `at_ps`.
    void sent(std::uint32_t q, std::uint64_t at_ps, std::uint32_t entries)
    {
        queues_[q].ring.sent(shared_.time.now_ps(), at_ps, entries);
        ++descriptors;
    }

    /// An error stops queue `q` until the reset. `reason`: a clause; static.
    void stop(std::uint32_t q, const char* reason) { queues_[q].stopped_by = reason; }
    const char* stopped_by(std::uint32_t q) const { return queues_[q].stopped_by; } ///< nullptr: it runs
    /// Where its next entry stands in the ring; of a queue that a descriptor has stopped, that descriptor.
    std::uint32_t next_slot(std::uint32_t q) const { return queues_[q].ring.next_slot(entries(q)); }
    /// Where the oldest descriptor stands that is not wholly sent.
    std::uint32_t oldest_slot(std::uint32_t q) const { return queues_[q].ring.oldest_slot(entries(q)); }
    std::uint32_t left(std::uint32_t q) const { return queues_[q].ring.left(); }
    bool idle() const;
    void reset();

    counter descriptors; ///< sent

private:
    struct queue {
        descriptor_ring ring;
        std::uint32_t held = 0; ///< descriptors on chip, not wholly read
        bool fetching = false;
        const char* stopped_by = nullptr;
        std::unique_ptr<abi::dma_descriptor> elements_of; ///< the one whose elements are being fetched
    };
    std::uint32_t entries(std::uint32_t q) const { return static_cast<std::uint32_t>(regs_.at(abi::dma::RING_ENTRIES(q))); }
    void start_fetch(std::uint32_t q);
    std::uint64_t place_of_next(std::uint32_t q, std::uint32_t ahead = 0) const;
    bool read_entry(std::uint32_t q, std::uint32_t ahead, void* to) const;

    dma_shared& shared_;
    const reg_file& regs_;
    std::vector<queue> queues_;
    bool enabled_ = false;
};

} // namespace weft
