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
    const bool on_link = r.kind == record_kind::link_emitted;
    trace_slice s;
    s.track = tracks_.at(on_link ? r.where : received ? 1 : 0);
    s.start_ps = r.time_ps;
    s.span_ps = r.span_ps;
    s.name = received ? fmt::format("from {}", r.source) : fmt::format("to {}", r.destination);
    s.arguments = arguments;
    s.from = r.source;
    s.to = r.destination;
    if (r.last_of_message) { // the arrow of a message is the way of its last packet
        s.flow = on_link ? flow_step::goes_on : received ? flow_step::ends : flow_step::begins;
        s.flow_id = std::uint64_t{r.source} << 48 | std::uint64_t{r.destination & 0xffffu} << 32 | r.message;
    }
    out_.slice(s);
}

} // namespace weft
