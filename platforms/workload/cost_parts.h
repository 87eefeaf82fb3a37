// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What every prediction is made of: times of messages, hops, links and meetings of one rank. Internal to the cost
// models of algorithms (cost_model.cpp, lockstep_ring_costs.cpp, unit_costs.cpp).
#pragma once

#include "firmware/costs.h"
#include "platforms/workload/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {

constexpr double bytes_per_us(std::uint64_t mbps) { return static_cast<double>(mbps) / 8; }

/// Of one case on one rank. All times are us, all rates bytes per us.
class cost_parts {
public:
    cost_parts(const abi::platform_table& table, const message_costs& costs, const collective_case& c)
        : t_(table), m_(costs), c_(c), bytes_(static_cast<double>(c.size_bytes)),
          chunk_(c.chunk_bytes != 0 ? static_cast<double>(c.chunk_bytes) : std::numeric_limits<double>::infinity())
    {
    }

protected:
    double instructions(double n) const { return n * m_.instruction_us; }
    /// A message that is made outside the event loop.
    double post(double extra_instructions = 0) const;
    /// From a doorbell to the core of the receiver, `hops_us` away: the descriptor is fetched, data read and written,
    /// the core woken.
    double latency(double hops_us) const;
    double hops_to(std::uint32_t rank) const;
    double hops_along(std::uint32_t d, std::uint32_t coordinate) const;
    double farthest() const;
    /// The innermost dimension in which `rank` differs from this one; of broken meshes, whose numbers have no gaps,
    /// any.
    std::uint32_t dimension_of(std::uint32_t rank) const;
    /// A stream to one neighbour along dimension `d`, `streams` at once of each rank. A full mesh lends links: packets
    /// take the direct one or one relay.
    double stream_rate(std::uint32_t d, double streams) const;
    double stream_rate_of_links(std::uint32_t d, double streams) const;
    /// Where a way has several links, a stream takes one of them; infinite elsewhere.
    double one_link(std::uint32_t d) const;
    /// What a rank sends to one neighbour of a full dimension by all paths.
    double rate_with_detours(std::uint32_t d) const;
    /// Each of `streams` rings along a dimension has a link of its own, and lends none (plan_multi_ring.cpp).
    bool owns_link(std::uint32_t d, double streams) const;
    /// What steps by two_d get of the links of a torus, 1 elsewhere.
    double share_of_two_d(std::uint32_t d) const;
    /// Of a ring of all ranks: some turn along each dimension, and the slowest sets the pace of all.
    double ring_rate(double streams) const;
    /// Rings and trees of ranks go from device to device by one rank of each, which has the links of all.
    bool alone_on_device(std::uint32_t d) const;
    double links_along(std::uint32_t d) const; ///< to ranks next to this one
    double links_of_rank() const;
    /// Of those along the dimension whose links carry most of an exchange of everybody with everybody.
    double links_of_busiest_dimension() const;
    /// What a rank can send by links of no dimension, those to switches.
    double outside() const;
    /// The share of the bound that each of two shots reaches.
    double share_of_shots() const;
    /// The share of the bound that an exchange of everybody with everybody reaches.
    double share_of_exchange() const;
    /// By shortest paths, as an exchange goes: without links to switches. Groups borrow some of the links that they
    /// leave idle.
    double bound_of_exchange() const;
    /// bit/s of the links of all dimensions and of a share of the others.
    std::uint64_t links_with(double share) const;
    /// Ranks meet, as in firmware/collectives/exchange.h.
    double barrier() const;
    double start() const { return instructions(firmware::costs::k_command + firmware::costs::k_response) + 4 * m_.access_us; }
    double chunks(double bytes) const { return std::max(1.0, std::ceil(bytes / chunk_)); }

    const abi::platform_table& t_;
    const message_costs& m_;
    const collective_case& c_;
    double bytes_;
    double chunk_;
};

} // namespace weft
