// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a fabric engine can tell about itself: names, the wait-for picture, the credit audit. Never on the hot path.
#include "hw/fabric/fabric_engine.h"

#include <fmt/format.h>
#include <map>

namespace weft {

std::string fabric_engine::port_name(std::uint32_t port) const
{
    return port < port_names_.size() ? port_names_[port] : fmt::format("port{}", port);
}

std::string fabric_engine::link_name(std::uint32_t link) const
{
    const link_state& l = links_.at(link);
    if (l.from_edge)
        return fmt::format("{}.{}.in", routers_[l.to_router].name, port_name(l.to_port));
    return fmt::format("{}.{}", routers_[l.router].name, port_name(cold_[link].from_port));
}

std::vector<link_failure> fabric_engine::link_failures() const
{
    std::vector<link_failure> all = failures_;
    for (link_failure& f : all) {
        f.waiting = link_up(f.link) ? 0u : links_[f.link].waiters;
        f.hindered = f.hindered || f.waiting > 0; // a head that also lacks credits has not asked yet
    }
    return all;
}

std::string fabric_engine::far_end_name(std::uint32_t link) const
{
    const std::uint32_t to = links_.at(link).to_router;
    return to == k_none ? "" : routers_[to].name;
}

std::uint64_t fabric_engine::state_bytes() const
{
    return links_.capacity() * sizeof(link_state) + queues_.capacity() * sizeof(queue_state) +
           cold_.capacity() * sizeof(link_cold) + routers_.capacity() * sizeof(router_state) +
           (in_links_.capacity() + out_links_.capacity()) * sizeof(std::uint32_t) +
           waiters_.capacity() * sizeof(std::uint64_t);
}

std::vector<blocked_head> fabric_engine::blocked() const
{
    std::vector<blocked_head> heads;
    for (std::uint32_t id = 0; id < link_count(); ++id) {
        const link_state& l = links_[id];
        if (l.waiters == 0)
            continue;
        for (std::uint32_t bit = 0; bit < l.waiter_words * 64u; ++bit) {
            if ((waiters_[l.waiter_base + (bit >> 6)] >> (bit & 63) & 1) == 0)
                continue;
            const queue_state& q = queues_[queue_of_bit(l.router, bit)];
            const packet& p = pool_.at(q.buffer.front());
            const credit_counter& credits = queues_[queue_of(id, p.out_vl)].credits;
            heads.push_back({l.router, bit / config_.vl_count, bit % config_.vl_count, cold_[id].from_port, p.out_vl,
                             id, p.index, p.cells, credits.available(), !link_up(id), p.tail_ps});
        }
    }
    return heads;
}

std::string fabric_engine::describe(const blocked_head& b) const
{
    const packet& p = pool_.at(b.packet);
    std::string reason;
    const std::uint64_t down_at = down_at_ps(b.out_link);
    if (b.link_down)
        reason = down_at == 0 || down_at == k_never_ps
                     ? "the link is down"
                     : fmt::format("the link went down at {}", to_string(duration(down_at)));
    else if (b.credits_available < b.credits_needed)
        reason = fmt::format("needs {} credits of VL {}, has {}", b.credits_needed, b.out_vl, b.credits_available);
    else
        reason = "the output is busy";
    return fmt::format("{}: packet from rank {} to rank {} ({} B) in the buffer of {} VL {} waits for {}: {}",
                       routers_[b.router].name, p.source, p.destination, p.payload_bytes, port_name(b.in_port), b.in_vl,
                       link_name(b.out_link), reason);
}

std::string fabric_engine::describe_blocked(std::size_t at_most) const
{
    const std::vector<blocked_head> heads = blocked();
    if (heads.empty())
        return "";
    std::string text = heads.size() == 1 ? std::string("1 packet waits inside the fabric:")
                                         : fmt::format("{} packets wait inside the fabric:", heads.size());
    for (std::size_t i = 0; i < heads.size() && i < at_most; ++i)
        text += "\n  " + describe(heads[i]);
    if (heads.size() > at_most)
        text += fmt::format("\n  ... and {} more", heads.size() - at_most);

    // A head that lacks credits waits for the buffer behind its output, whose own head waits for the next: follow that.
    std::map<std::uint32_t, std::size_t> head_of_queue; // queue -> index into heads
    for (std::size_t i = 0; i < heads.size(); ++i)
        head_of_queue[queue_of(in_links_[routers_[heads[i].router].first_port + heads[i].in_port], heads[i].in_vl)] = i;
    std::vector<int> colour(heads.size(), 0);
    for (std::size_t start = 0; start < heads.size(); ++start) {
        std::vector<std::size_t> path;
        std::size_t at = start;
        while (colour[at] == 0) {
            colour[at] = 1;
            path.push_back(at);
            const auto next = head_of_queue.find(queue_of(heads[at].out_link, heads[at].out_vl));
            if (heads[at].link_down || next == head_of_queue.end())
                break;
            at = next->second;
        }
        for (std::size_t i = 0; i < path.size(); ++i)
            if (path[i] == at && colour[at] == 1 && !heads[path.back()].link_down && path.size() - i > 1) {
                text += fmt::format("\nThey form a cycle of {}:", path.size() - i);
                for (std::size_t k = i; k < path.size(); ++k)
                    text += fmt::format("\n  {} VL {} ->", link_name(heads[path[k]].out_link), heads[path[k]].out_vl);
                return text + " back to the first";
            }
        for (const std::size_t k : path)
            colour[k] = 2;
    }
    return text;
}

std::string fabric_engine::audit() const
{
    std::vector<std::uint64_t> held(queues_.size(), 0);
    for (std::uint32_t i = 0; i < pool_.peak(); ++i) {
        const packet& p = pool_.at(i);
        if (p.pool == nullptr || p.fabric != actor_base_ || p.tail_ps == 0)
            continue;
        if (!links_[p.link].to_edge && !links_[p.link].from_edge)
            held[queue_of(p.link, p.vl)] += p.cells;
    }
    for (std::uint32_t id = 0; id < link_count(); ++id) {
        if (links_[id].to_edge || links_[id].from_edge)
            continue;
        for (std::uint32_t vl = 0; vl < config_.vl_count; ++vl) {
            const std::uint32_t qi = queue_of(id, vl);
            const std::uint64_t sum = queues_[qi].credits.available() + queues_[qi].credits.under_way() + held[qi];
            if (sum != cold_[id].depth_cells)
                return fmt::format("{} VL {}: {} available + {} returning + {} in flight or buffered != depth {}",
                                   link_name(id), vl, queues_[qi].credits.available(), queues_[qi].credits.under_way(),
                                   held[qi], cold_[id].depth_cells);
        }
    }
    return "";
}

} // namespace weft
