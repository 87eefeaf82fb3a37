// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Microcode as a file of bytes, little endian:
//   magic "WCCU", version, number of instructions, 0   (32 bits each)
//   instructions of 32 bytes (hw/abi/ccu.h)
//   abi::check_word of all 32-bit words before it       (64 bits)
#pragma once

#include "platforms/ccu/ccu_program.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

inline constexpr std::uint32_t k_ccu_file_version = 1;

/// Whether it begins as one does, and is no text.
bool is_ccu_file(const std::string& bytes);
std::string ccu_file_bytes(const std::vector<abi::ccu::instruction>& code);

/// Throws user_error: no such file (as its first bytes tell), another version, cut off, damaged.
std::vector<abi::ccu::instruction> read_ccu_file(const std::string& bytes, const std::string& file_name);

/// The four words of an instruction as CODE_DATA takes them.
void ccu_words(const abi::ccu::instruction& i, std::uint64_t (&words)[abi::ccu::k_words_of_instruction]);

} // namespace weft
