// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// All-path routing of UB-Mesh (arXiv 2503.20377, section 4.1 and Fig. 18): sets of paths for a pair, as the source's
// controller stamps them. Pure C++.
//
// Paths are instances of patterns over moves (X, Y, up, Z, ...). Between NPUs of a rack: shortest X, Y, XY, YX; detour
// with one hop more in X or Y, or by LRS (a leaf joins a board, leaf - spine - leaf all boards). Between racks:
// shortest up, Z and alpha in either order, down, with Y before or after; detour by one more rack; borrow through an
// HRS. Between pods: through an HRS. CPU, NIC, spare NPU: by spines. A path that the rule of lanes refuses is left out.
//
// Weights, by path counting: what a path adds when all NPUs do the same. Each link offers its lanes (those between
// switches divided by the NPUs of a board, which share them), divided by the paths of the set that use it; a path gets
// the least of its links, divided by how often it makes the same move (two X hops take two X links). Example, a
// permutation x -> x + 1 on boards, in lanes a pair: x4 direct, six detours in X of x4 / 2, four by LRS of x4: 32,
// eight times the direct link; equal shares would give 22.
//
// Where none of the patterns is left (links are down), the shortest ways that the rule admits are searched over the
// whole fabric, one for each link into the destination.
#pragma once

#include "hw/routing/ub/ub_lane_rules.h"
#include "hw/routing/ub/ub_topology.h"

#include <map>
#include <memory>

namespace weft {

struct ub_path_options {
    bool detour = false;
    bool borrow = false;
    std::uint32_t most_paths = 512; ///< of one pair, in the order of patterns
    /// Headers leave hops to tables that choose the same, not only where they have no room for all.
    bool tables_where_same = false;
};

enum class ub_move : std::uint8_t {
    x,
    y,
    up,
    down,
    z,
    alpha,
    hrs_up,
    hrs_down,
    spine_up,
    spine_down,
    side_up,
    side_down
};
inline constexpr std::size_t k_ub_moves = static_cast<std::size_t>(ub_move::side_down) + 1;
ub_move move_of(ub_channel c);

struct ub_pattern {
    static constexpr std::uint32_t k_most_moves = 8;
    ub_path_kind kind = ub_path_kind::shortest;
    std::uint8_t size = 0;
    ub_move moves[k_most_moves] = {};
};

/// The header of a path; false when it does not fit: more than 6 hops whose port or lane tables and `rule` would not
/// choose, or more than 12. Hops that tables choose anyway are left to them where there are more than 6, or always with
/// `tables_where_same`.
bool encode_route(const ub_topology& topology, const ub_lane_rule& rule, const std::uint32_t* links, std::uint32_t count, const std::uint8_t* lanes,
                  std::uint32_t to, abi::ub::source_route& route, bool tables_where_same = false);

class ub_paths final : public ub_path_source {
public:
    ub_paths(std::shared_ptr<const ub_topology> topology, const ub_lane_rule& rule, ub_path_options options = {});

    std::vector<ub_path> paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const override;

    /// Patterns from router to router, in the order in which paths are listed: shortest, detour, borrow.
    std::vector<ub_pattern> patterns(std::uint32_t from, std::uint32_t to, bool detour, bool borrow) const;
    /// Calls visit(pattern, links, count) for every instance, whether the rule of lanes admits it or not.
    template <class Visit>
    void each_path(std::uint32_t from, std::uint32_t to, const std::vector<ub_pattern>& patterns, Visit&& visit) const
    {
        for (const ub_pattern& p : patterns) {
            walk w{&p, from, to, {}, {}, -1};
            note_later(w);
            step(w, 0, from, visit);
        }
    }
    /// Routers that have a path over this link in their shortest set, ascending: whom its end tells first when it fails
    /// (direct notification). From the patterns backward, not by asking all pairs.
    std::vector<std::uint32_t> affected_sources(std::uint32_t link) const;

    const ub_topology& topology() const { return *topology_; }
    const ub_lane_rule& rule() const { return rule_; }

private:
    struct walk {
        const ub_pattern* pattern;
        std::uint32_t from, to;
        std::uint32_t links[ub_pattern::k_most_moves];
        std::uint8_t later[ub_pattern::k_most_moves]; ///< coordinates that may still change after each move
        std::int32_t spine; ///< index in its plane of the spine where the path came from a CPU, NIC or spare NPU
    };
    template <class Visit> void step(walk& w, std::uint32_t depth, std::uint32_t at, Visit& visit) const
    {
        if (depth == w.pattern->size) {
            if (at == w.to)
                visit(*w.pattern, static_cast<const std::uint32_t*>(w.links), depth);
            return;
        }
        const ub_move move = w.pattern->moves[depth];
        const auto over = [&](std::uint32_t l) {
            if (!leads_on(w, depth, l))
                return;
            w.links[depth] = l;
            const std::int32_t before = w.spine;
            if (move == ub_move::side_up)
                w.spine = spine_index(topology_->plan().links[l].to);
            step(w, depth + 1, topology_->plan().links[l].to, visit);
            w.spine = before;
        };
        if (move == ub_move::hrs_down && topology_->shape().pod != ub_pod_kind::clos) { // an HRS has one port a rack
            const auto port = static_cast<std::uint32_t>(topology_->place_of(w.to).rack);
            const std::uint32_t l = topology_->out_link(at, port);
            if (l != ub_topology::k_none && moves_[l] == move)
                over(l);
            return;
        }
        const std::size_t way = way_out(at, move);
        for (std::uint32_t i = ways_out_[way]; i < ways_out_[way + 1]; ++i)
            over(links_out_[i]);
    }
    /// Into ways_out_.
    static std::size_t way_out(std::uint32_t router, ub_move move)
    {
        return std::size_t{router} * k_ub_moves + static_cast<std::size_t>(move);
    }
    void note_later(walk& w) const;
    bool leads_on(const walk& w, std::uint32_t depth, std::uint32_t link) const;
    std::int32_t spine_index(std::uint32_t router) const;
    bool make(ub_path_kind kind, const std::uint32_t* links, std::uint32_t count, std::uint32_t to,
              ub_path& path) const;
    std::vector<ub_path> search(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const;
    void set_weights(std::vector<ub_path>& set) const;
    std::vector<ub_pattern> all_shortest_patterns() const;

    std::shared_ptr<const ub_topology> topology_;
    ub_lane_rule rule_;
    ub_path_options options_;
    std::vector<ub_move> moves_;           ///< of every link
    std::vector<std::uint32_t> ways_out_;  ///< per router and move: where its links begin in links_out_
    std::vector<std::uint32_t> links_out_; ///< of every router, by moves, in the order of ports
};

/// How many paths of each set a rule admits, over all pairs of a machine (by symmetry: pairs that differ in coordinates
/// which do not matter are counted, not walked).
struct ub_path_census {
    struct row {
        std::string pairs; ///< "in a rack", "between racks", "between pods", "CPU, NIC, spare NPU"
        ub_path_kind kind = ub_path_kind::shortest;
        std::uint64_t admitted = 0, all = 0;
        std::uint64_t sequences_admitted = 0, sequences = 0; ///< of classes
    };
    /// A sequence of classes, and how many paths of the machine have it.
    struct sequence {
        std::uint32_t row = 0;
        std::vector<ub_channel> classes;
        std::uint64_t paths = 0;
    };
    std::vector<row> rows;
    std::vector<sequence> sequences;
    void judge(const ub_lane_rule& rule); ///< fills `admitted` of the rows
    std::string text() const;
};
ub_path_census census_of(const ub_paths& paths);

/// Load of every link in lanes' worth of one pair's rate (1 = a pair sends as fast as one lane carries), when each pair
/// spreads by weight over its paths. The most loaded link bounds the throughput: 1 / largest.
std::vector<double> link_loads(const ub_paths& paths,
                               const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs);

} // namespace weft
