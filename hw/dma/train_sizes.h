// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a packet, or a train of full ones, takes of wire and buffers. As packet_format says, but full packets are not computed again. Plain C++.
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

    // Of `payload_bytes`: up to a full packet, or several full ones.
    std::uint32_t packets(std::uint32_t payload_bytes) const
    {
        return payload_bytes <= full_bytes_ ? 1 : payload_bytes / full_bytes_;
    }
    std::uint32_t cells(std::uint32_t payload_bytes) const
    {
        return payload_bytes < full_bytes_ ? static_cast<std::uint32_t>(format_.cells(payload_bytes))
                                           : packets(payload_bytes) * full_cells_;
    }
    std::uint32_t wire_bytes(std::uint32_t payload_bytes) const
    {
        return payload_bytes < full_bytes_ ? static_cast<std::uint32_t>(format_.wire_bytes(payload_bytes))
                                           : packets(payload_bytes) * full_wire_bytes_;
    }

private:
    std::uint32_t full_bytes_, full_wire_bytes_, full_cells_;
    const packet_format& format_;
};

} // namespace weft
