// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The ELF loader and the little decoder of the RV64 core.
#include "hw/abi/platform_table.h"
#include "hw/core/elf_program.h"
#include "hw/core/engines/rv64_decode.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <elf.h>
#include <vector>

using namespace weft;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t k_base = abi::k_program_memory_base;

/// A small but whole program: one segment of 16 bytes of code in 32 bytes of memory.
struct file {
    Elf64_Ehdr head{};
    Elf64_Phdr segment{};
    std::vector<std::uint8_t> code = std::vector<std::uint8_t>(16, 0x13);

    file()
    {
        std::memcpy(head.e_ident, ELFMAG, SELFMAG);
        head.e_ident[EI_CLASS] = ELFCLASS64;
        head.e_ident[EI_DATA] = ELFDATA2LSB;
        head.e_type = ET_EXEC;
        head.e_machine = EM_RISCV;
        head.e_entry = k_base + 4;
        head.e_phoff = sizeof head;
        head.e_phentsize = sizeof segment;
        head.e_phnum = 1;
        segment.p_type = PT_LOAD;
        segment.p_flags = PF_R | PF_X;
        segment.p_offset = sizeof head + sizeof segment;
        segment.p_vaddr = k_base;
        segment.p_filesz = code.size();
        segment.p_memsz = 32;
    }
    std::vector<std::uint8_t> bytes() const
    {
        std::vector<std::uint8_t> all(sizeof head + sizeof segment + code.size());
        std::memcpy(all.data(), &head, sizeof head);
        std::memcpy(all.data() + sizeof head, &segment, sizeof segment);
        std::memcpy(all.data() + sizeof head + sizeof segment, code.data(), code.size());
        return all;
    }
    std::string problem() const
    {
        const auto all = bytes();
        return parse_elf(all.data(), all.size(), "x.elf").problem;
    }
};

} // namespace

TEST_CASE("elf: a sound program is loaded")
{
    const auto all = file().bytes();
    const elf_program p = parse_elf(all.data(), all.size(), "x.elf");
    CHECK(p.problem == "");
    CHECK(p.entry == k_base + 4);
    REQUIRE(p.segments.size() == 1);
    CHECK(p.segments[0].address == k_base);
    CHECK(p.segments[0].bytes == std::vector<std::uint8_t>(16, 0x13));
    CHECK(p.segments[0].memory_bytes == 32);
}

TEST_CASE("elf: what cannot run is refused with a sentence")
{
    file f;
    const auto refused = [&](const char* why) {
        const std::string problem = f.problem();
        INFO(problem);
        CHECK_THAT(problem, Contains(why));
        CHECK_THAT(problem, Catch::StartsWith("names 'x.elf', wh") && Catch::EndsWith("."));
    };
    SECTION("no ELF")
    {
        f.head.e_ident[0] = 'x';
        refused("no ELF file");
    }
    SECTION("32 bits")
    {
        f.head.e_ident[EI_CLASS] = ELFCLASS32;
        refused("32-bit little-endian program for RISC-V");
    }
    SECTION("big-endian")
    {
        f.head.e_ident[EI_DATA] = ELFDATA2MSB;
        refused("big-endian");
    }
    SECTION("the host's")
    {
        f.head.e_machine = EM_X86_64;
        refused("for x86-64, but the cores are RV64GC");
    }
    SECTION("some other machine")
    {
        f.head.e_machine = 9999;
        refused("machine 9999");
    }
    SECTION("an object file")
    {
        f.head.e_type = ET_REL;
        refused("an object file");
    }
    SECTION("a PIE")
    {
        f.head.e_type = ET_DYN;
        refused("position-independent");
    }
    SECTION("program headers outside")
    {
        f.head.e_phoff = ~0ull;
        refused("program headers lie outside");
    }
    SECTION("too many program headers")
    {
        f.head.e_phnum = 60000;
        refused("program headers lie outside");
    }
    SECTION("no program headers")
    {
        f.head.e_phnum = 0;
        refused("program headers lie outside");
    }
    SECTION("dynamic")
    {
        f.segment.p_type = PT_INTERP;
        refused("dynamically linked");
    }
    SECTION("segment beyond the file")
    {
        f.segment.p_filesz = 17;
        refused("segment 0 lies outside the file");
    }
    SECTION("segment far beyond the file")
    {
        f.segment.p_offset = ~0ull - 3;
        refused("outside the file");
    }
    SECTION("file larger than memory")
    {
        f.segment.p_memsz = 15;
        refused("outside the file");
    }
    SECTION("below program memory")
    {
        f.segment.p_vaddr = k_base - 1;
        refused("outside program memory");
    }
    SECTION("beyond program memory")
    {
        f.segment.p_memsz = abi::k_program_memory_bytes + 1;
        refused("segment 0 of 327681 bytes at 0x100000 lies outside program memory (0x100000 to 0x14ffff)");
    }
    SECTION("around the end of addresses")
    {
        f.segment.p_vaddr = ~0ull - 3;
        refused("outside program memory");
    }
    SECTION("nothing to load")
    {
        f.segment.p_type = PT_NOTE;
        refused("nothing to load");
    }
    SECTION("no entry")
    {
        f.head.e_entry = 0;
        refused("no entry");
    }
    SECTION("entry elsewhere")
    {
        f.head.e_entry = k_base + 32;
        refused("entry 0x100020 lies in no executable segment");
    }
    SECTION("entry at an odd address")
    {
        f.head.e_entry = k_base + 1;
        refused("in no executable segment");
    }
    SECTION("entry in data")
    {
        f.segment.p_flags = PF_R | PF_W;
        refused("in no executable segment");
    }
}

TEST_CASE("elf: every cut and every changed byte of the headers is survived")
{
    const auto whole = file().bytes();
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK(parse_elf(whole.data(), length, "x.elf").problem != "");
    for (std::size_t at = 0; at < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr); ++at)
        for (const unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu}) {
            auto changed = whole;
            changed[at] = static_cast<std::uint8_t>(value);
            const elf_program p = parse_elf(changed.data(), changed.size(), "x.elf");
            for (const elf_segment& s : p.segments) {
                CHECK(s.address >= k_base);
                CHECK(s.bytes.size() <= s.memory_bytes);
                CHECK(s.memory_bytes <= k_base + abi::k_program_memory_bytes - s.address);
            }
        }
}

TEST_CASE("elf: files that cannot be read")
{
    CHECK_THAT(read_elf_file("/nonexistent/x.elf").problem, Contains("cannot be read: No such file"));
    CHECK_THAT(read_elf_file("/").problem, Contains("is no file"));
}

TEST_CASE("rv64 decoding: widths of accesses and reads of counters")
{
    // As the assembler encodes them.
    CHECK(rv64::access_bytes(0xffc5a603) == 4); // lw a2, -4(a1)
    CHECK(rv64::access_bytes(0x0135a223) == 4); // sw s3, 4(a1)
    CHECK(rv64::access_bytes(0x00a58583) == 1); // lb a1, 10(a1)
    CHECK(rv64::access_bytes(0x00a5d583) == 2); // lhu a1, 10(a1)
    CHECK(rv64::access_bytes(0x0135a6af) == 4); // amoadd.w a3, s3, (a1)
    CHECK(rv64::access_bytes(0x00bdb023) == 8); // sd a1, 0(s11)
    CHECK(rv64::access_bytes(0x4190) == 4);     // c.lw a2, 0(a1)
    CHECK(rv64::access_bytes(0xc1d4) == 4);     // c.sw a3, 4(a1)
    CHECK(rv64::access_bytes(0x639c) == 8);     // c.ld a5, 0(a5)
    CHECK(rv64::access_bytes(0x2588) == 8);     // c.fld fa0, 8(a1)
    CHECK(rv64::access_bytes(0xec06) == 8);     // c.sdsp ra, 24(sp)
    CHECK(rv64::access_bytes(0x60e2) == 8);     // c.ldsp ra, 24(sp)
    CHECK(rv64::access_bytes(0x00160693) == 0); // addi
    CHECK(rv64::access_bytes(0x0001) == 0);     // c.nop
    CHECK(rv64::access_bytes(0x8082) == 0);     // c.jr ra
    CHECK(rv64::decode_csr_read(0xc0002473).csr == 0xc00);
    CHECK(rv64::decode_csr_read(0xc0002473).rd == 8);
    CHECK(rv64::decode_csr_read(0xf1402573).csr == 0xf14);
    CHECK(rv64::decode_csr_read(0x30529073).csr == 0); // csrw mtvec
}
