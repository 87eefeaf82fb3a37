// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in its source an instruction is: file, line and function, from the debug information and the symbols of an ELF
// file.
// Read by libdw; a build without it asks addr2line, which may not be there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class source_places {
public:
    /// Of a file; "" is this program itself.
    explicit source_places(const std::string& path);
    /// Of a file in memory.
    explicit source_places(std::vector<std::uint8_t> elf_file);
    ~source_places();
    source_places(const source_places&) = delete;
    source_places& operator=(const source_places&) = delete;

    /// "firmware/drivers/dma_driver.cpp:104, weft::firmware::dma_driver::wait_space" for an address as the file has it;
    /// the function alone, or "", where less is known.
    std::string at(std::uint64_t address) const;

    /// A call under way on an RV64 hart.
    struct frame {
        std::uint64_t pc = 0; ///< an address in the instruction that it is at
        std::uint64_t sp = 0;
        std::uint64_t ra = 0; ///< of the innermost frame; 0 of others
    };
    /// The frame that called `f`, by the call frame information; its pc is 0 where the file does not tell. `read` gives
    /// a word of the stack.
    frame caller_of(const frame& f, const std::function<std::uint64_t(std::uint64_t address)>& read) const;

private:
    struct contents;
    std::unique_ptr<contents> contents_;
};

/// The path of this program.
std::string own_program();
/// As people know them: from the folder of the firmware on.
std::string short_source_path(std::string path);

} // namespace weft
