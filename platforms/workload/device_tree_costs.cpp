// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/device_tree_costs.h"

#include "firmware/collectives/device_trees.h"
#include "firmware/costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {

namespace {

namespace costs = firmware::costs;

// What links, memories and engines have to do hides in part behind each other: norm of their times. Calibrated on 4x4
// chips of Trn1, Trn2 and Trn3 and on four nodes, 16 and 64 MiB.
constexpr double k_norm = 6;
/// Bytes that an engine loses for each element (chip.dma.element_overhead), of a slice that all engines of a queue
/// share.
constexpr double k_lost_by_elements = 1.085;

/// The slowest link between devices, bytes per us and direction.
double slowest_link(const abi::platform_table& t, const firmware::device_map& map)
{
    double slowest = std::numeric_limits<double>::infinity();
    for (std::uint32_t d = 0; d < map.dims; ++d)
        if (t.dims[d] > 1 && t.rate_mbps[d] != 0) {
            const double rate = static_cast<double>(t.rate_mbps[d]) / 8 * t.device_ranks;
            slowest = std::min(slowest, t.kind[d] == abi::dimension_kind::ring ? rate / 2 : rate);
        }
    return slowest;
}

/// How often a byte of the data touches the busiest memory.
double touches(const firmware::device_map& map, double half, bool reduces)
{
    const double ranks = map.per_device;
    if (!reduces) { // written everywhere; read for the next device, for others of the half, and for those of the other
        const double other_half = half < ranks ? half / 2 : 0;
        return (ranks + std::max(1.0, half / 2) + other_half) / ranks;
    }
    if (map.devices == 1)
        return 2;
    // The root's contribution and the result; with three ranks and more, sums from other devices land at the others.
    return ranks < 3 ? 2 + 2 / ranks : std::max(2.0, 1 + 2 / (ranks - 1));
}

} // namespace

double device_tree_us(const abi::platform_table& t, const message_costs& m, const collective_case& c)
{
    const firmware::device_map map(t);
    firmware::device_trees trees(map, c.root);
    const bool reduces = abi::reduces(c.op);
    const firmware::tree_shape shape = firmware::shape_of_trees(trees, c.size_bytes, reduces);
    const double bytes = static_cast<double>(c.size_bytes), colours = trees.colours(), parts = colours * shape.turns;
    const double half = shape.slices > 1 ? trees.half() : map.per_device;
    double hop_us = 0;
    for (std::uint32_t d = 0; d < map.dims; ++d)
        hop_us = std::max(hop_us, m.hop_us[d]);

    // A step waits for its semaphore, reads and writes.
    // A rank sends by one local port, in a broadcast to the next device and into its own at once.
    const double port = m.port_rate == 0 ? std::numeric_limits<double>::infinity() : m.port_rate / (reduces ? 1 : 2);
    const double slice = bytes / parts / shape.slices, link = std::min(slowest_link(t, map), port);
    const double slice_us = shape.slices * slice * shape.turns / link / shape.slices;
    const double step_us = m.engine_wake_us + 2 * m.memory_us + hop_us;
    const double steps = trees.depth() + (reduces ? 1 : half < map.per_device ? 2 : map.per_device > 1 ? 1 : 0);
    const double post = costs::k_stream_post + 4 * (costs::k_stream_place + costs::k_device_tree_place) +
                        (reduces ? costs::k_device_tree_reduce_step : costs::k_device_tree_broadcast_step);
    const double roles = reduces ? costs::k_device_tree_reduce_part : costs::k_device_tree_broadcast_part;
    const double begin_us = 4 * m.access_us + m.instruction_us * (costs::k_command + costs::k_response + costs::k_stream_plan + (parts - 1) * roles + 2 * post);
    // Others say that they have entered; at the end the core is woken.
    const double notice_us = m.engine_us + 3 * m.memory_us + hop_us + m.wake_us + 2 * m.access_us;

    const double memory_us = m.memory_bps == 0 ? 0 : bytes * touches(map, half, reduces) / (static_cast<double>(m.memory_bps) / 8e6);
    const double link_us = bytes / colours / link;
    const double ranks = map.per_device;
    const double summed = reduces ? (ranks + (map.devices > 1 ? 1 : 0)) / std::max(1.0, ranks < 3 ? ranks : ranks - 1) : 1;
    const double engine_us = m.engine_rate == 0 ? 0 : bytes * summed * k_lost_by_elements / m.engine_rate;
    const double core_us = parts / ranks * shape.slices * (reduces ? 1 : 3) * (m.instruction_us * post + m.access_us);
    double all = 0;
    for (const double us : {memory_us, link_us, engine_us, core_us})
        all += std::pow(us, k_norm);
    return begin_us + notice_us + steps * (step_us + slice_us) + std::pow(all, 1 / k_norm);
}

} // namespace weft
