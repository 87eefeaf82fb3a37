// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a config member may be (tlm/config_fields.h), as type traits for the reader and the dump.
#pragma once

#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weft {

template <class T> struct is_quantity : std::false_type {
};
template <quantity_kind K> struct is_quantity<quantity<K>> : std::true_type {
};

template <class T> struct is_optional : std::false_type {
};
template <class T> struct is_optional<std::optional<T>> : std::true_type {
};

template <class T> struct is_vector : std::false_type {
};
template <class T> struct is_vector<std::vector<T>> : std::true_type {
};

/// Of a section: the frequency of this name is what its cycles are counted in.
inline constexpr std::string_view k_clock_key = "clock";

template <class T> constexpr bool always_false = false;

/// The names of an enum, in the order of its enum_names table.
template <class E> std::vector<std::string> names_of_enum()
{
    std::vector<std::string> names;
    for (const auto& value : enum_names<E>::values)
        names.emplace_back(value.second);
    return names;
}

/// The one of `names` that YAML 1.1 reads as this boolean: "off" for false. None where there is no such name, or
/// several.
std::optional<std::size_t> choice_of_boolean(const std::vector<std::string>& names, bool value);

} // namespace weft
