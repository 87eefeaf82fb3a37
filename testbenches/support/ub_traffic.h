// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Traffic into every UB controller of a UB-Mesh machine, without chips: each packet has a record of where it went
// and how often it
// arrived. Requests go by a list of destinations; an answer, where asked for, is a response to every request, and
// the request's buffer
// is free only when its answer has left, as in a memory that is read.
#pragma once

#include "hw/ub/ub_fabric.h"
#include "hw/routing/ub/ub_lane_rules.h"
#include "hw/routing/ub/ub_paths.h"
#include "platforms/workload/collective_case.h"
#include "platforms/workload/traffic.h"
#include "tlm/credit.h"
#include "tlm/link_socket.h"
#include "tlm/timeline.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {

struct ub_load {
    /// Packet k of endpoint e goes to destinations[e][k % size]; endpoints without any send nothing.
    std::vector<std::vector<std::uint32_t>> destinations;
    std::uint64_t packets_each = 0;
    std::uint64_t payload_bytes = 1024;
    std::uint32_t receive_cells = 1024;
    std::uint64_t gap_below_ps = 0;   ///< random pause of a port behind each packet
    std::uint64_t stall_below_ps = 0; ///< one packet in four keeps its receive buffer for a random time
    bool answers = false;
    std::uint64_t seed = 1;
    std::uint64_t from_ps = 0, to_ps = 0; ///< arrivals in [from, to) are counted by source
};

class ub_traffic final : public sc_core::sc_module, private timeline_client {
public:
    ub_traffic(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, ub_fabric& fabric,
               const ub_config& config, ub_load load)
        : sc_core::sc_module(name), time_(time), pool_(pool), fabric_(fabric), load_(std::move(load)),
          format_(config.format()), rate_(config.local_port_rate),
          cells_(static_cast<std::uint32_t>(format_.cells(load_.payload_bytes))),
          wire_bytes_(static_cast<std::uint32_t>(format_.wire_bytes(load_.payload_bytes))),
          serialisation_ps_(rate_.time_ps(wire_bytes_))
    {
        endpoints_.resize(fabric.endpoints());
        load_.destinations.resize(fabric.endpoints());
        for (std::uint32_t e = 0; e < fabric.endpoints(); ++e) {
            endpoints_[e].first_port = static_cast<std::uint32_t>(ports_.size());
            if (!load_.destinations[e].empty())
                endpoints_[e].left = load_.packets_each;
            for (std::uint32_t die = 0; die < fabric.dies(e); ++die) {
                ports_.push_back(std::make_unique<port>(*this, e, static_cast<std::uint32_t>(ports_.size())));
                ports_.back()->out.bind(fabric.controller(e, die).in);
                fabric.controller(e, die).out.bind(ports_.back()->in);
            }
        }
        actors_ = time.register_actors(static_cast<std::uint32_t>(ports_.size()));
    }

    std::uint64_t sent() const { return sent_; }
    std::uint64_t received() const { return received_; }
    std::uint64_t last_arrival_ps() const { return last_arrival_ps_; }
    /// Payload bytes that arrived between the two times, of one source and of all.
    std::uint64_t counted_bytes(std::uint32_t source) const { return endpoints_[source].counted_bytes; }
    std::uint64_t counted_bytes() const
    {
        std::uint64_t n = 0;
        for (const auto& e : endpoints_)
            n += e.counted_bytes;
        return n;
    }
    /// Everything ordered has been sent, and each packet arrived exactly once where it should; one that did not may
    /// be missing only if
    /// its pair is in `unreachable`. "" when so; else the first that is wrong and how many are.
    std::string verdict(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& unreachable = {}) const
    {
        std::uint64_t bad = misdelivered_;
        std::string first = misdelivered_ == 0 ? "" : "a packet came to the wrong place";
        const auto complain = [&](std::uint32_t e, std::string what) {
            if (bad++ == 0)
                first = fabric_.endpoint_name(e) + ": " + what;
        };
        for (std::uint32_t e = 0; e < endpoints_.size(); ++e) {
            const endpoint& from = endpoints_[e];
            const auto left = from.left + from.answers.size();
            if (left != 0)
                complain(e, fmt::format("{} packets were not sent", left));
            for (unsigned c = 0; c < k_ub_classes; ++c)
                for (std::size_t i = 0; i < from.records[c].size(); ++i) {
                    const record& r = from.records[c][i];
                    if (r.arrivals == 1)
                        continue;
                    const bool excused = r.arrivals == 0 && std::binary_search(unreachable.begin(), unreachable.end(),
                                                                               std::make_pair(e, r.destination));
                    if (!excused)
                        complain(e, fmt::format("{} {} to {} arrived {} times", c == 0 ? "request" : "response", i,
                                                fabric_.endpoint_name(r.destination), r.arrivals));
                }
        }
        return bad == 0 ? "" : fmt::format("{} (and {} more)", first, bad - 1);
    }
    std::uint64_t missing() const { return sent_ - received_; }

private:
    enum event_kind : std::uint8_t { k_send, k_receive };
    struct record {
        std::uint32_t destination;
        std::uint32_t arrivals;
    };
    struct answer {
        std::uint32_t destination, port, cells;
    };
    struct endpoint {
        std::uint32_t first_port = 0;
        std::uint64_t left = 0; ///< requests
        std::uint64_t counted_bytes = 0;
        std::vector<record> records[k_ub_classes];
        std::deque<answer> answers;
    };
    struct port final : link_fw_if, link_bw_if {
        port(ub_traffic& owner, std::uint32_t e, std::uint32_t i)
            : in(fmt::format("in{}", i).c_str(), k_ub_vls), out(fmt::format("out{}", i).c_str(), k_ub_vls), t(owner),
              endpoint(e), index(i), random(owner.load_.seed * 0x10001 + i), credits(k_ub_vls)
        {
            in.bind(static_cast<link_fw_if&>(*this));
            out.bind(static_cast<link_bw_if&>(*this));
        }
        void send(packet_ptr p, std::uint64_t delay_ps) override
        {
            if (p->destination != endpoint)
                ++t.misdelivered_;
            const std::uint64_t tail = t.time_.now_ps() + delay_ps + p->serialisation_ps;
            p->destination_port = static_cast<std::uint8_t>(index - t.first_port(endpoint));
            const std::uint32_t packet = p.release()->index;
            t.time_.schedule(tail, make_order(event_class::arrival, t.actors_ + index, sequence++), t, packet,
                             k_receive);
        }
        void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
        {
            credits[vl].give(under_way, t.time_.now_ps(), t.time_.now_ps() + delay_ps, cells);
            if (waiting)
                t.wake(*this, t.time_.now_ps() + delay_ps);
        }
        link_target_socket in;
        link_initiator_socket out;
        ub_traffic& t;
        std::uint32_t endpoint, index;
        traffic_random random;
        std::vector<credit_counter> credits;
        credit_pool under_way;
        std::uint64_t free_at_ps = 0;
        std::uint32_t sequence = 0, wakes = 0;
        unsigned turn = 0;    ///< class that is asked first
        bool waiting = false; ///< for credits or for something to send
    };

    std::uint32_t first_port(std::uint32_t e) const { return endpoints_[e].first_port; }
    void start_of_simulation() override
    {
        for (auto& p : ports_) {
            for (std::uint32_t vl = 0; vl < k_ub_vls; ++vl)
                p->in->credit(vl, load_.receive_cells, 0);
            p->waiting = true;
            if (endpoints_[p->endpoint].left > 0)
                wake(*p, 1 + (load_.gap_below_ps > 0 ? p->random.below(static_cast<std::uint32_t>(load_.gap_below_ps))
                                                     : 0));
        }
    }
    void wake(port& p, std::uint64_t at_ps)
    {
        p.waiting = false;
        time_.schedule(std::max(at_ps, time_.now_ps()), make_order(event_class::device, actors_ + p.index, p.wakes++),
                       *this, p.index, k_send);
    }
    void on_event(std::uint32_t a, std::uint8_t kind) override
    {
        if (kind == k_send)
            try_send(*ports_[a]);
        else
            receive(packet_ptr(&pool_.at(a)));
    }
    void try_send(port& p)
    {
        const std::uint64_t now = time_.now_ps();
        if (p.free_at_ps > now)
            return wake(p, p.free_at_ps);
        endpoint& e = endpoints_[p.endpoint];
        std::uint64_t soonest = k_never_ps;
        for (unsigned i = 0; i < k_ub_classes; ++i) {
            const unsigned c = (p.turn + i) % k_ub_classes;
            if (c == 0 ? e.left == 0 : e.answers.empty())
                continue;
            credit_counter& credits = p.credits[c * k_ub_lanes_per_class];
            if (!credits.has(p.under_way, now, cells_)) {
                soonest = std::min(soonest, credits.when(p.under_way, cells_));
                continue;
            }
            // A chip keeps back requests by a port that is full; credits tell when to ask again.
            if (c == 0 && !p.out->has_room(next_destination(p, e), false))
                continue;
            credits.take(cells_);
            p.turn = c + 1;
            send_one(p, e, c);
            const std::uint64_t gap =
                load_.gap_below_ps > 0 ? p.random.below(static_cast<std::uint32_t>(load_.gap_below_ps)) : 0;
            p.free_at_ps = now + serialisation_ps_ + gap;
            if (e.left > 0 || !e.answers.empty())
                return wake(p, p.free_at_ps);
            p.waiting = true;
            return;
        }
        if (soonest != k_never_ps)
            return wake(p, soonest);
        p.waiting = true;
    }
    std::uint32_t next_destination(const port& from, const endpoint& e) const
    {
        const auto& to = load_.destinations[from.endpoint];
        return to[e.records[0].size() % to.size()];
    }
    void send_one(port& from, endpoint& e, unsigned c)
    {
        packet_ptr p = pool_.make();
        if (c == 0) {
            p->destination = next_destination(from, e);
            --e.left;
        } else {
            const answer a = e.answers.front();
            e.answers.pop_front();
            p->destination = a.destination;
            ports_[a.port]->in->credit(0, a.cells, 0);
        }
        p->vl = static_cast<std::uint8_t>(c * k_ub_lanes_per_class);
        p->payload_bytes = static_cast<std::uint32_t>(load_.payload_bytes);
        p->packet_count = format_.packets_for(load_.payload_bytes);
        p->wire_bytes = wire_bytes_;
        p->cells = cells_;
        p->message = static_cast<std::uint32_t>(e.records[c].size());
        p->born_ps = time_.now_ps();
        p->serialisation_ps = static_cast<std::uint32_t>(serialisation_ps_);
        e.records[c].push_back({p->destination, 0});
        ++sent_;
        from.out->send(std::move(p), 0);
    }
    void receive(packet_ptr p)
    {
        const std::uint64_t now = time_.now_ps();
        const unsigned c = p->vl / k_ub_lanes_per_class;
        endpoint& from = endpoints_[p->source];
        record& r = from.records[c].at(p->message);
        if (r.destination != p->destination)
            ++misdelivered_;
        ++r.arrivals;
        ++received_;
        last_arrival_ps_ = now;
        if (now >= load_.from_ps && now < load_.to_ps)
            from.counted_bytes += p->payload_bytes;
        port& at = *ports_[first_port(p->destination) + p->destination_port];
        if (load_.answers && c == 0) {
            endpoints_[p->destination].answers.push_back({p->source, at.index, p->cells});
            for (std::uint32_t i = first_port(p->destination);
                 i < ports_.size() && ports_[i]->endpoint == p->destination; ++i)
                if (ports_[i]->waiting)
                    wake(*ports_[i], now);
            return;
        }
        const bool stalls = load_.stall_below_ps > 0 && at.random.below(4) == 0;
        at.in->credit(p->vl, p->cells, stalls ? at.random.below(static_cast<std::uint32_t>(load_.stall_below_ps)) : 0);
    }

    timeline& time_;
    packet_pool& pool_;
    ub_fabric& fabric_;
    ub_load load_;
    packet_format format_;
    wire_rate rate_;
    std::uint32_t cells_, wire_bytes_;
    std::uint64_t serialisation_ps_;
    std::uint32_t actors_ = 0;
    std::vector<endpoint> endpoints_;
    std::vector<std::unique_ptr<port>> ports_;
    std::uint64_t sent_ = 0, received_ = 0, misdelivered_ = 0, last_arrival_ps_ = 0;
};

// --- Machines --------------------------------------------------------------------------------------------------------

/// Path sets of a machine without faults are asked for by many runs: kept here.
class ub_kept_paths final : public ub_path_source {
public:
    explicit ub_kept_paths(std::shared_ptr<const ub_paths> paths)
        : paths_(std::move(paths)), kept_(paths_->topology().routers())
    {
    }
    std::vector<ub_path> paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const override
    {
        if (!down.empty())
            return paths_->paths(from, to, down);
        auto& row = kept_[from];
        if (row.empty())
            row.resize(kept_.size());
        if (row[to].empty())
            row[to] = paths_->paths(from, to, {});
        return row[to];
    }

private:
    std::shared_ptr<const ub_paths> paths_;
    mutable std::vector<std::vector<std::vector<ub_path>>> kept_;
};

/// Topology, rule and paths, ready for any number of fabrics.
struct ub_ways {
    std::shared_ptr<const ub_topology> topology;
    std::shared_ptr<const ub_paths> paths;
    ub_plan plan;

    explicit ub_ways(const ub_shape& shape, bool detour = true, bool borrow = true, bool tables_where_same = false)
        : ub_ways(shape, lane_rule_of(lane_word_for(shape)), detour, borrow, tables_where_same)
    {
    }
    ub_ways(const ub_shape& shape, const ub_lane_rule& rule, bool detour = true, bool borrow = true, bool tables_where_same = false)
        : topology(std::make_shared<const ub_topology>(shape)), plan(topology->plan())
    {
        ub_path_options options;
        options.detour = detour;
        options.borrow = borrow;
        options.tables_where_same = tables_where_same;
        paths = std::make_shared<const ub_paths>(topology, rule, options);
        plan.lanes = rule;
        plan.paths = std::make_shared<const ub_kept_paths>(paths);
    }
};

/// A rack of boards x npus; racks in rows x cols, pods behind HRS.
inline ub_shape ub_rack(std::uint32_t boards = 8, std::uint32_t npus = 8, std::uint32_t rows = 1,
                        std::uint32_t cols = 1, std::uint32_t pods = 1, bool hrs = false)
{
    ub_shape s;
    s.boards = boards;
    s.npus = npus;
    s.rack_rows = rows;
    s.rack_cols = cols;
    s.pods = pods;
    s.hrs = hrs || pods > 1;
    return s;
}

/// One machine with traffic behind every controller.
struct ub_world {
    timeline time;
    packet_pool pool;
    ub_config config;
    ub_fabric fabric;
    ub_traffic traffic;

    ub_world(const ub_ways& ways, const ub_config& c, ub_load load, const std::string& suffix = "")
        : time(("timeline" + suffix).c_str()), config(c),
          fabric(("ub" + suffix).c_str(), time, pool, ways.plan, config),
          traffic(("traffic" + suffix).c_str(), time, pool, fabric, config, std::move(load))
    {
        time.set_run_ahead(true);
    }
    /// What is wrong after a run; "" when each packet came once, every credit is back and every packet is in the pool.
    std::string complaint()
    {
        std::string text = traffic.verdict(fabric.unreachable());
        const auto add = [&](const std::string& more) {
            if (!more.empty())
                text += (text.empty() ? "" : "; ") + more;
        };
        add(fabric.engine().audit());
        add(pool.leak_report());
        add(fabric.engine().describe_blocked(4));
        if (!fabric.idle())
            add("not idle: " + fabric.blocked_on(4));
        return text;
    }
};

} // namespace weft::testing
