// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of a firmware, from the symbol table of its ELF file. Pure C++; never reads outside the bytes it is
// given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class symbol_table {
public:
    static constexpr std::uint16_t k_none = 0; ///< number of "?", for code that no symbol covers

    explicit symbol_table(const std::vector<std::uint8_t>& elf_file);

    /// Number of the function that has the instruction at `address` in program memory.
    std::uint16_t at(std::uint64_t address) const;
    /// As in the source, without parameters: "weft::firmware::run_collective".
    const std::string& name(std::uint16_t function) const { return names_[function]; }
    std::size_t functions() const { return names_.size() - 1; }

private:
    std::vector<std::uint16_t> by_half_word_;
    std::vector<std::string> names_{"?"};
};

/// The name of a mangled symbol, without parameters and without what the compiler appends to parts of a function.
std::string function_name(const std::string& symbol);

} // namespace weft
