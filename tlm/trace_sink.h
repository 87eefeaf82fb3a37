// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where components write what they do, for people who look at a picture of it: tracks with slices.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

class component;

class trace_sink {
public:
    /// A further track of `owner`; returns its number. Tracks of a chip's parts stand together, and all wires.
    virtual std::uint32_t add_track(const component& owner, const std::string& name) = 0;
    /// `arguments`: members of a JSON object, without its braces.
    virtual void slice(std::uint32_t track, std::uint64_t start_ps, std::uint64_t span_ps, const std::string& name,
                       const std::string& arguments) = 0;
    /// A record without length, such as a loss.
    virtual void mark(std::uint32_t track, std::uint64_t time_ps, const std::string& name,
                      const std::string& arguments) = 0;

protected:
    ~trace_sink() = default;
};

} // namespace weft
