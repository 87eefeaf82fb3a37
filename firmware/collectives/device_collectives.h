// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives of devices with several ranks, whose DMA engines sum, duplicate and wait (streams.h).
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/context.h"
#include "firmware/drivers/dma_driver.h"

namespace weft::firmware {

void run_device_ring(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
void run_kangaring(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
void run_device_mesh(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
void run_device_mesh_one_step(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
void run_device_tree(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
void run_rdh(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
void run_rdh_same_axis(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);

/// Devices of a group that recursive halving can pair: every dimension has 2^m of them, 64 at most in all.
bool is_hypercube(const abi::platform_table& table);

inline constexpr std::uint32_t k_most_domains = 16; ///< of a machine of replicas

/// Elements at command::scratch_offset that are enough for a collective of `count` elements among `ranks`, however they
/// share devices; 0: it uses none.
constexpr std::uint64_t scratch_elements(abi::collective_op op, abi::algorithm a, std::uint64_t count, std::uint32_t ranks)
{
    if (a < abi::algorithm::device_ring) // the older ones have none; new ones come last
        return 0;
    const std::uint64_t slots = abi::shard_of(count, ranks, 0).count * ranks;
    switch (a) {
    case abi::algorithm::device_ring:
    case abi::algorithm::kangaring: return count;
    case abi::algorithm::device_mesh: return slots;
    case abi::algorithm::device_mesh_one_step: return count * ranks;
    case abi::algorithm::rdh:
    case abi::algorithm::rdh_same_axis: return 7 * slots; // six axes and the sums of the own device
    case abi::algorithm::meet_in_the_middle: // a fragment: of a third at most, and of all ranks in up to k_most_domains
        return ranks < 3 ? 0 : (ranks < 3 * k_most_domains ? count / 3 : count / ranks * k_most_domains) + ranks * k_most_domains;
    case abi::algorithm::device_tree: return op == abi::collective_op::reduce ? 4 * count : 0; // a sum for each of 4
    case abi::algorithm::replica_broadcast: return count * ranks;
    default: return 0;
    }
}

/// How many outputs as large as the longest one an all_to_all needs at command::scratch_offset for what is on its way.
constexpr std::uint32_t scratch_outputs(abi::algorithm a)
{
    // Of two phases on a full mesh, slots of longer and of shorter blocks.
    return a == abi::algorithm::two_phase || a == abi::algorithm::two_phase_one_path || a == abi::algorithm::ccu_axes ? 2
                                                                                                                      : 0;
}

} // namespace weft::firmware
