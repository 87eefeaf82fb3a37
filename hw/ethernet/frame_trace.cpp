// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/frame_trace.h"

#include "tlm/text_digits.h"

#include <fmt/format.h>
#include <functional>
#include <utility>

namespace weft {

namespace {
std::string name_of(const frame_summary& f)
{
    switch (f.kind) {
    case frame_kind::switchml: { // most frames: without a format that is read anew
        char text[k_most_digits + 8];
        char* const end =
            put_text(put_number(put_text(text, "slot "), f.switchml.slot), f.switchml.version ? ".1" : ".0");
        return std::string(text, end);
    }
    case frame_kind::roce: return fmt::format("qp {} psn {}", f.bth.queue_pair, f.bth.psn);
    default: return "frame";
    }
}
} // namespace

void frame_trace::record(const frame_record& r)
{
    const std::string frame = to_string(r.frame);
    char head[k_most_digits + 48];
    char* const end = put_text(put_number(put_text(head, "\"bytes\":"), r.frame.wire_bytes),
                                     r.lost ? ",\"lost\":true,\"frame\":\"" : ",\"lost\":false,\"frame\":\"");
    std::string arguments; // the text of a frame has nothing that JSON would escape
    arguments.reserve(static_cast<std::size_t>(end - head) + frame.size() + 1);
    (arguments.append(head, end) += frame) += '"';
    const place& at = places_.at(r.direction);
    trace_slice s{at.track, r.time_ps - r.span_ps, r.span_ps, name_of(r.frame) + (r.lost ? " lost" : ""),
                  std::move(arguments)};
    s.flow = at.flow;                            // a frame that is lost ends nowhere
    s.flow_id = std::hash<std::string>{}(frame); // two frames of one text are one: a copy of it
    if (r.lost && r.span_ps == 0)
        out_.mark(s);
    else
        out_.slice(s);
}

} // namespace weft
