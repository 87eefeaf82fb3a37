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

/// `threads` cores in all, each with its stack on the host.
void check_stacks(data_size stack, std::uint64_t threads, const std::string& of_what, const std::string& key,
                  std::vector<config_problem>& problems);

} // namespace weft
