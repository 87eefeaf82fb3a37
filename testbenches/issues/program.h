// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The program, as a user starts it, in a folder of its own.
#pragma once

#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>
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

/// What check says of a file that it refuses, as run does, which writes nothing.
inline std::string refusal_of(const program_folder& folder, const std::string& file)
{
    CHECK(folder.weft("check " + file) == 2);
    const std::string check = folder.read("stderr");
    CHECK(folder.weft("run " + file) == 2);
    CHECK(folder.read("stderr") == check);
    CHECK_FALSE(folder.exists("out"));
    return check;
}

} // namespace weft::testing
