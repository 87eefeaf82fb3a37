// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Who waits at each output of a fabric, and whose turn it is: round robin over (input port, VL), one waiting head each.
// Where some inputs are entries there are two such rounds, of relays and of entries: relays first, unless the entry has
// waited too long. As soon as there are trains, turns are counted in packets (fair_turn in tlm/arbiter.h). Plain C++;
// credits and buffers are the engine's.
#pragma once

#include "hw/fabric/fabric_state.h"
#include "tlm/arbiter.h"

#include <cstdint>
#include <vector>

namespace weft {

class output_arbiter {
public:
    /// Relays, or entries, that go in a row while one of the others could: each kind gets one of 64 transmissions of an
    /// output that it wants.
    static constexpr std::uint32_t k_longest_run = 63;
    /// Packets that pass a waiter of their VL because they need fewer credits: then credits of the VL are saved for it.
    static constexpr std::uint32_t k_most_passes = 63;

    /// Room for `bits` waiters at output `l`; is_entry(bit) for each.
    template <class IsEntry> void add_output(link_state& l, std::uint32_t bits, IsEntry&& is_entry)
    {
        l.waiter_base = static_cast<std::uint32_t>(waiters_.size());
        l.waiter_words = static_cast<std::uint16_t>((bits + 63) / 64);
        waiters_.resize(waiters_.size() + l.waiter_words, 0);
        for (std::uint32_t bit = 0; bit < bits; ++bit)
            if (is_entry(bit)) {
                entries_.resize(waiters_.size(), 0);
                entries_[word(l, bit)] |= mark(bit);
                l.has_entries = true;
            }
    }
    /// All outputs are there; `shares`: turns are counted by numbers below this one, see count_turn().
    void finish(std::size_t links, std::size_t shares)
    {
        entries_.resize(entries_.empty() ? 0 : waiters_.size(), 0);
        links_ = links;
        share_count_ = shares != 0 ? shares : waiters_.size() * 64;
    }

    void join(link_state& l, std::uint32_t bit)
    {
        waiters_[word(l, bit)] |= mark(bit);
        ++l.waiters;
    }
    void leave(link_state& l, std::uint32_t bit)
    {
        waiters_[word(l, bit)] &= ~mark(bit);
        --l.waiters;
    }
    /// see(bit) for each that waits; may let that one leave.
    template <class See> void each(const link_state& l, See&& see) const
    {
        for (std::uint32_t i = 0; l.waiters > 0 && i < l.waiter_words; ++i)
            for (std::uint64_t bits = waiters_[l.waiter_base + i]; bits != 0; bits &= bits - 1)
                see(i * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
    }

    /// Whether is(bit) holds for one that waits.
    template <class Is> bool any(const link_state& l, Is&& is) const
    {
        for (std::uint32_t i = 0; i < l.waiter_words; ++i)
            for (std::uint64_t bits = waiters_[l.waiter_base + i]; bits != 0; bits &= bits - 1)
                if (is(i * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits))))
                    return true;
        return false;
    }

    /// The relay and the entry that go next, either may be k_no_grant; without entries all are relays. may_go(bit,
    /// first): whether the head has what it needs; `first`: nobody has had less. share(bit): its number for
    /// count_turn().
    struct candidates {
        std::uint32_t relay = k_no_grant, entry = k_no_grant;
    };
    template <class Share, class MayGo>
    candidates choose(const link_state& l, std::uint32_t link, Share&& share, MayGo&& may_go) const
    {
        const std::uint64_t* const mask = &waiters_[l.waiter_base];
        const auto pick = [&](auto&& requests, std::uint32_t pointer, std::uint32_t kind) {
            if (shares_.empty())
                return round_robin_over(requests, l.waiter_words, pointer, [&](std::uint32_t bit) { return may_go(bit, true); });
            return fair_round_robin_over(requests, l.waiter_words, pointer, turns_[link * std::size_t{2} + kind],
                                         [&](std::uint32_t bit) { return shares_[share(bit)]; }, may_go);
        };
        if (!l.has_entries)
            return {pick([=](std::uint32_t i) { return mask[i]; }, l.round_robin, 0), k_no_grant};
        const std::uint64_t* const entries = &entries_[l.waiter_base];
        return {pick([=](std::uint32_t i) { return mask[i] & ~entries[i]; }, l.round_robin, 0),
                pick([=](std::uint32_t i) { return mask[i] & entries[i]; }, l.entry_round_robin, 1)};
    }
    /// The first waiter among `bits` (of every word of the mask) that may go; k_no_grant: none.
    template <class MayGo> std::uint32_t first_of(const link_state& l, std::uint64_t bits, MayGo&& may_go) const
    {
        for (std::uint32_t i = 0; i < l.waiter_words; ++i)
            for (std::uint64_t left = waiters_[l.waiter_base + i] & bits; left != 0; left &= left - 1)
                if (const std::uint32_t bit = i * 64 + static_cast<std::uint32_t>(__builtin_ctzll(left)); may_go(bit, true))
                    return bit;
        return k_no_grant;
    }
    /// Which of the two goes; `entry_first`: by age it would be the entry. Neither is k_no_grant.
    static bool entry_goes(const link_state& l, bool entry_first)
    {
        const bool used_up = (l.run & ~k_run_of_entries) >= k_longest_run;
        return used_up && ((l.run & k_run_of_entries) != 0) == entry_first ? !entry_first : entry_first;
    }
    /// A relay or an entry goes; `contested`: one of the other kind could have gone.
    static void count_run(link_state& l, bool entry, bool contested)
    {
        const std::uint32_t kind = entry ? k_run_of_entries : 0;
        const std::uint32_t run = (l.run & k_run_of_entries) == kind ? l.run & ~k_run_of_entries : 0;
        l.run = static_cast<std::uint8_t>(kind | (contested && run < k_longest_run ? run + 1 : run));
    }
    bool waits(const link_state& l, std::uint32_t bit) const { return (waiters_[word(l, bit)] & mark(bit)) != 0; }
    /// The waiter for which credits of its VL are saved; k_no_grant: none are.
    std::uint32_t saved_for(const link_state& l) const
    {
        return l.short_of_credits != 0 && l.passed_by >= k_most_passes && waits(l, l.short_of_credits - 1u) ? l.short_of_credits - 1u
                                                                                                           : k_no_grant;
    }
    /// `granted` goes, and `refused` of the same VL lacked credits (k_no_grant: nobody did). same_vl(bit): whether
    /// `bit` wants that VL, too.
    template <class SameVl> void count_passes(link_state& l, std::uint32_t granted, std::uint32_t refused, SameVl&& same_vl) const
    {
        const std::uint32_t known = l.short_of_credits - 1u;
        if (l.short_of_credits != 0 && known != granted && waits(l, known)) {
            if (l.passed_by < k_most_passes && same_vl(known))
                ++l.passed_by;
            return;
        }
        l.short_of_credits = static_cast<std::uint16_t>(refused == k_no_grant ? 0 : refused + 1);
        l.passed_by = refused == k_no_grant ? 0 : 1;
    }
    /// `bit` has been served: it comes last in its round.
    void served(link_state& l, std::uint32_t bit) const
    {
        (is_entry(l, bit) ? l.entry_round_robin : l.round_robin) = static_cast<std::uint16_t>(bit + 1);
    }
    /// `packets` of waiter `bit`, or of one that need not wait, start; `idle`: the output has been idle before.
    void count_turn(const link_state& l, std::uint32_t link, std::uint32_t bit, std::size_t share, std::uint32_t packets, bool idle)
    {
        if (shares_.empty()) {
            shares_.resize(share_count_);
            turns_.resize(links_ * 2);
        }
        fair_turn& turn = turns_[link * std::size_t{2} + (is_entry(l, bit) ? 1 : 0)];
        if (idle)
            turn.forget();
        shares_[share] = turn.grant(shares_[share], packets);
    }
    /// Whether turns are counted: from the first train on.
    bool counts_turns() const { return !shares_.empty(); }
    void forget_turns()
    {
        shares_.clear();
        turns_.clear();
    }
    bool is_entry(const link_state& l, std::uint32_t bit) const
    {
        return l.has_entries && (entries_[word(l, bit)] >> (bit & 63) & 1) != 0;
    }

    // For hints to the host's cache.
    const std::uint64_t* waiters_of(const link_state& l, std::uint32_t bit = 0) const { return &waiters_[word(l, bit)]; }
    const std::uint64_t* entries_of(const link_state& l) const { return &entries_[l.waiter_base]; }
    const std::uint64_t* share_at(std::size_t share) const { return &shares_[share]; }
    const fair_turn* turns_of(std::uint32_t link) const { return &turns_[link * std::size_t{2}]; }

    std::uint64_t bytes() const ///< of the host
    {
        return (waiters_.capacity() + entries_.capacity() + shares_.capacity()) * 8 + turns_.capacity() * sizeof(fair_turn);
    }

private:
    static constexpr std::uint32_t k_run_of_entries = 128; ///< in link_state::run
    static std::size_t word(const link_state& l, std::uint32_t bit) { return l.waiter_base + std::size_t{bit >> 6}; }
    static constexpr std::uint64_t mark(std::uint32_t bit) { return std::uint64_t{1} << (bit & 63); }

    std::vector<std::uint64_t> waiters_; ///< per output: one bit per (input port, VL) of its router
    std::vector<std::uint64_t> entries_; ///< as waiters_: the bits of entry ports; empty when there are none
    std::vector<std::uint64_t> shares_;  ///< packets had, as in fair_turn; empty until there is a train
    std::vector<fair_turn> turns_;       ///< per output: of relays, of entries; likewise
    std::size_t links_ = 0;
    std::size_t share_count_ = 0;
};

} // namespace weft
