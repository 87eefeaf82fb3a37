// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/previous_results.h"

#include <filesystem>
#include <system_error>

namespace weft {

std::string previous_name(const std::string& path)
{
    const std::filesystem::path file(path);
    return (file.parent_path() / (file.stem().string() + ".previous" + file.extension().string())).string();
}

earlier_files::earlier_files(const std::vector<std::string>& paths)
{
    for (const std::string& path : paths) {
        std::error_code error;
        if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error)))
            continue;
        std::filesystem::rename(path, previous_name(path), error);
        if (!error)
            moved_.push_back(path);
    }
}

earlier_files::~earlier_files()
{
    for (const std::string& path : moved_) {
        std::error_code error;
        std::filesystem::rename(previous_name(path), path, error);
    }
}

} // namespace weft
