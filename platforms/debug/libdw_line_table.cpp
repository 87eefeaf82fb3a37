// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/line_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstring>
#include <memory>

namespace weft {

namespace {

std::string absolute_path(const char* file, Dwarf_Die& unit)
{
    Dwarf_Attribute attribute;
    const char* folder = file[0] == '/' ? nullptr : dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    return folder == nullptr ? file : std::string(folder) + "/" + file;
}

void add_unit(Dwarf_Die& unit, std::vector<line_piece>& pieces)
{
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&unit, &lines, &count) != 0) // sorted by address
        return;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        Dwarf_Line* const here = dwarf_onesrcline(lines, i);
        line_piece piece;
        int line = 0;
        bool is_end = false;
        const char* const file = dwarf_linesrc(here, nullptr, nullptr);
        if (dwarf_lineaddr(here, &piece.first) != 0 || dwarf_lineno(here, &line) != 0 ||
            dwarf_lineendsequence(here, &is_end) != 0 ||
            dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &piece.end) != 0)
            continue;
        // Functions that the linker has dropped lie at 0.
        if (is_end || line <= 0 || file == nullptr || piece.first == 0)
            continue;
        // Several rows of one address: all these lines begin with that instruction.
        if (piece.end <= piece.first)
            piece.end = piece.first + 2;
        piece.file = absolute_path(file, unit);
        piece.line = static_cast<unsigned>(line);
        pieces.push_back(std::move(piece));
    }
}

} // namespace

bool can_read_line_tables() { return true; }

line_table read_line_table(const std::vector<std::uint8_t>& elf_file)
{
    line_table table;
    std::vector<char> image(elf_file.begin(), elf_file.end()); // libelf wants to be able to write
    elf_version(EV_CURRENT);
    const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(image.data(), image.size()), elf_end);
    const std::unique_ptr<Dwarf, int (*)(Dwarf*)> dwarf(
        elf ? dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr) : nullptr, dwarf_end);
    if (dwarf) {
        Dwarf_Off next = 0;
        std::size_t head_bytes = 0;
        for (Dwarf_Off at = 0; dwarf_nextcu(dwarf.get(), at, &next, &head_bytes, nullptr, nullptr, nullptr) == 0;
             at = next) {
            Dwarf_Die unit;
            if (dwarf_offdie(dwarf.get(), at + head_bytes, &unit) != nullptr)
                add_unit(unit, table.pieces);
        }
    }
    if (table.pieces.empty())
        table.problem = "has no line numbers; compile it with -g and do not strip it.";
    return table;
}

} // namespace weft
