// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives of replicas in lock-step (replica_rings.h), inside a Pod and over gateways.
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/collectives/replica_rings.h"
#include "firmware/context.h"
#include "firmware/drivers/dma_driver.h"

namespace weft::firmware {

/// all_reduce, reduce_scatter and all_gather by the method that the command names. Several domains: reduce-scatter in
/// each, all-reduce of like-numbered replicas over gateways, all-gather in each.
void run_replica_rings(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);
/// all_reduce of what is so small that everybody sends all to everybody.
void run_replica_broadcast(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);

} // namespace weft::firmware
