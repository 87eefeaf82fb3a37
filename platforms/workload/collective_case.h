// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One collective that a platform is asked to run: what, how, on how much data, and the names users write for it.
//
// Sizes follow nccl-tests (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md). `size_bytes` is
//   all_reduce      the buffer of one rank
//   all_gather      the whole output of one rank     (n shards)
//   reduce_scatter  the whole input of one rank      (n shards)
//   broadcast       the buffer
//   reduce          the buffer of one rank
//   all_to_all      everything one rank sends, its own block included
//   dispatch        the tokens of one rank, each once, however many experts it goes to
//   combine         the same
// and `count` = size_bytes / element_bytes(type), which is `count` of abi::command. Algorithm bandwidth is size / time;
// bus bandwidth is that times a factor which makes it comparable with the speed of the links whatever n is:
//   all_reduce 2(n-1)/n     all_gather, reduce_scatter, all_to_all (n-1)/n     broadcast, reduce 1
//   dispatch, combine k(n-1)/n with k experts for a token
#pragma once

#include "hw/abi/types.h"
#include "tlm/config_fields.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// Of one buffer: the window of the address map.
inline constexpr data_size k_largest_size = data_size(1ull << 40);

/// Pipelining grain where nobody asks for another one (assumed: Kumar and Jouppi give none).
inline constexpr data_size k_default_chunk = data_size(128 << 10);

/// Of dispatch and combine: 12288 numbers of 2 B, from the 192 MiB for 8192 tokens in UB-Mesh's Table 1.
inline constexpr data_size k_default_token = data_size(24 << 10);
/// Different ranks that a token goes to (assumed: so many routed experts are active in DeepSeek-V3).
inline constexpr std::uint32_t k_default_experts = 8;
inline constexpr std::uint32_t k_most_experts = 1024; ///< as many ranks as dispatch and combine may have
/// Of a rank. Places of tokens are 32 bits wide, and a rank may get all tokens of 1,024 ranks.
inline constexpr std::uint64_t k_most_tokens = 1 << 20;

/// What fills the inputs, see collective_data.h.
enum class data_style : std::uint8_t { exact = 0, random = 1 };

/// Of a file alone: the host takes one that runs, by prediction (cost_model.h). Firmware never sees it.
inline constexpr auto k_auto_algorithm = static_cast<abi::algorithm>(abi::k_algorithms);

/// How long a collective would take by one algorithm.
struct algorithm_prediction {
    abi::algorithm algorithm = k_auto_algorithm;
    double us = 0;
};

template <> struct enum_names<abi::collective_op> {
    static constexpr std::pair<abi::collective_op, const char*> values[] = {
        {abi::collective_op::all_reduce, "all_reduce"}, {abi::collective_op::reduce_scatter, "reduce_scatter"},
        {abi::collective_op::all_gather, "all_gather"}, {abi::collective_op::broadcast, "broadcast"},
        {abi::collective_op::all_to_all, "all_to_all"}, {abi::collective_op::reduce, "reduce"},
        {abi::collective_op::dispatch, "dispatch"},     {abi::collective_op::combine, "combine"},
    };
};
template <> struct enum_names<abi::algorithm> {
    static constexpr std::pair<abi::algorithm, const char*> values[] = {
#define WEFT_ALGORITHM(name, runs, runner, has, needs, summary) {abi::algorithm::name, #name},
#include "hw/abi/algorithms.def"
#undef WEFT_ALGORITHM
        {k_auto_algorithm, "auto"},
    };
};
/// "all_reduce, all_gather": what the algorithm runs.
std::string operations_of(const abi::algorithm_row& algorithm);
template <> struct enum_names<abi::element_type> {
    static constexpr std::pair<abi::element_type, const char*> values[] = {
#define WEFT_ELEMENT_TYPE(name, number, bytes, precision) {abi::element_type::name, #name},
#include "hw/abi/element_types.def"
#undef WEFT_ELEMENT_TYPE
    };
};
template <> struct enum_names<abi::reduce_op> {
    static constexpr std::pair<abi::reduce_op, const char*> values[] = {
        {abi::reduce_op::none, "none"},
        {abi::reduce_op::sum, "sum"},
        {abi::reduce_op::max, "max"},
        {abi::reduce_op::min, "min"},
    };
};
template <> struct enum_names<data_style> {
    static constexpr std::pair<data_style, const char*> values[] = {
        {data_style::exact, "exact"},
        {data_style::random, "random"},
    };
};

/// The name in the table above, "?" for a value that is in none. Static text.
template <class E> constexpr const char* name_of(E value)
{
    for (const auto& [v, name] : enum_names<E>::values)
        if (v == value)
            return name;
    return "?";
}

/// The value with exactly this name.
template <class E> constexpr std::optional<E> value_of(std::string_view name)
{
    for (const auto& [v, n] : enum_names<E>::values)
        if (name == n)
            return v;
    return std::nullopt;
}

struct collective_case {
    abi::collective_op op = abi::collective_op::all_reduce;
    abi::algorithm algo = abi::algorithm::ring_1d;
    abi::element_type type = abi::element_type::int32;
    abi::reduce_op redop = abi::reduce_op::sum; ///< none for operations that only move data
    std::uint64_t size_bytes = 0;               ///< see the head of this file
    std::uint64_t count = 0;                    ///< elements; size_bytes / element_bytes(type)
    std::uint32_t root = 0;                     ///< broadcast and reduce only
    bool transposed = false;                    ///< swap the roles of rows and columns
    data_style style = data_style::exact;
    /// all_reduce only: this many ranks sum among themselves, in groups of the platform's choice; 0: all ranks do.
    std::uint32_t ranks_per_group = 0;
    /// Process groups that run it at once (process_groups.h); empty: all ranks together. `count` and `root` are those
    /// of a group.
    std::vector<std::string> groups;
    /// Sums of float32 that go over the network as integers with a common exponent per this many elements (block
    /// floating point): they are right within the bound of that, not bit for bit. 0: the sums are of floats.
    std::uint32_t quantised_block = 0;
    std::uint64_t chunk_bytes = 0; ///< pipelining grain of the firmware; 0: none told
    bool chunk_is_asked = false;   ///< by a user; else an algorithm may take a grain of its own
    // Of dispatch and combine.
    std::uint64_t token_bytes = 0; ///< whole elements; size_bytes is a multiple of it
    std::uint32_t experts_per_token = k_default_experts; ///< fewer where there are fewer ranks
    double expert_skew = 0; ///< 0 to 1: of all choices, those among the first quarter of the ranks
    /// Of a case of `auto`: what was predicted of each algorithm that runs here, the fastest first. That one is `algo`,
    /// unless it is `tuned`.
    std::vector<algorithm_prediction> predictions;
    std::string tuning; ///< of a case of `auto`: the table that was asked before the prediction; "": none
    bool tuned = false; ///< and it has named `algo`
    /// Of a case of `auto`: who names `algo` for its size (published_range::source); "": nobody.
    std::string published_by;
    /// Of a case of `auto`: what could be taken if its buffers had room, part of a sentence; "": nothing.
    std::string passed_over;
    /// The all-gather of an all-reduce by rings of replicas goes by this method; none: by `algo` as well.
    std::optional<abi::algorithm> gathers_by;
};

using abi::has_root;
using abi::reduces;

/// What `auto` has found for the cases of one entry of a file.
class algorithm_choices {
public:
    /// `found`: a case with its choice, see collective_case::predictions and `tuned`.
    void add(collective_case found) { found_.push_back(std::move(found)); }
    /// Puts the choice in the place of `auto`; as long as none is known, `fallback`.
    void take(collective_case& c, abi::algorithm fallback) const
    {
        if (c.algo != k_auto_algorithm)
            return;
        c.algo = fallback;
        for (const collective_case& f : found_)
            if (f.op == c.op && f.type == c.type && f.redop == c.redop && f.size_bytes == c.size_bytes) {
                c.predictions = f.predictions;
                c.tuning = f.tuning;
                c.tuned = f.tuned;
                c.published_by = f.published_by;
                c.passed_over = f.passed_over;
                c.gathers_by = f.gathers_by;
                c.algo = f.algo;
                return;
            }
    }
    const std::vector<collective_case>& found() const { return found_; }

private:
    std::vector<collective_case> found_;
};

/// Of dispatch and combine: tokens of `bytes`, or one as long as there are bytes for; the size is rounded down to whole
/// tokens.
inline void set_token(collective_case& c, std::uint64_t bytes)
{
    if (!abi::moves_tokens(c.op) || c.count == 0)
        return;
    const std::uint64_t element = abi::element_bytes(c.type);
    const std::uint64_t elements = std::min(c.count, std::max<std::uint64_t>(1, bytes / element));
    c.token_bytes = elements * element;
    c.count -= c.count % elements;
    c.size_bytes = c.count * element;
}

/// A case of `size_bytes` rounded down to whole elements; redop is set to none where nothing is reduced.
/// `token_bytes`: of dispatch and combine, of one token.
inline collective_case make_case(abi::collective_op op, abi::algorithm algo, abi::element_type type,
                                 abi::reduce_op redop, std::uint64_t size_bytes, std::uint64_t token_bytes = k_default_token.value())
{
    collective_case c;
    c.op = op;
    c.algo = algo;
    c.type = type;
    c.redop = reduces(op) ? redop : abi::reduce_op::none;
    c.count = size_bytes / abi::element_bytes(type);
    c.size_bytes = c.count * abi::element_bytes(type);
    set_token(c, token_bytes);
    return c;
}

/// Part of a sentence.
inline std::string who_sums_float8(abi::collective_op op)
{
    std::string names;
    for (unsigned a = 0; a < abi::k_algorithms; ++a)
        if (abi::is_in(abi::k_by_ccu, static_cast<abi::algorithm>(a)) && (abi::k_algorithm_rows[a].operations & abi::operations::of(op)) != 0)
            names += (names.empty() ? "" : ", ") + std::string(abi::k_algorithm_rows[a].name);
    return "memories reduce no 8-bit floats" +
           (names.empty() ? std::string("; write another type") : "; collective communication units do, on ub_mesh (" + names + ")");
}

/// Why nothing reduces this type so, as a sentence without its end; empty when something does.
inline std::string reduction_problem(abi::collective_op op, abi::algorithm algo, abi::element_type type, abi::reduce_op redop)
{
    if (!reduces(op) || !abi::is_float8(type) || redop == abi::reduce_op::none)
        return {};
    if (!abi::unit_reduces(type, redop))
        return std::string(name_of(redop)) + " of " + name_of(type) + " does not exist: nothing compares 8-bit floats, adders of CCUs sum them";
    if (abi::by_dma(algo) && algo != k_auto_algorithm)
        return std::string(name_of(algo)) + " cannot sum " + name_of(type) + ": " + who_sums_float8(op);
    return {};
}

inline constexpr std::uint32_t k_max_checked_ranks = 32768; ///< up to which no float16 sum of random floats overflows

/// Random floats that a check of their sum can tell from anything else: of more 8-bit floats the bound of rounding
/// (collective_data.h) allows a difference as large as all of them together.
constexpr std::uint32_t most_random_summands(abi::element_type type)
{
    return abi::is_float8(type) ? 1u << abi::row_of(type).precision : k_max_checked_ranks;
}

/// What is wrong with a case for `ranks` ranks, as a sentence for the user; empty when nothing is. Whether the
/// algorithm can be built on the topology is not looked at.
inline std::string problem_of(const collective_case& c, std::uint32_t ranks)
{
    const std::string op = name_of(c.op);
    if (ranks == 0)
        return "a collective needs at least one rank";
    if (c.count == 0)
        return op + " of " + std::to_string(c.size_bytes) + " B holds no element: one " + name_of(c.type) + " takes " +
               std::to_string(abi::element_bytes(c.type)) + " B";
    if (c.size_bytes != c.count * abi::element_bytes(c.type))
        return op + " of " + std::to_string(c.size_bytes) + " B is no whole number of elements of " + name_of(c.type) +
               " (" + std::to_string(abi::element_bytes(c.type)) + " B each)";
    if (const std::string problem = reduction_problem(c.op, c.algo, c.type, c.redop); !problem.empty())
        return problem;
    if (reduces(c.op) && c.redop == abi::reduce_op::none)
        return op + " needs a reduction: sum, max or min";
    if (!reduces(c.op) && c.redop != abi::reduce_op::none)
        return op + " only moves data: redop must be none, not " + name_of(c.redop);
    if (c.ranks_per_group != 0) {
        const std::string groups = " in groups of " + std::to_string(c.ranks_per_group);
        if (c.op != abi::collective_op::all_reduce)
            return op + groups + " does not exist: only all_reduce has groups";
        if (ranks % c.ranks_per_group != 0)
            return op + groups + " leaves some of " + std::to_string(ranks) + " ranks over";
    }
    if (c.root >= ranks)
        return "root " + std::to_string(c.root) + " does not exist: ranks are 0 to " + std::to_string(ranks - 1);
    return {};
}

/// Bus bandwidth / algorithm bandwidth for `ranks` ranks, see the head of this file. 0 for one rank, except broadcast
/// and reduce.
/// `experts`: of a token.
constexpr double bus_bandwidth_factor(abi::collective_op op, std::uint32_t ranks, std::uint32_t experts = 1)
{
    const double n = ranks;
    switch (op) {
    case abi::collective_op::all_reduce: return 2.0 * (n - 1.0) / n;
    case abi::collective_op::reduce_scatter:
    case abi::collective_op::all_gather:
    case abi::collective_op::all_to_all: return (n - 1.0) / n;
    case abi::collective_op::broadcast:
    case abi::collective_op::reduce: return 1.0;
    case abi::collective_op::dispatch:
    case abi::collective_op::combine: return experts * (n - 1.0) / n;
    }
    return 0.0;
}

/// size / time in GB/s (10^9 bytes per second); 0 when no time has passed, so that every printed number is finite.
constexpr double algorithm_bandwidth_GBps(std::uint64_t size_bytes, std::uint64_t time_ps)
{
    return time_ps == 0 ? 0.0 : static_cast<double>(size_bytes) / static_cast<double>(time_ps) * 1e3;
}

/// Elements that rank `rank` of `ranks` (of its group) must hold before the start, as indices of abi::command's `count`
/// elements. Everything else of its buffers must be cleared, or the result of an earlier run could pass for this one's.
/// What dispatch and combine hold depends on the tokens (token_lists.h).
inline abi::element_range input_range(const collective_case& c, std::uint32_t rank, std::uint32_t ranks)
{
    switch (c.op) {
    case abi::collective_op::all_gather: return abi::shard_of(c.count, ranks, rank);
    case abi::collective_op::broadcast: return {0, rank == c.root ? c.count : 0};
    default: return {0, c.count};
    }
}

/// Elements of the result region of `rank` that are checked. The region starts at abi::command::buffer_offset, for
/// all_to_all at output_offset.
inline abi::element_range result_range(const collective_case& c, std::uint32_t rank, std::uint32_t ranks)
{
    switch (c.op) {
    case abi::collective_op::reduce_scatter: return abi::shard_of(c.count, ranks, rank);
    case abi::collective_op::reduce: return {0, rank == c.root ? c.count : 0};
    case abi::collective_op::all_to_all: return {0, ranks * abi::shard_of(c.count, ranks, rank).count};
    default: return {0, c.count};
    }
}

} // namespace weft
