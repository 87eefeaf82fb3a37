// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run has come to, as its report and activity.json have it.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/report/run_report.h"
#include "platforms/workload/activity_recorder.h"
#include "platforms/workload/run_outcome.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

training_report training_report_of(const platform& p, const training_step_config& config, const std::vector<training_step_result>& steps);
/// Also of a run that ended before anything was complete.
std::optional<host_report> hosts_report_of(const run_outcome& outcome, bool used);
/// How packets went, and how long trains were in this run. "" when all went by an aggregating switch.
std::string transport_of(const weft::platform& p, const run_outcome& outcome);

/// activity.json of the run with these results.
nlohmann::ordered_json activity_json(activity_recorder& recorder, const loaded_platform& loaded,
                                     const nlohmann::ordered_json& results);

} // namespace weft::cli
