// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Event records as a trace file for Perfetto (https://ui.perfetto.dev) or chrome://tracing: one process per rank with
// a track for what its DMA sends and one for what it receives, and one process with a track per link. On demand also
// a track per rank for the functions that its core executes.
#pragma once

#include "platforms/report/output_file.h"
#include "tlm/event_record.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class trace_writer final : public event_sink {
public:
    /// Begins an output_file that close() completes. Throws user_error when that is not possible. After `at_most` records
    /// nothing more is written and dropped() counts: traces of long runs would fill the disk.
    trace_writer(const std::string& path, std::uint64_t at_most);
    trace_writer(const trace_writer&) = delete;
    trace_writer& operator=(const trace_writer&) = delete;

    /// Names of the tracks, by rank and by link number.
    void name_ranks(const std::vector<std::string>& names);
    void name_links(const std::vector<std::string>& names);

    void record(const event_record& r) override;
    /// The core of a rank enters a function; on one rank entries and exits nest. An entry counts as a record; false
    /// when it was dropped: then its exit must be left out, too.
    bool begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function);
    void end_call(std::uint32_t rank, std::uint64_t time_ps);
    /// Names the tracks of the cores of ranks 0 to `ranks` - 1.
    void name_cores(std::uint32_t ranks);
    /// Completes the file. Throws output_lost when the disk is full.
    void close();

    std::uint64_t written() const { return written_; }
    std::uint64_t dropped() const { return dropped_; }

private:
    void line(const std::string& json);

    output_file file_;
    std::uint64_t at_most_;
    std::uint64_t written_ = 0;
    std::uint64_t dropped_ = 0;
    bool first_ = true;
};

} // namespace weft
