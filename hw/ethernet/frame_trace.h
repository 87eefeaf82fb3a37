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
    /// Records of the n-th track come under number n. `flow`: of the arrow that follows a frame.
    void add_track(const component& owner, const std::string& name, flow_step flow)
    {
        places_.push_back({out_.add_track(owner, name), flow});
    }
    void record(const frame_record& r) override;

private:
    struct place {
        std::uint32_t track;
        flow_step flow;
    };
    trace_sink& out_;
    std::vector<place> places_;
};

} // namespace weft
