// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How many packets of one message go as one transaction, a train. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft {

struct train_limits {
    std::uint32_t packets = 1;     ///< of a train, at most; 1: single packets
    std::uint32_t per_message = 1; ///< trains of one message, at least: each is a small part of it

    std::uint32_t of_message(std::uint32_t message_packets) const
    {
        const std::uint32_t most = std::min(packets, message_packets / per_message);
        std::uint32_t length = 1;
        while (2 * length <= most)
            length *= 2;
        return per_message == 1 ? std::max(1u, most) : length;
    }
};

} // namespace weft
