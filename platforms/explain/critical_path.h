// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The critical path of a collective: from the answer of a rank back to the command, through whatever released each
// step. Every picosecond has one cause, so the parts sum to the time. How each place goes back: docs/27_explain.md.
// Plain C++ over recorded data.
#pragma once

#include "platforms/explain/step_store.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

enum class path_cause : std::uint8_t {
    host,          ///< the command comes to the rank
    firmware,      ///< a core works: instructions, register accesses, wake-up
    time_out,      ///< a core sleeps until a timeout ends; a frame that was lost waits for it to be sent again
    dma,           ///< doorbell and descriptor on their way, engines starting
    memory,        ///< reads before sending, writes and sums after receiving, accesses of cores, with their queue
    port,          ///< queueing: the port of the chip sends other messages
    credits,       ///< queueing: for room at the far end
    arbitration,   ///< queueing: the link carries packets of other senders
    head_of_line,  ///< queueing: behind others in the same buffer
    serialisation, ///< bytes from the same sender on a wire
    propagation,   ///< flight
    router,        ///< pipelines of routers
    controller,    ///< controllers between chip and fabric, with their queues
    ccu,           ///< collective communication units: microcode, slices, sums
    sync,          ///< wires by which ranks meet, from the last arrival on
    nic,           ///< network interface cards, their rings and what cores do between two frames of a slot
    aggregation,   ///< a switch that sums
    unknown,       ///< not followed further
};
inline constexpr std::size_t k_path_causes = 18;

struct path_cause_row {
    const char* name;
    const char* group; ///< which of the words of "where the time went"
    const char* meaning;
    const char* approximate = ""; ///< what the path cannot tell apart there; its time is exact all the same
};
/// By number.
const path_cause_row& row_of(path_cause cause);

struct path_part {
    std::uint64_t from_ps = 0;
    std::uint64_t until_ps = 0;
    path_cause cause = path_cause::unknown;
    std::uint32_t rank = recorded_device::k_nobody;
    std::string where; ///< "chip(0,1).+X"; "" where the rank says it
};

struct critical_path {
    std::uint32_t rank = 0; ///< that answered
    std::uint64_t begin_ps = 0;
    std::uint64_t end_ps = 0;
    std::vector<path_part> parts; ///< in the order of time, without gaps
    std::uint32_t messages = 0;   ///< followed, of the fabric
    std::uint32_t frames = 0;     ///< followed, of Ethernet

    std::uint64_t time_ps() const { return end_ps - begin_ps; }
    std::array<std::uint64_t, k_path_causes> by_cause() const;
};

/// Of `rank`, whose answer is in `run`; of its steps others are there afterwards. Throws bug when the parts do not sum
/// to the time.
critical_path find_critical_path(recorded_run& run, step_store& store, std::uint32_t rank);

} // namespace weft
