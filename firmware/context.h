// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a rank remembers between collectives, and who uses which semaphore.
//
// A process group has a bank of semaphores for itself, so its messages are never taken for those of others. Groups
// without a common member share one.
//
// Semaphores are never reset: COUNT only rises (and wraps at 2^32). `expected[s]` is the number of messages that all
// collectives entered so far had to count on semaphore s; `known[s]` is the newest value of COUNT this core has learnt.
//
// Two rules keep messages of different collectives apart although ranks may be whole collectives ahead of each other:
//   1. A *ready* or *barrier* semaphore has one possible sender for ever (a function of the semaphore and the topology,
//      not of the command). Its n-th message is therefore always that sender's n-th use.
//   2. A *data* semaphore may have a different sender in each collective, but data is sent only to a rank that has said
//      `ready` (or passed the barrier) in the same collective, and a rank leaves a collective only when everything
//      addressed to it has arrived. So at most one collective's data is under way to a rank.
#pragma once

#include "firmware/collectives/block_tree.h"
#include "firmware/collectives/ccu_state.h"
#include "firmware/switchml/switchml_job.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_semaphores = 64; ///< of a bank
inline constexpr std::uint32_t k_semaphore_banks = 8;

inline constexpr std::uint32_t k_lanes = 4;      ///< concurrent rings of one collective
inline constexpr std::uint32_t k_max_lanes = 8;  ///< of multi_axis
inline constexpr std::uint32_t k_data_kinds = 4; ///< see data_kind

/// What the data of a lane is for.
enum class data_kind : std::uint32_t { outer_reduce = 0, inner_reduce = 1, inner_gather = 2, outer_gather = 3 };

inline constexpr std::uint32_t k_max_donors = 4; ///< neighbours of failed chips that forward to the same chip

/// Semaphore ids, see the rules above.
inline constexpr std::uint32_t k_sem_data = 0;        ///< 0..15: data of (lane, data_kind)
inline constexpr std::uint32_t k_sem_ready = 16;      ///< 16..31: successor on ring 0..15 of ring_number() is ready
inline constexpr std::uint32_t k_sem_tree_ready = 32; ///< 32..35: next chip W, E, N, S is ready to be sent to
inline constexpr std::uint32_t k_sem_tree_data = 36;  ///< broadcast data from the one parent
inline constexpr std::uint32_t k_sem_adopted = 37; ///< 37..38: shards that columns with failed chips hand over, by lane
/// 40..53: round k of the barrier, from rank - 2^k; or dimension k of a full mesh, from its line.
inline constexpr std::uint32_t k_sem_barrier = 40;
inline constexpr std::uint32_t k_barrier_rounds = 14;    ///< enough for 16384 ranks
inline constexpr std::uint32_t k_sem_donor_ready = 54;   ///< 54..55: the chip to forward to is ready; 55: transposed
inline constexpr std::uint32_t k_sem_all_to_all = 56;    ///< all-to-all blocks, from everybody
inline constexpr std::uint32_t k_sem_tile_ready = 57;    ///< 57..58: successor in the tile, either way
inline constexpr std::uint32_t k_semaphores_needed = 64; ///< the device must have at least this many

// On a machine of more than two dimensions, and on any full mesh, these rings exist: `whole` (ring numbers 0, 1) and
// `axis` (4..15; in one or two dimensions they are rings of kind `line`). `hierarchical` counts the data of a lane by
// dimension. Broadcast there tells whole lines: such a semaphore counts one `ready` of each other rank of the line, and
// is waited for only by the one that sends to them all. None of them can say it twice meanwhile: it cannot leave the
// collective before it got that data. So rule 1 holds with a set of senders in place of one.
inline constexpr std::uint32_t k_axes_of_lane = 8;
constexpr std::uint32_t axis_semaphore(std::uint32_t lane, std::uint32_t axis)
{
    return k_sem_data + lane * k_axes_of_lane + axis;
}
static_assert(axis_semaphore(1, abi::k_max_dims - 1) < k_sem_ready, "semaphore ranges overlap");
/// The other ranks along a dimension, counted from the innermost, are ready to be sent to. No chip has failed there.
constexpr std::uint32_t line_ready_semaphore(std::uint32_t axis)
{
    return axis < 4 ? k_sem_tree_ready + axis : k_sem_donor_ready + axis - 4;
}
static_assert(line_ready_semaphore(abi::k_max_dims - 1) < k_sem_all_to_all, "semaphore ranges overlap");
/// Who gathers shards of an all_gather of multi_axis for their ranks is ready. Its senders change from call to call.
/// None of them can leave before it has this rank's shard, nor say it twice meanwhile: rule 1 holds with a set. Ring
/// number 2 does not exist there.
inline constexpr std::uint32_t k_sem_mover_ready = k_sem_ready + 2;
/// Data of multi_axis, by lane, dimension and direction of the data: those of all kinds above.
inline constexpr std::uint32_t k_axis_data_semaphores = 20;
constexpr std::uint32_t axis_data_semaphore(std::uint32_t number)
{
    return number < 16 ? k_sem_data + number : number < 19 ? k_sem_tree_data + number - 16 : k_sem_all_to_all;
}
/// Data of multi_ring, by channel and dimension. Behind the same ones come some that no full mesh uses otherwise.
inline constexpr std::uint32_t k_multi_ring_semaphores = 28;
constexpr std::uint32_t multi_ring_semaphore(std::uint32_t number)
{
    return number < k_axis_data_semaphores    ? axis_data_semaphore(number)
           : number == k_axis_data_semaphores ? k_sem_adopted + 2
                                              : k_sem_tile_ready + number - k_axis_data_semaphores - 1;
}
static_assert(multi_ring_semaphore(k_axis_data_semaphores) < k_sem_barrier &&
                  multi_ring_semaphore(k_multi_ring_semaphores - 1) < k_semaphores,
              "semaphore ranges overlap");
/// Of trees whose messages wait in the DMA engine: groups of them that have left, by queue. The rank tells itself.
constexpr std::uint32_t group_semaphore(std::uint32_t queue) { return k_sem_data + 8 + queue; }
/// Of two shots: contributions to the own shard, from everybody. The sums count like blocks of all_to_all.
inline constexpr std::uint32_t k_sem_shot = k_sem_data;

// On a machine of one dimension (ranks on a switched network) only the rings of kind `line` exist; halving_doubling
// uses the others' ready semaphores again. Its data, and that of parameter_server, counts on data semaphores like that
// of a lane.
inline constexpr std::uint32_t k_sem_partner_ready =
    24;                                              ///< 24..31: rank ^ 2^k is ready; rings 8..15 need two dimensions
inline constexpr std::uint32_t k_partner_rounds = 8; ///< enough for 256 ranks
inline constexpr std::uint32_t k_sem_halving = k_sem_data;                     ///< 0..7: round k, sums from rank ^ 2^k
inline constexpr std::uint32_t k_sem_doubling = k_sem_data + k_partner_rounds; ///< 8..15: round k, results
inline constexpr std::uint32_t k_server_window = 8;                            ///< chunks of every shard under way
inline constexpr std::uint32_t k_sem_to_server = k_sem_data;       ///< 0..7: contributions to chunk t, t mod 8
inline constexpr std::uint32_t k_sem_from_server = k_sem_data + 8; ///< 8..15: sums of chunk t, t mod 8
static_assert(k_sem_partner_ready + k_partner_rounds <= k_sem_tree_ready &&
                  k_sem_doubling + k_partner_rounds <= k_sem_ready,
              "semaphore ranges overlap");

/// Semaphore that counts data of one lane.
constexpr std::uint32_t data_semaphore(std::uint32_t lane, data_kind kind)
{
    return k_sem_data + lane * k_data_kinds + static_cast<std::uint32_t>(kind);
}
static_assert(data_semaphore(k_lanes - 1, data_kind::outer_gather) < k_sem_ready, "semaphore ranges overlap");

/// Semaphore that counts what the `slot`-th donor forwards. Lanes 2 and 3 do not exist where there are donors.
constexpr std::uint32_t donor_semaphore(std::uint32_t lane, std::uint32_t slot)
{
    return data_semaphore(2, data_kind::outer_reduce) + lane * k_max_donors + slot;
}

constexpr std::uint32_t ready_semaphore(std::uint32_t ring_number)
{
    return ring_number < 16 ? k_sem_ready + ring_number : k_sem_tile_ready + ring_number - 16;
}

/// Lives on the stack of the entry loop.
struct firmware_context {
    abi::platform_table table;       ///< of the process group that runs the collective; else of the machine
    std::uint32_t known[k_semaphores] = {};
    std::uint32_t expected[k_semaphores] = {};
    block_tree tree;             ///< of a mesh with failed chips, built when first needed
    abi::switchml::table job{0}; ///< magic 0: there is none
    std::uint32_t shift = 0;     ///< position of this core's next use of its SwitchML slots, see switchml_job.h
    std::uint32_t next_use = 0;  ///< number of it, wraps
    /// `expected` of the other banks of semaphores that were used. A rank leaves a collective when it has got all, so
    /// of these COUNT is as high.
    std::uint32_t expected_of_bank[k_semaphore_banks][k_semaphores];
    std::uint32_t banks_used = 1; ///< bits
    std::uint32_t bank = 0;
    bool in_group = false; ///< `table` is not that of the machine
    bool failed = false;         ///< a collective broke off: counters of the ranks no longer agree, only a reset helps
    ccu_state ccu;               ///< of collectives by the units of the IO dies
};

/// True when COUNT of `semaphore` is known to have reached `target`; both wrap at 2^32.
constexpr bool reached(const firmware_context& context, std::uint32_t semaphore, std::uint32_t target)
{
    return static_cast<std::int32_t>(context.known[semaphore] - target) >= 0;
}

} // namespace weft::firmware
