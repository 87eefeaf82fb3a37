// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "testbenches/unit/layer_rules.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace weft::testing {

namespace {

using string_list = std::vector<std::string>;

constexpr std::size_t k_longest_file_lines = 800;

// Devices of hw/. A new one is named here, with what it may use.
const string_list k_devices = {"hw/bus",      "hw/ccu", "hw/chip", "hw/core", "hw/dma",  "hw/ethernet",   "hw/fabric",
                               "hw/ici",      "hw/ipu", "hw/memory", "hw/neuronlink", "hw/sync", "hw/tofino", "hw/ub"};

// Adapters of the switching core: they alone may include it.
const string_list k_fabric_users = {"hw/ici", "hw/ub", "hw/ethernet"};

// Shared folders of platforms/, lowest first: a folder may use those before it. `workload` and `report` use each other:
// results are what a workload writes. What is not named here is a platform, which uses these and no other platform.
const string_list k_shared_platforms = {"platforms/config",  "platforms/ccu",     "platforms/report", "platforms/workload",
                                        "platforms/machine", "platforms/sweep",   "platforms/debug",  "platforms/firmware_bench",
                                        "platforms/explain", "platforms/cli"};
constexpr std::size_t k_last_for_platforms = 4; // platforms/machine

// What every chip is made of. Its guests are the business of platforms.
const string_list k_parts_of_chips = {"hw/bus", "hw/core", "hw/dma", "hw/memory"};

// Devices with Ethernet ports: they use the sockets, the transmitter and the frames of hw/ethernet.
const string_list k_ethernet_users = {"hw/tofino"};

// Headers that a freestanding compiler has, and for firmware a few more that neither allocate nor throw.
const string_list k_freestanding = {"cstddef", "cstdint", "climits", "limits", "cfloat", "cstdarg", "type_traits"};
const string_list k_firmware_extra = {"algorithm", "array", "cstring", "initializer_list", "new", "tuple", "utility"};

const string_list k_systemc = {"systemc", "systemc.h", "tlm", "tlm.h", "tlm_utils/", "sysc/"};
const string_list k_platform_libraries = {"yaml-cpp/", "nlohmann/", "CLI/"};

bool starts_with(const std::string& text, const std::string& prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

bool ends_with(const std::string& text, const std::string& suffix)
{
    return text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool ends_with_one_of(const std::string& text, const string_list& suffixes)
{
    return std::any_of(suffixes.begin(), suffixes.end(), [&](const auto& suffix) { return ends_with(text, suffix); });
}

/// C++, register tables, Verilog: the files whose text is searched.
bool is_code(const std::string& path)
{
    return ends_with_one_of(path, {".h", ".hpp", ".cpp", ".cc", ".c", ".def", ".v", ".vh", ".sv", ".svh"});
}

bool contains(const string_list& list, const std::string& text)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

/// An entry that ends in '/' stands for everything below.
bool names(const string_list& list, const std::string& header)
{
    return std::any_of(list.begin(), list.end(), [&](const std::string& entry) {
        return ends_with(entry, "/") ? starts_with(header, entry) : header == entry;
    });
}

string_list lines_of(const std::string& text)
{
    string_list lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// "hw/dma" of "hw/dma/reduce.h", "tlm" of "tlm/link.h": hw, rtl and platforms have one unit a folder.
std::string unit_of(const std::string& path)
{
    const auto first = path.find('/');
    if (first == std::string::npos)
        return "";
    const std::string top = path.substr(0, first);
    const auto second = path.find('/', first + 1);
    const bool has_units = top == "hw" || top == "rtl" || top == "platforms";
    return has_units && second != std::string::npos ? path.substr(0, second) : top;
}

/// The text with comments, and if wanted the contents of literals, replaced by blanks. Lines stay lines.
std::string blank_out(std::string text, bool literals_too)
{
    enum { code, line_comment, block_comment, literal } state = code;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        if (c == '\n') {
            if (state != block_comment)
                state = code;
            continue;
        }
        switch (state) {
        case code: {
            const bool digit_separator = c == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1]));
            if (c == '/' && next == '/')
                state = line_comment;
            else if (c == '/' && next == '*')
                state = block_comment;
            else if ((c == '"' || c == '\'') && !digit_separator)
                state = literal, quote = c;
            if (state == line_comment || state == block_comment) {
                text[i] = text[i + 1] = ' ';
                ++i;
            }
            break;
        }
        case line_comment: text[i] = ' '; break;
        case block_comment:
            if (c == '*' && next == '/') {
                text[i + 1] = ' ';
                state = code;
                text[i++] = ' ';
            } else {
                text[i] = ' ';
            }
            break;
        case literal:
            if (c == quote) {
                state = code;
            } else {
                if (literals_too)
                    text[i] = ' ';
                if (c == '\\' && next != '\n' && next != '\0') {
                    ++i;
                    if (literals_too)
                        text[i] = ' ';
                }
            }
            break;
        }
    }
    return text;
}

/// Among the folders of platforms/.
std::string platform_include_problem(const std::string& from, const std::string& to)
{
    const auto place = [](const std::string& folder) {
        return static_cast<std::size_t>(std::find(k_shared_platforms.begin(), k_shared_platforms.end(), folder) - k_shared_platforms.begin());
    };
    const std::size_t here = place(from), there = place(to);
    if (there == k_shared_platforms.size())
        return "a platform's own folder: others, and what is shared, do not know it";
    if (here == k_shared_platforms.size())
        return there <= k_last_for_platforms ? "" : "a platform may use platforms/config, ccu, report, workload and machine";
    const bool each_other = from == "platforms/report" && to == "platforms/workload";
    return there < here || each_other ? "" : "lower folders of platforms/ do not know higher ones";
}

/// Why the file may not include the project header `header`, or "".
std::string quoted_include_problem(const std::string& path, const std::string& header)
{
    const std::string from = unit_of(path);
    const std::string to = unit_of(header);
    const bool from_rtl = starts_with(from, "rtl");
    if (to.empty() && from_rtl && starts_with(header, "V"))
        return ""; // made by Verilator
    if (to.empty() || header.find("..") != std::string::npos)
        return "write project includes from the root of the repository";
    if (from == "testbenches" || from == to)
        return "";
    if (to == "testbenches")
        return "the product must not depend on its test benches";

    const bool to_hw = starts_with(to, "hw/");
    const bool to_platforms = starts_with(to, "platforms");
    if (from == "tlm")
        return "tlm/ may include nothing of the project but tlm/";
    if (from == "hw/abi")
        return "hw/abi/ may include nothing of the project but hw/abi/";
    if (from == "firmware")
        return to == "hw/abi" ? "" : "firmware/ may include nothing of the project but hw/abi/ and firmware/";
    if (starts_with(from, "hw/")) {
        if (!contains(k_devices, from) && from != "hw/arithmetic" && from != "hw/routing")
            return "this folder is not in the table of layers";
        if (from == "hw/arithmetic")
            return to == "tlm" || to == "hw/abi" ? "" : "hw/arithmetic/ may include nothing of the project but tlm/, hw/abi/ and hw/arithmetic/";
        if (from == "hw/routing")
            return to == "tlm" || to == "hw/abi" ? "" : "hw/routing/ may include nothing of the project but tlm/, hw/abi/ and hw/routing/";
        if (to == "tlm" || to == "hw/abi" || to == "hw/routing" || to == "hw/arithmetic" || (from == "hw/chip" && contains(k_parts_of_chips, to)))
            return "";
        if (to == "hw/fabric" && contains(k_fabric_users, from))
            return "";
        if (to == "hw/ethernet" && contains(k_ethernet_users, from))
            return "";
        return to_hw ? "components meet through sockets; only hw/chip/ composes them, only link adapters use hw/fabric/"
                     : "hw/ may include nothing of the project but tlm/ and hw/abi/";
    }
    if (from_rtl) {
        if (starts_with(to, "rtl") || (from == "rtl/shell" && (to == "tlm" || to_hw)))
            return "";
        return "rtl/ may include rtl/, and rtl/shell/ also tlm/ and hw/";
    }
    if (starts_with(from, "platforms"))
        return to == "tlm" || to_hw || to == "firmware" || starts_with(to, "rtl") || header == "cmake/version.h" ? ""
               : to_platforms                                                                                    ? platform_include_problem(from, to)
                                                                                                                 : "there is no such folder in the product";
    return "this folder is not in the table of layers";
}

/// Why the file may not include the foreign header `header`, or "".
std::string angle_include_problem(const std::string& path, const std::string& header)
{
    const std::string from = unit_of(path);
    if (from == "testbenches")
        return "";
    if (from == "hw/abi" && !contains(k_freestanding, header))
        return "hw/abi/ may include only headers that a freestanding compiler has";
    if (from == "firmware" && !contains(k_freestanding, header) && !contains(k_firmware_extra, header))
        return "firmware/ may include only headers that neither allocate nor throw";
    if (from == "hw/routing" && names(k_systemc, header))
        return from + "/ is plain C++ without SystemC";
    if (starts_with(path, "platforms/ub_mesh/ub_bill") && names(k_systemc, header))
        return "bill of materials and cost are plain C++ without SystemC";
    if (!starts_with(from, "platforms") && names(k_platform_libraries, header))
        return "only platforms/ may use this library";
    if (starts_with(header, "unicorn/") && !starts_with(path, "hw/core/engines/"))
        return "only hw/core/engines/ may use this library: another engine may take its place";
    if ((starts_with(header, "elfutils/") || header == "dwarf.h") && !starts_with(path, "platforms/debug/"))
        return "only platforms/debug/ may use this library, which a build can do without";
    return "";
}

struct pattern_rule {
    std::regex pattern;
    const char* message;
};

const std::vector<pattern_rule>& rules_for_all()
{
    static const std::vector<pattern_rule> rules = {
        {std::regex(R"(\bnamespace\s+tlm\b)"), "a namespace of our own called tlm would hide ::tlm"},
    };
    return rules;
}

const std::vector<pattern_rule>& rules_for_bare_code()
{
    static const std::vector<pattern_rule> rules = {
        {std::regex(R"(\b(sc_core|sc_module|sc_time|sc_event|SC_[A-Z_]+)\b|::tlm\b)"), "no SystemC here"},
    };
    return rules;
}

const std::vector<pattern_rule>& rules_for_firmware()
{
    static const std::vector<pattern_rule> rules = {
        // Placement new, always with the address of an object, makes an object where it is first needed.
        {std::regex(R"(\bnew\b(?!\s*\(&)(?!>)|\bdelete\s*(\[|\w)|\b(malloc|calloc|realloc|free)\s*\()"),
         "firmware has no heap"},
        {std::regex(R"(\bstd::(vector|string|map|set|list|deque|unordered_\w+|function|unique_ptr|shared_ptr)\b)"),
         "firmware has no heap"},
        {std::regex(R"(\b(throw|try|catch)\b)"), "firmware has no exceptions"},
        // A variable after static, thread_local or extern that is not constant.
        {std::regex(R"(^\s*(inline\s+)?(static|thread_local|extern)\s+(?!.*\bconst(expr)?\b)[^()]*[\w\]]\s*(=|\{|;))"),
         "firmware has no mutable globals and no function statics: state lives in a context object"},
        // A variable at namespace scope: it starts in column 1.
        {std::regex(
             R"(^(?!.*\bconst(expr)?\b)(?!static\b|thread_local\b|using\b|namespace\b|struct\b|class\b|enum\b|union\b|template\b|typedef\b|return\b|case\b|public\b|private\b|static_assert\b|goto\b|extern\b)(inline\s+)?[A-Za-z_][\w:<>, ]*[\s&*]+\w+(\[[^\]]*\])*\s*(=[^=].*|\{.*\})?;)"),
         "firmware has no mutable globals and no function statics: state lives in a context object"},
    };
    return rules;
}

} // namespace

bool is_source_file(const std::string& path)
{
    return is_code(path) || ends_with_one_of(path, {".S", ".ld", ".cmake", ".sh", ".py", ".toml", "CMakeLists.txt"});
}

std::vector<std::string> layer_problems(const std::string& path, const std::string& content)
{
    string_list problems;
    const auto report = [&](std::size_t line, const std::string& message) {
        problems.push_back(path + ":" + std::to_string(line) + ": " + message);
    };

    const string_list lines = lines_of(content);
    const std::size_t first = !lines.empty() && starts_with(lines[0], "#!") ? 1 : 0;
    if (lines.size() < first + 2 || !ends_with(lines[first], " Copyright 2026 The weft authors") ||
        !ends_with(lines[first + 1], " SPDX-License-Identifier: Apache-2.0"))
        report(first + 1, "the file must start with the two lines of the licence header");
    if (lines.size() > k_longest_file_lines)
        report(lines.size(), "the file is longer than " + std::to_string(k_longest_file_lines) + " lines: split it");

    if (!is_code(path))
        return problems;

    const std::string unit = unit_of(path);
    static const std::regex include(R"(^\s*[#`]\s*include\s*(["<])([^">]+)[">])");
    const string_list with_literals = lines_of(blank_out(content, false));
    for (std::size_t i = 0; i < with_literals.size(); ++i) {
        std::smatch match;
        if (!std::regex_search(with_literals[i], match, include))
            continue;
        const std::string header = match[2];
        const std::string message =
            match[1] == "\"" ? quoted_include_problem(path, header) : angle_include_problem(path, header);
        if (!message.empty())
            report(i + 1, "includes " + header + ": " + message);
    }

    const string_list code = lines_of(blank_out(content, true));
    const auto search = [&](const std::vector<pattern_rule>& rules) {
        for (std::size_t i = 0; i < code.size(); ++i)
            for (const auto& rule : rules)
                if (std::regex_search(code[i], rule.pattern))
                    report(i + 1, rule.message);
    };
    search(rules_for_all());
    if (unit == "hw/abi" || unit == "firmware")
        search(rules_for_bare_code());
    if (unit == "firmware")
        search(rules_for_firmware());
    return problems;
}

} // namespace weft::testing
