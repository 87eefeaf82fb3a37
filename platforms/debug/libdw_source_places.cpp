// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/source_places.h"
#include "platforms/debug/symbol_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace weft {

struct source_places::contents {
    std::vector<std::uint8_t> image; ///< libelf reads from it
    int file = -1;
    Elf* elf = nullptr;
    Dwarf* dwarf = nullptr;

    Dwarf_CFI* calls = nullptr; ///< of .debug_frame; belongs to dwarf

    ~contents()
    {
        dwarf_end(dwarf);
        elf_end(elf);
        if (file >= 0)
            close(file);
    }
    void begin(Elf* opened)
    {
        elf = opened;
        dwarf = elf == nullptr ? nullptr : dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
        calls = dwarf == nullptr ? nullptr : dwarf_getcfi(dwarf);
    }
    /// Of the symbol table, as it is mangled; "" when no function has the address.
    std::string symbol_at(std::uint64_t address) const
    {
        for (Elf_Scn* section = nullptr; elf != nullptr && (section = elf_nextscn(elf, section)) != nullptr;) {
            GElf_Shdr head;
            if (gelf_getshdr(section, &head) == nullptr || head.sh_type != SHT_SYMTAB || head.sh_entsize == 0)
                continue;
            Elf_Data* const data = elf_getdata(section, nullptr);
            for (int i = 0; i < static_cast<int>(head.sh_size / head.sh_entsize); ++i) {
                GElf_Sym symbol;
                if (gelf_getsym(data, i, &symbol) == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
                    address < symbol.st_value || address - symbol.st_value >= symbol.st_size)
                    continue;
                const char* const name = elf_strptr(elf, head.sh_link, symbol.st_name);
                return name == nullptr ? "" : name;
            }
        }
        return "";
    }
    /// Of the innermost function that the compiler has put there; "" when that is the one of the symbol.
    static std::string inlined_at(Dwarf_Die& unit, std::uint64_t address)
    {
        Dwarf_Die* scopes = nullptr;
        const int count = dwarf_getscopes(&unit, address, &scopes);
        std::string name;
        for (int i = 0; i < count; ++i) {
            const int tag = dwarf_tag(&scopes[i]);
            if (tag == DW_TAG_subprogram)
                break;
            if (tag != DW_TAG_inlined_subroutine)
                continue;
            Dwarf_Attribute attribute;
            const char* const linkage =
                dwarf_formstring(dwarf_attr_integrate(&scopes[i], DW_AT_linkage_name, &attribute));
            const char* const plain = dwarf_diename(&scopes[i]);
            name = linkage != nullptr ? linkage : plain != nullptr ? plain : "";
            break;
        }
        if (count > 0)
            std::free(scopes);
        return name;
    }
    bool unit_at(std::uint64_t address, Dwarf_Die& unit) const
    {
        if (dwarf == nullptr)
            return false;
        if (dwarf_addrdie(dwarf, address, &unit) != nullptr)
            return true;
        Dwarf_Off next = 0; // without a table of addresses: one unit after the other
        std::size_t head_bytes = 0;
        for (Dwarf_Off at = 0; dwarf_nextcu(dwarf, at, &next, &head_bytes, nullptr, nullptr, nullptr) == 0; at = next)
            if (dwarf_offdie(dwarf, at + head_bytes, &unit) != nullptr && dwarf_haspc(&unit, address) > 0)
                return true;
        return false;
    }
};

source_places::source_places(const std::string& path) : contents_(std::make_unique<contents>())
{
    elf_version(EV_CURRENT);
    contents_->file = open(path.empty() ? "/proc/self/exe" : path.c_str(), O_RDONLY | O_CLOEXEC);
    if (contents_->file >= 0)
        contents_->begin(elf_begin(contents_->file, ELF_C_READ_MMAP, nullptr));
}

source_places::source_places(std::vector<std::uint8_t> elf_file) : contents_(std::make_unique<contents>())
{
    elf_version(EV_CURRENT);
    contents_->image = std::move(elf_file);
    contents_->begin(elf_memory(reinterpret_cast<char*>(contents_->image.data()), contents_->image.size()));
}

source_places::~source_places() = default;

std::string source_places::at(std::uint64_t address) const
{
    std::string place;
    std::string function;
    Dwarf_Die unit;
    if (contents_->unit_at(address, unit)) {
        Dwarf_Line* const line = dwarf_getsrc_die(&unit, address);
        const char* const file = line == nullptr ? nullptr : dwarf_linesrc(line, nullptr, nullptr);
        int number = 0;
        if (file != nullptr && dwarf_lineno(line, &number) == 0 && number > 0)
            place = fmt::format("{}:{}", short_source_path(file), number);
        function = contents::inlined_at(unit, address);
    }
    if (function.empty())
        function = contents_->symbol_at(address);
    if (!function.empty())
        place += (place.empty() ? "" : ", ") + function_name(function);
    return place;
}

namespace {

constexpr int k_ra = 1;
constexpr std::uint8_t k_sp = 2;

/// The few operations that frames of compiled code use. False: another one.
bool address_by(const Dwarf_Op* ops, std::size_t count, std::uint64_t cfa, std::uint64_t sp, std::uint64_t& result)
{
    for (std::size_t i = 0; i < count; ++i)
        switch (ops[i].atom) {
        case DW_OP_call_frame_cfa: result = cfa; break;
        case DW_OP_plus_uconst: result += ops[i].number; break;
        case DW_OP_breg0 + k_sp: result = sp + ops[i].number; break;
        case DW_OP_bregx:
            if (ops[i].number != k_sp)
                return false;
            result = sp + ops[i].number2;
            break;
        default: return false;
        }
    return count != 0;
}

} // namespace

source_places::frame source_places::caller_of(const frame& f,
                                              const std::function<std::uint64_t(std::uint64_t)>& read) const
{
    const frame by_register{f.ra == 0 ? 0 : f.ra - 1, f.sp, 0}; // a leaf, or assembler without such information
    Dwarf_Frame* found = nullptr;
    if (contents_->calls == nullptr || dwarf_cfi_addrframe(contents_->calls, f.pc, &found) != 0)
        return by_register;
    const std::unique_ptr<Dwarf_Frame, void (*)(void*)> owner(found, std::free);
    Dwarf_Op* ops = nullptr;
    std::size_t count = 0;
    std::uint64_t cfa = 0;
    if (dwarf_frame_cfa(found, &ops, &count) != 0 || !address_by(ops, count, 0, f.sp, cfa))
        return by_register;
    Dwarf_Op memory[3];
    std::uint64_t saved_at = 0;
    if (dwarf_frame_register(found, k_ra, memory, &ops, &count) != 0 || ops == nullptr || count == 0)
        return {by_register.pc, cfa, 0}; // still in its register
    if (!address_by(ops, count, cfa, f.sp, saved_at))
        return {0, cfa, 0};
    const std::uint64_t return_to = read(saved_at);
    return {return_to == 0 ? 0 : return_to - 1, cfa, 0};
}

} // namespace weft
