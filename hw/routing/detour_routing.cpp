// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Why no cycle: a closed walk in the mesh needs all four directions, so neither set of ports has one; packets change
// from the first set to the second, and from VL 0 to VL 1, and never back. Every link is up or down by the numbers of
// its ends. Turns back do not occur: the states of a packet at a router (fresh or late, VL 0 or VL 1) make a graph of 4
// nodes per router. A breadth-first search backwards from each destination gives every node its distance, and every
// table entry is a step that lowers it: no route revisits a node. The proof (channel_dependency.h) looks at the tables
// and trusts none of this.
#include "hw/routing/detour_routing.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace weft {

namespace {

constexpr std::uint32_t k_states = 4;
constexpr std::uint32_t k_ports = 4;
constexpr std::uint16_t k_far = 0xffff;
constexpr std::uint64_t k_unserved = ~std::uint64_t{0};
constexpr std::uint32_t k_x_ports = 1u << k_plus_x | 1u << k_minus_x;

class planner {
public:
    planner(const mesh& m, const detour_rule& rule) : mesh_(m), fabric_(m.plan()), routers_(m.ranks())
    {
        plan_.rule = rule;
        plan_.table.destinations = routers_;
        plan_.table.vl_count = rule.kind == detour_rule::tree_only ? 1 : 2;
        link_at_.assign(std::size_t{routers_} * k_ports, fabric_plan::k_none);
        link_into_ = link_at_;
        for (std::size_t l = 0; l < fabric_.links.size(); ++l) {
            const plan_link& link = fabric_.links[l];
            if (!link.works || m.is_wrap_link(link))
                continue;
            link_at_[link.from * k_ports + link.from_port] = static_cast<std::uint32_t>(l);
            link_into_[link.to * k_ports + link.to_port] = static_cast<std::uint32_t>(l);
        }
        if (rule.kind != detour_rule::two_sets)
            order_tree();
        mark_late();
        connect();
    }

    detour_plan run()
    {
        plan_.table.next.assign(std::size_t{routers_} * routers_, 0);
        plan_.complete = true;
        for (std::uint32_t destination = 0; destination < routers_; ++destination) {
            measure(destination);
            for (std::uint32_t router = 0; router < routers_; ++router)
                if (router != destination)
                    choose(router, destination);
        }
        return std::move(plan_);
    }

    /// Links of all routes together, without making the tables; k_unserved if some pair has none.
    std::uint64_t links_in_all()
    {
        std::uint64_t sum = 0;
        for (std::uint32_t destination = 0; destination < routers_; ++destination) {
            measure(destination);
            for (std::uint32_t router = 0; router < routers_; ++router) {
                if (distance_[router * k_states] == k_far)
                    return k_unserved;
                sum += distance_[router * k_states];
            }
        }
        return sum;
    }
    /// The same for shortest ways without any rule.
    std::uint64_t links_at_least()
    {
        for (std::uint32_t node = 0; node < routers_ * k_states; ++node)
            for (std::uint32_t port = 0; port < k_ports; ++port) {
                const std::uint32_t l = link_at_[node / k_states * k_ports + port];
                after_[node * k_ports + port] = node % k_states != 0 || l == fabric_plan::k_none
                                                    ? fabric_plan::k_none
                                                    : fabric_.links[l].to * k_states;
            }
        turn_round();
        return links_in_all();
    }

private:
    /// An order by which every router has a way up to the root and a way down from it, from the first root for which
    /// there is one; the middle is tried first. Where no root has one, that of the middle.
    void order_tree()
    {
        std::vector<std::uint32_t> roots(routers_);
        std::iota(roots.begin(), roots.end(), 0);
        std::stable_sort(roots.begin(), roots.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return off_middle(a) < off_middle(b); });
        std::vector<bool> tried(routers_, false);
        for (const std::uint32_t root : roots) {
            if (tried[root])
                continue;
            if (order_from(root))
                return;
            mark_two_way(root, tried);
        }
        order_from(roots[0]);
    }
    std::uint32_t off_middle(std::uint32_t router) const
    {
        const mesh_description& d = mesh_.description();
        const mesh::place at = mesh_.place_of(router);
        const auto apart = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
        return apart(2 * at.row, d.rows) + apart(2 * at.col, d.cols);
    }

    /// Levels in rounds: a router joins when a link leads from it to routers of earlier rounds and a link leads to it
    /// from them. Over links that work in both directions these are distances from the root. Up is toward lower levels;
    /// ties go by number. False when some routers cannot join: then no order with this root serves every pair, because
    /// the root is reached by ups alone and left by downs alone.
    bool order_from(std::uint32_t root)
    {
        constexpr std::uint8_t k_sends = 1, k_receives = 2;
        level_.assign(routers_, k_far);
        level_[root] = 0;
        std::vector<std::uint8_t> joined(routers_, 0);
        std::vector<std::uint32_t> round{root}, next;
        std::size_t members = 1;
        for (std::uint16_t level = 1; !round.empty(); ++level) {
            next.clear();
            const auto note = [&](std::uint32_t router, std::uint8_t what) {
                const bool before = joined[router] == (k_sends | k_receives);
                joined[router] |= what;
                if (!before && joined[router] == (k_sends | k_receives) && level_[router] == k_far) {
                    level_[router] = level;
                    next.push_back(router);
                }
            };
            for (const std::uint32_t router : round)
                for (std::uint32_t port = 0; port < k_ports; ++port) {
                    if (const std::uint32_t l = link_at_[router * k_ports + port]; l != fabric_plan::k_none)
                        note(fabric_.links[l].to, k_receives);
                    if (const std::uint32_t l = link_into_[router * k_ports + port]; l != fabric_plan::k_none)
                        note(fabric_.links[l].from, k_sends);
                }
            members += next.size();
            round.swap(next);
        }
        return members == routers_;
    }
    /// Whoever is reached over links that work in both directions has the same members in its order.
    void mark_two_way(std::uint32_t root, std::vector<bool>& tried) const
    {
        std::vector<std::uint32_t> queue{root};
        tried[root] = true;
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (std::uint32_t port = 0; port < k_ports; ++port) {
                const std::uint32_t out = link_at_[queue[i] * k_ports + port];
                if (out == fabric_plan::k_none || link_into_[queue[i] * k_ports + port] == fabric_plan::k_none ||
                    tried[fabric_.links[out].to])
                    continue;
                tried[fabric_.links[out].to] = true;
                queue.push_back(fabric_.links[out].to);
            }
    }
    bool is_up(const plan_link& l) const { return std::pair(level_[l.to], l.to) < std::pair(level_[l.from], l.from); }
    bool is_tree(std::uint32_t vl) const
    {
        return plan_.rule.kind == detour_rule::tree_only || (plan_.rule.kind == detour_rule::tree && vl == 1);
    }

    /// Whether a packet that arrives over `link` on `vl` is late: in the second part of what the VL allows.
    bool makes_late(const plan_link& link, std::uint32_t vl) const
    {
        if (is_tree(vl))
            return !is_up(link);
        return ((vl == 0 ? k_x_ports : plan_.rule.first) >> link.from_port & 1u) == 0;
    }

    void mark_late()
    {
        plan_.table.late.assign(routers_, 0);
        for (const std::uint32_t l : link_at_) {
            if (l == fabric_plan::k_none)
                continue;
            const plan_link& link = fabric_.links[l];
            for (std::uint32_t vl = 0; vl < plan_.table.vl_count; ++vl)
                if (makes_late(link, vl))
                    plan_.table.late[link.to] =
                        static_cast<std::uint8_t>(plan_.table.late[link.to] | 1u << (vl * 4 + link.to_port));
        }
    }

    /// The node that a packet in state `state` of `router` reaches through `port`, or k_none if the rule forbids it.
    std::uint32_t node_after(std::uint32_t router, std::uint32_t state, std::uint32_t port) const
    {
        const std::uint32_t l = link_at_[router * k_ports + port];
        if (l == fabric_plan::k_none || state / 2 >= plan_.table.vl_count)
            return fabric_plan::k_none;
        const plan_link& link = fabric_.links[l];
        const std::uint32_t vl = state / 2;
        const std::uint32_t vl_after = plan_.table.vl_after(state, port);
        if (vl_after == vl && (state & 1) != 0 && !makes_late(link, vl))
            return fabric_plan::k_none;
        return link.to * k_states + plan_.table.state_of(link.to, link.to_port, vl_after);
    }

    void connect()
    {
        after_.resize(std::size_t{routers_} * k_states * k_ports);
        for (std::uint32_t node = 0; node < routers_ * k_states; ++node)
            for (std::uint32_t port = 0; port < k_ports; ++port)
                after_[node * k_ports + port] = node_after(node / k_states, node % k_states, port);
        turn_round();
    }

    /// before_ from after_.
    void turn_round()
    {
        const std::uint32_t nodes = routers_ * k_states;
        first_before_.assign(nodes + 1, 0);
        for (const std::uint32_t next : after_)
            if (next != fabric_plan::k_none)
                ++first_before_[next + 1];
        for (std::uint32_t i = 0; i < nodes; ++i)
            first_before_[i + 1] += first_before_[i];
        before_.resize(first_before_.back());
        std::vector<std::uint32_t> fill(first_before_.begin(), first_before_.end() - 1);
        for (std::uint32_t i = 0; i < nodes * k_ports; ++i)
            if (after_[i] != fabric_plan::k_none)
                before_[fill[after_[i]]++] = i / k_ports;
    }

    void measure(std::uint32_t destination)
    {
        distance_.assign(std::size_t{routers_} * k_states, k_far);
        queue_.clear();
        for (std::uint32_t s = 0; s < k_states; ++s) {
            distance_[destination * k_states + s] = 0;
            queue_.push_back(destination * k_states + s);
        }
        for (std::size_t i = 0; i < queue_.size(); ++i) {
            const std::uint32_t node = queue_[i];
            for (std::uint32_t b = first_before_[node]; b < first_before_[node + 1]; ++b)
                if (distance_[before_[b]] == k_far) {
                    distance_[before_[b]] = static_cast<std::uint16_t>(distance_[node] + 1);
                    queue_.push_back(before_[b]);
                }
        }
    }

    /// Of the steps that lower the distance: X first while fresh, Y first when late, which is dimension order where
    /// that is free. Where both ways round are equally long, destinations take turns.
    void choose(std::uint32_t router, std::uint32_t destination)
    {
        std::uint32_t entry = 0;
        for (std::uint32_t s = 0; s < k_states; ++s) {
            const std::uint32_t node = router * k_states + s;
            if (distance_[node] == k_far) {
                if (s == 0 && plan_.complete) {
                    plan_.complete = false;
                    plan_.unreachable = fmt::format("{} cannot reach {}", fabric_.routers[router].name,
                                                    fabric_.routers[destination].name);
                }
                continue;
            }
            plan_.links += s == 0 ? distance_[node] : 0;
            const std::uint32_t flip = (s & 1) << 1 | (destination & 1);
            for (std::uint32_t i = 0; i < k_ports; ++i) {
                const std::uint32_t port = i ^ flip;
                const std::uint32_t next = after_[node * k_ports + port];
                if (next == fabric_plan::k_none || distance_[next] + 1 != distance_[node])
                    continue;
                entry |= port << (2 * s);
                break;
            }
        }
        plan_.table.next[std::size_t{router} * routers_ + destination] = static_cast<std::uint8_t>(entry);
    }

    const mesh& mesh_;
    const fabric_plan& fabric_;
    std::uint32_t routers_;
    detour_plan plan_;
    std::vector<std::uint32_t> link_at_;   ///< that leaves through router * k_ports + port; no wrap links
    std::vector<std::uint32_t> link_into_; ///< that comes in there
    std::vector<std::uint16_t> level_;
    std::vector<std::uint32_t> after_, first_before_, before_, queue_;
    std::vector<std::uint16_t> distance_;
};

} // namespace

std::string detour_rule::text() const
{
    if (kind == tree_only)
        return "up and down a spanning order on the only VL, also for pairs that no fault touches";
    if (kind == tree)
        return "X then Y on VL 0; where needed, on VL 1 up and then down a spanning order";
    std::string sets[2];
    static constexpr const char* k_names[] = {"+X", "-X", "+Y", "-Y"};
    for (std::uint32_t port = 0; port < k_ports; ++port) {
        std::string& set = sets[(first >> port & 1u) != 0 ? 0 : 1];
        set += (set.empty() ? "" : " and ") + std::string(k_names[port]);
    }
    return fmt::format("X then Y on VL 0; where needed, on VL 1 {} before {}", sets[0], sets[1]);
}

detour_plan plan_detours_by(const mesh& m, const detour_rule& rule) { return planner(m, rule).run(); }

detour_plan plan_detours(const mesh& m, std::uint32_t vls)
{
    if (vls < 2)
        return plan_detours_by(m, {detour_rule::tree_only});
    std::vector<detour_rule> rules{detour_rule{}};
    for (std::uint8_t first = 1; first < 15; ++first)
        if (first != k_x_ports)
            rules.push_back({detour_rule::two_sets, first});
    rules.push_back({detour_rule::tree});
    const std::uint64_t least = planner(m, rules[0]).links_at_least();
    std::uint64_t fewest = k_unserved;
    detour_rule best{detour_rule::tree}; // serves more than any other; its plan names the pair that nothing serves
    for (const detour_rule& rule : rules) {
        const std::uint64_t links = planner(m, rule).links_in_all();
        if (links >= fewest)
            continue;
        fewest = links;
        best = rule;
        if (links == least)
            break;
    }
    return plan_detours_by(m, best);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> cut_off_pair(const mesh& m)
{
    const fabric_plan& graph = m.plan();
    const auto others_of_first = [&](bool forward) { // reached from the first router, or able to reach it
        std::vector<std::vector<std::uint32_t>> next(m.ranks());
        for (const plan_link& l : graph.links)
            if (l.works && !m.is_wrap_link(l))
                next[forward ? l.from : l.to].push_back(forward ? l.to : l.from);
        std::vector<bool> seen(m.ranks(), false);
        std::vector<std::uint32_t> queue{0};
        seen[0] = true;
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (const std::uint32_t to : next[queue[i]])
                if (!seen[to]) {
                    seen[to] = true;
                    queue.push_back(to);
                }
        return static_cast<std::uint32_t>(std::find(seen.begin(), seen.end(), false) - seen.begin());
    };
    if (m.ranks() == 0)
        return {};
    if (const std::uint32_t cut = others_of_first(true); cut != m.ranks())
        return std::pair(0u, cut);
    if (const std::uint32_t cut = others_of_first(false); cut != m.ranks())
        return std::pair(cut, 0u);
    return {};
}

std::string pair_without_path(const mesh& m)
{
    const auto cut = cut_off_pair(m);
    return cut ? fmt::format("{} cannot reach {}", m.plan().routers[cut->first].name, m.plan().routers[cut->second].name) : "";
}

} // namespace weft
