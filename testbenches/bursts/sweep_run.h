// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft bursts`, as a user starts it, on the shipped files.
#pragma once

#include "testbenches/support/temporary_folder.h"

#include <fmt/format.h>
#include <sys/wait.h>

namespace weft::testing {

class sweep_run : public temporary_folder {
public:
    /// Exit code; what it prints is in "stdout", and its page in "page.md". `before`: what starts the program, as "timeout 3".
    int bursts(const std::string& arguments, const std::string& before = "") const
    {
        return run(fmt::format("bursts {} --quiet --out {}", arguments, (path() / "page.md").string()), before);
    }
    int run(const std::string& arguments, const std::string& before = "") const
    {
        const std::string out = path().string();
        const int status = std::system(fmt::format("cd {} && {} {} {} > {}/stdout 2> {}/stderr", WEFT_SOURCE_DIR,
                                                   before, WEFT_PROGRAM, arguments, out, out)
                                           .c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

} // namespace weft::testing
