// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What firmware charges with hal::compute() for its own instructions, in core cycles. Bus accesses, sleeping and waking are
// charged by the core model, not here. Every figure is assumed: an in-order scalar core with warm caches, code size read off
// a RISC-V build and rounded.
#pragma once

#include <cstdint>

namespace weft::firmware::costs {

inline constexpr std::uint32_t k_command_cycles = 400; ///< assumed: decode, check and plan one command
inline constexpr std::uint32_t k_phase_cycles = 120; ///< assumed: enter one phase of a channel (ring position, totals)
inline constexpr std::uint32_t k_loop_turn_cycles = 40;  ///< assumed: one turn of the event loop over all channels
inline constexpr std::uint32_t k_descriptor_cycles = 90; ///< assumed: fill 64 bytes and their check word
inline constexpr std::uint32_t k_tree_block_cycles =
    12; ///< assumed: look at one block of 2x2 chips while spanning a tree
inline constexpr std::uint32_t k_response_cycles = 100; ///< assumed: assemble the response

} // namespace weft::firmware::costs
