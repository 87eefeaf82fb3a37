// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platforms/ccu/ccu_program.h"

#include <string>

namespace weft {

/// The instruction as one line without a newline; instructions that it names by number. It must be legal
/// (illegalities()).
std::string disassemble_ccu(const abi::ccu::instruction& i);

/// A whole program with labels, as the assembler reads it. Throws user_error that names every instruction that is not
/// legal.
std::string disassemble_ccu(const ccu_program& program);

} // namespace weft
