// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the targets of validation.h share: platforms to run, running them, collecting rows. Internal to this folder.
#pragma once

#include "platforms/switchml/switchml.h"
#include "platforms/switchml/validation.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

inline constexpr std::uint64_t k_megabyte = 1'000'000;

class switchml_checks {
public:
    explicit switchml_checks(const validation_settings& how) : how_(how) {}

    // validation.cpp
    void goodput_limit();     ///< M1
    void aggregation_rates(); ///< M2, M3, M4
    void pool_sizes();        ///< M5, M6
    void volumes();           ///< M7
    void loss();              ///< M9
    void passes();            ///< M10
    // validation_dnn.cpp
    void check_files() const; ///< one that cannot be used is found before minutes of simulation
    void speed_ups();         ///< M8
    void speed_up_sensitivities();
    // validation_hosts.cpp
    void hosts();            ///< M14
    void order_of_systems(); ///< M15
    void training_order();   ///< M11
    // validation_traces.cpp
    void traces(); ///< M12
    // validation_registers.cpp
    void registers(); ///< M13
    // validation.cpp
    void rate_sensitivities();
    void inputs();
    void notes();

    switchml_config config_of(const std::string& name) const; ///< throws user_error when the file cannot be used
    validation_report report;

private:
    void add(validation_row row);
    /// A row of a published value that must be met exactly; set `tolerance` for others.
    static validation_row row_of(row_kind kind, const char* target, std::string what, std::optional<double> published,
                                 std::optional<double> simulated, const char* unit, std::string source,
                                 weft::tolerance how_far = weft::tolerance::exact());
    /// The row with what the null model of its target says.
    static validation_row with_null(validation_row row, std::optional<double> value)
    {
        row.null_value = value;
        return row;
    }
    void add_null(const char* target, std::string what) { report.null_models.push_back({target, std::move(what)}); }
    run_figures run(const switchml_config& config);
    /// A file of the folder with one all-reduce in place of what it runs.
    switchml_config one_sum(const char* name, std::uint64_t bytes,
                            abi::algorithm algorithm = abi::algorithm::switchml) const;

    const validation_settings& how_;
};

struct named_value {
    const char* name;
    std::optional<double> value;
};
/// Names, the largest value first, equal ones as given; empty when one is missing.
std::vector<std::string> in_order(std::vector<named_value> values);

/// Throws bug when the config is not sound: the validation itself has made it so.
void check_sound(const switchml_config& config);

} // namespace weft
