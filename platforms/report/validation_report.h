// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a comparison with published results has to say, and its written forms: the table on the terminal, the page
// docs/06_validation.md and JSON. Plain data; nothing here knows about platforms.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace weft {

enum class verdict : std::uint8_t { met, miss, not_run };
const char* name_of(verdict v); ///< "met", "MISS", "not run"

/// One published value and what the simulation says.
struct validation_row {
    std::string target; ///< "T1"
    std::string what;   ///< "ResNet-50, 512 chips: share of the all-reduce"
    std::string unit;   ///< "%", "steps"
    std::optional<double> published;
    std::optional<double> simulated; ///< none: not run, or the run did not complete
    double tolerance_percent = 0;    ///< of the published value; 0: exactly
    std::string why_not_run;         ///< "" for a row that is run
    std::string source;              ///< of the published value and of the tolerance

    verdict result() const;
    double error_percent() const; ///< of the published value; 0 when there is nothing to compare
};

/// A run that nothing is judged by: what an assumed or calibrated input does to the result.
struct sensitivity_row {
    std::string what;
    std::string result;
};

/// An input of the simulation.
struct input_row {
    std::string what;
    std::string value;
    std::string source; ///< with its confidence
};

struct validation_report {
    std::string name; ///< "tpu_v3"
    std::string title;
    std::string version;
    std::string command; ///< that makes the page
    std::vector<validation_row> rows;
    std::vector<sensitivity_row> sensitivities;
    std::vector<input_row> inputs;
    std::vector<std::string> notes; ///< paragraphs of Markdown

    std::size_t count(verdict v) const;
};

/// A line for the terminal.
std::string line_of(const validation_row& row);
std::string to_markdown(const validation_report& report);
/// {name, version, targets: [{target, what, unit, published, simulated, error_percent, tolerance_percent, verdict, source}],
/// sensitivities: [{what, result}], inputs: [{what, value, source}], met, missed, not_run}.
nlohmann::ordered_json to_json(const validation_report& report);

} // namespace weft
