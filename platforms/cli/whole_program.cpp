// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/commands.h"
#include "tlm/standard_error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>
#include <vector>

namespace weft::cli {

int start_whole_program(int argc, char* argv[], const std::string& missing)
{
    const auto refuse = [&](const std::string& why) {
        print_to_stderr("weft: {} is in the whole program only{}. Run `./weft build`, then this again.\n", missing,
                   why);
        return 2;
    };
    if (std::feof(stdin) != 0) // the platform file came from there
        return refuse(", and standard input cannot be read twice");
    const char* const launcher = std::getenv("WEFT_LAUNCHER");
    if (launcher == nullptr)
        return refuse("");
    static_cast<void>(std::fflush(nullptr));
    setenv("WEFT_WHOLE", missing.c_str(), 1);
    std::vector<char*> arguments(argv, argv + argc);
    arguments.push_back(nullptr);
    ::execv(launcher, arguments.data());
    return refuse(fmt::format(", and {} cannot be started: {}", launcher, std::strerror(errno)));
}

} // namespace weft::cli
