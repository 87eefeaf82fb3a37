// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which tasks the units of a rank carry out in a collective (ccu_collectives.h), and of which data. Pure: no access to
// any device, so that the host knows as well what programs a collective has.
#pragma once

#include "firmware/collectives/ccu_microcode.h"
#include "hw/abi/platform_table.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_ccu_missions = 2; ///< of a die, in turn: the next task is there when one ends
inline constexpr std::uint32_t k_ccu_token =
    0x5'7ef7; ///< one firmware runs on all chips and trusts itself; a program of someone else has it not
inline constexpr std::uint64_t k_ccu_longest_block = std::uint64_t{128}
                                                     << 20; ///< bytes between memories; less than k_most_transfer_bytes

/// Tasks of a die, of which two are with the unit.
struct ccu_lane {
    std::uint32_t step = 0;     ///< that is planned next
    std::uint32_t launched = 0; ///< tasks
    ccu_job jobs[2];            ///< that are planned and not launched yet
    std::uint32_t planned = 0;
    bool all_planned = false;

    /// The task that is launched next, with its place among the others.
    const ccu_job& in_turn()
    {
        jobs[0].mission = launched % k_ccu_missions;
        jobs[0].follows = launched != 0;
        jobs[0].precedes = planned > 1;
        return jobs[0];
    }
    void done()
    {
        ++launched;
        jobs[0] = jobs[1];
        --planned;
    }
};

/// Ranks that get their blocks at once, in an all_to_all of more ranks than channels. A new one is before the first.
struct ccu_round {
    std::uint32_t first = 0;
    std::uint32_t ranks = 0;
    std::uint32_t done = 1; ///< those before, the own rank counted
};

/// What the programs of a collective take of a unit.
struct ccu_use {
    std::uint32_t programs = 0;
    std::uint32_t instructions = 0;
    ccu_key keys[k_ccu_programs];
};

class ccu_plan {
public:
    /// All three outlive the plan.
    ccu_plan(const abi::platform_table& table, const abi::command& command, const ccu_capacities& capacities);

    bool by_axes() const;
    bool by_lines() const;                       ///< stages of an all_to_all: plan_line()
    bool in_rounds() const;                      ///< of an all_to_all: next_round(), plan_blocks()
    std::uint32_t axes() const { return axes_; } ///< dimensions of more than one rank
    std::uint32_t dimension(std::uint32_t i) const { return order_[i]; } ///< the outermost first
    std::uint32_t member(std::uint32_t d, std::uint32_t p) const;        ///< rank at place `p` of the own line
    std::uint32_t dimension_of(const ccu_group& line) const;

    enum class next : std::uint8_t { task, skip, end };
    /// Step `number` of `die`, of other collectives. A skipped step is one of others.
    next step(std::uint32_t die, std::uint32_t number, ccu_job& job, abi::status& status) const;
    /// Fills the lane as far as it has room.
    abi::status plan_more(std::uint32_t die, ccu_lane& lane) const;
    void plan_line(std::uint32_t die, std::uint32_t stage, ccu_job& job) const;
    /// From the next rank on, around; not across the own rank or where shards become shorter. False: that was the last
    /// one.
    bool next_round(ccu_round& round) const;
    /// Piece `piece` of the blocks of `ranks` ranks from `first` on, all as long, by the first channels; none: the own
    /// block, inside the own memory.
    /// False: the die has nothing to do.
    bool plan_blocks(std::uint32_t die, std::uint32_t first, std::uint32_t ranks, std::uint32_t piece,
                     ccu_job& job) const;
    /// Blocks longer than a transfer go in pieces.
    std::uint32_t pieces_of_blocks() const;

    /// `write(job)` for each task whose program may be another one, until it fails.
    template <class Write> abi::status each_program(std::uint32_t die, Write&& write) const
    {
        abi::status s;
        if (in_rounds()) {
            ccu_job own;
            plan_blocks(die, table_.rank, 0, 0, own);
            s = write(own);
            for (ccu_round round; s.ok() && next_round(round);) {
                ccu_job job;
                plan_blocks(die, round.first, round.ranks, 0, job);
                s = write(job);
            }
            return s;
        }
        for (std::uint32_t stage = 0; by_lines() && stage < axes_ && s.ok(); ++stage) {
            ccu_job job;
            plan_line(die, stage, job);
            s = write(job);
        }
        if (by_lines())
            return s;
        ccu_lane lane;
        for (s = plan_more(die, lane); s.ok() && lane.planned != 0;) {
            s = write(lane.in_turn());
            lane.done();
            if (s.ok())
                s = plan_more(die, lane);
        }
        return s;
    }
    /// Of all programs together; nothing where the plan fails.
    ccu_use use_of(std::uint32_t die) const;

private:
    std::uint32_t stride_of(std::uint32_t d) const;
    ccu_group group_of(std::uint32_t size, std::uint32_t at, std::uint32_t channel, std::uint32_t first_register,
                       std::uint32_t first_entry, std::uint32_t entries_of_kind) const;
    ccu_group all_ranks() const;
    ccu_group line_of(std::uint32_t d) const;
    std::uint32_t axis(std::uint32_t die, std::uint32_t level) const;
    void plan_flat(std::uint32_t die, ccu_job& job, ccu_run& run) const;
    next plan_axis(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const;
    next plan_axis_all_reduce(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const;
    next plan_axis_rooted(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const;
    next plan_axis_shards(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const;
    next plan_exchange(std::uint32_t die, std::uint32_t step, ccu_job& job) const;
    abi::element_range part_of_block(std::uint64_t count, std::uint32_t die, std::uint32_t piece) const;
    std::uint64_t begin_of_block(std::uint32_t rank) const;
    std::uint64_t room(std::uint32_t stage) const;
    std::uint32_t rows_before(std::uint32_t stage) const;

    const abi::platform_table& table_;
    const abi::command& command_;
    const ccu_capacities& capacities_;
    std::uint64_t element_;
    std::uint32_t order_[abi::k_max_dims] = {}; ///< dimensions of more than one rank, outermost first
    std::uint32_t axes_ = 0;
};

/// A capacity of a unit that is too small for a command.
struct ccu_lack {
    const char* key = nullptr; ///< as platform files call it
    const char* text = nullptr;
    std::uint32_t needs = 0;
    std::uint32_t has = 0;
};
struct ccu_lacks {
    ccu_lack of[8];
    std::uint32_t count = 0;

    void need(const char* key, const char* text, std::uint32_t needs, std::uint32_t has)
    {
        if (has < needs)
            of[count++] = {key, text, needs, has};
    }
};
/// All of them, the same on every rank.
ccu_lacks ccu_lacks_of(const abi::platform_table& table, const abi::command& command, const ccu_capacities& capacities);

/// Why units of these capacities cannot carry out the command; ok: they can. The same on every rank.
abi::status ccu_refusal(const abi::platform_table& table, const abi::command& command,
                        const ccu_capacities& capacities);

} // namespace weft::firmware
