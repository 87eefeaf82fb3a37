// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Room for files of waves. Their writer maps temporary files into memory: where a disk has no room for them, the
// process ends with a bus error.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// Of one file; assumed: more than a viewer opens.
inline constexpr std::uint64_t k_most_wave_bytes = 1 << 30;

/// Why the file should not begin or go on; "" when it can.
std::string space_problem(const std::string& file);
/// The same of one that has begun, which must not become longer than k_most_wave_bytes.
std::string growth_problem(const std::string& file);
/// What is told of a file that ends before the simulation, at this simulated time, for a problem of those above.
std::string cut_text(const std::string& file, std::uint64_t time_ps, const std::string& problem);

} // namespace weft
