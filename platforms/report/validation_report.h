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

enum class verdict : std::uint8_t { met, miss, not_run, not_judged };
const char* name_of(verdict v); ///< "met", "MISS", "not run", "not judged"

/// How far a simulated value may be from the published one.
struct tolerance {
    enum class kind : std::uint8_t {
        exact,
        percent, ///< of the published value
        points,  ///< difference, in the unit of the row; for values that are percentages themselves
        factor,  ///< larger or smaller by this factor
        order    ///< the same order of the row's names
    };
    kind by = kind::exact;
    double amount = 0;

    static tolerance exact() { return {}; }
    static tolerance percent(double amount) { return {kind::percent, amount}; }
    static tolerance points(double amount) { return {kind::points, amount}; }
    static tolerance factor(double amount) { return {kind::factor, amount}; }
    static tolerance order() { return {kind::order, 0}; }
};
const char* name_of(tolerance::kind k);

/// One published value and what the simulation says.
struct validation_row {
    std::string target; ///< "T1"
    std::string what;   ///< "ResNet-50, 512 chips: share of the all-reduce"
    std::string unit;   ///< "%", "steps"
    std::optional<double> published;
    std::optional<double> simulated; ///< none: not run, or the run did not complete
    std::vector<std::string> published_order =
        {}; ///< largest first; of a row that is judged by order, in place of values
    std::vector<std::string> simulated_order = {}; ///< empty: not run, or a run did not complete
    weft::tolerance tolerance;
    std::string why_not_run;    ///< "" for a row that is run
    std::string why_not_judged; ///< "" for a row whose verdict counts
    std::string source;         ///< of the published value and of the tolerance

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
/// {name, version, targets: [{target, what, unit, published, simulated, error_percent, tolerance: {kind, amount}, verdict,
/// why_not_run, why_not_judged, source}], sensitivities: [{what, result}], inputs: [{what, value, source}], met, missed, not_run,
/// not_judged}. published and simulated are numbers, or names in their order; error_percent is null for these.
nlohmann::ordered_json to_json(const validation_report& report);

} // namespace weft
