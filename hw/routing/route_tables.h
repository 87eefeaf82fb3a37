// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A user's own routing: for every router and destination the port by which a packet goes on and the VL of the buffer
// behind it. One line of text an entry; words stand between blanks, # begins a comment:
//
//   router     destination  port  VL
//   chip(0,0)  chip(0,1)    +X    0
//   chip(0,0)  *            +Y    0      all other destinations that have no line of their own here
//
// Names are those of `weft check`; a number stands for the endpoint of that number, or the port. What the
// tables say is proved free of deadlock, like every other routing, before time zero.
#pragma once

#include "hw/routing/channel_dependency.h"
#include "hw/routing/fabric_plan.h"
#include "hw/routing/routing_policy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class route_tables {
public:
    static constexpr std::uint16_t k_no_port = 0xffff;
    struct entry {
        std::uint16_t port = k_no_port;
        std::uint8_t vl = 0;
    };
    route_tables(std::size_t routers, std::size_t destinations)
        : destinations_(destinations), entries_(routers * destinations)
    {
    }
    entry& at(std::uint32_t router, std::uint32_t destination)
    {
        return entries_[router * destinations_ + destination];
    }
    const entry& at(std::uint32_t router, std::uint32_t destination) const
    {
        return entries_[router * destinations_ + destination];
    }

private:
    std::size_t destinations_;
    std::vector<entry> entries_;
};

/// What is wrong with a line, as a sentence.
struct route_tables_problem {
    std::size_t line = 0, column = 0; ///< from 1
    std::string message;
};

/// Adds a problem for each line that cannot be used: unknown names, a port where no link works, a VL that the link has
/// not, an entry that comes twice.
route_tables read_route_tables(const std::string& text, const fabric_plan& plan,
                               std::vector<route_tables_problem>& problems);

/// The same form, of a routing that goes by destination alone; "" for one that also goes by where a packet comes from,
/// as datelines and detours do.
std::string text_of_route_tables(const fabric_plan& plan, const route_function& route);

class table_routing final : public routing_policy {
public:
    table_routing(const fabric_plan& plan, route_tables tables);
    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        const end& e = ends_[p.destination];
        const route_tables::entry& next = tables_.at(router, p.destination);
        // What an endpoint sends to itself takes a way only where the tables have one, and ends when it is back.
        const bool sets_out = in_port - e.first_port < e.ports && next.port != route_tables::k_no_port;
        if (e.router == router && !sets_out)
            return {static_cast<std::uint16_t>(e.first_port + p.destination_port), 0};
        return {next.port, next.vl};
    }
    const route_tables& tables() const { return tables_; }

private:
    struct end {
        std::uint32_t router, first_port, ports;
    };
    std::vector<end> ends_; ///< of each endpoint
    route_tables tables_;
};

} // namespace weft
