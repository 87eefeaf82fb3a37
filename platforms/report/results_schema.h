// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What results.json holds, for people and programs that read it: docs/results.schema.json is made of it, and a test
// compares it with what runs of all kinds write.
#pragma once

#include <nlohmann/json.hpp>

namespace weft {

/// Key `schema` of results.json. A key that goes away or changes its meaning makes a new number; a further key does
/// not.
inline constexpr int k_results_schema = 1;

/// JSON Schema (draft 2020-12). Keys that are not `required` are there where their description says so.
nlohmann::ordered_json results_schema();

} // namespace weft
