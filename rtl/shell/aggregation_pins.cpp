// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The only file that sees the Verilated class.
#include "rtl/shell/aggregation_pins.h"
#include "rtl/shell/verilog_output.h"
#include "rtl/shell/waves_space.h"
#include "tlm/standard_error.h"

#include "Vaggregation_pipe.h"
#include "Vaggregation_pipe___024root.h"
#include <verilated_fst_c.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

int weft_verilog_print(const char* format, ...)
{
    static int assertions = 0;
    std::va_list arguments;
    va_start(arguments, format);
    std::va_list again;
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, ' ');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    if (text.find(": Assertion failed in ") == std::string::npos || ++assertions <= weft::k_printed_assertions)
        weft::print_to_stderr("{}", text);
    return length;
}

void vl_stop_maybe(const char* file, int line, const char*, bool maybe)
{
    Verilated::threadContextp()->errorCountInc();
    if (!maybe)
        weft::print_to_stderr("{}:{}: $stop of the Verilog\n", file, line);
}

namespace weft {

namespace {

constexpr int k_levels_of_waves = 8; // of the module hierarchy
constexpr int k_most_errors = 1 << 30;

constexpr std::uint32_t k_clocks_between_looks = 1 << 12; // some milliseconds of the host

using value_memory = VlUnpacked<QData, k_pipe_depth>;

} // namespace

struct aggregation_pins::verilated {
    verilated() : top(&context, "aggregation_pipe")
    {
        auto& root = *top.rootp;
// The names that Verilator gives to elements of a generate loop.
#define WEFT_ALU(k) values[k] = &root.aggregation_pipe__DOT__gen_alu__BRA__##k##__KET____DOT__i_alu__DOT__memory;
#define WEFT_ALUS(a, b, c, d) WEFT_ALU(a) WEFT_ALU(b) WEFT_ALU(c) WEFT_ALU(d)
        WEFT_ALUS(0, 1, 2, 3)
        WEFT_ALUS(4, 5, 6, 7)
        WEFT_ALUS(8, 9, 10, 11)
        WEFT_ALUS(12, 13, 14, 15)
        WEFT_ALUS(16, 17, 18, 19)
        WEFT_ALUS(20, 21, 22, 23)
        WEFT_ALUS(24, 25, 26, 27)
        WEFT_ALUS(28, 29, 30, 31)
#undef WEFT_ALUS
#undef WEFT_ALU
    }

    VerilatedContext context;
    Vaggregation_pipe top;
    std::array<const value_memory*, k_pipe_alus> values{};
    std::unique_ptr<VerilatedFstC> waves;
};

aggregation_pins::aggregation_pins() : model_(std::make_unique<verilated>())
{
    model_->context.fatalOnError(false);
    model_->context.errorLimit(k_most_errors);
    model_->context.traceEverOn(true);
    model_->top.clk_i = 0;
    model_->top.rst_ni = 0;
    model_->top.eval();
}

aggregation_pins::~aggregation_pins()
{
    if (model_->waves)
        model_->waves->close();
    model_->top.final();
    // The generated scopes leave the context of the thread, not their own: with two models in a process that is the one
    // used last, which may be gone.
    Verilated::threadContextp(&model_->context);
    model_.reset();
    Verilated::threadContextp(Verilated::defaultContextp());
}

/// The writer maps temporary files into memory: where a disk has no room for them, the process ends with a bus error.
std::string aggregation_pins::open_waves(const std::string& file)
{
    if (std::string problem = space_problem(file); !problem.empty())
        return problem;
    waves_file_ = file;
    clocks_to_look_ = k_clocks_between_looks;
    model_->waves = std::make_unique<VerilatedFstC>();
    model_->waves->set_time_unit("1ps");
    model_->waves->set_time_resolution("1ps");
    model_->top.trace(model_->waves.get(), k_levels_of_waves);
    model_->waves->open(file.c_str());
    if (model_->waves->isOpen())
        return "";
    model_->waves.reset();
    return "its folder does not exist or is not writable";
}

void aggregation_pins::look_at_space(std::uint64_t time_ps)
{
    if (--clocks_to_look_ != 0)
        return;
    clocks_to_look_ = k_clocks_between_looks;
    const std::string problem = growth_problem(waves_file_);
    if (problem.empty())
        return;
    model_->waves->close();
    model_->waves.reset();
    waves_cut_ = cut_text(waves_file_, time_ps, problem);
}

void aggregation_pins::drive_and_rise()
{
    Verilated::threadContextp(&model_->context); // which counts assertions that fail, and has their time
    auto& top = model_->top;
    top.rst_ni = !in.reset;
    top.clear_i = in.clear;
    top.valid_i = in.valid;
    if (in.valid) {
        top.type_i = in.type;
        top.size_i = in.size;
        top.index_i = in.index;
        top.worker_i = in.worker;
        top.workers_i = in.workers;
        top.last_of_message_i = in.last_of_message;
        top.exponent0_i = static_cast<std::uint8_t>(in.exponent0);
        top.exponent1_i = static_cast<std::uint8_t>(in.exponent1);
        top.map_result_i = in.map_result;
        top.count_i = in.count;
        std::memcpy(top.d0_i.data(), in.d0.data(), sizeof in.d0);
        std::memcpy(top.d1_i.data(), in.d1.data(), sizeof in.d1);
    }
    top.clk_i = 1;
    top.eval();
}

void aggregation_pins::sample()
{
    auto& top = model_->top;
    out.ready = top.ready_o;
    out.busy = top.busy_o;
    out.valid = top.valid_o;
    if (!out.valid)
        return;
    out.bitmap_before = top.bitmap_before_o;
    out.map_result = top.map_result_o;
    out.count = top.count_o;
    out.drop = top.drop_o;
    out.finish = top.finish_o;
    out.recirculate = top.recirculate_o;
    out.broadcast = top.broadcast_o;
    out.retransmit = top.retransmit_o;
    out.next_type = top.next_type_o;
    out.writes_d0 = top.writes_d0_o;
    out.reads_exponent0 = top.reads_exponent0_o;
    out.reads_exponent1 = top.reads_exponent1_o;
    out.exponent = static_cast<std::int8_t>(top.exponent_o);
    std::memcpy(out.words.data(), top.words_o.data(), sizeof out.words);
}

void aggregation_pins::clock(std::uint64_t time_ps)
{
    model_->context.time(time_ps); // for what the Verilog prints
    drive_and_rise();
    if (model_->waves)
        model_->waves->dump(time_ps);
    sample();
    model_->top.clk_i = 0;
    model_->top.eval();
    if (model_->waves)
        model_->waves->dump(time_ps + k_pin_high_time_ps);
    if (model_->waves)
        look_at_space(time_ps);
}

void aggregation_pins::clock_without_waves()
{
    drive_and_rise();
    sample();
    model_->top.clk_i = 0;
    model_->top.eval();
}

int aggregation_pins::failed_assertions() const { return model_->context.errorCount(); }

std::uint32_t aggregation_pins::bitmap(std::uint32_t index) const
{
    const std::uint64_t pair = model_->top.rootp->aggregation_pipe__DOT__i_bitmap__DOT__memory[index >> 1];
    return static_cast<std::uint32_t>((index & 1) != 0 ? pair >> 32 : pair);
}

std::uint8_t aggregation_pins::count(std::uint32_t index) const
{
    return model_->top.rootp->aggregation_pipe__DOT__i_count__DOT__memory[index];
}

std::int8_t aggregation_pins::exponent0(std::uint32_t index) const
{
    return static_cast<std::int8_t>(model_->top.rootp->aggregation_pipe__DOT__i_exponent__DOT__memory[index] >> 8);
}

std::int8_t aggregation_pins::exponent1(std::uint32_t index) const
{
    return static_cast<std::int8_t>(model_->top.rootp->aggregation_pipe__DOT__i_exponent__DOT__memory[index]);
}

std::uint64_t aggregation_pins::value_pair(std::uint32_t alu, std::uint32_t index) const
{
    return (*model_->values[alu])[index];
}

} // namespace weft
