// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that is said about a configuration, from the same `fields` the reader walks: the resolved dump (YAML that
// reads back to the same struct, and JSON), the JSON Schema for editors, and the table of docs/04_config.md.
#pragma once

#include "platforms/config/field_traits.h"
#include "platforms/config/yaml_document.h"
#include "tlm/key_rules.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft {

enum class field_type { section, list, quantity, boolean, integer, real, text, choice };

/// A config struct or one of its members as plain data.
struct config_field {
    std::string name;   ///< "" for the root and for entries of a list
    std::string doc;    ///< one line
    std::string source; ///< of the default, "" if it needs none
    field_type type = field_type::section;
    config_part part = config_part::none; ///< of a section
    bool optional = false;
    std::string only;    ///< when it applies (key_rule::only); "": always
    bool unused = false; ///< and with the present values it does not
    bool required = false; ///< has to be given where its section is
    bool present = true; ///< false: an optional without value; `value` and `children` then show a default one
    quantity_kind kind = quantity_kind::data_size; ///< of a quantity
    std::uint64_t largest = 0;                     ///< that the type of an integer holds
    bool or_time = false;                          ///< cycles of a clock that is known: a time is legal, too
    field_limits limits;                           ///< of an integer, a real or a quantity
    std::vector<std::string> choices;              ///< legal values of a choice
    /// Of everything but section and list; a quantity is text with its unit.
    std::variant<std::monostate, bool, std::uint64_t, double, std::string> value;
    std::vector<config_field> children; ///< members of a section, entries of a list
    std::vector<config_field> element;  ///< of a list: exactly one, the type and the defaults of an entry
    std::vector<config_field> example;  ///< of an absent optional: one or none, legal values to begin with
};

namespace config_detail {

template <class T> config_field describe_value(const T& value);

/// Notes `only` at the members that `key` (key_rule::key) names, in entries of lists and in the type of an entry, too.
void note_rule(config_field& field, std::string_view key, const std::string& only, bool unused);
/// Notes `or_time` at members of a section that has a clock.
void note_clock(config_field& section);
/// Limits of a list are those of its entries.
inline void set_limits(config_field& field, const field_limits& limits)
{
    field.limits = limits;
    for (config_field& entry : field.element)
        set_limits(entry, limits);
}

/// Whether a struct has `static T example()`: values to begin with where `T{}` is not legal, or has optionals that must
/// not be zero.
template <class T, class = void> struct has_example : std::false_type {
};
template <class T> struct has_example<T, std::void_t<decltype(T::example())>> : std::true_type {
};
/// Gives absent members the values that they have in `example`.
void note_examples(config_field& section, const config_field& example);

struct describing_visitor {
    std::vector<config_field>& fields;

    template <class T>
    void operator()(const char* name, const T& member, const char* doc, value_source source,
                    const field_limits& limits = {})
    {
        config_field field = describe_value(member);
        set_limits(field, limits);
        field.name = name;
        field.doc = doc;
        field.source = source.text();
        field.required = source.how() == confidence::required;
        fields.push_back(std::move(field));
    }
};

/// Of a struct, without examples.
template <class T> config_field describe_fields(const T& value)
{
    config_field field;
    field.part = part_of<T>::value;
    describing_visitor visit{field.children};
    T::fields(value, visit);
    note_clock(field);
    if constexpr (has_key_rules<T>::value)
        for (const auto& rule : T::key_rules())
            note_rule(field, rule.key, rule.only, !rule.applies(value));
    return field;
}

template <class T> config_field describe_value(const T& value)
{
    config_field field;
    if constexpr (is_optional<T>::value) {
        field = describe_value(value ? *value : typename T::value_type{});
        field.optional = true;
        field.present = value.has_value();
        if constexpr (has_example<typename T::value_type>::value)
            if (!field.present)
                field.example.push_back(describe_fields(T::value_type::example()));
    } else if constexpr (is_vector<T>::value) {
        using element = typename T::value_type;
        field.type = field_type::list;
        for (const element& entry : value)
            field.children.push_back(describe_value(entry));
        field.element.push_back(describe_value(element{}));
    } else if constexpr (is_quantity<T>::value) {
        field.type = field_type::quantity;
        field.kind = T::kind;
        field.value = to_string(value);
    } else if constexpr (std::is_same_v<T, bool>) {
        field.type = field_type::boolean;
        field.value = value;
    } else if constexpr (std::is_base_of_v<std::string, T>) {
        field.type = field_type::text;
        field.value = std::string(value);
    } else if constexpr (std::is_same_v<T, double>) {
        field.type = field_type::real;
        field.value = value;
    } else if constexpr (std::is_enum_v<T>) {
        field.type = field_type::choice;
        field.choices = names_of_enum<T>();
        for (const auto& entry : enum_names<T>::values)
            if (entry.first == value)
                field.value = std::string(entry.second);
        if (!std::holds_alternative<std::string>(field.value))
            throw bug("config", 0,
                      "an enum has the value " + std::to_string(static_cast<long long>(value)) +
                          ", which its enum_names table does not list");
    } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
        field.type = field_type::integer;
        field.largest = std::numeric_limits<T>::max();
        field.value = static_cast<std::uint64_t>(value);
    } else if constexpr (has_fields<T>::value) {
        field = describe_fields(value);
        if constexpr (has_example<T>::value)
            note_examples(field, describe_fields(T::example()));
    } else {
        static_assert(always_false<T>, "a config member of this type cannot be shown; see tlm/config_fields.h");
    }
    return field;
}

} // namespace config_detail

/// The struct with its current values. A struct that holds a vector or optional of itself cannot be described.
/// The value of a scalar as for --set, without quotes; "" for none.
std::string value_text(const config_field& scalar);

template <class C> config_field describe(const C& config) { return config_detail::describe_value(config); }

/// YAML text that reads back to the same values, one line and one comment per key: its meaning, and where the value
/// comes from: the line of `origin` that sets it, or the source of the default. Keys that nothing uses are comments.
std::string to_yaml(const config_field& config, const yaml_document* origin = nullptr);

/// Values in force only; quantities as text with their unit; optionals without value and keys that nothing uses are
/// left out.
nlohmann::json to_json(const config_field& config);

/// JSON Schema (draft 2020-12) of the file: types, units, enums, defaults, no unknown keys. `other_keys` are
/// top-level keys that somebody else reads (any text).
nlohmann::json json_schema(const config_field& config, const std::string& title,
                           const std::vector<std::string>& other_keys = {});

/// "| key | type | default | meaning | source of the default |", one row per key, N for a list index.
std::string markdown_table(const config_field& config);

} // namespace weft
