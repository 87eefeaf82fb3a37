// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "rtl/shell/pin_waves.h"

#include "rtl/shell/rtl_aggregation.h"
#include "rtl/shell/waves_space.h"
#include "tlm/check.h"

#include <gtkwave/fstapi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

namespace weft {

namespace {

constexpr std::uint32_t k_changes_between_looks = 1 << 14;
constexpr std::uint32_t k_word_bits = 32;

const auto later = [](const auto& a, const auto& b) {
    return a.time_ps != b.time_ps ? a.time_ps > b.time_ps : a.number > b.number;
};

} // namespace

/// The ports of the Verilog, in its order.
struct pin_waves::signals {
    struct signal {
        fstHandle handle = 0;
        std::uint32_t bits = 1;
    };
    signal clk_i, valid_i, type_i, size_i, index_i, worker_i, workers_i, last_of_message_i, exponent0_i, exponent1_i,
        map_result_i, count_i, d0_i, d1_i;
    signal valid_o, bitmap_before_o, map_result_o, count_o, drop_o, finish_o, recirculate_o, broadcast_o, retransmit_o,
        next_type_o, writes_d0_o, reads_exponent0_o, reads_exponent1_o, exponent_o, words_o;

    explicit signals(void* writer)
    {
        const auto make = [writer](signal& s, const char* name, std::uint32_t bits) {
            const bool input = name[std::strlen(name) - 1] == 'i';
            s.bits = bits;
            s.handle = fstWriterCreateVar(writer, FST_VT_VCD_WIRE, input ? FST_VD_INPUT : FST_VD_OUTPUT, bits, name, 0);
        };
        make(clk_i, "clk_i", 1), make(valid_i, "valid_i", 1), make(type_i, "type_i", 4), make(size_i, "size_i", 2);
        make(index_i, "index_i", 14), make(worker_i, "worker_i", 5), make(workers_i, "workers_i", 8);
        make(last_of_message_i, "last_of_message_i", 1), make(exponent0_i, "exponent0_i", 8),
            make(exponent1_i, "exponent1_i", 8);
        make(map_result_i, "map_result_i", 32), make(count_i, "count_i", 8);
        make(d0_i, "d0_i", k_pipe_alus * k_word_bits), make(d1_i, "d1_i", k_pipe_alus * k_word_bits);
        make(valid_o, "valid_o", 1), make(bitmap_before_o, "bitmap_before_o", 32),
            make(map_result_o, "map_result_o", 32);
        make(count_o, "count_o", 8), make(drop_o, "drop_o", 1), make(finish_o, "finish_o", 1),
            make(recirculate_o, "recirculate_o", 1);
        make(broadcast_o, "broadcast_o", 1), make(retransmit_o, "retransmit_o", 1), make(next_type_o, "next_type_o", 4);
        make(writes_d0_o, "writes_d0_o", 1), make(reads_exponent0_o, "reads_exponent0_o", 1),
            make(reads_exponent1_o, "reads_exponent1_o", 1);
        make(exponent_o, "exponent_o", 8), make(words_o, "words_o", k_pipe_alus * k_word_bits);
    }
    static void set(void* writer, const signal& s, std::uint32_t value)
    {
        const std::uint32_t mask = s.bits == 32 ? ~0u : (1u << s.bits) - 1;
        fstWriterEmitValueChange32(writer, s.handle, s.bits, value & mask);
    }
    static void set(void* writer, const signal& s, const std::array<std::uint32_t, k_pipe_alus>& words)
    {
        std::array<std::uint32_t, k_pipe_alus + 1> all{}; // the writer reads one word further than it uses
        std::copy(words.begin(), words.end(), all.begin());
        fstWriterEmitValueChangeVec32(writer, s.handle, s.bits, all.data());
    }
    void set_inputs(void* w, const aggregation_pipe_inputs& in) const
    {
        set(w, valid_i, 1u), set(w, type_i, in.type), set(w, size_i, in.size), set(w, index_i, in.index),
            set(w, worker_i, in.worker);
        set(w, workers_i, in.workers), set(w, last_of_message_i, in.last_of_message);
        set(w, exponent0_i, static_cast<std::uint8_t>(in.exponent0)),
            set(w, exponent1_i, static_cast<std::uint8_t>(in.exponent1));
        set(w, map_result_i, in.map_result), set(w, count_i, in.count), set(w, d0_i, in.d0), set(w, d1_i, in.d1);
    }
    void set_outputs(void* w, const aggregation_pipe_outputs& out) const
    {
        set(w, valid_o, 1u), set(w, bitmap_before_o, out.bitmap_before), set(w, map_result_o, out.map_result),
            set(w, count_o, out.count);
        set(w, drop_o, out.drop), set(w, finish_o, out.finish), set(w, recirculate_o, out.recirculate),
            set(w, broadcast_o, out.broadcast);
        set(w, retransmit_o, out.retransmit), set(w, writes_d0_o, out.writes_d0),
            set(w, reads_exponent0_o, out.reads_exponent0);
        set(w, reads_exponent1_o, out.reads_exponent1), set(w, words_o, out.words);
        if (out.recirculate)
            set(w, next_type_o, out.next_type);
        if (out.reads_exponent0 || out.reads_exponent1)
            set(w, exponent_o, static_cast<std::uint8_t>(out.exponent));
    }
};

pin_waves::pin_waves(const std::string& file)
    : file_(file), part_(file + ".part"), changes_to_look_(k_changes_between_looks)
{
    const auto refuse = [&](const std::string& why) {
        throw user_error("--waves " + file + " cannot be written: " + why + ". Name a file elsewhere.");
    };
    if (const std::string problem = space_problem(file); !problem.empty())
        refuse(problem);
    // The writer tells no reason, and may end the program: what it does first is tried before.
    std::FILE* const tried = std::fopen(part_.c_str(), "wb");
    if (tried == nullptr)
        refuse(std::strerror(errno));
    else
        std::fclose(tried);
    writer_ = fstWriterCreate(part_.c_str(), 1);
    if (writer_ == nullptr)
        refuse("a file beside it cannot be made");
    fstWriterSetPackType(writer_, FST_WR_PT_LZ4);
    fstWriterSetTimescaleFromString(writer_, "1ps");
    fstWriterSetVersion(writer_, "weft");
    fstWriterSetDate(writer_, ""); // two runs of one configuration write the same file
}

pin_waves::~pin_waves()
{
    advance(std::numeric_limits<std::uint64_t>::max());
    finish();
}

/// A run that is refused, or in which no pass has come, leaves an earlier file as it is.
void pin_waves::finish()
{
    if (writer_ == nullptr)
        return;
    fstWriterClose(writer_);
    writer_ = nullptr;
    if (!begun_ || std::rename(part_.c_str(), file_.c_str()) != 0)
        std::remove(part_.c_str());
}

std::uint32_t pin_waves::add_pipe(const std::string& scope)
{
    fstWriterSetScope(writer_, FST_ST_VCD_MODULE, scope.c_str(), nullptr);
    pipes_.emplace_back();
    pipes_.back().pins = std::make_unique<signals>(writer_);
    fstWriterSetUpscope(writer_);
    return static_cast<std::uint32_t>(pipes_.size() - 1);
}

void pin_waves::push(change c)
{
    c.number = next_number_++;
    heap_.push_back(std::move(c));
    std::push_heap(heap_.begin(), heap_.end(), later);
}

void pin_waves::on_pass(std::uint32_t number, std::uint64_t cycle, const aggregation_pipe_inputs& in,
                        std::uint64_t now_ps)
{
    if (writer_ == nullptr)
        return;
    pipe_state& pipe = pipes_[number];
    const std::uint64_t ended = std::exchange(pipe.input_ends, 0);
    if (ended != 0 && ended != cycle) // not back to back
        push({pipe_time_of(ended), 0, change::kind::no_input, false, number, nullptr, nullptr});
    advance(now_ps);
    pipe.under_way.push_back(cycle);
    for (std::uint64_t c = std::max(cycle, pipe.next_clock); c < cycle + k_pipe_latency_clocks; ++c) {
        push({pipe_time_of(c), 0, change::kind::clock, true, number, nullptr, nullptr});
        push({pipe_time_of(c) + k_pin_high_time_ps, 0, change::kind::clock, false, number, nullptr, nullptr});
    }
    pipe.next_clock = cycle + k_pipe_latency_clocks;
    push({pipe_time_of(cycle), 0, change::kind::inputs, true, number, std::make_shared<aggregation_pipe_inputs>(in),
          nullptr});
    pipe.input_ends = cycle + 1;
}

void pin_waves::on_result(std::uint32_t number, std::uint64_t cycle, const aggregation_pipe_outputs& out,
                          std::uint64_t now_ps)
{
    if (writer_ == nullptr)
        return;
    pipe_state& pipe = pipes_[number];
    if (pipe.output_ends == cycle)
        pipe.output_ends = 0;
    push({pipe_time_of(cycle), 0, change::kind::outputs, true, number, nullptr,
          std::make_shared<aggregation_pipe_outputs>(out)});
    if (pipe.output_ends != 0) // it is low in between
        push({pipe_time_of(pipe.output_ends), 0, change::kind::no_output, false, number, nullptr, nullptr});
    pipe.output_ends = cycle + 1;
    pipe.under_way.pop_front();
    advance(now_ps);
}

/// What comes from now on concerns edges at or after `now_ps`, and results of what is under way.
void pin_waves::advance(std::uint64_t now_ps)
{
    std::uint64_t known_ps = now_ps;
    for (std::uint32_t n = 0; n < pipes_.size(); ++n) {
        pipe_state& pipe = pipes_[n];
        if (pipe.input_ends != 0 && pipe_time_of(pipe.input_ends) < now_ps)
            push({pipe_time_of(std::exchange(pipe.input_ends, 0)), 0, change::kind::no_input, false, n, nullptr,
                  nullptr});
        if (!pipe.under_way.empty())
            known_ps = std::min(known_ps, pipe_time_of(pipe.under_way.front() + k_pipe_latency_clocks - 1));
        else if (pipe.output_ends != 0 && pipe_time_of(pipe.output_ends) < now_ps)
            push({pipe_time_of(std::exchange(pipe.output_ends, 0)), 0, change::kind::no_output, false, n, nullptr,
                  nullptr});
    }
    for (const pipe_state& pipe : pipes_)
        if (pipe.output_ends != 0) // falls then, or another result comes
            known_ps = std::min(known_ps, pipe_time_of(pipe.output_ends));
    write_until(known_ps);
}

void pin_waves::write_until(std::uint64_t time_ps)
{
    while (!heap_.empty() && heap_.front().time_ps < time_ps) {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const change c = std::move(heap_.back());
        heap_.pop_back();
        if (writer_ != nullptr)
            write(c);
    }
}

void pin_waves::write(const change& c)
{
    if (!begun_ || c.time_ps > written_ps_)
        fstWriterEmitTimeChange(writer_, written_ps_ = c.time_ps);
    begun_ = true;
    const signals& pins = *pipes_[c.pipe].pins;
    switch (c.what) {
    case change::kind::clock: signals::set(writer_, pins.clk_i, c.high ? 1u : 0u); break;
    case change::kind::inputs: pins.set_inputs(writer_, *c.in); break;
    case change::kind::no_input: signals::set(writer_, pins.valid_i, 0u); break;
    case change::kind::outputs: pins.set_outputs(writer_, *c.out); break;
    case change::kind::no_output: signals::set(writer_, pins.valid_o, 0u); break;
    }
    if (--changes_to_look_ == 0)
        look_at_space(c.time_ps);
}

void pin_waves::look_at_space(std::uint64_t time_ps)
{
    changes_to_look_ = k_changes_between_looks;
    const std::string problem = growth_problem(part_);
    if (problem.empty())
        return;
    finish();
    cut_ = cut_text(file_, time_ps, problem);
}

} // namespace weft
