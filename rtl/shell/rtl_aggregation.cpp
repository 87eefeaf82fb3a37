// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "rtl/shell/rtl_aggregation.h"

#include "rtl/shell/pin_waves.h"
#include "tlm/check.h"

#include <algorithm>

namespace weft {

namespace {

constexpr const char* k_aggregation_module = "rtl_aggregation";
constexpr std::uint32_t k_reset_clocks = 4;

static_assert(k_pipe_alus == k_aggregation_alus, "the Verilog has as many ALUs as the contract");

next_step step_of(const aggregation_pipe_outputs& out)
{
    return out.finish        ? next_step::finish_consume
           : out.recirculate ? next_step::recirculate
           : out.broadcast   ? next_step::broadcast
           : out.retransmit  ? next_step::retransmit
                             : next_step::drop;
}

} // namespace

void set_inputs(aggregation_pipe_inputs& in, const aggregation_pass& pass)
{
    in.valid = true;
    in.type = static_cast<std::uint8_t>(pass.type);
    in.size = static_cast<std::uint8_t>(pass.size);
    in.index = pass.pool_index;
    in.worker = pass.worker;
    in.workers = pass.workers;
    in.last_of_message = pass.last_of_message;
    in.exponent0 = pass.exponent0;
    in.exponent1 = pass.exponent1;
    in.map_result = pass.map_result;
    in.count = pass.count;
    if (is_consume(pass.type)) {
        in.d0 = pass.d0;
        in.d1 = pass.d1;
    }
}

rtl_aggregation::rtl_aggregation(std::uint32_t register_depth, const rtl_aggregation_options& options)
    : register_depth_(checked_register_depth(register_depth, k_aggregation_module)), clock_(options.clock), drawn_(options.pins)
{
    if (register_depth > k_pipe_depth)
        throw bug(k_aggregation_module, 0,
                  "register_depth is " + std::to_string(register_depth) + "; the Verilog has " +
                      std::to_string(k_pipe_depth));
    if (!options.waves.empty())
        if (const std::string problem = pins_.open_waves(options.waves); !problem.empty())
            throw user_error("the waves of the aggregation pipe cannot be written to '" + options.waves + "': " + problem +
                             ". Name a file elsewhere.");
    pins_.in.reset = true;
    for (std::uint32_t i = 0; i < k_reset_clocks; ++i)
        pins_.clock_without_waves();
    pins_.in.reset = false;
    wait_until_ready(); // reset clears the registers
}

void rtl_aggregation::wait_until_ready()
{
    for (std::uint32_t clocks = 0; !pins_.out.ready; ++clocks) {
        if (clocks > 2 * k_pipe_depth)
            throw bug(k_aggregation_module, pipe_time_of(next_cycle_), "the pipe does not become ready after clearing");
        pins_.clock_without_waves();
    }
    check_assertions(pipe_time_of(next_cycle_));
}

void rtl_aggregation::clear()
{
    drain();
    if (!used_)
        return;
    pins_.in.clear = true;
    pins_.clock_without_waves();
    pins_.in.clear = false;
    wait_until_ready();
    used_ = false;
}

void rtl_aggregation::check_assertions(std::uint64_t now_ps)
{
    if (const int failed = pins_.failed_assertions())
        throw bug(k_aggregation_module, now_ps,
                  std::to_string(failed) + " assertions of the Verilog failed" +
                      (failed > k_printed_assertions ? "; the first " + std::to_string(k_printed_assertions) + " are" : failed > 1 ? ", which are" : ", which is") +
                      " named above");
}

void rtl_aggregation::clock_once(std::uint64_t now_ps)
{
    const std::uint64_t cycle = next_cycle_++;
    pins_.clock(pipe_time_of(cycle));
    ++clocks_;
    if (drawn_.waves)
        draw(cycle, now_ps);
    if (pins_.out.valid)
        collect(now_ps);
    if (checks_assertions_)
        check_assertions(now_ps);
}

/// The pins at the clock that has been.
void rtl_aggregation::draw(std::uint64_t cycle, std::uint64_t now_ps)
{
    if (pins_.in.valid)
        drawn_.waves->on_pass(drawn_.number, cycle, pins_.in, now_ps);
    if (pins_.out.valid)
        drawn_.waves->on_result(drawn_.number, cycle, pins_.out, now_ps);
}

std::string rtl_aggregation::warning() const
{
    return drawn_.waves && drawn_.number == 0 && !drawn_.waves->cut().empty() ? drawn_.waves->cut() : pins_.waves_cut();
}

void rtl_aggregation::collect(std::uint64_t now_ps)
{
    if (under_way_ == 0)
        throw bug(k_aggregation_module, now_ps, "the pipe gives a result of no pass");
    --under_way_;
    const std::uint64_t clocks = next_cycle_ - entries_[results_.next_ticket() % entries_.size()];
    if (clocks != k_pipe_latency_clocks)
        throw bug(k_aggregation_module, now_ps, "a pass took " + std::to_string(clocks) + " clocks");
    const aggregation_pipe_outputs& out = pins_.out;
    aggregation_result& result = results_.add();
    result.bitmap_before = out.bitmap_before;
    result.map_result = out.map_result;
    result.count = out.count;
    result.step = step_of(out);
    result.next_type =
        result.step == next_step::recirculate ? static_cast<pass_type>(out.next_type) : pass_type::consume0;
    result.writes_d0 = out.writes_d0;
    result.reads_exponent0 = out.reads_exponent0;
    result.reads_exponent1 = out.reads_exponent1;
    result.exponent = out.reads_exponent0 || out.reads_exponent1 ? out.exponent : std::int8_t{0};
    result.words = out.words;
}

std::uint64_t rtl_aggregation::submit(const aggregation_pass& pass, std::uint64_t now_ps)
{
    check_pass(pass, register_depth_, k_aggregation_module, now_ps);
    const std::uint64_t entry = std::max(pipe_cycle_at(now_ps), next_cycle_);
    while (next_cycle_ < entry) {
        if (clock_ == pipe_clock::gated && !pins_.out.busy) // nothing under way: the clock stands still
            next_cycle_ = entry;
        else
            clock_once(now_ps);
    }
    set_inputs(pins_.in, pass);
    used_ = true;
    entries_[submitted_ % entries_.size()] = entry;
    ++under_way_;
    ++passes_;
    clock_once(now_ps);
    pins_.in.valid = false;
    return submitted_++;
}

void rtl_aggregation::drain()
{
    for (std::uint32_t clocks = 0; pins_.out.busy || under_way_ != 0; ++clocks) {
        if (clocks > 2 * k_pipe_latency_clocks)
            throw bug(k_aggregation_module, pipe_time_of(next_cycle_), "the pipe does not come to rest");
        clock_once(pipe_time_of(next_cycle_));
    }
}

aggregation_result rtl_aggregation::take(std::uint64_t ticket, std::uint64_t now_ps)
{
    if (ticket != results_.oldest_ticket() || ticket >= submitted_)
        throw bug(k_aggregation_module, now_ps,
                  "ticket " + std::to_string(ticket) + " is not the oldest that waits, " +
                      std::to_string(results_.oldest_ticket()));
    for (std::uint32_t clocks = 0; results_.empty(); ++clocks) {
        if (clocks > k_pipe_latency_clocks)
            throw bug(k_aggregation_module, now_ps, "the pipe lost a pass");
        clock_once(now_ps);
    }
    const aggregation_result result = results_.oldest();
    results_.remove_oldest();
    return result;
}

aggregation_slot_state rtl_aggregation::slot_state(std::uint16_t slot) const
{
    if (2u * slot >= register_depth_)
        throw bug(k_aggregation_module, 0, "slot " + std::to_string(slot) + " is outside the registers");
    aggregation_slot_state state;
    for (std::uint32_t version = 0; version < 2; ++version) {
        const std::uint32_t index = 2u * slot + version;
        auto& of = state.versions[version];
        of.bitmap = pins_.bitmap(index);
        of.count = pins_.count(index);
        of.exponent0 = pins_.exponent0(index);
        of.exponent1 = pins_.exponent1(index);
        for (std::uint32_t k = 0; k < k_pipe_alus; ++k) {
            const std::uint64_t pair = pins_.value_pair(k, index);
            of.first[k] = static_cast<std::uint32_t>(pair >> 32);
            of.second[k] = static_cast<std::uint32_t>(pair);
        }
    }
    return state;
}

std::string rtl_aggregation::describe_slot(std::uint16_t slot) const { return to_string(slot, slot_state(slot)); }

} // namespace weft
