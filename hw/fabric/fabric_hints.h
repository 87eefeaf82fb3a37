// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of the hints that arbitration itself leaves behind; fabric_hints.cpp has the others.
#pragma once

#include "hw/fabric/fabric_engine.h"

namespace weft {

/// VOQ mode: notes a head that arbitration may well choose next, without a look at ages; there is one.
inline void fabric_engine::expect_next(link_state& l) const
{
    const std::uint32_t bit = first_request(&waiters_[l.waiter_base], l.waiter_words, l.round_robin);
    l.expected = voqs_[voq_of(l, bit)].front();
    l.expected_bit = static_cast<std::uint16_t>(bit);
}

} // namespace weft
