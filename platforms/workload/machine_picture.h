// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A machine that does not get on, in words: what its parts wait for, what every core does and where in its firmware,
// and what the ranks have answered. It reads components and keeps nothing; each text begins with a line feed for every
// line, "" says nothing.
#pragma once

#include "platforms/workload/collective_case.h"
#include "platforms/workload/machine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Names places in the source of the firmware.
class code_places {
public:
    virtual ~code_places() = default;
    /// Where a core is: "pc 0x10b714, firmware/drivers/dma_driver.cpp:104, weft::firmware::dma_driver::wait"; "" for
    /// nothing.
    virtual std::string place_of(core_base& core) = 0;
    /// `text` with the place behind every pc of firmware in it. `core` is any core of the machine.
    virtual std::string with_places(core_base& core, std::string text) = 0;
};

/// When each rank answered the collective under way; k_never_ps: it has not.
using answer_times = std::vector<std::uint64_t>;

/// Why the DMA engine has stopped the queue that an answer of device_error names, as a clause; "" where it has not.
std::string reason_of(const chip& of, const abi::response& r);

class machine_picture {
public:
    static constexpr const char* k_timed_out_text = "a wait timed out on";

    /// `places` may be nullptr: then cores are told without their place in the source.
    machine_picture(machine& m, code_places* places) : machine_(m), places_(places) {}

    std::size_t parked_ranks() const; ///< all of whose cores wait for a command
    bool all_parked() const { return parked_ranks() == machine_.chips().size(); }

    /// Parts with work left, then cores. `answers` is nullptr while no collective is under way.
    std::string who_waits(const answer_times* answers) const;
    /// Every core of every rank, those that do the same in the same place together, the fewest first.
    std::string what_cores_do(const answer_times* answers) const;
    /// Ranks that answer a command over and over, as they do not acknowledge it; "" for none.
    std::string answers_again() const;
    std::string stopped_cores() const; ///< whose firmware ended by a trap or a halt, and why
    /// Ranks that have not answered command `sequence`, or not with ok, whoever stopped first in front. No line feed
    /// before the first.
    std::string failed_ranks(std::uint32_t sequence, abi::algorithm algorithm) const;

private:
    std::string rank_name(std::uint32_t rank) const; ///< "rank 5, chip(1,1)"
    /// The same with its core, where there are several: "rank 5, worker 5, core 2".
    std::string core_name(const chip& c, std::size_t core) const;

    machine& machine_;
    code_places* places_;
};

} // namespace weft
