// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/previous_results.h"

#include <filesystem>
#include <system_error>

namespace weft {

void set_aside(const std::string& path)
{
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(path, error)))
        return;
    const fs::path file(path);
    fs::path previous = file;
    previous.replace_filename(file.stem().string() + ".previous" + file.extension().string());
    fs::rename(file, previous, error);
}

} // namespace weft
