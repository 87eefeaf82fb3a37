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

calendar_queue::calendar_queue() : buckets_(k_buckets), occupied_(k_buckets / 64, 0), spans_(k_spans) {}

void calendar_queue::furnish(event_list& to, std::vector<event_list>& rooms)
{
    if (rooms.empty())
        return;
    to.swap(rooms.back());
    rooms.pop_back();
}

void calendar_queue::insert_sorted(std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
{
    const timeline_event event(time_ps, order, what);
    // Most events that fall into the present bucket are soon: search from the end.
    timeline_event* it = current_.end();
    while (it != current_.begin() && later(event, *(it - 1)))
        --it;
    current_.insert(it, event);
}

void calendar_queue::push_far(std::uint64_t bucket, std::uint64_t time_ps, std::uint64_t order, std::uint64_t what)
{
    const std::uint64_t span = bucket >> k_span_shift;
    if (span - (cursor_ >> k_span_shift) < k_spans) {
        add(spans_[span % k_spans], span_rooms_, time_ps, order, what);
        ++in_spans_;
        return;
    }
    ++far_pushes_;
    far_.emplace_back(time_ps, order, what);
    std::push_heap(far_.begin(), far_.end(), later);
}

/// Keeps all that the heap holds beyond the spans.
void calendar_queue::pull_far()
{
    while (!far_.empty()) {
        const std::uint64_t bucket = far_.front().time_ps >> width_shift_;
        const std::uint64_t span = bucket >> k_span_shift;
        if (span - (cursor_ >> k_span_shift) >= k_spans)
            return;
        std::pop_heap(far_.begin(), far_.end(), later);
        const timeline_event event = far_.back();
        far_.pop_back();
        if (bucket - cursor_ < k_buckets)
            put(bucket, event.time_ps, event.order, event.what);
        else
            push_far(bucket, event.time_ps, event.order, event.what);
    }
}

/// Spreads the first span that holds anything over the buckets, if it begins before the first bucket that does, `bucket`, or holds that
/// one. Returns the first bucket that now does.
std::uint64_t calendar_queue::spread_spans(std::uint64_t bucket)
{
    const std::uint64_t last = bucket == k_never_ps ? (cursor_ >> k_span_shift) + k_spans - 1 : bucket >> k_span_shift;
    for (std::uint64_t span = (cursor_ >> k_span_shift) + 1; span <= last; ++span) {
        event_list& waiting = spans_[span % k_spans];
        if (waiting.empty())
            continue;
        cursor_ = (span << k_span_shift) - 1; // nothing lies before
        in_spans_ -= waiting.size();
        for (const timeline_event& event : waiting)
            put(event.time_ps >> width_shift_, event.time_ps, event.order, event.what);
        waiting.clear();
        span_rooms_.emplace_back().swap(waiting);
        return next_occupied();
    }
    return bucket;
}

std::uint64_t calendar_queue::next_occupied() const
{
    // Slots are a window of k_buckets bucket numbers that starts at cursor_ + 1 (slot of cursor_ itself is empty).
    const std::uint64_t start = (cursor_ + 1) & k_mask;
    constexpr std::uint64_t words = k_buckets / 64;
    for (std::uint64_t i = 0; i <= words; ++i) {
        const std::uint64_t word_index = ((start >> 6) + i) % words;
        std::uint64_t word = occupied_[word_index];
        if (i == 0)
            word &= ~std::uint64_t{0} << (start & 63);
        if (i == words)
            word &= ~(~std::uint64_t{0} << (start & 63));
        if (word != 0) {
            const std::uint64_t slot = word_index * 64 + static_cast<std::uint64_t>(__builtin_ctzll(word));
            return cursor_ + 1 + ((slot - start) & k_mask);
        }
    }
    return k_never_ps;
}

bool calendar_queue::advance()
{
    if (size_ == 0)
        return false;
    if (visited_ >= k_tune_interval)
        retune();
    if (!current_.empty())
        return true; // of the first bucket of all, which no cursor can be before
    const std::uint64_t bucket = first_bucket();
    const std::uint64_t slot = bucket & k_mask;
    rooms_.emplace_back().swap(current_); // empty, with its memory
    current_.swap(buckets_[slot]);
    occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
    cursor_ = bucket;
    ++visited_;
    taken_ += current_.size();
    sort_current();
    if (!far_.empty())
        pull_far();
    return true;
}

/// Most buckets hold a few dozen events, few of them at the same time: they are dealt to 256 steps of the bucket's time, in no order, and
/// taken up again from the last step on. What shares a step is put in order then.
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

/// The first bucket that holds anything, when span and heap have given what is theirs; there is one.
std::uint64_t calendar_queue::first_bucket()
{
    std::uint64_t bucket = next_occupied();
    if (in_spans_ > 0)
        bucket = spread_spans(bucket);
    if (bucket == k_never_ps) {
        cursor_ = far_.front().time_ps >> width_shift_;
        // The bucket of the cursor itself is not in the ring.
        --cursor_;
        pull_far();
        bucket = next_occupied();
    }
    return bucket;
}

void calendar_queue::retune()
{
    // Few events on the heap, and buckets that sort quickly; where both cannot be had, buckets of up to 40 events are cheaper than
    // the heap, and in a large system more events can be announced together. The order of events does not depend on the width.
    const bool beyond = far_pushes_ * 16 > taken_;
    const std::uint64_t full = size_ > k_large || beyond ? 40 : 12;
    const bool crowded = taken_ > full * visited_;
    // Buckets of one event or two would make every event touch another bucket.
    const std::uint64_t few = beyond || size_ > k_large ? full / 3 : 3;
    const bool sparse = taken_ < few * visited_;
    visited_ = 0;
    taken_ = 0;
    far_pushes_ = 0;
    if ((crowded && width_shift_ == 0) || (sparse && width_shift_ >= k_max_shift) || crowded == sparse)
        return;
    std::vector<timeline_event> all;
    all.reserve(size_); // current_ is empty here
    const auto move_all = [&](auto& from) {
        all.insert(all.end(), from.begin(), from.end());
        from.clear();
    };
    for (event_list& bucket : buckets_)
        move_all(bucket);
    for (event_list& span : spans_)
        move_all(span);
    move_all(far_);
    in_spans_ = 0;
    std::fill(occupied_.begin(), occupied_.end(), 0);
    width_shift_ = crowded ? width_shift_ - 1 : width_shift_ + 1;
    // The cursor stays before the earliest event; what is pushed before that goes to current_.
    const auto earliest =
        std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return later(b, a); });
    cursor_ = earliest->time_ps >> width_shift_;
    if (cursor_ > 0)
        --cursor_;
    size_ -= all.size();
    for (const timeline_event& event : all)
        push(event);
    far_pushes_ = 0;
}

} // namespace weft
