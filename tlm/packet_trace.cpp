// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/packet_trace.h"

#include <fmt/format.h>

namespace weft {

void packet_trace::record(const event_record& r)
{
    const std::string arguments = fmt::format(R"("from":{},"to":{},"message":{},"bytes":{},"last":{})", r.source,
                                              r.destination, r.message, r.payload_bytes, r.last_of_message);
    const bool received = r.kind == record_kind::message_accepted;
    const std::uint32_t track = r.kind == record_kind::link_emitted ? r.where : received ? 1 : 0;
    out_.slice(tracks_.at(track), r.time_ps, r.span_ps,
               received ? fmt::format("from {}", r.source) : fmt::format("to {}", r.destination), arguments);
}

} // namespace weft
