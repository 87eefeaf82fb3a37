// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/neuronlink/neuronlink_config.h"

namespace weft {

namespace {
/// Wires on a die are part of the latency of a router.
constexpr duration k_on_die{1};
} // namespace

neuronlink_wires neuronlink_config::wires() const
{
    const packet_format f = format();
    const std::uint32_t depth = f.cells_of_buffer(buffer_per_vl);
    return {{port_rate, k_on_die, f.cells_of_buffer(port_buffer)},
            {half_rate, k_on_die, depth},
            {link_rate, propagation, depth},
            {node_link_rate, node_propagation, depth}};
}

} // namespace weft
