// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Words and widths of what people read: docs/31_glossary.md rules words out, sources of figures are words, and comments
// of the product keep to 120 columns.
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <regex>
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

/// Of pages, sources, scripts and platform files: "" where the file is none of them, else what begins a comment.
std::string comment_mark(const fs::path& file)
{
    if (is_one_of(file, {".h", ".cpp", ".def", ".v", ".sv", ".svh", ".js"}))
        return "//";
    if (is_one_of(file, {".css", ".ld"}))
        return "/*";
    if (file.extension() == ".lua")
        return "--";
    if (is_one_of(file, {".yaml", ".py", ".cmake", ".txt", ".S", ".sh", ".ccu"}) || file.filename() == "weft" ||
        file.filename() == "Makefile" || file.filename() == "rules" || file.filename() == "Containerfile")
        return "#";
    return is_one_of(file, {".md", ".html", ".cff", ".toml"}) ? "<!--" : "";
}

/// Calls `line` for every line of the product's sources, pages, scripts and platform files.
void for_each_line(const std::function<void(const fs::path&, std::size_t, const std::string&)>& line)
{
    std::vector<fs::path> files;
    for (const char* file : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt", "weft", "Containerfile", "CITATION.cff"})
        files.push_back(k_root / file);
    for (const char* folder : {"cmake", "tlm", "hw", "rtl", "firmware", "platforms", "configs", "docs", ".github"})
        for (const auto& entry : fs::recursive_directory_iterator(k_root / folder))
            if (entry.is_regular_file() && !comment_mark(entry.path()).empty() && entry.path().filename() != "help.txt")
                files.push_back(entry.path());
    CHECK(files.size() > 1000);
    for (const fs::path& file : files) {
        std::istringstream lines(text_of(file));
        std::string text;
        for (std::size_t n = 1; std::getline(lines, text); ++n)
            line(file.lexically_relative(k_root), n, text);
    }
}

/// Where the comment of a line begins: not inside of a string, and behind a blank where its mark is "#".
std::size_t comment_in(const std::string& line, const std::string& mark)
{
    const char quotes[] = "\"'";
    char inside = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (inside != 0 && line[at] == '\\')
            ++at;
        else if (inside != 0)
            inside = line[at] == inside ? '\0' : inside;
        else if (line.compare(at, mark.size(), mark) == 0 && (mark != "#" || at == 0 || line[at - 1] == ' '))
            return at;
        else if (line[at] == quotes[0] || (mark != "#" && line[at] == quotes[1] && !(at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0)))
            inside = line[at];
    }
    return std::string::npos;
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

TEST_CASE("sources of figures are words and no letters")
{
    // "(Q)" for quoted, "(Dg)" for read off a chart, "size D" and the like: no page has a list of such letters.
    static const std::regex letter(R"(\((?:Q|D|R|A|C|Dg)\)|\((?:Q|D) for |[,;:] (?:Q|D|R|A|C)\)|# (?:Q|D|R|A|C)(?:$|; |: )|\| (?:Q|D|R|A|C): | (?:Q|D|R|A|C)(?:;| \|$)|\bDg\b)");
    for (const char* sign : {"| Paper 6.6 (Q) |", "| section 6; A |", "slots: 4  # A",
                             "# casts before the sum (Q for the cast)", "| C: read from", "mean: A; tolerance"})
        CHECK(std::regex_search(sign, letter));
    for (const char* none : {"2 (D-1)/D over D domains", "appendix A and Fig. 8", "# A page is read", "cell of A, B"})
        CHECK_FALSE(std::regex_search(none, letter));
    std::size_t lines_read = 0;
    for_each_line([&](const fs::path& file, std::size_t number, const std::string& line) {
        const bool is_page = has(file.filename().string(), "06_validation_");
        if (!is_page && *file.begin() != "configs")
            return;
        ++lines_read;
        if (std::regex_search(line, letter)) {
            INFO(file.string() << ":" << number << ": " << line);
            CHECK(false);
        }
    });
    CHECK(lines_read > 2500);
}

TEST_CASE("no comment of the product is wider than 120 columns")
{
    constexpr std::ptrdiff_t k_columns = 120;
    CHECK(comment_in("a: 'it#s' # x", "#") == 10);
    CHECK(comment_in("url(\"http://x\") // y", "//") == 16);
    CHECK(comment_in("${1#-j}", "#") == std::string::npos);
    std::size_t comments = 0;
    for_each_line([&](const fs::path& file, std::size_t number, const std::string& line) {
        const std::string mark = comment_mark(file);
        if (mark == "<!--" || comment_in(line, mark) == std::string::npos)
            return;
        ++comments;
        const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }); // UTF-8
        // Commands to copy stay in one line.
        if (columns > k_columns && !has(line, "#   --set ")) {
            INFO(file.string() << ":" << number << " has " << columns << " columns");
            CHECK(false);
        }
    });
    CHECK(comments > 15000);
}
