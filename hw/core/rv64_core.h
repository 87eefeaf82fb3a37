// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A core that executes an RV64GC binary in one SC_THREAD, through an iss engine (iss.h).
//
// Models: the instructions of the firmware; program memory; the control block of hw/abi/core_regs.def (time and
// counters, interrupt enable, timer, console, bursts); machine-mode traps; wfi. Does not model: caches, pipelines,
// virtual memory, other privilege modes, mip (IRQ_PENDING instead), vectored mtvec, misaligned faults.
//
// Memory map as the core sees it (hw/abi/platform_table.h):
//   program memory   direct, at no cost besides the instruction
//   control block    direct, the same
//   everything else  the chip's bus: time of bus and target + mmio_overhead; a bus error is an access fault, whose
//   pc is
//                    that of the load or store
// Entry: pc = entry of the ELF, machine mode, a0 = rank, a1 = address of the platform table, a2 = the builder's
// argument, all other registers 0; the program sets its own stack. A program that keeps its stack at the lower end
// of program memory has its overflow told from a wild pointer: the core then stops, and with it the run.
//
// Timing contract, besides that of core.h. An instruction takes cpi cycles, an access on top of it what the bus takes;
// the access leaves when the instruction has been paid for. wfi ends at once when an enabled line is up or the timer
// has passed, else as in core.h. Interrupts are taken between instructions: at once after a wfi or an access, else at
// the end of the quantum (max_ahead) in which they rise.
// No RTL twin.
#pragma once

#include "hw/core/core.h"
#include "hw/core/elf_program.h"
#include "hw/core/iss.h"

#include <memory>

namespace weft {

class rv64_core final : public core_base, private iss_host {
public:
    SC_HAS_PROCESS(rv64_core);

    /// `wake` outlives the core. Throws user_error in a build without an engine.
    rv64_core(const sc_core::sc_module_name& name, const core_config& config, notifier& wake, std::uint32_t hart);
    ~rv64_core() override;

    using core_base::load;
    /// Loads config.elf, or firmware.elf when that is empty. Throws user_error when it cannot run.
    void load(const firmware_image& firmware, std::uint64_t argument) override;
    void load(const elf_program& program, std::uint64_t argument);

    std::uint64_t return_address() const override;
    std::uint64_t code_address() const override { return iss_->pc(); }

    // For debuggers, traces and coverage: no time passes, and nothing has a side effect on devices.

    /// Before the simulation starts. An observer that changes nothing changes no time either.
    void observe(iss_observer& observer);
    iss& engine() { return *iss_; }
    /// In iss_observer::on_instruction(): simulated time at which the instruction begins.
    std::uint64_t observed_now_ps() const { return local_now_ps() + ps_of_instructions(retired()) - charged_ps_; }
    /// Bytes moved, from the first on: less than asked for at the end of a memory; registers only one by one, as a
    /// whole, and as they are stored. 0: nothing there, or the control block.
    std::uint32_t read_debug(std::uint64_t address, void* to, std::uint32_t bytes);
    std::uint32_t write_debug(std::uint64_t address, const void* from, std::uint32_t bytes);
    /// The file that was loaded; empty when it can no longer be read.
    std::vector<std::uint8_t> elf_file() const;

    counter traps;
    counter interrupts;

private:
    struct halted { // thrown by an access that ends the firmware
    };

    void run();
    void execute();
    bool execute_until_halted();
    void begin();
    void restore_memory();
    iss_stop run_quantum(std::uint64_t most);
    std::uint64_t progress() const override { return calls_out_; }
    void settle();
    std::uint64_t retired() const { return iss_->retired() - retired_before_; } ///< since the last reset
    bool interrupt_due() const;
    void take_interrupt();
    void take_trap(iss_trap trap);
    void wait_for_interrupt();
    [[noreturn]] void fail(std::string why);

    // iss_host
    bool iss_read(std::uint64_t address, unsigned bytes, std::uint64_t& value) override;
    bool iss_write(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
    std::uint64_t iss_read_counter(iss_counter which) override;

    bool read_block(std::uint64_t offset, unsigned bytes, std::uint64_t& value);
    bool write_block(std::uint64_t offset, unsigned bytes, std::uint64_t value);
    bool burst(std::uint32_t command);
    void put_character(char c);
    void refuse_below_memory(std::uint64_t address, const char* what);
    bool timer_due() const { return timer_ps_ <= local_now_ps(); }

    std::uint32_t hart_;
    std::unique_ptr<std::uint8_t, void (*)(void*)> memory_;
    std::unique_ptr<iss> iss_;
    iss_observer* observer_ = nullptr;
    firmware_image image_;         // of the program; elf is nullptr when it is the file of the configuration
    elf_program program_;          // as it was loaded
    std::uint64_t argument_ = 0;
    std::uint64_t reset_csrs_[7] = {};
    std::uint64_t charged_ps_ = 0;     // of all instructions since the last reset
    std::uint64_t retired_before_ = 0; // that
    bool loops_ = false;               // over the bound of host_watch
    std::uint64_t calls_out_ = 0;      // accesses outside of program memory, reads of counters, sleeps

    std::uint32_t irq_enable_ = 0;
    std::uint64_t timer_ns_ = ~std::uint64_t{0};
    std::uint64_t timer_ps_ = k_never_ps;
    std::uint64_t burst_bus_ = 0;
    std::uint64_t burst_memory_ = 0;
    bool burst_failed_ = false;
    std::string line_; // of the console, so far
    std::string last_line_;
};

} // namespace weft
