// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Words and widths of what people read: docs/31_glossary.md rules words out, and comments of the product keep to 120 columns.
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

using weft::testing::has;
using weft::testing::text_of;

namespace {

const fs::path k_root = WEFT_SOURCE_DIR;

bool is_one_of(const fs::path& file, std::initializer_list<const char*> extensions)
{
    return std::any_of(extensions.begin(), extensions.end(), [&](const char* e) { return file.extension() == e; });
}

/// Calls `line` for every line of the product's sources, pages and platform files.
void for_each_line(const std::function<void(const fs::path&, std::size_t, const std::string&)>& line)
{
    std::vector<fs::path> files{k_root / "README.md", k_root / "CONTRIBUTING.md"};
    for (const char* folder : {"tlm", "hw", "rtl", "firmware", "platforms", "configs", "docs"})
        for (const auto& entry : fs::recursive_directory_iterator(k_root / folder))
            if (is_one_of(entry.path(), {".h", ".cpp", ".v", ".md", ".yaml", ".py", ".js", ".css"}))
                files.push_back(entry.path());
    CHECK(files.size() > 500);
    for (const fs::path& file : files) {
        std::istringstream lines(text_of(file));
        std::string text;
        for (std::size_t n = 1; std::getline(lines, text); ++n)
            line(file.lexically_relative(k_root), n, text);
    }
}

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Whether `word` stands in `text` and is not the middle of a longer one; endings like -s and -ed count.
bool holds_word(const std::string& text, const std::string& word)
{
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if (at == 0 || (std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0 && text[at - 1] != '_'))
            return true;
    return false;
}

/// First and second column of the last table of the glossary.
std::vector<std::pair<std::string, std::string>> words_not_used()
{
    std::vector<std::pair<std::string, std::string>> words;
    const std::string page = text_of(k_root / "docs/31_glossary.md");
    const std::size_t begin = page.find("| not | but |");
    REQUIRE(begin != std::string::npos);
    std::istringstream lines(page.substr(begin));
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        const std::size_t middle = line.find(" | "), end = line.rfind(" |");
        REQUIRE(line.rfind("| ", 0) == 0);
        REQUIRE(middle < end);
        words.emplace_back(line.substr(2, middle - 2), line.substr(middle + 3, end - middle - 3));
    }
    return words;
}

} // namespace

TEST_CASE("words that the glossary rules out occur nowhere")
{
    CHECK(holds_word("an untold story", "untold"));
    CHECK(holds_word("time-outs", "time-out"));
    CHECK_FALSE(holds_word("lifetime-out", "time-out"));
    const auto words = words_not_used();
    REQUIRE(words.size() >= 8);
    for_each_line([&](const fs::path& file, std::size_t number, const std::string& line) {
        if (file == "docs/31_glossary.md")
            return;
        const std::string text = lower(line);
        for (const auto& [word, instead] : words)
            if (holds_word(text, word)) {
                INFO(file.string() << ":" << number << ": write " << instead << " for " << word);
                CHECK(false);
            }
    });
}

TEST_CASE("no comment of the product is wider than 120 columns")
{
    constexpr std::ptrdiff_t k_columns = 120;
    std::size_t comments = 0;
    for_each_line([&](const fs::path& file, std::size_t number, const std::string& line) {
        const std::size_t at = line.find("//");
        if (!is_one_of(file, {".h", ".cpp", ".v"}) || at == std::string::npos)
            return;
        // Not the "//" of an address in a string.
        if (std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), '"') % 2 != 0)
            return;
        ++comments;
        const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }); // UTF-8
        if (columns > k_columns) {
            INFO(file.string() << ":" << number << " has " << columns << " columns");
            CHECK(false);
        }
    });
    CHECK(comments > 5000);
}
