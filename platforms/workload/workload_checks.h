// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What every platform asks of a workload before it builds: algorithms that can run, roots that exist, buffers that fit.
#pragma once

#include "platforms/workload/run_config.h"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/// What the workload stands on.
struct workload_ground {
    std::uint32_t ranks = 0;
    const char* ranks_of = "this machine"; ///< as in "the ranks of this mesh are 0 to 63"
    std::uint64_t room_bytes = 0;          ///< of one memory, for buffers
    const char* memory = "HBM per chip";   ///< as in "needs 33 GiB of HBM per chip"
    std::string room_text;                 ///< "chip.hbm.capacity is 32 GiB, of which the descriptor rings take 32 KiB"
    /// Why the firmware cannot run it here, as a sentence; "" when it can.
    std::function<std::string(abi::collective_op, abi::algorithm, bool transposed)> refusal;
    /// The same of a root that exists.
    std::function<std::string(std::uint32_t root, bool transposed)> root_refusal;
};

/// Adds what is wrong with `run.workload`, and with `run.training_step` where it does not fit; keys as in the file.
void check_collectives(const run_config& run, const workload_ground& ground, std::vector<config_problem>& problems);

/// Warns where the contents of all memories ("HBMs", "workers") need much of the host's.
void check_host_memory(const run_config& run, std::uint32_t ranks, const char* memories, std::uint64_t much_bytes,
                       std::vector<config_problem>& problems);

} // namespace weft
