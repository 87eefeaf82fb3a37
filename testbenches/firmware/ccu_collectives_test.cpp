// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives by collective communication units, on units without time: the real firmware, its microcode, and random order of all that can happen.
#include <catch2/catch.hpp>

#include "firmware/collectives/supports.h"
#include "testbenches/firmware/loopback_world.h"

using namespace weft;
using namespace weft::testing;
using abi::algorithm;
using abi::collective_op;
using abi::element_type;
using abi::reduce_op;

namespace {

abi::command make(collective_op op, algorithm algo, std::uint64_t count, element_type type = element_type::int32, reduce_op redop = reduce_op::sum,
                  std::uint32_t root = 0)
{
    abi::command c;
    c.op = op;
    c.algo = algo;
    c.count = count;
    c.type = type;
    c.redop = redop;
    c.root = root;
    return c;
}

world_options machine(const std::vector<std::uint32_t>& dims, std::uint32_t seed)
{
    world_options o;
    o.rows = 1;
    o.cols = 1;
    for (const std::uint32_t d : dims)
        o.cols *= d;
    o.dims = dims;
    o.ccus = true;
    o.seed = seed;
    o.buffer_bytes = 64 << 10;
    return o;
}

std::string run_all(const world_options& o, const std::vector<abi::command>& commands, std::vector<abi::response>* answers = nullptr)
{
    world w(o);
    for (const abi::command& c : commands)
        w.add(c);
    w.run();
    std::string problems = w.problems();
    for (std::uint32_t r = 0; r < w.ranks(); ++r)
        if (w.responses(r).size() != commands.size())
            problems += "rank " + std::to_string(r) + " answered " + std::to_string(w.responses(r).size()) + " commands; ";
    if (answers != nullptr)
        *answers = w.responses(0);
    return problems;
}

struct variant {
    collective_op op;
    algorithm algo;
};
constexpr variant k_flat[] = {
    {collective_op::all_reduce, algorithm::ccu}, {collective_op::reduce_scatter, algorithm::ccu}, {collective_op::all_gather, algorithm::ccu},
    {collective_op::broadcast, algorithm::ccu},  {collective_op::all_to_all, algorithm::ccu},     {collective_op::all_reduce, algorithm::ccu_one_shot},
};
constexpr variant k_axes[] = {
    {collective_op::all_reduce, algorithm::ccu_axes},
    {collective_op::reduce_scatter, algorithm::ccu_axes},
    {collective_op::all_gather, algorithm::ccu_axes},
    {collective_op::broadcast, algorithm::ccu_axes},
};

constexpr element_type k_types[] = {element_type::int32, element_type::float32, element_type::float16, element_type::bfloat16};
constexpr reduce_op k_redops[] = {reduce_op::sum, reduce_op::max, reduce_op::min};

/// Back to back, in changing types, reductions and roots.
template <std::size_t n>
std::vector<abi::command> mix(const variant (&variants)[n], const std::vector<std::uint64_t>& counts, std::uint32_t ranks)
{
    std::vector<abi::command> all;
    for (const std::uint64_t count : counts)
        for (const variant& v : variants) {
            const auto k = static_cast<std::uint32_t>(all.size());
            all.push_back(make(v.op, v.algo, count, k_types[k % 4], k_redops[k / 4 % 3], k % ranks));
        }
    return all;
}

} // namespace

TEST_CASE("every collective of the CCUs is exact in groups of 2 to 17 ranks, at every small count")
{
    std::uint32_t seed = 1;
    for (std::uint32_t n = 2; n <= 17; ++n) {
        const std::vector<std::uint64_t> counts = {1, n - 1, n, n + 1, 2 * n - 1, 2 * n, 97, 1009};
        INFO("ranks " << n);
        CHECK(run_all(machine({n}, seed++), mix(k_flat, counts, n)) == "");
    }
}
