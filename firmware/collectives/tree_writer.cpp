// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/tree_writer.h"

namespace weft::firmware {

// A broadcast comes from one parent: it is told, and nothing is sent on this channel.
void tree_writer::add_arrivals(std::uint32_t messages, std::uint32_t parent, std::uint32_t ready_semaphore,
                           std::uint32_t data_semaphore)
{
    channel_plan& arrivals = add_channel(0);
    pass& p = add_pass(arrivals, run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.forwards = true;
    p.receive_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.total_receives = messages;
    notify(out_.channel_count - 1, parent, ready_semaphore);
    for (std::uint32_t i = 0; i < out_.channel_count; ++i) {
        pass& of_tree = out_.channels[i].passes[0];
        if (of_tree.receive_semaphore == data_semaphore)
            of_tree.view.predecessor = parent;
    }
}

void tree_writer::add_child(std::uint16_t queue, std::uint32_t ready_semaphore, std::uint32_t child,
                        abi::element_range range, bool is_root, std::uint32_t data_semaphore)
{
    channel_plan& c = add_channel(0);
    c.queue = queue;
    pass& p = add_pass(c, run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.forwards = p.needs_ready = true;
    p.ready_semaphore = static_cast<std::uint8_t>(ready_semaphore);
    p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.view.predecessor = command_.root;
    p.total_sends = out_.chunks(range.count);
    p.free_sends = is_root ? p.total_sends : 0;
    add_send(p, range, child);
    p.view.successor = child;
    expect(p.ready_semaphore, 1);
}

// What comes to be summed here. Channels of a tree share a lane: its sums wait for all of them.
pass& tree_writer::add_contributions(std::uint32_t colour, std::uint32_t messages, std::uint32_t from,
                                 std::uint32_t data_semaphore)
{
    pass& p = add_pass(add_channel(colour), run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.receive_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.total_receives = messages;
    p.view.predecessor = from;
    return p;
}

// Sums of a tree, to the parent.
pass& tree_writer::add_sums(std::uint32_t colour, abi::element_range range, std::uint32_t to, std::uint32_t ready_semaphore,
                        std::uint32_t data_semaphore)
{
    pass& p = add_pass(add_channel(colour), run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.accumulate = p.guarded = p.of_contributions = p.needs_ready = true;
    p.receive_semaphore = p.ready_semaphore = static_cast<std::uint8_t>(ready_semaphore);
    p.remote_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.total_sends = out_.chunks(range.count);
    p.view.successor = p.view.predecessor = to;
    add_send(p, range, to);
    return p;
}

} // namespace weft::firmware
