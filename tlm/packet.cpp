// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/packet.h"

#include <fmt/format.h>

namespace weft {

std::string packet_format::no_room_for_one(data_size buffer) const
{
    if (buffer >= room_of_one())
        return {};
    return fmt::format("is {}, but one packet fills {} ({} of payload and {} of header in {} of {}), so none could ever pass.", to_string(buffer),
                       to_string(room_of_one()), to_string(data_size(max_payload_bytes)), to_string(data_size(header_bytes)),
                       cell_flits == 1 ? "flits" : "cells", to_string(data_size(cell_bytes())));
}

} // namespace weft
