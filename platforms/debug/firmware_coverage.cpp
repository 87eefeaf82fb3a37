// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/debug/firmware_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace weft {

std::string firmware_coverage::lcov(const line_table& lines) const
{
    std::map<std::string, std::map<unsigned, std::uint64_t>> files;
    for (const line_piece& p : lines.pieces) {
        if (p.file.rfind("/usr/", 0) == 0)
            continue;
        const std::uint64_t first = p.first - abi::k_program_memory_base;
        const std::uint64_t end = std::min(p.end - abi::k_program_memory_base, abi::k_program_memory_bytes);
        if (first >= end)
            continue;
        std::uint64_t& count = files[std::filesystem::path(p.file).lexically_normal().string()][p.line];
        for (std::uint64_t at = first; at < end; at += 2)
            count = std::max(count, counts_[at / 2]);
    }
    std::string text = "TN:firmware\n";
    for (const auto& [file, counts] : files) {
        text += fmt::format("SF:{}\n", file);
        std::size_t hit = 0;
        for (const auto& [line, count] : counts) {
            text += fmt::format("DA:{},{}\n", line, count);
            hit += count != 0;
        }
        text += fmt::format("LF:{}\nLH:{}\nend_of_record\n", counts.size(), hit);
    }
    return text;
}

} // namespace weft
