// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ipu/ipu_link_config.h"

namespace weft {

namespace {
/// Wires on a die are part of the latency of a link.
constexpr duration k_on_die{1};
} // namespace

ipu_pod_wires ipu_wires(const ipu_link_config& links, const gateway_config& gateways)
{
    const packet_format f = links.format();
    const std::uint32_t depth = f.cells_of_buffer(links.buffer_per_vl), room = f.cells_of_buffer(gateways.buffer);
    return {{links.exchange_rate, k_on_die + links.congested_exchange(), depth},
            {links.payload_rate(), links.latency, depth},
            {gateways.host_link_payload(), gateways.host_link_latency, room},
            {gateways.gw_link_payload(), gateways.gw_link_latency, room}};
}

} // namespace weft
