// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/tuning_curves.h"

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

/// A curve from one measured size (0) to the next (1), in logarithms.
struct line {
    std::size_t curve = 0;
    double start = 0;
    double slope = 0;
};

double log_of(std::uint64_t ps) { return std::log(static_cast<double>(std::max<std::uint64_t>(ps, 1))); }

class lowest_finder {
public:
    explicit lowest_finder(const measured_curves& curves) : curves_(curves) {}
    lowest_curves find()
    {
        for (std::size_t i = 0; i < curves_.sizes.size(); ++i)
            found_.at.push_back(lowest_at(i));
        for (std::size_t i = 0; i < curves_.sizes.size(); ++i) {
            if (found_.at[i])
                extend(curves_.sizes[i], curves_.sizes[i], *found_.at[i]);
            if (i + 1 < curves_.sizes.size())
                between(i);
        }
        return std::move(found_);
    }

private:
    std::optional<std::size_t> lowest_at(std::size_t size) const
    {
        std::optional<std::size_t> lowest;
        for (std::size_t c = 0; c < curves_.times_ps.size(); ++c)
            if (const auto& ps = curves_.times_ps[c][size]; ps && (!lowest || *ps < *curves_.times_ps[*lowest][size]))
                lowest = c;
        return lowest;
    }
    void extend(std::uint64_t from, std::uint64_t to, std::size_t curve)
    {
        if (from > to)
            return;
        if (!found_.ranges.empty() && found_.ranges.back().curve == curve && found_.ranges.back().to_bytes + 1 >= from)
            found_.ranges.back().to_bytes = std::max(found_.ranges.back().to_bytes, to);
        else
            found_.ranges.push_back({from, to, curve});
    }
    /// The sizes between two measured ones, which have their lowest curve already.
    void between(std::size_t i)
    {
        std::vector<line> lines;
        for (std::size_t c = 0; c < curves_.times_ps.size(); ++c)
            if (const auto& a = curves_.times_ps[c][i], &b = curves_.times_ps[c][i + 1]; a && b)
                lines.push_back({c, log_of(*a), log_of(*b) - log_of(*a)});
        if (lines.empty())
            return;
        const std::uint64_t first = curves_.sizes[i], last = curves_.sizes[i + 1];
        const double from = log_of(first), length = log_of(last) - from;
        const line* now = &*std::min_element(lines.begin(), lines.end(),
                                             [](const line& a, const line& b) { return a.start < b.start; });
        std::uint64_t begin = first + 1;
        for (double at = 0;;) {
            const line* next = nullptr;
            double next_at = 1;
            for (const line& l : lines) {
                if (l.slope >= now->slope)
                    continue;
                const double crossing = std::max(at, (l.start - now->start) / (now->slope - l.slope));
                if (crossing < next_at || (crossing == next_at && next != nullptr && l.slope < next->slope)) {
                    next = &l;
                    next_at = crossing;
                }
            }
            if (next == nullptr)
                break;
            const double bytes = std::exp(from + next_at * length);
            const std::uint64_t end = std::clamp(static_cast<std::uint64_t>(std::floor(bytes)), first, last - 1);
            found_.crossovers.push_back({std::clamp(bytes, static_cast<double>(first), static_cast<double>(last)),
                                         std::exp(now->start + next_at * now->slope), now->curve, next->curve});
            extend(begin, end, now->curve);
            begin = std::max(begin, end + 1);
            at = next_at;
            now = next;
        }
        extend(begin, last - 1, now->curve);
    }

    const measured_curves& curves_;
    lowest_curves found_;
};

} // namespace

lowest_curves lowest_of(const measured_curves& curves) { return lowest_finder(curves).find(); }

} // namespace weft
