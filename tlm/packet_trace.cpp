// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/packet_trace.h"

#include <fmt/format.h>

namespace weft {

namespace {
// A run records millions of packets: no memory is taken for one, and no format is read.
void append(std::string& to, std::uint64_t number)
{
    const fmt::format_int digits(number);
    to.append(digits.data(), digits.size());
}
} // namespace

void packet_trace::record(const event_record& r)
{
    const bool received = r.kind == record_kind::message_accepted;
    const bool on_link = r.kind == record_kind::link_emitted;
    trace_slice& s = slice_;
    s.track = tracks_.at(on_link ? r.where : received ? 1 : 0);
    s.start_ps = r.time_ps;
    s.span_ps = r.span_ps;
    s.name = received ? "from " : "to ";
    append(s.name, received ? r.source : r.destination);
    s.arguments = "\"from\":";
    append(s.arguments, r.source);
    append(s.arguments += ",\"to\":", r.destination);
    append(s.arguments += ",\"message\":", r.message);
    append(s.arguments += ",\"bytes\":", r.payload_bytes);
    s.arguments += r.last_of_message ? ",\"last\":true" : ",\"last\":false";
    s.from = r.source;
    s.to = r.destination;
    s.flow = flow_step::none;
    if (r.last_of_message) { // the arrow of a message is the way of its last packet
        s.flow = on_link ? flow_step::goes_on : received ? flow_step::ends : flow_step::begins;
        s.flow_id = std::uint64_t{r.source} << 48 | std::uint64_t{r.destination & 0xffffu} << 32 | r.message;
    }
    out_.slice(s);
}

} // namespace weft
