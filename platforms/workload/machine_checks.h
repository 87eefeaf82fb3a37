// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What every platform asks of its parts before it builds: packets that fit into what receives them, bursts that the fabric can
// hold, stacks that the host can hold.
#pragma once

#include "hw/dma/dma.h"
#include "tlm/config_fields.h"
#include "tlm/packet.h"
#include "tlm/units.h"

#include <string>
#include <vector>

namespace weft {

/// A DMA engine that has no room for a packet never gives a credit, and nothing moves.
void check_receive_buffer(data_size receive_buffer, const packet_format& format, const std::string& key,
                          std::vector<config_problem>& problems);

/// Cells that two bursts fill, the least that keeps a wire busy; 0 for single packets, which need no more than is there.
std::uint32_t cells_of_two_bursts(packet_count burst, const packet_format& format);

/// Says what a DMA engine raises to two bursts, of `burst_cells` together. `key`: of its section, as in "chip.dma".
void check_dma_for_bursts(const dma_config& dma, packet_count burst, std::uint32_t burst_cells,
                          const packet_format& format, const std::string& key, std::vector<config_problem>& problems);

/// A burst of `burst` packets of `max_payload` (`of_what`: "of ici.max_payload = 1 KiB") on the slowest wire.
/// False when it is too large to be timed.
bool check_burst_fits(packet_count burst, data_size max_payload, const std::string& of_what,
                      const packet_format& format, bandwidth slowest, const std::string& wire,
                      std::vector<config_problem>& problems);

/// `threads` cores in all, each with its stack on the host.
void check_stacks(data_size stack, std::uint64_t threads, const std::string& of_what, const std::string& key,
                  std::vector<config_problem>& problems);

} // namespace weft
