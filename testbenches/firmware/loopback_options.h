// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the machine without time is like (loopback_world.h), and what breaks in it.
#pragma once

#include "hw/abi/platform_table.h"
#include "hw/ccu/ccu_config.h"

#include <cstdint>
#include <vector>

namespace weft::testing {

struct world_options {
    std::uint32_t rows = 2;
    std::uint32_t cols = 2;
    std::uint32_t link_mbps = 0; ///< of each link of `dims`: from one rank to another of a line, or one of two
    std::uint32_t mesh_mbps = 10'000; ///< of both links of a dimension: slow, so that several trees pay early
    bool wrap_rows = false;
    bool wrap_cols = false;
    std::uint32_t queues = 4;
    std::uint32_t ports = 2;
    std::uint32_t ring_entries = 8;
    std::uint64_t buffer_bytes = 1 << 16; ///< room for the input, for the output and for scratch
    std::uint32_t seed = 1;
    std::uint32_t yield_one_in = 8; ///< a rank gives way before one access in this many
    std::vector<abi::failed_region> failed;
    std::uint32_t servers = 0; ///< the last ranks, that only serve for parameter_server
    bool switched = false; ///< one dimension of rows * cols ranks that closes
    std::vector<std::uint32_t>
        dims; ///< any number of dimensions in place of rows and cols, whose product is that of these
    abi::dimension_kind kind = abi::dimension_kind::full; ///< of `dims`
    bool ccus = false; ///< chips have two collective communication units
    ccu_config ccu;
    std::uint32_t freeze_one_in = 0;       ///< one rank, queue, stream in this many is frozen; 0: none
    // Anomalies, counted from 1; 0 is none.
    std::uint32_t fault_rank = 0;
    std::uint64_t fault_access = 0; ///< this access of fault_rank is answered with a bus error
    std::uint64_t drop_message = 0; ///< this message of the machine is lost
    std::uint32_t silent_ranks = 0; ///< the last ranks get no commands
    bool spurious = false;          ///< SEM_PENDING bits that nobody armed come up at random
    bool deaf_doorbells = false;    ///< TAIL is ignored
};

} // namespace weft::testing
