// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives of replicas in lock-step (replica_rings.h), inside a Pod and over gateways.
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/context.h"
#include "firmware/drivers/dma_driver.h"

namespace weft::firmware {

/// all_reduce, reduce_scatter and all_gather by the method that the command names. Several domains: reduce-scatter in
/// each, all-reduce of like-numbered replicas over gateways, all-gather in each.
void run_replica_rings(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
/// all_reduce of what is so small that everybody sends all to everybody.
void run_replica_broadcast(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);

/// Replicas of a domain, of those of `table`.
constexpr std::uint32_t replicas_of_domain(const abi::platform_table& table)
{
    return table.gateway_dims == 0 || table.dims[0] == 0 ? table.ranks : table.ranks / table.dims[0];
}

} // namespace weft::firmware
