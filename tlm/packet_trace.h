// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Event records as slices of a trace: what a DMA engine sends and receives, packets on links.
#pragma once

#include "tlm/event_record.h"
#include "tlm/trace_sink.h"

#include <vector>

namespace weft {

class packet_trace final : public event_sink {
public:
    explicit packet_trace(trace_sink& out) : out_(out) {}
    void add_track(const component& owner, const std::string& name) { tracks_.push_back(out_.add_track(owner, name)); }
    /// Of a device: a track for each queue that sends, and the last one for what it receives.
    /// Of links: the track of the link's number.
    void record(const event_record& r) override;

private:
    void record_control(const event_record& r);

    trace_sink& out_;
    std::vector<std::uint32_t> tracks_;
    trace_slice slice_; ///< of the last record: its texts keep their memory
};

} // namespace weft
