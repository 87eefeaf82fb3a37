// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What every platform asks of a workload before it builds: algorithms that can run, roots that exist, buffers that fit.
#pragma once

#include "hw/chip/chip.h"
#include "platforms/workload/run_config.h"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/// What a machine offers a workload: ranks, memory, and why some of it cannot run.
struct workload_limits {
    std::uint32_t ranks = 0;              ///< 0: not known, and what needs them is not judged
    const char* machine = "this machine"; ///< as in "the ranks of this mesh are 0 to 63"
    const char* members = "ranks";        ///< as in "groups of NPUs do not exist here"
    const char* memory = "HBM per chip";  ///< as in "needs 33 GiB of HBM per chip"
    const char* memories = "HBMs";        ///< as in "for the contents of 64 HBMs"
    std::uint64_t much_host_bytes = 16ull << 30; ///< contents of all memories beyond which a user is warned; assumed
    std::uint64_t room_bytes = 0;                ///< of one memory, for buffers
    std::uint32_t replica_ranks = 1;             ///< ranks of a copy of the model, if they are known
    std::string room_text; ///< "chip.hbm.capacity is 32 GiB, of which the descriptor rings take 32 KiB"
    /// Why the firmware cannot run it here, as a sentence; "" when it can.
    std::function<std::string(abi::collective_op, abi::algorithm, bool transposed)> refusal;
    /// The same of a root that exists; none: every root will do.
    std::function<std::string(std::uint32_t root, bool transposed)> root_refusal;
    /// What firmware of a rank is told; none: no process groups.
    std::function<abi::platform_table(std::uint32_t rank)> rank_table;
    /// What of the machine an algorithm lacks among ranks that are told this, and the remedy; "": the firmware's reason
    /// says all. None: nothing.
    std::function<std::string(abi::collective_op, abi::algorithm, bool transposed, const abi::platform_table&)> lack;
    /// Why an exchange of a training step cannot run in groups of so many ranks, as a sentence; none: no groups.
    std::function<std::string(std::uint32_t ranks_per_group)> group_refusal;
};

/// Room for buffers in a chip's memory, of a chip that is sound; else without a limit. `key` is that of the memory:
/// "chip.hbm".
void set_room(workload_limits& limits, const chip_config& chip, const std::string& key);

/// Where the machine is not sound: what holds of a workload on all machines of a platform. Firmware of any rank of it
/// is told what `any` says of its kind; `adding_switch`: there may be one. Room in memory is what set_room() adds.
workload_limits limits_without_machine(abi::platform_table any, bool adding_switch);

/// Algorithms that run `op` among ranks that are told this: "ring_1d or row_pair with transposed: true"; "": none does.
std::string what_runs(const abi::platform_table& table, abi::collective_op op);
/// Why firmware cannot run it on `where`, "a ring of 8 chips", and what runs there, as a sentence; "" when it can.
/// `remedy`: where nothing else runs either.
std::string firmware_refusal(const abi::platform_table& table, abi::collective_op op, abi::algorithm algo,
                             bool transposed, const std::string& where, const std::string& remedy = "");

/// Adds what is wrong with `run.workload` and `run.training_step`; keys as in the file. Warns of much memory of the
/// host.
void check_workload(const run_config& run, const workload_limits& limits, std::vector<config_problem>& problems);

} // namespace weft
