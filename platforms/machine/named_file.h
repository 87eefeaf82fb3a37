// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that a platform file names: `routing: FILE`, `tuning: FILE`.
#pragma once

#include "platforms/config/yaml_document.h"
#include "platforms/workload/tuning_table.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Throws user_error, as the rest of a sentence on the key, where there is no file that can be read.
void check_named_file(const std::string& file);

/// Problems of a file that `key` names: those that have no place in it stand at the key.
void add_problems_of_file(const yaml_document& document, std::vector<problem>& problems, const std::string& key,
                          const user_error& found);

/// The table that `run.tuning` names; nothing where it names none or a bad one.
std::optional<tuning_table> find_tuning(const yaml_document& document, std::vector<problem>& problems,
                                        const run_config& run);
/// Warns where the table was made for another machine than `made`.
void compare_machines(const yaml_document& document, std::vector<problem>& problems, const tuning_table& table,
                      const platform& made);

} // namespace weft
