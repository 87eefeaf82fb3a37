// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where chance has a part in a run: seeds of losses, bit errors and generated data.
#pragma once

#include "platforms/config/config_dump.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::cli {

/// Key and value of each seed that the configuration makes use of.
std::vector<std::pair<std::string, std::uint64_t>> seeds_in_use(const config_field& resolved);

} // namespace weft::cli
