// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills a config struct from a YAML document, strictly, by the struct's own `fields` (tlm/config_fields.h). Every
// problem of the file is found in one pass: unknown keys, wrong types, wrong or missing units, and what validate() of
// every struct has to say. Members without a key keep the default of the struct.
//
//   std::vector<problem> problems;
//   const auto config = read_config<tpu_v3_config>(document, problems, k_platform_file_keys);
//   throw_if_errors(problems);
//
// A key that nothing uses beside the values of others (tlm/key_rules.h) is a warning where the file sets it.
//
// Types: a list replaces the default list as a whole; a section overlays the defaults of the struct; an absent key
// leaves an optional empty. Only true and false are switches, only plain decimal digits are whole numbers.
#pragma once

#include "platforms/config/field_traits.h"
#include "platforms/config/suggest.h"
#include "platforms/config/yaml_document.h"
#include "tlm/key_rules.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// One reading pass: the document, the problems found, and which keys could not be read. The parts that need no type.
class config_reading {
public:
    config_reading(const yaml_document& document, std::vector<problem>& problems)
        : document_(document), problems_(problems)
    {
    }

    /// Values of choices that messages do not offer, although they are legal.
    void leave_unlisted(const std::vector<std::string>& values) { unlisted_.insert(values.begin(), values.end()); }

    /// A problem at a key path of the document; `key_path` counts as not readable.
    void add_problem(const std::string& key_path, std::string message);

    /// A finding of validate() of the struct at `path`. Dropped when it judges a key that could not be read: its
    /// value in the struct is a default that the user never wrote.
    void add_finding(const std::string& path, const config_problem& finding);

    /// Warns about every key of the document that matches `key` (key_rule::key, in the struct at `path`), which nothing
    /// uses.
    /// Silent when the struct has keys that could not be read: they may be what decides.
    void add_unused(const std::string& path, const std::string& key, const std::string& only);

    /// True if `key_path`, a section around it, or a key inside it could not be read.
    bool failed(const std::string& key_path) const;

    /// Entries of `map` that are not among `known`. At most 20 are listed one by one.
    void check_keys(const yaml_node& map, const std::string& path, const std::vector<std::string>& known);

    /// A key that has to be given is not there; `doc` says what it means.
    void add_missing(const std::string& path, const std::string& doc);

    // Each returns whether `out` was set; if not, the problem has been added.
    bool is_map(const yaml_node& node, const std::string& path);
    bool is_list(const yaml_node& node, const std::string& path, const std::string& wanted_entry);
    bool read_bool(const yaml_node& node, const std::string& path, bool& out);
    bool read_integer(const yaml_node& node, const std::string& path, std::uint64_t largest, std::uint64_t& out);
    bool read_real(const yaml_node& node, const std::string& path, double& out);
    bool read_text(const yaml_node& node, const std::string& path, std::string& out);
    /// A name that is found from here on: in the folder of the file that has the key, or else as it stands, from the
    /// present folder. A problem where there is no file that can be read; "" is none.
    bool read_file_name(const yaml_node& node, const std::string& path, std::string& out);
    bool read_quantity(const yaml_node& node, const std::string& path, quantity_kind kind, std::uint64_t& out);
    /// Cycles, or a time where the clock is known: the nearest whole number of its cycles, with a warning where that is
    /// more than 1 % away. `clock_hz` 0: there is none.
    bool read_cycles(const yaml_node& node, const std::string& path, std::uint64_t clock_hz, std::uint64_t& out);
    /// `out` is the index into `names`.
    bool read_choice(const yaml_node& node, const std::string& path, const std::vector<std::string>& names,
                     std::size_t& out);

private:
    bool refuse(const yaml_node& node, const std::string& path, const std::string& wanted);

    const yaml_document& document_;
    std::vector<problem>& problems_;
    std::set<std::string> failed_;
    std::set<std::string> unlisted_;
};

/// Of the name of a file, not "": the rest of a sentence on the key that has it; "" where the file can be read.
std::string why_unreadable(const std::string& file);

namespace config_detail {

template <class T> void read_value(config_reading& in, const yaml_node& node, const std::string& path, T& out);

/// Visits the fields of one struct and reads those that the map has.
struct reading_visitor {
    config_reading& in;
    const yaml_node& map;
    const std::string& path;
    std::vector<std::string> known;
    const frequency* clock = nullptr;
    std::vector<std::pair<const yaml_entry*, cycle_count*>> cycles; ///< read when the clock has been

    template <class T>
    void operator()(const char* name, T& member, const char* doc, value_source source, const field_limits& = {})
    {
        known.emplace_back(name);
        const yaml_entry* const entry = map.find(name);
        if (entry == nullptr && source.how() == confidence::required)
            in.add_missing(join_path(path, name), doc);
        if constexpr (std::is_same_v<T, frequency>)
            if (name == k_clock_key)
                clock = &member;
        if constexpr (std::is_same_v<T, cycle_count>) {
            if (entry != nullptr)
                cycles.emplace_back(entry, &member);
        } else if (entry != nullptr) {
            read_value(in, entry->value, join_path(path, name), member);
        }
    }
    void read_times()
    {
        for (const auto& [entry, member] : cycles) {
            std::uint64_t value = 0;
            if (in.read_cycles(entry->value, join_path(path, entry->key), clock == nullptr ? 0 : clock->value(), value))
                *member = cycle_count(value);
        }
    }
};

template <class C>
void read_fields(config_reading& in, const yaml_node& map, const std::string& path, C& out,
                 const std::vector<std::string>& other_keys = {})
{
    reading_visitor visit{in, map, path, {}, nullptr, {}};
    C::fields(out, visit);
    visit.read_times();
    visit.known.insert(visit.known.end(), other_keys.begin(), other_keys.end());
    in.check_keys(map, path, visit.known);
}

/// What an entry of a list has to be, for the message about a missing list.
template <class T> std::string wanted_entry()
{
    if constexpr (is_quantity<T>::value)
        return legal_units(T::kind);
    else if constexpr (has_fields<T>::value)
        return "a section of 'key: value' lines";
    else if constexpr (std::is_same_v<T, bool>)
        return "true or false";
    else if constexpr (std::is_integral_v<T>)
        return "a whole number";
    else if constexpr (std::is_floating_point_v<T>)
        return "a number";
    else if constexpr (is_vector<T>::value)
        return "a list";
    else
        return "one word";
}

template <class T> void read_value(config_reading& in, const yaml_node& node, const std::string& path, T& out)
{
    if constexpr (is_optional<T>::value) {
        if (!out)
            out.emplace();
        read_value(in, node, path, *out);
    } else if constexpr (is_vector<T>::value) {
        using element = typename T::value_type;
        if (!in.is_list(node, path, wanted_entry<element>()))
            return;
        out.clear();
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            element value{};
            read_value(in, node.items[i], join_path(path, std::to_string(i)), value);
            out.push_back(std::move(value));
        }
    } else if constexpr (is_quantity<T>::value) {
        std::uint64_t value = 0;
        if (in.read_quantity(node, path, T::kind, value))
            out = T(value);
    } else if constexpr (std::is_same_v<T, bool>) {
        in.read_bool(node, path, out);
    } else if constexpr (std::is_same_v<T, file_name>) {
        in.read_file_name(node, path, out);
    } else if constexpr (std::is_same_v<T, std::string>) {
        in.read_text(node, path, out);
    } else if constexpr (std::is_same_v<T, double>) {
        in.read_real(node, path, out);
    } else if constexpr (std::is_enum_v<T>) {
        std::size_t index = 0;
        if (in.read_choice(node, path, names_of_enum<T>(), index))
            out = enum_names<T>::values[index].first;
    } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
        std::uint64_t value = 0;
        if (in.read_integer(node, path, std::numeric_limits<T>::max(), value))
            out = static_cast<T>(value);
    } else if constexpr (has_fields<T>::value) {
        if (in.is_map(node, path))
            read_fields(in, node, path, out);
    } else {
        static_assert(always_false<T>, "a config member of this type cannot be read; see tlm/config_fields.h");
    }
}

template <class T> void validate_value(config_reading& in, const std::string& path, const T& value);

struct validating_visitor {
    config_reading& in;
    const std::string& path;

    template <class T>
    void operator()(const char* name, const T& member, const char* /*doc*/, value_source /*source*/,
                    const field_limits& = {})
    {
        validate_value(in, join_path(path, name), member);
    }
};

/// Inner structs first: what they find explains what the outer ones find.
template <class T> void validate_value(config_reading& in, const std::string& path, const T& value)
{
    if constexpr (is_optional<T>::value) {
        if (value)
            validate_value(in, path, *value);
    } else if constexpr (is_vector<T>::value) {
        if constexpr (!std::is_same_v<T, std::vector<bool>>)
            for (std::size_t i = 0; i < value.size(); ++i)
                validate_value(in, join_path(path, std::to_string(i)), value[i]);
    } else if constexpr (has_fields<T>::value) {
        validating_visitor visit{in, path};
        T::fields(value, visit);
        for (const config_problem& finding : limit_problems(value))
            in.add_finding(path, finding);
        if constexpr (has_validate<T>::value) // it may find the same once more; problems are told once
            for (const config_problem& finding : value.validate())
                in.add_finding(path, finding);
        if constexpr (has_key_rules<T>::value)
            for (const auto& rule : T::key_rules())
                if (!rule.applies(value))
                    in.add_unused(path, rule.key, rule.only);
    }
}

} // namespace config_detail

/// Reads a `C` from the document. Adds every problem (of the document, of the values, of validate()) to `problems`,
/// sorted in the order of the file; the result is only meaningful when none of them is an error. `other_keys` are
/// top-level keys that somebody else reads, `unlisted` values of choices that no message offers.
template <class C>
C read_config(const yaml_document& document, std::vector<problem>& problems,
              const std::vector<std::string>& other_keys = {}, const std::vector<std::string>& unlisted = {})
{
    C config{};
    problems.insert(problems.end(), document.problems().begin(), document.problems().end());
    config_reading in(document, problems);
    in.leave_unlisted(unlisted);
    config_detail::read_fields(in, document.root(), {}, config, other_keys);
    config_detail::validate_value(in, {}, config);
    sort_problems(document, problems);
    return config;
}

/// Adds what the document itself and validate() have to say of a configuration that was read from it without an error,
/// and has got more values since; sorted in the order of the file.
template <class C> void validate_config(const yaml_document& document, std::vector<problem>& problems, const C& config)
{
    problems.insert(problems.end(), document.problems().begin(), document.problems().end());
    config_reading in(document, problems);
    config_detail::validate_value(in, {}, config);
    sort_problems(document, problems);
}

/// read_config(), throwing user_error with all problems when one of them is an error. Warnings are put into `warnings`
/// if given.
template <class C>
C read_config_or_throw(const yaml_document& document, const std::vector<std::string>& other_keys = {},
                       std::vector<problem>* warnings = nullptr)
{
    std::vector<problem> problems;
    C config = read_config<C>(document, problems, other_keys);
    throw_if_errors(problems);
    if (warnings != nullptr)
        warnings->insert(warnings->end(), problems.begin(), problems.end());
    return config;
}

} // namespace weft
