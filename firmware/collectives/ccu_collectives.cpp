// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/ccu_collectives.h"

#include "firmware/collectives/ccu_plan.h"
#include "firmware/collectives/exchange.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_dies = abi::ccu::k_dies;
constexpr std::uint32_t k_missions = k_ccu_missions;
constexpr std::uint32_t k_key = 0x7765'6674;    ///< see k_ccu_token
constexpr std::uint32_t k_channels_mixed = ~0u; ///< ccu_state::channels_of: of no group
/// A task moves all of its data in one wait. Beside the bound of a wait it has this much time, more than the slowest
/// link takes: 1 GB/s.
constexpr std::uint64_t k_ns_per_byte = 1;
constexpr std::uint64_t k_patience_ns = 10'000; ///< more than the unit, so that it can say itself what was missing

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

class ccu_runner {
public:
    ccu_runner(exchange& e)
        : x(e), table_(e.context.table), command_(e.command), state_(e.context.ccu),
          plan_(table_, command_, state_.capacities), near_(table_)
    {
        x.peer = table_.ranks;
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
        const bool prepares = command_.only_prepares != 0;
        if (!plan_.in_rounds())
            s = set_channels();
        if (!s.ok())
            return s;
        return prepares            ? write_programs()
               : plan_.in_rounds() ? run_rounds()
               : plan_.by_lines()  ? run_lines()
                                   : run_tasks();
    }

private:
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
            if (abi::status s = ccu.init(k_key, k_ccu_token); !s.ok())
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
            take(smallest.outstanding, c.outstanding);
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
        const std::uint32_t peer = on_machine(rank) | (near_.holds(rank) ? abi::ccu::k_shortest_paths : 0);
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
        const std::uint32_t wanted = 2 * table_.semaphore_bank + (plan_.by_axes() ? 1 : 0);
        if (state_.channels_of == wanted)
            return {};
        state_.channels_of = k_channels_mixed;
        std::uint32_t channel = 0;
        abi::status s;
        if (!plan_.by_axes())
            for (std::uint32_t p = 0; p < table_.ranks && s.ok(); ++p)
                if (p != table_.rank)
                    s = set_channel(channel++, p);
        for (std::uint32_t i = 0; plan_.by_axes() && i < plan_.axes(); ++i)
            for (std::uint32_t p = 0; p < table_.dims[plan_.dimension(i)] && s.ok(); ++p)
                if (p != table_.coord[plan_.dimension(i)])
                    s = set_channel(channel++, plan_.member(plan_.dimension(i), p));
        if (s.ok())
            state_.channels_of = wanted;
        return s;
    }

    // ---- tasks
    static std::uint32_t most_instructions_of(const ccu_job& job)
    {
        return most_instructions(job.group.size, job.kind == ccu_kind::forward ? job.rows * job.group.size : 0);
    }
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
        return d.programs != k_ccu_programs && d.next + most_instructions_of(job) <= state_.capacities.instructions;
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
        if (most_instructions_of(job) > state_.capacities.instructions)
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
                if (on_machine(is_line ? plan_.member(d, p) : p) == o.detail)
                    missed = p;
        }
        if (missed < g.size)
            x.peer = is_line ? plan_.member(d, missed) : missed;
    }

    /// With the bounds of the tasks that run.
    struct lane : ccu_lane {
        ccu_group groups[k_missions];
        std::uint64_t bounds_ns[k_missions] = {};
    };
    /// As much as missions and store have room for.
    abi::status launch_more(std::uint32_t die, lane& l, std::uint32_t& running)
    {
        for (;;) {
            if (abi::status s = plan_.plan_more(die, l); !s.ok())
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
        abi::status s;
        for (std::uint32_t die = 0; die < k_dies && s.ok(); ++die)
            s = plan_.each_program(die, [&](const ccu_job& job) {
                ccu_program program;
                return find_program(die, job, program);
            });
        return s;
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
                        blame(lanes[die].groups[m], plan_.by_axes(),
                              plan_.by_axes() ? plan_.dimension_of(lanes[die].groups[m]) : 0, o);
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

    // ---- all_to_all in stages or rounds
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
                if (ended[die] == 0)
                    continue;
                const ccu_outcome o = unit(die).outcome(jobs[die].mission);
                s = o.status;
                if (!s.ok() && plan_.by_lines())
                    blame(jobs[die].group, true, plan_.dimension_of(jobs[die].group), o);
            }
        }
        if (!s.ok())
            stop(running);
        return s;
    }
    abi::status run_lines()
    {
        for (std::uint32_t stage = 0; stage < plan_.axes(); ++stage) {
            ccu_job jobs[k_dies];
            for (std::uint32_t die = 0; die < k_dies; ++die)
                plan_.plan_line(die, stage, jobs[die]);
            ++x.step;
            if (abi::status s = run_on_both(jobs); !s.ok())
                return s;
        }
        return {};
    }
    /// Blocks of `ranks` ranks from `first` on, all as long, by the first channels; none: the own block, inside the own
    /// memory.
    abi::status send_blocks(std::uint32_t first, std::uint32_t ranks)
    {
        for (std::uint32_t k = 0; k < ranks; ++k)
            if (abi::status s = set_channel(k, first + k); !s.ok())
                return s;
        for (std::uint32_t piece = 0; piece < plan_.pieces_of_blocks(); ++piece) {
            ccu_job jobs[k_dies];
            for (std::uint32_t die = 0; die < k_dies; ++die)
                plan_.plan_blocks(die, first, ranks, piece, jobs[die]);
            if (abi::status s = run_on_both(jobs); !s.ok())
                return s;
        }
        ++x.step;
        return {};
    }
    abi::status run_rounds()
    {
        state_.channels_of = k_channels_mixed;
        if (abi::status s = x.meet_everybody(); !s.ok())
            return s;
        x.peer = table_.ranks;
        if (abi::status s = send_blocks(table_.rank, 0); !s.ok())
            return s;
        for (ccu_round round; plan_.next_round(round);)
            if (abi::shard_of(command_.count, table_.ranks, round.first).count != 0)
                if (abi::status s = send_blocks(round.first, round.ranks); !s.ok())
                    return s;
        return x.meet_everybody();
    }

    exchange& x;
    const abi::platform_table& table_;
    const abi::command& command_;
    ccu_state& state_;
    ccu_plan plan_;
    near_block near_; ///< to these ranks channels keep to shortest paths, as messages of a DMA engine do
};

} // namespace

bool run_ccu(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
             collective_result& result)
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
