// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables on a terminal or in a pipe: cells in columns as wide as their widest one, and how numbers stand in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Colours of a terminal.
inline constexpr const char* k_bold = "\x1b[1m";
inline constexpr const char* k_red = "\x1b[1;31m";
inline constexpr const char* k_yellow = "\x1b[33m";
inline constexpr const char* k_plain = "\x1b[0m";

/// Characters on the screen; names may be UTF-8.
std::size_t display_width(std::string_view text);

/// Microseconds with three decimals, halves up.
std::string rounded_us(std::uint64_t ps);

/// Lines of cells, the first one the heading, behind "# "; the first `left` columns to the left.
void print_columns(std::ostream& out, const std::vector<std::vector<std::string>>& lines, std::size_t left);

} // namespace weft
