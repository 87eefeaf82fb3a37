// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// This program once more, in a process of its own, with other arguments: what users could have started by hand.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct program_result {
    std::string text;    ///< what it printed on both streams
    std::string failure; ///< "crashed with signal 11", "did not end in 20 s of host time"; "": it ended by itself
    int exit_code = -1;  ///< -1: it did not end by itself
};

/// Ends it after `seconds` of host time, 0: never, and with the caller. It is in a process group of its own: Ctrl-C on
/// the terminal reaches only the caller, which asks it to end and lets it save what it has finished. Throws as
/// run_isolated(), but of a stop request only where it could not end by itself.
program_result run_program(const std::vector<std::string>& arguments, unsigned seconds);

} // namespace weft
