// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/replaced_files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <system_error>

namespace weft {

namespace {

std::string folder_of(const std::string& path)
{
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

} // namespace

replaced_files::replaced_files(const std::vector<std::string>& paths)
{
    for (const std::string& path : paths)
        look(path);
}

void replaced_files::look(const std::string& path)
{
    std::error_code error;
    if (!path.empty() && std::filesystem::is_regular_file(path, error) &&
        std::find(files_.begin(), files_.end(), path) == files_.end())
        files_.push_back(path);
}

void replaced_files::is_gone(const std::string& path)
{
    files_.erase(std::remove(files_.begin(), files_.end(), path), files_.end());
}

std::string replaced_files::text() const
{
    constexpr std::size_t k_most_names = 4;
    std::map<std::string, std::size_t> in_folder;
    for (const std::string& file : files_)
        in_folder[folder_of(file)] += stay_.count(file) == 0 ? 1 : 0;
    std::string text;
    for (const std::string& file : files_) {
        std::size_t& count = in_folder[folder_of(file)];
        if (stay_.count(file) != 0 || count == 0) // told with its folder
            continue;
        if (count <= k_most_names) {
            text += fmt::format("replaced: {} (there was one before)\n", file);
            continue;
        }
        text += fmt::format("replaced: {} files in {} (there were such before)\n", count, folder_of(file));
        count = 0;
    }
    return text;
}

std::string replaced_files::text_of_those_that_stay() const
{
    std::string text;
    for (const std::string& file : files_)
        if (stay_.count(file) != 0)
            text += fmt::format("{} is still that of an earlier run.\n", file);
    return text;
}

} // namespace weft
