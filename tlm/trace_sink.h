// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where components write what they do, for people who look at a picture of it: tracks with slices, and arrows between
// slices.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

class component;

/// Whether an arrow begins at a slice, goes on from it to the next one, or ends there.
enum class flow_step : std::uint8_t { none, begins, goes_on, ends };

struct trace_slice {
    static constexpr std::uint32_t k_nobody = 0xffff'ffff;

    std::uint32_t track = 0;
    std::uint64_t start_ps = 0;
    std::uint64_t span_ps = 0; ///< a mark has none
    std::string name = {};
    std::string arguments = {};    ///< members of a JSON object, without its braces
    std::uint32_t from = k_nobody; ///< rank that sent the message
    std::uint32_t to = k_nobody;   ///< rank that gets it
    bool control = false;          ///< of a link, for packets of many ranks
    flow_step flow = flow_step::none;
    std::uint64_t flow_id = 0; ///< the same for all slices of one arrow
};

class trace_sink {
public:
    /// A further track of `owner`; returns its number. Tracks of a chip's parts stand together, and all wires.
    virtual std::uint32_t add_track(const component& owner, const std::string& name) = 0;
    virtual void slice(const trace_slice& s) = 0;
    /// A record without length, such as a loss.
    virtual void mark(const trace_slice& s) = 0;

protected:
    ~trace_sink() = default;
};

} // namespace weft
