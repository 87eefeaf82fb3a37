// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A hostile device: a way in which hardware misbehaves, where in a run it can strike, and what is right then. The
// table of all of them is k_hostile_devices(); docs/14_firmware_bench.md tells how to add one.
#pragma once

#include "hw/core/address_text.h"
#include "platforms/firmware_bench/fault_gate.h"
#include "platforms/workload/machine.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

/// A device of the struck chip beside mailbox and DMA, as the chip's bus tells of it: a guest (chip::attach).
struct guest_window {
    std::string name; ///< "NIC"
    std::uint64_t base = 0;
};

/// What the bench knows of the firmware from its run with devices that behave.
struct healthy_profile {
    gate_counts counts; ///< of the struck rank
    std::uint64_t end_ps = 0;
    std::uint64_t first_start_ps = 0; ///< of the first collective
    std::uint64_t timeout_ps = 0;     ///< of every single wait
    std::uint32_t ranks = 0;
    std::uint32_t rank = 0; ///< that is struck, unless the strike says otherwise
    std::vector<guest_window> guests;
    std::vector<firmware_bench_machine::link> links;
    bool engines_go_on = false; ///< firmware_bench_machine::engines_go_on
};

/// One run of a hostile device. `n` counts what the device strikes at, from 1; the meaning of the rest is the device's.
struct strike {
    std::string text; ///< "the 17th access is refused"
    std::uint64_t n = 0;
    std::uint64_t value = 0;
    std::uint32_t which = 0;
    std::uint32_t rank = 0; ///< whose core meets it; k_nobody: nobody's in particular

    static constexpr std::uint32_t k_nobody = 0xffff'ffff;
};

/// The last answer of a rank, and how its core was left.
struct rank_answer {
    bool in_memory = false; ///< a response to the last command
    bool announced = false; ///< DONE was rung for it
    bool returned = false;  ///< its firmware has returned
    bool stopped = false;   ///< for good, within its native firmware; call_site is the place then
    bool executes = false;  ///< neither sleeps nor polls, and has not returned
    std::uint32_t code = 0; ///< abi::status_code
    std::string where;
    std::uint64_t detail = 0;
    std::string core;              ///< what the core is doing
    std::string place;             ///< of an RV64 core without an answer: where in its source that is
    std::uint64_t call_site = 0;   ///< of the last call to the HAL, as an address in this program; 0: not known
    std::uint64_t answer_site = 0; ///< of the last one before the answer was written
    std::uint64_t fault_site = 0;  ///< of the first access that failed
    std::string library;           ///< where the sites lie, "" for this program
    std::string reason;            ///< why the DMA engine has stopped the queue that the answer names
    std::uint64_t bus_faults = 0;  ///< accesses that were answered with an error
};

/// What came out of one run.
struct run_facts {
    std::string host_failure; ///< crash, or no end in host time
    bool completed = false;
    std::uint64_t wrong = 0; ///< elements
    std::string first_wrong;
    std::uint64_t answer_digest = 0;
    std::uint64_t cases = 0; ///< completed
    std::uint64_t end_ps = 0;
    std::uint64_t first_start_ps = 0;
    std::string failure; ///< the runner's account
    std::vector<rank_answer> ranks;
    gate_counts counts; ///< of the struck rank
    std::vector<guest_window> guests;
};

class hostile_device {
public:
    hostile_device(const char* name, const char* summary, const char* right)
        : name_(name), summary_(summary), right_(right)
    {
    }
    virtual ~hostile_device() = default;
    const char* name() const { return name_; }
    const char* summary() const { return summary_; } ///< what it does, one line
    const char* right() const { return right_; }     ///< what firmware must do, one line

    /// Every place where it can strike, in order; the bench may take a sample.
    virtual std::vector<strike> strikes(const healthy_profile& profile) const = 0;
    /// What changes in the file, as for --set; "": nothing.
    virtual std::string setting(const strike&, const firmware_bench_machine&) const { return ""; }
    /// For the gate of the struck rank; nullptr: none.
    virtual std::unique_ptr<fault> make(const strike&) const { return nullptr; }
    /// For the gate of any rank.
    virtual std::unique_ptr<fault> make_for(const strike& s, std::uint32_t rank) const
    {
        return rank == s.rank ? make(s) : nullptr;
    }

    /// True when nothing but an exact finish is right.
    virtual bool must_finish(const strike&, const healthy_profile&) const { return false; }
    /// Why a run that finished exactly is wrong all the same; "" when it is not.
    virtual std::string judge_finish(const strike&, const run_facts&) const { return ""; }
    /// Why this error of the struck rank is not the right one; "" when it is.
    virtual std::string judge_error(const strike&, const rank_answer&, const run_facts&) const = 0;
    /// The struck rank cannot ring DONE, its answer can be in memory only.
    virtual bool cannot_announce(const strike&, const run_facts&) const { return false; }
    /// The struck rank cannot answer at all: it must have returned instead.
    virtual bool cannot_answer(const strike&, const run_facts&) const { return false; }
    /// The struck rank may be done all the same, though others report an error.
    virtual bool may_end_well(const strike&, const healthy_profile&) const { return false; }

private:
    const char* name_;
    const char* summary_;
    const char* right_;
};

/// All of them, in the order to run and to list.
const std::vector<std::unique_ptr<hostile_device>>& hostile_devices();

/// Parts of the table.
void add_register_devices(std::vector<std::unique_ptr<hostile_device>>& all); ///< what registers and memory say
void add_access_devices(std::vector<std::unique_ptr<hostile_device>>& all); ///< accesses that fail, get lost, take long
void add_interrupt_devices(std::vector<std::unique_ptr<hostile_device>>& all); ///< interrupts and completions

/// The first command of a rank reaches its core `by_ps` late.
std::unique_ptr<fault> make_late_command(std::uint64_t by_ps);

/// "" when the answer is `code` at one of `wheres`; else what is wrong with it.
std::string expect_error(const rank_answer& answer, abi::status_code code, const std::vector<std::string>& wheres);
/// The timeouts of a rank that waits for others, for its own DMA or for its own NIC.
std::string expect_timeout(const rank_answer& answer);
/// "timeout at DMA.HEAD (0x2)"
std::string error_text(std::uint32_t code, const std::string& where, std::uint64_t detail);
/// "1st", "22nd"
std::string ordinal(std::uint64_t n);

} // namespace weft
