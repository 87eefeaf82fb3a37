// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Missions and loop engines of a CCU: where each of them stands, what it waits for. Numbers: missions first, then
// engines.
#pragma once

#include "hw/ccu/ccu_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct ccu_context {
    bool active = false;
    bool waits_for_bits = false;
    bool waits_for_engines = false; ///< a mission, for those that it has started, or for free ones
    bool step_planned = false;
    bool in_channel_queue = false;   ///< among those that want a place on `channel`
    bool waits_for_channel = false;  ///< and not woken yet
    std::uint16_t channel = 0;
    std::uint16_t wait_entry = 0;
    std::uint16_t wait_mask = 0;
    std::uint32_t slice_offset = 0; ///< of the replica; with it a number may lie beyond the last slice or bit set
    std::uint32_t entry_offset = 0;
    std::uint32_t mission = 0;
    std::uint32_t pc = 0;    ///< instruction of the store
    std::uint32_t first = 0; ///< of the body, of a task
    std::uint32_t end = 0;   ///< behind the last one
    std::uint32_t iteration = 0;
    std::uint32_t iterations = 0;
    std::uint64_t step = 0;    ///< address, from iteration to iteration
    std::uint64_t replica = 0; ///< address offset
    std::uint64_t began_ps = 0; ///< the present body, for traces

    std::uint64_t address_offset() const { return replica + iteration * step; }
};

struct ccu_mission {
    abi::ccu::mission_state state = abi::ccu::mission_state::idle;
    bool strict = false;
    std::uint32_t engines = 0;   ///< of it, that run
    std::uint32_t transfers = 0; ///< of it, that are not done
    std::uint32_t launches = 0;  ///< so a timeout of an earlier task is known as such
    std::uint32_t start = 0;
    std::uint32_t count = 0;
    std::uint64_t began_ps = 0; ///< 0: it has not begun
    std::uint64_t arguments[abi::ccu::k_arguments] = {};
};

} // namespace weft
