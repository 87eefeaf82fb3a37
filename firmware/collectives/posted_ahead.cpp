// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes of trees whose messages wait in the DMA engine: a core that wakes for each would keep the links waiting. It
// posts them in groups, two of which fit into a ring, and the engine begins each when its semaphores have counted what
// it forwards (descriptor.h). Behind every group stands a message of the rank to itself; the core sleeps until it
// counts.
//
// It never waits for a ring in which messages wait for arrivals. Else the messages of another tree, for which that
// ring waits in the end, might be those that it has yet to post. So a pass waits for its own group only, a group for
// messages of its own tree, and a tree has no cycle. Where two passes share a queue, or a ring is too short for two
// groups, the core waits before each message.
#include "firmware/collectives/engine.h"
#include "firmware/costs.h"

namespace weft::firmware {

namespace {
// Besides two groups a ring may hold what told neighbours at the beginning, and the ends of both groups.
constexpr std::uint32_t k_other_entries = 4;
constexpr std::uint32_t k_queues_of_trees = 4; // of trees on rows and columns: plan_mesh_trees.cpp
} // namespace

bool engine::contributes(const channel& from, const channel& to) const
{
    return from.plan->lane == to.plan->lane && from.counts.receives != 0;
}

void engine::start_ahead(channel& c)
{
    charge(costs::k_begin_ahead);
    c.sources = c.now->of_contributions || c.counts.free_sends != 0 ? 0 : 1; // the root has it all
    for (const channel& from : channels())
        c.sources += c.now->of_contributions && contributes(from, c) ? 1 : 0;
    const std::uint32_t entries = c.sources == 0 ? 1 : 2 * c.sources;
    const std::uint32_t ring = dma_.ring_entries();
    const bool alone = dma_.queues() >= k_queues_of_trees;
    c.group = alone && ring > k_other_entries ? (ring - k_other_entries) / 2 / entries : 0;
    c.batch = c.group != 0 ? 1 : c.batch; // all trees begin at once
    c.left_base = context_.expected[c.now->group_semaphore];
}

/// Whether somebody waits for the group that ends with the message before this one.
bool engine::tells_of_group(const channel& c) const
{
    return c.sent != 0 && c.sent % c.group == 0 && c.sent + c.group < c.counts.sends;
}

bool engine::is_far_ahead(channel& c)
{
    const std::uint32_t before = c.sent / c.group;
    return before > 1 && must_wait(c, c.now->group_semaphore, c.left_base + before - 1, context_.table.rank);
}

abi::status engine::post_ahead(channel& c)
{
    if (tells_of_group(c)) {
        abi::dma_descriptor end = own_notice(c);
        end.remote_semaphore = c.now->group_semaphore;
        ++context_.expected[c.now->group_semaphore];
        ++messages_;
        charge(costs::k_notify);
        if (abi::status s = dma_.stage(c.queue, end, abi::k_no_semaphore, 0, command_.timeout_ns); !s.ok())
            return s;
    }
    charge(costs::k_staged);
    if (c.sources == 0)
        return dma_.stage(c.queue, message_, abi::k_no_semaphore, 0, command_.timeout_ns);
    if (!c.now->of_contributions)
        return stage_waiting(c, c, message_);
    // A descriptor waits for one semaphore: for each other one stands a descriptor before it that only waits.
    std::uint32_t left = c.sources;
    for (const channel& from : channels()) {
        charge(costs::k_donor);
        if (!contributes(from, c))
            continue;
        const bool last = --left == 0;
        charge(last ? 0 : costs::k_wait_alone);
        if (abi::status s = stage_waiting(c, from, last ? message_ : own_notice(c)); !s.ok() || last)
            return s;
    }
    return {};
}

/// Nothing, to this rank.
abi::dma_descriptor engine::own_notice(const channel& c) const
{
    abi::dma_descriptor d;
    d.type = command_.type;
    d.destination_rank = context_.table.rank;
    d.destination_port = c.port;
    d.tag = message_.tag;
    return d;
}

/// To be begun when `from` has got as many messages as the pass has sent with this one.
abi::status engine::stage_waiting(channel& c, const channel& from, const abi::dma_descriptor& d)
{
    charge(costs::k_wait_ahead);
    return dma_.stage(c.queue, d, from.now->receive_semaphore, from.receive_base + c.sent + 1, command_.timeout_ns);
}

} // namespace weft::firmware
