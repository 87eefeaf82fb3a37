// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of UB links and paths in closed form: buffers, round trips, and the time of one packet through an idle
// fabric. What the engine must reproduce; used by the builder, by tests, by `weft check`. Plain C++.
#pragma once

#include "hw/fabric/link_layer.h"
#include "hw/ub/ub_config.h"
#include "hw/routing/ub/ub_plan.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Head of a packet through a device of this kind.
duration ub_pipeline(const ub_config& config, ub_device device);

/// Wire of a link as its packets see it: the cable, and MAC, PHY and FEC of both ends.
inline duration ub_wire(const ub_config& config, duration propagation)
{
    return duration(propagation.value() + config.mac_latency.value());
}

/// Retry of a link: the request is one idle and 32 request blocks of one flit each (UB).
link_layer_params ub_retry(const ub_config& config, std::uint32_t lanes);

/// From the start of a full packet until its credit can be used again: out over the wire, through the arbitration of
/// `into`, out of its buffer as fast as it came, and the credit back.
std::uint64_t ub_round_trip_ps(const ub_config& config, std::uint32_t lanes, duration propagation, ub_device into);

/// Cells per VL behind a link: the configured buffer, raised to the round trip unless that is off, and never less than
/// one packet, without which nothing moves.
std::uint32_t ub_depth_cells(const ub_config& config, std::uint32_t lanes, duration propagation, ub_device into);

/// The share of the rate of a link that packets of one VL reach with the buffer behind it, at most: 0..1.
double ub_reachable_share(const ub_config& config, std::uint32_t lanes, duration propagation, ub_device into);

/// One link of a way, and the device at its end.
struct ub_hop {
    std::uint32_t lanes = 4;
    duration propagation;
    ub_device into = ub_device::npu;
    bool crosses = false; ///< the packet came in, or began, on the other IO die of the device that sends
    bool looked_up = false; ///< the device that sends finds the hop in its tables
};

/// The links of a path from router to router. `first_die` is the IO die where the packet begins.
std::vector<ub_hop> ub_hops(const ub_plan& plan, const std::vector<std::uint32_t>& links, std::uint32_t first_die = 0);

/// The same of a path with its header.
std::vector<ub_hop> ub_hops(const ub_plan& plan, const ub_path& path, std::uint32_t first_die = 0);

/// From the first byte at the source's controller until the last byte at the destination's chip, with nobody else on
/// the way:
///   sum over the devices of their latency (both ends included) + sum over the links of cable and MAC + die crossings +
///   lookups + the packet at the slowest wire of the way, and what a slow wire in front of a faster one adds
///   (cut-through).
std::uint64_t ub_zero_load_ps(const ub_config& config, ub_device source, const std::vector<ub_hop>& hops,
                              std::uint64_t payload_bytes);
/// What a way takes the head of a packet behind the device of its source: cables and MAC, devices, die crossings on the
/// way.
std::uint64_t ub_way_ps(const ub_config& config, const ub_plan& plan, const std::vector<std::uint32_t>& links);
/// A full packet over one way and its acknowledgement over the same way back, with nobody else on them.
std::uint64_t ub_zero_load_round_trip_ps(const ub_config& config, const std::vector<ub_hop>& hops);

} // namespace weft
