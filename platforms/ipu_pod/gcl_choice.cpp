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

    abi::algorithm method(std::uint64_t bytes) const { return below == k_any || bytes < below ? small : large; }
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
    return choice_for(op, topology, replica_ipus, replicas).method(bytes);
}

std::vector<published_range> gcl_ranges(ipu_topology topology, std::uint32_t replica_ipus, std::uint32_t replicas, std::uint32_t ranks)
{
    namespace of = abi::operations;
    using abi::collective_op;
    std::vector<published_range> all{
        {abi::algorithm::replica_broadcast, 0, k_tiny / std::max(1u, ranks), k_later, of::all_reduce}};
    const method_choice sums = choice_for(collective_op::reduce_scatter, topology, replica_ipus, replicas),
                        gathers = choice_for(collective_op::all_gather, topology, replica_ipus, replicas);
    const auto add = [&](collective_op op, const method_choice& choice, std::uint64_t shards) {
        if (choice.below != k_any) {
            all.push_back({choice.small, 0, choice.below * shards - 1, k_open, of::of(op)});
            all.push_back({choice.large, choice.below * shards, k_any, k_open, of::of(op)});
        } else {
            all.push_back({choice.small, 0, k_any, k_open, of::of(op)});
        }
    };
    // Of an all-reduce each phase has its own: the all-gather by its shard, the fragment of a replica.
    std::vector<std::uint64_t> starts{0};
    for (const auto& [below, shards] :
         {std::pair{sums.below, std::uint64_t{1}}, {gathers.below, std::uint64_t{replicas}}})
        if (below != k_any)
            starts.push_back(below * shards);
    std::sort(starts.begin(), starts.end());
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const abi::algorithm by = sums.method(starts[i]), then = gathers.method(starts[i] / std::max(1u, replicas));
        published_range range{by, starts[i], i + 1 < starts.size() ? starts[i + 1] - 1 : k_any, k_open, of::all_reduce};
        if (then != by)
            range.gathers_by = then;
        all.push_back(range);
    }
    add(collective_op::reduce_scatter, sums, 1);
    // Of all shards: inside a domain each replica then has what its like in all domains have brought.
    add(collective_op::all_gather, gathers, replicas);
    // Of groups to which none of these applies: two IPUs on a Barley twist, say.
    all.push_back({abi::algorithm::bidirectional_pair, 0, k_any, k_open});
    return all;
}

published_range gcl_choice(abi::collective_op op, ipu_topology topology, std::uint32_t replicas,
                           std::uint64_t size_bytes)
{
    const bool twist_fits = topology != ipu_topology::barley_twist || replicas % 4 == 0;
    const auto runs = [&](abi::algorithm by) { return twist_fits || by != abi::algorithm::quad_directional; };
    for (const published_range& r : gcl_ranges(topology, 1, replicas, replicas))
        if (r.covers(op, size_bytes) && runs(r.algorithm) && runs(r.gathers_by.value_or(r.algorithm)))
            return r;
    return {abi::algorithm::bidirectional_pair, 0, k_any, k_open};
}

} // namespace weft
