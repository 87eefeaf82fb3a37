// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Check-bit entries of a CCU, and the contexts that wait for bits of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

class ccu_check_bits {
public:
    explicit ccu_check_bits(std::uint32_t entries) : entries_(entries, 0), waiters_(entries) {}

    std::uint32_t count() const { return static_cast<std::uint32_t>(entries_.size()); }
    std::uint16_t value(std::uint32_t entry) const { return entries_[entry]; }
    bool all_set(std::uint32_t entry, std::uint16_t mask) const { return (entries_[entry] & mask) == mask; }
    void clear(std::uint32_t entry, std::uint16_t mask) { entries_[entry] = static_cast<std::uint16_t>(entries_[entry] & ~mask); }

    void wait(std::uint32_t entry, std::uint16_t mask, std::uint32_t context) { waiters_[entry].push_back({context, mask}); }
    void forget(std::uint32_t entry, std::uint32_t context)
    {
        auto& all = waiters_[entry];
        all.erase(std::remove_if(all.begin(), all.end(), [=](const waiter& w) { return w.context == context; }), all.end());
    }
    /// wake(context) for everyone whose bits are set now, in the order in which they began to wait.
    template <class Wake> void set(std::uint32_t entry, std::uint16_t mask, Wake&& wake)
    {
        entries_[entry] = static_cast<std::uint16_t>(entries_[entry] | mask);
        auto& all = waiters_[entry];
        std::size_t kept = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all_set(entry, all[i].mask))
                wake(all[i].context);
            else
                all[kept++] = all[i];
        }
        all.resize(kept);
    }
    void reset()
    {
        std::fill(entries_.begin(), entries_.end(), std::uint16_t{0});
        for (auto& w : waiters_)
            w.clear();
    }

private:
    struct waiter {
        std::uint32_t context;
        std::uint16_t mask;
    };
    std::vector<std::uint16_t> entries_;
    std::vector<std::vector<waiter>> waiters_;
};

} // namespace weft
