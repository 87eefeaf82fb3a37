// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ipu_pod/gcl_choice.h"

#include <algorithm>

namespace weft {

namespace {

constexpr std::uint64_t k_any = ~std::uint64_t{0};
constexpr std::uint64_t k_tiny = 2048; ///< group size x bytes of the broadcast of tiny tensors (GCL options, quoted)
constexpr const char* k_open = "Graphcore Communication Library, last open version";
constexpr const char* k_later = "options of the Graphcore Communication Library";

/// What the library takes for a ring: `small` below so many bytes of an IPU, else `large`.
struct method_choice {
    abi::algorithm small;
    std::uint64_t below; ///< k_any: always
    abi::algorithm large;
};
method_choice choice_for(abi::collective_op op, ipu_topology topology, std::uint32_t replica_ipus, std::uint32_t replicas)
{
    constexpr auto meet = abi::algorithm::meet_in_the_middle, pair = abi::algorithm::bidirectional_pair, clockwise = abi::algorithm::clockwise;
    const bool gathers = op == abi::collective_op::all_gather;
    if (topology == ipu_topology::torus && replica_ipus > 1)
        return {meet, k_any, meet};
    if (topology == ipu_topology::barley_twist)
        return {meet, gathers ? 196'608 : std::uint64_t{196'608} * replicas, abi::algorithm::quad_directional};
    if (replicas <= 2 || replica_ipus > 1)
        return {clockwise, k_any, clockwise};
    if (replicas > 16)
        return {meet, k_any, meet};
    const std::uint64_t of_reduce_scatter = replicas > 8 ? 39'845'888 : replicas > 4 ? 4'980'736 : 1'245'184;
    return {meet, gathers ? of_reduce_scatter / 2 : of_reduce_scatter, pair};
}

} // namespace

abi::ring_order gcl_order(ipu_topology topology, std::uint32_t replica_ipus)
{
    if (topology == ipu_topology::barley_twist)
        return abi::ring_order::serpent;
    return replica_ipus > 1 && topology == ipu_topology::torus ? abi::ring_order::flat : abi::ring_order::interleaved;
}

abi::algorithm gcl_method(abi::collective_op op, ipu_topology topology, std::uint32_t replica_ipus, std::uint32_t replicas, std::uint64_t bytes)
{
    const method_choice choice = choice_for(op, topology, replica_ipus, replicas);
    return choice.below == k_any || bytes < choice.below ? choice.small : choice.large;
}

std::vector<published_range> gcl_ranges(ipu_topology topology, std::uint32_t replica_ipus, std::uint32_t replicas, std::uint32_t ranks)
{
    namespace of = abi::operations;
    std::vector<published_range> all{{abi::algorithm::replica_broadcast, 0, k_tiny / std::max(1u, ranks), k_later, of::all_reduce}};
    for (const abi::collective_op op : {abi::collective_op::all_reduce, abi::collective_op::reduce_scatter, abi::collective_op::all_gather}) {
        const std::uint64_t shards = op == abi::collective_op::all_gather ? ranks : 1; // weft counts all of them
        const method_choice choice = choice_for(op, topology, replica_ipus, replicas);
        if (choice.below == k_any) {
            all.push_back({choice.small, 0, k_any, k_open, of::of(op)});
            continue;
        }
        all.push_back({choice.small, 0, choice.below * shards - 1, k_open, of::of(op)});
        all.push_back({choice.large, choice.below * shards, k_any, k_open, of::of(op)});
    }
    // Of groups to which none of these applies: two IPUs on a Barley twist, say.
    all.push_back({abi::algorithm::bidirectional_pair, 0, k_any, k_open});
    return all;
}

abi::algorithm gcl_choice(abi::collective_op op, ipu_topology topology, std::uint32_t replicas, std::uint64_t size_bytes)
{
    const bool twist_fits = topology != ipu_topology::barley_twist || replicas % 4 == 0;
    for (const published_range& r : gcl_ranges(topology, 1, replicas, replicas))
        if (r.covers(op, size_bytes) && (twist_fits || r.algorithm != abi::algorithm::quad_directional))
            return r.algorithm;
    return abi::algorithm::bidirectional_pair;
}

} // namespace weft
