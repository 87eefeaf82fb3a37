// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Calendar queue in two steps: events in spans of time, spread into buckets of equal width when their span comes, sorted when their
// bucket comes; the far future in a heap. Push and pop cost O(1) on average; no allocation once all have grown. Plain C++.
//
// Worst cases. A look at a far event moves nothing: next_ps() reads the earliest time of a bucket or span, and peek(before_ps) takes
// out no bucket of a later time. What falls among the events of the present bucket goes a few places into them, or else onto a heap:
// so no push costs more than O(log n), whatever the times. Wide buckets that fill are made narrower at once.
#pragma once

#include "tlm/units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace weft {

inline constexpr std::uint32_t k_max_actors = 1u << 28;
inline constexpr std::uint32_t k_most_clients = 1u << 24;

class timeline;

/// Small, because many are pending: what a queue of thousands of them takes of the cache, the state of the devices loses. Three words that
/// are written and copied whole: a load that needs two younger stores has to wait for them.
struct timeline_event {
    timeline_event() = default;
    timeline_event(std::uint64_t t, std::uint64_t o, std::uint64_t w) : time_ps(t), order(o), what(w) {}
    timeline_event(std::uint64_t t, std::uint64_t o, std::uint32_t a, std::uint32_t client, std::uint8_t kind)
        : timeline_event(t, o, pack(a, client, kind))
    {
    }
    static std::uint64_t pack(std::uint32_t a, std::uint32_t client, std::uint8_t kind)
    {
        return std::uint64_t{client} << 40 | std::uint64_t{kind} << 32 | a;
    }
    std::uint32_t a() const { return static_cast<std::uint32_t>(what); }
    std::uint8_t kind() const { return static_cast<std::uint8_t>(what >> 32); }
    std::uint32_t client() const { return static_cast<std::uint32_t>(what >> 40); } ///< number with the timeline

    std::uint64_t time_ps = 0;
    std::uint64_t order = 0; ///< make_order(); unique among events of one time
    std::uint64_t what = 0;
};
static_assert(sizeof(timeline_event) == 24);

/// What an event calls. `a` and `kind` are the scheduling component's own.
class timeline_client {
public:
    virtual void on_event(std::uint32_t a, std::uint8_t kind) = 0;

protected:
    ~timeline_client() = default;

private:
    friend class timeline;
    const timeline* home_ = nullptr; ///< the timeline that it last scheduled an event with
    std::uint32_t number_ = 0;       ///< there
};

/// Classes of events of one time, run in this order: what arrives is seen before anyone arbitrates.
enum class event_class : std::uint8_t { memory = 0, arrival = 1, arbitration = 2, device = 3 };

constexpr std::uint64_t make_order(event_class c, std::uint32_t actor, std::uint32_t sequence)
{
    return (static_cast<std::uint64_t>(c) << 60) | (static_cast<std::uint64_t>(actor) << 32) | sequence;
}

/// Events one behind the other, in a vector that is as long as its memory: so a push is a few stores, and growing is out of its way.
class event_list {
public:
    event_list() = default;
    event_list(event_list&& other) noexcept { swap(other); }
    void push(std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
    {
        if (size_ == capacity_)
            grow(size_ == 0 ? 16 : 2 * size_);
        places_[size_++] = timeline_event(time_ps, order, what);
        earliest_ps_ = std::min(earliest_ps_, time_ps);
    }
    void insert(timeline_event* before, const timeline_event& event);
    void pop() { --size_; }
    void clear()
    {
        size_ = 0;
        earliest_ps_ = k_never_ps;
    }
    /// `n` events, to be written.
    timeline_event* rewrite(std::size_t n)
    {
        if (n > capacity_)
            grow(n);
        size_ = n;
        return places_.data();
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::uint64_t earliest_ps() const { return earliest_ps_; } ///< of what was pushed since it was cleared
    bool has_memory() const { return capacity_ != 0; }
    const timeline_event& back() const { return places_[size_ - 1]; }
    timeline_event* begin() { return places_.data(); }
    timeline_event* end() { return places_.data() + size_; }
    const timeline_event* begin() const { return places_.data(); }
    const timeline_event* end() const { return places_.data() + size_; }
    void swap(event_list& other) noexcept
    {
        places_.swap(other.places_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(earliest_ps_, other.earliest_ps_);
    }

private:
    void grow(std::size_t capacity);

    std::vector<timeline_event> places_;
    std::size_t size_ = 0, capacity_ = 0; ///< the latter of places_, which would have to divide for it
    std::uint64_t earliest_ps_ = k_never_ps;
};

/// Which places of a ring hold anything.
template <std::uint64_t places> class ring_occupancy {
public:
    void set(std::uint64_t i) { words_[(i % places) >> 6] |= std::uint64_t{1} << (i & 63); }
    void clear(std::uint64_t i) { words_[(i % places) >> 6] &= ~(std::uint64_t{1} << (i & 63)); }
    void clear_all() { std::fill(std::begin(words_), std::end(words_), 0); }
    /// The first number from `from` on, once round the ring, whose place is occupied; k_never_ps if none is.
    std::uint64_t next(std::uint64_t from) const
    {
        const std::uint64_t start = from % places;
        for (std::uint64_t i = 0; i <= k_words; ++i) {
            const std::uint64_t word_index = ((start >> 6) + i) % k_words;
            std::uint64_t word = words_[word_index];
            if (i == 0)
                word &= ~std::uint64_t{0} << (start & 63);
            if (i == k_words)
                word &= ~(~std::uint64_t{0} << (start & 63));
            if (word != 0) {
                const std::uint64_t place = word_index * 64 + static_cast<std::uint64_t>(__builtin_ctzll(word));
                return from + ((place - start) % places);
            }
        }
        return k_never_ps;
    }

private:
    static_assert(places % 64 == 0 && (places & (places - 1)) == 0);
    static constexpr std::uint64_t k_words = places / 64;
    std::uint64_t words_[k_words] = {};
};

class calendar_queue {
public:
    calendar_queue();

    void push(const timeline_event& event) { push(event.time_ps, event.order, event.what); }
    /// The same; in words, so that they stay in registers on their way.
    void push(std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
    {
        ++size_;
        const std::uint64_t bucket = time_ps >> width_shift_;
        if (bucket <= cursor_)
            insert_sorted(time_ps, order, what);
        else if (bucket - cursor_ < k_buckets)
            put(bucket, time_ps, order, what);
        else
            push_far(bucket, time_ps, order, what);
    }

    /// Next event in order, or nullptr where none comes before `before_ps`. Stays valid until the next push or pop.
    const timeline_event* peek(std::uint64_t before_ps = k_never_ps)
    {
        if (current_.empty() && aside_.empty() && !advance(before_ps))
            return nullptr;
        const timeline_event* const next = aside_.empty() ? &current_.back() : first_of_two();
        return next->time_ps < before_ps ? next : nullptr;
    }
    /// Remove what peek() returned.
    void pop()
    {
        --size_;
        if (aside_.empty())
            current_.pop();
        else
            pop_of_two();
    }
    /// Time of the next event, k_never_ps without one. Moves nothing: what is pushed next may well come before.
    std::uint64_t next_ps() const;
    /// Number of the bucket that the next event is in, or was when it was pushed.
    std::uint64_t present() const { return cursor_; }
    /// Events of a bucket from the present one on, in no order; beyond the present span, and of a crowded bucket, not all of them.
    const event_list& events_of(std::uint64_t bucket) const
    {
        return bucket == cursor_ ? current_ : buckets_[bucket & k_mask];
    }
    bool empty() const { return size_ == 0; }
    std::uint64_t size() const { return size_; }
    /// Events moved so far besides once into a bucket and once out of it: the work that a bad calendar makes.
    std::uint64_t extra_moves() const { return extra_moves_; }

private:
    static constexpr std::uint32_t k_span_shift = 8; ///< buckets of one span: 2^8 = k_buckets
    static constexpr std::uint64_t k_buckets = 1u << k_span_shift;
    static constexpr std::uint64_t k_mask = k_buckets - 1;
    static constexpr std::uint64_t k_spans = 1024;

    void put(std::uint64_t bucket, std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
    {
        const std::uint64_t slot = bucket & k_mask;
        add(buckets_[slot], rooms_, time_ps, order, what);
        occupied_.set(slot);
    }
    /// To a bucket or span, which takes its memory from `rooms` where it has none.
    static void add(event_list& to, std::vector<event_list>& rooms, std::uint64_t time_ps, std::uint64_t order,
                    std::uint64_t what)
    {
        if (!to.has_memory())
            furnish(to, rooms);
        to.push(time_ps, order, what);
    }
    static void furnish(event_list& to, std::vector<event_list>& rooms);
    void insert_sorted(std::uint64_t time_ps, std::uint64_t order, std::uint64_t what);
    void push_far(std::uint64_t bucket, std::uint64_t time_ps, std::uint64_t order, std::uint64_t what);
    const timeline_event* first_of_two() const;
    void pop_of_two();
    bool advance(std::uint64_t before_ps);
    std::uint64_t first_bucket();
    void sort_current();
    void pull_far();
    std::uint64_t spread_spans(std::uint64_t bucket);
    void tune();
    void narrow();
    void rebuild(std::uint32_t width_shift);
    std::uint64_t next_bucket() const { return occupied_.next(cursor_ + 1); }
    std::uint64_t next_span() const { return occupied_spans_.next((cursor_ >> k_span_shift) + 1); }

    event_list current_; ///< sorted, next event last: with aside_, every event up to the cursor's bucket
    /// Heap of events up to the cursor's bucket that came when current_ held many that are earlier.
    std::vector<timeline_event> aside_;
    event_list sorted_; ///< for sort_current()
    std::vector<event_list> buckets_;
    ring_occupancy<k_buckets> occupied_;
    /// What lies beyond the buckets: spans of k_buckets buckets each, unsorted. Most events begin here: they go into one of a few spans, and
    /// later, a span at a time, into one of a few buckets; into one of thousands, each would touch cold memory.
    std::vector<event_list> spans_;
    ring_occupancy<k_spans> occupied_spans_;
    /// Memory of buckets and spans that have been emptied, the last one first: it is still in the cache when the next one fills.
    std::vector<event_list> rooms_, span_rooms_;
    std::uint64_t in_spans_ = 0;      ///< events
    std::vector<timeline_event> far_; ///< heap of what lies beyond the spans
    std::uint64_t cursor_ = 0;        ///< number of the last bucket taken out
    std::uint64_t size_ = 0;
    std::uint32_t width_shift_ = 9; ///< bucket width: 2^9 ps to begin with, tuned to the density of events
    std::uint32_t visited_ = 0;     ///< buckets since the last tuning
    std::uint64_t taken_ = 0;       ///< events in them
    std::uint64_t far_pushes_ = 0;  ///< onto the heap
    std::uint64_t extra_moves_ = 0;
    std::uint64_t moves_to_narrow_; ///< extra_moves_ at which a crowded bucket is looked at again
};

} // namespace weft
