// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/packet_trace.h"

#include "tlm/text_digits.h"

namespace weft {

/// Of no rank: it is for packets of many.
void packet_trace::record_control(const event_record& r)
{
    trace_slice& s = slice_;
    s.track = tracks_.at(r.where);
    s.start_ps = r.time_ps;
    s.span_ps = r.span_ps;
    s.name = r.kind == record_kind::control_emitted ? "credits and acknowledgements" : "request to send again";
    char text[k_most_digits + 64];
    char* const end = put_number(put_text(text, "\"bytes\":"), r.payload_bytes);
    s.arguments.assign(text, end);
    s.from = s.to = trace_slice::k_nobody;
    s.control = true;
    s.flow = flow_step::none;
    out_.slice(s);
    s.control = false;
}

void packet_trace::record(const event_record& r)
{
    if (r.kind == record_kind::control_emitted || r.kind == record_kind::request_emitted)
        return record_control(r);
    const bool received = r.kind == record_kind::message_accepted;
    const bool lost = r.kind == record_kind::packet_lost;
    const bool on_link = r.kind == record_kind::link_emitted;
    trace_slice& s = slice_;
    s.track = received ? tracks_.back() : tracks_.at(on_link || lost ? r.where : r.queue);
    s.start_ps = r.time_ps;
    s.span_ps = r.span_ps;
    // A run records millions of packets: no memory is taken for one, and no format is read.
    char text[5 * k_most_digits + 64];
    char* end = put_number(put_text(text, received ? "from " : lost ? "lost: to " : "to "), received ? r.source : r.destination);
    s.name.assign(text, end);
    end = put_number(put_text(text, "\"from\":"), r.source);
    end = put_number(put_text(end, ",\"to\":"), r.destination);
    end = put_number(put_text(end, ",\"message\":"), r.message);
    end = put_number(put_text(end, ",\"bytes\":"), r.payload_bytes);
    end = put_text(end, r.last_of_message ? ",\"last\":true" : ",\"last\":false");
    s.arguments.assign(text, end);
    s.from = r.source;
    s.to = r.destination;
    s.flow = flow_step::none;
    if (lost)
        return out_.mark(s);
    if (r.last_of_message) { // the arrow of a message is the way of its last packet
        s.flow = on_link ? flow_step::goes_on : received ? flow_step::ends : flow_step::begins;
        s.flow_id = std::uint64_t{r.source} << 48 | std::uint64_t{r.destination & 0xffffu} << 32 | r.message;
    }
    out_.slice(s);
}

} // namespace weft
