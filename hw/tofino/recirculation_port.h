// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A port in loop-back: a FIFO with a finite queue, then serialisation. Plain C++, no events: a FIFO at a fixed rate is
// known from the time until which it is busy.
#pragma once

#include "tlm/busy_time.h"
#include "tlm/units.h"

#include <algorithm>
#include <cstdint>

namespace weft {

class recirculation_port {
public:
    struct accepted {
        bool ok;
        std::uint64_t start_ps;
        std::uint64_t serialisation_ps;
        std::uint64_t backlog_ps; ///< until the last byte of this packet has left
    };
    accepted send(std::uint32_t wire_bytes, std::uint64_t now_ps, const wire_rate& rate, std::uint64_t room_ps)
    {
        const std::uint64_t start = std::max(busy_.until_ps(), now_ps);
        const std::uint64_t span = rate.time_ps(wire_bytes);
        const std::uint64_t backlog = start - now_ps + span;
        if (backlog > room_ps)
            return {false, 0, 0, backlog};
        busy_.serve(now_ps, span);
        sent_bytes_ += wire_bytes;
        return {true, start, span, backlog};
    }

    std::uint64_t sent_bytes() const { return sent_bytes_; }
    const busy_time& busy() const { return busy_; }

private:
    busy_time busy_;
    std::uint64_t sent_bytes_ = 0;
};

/// Ports of the chip, 128 a pipe, by the numbers of the published next-step tables. `home` turns them by whole pipes.
inline constexpr std::uint32_t k_chip_ports = 512;
constexpr std::uint32_t turned(std::uint32_t port, std::uint32_t home) { return (port + 128 * home) % k_chip_ports; }
/// To CONSUME1..3.
constexpr std::uint32_t consume_port(std::uint32_t number, std::uint32_t worker) { return 128 * number + 4 * worker; }
/// To HARVEST1..7.
constexpr std::uint32_t harvest_port(std::uint32_t number)
{
    constexpr std::uint32_t ports[] = {0, 452, 324, 448, 196, 192, 64, 68};
    return ports[number];
}
/// From node `worker` to the node above it in the same chip (ours: the published program has no such pass).
constexpr std::uint32_t join_port(std::uint32_t worker) { return 4 * worker; }

} // namespace weft
