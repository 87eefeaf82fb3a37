// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Calendar queue: events in buckets of equal time width, the current bucket sorted, the far future in a heap. Push and pop
// cost O(1) on average; no allocation once the buckets have grown. Plain C++.
#pragma once

#include "tlm/units.h"

#include <cstdint>
#include <vector>

namespace weft {

inline constexpr std::uint32_t k_max_actors = 1u << 28;
inline constexpr std::uint32_t k_most_clients = 1u << 24;

/// What an event calls. `a` and `kind` are the scheduling component's own.
class timeline_client {
public:
    virtual void on_event(std::uint32_t a, std::uint8_t kind) = 0;
    /// The event will come soon: bring its state into the cache. `stage` 0 comes well before stage 1, so that stage 1 may
    /// read what stage 0 has asked for. Must change nothing; worth implementing where thousands of devices exist.
    virtual void prefetch(std::uint32_t a, std::uint8_t kind, int stage) const
    {
        (void)a;
        (void)kind;
        (void)stage;
    }

protected:
    ~timeline_client() = default;

private:
    friend class timeline;
    std::uint32_t number_ = 0; ///< of the timeline that it last scheduled an event with
};

/// Small, because many are pending: what a queue of thousands of them takes of the cache, the state of the devices loses.
struct timeline_event {
    std::uint64_t time_ps;
    std::uint64_t order; ///< make_order(); unique among events of one time
    std::uint32_t a;
    std::uint32_t client : 24; ///< number with the timeline
    std::uint32_t kind : 8;
};
static_assert(sizeof(timeline_event) == 24);

/// Classes of events of one time, run in this order: what arrives is seen before anyone arbitrates.
enum class event_class : std::uint8_t { memory = 0, arrival = 1, arbitration = 2, device = 3 };

constexpr std::uint64_t make_order(event_class c, std::uint32_t actor, std::uint32_t sequence)
{
    return (static_cast<std::uint64_t>(c) << 60) | (static_cast<std::uint64_t>(actor) << 32) | sequence;
}

class calendar_queue {
public:
    calendar_queue();

    void push(const timeline_event& event)
    {
        ++size_;
        const std::uint64_t bucket = event.time_ps >> width_shift_;
        if (bucket <= cursor_)
            insert_sorted(event);
        else if (bucket - cursor_ < k_buckets)
            put(bucket, event);
        else
            push_far(bucket, event);
    }

    /// Next event in order, or nullptr. Stays valid until the next push or pop.
    const timeline_event* peek()
    {
        if (current_.empty() && !advance())
            return nullptr;
        return &current_.back();
    }
    /// Remove what peek() returned.
    void pop()
    {
        current_.pop_back();
        --size_;
    }
    /// The event that comes `n` after the next one; nullptr when the bucket does not hold that many.
    const timeline_event* upcoming(std::size_t n) const
    {
        return n < current_.size() ? &current_[current_.size() - 1 - n] : nullptr;
    }
    bool empty() const { return size_ == 0; }
    std::uint64_t size() const { return size_; }

private:
    static constexpr std::uint64_t k_buckets = 4096;
    static constexpr std::uint64_t k_mask = k_buckets - 1;
    static constexpr std::uint32_t k_span_shift = 12; ///< buckets of one span: 2^12 = k_buckets
    static constexpr std::uint64_t k_spans = 1024;

    void put(std::uint64_t bucket, const timeline_event& event)
    {
        const std::uint64_t slot = bucket & k_mask;
        if (buckets_[slot].capacity() == 0)
            take_room(buckets_[slot]);
        buckets_[slot].push_back(event);
        occupied_[slot >> 6] |= std::uint64_t{1} << (slot & 63);
    }
    void take_room(std::vector<timeline_event>& bucket)
    {
        if (rooms_.empty())
            return;
        bucket = std::move(rooms_.back());
        rooms_.pop_back();
    }
    void insert_sorted(const timeline_event& event);
    void push_far(std::uint64_t bucket, const timeline_event& event);
    bool advance();
    void pull_far();
    std::uint64_t spread_spans(std::uint64_t bucket);
    void retune();
    std::uint64_t next_occupied() const;

    std::vector<std::vector<timeline_event>> buckets_;
    /// Memory of buckets that have been emptied, the last one first: it is still in the cache when the next bucket fills. Left with the
    /// buckets, it would be touched once a round, and a round of 4096 of them is larger than caches are.
    std::vector<std::vector<timeline_event>> rooms_;
    std::vector<std::uint64_t> occupied_;
    std::vector<timeline_event> current_; ///< sorted, next event last; every event up to the cursor's bucket
    /// What lies beyond the buckets: spans of k_buckets buckets each, unsorted. Where thousands of chips act in step, buckets are narrow
    /// and most events begin here.
    std::vector<std::vector<timeline_event>> spans_;
    std::uint64_t in_spans_ = 0;      ///< events
    std::vector<timeline_event> far_; ///< heap of what lies beyond these
    std::uint64_t cursor_ = 0;        ///< number of the bucket in current_
    std::uint64_t size_ = 0;
    std::uint32_t width_shift_ = 9; ///< bucket width: 2^9 ps to begin with, tuned to the density of events
    std::uint32_t visited_ = 0;     ///< buckets since the last tuning
    std::uint64_t taken_ = 0;       ///< events in them
    std::uint64_t far_pushes_ = 0;
};

} // namespace weft
