// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The registers and the arithmetic of one pipe of the SwitchML aggregation program, in plain C++.
//
// Models: worker bitmaps of both versions of a slot, count of the workers still missing, maxima of two exponents, 64
// sums, the
//         priority-ordered next-step table for packets of 64 and 256 words (p4lang/p4app-switchML, quoted).
// Does not model: stages and their clock; ports, recirculation and multicast (the switch around it does).
// Timing: none. A pass takes effect in submit().
// RTL twin: rtl/aggregation/aggregation_pipe.v, driven by rtl/shell/rtl_aggregation.
#pragma once

#include "hw/tofino/aggregation_unit.h"

#include <cstddef>
#include <vector>

namespace weft {

/// What the registers hold for both versions of one slot.
struct aggregation_slot_state {
    struct version_state {
        std::uint32_t bitmap = 0;
        std::uint8_t count = 0;
        std::int8_t exponent0 = 0;
        std::int8_t exponent1 = 0;
        std::array<std::uint32_t, k_aggregation_alus> first{};
        std::array<std::uint32_t, k_aggregation_alus> second{};
    };
    std::array<version_state, 2> versions;

    friend bool operator==(const aggregation_slot_state& a, const aggregation_slot_state& b);
    friend bool operator!=(const aggregation_slot_state& a, const aggregation_slot_state& b) { return !(a == b); }
};

/// Two lines, one a version; the first four words of either half.
std::string to_string(std::uint16_t slot, const aggregation_slot_state& state);
/// As of results.
std::string difference_of(const aggregation_slot_state& model, const aggregation_slot_state& twin);

/// The next-step table. `map_result` and `count` as in aggregation_result.
struct aggregation_decision {
    next_step step = next_step::drop;
    pass_type next_type = pass_type::consume0;
};
aggregation_decision decide_next_step(pass_type type, packet_size size, std::uint32_t map_result, std::uint8_t count);

/// Throws `bug` when the pass does not fit registers of this depth: index, worker, number of workers, type.
void check_pass(const aggregation_pass& pass, std::uint32_t register_depth, const char* module, std::uint64_t now_ps);

/// Results that wait for their take(): a ring that grows when it must and never shrinks.
class aggregation_results {
public:
    /// Room for the next result; its ticket is next_ticket() before the call.
    aggregation_result& add();
    std::uint64_t next_ticket() const { return end_; }
    std::uint64_t oldest_ticket() const { return begin_; }
    bool empty() const { return begin_ == end_; }
    const aggregation_result& oldest() const { return ring_[begin_ & (ring_.size() - 1)]; }
    void remove_oldest() { ++begin_; }

private:
    std::vector<aggregation_result> ring_; ///< a power of two of them
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
};

class aggregation_model : public aggregation_unit {
public:
    /// `register_depth`: pool indices, a power of two from 2 to 32768.
    explicit aggregation_model(std::uint32_t register_depth = k_default_register_depth);

    std::uint64_t submit(const aggregation_pass& pass, std::uint64_t now_ps) override;
    aggregation_result take(std::uint64_t ticket, std::uint64_t now_ps) override;
    void clear() override;
    std::string describe_slot(std::uint16_t slot) const override;
    std::uint32_t register_depth() const override { return register_depth_; }

    aggregation_slot_state slot_state(std::uint16_t slot) const;

private:
    struct control_word {
        std::uint8_t count = 0;
        std::int8_t exponent0 = 0;
        std::int8_t exponent1 = 0;
    };
    struct alignas(64) value_row { ///< of one pool index: what the 32 registers hold there
        std::array<std::uint32_t, k_aggregation_alus> first;
        std::array<std::uint32_t, k_aggregation_alus> second;
    };

    void consume(const aggregation_pass& pass, aggregation_result& result);
    void harvest(const aggregation_pass& pass, aggregation_result& result);

    std::uint32_t register_depth_;
    std::vector<std::uint32_t> bitmaps_; ///< by pool index: both versions of a slot lie side by side
    std::vector<control_word> control_;
    std::vector<value_row> values_;
    aggregation_results results_;
};

/// Throws `bug`: registers must be a power of two deep, from 2 to 32768.
std::uint32_t checked_register_depth(std::uint32_t register_depth, const char* module);

} // namespace weft
