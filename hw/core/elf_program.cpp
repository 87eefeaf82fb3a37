// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/elf_program.h"

#include "hw/abi/platform_table.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

namespace weft {

namespace {

constexpr std::uint64_t k_base = abi::k_program_memory_base;
constexpr std::uint64_t k_bytes = abi::k_program_memory_bytes;
constexpr std::uint64_t k_longest_file_bytes = 256ull << 20;

bool in_range(std::uint64_t at, std::uint64_t bytes, std::uint64_t first, std::uint64_t room)
{
    return at >= first && bytes <= room && at - first <= room - bytes;
}

std::string machine_name(std::uint16_t machine)
{
    switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "x86";
    case EM_AARCH64: return "AArch64";
    case EM_ARM: return "Arm";
    case EM_RISCV: return "RISC-V";
    default: return fmt::format("machine {}", machine);
    }
}

elf_program refused(std::string problem)
{
    elf_program p;
    p.problem = std::move(problem);
    return p;
}

} // namespace

elf_program parse_elf(const std::uint8_t* file, std::size_t bytes, const std::string& name)
{
    Elf64_Ehdr head;
    if (bytes < sizeof head || std::memcmp(file, ELFMAG, SELFMAG) != 0)
        return refused(fmt::format("names '{}', which is no ELF file; give a program linked for RV64.", name));
    std::memcpy(&head, file, sizeof head);
    const bool is_64 = head.e_ident[EI_CLASS] == ELFCLASS64;
    if (!is_64 || head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != EM_RISCV)
        return refused(fmt::format("names '{}', which is a {}-bit {}-endian program for {}, but the cores are RV64GC; "
                                   "compile it with riscv64-linux-gnu-g++.",
                                   name, is_64 ? 64 : 32, head.e_ident[EI_DATA] == ELFDATA2LSB ? "little" : "big",
                                   machine_name(head.e_machine)));
    if (head.e_type != ET_EXEC)
        return refused(fmt::format(
            "names '{}', which is {}, but a core runs a program at fixed addresses; link it with -static -no-pie and the "
            "linker script firmware/boot/link.ld.",
            name, head.e_type == ET_REL ? "an object file" : "position-independent or a shared library"));
    if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == 0 ||
        !in_range(head.e_phoff, std::uint64_t{head.e_phnum} * sizeof(Elf64_Phdr), 0, bytes))
        return refused(fmt::format("names '{}', whose program headers lie outside the file; it is damaged.", name));

    elf_program p;
    p.entry = head.e_entry;
    bool entry_is_code = false;
    for (unsigned i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr s;
        std::memcpy(&s, file + head.e_phoff + i * sizeof s, sizeof s);
        if (s.p_type == PT_INTERP || s.p_type == PT_DYNAMIC)
            return refused(fmt::format("names '{}', which is dynamically linked; link it with -static.", name));
        if (s.p_type != PT_LOAD || s.p_memsz == 0)
            continue;
        if (s.p_filesz > s.p_memsz || !in_range(s.p_offset, s.p_filesz, 0, bytes))
            return refused(fmt::format("names '{}', whose segment {} lies outside the file; it is damaged.", name, i));
        if (!in_range(s.p_vaddr, s.p_memsz, k_base, k_bytes))
            return refused(fmt::format(
                "names '{}', whose segment {} of {} bytes at {:#x} lies outside program memory ({:#x} to {:#x}); link it with "
                "firmware/boot/link.ld.",
                name, i, s.p_memsz, s.p_vaddr, k_base, k_base + k_bytes - 1));
        entry_is_code |= (s.p_flags & PF_X) != 0 && in_range(head.e_entry, 2, s.p_vaddr, s.p_memsz);
        p.segments.push_back({s.p_vaddr, {file + s.p_offset, file + s.p_offset + s.p_filesz}, s.p_memsz});
    }
    if (p.segments.empty())
        return refused(fmt::format("names '{}', which has nothing to load.", name));
    if (p.entry == 0)
        return refused(fmt::format("names '{}', which has no entry; define _start, or link it with -e SYMBOL.", name));
    if (!entry_is_code || p.entry % 2 != 0)
        return refused(fmt::format(
            "names '{}', whose entry {:#x} lies in no executable segment; link it with -e SYMBOL.", name, p.entry));
    return p;
}

elf_program read_elf_file(const std::string& path)
{
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) {
        const bool sought_here = errno == ENOENT && (path.empty() || path.front() != '/');
        return refused(fmt::format(
            "names '{}', which cannot be read: {}.{}", path, std::strerror(errno),
            sought_here ? " It is looked for in the folder of the file that names it, then in the present one." : ""));
    }
    if (!S_ISREG(info.st_mode) || static_cast<std::uint64_t>(info.st_size) > k_longest_file_bytes)
        return refused(
            fmt::format("names '{}', which is no file, or longer than 256 MiB; give a program linked for RV64.", path));
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return refused(fmt::format("names '{}', which cannot be read: {}.", path, std::strerror(errno)));
    const std::vector<char> content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    return parse_elf(reinterpret_cast<const std::uint8_t*>(content.data()), content.size(), path);
}

} // namespace weft
