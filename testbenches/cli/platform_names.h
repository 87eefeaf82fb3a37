// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testbenches/issues/program_shell.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace weft::testing {

/// All that `weft list` lists.
inline std::vector<std::string> platform_names(const program_shell& sh)
{
    std::vector<std::string> names;
    std::istringstream lines(sh.run("$weft list").out);
    std::string line;
    std::getline(lines, line); // the heading
    while (std::getline(lines, line) && !line.empty())
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    CHECK(names.size() >= 5);
    return names;
}

} // namespace weft::testing
