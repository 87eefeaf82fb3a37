// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How a component describes its configuration, once, for everyone: the YAML loader, the resolved dump, the JSON Schema
// and the docs page all walk the same `fields` function. No YAML here.
//
//   struct hbm_config {
//       data_size capacity = 32_GiB;
//       bandwidth rate = 900_GBps;
//       template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
//       {
//           visit("capacity", self.capacity, "Bytes of HBM on one chip", quoted("Google Cloud TPU v3 page"));
//           visit("rate", self.rate, "Peak rate of the HBM, reads and writes together", quoted("..."),
//                 between(1_Mbps, 8000_Tbps));
//       }
//       std::vector<config_problem> validate() const;   // optional: what one field alone cannot show
//   };
//
// A member may be: a quantity (units.h), bool, std::uint32_t / std::uint64_t, double, std::string, file_name, an enum
// with enum_names, a struct with `fields`, std::optional or std::vector of any of these. Every member has a default in
// the struct; the fourth argument of visit is the source of that default (value_source.h), the fifth, for numbers and
// quantities, the values that are legal whatever the other keys say.
#pragma once

#include "tlm/check.h"
#include "tlm/units.h"
#include "tlm/value_source.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// A file to read. In a configuration file it is meant from the folder of the file that has the key, or else from the
/// present one; the reader makes it so.
class file_name : public std::string {
public:
    using std::string::string;
    file_name(std::string name) : std::string(std::move(name)) {}
};

/// A problem that a config's validate() finds. `key` is relative to the struct ("ici.link_rate" or "" for the struct
/// itself).
struct config_problem {
    severity level = severity::error;
    std::string key;
    std::string message; ///< whole sentence: what is wrong, why, what would be right
};

/// Whether none of the problems is an error. An outer validate() asks this of a section before it computes with its
/// values.
inline bool no_errors(const std::vector<config_problem>& problems)
{
    for (const config_problem& p : problems)
        if (p.level == severity::error)
            return false;
    return true;
}

/// What a number or a quantity may be, whatever the other keys say. It is part of the field table, so that the reader,
/// the JSON Schema and the docs page cannot differ. Made by between(), at_most(), at_least(), one_of() and
/// real_between().
struct field_limits {
    std::uint64_t least = 0; ///< base units of a quantity
    std::uint64_t most = ~std::uint64_t{0};
    double least_real = -std::numeric_limits<double>::infinity();
    double most_real = std::numeric_limits<double>::infinity();
    std::uint64_t multiple = 1;   ///< only multiples of it
    bool power_of_two = false;    ///< only these
    std::uint64_t one_of[6] = {}; ///< if `choices` is not 0: only the first so many
    std::size_t choices = 0;
    const char* reason = ""; ///< goes on with the sentence: ": it has to hold a frame"

    constexpr field_limits multiple_of(std::uint64_t base_units) const
    {
        field_limits l = *this;
        l.multiple = base_units;
        return l;
    }
    constexpr field_limits powers_of_two() const
    {
        field_limits l = *this;
        l.power_of_two = true;
        return l;
    }
    constexpr field_limits because(const char* text) const
    {
        field_limits l = *this;
        l.reason = text;
        return l;
    }
    bool bounds_whole() const { return least != 0 || most != ~std::uint64_t{0} || multiple != 1 || power_of_two || choices != 0; }
    bool bounds_real() const { return std::isfinite(least_real) || std::isfinite(most_real); }
};

constexpr field_limits between(std::uint64_t least, std::uint64_t most)
{
    field_limits l;
    l.least = least;
    l.most = most;
    return l;
}
template <quantity_kind K> constexpr field_limits between(quantity<K> least, quantity<K> most)
{
    return between(least.value(), most.value());
}
template <quantity_kind K> constexpr field_limits at_most(quantity<K> most) { return between(0, most.value()); }
constexpr field_limits at_least(std::uint64_t least) { return between(least, ~std::uint64_t{0}); }
template <quantity_kind K> constexpr field_limits at_least(quantity<K> least) { return at_least(least.value()); }
template <class... N> constexpr field_limits one_of(N... values)
{
    static_assert(sizeof...(values) <= std::size(field_limits{}.one_of));
    field_limits l;
    for (const std::uint64_t value : {static_cast<std::uint64_t>(values)...})
        l.one_of[l.choices++] = value;
    return l;
}
constexpr field_limits real_between(double least, double most)
{
    field_limits l;
    l.least_real = least;
    l.most_real = most;
    return l;
}

/// "4 B to 1 MiB and a multiple of 4 B", "at most 1 ms", "1, 2 or 4"; "" without limits. `kind` of a quantity.
std::string text_of(const field_limits& limits, std::optional<quantity_kind> kind);

// One value against its limits; adds a problem about `key`: "is 0 B, must be 4 B to 1 MiB."
void check_limits(const std::string& key, std::uint64_t value, std::optional<quantity_kind> kind,
                  const field_limits& limits, std::vector<config_problem>& problems);
void check_limits(const std::string& key, double value, const field_limits& limits,
                  std::vector<config_problem>& problems);

namespace config_detail {

struct limit_visitor {
    std::vector<config_problem>& problems;

    template <class T>
    void operator()(const char* name, const T& value, const char*, value_source, const field_limits& limits = {})
    {
        check(name, value, limits);
    }

private:
    template <quantity_kind K> void check(const std::string& key, quantity<K> value, const field_limits& limits)
    {
        check_limits(key, value.value(), K, limits, problems);
    }
    template <class T> void check(const std::string& key, const std::optional<T>& value, const field_limits& limits)
    {
        if (value)
            check(key, *value, limits);
    }
    template <class T> void check(const std::string& key, const std::vector<T>& values, const field_limits& limits)
    {
        for (std::size_t i = 0; i < values.size(); ++i)
            check(key + "." + std::to_string(i), static_cast<T>(values[i]), limits);
    }
    template <class T> void check(const std::string& key, const T& value, const field_limits& limits)
    {
        if constexpr (std::is_same_v<T, double>)
            check_limits(key, value, limits, problems);
        else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
            check_limits(key, value, std::nullopt, limits, problems);
    }
};

} // namespace config_detail

/// Members of the struct that are outside their limits; sections in it speak for themselves. A validate() that others
/// ask begins with it, the reader asks it of every struct.
template <class C> std::vector<config_problem> limit_problems(const C& config)
{
    std::vector<config_problem> problems;
    config_detail::limit_visitor visit{problems};
    C::fields(config, visit);
    return problems;
}

/// Specialise with `static constexpr std::pair<E, const char*> values[]` to make an enum readable.
template <class E> struct enum_names;

template <class T, class = void> struct has_fields : std::false_type {
};
struct any_visitor {
    template <class... A> void operator()(A&&...) {}
};
template <class T>
struct has_fields<T, std::void_t<decltype(T::fields(std::declval<T&>(), std::declval<any_visitor&>()))>>
    : std::true_type {
};

/// A visitor for the fields of a struct whose defaults another struct replaces: the sources it names are told in place
/// of the original ones. For a config that derives from another and sets members in its constructor.
template <class Visitor, std::size_t Count> class with_sources {
public:
    using entry = std::pair<const char*, value_source>; ///< name of a field, source of its default here
    with_sources(Visitor& visit, const entry (&sources)[Count]) : visit_(visit), sources_(sources) {}

    template <class T>
    void operator()(const char* name, T& value, const char* doc, value_source source, const field_limits& limits = {})
    {
        for (const entry& e : sources_)
            if (std::string_view(e.first) == name)
                return visit_(name, value, doc, e.second, limits);
        visit_(name, value, doc, source, limits);
    }

private:
    Visitor& visit_;
    const entry (&sources_)[Count];
};

/// Which part of a machine a config struct is about: `static constexpr config_part k_part`. Left out: none, and `weft
/// explain` tries no change of its values.
enum class config_part : std::uint8_t { none, links, memory, core, dma, ccu, sync, nic, aggregation, job };
template <class T, class = void> struct part_of : std::integral_constant<config_part, config_part::none> {
};
template <class T> struct part_of<T, std::void_t<decltype(T::k_part)>> : std::integral_constant<config_part, T::k_part> {
};

template <class T, class = void> struct has_validate : std::false_type {
};
template <class T> struct has_validate<T, std::void_t<decltype(std::declval<const T&>().validate())>> : std::true_type {
};

} // namespace weft
