// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A gdb server for the RV64 cores of a machine: one thread per core, by rank. The whole simulation stops with a core,
// because the server keeps the kernel's thread: simulated time stands still, whatever the host's clock does. A debugger
// that changes nothing changes no time and no result: the cores are stopped inside their instruction hook.
//
// All cores see the same addresses, with memories of their own; a memory access is that of the selected thread, a
// breakpoint or watchpoint is everybody's. Watchpoints see loads, stores and bursts of the cores, not what the DMA
// writes. gdb takes the memory of threads for one and the same: it compares the value of a `watch` with what it has
// read last, in any core. `monitor watch N` keeps the other cores out of it.
#pragma once

#include "hw/core/rv64_core.h"
#include "platforms/debug/debug_target.h"
#include "platforms/debug/gdb_socket.h"
#include "platforms/debug/rsp_commands.h"
#include "platforms/debug/rsp_packet.h"
#include "platforms/workload/machine.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct gdb_options {
    std::uint16_t port = 0; ///< 0: any free one
    std::uint32_t core = 0; ///< rank of the core that gdb finds selected
    std::chrono::seconds patience{300};
};

/// The cores of a machine, by rank. Throws user_error, which names `option`, when they are native.
std::vector<rv64_core*> rv64_cores_of(machine& m, const char* option);

class gdb_server final : private debug_target {
public:
    /// Listens. Throws user_error when port or core number cannot be used.
    gdb_server(machine& m, const gdb_options& options);

    /// To be connected with that core before the simulation starts.
    iss_observer& observer(std::uint32_t rank) { return taps_[rank]; }
    std::uint16_t port() const { return line_.port(); }

    /// Before time zero: waits for gdb and serves it until it lets the cores run. Throws user_error when nobody comes.
    void begin();
    /// Between simulation steps: a Ctrl-C is seen although no core executes anything.
    void poll();
    /// The run is over; gdb is told its exit code.
    void end(int exit_code);
    bool killed() const { return killed_; } ///< the debugger has ended the run; the kernel has been told to stop

private:
    struct tap final : iss_observer {
        tap(gdb_server& s, unsigned r, rv64_core& c) : server(s), rank(r), core(c) {}
        void on_instruction(std::uint64_t pc) override { server.on_instruction(*this, pc); }
        void on_burst(std::uint64_t address, std::uint64_t bytes, bool is_write) override
        {
            server.on_access(*this, address, bytes, !is_write, is_write);
        }
        gdb_server& server;
        unsigned rank;
        rv64_core& core;
        void on_reset() override { was_reset = true; }
        bool watch_hit = false; ///< by the instruction before
        bool was_reset = false; ///< and has not executed an instruction since
        stop_reason hit;
    };
    struct watchpoint {
        watch_kind kind;
        std::uint64_t address;
        std::uint64_t bytes;
    };

    // debug_target
    unsigned threads() const override { return static_cast<unsigned>(taps_.size()); }
    std::string describe(unsigned thread) const override;
    std::uint64_t read_register(unsigned thread, unsigned number) override;
    bool write_register(unsigned thread, unsigned number, std::uint64_t value) override;
    std::string read_memory(unsigned thread, std::uint64_t address, std::uint64_t bytes) override;
    bool write_memory(unsigned thread, std::uint64_t address, const std::string& bytes) override;
    bool set_breakpoint(std::uint64_t address, bool on) override;
    bool set_watchpoint(watch_kind kind, std::uint64_t address, std::uint64_t bytes, bool on) override;
    std::string monitor(const std::string& text) override;

    void on_instruction(tap& t, std::uint64_t pc);
    void on_access(tap& t, std::uint64_t address, std::uint64_t bytes, bool reads, bool writes);
    bool step_ends(const tap& t, std::uint64_t pc);
    bool is_bystander(const tap& t) const { return how_.only && how_.only != t.rank; }
    bool breaks_at(const tap& t, std::uint64_t pc) const;
    void end_step_early(const tap& t, std::uint64_t pc);
    void end_step_at_reset(const tap& stepping, const tap& in_hook, std::uint64_t pc);
    void look_at_line();
    /// Tells gdb and serves it until it lets the machine run. `stopped` stands in its hook, if there is one.
    void stop(stop_reason why, const tap* stopped);
    void serve();
    bool handle(const rsp_event& event); ///< true: the machine may run
    void resume(const resume_request& how);
    void reply(const std::string& payload);
    void let_go();

    machine& machine_;
    gdb_options options_;
    gdb_socket line_;
    rsp_reader reader_;
    rsp_commands commands_;
    std::deque<tap> taps_;
    std::string last_reply_;
    bool attached_ = false;
    bool killed_ = false;
    bool interrupt_ = false;
    std::uint32_t unseen_instructions_ = 0; ///< since the last look at the line

    const tap* in_hook_ = nullptr; ///< while stopped
    std::uint64_t hook_pc_ = 0;
    resume_request how_;
    bool step_begins_ = false;                      ///< the next instruction of the stepping core is the one to execute
    std::uint64_t step_from_ = 0;                   ///< pc of the core that runs alone, when it was let go
    std::optional<std::uint64_t> pc_behind_step_;   ///< of the stepping core, where gdb is told that it has stepped
    std::vector<std::uint8_t> breakpoints_;         ///< by half-word of program memory: bits k_set, k_was_set
    std::vector<watchpoint> watchpoints_;
    std::optional<unsigned> watched_thread_; ///< the only one that watchpoints stop
};

} // namespace weft
