// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A trace file for Perfetto (https://ui.perfetto.dev) or chrome://tracing: processes with tracks, tracks with slices.
// On demand also a track per rank for the functions that its core executes.
//
// The slices of one track of such a file must nest; ours may overlap in any way: packets in a memory, frames in a
// switch. So a slice goes into the first lane of its track that is free at its start, and lanes are what the file has
// as tracks. A track has k_most_lanes of them; a slice that finds none free becomes a mark at its start, with its
// length among its arguments.
#pragma once

#include "platforms/report/output_file.h"
#include "tlm/trace_sink.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft {

class trace_writer final {
public:
    static constexpr std::uint32_t k_most_lanes = 64;

    /// Begins an output_file that close() completes. Throws user_error when that is not possible. After `at_most`
    /// records nothing more is written and dropped() counts: traces of long runs would fill the disk.
    trace_writer(const std::string& path, std::uint64_t at_most);
    trace_writer(const trace_writer&) = delete;
    trace_writer& operator=(const trace_writer&) = delete;

    /// What is left behind where the program is killed; "" for a device.
    const std::string& unfinished_file() const { return file_.temporary(); }
    /// Leaves its room on a full disk to what is worth more: close() will fail.
    void give_up() { file_.give_up(); }
    void name_process(std::uint32_t process, const std::string& name);
    /// A track of the process, below those it has; it appears with its first slice. Returns its number.
    std::uint32_t add_track(std::uint32_t process, const std::string& name);
    /// A record, and its step of an arrow. Slices of one arrow come in order of time; one that comes first begins it.
    /// An arrow whose end is not among the records ends at the last one that is; one with a single record is left out.
    void slice(const trace_slice& s);
    /// A record without length, such as a loss.
    void mark(const trace_slice& s);

    /// The core of a rank enters a function; on one rank entries and exits nest. An entry counts as a record; false
    /// when it was dropped: then its exit must be left out, too.
    bool begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function);
    void end_call(std::uint32_t rank, std::uint64_t time_ps);
    /// Names the track of the core of a rank.
    void name_core(std::uint32_t rank);
    /// Completes the file. Throws output_lost when the disk is full.
    void close();

    std::uint64_t written() const { return written_; }
    std::uint64_t dropped() const { return dropped_; }
    std::uint64_t crowded() const { return crowded_; } ///< of those written: slices that found no free lane

private:
    struct track {
        std::uint32_t process;
        std::uint32_t first_lane; ///< tid of the first lane
        std::string name;
        std::vector<std::uint64_t> busy_until_ps; ///< of the lanes in use
        std::vector<std::string> places;          ///< of these lanes, as records have it: `,"pid":3,"tid":2`
    };
    bool take(std::uint64_t time_ps);
    void open_lane(track& t);
    /// Room for a record: of so many bytes besides what every record may have. What is put there ends at end_line().
    char* begin_line(std::string_view head, std::size_t more_bytes = 0);
    void end_line(const char* end) { used_ = static_cast<std::size_t>(end - text_.data()); }
    void line(std::string_view json);
    void hand_on();
    /// Where an arrow has come to. It is written when the next step tells what it is.
    struct arrow {
        std::uint64_t number;
        std::uint64_t at_ps;
        std::uint32_t process, lane;
        bool begun; ///< its begin is in the file
    };
    void step_arrow(const trace_slice& s, std::uint32_t process, std::uint32_t lane);
    void write_step(const arrow& a, char step);
    void end_arrows();

    output_file file_;
    std::vector<char> text_; ///< whose first `used_` the file gets next
    std::size_t used_ = 0;
    std::uint64_t at_most_;
    std::uint64_t written_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t crowded_ = 0;
    bool first_ = true;
    std::vector<track> tracks_;
    std::map<std::uint32_t, std::uint32_t> tracks_of_process_;
    std::unordered_map<std::uint64_t, arrow> arrows_; ///< that have not ended, by their number in the run
    std::uint64_t last_arrow_ = 0;
};

} // namespace weft
