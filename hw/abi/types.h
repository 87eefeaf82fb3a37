// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers shared by hardware, firmware and host: element types, reductions, collectives, algorithms, status codes.
// Pure C++, freestanding: no heap, no exceptions, no library calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::abi {

/// Element type of a buffer.
enum class element_type : std::uint8_t { int32 = 0, float32 = 1, float16 = 2, bfloat16 = 3 };
inline constexpr unsigned k_element_types = 4;
constexpr std::uint32_t element_bytes(element_type t)
{
    return t == element_type::int32 || t == element_type::float32 ? 4u : 2u;
}

/// What a remote write does with the bytes already in memory.
enum class reduce_op : std::uint8_t { none = 0, sum = 1, max = 2, min = 3 };

enum class collective_op : std::uint8_t {
    all_reduce = 0,
    reduce_scatter = 1,
    all_gather = 2,
    broadcast = 3,
    all_to_all = 4
};
inline constexpr unsigned k_collective_ops = 5;

/// Algorithms of the collectives. Figures are those of Kumar and Jouppi, "Highly Available Data Parallel ML training on
/// Mesh Networks".
enum class algorithm : std::uint8_t {
    ring_1d = 0,  ///< Hamiltonian ring over all ranks, both directions (Fig. 3)
    two_d = 1,    ///< rings along X then Y and, for the other half of the data, Y then X (Fig. 4, 5)
    row_pair = 2, ///< rings over pairs of rows, then over alternate rows (Fig. 6, 7)
    mesh_tree =
        3,      ///< broadcast: along the root's row, then along every column; on a full mesh to a whole line at a time
    direct = 4, ///< every pair directly, staggered: all-to-all, and reductions in two shots
    row_pair_forward =
        5,        ///< row_pair on a mesh with failed chips; columns with failed chips hand their part of the second
                  ///< phase to whole columns instead of routing around (section 2.2)
    switchml = 6, ///< all-reduce in the network with loss recovery: algorithms 3 and 4 of SwitchML (NSDI 2021)
    switchml_lossless = 7, ///< the same without recovery: algorithms 1 and 2
    halving_doubling = 8,  ///< recursive halving, then doubling, between ranks one switch apart
    parameter_server = 9,  ///< shards summed by servers: on the ranks themselves, or on machines of their own
    hierarchical = 10      ///< all-reduce: reduce-scatter around a ring of every dimension in turn, all-gather back
};
inline constexpr unsigned k_algorithms = 11;
/// Summed in the network. All cores of a rank share the work; the other algorithms run on its first core, which owns the DMA.
constexpr bool by_switch(algorithm a) { return a == algorithm::switchml || a == algorithm::switchml_lossless; }

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

} // namespace weft::abi
