// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A resolved configuration as a table: a row per key in force, with where its value comes from.
#pragma once

#include "platforms/config/config_dump.h"

#include <string>
#include <vector>

namespace weft {

struct config_row {
    std::string key;     ///< "ici.link_rate"; a list as "workload.0.op"
    std::string value;   ///< with its unit
    std::string set_at;  ///< "mesh.yaml:18" where the file sets it, "--set"; "" for a default
    std::string source;  ///< of a default: "assumed", "quoted: ..."; "" where it needs none
    std::string meaning; ///< one line
};

/// Keys that nothing uses, and optionals without value, are left out.
std::vector<config_row> config_rows(const config_field& config, const yaml_document* origin = nullptr);

} // namespace weft
