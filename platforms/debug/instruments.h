// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run is asked to show of its firmware, put together and connected with the cores. Nothing that was not asked
// for is connected, or costs anything.
#pragma once

#include "platforms/debug/firmware_coverage.h"
#include "platforms/debug/firmware_trace.h"
#include "platforms/debug/gdb_server.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct instrument_options {
    std::optional<gdb_options> gdb;
    trace_writer* trace = nullptr; ///< where calls of functions go
    std::function<bool(std::uint32_t rank)> traces_rank = {}; ///< empty: all
    bool coverage = false;

    bool any() const { return gdb || trace != nullptr || coverage; }
};

class instruments {
public:
    /// After the machine is built, before the simulation starts. Throws user_error when the cores are native, or the
    /// firmware has not what is needed.
    instruments(machine& m, const instrument_options& options);

    gdb_server* debugger() { return gdb_ ? &*gdb_ : nullptr; }
    /// The file that the cores execute; empty when it can no longer be read.
    const std::vector<std::uint8_t>& elf_file() const { return elf_; }
    /// The run is over: calls that have not returned end here.
    void end_trace(std::uint64_t time_ps);
    /// Line coverage for lcov.
    std::string lcov() const { return coverage_->lcov(lines_); }

private:
    /// A core has one observer; here it calls several.
    struct several final : iss_observer {
        explicit several(const iss& e) : engine(e) {}
        void on_instruction(std::uint64_t pc) override
        {
            for (iss_observer* o : all) {
                o->on_instruction(pc);
                if (engine.pc() != pc) // the debugger has sent the core elsewhere
                    return;
            }
        }
        void on_burst(std::uint64_t address, std::uint64_t bytes, bool is_write) override
        {
            for (iss_observer* o : all)
                o->on_burst(address, bytes, is_write);
        }
        void on_reset() override
        {
            for (iss_observer* o : all)
                o->on_reset();
        }
        const iss& engine;
        std::vector<iss_observer*> all;
    };

    std::vector<std::uint8_t> elf_;
    std::optional<gdb_server> gdb_;
    std::optional<symbol_table> symbols_;
    std::deque<firmware_trace> traces_;
    line_table lines_;
    std::optional<firmware_coverage> coverage_;
    std::deque<several> observers_;
};

} // namespace weft
