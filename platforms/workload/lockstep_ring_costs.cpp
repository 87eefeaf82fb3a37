// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/lockstep_ring_costs.h"

#include "firmware/collectives/replica_rings.h"
#include "platforms/workload/cost_parts.h"

#include <map>
#include <tuple>

namespace weft {

namespace {

namespace costs = firmware::costs;
using abi::dimension_kind;

class lockstep_ring_costs : cost_parts {
public:
    using cost_parts::cost_parts;

    std::optional<double> us() const
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
        command.gathers_by = c_.gathers_by ? firmware::gathered_by(*c_.gathers_by) : 0;
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

private:
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
};

} // namespace

std::optional<double> lockstep_rings_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c)
{
    return lockstep_ring_costs(table, costs, c).us();
}

} // namespace weft
