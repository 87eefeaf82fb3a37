// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_plan.h"

namespace weft {

const char* name_of(ub_channel c)
{
    static constexpr const char* names[k_ub_channels] = {"local",  "X+",   "X-",     "Y+",   "Y-",    "U",
                                                         "D",      "Z+",   "Z-",     "A+",   "A-",    "H up",
                                                         "H down", "S up", "S down", "C up", "C down"};
    return names[static_cast<unsigned>(c)];
}

} // namespace weft
