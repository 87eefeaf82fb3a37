// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry of the firmware. Freestanding C++ over hw/abi: no heap, no exceptions, no mutable globals, no library. It runs
// unchanged on the native core, on the rv64 core and on the fakes of testbenches/firmware.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// Serves collectives: checks the platform table and, where there is one, the SwitchML table, probes and starts
/// mailbox, DMA and NIC, then takes commands from the mailbox,
/// runs each and answers it. Returns after `max_commands` answers (0: never), or when it cannot go on:
///   * table, DMA, NIC or mailbox refused at start-up: the error is the response to the first command, given when the
///     host has posted it (not when the mailbox itself is wrong or broken: its registers are left alone, the response,
///     to command 1, is in memory only);
///   * the mailbox fails later.
/// A core of a SwitchML worker that is not its first leaves the DMA alone and runs switchml and switchml_lossless only.
/// A collective that fails is answered with its error; every later command is then refused with device_error, because
/// the semaphore counters of the ranks no longer agree.
void collective_main(abi::hal& hal, std::uint64_t max_commands);

/// magic, version, check word, and the fields the firmware computes with. `where` is "table.<field>".
abi::status check_table(const abi::platform_table& table);

/// One line for a list of what can run on a core.
struct firmware_info {
    const char* name;
    const char* summary;
    void (*entry)(abi::hal&, std::uint64_t max_commands);
};
inline constexpr firmware_info k_firmware[] = {
    {"collective",
     "all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, reduce, dispatch and combine over DMA or Ethernet NIC, and mailbox",
     collective_main},
};

/// Names and one-line descriptions, indexed by abi::collective_op. Those of algorithms: hw/abi/algorithms.def.
struct catalog_entry {
    const char* name;
    const char* summary;
};
inline constexpr catalog_entry k_collective_catalog[abi::k_collective_ops] = {
    {"all_reduce", "the reduction of all ranks' elements, on every rank"},
    {"reduce_scatter", "the reduction of all ranks' elements, one shard on each rank"},
    {"all_gather", "every rank's shard, on every rank"},
    {"broadcast", "the root's elements, on every rank"},
    {"all_to_all", "shard j of every rank, on rank j"},
    {"reduce", "the reduction of all ranks' elements, on the root"},
    {"dispatch", "tokens, each on the ranks of its experts"},
    {"combine", "what the experts of a line of ranks made of a token, summed, back on its rank"},
};
static_assert(k_collective_catalog[abi::k_collective_ops - 1].name != nullptr, "a collective without a name");

} // namespace weft::firmware
