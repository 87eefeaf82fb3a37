// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a comparison with published results has to say, and its written forms: the table on the terminal, the page
// docs/06_validation_PLATFORM.md and JSON. Plain data; nothing here knows about platforms.
#pragma once

#include "platforms/report/isolated_run.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
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

/// Names, the one with the largest value first, for a row that is judged by order.
std::vector<std::string> largest_first(std::vector<std::pair<double, std::string>> values);

/// What a verdict can say. Every row states it: there is no default.
class row_kind {
public:
    enum class name : std::uint8_t {
        emergent,   ///< the model could have said something else
        conformity, ///< counted, or exact by construction, and still checked
        identity,   ///< arithmetic on inputs or on published figures: it cannot come out otherwise
        calibrated  ///< an input was fitted to this very value
    };
    static row_kind emergent() { return {name::emergent, {}}; }
    static row_kind conformity() { return {name::conformity, {}}; }
    static row_kind identity() { return {name::identity, {}}; }
    /// `input` is what was fitted. Throws std::invalid_argument when it is empty.
    static row_kind calibrated(std::string input);

    name which() const { return which_; }
    const std::string& fitted_input() const { return fitted_input_; } ///< "" of all others
    bool is(name n) const { return which_ == n; }

private:
    row_kind(name which, std::string input) : which_(which), fitted_input_(std::move(input)) {}
    name which_;
    std::string fitted_input_;
};
/// In the order of the head of a page: what says most comes first.
inline constexpr row_kind::name k_row_kinds[] = {row_kind::name::emergent, row_kind::name::conformity,
                                                 row_kind::name::identity, row_kind::name::calibrated};
const char* name_of(row_kind::name n);
const char* meaning_of(row_kind::name n); ///< a sentence for the head of a page

/// One published value and what the simulation says.
struct validation_row {
    explicit validation_row(row_kind what_it_says) : kind(std::move(what_it_says)) {}
    validation_row(row_kind what_it_says, std::string of_target, std::string of_what, std::string in_unit, std::string from)
        : kind(std::move(what_it_says)), target(std::move(of_target)), what(std::move(of_what)), unit(std::move(in_unit)), source(std::move(from))
    {
    }

    row_kind kind;
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
    std::string why_miss;       ///< shown with a miss: the reason, or where it stands
    std::string source;         ///< of the published value and of the tolerance
    // What the null model of the target says of the same row; see null_model.
    std::optional<double> null_value = {};
    std::vector<std::string> null_order = {};

    verdict result() const;
    bool judged() const { return result() == verdict::met || result() == verdict::miss; }
    bool has_null_model() const { return null_value || !null_order.empty(); }
    bool null_model_meets() const; ///< by the same tolerance
    double error_percent() const;  ///< of the published value; 0 when there is nothing to compare

private:
    bool meets(const std::optional<double>& value, const std::vector<std::string>& order) const;
};

/// The least that could explain a target: bytes over rate plus one constant, without a network. A model that meets no
/// more rows than it has shown nothing by them.
struct null_model {
    std::string target;
    std::string what; ///< "bytes / 82 GB/s + 0.71 ms, the constant fitted to T1"
};
struct null_score {
    std::size_t rows = 0; ///< judged ones for which the null model has a value; emergent ones where there are any
    std::size_t simulation_met = 0;
    std::size_t null_met = 0;
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

struct validation_settings {
    std::string config_dir;    ///< holds the platform files, and prices where there are any
    bool sensitivities = true; ///< also the runs that nothing is judged by
    isolated_run isolated;
    std::function<void(const validation_row&)> on_row; ///< told as soon as a row is known
};

struct validation_report {
    std::string name; ///< "tpu_v3"
    std::string title;
    std::string version;
    std::string command; ///< that makes the page
    std::vector<validation_row> rows;
    std::vector<null_model> null_models; ///< one for each target that has emergent rows
    std::vector<sensitivity_row> sensitivities;
    std::vector<input_row> inputs;
    std::vector<std::string> notes; ///< paragraphs of Markdown

    /// Adds the row, and tells who wants to know of each.
    void add(validation_row row, const validation_settings& how);
    std::size_t count(verdict v) const;
    std::size_t count(row_kind::name kind, verdict v) const;
    null_score score_of(const std::string& target) const;
};

/// A line for the terminal.
std::string line_of(const validation_row& row);
/// What counts, for the terminal: emergent rows first, then each other kind, then the null models.
std::string head_of(const validation_report& report);
std::string to_markdown(const validation_report& report);
/// {name, version, kinds: {emergent: {met, missed, not_run, not_judged}, ...}, null_models: [{target, what, rows,
/// simulation_met, null_met}], targets: [{target, kind, fitted_input, what, unit, published, simulated, error_percent,
/// tolerance: {kind, amount}, verdict, null_model, null_model_meets, why_not_run, why_not_judged, why_miss, source}],
/// sensitivities: [{what, result}], inputs: [{what, value, source}], met, missed, not_run, not_judged}. published,
/// simulated and null_model are numbers, or names in their order; error_percent is null for these.
nlohmann::ordered_json to_json(const validation_report& report);

} // namespace weft
