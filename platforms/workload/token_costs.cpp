// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/token_costs.h"

#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/token_exchange.h"
#include "firmware/collectives/token_lines.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/cost_parts.h"
#include "platforms/workload/token_lists.h"

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

namespace costs = firmware::costs;

// Blocks are not equally long, so links are not loaded alike: shares of their rates that are reached. Calibrated with
// tokens to 8 ranks. On full meshes by a rack of 8x8 NPUs and 24 MiB, to each rank and by leaders.
constexpr double k_full_to_each = 0.72, k_full_by_leaders = 0.97;
// Where all are linked to each other, blocks go by their own links alone. A board of 8 NPUs, 6 MiB.
constexpr double k_one_line_to_each = 0.97;
// By leaders elsewhere, by 8x8 chips and 2 MiB (dispatch 0.72, combine 0.99) and 16 IPUs and 1 MiB (0.64, 0.84).
constexpr double k_share_of_dispatch = 0.68, k_share_of_combine = 0.9;
// With all choices in the first quarter of the ranks, their links take so much longer. Calibrated: a dispatch of 16 MiB
// to 4 ranks on 4x4 NPUs.
constexpr double k_skew_to_each = 0.75, k_skew_by_leaders = 1.2;

class token_model : cost_parts {
public:
    token_model(const abi::platform_table& table, const message_costs& m, const collective_case& c)
        : cost_parts(table, m, c), line_(firmware::token_line(table)), made_(messages_of_tokens(c, table.ranks, line_)),
          experts_(experts_of(c, table.ranks)), dispatches_(c.op == abi::collective_op::dispatch)
    {
    }

    double us() const
    {
        const double scan = t_.ranks * instructions(costs::k_token_list);
        // Heads, runs and places of lists, each from everybody to everybody.
        const double lists = dispatches_ ? (line_ > 1 ? 3 : 2) * to_all() + 2 * latency(farthest()) + scan : scan;
        const double found = c_.algo == abi::algorithm::hierarchical ? by_leaders() : to_each();
        const auto bound = bound_of_tokens(t_.members == 0 ? &t_ : nullptr, t_.ranks, m_.links_bps, m_.memory_bps, c_);
        return std::max(start() + instructions(costs::k_token_table) + barrier() + lists + found, bound ? bound->us : 0);
    }

private:
    /// A few bytes from a rank to all.
    double to_all() const
    {
        const bool by_ports = firmware::full_mesh(t_) && t_.members == 0;
        return by_ports ? std::max<std::uint32_t>(1, t_.dma_ports) * post() : t_.ranks * post(costs::k_direct_peer);
    }
    /// What links take when every rank sends `bytes` to all alike: of all dimensions, of the innermost one alone, or of
    /// the others.
    enum class which { all, inner, outer };
    double wire(double bytes, which dimensions) const
    {
        abi::platform_table part = t_;
        std::uint32_t innermost = t_.dim_count;
        while (innermost > 0 && t_.dims[innermost - 1] == 1)
            --innermost;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (dimensions != which::all && (d + 1 == innermost) != (dimensions == which::inner))
                part.dims[d] = 1;
        if (dimensions != which::all) { // broken meshes have fewer
            part.ranks = 1;
            for (std::uint32_t d = 0; d < t_.dim_count; ++d)
                part.ranks *= part.dims[d];
        }
        const auto op = abi::collective_op::all_to_all;
        const auto size = static_cast<std::uint64_t>(bytes);
        auto bound = bound_of(part, 0, m_.memory_bps, op, size);
        if (!bound)
            bound = bound_of_group(t_.ranks, m_.links_bps, m_.memory_bps, op, size);
        return bound ? bound->us : 0;
    }
    /// Messages of a rank: `few` and those of long blocks.
    double made(double few, double bytes) const
    {
        const double messages = few + bytes / static_cast<double>(std::max(firmware::token_exchange::k_message_bytes, c_.token_bytes));
        return messages * post(costs::k_token_send) + t_.ranks * instructions(costs::k_token_list + costs::k_token_peer);
    }
    double runs() const { return made_.runs * instructions(costs::k_token_run); }
    /// Of what a rank sends, tokens that others lead.
    double followers() const { return experts_ > 0 ? 1 - made_.lines / experts_ : 0; }
    double to_each() const
    {
        const double share = firmware::one_full_line(t_) ? k_one_line_to_each : firmware::full_mesh(t_) ? k_full_to_each : share_of_exchange();
        const double wire_us = wire(bytes_ * experts_, which::all) / share * (1 + k_skew_to_each * c_.expert_skew), rest = followers();
        const double led_us = made(made_.leads, bytes_ * made_.lines), spans_us = made(made_.spans, 0) + runs();
        if (dispatches_)
            return std::max(led_us + spans_us, wire_us) + latency(farthest());
        // Sums are made when all have met again.
        const double again = line_ == 1 ? 0 : barrier() + std::max(spans_us, wire_us * rest) + latency(farthest());
        return std::max(led_us, wire_us * (1 - rest)) + latency(farthest()) + again;
    }
    double by_leaders() const
    {
        const double reads = std::ceil(t_.ranks / static_cast<double>(firmware::token_exchange::k_row_words)) * line_;
        const double rows = line_ * post() + latency(farthest()) + reads * (instructions(costs::k_token_row) + m_.access_us + m_.memory_us);
        const double across_us = wire(bytes_ * made_.lines, which::outer), inside_us = wire(bytes_ * experts_, which::inner);
        const double share = firmware::full_mesh(t_) ? k_full_by_leaders : dispatches_ ? k_share_of_dispatch : k_share_of_combine;
        // What is passed on comes second, or first.
        const double wire_us = std::max(across_us, inside_us) + followers() * std::min(across_us, inside_us);
        const double led_us = 2 * made(made_.leads, bytes_ * made_.lines / 2);
        const double spans_us = made(made_.spans, 0) + runs() + made_.spans * instructions(costs::k_token_member);
        // What is shared is passed on when all of it has come, or comes when all has been added.
        const double shared_us = std::max(across_us, inside_us) * made_.shared;
        const double slowed = 1 + k_skew_by_leaders * c_.expert_skew;
        return rows + std::max(std::max(led_us, shared_us) + spans_us, wire_us / share * slowed) + 2 * latency(farthest());
    }

    std::uint32_t line_;
    token_messages made_;
    double experts_;
    bool dispatches_;
};

} // namespace

double tokens_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c)
{
    return token_model(table, costs, c).us();
}

} // namespace weft
