// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a fabric engine can tell about itself: names, the wait-for picture, the credit audit. Never on the hot path.
#include "hw/fabric/fabric_engine.h"

#include <fmt/format.h>
#include <map>

namespace weft {

std::string fabric_engine::port_name(std::uint32_t router, std::uint32_t port) const
{
    if (port_namer_ != nullptr)
        if (std::string name = port_namer_->port_name(router, port); !name.empty())
            return name;
    return port < port_names_.size() ? port_names_[port] : fmt::format("port{}", port);
}

std::string fabric_engine::link_name(std::uint32_t link) const
{
    const link_state& l = links_.at(link);
    if (l.from_edge)
        return fmt::format("{}.{}.in", routers_[l.to_router].name, port_name(l.to_router, l.to_port));
    return fmt::format("{}.{}", routers_[l.router].name, port_name(l.router, cold_[link].from_port));
}

std::vector<link_failure> fabric_engine::link_failures() const
{
    std::vector<link_failure> all = failures_;
    for (std::size_t i = 0; i < all.size(); ++i) {
        link_failure& f = all[i];
        f.waiting = link_up(f.link) || cold_[f.link].failure != i ? 0u : links_[f.link].waiters;
        f.hindered = f.hindered || f.waiting > 0; // a head that also lacks credits has not asked yet
    }
    return all;
}

void fabric_engine::list_stats()
{
    stats_.add_row({"wire_bytes", "B", "Bytes serialised on router-to-router links", this, [](const void* engine) {
                        const auto& e = *static_cast<const fabric_engine*>(engine);
                        std::uint64_t bytes = 0;
                        for (const std::uint32_t link : e.router_links_)
                            bytes += e.link_wire_bytes(link);
                        return bytes;
                    }});
    stats_.add_row({"transport_hops", "1", "Transport transactions over router-to-router links; a burst counts once", this,
                    [](const void* engine) { return static_cast<const fabric_engine*>(engine)->transport_hops(); }});
}

wire_load fabric_engine::load_of_wire(std::uint32_t wire) const
{
    const link_state& l = links_.at(router_links_.at(wire));
    return {l.wire_bytes, l.busy_sum_ps};
}

void fabric_engine::record_into(trace_sink& trace)
{
    trace_ = std::make_unique<packet_trace>(trace);
    for (std::uint32_t link = 0; link < link_count(); ++link)
        trace_->add_track(*this, link_name(link));
    sink_ = trace_.get();
}

std::string fabric_engine::far_end_name(std::uint32_t link) const
{
    const std::uint32_t to = links_.at(link).to_router;
    return to == k_none ? "" : routers_[to].name;
}

std::uint64_t fabric_engine::state_bytes() const
{
    const auto bytes = [](const auto&... all) { return (std::uint64_t{0} + ... + (all.capacity() * sizeof(all[0]))); };
    return bytes(links_, queues_, buffers_, waiters_, entries_, in_links_, out_links_, out_ports_, routers_,
                 cold_, layers_, second_zone_, entry_ports_, last_head_ps_, voqs_, shares_, turns_);
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
            const packet& p = pool_.at(head_at(l, bit));
            const credit_counter& credits = queues_[queue_of(id, p.out_vl)].credits;
            heads.push_back({l.router, port_of_bit(bit), vl_of_bit(bit), cold_[id].from_port, p.out_vl, id, p.index,
                             p.cells, credits.available(), !link_up(id), p.tail_ps});
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
                       routers_[b.router].name, p.source, p.destination, p.payload_bytes,
                       port_name(b.router, b.in_port), b.in_vl, link_name(b.out_link), reason);
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

    // A head that lacks credits waits for the buffer behind its output, whose heads (with VOQ, one per output) wait for the next:
    // follow that, depth first.
    std::map<std::uint32_t, std::vector<std::size_t>> heads_of_queue; // queue -> indices into heads
    for (std::size_t i = 0; i < heads.size(); ++i)
        heads_of_queue[queue_of(in_links_[routers_[heads[i].router].first_port + heads[i].in_port], heads[i].in_vl)]
            .push_back(i);
    static const std::vector<std::size_t> k_nobody;
    const auto next_of = [&](std::size_t at) -> const std::vector<std::size_t>& {
        const auto next = heads_of_queue.find(queue_of(heads[at].out_link, heads[at].out_vl));
        return heads[at].link_down || next == heads_of_queue.end() ? k_nobody : next->second;
    };
    enum class colour : std::uint8_t { fresh, on_path, done };
    std::vector<colour> colours(heads.size(), colour::fresh);
    for (std::size_t start = 0; start < heads.size(); ++start) {
        if (colours[start] != colour::fresh)
            continue;
        std::vector<std::pair<std::size_t, std::size_t>> path{
            {start, 0}}; // head, how many behind it have been followed
        colours[start] = colour::on_path;
        while (!path.empty()) {
            const std::size_t at = path.back().first;
            const std::vector<std::size_t>& next = next_of(at);
            if (path.back().second == next.size()) {
                colours[at] = colour::done;
                path.pop_back();
                continue;
            }
            const std::size_t to = next[path.back().second++];
            if (colours[to] == colour::fresh) {
                colours[to] = colour::on_path;
                path.push_back({to, 0});
            } else if (colours[to] == colour::on_path && to != at) {
                std::size_t i = 0;
                while (path[i].first != to)
                    ++i;
                text += fmt::format("\nThey form a cycle of {}:", path.size() - i);
                for (; i < path.size(); ++i)
                    text += fmt::format("\n  {} VL {} ->", link_name(heads[path[i].first].out_link),
                                        heads[path[i].first].out_vl);
                return text + " back to the first";
            }
        }
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
            const std::uint32_t available = queues_[qi].credits.available();
            const std::uint32_t returning = queues_[qi].credits.under_way(credits_under_way_);
            if (available + returning + held[qi] != cold_[id].depth_cells)
                return fmt::format("{} VL {}: {} available + {} returning + {} in flight or buffered != depth {}",
                                   link_name(id), vl, available, returning, held[qi], cold_[id].depth_cells);
        }
    }
    return "";
}

} // namespace weft
