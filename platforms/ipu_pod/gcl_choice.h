// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the Graphcore Communication Library chooses by itself: the order of a ring and the method, from its last open
// version as weft's facts quote it (docs/20_ipu_pod.md). Sizes are bytes that an IPU puts in: of an all-gather its
// shard, else its whole tensor.
#pragma once

#include "hw/routing/ipu/ipu_pod_plan.h"
#include "platforms/workload/machine.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Barley twist: serpent. One IPU per replica: interleaved. More: flat on a torus, interleaved on a mesh.
abi::ring_order gcl_order(ipu_topology topology, std::uint32_t replica_ipus);

/// The method for `replicas` on a ring and `bytes` of an IPU. Of an all-reduce: that of its reduce-scatter; its
/// all-gather has the method for its shard.
abi::algorithm gcl_method(abi::collective_op op, ipu_topology topology, std::uint32_t replica_ipus,
                          std::uint32_t replicas, std::uint64_t bytes);

/// The same for a group of replicas with one IPU, or the broadcast of tiny tensors: the range of gcl_ranges().
published_range gcl_choice(abi::collective_op op, ipu_topology topology, std::uint32_t replicas,
                           std::uint64_t size_bytes);

/// The same as ranges of sizes as weft counts them, and the broadcast of tiny tensors of later versions, among `ranks`
/// of all domains.
std::vector<published_range> gcl_ranges(ipu_topology topology, std::uint32_t replica_ipus, std::uint32_t replicas, std::uint32_t ranks);

} // namespace weft
