// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a figure comes from and how far it can be trusted. Code, docs, JSON Schemas and resolved files show it alike:
//
//   quoted("UB-Mesh, section 4.2")    "quoted: UB-Mesh, section 4.2"
//
// A source without text does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

enum class confidence : std::uint8_t {
    user_choice, ///< no figure: the user has to choose, or nothing has to be chosen
    quoted,      ///< stands in a public document
    derived,     ///< calculated from quoted figures
    recalled,    ///< remembered, and not verified
    assumed,     ///< nothing public says
    calibrated,  ///< fitted, so that the simulation meets the named value
    required     ///< no default would mean anything: a file that leaves the key out is refused
};

class value_source {
public:
    constexpr value_source() = default;
    template <std::size_t Size>
    constexpr value_source(confidence how, const char (&text)[Size]) : how_(how), text_(text)
    {
        static_assert(Size > 1, "a source says where the figure comes from");
    }
    constexpr explicit value_source(confidence how) : how_(how) {}
    constexpr confidence how() const { return how_; }
    /// "quoted: UB-Mesh, section 4.2"; "" of a user's choice and of what is required.
    std::string text() const
    {
        constexpr const char* k_words[] = {"", "quoted", "derived", "recalled", "assumed", "calibrated"};
        return how_ == confidence::user_choice || how_ == confidence::required ? "" : std::string(k_words[static_cast<int>(how_)]) + ": " + text_;
    }

private:
    confidence how_ = confidence::user_choice;
    const char* text_ = "";
};

inline constexpr value_source k_user_choice{};
/// Of keys that name a place, in entries of lists: nothing may be broken at the first one by default.
inline constexpr value_source k_must_be_given{confidence::required};
template <std::size_t Size> constexpr value_source quoted(const char (&text)[Size]) { return {confidence::quoted, text}; }
template <std::size_t Size> constexpr value_source derived(const char (&text)[Size])
{
    return {confidence::derived, text};
}
template <std::size_t Size> constexpr value_source recalled(const char (&text)[Size])
{
    return {confidence::recalled, text};
}
template <std::size_t Size> constexpr value_source assumed(const char (&text)[Size])
{
    return {confidence::assumed, text};
}
template <std::size_t Size> constexpr value_source calibrated(const char (&text)[Size])
{
    return {confidence::calibrated, text};
}

} // namespace weft
