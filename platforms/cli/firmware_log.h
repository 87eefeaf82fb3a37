// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What firmware has to say, in <out>/firmware.log: time, core, line. An output_file, which is begun with the first
// line.
#pragma once

#include "platforms/report/output_file.h"
#include "platforms/workload/collective_runner.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weft::cli {

class firmware_log final : public core_log_sink {
public:
    /// Assumed: more than people read; a console loop writes it in a second.
    static constexpr std::uint64_t k_most_bytes = 64 << 20;

    firmware_log(machine& m, code_places& places, std::string path);
    void on_log(const char* core, std::uint64_t time_ps, const char* text, std::uint64_t value) override;
    void on_console(const char* core, std::uint64_t time_ps, const std::string& line) override;
    /// Completes it; "" when there is nothing to say about it. Throws output_lost.
    std::string close();

private:
    bool concerns_somebody(const char* core) const;
    bool has_room();

    machine& machine_;
    code_places& places_;
    std::string path_;
    std::optional<output_file> file_;
    std::optional<output_lost> problem_; ///< why there is no file
    std::uint64_t lines_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t dropped_ = 0; ///< lines
};

} // namespace weft::cli
