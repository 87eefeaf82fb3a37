// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Comments of shipped files name values to try: `weft check` takes all of them.
#include "testbenches/issues/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

using weft::testing::program_folder;
using weft::testing::text_of;

namespace {

/// Text of the comments of a file, its lines joined.
std::string comments_of(const fs::path& file)
{
    std::istringstream lines(text_of(file));
    std::string text;
    for (std::string line; std::getline(lines, line);)
        if (line.rfind('#', 0) == 0)
            text += line.substr(1) + " ";
    return std::regex_replace(text, std::regex(" +"), " ");
}

/// Arguments `--set A --set B` that stand behind each other, in one string each.
std::vector<std::string> settings_in(const std::string& text)
{
    static const std::regex k_settings(R"re((?:--set (?:"[^"]*"|'[^']*'|[^\s"',;()]+) ?)+)re");
    std::vector<std::string> all;
    for (std::sregex_iterator at(text.begin(), text.end(), k_settings), end; at != end; ++at) {
        std::string one = at->str();
        while (!one.empty() && (one.back() == ' ' || one.back() == '.'))
            one.pop_back();
        all.push_back(one);
    }
    return all;
}

} // namespace

TEST_CASE("values that comments of shipped files name are accepted")
{
    CHECK(settings_in(" Try --set a.b=1 --set \"c=2 us\". Or --set d=x, beside.") == std::vector<std::string>{"--set a.b=1 --set \"c=2 us\"", "--set d=x"});
    std::size_t tried = 0;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(WEFT_SOURCE_DIR) / "configs"))
        if (entry.path().extension() == ".yaml")
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files)
        for (const std::string& settings : settings_in(comments_of(file))) {
            const program_folder folder;
            const int code = folder.weft(fmt::format("check {} {}", file.string(), settings));
            INFO(file.string() << " " << settings << "\n" << text_of(folder.path() / "stderr"));
            CHECK(code == 0);
            ++tried;
        }
    CHECK(tried >= 20);
}
