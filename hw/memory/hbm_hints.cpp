// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints of an HBM to the host's cache: what charge() touches.
#include "hw/memory/hbm.h"

#include <cstddef>

#pragma GCC diagnostic ignored "-Winvalid-offsetof" // GCC and Clang define it for classes with bases, too

namespace weft {

void hbm::bring_near(std::uint32_t) const
{
    static_assert(offsetof(hbm, busy_time) - offsetof(hbm, ps_per_byte_) < 64,
                  "what charge() touches lies side by side");
    fetch_line(static_cast<const memory_if*>(this)); // by which it is called
    fetch_line(&ps_per_byte_);
    fetch_line(&busy_time);
}

} // namespace weft
