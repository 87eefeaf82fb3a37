// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes that have arrived and not yet gone to memory, in a buffer with a limit. Plain C++, no events: what has gone is
// known when somebody asks.
#pragma once

#include "hw/ethernet/ring_fifo.h"

#include <cstdint>

namespace weft {

class receive_buffer {
public:
    explicit receive_buffer(std::uint64_t room_bytes) : room_bytes_(room_bytes) {}

    bool fits(std::uint32_t bytes, std::uint64_t now_ps)
    {
        while (!held_.empty() && held_.front().until_ps <= now_ps) {
            bytes_ -= held_.front().bytes;
            held_.pop();
        }
        return bytes_ + bytes <= room_bytes_;
    }
    /// Bytes go in the order of the calls: those that go late keep the ones behind them.
    void hold(std::uint32_t bytes, std::uint64_t until_ps)
    {
        held_.push({until_ps, bytes});
        bytes_ += bytes;
    }
    void clear()
    {
        held_.clear();
        bytes_ = 0;
    }

private:
    struct held {
        std::uint64_t until_ps;
        std::uint32_t bytes;
    };
    std::uint64_t room_bytes_;
    ring_fifo<held> held_;
    std::uint64_t bytes_ = 0;
};

} // namespace weft
