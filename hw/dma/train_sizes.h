// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a packet, or a train of full ones, takes of wire and buffers. As packet_format says, but full packets are not
// computed again. Plain C++.
#pragma once

#include "tlm/packet.h"

#include <cstdint>

namespace weft {

class train_sizes {
public:
    /// `format` outlives it.
    explicit train_sizes(const packet_format& format)
        : full_bytes_(format.max_payload_bytes),
          full_wire_bytes_(static_cast<std::uint32_t>(format.wire_bytes(full_bytes_))),
          full_cells_(static_cast<std::uint32_t>(format.cells(full_bytes_))), format_(format)
    {
    }

    struct sizes {
        std::uint32_t packets, cells, wire_bytes;
    };
    /// Of `payload_bytes`: up to a full packet, or several full ones.
    sizes of(std::uint32_t payload_bytes) const
    {
        if (payload_bytes < full_bytes_)
            return of_short(payload_bytes);
        const std::uint32_t packets = payload_bytes == full_bytes_ ? 1 : payload_bytes / full_bytes_;
        return {packets, packets * full_cells_, packets * full_wire_bytes_};
    }

private:
    /// A function of its own: it is so long that full packets would not be inlined with it.
    [[gnu::noinline]] sizes of_short(std::uint32_t payload_bytes) const
    {
        return {1, static_cast<std::uint32_t>(format_.cells(payload_bytes)),
                static_cast<std::uint32_t>(format_.wire_bytes(payload_bytes))};
    }

    std::uint32_t full_bytes_, full_wire_bytes_, full_cells_;
    const packet_format& format_;
};

} // namespace weft
