// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A fabric engine before time zero: routers, links, edges, the layout of its arbitration state.
#include "hw/fabric/fabric_engine.h"

namespace weft {

fabric_engine::fabric_engine(timeline& time, packet_pool& pool, const routing_policy& policy,
                             const fabric_config& config)
    : time_(time), pool_(pool), policy_(policy), config_(config), voq_(config.voq)
{
    if (config.vl_count == 0 || config.vl_count > 64)
        throw bug("fabric_engine", 0, "vl_count must be 1..64");
    time.components().add(*this);
    time.take_hints(*this, *this);
    list_stats();
    while (1u << vl_shift_ < config.vl_count)
        ++vl_shift_;
}

std::uint32_t fabric_engine::add_router(std::uint32_t ports, std::string name, std::optional<duration> pipeline)
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

void fabric_engine::set_second_zone(std::uint32_t router, std::uint32_t first_port, std::uint32_t last_port)
{
    router_state& r = routers_.at(router);
    if (first_port > last_port || last_port >= r.ports)
        throw bug(r.name, 0, "set_second_zone: no such range of ports");
    r.zoned = true;
    for (std::uint32_t port = first_port; port <= last_port; ++port)
        second_zone_[r.first_port + port] = 1;
}

std::uint32_t fabric_engine::new_link(std::uint32_t port, const fabric_link_params& params)
{
    const auto id = static_cast<std::uint32_t>(links_.size());
    link_state l;
    l.rate = wire_rate(params.rate);
    l.latency_ps = static_cast<std::uint32_t>(params.propagation.value());
    links_.push_back(l);
    link_cold c;
    c.depth_cells = params.depth_cells;
    c.from_port = static_cast<std::uint16_t>(port);
    c.rate = params.rate;
    cold_.push_back(c);
    queue_state q;
    q.return_ps = static_cast<std::uint32_t>(params.propagation.value());
    queues_.resize(queues_.size() + config_.vl_count, q);
    buffers_.resize(voq_ ? 0 : queues_.size());
    return id;
}

std::uint32_t fabric_engine::add_link(std::uint32_t from_router, std::uint32_t from_port, std::uint32_t to_router,
                                      std::uint32_t to_port, const fabric_link_params& params)
{
    const std::uint32_t id = new_link(from_port, params);
    std::uint32_t& out = out_links_.at(routers_.at(from_router).first_port + from_port);
    std::uint32_t& in = in_links_.at(routers_.at(to_router).first_port + to_port);
    if (out != k_none || in != k_none)
        throw bug("fabric_engine", 0,
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

std::uint32_t fabric_engine::add_edge_output(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                             fabric_edge_if& edge)
{
    const std::uint32_t id = new_link(port, params);
    out_links_.at(routers_.at(router).first_port + port) = id;
    links_[id].router = router;
    links_[id].to_edge = true;
    links_[id].edge = &edge;
    return id;
}

std::uint32_t fabric_engine::add_edge_input(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                            fabric_edge_if& edge)
{
    const std::uint32_t id = new_link(port, params);
    in_links_.at(routers_.at(router).first_port + port) = id;
    links_[id].to_router = router;
    links_[id].to_port = static_cast<std::uint16_t>(port);
    links_[id].from_edge = true;
    links_[id].edge = &edge;
    links_[id].latency_ps = static_cast<std::uint32_t>(routers_[router].pipeline_ps); // the wire is the sender's
    return id;
}

void fabric_engine::set_link_layer(std::uint32_t link, const link_layer_params& params, link_error_script* script)
{
    link_state& l = links_.at(link);
    link_cold& cold = cold_[link];
    if (l.from_edge || cold.layer != k_none)
        throw bug("fabric_engine", 0, link_name(link) + ": cannot have a link layer, or has one already");
    if (params.bit_error_rate == 0 && params.retry_buffer_cells == 0 && script == nullptr)
        return; // it would never do anything
    cold.layer = static_cast<std::uint32_t>(layers_.size());
    layers_.emplace_back(params, link, duration(queues_[queue_of(link, 0)].return_ps));
    layers_.back().set_script(script);
    l.special = static_cast<std::uint8_t>(l.special | k_layer | (params.retry_buffer_cells != 0 ? k_retry_buffer : 0));
}

void fabric_engine::set_entry_port(std::uint32_t router, std::uint32_t port)
{
    const router_state& r = routers_.at(router);
    if (port >= r.ports)
        throw bug(r.name, 0, "set_entry_port: no such port");
    entry_ports_.resize(out_links_.size(), 0);
    entry_ports_[r.first_port + port] = 1;
}

void fabric_engine::finish_build()
{
    entry_ports_.resize(entry_ports_.empty() ? 0 : out_links_.size(), 0);
    actor_base_ = time_.register_actors(link_count());
    out_ports_.resize(out_links_.size());
    std::uint32_t voqs = 0;
    for (router_state& r : routers_) {
        r.first_voq = voqs;
        voqs += voq_ ? r.ports * r.ports << vl_shift_ : 0;
    }
    voqs_.resize(voqs);
    for (std::uint32_t id = 0; id < link_count(); ++id) {
        link_state& l = links_[id];
        if (l.router == k_none)
            continue;
        const router_state& r = routers_[l.router];
        out_port& out = out_ports_[r.first_port + cold_[id].from_port];
        out = {l.rate, id};
        l.waiter_base = static_cast<std::uint32_t>(waiters_.size());
        const std::uint32_t bits = r.ports << vl_shift_;
        l.waiter_words = static_cast<std::uint16_t>((bits + 63) / 64);
        waiters_.resize(waiters_.size() + l.waiter_words, 0);
        l.voq_base = r.first_voq + cold_[id].from_port * bits;
        l.ports = static_cast<std::uint16_t>(r.ports);
        for (std::uint32_t bit = 0; !entry_ports_.empty() && bit < bits; ++bit) {
            entries_.resize(waiters_.size(), 0);
            if (entry_ports_[r.first_port + port_of_bit(bit)] == 0)
                continue;
            entries_[l.waiter_base + (bit >> 6)] |= std::uint64_t{1} << (bit & 63);
            l.has_entries = true;
        }
        bool may_run_dry = !config_.cut_through;
        for (std::uint32_t port = 0; port < r.ports; ++port) {
            const std::uint32_t in = in_links_[r.first_port + port];
            may_run_dry = may_run_dry || (in != k_none && cold_[in].rate < cold_[id].rate);
        }
        if (may_run_dry)
            out.link |= k_slow_start;
        if (second_zone_[r.first_port + cold_[id].from_port] != 0)
            out.link |= k_second_zone;
    }
    bool any_zones = false;
    for (std::uint32_t id = 0; id < link_count(); ++id) {
        link_state& l = links_[id];
        if (l.to_router == k_none)
            continue;
        const router_state& r = routers_[l.to_router];
        l.to_first_port = r.first_port;
        l.to_first_voq = r.first_voq;
        l.to_ports = static_cast<std::uint16_t>(r.ports);
        for (std::uint32_t vl = 0; vl < config_.vl_count; ++vl) {
            queue_state& q = queues_[queue_of(id, vl)];
            q.waiter_bit = static_cast<std::uint16_t>(l.to_port << vl_shift_ | vl);
            q.from_edge = l.from_edge;
        }
        if (r.zoned && config_.zone_crossing.value() > 0)
            l.zone = static_cast<std::uint8_t>(1 + second_zone_[r.first_port + l.to_port]);
        any_zones = any_zones || l.zone != 0;
    }
    if (any_zones && !voq_)
        last_head_ps_.resize(queues_.size(), 0);
}

std::uint32_t fabric_engine::out_link(std::uint32_t router, std::uint32_t port) const
{
    return out_links_.at(routers_.at(router).first_port + port);
}

} // namespace weft
