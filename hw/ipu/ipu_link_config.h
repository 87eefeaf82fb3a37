// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of IPU-Links, Host-Links, GW-Links and Sync-Links. "Scaling" is Graphcore's guide to scaling an
// application over multiple replicas, section 7.
#pragma once

#include "hw/routing/ipu/ipu_pod_plan.h"
#include "tlm/config_fields.h"
#include "tlm/packet.h"
#include "tlm/units.h"

namespace weft {

/// What payload has of a rate.
inline bandwidth usable_rate(bandwidth rate, double usable)
{
    return bandwidth(static_cast<std::uint64_t>(static_cast<double>(rate.value()) * usable + 0.5));
}

struct ipu_link_config {
    static constexpr config_part k_part = config_part::links;
    bandwidth rate = bandwidth(128'000'000'000);
    double usable = 0.85;
    duration latency = duration(800'000);
    double congestion = 4;
    duration transit = duration(100'000);
    data_size buffer_per_vl = data_size(1 << 20);
    data_size max_payload = data_size(1 << 10);
    bandwidth exchange_rate = bandwidth(64'000'000'000'000);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        const auto wire = between(duration(1), duration(1'000'000'000))
                              .because(": every link has some latency, by which events of different chips are ordered");
        visit(
            "rate", self.rate, "Of one IPU-Link, per direction",
            derived(
                "16 GB/s: 320 GB/s of ten links in both directions, public notes on the GC200 (quoted); four links of a C600 card have 1 Tb/s (derived)"),
            between(bandwidth(1'000'000'000), bandwidth(100'000'000'000'000))
                .because("; write for example \"16 GB/s\""));
        visit("usable", self.usable, "Share of the rate that payload has",
              quoted("0.85 of 128 Gbit/s, test model of PopLibs"), real_between(0.01, 1));
        visit("latency", self.latency, "Of one IPU-Link, from the exchange of one IPU to that of the next, without `transit` of both",
              assumed("0.8 us: 0.6 to 1.0 us unloaded"), wire);
        visit(
            "congestion", self.congestion,
              "How many times that latency a message has when all tiles of an IPU exchange at once, as in a step of a "
              "collective. What is more than once is charged where it enters an IPU, not at IPUs on its way; messages over gateways pay it, too",
              calibrated("G3: 4.0 is the least of 4.0 to 7.7, measured on the Mk1 generation (Citadel, arXiv 1912.03413; quoted); that every message pays it came into the model because of G3"),
            real_between(1, 100));
        visit("transit", self.transit, "Head of a packet through each IPU, from the first to the last, and each gateway and switch",
              assumed("nothing is published"), at_most(duration(1'000'000'000)));
        visit(
            "buffer_per_vl", self.buffer_per_vl, "Input buffer per link and VL",
            assumed(
                "a compiler schedules exchanges, so that nothing waits inside the network; buffers that hold what comes stand for that. Rate x round trip are 28 KiB"),
            at_most(data_size(1 << 30)));
        visit("max_payload", self.max_payload, "Largest payload of a packet",
              assumed("not published; headers are part of what `usable` leaves out"),
              between(data_size(64), data_size(64 << 10)).multiple_of(32));
        visit("exchange_rate", self.exchange_rate, "What the exchange of an IPU moves toward its links, all together", quoted("8 TB/s of a GC200, public notes"),
              between(bandwidth(1'000'000'000), bandwidth(1'000'000'000'000'000)));
    }
    bandwidth payload_rate() const { return usable_rate(rate, usable); }
    /// Rates are those of payload: no header is charged.
    packet_format format() const
    {
        packet_format f;
        f.max_payload_bytes = static_cast<std::uint32_t>(max_payload.value());
        f.flit_bytes = 32;
        f.header_bytes = 32;
        f.charge_header_on_wire = false;
        return f;
    }
    /// What a message takes longer in the exchange of the IPU that it enters.
    duration congested_exchange() const
    {
        return duration(static_cast<std::uint64_t>(static_cast<double>(latency.value()) * (congestion - 1) + 0.5));
    }
};

struct gateway_config {
    static constexpr config_part k_part = config_part::links;
    bandwidth host_link_rate = bandwidth(256'000'000'000);
    double host_link_usable = 0.85;
    duration host_link_latency = duration(400'000);
    bandwidth host_rate = bandwidth(100'000'000'000);
    bandwidth gw_link_rate = bandwidth(100'000'000'000);
    double gw_link_usable = 0.926;
    duration gw_link_latency = duration(1'500'000);
    data_size buffer = data_size(16 << 20);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        const auto wire = between(duration(1), duration(1'000'000'000)).because(": every link has some latency, by which events of different chips are ordered");
        const auto share = real_between(0.01, 1);
        const auto rate = between(bandwidth(1'000'000'000), bandwidth(100'000'000'000'000)).because("; write for example \"100 Gbps\"");
        visit("host_link_rate", self.host_link_rate, "Between an IPU and its gateway, per direction",
              quoted("32 GB/s: PCIe Gen4 of 64 GB/s in both directions, Graphcore documentation"), rate);
        visit("host_link_usable", self.host_link_usable, "Share of that rate that payload has", assumed("as of an IPU-Link, another PCIe port"), share);
        visit("host_link_latency", self.host_link_latency, "The same link", assumed("nothing is published"), wire);
        visit("host_rate", self.host_rate, "From hosts to the gateway of one IPU-Machine: samples come by it",
              quoted("\"Each host to IPU-Machine connection is based on 100 GbE\", Scaling 7.9.1"), rate);
        visit("gw_link_rate", self.gw_link_rate, "Of a GW-Link, per direction; a gateway has one to each side",
              derived("100 GbE, Scaling 7.9.1 (quoted); its \"200 GBps\" between two machines are 2 x 100 Gb/s (derived)"), rate);
        visit("gw_link_usable", self.gw_link_usable, "Share of that rate that payload has",
              derived("1 KiB of 1,106 B of RoCE on Ethernet: 38 B of preamble, header, check and gap, 44 B of IP, UDP, transport (derived); that it is RoCE is assumed"), share);
        visit("gw_link_latency", self.gw_link_latency, "Between a gateway and the switch", assumed("3 us from gateway to gateway, switch included"), wire);
        visit("buffer", self.buffer, "Input buffer of gateways and switches per VL", assumed("of an Ethernet switch; gw_link_rate x round trip are 40 KiB"), at_most(data_size(1 << 30)));
    }
    bandwidth host_link_payload() const { return usable_rate(host_link_rate, host_link_usable); }
    bandwidth gw_link_payload() const { return usable_rate(gw_link_rate, gw_link_usable); }
};

ipu_pod_wires ipu_wires(const ipu_link_config& links, const gateway_config& gateways);

struct ipu_sync_config {
    static constexpr config_part k_part = config_part::sync;
    duration hop = duration(15'000);
    duration gateway_hop = duration(3'000'000);
    duration register_latency = duration(5'000);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("hop", self.hop, "A Sync-Link between two IPUs, one way", quoted("15 ns, test model of PopLibs"), between(duration(1), duration(1'000'000'000)));
        visit("gateway_hop", self.gateway_hop, "The same between two IPU-Link domains", assumed("as a GW-Link from gateway to gateway, which no sync can beat: Sync-Links follow the links, Scaling 7.9.1"), between(duration(1), duration(1'000'000'000)));
        visit("register_latency", self.register_latency, "One register access of the sync unit", assumed("nothing is published"), at_most(duration(1'000'000)));
    }
};

} // namespace weft
