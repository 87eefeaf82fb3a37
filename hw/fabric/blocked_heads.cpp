// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/blocked_heads.h"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace weft {

namespace {

std::string describe(const blocked_head& b, const fabric_layout& layout, packet_pool& pool)
{
    const packet& p = pool.at(b.packet);
    std::string reason;
    if (b.link_down)
        reason = b.down_at_ps == 0 || b.down_at_ps == k_never_ps
                     ? "the link is down"
                     : fmt::format("the link went down at {}", to_string(duration(b.down_at_ps)));
    else if (b.credits_available < b.credits_needed)
        reason = fmt::format("needs {} credits of VL {}, has {}", b.credits_needed, b.out_vl, b.credits_available);
    else
        reason = "the output is busy";
    return fmt::format("{}: packet from rank {} to rank {} ({} B) in the buffer of {} VL {} waits for {}: {}",
                       layout.router_name(b.router), p.source, p.destination, p.payload_bytes,
                       layout.port_name(b.router, b.in_port), b.in_vl, layout.link_name(b.out_link), reason);
}

/// A head that lacks credits waits for the buffer behind its output, whose heads (with VOQ, one per output) wait for
/// the next: that is followed, depth first. "" without a cycle.
std::string describe_cycle(const std::vector<blocked_head>& heads, const fabric_layout& layout)
{
    std::map<std::uint32_t, std::vector<std::size_t>> heads_of_queue; // queue -> indices into heads
    for (std::size_t i = 0; i < heads.size(); ++i)
        heads_of_queue[layout.queue_behind(heads[i].router, heads[i].in_port, heads[i].in_vl)]
            .push_back(i);
    static const std::vector<std::size_t> k_nobody;
    const auto next_of = [&](std::size_t at) -> const std::vector<std::size_t>& {
        const auto next = heads_of_queue.find(layout.queue_of(heads[at].out_link, heads[at].out_vl));
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
                std::string text = fmt::format("\nThey form a cycle of {}:", path.size() - i);
                for (; i < path.size(); ++i)
                    text += fmt::format("\n  {} VL {} ->", layout.link_name(heads[path[i].first].out_link),
                                        heads[path[i].first].out_vl);
                return text + " back to the first";
            }
        }
    }
    return "";
}

} // namespace

std::string describe_blocked(const std::vector<blocked_head>& heads, const fabric_layout& layout, packet_pool& pool, std::size_t at_most)
{
    if (heads.empty())
        return "";
    std::string text = heads.size() == 1 ? std::string("1 packet waits inside the fabric:")
                                         : fmt::format("{} packets wait inside the fabric:", heads.size());
    for (std::size_t i = 0; i < heads.size() && i < at_most; ++i)
        text += "\n  " + describe(heads[i], layout, pool);
    if (heads.size() > at_most)
        text += fmt::format("\n  ... and {} more", heads.size() - at_most);
    return text + describe_cycle(heads, layout);
}

} // namespace weft
