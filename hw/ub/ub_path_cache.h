// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a source knows about its ways: a path set per destination, fetched when it is first needed, and the choice among
// the paths of a set. Plain C++.
//
// Choice by weights is smooth weighted round robin (ub_turns.h): of n paths with weights w each run of sum(w) packets
// has exactly w of each, as far apart as they can be. A path whose turn it is, and which is longer than others in time,
// must be worth it: its extra latency is covered by what waits for the shorter ones now or by the message itself, or
// packets to this destination have waited for as long already. Else the shorter path goes on which the packet is
// through first. (To pay for the longer way when as much has been paid for waiting is the rule of the ski rental:
// without knowing how many packets follow, nobody takes more than twice the least time.) Adaptive choice takes the
// least of that extra latency and of the wait at the first port times the hops, the first of equals. A flow keeps its
// path until its set changes. docs/adr/0023.
#pragma once

#include "hw/ub/ub_config.h"
#include "hw/routing/ub/ub_plan.h"
#include "hw/routing/ub/ub_routing.h"
#include "hw/routing/ub/ub_turns.h"
#include "tlm/flat_index.h"

#include <array>
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
    static constexpr std::uint32_t k_all_lanes = 64; ///< of a path, for what is left of it
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
        std::uint64_t ports = 0;   ///< a bit for each of the first 64 by which a path begins
        bool other_ports = false;  ///< paths begin by others, too, or where tables say
        bool wide = false;                      ///< holds ways beside those of the configured kinds
        const ub_turns::round* round = nullptr; ///< nullptr: all weights are the same
        ub_turns::place place;
        /// Of each path, what it takes longer than the quickest one; empty where none does.
        std::vector<std::uint32_t> extra_ps;
        std::vector<std::uint16_t> by_extra; ///< paths, the quickest first
        std::uint32_t quickest = 0;          ///< as many take no longer
        std::uint32_t most_extra_ps = 0;
        std::uint32_t turn = 0;       ///< among the quickest
        /// Packets for this destination have been in the queues so long, what they were not since then deducted.
        std::uint64_t waited_ps = 0;
        std::uint64_t last_ps = 0;    ///< of the last packet
        std::uint64_t waits_until_ps = 0; ///< when the last of them leaves, with credits
        /// Of the last packet, for the endpoint: the port's queue has it while less has left.
        std::uint64_t mark = 0;
        std::uint16_t mark_port = k_any_port;
        std::uint16_t mark_die = 0;
        static constexpr std::uint64_t k_not = ~std::uint64_t{0};
        /// By IO die: packets of others that it had taken when it had no room for this destination; k_not: it had.
        std::array<std::uint64_t, 2> passed_over_since = {k_not, k_not};
        std::array<std::uint64_t, 2> taken = {0, 0}; ///< packets of this destination
        std::vector<std::uint16_t> flow_path; ///< per flow % k_flows: path + 1, 0 not yet chosen
    };

    /// `turns` may be shared by all caches, and must outlive them.
    ub_path_cache(const ub_plan& plan, const ub_routing& routing, ub_turns& turns, const ub_config& config,
                  std::uint32_t router);

    /// Paths to an endpoint, of the configured kinds or the shortest only; none: unreachable. Valid until the next
    /// call.
    path_set& set_for(std::uint32_t destination, bool shortest = false)
    {
        const std::uint32_t key = shortest ? destination | k_shortest_set : destination;
        if (last_ < sets_.size() && sets_[last_].key == key && sets_[last_].epoch == epoch_)
            return sets_[last_];
        return look_up(key);
    }
    /// The same set, from now on with ways that avoid the links of its paths, but for the first or last where there are
    /// no others: for a destination that does not answer, because links are down of which nobody has told this source.
    path_set& widen(std::uint32_t destination);
    /// Brings into the cache what the next choice among the paths to `destination` will most likely read.
    void bring_near(std::uint32_t destination) const;
    /// Index of the path for the next packet of flow `flow`, which comes at `at_ps`, of a set that is not empty.
    /// `still_waits`: the last one has not left its queue. `message_ps`: what the message of the packet takes on one
    /// link. waiting(port): time until a UB port has sent what waits for it, this packet included. Adaptive choice
    /// takes the least of that times the hops: a way of two links costs the fabric twice what the direct one does (UGAL
    /// with local knowledge; Singh, "Load-balanced routing in interconnection networks", 2005).
    template <class Waiting>
    std::uint32_t choose(path_set& set, std::uint32_t flow, std::uint64_t at_ps, bool still_waits, std::uint64_t message_ps, Waiting&& waiting) const
    {
        if (set.paths.size() == 1)
            return 0;
        std::uint16_t* kept = nullptr;
        if (spreading_ == ub_spreading::flow) {
            if (set.flow_path.empty())
                set.flow_path.assign(k_flows, 0);
            kept = &set.flow_path[flow % k_flows];
        }
        const bool unlike = !set.extra_ps.empty();
        if (unlike)
            note_waiting(set, at_ps, still_waits);
        std::uint32_t best = 0;
        if (kept != nullptr && *kept != 0) {
            best = *kept - 1u;
        } else if (choice_ == ub_choice::weighted) {
            best = by_weight(set);
            if (const std::uint64_t covered_ps = std::max(set.waited_ps, message_ps); unlike && set.extra_ps[best] > covered_ps)
                best = worth_it(set, best, covered_ps, waiting);
        } else {
            std::uint64_t least = k_never_ps;
            for (std::uint32_t i = 0; i < set.paths.size(); ++i) {
                const std::uint64_t extra_ps =
                    unlike ? set.extra_ps[i] - std::min<std::uint64_t>(set.extra_ps[i], std::max(set.waited_ps, message_ps)) : 0;
                const std::uint64_t w = waiting(set.paths[i].port) * set.paths[i].hops + extra_ps;
                if (w < least)
                    least = w, best = i;
            }
        }
        if (kept != nullptr)
            *kept = static_cast<std::uint16_t>(best + 1);
        if (unlike)
            set.waits_until_ps = std::max<std::uint64_t>(set.waits_until_ps, at_ps + waiting(set.paths[best].port));
        return best;
    }
    /// After so many packets, paths are chosen in the same order again, if the message takes longer than ways differ.
    /// 0: it does not, or choices go by queues or flows, or by tables inside switches.
    std::uint32_t round_of(const path_set& set, std::uint64_t message_ps) const
    {
        const bool by_turns = spreading_ == ub_spreading::packet && choice_ == ub_choice::weighted;
        if (!by_turns || message_ps < set.most_extra_ps || any_by_table(set))
            return 0;
        return set.round != nullptr ? static_cast<std::uint32_t>(set.round->sum)
                                    : static_cast<std::uint32_t>(set.paths.size());
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
    static bool any_by_table(const path_set& set)
    {
        for (const choice& c : set.paths)
            if (c.port == k_any_port)
                return true;
        return false;
    }
    void note_latencies(path_set& set, const std::vector<std::uint64_t>& latencies_ps) const;
    /// Packets to the destination have waited until now, or had all left before.
    static void note_waiting(path_set& set, std::uint64_t at_ps, bool still_waits)
    {
        if (at_ps <= set.last_ps)
            return; // by the other IO die
        const std::uint64_t until_ps = still_waits ? at_ps : std::max(set.last_ps, std::min(at_ps, set.waits_until_ps));
        const std::uint64_t idle_ps = at_ps - until_ps;
        set.waited_ps = std::min<std::uint64_t>(set.waited_ps + (until_ps - set.last_ps), set.most_extra_ps);
        set.waited_ps -= std::min(set.waited_ps, idle_ps);
        set.last_ps = at_ps;
    }
    /// Path `i`, or of those that take less time the one by which a packet is there first.
    template <class Waiting> static std::uint32_t worth_it(path_set& set, std::uint32_t i, std::uint64_t covered_ps, Waiting&& waiting)
    {
        std::uint64_t least_ps = k_never_ps;
        std::uint32_t best = i;
        const auto look = [&](std::uint32_t j) {
            if (const std::uint64_t ps = set.extra_ps[j] + waiting(set.paths[j].port); ps < least_ps)
                least_ps = ps, best = j;
        };
        // Of equals not always the first.
        set.turn = set.turn + 1 >= set.quickest ? 0 : set.turn + 1;
        for (std::uint32_t k = set.turn; k < set.quickest; ++k)
            look(set.by_extra[k]);
        for (std::uint32_t k = 0; k < set.turn; ++k)
            look(set.by_extra[k]);
        for (std::uint32_t k = set.quickest; k < set.by_extra.size(); ++k) {
            const std::uint32_t extra_ps = set.extra_ps[set.by_extra[k]];
            if (extra_ps >= set.extra_ps[i] || extra_ps >= least_ps)
                break;
            look(set.by_extra[k]);
        }
        return set.extra_ps[i] <= covered_ps + least_ps ? i : best;
    }
    bool wanted(const path_set& set, ub_path_kind kind) const;
    bool configured(ub_path_kind kind) const;
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
    const ub_config& config_;
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
