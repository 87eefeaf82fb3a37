// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands of the gdb remote serial protocol, against a debug_target: all that a debugger says while the machine
// stands still. Whoever calls owns the line and lets the machine run. Pure C++; any text may come in.
#pragma once

#include "platforms/debug/debug_target.h"

#include <optional>
#include <string>

namespace weft {

/// Why the machine stopped.
struct stop_reason {
    enum class kind : std::uint8_t { signal, breakpoint, watchpoint };
    kind what = kind::signal;
    unsigned signal = 5; ///< SIGTRAP; 2 for an interrupt by the user
    unsigned thread = 0;
    watch_kind watch = watch_kind::write;
    std::uint64_t address = 0; ///< of the watchpoint
};

/// How it is to go on.
struct resume_request {
    std::optional<unsigned> step;  ///< this thread stops after an instruction,
    std::uint64_t range_first = 0; ///< or, when range_last is not 0,
    std::uint64_t range_last = 0;  ///< after the first one outside [range_first, range_last)
    std::optional<unsigned> only;  ///< gdb means this thread alone: it takes it over a breakpoint that it has removed
};

struct rsp_answer {
    enum class action : std::uint8_t { none, resume, detach, kill };
    std::optional<std::string> reply; ///< none to `resume`: the next stop is the reply
    action then = action::none;
    resume_request how;
};

class rsp_commands {
public:
    explicit rsp_commands(debug_target& target) : target_(target) {}

    rsp_answer handle(const std::string& packet);
    /// The stop reply; the thread becomes the current one.
    std::string stopped(const stop_reason& why);
    bool acknowledges() const { return acknowledges_; } ///< until gdb says that it needs none
    unsigned thread() const { return general_; }

private:
    rsp_answer query(const std::string& packet);
    rsp_answer set_thread(const std::string& packet);
    rsp_answer resume(const std::string& packet);
    rsp_answer resume_threads(const std::string& actions);
    std::string supported(const std::string& features);
    std::string thread_list();
    std::string description(const std::string& offset_and_length) const;
    std::string registers();
    std::string write_registers(const std::string& digits);
    std::string one_register(const std::string& number);
    std::string write_one_register(const std::string& text);
    std::string memory(const std::string& range);
    std::string write_memory(const std::string& text, bool binary);
    std::string point(const std::string& packet);
    std::string register_digits(unsigned thread, unsigned number);
    std::optional<unsigned> thread_of(const std::string& id) const;

    debug_target& target_;
    unsigned general_ = 0;  ///< thread of registers and memory
    unsigned continue_ = 0; ///< thread of a plain step
    unsigned next_listed_ = 0;
    bool acknowledges_ = true;
    bool tells_breakpoints_ = false; ///< gdb knows the reasons swbreak and hwbreak
    stop_reason last_stop_;
};

} // namespace weft
