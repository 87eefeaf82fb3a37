// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a descriptor ring has got: posted, fetched, sent, completed. All counts are of ring entries and wrap at 2^32,
// as TAIL and HEAD do: a descriptor with elements has several. Plain C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class descriptor_ring {
public:
    /// Whether a ring of `entries` has room for all up to `tail` that HEAD does not show at `now_ps`. `entries` must be
    /// a power of two.
    bool holds(std::uint32_t tail, std::uint64_t entries, std::uint64_t now_ps)
    {
        const bool power_of_two = entries != 0 && (entries & (entries - 1)) == 0;
        return power_of_two && tail - head(now_ps) <= entries;
    }
    /// A doorbell is written; it counts when it has crossed the bus.
    void ring(std::uint32_t tail) { doorbells_.push_back(tail); }
    /// The oldest of the doorbells has crossed the bus.
    void hear()
    {
        tail_ = doorbells_.front();
        doorbells_.erase(doorbells_.begin());
    }

    bool all_fetched() const { return fetched_ == tail_; }
    std::uint32_t not_fetched() const { return tail_ - fetched_; }
    /// Slot of the entry `ahead` behind the next one to fetch.
    std::uint32_t next_slot(std::uint32_t entries, std::uint32_t ahead = 0) const { return (fetched_ + ahead) & (entries - 1); }
    /// That of the oldest descriptor that is not wholly sent.
    std::uint32_t oldest_slot(std::uint32_t entries) const { return sent_ & (entries - 1); }
    /// A descriptor of `entries` is on chip.
    void fetch(std::uint32_t entries) { fetched_ += entries; }

    /// The last packet of the oldest descriptor, of `entries`, is on its wire and has left it at `at_ps`.
    void sent(std::uint64_t now_ps, std::uint64_t at_ps, std::uint32_t entries)
    {
        static_cast<void>(head(now_ps)); // keeps the list short
        leaves_at_ps_.insert(leaves_at_ps_.end(), entries, at_ps);
        sent_ += entries;
    }
    /// Entries of descriptors of which every byte has left at `now_ps`.
    std::uint32_t head(std::uint64_t now_ps)
    {
        std::size_t gone = 0;
        while (gone < leaves_at_ps_.size() && leaves_at_ps_[gone] <= now_ps)
            ++gone;
        leaves_at_ps_.erase(leaves_at_ps_.begin(), leaves_at_ps_.begin() + static_cast<std::ptrdiff_t>(gone));
        head_ += static_cast<std::uint32_t>(gone);
        return head_;
    }

    std::uint32_t left() const { return tail_ - sent_; } ///< posted and not wholly sent
    bool idle() const { return left() == 0 && doorbells_.empty(); }

private:
    std::uint32_t tail_ = 0;
    std::uint32_t fetched_ = 0;
    std::uint32_t sent_ = 0;
    std::uint32_t head_ = 0;                  ///< as last shown
    std::vector<std::uint32_t> doorbells_;    ///< on their way across the bus
    std::vector<std::uint64_t> leaves_at_ps_; ///< of entries that were sent and that HEAD does not yet show
};

} // namespace weft
