// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "rtl/shell/rtl_aggregation.h"
#include "tlm/check.h"

namespace weft {

namespace {
constexpr const char* k_module = "lockstep_aggregation";
constexpr std::size_t k_first_ring = 16; // a power of two
} // namespace

lockstep_aggregation::lockstep_aggregation(std::uint32_t register_depth, const rtl_aggregation_options& options)
    : model_(register_depth), rtl_(register_depth, options), waiting_(k_first_ring)
{
    rtl_.leave_assertions();
}

std::uint64_t lockstep_aggregation::submit(const aggregation_pass& pass, std::uint64_t now_ps)
{
    if (submitted_ - compared_ == waiting_.size()) {
        std::vector<aggregation_pass> larger(2 * waiting_.size());
        for (std::uint64_t i = compared_; i != submitted_; ++i)
            larger[i & (larger.size() - 1)] = waiting_[i & (waiting_.size() - 1)];
        waiting_.swap(larger);
    }
    model_.submit(pass, now_ps);
    rtl_.submit(pass, now_ps);
    waiting_[submitted_ & (waiting_.size() - 1)] = pass;
    return submitted_++;
}

aggregation_result lockstep_aggregation::take(std::uint64_t ticket, std::uint64_t now_ps)
{
    const aggregation_result by_model = model_.take(ticket, now_ps);
    const aggregation_result by_rtl = rtl_.take(ticket, now_ps);
    const aggregation_pass& pass = waiting_[ticket & (waiting_.size() - 1)];
    if (by_model != by_rtl) {
        rtl_.drain(); // so that both registers show all passes submitted
        throw bug(k_module, now_ps,
                  "model and RTL differ at pass " + std::to_string(ticket) + " of this pipe\npass\n" + to_string(pass) +
                      "\nresult of the model\n" + to_string(by_model) + "\nresult of the RTL\n" + to_string(by_rtl) +
                      "\nregisters after " + std::to_string(submitted_ - ticket) + " passes from this one on\n" +
                      describe_slot(pass.pool_index >> 1) + "\ndifference of the results, the model first\n" + difference_of(by_model, by_rtl));
    }
    rtl_.check_assertions(now_ps);
    ++compared_;
    return by_rtl;
}

void lockstep_aggregation::clear()
{
    model_.clear();
    rtl_.clear();
}

std::string lockstep_aggregation::describe_slot(std::uint16_t slot) const
{
    return "model: " + model_.describe_slot(slot) + "\nRTL: " + rtl_.describe_slot(slot);
}

void lockstep_aggregation::compare_registers(std::uint64_t now_ps)
{
    rtl_.drain();
    for (std::uint32_t slot = 0; 2 * slot < register_depth(); ++slot) {
        const auto number = static_cast<std::uint16_t>(slot);
        if (model_.slot_state(number) != rtl_.slot_state(number))
            throw bug(k_module, now_ps, "the registers of model and RTL differ\n" + describe_slot(number) + "\ndifference, the model first\n" +
                                          difference_of(model_.slot_state(number), rtl_.slot_state(number)));
    }
}

} // namespace weft
