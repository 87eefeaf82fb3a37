// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the targets of validation.h share. Internal to this folder.
#pragma once

#include "platforms/ub_mesh/ub_bill_costs.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/ub_mesh/validation.h"
#include "platforms/ub_mesh/validation_model.h"

#include <map>
#include <optional>
#include <string>

namespace weft {

class ub_validation {
public:
    ub_validation(const validation_settings& how, const ub_prices& prices) : how_(how), prices_(prices), costs_(prices)
    {
    }

    // validation_static.cpp
    void ledger();
    void link_classes();
    void costs();
    void reliability();
    void contradictions();
    // validation_plans.cpp
    void table_1();
    void step_inputs();
    // validation_training.cpp
    void training();
    // validation_curves.cpp
    void utilisation();
    void utilisation_by_units();
    void board_all_reduce();
    void bytes_of_units();
    void all_to_all_by_two_ways();
    void curve_inputs();
    // validation.cpp
    void inputs();
    void notes();

    validation_report report;

private:
    void add(validation_row row);
    void add_null(const char* target, std::string what) { report.null_models.push_back({target, std::move(what)}); }
    void exact(row_kind kind, const char* target, const std::string& what, double published, double simulated,
               const char* source);
    void within_points(row_kind kind, const char* target, std::string what, const char* unit, double published, double simulated, double points,
                       const char* source, const char* why_miss = "");
    /// A row that is not judged.
    void remark(row_kind kind, const char* target, const std::string& what, const char* unit, double published,
                double simulated, const char* why, const char* source);

    void run_ahead();
    std::optional<ub_rack_times> rack_of(ub_rack_kind kind) const;
    const std::optional<ub_far_times>& far_by(const ub_far_machine& machine) const;
    std::optional<ub_far_times> far_of(ub_far_machine machine) const;
    void racks(const std::optional<ub_architecture_times> (&known)[4]);
    void ways_between_racks(const ub_rack_times& rack);
    void lanes_between_racks(const ub_rack_times& rack);
    void linearity(const ub_architecture_times& mesh);
    void plans_chosen(const ub_architecture_times& mesh, const ub_architecture_times& clos);
    void step_sensitivities(const ub_architecture_times& mesh, const ub_architecture_times& clos);
    void tell(const std::string& machine, const ub_rack_times& t);
    void tell(const std::string& machine, const ub_far_times& t);

    const validation_settings& how_;
    const ub_prices& prices_;
    ub_comparison costs_;
    ub_step_model step_;
    ub_step_model null_step_; ///< of the null model; its exposed share is fitted to the same bar
    bool fits_ = false;       ///< the bar that `exposed` is fitted to is within reach
    std::map<std::string, std::optional<ub_rack_times>> rack_; ///< by run_ahead()
    std::map<std::string, std::optional<ub_far_times>> far_;   ///< by run_ahead()
    std::string rack_times_, far_times_; ///< lines of the tables of simulated times
    std::string plans_;                  ///< lines of the table of plans
};

} // namespace weft
