// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A core that runs host-compiled firmware in one SC_THREAD, over the same HAL as every other binding.
//
// Models: the software cost of driving the devices, by the cost table of core_config; level-sensitive interrupt
// lines; sleeping. Does not model: instructions, caches, pipelines, races between instructions.
//
// Timing contract, besides that of core.h. Code takes no simulated time; time passes inside HAL calls only, and
// does not depend on the host. A copy takes copy_per_8_bytes for every started 8 bytes, besides its access; a stream
// takes it of rv64gc only.
// wait_irq: a line that is up when the core gets there is returned at once; else the core sleeps. No RTL twin.
#pragma once

#include "hw/core/core.h"

#include <map>
#include <utility>

namespace weft {

class native_core final : public core_base, public abi::hal {
public:
    SC_HAS_PROCESS(native_core);

    /// `wake` outlives the core.
    native_core(const sc_core::sc_module_name& name, const core_config& config, notifier& wake);

    using core_base::load;
    void load(const firmware_image& firmware, std::uint64_t argument) override;
    std::string waits_for() const override;
    std::uint64_t code_address() const override;

    // abi::hal, called by firmware in this core's thread only. A timeout of ~0 means none.
    std::uint32_t read32(std::uint64_t address) override;
    void write32(std::uint64_t address, std::uint32_t value) override;
    std::uint64_t read64(std::uint64_t address) override;
    void write64(std::uint64_t address, std::uint64_t value) override;
    void copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes) override;
    void copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes) override;
    void stream_in(void* to, std::uint64_t from_address, std::uint32_t bytes) override;
    void stream_out(std::uint64_t to_address, const void* from, std::uint32_t bytes) override;
    std::uint32_t wait_irq(std::uint32_t mask, std::uint64_t timeout_ns) override;
    bool poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                    std::uint64_t timeout_ns) override;
    void compute(std::uint32_t work) override;
    void spin(std::uint32_t work) override;
    abi::instruction_set charged_as() const override { return config_.instruction_set; }
    void charge_copies(std::uint64_t address, std::uint32_t bytes, std::uint64_t times) override;
    void charge_streams(std::uint64_t address, std::uint32_t bytes, std::uint64_t times) override;
    std::uint64_t now_ns() override;
    void log(const char* text, std::uint64_t value) override;
    abi::bus_fault fault() const override { return fault_; }
    void clear_fault() override { fault_ = {}; }

private:
    /// One call of the HAL: the firmware is left, and where it called from is known.
    struct hal_call : outside_firmware {
        hal_call(native_core& core, const void* return_address) : outside_firmware(core)
        {
            core.called_from_ = return_address;
        }
    };
    void run();
    enum class move : std::uint8_t { copy, stream };
    void move_in(void* to, std::uint64_t from_address, std::uint32_t bytes, move how);
    void move_out(std::uint64_t to_address, const void* from, std::uint32_t bytes, move how);
    void charge_move(std::uint32_t bytes, move how);
    void charge_moves(std::uint64_t address, std::uint32_t bytes, std::uint64_t times, move how);
    std::uint64_t progress() const override { return local_now_ps(); }
    void abandon(void* context) override;
    [[noreturn]] static void stay_abandoned(native_core* core);
    void pay_instructions(std::uint32_t work);
    bool read(std::uint64_t address, void* to, std::uint32_t bytes);
    void write(std::uint64_t address, const void* from, std::uint32_t bytes);
    void record_fault(std::uint64_t address, bool was_write);

    firmware_entry entry_ = nullptr;
    std::uint64_t argument_ = 0;
    abi::bus_fault fault_;
    std::map<std::pair<std::uint32_t, move>, std::uint64_t> least_move_ps_; // of charge_moves(), since the reset
    const void* called_from_ = nullptr;  // return address of the newest call of the HAL
    std::uint64_t abandoned_at_ = 0;     // pc at which the host has left the firmware for good

    // For blocked_on().
    std::uint64_t poll_address_ = 0;
    std::uint32_t poll_mask_ = 0;
    std::uint32_t poll_expected_ = 0;
};

} // namespace weft
