// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Results as CSV (RFC 4180): lines end with \n, fields with a comma, a quote or a line break are quoted.
#pragma once

#include "platforms/report/results_file.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

std::string csv_field(const std::string& text);
/// "" for none, else as short as reads back to the same number.
std::string csv_number(const std::optional<double>& value);

/// Columns of a result: their headings with units, and its fields.
const std::vector<std::string>& csv_result_headings();
std::vector<std::string> csv_result(const stored_row& row);

/// A heading, and a line for each result of a run.
std::string to_csv(const stored_results& results);

} // namespace weft
