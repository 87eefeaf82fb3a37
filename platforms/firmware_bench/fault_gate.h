// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// fault_gate: stands between a core and its chip (hw/chip/core_gate.h), passes everything on, counts it, and lets one
// `fault` change what it sees: refuse, lose or alter accesses, hold interrupts back or invent them.
//
// A gate without a fault adds no time. What a fault loses or refuses takes k_refused_access_ps, as an access that the
// bus answers by itself.
#pragma once

#include "hw/chip/core_gate.h"
#include "tlm/mem_socket.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class fault_gate;

/// One access of the core, as the gate sees it. Data of a write may be changed before it is passed on, that of a read
/// afterwards.
struct bus_access {
    std::uint64_t number = 0; ///< from 1
    std::uint64_t address = 0;
    std::uint8_t* data = nullptr;
    std::uint32_t bytes = 0;
    bool is_write = false;

    bool reads(std::uint64_t register_address) const { return !is_write && address == register_address; }
    bool writes(std::uint64_t register_address) const { return is_write && address == register_address; }
    std::uint64_t value() const; ///< of a register
    void set_value(std::uint64_t value);
};

enum class gate_action : std::uint8_t {
    pass,
    refuse, ///< answered with a bus error; the device sees nothing
    lose    ///< answered as if it had arrived; the device sees nothing
};

/// A misbehaviour between core and devices. One object serves one run.
class fault {
public:
    virtual ~fault() = default;
    virtual void start(fault_gate&) {}
    virtual gate_action before(fault_gate&, bus_access&) { return gate_action::pass; }
    virtual void after(fault_gate&, bus_access&) {} ///< not after an access that ended in an error
    /// The devices hold exactly `lines` up.
    virtual void on_lines(fault_gate& gate, std::uint32_t lines);
    virtual void on_time(fault_gate&) {} ///< asked for by call_at()
};

/// What went through a gate.
struct gate_counts {
    std::uint64_t accesses = 0;
    std::uint64_t descriptors = 0; ///< writes of descriptors
    std::uint64_t doorbells = 0;   ///< writes of TAIL
    std::uint64_t head_reads = 0;
    std::uint64_t arms = 0; ///< writes of SEM_THRESHOLD
    std::uint64_t commands = 0;
    std::uint64_t dma_writes = 0;
    std::uint64_t mailbox_writes = 0; ///< without those of DONE
    std::uint64_t dma_interrupts = 0; ///< rises of the line at the device
    std::uint64_t guest_doorbells = 0;
    std::uint64_t guest_interrupts = 0; ///< the same of lines of guests
    std::uint64_t guest_lines = 0;      ///< all that have risen
    // The answers.
    std::uint64_t last_done = 0;             ///< sequence number last written to DONE
    std::uint64_t done_without_response = 0; ///< DONE rung for an answer that is not in memory
    std::uint64_t done_without_command = 0;  ///< DONE rung for a command that the host has not posted
    std::uint64_t done_before_sent = 0;      ///< DONE rung with "ok" while posted bytes had not left memory
    // Of the fault.
    std::uint64_t strikes = 0;
    std::uint64_t struck_address = 0; ///< of the first strike at an access
};

class fault_gate final : public sc_core::sc_module,
                         public core_gate,
                         private irq_if,
                         private blocking_target,
                         private timeline_client {
public:
    static constexpr std::uint64_t k_refused_access_ps = 40'000;

    fault_gate(const sc_core::sc_module_name& name, std::unique_ptr<fault> fault);

    ::tlm::tlm_target_socket<>& from_core() override { return from_core_; }
    ::tlm::tlm_initiator_socket<>& to_bus() override { return to_bus_; }
    irq_if& from_devices() override { return *this; }
    void connect(irq_if& core, timeline& time) override;

    const gate_counts& counts() const { return counts_; }

    // For the fault.
    void mark(std::uint64_t address = 0); ///< it strikes
    void drive(std::uint32_t lines);      ///< exactly these lines of the core are up
    void call_at(std::uint64_t time_ps);
    void call_in(std::uint64_t span_ps) { call_at(time_->now_ps() + span_ps); }
    std::uint64_t now_ps() const { return time_->now_ps(); }
    std::uint32_t device_lines() const { return device_lines_; }
    std::uint64_t doorbells() const { return counts_.doorbells; } ///< this one included
    std::uint64_t guest_doorbells() const { return counts_.guest_doorbells; }
    bool in_descriptor_ring(const bus_access& access);
    /// Whether it writes a doorbell of a guest, as the register tables say.
    static bool rings_guest(const bus_access& access);
    /// A register of the chip without its side effects.
    std::uint64_t peek(std::uint64_t address, std::uint32_t bytes);

private:
    void start_of_simulation() override;
    void b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) override;
    unsigned int transport_dbg(::tlm::tlm_generic_payload& trans) override;
    void set_irq(std::uint32_t lines, bool level) override;
    void on_event(std::uint32_t, std::uint8_t) override;
    void count(const bus_access& access);
    bool has_bytes_to_send(const sc_core::sc_time& delay);

    ::tlm::tlm_target_socket<> from_core_;
    memory_initiator_socket to_bus_;
    std::unique_ptr<fault> fault_; ///< never null
    irq_if* core_ = nullptr;
    timeline* time_ = nullptr;
    std::uint32_t actor_ = 0;
    std::uint32_t sequence_ = 0;
    std::uint32_t device_lines_ = 0;
    std::uint32_t core_lines_ = 0;
    std::uint64_t ring_begin_ = 0; ///< 0: not looked up yet
    std::uint64_t ring_end_ = 0;
    std::vector<std::uint8_t> written_; ///< a copy of what the core writes: that is the firmware's and constant
    gate_counts counts_;
};

} // namespace weft
