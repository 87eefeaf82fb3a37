// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace weft {

/// The table of all instructions as a page, made from hw/abi/ccu_ops.def; `notice` says by whom.
std::string ccu_instruction_page(const std::string& notice);

} // namespace weft
