// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of an earlier run, where this one will write its own: they must not look like its answer when it ends early.
#pragma once

#include <string>

namespace weft {

/// "out/results.previous.json" for "out/results.json".
std::string previous_name(const std::string& path);

/// Renames "out/results.json" to its previous_name(), in place of an older one. Only a regular file is moved, and
/// one that cannot be moved stays.
void set_aside(const std::string& path);

} // namespace weft
