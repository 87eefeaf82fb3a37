// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What components record (trace_fan.h) as a trace: a process per rank with what the parts of its chip do, one
// process with all links and cables, one for each other device.
#pragma once

#include "platforms/cli/trace_filter.h"
#include "platforms/report/trace_writer.h"
#include "platforms/workload/machine.h"
#include "tlm/trace_sink.h"

#include <map>
#include <set>
#include <string>

namespace weft::cli {

class run_trace final : public trace_sink {
public:
    /// Both outlive it, and it outlives the run.
    run_trace(trace_writer& out, const trace_filter& filter) : out_(out), filter_(filter) {}
    run_trace(const run_trace&) = delete;
    run_trace& operator=(const run_trace&) = delete;

    std::uint32_t add_track(const component& owner, const std::string& name) override;
    void slice(const trace_slice& s) override;
    void mark(const trace_slice& s) override;
    /// Once all components have their tracks. Throws user_error when `filter` leaves none.
    void check_filter() const;
    /// "12 records", and what is not among them.
    std::string summary() const;
    bool is_cut() const { return out_.dropped() > 0; } ///< by --trace-limit
    /// The filter has left nothing of what there was.
    bool shows_nothing() const { return out_.written() + out_.dropped() == 0 && filtered_ != 0; }

private:
    static constexpr std::uint32_t k_hidden = 0xffff'ffff; ///< a track that is not shown

    bool takes(const trace_slice& s);

    trace_writer& out_;
    const trace_filter& filter_;
    std::map<std::uint32_t, std::string> processes_; ///< by number, those that have a name
    std::set<std::string> links_; ///< that have a track, where a filter is set
    std::uint64_t filtered_ = 0;
};

} // namespace weft::cli
