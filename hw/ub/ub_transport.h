// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// End-to-end reliable transport (mode rtp), both ends, as plain C++: numbers, a window, selective acknowledgements,
// timeouts. What sends packets and runs the clock is ub_endpoint.
//
// A sender numbers its packets to one destination (PSN) and keeps each until it is acknowledged; at most `window` are
// under way. A receiver takes every packet once, in any order, and tells the sender in acknowledgements: all numbers
// below `cumulative`, and which of the 64 from `group` on have arrived. Wait for an acknowledgement of a packet: the
// configured time, or what the measured round trips ask for where that is longer, doubled with every try. A destination
// is unreachable when the oldest packet was tried in vain `tries` times, the last one over all paths at once, while
// nothing at all was acknowledged, and when news of links that have failed could have come since the first try
// (`patience`): till then the longest wait is repeated. Source of the scheme: UB's RTP has PSNs, acknowledgements and
// selective ones (quoted); window and coalescing are assumed. Wait: twice the longest round trip of late
// (rtp_round_trip), measured by Karn's rule; the configured time is the least wait and the first.
#pragma once

#include "tlm/packet.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

constexpr std::uint64_t k_rtp_ack_payload_bytes = 16; ///< cumulative number, group, 64 bits

struct rtp_ack {
    std::uint32_t cumulative = 0; ///< all numbers before this one have arrived
    std::uint32_t group = 0;      ///< a multiple of 64
    std::uint64_t arrived = 0;    ///< bit i: number group + i has arrived
};

/// An acknowledgement has no payload, no message and no place in memory: it stands in their fields of a packet.
inline void put_ack(packet& p, const rtp_ack& a)
{
    p.flags |= k_acknowledgement;
    p.packet_number = a.cumulative;
    p.message = a.group;
    p.destination_offset = a.arrived;
}
inline rtp_ack ack_in(const packet& p) { return {p.packet_number, p.message, p.destination_offset}; }

/// `a` comes before `b` in the circle of numbers.
constexpr bool psn_before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

/// The longest of the latest round trips, and the wait that follows from it: twice that. The peak fades by 1/24 in a
/// round trip, however many packets one has. Means and deviations (RFC 6298) lag behind queues that fill: with them a
/// loaded rack still sent packets again that were not lost. Source: Ekstroem and Ludwig, "The Peak-Hopper: a new
/// end-to-end retransmission timer for reliable unicast transport", INFOCOM 2004, with its largest boost all the time
/// (fade and boost recalled).
class rtp_round_trip {
public:
    void sample(std::uint64_t round_trip_ps, std::uint64_t under_way)
    {
        constexpr std::uint64_t k_fade = 24;
        const std::uint64_t samples = std::max<std::uint64_t>(1, under_way); // in a round trip
        const std::uint64_t now = round_trip_ps << k_fraction_bits;
        peak_ = std::max(now, peak_ - peak_ / (k_fade * samples));
    }
    std::uint64_t wait_ps() const { return 2 * (peak_ >> k_fraction_bits); } ///< 0: nothing measured

private:
    static constexpr unsigned k_fraction_bits = 16;
    std::uint64_t peak_ = 0;
};

class rtp_sender {
public:
    struct slot {
        std::uint64_t sent_ps = 0;  ///< last time
        std::uint64_t first_ps = 0; ///< first time, or when the paths last changed
        std::uint32_t packet = 0;  ///< the caller's
        std::uint16_t path = 0;    ///< that it was last sent on
        std::uint8_t tries = 0;
        std::uint8_t back_off = 0; ///< doublings of the channel when it was last sent
        bool again = false;      ///< it was sent more than once
        bool waiting = false;    ///< for its acknowledgement
        bool everywhere = false; ///< it was last sent over all paths at once
    };

    /// `window` is a power of two. `all`: round trips to all destinations of the sending controller, which must outlive
    /// this; their packets stand in the same queues, so that they tell what to expect of a destination that has not
    /// answered yet.
    rtp_sender(std::uint32_t window, std::uint64_t least_wait_ps, std::uint32_t tries, rtp_round_trip& all)
        : slots_(window), least_wait_ps_(least_wait_ps), tries_(tries), all_(&all)
    {
    }

    bool full() const { return next_ - base_ >= slots_.size(); }
    bool empty() const { return next_ == base_; }
    std::uint32_t next() const { return next_; }
    std::uint32_t base() const { return base_; }

    /// Takes charge of a packet that is sent now; returns its number. Only when not full().
    std::uint32_t push(std::uint32_t packet, std::uint16_t path, std::uint64_t now_ps)
    {
        slot& s = at(next_);
        s.packet = packet;
        s.path = path;
        s.sent_ps = s.first_ps = now_ps;
        s.tries = 1;
        s.back_off = static_cast<std::uint8_t>(back_off_);
        s.waiting = true;
        s.again = s.everywhere = false;
        return next_++;
    }
    /// release(slot) for every packet that `a` newly acknowledges.
    /// `under_way`: packets of the controller, to all destinations. True when waits have become shorter, by the end of
    /// a back-off.
    template <class Release>
    bool acknowledge(const rtp_ack& a, std::uint64_t now_ps, std::uint64_t under_way, Release&& release)
    {
        bool measured = false;
        const auto done = [&](std::uint32_t psn) {
            slot& s = at(psn);
            if (!s.waiting)
                return;
            s.waiting = false;
            progress_ps_ = now_ps;
            // Else nobody knows which copy was acknowledged (Karn), or the acknowledgement was lost and that of a copy
            // tells now.
            if (!s.again && s.sent_ps >= expired_ps_) {
                here_.sample(now_ps - s.sent_ps, next_ - base_);
                all_->sample(now_ps - s.sent_ps, under_way);
                measured = true;
            }
            release(s);
        };
        if (psn_before(next_, a.cumulative))
            return false; // of another life of this channel
        for (std::uint32_t psn = base_; psn_before(psn, a.cumulative); ++psn)
            done(psn);
        for (std::uint64_t bits = a.arrived; bits != 0; bits &= bits - 1) {
            const std::uint32_t psn = a.group + static_cast<std::uint32_t>(__builtin_ctzll(bits));
            if (!psn_before(psn, base_) && psn_before(psn, next_))
                done(psn);
        }
        while (base_ != next_ && !at(base_).waiting)
            ++base_;
        if (!measured || back_off_ == 0)
            return false;
        back_off_ = 0;
        for (slot& s : slots_)
            s.back_off = 0;
        return true;
    }
    /// First wait for an acknowledgement, by what has been measured so far.
    std::uint64_t wait_ps() const { return std::max({least_wait_ps_, here_.wait_ps(), all_->wait_ps()}); }
    /// Earliest time at which a packet is to be sent again, as things are now; ~0: nothing is waiting.
    std::uint64_t next_deadline_ps() const
    {
        std::uint64_t first = ~std::uint64_t{0};
        for (std::uint32_t psn = base_; psn != next_; ++psn) {
            const slot& s = slots_[psn & (slots_.size() - 1)];
            if (s.waiting)
                first = std::min(first, deadline_ps(s));
        }
        return first;
    }
    /// resend(psn, slot) for every packet whose time is over, over all paths at once where slot.everywhere says so;
    /// false when the destination counts as unreachable.
    template <class Resend> bool expire(std::uint64_t now_ps, std::uint64_t patience_ps, Resend&& resend)
    {
        for (std::uint32_t psn = base_; psn != next_; ++psn) {
            slot& s = at(psn);
            if (!s.waiting || deadline_ps(s) > now_ps)
                continue;
            if (s.tries < tries_) {
                ++s.tries;
                back_off_ = std::max<std::uint32_t>(back_off_, s.tries - 1u);
            } else if (progress_ps_ <= s.sent_ps && (s.everywhere || tries_ == 1) &&
                       s.sent_ps >= s.first_ps + patience_ps)
                return false;
            expired_ps_ = now_ps;
            s.back_off = static_cast<std::uint8_t>(back_off_);
            s.again = true;
            s.sent_ps = now_ps;
            s.everywhere = s.tries == tries_ && psn == base_; // one packet at a time
            resend(psn, s);
        }
        return true;
    }
    /// The source goes other ways from now on: news that it knew of so far cannot be what it waits for.
    void paths_changed(std::uint64_t now_ps)
    {
        for (slot& s : slots_)
            s.first_ps = now_ps;
    }
    /// Gives up all that waits: release(slot) for each. The next number is one that was never used.
    template <class Release> void give_up(Release&& release)
    {
        for (; base_ != next_; ++base_)
            if (at(base_).waiting) {
                at(base_).waiting = false;
                release(at(base_));
            }
    }

private:
    slot& at(std::uint32_t psn) { return slots_[psn & (slots_.size() - 1)]; }
    std::uint64_t deadline_ps(const slot& s) const
    {
        return s.sent_ps + (wait_ps() << std::max<std::uint32_t>(s.back_off, s.tries - 1u));
    }

    std::vector<slot> slots_;
    std::uint32_t base_ = 0, next_ = 0;
    std::uint64_t least_wait_ps_;
    std::uint32_t tries_;
    /// Doublings that packets sent from now on wait for until a round trip is measured again; those under way were lost
    /// with the first one, if it was. Without, a wait that is too short would stay: no packet that is sent twice gives
    /// a sample (Karn and Partridge, SIGCOMM 1987).
    std::uint32_t back_off_ = 0;
    rtp_round_trip here_; ///< to this destination
    rtp_round_trip* all_;
    std::uint64_t expired_ps_ = 0;  ///< when a wait last ended in vain; 0: never
    std::uint64_t progress_ps_ = 0; ///< when an acknowledgement last brought something new
};

class rtp_receiver {
public:
    explicit rtp_receiver(std::uint32_t window) : arrived_(window, false) {}

    /// True when the packet is new; false for a duplicate.
    bool accept(std::uint32_t psn)
    {
        if (psn_before(psn, base_) || (psn - base_ < arrived_.size() && arrived_[place(psn)]))
            return false;
        if (psn - base_ >= arrived_.size())
            return false; // beyond any window: of another life of this channel
        arrived_[place(psn)] = true;
        while (arrived_[place(base_)]) {
            arrived_[place(base_)] = false;
            ++base_;
        }
        return true;
    }
    /// What to tell the sender about the numbers around `psn`.
    rtp_ack ack_for(std::uint32_t psn) const
    {
        rtp_ack a;
        a.cumulative = base_;
        a.group = psn & ~63u;
        for (std::uint32_t i = 0; i < 64; ++i) {
            const std::uint32_t n = a.group + i;
            const bool there = psn_before(n, base_) || (n - base_ < arrived_.size() && arrived_[place(n)]);
            a.arrived |= std::uint64_t{there} << i;
        }
        return a;
    }
    std::uint32_t base() const { return base_; }
    /// The sender has given up everything before `psn`.
    void restart(std::uint32_t psn)
    {
        arrived_.assign(arrived_.size(), false);
        base_ = psn;
    }

private:
    std::size_t place(std::uint32_t psn) const { return psn & (arrived_.size() - 1); }
    std::vector<bool> arrived_;
    std::uint32_t base_ = 0; ///< all before it have arrived
};

/// Packets that have come and that their sender has not been told about, by groups of 64 numbers, which an
/// acknowledgement stands for. Several groups, because paths of different lengths mix the numbers of one with those of
/// the next ones.
class rtp_unacknowledged {
public:
    /// Adds to `due` a number of each group to tell about now: that of `psn` when it has `enough`, and the oldest where
    /// there is no place for another. True: the group of `psn` waits for more.
    bool add(std::uint32_t psn, std::uint32_t enough, std::vector<std::uint32_t>& due)
    {
        const auto tell = [&](group& g) {
            due.push_back(g.psn);
            g.count = 0;
        };
        group* g = nullptr;
        group* other = &groups_[0]; // a free one, else the oldest
        for (group& one : groups_) {
            if (one.count > 0 && (one.psn ^ psn) < 64)
                g = &one;
            if (other->count > 0 && (one.count == 0 || psn_before(one.psn, other->psn)))
                other = &one;
        }
        if (g == nullptr) {
            g = other;
            if (g->count > 0)
                tell(*g);
            g->psn = psn;
        }
        ++g->count;
        if (g->count >= enough)
            tell(*g);
        return g->count > 0;
    }
    /// Gives a number of each group, and has none any more.
    template <class Tell> void take_all(Tell&& tell)
    {
        for (group& g : groups_)
            if (g.count > 0) {
                g.count = 0;
                tell(g.psn);
            }
    }

private:
    struct group {
        std::uint32_t psn = 0; ///< of any of them
        std::uint32_t count = 0;
    };
    group groups_[4];
};

} // namespace weft
