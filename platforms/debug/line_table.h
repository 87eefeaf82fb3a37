// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which source line an instruction belongs to, from the DWARF line table of an ELF file. Read by libdw; a build without
// it reads nothing and says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Code of one line: [first, end). A line may have many such pieces, and a piece is never empty.
struct line_piece {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::string file; ///< absolute
    unsigned line = 0;
};

struct line_table {
    std::string problem; ///< why there is none, as the rest of a sentence about the firmware
    std::vector<line_piece> pieces;
};

bool can_read_line_tables();
line_table read_line_table(const std::vector<std::uint8_t>& elf_file);

} // namespace weft
