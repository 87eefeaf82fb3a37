// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is said on standard error. Where it cannot be written (a full disk, a pipe that has ended), the work goes on:
// what is said there is never the result.
#pragma once

#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace weft {

template <class... Args> void print_to_stderr(fmt::format_string<Args...> text, Args&&... args)
{
    const std::string all = fmt::format(text, std::forward<Args>(args)...);
    if (std::fwrite(all.data(), 1, all.size(), stderr) != all.size())
        std::clearerr(stderr);
}

} // namespace weft
