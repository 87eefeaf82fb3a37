// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The generated pages in docs/ are what the program would write now.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace {
std::string content_of(const std::filesystem::path& path)
{
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}
} // namespace

TEST_CASE("generated pages are up to date")
{
    const std::filesystem::path made =
        std::filesystem::temp_directory_path() / ("weft_docs_" + std::to_string(::getpid()));
    REQUIRE(std::system((std::string(WEFT_PROGRAM) + " docs --out " + made.string()).c_str()) == 0);
    std::size_t pages = 0;
    for (const auto& entry : std::filesystem::directory_iterator(made)) {
        INFO(entry.path().filename() << " differs; run: ./weft docs");
        CHECK(content_of(entry.path()) ==
              content_of(std::filesystem::path(WEFT_SOURCE_DIR) / "docs" / entry.path().filename()));
        ++pages;
    }
    CHECK(pages >= 3);
    std::filesystem::remove_all(made);
}
