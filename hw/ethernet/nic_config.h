// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the NIC.
#pragma once

#include "hw/abi/nic.h"
#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <cstdint>
#include <vector>

namespace weft {

struct nic_config {
    static constexpr config_part k_part = config_part::nic;
    std::uint32_t queues = 4;
    std::uint32_t queue_pairs = 512;
    bandwidth rate{100'000'000'000};
    std::uint32_t prefetch = 8;
    std::uint32_t read_ahead = 16;
    data_size receive_buffer{256 << 10};
    duration register_latency{20'000};
    duration host_latency{0};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("queues", self.queues, "Queues, each a send ring and a receive ring", assumed("one a core"),
              between(1, abi::k_max_nic_queues));
        visit("queue_pairs", self.queue_pairs, "RDMA queue pairs", assumed("one for every message under way"),
              between(1, 65'536));
        visit("rate", self.rate, "Line rate, both directions", quoted("Sapio et al., NSDI 2021, section 6"),
              between(bandwidth(1'000'000), bandwidth(10'000'000'000'000)));
        visit("prefetch", self.prefetch, "Send entries of one queue held on chip", assumed("nothing is published"),
              between(1, 64).because(" entries"));
        visit("read_ahead", self.read_ahead, "Frames between memory and wire",
              assumed("covers memory latency at line rate"),
              between(2, 65'536).because(" frames: one is read while another is on the wire"));
        visit("receive_buffer", self.receive_buffer, "Bytes that may wait for memory", assumed("nothing is published"),
              between(data_size(4096), data_size(1 << 30)).because(": it has to hold a frame"));
        visit("register_latency", self.register_latency, "One register access inside the NIC", assumed("nothing is published"),
              at_most(duration(10'000'000)));
        visit("host_latency", self.host_latency,
              "What has been received waits so long in memory before software can see it: driver, batches of packets, "
              "queues of the host",
              assumed("0: the size of the pool implies a delay, Sapio et al., appendix C, but no figure is published"),
              at_most(duration(10'000'000'000)));
    }
    std::vector<config_problem> validate() const;
};

} // namespace weft
