// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Calendar queue in three steps: events in ages, spread into spans when their age comes, into buckets of equal width
// when their span comes, and sorted when their bucket comes; what lies beyond all ages in a heap. Push and pop cost
// O(1) on average; no allocation once all have grown. Plain C++.
//
// Worst cases. A look at a far event moves nothing: next_ps() reads the earliest time of a bucket or span, and
// peek(before_ps) takes out no bucket of a later time. What falls among the events of the present bucket goes a few
// places into them, or else onto a heap: so no push costs more than O(log n), whatever the times. Wide buckets that
// fill are made narrower at once.
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

/// Small, because many are pending: what a queue of thousands of them takes of the cache, the state of the devices
/// loses. Three words that are written and copied whole: a load that needs two younger stores has to wait for them.
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

/// Events one behind the other, in a vector that is as long as its memory: so a push is a few stores, and growing is
/// out of its way.
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

/// `places` lists of events, for the next `places` numbers of buckets, spans or ages. Memory of lists that have been
/// emptied is used again, the last one first: it is still in the cache when the next one fills.
template <std::uint64_t places> class event_ring {
public:
    event_ring() : lists_(places) {}
    void add(std::uint64_t number, std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
    {
        event_list& to = lists_[number % places];
        if (!to.has_memory())
            take_memory(to);
        to.push(time_ps, order, what);
        occupied_.set(number);
    }
    /// The first number from `from` on, of the next `places`, that holds anything; k_never_ps if none does.
    std::uint64_t next(std::uint64_t from) const { return occupied_.next(from); }
    const event_list& at(std::uint64_t number) const { return lists_[number % places]; }
    /// Swaps the list of `number` out of the ring, for an empty one.
    void take(std::uint64_t number, event_list& out)
    {
        give_memory(out);
        out.swap(lists_[number % places]);
        occupied_.clear(number);
    }
    /// An emptied list's memory is used again.
    void give_memory(event_list& list)
    {
        list.clear();
        if (list.has_memory())
            spare_.emplace_back().swap(list);
    }
    template <class See> void clear_all(See&& see)
    {
        for (event_list& list : lists_) {
            std::for_each(list.begin(), list.end(), see);
            list.clear();
        }
        occupied_.clear_all();
    }

private:
    /// Rare, and kept out of add(), which all events go through.
    [[gnu::noinline]] void take_memory(event_list& list)
    {
        if (spare_.empty())
            return;
        list.swap(spare_.back());
        spare_.pop_back();
    }

    std::vector<event_list> lists_;
    std::vector<event_list> spare_;
    ring_occupancy<places> occupied_;
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
            buckets_.add(bucket, time_ps, order, what);
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
    /// Events of a bucket from the present one on, in no order; beyond the present span, and of a crowded bucket, not
    /// all of them.
    const event_list& events_of(std::uint64_t bucket) const
    {
        return bucket == cursor_ ? current_ : buckets_.at(bucket);
    }
    bool empty() const { return size_ == 0; }
    std::uint64_t size() const { return size_; }
    /// Events moved so far besides once into a bucket and once out of it: the work that a bad calendar makes.
    std::uint64_t extra_moves() const { return extra_moves_; }

private:
    static constexpr std::uint32_t k_span_shift = 8; ///< buckets of one span
    static constexpr std::uint32_t k_age_shift = 10; ///< spans of one age
    static constexpr std::uint64_t k_buckets = 1u << k_span_shift;
    static constexpr std::uint64_t k_spans = 1u << k_age_shift;
    static constexpr std::uint64_t k_ages = 1024;

    void insert_sorted(std::uint64_t time_ps, std::uint64_t order, std::uint64_t what);
    void push_far(std::uint64_t bucket, std::uint64_t time_ps, std::uint64_t order, std::uint64_t what);
    const timeline_event* first_of_two() const;
    void pop_of_two();
    bool advance(std::uint64_t before_ps);
    std::uint64_t first_bucket();
    void sort_current();
    void pull_far();
    void spread_age();
    void spread_span();
    void tune();
    void narrow();
    void rebuild(std::uint32_t width_shift);
    std::uint64_t span() const { return cursor_ >> k_span_shift; }
    std::uint64_t age() const { return span() >> k_age_shift; }
    std::uint64_t next_bucket() const { return buckets_.next(cursor_ + 1); }
    std::uint64_t next_span() const { return in_spans_ > 0 ? spans_.next(span() + 1) : k_never_ps; }
    std::uint64_t next_age() const { return in_ages_ > 0 ? ages_.next(age() + 1) : k_never_ps; }

    event_list current_; ///< sorted, next event last: with aside_, every event up to the cursor's bucket
    /// Heap of events up to the cursor's bucket that came when current_ held many that are earlier.
    std::vector<timeline_event> aside_;
    event_list sorted_; ///< for sort_current()
    /// What comes soon, what comes later in spans of k_buckets buckets, and what comes later still in ages of k_spans
    /// spans; unsorted. Most events go through two of these: into one of a few lists and then, a list at a time, into
    /// one of a few again; into one of thousands, each would touch cold memory.
    event_ring<k_buckets> buckets_;
    event_ring<k_spans> spans_;
    event_ring<k_ages> ages_;
    event_list spreading_;       ///< empty but while a span or an age is spread
    std::uint64_t in_spans_ = 0; ///< events
    std::uint64_t in_ages_ = 0;
    std::vector<timeline_event> far_; ///< heap of what lies beyond the ages
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
