// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ipu_pod/ipu_pod.h"

#include "platforms/ipu_pod/gcl_choice.h"

#include <fmt/format.h>

namespace weft {

ipu_pod_planned_routing::ipu_pod_planned_routing(const ipu_pod_config& config)
    : planned_routing(plan_ipu_pod(config.shape(), ipu_wires(config.ipu_link, config.gateway), config.swaps(), config.known_down()), config.run.routing)
{
    if (from_file())
        return;
    auto policy = std::make_shared<ipu_pod_routing>(config.shape(), plan());
    unreachable_ = policy->unreachable();
    choose(std::move(policy), config.pod.domains == 1 ? "across the rung, then along the ladder; two VLs"
                                                      : "across the rung, along the ladder, then over gateways; two VLs");
}

std::string ipu_pod_planned_routing::problem() const
{
    return unreachable_.empty() ? planned_routing::problem() : "leave a way without a link: " + unreachable_ + ".";
}

ipu_pod_machine::ipu_pod_machine(const ipu_pod_config& config, const ipu_pod_planned_routing& routing, const core_fitter& fit)
    : standing_machine(config.trains(), fit), config_(config), wires_(config.shape(), config.sync), sync_("sync", hardware_.time, wires_),
      fabric_("ipu_links", hardware_.time, hardware_.pool, routing.plan(), routing.policy(),
              fabric_config{k_ipu_vls, config.ipu_link.transit, true, true})
{
    hardware_.add(fabric_.engine());
    const ipu_shape shape = config.shape();
    dma_fabric_view view = dma_view(config.run, trains(), config.ipu_link.format(), config.ipu_link.exchange_rate);
    view.ports = k_tile_ports;
    view.vl_count = k_ipu_vls;
    chip_config chip = config.control_chip();
    chip.dma.engine.rate = chip.dma.engine.queue_rate = config.ipu_link.exchange_rate;
    for (std::uint32_t rank = 0; rank < config.ranks(); ++rank) {
        chip_options options;
        options.guests.push_back([&](weft::chip& host) -> std::unique_ptr<sc_core::sc_module> {
            auto unit = std::make_unique<sync_unit>("sync", hardware_.time, sync_, rank, *host.interrupts().front(), config.sync.register_latency);
            host.attach(unit->registers, {abi::k_sync_base, k_device_window_bytes, "SYNC"});
            return unit;
        });
        weft::chip& c = hardware_.add_chip(shape.domains == 1 ? fmt::format("ipu{}", rank) : fmt::format("d{}_ipu{}", shape.domain_of(rank), rank % shape.domain_ipus()),
                                           chip, view, config.rank_table(rank), std::move(options));
        for (std::uint32_t port = 0; port < view.ports; ++port)
            bind_local_port(c, port, fabric_.port(rank, port));
    }
    const auto fail = [&](std::uint32_t router, std::uint32_t port, duration at) {
        fabric_.engine().fail_link_at(fabric_.engine().out_link(router, port), at.value());
    };
    for (const ipu_link_fault& f : config.faults.links_down)
        if (!f.known_to_routing()) // the others are down in the plan
            fail(f.ipu, static_cast<std::uint32_t>(f.controller), f.at);
    for (const gw_link_fault& f : config.faults.gw_links_down)
        if (f.at.value() != 0)
            fail(shape.gateway(f.domain, f.slot), port_of(f.side), f.at);
    for (const machine_fault& f : config.faults.machines_down) {
        const auto is_of = [&](std::uint32_t router) {
            return router < shape.ipus() ? shape.domain_of(router) == f.domain && shape.slot_of(router) == f.slot
                                         : shape.domains > 1 && router == shape.gateway(f.domain, f.slot);
        };
        for (const plan_link& l : routing.plan().links)
            if (l.works && (is_of(l.from) || is_of(l.to)))
                fail(l.from, l.from_port, f.at);
        for (std::uint32_t ipu = 0; ipu < shape.ipus(); ++ipu)
            if (is_of(ipu))
                sync_.cut(ipu, f.at);
    }
    for (const sync_fault& f : config.faults.sync_cut)
        sync_.cut(f.ipu, f.at);
}

std::vector<std::string> ipu_pod_machine::warnings() const
{
    std::vector<std::string> all;
    const ipu_shape shape = config_.shape();
    for (const machine_fault& f : config_.faults.machines_down)
        if (hardware_.time.now_ps() >= f.at.value())
            all.push_back(fmt::format("{} went down at {}: all links of its IPUs, and their part in syncs.", shape.machine_name(f.domain * shape.machines + f.slot), to_string(f.at)));
    if (!config_.faults.sync_cut.empty() && sync_.lost() == 0)
        all.emplace_back("faults.sync_cut had no effect: nobody has arrived at a sync over these wires since.");
    if (const std::string text = full_buffers(); !text.empty())
        all.push_back(text);
    return all;
}

/// A compiler schedules exchanges so that nothing waits inside the network; buffers stand for that while they hold what
/// comes.
std::string ipu_pod_machine::full_buffers() const
{
    constexpr double k_least_share = 0.1; // of the time in which the link carries something
    const component& fabric = fabric_.engine();
    std::uint32_t worst = 0;
    wire_load most;
    for (std::uint32_t wire = 0; wire < fabric.wires(); ++wire)
        if (const wire_load load = fabric.load_of_wire(wire); fabric.wire_works(wire) && load.starved_ps > most.starved_ps) {
            worst = wire;
            most = load;
        }
    if (static_cast<double>(most.starved_ps) <= k_least_share * static_cast<double>(most.busy_ps))
        return "";
    return fmt::format("{} waited {} for room behind it, and carried packets for {}: buffers of {} (ipu_link.buffer_per_vl), which are assumed, decide the times. "
                       "Exchanges that a compiler schedules do not wait inside the network; larger buffers show what they take.",
                       fabric.wire_name(worst), rounded_text(duration(most.starved_ps)), rounded_text(duration(most.busy_ps)), to_string(config_.ipu_link.buffer_per_vl));
}

collective_case ipu_pod_machine::as_run(const collective_case& asked) const
{
    collective_case c = asked;
    if (c.ranks_per_group != 0) {
        const published_range range = gcl_choice(c.op, config_.pod.topology, c.ranks_per_group, c.size_bytes);
        c.algo = range.algorithm;
        c.gathers_by = range.gathers_by;
    } else if (const std::string groups = config_.replica_groups(); c.groups.empty() && !groups.empty())
        c.groups = {groups};
    return c;
}

std::uint64_t ipu_pod_machine::late_ps(std::uint32_t rank) const
{
    std::uint64_t ps = 0;
    for (const late_replica& l : config_.faults.late)
        ps += rank / config_.pod.replica_size == l.replica ? l.by.value() : 0;
    return ps;
}

group_layout ipu_pod_machine::groups_of(std::uint32_t ranks_per_group) const
{
    group_layout layout;
    layout.members.resize(config_.ranks() / ranks_per_group);
    for (std::uint32_t rank = 0; rank < config_.ranks(); ++rank)
        layout.members[rank / ranks_per_group].push_back(rank);
    return layout;
}

} // namespace weft
