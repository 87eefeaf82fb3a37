// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_operands.h"

#include <cstring>
#include <fmt/format.h>

namespace weft {

using namespace abi::ccu;

std::vector<ccu_operand> operands_of(const op_row& row)
{
    std::vector<ccu_operand> all;
    for (const char* c = row.operands; *c != '\0'; ++c) {
        if (*c == ' ')
            continue;
        const unsigned field = c[1] >= '0' && c[1] <= '7' ? static_cast<unsigned>(c[1] - '0') : 0;
        switch (*c) {
        case 'A': all.push_back({ccu_operand_kind::address_register, field}); break;
        case 'X': all.push_back({ccu_operand_kind::general_register, field}); break;
        case 'M': all.push_back({ccu_operand_kind::slice, field}); break;
        case 'I': all.push_back({ccu_operand_kind::immediate, 4}); break;
        case 'P': all.push_back({ccu_operand_kind::argument, 0}); break;
        case 'L': all.push_back({ccu_operand_kind::label, field}); break;
        case 'C': all.push_back({ccu_operand_kind::channel, 0}); break;
        case 'K': all.push_back({ccu_operand_kind::check_bits, field}); break;
        case 'G': all.push_back({ccu_operand_kind::loops, 0}); break;
        case 'N': all.push_back({ccu_operand_kind::slices, 0}); break;
        default: break; // the number of a field
        }
    }
    return all;
}

const char* text_of(ccu_operand_kind kind)
{
    switch (kind) {
    case ccu_operand_kind::address_register: return "an address register (a0, a1, ...)";
    case ccu_operand_kind::general_register: return "a general register (x0, x1, ...)";
    case ccu_operand_kind::slice: return "a slice (m0, m1, ...)";
    case ccu_operand_kind::immediate: return "a 64-bit number or a label";
    case ccu_operand_kind::argument: return "the number of an argument, 0 to 12";
    case ccu_operand_kind::label: return "a label";
    case ccu_operand_kind::channel: return "a channel (c0, c1, ...)";
    case ccu_operand_kind::check_bits: return "check bits as entry:mask (3:0x1)";
    case ccu_operand_kind::loops: return "a number of loops, 1 to 255";
    default: return "2 to 8 slices (m0, m1, ...)";
    }
}

const op_row* ccu_row(op code)
{
    for (const op_row& row : k_op_rows)
        if (row.code == code)
            return &row;
    return nullptr;
}

const op_row* ccu_row(std::string_view name)
{
    for (const op_row& row : k_op_rows)
        if (name == row.name)
            return &row;
    return nullptr;
}

std::vector<std::string> ccu_mnemonics()
{
    std::vector<std::string> names;
    for (const op_row& row : k_op_rows)
        names.emplace_back(row.name);
    return names;
}

std::optional<unsigned> field_of_peer_bits(const op_row& row)
{
    for (const ccu_operand& o : operands_of(row))
        if (o.kind == ccu_operand_kind::check_bits)
            return o.field;
    return std::nullopt;
}

std::string type_problem(const op_row& row, abi::element_type type, abi::reduce_op redop)
{
    if (!abi::is_float8(type))
        return {};
    const char* const name = abi::row_of(type).name;
    if (row.code == op::reduce_max || row.code == op::reduce_min)
        return fmt::format("{} does not compare 8-bit floats such as {}; reduce_add takes them", row.name, name);
    if (redop != abi::reduce_op::none)
        return fmt::format("memories do not reduce 8-bit floats such as {}; load slices and use reduce_add", name);
    return {};
}

instruction blank_instruction(const op_row& row)
{
    instruction i;
    i.code = row.code;
    if (may_have_length(row))
        i.set_length(k_no_length);
    return i;
}

std::vector<std::string> illegalities(const instruction& i)
{
    std::vector<std::string> found;
    const op_row* const row = ccu_row(i.code);
    if (row == nullptr)
        return {fmt::format("there is no instruction {:#04x}", static_cast<unsigned>(i.code))};
    // Whatever no operand and no word fills must be as in a blank instruction.
    instruction rest = i;
    const instruction blank = blank_instruction(*row);
    const auto take = [&](unsigned field) { rest.r[field] = blank.r[field]; };
    for (const ccu_operand& o : operands_of(*row)) {
        switch (o.kind) {
        case ccu_operand_kind::immediate:
            for (unsigned f = 4; f < 8; ++f)
                take(f);
            break;
        case ccu_operand_kind::argument:
            if (i.count >= k_arguments)
                found.push_back(fmt::format("{} reads argument {}; a task has {}, from 0", row->name, i.count, k_arguments));
            rest.count = 0;
            break;
        case ccu_operand_kind::loops:
            if (i.count == 0)
                found.emplace_back("group runs no loop");
            rest.count = 0;
            break;
        case ccu_operand_kind::slices:
            if (i.count < 2 || i.count > k_most_reduced)
                found.push_back(fmt::format("{} has {} slices, must be 2 to {}", row->name, i.count, k_most_reduced));
            for (unsigned f = 0; f < i.count && f < k_most_reduced; ++f)
                take(f);
            rest.count = 0;
            break;
        case ccu_operand_kind::channel: rest.channel = 0; break;
        case ccu_operand_kind::check_bits:
            take(o.field);
            take(o.field + 1);
            break;
        default: take(o.field); break;
        }
    }
    if (may_have_length(*row)) {
        if (i.length() == k_no_length && row->operation == operation_kind::memory_memory)
            found.push_back(fmt::format("{} has no length", row->name));
        rest.set_length(k_no_length);
    }
    if (may_have_type(*row)) {
        if (i.type >= abi::k_element_types)
            found.push_back(fmt::format("{} has type {}, of {}", row->name, i.type, abi::k_element_types));
        else if (const std::string p = type_problem(*row, static_cast<abi::element_type>(i.type), static_cast<abi::reduce_op>(i.redop)); !p.empty())
            found.push_back(p);
        if (!may_have_redop(*row) || i.redop != 0)
            rest.type = 0;
    }
    if (may_have_redop(*row)) {
        if (i.redop > static_cast<unsigned>(abi::reduce_op::min))
            found.push_back(fmt::format("{} has operation {}, of 3", row->name, i.redop));
        rest.redop = 0;
    }
    if (i.wait_mask == 0 && (i.wait_entry != 0 || i.flags != 0))
        found.push_back(fmt::format("{} names an entry or clears, but waits for nothing", row->name));
    if (i.set_mask == 0 && i.set_entry != 0)
        found.push_back(fmt::format("{} names an entry, but sets nothing", row->name));
    rest.wait_mask = rest.set_mask = rest.wait_entry = rest.set_entry = 0;
    rest.flags = static_cast<std::uint8_t>(rest.flags & ~k_clears);
    if (std::memcmp(&rest, &blank, sizeof rest) != 0)
        found.push_back(fmt::format("{} has bits set in fields that it does not use", row->name));
    return found;
}

} // namespace weft
