// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/firmware_trace.h"

#include <algorithm>

namespace weft {

namespace {
constexpr std::size_t k_deepest = 1000; ///< frames; a program memory's stack has no room for more
} // namespace

void firmware_trace::on_instruction(std::uint64_t pc)
{
    const std::uint16_t function = symbols_.at(pc);
    if (flow_ != rv64::flow::next || function != function_ || stack_.empty())
        move(pc);
    std::uint32_t instruction = 0;
    core_.read_debug(pc, &instruction, sizeof instruction);
    flow_ = rv64::decode_flow(instruction);
    behind_ = pc + rv64::length_of(static_cast<std::uint16_t>(instruction));
    function_ = function;
}

/// The instruction before may have left its function, for `pc`.
void firmware_trace::move(std::uint64_t pc)
{
    using rv64::flow;
    const std::uint16_t function = symbols_.at(pc);
    const std::uint64_t handler = core_.engine().csr(iss_csr::mtvec) & ~std::uint64_t{3};
    if (pc == handler && pc != behind_ && handler != 0) {
        enter({0, function, true, flow_, behind_, false});
        return;
    }
    if (flow_ == flow::trap_return) {
        const auto trap = std::find_if(stack_.rbegin(), stack_.rend(), [](const frame& f) { return f.of_trap; });
        if (trap != stack_.rend()) {
            const frame back = *trap;
            for (auto n = trap - stack_.rbegin() + 1; n != 0; --n)
                leave();
            flow_ = back.interrupted;
            behind_ = back.interrupted_return;
        }
    }
    if (flow_ == flow::call) {
        enter({behind_, function, false, flow::next, 0, false});
        return;
    }
    if (flow_ == flow::function_return) {
        const auto caller =
            std::find_if(stack_.rbegin(), stack_.rend(), [&](const frame& f) { return f.return_to == pc; });
        if (caller != stack_.rend())
            for (auto n = caller - stack_.rbegin() + 1; n != 0; --n)
                leave();
    }
    if (stack_.empty()) {
        enter({0, function, false, flow::next, 0, false});
    } else if (frame top = stack_.back(); symbols_.name(top.function) != symbols_.name(function)) {
        leave(); // a tail call; parts of one function have one name
        top.function = function;
        enter(top);
    }
}

void firmware_trace::enter(frame f)
{
    if (stack_.size() == k_deepest)
        return;
    last_ps_ = core_.observed_now_ps();
    f.written = out_.begin_call(rank_, last_ps_, symbols_.name(f.function));
    stack_.push_back(f);
}

void firmware_trace::leave()
{
    last_ps_ = core_.observed_now_ps();
    if (stack_.back().written)
        out_.end_call(rank_, last_ps_);
    stack_.pop_back();
}

void firmware_trace::end(std::uint64_t time_ps)
{
    const std::uint64_t at_ps = std::max(time_ps, last_ps_); // a core may have run ahead
    for (; !stack_.empty(); stack_.pop_back())
        if (stack_.back().written)
            out_.end_call(rank_, at_ps);
}

} // namespace weft
