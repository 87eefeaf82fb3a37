// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of the hints that arbitration itself leaves behind; fabric_hints.cpp has the others.
#pragma once

#include "hw/fabric/fabric_engine.h"

namespace weft {

/// VOQ mode: notes the head that arbitration will choose next if its credits come, without a look at ages; there is
/// one.
inline void fabric_engine::expect_next(std::uint32_t link)
{
    link_state& l = links_[link];
    const auto [relay, entry] = arbiter_.choose(
        l, link, [&](std::uint32_t bit) { return share_of(l, bit); }, [](std::uint32_t, bool) { return true; });
    const std::uint32_t bit = relay != k_no_grant ? relay : entry;
    l.expected = voqs_[voq_of(l, bit)].front();
    l.expected_bit = static_cast<std::uint16_t>(bit);
}

} // namespace weft
