// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft run --report` leaves beside results.json so that the page can be made again: activity.json. Its shares
// are rows of bytes in base64.
#pragma once

#include "platforms/report/run_activity.h"

#include <nlohmann/json.hpp>

#include <string>

namespace weft {

/// {"schema", "digest" of the results it belongs to, "map", "kinds", "ranks", "memory", "cases", "left_out"}; the
/// page reads the same.
nlohmann::ordered_json to_json(const run_activity& activity, const std::string& digest);

/// A byte per value, no line breaks.
std::string base64(const std::vector<std::uint8_t>& bytes);

} // namespace weft
