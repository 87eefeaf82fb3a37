// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace weft {

std::string rounded_us(std::uint64_t ps)
{
    const std::uint64_t ns = ps / 1000 + (ps % 1000 >= 500 ? 1 : 0);
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

std::size_t display_width(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

void print_columns(std::ostream& out, const std::vector<std::vector<std::string>>& lines, std::size_t left)
{
    std::vector<std::size_t> width(lines.front().size(), 0);
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            width[i] = std::max(width[i], display_width(line[i]));
    for (std::size_t n = 0; n < lines.size(); ++n) {
        std::string text = n == 0 ? "# " : "  ";
        for (std::size_t i = 0; i < lines[n].size(); ++i) {
            const std::string room(width[i] - display_width(lines[n][i]), ' ');
            text += (i == 0 ? "" : "  ") + (i < left ? lines[n][i] + room : room + lines[n][i]);
        }
        out << text.erase(text.find_last_not_of(' ') + 1) << '\n'; // an empty cell leaves no blanks at the end
    }
}

} // namespace weft
