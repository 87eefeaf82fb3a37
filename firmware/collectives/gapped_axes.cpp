// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs multi_axis where NPUs are missing; gapped_lines.h explains it. Of the two halves one has its turn, then the
// other: what the first one waits for arrives while the second one sends.
//
// Additions may arrive as soon as all have entered, so all meet first. A cell overwrites nothing that is still needed:
// it has what this rank has sent of it.
#include "firmware/collectives/collectives.h"
#include "firmware/collectives/exchange.h"
#include "firmware/collectives/gapped_lines.h"

namespace weft::firmware {

namespace {

enum class phase : std::uint32_t { sums_along = 0, sums_across = 1, results_across = 2, results_along = 3 };
constexpr std::uint32_t k_phases = 4;
constexpr std::uint32_t k_halves = 2;
static_assert(k_halves * k_phases <= k_sem_ready - k_sem_data, "semaphore ranges overlap");

class half {
public:
    half(exchange& e, bool along_columns)
        : x_(e), out_(e), lines_(e.context.table.on_mesh, along_columns), first_semaphore_(k_sem_data + (along_columns ? k_phases : 0))
    {
        const abi::platform_table& t = x_.context.table;
        out_.near = near_block(t);
        out_.chunk_elements = x_.command.count; // nobody forwards anything, so a range is one message
        lines_.find(t.rank, line_, place_);
        const std::uint32_t rows = share_of_rows(t.on_mesh), share = along_columns ? 256 - rows : rows;
        first_share_ = along_columns ? rows : 0;
        last_share_ = first_share_ + share;
        by_rank_ = x_.command.op != abi::collective_op::all_reduce;
        own_ = part_of(x_.command.count);
        no_cell_is_empty_ = by_rank_ ? part_of(x_.command.count / t.ranks).count != 0 : own_.count >= t.ranks;
    }

    abi::status begin(phase p)
    {
        x_.hal.compute(costs::k_gapped_phase);
        switch (p) {
        case phase::sums_along:
            expect_along(p, true);
            return send_along(p, true);
        case phase::sums_across:
            x_.context.expected[semaphore(p)] += cell(line_, place_).count != 0 ? other_lines_with_ranks() : 0;
            return each_held([&](std::uint32_t line, std::uint32_t place) {
                return out_.send(cell(line, place), lines_.rank(line, place), semaphore(p), true);
            });
        case phase::results_across: {
            x_.context.expected[semaphore(p)] += cells_of_other_lines();
            return send_own_across(p);
        }
        case phase::results_along:
            expect_along(p, false);
            return send_along(p, false);
        }
        return {};
    }
    abi::status wait(phase p)
    {
        x_.peer = x_.context.table.ranks; // whoever is late is not known by one counter
        return x_.wait_expected(semaphore(p));
    }

private:
    std::uint32_t semaphore(phase p) const { return first_semaphore_ + static_cast<std::uint32_t>(p); }
    abi::element_range part_of(std::uint64_t count) const
    {
        const std::uint64_t first = count * first_share_ / 256;
        return {first, count * last_share_ / 256 - first};
    }
    /// The user sees which rank has which shard, but for an all_reduce.
    abi::element_range cell(std::uint32_t line, std::uint32_t place) const
    {
        x_.hal.compute(costs::k_gapped_cell);
        const std::uint32_t ranks = x_.context.table.ranks;
        if (by_rank_) {
            const abi::element_range shard = abi::shard_of(x_.command.count, ranks, lines_.rank(line, place));
            const abi::element_range part = part_of(shard.count);
            return {shard.first + part.first, part.count};
        }
        const abi::element_range of_half = abi::shard_of(own_.count, ranks, lines_.cell(line, place));
        return {own_.first + of_half.first, of_half.count};
    }
    std::uint32_t other_lines_with_ranks() const
    {
        if (lines_.gaps() < lines_.places())
            return lines_.lines() - 1;
        std::uint32_t n = 0;
        for (std::uint32_t line = 0; line < lines_.lines(); ++line)
            n += line != line_ && lines_.ranks_of_line(line) != 0 ? 1 : 0;
        return n;
    }
    std::uint32_t cells_of_other_lines()
    {
        if (no_cell_is_empty_)
            return lines_.ranks_at(place_) - 1 + lines_.cells_stood_in_for(line_, place_);
        std::uint32_t n = 0;
        (void)each_held([&](std::uint32_t line, std::uint32_t place) {
            n += cell(line, place).count != 0 ? 1 : 0;
            return abi::status{};
        });
        return n;
    }
    /// What the rank at `place` of this line gathers along it, range by range.
    template <class See> abi::status each_range_of(std::uint32_t place, See&& see) const
    {
        const auto one = [&](abi::element_range range) { return range.count != 0 ? see(range) : abi::status{}; };
        abi::status s;
        if (by_rank_) {
            for (std::uint32_t line = 0; line < lines_.lines() && s.ok(); ++line)
                if (lines_.has(line, place))
                    s = one(cell(line, place));
        } else { // all cells of a place lie side by side
            std::uint32_t first = 0, last = lines_.lines() - 1;
            while (!lines_.has(first, place))
                ++first;
            while (!lines_.has(last, place))
                --last;
            const abi::element_range from = cell(first, place), to = cell(last, place);
            s = one({from.first, to.first + to.count - from.first});
        }
        x_.hal.compute(costs::k_gapped_stand_in);
        lines_.each_stood_in_for(line_, place, [&](std::uint32_t line, std::uint32_t gap) { s = s.ok() ? one(cell(line, gap)) : s; });
        return s;
    }
    /// Messages for these. Short data leave some cells empty.
    std::uint32_t ranges_of(std::uint32_t place) const
    {
        x_.hal.compute(costs::k_gapped_count);
        if (no_cell_is_empty_)
            return (by_rank_ ? lines_.ranks_at(place) : 1) + lines_.cells_stood_in_for(line_, place);
        std::uint32_t n = 0;
        (void)each_range_of(place, [&](abi::element_range) {
            ++n;
            return abi::status{};
        });
        return n;
    }
    /// To the others of this line: their sums, or the own results.
    abi::status send_along(phase p, bool sums)
    {
        for (std::uint32_t d = 1; d < lines_.places(); ++d) {
            const std::uint32_t to = place_ + d < lines_.places() ? place_ + d : place_ + d - lines_.places();
            if (!lines_.has(line_, to))
                continue;
            const abi::status s = each_range_of(sums ? to : place_, [&](abi::element_range range) {
                out_.next_queue = queue(d, true);
                return out_.send(range, lines_.rank(line_, to), semaphore(p), sums);
            });
            if (!s.ok())
                return s;
            ++x_.step;
        }
        return {};
    }
    void expect_along(phase p, bool sums)
    {
        std::uint32_t n = 0;
        if (sums)
            n = (lines_.ranks_of_line(line_) - 1) * ranges_of(place_);
        else
            for (std::uint32_t place = 0; place < lines_.places(); ++place)
                n += place != place_ && lines_.has(line_, place) ? ranges_of(place) : 0;
        x_.context.expected[semaphore(p)] += n;
    }
    /// Calls see(line, place) for the cells of ranks of other lines that this one gathers along its own, the next line
    /// first.
    template <class See> abi::status each_held(See&& see)
    {
        abi::status s;
        for (std::uint32_t d = 1; d < lines_.lines() && s.ok(); ++d) {
            const std::uint32_t line = line_ + d < lines_.lines() ? line_ + d : line_ + d - lines_.lines();
            out_.next_queue = queue(d, false);
            if (lines_.has(line, place_))
                s = see(line, place_);
        }
        x_.hal.compute(costs::k_gapped_stand_in);
        lines_.each_stood_in_for(line_, place_, [&](std::uint32_t line, std::uint32_t gap) { s = s.ok() ? see(line, gap) : s; });
        return s;
    }
    /// To whoever gathers it in other lines.
    abi::status send_own_across(phase p)
    {
        const abi::element_range own = cell(line_, place_);
        for (std::uint32_t d = 1; d < lines_.lines() && own.count != 0; ++d) {
            const std::uint32_t line = line_ + d < lines_.lines() ? line_ + d : line_ + d - lines_.lines();
            if (lines_.ranks_of_line(line) == 0)
                continue;
            out_.next_queue = queue(d, false);
            const std::uint32_t to = lines_.rank(line, lines_.holder(line, line_, place_));
            if (abi::status s = out_.send(own, to, semaphore(p), false); !s.ok())
                return s;
            ++x_.step;
        }
        return {};
    }
    /// One for each other rank of the own row, then of the own column: links do not wait for each other.
    std::uint32_t queue(std::uint32_t distance, bool along) const
    {
        const bool by_row = along == (first_semaphore_ == k_sem_data);
        return distance - 1 + (by_row ? 0 : x_.context.table.on_mesh.cols - 1u);
    }

    exchange& x_;
    sender out_;
    gapped_lines lines_;
    std::uint32_t first_semaphore_; ///< k_sem_data: lines are rows
    std::uint32_t line_ = 0, place_ = 0;
    std::uint64_t first_share_ = 0, last_share_ = 0; ///< of the data, in 256ths
    bool by_rank_ = false;
    bool no_cell_is_empty_ = false;
    abi::element_range own_; ///< of the command
};

abi::status run_phases(exchange& x)
{
    const abi::collective_op op = x.command.op;
    const std::uint32_t first = op == abi::collective_op::all_gather ? 2 : 0, end = op == abi::collective_op::reduce_scatter ? 2 : k_phases;
    half halves[k_halves] = {{x, false}, {x, true}}; // rows, columns
    abi::status s = x.meet_everybody();
    for (std::uint32_t p = first; p <= end && s.ok(); ++p)
        for (half& h : halves) {
            if (p != first && s.ok())
                s = h.wait(static_cast<phase>(p - 1));
            if (p != end && s.ok())
                s = h.begin(static_cast<phase>(p));
        }
    return s;
}

} // namespace

void run_gapped_axes(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command + costs::k_gapped_begin);
    x.finish(result, run_phases(x));
}

} // namespace weft::firmware
