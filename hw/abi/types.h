// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers shared by hardware, firmware and host: element types, reductions, collectives, algorithms, status codes.
// Pure C++, freestanding: no heap, no exceptions, no library calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::abi {

/// Element type of a buffer; see element_types.def.
enum class element_type : std::uint8_t {
#define WEFT_ELEMENT_TYPE(name, number, bytes, precision) name = number,
#include "hw/abi/element_types.def"
#undef WEFT_ELEMENT_TYPE
};

struct element_row {
    const char* name;
    std::uint8_t bytes;
    std::uint8_t precision; ///< significant bits of a float, the implicit one included; 0: an integer
};
/// By abi::element_type.
inline constexpr element_row k_element_rows[] = {
#define WEFT_ELEMENT_TYPE(name, number, bytes, precision) {#name, bytes, precision},
#include "hw/abi/element_types.def"
#undef WEFT_ELEMENT_TYPE
};
inline constexpr unsigned k_element_types = sizeof k_element_rows / sizeof k_element_rows[0];
/// Of a descriptor that nobody has checked, anything: then the first row.
constexpr const element_row& row_of(element_type t)
{
    const auto number = static_cast<unsigned>(t);
    return k_element_rows[number < k_element_types ? number : 0];
}
/// Without the table: firmware asks with every command, mostly of types of 4 B, and RV64 cores count instructions.
constexpr std::uint32_t element_bytes(element_type t)
{
    if (t <= element_type::float32)
        return 4;
    return t <= element_type::bfloat16 || t == element_type::int16 ? 2 : 1;
}
constexpr bool is_integer(element_type t) { return row_of(t).precision == 0; }
constexpr bool is_float8(element_type t) { return t >= element_type::float8_e4m3 && t <= element_type::hifloat8; }
#define WEFT_ELEMENT_TYPE(name, number, bytes, precision) \
    static_assert(element_bytes(element_type::name) == bytes && is_float8(element_type::name) == (bytes == 1 && precision != 0), "element_types.def");
#include "hw/abi/element_types.def"
#undef WEFT_ELEMENT_TYPE

/// What a remote write does with the bytes already in memory.
enum class reduce_op : std::uint8_t { none = 0, sum = 1, max = 2, min = 3 };
/// Memories reduce all but 8-bit floats (quoted: "in-memory reduce" of UB).
constexpr bool memory_reduces(element_type t) { return !is_float8(t); }
/// Adders of collective communication units sum 8-bit floats, too; nothing compares them (quoted).
constexpr bool unit_reduces(element_type t, reduce_op op) { return op != reduce_op::none && (op == reduce_op::sum || !is_float8(t)); }

enum class collective_op : std::uint8_t {
    all_reduce = 0,
    reduce_scatter = 1,
    all_gather = 2,
    broadcast = 3,
    all_to_all = 4,
    reduce = 5,
    dispatch = 6,
    combine = 7
};
inline constexpr unsigned k_collective_ops = 8;
/// command::root means something.
constexpr bool has_root(collective_op op) { return op == collective_op::broadcast || op == collective_op::reduce; }
constexpr bool reduces(collective_op op)
{
    return op == collective_op::all_reduce || op == collective_op::reduce_scatter || op == collective_op::reduce ||
           op == collective_op::combine;
}
/// Tokens to and from experts (tokens.h): how much a rank sends whom is said by lists in memory.
constexpr bool moves_tokens(collective_op op) { return op == collective_op::dispatch || op == collective_op::combine; }

/// Sets of collectives, as bits.
namespace operations {
constexpr std::uint32_t of(collective_op op) { return 1u << static_cast<std::uint32_t>(op); }
inline constexpr std::uint32_t all_reduce = of(collective_op::all_reduce);
inline constexpr std::uint32_t reduce_scatter = of(collective_op::reduce_scatter);
inline constexpr std::uint32_t all_gather = of(collective_op::all_gather);
inline constexpr std::uint32_t broadcast = of(collective_op::broadcast);
inline constexpr std::uint32_t all_to_all = of(collective_op::all_to_all);
inline constexpr std::uint32_t reduce = of(collective_op::reduce);
inline constexpr std::uint32_t dispatch = of(collective_op::dispatch);
inline constexpr std::uint32_t combine = of(collective_op::combine);
} // namespace operations

/// What sets an algorithm apart, as bits.
namespace traits {
/// Summed in the network. All cores of a rank share the work; the other algorithms run on its first core, which owns
/// the DMA.
inline constexpr std::uint32_t by_switch = 1;
/// Rows and columns have different roles in it: command.transposed swaps them.
inline constexpr std::uint32_t follows_rows = 2;
/// For devices of several ranks, whose DMA engines sum and wait (platform_table::device_ranks); it keeps what is on its
/// way at command::scratch_offset.
inline constexpr std::uint32_t on_devices = 4;
/// For machines of replicas (platform_table::order).
inline constexpr std::uint32_t of_replicas = 8;
/// Carried out by the chip's collective communication units (platform_table::ccus); its core writes microcode and
/// starts it.
inline constexpr std::uint32_t by_ccu = 16;
} // namespace traits

/// See algorithms.def.
enum class algorithm : std::uint8_t {
#define WEFT_ALGORITHM(name, runs, runner, has, needs, summary) name,
#include "hw/abi/algorithms.def"
#undef WEFT_ALGORITHM
};

struct algorithm_row {
    const char* name;
    std::uint32_t operations;
    std::uint32_t traits;
    const char* needs;
    const char* summary;
};
/// By abi::algorithm.
inline constexpr algorithm_row k_algorithm_rows[] = {
#define WEFT_ALGORITHM(name, runs, runner, has, needs, summary) {#name, runs, has, needs, summary},
#include "hw/abi/algorithms.def"
#undef WEFT_ALGORITHM
};
inline constexpr unsigned k_algorithms = sizeof k_algorithm_rows / sizeof k_algorithm_rows[0];
static_assert(k_algorithms <= 32, "sets of algorithms are 32 bits");

/// The algorithms with all bits of `wanted`, as bits.
constexpr std::uint32_t algorithms_with(std::uint32_t wanted)
{
    std::uint32_t set = 0;
    for (unsigned a = 0; a < k_algorithms; ++a)
        set |= (k_algorithm_rows[a].traits & wanted) == wanted ? 1u << a : 0u;
    return set;
}
constexpr bool is_in(std::uint32_t set, algorithm a)
{
    const auto number = static_cast<unsigned>(a); // of a command that nobody has checked, anything
    return number < k_algorithms && (set >> number & 1) != 0;
}
inline constexpr std::uint32_t k_by_switch = algorithms_with(traits::by_switch);
constexpr bool by_switch(algorithm a) { return is_in(k_by_switch, a); }
inline constexpr std::uint32_t k_by_ccu = algorithms_with(traits::by_ccu);
/// Its messages are descriptors of a DMA engine, which may go in trains; switches and CCUs have packets of their own.
constexpr bool by_dma(algorithm a) { return !by_switch(a) && !is_in(k_by_ccu, a); }
inline constexpr std::uint32_t k_follows_rows = algorithms_with(traits::follows_rows);
constexpr bool follows_rows(algorithm a) { return is_in(k_follows_rows, a); }

/// Why firmware stopped. Written to the mailbox; 0 is success.
enum class status_code : std::uint32_t {
    ok = 0,
    timeout = 1,       ///< a bounded wait ran out; `where` names the register
    wrong_device = 2,  ///< probe found another device type
    wrong_version = 3, ///< probe found another device version
    bus_error = 4,     ///< an access was answered with a TLM error response
    device_error = 5,  ///< a device raised its error flag
    bad_command = 6,   ///< the host's command makes no sense (unknown op, bad root, ...)
    unsupported = 7,   ///< this algorithm cannot be built on this topology
    corrupted = 8      ///< a table or descriptor fails its check word
};

/// Contiguous shard `index` of `n` of `count` elements: sizes differ by at most one, the first ones are longer.
struct element_range {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};
constexpr element_range shard_of(std::uint64_t count, std::uint32_t n, std::uint32_t index)
{
    const std::uint64_t base = count / n;
    const std::uint64_t extra = count % n;
    const std::uint64_t first = base * index + (index < extra ? index : extra);
    return {first, base + (index < extra ? 1u : 0u)};
}
/// Index of the shard that `element` (< count) lies in.
constexpr std::uint32_t owner_of(std::uint64_t count, std::uint32_t n, std::uint64_t element)
{
    const std::uint64_t base = count / n;
    const std::uint64_t longer = count % n * (base + 1); // elements of shards with one more
    return static_cast<std::uint32_t>(element < longer ? element / (base + 1) : count % n + (element - longer) / base);
}

} // namespace weft::abi
