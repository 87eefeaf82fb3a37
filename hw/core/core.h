// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cores of a chip have in common: sockets, interrupt lines, sleeping, local time that runs ahead of the
// kernel's, and what the host asks of them. native_core and rv64_core are the two kinds.
//
// Timing contract of both:
//   * Costs add up locally and are synchronised, with one wait(), before an access leaves the core. An access leaves
//     first and is then paid for: its own time (bus + target) plus mmio_overhead.
//   * Sleeping: the first line to rise, at T, wakes the core at T + irq_wake, also when the timeout passes
//     meanwhile. A timeout at D ends the sleep at D; a line that the timeline raises exactly at D still wins (the
//     kernel runs its method before any thread).
//   * A core runs ahead of the kernel by its local costs only, never by more than max_ahead.
//   * Cores of one chip whose waits end at one time go on in the order of their numbers.
#pragma once

#include "hw/abi/hal.h"
#include "tlm/component.h"
#include "tlm/config_fields.h"
#include "tlm/irq_if.h"
#include "tlm/key_rules.h"
#include "tlm/mem_socket.h"
#include "tlm/notifier.h"
#include "tlm/stats.h"
#include "tlm/units.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace weft {

/// Entry point of host-compiled firmware: the HAL and one word of the builder's choice.
using firmware_entry = void (*)(abi::hal& hal, std::uint64_t argument);

/// Firmware in both forms. A native core calls `entry`; an rv64 core executes the ELF file in memory at `elf`.
struct firmware_image {
    firmware_entry entry = nullptr;
    const unsigned char* elf = nullptr;
    std::size_t elf_bytes = 0;
    const char* name = ""; ///< of the ELF, for messages
};

enum class core_model : std::uint8_t { native, rv64 };
template <> struct enum_names<core_model> {
    static constexpr std::pair<core_model, const char*> values[] = {{core_model::native, "native"},
                                                                    {core_model::rv64, "rv64"}};
};

template <> struct enum_names<abi::instruction_set> {
    static constexpr std::pair<abi::instruction_set, const char*> values[] = {
        {abi::instruction_set::rv64gc, "rv64gc"},
        {abi::instruction_set::x86_sse, "x86_sse"},
        {abi::instruction_set::x86_avx2, "x86_avx2"}};
};

struct core_config {
    static constexpr config_part k_part = config_part::core;
    core_model model = core_model::native;
    /// A key of platforms whose firmware has loops that differ (SwitchML); elsewhere it stays as it is.
    abi::instruction_set instruction_set = abi::instruction_set::rv64gc;
    file_name elf;
    frequency clock{940'000'000};
    double cpi = 0.2;
    cycle_count mmio_overhead{16};
    cycle_count copy_per_8_bytes{1};
    cycle_count irq_wake{60};
    cycle_count wait_entry{1};
    cycle_count poll_interval{47};
    cycle_count poll_interval_max{3200};
    cycle_count clock_read{10};
    duration max_ahead{1'000'000};
    /// With 32 KiB firmware overran its stack (measured, ring_1d and multi_axis), with 40 KiB none did.
    static constexpr std::uint64_t k_least_stack_bytes = 64 << 10;
    data_size stack{64 << 10};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        // What firmware executes is measured (firmware/costs.h). cpi is the one figure chosen so that a step of a
        // two-way ring, devices included, takes about 1 us end to end, the hop cost that software sees (JAX scaling
        // book, quoted); testbenches/system/collective_times_test.cpp.
        const char* const k_must_get_on = ", or a loop that waits would never get on in time";
        visit("model", self.model,
              "native: host-compiled firmware, its work charged by the costs below; rv64: its RISC-V binary, executed "
              "instruction by instruction",
              k_user_choice);
        visit("elf", self.elf,
              "RV64 firmware in place of the shipped one: an ELF file, from the folder of this file or the present one; rv64 "
              "only",
              k_user_choice);
        visit("clock", self.clock, "Clock of the core", assumed("as TPU v3"),
              between(frequency(1'000'000), frequency(100'000'000'000)).because("; write for example \"1 GHz\""));
        visit("cpi", self.cpi,
              "Cycles per instruction, besides bus accesses; native firmware charges instructions as measured on rv64",
              calibrated("a ring step takes about 1 us (JAX scaling book, quoted)"), real_between(0.01, 1000));
        visit("mmio_overhead", self.mmio_overhead, "Cycles of one bus access besides the bus and the target", assumed("nothing is published"),
              at_most(cycle_count(1'000'000)));
        visit("copy_per_8_bytes", self.copy_per_8_bytes, "Further cycles per 8 bytes of a copy", assumed("nothing is published"),
              at_most(cycle_count(1'000'000)));
        visit("irq_wake", self.irq_wake, "Cycles from an interrupt to the first instruction of a sleeping core",
              assumed("nothing is published"), at_most(cycle_count(1'000'000)));
        visit("wait_entry", self.wait_entry,
              "Cycles to enter a wait for an interrupt or a register, besides the instructions that firmware charges; "
              "native only",
              assumed("the wfi itself"), between(cycle_count(1), cycle_count(1'000'000)).because(k_must_get_on));
        visit("poll_interval", self.poll_interval, "Cycles between the first two reads of a polled register; doubles",
              assumed("50 ns of 940 MHz, the interval of firmware/boot"),
              between(cycle_count(1), cycle_count(1'000'000)).because(k_must_get_on));
        visit("poll_interval_max", self.poll_interval_max,
              "Longest interval between two reads of a polled register; firmware polls while a ring of descriptors is full",
              assumed("nothing is published"),
              at_most(cycle_count(1'000'000)));
        visit("clock_read", self.clock_read, "Cycles to read the clock", assumed("nothing is published"),
              between(cycle_count(1), cycle_count(1'000'000)).because(k_must_get_on));
        visit("max_ahead", self.max_ahead, "Longest time by which a core runs ahead of the rest while it only computes",
              k_user_choice, between(duration(1'000), duration(1'000'000'000)));
        visit("stack", self.stack, "Host stack of the core's thread; an rv64 core takes 256 KiB at least", k_user_choice,
              between(data_size(k_least_stack_bytes), data_size(8 << 20)).because(": the shipped firmware needs it"));
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<core_config>> key_rules();
    std::uint64_t host_stack_bytes() const;
};

/// Where log lines of firmware go.
class core_log_sink {
public:
    /// `core` is the hierarchical name of the core; `text` and `core` are valid during the call only.
    virtual void on_log(const char* core, std::uint64_t time_ps, const char* text, std::uint64_t value) = 0;
    /// A line that firmware has written to the console of an rv64 core, without its newline.
    virtual void on_console(const char* core, std::uint64_t time_ps, const std::string& line)
    {
        on_log(core, time_ps, line.c_str(), 0);
    }

protected:
    ~core_log_sink() = default;
};

class core_base : public sc_core::sc_module, public component, public irq_if {
public:
    memory_initiator_socket socket; ///< toward the bus

    ~core_base() override = default;

    /// The firmware that runs from time 0; before the simulation starts, once. A core without firmware stays idle.
    virtual void load(const firmware_image& firmware, std::uint64_t argument) = 0;
    void load(firmware_entry entry, std::uint64_t argument) { load(firmware_image{entry, nullptr, 0, ""}, argument); }
    void connect_log(core_log_sink& sink) { log_ = &sink; }
    /// `core` has a lower number in the same chip; before the simulation starts.
    void goes_after(const core_base& core) { lower_.push_back(&core); }

    /// irq_if
    void set_irq(std::uint32_t lines, bool level) override;
    std::uint32_t irq_lines() const { return lines_; }

    /// Reset: the firmware begins anew, at once where the core waits for an interrupt or has returned, else when the
    /// time that it has charged is over. The lines are down; devices raise theirs again.
    void reset(std::uint32_t draw = 0) override;

    std::string stat_prefix() const override { return "core"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }

    /// A track of its own: works, polls, sleeps. Of cores whose steps are recorded, nothing.
    void record_into(trace_sink& trace) override;
    /// Working, or waiting for the bus.
    work_load spent_on(work_kind kind, std::uint64_t now_ps) const override;

    bool finished() const { return activity_ == activity::finished; } ///< the firmware has returned
    bool idle() const
    {
        return activity_ != activity::running && activity_ != activity::polling;
    } ///< parked or finished
    /// True in a wait with a timeout: the core expects something to happen.
    bool blocked() const
    {
        return activity_ == activity::polling || (activity_ == activity::sleeping && deadline_ps_ != k_never_ps);
    }
    /// True when nothing but an interrupt, a change of the polled register or a timeout can move this core, given
    /// that all else has been at rest since `quiet_since_ps`: it has polled since then, or no wake-up is under way.
    bool at_rest(std::uint64_t quiet_since_ps) const
    {
        switch (activity_) {
        case activity::running: return false;
        case activity::polling: return polled_at_ps_ >= quiet_since_ps;
        case activity::sleeping: return wake_at_ps_ == k_never_ps;
        default: return true;
        }
    }
    /// Where the function that it executes was called from; 0 on a native core.
    virtual std::uint64_t return_address() const { return 0; }
    /// An address in the instruction of its firmware that it executes, or that has called the HAL; 0: unknown. On an
    /// rv64 core the pc, on a native core an address of this process.
    virtual std::uint64_t code_address() const { return 0; }
    /// What it does, without times: the same text for all cores that do the same. Of every core, waiting or not.
    std::string doing() const;
    /// Of host_watch, in its signal handler.
    static void on_host_tick(void* context);
    /// Why the core stopped for good although its firmware has not returned; "" when it did not. Whole sentences.
    const std::string& failure() const { return failure_; }
    /// The wait without its times, the same text for all cores that wait for the same: "sleeps until an interrupt
    /// of DMA"; "" when the core does not wait.
    virtual std::string waits_for() const;
    /// What the core is doing: "sleeps until an interrupt of DMA, since 12.3 us, timeout at 5 ms".
    std::string blocked_on() const;

    counter instructions; ///< executed, or charged by native firmware
    counter mmio_reads;
    counter mmio_writes;
    counter bytes_copied;
    counter bus_faults;
    counter wakeups;
    counter timeouts;
    counter thread_switches; ///< times the thread gave way to the kernel: the cost of this core on the host
    accumulated_time busy_time;
    accumulated_time memory_time; ///< of it, waiting for the chip's memory, the way over the bus included
    stat_group stats;

protected:
    enum class activity : std::uint8_t { not_started, running, sleeping, polling, finished, failed };

    /// `wake` outlives the core.
    core_base(const sc_core::sc_module_name& name, const core_config& config, notifier& wake);

    /// Comes out of whatever the firmware was doing when the core was reset. Nothing may wait while it is caught.
    struct core_reset {};
    void begin_firmware();
    void has_no_firmware() { due_ps_ = k_never_ps; }
    void wait_for_reset(); ///< the firmware has ended
    void come_out_of_reset();

    void charge(std::uint64_t span_ps);
    void charge_access(std::uint64_t address, std::uint64_t delay_ps); ///< that it took on the bus
    /// Time that passes while the core neither works nor waits for the bus: between two reads of a polled register.
    void pass(std::uint64_t span_ps);
    void pass_cycles(cycle_count cycles) { pass(cycles.value() * ps_per_1024_cycles_ >> 10); }
    void charge_cycles(cycle_count cycles) { charge(cycles.value() * ps_per_1024_cycles_ >> 10); }
    /// Of all instructions of a run at once no rounding error adds up.
    std::uint64_t ps_of_instructions(std::uint64_t all) const
    {
        return (all >> 10) * ps_per_1024_instructions_ + ((all & 1023) * ps_per_1024_instructions_ >> 10);
    }
    std::uint64_t ps_per_1024_instructions() const { return ps_per_1024_instructions_; }
    void sync();
    std::uint64_t ahead_ps() const { return ahead_ps_; }
    std::uint64_t local_now_ps() const { return kernel_now_ps() + ahead_ps_; }
    /// Synchronises, makes the access and pays for it. False: answered with an error.
    bool read_bus(std::uint64_t address, void* to, std::uint32_t bytes);
    bool write_bus(std::uint64_t address, const void* from, std::uint32_t bytes);
    /// Sleeps until a line of `mask` has risen and the wake-up is paid for (true) or `deadline_ps` has passed
    /// (false).
    bool sleep(std::uint32_t mask, std::uint64_t deadline_ps);
    /// `start_ps` + `timeout_ns`, k_never_ps when there is no timeout or it lies beyond the end of time.
    static std::uint64_t deadline_of(std::uint64_t start_ps, std::uint64_t timeout_ns);

    /// Whose firmware the host executes; nullptr: nobody's.
    static void executing(core_base* core) { executing_.store(core, std::memory_order_relaxed); }
    /// While one of these lives the host executes code of the firmware, until that calls out again.
    class inside_firmware {
    public:
        explicit inside_firmware(core_base& core) { executing(&core); }
        ~inside_firmware() { executing(nullptr); }
        inside_firmware(const inside_firmware&) = delete;
        inside_firmware& operator=(const inside_firmware&) = delete;
    };
    class outside_firmware {
    public:
        explicit outside_firmware(core_base& core) : core_(core) { executing(nullptr); }
        ~outside_firmware() { executing(&core_); }
        outside_firmware(const outside_firmware&) = delete;
        outside_firmware& operator=(const outside_firmware&) = delete;

    private:
        core_base& core_;
    };
    /// Changes whenever the firmware gets on: host_watch.
    virtual std::uint64_t progress() const = 0;
    /// In a signal handler that has interrupted the firmware: it shall not go on. rv64_core looks itself, between
    /// quanta.
    virtual void abandon(void* context) { static_cast<void>(context); }
    std::uint32_t quiet_ticks() const { return quiet_ticks_; }

    core_config config_;
    notifier& wake_;
    core_log_sink* log_ = nullptr;
    std::uint32_t lines_ = 0;
    std::string failure_;

    /// What began at `since_ps` ends now; it worked until then. Where somebody records.
    void record_wait(std::uint64_t since_ps, const std::string& what)
    {
        if (trace_ != nullptr)
            write_wait(since_ps, what);
    }
    bool records() const { return trace_ != nullptr; }

    // For blocked_on().
    activity activity_ = activity::not_started;
    bool has_firmware_ = false;
    std::uint64_t since_ps_ = 0;
    std::uint64_t deadline_ps_ = k_never_ps;
    std::uint64_t polled_at_ps_ = 0; // last completed read of the polled register that did not end the wait

private:
    std::uint64_t goes_on_at_ps() const;
    void take_turn();
    static constexpr std::uint64_t k_no_access = ~std::uint64_t{0};
    static std::string waits_for_lines(std::uint32_t mask);
    std::string last_access_text() const;
    void arm_timeout(std::uint64_t deadline_ps);
    bool sleep_until_woken(std::uint32_t mask);

    std::uint64_t ps_per_1024_cycles_ = 0; // of the clock; one multiplication per cost
    std::uint64_t ps_per_1024_instructions_ = 0;
    std::uint64_t irq_wake_ps_ = 0;
    std::uint64_t ahead_ps_ = 0;     // local time not yet synchronised
    std::uint64_t idle_tail_ps_ = 0; // the last part of it, or of the present wait, in which the core is not busy

    // Sleeping. set_irq() may run in timeline handlers, between two activations of the thread.
    std::uint32_t sleep_mask_ = 0;            // 0: awake, or asleep for a timeout only
    std::uint64_t asleep_from_ps_ = 0;        // when the core's local time reaches its sleep
    std::uint64_t wake_at_ps_ = k_never_ps;   // of the wake-up under way
    std::uint64_t armed_for_ps_ = k_never_ps; // pending notification of timeout_event_
    bool reset_asked_ = false;

    // Turns of cores that share devices: the kernel's order at one time depends on all that it has ever queued.
    std::uint64_t due_ps_ = 0; // end of the present wait, if it is no sleep; k_never_ps while the core runs
    std::vector<const core_base*> lower_;
    sc_core::sc_event irq_event_;
    sc_core::sc_event timeout_event_;
    sc_core::sc_event_or_list wake_list_;

    std::uint64_t last_access_ = k_no_access; // address
    bool last_access_wrote_ = false;

    static std::atomic<core_base*> executing_; // whose firmware the host executes

    void write_wait(std::uint64_t since_ps, const std::string& what);
    trace_sink* trace_ = nullptr; // nullptr: nobody records
    std::uint32_t track_ = 0;
    std::uint64_t works_since_ps_ = 0;

    std::uint64_t seen_progress_ = 0;          // at the last tick of host_watch
    std::uint32_t quiet_ticks_ = 0;            // without progress
};

} // namespace weft
