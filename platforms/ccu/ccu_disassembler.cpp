// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ccu/ccu_disassembler.h"

#include "platforms/ccu/ccu_operands.h"
#include "platforms/config/yaml_document.h"

#include <fmt/format.h>
#include <functional>

namespace weft {

using namespace abi::ccu;

namespace {

std::string line_of(const instruction& i, const std::function<std::string(std::uint16_t)>& label)
{
    const op_row& row = *ccu_row(i.code);
    std::string text = row.name;
    for (const ccu_operand& o : operands_of(row)) {
        switch (o.kind) {
        case ccu_operand_kind::address_register: text += fmt::format(" a{}", i.r[o.field]); break;
        case ccu_operand_kind::general_register: text += fmt::format(" x{}", i.r[o.field]); break;
        case ccu_operand_kind::slice: text += fmt::format(" m{}", i.r[o.field]); break;
        case ccu_operand_kind::channel: text += fmt::format(" c{}", i.channel); break;
        case ccu_operand_kind::label: text += " " + label(i.r[o.field]); break;
        case ccu_operand_kind::immediate: {
            const std::uint64_t v = i.immediate();
            text += v < 4096 ? fmt::format(" {}", v) : fmt::format(" {:#x}", v);
            break;
        }
        case ccu_operand_kind::check_bits: text += fmt::format(" {}:{:#x}", i.r[o.field], i.r[o.field + 1]); break;
        case ccu_operand_kind::slices:
            for (unsigned n = 0; n < i.count; ++n)
                text += fmt::format(" m{}", i.r[n]);
            break;
        default: text += fmt::format(" {}", i.count); break;
        }
    }
    if (may_have_length(row) && i.length() != k_no_length)
        text += fmt::format(" len x{}", i.length());
    if (row.operation == operation_kind::slices || (may_have_redop(row) && i.redop != 0))
        text += fmt::format(" type {}", abi::k_element_rows[i.type].name);
    if (may_have_redop(row) && i.redop != 0)
        text += fmt::format(" op {}", k_ccu_redop_names[i.redop]);
    if (i.wait_mask != 0)
        text += fmt::format(" wait {}:{:#x}", i.wait_entry, i.wait_mask);
    if ((i.flags & k_clears) != 0)
        text += " clear";
    if (i.set_mask != 0)
        text += fmt::format(" set {}:{:#x}", i.set_entry, i.set_mask);
    return text;
}

} // namespace

std::string disassemble_ccu(const instruction& i)
{
    return line_of(i, [](std::uint16_t n) { return std::to_string(n); });
}

std::string disassemble_ccu(const ccu_program& program)
{
    std::vector<problem> problems;
    std::set<std::uint16_t> named;
    for (std::size_t n = 0; n < program.code.size(); ++n) {
        for (const std::string& what : illegalities(program.code[n]))
            problems.push_back({severity::error, {program.file, 0, 0}, "", fmt::format("instruction {}: {}.", n, what)});
        if (ccu_row(program.code[n].code) == nullptr)
            continue;
        for (const ccu_operand& o : operands_of(*ccu_row(program.code[n].code)))
            if (o.kind == ccu_operand_kind::label && program.code[n].r[o.field] <= program.code.size())
                named.insert(program.code[n].r[o.field]);
    }
    throw_if_errors(problems);
    const auto label = [&](std::uint16_t n) { return named.count(n) != 0 ? fmt::format("i{}", n) : std::to_string(n); };
    std::string text;
    for (std::size_t n = 0; n < program.code.size(); ++n) {
        if (named.count(static_cast<std::uint16_t>(n)) != 0 && n <= 0xffff)
            text += fmt::format("i{}:\n", n);
        text += "    " + line_of(program.code[n], label) + "\n";
    }
    if (program.code.size() <= 0xffff && named.count(static_cast<std::uint16_t>(program.code.size())) != 0)
        text += fmt::format("i{}:\n", program.code.size());
    return text;
}

} // namespace weft
