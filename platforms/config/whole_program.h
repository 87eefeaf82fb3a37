// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace weft {

/// What a user asks for is in the program weft, and not in weft_first. Thrown before anything is run or written.
struct whole_program_needed : std::runtime_error {
    explicit whole_program_needed(const std::string& what) : std::runtime_error(what) {}
};

} // namespace weft
