// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which collective can be run by which algorithm on which topology. Also for the host, so that a user hears of it
// before anything is simulated.
#pragma once

#include "hw/abi/platform_table.h"
#include "hw/abi/switchml.h"

namespace weft::firmware {

/// True when every rank of `table`'s machine can run `op` by `algo`. Otherwise *reason (never null) is a static
/// sentence without a full stop, e.g. "ring_1d needs an even number of rows or columns and at least 2 of each". A
/// machine of one rank supports every pair of op and algorithm that exists.
/// `job` is the SwitchML table of a worker, null or magic 0 where there is none.
bool supports(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table, bool transposed,
              const char** reason, const abi::switchml::table* job = nullptr);

/// Channels of a collective communication unit that `op` by ccu, ccu_one_shot or ccu_axes needs among these ranks.
std::uint32_t ccu_channels_of(abi::collective_op op, abi::algorithm algo, const abi::platform_table& table);

/// Whether mesh_tree reaches every chip from the one at (row, col). Always on a whole mesh.
bool tree_reaches_all(const abi::platform_table& table, std::uint32_t row, std::uint32_t col, bool transposed);

} // namespace weft::firmware
