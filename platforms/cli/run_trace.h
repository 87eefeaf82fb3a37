// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets every component of a machine record into a trace: a process per rank with what the parts of its chip do, one process with
// all links and cables, one for each other device.
#pragma once

#include "platforms/report/trace_writer.h"
#include "platforms/workload/machine.h"
#include "tlm/trace_sink.h"

#include <map>
#include <string>

namespace weft::cli {

class run_trace final : private trace_sink {
public:
    /// Both outlive it, and it outlives the run.
    run_trace(machine& m, trace_writer& out);
    run_trace(const run_trace&) = delete;
    run_trace& operator=(const run_trace&) = delete;

    /// "12 records", and what is not among them.
    std::string summary() const;

private:
    std::uint32_t add_track(const component& owner, const std::string& name) override;
    void slice(std::uint32_t track, std::uint64_t start_ps, std::uint64_t span_ps, const std::string& name,
               const std::string& arguments) override;
    void mark(std::uint32_t track, std::uint64_t time_ps, const std::string& name,
              const std::string& arguments) override;

    trace_writer& out_;
    std::map<std::uint32_t, std::string> processes_; ///< by number, those that have a name
};

} // namespace weft::cli
