// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What components do, as lines of text for grep: `--log FILE`. The same records as in a trace, in the order in which
// they end:
//
//        12.345678 us  chip_0_1.dma DMA sends   to 5, for 0.010240 us  "from":3,"to":5,"message":7,"bytes":1024
#pragma once

#include "platforms/report/output_file.h"
#include "tlm/trace_sink.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

struct log_options {
    std::string file;
    std::vector<std::string> components; ///< parts of names; none: all
    std::uint64_t limit = 1'000'000;     ///< lines
    bool verbose = false;
};
void add_log_options(CLI::App& command, log_options& options);

class run_log final : public trace_sink {
public:
    /// Begins an output_file that close() completes. Throws user_error when that is not possible.
    explicit run_log(const log_options& options);
    run_log(const run_log&) = delete;
    run_log& operator=(const run_log&) = delete;

    /// What is left behind where the program is killed; "" for a device.
    const std::string& unfinished_file() const { return file_.temporary(); }
    /// Leaves its room on a full disk to what is worth more: close() will fail.
    void give_up() { file_.give_up(); }
    std::uint32_t add_track(const component& owner, const std::string& name) override;
    void slice(const trace_slice& s) override;
    void mark(const trace_slice& s) override;
    /// Once all components have their tracks. Throws user_error when `components` leaves none.
    void check_components() const;
    /// A line that belongs to no component: a collective begins.
    void note(std::uint64_t time_ps, const std::string& text);

    /// Completes it, and says "12 lines", and what is not among them. Throws output_lost.
    std::string close();

private:
    static constexpr std::uint32_t k_hidden = 0xffff'ffff;
    bool takes(const trace_slice& s);
    void line(std::uint64_t time_ps, const std::string& who, const std::string& what);

    const log_options& options_;
    output_file file_;
    std::vector<std::string> tracks_; ///< names, by number
    std::uint64_t lines_ = 0, left_out_ = 0, dropped_ = 0;
};

} // namespace weft::cli
