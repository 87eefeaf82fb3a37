// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/symbol_table.h"

#include "hw/abi/platform_table.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <memory>
#include <optional>

namespace weft {

namespace {

constexpr std::uint64_t k_base = abi::k_program_memory_base;
constexpr std::uint64_t k_bytes = abi::k_program_memory_bytes;
constexpr std::size_t k_most_functions = 0xffff;

template <class T> std::optional<T> read_at(const std::vector<std::uint8_t>& file, std::uint64_t offset)
{
    T value;
    if (offset > file.size() || file.size() - offset < sizeof value)
        return std::nullopt;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
}

std::string text_at(const std::vector<std::uint8_t>& file, std::uint64_t offset)
{
    std::string text;
    for (; offset < file.size() && file[offset] != 0; ++offset)
        text += static_cast<char>(file[offset]);
    return text;
}

} // namespace

std::string function_name(const std::string& symbol)
{
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> demangled(
        __cxxabiv1::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
    std::string name = demangled ? demangled.get() : symbol.substr(0, symbol.find('.', 1));
    name = name.substr(0, name.find(" [clone"));
    const std::size_t last = name.rfind(')'); // " const" may follow
    if (!demangled || last == std::string::npos)
        return name;
    std::size_t open = last + 1;
    int depth = 0;
    do {
        --open;
        depth += name[open] == ')' ? 1 : name[open] == '(' ? -1 : 0;
    } while (depth != 0 && open != 0);
    return open == 0 ? name : name.substr(0, open);
}

symbol_table::symbol_table(const std::vector<std::uint8_t>& file) : by_half_word_(k_bytes / 2, k_none)
{
    const auto head = read_at<Elf64_Ehdr>(file, 0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(Elf64_Shdr))
        return;
    const auto section = [&](std::uint64_t number) {
        return number < head->e_shnum ? read_at<Elf64_Shdr>(file, head->e_shoff + number * sizeof(Elf64_Shdr))
                                      : std::nullopt;
    };
    for (unsigned s = 0; s < head->e_shnum; ++s) {
        const auto symbols = section(s);
        if (!symbols || symbols->sh_type != SHT_SYMTAB)
            continue;
        const auto strings = section(symbols->sh_link);
        for (std::uint64_t i = 0; strings && i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
            const auto symbol = read_at<Elf64_Sym>(file, symbols->sh_offset + i * sizeof(Elf64_Sym));
            if (!symbol || names_.size() > k_most_functions)
                return;
            const std::uint64_t first = symbol->st_value - k_base;
            if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || first >= k_bytes || symbol->st_size > k_bytes - first)
                continue;
            if (by_half_word_[first / 2] != k_none)
                continue; // another name of the same function
            names_.push_back(function_name(text_at(file, strings->sh_offset + symbol->st_name)));
            for (std::uint64_t at = first; at < first + symbol->st_size; at += 2)
                by_half_word_[at / 2] = static_cast<std::uint16_t>(names_.size() - 1);
        }
    }
}

std::uint16_t symbol_table::at(std::uint64_t address) const
{
    return address - k_base < k_bytes ? by_half_word_[(address - k_base) / 2] : k_none;
}

} // namespace weft
