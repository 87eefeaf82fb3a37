// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// report.html: one file that shows a run, and asks nobody for anything: page, styles and scripts of
// platforms/report/page, the charting library of
// the host's package, and the data as one block of JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace weft {

/// Files that a run with --report leaves in its folder.
inline constexpr const char* k_activity_file = "activity.json";
inline constexpr const char* k_report_file = "report.html";
/// Key of activity.json: the checksum of the results.json that it belongs to.
inline constexpr const char* k_results_checksum = "results_checksum";

/// Chart.js of Debian's libjs-chart.js, or the file that the environment names in WEFT_CHART_JS. Throws user_error
/// where there is none.
std::string chart_library();

/// The page. `results`: results.json; `activity`: activity.json, null for a run without it; `published`: of `weft
/// validate --json`, null for none.
std::string report_page(const nlohmann::ordered_json& results, const nlohmann::ordered_json& activity,
                        const nlohmann::ordered_json& published, const std::string& chart_library);

/// The same from the files of folder `dir`; `published`: a file, "" for none. Throws user_error that names a file
/// which is missing, cut off or of
/// another run, and what to do.
std::string report_page_of(const std::string& dir, const std::string& published, const std::string& chart_library);

} // namespace weft
