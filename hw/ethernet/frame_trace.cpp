// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/frame_trace.h"

#include <fmt/format.h>

namespace weft {

namespace {
std::string name_of(const frame_summary& f)
{
    switch (f.kind) {
    case frame_kind::switchml: return fmt::format("slot {}.{}", f.switchml.slot, f.switchml.version ? 1 : 0);
    case frame_kind::roce: return fmt::format("qp {} psn {}", f.bth.queue_pair, f.bth.psn);
    default: return "frame";
    }
}
} // namespace

void frame_trace::record(const frame_record& r)
{
    const std::string arguments = // the text of a frame has nothing that JSON would escape
        fmt::format(R"("bytes":{},"lost":{},"frame":"{}")", r.frame.wire_bytes, r.lost, to_string(r.frame));
    const std::string name = name_of(r.frame) + (r.lost ? " lost" : "");
    if (r.lost && r.span_ps == 0)
        out_.mark(tracks_.at(r.direction), r.time_ps, name, arguments);
    else
        out_.slice(tracks_.at(r.direction), r.time_ps - r.span_ps, r.span_ps, name, arguments);
}

} // namespace weft
