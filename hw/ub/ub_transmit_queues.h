// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cells of requests in the transmit queues of one IO die, by port of its router: which port has no room for more.
// Requests to hosts have a share of their own: a checkpoint, which the NICs hold up, would else keep every message in
// memory that may go by this port among others.
#pragma once

#include "hw/routing/ub/ub_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace weft {

class ub_transmit_queues {
public:
    ub_transmit_queues() = default;
    /// A port is full with `port_cells` cells.
    ub_transmit_queues(std::size_t ports, std::uint32_t port_cells)
        : port_cells_(port_cells), queued_(ports), entered_(ports)
    {
    }
    /// There are hosts to send to.
    void tell_hosts_apart() { bulk_.resize(queued_.size()); }

    /// `lane`: of requests.
    void enter(std::uint32_t port, std::uint32_t lane, std::uint32_t cells, bool to_host)
    {
        if (!bulk_.empty())
            bulk_[port].order[lane].push_back({cells, to_host});
        count(port, cells, to_host ? cells : 0);
        entered_[port] += cells;
    }
    void leave(std::uint32_t port, std::uint32_t lane, std::uint32_t cells)
    {
        count(port, 0u - cells, bulk_.empty() ? 0 : 0u - bulk_cells_leaving(bulk_[port], lane, cells));
    }
    bool any_full() const { return full_ports_ != 0; }
    std::uint32_t full_ports() const { return full_ports_; }
    /// A bit for each of the first 64 ports, 1: full, without what goes to hosts.
    std::uint64_t full_of_first_64() const { return full_of_first_64_; }
    /// `beyond`: for a packet that has waited while others found room, twice as much. Packets that are being read go
    /// beyond a full port, too.
    bool has_room(std::uint32_t port, bool to_host, bool beyond = false) const
    {
        return (to_host ? bulk_in(port) : queued_[port] - bulk_in(port)) < (beyond ? 2 : 1) * port_cells_;
    }
    std::uint64_t entered(std::uint32_t port) const { return entered_[port]; } ///< cells that have ever come
    std::uint64_t left(std::uint32_t port) const { return entered_[port] - queued_[port]; } ///< and gone

private:
    /// What waits for one port, in the order in which it leaves; empty where nobody sends to hosts.
    struct bulk_queue {
        struct run {
            std::uint32_t cells;
            bool to_host;
        };
        std::uint32_t cells = 0; ///< to hosts
        std::array<std::deque<run>, k_ub_lanes_per_class> order;
    };

    std::uint32_t bulk_in(std::uint32_t port) const { return bulk_.empty() ? 0 : bulk_[port].cells; }
    /// So many cells, or ~cells + 1, more, `bulk_cells` of them to hosts.
    void count(std::uint32_t port, std::uint32_t cells, std::uint32_t bulk_cells)
    {
        const auto full = [&] { return queued_[port] - bulk_in(port) >= port_cells_; };
        const bool was_full = full();
        queued_[port] += cells; // unsigned: wraps back
        if (bulk_cells != 0)
            bulk_[port].cells += bulk_cells;
        if (full() == was_full)
            return;
        full_ports_ += was_full ? ~0u : 1u;
        if (port < 64)
            full_of_first_64_ ^= std::uint64_t{1} << port;
    }
    /// Of `cells` that leave first, those to hosts.
    static std::uint32_t bulk_cells_leaving(bulk_queue& queue, std::uint32_t lane, std::uint32_t cells)
    {
        std::deque<bulk_queue::run>& order = queue.order[lane];
        std::uint32_t bulk = 0;
        while (cells != 0 && !order.empty()) {
            bulk_queue::run& first = order.front();
            const std::uint32_t leave = std::min(cells, first.cells);
            bulk += first.to_host ? leave : 0;
            cells -= leave;
            first.cells -= leave;
            if (first.cells == 0)
                order.pop_front();
        }
        return bulk;
    }

    std::uint32_t port_cells_ = 0;
    std::uint32_t full_ports_ = 0; ///< without what goes to hosts
    std::uint64_t full_of_first_64_ = 0;
    std::vector<std::uint32_t> queued_;
    std::vector<std::uint64_t> entered_;
    std::vector<bulk_queue> bulk_;
};

} // namespace weft
