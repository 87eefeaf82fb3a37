// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What firmware charges with hal::compute() for its own work, in instructions of the RV64 binary; boot/, that is the
// HAL, included. Bus accesses, sleeping and waking are charged by the core model, not here.
//
// Measured: least squares over all collectives on 4x4, 8x8 and meshes with failed chips, on the counters of the RV64
// core. testbenches/system/rv64_test.cpp compares the sums with those counters and fails when firmware and table drift
// apart. Since descriptors have several pieces, these were moved by hand until the sums on 4x4 agreed again, not by a
// new fit: k_command, k_message, k_axis_block, k_axis_run, k_shot_message, k_rank_block, k_rank_skip,
// k_switchml_rdma_start.
#pragma once

#include "hw/abi/hal.h"

#include <cstdint>

namespace weft::firmware::costs {

// A command.
inline constexpr std::uint32_t k_command = 560;    ///< take, decode and check it
inline constexpr std::uint32_t k_engine = 852;    ///< set up the engine of rings and trees
inline constexpr std::uint32_t k_engine_end = 260; ///< its end
inline constexpr std::uint32_t k_parent = 1239;     ///< find the parent in a broadcast tree
inline constexpr std::uint32_t k_tree_choice = 170; ///< see whether several trees of a mesh pay
/// The same and the children, on a whole mesh in the tree of least depth.
inline constexpr std::uint32_t k_tree_alone = 640;
inline constexpr std::uint32_t k_tree_colour = 760; ///< and in each of several colours; both of 4 B and 64 KiB on 4x4
inline constexpr std::uint32_t k_channel = 198;    ///< plan a channel
inline constexpr std::uint32_t k_view = 403;       ///< find the own place and neighbours on a ring
inline constexpr std::uint32_t k_member = 247;     ///< find the rank at a position of a ring
inline constexpr std::uint32_t k_jump = 80;        ///< find the next position on a ring whose shard is not empty
inline constexpr std::uint32_t k_plan_phase = 240;  ///< plan a phase and see whether its ring needs to be told
inline constexpr std::uint32_t k_notify = 149;     ///< tell a neighbour something
inline constexpr std::uint32_t k_tree_block = 60;  ///< look at one block of 2x2 chips while spanning a tree
inline constexpr std::uint32_t k_drain = 60;       ///< wait until everything sent has left memory
inline constexpr std::uint32_t k_response = 290;   ///< assemble and post the response

// The same on full meshes, in part by the number of dimensions. Measured on 4x4 and 2x2x2x2 ranks.
inline constexpr std::uint32_t k_whole_view = 115;  ///< k_view on the ring over all ranks, for each dimension
inline constexpr std::uint32_t k_axis_view = 60;    ///< k_view along one dimension, for each
inline constexpr std::uint32_t k_whole_member = 75; ///< k_member on the ring over all ranks
inline constexpr std::uint32_t k_whole_axis = 60;   ///< and for each dimension
/// K_jump there, for each dimension; 107 to 130 by 4 and 16 B on 2x2x2x2, 3x4, 5x2 and 8x8 NPUs.
inline constexpr std::uint32_t k_whole_jump = 120;
inline constexpr std::uint32_t k_fan_engine = 300;  ///< k_engine of a broadcast
inline constexpr std::uint32_t k_fan_axis = 60;     ///< look what a dimension is for in it
inline constexpr std::uint32_t k_grid_tree_axis = 150; ///< find parent and children along a dimension in its tree
inline constexpr std::uint32_t k_tree_line = 100;   ///< the same for trees of a full mesh
inline constexpr std::uint32_t k_tree_run = 200;    ///< find a piece of a tree and whom it goes to
inline constexpr std::uint32_t k_axes = 300;          ///< plan multi_axis
inline constexpr std::uint32_t k_axes_dimension = 100; ///< and each dimension
inline constexpr std::uint32_t k_axes_order = 125;     ///< and each dimension where shards of ranks are short
inline constexpr std::uint32_t k_axes_shares = 250;    ///< and parts of two lanes of unlike dimensions, n: (n/2)^2
inline constexpr std::uint32_t k_axes_loads = 25;      ///< and each pair of more than two dimensions
inline constexpr std::uint32_t k_axis_block = 265;     ///< count the messages of a block of it
inline constexpr std::uint32_t k_axis_run = 195;      ///< find a run of a block
inline constexpr std::uint32_t k_axis_exchange = 180;  ///< the same in a direct exchange, besides
inline constexpr std::uint32_t k_axis_stride = 160;    ///< find pieces of a message, besides
inline constexpr std::uint32_t k_axis_part = 120;     ///< the same on a ring where shards are cut into parts, besides
inline constexpr std::uint32_t k_shot_peer = 24;      ///< see what a peer gets in a round of two shots
inline constexpr std::uint32_t k_shot_message = 30; ///< find the next part of a shard for two shots

// multi_axis on a full mesh with gaps, besides k_direct_message. Measured on 3x5, 4x4 and 8x8 NPUs with one or two
// gaps, 64 B to 256 KiB: times within 2 %.
inline constexpr std::uint32_t k_gapped_begin = 500; ///< begin
inline constexpr std::uint32_t k_gapped_phase = 420; ///< find what a phase sends and gets
inline constexpr std::uint32_t k_gapped_cell = 108;  ///< find the elements of a cell
inline constexpr std::uint32_t k_gapped_count = 60;  ///< count what a rank gathers along its line
inline constexpr std::uint32_t k_gapped_stand_in = 60; ///< see which cells of gaps a rank gathers

// The same around failed chips.
inline constexpr std::uint32_t k_broken_view = 657; ///< k_view
inline constexpr std::uint32_t k_walk = 95;          ///< take a step of the walk
inline constexpr std::uint32_t k_plan_around = 3635; ///< plan row_pair
inline constexpr std::uint32_t k_plan_pair = 207;    ///< plan a lane of a whole pair
inline constexpr std::uint32_t k_adopt = 1953;        ///< look for columns to serve
inline constexpr std::uint32_t k_plan_donor = 834;   ///< plan for a donor and a lane: wait for it and give back
/// Check the table of a process group; take its semaphores. By 4 B in blocks of 4 on a board.
inline constexpr std::uint32_t k_join_group = 1150;
inline constexpr std::uint32_t k_plan_tile = 3765;   ///< plan a lane of a tile
inline constexpr std::uint32_t k_unit = 60;          ///< find the next unit of a tile or donor
inline constexpr std::uint32_t k_look_around = 88;   ///< look whether it can be sent
inline constexpr std::uint32_t k_arrivals = 148;     ///< find how much must have come before a unit can be given back
inline constexpr std::uint32_t k_donors = 125;       ///< find the units of a message

// A channel of the event loop.
inline constexpr std::uint32_t k_phase = 101;   ///< enter a phase
inline constexpr std::uint32_t k_list = 193;    ///< count the messages of one list of shards of a phase
inline constexpr std::uint32_t k_run = 99;     ///< find the next run of elements to send
inline constexpr std::uint32_t k_message = 277; ///< send a message
inline constexpr std::uint32_t k_staged = 75;      ///< put a message beside others that go into a ring with it
inline constexpr std::uint32_t k_begin_ahead = 410;   ///< begin a tree of them; by 4 B to 300 KiB, 3x3 and 4x4 torus
inline constexpr std::uint32_t k_wait_ahead = 242; ///< say what the DMA engine waits for before it sends the message
inline constexpr std::uint32_t k_wait_alone = 305; ///< only wait; all three of 64 and 256 KiB by 1 KiB, 4x4 torus
inline constexpr std::uint32_t k_donor = 34;    ///< look whether one donor's unit has come
inline constexpr std::uint32_t k_look = 76;     ///< look whether a channel can go on
inline constexpr std::uint32_t k_blocked = 5;  ///< find that it must wait before it sends more
inline constexpr std::uint32_t k_count = 14;    ///< read how many messages have come

// The event loop.
inline constexpr std::uint32_t k_turn = 31;     ///< a turn
inline constexpr std::uint32_t k_doorbell = 14; ///< ring one
inline constexpr std::uint32_t k_arm = 45;      ///< arm a semaphore
inline constexpr std::uint32_t k_sleep = 123;   ///< go to sleep
inline constexpr std::uint32_t k_wake = 141;    ///< wake up and find out why

// all_to_all.
inline constexpr std::uint32_t k_direct_message = 288; ///< send a message
inline constexpr std::uint32_t k_direct_peer = 16;     ///< find the next peer by rank
inline constexpr std::uint32_t k_diagonal_peer = 60;   ///< the same along a diagonal
inline constexpr std::uint32_t k_diagonal_axis = 30;   ///< and for each dimension
inline constexpr std::uint32_t k_rank_skip = 34;       ///< skip an empty block of all_to_all
inline constexpr std::uint32_t k_rank_block = 40;      ///< describe the block of one peer
inline constexpr std::uint32_t k_port_ranks = 300;     ///< find the ranks that a local port serves
inline constexpr std::uint32_t k_direct_skip = 14;     ///< skip an empty block
inline constexpr std::uint32_t k_direct_wait = 191;    ///< arm a semaphore and wait for it
// Dispatch and combine, besides k_direct_message. Measured: least squares over 84 runs of 256 B to 32 KiB, 2 and 6
// experts a token, on boards of NPUs (1x8, 3x5, 4x4) and a 4x4 mesh of chips: within 6.2 %, 1.6 % on average.
inline constexpr std::uint32_t k_token_table = 2100; ///< read and check the table of tokens, set up; its end
inline constexpr std::uint32_t k_token_list = 50;    ///< see what is in the head of a list
inline constexpr std::uint32_t k_token_span = 55;    ///< begin with the runs of a list that others lead
inline constexpr std::uint32_t k_token_forward = 80; ///< begin with those that are passed on
inline constexpr std::uint32_t k_token_run = 100;    ///< find a run
inline constexpr std::uint32_t k_token_member = 70;  ///< see whether it goes on with the last run of a member
inline constexpr std::uint32_t k_token_row = 180;    ///< read words of a row
inline constexpr std::uint32_t k_token_peer = 5;     ///< see whether a rank gets another message
inline constexpr std::uint32_t k_token_send = 50;    ///< find the places of a message
inline constexpr std::uint32_t k_two_phase_message = 120; ///< find the next one of two_phase
inline constexpr std::uint32_t k_two_phase_line = 60;     ///< count what comes along a line, for each rank of it

// Streams of devices. A step is found by its plan, then posted with its places.
inline constexpr std::uint32_t k_stream_plan = 2400;  ///< begin: make the plan, know what is expected
inline constexpr std::uint32_t k_stream_post = 520;   ///< make and post a descriptor with elements
inline constexpr std::uint32_t k_stream_place = 38;   ///< and each place that it reads or writes
inline constexpr std::uint32_t k_stream_look = 100;   ///< look whether a ring has room again

// Collectives of replicas in lock-step.
inline constexpr std::uint32_t k_replica_plan = 900;  ///< begin: zones and fragments
inline constexpr std::uint32_t k_replica_phase = 500; ///< find the rings of a phase
inline constexpr std::uint32_t k_replica_ring = 365;  ///< find what a ring sends and gets in a step
inline constexpr std::uint32_t k_replica_step = 410; ///< the same of the step
inline constexpr std::uint32_t k_replica_message = 205; ///< post a message
inline constexpr std::uint32_t k_sync = 90;           ///< arrive and wait

// Collectives by the collective communication units. Assumed, by the length of the code; not fitted yet.
inline constexpr std::uint32_t k_ccu_begin = 400;       ///< begin: registers and entries of the group, capacities
inline constexpr std::uint32_t k_ccu_job = 450;         ///< find what a unit does next, its arguments and its program
inline constexpr std::uint32_t k_ccu_program = 12;      ///< and each program that is looked at
inline constexpr std::uint32_t k_ccu_instruction = 40;  ///< make an instruction and write it
inline constexpr std::uint32_t k_ccu_channel = 12;      ///< see whom a channel leads to
inline constexpr std::uint32_t k_ccu_launch = 90;       ///< describe a task and start it
inline constexpr std::uint32_t k_ccu_wait = 120;        ///< wait for a mission and see how it ended
inline constexpr std::uint32_t k_device_ring_step = 330;
inline constexpr std::uint32_t k_kangaring_step = 400;
inline constexpr std::uint32_t k_device_mesh_step = 160;
inline constexpr std::uint32_t k_device_mesh_place = 30; ///< besides, for each place
inline constexpr std::uint32_t k_one_step_step = 200;
inline constexpr std::uint32_t k_one_step_place = 37;
inline constexpr std::uint32_t k_rdh_step = 330;
inline constexpr std::uint32_t k_rdh_place = 41;
// Trees of devices, besides k_stream_plan. Measured on 2x2 to 4x4 chips of two and four ranks, 4 B to 1 MiB: sums
// within 6 % of the counters of RV64 cores, times within 11 %.
inline constexpr std::uint32_t k_device_tree_broadcast = 3000;      ///< what is expected, while data is under way
inline constexpr std::uint32_t k_device_tree_broadcast_part = 1270; ///< its role, who tells whom; for all but the first
inline constexpr std::uint32_t k_device_tree_broadcast_step = 290;
inline constexpr std::uint32_t k_device_tree_reduce = 2940;
inline constexpr std::uint32_t k_device_tree_reduce_part = 505;
inline constexpr std::uint32_t k_device_tree_reduce_role = 780; ///< and where the rank has the tree
inline constexpr std::uint32_t k_device_tree_reduce_step = 270;
inline constexpr std::uint32_t k_device_tree_place = 30;

// SwitchML workers. Measured: counts of every step in runs of 4 B to 100 KiB (both transports and types, 64 and 256
// elements a packet, 1 to 16 packets a message, 10 and 100 Gb/s), least squares. Steps that always come together share
// their sum by judgement: send and receive; write, measure and completion. So do the three loops of float32, by their
// lengths in the binary.
inline constexpr std::uint32_t k_switchml_turn = 325;  ///< a turn of the loop, with its doorbell and release
inline constexpr std::uint32_t k_switchml_sleep = 165; ///< arm the queue, go to sleep and wake up
// UDP.
inline constexpr std::uint32_t k_switchml_udp_start = 1172;  ///< set up a worker, and its end
inline constexpr std::uint32_t k_switchml_send = 265;        ///< make and post a frame
inline constexpr std::uint32_t k_switchml_receive = 239;     ///< take a frame, check it and find its slot
inline constexpr std::uint32_t k_switchml_fill = 8;          ///< a word of zeros behind the last element
// RDMA.
inline constexpr std::uint32_t k_switchml_rdma_start = 2235; ///< set up a worker, and its end
inline constexpr std::uint32_t k_switchml_write = 349;       ///< make and post a message
inline constexpr std::uint32_t k_switchml_measure = 175;     ///< ask for the exponent of a block
inline constexpr std::uint32_t k_switchml_defer = 121;       ///< find that an exponent is not there yet, and come back
inline constexpr std::uint32_t k_switchml_completion = 90;   ///< take an answer to either
inline constexpr std::uint32_t k_switchml_piece = 83;        ///< copy up to 1 KiB from one place in HBM to another
inline constexpr std::uint32_t k_switchml_clear = 184;       ///< clear such a piece first

// Loops over the elements of a packet, by eight of them: one column for each instruction set (core.instruction_set).
// Everything above is scalar code, whose x86 instructions nobody has counted: the columns of x86 take its RV64 counts
// (assumed).
//
// rv64gc: counted, of an RV64 core without instructions for vectors or for swapping bytes; `add` counted in the listing
// of the same loop with an addition (riscv64 gcc 12 -O2).
// x86_sse, x86_avx2: what the published client does with vectors of floats (p4app-switchML, its build with VCL): PSHUFB
// swaps bytes, CVTPS2DQ and CVTDQ2PS convert, DIVPS divides. Derived: the larger of
//   the instructions of our equivalents of its loops, gcc 12 -O2 without unrolling;
//   testbenches/issues/switchml_hosts_test.cpp executes and counts them; twice the cycles of an iteration on Broadwell,
//   the testbed's Xeon E5-2630v4, by LLVM's model of it (llvm-mca 14), since cpi is 0.5 there. It is larger where a
//   loop waits for one unit: DIVPS takes 10 cycles for eight floats either way (20.4 and 20.8 instructions), MAXPS
//   three from one to the next (6.2 instructions).
// A block by itself, likewise: 2 to 8 instructions of an int32 and 4 to 20 of a float32 one, with its scale or
// exponent; and 22 for the call, its place and its length (assumed).
// An rv64gc core copies a block at core.copy_per_8_bytes besides, before and after its loop. Loads and stores of the
// x86 loops go to tensor and packet themselves, as those of the client, and are among their instructions
// (hal::stream_in).
inline constexpr std::uint32_t k_switchml_elements = 8;
struct element_costs {
    std::uint32_t swap;        ///< int32 from or to the network
    std::uint32_t exponent;    ///< look for the largest magnitude
    std::uint32_t quantise;    ///< float32 to the network
    std::uint32_t dequantise;  ///< and back
    std::uint32_t add;         ///< int32 of the network to a sum
    std::uint32_t swap_block;  ///< a packet of int32, besides its elements
    std::uint32_t float_block; ///< the same of float32, or look for its exponent
};
inline constexpr element_costs k_rv64gc = {58, 58, 186, 104, 96, 105, 133};
inline constexpr element_costs k_x86_sse = {14, 14, 18, 21, 18, 30, 42};
inline constexpr element_costs k_x86_avx2 = {7, 7, 8, 21, 9, 30, 42};

constexpr const element_costs& column_of(abi::instruction_set set)
{
    switch (set) {
    case abi::instruction_set::x86_sse: return k_x86_sse;
    case abi::instruction_set::x86_avx2: return k_x86_avx2;
    default: return k_rv64gc;
    }
}

} // namespace weft::firmware::costs
