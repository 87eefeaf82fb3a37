// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Waves of the pins of aggregation pipes, all pipes of a machine in one FST file: the ports of
// rtl/aggregation/aggregation_pipe.v by their names, a scope for each pipe. The Verilog and its C++ twin write the same
// signals at the same times, so two files compare.
//
// What is drawn: four clocks for each pass, from the edge at which it enters; inputs at that edge, outputs with the
// fourth. valid_i and valid_o are low where no pass enters and none comes out; everything else keeps what it was last.
// next_type_o is drawn where a pass recirculates, exponent_o where an exponent is read: else they mean nothing. Not
// drawn: reset and clearing, which take no simulated time.
#pragma once

#include "rtl/shell/aggregation_pins.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class pin_waves {
public:
    /// Throws user_error when the file cannot be written.
    explicit pin_waves(const std::string& file);
    ~pin_waves();
    pin_waves(const pin_waves&) = delete;
    pin_waves& operator=(const pin_waves&) = delete;

    /// A further pipe, before the first pass; returns its number. `scope`: "switch_0_pipe_2".
    std::uint32_t add_pipe(const std::string& scope);
    /// At `now_ps`, which never decreases, it is known that a pass enters the pipe at the rising edge of `cycle`.
    void on_pass(std::uint32_t pipe, std::uint64_t cycle, const aggregation_pipe_inputs& in, std::uint64_t now_ps);
    /// The result of the oldest pass that is under way in the pipe.
    void on_result(std::uint32_t pipe, std::uint64_t cycle, const aggregation_pipe_outputs& out, std::uint64_t now_ps);
    /// Why and when the file has ended before the simulation; "" when it has not.
    const std::string& cut() const { return cut_; }

private:
    struct signals;
    struct change {
        enum class kind : std::uint8_t { clock, inputs, no_input, outputs, no_output };
        std::uint64_t time_ps;
        std::uint64_t number; ///< of equal times, the order in which they were told
        kind what;
        bool high;
        std::uint32_t pipe;
        std::shared_ptr<const aggregation_pipe_inputs> in;
        std::shared_ptr<const aggregation_pipe_outputs> out;
    };
    struct pipe_state {
        std::unique_ptr<signals> pins;
        std::deque<std::uint64_t> under_way; ///< cycles of their entry
        std::uint64_t next_clock = 0;        ///< cycle of the first edge that is not drawn
        std::uint64_t input_ends = 0;        ///< cycle at which valid_i falls; 0: it is low, or that is drawn
        std::uint64_t output_ends = 0;
    };
    void push(change c);
    void advance(std::uint64_t now_ps);
    void write_until(std::uint64_t time_ps);
    void write(const change& c);
    void look_at_space(std::uint64_t time_ps);
    void finish();

    std::string file_;
    std::string part_; ///< has the content until it is whole
    std::string cut_;
    void* writer_ = nullptr; ///< of GTKWave's fstapi; nullptr: the file has ended
    std::vector<pipe_state> pipes_;
    std::vector<change> heap_;
    std::uint64_t next_number_ = 0;
    std::uint64_t written_ps_ = 0;
    bool begun_ = false;
    std::uint32_t changes_to_look_;
};

} // namespace weft
