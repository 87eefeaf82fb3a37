// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How a component describes its configuration, once, for everyone: the YAML loader, the resolved dump, the JSON Schema and
// the docs page all walk the same `fields` function. No YAML here.
//
//   struct hbm_config {
//       data_size capacity = 32_GiB;
//       bandwidth rate = 900_GBps;
//       template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
//       {
//           visit("capacity", self.capacity, "Bytes of HBM on one chip", "Google Cloud TPU v3 page (quoted)");
//           visit("rate", self.rate, "Peak rate of the HBM, reads and writes together", "... (quoted)");
//       }
//       std::vector<config_problem> validate() const;   // optional: what one field alone cannot show
//   };
//
// A member may be: a quantity (units.h), bool, std::uint32_t / std::uint64_t, double, std::string, an enum with enum_names,
// a struct with `fields`, std::optional or std::vector of any of these. Every member has a default in the struct; the last
// argument of visit is the source and confidence of that default ("" for switches that need none).
#pragma once

#include "tlm/check.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// A problem that a config's validate() finds. `key` is relative to the struct ("ici.link_rate" or "" for the struct itself).
struct config_problem {
    severity level = severity::error;
    std::string key;
    std::string message; ///< whole sentence: what is wrong, why, what would be right
};

/// Whether none of the problems is an error. An outer validate() asks this of a section before it computes with its values.
inline bool no_errors(const std::vector<config_problem>& problems)
{
    for (const config_problem& p : problems)
        if (p.level == severity::error)
            return false;
    return true;
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

/// A visitor for the fields of a struct whose defaults another struct replaces: the sources it names are told in place of the
/// original ones. For a config that derives from another and sets members in its constructor.
template <class Visitor, std::size_t Count> class with_sources {
public:
    using entry = std::pair<const char*, const char*>; ///< name of a field, source of its default here
    with_sources(Visitor& visit, const entry (&sources)[Count]) : visit_(visit), sources_(sources) {}

    template <class T> void operator()(const char* name, T& value, const char* doc, const char* source)
    {
        for (const entry& e : sources_)
            if (std::string_view(e.first) == name)
                return visit_(name, value, doc, e.second);
        visit_(name, value, doc, source);
    }

private:
    Visitor& visit_;
    const entry (&sources_)[Count];
};

template <class T, class = void> struct has_validate : std::false_type {
};
template <class T> struct has_validate<T, std::void_t<decltype(std::declval<const T&>().validate())>> : std::true_type {
};

} // namespace weft
