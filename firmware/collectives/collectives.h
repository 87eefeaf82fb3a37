// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks a command and runs it. Refusals (bad_command, unsupported) are found before anything is sent, alike on every
// rank; any later failure marks the context as failed.
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/context.h"
#include "firmware/drivers/dma_driver.h"
#include "firmware/drivers/nic_driver.h"

namespace weft::firmware {

/// Runs one collective to its end on this rank.
collective_result run_collective(abi::hal& hal, dma_driver& dma, nic_driver& nic, firmware_context& context,
                                 const abi::command& command);

/// Is the command sensible on this machine? bad_command names the field; unsupported carries the refusal of supports().
/// `job` is that of a SwitchML worker; magic 0: there is none.
abi::status check_command(const abi::platform_table& table, const abi::command& command,
                          const abi::switchml::table& job = abi::switchml::table{0});

/// all_to_all by the direct algorithm.
void run_all_to_all(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                    collective_result& result);

/// The same by two_phase and two_phase_one_path: on lines and rings, and on full meshes of two dimensions.
void run_two_phase_by_lines(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                            collective_result& result);
void run_two_phase(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                   collective_result& result);

/// all_reduce, reduce_scatter and all_gather by the direct algorithm.
void run_two_shot(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                  collective_result& result);

/// The same by multi_axis on a full mesh with gaps (gapped_axes.cpp).
void run_gapped_axes(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                     collective_result& result);

/// all_reduce by halving_doubling, or by parameter_server, with table.servers ranks that only serve; see switched.cpp.
void run_halving_doubling(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                          collective_result& result);
void run_parameter_server(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                          collective_result& result);

} // namespace weft::firmware
