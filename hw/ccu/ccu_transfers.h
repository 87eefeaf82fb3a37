// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Transfers and reductions that a CCU has begun and not finished: their segments under way to peers, bounded for each
// channel, and what is to be done when they are through.
#pragma once

#include "hw/ccu/ccu_port.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace weft {

struct ccu_transfer {
    abi::ccu::op code = abi::ccu::op::set_bits;
    bool used = false;
    bool orphan = false; ///< its mission has ended: it sets nothing any more
    bool goes_out = false; ///< by its channel, and has a place there
    bool unusual = false; ///< its sum is infinite or no number
    std::uint8_t generation = 0; ///< of its place: answers to one before are not for it
    std::uint8_t type = 0;
    std::uint8_t redop = 0;
    std::uint8_t slice_count = 0;
    std::uint16_t set_entry = 0;
    std::uint16_t set_mask = 0;
    std::uint16_t channel = 0;
    std::uint16_t slices[abi::ccu::k_most_reduced] = {}; ///< in use by it
    std::uint32_t mission = 0;
    std::uint32_t instruction = 0; ///< of the store
    std::uint64_t local = 0;  ///< address, or slice
    std::uint64_t remote = 0; ///< the same of the peer; value of a register
    std::uint32_t token = 0;
    std::uint32_t entry_and_mask = 0; ///< of the peer
    std::uint16_t remote_register = 0;
    std::uint64_t bytes = 0;
    std::uint64_t issued = 0;   ///< of them, in segments
    std::uint64_t finished = 0; ///< of them
    std::uint32_t units_back = 0; ///< of what it had under way on its channel
    std::uint64_t done_ps = 0;  ///< when the last byte was written here
};

class ccu_transfers {
public:
    ccu_transfers(ccu_shared& shared, ccu_port& port) : shared_(shared), port_(port), channels_(shared.config.channels) {}

    struct channel {
        std::uint32_t peer = 0xffff'ffff;
        bool shortest_paths = false;
        std::uint32_t outstanding = 0; ///< in units of 4 KiB
        std::uint32_t places_taken = 0; ///< by transfers that have been issued and are not done
        std::deque<std::uint32_t> waiting; ///< transfers with segments to be begun
        std::deque<std::uint32_t> contexts; ///< that want a place, in the order in which they asked
        bool is_full(std::uint32_t depth) const { return places_taken >= depth; }
    };
    channel& channel_at(std::uint32_t c) { return channels_[c]; }
    std::uint32_t channel_count() const { return static_cast<std::uint32_t>(channels_.size()); }

    std::uint32_t add(const ccu_transfer& t);
    ccu_transfer& at(std::uint32_t number) { return all_[number]; }
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    /// What packets call it, and the number behind such a name; k_none: it is over.
    std::uint32_t name_of(std::uint32_t number) const { return number | std::uint32_t{all_[number].generation} << 24; }
    std::uint32_t named(std::uint32_t name) const
    {
        const std::uint32_t number = name & 0xff'ffff;
        return number < all_.size() && all_[number].used && all_[number].generation == name >> 24 ? number : k_none;
    }
    /// Nothing more is expected of channel `c`, whose missions have all ended: what is under way on it goes to `over`.
    /// False: a mission uses it.
    bool abandon(std::uint32_t c, std::vector<std::uint32_t>& over);
    /// Takes a place on its channel, which has one. Its first segments go, as far as the channel lets them.
    void begin(std::uint32_t number);
    /// It is done: its place is free.
    void leave_channel(std::uint32_t number);
    /// `bytes` of it are acknowledged or here; 0 of one that has none. True: these were the last ones.
    bool finished(std::uint32_t number, std::uint32_t bytes);
    void release(std::uint32_t number);
    /// Nothing of `mission` sets bits any more, and what has not been begun is not begun. Returns those of which
    /// nothing is under way.
    std::vector<std::uint32_t> orphan(std::uint32_t mission);

    std::uint32_t under_way() const { return under_way_; }
    std::string waits() const;
    void reset();

    /// Bytes of the segment of `t` that begins at `offset`.
    std::uint32_t segment_bytes(const ccu_transfer& t, std::uint64_t offset) const
    {
        return static_cast<std::uint32_t>(std::min(shared_.config.segment.value(), t.bytes - offset));
    }
    static std::uint32_t units_of(std::uint64_t bytes)
    {
        return bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes + abi::ccu::k_slice_bytes - 1) / abi::ccu::k_slice_bytes);
    }

private:
    void pump(std::uint32_t c);
    void issue(std::uint32_t number, ccu_transfer& t, const channel& c);

    ccu_shared& shared_;
    ccu_port& port_;
    std::vector<channel> channels_;
    std::vector<ccu_transfer> all_;
    std::vector<std::uint32_t> free_;
    std::uint32_t under_way_ = 0;
};

} // namespace weft
