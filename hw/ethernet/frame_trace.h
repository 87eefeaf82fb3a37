// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Frames as slices of a trace, and as marks where they are lost.
#pragma once

#include "hw/ethernet/frame_record.h"
#include "tlm/trace_sink.h"

#include <vector>

namespace weft {

class frame_trace final : public frame_sink {
public:
    explicit frame_trace(trace_sink& out) : out_(out) {}
    /// Records of the n-th track come under number n.
    void add_track(const component& owner, const std::string& name) { tracks_.push_back(out_.add_track(owner, name)); }
    void record(const frame_record& r) override;

private:
    trace_sink& out_;
    std::vector<std::uint32_t> tracks_;
};

} // namespace weft
