// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collective communication unit of a UB IO die: instructions, status codes and capacities, as hardware, firmware and
// assembler agree on them. Pure C++, freestanding. Operations, counts and semantics are facts of public descriptions
// (quoted); encoding and register map are weft's own.
//
// An instruction waits until its check bits are set, is carried out, and when it is done sets bits; one that is told to
// clears those it waited for, when its wait has ended. Loads, jumps and groups wait, but set nothing. Missions and loop
// engines issue in order, one instruction a cycle; transfers and reductions go on behind the issue, and only check bits
// tell that they are done.
#pragma once

#include "hw/abi/types.h"

namespace weft::abi::ccu {

inline constexpr std::uint64_t k_base = 0x1004'0000;       ///< registers of the unit of die 0 (ccu_regs.def)
inline constexpr std::uint64_t k_die_stride = 0x1'0000;    ///< to those of the next die
inline constexpr std::uint32_t k_dies = 2;
inline constexpr std::uint32_t k_slice_bytes = 4096;       ///< Q
inline constexpr std::uint32_t k_most_reduced = 8;         ///< slices of one instruction (quoted)
inline constexpr std::uint32_t k_arguments = 13;           ///< of a task, 64 bits each (quoted)
inline constexpr std::uint32_t k_bits_of_entry = 16;       ///< of a check-bit entry (quoted)
inline constexpr std::uint32_t k_most_iterations = 8191;   ///< 13 bits (quoted)
/// Between memories: below 256 MB (quoted).
inline constexpr std::uint64_t k_most_transfer_bytes = (std::uint64_t{256} << 20) - 1;
inline constexpr std::uint32_t k_token_bits = 20;          ///< of a memory (quoted)
inline constexpr std::uint32_t k_most_missions = 16;       ///< Q
inline constexpr std::uint32_t k_no_length = 0xffff;       ///< no register gives the length: a full slice

enum class op : std::uint8_t {
#define WEFT_CCU_OP(name, code, group, operands, operation, doc) name = code,
#include "hw/abi/ccu_ops.def"
#undef WEFT_CCU_OP
};
enum class op_group : std::uint8_t { load, control, transfer, reduce };
/// What lengths, types and reductions an instruction may have.
enum class operation_kind : std::uint8_t {
    none,
    memory_slice,  ///< optional `len`, of at most a slice
    memory_memory, ///< `len` is a must; optional `type` and `op`
    slices         ///< `type` is a must; optional `len`
};
struct op_row {
    const char* name;
    op code;
    op_group group;
    const char* operands;
    operation_kind operation;
    const char* doc;
};
inline constexpr op_row k_op_rows[] = {
#define WEFT_CCU_OP(name, code, group, operands, operation, doc) {#name, op::name, op_group::group, operands, operation_kind::operation, doc},
#include "hw/abi/ccu_ops.def"
#undef WEFT_CCU_OP
};
inline constexpr unsigned k_op_count = sizeof k_op_rows / sizeof k_op_rows[0];

inline constexpr std::uint8_t k_clears = 1; ///< instruction::flags

/// 32 bytes (quoted: fixed length of 32 B). `r` holds registers, slices, labels; an immediate lies in the place of r[4]
/// to r[7].
struct alignas(8) instruction {
    op code = op::set_bits;
    std::uint8_t flags = 0;
    std::uint16_t wait_entry = 0;
    std::uint16_t wait_mask = 0; ///< 0: does not wait
    std::uint16_t set_entry = 0;
    std::uint16_t set_mask = 0; ///< 0: sets nothing
    std::uint16_t channel = 0;
    std::uint8_t type = 0;  ///< element
    std::uint8_t redop = 0; ///< reduce_op, of transfers between memories
    std::uint8_t count = 0; ///< slices of a reduction, loops of a group, number of an argument
    std::uint8_t reserved = 0;
    std::uint16_t r[8] = {};

    constexpr std::uint64_t immediate() const
    {
        return r[4] | std::uint64_t{r[5]} << 16 | std::uint64_t{r[6]} << 32 | std::uint64_t{r[7]} << 48;
    }
    constexpr void set_immediate(std::uint64_t v)
    {
        for (unsigned i = 0; i < 4; ++i)
            r[4 + i] = static_cast<std::uint16_t>(v >> (16 * i));
    }
    /// General register with the length in bytes; k_no_length: a full slice. Of transfers in r[5]; of reductions, whose
    /// slices fill `r`, in `channel`.
    constexpr std::uint16_t length() const { return is_reduction() ? channel : r[5]; }
    constexpr void set_length(std::uint16_t x) { (is_reduction() ? channel : r[5]) = x; }
    constexpr bool is_reduction() const { return code == op::reduce_add || code == op::reduce_max || code == op::reduce_min; }
};
static_assert(sizeof(instruction) == 32, "instruction layout is part of the ABI");
inline constexpr unsigned k_words_of_instruction = sizeof(instruction) / 8;

/// Of op::loop. Iteration i of a replica works at its addresses + i x step. No iterations: the loop is passed over.
constexpr std::uint64_t loop_parameter(std::uint32_t iterations, std::uint32_t address_step)
{
    return (iterations & 0x1fffu) | std::uint64_t{address_step} << 16;
}
constexpr std::uint32_t loop_iterations(std::uint64_t p) { return static_cast<std::uint32_t>(p & 0x1fffu); }
constexpr std::uint32_t loop_step(std::uint64_t p) { return static_cast<std::uint32_t>(p >> 16); }
/// Of op::group. Replica 0 runs all loops; each further replica those from `first` on. Engines used: loops + replicas x
/// (loops - first).
constexpr std::uint64_t group_counts(std::uint32_t first, std::uint32_t replicas) { return (first & 0xffu) | std::uint64_t{replicas & 0xfffu} << 8; }
constexpr std::uint32_t group_first(std::uint64_t p) { return static_cast<std::uint32_t>(p & 0xffu); }
constexpr std::uint32_t group_replicas(std::uint64_t p) { return static_cast<std::uint32_t>(p >> 8 & 0xfffu); }
/// Replica k works at addresses + k x `address`, on slices + k x `slice` and check-bit entries + k x `entry`: local
/// ones, of waits and sets.
constexpr std::uint64_t group_offsets(std::uint32_t address, std::uint16_t slice, std::uint16_t entry)
{
    return address | std::uint64_t{slice} << 32 | std::uint64_t{entry} << 48;
}
constexpr std::uint32_t group_address(std::uint64_t p) { return static_cast<std::uint32_t>(p); }
constexpr std::uint16_t group_slice(std::uint64_t p) { return static_cast<std::uint16_t>(p >> 32); }
constexpr std::uint16_t group_entry(std::uint64_t p) { return static_cast<std::uint16_t>(p >> 48); }

/// Why a mission ended (quoted: the list; numbers as published). 0: it has come to its end.
enum class status : std::uint8_t {
    ok = 0x00,
    illegal_instruction = 0x01,
    /// Register, slice, entry or channel that does not exist; bad length; a slice that another mission uses.
    local_operation = 0x02,
    remote_operation = 0x03,   ///< the peer refused: no unit, slice, register or entry there
    retries_exceeded = 0x04,   ///< no way to the peer
    time_out = 0x05,           ///< the timeout of the task
    flushed = 0x06,            ///< its unit was reset
    arithmetic = 0x07,         ///< overflow, infinity or NaN in a sum, where the task asks for that
    memory = 0x08,             ///< ECC; not modelled
    control = 0x09,            ///< wrong key, killed
    address = 0x0a             ///< page fault, token, permission: beyond the memory here or there
};
enum class mission_state : std::uint8_t { idle = 0, running = 1, ended = 2 };

inline constexpr std::uint32_t k_shortest_paths = 1u << 31; ///< CHANNEL_PEER

/// What a task may ask for beside its program: TASK_FLAGS.
/// End with `arithmetic` where a float sum overflows or is no number.
inline constexpr std::uint32_t k_task_strict_arithmetic = 1;

} // namespace weft::abi::ccu
