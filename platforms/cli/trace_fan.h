// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets every component of a machine record, once, for several sinks: a trace and a log.
#pragma once

#include "platforms/workload/machine.h"
#include "tlm/trace_sink.h"

#include <cstdint>
#include <vector>

namespace weft::cli {

class trace_fan final : private trace_sink {
public:
    /// All outlive it, and it outlives the run. Without sinks nothing records.
    trace_fan(machine& m, std::vector<trace_sink*> sinks);
    trace_fan(const trace_fan&) = delete;
    trace_fan& operator=(const trace_fan&) = delete;

private:
    std::uint32_t add_track(const component& owner, const std::string& name) override;
    void slice(const trace_slice& s) override;
    void mark(const trace_slice& s) override;

    std::vector<trace_sink*> sinks_;
    std::vector<std::vector<std::uint32_t>> tracks_; ///< of each sink, by number here
};

} // namespace weft::cli
