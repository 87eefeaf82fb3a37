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

void set_aside(const std::string& path)
{
    std::error_code error;
    if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error)))
        std::filesystem::rename(path, previous_name(path), error);
}

} // namespace weft
