// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/abi/hal.h"

namespace weft::firmware {

/// What a collective did, for the response.
struct collective_result {
    abi::status status;
    std::uint32_t steps = 0;
    std::uint32_t messages = 0;
    std::uint32_t failed_step = 0;
    std::uint32_t failed_peer = 0; ///< number of ranks when no peer was waited for
};

} // namespace weft::firmware
