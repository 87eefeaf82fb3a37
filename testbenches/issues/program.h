// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The program, as a user starts it, in a folder of its own.
#pragma once

#include "testbenches/support/temporary_folder.h"

#include <fmt/format.h>
#include <sys/wait.h>

namespace weft::testing {

class program_folder : public temporary_folder {
public:
    /// Exit code; what it says is in "stdout" and "stderr".
    int weft(const std::string& arguments) const
    {
        const int status = std::system(
            fmt::format("cd {} && timeout 300 {} {} > stdout 2> stderr", path().string(), WEFT_PROGRAM, arguments)
                .c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

} // namespace weft::testing
