// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The wait-for picture of a fabric in words: every head that cannot go on, and the cycle if they form one.
#pragma once

#include "hw/fabric/fabric_layout.h"
#include "tlm/packet.h"

#include <string>
#include <vector>

namespace weft {

/// "" where nothing is blocked; names `at_most` heads and says how many more there are.
std::string describe_blocked(const std::vector<blocked_head>& heads, const fabric_layout& layout, packet_pool& pool, std::size_t at_most);

} // namespace weft
