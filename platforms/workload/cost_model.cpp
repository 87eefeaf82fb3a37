// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/cost_model.h"

#include "firmware/collectives/ccu_plan.h"
#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/broadcast_trees.h"
#include "firmware/collectives/line_trees.h"
#include "firmware/collectives/replica_rings.h"
#include "firmware/collectives/supports.h"
#include "firmware/costs.h"
#include "hw/abi/ccu.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/device_tree_costs.h"
#include "platforms/workload/planned_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace weft {

namespace {

namespace costs = firmware::costs;
using abi::dimension_kind;

// Where ranks send to each other rank in turn, messages that wait to turn from one line or ring into another hold up
// others: an exchange takes longer than its bound by this part for each rank but one of a side, times the square of the
// load of the other dimensions over that of the busiest. Calibrated with an all_to_all of 16 MiB by direct, share of
// its bound, and of this model: meshes 4x4 71 and 70 %, 3x5 89 and 89, 2x8 97 and 97, 8x8 51 and 51; tori 4x4 61 and
// 60, 3x5 83 and 84, 8x8 36 and 39; a line of 8 95 and 100.
constexpr double k_turns_of_line = 0.14, k_turns_of_ring = 0.22;
// Of two shots along diagonals, by the ranks of the longest line or ring. Calibrated: a reduce_scatter of 1 MiB on a
// 4x4 torus.
constexpr double k_shots_share_by_line = 4, k_shots_share_by_ring = 3;
constexpr double k_two_phase_share = 0.9; ///< 8x8 mesh 94 %, torus 90 %
// Detours over switches, where a rank has links to them: they add this part of those links to a line of d ranks, over
// d. Calibrated on boards of two NPUs; on a rack they add little.
constexpr double k_outside_share = 1.6;

// A direct exchange in a process group of a full mesh takes detours over links that the group has in no dimension: this
// part of them adds to each dimension. Calibrated on racks of 8x8 and 8x4 NPUs, rows and blocks of 8, 16 and 32,
// all_reduce of 4 and 16 MiB: 0.16 to 0.27, columns 0.
constexpr double k_borrowed_share = 0.2;

// Of collective communication units, calibrated on a board of 8 NPUs: register accesses of a core for a task on both
// dies, from its arguments to the status; moving and reducing one slice; share of the links' payload rate that slices
// and their requests leave.
constexpr double k_unit_accesses = 56, k_unit_slice_us = 0.35, k_unit_share = 0.97;

constexpr double bytes_per_us(std::uint64_t mbps) { return static_cast<double>(mbps) / 8; }

class model {
public:
    model(const abi::platform_table& table, const message_costs& machine, const collective_case& c)
        : t_(table), m_(machine), c_(c), bytes_(static_cast<double>(c.size_bytes)),
          chunk_(c.chunk_bytes != 0 ? static_cast<double>(c.chunk_bytes) : std::numeric_limits<double>::infinity())
    {
    }

    std::optional<double> us() const
    {
        if (t_.ranks < 2 || abi::by_switch(c_.algo))
            return std::nullopt;
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
        return std::max({*found, bound_us(c_.op, m_.memory_bps), in_halves ? bound_us(abi::collective_op::all_reduce, 0) : 0});
    }

private:
    std::optional<double> by_algorithm() const
    {
        if (has_schedule(c_.algo))
            return by_schedule();
        if (abi::is_in(abi::k_by_ccu, c_.algo) && !units_run())
            return std::nullopt;
        if (has_rings_in_lockstep(c_.algo))
            return rings_in_lockstep();
        switch (c_.algo) {
        case abi::algorithm::direct: return c_.op == abi::collective_op::all_to_all ? all_to_all() : shots();
        case abi::algorithm::two_phase:
        case abi::algorithm::two_phase_one_path: return two_phase();
        case abi::algorithm::halving_doubling: return halving_doubling();
        case abi::algorithm::device_tree: return device_tree_us(t_, m_, c_);
        case abi::algorithm::ccu:
            return in_rounds() ? units_in_rounds() : units_flat(c_.op == abi::collective_op::all_reduce ? 2 : 1);
        case abi::algorithm::ccu_one_shot: return units_one_shot();
        case abi::algorithm::ccu_axes:
            return c_.op == abi::collective_op::all_to_all ? units_by_lines() : units_by_axes();
        case abi::algorithm::parameter_server:
            return t_.servers == 0 && t_.packet_cores == 0 ? std::optional(parameter_server()) : std::nullopt;
        default: return std::nullopt;
        }
    }

    // --- Parts -------------------------------------------------------------------------------------------------------
    double instructions(double n) const { return n * m_.instruction_us; }
    /// A message that is made outside the event loop.
    double post(double extra_instructions = 0) const
    {
        return instructions(costs::k_direct_message + extra_instructions) + m_.descriptor_us + m_.access_us;
    }
    /// From a doorbell to the core of the receiver, `hops_us` away: the descriptor is fetched, data read and written,
    /// the core woken.
    double latency(double hops_us) const
    {
        return m_.engine_us + 3 * m_.memory_us + hops_us + m_.wake_us + m_.access_us + instructions(costs::k_wake);
    }
    double hops_to(std::uint32_t rank) const
    {
        double us = 0;
        for (std::uint32_t d = t_.dim_count; d-- > 0;) {
            const std::uint32_t at = rank % t_.dims[d];
            rank /= t_.dims[d];
            us += hops_along(d, at) * m_.hop_us[d];
        }
        return us;
    }
    double hops_along(std::uint32_t d, std::uint32_t coordinate) const
    {
        const std::uint32_t here = t_.coord[d];
        const std::uint32_t distance = here > coordinate ? here - coordinate : coordinate - here;
        switch (t_.kind[d]) {
        case dimension_kind::line: return distance;
        case dimension_kind::ring: return std::min(distance, t_.dims[d] - distance);
        default: return distance != 0 ? 1 : 0;
        }
    }
    double farthest() const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
            const bool one = t_.kind[d] == dimension_kind::full || t_.kind[d] == dimension_kind::switched;
            us += (one ? (t_.dims[d] > 1 ? 1 : 0) : t_.kind[d] == dimension_kind::ring ? t_.dims[d] / 2 : t_.dims[d] - 1) * m_.hop_us[d];
        }
        return us;
    }
    /// The innermost dimension in which `rank` differs from this one; of broken meshes, whose numbers have no gaps,
    /// any.
    std::uint32_t dimension_of(std::uint32_t rank) const
    {
        for (std::uint32_t d = t_.dim_count; d-- > 0;) {
            if (rank % t_.dims[d] != t_.coord[d])
                return d;
            rank /= t_.dims[d];
        }
        return t_.dim_count - 1;
    }
    /// A stream to one neighbour along dimension `d`, `streams` at once of each rank. A full mesh lends links: packets
    /// take the direct one or one relay.
    double stream_rate(std::uint32_t d, double streams) const
    {
        double all = bytes_per_us(t_.rate_mbps[d]) * (alone_on_device(d) ? t_.device_ranks : 1);
        if (all == 0)
            return std::numeric_limits<double>::infinity();
        switch (t_.kind[d]) {
        case dimension_kind::full:
            all += k_outside_share / t_.dims[d] * outside();
            return t_.dims[d] < 3 ? all / streams : all / streams / (2 - 1.0 / (t_.dims[d] - 1));
        case dimension_kind::switched: return all / streams;
        case dimension_kind::line:
            // A ring that is folded onto a line uses each of its links both ways, a tree one way.
            return c_.algo == abi::algorithm::mesh_tree ? all / std::max(2.0, streams) : all / (2 * streams);
        default: return all / std::max(2.0, streams);
        }
    }
    /// Of a ring of all ranks: some turn along each dimension, and the slowest sets the pace of all.
    double ring_rate(double streams) const
    {
        double slowest = std::numeric_limits<double>::infinity();
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            slowest = t_.dims[d] > 1 ? std::min(slowest, stream_rate(d, streams)) : slowest;
        return slowest;
    }
    /// Rings and trees of ranks go from device to device by one rank of each, which has the links of all.
    bool alone_on_device(std::uint32_t d) const
    {
        const bool one_by_one = c_.algo == abi::algorithm::ring_1d || c_.algo == abi::algorithm::mesh_tree;
        return one_by_one && t_.device_ranks > 1 && (t_.device_members <= 1 || d + 1 < t_.dim_count);
    }
    /// What a rank can send by links of no dimension, those to switches.
    double outside() const
    {
        double inside = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            inside += bytes_per_us(t_.rate_mbps[d]);
        return std::max(0.0, static_cast<double>(m_.links_bps) / 8e6 - inside);
    }
    /// The share of the bound that each of two shots reaches.
    double share_of_shots() const
    {
        double share = 1;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.kind[d] == dimension_kind::line || t_.kind[d] == dimension_kind::ring)
                share = std::min(share, (t_.kind[d] == dimension_kind::line ? k_shots_share_by_line : k_shots_share_by_ring) / t_.dims[d]);
        return share;
    }
    /// The share of the bound that an exchange of everybody with everybody reaches.
    double share_of_exchange() const
    {
        double busiest = 0, squares = 0, ranks = 1, sides = 0, turns = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
            const bool ring = t_.kind[d] == dimension_kind::ring;
            if (t_.dims[d] < 2 || t_.rate_mbps[d] == 0 || !(ring || t_.kind[d] == dimension_kind::line))
                continue;
            const double low = t_.dims[d] / 2;
            const double load = low * (t_.dims[d] - low) / t_.dims[d] / (ring ? 1 : 0.5) / t_.rate_mbps[d];
            turns = load > busiest ? (ring ? k_turns_of_ring : k_turns_of_line) : turns;
            busiest = std::max(busiest, load);
            squares += load * load;
            ranks *= t_.dims[d];
            ++sides;
        }
        if (sides == 0)
            return 1;
        return 1 / (1 + turns * (std::pow(ranks, 1 / sides) - 1) * (squares / busiest / busiest - 1));
    }
    /// By shortest paths, as an exchange goes: without links to switches. Groups borrow some of the links that they
    /// leave idle.
    double bound_of_exchange() const
    {
        const auto op = abi::collective_op::all_to_all;
        const bool borrows = t_.members != 0 && firmware::full_mesh(t_);
        auto bound = bound_of(t_, borrows ? links_with(k_borrowed_share) : 0, m_.memory_bps, op, c_.size_bytes);
        if (!bound && t_.members != 0) // no box: by all links of a rank
            bound = bound_of_group(t_.ranks, m_.links_bps, m_.memory_bps, op, c_.size_bytes);
        return bound ? bound->us : 0;
    }
    /// bit/s of the links of all dimensions and of a share of the others.
    std::uint64_t links_with(double share) const
    {
        return m_.links_bps - static_cast<std::uint64_t>(outside() * (1 - share) * 8e6);
    }
    /// Ranks meet, as in firmware/collectives/exchange.h.
    double barrier() const
    {
        double us = 0;
        if (firmware::full_mesh(t_) && t_.members == 0) {
            for (std::uint32_t d = 0; d < t_.dim_count; ++d)
                us += t_.dims[d] > 1 ? post(costs::k_direct_wait) + m_.access_us + latency(m_.hop_us[d]) : 0;
            return us;
        }
        for (std::uint32_t distance = 1; distance < t_.ranks; distance *= 2)
            us += post(costs::k_direct_wait) + m_.access_us + latency(hops_to((t_.rank + distance) % t_.ranks));
        return us;
    }
    double start() const { return instructions(costs::k_command + costs::k_response) + 4 * m_.access_us; }
    double chunks(double bytes) const { return std::max(1.0, std::ceil(bytes / chunk_)); }

    // --- Rings in lock-step ------------------------------------------------------------------------------------------
    /// The busiest direction of a way between neighbours of a ladder in a step, in fragments, and the longest way.
    struct ladder_load {
        double fragments = 0;
        double hops = 0;
    };
    ladder_load load_of(abi::algorithm method, std::uint32_t replicas, std::uint32_t rungs, bool closes) const
    {
        const std::uint32_t columns = std::max(1u, replicas / rungs);
        const abi::ring_order order = firmware::order_of_phase(t_.order, replicas, false);
        const firmware::replica_rings rings(method, order, replicas, 0);
        ladder_load load;
        std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, double> ways; // column, rung below, up
        for (std::uint32_t i = 0; i < rings.count; ++i) {
            const firmware::replica_ring& ring = rings.ring[i];
            for (std::uint32_t position = 0; position < replicas; ++position) {
                const std::uint32_t from = ring.replica(position),
                                    to = ring.replica((position + (ring.reversed ? replicas - 1 : 1)) % replicas);
                std::uint32_t rung = from / columns;
                const std::uint32_t target = to / columns, column = to % columns;
                double hops = from % columns != column ? 1 : 0;
                const std::uint32_t above = (target + rungs - rung) % rungs;
                const bool up = closes ? 2 * above < rungs || (2 * above == rungs && rung % 2 == 0) : target > rung;
                for (; rung != target; ++hops) {
                    const std::uint32_t next = up ? (rung + 1) % rungs : (rung + rungs - 1) % rungs;
                    ways[{column, up ? rung : next, up}] += 1.0 / ring.parts;
                    rung = next;
                }
                load.hops = std::max(load.hops, hops);
            }
            load.fragments = std::max(load.fragments, 1.0 / ring.parts); // what goes across rungs alone
        }
        for (const auto& [way, fragments] : ways)
            load.fragments = std::max(load.fragments, fragments);
        return load;
    }
    /// Steps of a phase: all meet, a fragment goes along each ring, the next step begins when it has come.
    double phase_in_lockstep(double steps, double exchanges, double wire_us, double hops_us, double sync_us,
                             double messages) const
    {
        const double firmware_us = instructions(costs::k_replica_step + 2 * costs::k_replica_ring +
                                                messages * costs::k_replica_message + costs::k_direct_wait) +
                                   messages * (m_.descriptor_us + 2 * m_.access_us);
        const double step_us =
            sync_us + (sync_us > 0 ? m_.wake_us + 4 * m_.access_us : 0) + latency(hops_us) + wire_us + firmware_us;
        return instructions(costs::k_replica_phase) + exchanges * step_us + (steps > exchanges ? latency(0) : 0);
    }
    std::optional<double> rings_in_lockstep() const
    {
        // Replicas of more than two IPUs share their links with the groups of other places: nobody has counted them.
        const bool one_ladder = t_.replica_ranks <= 2 && t_.split_exchanges <= 1;
        const std::uint32_t outer = t_.gateway_dims, replicas = firmware::replicas_of_domain(t_),
                            domains = t_.ranks / std::max(1u, replicas);
        if (!one_ladder || t_.dim_count <= outer || t_.rate_mbps[outer] == 0 ||
            t_.kind[outer] == dimension_kind::switched)
            return std::nullopt;
        const std::uint32_t rungs = t_.dims[outer];
        const bool closes = t_.kind[outer] == dimension_kind::ring;
        // Two IPUs of a rung have all of its links for themselves, others the links of a way.
        const bool one_rung = t_.ranks == 2 && t_.rung_links != 0 && rungs == 1 && t_.dim_count > outer + 1;
        const double links = one_rung ? t_.rung_links : t_.parallel_links;
        const double way = one_rung ? bytes_per_us(t_.rate_mbps[outer + 1])
                                    : bytes_per_us(t_.rate_mbps[outer]) / (t_.kind[outer] == dimension_kind::full ? 1 : 2);
        abi::command command;
        command.op = c_.op;
        command.algo = c_.algo;
        command.root = c_.gathers_by ? firmware::told_gather(*c_.gathers_by) : 0;
        double us = start() + instructions(costs::k_replica_plan + costs::k_drain);
        // A step waits for syncs, or the first of all for the readiness of its neighbours: a notice on each ring.
        const double fragment = bytes_ / replicas, hop_us = m_.hop_us[outer];
        const auto readiness = [&](bool first, double sync_us, double rings, double hops_us) {
            return first && sync_us == 0 ? latency(hops_us) + rings * instructions(costs::k_notify) : 0;
        };
        const auto inside = [&](abi::algorithm method, bool first) {
            if (replicas < 2)
                return;
            const firmware::replica_rings rings(method, firmware::order_of_phase(t_.order, replicas, false), replicas,
                                                0);
            const ladder_load load = load_of(method, replicas, rungs, closes);
            const double hops_us = m_.once_us + load.hops * (hop_us - m_.once_us);
            us += readiness(first, m_.sync_us, rings.count, hops_us);
            us +=
                phase_in_lockstep(rings.steps, rings.exchanges, load.fragments * fragment / way, hops_us, m_.sync_us,
                                  rings.count * links * chunks(fragment / rings.count / links));
        };
        const auto over_gateways = [&](bool first) {
            if (domains < 2)
                return;
            us += readiness(first, m_.gateway_sync_us, 2, m_.hop_us[0]);
            const double bytes = fragment / domains / 2; // each way
            us += phase_in_lockstep(domains - 1, domains - 1, 2 * bytes / bytes_per_us(t_.rate_mbps[0]), m_.hop_us[0],
                                    m_.gateway_sync_us, 2 * t_.parallel_links);
        };
        const bool gathers_alone = c_.op == abi::collective_op::all_gather; // else all are known to have entered
        if (!gathers_alone)
            inside(c_.algo, true), over_gateways(true);
        if (c_.op != abi::collective_op::reduce_scatter)
            over_gateways(gathers_alone), inside(firmware::gather_method(command), gathers_alone);
        return us;
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
        const double planning = costs::k_engine + costs::k_engine_end + lanes * (costs::k_channel + costs::k_plan_phase + costs::k_view);
        const double notices = rank.told.empty() ? 0 : latency(0) + static_cast<double>(rank.told.size()) * instructions(costs::k_notify);
        const double before = start() + instructions(planning) + notices;
        if (rank.tree_pieces != 0)
            return before + by_line_trees(reduces(c_.op) ? plan_of(t_, c_).tree_pieces : rank.tree_pieces);
        if (c_.op == abi::collective_op::reduce && c_.algo == abi::algorithm::mesh_tree && firmware::full_mesh(t_))
            return before + fan_in();
        if (rank.ahead_bytes != 0)
            return before + by_trees_ahead(rank.steps, static_cast<double>(plan_of(t_, c_).ahead_bytes));
        double longest = 0;
        // Of all exchanges along a dimension: lanes that go along one at once share its links.
        std::vector<double> wire_us(t_.dim_count, 0);
        for (const planned_channel& channel : rank.channels) {
            double us = 0;
            std::size_t left = to_root ? channel.passes.size() / 2 : channel.passes.size();
            each_pass(channel, [&](const planned_pass& p, std::uint32_t number) {
                if (left == 0)
                    return;
                --left;
                const double beside = p.runs.empty() ? 1 : streams[{number, dimension_of(p.runs.front().to)}];
                us += p.direct ? exchange(p, lanes) : chain(p, lanes, beside);
                if (p.direct || c_.algo == abi::algorithm::multi_axis)
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
        if (c_.algo == abi::algorithm::mesh_tree && !firmware::full_mesh(t_))
            longest += below_root(rank);
        return before + longest;
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
        return planned_us + 2 * trees * message() + pieces * std::max(wire_us, made_us) + (depth - 1) * hop_us + latency(m_.hop_us[t_.dim_count - 1]);
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
                slowest = std::min(slowest, bytes_per_us(t_.rate_mbps[d]) / (t_.dims[d] - 1));
        const double wire_us = bytes_ / trees.trees / pieces / slowest;
        const double made_us = trees.trees * (message() + instructions(costs::k_tree_run));
        return (pieces - 1) * std::max(wire_us, made_us) + (reduces(c_.op) ? 1 : 2) * made_us +
               (trees.count + 1) * (wire_us + answer() + latency(farthest() / trees.count));
    }
    /// Sums of a full mesh, one dimension after the other: each rank of a line sends all it has to one of them.
    double fan_in() const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.dims[d] > 1 && t_.rate_mbps[d] != 0)
                us += answer() + latency(m_.hop_us[d]) +
                      bytes_ * (t_.dims[d] - 1) / bytes_per_us(t_.rate_mbps[d]);
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
    double message() const { return instructions(costs::k_look + costs::k_message + costs::k_doorbell) + m_.descriptor_us + m_.access_us; }

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
            const double each_us = std::max(wire_us, lanes * (messages > 1 ? message() : woken_message()));
            last_us = answer() + busy_us + latency(hops_to(to)) + wire_us;
            us += std::max(messages * each_us, p.forwards ? last_us : 0);
        }
        // Shards that are empty here are not so elsewhere: the chain is as long for whoever waits.
        for (; steps + 1 < p.ranks; ++steps)
            us += last_us;
        return us + (p.forwards ? 0 : last_us);
    }
    /// What the links of its dimension carry in a pass. A ring that is folded onto a line uses each of its links both
    /// ways.
    void add_wire_time(const planned_pass& p, std::vector<double>& wire_us) const
    {
        for (const planned_run& run : p.runs) {
            const std::uint32_t d = dimension_of(run.to);
            if (t_.rate_mbps[d] != 0)
                wire_us[d] += bytes_of(run) / bytes_per_us(t_.rate_mbps[d]) *
                              (!p.direct && t_.kind[d] == dimension_kind::line ? 2 : 1);
        }
    }
    /// Everybody to everybody of a line.
    double exchange(const planned_pass& p, double lanes) const
    {
        if (p.runs.empty())
            return latency(m_.hop_us[t_.dim_count - 1]);
        double messages = 0, size = 0, last = 0;
        for (const planned_run& run : p.runs) {
            last = bytes_of(run);
            size += last;
            messages += run.messages;
        }
        const std::uint32_t d = dimension_of(p.runs.front().to);
        const double all = bytes_per_us(t_.rate_mbps[d]);
        const double made_us =
            messages * (instructions(costs::k_axis_run + costs::k_axis_exchange + costs::k_message + costs::k_doorbell) + m_.descriptor_us + m_.access_us);
        const double peers = std::max(1u, t_.dims[d] - 1);
        const double wire_us = all != 0 ? size / all : 0;
        const double last_us = all != 0 ? last / (all / (t_.kind[d] == dimension_kind::full ? peers : 1)) : 0;
        return std::max(lanes * made_us + last_us, wire_us) + latency(m_.hop_us[d]) + instructions(costs::k_sleep + costs::k_turn) + m_.access_us;
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
        const auto shot = [&](double messages) {
            const double core_us = messages * post(costs::k_shot_message + costs::k_shot_peer + costs::k_diagonal_peer + t_.dim_count * costs::k_diagonal_axis);
            return std::max(core_us + instructions(skipped * costs::k_direct_skip), bound_of_exchange() / share) + latency(farthest());
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
        const double halves = static_cast<double>(c_.count) > t_.ranks ? 2 : 1;
        const double messages = 2 * halves * messages_to_others(1);
        // On one path the links of a dimension are idle in one of the phases.
        const double wire_us = one_path() ? both_dimensions() : bound_of_exchange();
        return start() + barrier() +
               std::max(messages * post(costs::k_two_phase_message), wire_us / k_two_phase_share) +
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

    // --- Collective communication units ------------------------------------------------------------------------------
    /// They are large enough for its programs.
    bool units_run() const
    {
        abi::command command;
        command.op = c_.op;
        command.algo = c_.algo;
        command.type = c_.type;
        command.count = c_.count;
        return m_.units && firmware::ccu_refusal(t_, command, *m_.units).ok();
    }
    std::uint32_t channels() const { return std::min(m_.units->channels, firmware::k_ccu_channels); }
    /// An all_to_all of more ranks than channels.
    bool in_rounds() const { return c_.op == abi::collective_op::all_to_all && t_.ranks > channels() + 1; }
    /// All meet before and behind; the own block is a task, and so are those of as many ranks as there are channels.
    double units_in_rounds() const
    {
        const double rounds = 1 + std::ceil((t_.ranks - 1.0) / channels());
        return 2 * barrier() + rounds * (unit_task() + unit_round(farthest())) + unit_wire(bytes_);
    }
    /// all_to_all: a task for each dimension, with all data.
    double units_by_lines() const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
            if (t_.dims[d] < 2)
                continue;
            const double rate = bytes_per_us(t_.rate_mbps[d] != 0 ? t_.rate_mbps[d] : m_.links_bps / 1'000'000);
            us += unit_task() + 2 * m_.hop_us[d] + 2 * m_.unit_bits_us + unit_round(m_.hop_us[d]) +
                  bytes_ * (t_.dims[d] - 1) / t_.dims[d] / rate / k_unit_share;
        }
        return us;
    }
    /// A request to a unit `hop_us` away and its answer, a slice of data either way: both memories, bits here.
    double unit_round(double hop_us) const { return 2 * hop_us + 2 * m_.memory_us + m_.unit_bits_us + k_unit_slice_us; }
    /// The core launches a task on both dies and is woken.
    double unit_task() const { return start() + k_unit_accesses * m_.access_us + m_.unit_start_us + m_.wake_us; }
    /// Everybody sends everybody their part of `bytes`, by all dimensions at once.
    double unit_wire(double bytes) const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.dims[d] > 1 && t_.rate_mbps[d] != 0)
                us = std::max(us, bytes * (t_.dims[d] - 1) / t_.dims[d] / bytes_per_us(t_.rate_mbps[d]));
        return (us != 0 ? us : bytes / bytes_per_us(m_.links_bps / 1'000'000)) / k_unit_share;
    }
    /// Reductions of more ranks than one instruction takes follow each other.
    double unit_chain(double hop_us) const
    {
        return (std::ceil((t_.ranks - 1) / (abi::ccu::k_most_reduced - 1.0)) - 1) * unit_round(hop_us);
    }
    double units_flat(double shots) const
    {
        const double rounds = has_root(c_.op) ? 2 : shots;
        const double hop_us = farthest();
        const double bytes =
            has_root(c_.op) ? bytes_ * t_.ranks / (t_.ranks - 1) : bytes_; // shares of all but the root
        return unit_task() + 2 * hop_us + rounds * unit_round(hop_us) + (reduces(c_.op) ? unit_chain(hop_us) : 0) +
               shots * unit_wire(bytes);
    }
    double units_one_shot() const
    {
        const double hop_us = farthest();
        return unit_task() + 2 * hop_us + unit_round(hop_us) + unit_chain(hop_us) + unit_wire(bytes_ * t_.ranks);
    }
    /// Shards of ranks that a line exchanges lie apart: they go one after the other, or all of them slice after slice.
    double pieces_in_turn(std::size_t die, std::uint32_t dimension) const
    {
        if (c_.op == abi::collective_op::all_reduce)
            return 1;
        double inside = 1;
        for (std::uint32_t d = dimension + 1; d < t_.dim_count; ++d)
            inside *= t_.dims[d];
        const double pieces = die == 0 ? t_.ranks / (inside * t_.dims[dimension]) : inside;
        const double slices = std::ceil(bytes_ / t_.ranks / 2 / abi::ccu::k_slice_bytes);
        return std::max(1.0, std::min(pieces, slices));
    }
    /// One die begins with the innermost dimension, the other with the outermost.
    double units_by_axes() const
    {
        std::vector<std::uint32_t> order;
        for (std::uint32_t d = t_.dim_count; d-- > 0;)
            if (t_.dims[d] > 1)
                order.push_back(d);
        const double passes = c_.op == abi::collective_op::all_reduce ? 2 : 1;
        const bool spreads = has_root(
            c_.op); // all goes through every dimension, parts from the root and on to the others, or the other way
        double us = unit_task();
        double left[2] = {bytes_ / 2, bytes_ / 2};
        for (std::size_t level = 0; level < order.size(); ++level) {
            double level_us = 0;
            for (std::size_t die = 0; die < 2; ++die) {
                const std::uint32_t d = order[die == 0 ? level : order.size() - 1 - level];
                const double rate = bytes_per_us(t_.rate_mbps[d] != 0 ? t_.rate_mbps[d] : m_.links_bps / 1'000'000);
                const double share = spreads ? 1 : (t_.dims[d] - 1.0) / t_.dims[d];
                const bool meet = 2 * level + 1 == order.size(); // both dies in the same dimension
                const double wire_us = (meet ? 2 : 1) * left[die] * share / rate / k_unit_share;
                const double rounds = spreads ? 2 : pieces_in_turn(die, d);
                level_us = std::max(level_us, wire_us + rounds * unit_round(m_.hop_us[d]) + 2 * m_.hop_us[d] + 2 * m_.unit_bits_us);
                left[die] /= spreads ? 1 : t_.dims[d];
            }
            us += passes * level_us;
        }
        return us;
    }

    const abi::platform_table& t_;
    const message_costs& m_;
    const collective_case& c_;
    double bytes_;
    double chunk_;
};

} // namespace

std::optional<double> predicted_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c)
{
    return model(table, costs, c).us();
}

} // namespace weft
