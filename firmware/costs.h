// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What firmware charges with hal::compute() for its own work, in instructions of the RV64 binary; boot/, that is the HAL,
// included. Bus accesses, sleeping and waking are charged by the core model, not here.
//
// Measured: least squares over all collectives on 4x4, 8x8 and meshes with failed chips, on the counters of the RV64 core.
// testbenches/system/firmware_costs_test.cpp measures again and fails when firmware and table drift apart.
#pragma once

#include <cstdint>

namespace weft::firmware::costs {

// A command.
inline constexpr std::uint32_t k_command = 545;   ///< take, decode and check it
inline constexpr std::uint32_t k_engine = 1200;   ///< set up the engine of rings and trees, and its end
inline constexpr std::uint32_t k_parent = 455;    ///< find the parent in a broadcast tree
inline constexpr std::uint32_t k_channel = 242;   ///< plan a channel
inline constexpr std::uint32_t k_view = 480;      ///< find the own place and neighbours on a ring
inline constexpr std::uint32_t k_member = 220;    ///< find the rank at a position of a ring
inline constexpr std::uint32_t k_plan_phase = 60; ///< plan a phase and see whether its ring needs to be told
inline constexpr std::uint32_t k_notify = 215;    ///< tell a neighbour something
inline constexpr std::uint32_t k_tree_block = 20; ///< look at one block of 2x2 chips while spanning a tree
inline constexpr std::uint32_t k_drain = 200;     ///< wait until everything sent has left memory
inline constexpr std::uint32_t k_response = 150;  ///< assemble and post the response

// A channel of the event loop.
inline constexpr std::uint32_t k_phase = 110;   ///< enter a phase
inline constexpr std::uint32_t k_list = 276;    ///< count the messages of one list of shards of a phase
inline constexpr std::uint32_t k_run = 86;      ///< find the next run of elements to send
inline constexpr std::uint32_t k_message = 289; ///< send a message
inline constexpr std::uint32_t k_donor = 120;   ///< look whether one donor's unit has come
inline constexpr std::uint32_t k_look = 42;     ///< look whether a channel can go on
inline constexpr std::uint32_t k_blocked = 26;  ///< find that it must wait before it sends more
inline constexpr std::uint32_t k_count = 40;    ///< read how many messages have come

// The event loop.
inline constexpr std::uint32_t k_turn = 50;     ///< a turn
inline constexpr std::uint32_t k_doorbell = 26; ///< ring one
inline constexpr std::uint32_t k_arm = 30;      ///< arm a semaphore
inline constexpr std::uint32_t k_sleep = 126;   ///< go to sleep
inline constexpr std::uint32_t k_wake = 100;    ///< wake up and find out why

// all_to_all.
inline constexpr std::uint32_t k_direct_message = 285; ///< send a message
inline constexpr std::uint32_t k_direct_wait = 170;    ///< arm a semaphore and wait for it

} // namespace weft::firmware::costs
