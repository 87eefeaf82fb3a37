// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/calendar_queue.h"

#include <algorithm>

namespace weft {

namespace {
/// `a` runs after `b`: sorted ranges have the next event last. A functor, so that the sorts inline it.
struct later_first {
    bool operator()(const timeline_event& a, const timeline_event& b) const
    {
        return a.time_ps != b.time_ps ? a.time_ps > b.time_ps : a.order > b.order;
    }
};
constexpr later_first later;
constexpr std::uint32_t k_tune_interval = 2048; // buckets
constexpr std::uint32_t k_max_shift = 40;
constexpr std::size_t k_near = 32;      // places from the end of the present bucket
constexpr std::uint64_t k_full = 12;    // events of a bucket that sorts quickly
constexpr std::uint64_t k_large = 4096; // events pending; their state no longer fits the inner caches
} // namespace

void event_list::grow(std::size_t capacity)
{
    places_.resize(capacity);
    capacity_ = capacity;
}

void event_list::insert(timeline_event* before, const timeline_event& event)
{
    const auto at = static_cast<std::size_t>(before - begin());
    push(event.time_ps, event.order, event.what);
    std::rotate(begin() + at, end() - 1, end());
}

calendar_queue::calendar_queue() : moves_to_narrow_(k_tune_interval) {}

/// Most events that fall into the present bucket are soon: a few places from the end. Those that are not must not move
/// what is.
void calendar_queue::insert_sorted(std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
{
    const timeline_event event(time_ps, order, what);
    timeline_event* const nearest = current_.size() > k_near ? current_.end() - k_near : current_.begin();
    timeline_event* it = current_.end();
    while (it != nearest && later(event, *(it - 1)))
        --it;
    if (it == current_.begin() || !later(event, *(it - 1))) {
        extra_moves_ += static_cast<std::uint64_t>(current_.end() - it);
        current_.insert(it, event);
        return;
    }
    aside_.push_back(event);
    std::push_heap(aside_.begin(), aside_.end(), later);
    extra_moves_ += 64u - static_cast<unsigned>(__builtin_clzll(aside_.size())); // on its way in and out
    if (extra_moves_ >= moves_to_narrow_)
        narrow();
}

/// The present bucket is crowded: buckets as wide as a dozen of its events. Tuning, which waits for many buckets, may
/// come late.
void calendar_queue::narrow()
{
    std::uint64_t first_ps = k_never_ps, last_ps = 0;
    const auto see = [&](const timeline_event& e) {
        first_ps = std::min(first_ps, e.time_ps);
        last_ps = std::max(last_ps, e.time_ps);
    };
    std::for_each(current_.begin(), current_.end(), see);
    std::for_each(aside_.begin(), aside_.end(), see);
    const std::uint64_t width_ps = (last_ps - first_ps) / (current_.size() + aside_.size()) * k_full;
    std::uint32_t shift = 0;
    while (width_ps >> shift > 1)
        ++shift;
    // Events of one time stay together in any bucket.
    if (width_ps > 0 && shift < width_shift_)
        rebuild(shift);
    moves_to_narrow_ = extra_moves_ + 4 * size_ + k_tune_interval; // all of this, a few times for every event at most
}

const timeline_event* calendar_queue::first_of_two() const
{
    return current_.empty() || later(current_.back(), aside_.front()) ? &aside_.front() : &current_.back();
}

void calendar_queue::pop_of_two()
{
    if (first_of_two() == &aside_.front()) {
        std::pop_heap(aside_.begin(), aside_.end(), later);
        aside_.pop_back();
    } else {
        current_.pop();
    }
}

std::uint64_t calendar_queue::next_ps() const
{
    if (!aside_.empty())
        return first_of_two()->time_ps;
    if (!current_.empty())
        return current_.back().time_ps;
    std::uint64_t next = k_never_ps; // a span may begin before the first bucket, and an age before the first span
    if (const std::uint64_t bucket = next_bucket(); bucket != k_never_ps)
        next = buckets_.at(bucket).earliest_ps();
    if (const std::uint64_t span = next_span(); span != k_never_ps)
        next = std::min(next, spans_.at(span).earliest_ps());
    if (const std::uint64_t age = next_age(); age != k_never_ps)
        next = std::min(next, ages_.at(age).earliest_ps());
    if (!far_.empty())
        next = std::min(next, far_.front().time_ps);
    return next;
}

void calendar_queue::push_far(std::uint64_t bucket, std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
{
    const std::uint64_t to_span = bucket >> k_span_shift;
    const std::uint64_t to_age = to_span >> k_age_shift;
    if (to_span - span() < k_spans) {
        spans_.add(to_span, time_ps, order, what);
        ++in_spans_;
    } else if (to_age - age() < k_ages) {
        ages_.add(to_age, time_ps, order, what);
        ++in_ages_;
    } else {
        ++far_pushes_;
        far_.emplace_back(time_ps, order, what);
        std::push_heap(far_.begin(), far_.end(), later);
    }
}

/// Keeps all that the heap holds beyond the ages.
void calendar_queue::pull_far()
{
    while (!far_.empty()) {
        const timeline_event event = far_.front();
        const std::uint64_t bucket = event.time_ps >> width_shift_;
        if ((bucket >> k_span_shift >> k_age_shift) - age() >= k_ages)
            return;
        std::pop_heap(far_.begin(), far_.end(), later);
        far_.pop_back();
        if (bucket - cursor_ < k_buckets)
            buckets_.add(bucket, event.time_ps, event.order, event.what);
        else
            push_far(bucket, event.time_ps, event.order, event.what);
    }
}

/// Events of the first age that holds any become events of spans, if it begins before the first span or bucket that
/// does, or holds it.
void calendar_queue::spread_age()
{
    const std::uint64_t age = next_age();
    std::uint64_t first_span = next_span();
    if (const std::uint64_t bucket = next_bucket(); bucket != k_never_ps)
        first_span = std::min(first_span, bucket >> k_span_shift);
    if (age == k_never_ps || (first_span != k_never_ps && first_span >> k_age_shift < age))
        return;
    ages_.take(age, spreading_);
    in_ages_ -= spreading_.size();
    in_spans_ += spreading_.size();
    cursor_ = std::max(cursor_, (age << k_age_shift << k_span_shift) - 1); // nothing lies before
    for (const timeline_event& event : spreading_)
        spans_.add(event.time_ps >> width_shift_ >> k_span_shift, event.time_ps, event.order, event.what);
    ages_.give_memory(spreading_);
}

/// The same of the first span.
void calendar_queue::spread_span()
{
    const std::uint64_t span = next_span();
    const std::uint64_t bucket = next_bucket();
    if (span == k_never_ps || (bucket != k_never_ps && bucket >> k_span_shift < span))
        return;
    spans_.take(span, spreading_);
    in_spans_ -= spreading_.size();
    cursor_ = std::max(cursor_, (span << k_span_shift) - 1);
    for (const timeline_event& event : spreading_)
        buckets_.add(event.time_ps >> width_shift_, event.time_ps, event.order, event.what);
    spans_.give_memory(spreading_);
}

/// Takes the next bucket out, unless nothing in it comes before `before_ps`: the cursor stays where events may still be
/// pushed.
bool calendar_queue::advance(std::uint64_t before_ps)
{
    if (size_ == 0)
        return false;
    if (visited_ >= k_tune_interval)
        tune();
    if (!current_.empty() || !aside_.empty())
        return true; // of the first bucket of all, which no cursor can be before
    std::uint64_t bucket = next_bucket();
    // So nothing else comes before it.
    const bool in_this_span = bucket != k_never_ps && bucket >> k_span_shift == span();
    if ((in_this_span ? buckets_.at(bucket).earliest_ps() : next_ps()) >= before_ps)
        return false;
    if (!in_this_span)
        bucket = first_bucket();
    buckets_.take(bucket, current_);
    cursor_ = bucket;
    ++visited_;
    taken_ += current_.size();
    sort_current();
    if (!far_.empty())
        pull_far();
    return true;
}

/// Most buckets hold a few dozen events, few of them at the same time: they are dealt to 256 steps of the bucket's
/// time, in no order, and taken up again from the last step on. What shares a step is put in order then.
void calendar_queue::sort_current()
{
    constexpr std::uint32_t k_step_bits = 8;
    constexpr std::uint8_t k_end = 255;
    constexpr std::size_t k_few = 64; // more may well be at one time
    const std::size_t n = current_.size();
    if (n < 2)
        return;
    if (n > k_few) {
        std::sort(current_.begin(), current_.end(), later);
        return;
    }
    const std::uint64_t begin_ps = cursor_ << width_shift_;
    const std::uint32_t step_shift = width_shift_ > k_step_bits ? width_shift_ - k_step_bits : 0;
    const timeline_event* const from = current_.begin();
    std::uint64_t used[(1u << k_step_bits) / 64] = {};
    std::uint8_t first[1u << k_step_bits], behind[k_few];
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t step = (from[i].time_ps - begin_ps) >> step_shift;
        const std::uint64_t bit = std::uint64_t{1} << (step & 63);
        behind[i] = (used[step >> 6] & bit) != 0 ? first[step] : k_end;
        first[step] = static_cast<std::uint8_t>(i);
        used[step >> 6] |= bit;
    }
    timeline_event* const to = sorted_.rewrite(n);
    timeline_event* end = to;
    for (std::uint32_t word = sizeof used / sizeof used[0]; word-- > 0;)
        while (used[word] != 0) {
            const auto bit = 63u - static_cast<std::uint32_t>(__builtin_clzll(used[word]));
            used[word] ^= std::uint64_t{1} << bit;
            std::uint8_t i = first[word * 64 + bit];
            timeline_event* const begin = end; // of this step
            *end++ = from[i];
            while ((i = behind[i]) != k_end) {
                timeline_event* at = end++;
                for (; at > begin && later(from[i], at[-1]); --at)
                    *at = at[-1];
                *at = from[i];
            }
        }
    current_.swap(sorted_);
}

/// The first bucket that holds anything, when heap, age and span have given what is theirs; there is one.
std::uint64_t calendar_queue::first_bucket()
{
    if (in_ages_ == 0 && in_spans_ == 0 && next_bucket() == k_never_ps) {
        cursor_ = (far_.front().time_ps >> width_shift_) - 1; // the bucket of the cursor itself is not in the ring
        pull_far();
    }
    spread_age();
    spread_span();
    return next_bucket();
}

void calendar_queue::tune()
{
    // Few events on the heap, and buckets that sort quickly; where both cannot be had, buckets of up to 40 events are
    // cheaper than the heap, and in a large system more events can be announced together. The order of events does not
    // depend on the width.
    const bool beyond = far_pushes_ * 16 > taken_;
    const std::uint64_t full = size_ > k_large || beyond ? 40 : k_full;
    const bool crowded = taken_ > full * visited_;
    // Buckets of one event or two would make every event touch another bucket.
    const std::uint64_t few = beyond || size_ > k_large ? full / 3 : 3;
    const bool sparse = taken_ < few * visited_;
    visited_ = 0;
    taken_ = 0;
    far_pushes_ = 0;
    if ((crowded && width_shift_ == 0) || (sparse && width_shift_ >= k_max_shift) || crowded == sparse)
        return;
    rebuild(crowded ? width_shift_ - 1 : width_shift_ + 1);
}

void calendar_queue::rebuild(std::uint32_t width_shift)
{
    std::vector<timeline_event> all;
    all.reserve(size_);
    const auto move = [&](const timeline_event& event) { all.push_back(event); };
    const auto move_all = [&](auto& from) {
        std::for_each(from.begin(), from.end(), move);
        from.clear();
    };
    move_all(current_);
    move_all(aside_);
    buckets_.clear_all(move);
    spans_.clear_all(move);
    ages_.clear_all(move);
    move_all(far_);
    in_spans_ = in_ages_ = 0;
    // Nothing is pushed before the present bucket; it goes into the ring, too.
    const std::uint64_t begin_ps = cursor_ << width_shift_;
    width_shift_ = width_shift;
    cursor_ = begin_ps >> width_shift_;
    if (cursor_ > 0)
        --cursor_;
    size_ -= all.size();
    extra_moves_ += all.size();
    moves_to_narrow_ = k_never_ps; // all go to the lists again, none to the present bucket but at time 0
    for (const timeline_event& event : all)
        push(event);
    moves_to_narrow_ = extra_moves_ + 4 * size_ + k_tune_interval;
    far_pushes_ = 0;
}

} // namespace weft
