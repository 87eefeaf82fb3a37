// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long trains may be on a UB-Mesh machine: its buffers as a stream meets them, and where no bound is known.
#include "hw/ub/ub_link.h"
#include "platforms/machine/machine_checks.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace weft {

namespace {

/// Beyond it single packets of a board of 8 NPUs took up to 1.9 times as long as trains: entries that are 512
/// transmissions older go before relays (hw/fabric/fabric_engine.cpp), and relays fill the links' buffers. Measured:
/// 7.3 times is within 0.1 %, 8.8 and 10 times are 37 and 12 % off.
constexpr std::uint64_t k_queue_to_buffer = 6;

} // namespace

train_choice ub_mesh_config::trains() const
{
    const packet_format format = ub.format();
    const std::uint64_t wire_bytes = format.wire_bytes_of_one(format.max_payload_bytes);
    const std::uint64_t local_ps = wire_rate(ub.local_port_rate).time_ps(wire_bytes);
    const std::uint64_t cells = format.cells_of_one(format.max_payload_bytes);
    const std::string buffer = fmt::format("ub.buffer_per_vl = {}", to_string(ub.buffer_per_vl));
    // The packets of a train that is spread go on as many paths as there are over the other NPUs of a board, or of a
    // column.
    const bool spread = ub.paths != ub_path_use::shortest && ub.spreading == ub_spreading::packet && ub.choice == ub_choice::weighted;
    const auto paths_in = [&](std::uint32_t side) { return spread && side > 2 ? side - 1 : 1; };
    const std::uint32_t paths = mesh.npus == 1     ? paths_in(mesh.boards)
                                : mesh.boards == 1 ? paths_in(mesh.npus)
                                                   : std::min(paths_in(mesh.npus), paths_in(mesh.boards));
    // What a die has to its board or to its column; the backplane is not counted.
    const std::uint32_t die_lanes = std::max(mesh.x_lanes * (mesh.npus - 1), mesh.y_lanes * (mesh.boards - 1));
    const std::uint32_t lanes = mesh.x_lanes * (mesh.npus - 1) + mesh.y_lanes * (mesh.boards - 1);
    const bandwidth links(std::min(ub.link_rate(1).value() * lanes, 2 * ub.local_port_rate.value()));
    train_limits limits;
    limits.packet_payload = static_cast<std::uint32_t>(format.max_payload_bytes);
    limits.sides = {mesh.pods, mesh.rack_rows, mesh.rack_cols, mesh.boards, mesh.npus};
    limits.packet_ps = wire_rate(ub.link_rate(std::max(mesh.x_lanes, mesh.y_lanes))).time_ps(wire_bytes);
    limits.message_ps = message_ps_of(npu.chip());
    limits.gaps = !faults.npus.empty(); // a spare NPU, too, is reached by ways of its own
    limits.hops = dma_hops(npu.dma, npu.hbm, format, local_ps, links, paths, "npu", "npu.hbm");
    std::set<std::tuple<std::uint32_t, std::uint64_t, ub_device>> kinds; // of links
    std::uint64_t shallowest = ~std::uint64_t{0};                        // buffer, in packets
    const ub_topology topology(mesh, cables);
    for (const ub_link_plan& l : topology.plan().links) {
        const ub_device into = topology.plan().routers[l.to].device;
        if (!kinds.insert({l.lanes, l.propagation.value(), into}).second)
            continue;
        const std::uint64_t link_ps = wire_rate(ub.link_rate(l.lanes)).time_ps(wire_bytes);
        const std::uint64_t depth = ub_depth_cells(ub, l.lanes, l.propagation, into) / cells;
        shallowest = std::min(shallowest, depth);
        limits.hops.push_back({buffer, depth, link_ps, link_ps, 8, 8, paths,
                               ub_round_trip_ps(ub, l.lanes, l.propagation, into)});
    }
    const std::uint32_t of_a_port = ub.transmit_queue / ub_config::ports_of_controller(ub_topology::k_npu_lanes / 4, 2);
    limits.hops.push_back(
        {fmt::format("ub.transmit_queue = {} for nine ports", ub.transmit_queue), of_a_port, local_ps, local_ps, 16, 16, paths, 0});
    limits.hops.push_back(longest_on_a_wire(std::max(wire_rate(ub.link_rate(1)).time_ps(wire_bytes), local_ps), wire_bytes));
    limits.single = ub.transport == ub_transport::rtp ? "ub.transport: rtp numbers and repeats single packets"
                    : has_bit_errors()                ? "links with bit errors repeat single packets"
                    : npu.hbm.load > 0                ? "npu.hbm.load: accesses of compute units come between packets"
                                                      : memory_sets_the_pace(npu.hbm.rate, links, "npu.hbm.rate");
    const bool links_change = std::any_of(faults.links.begin(), faults.links.end(),
                                          [](const ub_link_fault_config& f) { return f.lanes || f.at.value() != 0; });
    if (std::string why = no_train_bound(run); !why.empty())
        limits.no_bound = std::move(why);
    else if (ub.paths != ub_path_use::shortest && ub.choice == ub_choice::adaptive)
        limits.no_bound = "ub.choice: adaptive goes by the queues at the time of each packet";
    else if (ub.spreading == ub_spreading::flow)
        limits.no_bound = "ub.spreading: flow, where some links carry several flows";
    else if (!ub.voq)
        limits.no_bound = "ub.voq: false, where one packet holds up those behind it";
    else if (links_change)
        limits.no_bound = "faults.links: a link gets slower, or goes down in mid-run";
    else if (!faults.devices.empty() && (spread || !faults.only_from_the_start()))
        limits.no_bound = "faults.devices: a device goes down in mid-run, or packets that are spread share unlike paths that are left";
    else if (spread && ub.local_port_rate.value() < ub.link_rate(1).value() * die_lanes)
        limits.no_bound = fmt::format("ub.local_port_rate = {} is below the {} of a die's links together, and packets are spread",
                                      to_string(ub.local_port_rate), to_string(bandwidth(ub.link_rate(1).value() * die_lanes)));
    else if (spread && of_a_port > k_queue_to_buffer * shallowest)
        limits.no_bound = fmt::format("ub.transmit_queue = {} for nine ports, {} each, is more than {} times the {} packets of a link's buffer: in "
                                      "such queues packets grow older than relays, whose place they then take",
                                      ub.transmit_queue, of_a_port, k_queue_to_buffer, shallowest);
    else if (spread && mesh.npus > 1 && mesh.boards > 1 && paths_in(mesh.npus) != paths_in(mesh.boards) && paths == 1)
        limits.no_bound = fmt::format("{} = 2, and packets are spread along the other dimension only: single packets of both fall into step",
                                      mesh.npus == 2 ? "mesh.npus" : "mesh.boards");
    else if (spread && mesh.racks_per_pod() > 1 && !mesh.hrs)
        limits.no_bound = "mesh.hrs: false, where switches between racks choose the ways of packets that are spread";
    else if (run.host)
        limits.no_bound = "host: what CPUs and NICs exchange with NPUs goes as single packets beside those of collectives";
    else if (spread && (mesh.npus == 1 || mesh.boards == 1))
        limits.no_bound = "one line of NPUs, where parts of a message go over ranks that send themselves, and nothing else evens out who goes first";
    else if (spread && mesh.npus > 1 && mesh.boards > 1 && mesh.x_lanes != mesh.y_lanes)
        limits.no_bound = fmt::format("mesh.x_lanes = {} and mesh.y_lanes = {}: packets that are spread along both fall into step", mesh.x_lanes,
                                      mesh.y_lanes);
    else if (spread && !faults.links.empty())
        limits.no_bound = "faults.links: packets that are spread share unlike paths that are left";
    else if (spread && !faults.npus.empty())
        limits.no_bound = "faults.npus: packets that are spread meet on the way to a spare NPU, or share unlike paths that are left";
    return choose_trains(run.burst, std::move(limits));
}

} // namespace weft
