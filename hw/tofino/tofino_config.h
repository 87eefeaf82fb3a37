// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the programmable switch.
#pragma once

#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <cstdint>
#include <vector>

namespace weft {

inline constexpr std::uint32_t k_tofino_pipes = 4;
/// Workers that have a recirculation port 128 + 4 * worker in the published next-step table of 256-word packets.
inline constexpr std::uint32_t k_wide_packet_workers = 16;

struct tofino_config {
    std::uint32_t ports = 16;
    std::uint32_t ports_per_pipe = 16;
    bandwidth port_rate = bandwidth(100'000'000'000);
    data_size egress_queue = data_size(1 << 20);
    duration first_pass_latency = duration(600'000);
    duration ingress_latency = duration(200'000);
    duration pass_latency = duration(520'000);
    bandwidth recirculation_rate = bandwidth(100'000'000'000);
    data_size recirculation_queue = data_size(1 << 20);
    std::uint32_t register_depth = 16384;
    bool stale_filter = false;
    double ingress_drop = 0;
    double egress_drop = 0;
    std::uint64_t drop_seed = 1;

    // Given by the builder, not by the user.
    std::uint64_t mac = 0x02'00'00'00'00'fe;
    std::uint32_t ip = 0x0a'00'00'fe;

    bool drops() const { return ingress_drop > 0 || egress_drop > 0; }

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        const char* const k_example = "; write for example \"100 Gbps\"";
        visit("ports", self.ports, "Front-panel ports",
              quoted("16 of 100 Gb/s usable for workers, Sapio et al., section 5"), between(1, k_tofino_pipes * 64));
        visit("ports_per_pipe", self.ports_per_pipe,
              "Front-panel ports of one pipe: port p belongs to pipe p / ports_per_pipe",
              quoted("64 ports, 4 pipes; 16 to 64 workers a pipeline depending on their speed, Sapio et al., section 6"),
              between(1, 64).because(": 16 ports of 100 Gb/s a pipe, or 64 of a quarter of that"));
        visit("port_rate", self.port_rate, "Rate of a front-panel port, per direction", quoted("Sapio et al., section 6"),
              between(bandwidth(1'000'000), bandwidth(100'000'000'000'000)).because(k_example));
        visit("egress_queue", self.egress_queue, "Room of the queue of one front-panel port; a full one drops",
              assumed("not published"), between(data_size(2048), data_size(1 << 30)).because(": it has to hold a frame"));
        visit("first_pass_latency", self.first_pass_latency,
              "Last byte in to first byte out of a packet that passes once, idle switch", assumed("not published"),
              at_most(duration(1'000'000'000)));
        visit("ingress_latency", self.ingress_latency,
              "Share of a pass before the traffic manager: registers are read and written in it",
              derived("12 stages of 20 cycles at 1.22 GHz"), between(duration(1), duration(1'000'000'000)));
        visit("pass_latency", self.pass_latency,
              "Every further pass, idle switch; serialisation on the recirculation port included",
              quoted("520 ns, Sapio et al., section 5"), at_most(duration(1'000'000'000)));
        visit("recirculation_rate", self.recirculation_rate, "Rate of one recirculation port",
              quoted("100 Gb/s ports in loop-back, Sapio et al., section 5"),
              between(bandwidth(1'000'000), bandwidth(100'000'000'000'000)).because(k_example));
        visit("recirculation_queue", self.recirculation_queue,
              "Room of the queue of one recirculation port; a full one drops", assumed("not published"),
              between(data_size(2048), data_size(1 << 30)).because(": it has to hold a frame"));
        visit("register_depth", self.register_depth, "Entries of every register: two for each slot",
              quoted("16384, p4app-switchML"),
              between(2, 32'768).powers_of_two().because(
                  ": a slot number has 14 bits and takes two entries, one for each set"));
        visit(
            "stale_filter", self.stale_filter,
            "Drop packets older than their sender's last one in the slot, by id (UDP) or sequence number (RDMA). The published program has no such filter and adds a packet twice that its sender's next one has overtaken",
            assumed("ours; off as published"));
        visit("ingress_drop", self.ingress_drop,
              "Drop simulator of the published program: share of arriving packets, 0 to 1", k_user_choice,
              real_between(0, 1).because(": a share of the packets"));
        visit("egress_drop", self.egress_drop,
              "Drop simulator of the published program: share of results; all copies of one result together", k_user_choice,
              real_between(0, 1).because(": a share of the packets"));
        visit("drop_seed", self.drop_seed, "Seed of the drop simulator", k_user_choice);
    }
    std::vector<config_problem> validate() const;
};

} // namespace weft
