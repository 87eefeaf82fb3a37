// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a rank remembers between collectives, and who uses which semaphore.
//
// Semaphores are never reset: COUNT only rises (and wraps at 2^32). `expected[s]` is the number of messages that all
// collectives entered so far had to count on semaphore s; `known[s]` is the newest value of COUNT this core has learnt.
//
// Two rules keep messages of different collectives apart although ranks may be whole collectives ahead of each other:
//   1. A *ready* or *barrier* semaphore has one possible sender for ever (a function of the semaphore and the topology, not
//      of the command). Its n-th message is therefore always that sender's n-th use.
//   2. A *data* semaphore may have a different sender in each collective, but data is sent only to a rank that has said
//      `ready` (or passed the barrier) in the same collective, and a rank leaves a collective only when everything
//      addressed to it has arrived. So at most one collective's data is under way to a rank.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_semaphores = 64;

inline constexpr std::uint32_t k_max_phases = 4;
inline constexpr std::uint32_t k_max_ring_channels = 4;

/// Semaphore ids, see the rules above.
inline constexpr std::uint32_t k_sem_data = 0;   ///< 0..15: ring data of (channel, phase)
inline constexpr std::uint32_t k_sem_ready = 16; ///< 16..31: successor on ring (kind, transposed, reversed) is ready
inline constexpr std::uint32_t k_sem_tree_ready = 32;    ///< 32..35: mesh neighbour W, E, N, S is ready to be sent to
inline constexpr std::uint32_t k_sem_tree_data = 36;     ///< broadcast data from the one parent
inline constexpr std::uint32_t k_sem_barrier = 40;       ///< 40..55: round k of the barrier, from rank - 2^k
inline constexpr std::uint32_t k_barrier_rounds = 16;    ///< enough for 65536 ranks
inline constexpr std::uint32_t k_sem_all_to_all = 56;    ///< all-to-all blocks, from everybody
inline constexpr std::uint32_t k_semaphores_needed = 57; ///< the device must have at least this many

/// Semaphore that counts data of one phase of one ring channel.
constexpr std::uint32_t data_semaphore(std::uint32_t channel, std::uint32_t phase)
{
    return k_sem_data + channel * k_max_phases + phase;
}
static_assert(data_semaphore(k_max_ring_channels - 1, k_max_phases - 1) < k_sem_ready, "semaphore ranges overlap");

/// Lives on the stack of the entry loop.
struct firmware_context {
    abi::platform_table table;
    std::uint32_t known[k_semaphores] = {};
    std::uint32_t expected[k_semaphores] = {};
    bool failed = false; ///< a collective broke off: counters of the ranks no longer agree, only a reset helps
};

/// True when COUNT of `semaphore` is known to have reached `target`; both wrap at 2^32.
constexpr bool reached(const firmware_context& context, std::uint32_t semaphore, std::uint32_t target)
{
    return static_cast<std::int32_t>(context.known[semaphore] - target) >= 0;
}

} // namespace weft::firmware
