// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/cost_model.h"

#include "firmware/collectives/broadcast_trees.h"
#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/line_trees.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/cost_parts.h"
#include "platforms/workload/device_tree_costs.h"
#include "platforms/workload/gapped_costs.h"
#include "platforms/workload/lockstep_ring_costs.h"
#include "platforms/workload/planned_schedule.h"
#include "platforms/workload/switch_sum_costs.h"
#include "platforms/workload/token_costs.h"
#include "platforms/workload/unit_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace weft {

namespace {

namespace costs = firmware::costs;
using abi::dimension_kind;

constexpr double k_two_phase_share = 0.9; ///< 8x8 mesh 94 %, torus 90 %


class model : cost_parts {
public:
    using cost_parts::cost_parts;

    std::optional<double> us() const
    {
        if (t_.ranks < 2)
            return std::nullopt;
        if (abi::by_switch(c_.algo)) // links of ranks do not bound it
            return c_.algo == abi::algorithm::switchml ? by_switch_us(t_, m_, c_) : std::nullopt;
        if (abi::moves_tokens(c_.op))
            return tokens_us(t_, m_, c_);
        const std::optional<double> found = by_algorithm();
        if (!found)
            return std::nullopt;
        const std::uint64_t size = c_.size_bytes;
        const bool by_units = abi::is_in(abi::k_by_ccu, c_.algo);
        const auto bound_us = [&](abi::collective_op op, std::uint64_t memory_bps) {
            const auto bound = t_.members == 0 ? bound_of(t_, m_.links_bps, memory_bps, op, size, by_units)
                                               : bound_of_group(t_.ranks, m_.links_bps, memory_bps, op, size, by_units);
            return bound ? bound->us : 0;
        };
        // By multi_axis a reduce is a reduce-scatter, and then the root gets the shards that it lacks: by links, what
        // an all_reduce sends.
        const bool in_halves = c_.op == abi::collective_op::reduce && c_.algo == abi::algorithm::multi_axis;
        // Ranks that share a device send for each other: of a rank the least is not known.
        const double by_ports = by_units || m_.ports_rate == 0 || t_.device_ranks > 1 ? 0 : moved_bytes(c_.op, bytes_, t_.ranks) / m_.ports_rate;
        return std::max({*found, by_ports, bound_us(c_.op, m_.memory_bps), in_halves ? bound_us(abi::collective_op::all_reduce, 0) : 0});
    }

private:
    std::optional<double> by_algorithm() const
    {
        if (has_schedule(t_, c_.op, c_.algo))
            return by_schedule();
        if (abi::is_in(abi::k_by_ccu, c_.algo))
            return by_units_us(t_, m_, c_);
        if (has_rings_in_lockstep(c_.algo))
            return lockstep_rings_us(t_, m_, c_);
        switch (c_.algo) {
        case abi::algorithm::direct: return c_.op == abi::collective_op::all_to_all ? all_to_all() : shots();
        case abi::algorithm::two_phase:
        case abi::algorithm::two_phase_one_path: return two_phase();
        case abi::algorithm::halving_doubling: return halving_doubling();
        case abi::algorithm::device_tree: return device_tree_us(t_, m_, c_);
        case abi::algorithm::parameter_server:
            return t_.servers == 0 && t_.packet_cores == 0 ? std::optional(parameter_server()) : std::nullopt;
        default: return std::nullopt;
        }
    }

    // --- Firmware that executes a schedule ---------------------------------------------------------------------------
    double by_schedule() const
    {
        // A reduce seen from its root sends nothing. The same trees the other way take as long; by multi_axis it begins
        // like an all_reduce, and then the root gets what it lacks.
        collective_case planned = c_;
        const bool to_root = c_.op == abi::collective_op::reduce && c_.algo == abi::algorithm::multi_axis;
        if (c_.op == abi::collective_op::reduce)
            planned.op =
                c_.algo == abi::algorithm::mesh_tree ? abi::collective_op::broadcast : abi::collective_op::all_reduce;
        const planned_rank rank = plan_of(t_, planned);
        const auto lanes = static_cast<double>(rank.channels.size());
        // Channels go along one dimension at once when their passes of the same number do; passes without runs do not
        // count.
        std::map<std::pair<std::uint32_t, std::uint32_t>, double> streams;
        const auto each_pass = [](const planned_channel& channel, auto&& see) {
            std::uint32_t number = 0;
            for (const planned_pass& p : channel.passes)
                see(p, p.runs.empty() ? number : number++);
        };
        for (const planned_channel& channel : rank.channels)
            each_pass(channel, [&](const planned_pass& p, std::uint32_t number) {
                streams[{number, p.runs.empty() ? 0 : dimension_of(p.runs.front().to)}] += p.runs.empty() ? 0 : 1;
            });
        double planning = costs::k_engine + costs::k_engine_end + lanes * (costs::k_channel + costs::k_view);
        for (const planned_channel& channel : rank.channels)
            planning += std::max(1.0, static_cast<double>(channel.passes.size())) * costs::k_plan_phase;
        constexpr std::uint32_t k_order_cycles = 250; // of a dimension; calibrated: choices of `auto`
        if (c_.algo == abi::algorithm::multi_axis)
            planning += lanes * (costs::k_axes + t_.dim_count * (costs::k_axes_dimension + k_order_cycles));
        const double before = start() + instructions(planning) + notices(rank);
        // A reduce takes several trees from other sizes on than a broadcast.
        const bool up_trees = c_.algo == abi::algorithm::mesh_tree && reduces(c_.op);
        const planned_rank own = up_trees ? plan_of(t_, c_) : rank;
        if (rank.tree_pieces != 0)
            return before + by_line_trees(own.tree_pieces);
        if (up_trees && firmware::full_mesh(t_))
            return before + notices(own) + fan_in();
        if (own.ahead_bytes != 0)
            return before + by_trees_ahead(own.steps, static_cast<double>(own.ahead_bytes));
        if (rank.ahead_bytes != 0)
            return before + by_one_tree(own.steps);
        double longest = c_.algo == abi::algorithm::multi_ring ? busiest_own_link(rank, streams) : 0;
        // Of all exchanges along a dimension: lanes that go along one at once share its links.
        std::vector<double> wire_us(t_.dim_count, 0);
        const std::vector<double> exchanged = only_exchanges(rank) ? exchanges_in_turn(rank, to_root) : std::vector<double>{};
        for (std::size_t lane = 0; lane < rank.channels.size(); ++lane) {
            const planned_channel& channel = rank.channels[lane];
            double us = exchanged.empty() ? 0 : exchanged[lane];
            std::size_t left = passes_of(channel, to_root);
            each_pass(channel, [&](const planned_pass& p, std::uint32_t number) {
                if (left == 0)
                    return;
                --left;
                const double beside = p.runs.empty() ? 1 : streams[{number, dimension_of(p.runs.front().to)}];
                if (exchanged.empty())
                    us += p.direct ? exchange(p, lanes) : chain(p, lanes, beside);
                if (p.direct || !one_ring_of_all())
                    add_wire_time(p, wire_us);
            });
            if (to_root)
                us += gather_to_root(channel, lanes, [&](std::uint32_t level, std::uint32_t d) {
                    return streams[{level, d}];
                });
            longest = std::max(longest, us);
        }
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            longest = std::max(longest, wire_us[d] + latency(m_.hop_us[d]));
        if (c_.algo == abi::algorithm::row_pair || c_.algo == abi::algorithm::row_pair_forward)
            longest += beside_rings(rank);
        if (c_.algo == abi::algorithm::mesh_tree)
            longest = firmware::full_mesh(t_) ? std::max(longest, fan_out()) : longest + below_root(rank);
        return before + longest;
    }
    /// Around failed chips the longest chain has steps that are in no ring of this rank: tiles, donations, hand-overs.
    double beside_rings(const planned_rank& rank) const
    {
        std::uint32_t in_rings = 0;
        for (const planned_channel& channel : rank.channels) {
            std::uint32_t steps = 0;
            for (const planned_pass& p : channel.passes)
                steps += p.ranks > 1 ? p.ranks - 1 : 0;
            in_rings = std::max(in_rings, steps);
        }
        return rank.steps > in_rings ? (rank.steps - in_rings) * (woken_message() + latency(m_.hop_us[t_.dim_count - 1])) : 0;
    }
    /// From dimension to dimension, the last one first, all of a line send their sums to the one with the root's
    /// coordinate. Channels that do so along one dimension at once share its links: those of a corner.
    template <class Streams>
    double gather_to_root(const planned_channel& channel, double lanes, Streams&& streams) const
    {
        double us = 0;
        double bytes = bytes_ / lanes;
        for (std::uint32_t level = 0; 2 * level < channel.passes.size(); ++level) {
            const planned_pass& p = channel.passes[level];
            if (p.runs.empty()) {
                us += answer() + latency(m_.hop_us[t_.dim_count - 1]);
                continue;
            }
            const std::uint32_t d = dimension_of(p.runs.front().to);
            const double size = t_.dims[d];
            const bool line = t_.kind[d] == dimension_kind::line, ring = t_.kind[d] == dimension_kind::ring;
            const double rate = bytes_per_us(t_.rate_mbps[d]) * (line ? 0.5 : 1);
            const double wire_us = rate != 0 ? streams(level, d) * bytes * (size - 1) / size / rate : 0;
            us += answer() + latency((line ? size - 1 : ring ? size / 2 : 1) * m_.hop_us[d]) + wire_us;
            // Exchanges of all channels end together: each slept, and the core, which counts blocks, is with another
            // one. Those of rings end one after the other.
            if (p.direct)
                us += (lanes + 1) / 2 * woken_message() - answer() + instructions(lanes * size * costs::k_axis_block);
            bytes /= size;
        }
        return us;
    }
    /// Of a broadcast along trees of a mesh: the last message goes on from chip to chip.
    double below_root(const planned_rank& rank) const
    {
        const auto hop = [&](std::uint32_t d, double size) { return answer() + latency(m_.hop_us[d]) + size / stream_rate(d, 1); };
        for (const planned_channel& channel : rank.channels)
            for (const planned_pass& p : channel.passes)
                if (!p.runs.empty()) {
                    const planned_run& run = p.runs.front();
                    const std::uint32_t d = dimension_of(run.to);
                    const double size = static_cast<double>(run.range.count) * abi::element_bytes(c_.type) / run.messages;
                    if (t_.device_ranks < 2)
                        return (rank.steps - 1.0) * hop(d, size);
                    double us = -hop(d, size); // from device to device first, then inside
                    for (std::uint32_t along = 0; along < t_.dim_count; ++along)
                        us += t_.dims[along] / 2 * hop(along, size);
                    return us;
                }
        return 0;
    }
    /// Trees of a torus: on each link of a rank messages of one tree, in the pace of the slowest of link, core and, of
    /// sums, memory. The last one goes from chip to chip without their cores.
    double by_trees_ahead(double depth, double longest) const
    {
        const firmware::mesh m = firmware::mesh_of(t_);
        const double trees = firmware::tree_colours(m), sum = reduces(c_.op) ? 1 : 0;
        const double each = bytes_ / trees, pieces = std::max(1.0, std::ceil(each / longest)), piece = each / pieces;
        const double rate = stream_rate(t_.dim_count - 1, 1), memory = static_cast<double>(m_.memory_bps) / 8e6;
        const double wire_us = std::max(piece / rate, memory != 0 ? (2 + sum) * trees * piece / memory : 0);
        const double made_us = trees * (instructions(costs::k_look + costs::k_message + costs::k_staged + costs::k_wait_ahead + sum * costs::k_wait_alone / 2) + m_.descriptor_us / 4);
        const double hop_us = m_.engine_us + 3 * m_.memory_us + m_.hop_us[t_.dim_count - 1] + piece / rate;
        const double planned_us = trees * instructions(costs::k_tree_colour + costs::k_channel + costs::k_arm);
        return planned_us + 2 * trees * m_.message_us() + pieces * std::max(wire_us, made_us) + (depth - 1) * hop_us + latency(m_.hop_us[t_.dim_count - 1]);
    }
    /// Trees of a full mesh, one for each link of a rank (firmware/collectives/line_trees.h). A rank sends a message on
    /// each link for every piece; the last piece goes through all of its tree. In a broadcast the root and those below
    /// it make as many before the last one leaves, in a reduce only contributions are so many.
    double by_line_trees(double pieces) const
    {
        const firmware::line_trees trees(t_, c_.root);
        double slowest = std::numeric_limits<double>::infinity();
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.dims[d] > 1 && t_.rate_mbps[d] != 0)
                slowest = std::min(slowest, rate_to_others(d) / (t_.dims[d] - 1));
        const double wire_us = bytes_ / trees.trees / pieces / slowest;
        const double made_us = trees.trees * (m_.message_us() + instructions(costs::k_tree_run));
        return (pieces - 1) * std::max(wire_us, made_us) + (reduces(c_.op) ? 1 : 2) * made_us +
               (trees.count + 1) * (wire_us + answer() + latency(farthest() / trees.count));
    }
    /// A message leaves a chip when all of it has come; others follow it.
    double by_one_tree(double depth) const
    {
        const double rate = std::min(bytes_per_us(std::max(t_.rate_mbps[0], t_.rate_mbps[1])) / 2, one_link(t_.dim_count - 1));
        const double first = std::min(bytes_, chunk_);
        return depth * (answer() + latency(m_.hop_us[t_.dim_count - 1])) + (rate != 0 ? (depth * first + bytes_ - first) / rate : 0);
    }
    /// It tells those that send to it that it is ready.
    double notices(const planned_rank& rank) const
    {
        double hops_us = 0;
        for (const std::uint32_t to : rank.told)
            hops_us = std::max(hops_us, hops_to(to));
        return rank.told.empty() ? 0 : latency(hops_us) + static_cast<double>(rank.told.size()) * instructions(costs::k_notify);
    }
    /// Sums of a full mesh, one dimension after the other: each rank of a line sends all it has to one of them.
    double fan_in() const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.dims[d] > 1 && t_.rate_mbps[d] != 0)
                us += answer() + latency(m_.hop_us[d]) +
                      bytes_ * (t_.dims[d] - 1) / rate_to_others(d);
        return us;
    }
    /// What a rank sends to the others of its line, the same to each. Where there is one, detours over switches help.
    double rate_to_others(std::uint32_t d) const { return t_.ranks == 2 ? rate_with_detours(d) : bytes_per_us(t_.rate_mbps[d]); }
    /// A broadcast on a full mesh, one dimension after the other: who has got it sends it to all others of its next
    /// line.
    double fan_out() const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.dims[d] > 1)
                us += links_along(d) * m_.message_us() + latency(m_.hop_us[d]) +
                      (t_.rate_mbps[d] != 0 ? bytes_ * links_along(d) / rate_to_others(d) : 0);
        return us;
    }
    double bytes_of(const planned_run& run) const
    {
        return static_cast<double>(run.range.count) * run.pieces * abi::element_bytes(c_.type);
    }
    /// What a message of the event loop takes of the core, with what goes with it when its channel slept.
    double woken_message() const
    {
        return instructions(costs::k_turn + costs::k_look + costs::k_count + costs::k_run + costs::k_message + costs::k_doorbell + costs::k_arm +
                            costs::k_sleep + costs::k_wake) +
               m_.descriptor_us + 4 * m_.access_us;
    }
    /// Of that, what lies between the arrival of one message and the doorbell of the next; arming and sleeping come
    /// after it.
    double answer() const
    {
        return instructions(costs::k_turn + costs::k_look + costs::k_message + costs::k_doorbell) + m_.descriptor_us + m_.access_us;
    }

    /// Steps that wait for each other: chunks of a run go on when they have come. `lanes` share the core, `streams` the
    /// links.
    double chain(const planned_pass& p, double lanes, double streams) const
    {
        const double busy_us = (lanes - 1) / 2 * woken_message(); // the core is with another lane when a message comes
        double us = instructions(p.entry_instructions);
        double last_us = answer() + busy_us + latency(m_.hop_us[t_.dim_count - 1]); // of a message without data
        std::uint32_t steps = 0;
        for (std::size_t i = 0; i < p.runs.size(); ++steps) {
            const std::uint32_t step = p.runs[i].step;
            double messages = 0, size = 0;
            for (; i < p.runs.size() && p.runs[i].step == step; ++i) {
                messages += p.runs[i].messages;
                size += bytes_of(p.runs[i]);
            }
            const std::uint32_t to = p.runs[i - 1].to;
            const bool of_all = c_.algo == abi::algorithm::ring_1d && t_.device_ranks < 2;
            const double wire_us =
                size / messages / (of_all ? ring_rate(streams) : stream_rate(dimension_of(to), streams));
            const double each_us = std::max(wire_us, lanes * (messages > 1 ? m_.message_us() : woken_message()));
            last_us = answer() + busy_us + latency(hops_to(to)) + wire_us;
            us += std::max(messages * each_us, p.forwards ? last_us : 0);
        }
        // Shards that are empty here are not so elsewhere: the chain is as long for whoever waits.
        for (; steps + 1 < p.ranks; ++steps)
            us += last_us;
        return us + (p.forwards ? 0 : last_us);
    }
    /// Rings and trees that turn from one dimension into another: what one rank sends says nothing of the others.
    bool one_ring_of_all() const
    {
        return c_.algo != abi::algorithm::multi_axis && c_.algo != abi::algorithm::two_d &&
               c_.algo != abi::algorithm::hierarchical && c_.algo != abi::algorithm::multi_ring;
    }
    /// What the links of its dimension carry in a pass. A ring that is folded onto a line uses each of its links both
    /// ways, one of a full mesh goes over switches, too.
    void add_wire_time(const planned_pass& p, std::vector<double>& wire_us) const
    {
        const bool by_all_paths = !p.direct && (c_.algo == abi::algorithm::hierarchical || c_.algo == abi::algorithm::two_d);
        for (const planned_run& run : p.runs) {
            const std::uint32_t d = dimension_of(run.to);
            const double links = bytes_per_us(t_.rate_mbps[d]);
            const double rate = by_all_paths && t_.kind[d] == dimension_kind::full ? std::max(links, rate_with_detours(d)) : links;
            if (t_.rate_mbps[d] != 0)
                wire_us[d] += bytes_of(run) / rate *
                              (!p.direct && t_.kind[d] == dimension_kind::line ? 2 : 1);
        }
    }
    /// Of rings that own their links: several levels may load the same one.
    template <class Streams>
    double busiest_own_link(const planned_rank& rank, const Streams& streams) const
    {
        std::map<std::uint32_t, double> by_neighbour;
        double busiest = 0;
        for (const planned_channel& channel : rank.channels)
            for (const planned_pass& p : channel.passes)
                for (const planned_run& run : p.runs) {
                    const std::uint32_t d = dimension_of(run.to);
                    const auto rings = streams.find({0, d}); // those that begin with it
                    if (rings != streams.end() && owns_link(d, rings->second))
                        busiest = std::max(busiest, by_neighbour[run.to] += bytes_of(run) / stream_rate(d, rings->second));
                }
        return busiest;
    }
    /// Passes before the root of a reduce gathers, else all.
    static std::size_t passes_of(const planned_channel& channel, bool to_root)
    {
        return to_root ? channel.passes.size() / 2 : channel.passes.size();
    }
    static bool only_exchanges(const planned_rank& rank)
    {
        const auto exchanges = [](const planned_channel& channel) {
            return std::all_of(channel.passes.begin(), channel.passes.end(), [](const planned_pass& p) { return p.direct || p.moves_shards; });
        };
        return std::all_of(rank.channels.begin(), rank.channels.end(), exchanges);
    }
    /// Everybody to everybody of a line.
    struct exchange_parts {
        double entry_us;   ///< of the core, before its messages
        double made_us;    ///< of the core, for all of them
        double wire_us;    ///< on the links, if nothing keeps a message
        double last_us;    ///< the last message alone
        double latency_us; ///< until the last of a peer counts
    };
    exchange_parts parts_of(const planned_pass& p) const
    {
        double messages = 0, size = 0, last = 0;
        for (const planned_run& run : p.runs) {
            last = bytes_of(run);
            size += last;
            messages += run.messages;
        }
        const std::uint32_t d = dimension_of(p.runs.front().to);
        const double all = bytes_per_us(t_.rate_mbps[d]);
        const double peers = std::max(1u, t_.dims[d] - 1);
        const double message_us =
            instructions(costs::k_axis_run + costs::k_axis_exchange + costs::k_message + costs::k_doorbell) + m_.descriptor_us + m_.access_us;
        return {instructions(p.entry_instructions + costs::k_sleep + costs::k_turn), messages * message_us, all != 0 ? size / all : 0,
                all != 0 ? last / (all / (t_.kind[d] == dimension_kind::full ? peers : 1)) : 0, latency(m_.hop_us[d]) + m_.access_us};
    }
    double exchange(const planned_pass& p, double lanes) const
    {
        if (p.runs.empty())
            return latency(m_.hop_us[t_.dim_count - 1]);
        const exchange_parts x = parts_of(p);
        return x.entry_us + std::max(lanes * x.made_us + x.last_us, x.wire_us) + x.latency_us;
    }
    /// When each channel of a rank has ended, all of whose passes are exchanges. The core makes the messages of one
    /// pass after the other, first of the channel whose data came first; the links of a dimension do likewise.
    std::vector<double> exchanges_in_turn(const planned_rank& rank, bool to_root) const
    {
        std::vector<double> ready_us(rank.channels.size(), 0), links_us(t_.dim_count, 0);
        std::vector<std::size_t> done(rank.channels.size(), 0);
        double core_us = 0;
        for (;;) {
            std::size_t next = rank.channels.size();
            for (std::size_t i = 0; i < rank.channels.size(); ++i)
                if (done[i] < passes_of(rank.channels[i], to_root) && (next == rank.channels.size() || ready_us[i] < ready_us[next]))
                    next = i;
            if (next == rank.channels.size())
                return ready_us;
            const planned_pass& p = rank.channels[next].passes[done[next]++];
            if (p.moves_shards) {
                core_us = std::max(core_us, ready_us[next]) + instructions(p.entry_instructions) + woken_message();
                // Contributions go when who gathers them has said that it is ready.
                const double told_us = c_.op == abi::collective_op::all_gather ? latency(farthest()) + woken_message() : 0;
                ready_us[next] = core_us + told_us + latency(farthest()) + moved_shard_us();
                continue;
            }
            if (p.runs.empty()) {
                ready_us[next] += latency(m_.hop_us[t_.dim_count - 1]);
                continue;
            }
            const exchange_parts x = parts_of(p);
            double& links = links_us[dimension_of(p.runs.front().to)];
            const double begin_us = std::max(core_us, ready_us[next]) + x.entry_us;
            core_us = begin_us + x.made_us;
            links = std::max(core_us + x.last_us, std::max(links, begin_us) + x.wire_us);
            ready_us[next] = links + x.latency_us;
        }
    }

    /// A shard on the slowest link that it takes; shards meet in each dimension. As lane_choice.cpp.
    double moved_shard_us() const
    {
        double us = 0, levels = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.dims[d] > 1 && t_.rate_mbps[d] != 0) {
                us = std::max(us, bytes_ / t_.ranks * (t_.dims[d] - 1) / bytes_per_us(t_.rate_mbps[d]));
                ++levels;
            }
        return (c_.op == abi::collective_op::all_gather ? 2 : 1) * levels * us;
    }

    // --- Firmware without one ----------------------------------------------------------------------------------------
    /// Elements that ranks other than this one own, in messages.
    double messages_to_others(double pieces) const
    {
        const double others = std::min<double>(static_cast<double>(c_.count), t_.ranks) - 1;
        return std::max(1.0, others) * pieces;
    }
    double shots() const
    {
        const double pieces = chunks(bytes_ / t_.ranks);
        const double skipped = t_.ranks - 1 - std::min<double>(static_cast<double>(c_.count) - 1, t_.ranks - 1);
        const double share = share_of_shots();
        const double links = links_of_rank();
        // The first message of a group takes links of others, too.
        const double busiest = t_.members != 0 ? 1 : links_of_busiest_dimension();
        const double message_us =
            m_.links_bps == 0 ? 0 : bytes_ / t_.ranks / pieces * links / (static_cast<double>(m_.links_bps) / 8e6);
        const auto shot = [&](double messages) {
            const double made_us = post(costs::k_shot_message + costs::k_shot_peer + costs::k_diagonal_peer + t_.dim_count * costs::k_diagonal_axis);
            // The last link of the busiest dimension begins when its others have a message, and the last message has
            // its way to go.
            const double core_us = messages * made_us + instructions(skipped * costs::k_direct_skip) + message_us;
            return std::max(core_us, std::min(messages, busiest) * made_us + bound_of_exchange() / share) + latency(farthest());
        };
        const double reduce = c_.op != abi::collective_op::all_gather ? shot(messages_to_others(pieces)) : 0;
        // Who has a shard sends it to all.
        const double gather = c_.op != abi::collective_op::reduce_scatter ? shot((t_.ranks - 1) * pieces) : 0;
        return start() + barrier() + reduce + gather;
    }
    double all_to_all() const
    {
        if (firmware::full_mesh(t_) && t_.members == 0) // a descriptor for each local port, made while ranks meet
            return start() + barrier() + latency(farthest()) + bound_of_exchange();
        const double core_us = (messages_to_others(1) + 1) * post(costs::k_rank_block + costs::k_direct_peer);
        return start() + barrier() + std::max(core_us, bound_of_exchange() / share_of_exchange()) + latency(farthest());
    }
    /// Two halves of every block, in two messages each: along one line, and along the other.
    double two_phase() const
    {
        if (firmware::full_mesh(t_))
            return two_phase_by_lines();
        const double halves = static_cast<double>(c_.count) > t_.ranks && !one_path() ? 2 : 1;
        const double messages = 2 * halves * messages_to_others(1);
        // On one path the links of a dimension are idle in one of the phases.
        const double wire_us = one_path() ? both_dimensions() : bound_of_exchange();
        // Memory of a sender, of a relay, twice, and of a receiver.
        const double memory = static_cast<double>(m_.memory_bps) / 8e6;
        const double memory_us = memory != 0 ? 4 * bytes_ * (t_.ranks - 1) / t_.ranks / memory : 0;
        return start() + barrier() +
               std::max({messages * post(costs::k_two_phase_message), wire_us / k_two_phase_share, memory_us}) +
               2 * latency(farthest());
    }
    bool one_path() const { return c_.algo == abi::algorithm::two_phase_one_path; }
    /// What an all_to_all has to carry along each dimension, one after the other.
    double both_dimensions() const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
            abi::platform_table alone = t_;
            for (std::uint32_t other = 0; other < t_.dim_count; ++other)
                alone.dims[other] = other == d ? t_.dims[d] : 1;
            alone.members = 0;
            if (const auto bound = bound_of(alone, 0, 0, abi::collective_op::all_to_all, c_.size_bytes))
                us += bound->us;
        }
        return us;
    }
    /// The same on a full mesh: one message for each relay and receiver, two where blocks are not equally long.
    double two_phase_by_lines() const
    {
        double lines = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            lines += t_.dims[d] > 1 ? t_.dims[d] : 0;
        const double messages = one_path() ? lines / 2 : lines; // of a phase
        const double made_us = messages * post(costs::k_two_phase_message);
        const double wire_us = (one_path() ? both_dimensions() : bound_of_exchange()) / 2; // of a phase
        return start() + barrier() + 2 * (std::max(made_us, wire_us) + latency(farthest() / 2)) +
               instructions(2 * costs::k_direct_wait) + 2 * m_.access_us;
    }
    double halving_doubling() const
    {
        double us = start();
        const double rate = stream_rate(t_.dim_count - 1, 1);
        for (double part = 0.5; part * t_.ranks > 0.5; part /= 2) {
            const double pieces = chunks(bytes_ * part);
            const double wire_us = bytes_ * part / rate;
            us += post() + 2 * (std::max(pieces * post(), wire_us) + latency(m_.hop_us[t_.dim_count - 1]) + instructions(costs::k_direct_wait) + m_.access_us);
        }
        return us + latency(m_.hop_us[t_.dim_count - 1]);
    }
    /// Every rank serves a shard: two exchanges, chunk by chunk.
    double parameter_server() const
    {
        const double pieces = chunks(bytes_ / t_.ranks);
        const double messages = messages_to_others(pieces) + (t_.ranks - 1) * pieces;
        // By all paths.
        const double wire_us = 2 * bytes_ * (t_.ranks - 1) / t_.ranks / stream_rate(t_.dim_count - 1, 1);
        const double core_us = messages * post(costs::k_shot_message + costs::k_shot_peer + costs::k_diagonal_peer + costs::k_diagonal_axis);
        return start() + barrier() + std::max(core_us, wire_us) + 2 * latency(farthest());
    }
};

} // namespace

double message_costs::message_us() const
{
    const std::uint64_t instructions = costs::k_look + costs::k_message + costs::k_doorbell;
    return static_cast<double>(instructions) * instruction_us + descriptor_us + access_us;
}

std::optional<double> predicted_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c)
{
    if (costs.credits_share < 1) {
        abi::platform_table slower = table;
        for (std::uint32_t& mbps : slower.rate_mbps)
            mbps = static_cast<std::uint32_t>(mbps * costs.credits_share);
        for (std::uint32_t* const mbps : {&slower.on_mesh.row_mbps, &slower.on_mesh.col_mbps})
            *mbps = static_cast<std::uint32_t>(*mbps * costs.credits_share);
        message_costs once = costs;
        once.links_bps = static_cast<std::uint64_t>(static_cast<double>(costs.links_bps) * costs.credits_share);
        once.credits_share = 1;
        return predicted_us(slower, once, c);
    }
    return table.on_mesh.rows != 0 ? predicted_on_gapped_mesh_us(table, costs, c) : model(table, costs, c).us();
}

} // namespace weft
