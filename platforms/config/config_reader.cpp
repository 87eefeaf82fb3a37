// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/config_reader.h"

#include "platforms/config/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_set>

namespace weft {

namespace {

bool is_digits(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_decimal(std::string_view text)
{
    if (!text.empty() && text[0] == '-')
        text.remove_prefix(1);
    const auto take_digits = [&] {
        const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(n);
        return n;
    };
    const bool zero_first = !text.empty() && text[0] == '0';
    const std::size_t whole = take_digits();
    if (whole == 0 || (zero_first && whole > 1))
        return false;
    if (!text.empty() && text[0] == '.') {
        text.remove_prefix(1);
        if (take_digits() == 0)
            return false;
    }
    if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
        text.remove_prefix(1);
        if (!text.empty() && (text[0] == '+' || text[0] == '-'))
            text.remove_prefix(1);
        if (take_digits() == 0)
            return false;
    }
    return text.empty();
}

std::string lower(std::string text)
{
    for (char& c : text)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return text;
}

} // namespace

std::optional<std::size_t> choice_of_boolean(const std::vector<std::string>& names, bool value)
{
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (yaml_1_1_boolean(names[i]) != std::optional(value))
            continue;
        if (found)
            return std::nullopt;
        found = i;
    }
    return found;
}

void config_reading::add_problem(const std::string& key_path, std::string message)
{
    failed_.insert(key_path);
    weft::add_problem(document_, problems_, key_path, std::move(message));
}

void config_reading::add_finding(const std::string& path, const config_problem& finding)
{
    const std::string key_path = join_path(path, finding.key);
    if (!failed(key_path))
        weft::add_problem(document_, problems_, key_path, finding.message, finding.level);
}

void config_reading::add_unused(const std::string& path, const std::string& key, const std::string& only)
{
    if (failed(path))
        return;
    std::vector<std::string> found{path};
    for (std::size_t at = 0; at != std::string::npos;) {
        const std::size_t dot = key.find('.', at);
        const std::string part = key.substr(at, dot == std::string::npos ? dot : dot - at);
        at = dot == std::string::npos ? dot : dot + 1;
        std::vector<std::string> next;
        for (const std::string& outer : found) {
            const yaml_node* const node = document_.find(outer);
            if (node != nullptr && part == "N")
                for (std::size_t i = 0; i < node->items.size(); ++i)
                    next.push_back(join_path(outer, std::to_string(i)));
            else if (node != nullptr && node->find(part) != nullptr)
                next.push_back(join_path(outer, part));
        }
        found = std::move(next);
    }
    const auto refused = [&](const std::string& key_path) { // then that is what is wrong with it
        return std::any_of(problems_.begin(), problems_.end(),
                           [&](const problem& p) { return p.level == severity::error && p.key_path == key_path; });
    };
    for (const std::string& key_path : found)
        if (!refused(key_path))
            weft::add_problem(document_, problems_, key_path,
                              fmt::format("is set, but nothing uses it: it applies only {}. Leave it out.", only),
                              severity::warning);
}

bool config_reading::failed(const std::string& key_path) const
{
    if (key_path.empty())
        return !failed_.empty();
    const auto inside = failed_.lower_bound(key_path + ".");
    if (inside != failed_.end() && inside->compare(0, key_path.size() + 1, key_path + ".") == 0)
        return true;
    for (std::string outer = key_path;;) {
        if (failed_.count(outer) != 0)
            return true;
        const std::size_t dot = outer.rfind('.');
        if (dot == std::string::npos)
            return false;
        outer.resize(dot);
    }
}

void config_reading::check_keys(const yaml_node& map, const std::string& path, const std::vector<std::string>& known)
{
    constexpr std::size_t k_listed = 20;
    const std::unordered_set<std::string> legal(known.begin(), known.end());
    std::vector<std::string> unused; // a key that is there already is not what was meant
    for (const auto& name : known)
        if (map.find(name) == nullptr)
            unused.push_back(name);
    std::size_t unknown = 0;
    for (const auto& entry : map.entries) {
        if (legal.count(entry.key) != 0)
            continue;
        if (++unknown > k_listed)
            continue;
        const std::string meant = closest(entry.key, unused);
        if (!meant.empty())
            failed_.insert(join_path(path, meant));
        std::string message = "unknown key; ";
        if (!meant.empty())
            message += "did you mean '" + meant + "'?";
        else if (entry.value.kind == yaml_kind::empty && entry.key.find(':') != std::string::npos)
            message += "a blank is missing after its ':'";
        else if (entry.key.find('.') != std::string::npos)
            message += "keys are joined by points only in --set, a file writes sections by indentation";
        else
            message += suggestion(entry.key, known);
        const std::string key_path = join_path(path, key_in_path(entry.key));
        problems_.push_back({severity::error, document_.position_of_key(entry), key_path, std::move(message)});
        failed_.insert(key_path);
    }
    if (unknown > k_listed)
        add_problem(path, fmt::format("{} more unknown keys stand here", unknown - k_listed));
}

/// Says what the node is instead of what is wanted. Always false.
bool config_reading::refuse(const yaml_node& node, const std::string& path, const std::string& wanted)
{
    if (node.flagged) {
        failed_.insert(path); // the document has complained already
        return false;
    }
    switch (node.kind) {
    case yaml_kind::empty:
        add_problem(path, "has no value; write " + wanted + ", or remove the key to keep its default");
        break;
    case yaml_kind::list: add_problem(path, "is a list; write " + wanted); break;
    case yaml_kind::map: add_problem(path, "is a section with keys; write " + wanted); break;
    case yaml_kind::scalar:
        add_problem(path, fmt::format("{}{} stands here; write {}", in_quotes(node.text),
                                      node.quoted ? " in quotes, which is text," : "", wanted));
        break;
    }
    return false;
}

bool config_reading::is_map(const yaml_node& node, const std::string& path)
{
    return (node.kind == yaml_kind::map && !node.flagged) || refuse(node, path, "a section of 'key: value' lines");
}

void config_reading::add_missing(const std::string& path, const std::string& doc)
{
    add_problem(path, fmt::format("is missing; it has no default. {}.", doc));
}

bool config_reading::is_list(const yaml_node& node, const std::string& path, const std::string& wanted_entry)
{
    return (node.kind == yaml_kind::list && !node.flagged) ||
           refuse(node, path, "a list in which each entry is " + wanted_entry);
}

bool config_reading::read_bool(const yaml_node& node, const std::string& path, bool& out)
{
    if (node.kind != yaml_kind::scalar || node.flagged || node.quoted ||
        (node.text != "true" && node.text != "false")) {
        const std::string word = lower(node.text);
        const bool yes = word == "yes" || word == "y" || word == "on" || word == "true" || word == "1";
        const bool no = word == "no" || word == "n" || word == "off" || word == "false" || word == "0";
        return refuse(node, path, yes ? "true" : no ? "false" : "true or false");
    }
    out = node.text == "true";
    return true;
}

bool config_reading::read_integer(const yaml_node& node, const std::string& path, std::uint64_t largest,
                                  std::uint64_t& out)
{
    const std::string wanted = fmt::format("a whole number from 0 to {} in decimal digits, without a unit", largest);
    if (node.kind != yaml_kind::scalar || node.flagged || node.quoted || !is_digits(node.text))
        return refuse(node, path, wanted);
    std::uint64_t value = 0;
    const auto end = node.text.data() + node.text.size();
    const auto result = std::from_chars(node.text.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || value > largest)
        return refuse(node, path, wanted);
    out = value;
    return true;
}

bool config_reading::read_real(const yaml_node& node, const std::string& path, double& out)
{
    const std::string wanted = "a finite number, for example 0.5 or 1e-9";
    if (node.kind != yaml_kind::scalar || node.flagged || node.quoted || !is_decimal(node.text))
        return refuse(node, path, wanted);
    double value = 0;
    const auto end = node.text.data() + node.text.size();
    const auto result = std::from_chars(node.text.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value))
        return refuse(node, path, wanted);
    out = value;
    return true;
}

bool config_reading::read_text(const yaml_node& node, const std::string& path, std::string& out)
{
    if (node.kind != yaml_kind::scalar || node.flagged)
        return refuse(node, path, "text");
    out = node.text;
    return true;
}

bool config_reading::read_file_name(const yaml_node& node, const std::string& path, std::string& out)
{
    if (!read_text(node, path, out))
        return false;
    if (out.empty())
        return true;
    const std::string& file = document_.file_that_sets(path);
    const std::size_t slash = file.rfind('/');
    std::error_code error;
    if (out.front() != '/' && slash != std::string::npos)
        if (const std::string beside = file.substr(0, slash + 1) + out; std::filesystem::exists(beside, error))
            out = beside;
    if (const std::string why = why_unreadable(out); !why.empty())
        weft::add_problem(document_, problems_, path, why); // the name is what the user wrote: it is judged further
    return true;
}

std::string why_unreadable(const std::string& file)
{
    std::error_code error;
    const bool is_there = std::filesystem::exists(file, error);
    if (is_there && !std::filesystem::is_regular_file(file, error))
        return fmt::format("names {}, which is no file.", in_quotes(file));
    errno = 0;
    if (std::ifstream(file, std::ios::binary))
        return "";
    return fmt::format("names {}, which cannot be read: {}.{}", in_quotes(file), std::strerror(errno),
                       is_there || file.front() == '/' ? "" : " It is looked for in the folder of the file that names it, then in the present one.");
}

bool config_reading::read_quantity(const yaml_node& node, const std::string& path, quantity_kind kind,
                                   std::uint64_t& out)
{
    if (node.kind != yaml_kind::scalar || node.flagged)
        return refuse(node, path, legal_units(kind));
    const parsed_quantity parsed = parse_quantity(kind, node.text);
    if (!parsed.ok) {
        add_problem(path, parsed.error);
        return false;
    }
    out = parsed.value;
    return true;
}

bool config_reading::read_cycles(const yaml_node& node, const std::string& path, std::uint64_t clock_hz,
                                 std::uint64_t& out)
{
    __extension__ typedef unsigned __int128 uint128;
    constexpr std::uint64_t k_ps_per_s = 1'000'000'000'000;
    if (clock_hz == 0 || node.kind != yaml_kind::scalar || node.flagged)
        return read_quantity(node, path, quantity_kind::cycles, out);
    const parsed_quantity time = parse_quantity(quantity_kind::duration, node.text);
    if (!time.ok)
        return read_quantity(node, path, quantity_kind::cycles, out);
    const uint128 product = static_cast<uint128>(time.value) * clock_hz; // in 10^-12 cycles
    const uint128 whole = (product + k_ps_per_s / 2) / k_ps_per_s;
    if (whole > ~std::uint64_t{0}) {
        add_problem(path, fmt::format("{} at {} is more cycles than 64 bits hold", in_quotes(node.text),
                                      to_string(frequency(clock_hz))));
        return false;
    }
    out = static_cast<std::uint64_t>(whole);
    const uint128 taken = whole * k_ps_per_s;
    if ((taken > product ? taken - product : product - taken) * 100 > product)
        weft::add_problem(document_, problems_, path,
                          fmt::format("{} is {:.4g} cycles of {}, taken as {}.", in_quotes(node.text),
                                      static_cast<double>(product) / k_ps_per_s, to_string(frequency(clock_hz)),
                                      to_string(cycle_count(out))),
                          severity::warning);
    return true;
}

bool config_reading::read_choice(const yaml_node& node, const std::string& path, const std::vector<std::string>& names,
                                 std::size_t& out)
{
    std::string list;
    std::vector<std::string> offered;
    for (const auto& name : names)
        if (unlisted_.count(name) == 0) {
            list += (list.empty() ? "" : ", ") + name;
            offered.push_back(name);
        }
    if (node.kind != yaml_kind::scalar || node.flagged)
        return refuse(node, path, "one of: " + list);
    const auto found = std::find(names.begin(), names.end(), node.text);
    const std::optional<bool> boolean = node.quoted ? std::nullopt : yaml_1_1_boolean(node.text);
    if (found == names.end() && boolean) {
        // A script that has read `off` with YAML 1.1 writes `false`.
        if (const std::optional<std::size_t> only = choice_of_boolean(names, *boolean)) {
            out = *only;
            return true;
        }
        if (const std::optional<std::size_t> other = choice_of_boolean(names, !*boolean)) {
            add_problem(path, fmt::format("{} does not say which value is meant ({} is read as {}); write one of: {}",
                                          in_quotes(node.text), *boolean ? "false" : "true", names[*other], list));
            return false;
        }
    }
    if (found == names.end()) {
        const std::string meant = closest(node.text, offered);
        add_problem(path, fmt::format("{} is not known here; {}legal values: {}", in_quotes(node.text),
                                      meant.empty() ? "" : "did you mean '" + meant + "'? ", list));
        return false;
    }
    out = static_cast<std::size_t>(found - names.begin());
    return true;
}

} // namespace weft
