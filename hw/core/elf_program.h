// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// RV64 programs for the cores: a small ELF loader over <elf.h>. Takes statically linked ET_EXEC files whose
// segments lie in program memory (hw/abi/platform_table.h). Pure C++; never reads outside the bytes it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct elf_segment {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes; ///< what the file holds
    std::uint64_t memory_bytes = 0;  ///< >= bytes.size(); the rest is zero
};

struct elf_program {
    std::string problem; ///< why it cannot run, as the rest of a sentence about the key `elf`; "" when it can
    std::uint64_t entry = 0;
    std::vector<elf_segment> segments;
};

/// `name` stands in the problem.
elf_program parse_elf(const std::uint8_t* file, std::size_t bytes, const std::string& name);
elf_program read_elf_file(const std::string& path);

} // namespace weft
