// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Edges of trees, as planners of broadcasts and of reduces up to a root need them.
#pragma once

#include "firmware/collectives/schedule_writer.h"

namespace weft::firmware {

class tree_writer : public schedule_writer {
public:
    using schedule_writer::schedule_writer;

    /// Of a broadcast: `messages` that come from the parent. After the edges to children, which forward them.
    void add_arrivals(std::uint32_t messages, std::uint32_t parent, std::uint32_t ready_semaphore,
                      std::uint32_t data_semaphore);
    /// Of a broadcast: a rank to which this one sends on what it has.
    void add_child(std::uint16_t queue, std::uint32_t ready_semaphore, std::uint32_t child, abi::element_range range,
                   bool is_root, std::uint32_t data_semaphore);
    /// Of a reduce: `messages` that come to be summed here. Channels of a tree share a lane, its colour: its sums wait
    /// for all of them.
    pass& add_contributions(std::uint32_t colour, std::uint32_t messages, std::uint32_t from,
                            std::uint32_t data_semaphore);
    /// Of a reduce: the sums of a tree, to the parent.
    pass& add_sums(std::uint32_t colour, abi::element_range range, std::uint32_t to, std::uint32_t ready_semaphore,
                   std::uint32_t data_semaphore);
};

} // namespace weft::firmware
