// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The text form of microcode, files *.ccu: one instruction a line (docs/21_ccu.md).
//
//   .equ token x2                 ; a name for a number or a register
//   again:                        ; a label: the number of the next instruction, from the task's start
//       remote_mem_to_ms c0 m1 a0 token len x3 set 0:0x2
//       reduce_add m0 m1 type float16 wait 0:0x3 clear set 0:0x1
#pragma once

#include "platforms/ccu/ccu_program.h"

#include <string>
#include <vector>

namespace weft {

/// Texts longer than this are refused.
inline constexpr std::size_t k_most_ccu_text_bytes = std::size_t{4} << 20;

/// The whole text; every problem, in the order of the lines. The program is good to look at, but not to run, when one
/// is an error.
ccu_program assemble_ccu(const std::string& text, const std::string& file_name, std::vector<problem>& problems);
/// The same; throws user_error with all problems.
ccu_program assemble_ccu(const std::string& text, const std::string& file_name);

} // namespace weft
