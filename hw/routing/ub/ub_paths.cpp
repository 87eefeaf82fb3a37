// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_paths.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace weft {

namespace {

using role = ub_place::role;
using m = ub_move;

constexpr std::uint32_t k_weight_unit = 27720; // divides by every number up to 12

bool is_side(role r) { return r == role::spare || r == role::cpu || r == role::nic; }

/// Coordinates that a move can set.
enum : unsigned { k_unit = 1, k_board = 2, k_col = 4, k_row = 8, k_pod = 16 };

ub_pattern pattern_of(ub_path_kind kind, std::initializer_list<ub_move> head, const std::vector<ub_move>& core = {},
                      std::initializer_list<ub_move> tail = {})
{
    ub_pattern p;
    p.kind = kind;
    const auto add = [&](ub_move move) { p.moves[p.size++] = move; };
    std::for_each(head.begin(), head.end(), add);
    std::for_each(core.begin(), core.end(), add);
    std::for_each(tail.begin(), tail.end(), add);
    return p;
}

using cores = std::vector<std::vector<ub_move>>;

/// Ways over racks of a pod whose column (z) or row (a) differ.
cores shortest_cores(bool z, bool a)
{
    if (z && a)
        return {{m::z, m::alpha}, {m::alpha, m::z}};
    return z ? cores{{m::z}} : cores{{m::alpha}};
}
/// The same by one rack more.
cores detour_cores(bool z, bool a)
{
    if (z && a)
        return {{m::z, m::z, m::alpha},     {m::z, m::alpha, m::z},     {m::alpha, m::z, m::z},
                {m::alpha, m::alpha, m::z}, {m::alpha, m::z, m::alpha}, {m::z, m::alpha, m::alpha}};
    return z ? cores{{m::z, m::z}} : cores{{m::alpha, m::alpha}};
}

} // namespace

ub_move move_of(ub_channel c)
{
    switch (c) {
    case ub_channel::x_plus:
    case ub_channel::x_minus: return m::x;
    case ub_channel::y_plus:
    case ub_channel::y_minus: return m::y;
    case ub_channel::z_plus:
    case ub_channel::z_minus: return m::z;
    case ub_channel::alpha_plus:
    case ub_channel::alpha_minus: return m::alpha;
    case ub_channel::up: return m::up;
    case ub_channel::down: return m::down;
    case ub_channel::hrs_up: return m::hrs_up;
    case ub_channel::hrs_down: return m::hrs_down;
    case ub_channel::spine_up: return m::spine_up;
    case ub_channel::spine_down: return m::spine_down;
    case ub_channel::side_up: return m::side_up;
    case ub_channel::side_down:
    case ub_channel::local: break;
    }
    return m::side_down;
}

ub_paths::ub_paths(std::shared_ptr<const ub_topology> topology, const ub_lane_rule& rule, ub_path_options options)
    : topology_(std::move(topology)), rule_(rule), options_(options)
{
    moves_.reserve(topology_->plan().links.size());
    for (const ub_link_plan& l : topology_->plan().links)
        moves_.push_back(move_of(l.channel));
    const std::uint32_t routers = topology_->routers();
    ways_out_.assign(routers * k_ub_moves + 1, 0);
    for (std::uint32_t l = 0; l < moves_.size(); ++l)
        ++ways_out_[way_out(topology_->plan().links[l].from, moves_[l]) + 1];
    std::partial_sum(ways_out_.begin(), ways_out_.end(), ways_out_.begin());
    links_out_.resize(moves_.size());
    std::vector<std::uint32_t> next(ways_out_.begin(), ways_out_.end() - 1);
    for (std::uint32_t r = 0; r < routers; ++r)
        for (std::uint32_t port = 0; port < topology_->ports(r); ++port)
            if (const std::uint32_t l = topology_->out_link(r, port); l != ub_topology::k_none)
                links_out_[next[way_out(r, moves_[l])]++] = l;
}

std::int32_t ub_paths::spine_index(std::uint32_t router) const
{
    return static_cast<std::int32_t>((router - topology_->spine(0, 0)) % ub_topology::k_spines_per_plane);
}

void ub_paths::note_later(walk& w) const
{
    const bool mesh = topology_->shape().rack == ub_rack_kind::full_mesh_2d;
    const bool hrs_of_boards = topology_->shape().pod == ub_pod_kind::clos && w.pattern->moves[0] != ub_move::side_up;
    unsigned later = 0;
    for (std::uint32_t i = w.pattern->size; i-- > 0;) {
        w.later[i] = static_cast<std::uint8_t>(later);
        switch (w.pattern->moves[i]) {
        case m::x: later |= k_unit; break;
        case m::y:
        case m::spine_down: later |= k_board; break;
        case m::down: later |= mesh ? unsigned{k_unit} : k_unit | k_board; break;
        case m::z: later |= k_col; break;
        case m::alpha: later |= k_row; break;
        case m::hrs_down: later |= k_col | k_row | k_pod | (hrs_of_boards ? unsigned{k_board} : 0u); break;
        default: break;
        }
    }
}

/// Whether none of the coordinates that a link, which is the next move, leaves for good is wrong.
bool ub_paths::leads_on(const walk& w, std::uint32_t depth, std::uint32_t link) const
{
    const ub_link_plan& l = topology_->plan().links[link];
    if (depth + 1u == w.pattern->size)
        return l.to == w.to;
    const ub_place& at = topology_->place_of(l.to);
    const ub_place& end = topology_->place_of(w.to);
    const unsigned later = w.later[depth];
    const auto settled = [&](unsigned which, std::int8_t is, std::int8_t wanted) {
        return (later & which) != 0 || is < 0 || wanted < 0 || is == wanted;
    };
    const bool to_side = is_side(end.is); // boards and units of CPUs are no places
    if (!settled(k_pod, at.pod, end.pod) || !settled(k_row, at.row, end.row) || !settled(k_col, at.col, end.col))
        return false;
    if (!to_side && (!settled(k_board, at.board, end.board) || !settled(k_unit, at.unit, end.unit)))
        return false;
    // From side to side of two racks the spine has the same number at both ends: more would only repeat.
    return w.pattern->moves[depth] != m::spine_up || w.spine < 0 || spine_index(l.to) == w.spine;
}

std::vector<ub_pattern> ub_paths::patterns(std::uint32_t from, std::uint32_t to, bool detour, bool borrow) const
{
    const ub_shape& s = topology_->shape();
    const ub_place& a = topology_->place_of(from);
    const ub_place& b = topology_->place_of(to);
    const bool mesh = s.rack == ub_rack_kind::full_mesh_2d, from_npu = a.is == role::npu, to_npu = b.is == role::npu;
    std::vector<ub_pattern> all;
    const auto add = [&](ub_path_kind kind, std::initializer_list<ub_move> moves) {
        all.push_back(pattern_of(kind, moves));
    };
    constexpr auto k_short = ub_path_kind::shortest, k_detour = ub_path_kind::detour, k_borrow = ub_path_kind::borrow;
    const bool one_rack = a.rack == b.rack;
    if (one_rack && from_npu && to_npu) {
        const bool dx = a.unit != b.unit, dy = a.board != b.board;
        if (!mesh) {
            const bool x_links = s.rack != ub_rack_kind::clos;
            if (!dy && x_links) {
                add(k_short, {m::x});
                if (detour) {
                    add(k_detour, {m::x, m::x});
                    add(k_detour, {m::up, m::down});
                }
                return all;
            }
            add(k_short, {m::up, m::down});
            if (detour && x_links && dx) {
                add(k_detour, {m::x, m::up, m::down});
                add(k_detour, {m::up, m::down, m::x});
            }
            return all;
        }
        if (dx && dy) {
            add(k_short, {m::x, m::y});
            add(k_short, {m::y, m::x});
        } else {
            add(k_short, {dx ? m::x : m::y});
        }
        if (!detour)
            return all;
        if (dx && dy) {
            add(k_detour, {m::x, m::x, m::y});
            add(k_detour, {m::x, m::y, m::x});
            add(k_detour, {m::y, m::x, m::x});
            add(k_detour, {m::x, m::y, m::y});
            add(k_detour, {m::y, m::x, m::y});
            add(k_detour, {m::y, m::y, m::x});
            if (s.backplane) {
                add(k_detour, {m::up, m::down, m::y});
                add(k_detour, {m::y, m::up, m::down});
            }
        } else if (dx) {
            add(k_detour, {m::x, m::x});
            if (s.backplane)
                add(k_detour, {m::up, m::down});
        } else {
            add(k_detour, {m::y, m::y});
        }
        if (dy && s.backplane)
            add(k_detour, {m::up, m::spine_up, m::spine_down, m::down});
        return all;
    }
    if (one_rack) { // with a CPU, NIC or spare NPU
        const bool spined = s.rack != ub_rack_kind::clos && !(s.rack == ub_rack_kind::full_mesh_1d_a);
        if (from_npu || to_npu) {
            if (!spined)
                from_npu ? add(k_short, {m::up, m::side_down}) : add(k_short, {m::side_up, m::down});
            if (s.rack != ub_rack_kind::clos)
                from_npu ? add(k_short, {m::up, m::spine_up, m::side_down})
                         : add(k_short, {m::side_up, m::spine_down, m::down});
        } else {
            add(k_short, {m::side_up, m::side_down});
        }
        return all;
    }
    // Another rack.
    const bool clos_pod = s.pod == ub_pod_kind::clos, other_pod = a.pod != b.pod;
    const bool dz = a.col != b.col, da = a.row != b.row;
    const cores through_hrs = {{m::hrs_up, m::hrs_down}};
    const auto add_cores = [&](ub_path_kind kind, const cores& ways) {
        for (const auto& core : ways) {
            if (from_npu && to_npu) {
                if (!mesh || clos_pod || a.board == b.board) {
                    all.push_back(pattern_of(kind, {m::up}, core, {m::down}));
                } else {
                    all.push_back(pattern_of(kind, {m::up}, core, {m::down, m::y}));
                    all.push_back(pattern_of(kind, {m::y, m::up}, core, {m::down}));
                }
            } else if (from_npu) {
                all.push_back(pattern_of(kind, {m::up}, core, {m::spine_up, m::side_down}));
            } else if (to_npu) {
                all.push_back(pattern_of(kind, {m::side_up, m::spine_down}, core, {m::down}));
            } else {
                all.push_back(pattern_of(kind, {m::side_up, m::spine_down}, core, {m::spine_up, m::side_down}));
            }
        }
    };
    add_cores(k_short, other_pod || clos_pod ? through_hrs : shortest_cores(dz, da));
    if (detour && !other_pod && !clos_pod)
        add_cores(k_detour, detour_cores(dz, da));
    if (borrow && s.hrs && !other_pod && !clos_pod)
        add_cores(k_borrow, through_hrs);
    return all;
}

bool encode_route(const ub_topology& topology, const ub_lane_rule& rule, const std::uint32_t* links, std::uint32_t count,
                  const std::uint8_t* lanes, std::uint32_t to, abi::ub::source_route& route, bool tables_where_same)
{
    if (count > abi::ub::k_most_hops)
        return false;
    route = {};
    unsigned bitmap = 0, used = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const ub_link_plan& l = topology.plan().links[links[i]];
        if (tables_where_same || count > abi::ub::k_most_instructions) { // leave to tables what they choose anyway
            const abi::ub::table_entry e = look_up(topology.table_of(l.from), topology.address_of(to));
            const ub_channel before = i == 0 ? ub_channel::local : topology.plan().links[links[i - 1]].channel;
            const bool same_lane = rule.next(before, i == 0 ? std::uint8_t{0} : lanes[i - 1], l.channel) == lanes[i];
            if (e.ways == 1 && e.port == l.from_port && same_lane && (i > 0 || lanes[0] == 0))
                continue;
        }
        if (used == abi::ub::k_most_instructions)
            return false;
        bitmap |= 1u << i;
        route.set_instruction_byte(used++, abi::ub::encode({static_cast<std::uint8_t>(l.from_port), lanes[i] != 0}));
    }
    route.set_bitmap(bitmap);
    return true;
}

bool ub_paths::make(ub_path_kind kind, const std::uint32_t* links, std::uint32_t count, std::uint32_t to,
                    ub_path& path) const
{
    ub_channel classes[abi::ub::k_most_hops];
    std::uint8_t lanes[abi::ub::k_most_hops];
    if (count > abi::ub::k_most_hops)
        return false;
    for (std::uint32_t i = 0; i < count; ++i)
        classes[i] = topology_->plan().links[links[i]].channel;
    if (!admitted(rule_, classes, count, lanes) || !encode_route(*topology_, rule_, links, count, lanes, to, path.route, options_.tables_where_same))
        return false;
    path.first_lane = lanes[0];
    path.kind = kind;
    path.hops = static_cast<std::uint8_t>(count);
    path.links.assign(links, links + count);
    return true;
}

std::vector<ub_path> ub_paths::paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const
{
    std::vector<ub_path> all;
    if (from == to)
        return all;
    ub_path path;
    each_path(from, to, patterns(from, to, options_.detour, options_.borrow),
              [&](const ub_pattern& p, const std::uint32_t* links, std::uint32_t count) {
                  if (all.size() >= options_.most_paths)
                      return;
                  for (std::uint32_t i = 0; i < count; ++i)
                      if (links[i] < down.size() && down[links[i]])
                          return;
                  if (make(p.kind, links, count, to, path))
                      all.push_back(path);
              });
    if (all.empty())
        all = search(from, to, down);
    set_weights(all);
    return all;
}

void ub_paths::set_weights(std::vector<ub_path>& set) const
{
    std::vector<std::uint64_t> uses; // (link, path), so that the paths of a link lie side by side
    for (std::uint32_t i = 0; i < set.size(); ++i) {
        set[i].weight = ~0u;
        for (const std::uint32_t l : set[i].links)
            uses.push_back(std::uint64_t{l} << 32 | i);
    }
    std::sort(uses.begin(), uses.end());
    for (std::size_t first = 0, end = 0; first < uses.size(); first = end) {
        const auto link = static_cast<std::uint32_t>(uses[first] >> 32);
        while (end < uses.size() && uses[end] >> 32 == link)
            ++end;
        const bool shared = moves_[link] >= m::z && moves_[link] <= m::spine_down;
        const std::uint32_t lanes = topology_->plan().links[link].lanes * (shared ? 1 : topology_->shape().npus);
        const std::uint32_t share = lanes * k_weight_unit / static_cast<std::uint32_t>(end - first);
        for (std::size_t use = first; use < end; ++use) {
            std::uint32_t& weight = set[static_cast<std::uint32_t>(uses[use])].weight;
            weight = std::min(weight, share);
        }
    }
    std::uint32_t common = 0;
    for (ub_path& p : set) {
        std::uint32_t most = 0;
        std::uint32_t moves[k_ub_moves] = {};
        for (const std::uint32_t l : p.links)
            most = std::max(most, ++moves[static_cast<std::size_t>(moves_[l])]);
        p.weight = std::max(1u, p.weight / most);
        common = std::gcd(common, p.weight);
    }
    for (ub_path& p : set)
        p.weight /= common;
}

/// Breadth first over (link, lane): of the shortest ways that rule and header admit, one for each last link.
std::vector<ub_path> ub_paths::search(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const
{
    const auto& links = topology_->plan().links;
    struct state {
        std::uint32_t link, before; ///< index into the queue
        std::uint8_t lane, hops;
    };
    std::vector<state> queue;
    std::vector<bool> seen(links.size() * k_ub_lanes_per_class, false);
    const auto extend = [&](std::uint32_t router, ub_channel in, std::uint8_t lane, std::uint32_t before,
                            std::uint8_t hops) {
        for (std::uint32_t port = 0; port < topology_->ports(router); ++port) {
            const std::uint32_t l = topology_->out_link(router, port);
            if (l == ub_topology::k_none || (l < down.size() && down[l]))
                continue;
            const std::uint8_t next = rule_.next(in, lane, links[l].channel);
            if (next == ub_lane_rule::k_refused || seen[l * k_ub_lanes_per_class + next])
                continue;
            seen[l * k_ub_lanes_per_class + next] = true;
            queue.push_back({l, before, next, hops});
        }
    };
    extend(from, ub_channel::local, 0, ub_topology::k_none, 1);
    std::vector<ub_path> all;
    for (std::uint32_t i = 0; i < queue.size(); ++i) {
        const state s = queue[i];
        if (!all.empty() && s.hops > all[0].hops)
            break;
        if (links[s.link].to != to) {
            if (s.hops < abi::ub::k_most_hops)
                extend(links[s.link].to, links[s.link].channel, s.lane, i, static_cast<std::uint8_t>(s.hops + 1));
            continue;
        }
        std::uint32_t way[abi::ub::k_most_hops];
        std::uint32_t at = i;
        for (std::uint32_t hop = s.hops; hop-- > 0; at = queue[at].before)
            way[hop] = queue[at].link;
        ub_path path;
        if (make(ub_path_kind::detour, way, s.hops, to, path))
            all.push_back(path);
    }
    return all;
}

std::vector<ub_pattern> ub_paths::all_shortest_patterns() const
{
    const ub_shape& s = topology_->shape();
    constexpr auto k_short = ub_path_kind::shortest;
    const bool mesh = s.rack == ub_rack_kind::full_mesh_2d;
    std::vector<ub_pattern> all;
    const auto add = [&](std::initializer_list<ub_move> moves) { all.push_back(pattern_of(k_short, moves)); };
    if (s.rack != ub_rack_kind::clos)
        add({m::x});
    if (mesh) {
        add({m::y});
        add({m::x, m::y});
        add({m::y, m::x});
    } else {
        add({m::up, m::down});
        add({m::up, m::side_down});
        add({m::side_up, m::down});
    }
    add({m::up, m::spine_up, m::side_down});
    add({m::side_up, m::spine_down, m::down});
    add({m::side_up, m::side_down});
    cores ways;
    if (s.pod == ub_pod_kind::clos || s.pods > 1)
        ways.push_back({m::hrs_up, m::hrs_down});
    if (s.pod != ub_pod_kind::clos && s.rack_cols > 1)
        ways.push_back({m::z});
    if (s.pod != ub_pod_kind::clos && s.rack_rows > 1)
        ways.push_back({m::alpha});
    if (s.pod != ub_pod_kind::clos && s.rack_cols > 1 && s.rack_rows > 1)
        for (const auto& core : shortest_cores(true, true))
            ways.push_back(core);
    for (const auto& core : ways) {
        all.push_back(pattern_of(k_short, {m::up}, core, {m::down}));
        if (mesh && s.pod != ub_pod_kind::clos) {
            all.push_back(pattern_of(k_short, {m::up}, core, {m::down, m::y}));
            all.push_back(pattern_of(k_short, {m::y, m::up}, core, {m::down}));
        }
        all.push_back(pattern_of(k_short, {m::up}, core, {m::spine_up, m::side_down}));
        all.push_back(pattern_of(k_short, {m::side_up, m::spine_down}, core, {m::down}));
        all.push_back(pattern_of(k_short, {m::side_up, m::spine_down}, core, {m::spine_up, m::side_down}));
    }
    return all;
}

std::vector<std::uint32_t> ub_paths::affected_sources(std::uint32_t link) const
{
    const ub_link_plan& l = topology_->plan().links[link];
    const ub_move move = move_of(l.channel);
    std::vector<bool> is_source(topology_->routers(), false);
    std::vector<std::uint32_t> level, before;
    std::vector<std::uint32_t> stamp(topology_->routers(), 0);
    std::uint32_t round = 0;
    for (const ub_pattern& p : all_shortest_patterns())
        for (std::uint32_t at = 0; at < p.size; ++at) {
            if (p.moves[at] != move)
                continue;
            // Through an HRS one goes to another pod; to another rack where racks are joined by Clos.
            bool behind_hrs = false;
            for (std::uint32_t i = 0; i <= at; ++i)
                behind_hrs = behind_hrs || p.moves[i] == m::hrs_down;
            // From side to side of two racks the spine has the same number at both ends.
            std::int32_t spine = -1;
            if (p.moves[0] == m::side_up && move == m::spine_up)
                spine = spine_index(l.to);
            else if (p.moves[0] == m::side_up && move == m::side_down && p.size > 2)
                spine = spine_index(l.from);
            level.assign(1, l.from);
            for (std::uint32_t i = at; i-- > 0;) {
                ++round;
                before.clear();
                for (const std::uint32_t router : level)
                    for (std::uint32_t port = 0; port < topology_->ports(router); ++port) {
                        const std::uint32_t in = topology_->in_link(router, port);
                        if (in == ub_topology::k_none || move_of(topology_->plan().links[in].channel) != p.moves[i])
                            continue;
                        const std::uint32_t who = topology_->plan().links[in].from;
                        if (p.moves[i] == m::spine_down && spine >= 0 && spine_index(who) != spine)
                            continue;
                        if (stamp[who] != round) {
                            stamp[who] = round;
                            before.push_back(who);
                        }
                    }
                level.swap(before);
            }
            const ub_place& end = topology_->place_of(l.to);
            for (const std::uint32_t router : level) {
                const ub_place& source = topology_->place_of(router);
                const bool stays =
                    topology_->shape().pod == ub_pod_kind::clos ? source.rack == end.rack : source.pod == end.pod;
                if (router != l.to && !(behind_hrs && stays))
                    is_source[router] = true;
            }
        }
    std::vector<std::uint32_t> sources;
    for (std::uint32_t r = 0; r < is_source.size(); ++r)
        if (is_source[r])
            sources.push_back(r);
    return sources;
}

std::vector<double> link_loads(const ub_paths& paths, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs)
{
    const auto& links = paths.topology().plan().links;
    std::vector<double> load(links.size(), 0.0);
    for (const auto& [from, to] : pairs) {
        const auto set = paths.paths(from, to, {});
        double total = 0;
        for (const ub_path& p : set)
            total += p.weight;
        for (const ub_path& p : set)
            for (const std::uint32_t l : p.links)
                load[l] += p.weight / total / links[l].lanes;
    }
    return load;
}

} // namespace weft
