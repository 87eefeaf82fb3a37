// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the texts that are made of a config_field: the resolved dump, the template of a file, schema and page of
// keys.
#pragma once

#include "platforms/config/config_dump.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace weft::config_detail {

/// Meaning and when the key applies.
std::string meaning(const config_field& field);
/// "1 to 256", "4 B to 1 MiB and a multiple of 4 B"; "" without limits.
std::string range_of(const config_field& field);
/// "whole number", "list of size", "one of `a`, `b`".
std::string type_name(const config_field& field);
nlohmann::json scalar_json(const config_field& field);
bool is_scalar(const config_field& field);
/// Lists of plain values (and lists of such lists) stand on one line.
bool is_one_line(const config_field& field);
/// The value as YAML, of a field that is_one_line().
std::string one_line(const config_field& field);

} // namespace weft::config_detail
