// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run takes of the host, before it has run. Rough: for the first line of a sweep and its remaining time, which
// each point that ends corrects, and for `weft check` and `weft doctor`.
#pragma once

#include "platforms/workload/machine.h"

#include <cstdint>
#include <string>

namespace weft::cli {

/// Seconds from the bytes and packets of the cases, on a machine with two cores.
double host_seconds(const platform& p);
/// "4 min", "35 s": host time, rounded for people.
std::string about_seconds(double seconds);
/// The program, its objects for each rank, and the contents of all memories. `data: off` carries none.
std::uint64_t host_memory_bytes(const platform& p);
/// What the host can give without swapping, of the container's limit where it has one.
std::uint64_t free_host_memory_bytes();
/// `--memory`: the size that the user names, "" for what is free. Throws user_error: no size, or none at all.
std::uint64_t host_memory_option(const std::string& text);

} // namespace weft::cli
