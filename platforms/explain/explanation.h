// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft explain` says: a critical path as JSON, and all of it as sentences and tables.
#pragma once

#include "platforms/explain/critical_path.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace weft {

/// {rank, time_us, messages, frames, causes: [{cause, group, meaning, time_us, share, where: [{name, time_us}]}], path:
/// [{from_us, until_us, cause, rank, where}]}. Causes without time are left out, the largest come first. Times of the
/// path count from the command.
nlohmann::ordered_json to_json(const critical_path& path);
/// The times by cause of such a JSON.
std::array<std::uint64_t, k_path_causes> causes_of(const nlohmann::ordered_json& path);

/// Sentences and a table of {title, case, ranks, time_us, slowest, critical_path, bound_us, bound_by, bound_share,
/// limited_by, busy_shares, train_packets}.
std::string path_text(const nlohmann::ordered_json& all);
/// What would help: `changes` of it, [{change, settings, share, time_us, gain or problem}]; "" where nobody asked.
std::string changes_text(const nlohmann::ordered_json& all);

} // namespace weft
