// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The pages that people write: links lead to files, say where they lead, and tables list what exists.
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

using weft::testing::has;
using weft::testing::text_of;

namespace {

const fs::path k_root = WEFT_SOURCE_DIR;

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

struct page_link {
    fs::path page;
    std::string text;
    std::string target; ///< without the part behind '#'
};

std::vector<fs::path> pages()
{
    std::vector<fs::path> all{k_root / "README.md", k_root / "CONTRIBUTING.md", k_root / "rtl/README.md"};
    for (const char* folder : {"docs", "docs/adr"})
        for (const auto& entry : fs::directory_iterator(k_root / folder))
            if (entry.path().extension() == ".md")
                all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    return all;
}

/// Links to files of the repository; code is left out.
std::vector<page_link> links_of(const fs::path& page)
{
    std::vector<page_link> all;
    static const std::regex link(R"(\[([^\]]*)\]\(([^)#]*)(#[^)]*)?\))");
    static const std::regex code("`[^`]*`");
    std::istringstream lines(text_of(page));
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("    ", 0) == 0)
            continue;
        line = std::regex_replace(line, code, "code");
        for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at)
            if (!has((*at)[2], "://") && !(*at)[2].str().empty())
                all.push_back({page, (*at)[1], (*at)[2]});
    }
    return all;
}

/// "13" of docs/13_rv64_cores.md, "0004" of a decision.
std::string number_of(const fs::path& target)
{
    static const std::regex numbered(R"((\d+)[_-].*\.md)");
    const std::string name = target.filename().string();
    std::smatch found;
    return std::regex_match(name, found, numbered) ? found[1].str() : "";
}

/// The first cell of every line of the tables of a page.
std::vector<std::string> rows_of(const fs::path& page)
{
    std::vector<std::string> rows;
    std::istringstream lines(text_of(page));
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("| ", 0) == 0)
            rows.push_back(line);
    return rows;
}

std::vector<std::string> folders_in(const fs::path& folder)
{
    static const std::set<std::string> made = {"build", "out"};
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.is_directory() && entry.path().filename().string()[0] != '.' &&
            made.count(entry.path().filename().string()) == 0)
            all.push_back(entry.path().filename().string());
    return all;
}

} // namespace

TEST_CASE("relative links of the pages lead to files that exist")
{
    std::size_t count = 0;
    for (const fs::path& page : pages())
        for (const page_link& l : links_of(page)) {
            INFO(page << ": [" << l.text << "](" << l.target << ")");
            CHECK(fs::exists(page.parent_path() / l.target));
            ++count;
        }
    CHECK(count > 150);
}

TEST_CASE("the text of a link says where it leads")
{
    static const std::regex with_number(R"(^(?:page |ADR )?(\d\d+)(?: .*)?$)");
    for (const fs::path& page : pages())
        for (const page_link& l : links_of(page)) {
            INFO(page << ": [" << l.text << "](" << l.target << ")");
            const fs::path target = page.parent_path() / l.target;
            const bool is_path = !has(l.text, " ") && (has(l.text, "/") || has(l.text, "."));
            if (is_path) {
                CHECK(has("/" + l.target + "/", "/" + l.text));
                continue;
            }
            std::smatch found;
            if (std::regex_match(l.text, found, with_number))
                CHECK(found[1] == number_of(target));
            if (number_of(target).empty())
                continue;
            // Longer words of the text stand in the title of the page or in its name.
            std::istringstream content(text_of(target));
            std::string title;
            std::getline(content, title);
            std::string known = lower(title + " " + target.filename().string());
            std::replace(known.begin(), known.end(), '_', '-');
            std::istringstream words(lower(l.text));
            for (std::string word; words >> word;) {
                word.erase(std::remove_if(word.begin(), word.end(),
                                          [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; }),
                           word.end());
                constexpr std::size_t k_long = 6;
                if (word.size() >= k_long) {
                    INFO(word);
                    CHECK((has(known, word) || has(known, word.substr(0, word.size() - 1))));
                }
            }
        }
}

TEST_CASE("the index of the documentation lists every page")
{
    std::set<fs::path> listed;
    for (const page_link& l : links_of(k_root / "docs/README.md"))
        listed.insert(fs::weakly_canonical(l.page.parent_path() / l.target));
    for (const char* folder : {"docs", "docs/adr"})
        for (const auto& entry : fs::directory_iterator(k_root / folder)) {
            const fs::path path = fs::weakly_canonical(entry.path());
            if (entry.path().extension() == ".md" && path.filename() != "README.md") {
                INFO("docs/README.md does not list " << path);
                CHECK(listed.count(path) == 1);
            }
        }
}

TEST_CASE("the README is a page and not a manual")
{
    std::istringstream lines(text_of(k_root / "README.md"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);)
        ++count;
    CHECK(count > 0);
    CHECK(count <= 120);
}

TEST_CASE("the table of folders lists every folder and what is in it")
{
    const std::vector<std::string> rows = rows_of(k_root / "docs/01_overview.md");
    const auto row_of = [&](const std::string& folder) {
        for (const std::string& row : rows)
            if (row.rfind("| [" + folder + "/](", 0) == 0)
                return row;
        FAIL("no row for " << folder);
        return std::string();
    };
    for (const std::string& folder : folders_in(k_root)) {
        const std::string row = row_of(folder);
        if (folder == "docs" || folder == "configs")
            continue; // pages have an index of their own, and a platform brings its files
        for (const std::string& inner : folders_in(k_root / folder)) {
            if (folder == "platforms" && fs::exists(k_root / folder / inner / "samples.yaml"))
                continue; // a machine: `weft list` names it
            INFO(row << "\ndoes not name " << inner);
            CHECK(std::regex_search(row, std::regex("\\b" + inner + "\\b")));
        }
    }
}

TEST_CASE("the page for new platforms names every function of the interfaces")
{
    const std::string page = text_of(k_root / "docs/08_add_a_platform.md");
    const std::string header = text_of(k_root / "platforms/workload/machine.h");
    static const std::regex virtual_function(R"(virtual [^;{(]*[ &*](\w+)\()");
    std::size_t functions = 0;
    for (std::sregex_iterator at(header.begin(), header.end(), virtual_function), end; at != end; ++at) {
        const std::string name = (*at)[1];
        if (name == "machine" || name == "platform")
            continue; // destructors
        INFO(name);
        CHECK(has(page, "`" + name + "("));
        ++functions;
    }
    CHECK(functions > 20);
    CHECK(has(page, "(../platforms/platforms.txt)"));
}

TEST_CASE("the page of licences names every package that is installed")
{
    const std::string page = text_of(k_root / "docs/licences.md");
    std::istringstream lines(text_of(k_root / "cmake/debian-packages.txt"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) {
        std::string package;
        if (line.empty() || line[0] == '#' || !(std::istringstream(line) >> package))
            continue;
        ++count;
        INFO(package);
        CHECK(has(page, "`" + package + "`"));
    }
    CHECK(count > 30);
}

TEST_CASE("a package that is given to others is built without Unicorn")
{
    CHECK(has(text_of(k_root / "cmake/debian/rules"), "-DWEFT_UNICORN=OFF"));
    for (const char* file : {"cmake/debian/control.in", "cmake/debian/weft.install", "cmake/debian/weft-dev.install"})
        CHECK_FALSE(has(text_of(k_root / file), "libunicorn"));
    CHECK(has(text_of(k_root / "docs/licences.md"), "So is the Debian package"));
}
