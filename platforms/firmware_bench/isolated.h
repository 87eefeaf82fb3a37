// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Work in a child process: a process elaborates one SystemC kernel, and what crashes or never ends must not take the
// bench with it.
#pragma once

#include <functional>
#include <string>

namespace weft {

struct isolated_result {
    std::string text;    ///< what `work` returned
    std::string failure; ///< "crashed with signal 11", "did not end in 20 s", "stopped: ..."; "" when it returned
};

/// Runs `work` in a child and ends it after `seconds` of host time, 0: never. The child ends with its parent. Throws
/// user_error when the host has no process left, and interrupted when a stop is requested. The caller must not have
/// elaborated anything itself.
isolated_result run_isolated(const std::function<std::string()>& work, unsigned seconds);

} // namespace weft
