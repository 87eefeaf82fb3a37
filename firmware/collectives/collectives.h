// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks a command and runs it. Refusals (bad_command, unsupported) are found before anything is sent, alike on every rank;
// any later failure marks the context as failed.
#pragma once

#include "firmware/collectives/engine.h"

namespace weft::firmware {

/// Runs one collective to its end on this rank.
collective_result run_collective(abi::hal& hal, dma_driver& dma, firmware_context& context,
                                 const abi::command& command);

/// Is the command sensible on this machine? bad_command names the field; unsupported carries the refusal of supports().
abi::status check_command(const abi::platform_table& table, const abi::command& command);

/// all_to_all by the direct algorithm.
void run_all_to_all(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                    collective_result& result);

} // namespace weft::firmware
