// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a source knows about its ways: a path set per destination, fetched when it is first needed, and the choice among the paths
// of a set. Plain C++.
//
// Choice by weights is smooth weighted round robin (ub_turns.h): of n paths with weights w each run of sum(w) packets has exactly w of each, as
// far apart as they can be. Adaptive choice takes the path whose first port has the fewest cells waiting, the first of equals.
// A flow keeps its path until its set changes.
#pragma once

#include "hw/ub/ub_config.h"
#include "hw/routing/ub/ub_plan.h"
#include "hw/routing/ub/ub_routing.h"
#include "hw/routing/ub/ub_turns.h"
#include "tlm/flat_index.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Told which links a source uses from now on besides those that it uses when nothing is broken.
class ub_fall_back_if {
public:
    virtual void falls_back_to(std::uint32_t source, const std::vector<std::uint32_t>& links) = 0;

protected:
    ~ub_fall_back_if() = default;
};

class ub_path_cache {
public:
    static constexpr std::uint32_t k_any_port = 0xffff; ///< the table of the router decides, by the flow

    struct choice {
        std::uint64_t route = 0;
        std::uint16_t port = k_any_port; ///< first UB port
        std::uint8_t lane = 0;
        std::uint8_t hops = 1;
        ub_path_kind kind = ub_path_kind::shortest;
    };
    struct alignas(64) path_set {
        std::uint32_t destination = 0;
        std::uint32_t key = 0; ///< of index_: destination, and whether it holds shortest paths only
        std::uint32_t epoch = 0;
        std::vector<choice> paths;
        bool wide = false;                      ///< holds ways beside those of the configured kinds
        const ub_turns::round* round = nullptr; ///< nullptr: all weights are the same
        ub_turns::place place;
        std::vector<std::uint16_t> flow_path; ///< per flow % k_flows: path + 1, 0 not yet chosen
    };

    /// `turns` may be shared by all caches, and must outlive them.
    ub_path_cache(const ub_plan& plan, const ub_routing& routing, ub_turns& turns, const ub_config& config,
                  std::uint32_t router);

    /// Paths to an endpoint, of the configured kinds or the shortest only; none: unreachable. Valid until the next call.
    path_set& set_for(std::uint32_t destination, bool shortest = false)
    {
        const std::uint32_t key = shortest ? destination | k_shortest_set : destination;
        if (last_ < sets_.size() && sets_[last_].key == key && sets_[last_].epoch == epoch_)
            return sets_[last_];
        return look_up(key);
    }
    /// The same set, from now on with ways that avoid the links of its paths, but for the first or last where there are no others: for
    /// a destination that does not answer, because links are down of which nobody has told this source.
    path_set& widen(std::uint32_t destination);
    /// Brings into the cache what the next choice among the paths to `destination` will most likely read.
    void bring_near(std::uint32_t destination) const;
    /// Index of the path for the next packet of flow `flow` of a set that is not empty. waiting(port): what waits for a UB port, this
    /// packet included. Adaptive choice takes the least of that times the hops: a way of two links costs the fabric twice what
    /// the direct one does (UGAL with local knowledge; Singh, "Load-balanced routing in interconnection networks", 2005).
    template <class Waiting> std::uint32_t choose(path_set& set, std::uint32_t flow, Waiting&& waiting) const
    {
        if (set.paths.size() == 1)
            return 0;
        std::uint16_t* kept = nullptr;
        if (spreading_ == ub_spreading::flow) {
            if (set.flow_path.empty())
                set.flow_path.assign(k_flows, 0);
            kept = &set.flow_path[flow % k_flows];
            if (*kept != 0)
                return *kept - 1u;
        }
        std::uint32_t best = 0;
        if (choice_ == ub_choice::weighted) {
            best = by_weight(set);
        } else {
            auto least = waiting(set.paths[0].port) * set.paths[0].hops;
            for (std::uint32_t i = 1; i < set.paths.size(); ++i) {
                const auto w = waiting(set.paths[i].port) * set.paths[i].hops;
                if (w < least)
                    least = w, best = i;
            }
        }
        if (kept != nullptr)
            *kept = static_cast<std::uint16_t>(best + 1);
        return best;
    }
    /// The same, but another path than `avoid` where there is one: for what was sent in vain.
    std::uint32_t choose_other(path_set& set, std::uint32_t avoid) const;

    /// `source`: what the listener calls this one.
    void set_listener(ub_fall_back_if* listener, std::uint32_t source) { listener_ = listener, source_ = source; }
    void exclude(std::uint32_t link);
    void readmit(std::uint32_t link);
    const std::vector<std::uint32_t>& excluded() const { return excluded_; } ///< links, sorted
    /// All sets are fetched anew: an endpoint has moved.
    void forget() { ++epoch_; }
    /// Every set begins with its first path, and flows choose anew.
    void reset();
    std::uint64_t fetches() const { return fetches_; }

private:
    static constexpr std::uint32_t k_flows = 64, k_most_paths = 4096;
    static constexpr std::uint32_t k_shortest_set = 1u << 31; ///< endpoints have smaller numbers
    path_set& look_up(std::uint32_t key);
    void fetch(path_set& set);
    void add_other_ways(std::uint32_t to, std::vector<bool> excluded, std::vector<ub_path>& paths) const;
    void begin(path_set& set) const;
    bool wanted(const path_set& set, ub_path_kind kind) const;
    static std::uint32_t by_weight(path_set& set)
    {
        if (set.round != nullptr)
            return ub_turns::take(*set.round, set.place);
        const std::uint32_t at = set.place.next;
        set.place.next = at + 1 == set.paths.size() ? 0 : at + 1;
        return at;
    }

    const ub_plan& plan_;
    const ub_routing& routing_;
    ub_turns& turns_;
    ub_path_use use_;
    ub_spreading spreading_;
    ub_choice choice_;
    std::uint32_t router_;
    std::uint32_t epoch_ = 1;
    std::uint32_t last_ = 0;
    std::uint64_t fetches_ = 0;
    flat_index index_; ///< destination -> sets_
    std::vector<path_set> sets_;
    std::vector<std::uint32_t> excluded_;
    ub_fall_back_if* listener_ = nullptr;
    std::uint32_t source_ = 0;
};

} // namespace weft
