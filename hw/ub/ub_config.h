// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a UB fabric: links, packets, devices, path choice, end-to-end transport. What is called "UB" below is
// the UB Base Specification 2.0.
#pragma once

#include "hw/fabric/link_control.h"
#include "tlm/config_fields.h"
#include "tlm/key_rules.h"
#include "tlm/packet.h"
#include "tlm/units.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

/// Whether the FEC symbols RS(128,120) are part of the lane rate (120/128 of it is left) or come on top of it.
enum class ub_fec : std::uint8_t { inside, outside };
template <> struct enum_names<ub_fec> {
    static constexpr std::pair<ub_fec, const char*> values[] = {{ub_fec::inside, "inside"},
                                                                {ub_fec::outside, "outside"}};
};

/// Whether credit returns and link acknowledgements take time on the wire that carries them.
enum class ub_control_blocks : std::uint8_t { charged, free };
template <> struct enum_names<ub_control_blocks> {
    static constexpr std::pair<ub_control_blocks, const char*> values[] = {{ub_control_blocks::charged, "charged"},
                                                                           {ub_control_blocks::free, "free"}};
};

/// Which hops of a path its header gives instructions for; tables decide the others.
enum class ub_source_routing : std::uint8_t { all, differing };
template <> struct enum_names<ub_source_routing> {
    static constexpr std::pair<ub_source_routing, const char*> values[] = {{ub_source_routing::all, "all"},
                                                                           {ub_source_routing::differing, "differing"}};
};

/// What is spread over the paths of a set.
enum class ub_spreading : std::uint8_t { flow, packet };
template <> struct enum_names<ub_spreading> {
    static constexpr std::pair<ub_spreading, const char*> values[] = {{ub_spreading::flow, "flow"},
                                                                      {ub_spreading::packet, "packet"}};
};

/// By what a path is chosen: the weights of the set, round robin; or the least product of transmit queue and hops.
enum class ub_choice : std::uint8_t { weighted, adaptive };
template <> struct enum_names<ub_choice> {
    static constexpr std::pair<ub_choice, const char*> values[] = {{ub_choice::weighted, "weighted"},
                                                                   {ub_choice::adaptive, "adaptive"}};
};

/// Which kinds of paths a source uses while it has them.
enum class ub_path_use : std::uint8_t { shortest, detour, borrow, all };
template <> struct enum_names<ub_path_use> {
    static constexpr std::pair<ub_path_use, const char*> values[] = {{ub_path_use::shortest, "shortest"},
                                                                     {ub_path_use::detour, "detour"},
                                                                     {ub_path_use::borrow, "borrow"},
                                                                     {ub_path_use::all, "all"}};
};

/// End to end: nothing (the links retry), or numbered, acknowledged and sent again.
enum class ub_transport : std::uint8_t { ctp, rtp };
template <> struct enum_names<ub_transport> {
    static constexpr std::pair<ub_transport, const char*> values[] = {{ub_transport::ctp, "ctp"},
                                                                      {ub_transport::rtp, "rtp"}};
};

struct ub_config {
    static constexpr config_part k_part = config_part::links;
    static constexpr std::uint64_t k_fastest_lane_bps = 118'000'000'000; ///< UB mode 1
    static constexpr duration k_longest_delay = duration(1'000'000'000); ///< of one: the fabric holds delays in 32 bits

    // Links.
    bandwidth lane_rate = bandwidth(112'000'000'000);
    ub_fec fec = ub_fec::inside;
    double efficiency = 1;
    data_size flit = data_size(20);
    std::uint32_t block_flits = 32;
    std::uint32_t cell_flits = 8;
    ub_control_blocks control_blocks = ub_control_blocks::charged;
    std::uint32_t credit_bit_cells = 4;
    std::uint32_t credit_return_at = 32;
    data_size header = data_size(52);
    data_size route_header = data_size(8);
    data_size max_payload = data_size(1024);
    data_size buffer_per_vl = data_size(64 << 10);
    bool buffers_cover_round_trip = true;
    duration mac_latency = duration(70'000);
    double bit_error_rate = 0;
    std::uint32_t retries = 15;
    std::uint32_t reinitialisations = 4;
    duration reinitialisation_time = duration(10'000'000);
    std::uint64_t error_seed = 1;
    duration detection = duration(10'000'000);
    // Devices.
    duration npu_latency = duration(175'000);
    duration cpu_latency = duration(175'000);
    duration nic_latency = duration(175'000);
    duration lrs_latency = duration(150'000);
    duration hrs_latency = duration(200'000);
    duration die_crossing = duration(50'000);
    bandwidth local_port_rate = bandwidth(4'032'000'000'000);
    std::uint32_t transmit_queue = 576;
    bool voq = true;
    bool relays_first = true;
    // Paths.
    ub_path_use paths = ub_path_use::all;
    ub_source_routing source_routing = ub_source_routing::all;
    duration table_lookup = duration(0);
    ub_spreading spreading = ub_spreading::packet;
    ub_choice choice = ub_choice::weighted;
    // End to end.
    ub_transport transport = ub_transport::ctp;
    std::uint32_t rtp_window = 256;
    std::uint32_t rtp_send_buffer = 4096;
    duration rtp_timeout = duration(25'600'000);
    std::uint32_t rtp_tries = 7;
    std::uint32_t rtp_packets_per_ack = 16;
    duration rtp_ack_delay = duration(1'000'000);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit(
            "lane_rate", self.lane_rate, "Rate of one lane (x1), raw, per direction",
            derived("112 Gb/s from four independent public traces: 18 x 4 x 112 Gb/s NPUs and 512 x 112G switches of a full-mesh study, 56 GB/s per x4 port in a collective cost model, 112 Gb/s single links of a topology generator, about 2 TB/s per chip announced (derived); at most 118 Gb/s, UB mode 1 (quoted)"),
            between(bandwidth(1'000'000'000), bandwidth(k_fastest_lane_bps))
                .because(", the fastest that UB allows; write for example \"112 Gbps\""));
        visit("fec", self.fec, "inside: RS(128,120) symbols are part of lane_rate; outside: they come on top",
              quoted("RS(128,120), UB; inside: assumed, with it 1 KiB packets reach 87 % of the raw rate"));
        visit("efficiency", self.efficiency, "Share of what FEC leaves of a link's rate that packets get: the rest goes to what is not modelled",
              assumed("1; `weft validate ub_mesh` fits it to a published curve of utilisation"), real_between(0.01, 1));
        visit("flit", self.flit, "Unit of a packet on a wire", quoted("20 B, UB"), between(data_size(4), data_size(256)));
        visit("block_flits", self.block_flits, "Flits of one data block; each block ends in a CRC of 4 B", quoted("32, UB"),
              between(2, 512).because(" flits"));
        visit("cell_flits", self.cell_flits, "Flits of one cell, the unit of credits", quoted("8 by default, UB"),
              between(1, 128).because(" flits, as UB says"));
        visit("control_blocks", self.control_blocks,
              "charged: credit returns, acknowledgements and requests of a link take time on the other wire where no data block takes them along; "
              "free: none",
              quoted("header bits and control blocks of 40 B, UB; how a wire shares them out: assumed"));
        visit("credit_bit_cells", self.credit_bit_cells, "Cells that the credit bit in the header of a data block gives back",
              quoted("4 by default, UB"), between(1, 256).because(" cells"));
        visit("credit_return_at", self.credit_return_at,
              "Cells owed at which a control block follows a packet, though data flow that take credits along; for acknowledgements as many bytes",
              assumed("32, the grain of the counts of a control block in a public UB simulator (quoted)"), between(1, 65'535).because(" cells"));
        visit(
            "header", self.header,
            "Network, transport and transaction headers and the end-to-end CRC of one packet; the link header (4 B) is not in it",
            assumed("52 B, sum of the header sizes of UB for one write"), between(data_size(8), data_size(4096)));
        visit("route_header", self.route_header, "Source-route header of one packet", quoted("8 B, UB-Mesh Fig. 11"),
              at_most(data_size(64)));
        visit("max_payload", self.max_payload, "Largest payload of one packet, a multiple of 4 B; with headers at most 512 flits",
              assumed("1 KiB gives 87 % payload of the raw rate (512 B: 83 %); the published 85 % lies between the two and includes credit and acknowledge blocks"),
              between(data_size(4), data_size(1 << 20))
                  .multiple_of(4)
                  .because(", so that no element is split between packets"));
        visit("buffer_per_vl", self.buffer_per_vl,
              "Input buffer per link and VL, at least", assumed("64 KiB; not published"),
              at_most(data_size(1 << 30)));
        visit("buffers_cover_round_trip", self.buffers_cover_round_trip,
              "Raise the buffers of each link to its rate x round trip, so that one VL can fill the link",
              assumed("credits may count up to 65535 cells, UB (quoted)"));
        visit("mac_latency", self.mac_latency, "MAC, PHY and FEC of both ends of one link, beside the cable",
              assumed("70 ns"), at_most(k_longest_delay));
        visit("bit_error_rate", self.bit_error_rate, "Probability that a bit of a block is wrong behind the FEC",
              assumed("0"), real_between(0, 0.001).because(": with more, hardly any block arrives whole"));
        visit("retries", self.retries, "Times that a link repeats a block before it initialises its PHY again",
              quoted("15, UB"), between(0, 255).because(" retries"));
        visit("reinitialisations", self.reinitialisations, "Times that it does so before it is down", quoted("4, UB"),
              between(0, 255).because(" initialisations"));
        visit("reinitialisation_time", self.reinitialisation_time, "One initialisation of the PHY", assumed("10 us"),
              at_most(k_longest_delay));
        visit("error_seed", self.error_seed, "Seed of the bit errors", k_user_choice);
        visit("detection", self.detection, "From the failure of a link until both ends know it", assumed("10 us"),
              at_most(duration(1'000'000'000'000)));
        visit("npu_latency", self.npu_latency,
              "Head of a packet through the UB controllers of an NPU, also at both ends of a way",
              assumed("150 to 200 ns; with it a 512 B read from a neighbour takes about 1.2 us"),
              between(duration(1), k_longest_delay));
        visit("cpu_latency", self.cpu_latency, "Head of a packet through the UB controller of a CPU, at either end of a way", assumed("as npu_latency"),
              between(duration(1), k_longest_delay));
        visit("nic_latency", self.nic_latency, "Head of a packet through the UB controller of a NIC, at either end of a way", assumed("as npu_latency"),
              between(duration(1), k_longest_delay));
        visit("lrs_latency", self.lrs_latency, "Head of a packet through a low-radix switch",
              assumed("150 ns, the published goal of a whole hop (quoted); a public full-mesh study has 37 ns for a crossbar (quoted)"), between(duration(1), k_longest_delay));
        visit("hrs_latency", self.hrs_latency, "Head of a packet through a high-radix switch", assumed("200 ns"),
              between(duration(1), k_longest_delay));
        visit("die_crossing", self.die_crossing,
              "Added where a packet turns from the ports of one IO die of an NPU to those of the other", assumed("50 ns"),
              at_most(k_longest_delay));
        visit("local_port_rate", self.local_port_rate, "Rate between one UB controller and its chip, per direction",
              assumed("as all nine x4 ports of an IO die together"),
              between(bandwidth(1'000'000'000), bandwidth(1'000'000'000'000'000))
                  .because("; write for example \"504 GB/s\""));
        visit("transmit_queue", self.transmit_queue,
              "Packets that a controller holds for all its ports: a message waits in memory while a port by which it goes has its equal share of "
              "them, others pass; with transport: rtp these are rtp_send_buffer",
              assumed("64 for each of the nine ports of an IO die: a public full-mesh study has a FIFO for each port, and 64 packets at an NPU (quoted)"),
              between(2, 65'536).because(" packets"));
        visit("voq", self.voq,
              "A FIFO per output in every input buffer: nobody waits behind a packet for another output",
              quoted("so at switch and NPU of a public full-mesh study"));
        visit(
            "relays_first", self.relays_first,
            "Packets that are relayed go before those that a chip sends into its controller or into a switch, unless these "
            "have waited much longer",
            assumed("else what is relayed gets less than its share, fills the buffers and stops the links"));
        visit(
            "paths", self.paths,
            "Paths in use: shortest; detour or borrow: these beside the shortest; all. Others only when these are broken",
            assumed("all, as all-path routing says (UB-Mesh section 4.1)"));
        visit("source_routing", self.source_routing,
              "all: headers have an instruction for every hop while there is room for six; differing: for those alone that tables would send elsewhere",
              assumed("both forms of a hop, UB-Mesh Fig. 11 (quoted)"));
        visit("table_lookup", self.table_lookup,
              "Added at each router that looks a hop up in its tables, where others go by instruction",
              assumed("0: the latencies of devices are taken to hold it; no figure is published"), at_most(k_longest_delay));
        visit("spreading", self.spreading, "What is spread over the paths: flow or packet",
              quoted("both foreseen by UB; packet: assumed"));
        visit("choice", self.choice, "weighted: round robin by weights; adaptive: the least transmit queue times hops",
              assumed("both foreseen by UB (quoted)"));
        visit("transport", self.transport, "ctp: links alone retry; rtp: end-to-end numbers, acknowledgements, resends",
              quoted("ctp is what collective engines use inside a pod"));
        visit("rtp_window", self.rtp_window, "Packets of one source under way to one destination", assumed("nothing is published"),
              between(2, 65'536).powers_of_two());
        visit("rtp_send_buffer", self.rtp_send_buffer,
              "Packets that one controller keeps until acknowledged, those that wait for its ports included", assumed("nothing is published"),
              between(2, 1 << 20).because(" packets"));
        visit("rtp_timeout", self.rtp_timeout, "Least wait for an acknowledgement, and the first one: longer where twice the longest measured round trip is; "
              "doubles with every try",
              quoted("25.6 us, default of a public UB simulator"), between(duration(1), k_longest_delay));
        visit(
            "rtp_tries", self.rtp_tries,
            "Tries without any acknowledgement until a destination counts as unreachable, the last one over all paths at once; "
            "more until notices of failed links could have come",
            quoted("7, default of a public UB simulator"), between(1, 32).because(" tries"));
        visit("rtp_packets_per_ack", self.rtp_packets_per_ack, "Packets that one acknowledgement may stand for", assumed("nothing is published"),
              between(1, 64).because(" packets"));
        visit("rtp_ack_delay", self.rtp_ack_delay, "An acknowledgement waits at most so long for others", assumed("nothing is published"),
              at_most(k_longest_delay));
    }

    std::vector<config_problem> validate() const;
    static std::vector<key_rule<ub_config>> key_rules();

    /// Transport rtp, without any round trip measured: from the first try until the last one has been in vain, and the
    /// last wait of it.
    std::uint64_t rtp_tries_ps() const { return rtp_timeout.value() * ((std::uint64_t{1} << rtp_tries) - 1); }
    std::uint64_t rtp_longest_wait_ps() const { return rtp_timeout.value() << (rtp_tries - 1); }

    /// Among how many UB ports a controller shares what it holds: of a router with `ports`, which has `controllers`.
    static std::uint32_t ports_of_controller(std::uint32_t ports, std::uint32_t controllers)
    {
        return std::max(1u, (ports + controllers - 1) / controllers);
    }

    packet_format format() const;
    /// Not set where control takes no time.
    std::optional<link_control_params> control() const;
    /// Rate of a link net of FEC: what its flits are serialised at.
    bandwidth link_rate(std::uint32_t lanes) const
    {
        const std::uint64_t raw = lane_rate.value() * lanes;
        const std::uint64_t net = fec == ub_fec::inside ? raw / 128 * 120 : raw;
        return bandwidth(efficiency < 1 ? static_cast<std::uint64_t>(static_cast<double>(net) * efficiency) : net);
    }
    std::uint64_t cell_bytes() const { return flit.value() * cell_flits; }
    /// Payload bytes of full packets against the raw bits of the lanes they take, 0..1.
    double payload_efficiency() const;
    /// Payload of a packet of max_payload over its bytes on a wire.
    double payload_share() const;
};

} // namespace weft
