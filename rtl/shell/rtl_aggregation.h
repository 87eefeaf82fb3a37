// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The registers of one pipe, computed by the Verilog in rtl/aggregation instead of by aggregation_model.
//
// Models: the clock of 1.22 GHz (recalled). A pass enters at the first rising edge at or after its submit(), one a
//         clock; its result stands 4 clocks later. The clock stands still while nothing is under way (`gated`) or runs
//         on (`free_running`); entries, results and registers are the same.
// Does not model: time of clearing, which happens between two passes at no simulated time.
// Timing: none toward the caller: take() clocks the pipe on until the result stands, even ahead of `now_ps`. The time
//         of a pass through the switch is the switch's; 4 clocks of it are the pipe's.
// C++ twin: hw/tofino/aggregation_model.h.
#pragma once

#include "hw/tofino/aggregation_model.h"
#include "rtl/shell/aggregation_pins.h"

#include <deque>
#include <memory>

namespace weft {

inline constexpr std::uint64_t k_pipe_clock_mhz = 1220; ///< recalled
inline constexpr std::uint32_t k_pipe_latency_clocks = 4;

/// The first clock at or after an instant, and the instant of a clock (rounded down).
constexpr std::uint64_t pipe_cycle_at(std::uint64_t now_ps)
{
    return now_ps / 1'000'000 * k_pipe_clock_mhz + (now_ps % 1'000'000 * k_pipe_clock_mhz + 999'999) / 1'000'000;
}
constexpr std::uint64_t pipe_time_of(std::uint64_t cycle)
{
    return cycle / k_pipe_clock_mhz * 1'000'000 + cycle % k_pipe_clock_mhz * 1'000'000 / k_pipe_clock_mhz;
}
/// What the pins have in the clock in which the pass enters the pipe.
void set_inputs(aggregation_pipe_inputs& in, const aggregation_pass& pass);

class pin_waves;

/// A pipe in a file of waves: nothing until somebody draws.
struct drawn_pipe {
    std::shared_ptr<pin_waves> waves;
    std::uint32_t number = 0; ///< there
};

enum class pipe_clock { gated, free_running };

struct rtl_aggregation_options {
    pipe_clock clock = pipe_clock::gated;
    std::string waves; ///< FST file; empty: none. Waves need time: about a millisecond a thousand passes
    drawn_pipe pins{}; ///< where its pins are drawn
};

class rtl_aggregation : public aggregation_unit {
public:
    /// `register_depth` as of aggregation_model, at most k_pipe_depth: the Verilog has that many and leaves the rest
    /// unused.
    /// Throws user_error when the waves cannot be written.
    explicit rtl_aggregation(std::uint32_t register_depth = k_default_register_depth,
                             const rtl_aggregation_options& options = {});
    /// Assertions that fail throw in check_assertions() alone: whoever compares results has more to tell.
    void leave_assertions() { checks_assertions_ = false; }
    /// Throws bug when any has failed.
    void check_assertions(std::uint64_t now_ps);

    std::uint64_t submit(const aggregation_pass& pass, std::uint64_t now_ps) override;
    aggregation_result take(std::uint64_t ticket, std::uint64_t now_ps) override;
    void clear() override;
    std::string describe_slot(std::uint16_t slot) const override;
    std::uint32_t register_depth() const override { return register_depth_; }
    std::string warning() const override;

    aggregation_slot_state slot_state(std::uint16_t slot) const;

    /// Clocks until nothing is under way, so that the registers show every pass submitted.
    void drain();

    std::uint64_t clocks() const { return clocks_; }         ///< evaluated, without those of clearing
    std::uint64_t next_cycle() const { return next_cycle_; } ///< of simulated time
    std::uint64_t passes() const { return passes_; }
    aggregation_pins& pins() { return pins_; } ///< for tests

private:
    void clock_once(std::uint64_t now_ps);
    void draw(std::uint64_t cycle, std::uint64_t now_ps);
    void collect(std::uint64_t now_ps);
    void wait_until_ready();

    aggregation_pins pins_;
    std::uint32_t register_depth_;
    pipe_clock clock_;
    drawn_pipe drawn_;
    bool checks_assertions_ = true;
    bool used_ = false; ///< since the last clearing
    std::uint64_t next_cycle_ = 0;
    std::uint64_t under_way_ = 0;
    std::uint64_t submitted_ = 0;
    std::array<std::uint64_t, 2 * k_pipe_latency_clocks> entries_{}; ///< cycles, of the passes under way; by ticket
    std::uint64_t clocks_ = 0;
    std::uint64_t passes_ = 0;
    aggregation_results results_;
};

/// The C++ twin, with the pins of its Verilog drawn: a pass enters and leaves at the clocks at which it would there.
class drawn_aggregation final : public aggregation_unit {
public:
    drawn_aggregation(std::uint32_t register_depth, drawn_pipe pins);

    std::uint64_t submit(const aggregation_pass& pass, std::uint64_t now_ps) override;
    aggregation_result take(std::uint64_t ticket, std::uint64_t now_ps) override;
    void clear() override { model_.clear(); }
    std::string describe_slot(std::uint16_t slot) const override { return model_.describe_slot(slot); }
    std::uint32_t register_depth() const override { return model_.register_depth(); }
    std::string warning() const override;

private:
    aggregation_model model_;
    drawn_pipe drawn_;
    aggregation_pipe_inputs in_; ///< words of a pass that has none are those of the pass before
    std::uint64_t next_cycle_ = 0;
    std::deque<std::uint64_t> entries_; ///< cycles, of the passes whose results were not taken
};

/// Both on the same passes: answers with the result of the RTL, and throws `bug` with pass, both results and both slots
/// at the first difference.
class lockstep_aggregation : public aggregation_unit {
public:
    explicit lockstep_aggregation(std::uint32_t register_depth = k_default_register_depth,
                                  const rtl_aggregation_options& options = {});

    std::uint64_t submit(const aggregation_pass& pass, std::uint64_t now_ps) override;
    aggregation_result take(std::uint64_t ticket, std::uint64_t now_ps) override;
    void clear() override;
    std::string describe_slot(std::uint16_t slot) const override; ///< of both
    std::uint32_t register_depth() const override { return model_.register_depth(); }
    std::string warning() const override { return rtl_.warning(); }

    /// Throws `bug` when the registers of any slot differ.
    void compare_registers(std::uint64_t now_ps);

    aggregation_model& model() { return model_; } ///< for tests that make the two differ
    rtl_aggregation& rtl() { return rtl_; }
    std::uint64_t compared() const { return compared_; }

private:
    aggregation_model model_;
    rtl_aggregation rtl_;
    std::vector<aggregation_pass> waiting_; ///< passes whose results were not taken, a ring
    std::uint64_t submitted_ = 0;
    std::uint64_t compared_ = 0;
};

} // namespace weft
