// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_link.h"

#include "hw/ub/ub_transport.h"

#include <algorithm>

namespace weft {

duration ub_pipeline(const ub_config& config, ub_device device)
{
    switch (device) {
    case ub_device::npu: return config.npu_latency;
    case ub_device::cpu: return config.cpu_latency;
    case ub_device::nic: return config.nic_latency;
    case ub_device::lrs: return config.lrs_latency;
    case ub_device::hrs: return config.hrs_latency;
    }
    return {};
}

link_layer_params ub_retry(const ub_config& config, std::uint32_t lanes)
{
    const wire_rate rate(config.link_rate(lanes));
    link_layer_params p;
    p.bit_error_rate = config.bit_error_rate;
    p.seed = config.error_seed;
    p.flit_bytes = static_cast<std::uint32_t>(config.flit.value());
    p.block_flits = config.block_flits;
    p.request = duration(rate.time_ps(33 * config.flit.value()));
    p.acknowledge = duration(rate.time_ps(2 * config.flit.value())); // a control block of 40 B
    p.retries = config.retries;
    p.reinits = config.reinitialisations;
    p.reinit = config.reinitialisation_time;
    return p;
}

std::uint64_t ub_round_trip_ps(const ub_config& config, std::uint32_t lanes, duration propagation, ub_device into)
{
    const packet_format format = config.format();
    // The wire twice; a turn between dies is the longest way through the device.
    const std::uint64_t crossing = into == ub_device::npu ? config.die_crossing.value() : 0;
    return 2 * ub_wire(config, propagation).value() + ub_pipeline(config, into).value() + crossing +
           wire_rate(config.link_rate(lanes)).time_ps(format.wire_bytes(format.max_payload_bytes));
}

std::uint32_t ub_depth_cells(const ub_config& config, std::uint32_t lanes, duration propagation, ub_device into)
{
    const packet_format format = config.format();
    const std::uint64_t payload = format.max_payload_bytes;
    const std::uint64_t cells = format.cells(payload);
    std::uint64_t depth = std::max(config.buffer_per_vl.value() / config.cell_bytes(), cells);
    if (config.buffers_cover_round_trip) {
        const std::uint64_t one = wire_rate(config.link_rate(lanes)).time_ps(format.wire_bytes(payload));
        const std::uint64_t round_trip = ub_round_trip_ps(config, lanes, propagation, into);
        depth = std::max(depth, ((round_trip + one - 1) / one + 1) * cells);
    }
    return static_cast<std::uint32_t>(depth);
}

double ub_reachable_share(const ub_config& config, std::uint32_t lanes, duration propagation, ub_device into)
{
    const packet_format format = config.format();
    const std::uint64_t payload = format.max_payload_bytes;
    const std::uint64_t fit = ub_depth_cells(config, lanes, propagation, into) / format.cells(payload);
    const std::uint64_t one_ps = wire_rate(config.link_rate(lanes)).time_ps(format.wire_bytes(payload));
    ub_config straight = config; // not all packets turn between dies: what follows is a bound
    straight.die_crossing = duration(0);
    const double share =
        static_cast<double>(fit * one_ps) / static_cast<double>(ub_round_trip_ps(straight, lanes, propagation, into));
    return std::min(share, 1.0);
}

std::vector<ub_hop> ub_hops(const ub_plan& plan, const std::vector<std::uint32_t>& links, std::uint32_t first_die)
{
    std::vector<ub_hop> hops;
    std::uint32_t die = first_die;
    for (const std::uint32_t index : links) {
        const ub_link_plan& l = plan.links.at(index);
        ub_hop h;
        h.lanes = l.lanes;
        h.propagation = l.propagation;
        h.into = plan.routers.at(l.to).device;
        h.crosses = die != (l.from_port >= plan.routers.at(l.from).second_die_from ? 1u : 0u);
        hops.push_back(h);
        die = l.to_port >= plan.routers.at(l.to).second_die_from ? 1u : 0u;
    }
    return hops;
}

std::vector<ub_hop> ub_hops(const ub_plan& plan, const ub_path& path, std::uint32_t first_die)
{
    std::vector<ub_hop> hops = ub_hops(plan, path.links, first_die);
    abi::ub::source_route header = path.route;
    for (ub_hop& h : hops) {
        h.looked_up = !header.here();
        header = header.advanced();
    }
    return hops;
}

std::uint64_t ub_zero_load_ps(const ub_config& config, ub_device source, const std::vector<ub_hop>& hops,
                              std::uint64_t payload_bytes)
{
    const std::uint64_t bytes = config.format().wire_bytes(payload_bytes);
    const std::uint64_t local = wire_rate(config.local_port_rate).time_ps(bytes);
    std::uint64_t head = ub_pipeline(config, source).value();
    std::uint64_t tail = head + local;
    // A wire starts when the head is there, or later if it would run dry before the tail is.
    const auto send = [&](std::uint64_t on_wire, std::uint64_t until_next_arbitration) {
        const std::uint64_t start = std::max(head, tail - std::min(tail, on_wire));
        head = start + until_next_arbitration;
        tail = head + on_wire;
    };
    for (const ub_hop& h : hops) {
        if (h.crosses) {
            head += config.die_crossing.value();
            tail += config.die_crossing.value();
        }
        if (h.looked_up) {
            head += config.table_lookup.value();
            tail += config.table_lookup.value();
        }
        send(wire_rate(config.link_rate(h.lanes)).time_ps(bytes),
             ub_wire(config, h.propagation).value() + ub_pipeline(config, h.into).value());
    }
    send(local, 0);
    return tail;
}

std::uint64_t ub_way_ps(const ub_config& config, const ub_plan& plan, const std::vector<std::uint32_t>& links)
{
    std::uint64_t ps = 0;
    const ub_link_plan* before = nullptr;
    for (const std::uint32_t index : links) {
        const ub_link_plan& l = plan.links.at(index);
        const ub_router_plan& from = plan.routers.at(l.from);
        if (before != nullptr && (before->to_port >= from.second_die_from) != (l.from_port >= from.second_die_from))
            ps += config.die_crossing.value();
        ps += ub_wire(config, l.propagation).value() + ub_pipeline(config, plan.routers.at(l.to).device).value();
        before = &l;
    }
    return ps;
}

std::uint64_t ub_zero_load_round_trip_ps(const ub_config& config, const std::vector<ub_hop>& hops)
{
    return ub_zero_load_ps(config, ub_device::npu, hops, config.max_payload.value()) +
           ub_zero_load_ps(config, ub_device::npu, {hops.rbegin(), hops.rend()}, k_rtp_ack_payload_bytes);
}

} // namespace weft
