// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a rank remembers of its collective communication units between collectives: which microcode they hold and whom
// their channels lead to. Part of firmware_context; nothing here is valid before `ready`, so that it costs nothing
// where no collective uses the units.
#pragma once

#include "firmware/drivers/ccu_driver.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_ccu_programs = 16;  ///< remembered of a die
inline constexpr std::uint32_t k_ccu_channels = 128; ///< of a die that are used

/// What a program was made for; programs differ where this does.
struct ccu_key {
    std::uint64_t what;  ///< fields of ccu_job
    std::uint64_t which;
    constexpr bool operator==(const ccu_key& o) const { return what == o.what && which == o.which; }
};

struct ccu_program {
    ccu_key key;
    std::uint32_t start;
    std::uint32_t count;
};

struct ccu_die {
    std::uint32_t programs; ///< used of `program`
    std::uint32_t next;     ///< first free instruction of the store
    ccu_program program[k_ccu_programs];
};

struct ccu_state {
    bool ready = false;
    std::uint32_t channels_of;    ///< for which group they are set, see ccu_collectives.cpp
    ccu_capacities capacities;    ///< of both dies, the smaller ones
    ccu_die die[abi::ccu::k_dies];
    std::uint32_t peer[k_ccu_channels]; ///< as CHANNEL_PEER has it
};

} // namespace weft::firmware
