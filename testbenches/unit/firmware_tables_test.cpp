// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is read from the firmware's ELF file for people: names of functions, lines.
#include "platforms/debug/firmware_coverage.h"
#include "platforms/debug/symbol_table.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <elf.h>
#include <random>

using namespace weft;

namespace {

constexpr std::uint64_t k_base = abi::k_program_memory_base;

/// Section headers, two functions and their names; enough for a symbol table.
std::vector<std::uint8_t> file_with_symbols()
{
    const char names[] = "\0_ZN4weft8firmware14run_collectiveERi\0weft_read32";
    const Elf64_Sym symbols[] = {
        {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, k_base + 0x100, 0x20},
        {38, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, k_base + 0x120, 6},
        {38, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, k_base - 2, 6},             // outside
        {0x7fffffff, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, k_base + 0x200, 2}, // a name outside
        {38, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, k_base + 0x300, ~0ull},     // too long
    };
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = 2;
    head.e_shoff = sizeof head;
    Elf64_Shdr sections[2] = {};
    sections[0].sh_type = SHT_SYMTAB;
    sections[0].sh_link = 1;
    sections[0].sh_offset = sizeof head + sizeof sections;
    sections[0].sh_size = sizeof symbols;
    sections[1].sh_type = SHT_STRTAB;
    sections[1].sh_offset = sections[0].sh_offset + sizeof symbols;
    sections[1].sh_size = sizeof names;
    std::vector<std::uint8_t> file;
    const auto append = [&](const void* data, std::size_t bytes) {
        const auto* first = static_cast<const std::uint8_t*>(data);
        file.insert(file.end(), first, first + bytes);
    };
    append(&head, sizeof head);
    append(sections, sizeof sections);
    append(symbols, sizeof symbols);
    append(names, sizeof names);
    return file;
}

} // namespace

TEST_CASE("names of functions are shown without parameters")
{
    CHECK(function_name("weft_read32") == "weft_read32");
    CHECK(function_name("_ZN4weft8firmware14run_collectiveERi") == "weft::firmware::run_collective");
    CHECK(function_name("_ZNK4weft4boot8rv64_hal5faultEv") == "weft::boot::rv64_hal::fault");
    CHECK(function_name("_ZN12_GLOBAL__N_15startEv") == "(anonymous namespace)::start");
    CHECK(function_name("_ZN4weft1fEPFvvE") == "weft::f");
    CHECK(function_name("_ZN4weft1fEv.constprop.0") == "weft::f");
    CHECK(function_name("memset.part.0") == "memset");
    CHECK(function_name("_start") == "_start");
    CHECK(function_name("").empty());
}

TEST_CASE("the symbol table of a file whole and damaged")
{
    const std::vector<std::uint8_t> file = file_with_symbols();
    const symbol_table table(file);
    CHECK(table.functions() == 3);
    CHECK(table.name(table.at(k_base + 0x100)) == "weft::firmware::run_collective");
    CHECK(table.name(table.at(k_base + 0x11e)) == "weft::firmware::run_collective");
    CHECK(table.name(table.at(k_base + 0x120)) == "weft_read32");
    CHECK(table.at(k_base + 0x126) == symbol_table::k_none);
    CHECK(table.at(0) == symbol_table::k_none);
    CHECK(table.at(~0ull) == symbol_table::k_none);
    CHECK(symbol_table({}).functions() == 0);

    std::mt19937_64 random(4);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::uint8_t> damaged = file;
        for (int n = 0; n < 4; ++n)
            damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
        damaged.resize(random() % (damaged.size() + 1));
        CHECK(symbol_table(damaged).at(k_base + 0x100) <= 5);
    }
}

TEST_CASE("line coverage: the busiest instruction counts and headers of the compiler do not")
{
    firmware_coverage coverage;
    for (const std::uint64_t offset : {0u, 2u, 2u, 8u})
        coverage.on_instruction(k_base + offset);
    coverage.on_instruction(0); // outside: of no line
    line_table lines;
    lines.pieces = {{k_base, k_base + 4, "/s/b/../a.cpp", 7},    {k_base + 4, k_base + 8, "/s/a.cpp", 8},
                    {k_base + 8, k_base + 10, "/s/a.cpp", 8},    {k_base + 10, k_base + 12, "/s/a.cpp", 9},
                    {k_base, k_base + 2, "/usr/include/x.h", 1}, {k_base - 4, k_base, "/s/outside.cpp", 1},
                    {~0ull - 1, ~0ull, "/s/outside.cpp", 1}};
    CHECK(coverage.lcov(lines) == "TN:firmware\nSF:/s/a.cpp\nDA:7,2\nDA:8,1\nDA:9,0\nLF:3\nLH:2\nend_of_record\n");
}
