// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A core that runs host-compiled firmware in one SC_THREAD, over the same HAL as every other binding.
//
// Models: the software cost of driving the devices, by the cost table below; level-sensitive interrupt lines; sleeping.
// Does not model: instructions, caches, pipelines, races between instructions.
//
// Timing contract. Code takes no simulated time; time passes inside HAL calls only, and does not depend on the host.
//   * Costs add up locally and are synchronised, with one wait(), before an access leaves the core. An access leaves
//     first and is then paid for: its own time (bus + target) plus mmio_overhead, + copy_per_8_bytes for every started
//     8 bytes of a copy.
//   * wait_irq: a line that is up when the core gets there is returned at once. Else the core sleeps; the first line to
//     rise, at T, wakes it at T + irq_wake, also when the timeout passes meanwhile. A timeout at D returns at D; a line
//     that the timeline raises exactly at D still wins (the kernel runs its method before any thread).
//   * The core runs ahead of the kernel by its local costs only, never by more than max_ahead.
// No RTL twin.
#pragma once

#include "hw/abi/hal.h"
#include "tlm/config_fields.h"
#include "tlm/irq_if.h"
#include "tlm/mem_socket.h"
#include "tlm/notifier.h"
#include "tlm/stats.h"
#include "tlm/units.h"

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace weft {

/// Entry point of firmware: the HAL and one word of the builder's choice (the address of the platform table).
using firmware_entry = void (*)(abi::hal& hal, std::uint64_t argument);

struct core_config {
    frequency clock{940'000'000};
    cycle_count mmio_overhead{16};
    cycle_count copy_per_8_bytes{1};
    cycle_count irq_wake{60};
    cycle_count wait_entry{20};
    cycle_count poll_interval{50};
    cycle_count poll_interval_max{3200};
    cycle_count clock_read{10};
    cycle_count log_line{20};
    duration max_ahead{1'000'000};
    data_size stack{64 << 10};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        // The two calibrated costs are chosen so that one step of a two-way ring, devices included, takes about 1 us end to
        // end, the hop cost that software sees (JAX scaling book, quoted); testbenches/system/collective_times_test.cpp.
        const char* const calibrated = "calibrated: a ring step takes about 1 us (JAX scaling book, quoted)";
        visit("clock", self.clock, "Clock of the core", "recalled, unverified: 940 MHz of TPU v3");
        visit("mmio_overhead", self.mmio_overhead, "Cycles of one bus access besides the bus and the target",
              calibrated);
        visit("copy_per_8_bytes", self.copy_per_8_bytes, "Further cycles per 8 bytes of a copy", "assumed");
        visit("irq_wake", self.irq_wake, "Cycles from an interrupt to the first instruction of a sleeping core",
              calibrated);
        visit("wait_entry", self.wait_entry, "Cycles to enter a wait for an interrupt or a register", "assumed");
        visit("poll_interval", self.poll_interval, "Cycles between the first two reads of a polled register; doubles",
              "assumed");
        visit("poll_interval_max", self.poll_interval_max, "Longest interval between two reads of a polled register",
              "assumed");
        visit("clock_read", self.clock_read, "Cycles to read the clock", "assumed");
        visit("log_line", self.log_line, "Cycles of one log line", "assumed");
        visit("max_ahead", self.max_ahead, "Longest time by which a core runs ahead of the rest while it only computes",
              "");
        visit("stack", self.stack, "Host stack of the firmware's thread", "");
    }
    std::vector<config_problem> validate() const;
};

/// Where log lines of firmware go.
class core_log_sink {
public:
    /// `core` is the hierarchical name of the core; `text` and `core` are valid during the call only.
    virtual void on_log(const char* core, std::uint64_t time_ps, const char* text, std::uint64_t value) = 0;

protected:
    ~core_log_sink() = default;
};

class native_core final : public sc_core::sc_module, public abi::hal, public irq_if {
public:
    SC_HAS_PROCESS(native_core);
    memory_initiator_socket socket; ///< toward the bus

    /// `wake` outlives the core.
    native_core(const sc_core::sc_module_name& name, const core_config& config, notifier& wake);

    /// The firmware that runs from time 0; before the simulation starts. A core without firmware stays idle.
    void load(firmware_entry entry, std::uint64_t argument);
    void connect_log(core_log_sink& sink) { log_ = &sink; }

    /// irq_if
    void set_irq(std::uint32_t lines, bool level) override;
    std::uint32_t irq_lines() const { return lines_; }

    bool finished() const { return activity_ == activity::finished; } ///< the entry point has returned
    bool idle() const
    {
        return activity_ != activity::running && activity_ != activity::polling;
    } ///< parked or finished
    /// True in a wait with a timeout: the core expects something to happen.
    bool blocked() const
    {
        return activity_ == activity::polling || (activity_ == activity::sleeping && deadline_ps_ != k_never_ps);
    }
    /// True when nothing but an interrupt, a change of the polled register or a timeout can move this core, given that all
    /// else has been at rest since `quiet_since_ps`: it has polled since then, or no wake-up is under way.
    bool at_rest(std::uint64_t quiet_since_ps) const
    {
        switch (activity_) {
        case activity::running: return false;
        case activity::polling: return polled_at_ps_ >= quiet_since_ps;
        case activity::sleeping: return wake_at_ps_ == k_never_ps;
        default: return true;
        }
    }
    /// The wait without its times, the same text for all cores that wait for the same: "sleeps until an interrupt of DMA";
    /// "" when the core does not wait.
    std::string waits_for() const;
    /// What the core is doing: "sleeps until an interrupt of DMA, since 12.3 us, timeout at 5 ms".
    std::string blocked_on() const;

    // abi::hal, called by firmware in this core's thread only. A timeout of ~0 means none.
    std::uint32_t read32(std::uint64_t address) override;
    void write32(std::uint64_t address, std::uint32_t value) override;
    std::uint64_t read64(std::uint64_t address) override;
    void write64(std::uint64_t address, std::uint64_t value) override;
    void copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes) override;
    void copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes) override;
    std::uint32_t wait_irq(std::uint32_t mask, std::uint64_t timeout_ns) override;
    bool poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                    std::uint64_t timeout_ns) override;
    void compute(std::uint32_t cycles) override;
    std::uint64_t now_ns() override;
    void log(const char* text, std::uint64_t value) override;
    abi::bus_fault fault() const override { return fault_; }
    void clear_fault() override { fault_ = {}; }

    counter mmio_reads;
    counter mmio_writes;
    counter bytes_copied;
    counter bus_faults;
    counter wakeups;
    counter timeouts;
    counter thread_switches; ///< times the thread gave way to the kernel: the cost of this core on the host
    accumulated_time busy_time;
    stat_group stats;

private:
    enum class activity : std::uint8_t { not_started, running, sleeping, polling, finished };

    void run();
    void charge(std::uint64_t span_ps);
    void charge_cycles(cycle_count cycles) { charge(cycles.value() * ps_per_1024_cycles_ >> 10); }
    void sync();
    std::uint64_t local_now_ps() const { return kernel_now_ps() + ahead_ps_; }
    bool read_bus(std::uint64_t address, void* to, std::uint32_t bytes);
    void write_bus(std::uint64_t address, const void* from, std::uint32_t bytes);
    void record_fault(std::uint64_t address, bool was_write);
    bool sleep(std::uint32_t mask);
    void arm_timeout(std::uint64_t deadline_ps);

    core_config config_;
    notifier& wake_;
    firmware_entry entry_ = nullptr;
    std::uint64_t argument_ = 0;
    core_log_sink* log_ = nullptr;

    std::uint64_t ps_per_1024_cycles_ = 0; // of the clock; one multiplication per cost
    std::uint64_t irq_wake_ps_ = 0;
    std::uint64_t ahead_ps_ = 0; // local costs not yet synchronised
    abi::bus_fault fault_;

    // Sleeping. set_irq() may run in timeline handlers, between two activations of the thread.
    std::uint32_t lines_ = 0;
    std::uint32_t sleep_mask_ = 0;            // 0: awake
    std::uint64_t asleep_from_ps_ = 0;        // when the core's local time reaches its sleep
    std::uint64_t wake_at_ps_ = k_never_ps;   // of the wake-up under way
    std::uint64_t armed_for_ps_ = k_never_ps; // pending notification of timeout_event_
    sc_core::sc_event irq_event_;
    sc_core::sc_event timeout_event_;
    sc_core::sc_event_or_list wake_list_;

    // For blocked_on().
    activity activity_ = activity::not_started;
    std::uint64_t since_ps_ = 0;
    std::uint64_t deadline_ps_ = k_never_ps;
    std::uint64_t polled_at_ps_ = 0; // last completed read of the polled register that did not end the wait
    std::uint64_t poll_address_ = 0;
    std::uint32_t poll_mask_ = 0;
    std::uint32_t poll_expected_ = 0;
};

} // namespace weft
