// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The pins of rtl/aggregation/aggregation_pipe.v as plain structs, and the Verilated model behind them. One call is one
// clock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace weft {

inline constexpr int k_printed_assertions = 8; ///< of all that fail in a process

inline constexpr std::uint32_t k_pipe_alus = 32;
inline constexpr std::uint32_t k_pipe_depth = 16384; ///< pool indices
inline constexpr std::uint64_t k_pin_high_time_ps = 400; ///< of the clock in waves: about half a clock at 1.22 GHz

struct aggregation_pipe_inputs {
    bool reset = false;
    bool clear = false;
    bool valid = false;
    std::uint8_t type = 0;
    std::uint8_t size = 0;
    std::uint16_t index = 0;
    std::uint8_t worker = 0;
    std::uint8_t workers = 1;
    bool last_of_message = false;
    std::int8_t exponent0 = 0;
    std::int8_t exponent1 = 0;
    std::uint32_t map_result = 0;
    std::uint8_t count = 0;
    std::array<std::uint32_t, k_pipe_alus> d0{};
    std::array<std::uint32_t, k_pipe_alus> d1{};
};

struct aggregation_pipe_outputs {
    bool ready = false;
    bool busy = false;
    bool valid = false;
    std::uint32_t bitmap_before = 0;
    std::uint32_t map_result = 0;
    std::uint8_t count = 0;
    bool drop = false;
    bool finish = false;
    bool recirculate = false;
    bool broadcast = false;
    bool retransmit = false;
    std::uint8_t next_type = 0;
    bool writes_d0 = false;
    bool reads_exponent0 = false;
    bool reads_exponent1 = false;
    std::int8_t exponent = 0;
    std::array<std::uint32_t, k_pipe_alus> words{};
};

class aggregation_pins {
public:
    aggregation_pins();
    ~aggregation_pins();
    aggregation_pins(const aggregation_pins&) = delete;
    aggregation_pins& operator=(const aggregation_pins&) = delete;

    aggregation_pipe_inputs in;
    aggregation_pipe_outputs out; ///< as they stand after the last clock; `words` and the rest hold only with `valid`

    /// One clock with these inputs. `time_ps` of its rising edge stamps the waves; without waves it is not looked at.
    void clock(std::uint64_t time_ps);
    /// The same without waves: for reset and clearing, which happen between two instants.
    void clock_without_waves();

    /// Writes an FST file from now on, up to a bound of size and while its disk has room. Why it cannot be written; "":
    /// it can.
    std::string open_waves(const std::string& file);
    /// Why and when the file has ended before the simulation; "" when it has not.
    const std::string& waves_cut() const { return waves_cut_; }

    /// Assertions that failed so far; their texts went to stdout.
    int failed_assertions() const;

    /// Registers, for messages.
    std::uint32_t bitmap(std::uint32_t index) const;
    std::uint8_t count(std::uint32_t index) const;
    std::int8_t exponent0(std::uint32_t index) const;
    std::int8_t exponent1(std::uint32_t index) const;
    std::uint64_t value_pair(std::uint32_t alu, std::uint32_t index) const; ///< first in the high half

private:
    struct verilated;
    void drive_and_rise();
    void sample();
    void look_at_space(std::uint64_t time_ps);

    std::unique_ptr<verilated> model_;
    std::string waves_file_;
    std::string waves_cut_;
    std::uint32_t clocks_to_look_ = 0;
};

} // namespace weft
