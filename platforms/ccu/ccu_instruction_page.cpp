// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_instruction_page.h"

#include "platforms/ccu/ccu_operands.h"

#include <fmt/format.h>

namespace weft {

using namespace abi::ccu;

namespace {

std::string operands_text(const op_row& row)
{
    std::string text;
    const auto field = [](const ccu_operand& o) { return std::to_string(o.field); };
    for (const ccu_operand& o : operands_of(row)) {
        text += text.empty() ? "" : " ";
        switch (o.kind) {
        case ccu_operand_kind::address_register: text += "A" + field(o); break;
        case ccu_operand_kind::general_register: text += "X" + field(o); break;
        case ccu_operand_kind::slice: text += "M" + field(o); break;
        case ccu_operand_kind::immediate: text += "number"; break;
        case ccu_operand_kind::argument: text += "argument"; break;
        case ccu_operand_kind::label: text += "label"; break;
        case ccu_operand_kind::channel: text += "channel"; break;
        case ccu_operand_kind::check_bits: text += "K" + field(o); break;
        case ccu_operand_kind::loops: text += "count"; break;
        case ccu_operand_kind::slices: text += "M M ..."; break;
        }
    }
    return text;
}

const char* words_text(const op_row& row)
{
    switch (row.operation) {
    case operation_kind::memory_slice: return "`len X`";
    case operation_kind::memory_memory: return "**`len X`**, `type T op O`";
    case operation_kind::slices: return "**`type T`**, `len X`";
    default: return "";
    }
}

const char* title_of(op_group group)
{
    switch (group) {
    case op_group::load: return "Load";
    case op_group::control: return "Control";
    case op_group::transfer: return "Transfer";
    default: return "Reduce";
    }
}

} // namespace

std::string ccu_instruction_page(const std::string& notice)
{
    std::string text = "# Instructions of the collective communication unit\n\n" + notice;
    text += fmt::format("\nFrom `hw/abi/ccu_ops.def`, which also makes model, assembler and checker; [page 21](21_ccu.md) explains text form and checker. {} "
                        "instructions of {} bytes. `A0` is the address register in field r[0], `X` a general register, `M` a slice, `K` check bits of the peer "
                        "as entry:mask. Words in bold are a must. Every instruction may also have `wait entry:mask` and `clear`; transfers, reductions, `set_bits` and "
                        "`clear_bits` may have `set entry:mask`.\n",
                        k_op_count, sizeof(instruction));
    for (const op_group group : {op_group::load, op_group::control, op_group::transfer, op_group::reduce}) {
        text += fmt::format("\n## {}\n\n| code | instruction | operands | words | meaning |\n|---|---|---|---|---|\n", title_of(group));
        for (const op_row& row : k_op_rows)
            if (row.group == group)
                text += fmt::format("| {:#04x} | `{}` | {} | {} | {} |\n", static_cast<unsigned>(row.code), row.name, operands_text(row), words_text(row), row.doc);
    }
    text += "\n## Types\n\n| number | type | bytes | sum | max and min | in memory |\n|---|---|---|---|---|---|\n";
    for (unsigned t = 0; t < abi::k_element_types; ++t) {
        const auto type = static_cast<abi::element_type>(t);
        const char* const compares = abi::is_float8(type) ? "no" : "yes";
        text += fmt::format("| {} | `{}` | {} | yes | {} | {} |\n", t, abi::k_element_rows[t].name, abi::element_bytes(type), compares, compares);
    }
    return text;
}

} // namespace weft
