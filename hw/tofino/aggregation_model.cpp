// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/aggregation_model.h"

#include "tlm/check.h"

#include <algorithm>

namespace weft {

namespace {

constexpr const char* k_module = "aggregation_model";
constexpr std::uint32_t k_largest_register_depth = 32768; // 15 bits of pool index

pass_type type_after(pass_type type) { return static_cast<pass_type>(static_cast<unsigned>(type) + 1); }

} // namespace

aggregation_decision decide_next_step(pass_type type, packet_size size, std::uint32_t map_result, std::uint8_t count)
{
    const bool is_new = map_result == 0;
    const aggregation_decision drop{};
    const aggregation_decision finish{next_step::finish_consume, pass_type::consume0};
    const auto recirculate = [](pass_type as) { return aggregation_decision{next_step::recirculate, as}; };

    if (type == pass_type::harvest7) { // of any size
        if (count == 1 && is_new)
            return {next_step::broadcast, pass_type::consume0};
        if (count == 0 && !is_new)
            return {next_step::retransmit, pass_type::consume0};
        return drop;
    }
    if (size == packet_size::words64) {
        if (type != pass_type::consume0)
            return drop;
        if (count == 1) // also a retransmission while one worker is missing: its pass is wasted
            return recirculate(pass_type::harvest7);
        if (is_new)
            return finish;
        return count == 0 ? recirculate(pass_type::harvest7) : drop;
    }
    if (size == packet_size::words256) {
        switch (type) {
        case pass_type::consume0: return is_new || count == 0 ? recirculate(pass_type::consume1) : drop;
        case pass_type::consume1:
        case pass_type::consume2: return recirculate(type_after(type));
        case pass_type::consume3:
            if (count == 1 || (!is_new && count == 0))
                return recirculate(pass_type::harvest1);
            return is_new ? finish : drop;
        case pass_type::harvest0:
        case pass_type::harvest7: return drop;
        default: return recirculate(type_after(type));
        }
    }
    return drop;
}

std::uint32_t checked_register_depth(std::uint32_t register_depth, const char* module)
{
    if (register_depth < 2 || register_depth > k_largest_register_depth || (register_depth & (register_depth - 1)) != 0)
        throw bug(module, 0,
                  "register_depth is " + std::to_string(register_depth) + ", it must be a power of two from 2 to " +
                      std::to_string(k_largest_register_depth));
    return register_depth;
}

void check_pass(const aggregation_pass& pass, std::uint32_t register_depth, const char* module, std::uint64_t now_ps)
{
    const auto type = static_cast<unsigned>(pass.type);
    if (pass.pool_index >= register_depth)
        throw bug(module, now_ps,
                  "pool index " + std::to_string(pass.pool_index) + " is outside " + std::to_string(register_depth) +
                      " registers");
    if (pass.worker >= k_max_aggregation_workers || pass.workers < 1 || pass.workers > k_max_aggregation_workers)
        throw bug(module, now_ps,
                  "worker " + std::to_string(pass.worker) + " of " + std::to_string(pass.workers) +
                      ": the bitmap has " + std::to_string(k_max_aggregation_workers) + " bits");
    if (type < static_cast<unsigned>(pass_type::consume0) || type > static_cast<unsigned>(pass_type::harvest7))
        throw bug(module, now_ps, "pass type " + std::to_string(type) + " is not one of 4 to 15");
    if (static_cast<unsigned>(pass.size) > static_cast<unsigned>(packet_size::words256))
        throw bug(module, now_ps, "size code " + std::to_string(static_cast<unsigned>(pass.size)) + " is above 3");
}

aggregation_result& aggregation_results::add()
{
    if (end_ - begin_ == ring_.size()) {
        std::vector<aggregation_result> larger(std::max<std::size_t>(16, 2 * ring_.size()));
        for (std::uint64_t ticket = begin_; ticket != end_; ++ticket)
            larger[ticket & (larger.size() - 1)] = ring_[ticket & (ring_.size() - 1)];
        ring_.swap(larger);
    }
    return ring_[end_++ & (ring_.size() - 1)];
}

aggregation_model::aggregation_model(std::uint32_t register_depth)
    : register_depth_(checked_register_depth(register_depth, k_module)), bitmaps_(register_depth),
      control_(register_depth), values_(register_depth)
{
}

std::uint64_t aggregation_model::submit(const aggregation_pass& pass, std::uint64_t now_ps)
{
    check_pass(pass, register_depth_, k_module, now_ps);
    const std::uint64_t ticket = results_.next_ticket();
    aggregation_result& result = results_.add();
    if (is_consume(pass.type))
        consume(pass, result);
    else
        harvest(pass, result);
    const aggregation_decision decision = decide_next_step(pass.type, pass.size, result.map_result, result.count);
    result.step = decision.step;
    result.next_type = decision.next_type;
    return ticket;
}

void aggregation_model::consume(const aggregation_pass& pass, aggregation_result& result)
{
    const std::uint32_t index = pass.pool_index;
    const std::uint32_t bit = std::uint32_t{1} << pass.worker;
    const std::uint32_t before = bitmaps_[index];
    bitmaps_[index] = before | bit;
    bitmaps_[index ^ 1] &= ~bit;
    const bool is_new = (before & bit) == 0;
    const bool is_first = before == 0;
    result.bitmap_before = before;
    result.map_result = before & bit;

    control_word& control = control_[index];
    result.count = control.count;
    if (is_new)
        control.count = static_cast<std::uint8_t>((control.count == 0 ? pass.workers : control.count) - 1);
    if (pass.workers == 1) // a single worker completes its slot at once; the register runs along
        result.count = is_new ? 1 : 0;

    result.reads_exponent0 = pass.type == pass_type::consume0 && pass.last_of_message;
    result.reads_exponent1 = false;
    result.exponent = 0;
    if (result.reads_exponent0) {
        if (is_first) {
            control.exponent0 = pass.exponent0;
            control.exponent1 = pass.exponent1;
        } else if (is_new) {
            control.exponent0 = std::max(control.exponent0, pass.exponent0);
            control.exponent1 = std::max(control.exponent1, pass.exponent1);
        }
        result.exponent = control.exponent0;
    }

    value_row& row = values_[index];
    result.writes_d0 = false;
    if (is_first) {
        row.first = pass.d0;
        row.second = pass.d1;
    } else if (is_new) {
        for (std::uint32_t k = 0; k < k_aggregation_alus; ++k)
            row.first[k] += pass.d0[k];
        for (std::uint32_t k = 0; k < k_aggregation_alus; ++k)
            row.second[k] += pass.d1[k];
    }
    result.words = row.second;
}

void aggregation_model::harvest(const aggregation_pass& pass, aggregation_result& result)
{
    result.bitmap_before = 0;
    result.map_result = pass.map_result;
    result.count = pass.count;
    result.reads_exponent0 = false;
    result.reads_exponent1 = pass.type == pass_type::harvest7 && pass.last_of_message;
    result.exponent = result.reads_exponent1 ? control_[pass.pool_index].exponent1 : std::int8_t{0};
    result.writes_d0 = (static_cast<unsigned>(pass.type) & 1) != 0;
    const value_row& row = values_[pass.pool_index];
    result.words = result.writes_d0 ? row.first : row.second;
}

aggregation_result aggregation_model::take(std::uint64_t ticket, std::uint64_t now_ps)
{
    if (results_.empty() || ticket != results_.oldest_ticket())
        throw bug(k_module, now_ps,
                  "ticket " + std::to_string(ticket) + " is not the oldest that waits, " +
                      std::to_string(results_.oldest_ticket()));
    const aggregation_result result = results_.oldest();
    results_.remove_oldest();
    return result;
}

void aggregation_model::clear()
{
    std::fill(bitmaps_.begin(), bitmaps_.end(), 0);
    std::fill(control_.begin(), control_.end(), control_word{});
    std::fill(values_.begin(), values_.end(), value_row{});
}

aggregation_slot_state aggregation_model::slot_state(std::uint16_t slot) const
{
    if (2u * slot >= register_depth_)
        throw bug(k_module, 0, "slot " + std::to_string(slot) + " is outside the registers");
    aggregation_slot_state state;
    for (std::uint32_t version = 0; version < 2; ++version) {
        const std::uint32_t index = 2u * slot + version;
        auto& of = state.versions[version];
        of.bitmap = bitmaps_[index];
        of.count = control_[index].count;
        of.exponent0 = control_[index].exponent0;
        of.exponent1 = control_[index].exponent1;
        of.first = values_[index].first;
        of.second = values_[index].second;
    }
    return state;
}

std::string aggregation_model::describe_slot(std::uint16_t slot) const { return to_string(slot, slot_state(slot)); }

} // namespace weft
