// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Entries and exits of the functions that a core executes, into the trace of the run. Follows calls and returns by the
// calling convention; a jump to another function is a tail call, the trap handler is a call by the hardware. Functions
// that the compiler has put into others are not seen.
#pragma once

#include "hw/core/engines/rv64_decode.h"
#include "hw/core/rv64_core.h"
#include "platforms/debug/symbol_table.h"
#include "platforms/report/trace_writer.h"

#include <vector>

namespace weft {

/// Of one core.
class firmware_trace final : public iss_observer {
public:
    /// All of them outlive it.
    firmware_trace(rv64_core& core, std::uint32_t rank, const symbol_table& symbols, trace_writer& out)
        : core_(core), rank_(rank), symbols_(symbols), out_(out)
    {
    }

    void on_instruction(std::uint64_t pc) override;
    void on_burst(std::uint64_t, std::uint64_t, bool) override {}
    void on_reset() override
    {
        end(core_.observed_now_ps());
        flow_ = rv64::flow::next;
    }
    /// The run is over: what has not returned ends here.
    void end(std::uint64_t time_ps);

private:
    struct frame {
        std::uint64_t return_to = 0; ///< 0: of nobody
        std::uint16_t function = 0;
        bool of_trap = false;
        rv64::flow interrupted = rv64::flow::next; ///< what was under way when the trap came
        std::uint64_t interrupted_return = 0;
        bool written = false;
    };
    void move(std::uint64_t pc);
    void enter(frame f);
    void leave();

    rv64_core& core_;
    std::uint32_t rank_;
    const symbol_table& symbols_;
    trace_writer& out_;
    std::vector<frame> stack_;
    std::uint64_t last_ps_ = 0;          ///< of the last entry or exit
    rv64::flow flow_ = rv64::flow::next; ///< of the instruction before
    std::uint64_t behind_ = 0;           ///< the address behind it
    std::uint16_t function_ = 0;         ///< its function
};

} // namespace weft
