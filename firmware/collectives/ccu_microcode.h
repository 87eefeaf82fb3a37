// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Microcode of collectives: what a unit does among the ranks of a group, all at one switch or on a line, as one task.
//
// A program is a frame around a body. Frame: every rank sends each other one the address of its buffer and its token,
// waits for those of all others, carries out the body, says to all that it has ended, and waits until all have. Body:
// slices of 4 KiB, each by a loop engine for itself: read it from the ranks, sum, write it to the ranks. Engines are
// replicas of one loop; each goes through the data in steps of all of them. What is left after whole steps, and a last
// slice that is shorter, follow in a second group.
//
// Why bits are never taken for others. Bits and registers that a peer writes belong to a group of ranks: a bank
// (platform_table::semaphore_bank) has those of all its ranks and those of each of its lines, apart. In a group all
// tasks are of all members, in the same order. A member begins its next task when all have ended this one. So when its
// address and bits come, this rank has read and cleared those before: they are not used behind the end that it told.
// Its `ended` cannot come twice either, since it waits for this rank in between. One set is enough; no two need
// alternate.
//
// Whose data is overwritten. Reductions overwrite a slice of the own shard when it is read from all; nobody else reads
// it. Sums that others write here replace what their writer, the only reader, has read. In one shot all read
// everything: sums stay in their slices until all have ended reading.
//
// Sums are in the order of ranks, by instructions of up to eight slices; more ranks are added to the sum of those
// before, seven at a time, while the next seven are read. So all ranks get the same bits.
#pragma once

#include "firmware/collectives/ccu_code.h"
#include "firmware/collectives/ccu_state.h"

namespace weft::firmware {

enum class ccu_kind : std::uint8_t {
    reduce,     ///< the own range of all, into the own buffer
    reduce_all, ///< and to all
    gather,     ///< the own range to all
    spread,     ///< a range of the root to all others
    collect,    ///< a range of all, to the root
    one_shot,   ///< a range of all, after all have read it
    exchange,   ///< a block to each, of two lengths
    forward,    ///< a part of each row to each of a line
    blocks,     ///< a block through each of the first channels, all as long, without a frame
    copy        ///< a block inside the own memory, without a frame
};

/// Ranks that work together, and what they send each other for it. Numbers are the same on all of them.
struct ccu_group {
    std::uint32_t size = 0;
    std::uint32_t at = 0;       ///< place of this rank
    std::uint32_t channels = 0; ///< the first one; they lead to the others, by place
    std::uint32_t registers = 0; ///< the first one, of addresses and of tokens, behind the work registers; by place
    std::uint32_t address_entries = 0; ///< the first one of bits that say: address is there; by place
    std::uint32_t token_entries = 0;
    std::uint32_t end_entries = 0;

    std::uint32_t channel(std::uint32_t place) const { return channels + (place < at ? place : place - 1); }
};

/// Behind the pieces of a run follow some that are as long or shorter by an element. A program knows by how much, a
/// task how many.
struct ccu_shorter {
    bool any = false;
    std::uint32_t bytes = 0;  ///< that a piece is shorter: 0 or an element
    std::uint32_t stride = 0; ///< bytes that they lie nearer to each other
    bool no_last = false;     ///< they have whole slices only
};

struct ccu_job {
    ccu_kind kind = ccu_kind::copy;
    bool by_pieces = false; ///< replicas of a loop are not neighbouring slices, but slices of pieces
    abi::element_type type = abi::element_type::int32;
    abi::reduce_op redop = abi::reduce_op::none;
    ccu_group group;
    std::uint32_t root = 0;   ///< spread, collect: place
    std::uint32_t longer = 0; ///< exchange: the first places, whose blocks are long
    bool no_long = false;     ///< they have none for this die
    bool no_short = false;
    ccu_shorter shorter;
    bool has_rest = false;   ///< of shorter pieces: slices left after whole steps
    std::uint32_t token = 0; ///< of shorter pieces: its argument tells their number
    std::uint32_t rows = 1;  ///< forward
    bool has_mixed =
        false; ///< forward: behind `longer` places with long parts is one of neither length; the others are short
    bool no_mixed = false;
    std::uint32_t mission = 0; ///< 0 or 1; tasks of a die take turns, so that the next one is there when one ends
    bool follows = false;      ///< waits until the task in the other mission has ended its work
    bool precedes = false;     ///< tells the task in the other mission that it may begin
    std::uint64_t bytes = 0; ///< that the task moves, about
    std::uint32_t arguments = 0;
    std::uint64_t argument[abi::ccu::k_arguments];

    void add(std::uint64_t value) { argument[arguments++] = value; }
    ccu_key key() const;
};

/// What an engine takes, and how many work at once.
struct ccu_shape {
    std::uint32_t slices = 1;
    std::uint32_t entries = 1;
    std::uint32_t engines = 0;
    std::uint32_t engines_to_root = 0; ///< of them, in a reduce of several rounds
};
ccu_shape shape_of(ccu_kind kind, std::uint32_t ranks, const ccu_capacities& c);

// How registers and entries are allotted. Address registers and general ones have work registers first, then those of
// each bank.
inline constexpr std::uint32_t k_ccu_most_ranks = k_ccu_channels + 1; ///< of a group
inline constexpr std::uint32_t k_ccu_axes_registers = k_ccu_channels + 6; ///< of all lines of a rank: six dimensions
inline constexpr std::uint32_t k_ccu_bank_registers = k_ccu_most_ranks + k_ccu_axes_registers;
inline constexpr std::uint32_t k_ccu_first_bank_register = 320;
inline constexpr std::uint32_t k_ccu_flat_entries = (k_ccu_most_ranks + abi::ccu::k_bits_of_entry - 1) / abi::ccu::k_bits_of_entry;
inline constexpr std::uint32_t k_ccu_axes_entries = 14; ///< sum of those of six lines, each rounded up
/// Addresses, tokens, ends.
inline constexpr std::uint32_t k_ccu_bank_entries = 3 * (k_ccu_flat_entries + k_ccu_axes_entries);
inline constexpr std::uint32_t k_ccu_banks = 8;
/// What this rank has sent has arrived, of a task.
inline constexpr std::uint32_t k_ccu_sent_entries = k_ccu_banks * k_ccu_bank_entries;
/// Which mission may begin, a bit each.
inline constexpr std::uint32_t k_ccu_turn_entry = k_ccu_sent_entries + 2 * k_ccu_flat_entries;
inline constexpr std::uint32_t k_ccu_engine_entries = k_ccu_turn_entry + 1; ///< of loop engines
// Published usable numbers: 3024 registers of each kind, 1008 entries, 192 loop engines; of these, a default instance
// gets 128 engines.
inline constexpr std::uint32_t k_ccu_usable_entries = 1008;
inline constexpr std::uint32_t k_ccu_most_engines = 128;
static_assert(k_ccu_first_bank_register + k_ccu_banks * k_ccu_bank_registers <= 3024, "registers of all banks");
static_assert(k_ccu_engine_entries + 128 <= k_ccu_usable_entries, "entries of all banks and of 127 engines and the last slice");

/// Data of a task: pieces of `bytes`, `stride` apart, from `offset` of the buffer on.
struct ccu_run {
    std::uint64_t offset = 0;
    std::uint64_t pieces = 1;
    std::uint64_t stride = 0;
    std::uint64_t bytes = 0;
    ccu_shorter shorter;
    std::uint64_t shorter_pieces = 0;
    std::uint64_t between = 0; ///< from where one more long piece would begin to the first shorter one; modulo 2^64
};
/// Adds the arguments for it behind address and token. False: more than loops can count.
bool add_run(ccu_job& job, const ccu_run& run, const ccu_shape& shape);
/// Bytes that one_shot holds in slices at most.
constexpr std::uint64_t most_in_slices(const ccu_shape& shape) { return std::uint64_t{shape.engines} * abi::ccu::k_slice_bytes; }

/// At most so many instructions. `transfers`: of `forward`, each by itself.
constexpr std::uint32_t most_instructions(std::uint32_t ranks, std::uint32_t transfers = 0)
{
    return 12 * ranks + 160 + 4 * transfers;
}
/// Of `forward`; each has a check bit.
inline constexpr std::uint32_t k_ccu_most_forwarded = 4096;
static_assert(k_ccu_engine_entries + k_ccu_most_forwarded / abi::ccu::k_bits_of_entry <= k_ccu_usable_entries,
              "entries of forwarded parts");
void write_program(ccu_code& code, const ccu_job& job, const ccu_shape& shape);

} // namespace weft::firmware
