// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands of the instructions, read from the table hw/abi/ccu_ops.def, and what makes an instruction legal whatever
// unit runs it.
#pragma once

#include "hw/abi/ccu.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class ccu_operand_kind : std::uint8_t { address_register, general_register, slice, immediate, argument, label, channel, check_bits, loops, slices };

struct ccu_operand {
    ccu_operand_kind kind;
    unsigned field; ///< of instruction::r, where the kind lies there
};

std::vector<ccu_operand> operands_of(const abi::ccu::op_row& row);
/// "a general register (x0, x1, ...)".
const char* text_of(ccu_operand_kind kind);

/// nullptr: there is no such instruction.
const abi::ccu::op_row* ccu_row(abi::ccu::op code);
const abi::ccu::op_row* ccu_row(std::string_view name);
std::vector<std::string> ccu_mnemonics();

/// By abi::reduce_op; the first is never written.
inline constexpr const char* k_ccu_redop_names[] = {"none", "sum", "max", "min"};

inline bool may_have_length(const abi::ccu::op_row& row) { return row.operation != abi::ccu::operation_kind::none; }
inline bool may_have_type(const abi::ccu::op_row& row) { return row.operation == abi::ccu::operation_kind::memory_memory || row.operation == abi::ccu::operation_kind::slices; }
inline bool may_have_redop(const abi::ccu::op_row& row) { return row.operation == abi::ccu::operation_kind::memory_memory; }
/// Whether `i` sets bits of a peer: its field K, or none.
std::optional<unsigned> field_of_peer_bits(const abi::ccu::op_row& row);

/// Why this type does not go with this operation, or "".
std::string type_problem(const abi::ccu::op_row& row, abi::element_type type, abi::reduce_op redop);

/// An instruction as the assembler writes it before operands are filled in: unused fields are zero, the length is a
/// full slice.
abi::ccu::instruction blank_instruction(const abi::ccu::op_row& row);

/// Why this is no instruction that the text form can say, one sentence each; empty: it is legal.
std::vector<std::string> illegalities(const abi::ccu::instruction& i);

} // namespace weft
