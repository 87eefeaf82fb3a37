// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/line_table.h"

namespace weft {

bool can_read_line_tables() { return false; }

line_table read_line_table(const std::vector<std::uint8_t>&)
{
    return {"cannot be read: this build has no libdw; install libdw-dev and build again.", {}};
}

} // namespace weft
