// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry of the firmware. Freestanding C++ over hw/abi: no heap, no exceptions, no mutable globals, no library. It runs
// unchanged on the native core, on the rv64 core and on the fakes of testbenches/firmware.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// Serves collectives: checks the platform table and, where there is one, the SwitchML table, probes and starts mailbox, DMA
/// and NIC, then takes commands from the mailbox,
/// runs each and answers it. Returns after `max_commands` answers (0: never), or when it cannot go on:
///   * table, DMA, NIC or mailbox refused at start-up: the error is the response to the first command, given when the host
///     has posted it (not when the mailbox itself is wrong or broken: its registers are left alone, the response, to command
///     1, is in memory only);
///   * the mailbox fails later.
/// A core of a SwitchML worker that is not its first leaves the DMA alone and runs switchml and switchml_lossless only.
/// A collective that fails is answered with its error; every later command is then refused with device_error, because the
/// semaphore counters of the ranks no longer agree.
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
     "all_reduce, reduce_scatter, all_gather, broadcast and all_to_all over DMA or Ethernet NIC, and mailbox",
     collective_main},
};

/// Names and one-line descriptions, indexed by abi::algorithm and abi::collective_op.
struct catalog_entry {
    const char* name;
    const char* summary;
};
inline constexpr catalog_entry k_algorithm_catalog[abi::k_algorithms] = {
    {"ring_1d", "Hamiltonian ring over all ranks, both directions; all_reduce, reduce_scatter, all_gather"},
    {"two_d", "rings along X then Y and, for the other half of the data, Y then X; all_reduce"},
    {"row_pair", "rings over pairs of rows, then over alternate rows, both directions; all_reduce"},
    {"mesh_tree",
     "along the root's row both ways, then every column; on a full mesh to whole lines, dimension by dimension; broadcast"},
    {"direct",
     "every pair directly, staggered, after a barrier; all_to_all, and on full meshes all_reduce, reduce_scatter, all_gather"},
    {"row_pair_forward",
     "row_pair around failed chips whose columns hand their sums to whole columns in the second phase; all_reduce"},
    {"switchml", "in the switches of a SwitchML network, with loss recovery; all_reduce"},
    {"switchml_lossless", "in the switches, as switchml, but a lost packet is never sent again; all_reduce"},
    {"halving_doubling", "halves exchanged between ever nearer ranks, then back, on a switched network; all_reduce"},
    {"parameter_server", "shards summed by servers on a switched network; all_reduce"},
    {"hierarchical",
     "rings of one dimension after the other, inside the shard left, then back, both directions; all_reduce"},
};
inline constexpr catalog_entry k_collective_catalog[abi::k_collective_ops] = {
    {"all_reduce", "the reduction of all ranks' elements, on every rank"},
    {"reduce_scatter", "the reduction of all ranks' elements, one shard on each rank"},
    {"all_gather", "every rank's shard, on every rank"},
    {"broadcast", "the root's elements, on every rank"},
    {"all_to_all", "shard j of every rank, on rank j"},
};

} // namespace weft::firmware
