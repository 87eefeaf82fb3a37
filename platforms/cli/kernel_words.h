// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The SystemC kernel puts words of its own before and behind the text of an exception that leaves a process.
#pragma once

#include <cstring>
#include <string>

namespace weft::cli {

inline std::string without_kernel_words(std::string text)
{
    constexpr const char* k_begin = "uncaught exception: ";
    if (const std::size_t begin = text.find(k_begin); text.rfind("Error: ", 0) == 0 && begin != std::string::npos)
        text.erase(0, begin + std::strlen(k_begin));
    return text.substr(0, text.find("\nIn file: "));
}

} // namespace weft::cli
