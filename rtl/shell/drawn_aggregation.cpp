// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "rtl/shell/pin_waves.h"
#include "rtl/shell/rtl_aggregation.h"

#include <algorithm>

namespace weft {

drawn_aggregation::drawn_aggregation(std::uint32_t register_depth, drawn_pipe pins)
    : model_(register_depth), drawn_(std::move(pins))
{
}

std::uint64_t drawn_aggregation::submit(const aggregation_pass& pass, std::uint64_t now_ps)
{
    const std::uint64_t ticket = model_.submit(pass, now_ps);
    const std::uint64_t entry = std::max(pipe_cycle_at(now_ps), next_cycle_);
    next_cycle_ = entry + 1;
    entries_.push_back(entry);
    set_inputs(in_, pass);
    drawn_.waves->on_pass(drawn_.number, entry, in_, now_ps);
    return ticket;
}

aggregation_result drawn_aggregation::take(std::uint64_t ticket, std::uint64_t now_ps)
{
    const aggregation_result result = model_.take(ticket, now_ps);
    const std::uint64_t entry = entries_.front();
    entries_.pop_front();
    next_cycle_ =
        std::max(next_cycle_, entry + k_pipe_latency_clocks); // the Verilog is clocked on until the result stands
    aggregation_pipe_outputs out;
    out.valid = true;
    out.bitmap_before = result.bitmap_before;
    out.map_result = result.map_result;
    out.count = result.count;
    out.drop = result.step == next_step::drop;
    out.finish = result.step == next_step::finish_consume;
    out.recirculate = result.step == next_step::recirculate;
    out.broadcast = result.step == next_step::broadcast;
    out.retransmit = result.step == next_step::retransmit;
    out.next_type = static_cast<std::uint8_t>(result.next_type);
    out.writes_d0 = result.writes_d0;
    out.reads_exponent0 = result.reads_exponent0;
    out.reads_exponent1 = result.reads_exponent1;
    out.exponent = result.exponent;
    out.words = result.words;
    drawn_.waves->on_result(drawn_.number, entry + k_pipe_latency_clocks - 1, out, now_ps);
    return result;
}

std::string drawn_aggregation::warning() const { return drawn_.number == 0 ? drawn_.waves->cut() : std::string(); }

} // namespace weft
