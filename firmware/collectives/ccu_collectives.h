// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives by the collective communication units of the two IO dies (ccu_microcode.h). Each die has half of every
// shard and its own peers, the same die of the other ranks; it goes through its tasks without the other one. Tasks take
// turns in two missions: the next one is launched while one runs and waits for a check bit of it, so that its start and
// the interrupt of the one before cost nothing.
//   ccu           all ranks are one group
//   ccu_one_shot  the same, for tensors that fit in slices
//   ccu_axes      a task of the own line for each dimension: reductions inside the shard of the dimension before, then
//                 back. Die 0 begins with the innermost dimension, die 1 with the outermost: links of all work at once.
//                 all_reduce cuts the data of a die as it goes; in reduce_scatter and all_gather the shards are those
//                 of ranks, of which a line exchanges pieces and a task of both dies for each dimension of an
//                 all_to_all, the outermost first
//   all_to_all of more ranks than channels: all meet by their DMA engines, then send block by block to as many as there
//   are channels, and meet again
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/context.h"
#include "firmware/drivers/ccu_driver.h"
#include "firmware/drivers/dma_driver.h"

namespace weft::firmware {

/// By ccu, ccu_one_shot or ccu_axes. False: refused alike on every rank, and nothing has been sent.
bool run_ccu(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result);

} // namespace weft::firmware
