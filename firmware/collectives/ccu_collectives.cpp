// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/ccu_collectives.h"

#include "firmware/collectives/ccu_microcode.h"
#include "firmware/collectives/exchange.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_dies = abi::ccu::k_dies;
constexpr std::uint32_t k_missions = 2; ///< of a die, in turn: the next task is there when one ends
// One firmware runs on all chips and trusts itself; a program of someone else has neither.
constexpr std::uint32_t k_key = 0x7765'6674, k_token = 0x5'7ef7;
constexpr std::uint32_t k_channels_mixed = ~0u; ///< ccu_state::channels_of: of no group
constexpr std::uint64_t k_longest_block = std::uint64_t{128} << 20; ///< between memories; less than k_most_transfer_bytes
/// A task moves all of its data in one wait. Beside the bound of a wait it has this much time, more than the slowest link takes: 1 GB/s.
constexpr std::uint64_t k_ns_per_byte = 1;
constexpr std::uint64_t k_patience_ns = 10'000; ///< more than the unit, so that it can say itself what was missing

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

/// Dimensions of more than one rank, outermost first; how many.
std::uint32_t dimensions_of(const abi::platform_table& table, std::uint32_t (&order)[abi::k_max_dims])
{
    std::uint32_t axes = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.dims[d] > 1)
            order[axes++] = d;
    return axes;
}

bool goes_in_rounds(const abi::platform_table& table, const abi::command& command, const ccu_capacities& c)
{
    return command.op == abi::collective_op::all_to_all && table.ranks > smaller(c.channels, k_ccu_channels) + 1;
}

class ccu_runner {
public:
    ccu_runner(exchange& e)
        : x(e), table_(e.context.table), command_(e.command), state_(e.context.ccu), element_(abi::element_bytes(e.command.type))
    {
        x.peer = table_.ranks;
        axes_ = dimensions_of(table_, order_);
    }

    /// False in `refused`: `status` comes before anything was sent.
    abi::status run(bool& refused)
    {
        x.hal.compute(costs::k_ccu_begin);
        refused = true;
        abi::status s = prepare();
        if (s.ok())
            s = ccu_refusal(table_, command_, state_.capacities);
        refused = !s.ok() && s.code == abi::status_code::unsupported;
        if (!s.ok())
            return s;
        const bool prepares = (command_.transposed & abi::k_only_prepares) != 0;
        if (in_rounds())
            return prepares ? write_round_programs() : run_rounds();
        s = set_channels();
        return !s.ok() ? s : prepares ? write_programs() : run_tasks();
    }

private:
    bool by_axes() const { return command_.algo == abi::algorithm::ccu_axes; }
    bool in_rounds() const { return goes_in_rounds(table_, command_, state_.capacities); }
    ccu_driver unit(std::uint32_t die) const { return ccu_driver(x.hal, die); }
    std::uint32_t on_machine(std::uint32_t rank) const
    {
        return x.context.in_group && table_.members != 0 ? x.hal.read32(table_.members + sizeof(std::uint32_t) * rank) : rank;
    }

    // ---- the units
    // What was written before this rank's first collective, by peers, must stay: entries come out of reset clear.
    abi::status prepare()
    {
        if (state_.ready)
            return {};
        ccu_capacities smallest{};
        for (std::uint32_t die = 0; die < k_dies; ++die) {
            const ccu_driver ccu = unit(die);
            if (abi::status s = ccu.probe(); !s.ok())
                return s;
            ccu_capacities c;
            if (abi::status s = ccu.read(c); !s.ok())
                return s;
            if (abi::status s = ccu.init(k_key, k_token); !s.ok())
                return s;
            const auto take = [&](std::uint32_t& to, std::uint32_t from) { to = die == 0 ? from : smaller(to, from); };
            take(smallest.instructions, c.instructions);
            take(smallest.missions, c.missions);
            take(smallest.loop_engines, c.loop_engines);
            take(smallest.address_registers, c.address_registers);
            take(smallest.general_registers, c.general_registers);
            take(smallest.check_entries, c.check_entries);
            take(smallest.slices, c.slices);
            take(smallest.channels, c.channels);
            state_.die[die].programs = state_.die[die].next = 0;
        }
        state_.capacities = smallest;
        state_.channels_of = k_channels_mixed;
        for (std::uint32_t& peer : state_.peer)
            peer = abi::k_no_rank;
        state_.ready = true;
        return {};
    }

    abi::status set_channel(std::uint32_t channel, std::uint32_t rank)
    {
        x.hal.compute(costs::k_ccu_channel);
        const std::uint32_t peer = on_machine(rank);
        if (state_.peer[channel] == peer)
            return {};
        state_.peer[channel] = peer;
        for (std::uint32_t die = 0; die < k_dies; ++die)
            if (abi::status s = unit(die).set_channel(channel, peer); !s.ok())
                return s;
        return {};
    }

    /// Those to the other ranks, or to those of all own lines. A bank always means the same ranks.
    abi::status set_channels()
    {
        const std::uint32_t wanted = 2 * table_.semaphore_bank + (by_axes() ? 1 : 0);
        if (state_.channels_of == wanted)
            return {};
        state_.channels_of = k_channels_mixed;
        std::uint32_t channel = 0;
        abi::status s;
        if (!by_axes())
            for (std::uint32_t p = 0; p < table_.ranks && s.ok(); ++p)
                if (p != table_.rank)
                    s = set_channel(channel++, p);
        for (std::uint32_t i = 0; by_axes() && i < axes_; ++i)
            for (std::uint32_t p = 0; p < table_.dims[order_[i]] && s.ok(); ++p)
                if (p != table_.coord[order_[i]])
                    s = set_channel(channel++, member(order_[i], p));
        if (s.ok())
            state_.channels_of = wanted;
        return s;
    }

    std::uint32_t stride_of(std::uint32_t d) const
    {
        std::uint32_t stride = 1;
        while (++d < table_.dim_count)
            stride *= table_.dims[d];
        return stride;
    }
    std::uint32_t member(std::uint32_t d, std::uint32_t p) const { return table_.rank + (p - table_.coord[d]) * stride_of(d); } // unsigned: wraps back

    // ---- groups
    ccu_group group_of(std::uint32_t size, std::uint32_t at, std::uint32_t channel, std::uint32_t first_register, std::uint32_t first_entry,
                       std::uint32_t entries_of_kind) const
    {
        ccu_group g;
        g.size = size;
        g.at = at;
        g.channels = channel;
        g.registers = table_.semaphore_bank * k_ccu_bank_registers + first_register;
        g.address_entries = table_.semaphore_bank * k_ccu_bank_entries + first_entry;
        g.token_entries = g.address_entries + entries_of_kind;
        g.end_entries = g.token_entries + entries_of_kind;
        return g;
    }
    ccu_group all_ranks() const { return group_of(table_.ranks, table_.rank, 0, 0, 0, k_ccu_flat_entries); }
    ccu_group line_of(std::uint32_t d) const
    {
        std::uint32_t channel = 0, first_register = k_ccu_most_ranks, entry = 3 * k_ccu_flat_entries;
        for (std::uint32_t i = 0; order_[i] != d; ++i) {
            const std::uint32_t size = table_.dims[order_[i]];
            channel += size - 1;
            first_register += size;
            entry += (size + abi::ccu::k_bits_of_entry - 1) / abi::ccu::k_bits_of_entry;
        }
        return group_of(table_.dims[d], table_.coord[d], channel, first_register, entry, k_ccu_axes_entries);
    }

    // ---- what a die does next
    enum class next : std::uint8_t { task, skip, end };

    /// Step `step` of `die`. A skipped step is one of others.
    next plan(std::uint32_t die, std::uint32_t step, ccu_job& job, abi::status& status) const
    {
        job.type = command_.type;
        job.redop = command_.redop;
        ccu_run run;
        next found = next::task;
        if (command_.op == abi::collective_op::all_to_all)
            return plan_exchange(die, step, job);
        if (by_axes())
            found = plan_axis(die, step, job, run);
        else if (step == 0)
            plan_flat(die, job, run);
        else
            return next::end;
        if (found != next::task)
            return found;
        run.offset *= element_;
        run.stride *= element_;
        run.bytes *= element_;
        job.add(command_.buffer_offset);
        job.add(k_token);
        if (!add_run(job, run, shape_of(job.kind, job.group.size, state_.capacities)))
            status = {abi::status_code::unsupported, "more data than CCU loops count", run.bytes};
        return next::task;
    }

    static ccu_kind kind_of(abi::collective_op op)
    {
        switch (op) {
        case abi::collective_op::reduce_scatter: return ccu_kind::reduce;
        case abi::collective_op::all_gather: return ccu_kind::gather;
        case abi::collective_op::broadcast: return ccu_kind::spread;
        default: return ccu_kind::reduce_all;
        }
    }
    static ccu_run half_of(abi::element_range r, std::uint32_t die)
    {
        const abi::element_range half = abi::shard_of(r.count, k_dies, die);
        return {r.first + half.first, 1, 0, half.count};
    }
    /// The part of `all` that this rank takes from the root and hands on; the root has none.
    static ccu_run spread_part(abi::element_range all, const ccu_job& job)
    {
        if (job.group.at == job.root)
            return {};
        const abi::element_range part = abi::shard_of(all.count, job.group.size - 1, job.group.at - (job.group.at > job.root ? 1 : 0));
        return {all.first + part.first, 1, 0, part.count};
    }
    void plan_flat(std::uint32_t die, ccu_job& job, ccu_run& run) const
    {
        job.group = all_ranks();
        job.kind = kind_of(command_.op);
        if (command_.algo == abi::algorithm::ccu_one_shot) {
            job.kind = ccu_kind::one_shot;
            run = half_of({0, command_.count}, die);
        } else if (job.kind == ccu_kind::spread) {
            job.root = command_.root;
            const ccu_run half = half_of({0, command_.count}, die);
            run = spread_part({half.offset, half.bytes}, job);
        } else {
            run = half_of(abi::shard_of(command_.count, table_.ranks, table_.rank), die);
        }
    }

    /// Dimension that a die takes as number `level`.
    std::uint32_t axis(std::uint32_t die, std::uint32_t level) const { return order_[die == 0 ? axes_ - 1 - level : level]; }

    next plan_axis(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
    {
        switch (command_.op) {
        case abi::collective_op::all_reduce: return plan_axis_all_reduce(die, step, job, run);
        case abi::collective_op::broadcast: return plan_axis_broadcast(die, step, job, run);
        default: return plan_axis_shards(die, step, job, run);
        }
    }
    next plan_axis_all_reduce(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
    {
        if (step >= 2 * axes_ - 1)
            return next::end;
        const std::uint32_t level = step < axes_ ? step : 2 * (axes_ - 1) - step;
        run = half_of({0, command_.count}, die);
        abi::element_range mine{run.offset, run.bytes};
        for (std::uint32_t i = 0; i <= level; ++i) {
            const std::uint32_t d = axis(die, i);
            const abi::element_range part = abi::shard_of(mine.count, table_.dims[d], table_.coord[d]);
            mine = {mine.first + part.first, part.count};
        }
        run = {mine.first, 1, 0, mine.count};
        job.group = line_of(axis(die, level));
        job.kind = step + 1 < axes_ ? ccu_kind::reduce : step + 1 == axes_ ? ccu_kind::reduce_all : ccu_kind::gather;
        return next::task;
    }
    /// After `step` dimensions, ranks have it that differ from the root in these only.
    next plan_axis_broadcast(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
    {
        if (step >= axes_)
            return next::end;
        const auto of_root = [&](std::uint32_t d) { return command_.root / stride_of(d) % table_.dims[d]; };
        for (std::uint32_t i = step + 1; i < axes_; ++i)
            if (const std::uint32_t d = axis(die, i); table_.coord[d] != of_root(d))
                return next::skip;
        const std::uint32_t d = axis(die, step);
        job.group = line_of(d);
        job.kind = ccu_kind::spread;
        job.root = of_root(d);
        const ccu_run half = half_of({0, command_.count}, die);
        run = spread_part({half.offset, half.bytes}, job);
        return next::task;
    }
    /// Shards of ranks. Those of a block lie side by side, or as far apart as the ranks of inner dimensions; the first ones may be longer by an element:
    /// they are a task for themselves.
    next plan_axis_shards(std::uint32_t die, std::uint32_t step, ccu_job& job, ccu_run& run) const
    {
        const std::uint64_t length = command_.count / table_.ranks;
        const auto longer = static_cast<std::uint32_t>(command_.count % table_.ranks);
        const std::uint32_t lengths = (longer != 0 ? 1 : 0) + (length != 0 ? 1 : 0);
        if (step >= lengths * axes_)
            return next::end;
        const bool gathers = command_.op == abi::collective_op::all_gather;
        const std::uint32_t level = gathers ? axes_ - 1 - step / lengths : step / lengths;
        const bool long_ones = longer != 0 && step % lengths == 0;
        const std::uint32_t d = axis(die, level);
        // Ranks with the coordinates of this one in all dimensions up to this level.
        std::uint32_t first = 0, apart = 1, pieces = 0;
        if (die == 0) {
            apart = stride_of(d) * table_.dims[d];
            first = table_.rank % apart;
            pieces = table_.ranks / apart;
        } else {
            pieces = stride_of(d);
            first = table_.rank - table_.rank % pieces;
        }
        const std::uint32_t long_pieces = longer > first ? smaller((longer - first + apart - 1) / apart, pieces) : 0;
        const std::uint64_t shard = length + (long_ones ? 1 : 0);
        const abi::element_range part = abi::shard_of(shard, k_dies, die);
        if (part.count == 0)
            return next::skip; // on all ranks
        const std::uint32_t begin = first + (long_ones ? 0 : long_pieces * apart);
        run.pieces = long_ones ? long_pieces : pieces - long_pieces;
        run.offset = run.pieces != 0 ? abi::shard_of(command_.count, table_.ranks, begin).first + part.first : 0;
        run.stride = apart * shard;
        run.bytes = part.count;
        job.group = line_of(d);
        job.kind = gathers ? ccu_kind::gather : ccu_kind::reduce;
        return next::task;
    }

    /// Blocks longer than a transfer go in pieces.
    std::uint32_t pieces_of_blocks() const
    {
        const std::uint64_t longest = abi::shard_of(abi::shard_of(command_.count, table_.ranks, 0).count, k_dies, 0).count * element_;
        return static_cast<std::uint32_t>((longest + k_longest_block - 1) / k_longest_block);
    }
    /// Of a block of `count` elements.
    abi::element_range part_of_block(std::uint64_t count, std::uint32_t die, std::uint32_t piece) const
    {
        const abi::element_range half = abi::shard_of(count, k_dies, die), part = abi::shard_of(half.count, pieces_of_blocks(), piece);
        return {half.first + part.first, part.count};
    }
    next plan_exchange(std::uint32_t die, std::uint32_t step, ccu_job& job) const
    {
        if (step >= pieces_of_blocks())
            return next::end;
        const std::uint64_t length = command_.count / table_.ranks;
        job.kind = ccu_kind::exchange;
        job.group = all_ranks();
        job.longer = static_cast<std::uint32_t>(command_.count % table_.ranks);
        const std::uint32_t behind = table_.rank + 1 < table_.ranks ? table_.rank + 1 : 0;
        const abi::element_range parts[2] = {part_of_block(length + 1, die, step), part_of_block(length, die, step)};
        job.no_long = parts[0].count == 0;
        job.no_short = parts[1].count == 0;
        job.add(command_.output_offset);
        job.add(k_token);
        job.add(command_.buffer_offset + abi::shard_of(command_.count, table_.ranks, behind).first * element_);
        job.add(command_.buffer_offset);
        job.add((length + 1) * element_);
        job.add(length * element_);
        for (const abi::element_range& part : parts)
            job.add(part.first * element_);
        job.add((table_.rank * (length + 1) + parts[0].first) * element_);
        job.add((table_.rank * length + parts[1].first) * element_);
        for (const abi::element_range& part : parts)
            job.add(part.count * element_);
        job.bytes = parts[0].count * element_ * table_.ranks;
        return next::task;
    }

    // ---- tasks
    bool holds(std::uint32_t die, const ccu_key& key, ccu_program& found)
    {
        const ccu_die& d = state_.die[die];
        for (std::uint32_t i = 0; i < d.programs; ++i) {
            x.hal.compute(costs::k_ccu_program);
            if (d.program[i].key == key) {
                found = d.program[i];
                return true;
            }
        }
        return false;
    }
    bool has_room(std::uint32_t die, const ccu_job& job) const
    {
        const ccu_die& d = state_.die[die];
        return d.programs != k_ccu_programs && d.next + most_instructions(job.group.size) <= state_.capacities.instructions;
    }
    /// The program of a job, written where the unit has not got it.
    abi::status find_program(std::uint32_t die, const ccu_job& job, ccu_program& found)
    {
        ccu_die& d = state_.die[die];
        const ccu_key key = job.key();
        if (holds(die, key, found))
            return {};
        if (!has_room(die, job))
            d.programs = d.next = 0; // begin anew
        if (most_instructions(job.group.size) > state_.capacities.instructions)
            return {abi::status_code::unsupported, "CCU.INSTRUCTIONS", state_.capacities.instructions};
        const ccu_driver ccu = unit(die);
        ccu_code code(ccu, d.next);
        write_program(code, job, shape_of(job.kind, job.group.size, state_.capacities));
        if (abi::status s = ccu.written(); !s.ok())
            return s;
        found = {key, d.next, code.here()};
        d.program[d.programs++] = found;
        d.next += found.count;
        return {};
    }
    std::uint64_t bound_ns(const ccu_job& job) const { return command_.timeout_ns + job.bytes * k_ns_per_byte; }
    /// `before_ns`: of the task that it waits for.
    abi::status launch(std::uint32_t die, const ccu_job& job, std::uint64_t before_ns)
    {
        x.hal.compute(costs::k_ccu_job);
        ccu_program program;
        if (abi::status s = find_program(die, job, program); !s.ok())
            return s;
        ccu_task task;
        task.mission = job.mission;
        task.start = program.start;
        task.count = program.count;
        task.timeout_us = static_cast<std::uint32_t>(smaller((bound_ns(job) + before_ns + 999) / 1000, std::uint64_t{0xffff'ffff}));
        task.key = k_key;
        task.arguments = job.arguments;
        for (std::uint32_t i = 0; i < job.arguments; ++i)
            task.argument[i] = job.argument[i];
        ++x.messages;
        return unit(die).launch(task);
    }

    /// Whom an ended mission missed or could not reach.
    void blame(const ccu_group& g, bool is_line, std::uint32_t d, const ccu_outcome& o)
    {
        std::uint32_t missed = ccu_code::k_none;
        if (o.code == abi::ccu::status::time_out) {
            const std::uint32_t entry = o.detail >> 16, bits = o.detail & 0xffffu;
            const std::uint32_t firsts[] = {g.address_entries, g.token_entries, g.end_entries};
            std::uint32_t bit = 0; // the lowest one
            while (bits != 0 && (bits >> bit & 1) == 0)
                ++bit;
            if (bits != 0)
                for (const std::uint32_t first : firsts)
                    if (entry - first < (g.size + abi::ccu::k_bits_of_entry - 1) / abi::ccu::k_bits_of_entry)
                        missed = (entry - first) * abi::ccu::k_bits_of_entry + bit;
        } else if (o.code == abi::ccu::status::retries_exceeded || o.code == abi::ccu::status::remote_operation) {
            for (std::uint32_t p = 0; p < g.size; ++p)
                if (on_machine(is_line ? member(d, p) : p) == o.detail)
                    missed = p;
        }
        if (missed < g.size)
            x.peer = is_line ? member(d, missed) : missed;
    }

    /// Tasks of a die, of which two are with the unit.
    struct lane {
        std::uint32_t step = 0;     ///< that is planned next
        std::uint32_t launched = 0; ///< tasks
        ccu_job jobs[2];            ///< that are planned and not launched yet
        std::uint32_t planned = 0;
        bool all_planned = false;
        ccu_group groups[k_missions]; ///< of tasks that run
        std::uint64_t bounds_ns[k_missions] = {};

        /// The task that is launched next, with its place among the others.
        const ccu_job& in_turn()
        {
            jobs[0].mission = launched % k_missions;
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
    abi::status plan_more(std::uint32_t die, lane& l)
    {
        abi::status status;
        while (!l.all_planned && l.planned < 2 && status.ok()) {
            ccu_job& job = l.jobs[l.planned];
            job = ccu_job{};
            const next n = plan(die, l.step, job, status);
            ++l.step;
            l.planned += n == next::task ? 1 : 0;
            l.all_planned = n == next::end;
        }
        return status;
    }
    /// As much as missions and store have room for.
    abi::status launch_more(std::uint32_t die, lane& l, std::uint32_t& running)
    {
        for (;;) {
            if (abi::status s = plan_more(die, l); !s.ok())
                return s;
            const std::uint32_t mission = l.launched % k_missions;
            if (l.planned == 0 || (running >> mission & 1) != 0)
                return {};
            const ccu_job& job = l.in_turn();
            ccu_program held;
            if (running != 0 && !has_room(die, job) && !holds(die, job.key(), held))
                return {}; // code that runs is not written over
            if (abi::status s = launch(die, job, running != 0 ? l.bounds_ns[mission ^ 1] : 0); !s.ok())
                return s;
            l.groups[mission] = job.group;
            l.bounds_ns[mission] = bound_ns(job) + (running != 0 ? l.bounds_ns[mission ^ 1] : 0);
            running |= 1u << mission;
            l.done();
        }
    }
    /// Of all tasks; nothing runs.
    abi::status write_programs()
    {
        for (std::uint32_t die = 0; die < k_dies; ++die) {
            lane l;
            abi::status s = plan_more(die, l);
            for (; s.ok() && l.planned != 0; s = s.ok() ? plan_more(die, l) : s) {
                ccu_program program;
                s = find_program(die, l.in_turn(), program);
                l.done();
            }
            if (!s.ok())
                return s;
        }
        return {};
    }
    abi::status run_tasks()
    {
        lane lanes[k_dies];
        std::uint32_t running[k_dies] = {};
        abi::status status;
        for (;;) {
            std::uint64_t longest_ns = 0;
            for (std::uint32_t die = 0; die < k_dies && status.ok(); ++die) {
                lane& l = lanes[die];
                status = launch_more(die, l, running[die]);
                x.step = l.launched > x.step ? l.launched : x.step;
                for (std::uint32_t m = 0; m < k_missions; ++m)
                    if ((running[die] >> m & 1) != 0 && l.bounds_ns[m] > longest_ns)
                        longest_ns = l.bounds_ns[m];
            }
            if (status.ok() && running[0] == 0 && running[1] == 0)
                return {};
            std::uint32_t ended[k_dies] = {};
            if (status.ok())
                status = ccu_driver::wait(x.hal, running, longest_ns + k_patience_ns, ended);
            for (std::uint32_t die = 0; die < k_dies && status.ok(); ++die)
                for (std::uint32_t m = 0; m < k_missions && status.ok(); ++m) {
                    if ((ended[die] >> m & 1) == 0)
                        continue;
                    running[die] &= ~(1u << m);
                    const ccu_outcome o = unit(die).outcome(m);
                    status = o.status;
                    if (!status.ok())
                        blame(lanes[die].groups[m], by_axes(), by_axes() ? dimension_of(lanes[die].groups[m]) : 0, o);
                }
            if (!status.ok()) {
                stop(running);
                return status;
            }
        }
    }
    void stop(const std::uint32_t (&running)[k_dies]) const
    {
        for (std::uint32_t die = 0; die < k_dies; ++die)
            for (std::uint32_t m = 0; m < k_missions; ++m)
                if ((running[die] >> m & 1) != 0)
                    unit(die).kill(m);
    }
    std::uint32_t dimension_of(const ccu_group& line) const
    {
        std::uint32_t i = 0;
        while (i + 1 < axes_ && line_of(order_[i]).registers != line.registers)
            ++i;
        return order_[i];
    }

    // ---- all_to_all of more ranks than channels
    abi::status run_on_both(ccu_job (&jobs)[k_dies])
    {
        std::uint32_t running[k_dies] = {};
        std::uint64_t longest_ns = 0;
        abi::status s;
        for (std::uint32_t die = 0; die < k_dies && s.ok(); ++die) {
            if (jobs[die].bytes == 0)
                continue;
            s = launch(die, jobs[die], 0);
            running[die] = 1u << jobs[die].mission;
            longest_ns = bound_ns(jobs[die]) > longest_ns ? bound_ns(jobs[die]) : longest_ns;
        }
        while (s.ok() && (running[0] | running[1]) != 0) {
            std::uint32_t ended[k_dies] = {};
            s = ccu_driver::wait(x.hal, running, longest_ns + k_patience_ns, ended);
            for (std::uint32_t die = 0; die < k_dies && s.ok(); ++die) {
                running[die] &= ~ended[die];
                if (ended[die] != 0)
                    s = unit(die).outcome(jobs[die].mission).status;
            }
        }
        if (!s.ok())
            stop(running);
        return s;
    }
    /// Blocks of `ranks` ranks from `first` on, all as long, by the first channels; none: the own block, inside the own memory.
    abi::status send_blocks(std::uint32_t first, std::uint32_t ranks)
    {
        const abi::element_range shard = abi::shard_of(command_.count, table_.ranks, first);
        for (std::uint32_t k = 0; k < ranks; ++k)
            if (abi::status s = set_channel(k, first + k); !s.ok())
                return s;
        for (std::uint32_t piece = 0; piece < pieces_of_blocks(); ++piece) {
            ccu_job jobs[k_dies];
            for (std::uint32_t die = 0; die < k_dies; ++die) {
                const abi::element_range part = part_of_block(shard.count, die, piece);
                ccu_job& job = jobs[die];
                job.kind = ranks != 0 ? ccu_kind::blocks : ccu_kind::copy;
                job.group.size = ranks;
                job.add(command_.buffer_offset + (shard.first + part.first) * element_);
                if (ranks != 0)
                    job.add(k_token);
                job.add(command_.output_offset + (table_.rank * shard.count + part.first) * element_);
                if (ranks != 0)
                    job.add(shard.count * element_);
                job.add(part.count * element_);
                job.bytes = part.count * element_ * (ranks != 0 ? ranks : 1);
            }
            if (abi::status s = run_on_both(jobs); !s.ok())
                return s;
        }
        ++x.step;
        return {};
    }
    /// Programs of copies inside the own memory and of blocks to as many ranks as rounds have.
    abi::status write_round_programs()
    {
        abi::status s;
        const auto write = [&](std::uint32_t ranks) {
            for (std::uint32_t die = 0; die < k_dies && s.ok(); ++die) {
                ccu_job job;
                job.kind = ranks != 0 ? ccu_kind::blocks : ccu_kind::copy;
                job.group.size = ranks;
                ccu_program program;
                s = find_program(die, job, program);
            }
        };
        write(0);
        each_round([&](std::uint32_t, std::uint32_t ranks) {
            write(ranks);
            return s.ok();
        });
        return s;
    }
    /// From the next rank on, around; not across the own rank or where shards become shorter. `round`(first rank, ranks) says whether to go on.
    template <class Round> void each_round(Round&& round) const
    {
        const std::uint32_t at_once = smaller(state_.capacities.channels, k_ccu_channels);
        const auto longer = static_cast<std::uint32_t>(command_.count % table_.ranks);
        for (std::uint32_t done = 1; done < table_.ranks;) {
            const std::uint32_t first = table_.rank + done < table_.ranks ? table_.rank + done : table_.rank + done - table_.ranks;
            const std::uint32_t end = first < longer ? longer : table_.ranks;
            const std::uint32_t ranks = smaller(smaller(end - first, table_.ranks - done), at_once);
            if (!round(first, ranks))
                return;
            done += ranks;
        }
    }
    abi::status run_rounds()
    {
        state_.channels_of = k_channels_mixed;
        abi::status status;
        if (abi::status s = x.meet_everybody(); !s.ok())
            return s;
        x.peer = table_.ranks;
        if (abi::status s = send_blocks(table_.rank, 0); !s.ok())
            return s;
        each_round([&](std::uint32_t first, std::uint32_t ranks) {
            if (abi::shard_of(command_.count, table_.ranks, first).count != 0)
                status = send_blocks(first, ranks);
            return status.ok();
        });
        if (!status.ok())
            return status;
        return x.meet_everybody();
    }

    exchange& x;
    const abi::platform_table& table_;
    const abi::command& command_;
    ccu_state& state_;
    std::uint64_t element_;
    std::uint32_t order_[abi::k_max_dims] = {}; ///< dimensions of more than one rank, outermost first
    std::uint32_t axes_ = 0;
};

} // namespace

// Answers carry 47 characters of a reason.
abi::status ccu_refusal(const abi::platform_table& table, const abi::command& command, const ccu_capacities& c)
{
    constexpr auto k_no = abi::status_code::unsupported;
    if (table.semaphore_bank >= k_ccu_banks)
        return {k_no, "more process groups than CCU entries have banks", table.semaphore_bank};
    const std::uint32_t registers = k_ccu_first_bank_register + (table.semaphore_bank + 1) * k_ccu_bank_registers;
    if (c.address_registers < registers)
        return {k_no, "too few CCU address registers", c.address_registers};
    if (c.general_registers < registers)
        return {k_no, "too few CCU general registers", c.general_registers};
    if (c.check_entries < k_ccu_engine_entries + k_ccu_flat_entries)
        return {k_no, "too few CCU check-bit entries", c.check_entries};
    if (c.missions < k_missions)
        return {k_no, "too few CCU missions", c.missions};
    const std::uint32_t channels = smaller(c.channels, k_ccu_channels);
    std::uint32_t peers = table.ranks - 1;
    std::uint32_t least = table.ranks, most = table.ranks; // ranks of a group
    if (command.algo == abi::algorithm::ccu_axes) {
        std::uint32_t order[abi::k_max_dims] = {};
        const std::uint32_t axes = dimensions_of(table, order);
        peers = most = 0;
        for (std::uint32_t i = 0; i < axes; ++i) {
            const std::uint32_t size = table.dims[order[i]];
            peers += size - 1;
            least = smaller(least, size);
            most = size > most ? size : most;
        }
    }
    if (goes_in_rounds(table, command, c))
        peers = most = channels != 0 ? channels : 1;
    if (peers > channels)
        return {k_no, "too few CCU channels", c.channels};
    if (c.instructions < most_instructions(most))
        return {k_no, "CCU instruction store too small", c.instructions};
    if (command.op == abi::collective_op::all_to_all || least < 2)
        return {};
    const bool one_shot = command.algo == abi::algorithm::ccu_one_shot;
    const std::uint64_t element = abi::element_bytes(command.type);
    const ccu_shape shape = shape_of(one_shot ? ccu_kind::one_shot : ccu_kind::reduce_all, most, c);
    if (shape.engines == 0)
        return {k_no, "too few CCU slices, loop engines or entries", smaller(c.slices, c.loop_engines)};
    const std::uint64_t bytes = abi::shard_of(command.count, k_dies, 0).count * element;
    if (one_shot && bytes > most_in_slices(shape))
        return {k_no, "sums do not fit in CCU slices; use ccu", k_dies * most_in_slices(shape)};
    if (bytes / (least - 1) + element > abi::ccu::k_most_iterations * most_in_slices(shape))
        return {k_no, "more data than CCU loops count", command.count};
    return {};
}

bool run_ccu(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    bool refused = false;
    const abi::status status = ccu_runner(x).run(refused);
    if (refused) {
        result.status = status;
        return false;
    }
    x.finish(result, status);
    return true;
}

} // namespace weft::firmware
