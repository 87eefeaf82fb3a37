// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/fabric_layout.h"

#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

fabric_layout::fabric_layout(const fabric_config& config) : config_(config), voq_(config.voq)
{
    if (config.vl_count == 0 || config.vl_count > 64)
        throw bug("fabric_layout", 0, "vl_count must be 1..64");
    while (1u << vl_shift_ < config.vl_count)
        ++vl_shift_;
}

// --- Build -----------------------------------------------------------------------------------------------------------

std::uint32_t fabric_layout::add_router(std::uint32_t ports, std::string name, std::optional<duration> pipeline)
{
    router_state r;
    r.first_port = static_cast<std::uint32_t>(in_links_.size());
    r.ports = ports;
    r.name = std::move(name);
    r.pipeline_ps = pipeline.value_or(config_.pipeline).value();
    routers_.push_back(std::move(r));
    in_links_.resize(in_links_.size() + ports, k_none);
    out_links_.resize(out_links_.size() + ports, k_none);
    second_zone_.resize(second_zone_.size() + ports, 0);
    return static_cast<std::uint32_t>(routers_.size() - 1);
}

void fabric_layout::set_second_zone(std::uint32_t router, std::uint32_t first_port, std::uint32_t last_port)
{
    router_state& r = routers_.at(router);
    if (first_port > last_port || last_port >= r.ports)
        throw bug(r.name, 0, "set_second_zone: no such range of ports");
    r.zoned = true;
    for (std::uint32_t port = first_port; port <= last_port; ++port)
        second_zone_[r.first_port + port] = 1;
}

void fabric_layout::set_entry_port(std::uint32_t router, std::uint32_t port)
{
    const router_state& r = routers_.at(router);
    if (port >= r.ports)
        throw bug(r.name, 0, "set_entry_port: no such port");
    entry_ports_.resize(out_links_.size(), 0);
    entry_ports_[r.first_port + port] = 1;
}

std::uint32_t fabric_layout::new_link(std::uint32_t port, const fabric_link_params& params)
{
    const auto id = static_cast<std::uint32_t>(links_.size());
    link_state l;
    l.rate = wire_rate(params.rate);
    l.latency_ps = static_cast<std::uint32_t>(params.propagation.value());
    l.from_port = static_cast<std::uint16_t>(port);
    links_.push_back(l);
    link_cold c;
    c.depth_cells = params.depth_cells;
    c.rate = params.rate;
    cold_.push_back(c);
    queue_state q;
    q.return_ps = static_cast<std::uint32_t>(params.propagation.value());
    queues_.resize(queues_.size() + config_.vl_count, q);
    buffers_.resize(voq_ ? 0 : queues_.size());
    return id;
}

std::uint32_t fabric_layout::add_link(std::uint32_t from_router, std::uint32_t from_port, std::uint32_t to_router,
                                      std::uint32_t to_port, const fabric_link_params& params)
{
    const std::uint32_t id = new_link(from_port, params);
    std::uint32_t& out = out_links_.at(routers_.at(from_router).first_port + from_port);
    std::uint32_t& in = in_links_.at(routers_.at(to_router).first_port + to_port);
    if (out != k_none || in != k_none)
        throw bug("fabric_layout", 0,
                  "a port is wired twice: " + routers_[from_router].name + " to " + routers_[to_router].name);
    out = in = id;
    router_links_.push_back(id);
    links_[id].router = from_router;
    links_[id].to_router = to_router;
    links_[id].to_port = static_cast<std::uint16_t>(to_port);
    links_[id].latency_ps += static_cast<std::uint32_t>(routers_[to_router].pipeline_ps);
    // The receiver advertises its buffer: here both ends are ours.
    for (std::uint32_t vl = 0; vl < config_.vl_count; ++vl)
        queues_[queue_of(id, vl)].credits.give(credits_under_way_, 0, 0, params.depth_cells);
    return id;
}

std::uint32_t fabric_layout::add_edge_output(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                             fabric_edge_if& edge)
{
    const std::uint32_t id = new_link(port, params);
    edge_links_.push_back(id);
    out_links_.at(routers_.at(router).first_port + port) = id;
    links_[id].router = router;
    links_[id].to_edge = true;
    links_[id].edge = &edge;
    return id;
}

std::uint32_t fabric_layout::add_edge_input(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                            fabric_edge_if& edge)
{
    const std::uint32_t id = new_link(port, params);
    edge_links_.push_back(id);
    in_links_.at(routers_.at(router).first_port + port) = id;
    links_[id].to_router = router;
    links_[id].to_port = static_cast<std::uint16_t>(port);
    links_[id].from_edge = true;
    links_[id].edge = &edge;
    links_[id].latency_ps = static_cast<std::uint32_t>(routers_[router].pipeline_ps); // the wire is the sender's
    return id;
}

void fabric_layout::lay_out()
{
    entry_ports_.resize(entry_ports_.empty() ? 0 : out_links_.size(), 0);
    out_ports_.resize(out_links_.size());
    std::uint32_t voqs = 0;
    for (router_state& r : routers_) {
        r.first_voq = voqs;
        voqs += voq_ ? r.ports * r.ports << vl_shift_ : 0;
    }
    voqs_.resize(voqs);
    bool any_zones = false;
    for (std::uint32_t id = 0; id < link_count(); ++id) {
        if (links_[id].router != k_none)
            lay_out_output(id);
        if (links_[id].to_router != k_none)
            lay_out_input(id);
        any_zones = any_zones || links_[id].zone != 0;
    }
    if ((any_zones || config_.table_lookup.value() > 0) && !voq_)
        last_head_ps_.resize(queues_.size(), 0);
}

void fabric_layout::lay_out_output(std::uint32_t link)
{
    link_state& l = links_[link];
    const router_state& r = routers_[l.router];
    const std::uint32_t port = l.from_port;
    out_port& out = out_ports_[r.first_port + port];
    out = {l.rate, link};
    l.voq_base = r.first_voq + port * (r.ports << vl_shift_);
    l.ports = static_cast<std::uint16_t>(r.ports);
    bool may_run_dry = !config_.cut_through;
    for (std::uint32_t from = 0; from < r.ports; ++from) {
        const std::uint32_t in = in_links_[r.first_port + from];
        may_run_dry = may_run_dry || (in != k_none && cold_[in].rate < cold_[link].rate);
    }
    if (may_run_dry)
        out.link |= out_port::k_slow_start;
    if (second_zone_[r.first_port + port] != 0)
        out.link |= out_port::k_second_zone;
}

void fabric_layout::lay_out_input(std::uint32_t link)
{
    link_state& l = links_[link];
    const router_state& r = routers_[l.to_router];
    l.to_first_port = r.first_port;
    l.to_first_voq = r.first_voq;
    l.to_ports = static_cast<std::uint16_t>(r.ports);
    for (std::uint32_t vl = 0; vl < config_.vl_count; ++vl) {
        queue_state& q = queues_[queue_of(link, vl)];
        q.waiter_bit = static_cast<std::uint16_t>(l.to_port << vl_shift_ | vl);
        q.from_edge = l.from_edge;
    }
    if (r.zoned && config_.zone_crossing.value() > 0)
        l.zone = (1u + second_zone_[r.first_port + l.to_port]) & 3u; // 1 or 2
}

// --- Look ------------------------------------------------------------------------------------------------------------

std::uint32_t fabric_layout::out_link(std::uint32_t router, std::uint32_t port) const
{
    return out_links_.at(routers_.at(router).first_port + port);
}

std::string fabric_layout::port_name(std::uint32_t router, std::uint32_t port) const
{
    if (port_namer_ != nullptr)
        if (std::string name = port_namer_->port_name(router, port); !name.empty())
            return name;
    return port < port_names_.size() ? port_names_[port] : fmt::format("port{}", port);
}

std::string fabric_layout::link_name(std::uint32_t link) const
{
    const link_state& l = links_.at(link);
    if (l.from_edge)
        return fmt::format("{}.{}.in", routers_[l.to_router].name, port_name(l.to_router, l.to_port));
    return fmt::format("{}.{}", routers_[l.router].name, port_name(l.router, links_[link].from_port));
}

std::string fabric_layout::far_end_name(std::uint32_t link) const
{
    const std::uint32_t to = links_.at(link).to_router;
    return to == k_none ? "" : routers_[to].name;
}

std::string fabric_layout::audit_credits(const std::vector<std::uint64_t>& held) const
{
    for (const std::uint32_t link : router_links_)
        for (std::uint32_t vl = 0; vl < config_.vl_count; ++vl) {
            const std::uint32_t queue = queue_of(link, vl);
            const std::uint32_t available = queues_[queue].credits.available();
            const std::uint32_t returning = queues_[queue].credits.under_way(credits_under_way_);
            if (available + returning + held[queue] != cold_[link].depth_cells)
                return fmt::format("{} VL {}: {} available + {} returning + {} in flight or buffered != depth {}",
                                   link_name(link), vl, available, returning, held[queue], cold_[link].depth_cells);
        }
    return "";
}

std::uint64_t fabric_layout::layout_bytes() const
{
    const auto bytes = [](const auto&... all) { return (std::uint64_t{0} + ... + (all.capacity() * sizeof(all[0]))); };
    return bytes(links_, queues_, buffers_, voqs_, in_links_, out_links_, out_ports_, routers_, cold_, last_head_ps_, second_zone_,
                 entry_ports_);
}

} // namespace weft
