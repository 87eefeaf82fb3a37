// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the TPU inter-chip interconnect.
#pragma once

#include "tlm/config_fields.h"
#include "tlm/packet.h"
#include "tlm/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <optional>

namespace weft {

enum class rate_basis { payload, wire };
template <> struct enum_names<rate_basis> {
    static constexpr std::pair<rate_basis, const char*> values[] = {{rate_basis::payload, "payload"},
                                                                    {rate_basis::wire, "wire"}};
};

enum class switching_mode { cut_through, store_and_forward };
template <> struct enum_names<switching_mode> {
    static constexpr std::pair<switching_mode, const char*> values[] = {
        {switching_mode::cut_through, "cut_through"}, {switching_mode::store_and_forward, "store_and_forward"}};
};

struct ici_config {
    static constexpr config_part k_part = config_part::links;
    static constexpr std::uint64_t k_with_voq = 64 << 10; ///< bytes of local_buffer
    bandwidth link_rate = bandwidth(656'000'000'000);
    rate_basis rate_counts = rate_basis::payload;
    duration board_propagation = duration(5'000);
    duration cable_propagation = duration(25'000);
    frequency clock = frequency(940'000'000);
    cycle_count router_latency = cycle_count(4);
    std::uint32_t virtual_lanes = 2;
    data_size buffer_per_vl = data_size(16 << 10);
    data_size flit = data_size(32);
    data_size max_payload = data_size(256);
    data_size header = data_size(16);
    std::uint32_t local_ports = 2;
    bandwidth local_port_rate = bandwidth(1'312'000'000'000);
    std::optional<data_size> local_buffer = {};
    bool voq = true;
    bool relays_first = true;
    switching_mode switching = switching_mode::cut_through;

    static ici_config example()
    {
        ici_config c;
        c.local_buffer = data_size(k_with_voq);
        return c;
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        const char* const k_ordered = ": every link has some latency, by which events of different chips are ordered";
        visit(
            "link_rate", self.link_rate, "Rate of one ICI link, per direction",
            recalled("656 Gb/s, CACM 2020 (recalled); 340 TB/s all-reduce per pod / 1024 chips / 4 links = 83 GB/s, Google Cloud TPU v3 page (derived); the JAX scaling book has 100 GB/s (quoted)"),
            between(bandwidth(k_slowest_bps), bandwidth(k_fastest_bps)).because("; write for example \"82 GB/s\""));
        visit("rate_counts", self.rate_counts,
              "payload: link_rate is net of packet headers; wire: headers are serialised at link_rate too",
              assumed("the derived 83 GB/s is a payload rate (derived); framing is not published (assumed)"));
        visit("board_propagation", self.board_propagation, "Wire between chips of one 2x2 board", assumed("nothing is published"),
              between(duration(1), duration(k_longest_ps)).because(k_ordered));
        visit("cable_propagation", self.cable_propagation, "Wire between boards, and wrap links", assumed("nothing is published"),
              between(duration(1), duration(k_longest_ps)).because(k_ordered));
        visit("clock", self.clock, "Clock of the router", recalled("940 MHz"),
              between(frequency(1'000'000), frequency(100'000'000'000)));
        visit("router_latency", self.router_latency, "Head of a packet through one router", assumed("nothing is published"),
              at_most(cycle_count(1'000'000)));
        visit("virtual_lanes", self.virtual_lanes,
              "VLs per link; wrap links (dateline) and detours use the second, a healthy mesh only the first",
              assumed("not published; 2"), between(1, 8));
        visit("buffer_per_vl", self.buffer_per_vl, "Input buffer per link and VL", assumed("not published"),
              at_most(data_size(1 << 30)));
        visit("flit", self.flit, "Payload is padded to whole flits; also the size of one credit", assumed("not published"),
              between(data_size(1), data_size(4096)));
        visit("max_payload", self.max_payload, "Largest payload of one packet", assumed("not published"),
              between(data_size(4), data_size(1 << 20))
                  .multiple_of(4)
                  .because(", so that no element is split between packets"));
        visit("header", self.header, "Header of one packet", assumed("not published"), at_most(data_size(4096)));
        visit("local_ports", self.local_ports, "Ports between the router and the chip, one per core",
              quoted("two internal ports, IEEE Micro article on TPUv2/v3"), between(1, 4));
        visit("local_port_rate", self.local_port_rate, "Rate of one local port, per direction",
              quoted("twice a link, IEEE Micro article on TPUv2/v3"),
              between(bandwidth(k_slowest_bps), bandwidth(k_fastest_bps)).because("; write for example \"164 GB/s\""));
        visit("voq", self.voq,
              "A FIFO per output in every input buffer: nobody waits behind a packet for another output, and of the buffer behind a local port "
              "each output has an equal share",
              assumed("not published; else a chip that sends all ways is held up by the fullest one"));
        visit("relays_first", self.relays_first,
              "Packets that pass a router go before those that its chip sends into it, unless these have waited much longer",
              assumed("not published; else what passes gets less than its share, fills the buffers and stops the links"));
        visit("local_buffer", self.local_buffer,
              "Input buffer behind a local port, per VL. Left out: with voq 64 KiB, of which 16 KiB for each link cover the latency of memory, or four times "
              "buffer_per_vl if that is more; else as buffer_per_vl",
              assumed("not published"), at_most(data_size(1 << 30)));
        visit("switching", self.switching, "cut_through or store_and_forward", assumed("cut-through class"));
    }

    packet_format format() const
    {
        packet_format f;
        f.max_payload_bytes = static_cast<std::uint32_t>(max_payload.value());
        f.header_bytes = static_cast<std::uint32_t>(header.value());
        f.flit_bytes = static_cast<std::uint32_t>(flit.value());
        f.charge_header_on_wire = rate_counts == rate_basis::wire;
        return f;
    }
    data_size local_buffer_in_use() const
    {
        return local_buffer.value_or(voq ? std::max(data_size(k_with_voq), data_size(4 * buffer_per_vl.value())) : buffer_per_vl);
    }
    std::uint64_t pipeline_ps() const { return cycles_to_ps(router_latency.value(), clock); }

    /// Round trip of a credit on a link, and the buffer per VL with which the link runs at its full rate.
    std::uint64_t round_trip_ps(duration wire) const { return format().round_trip_ps(link_rate, wire, duration(pipeline_ps())); }
    data_size buffer_for_full_rate(duration wire) const { return format().room_for_full_rate(link_rate, wire, duration(pipeline_ps())); }

    std::vector<config_problem> validate() const
    {
        std::vector<config_problem> p = limit_problems(*this);
        const std::vector<config_problem> out_of_range = p; // is not computed with
        const auto sound = [&](std::initializer_list<const char*> keys) {
            return std::none_of(out_of_range.begin(), out_of_range.end(), [&](const config_problem& found) {
                return std::find(keys.begin(), keys.end(), found.key) != keys.end();
            });
        };
        const auto need = [&](bool ok, const char* key, std::string text) {
            if (!ok)
                p.push_back({severity::error, key, std::move(text)});
        };
        if (sound({"clock", "router_latency"}))
            need(pipeline_ps() <= k_longest_ps, "router_latency",
                 fmt::format("is {}, which at {} take {}; a router may take at most 1 ms.", to_string(router_latency),
                             to_string(clock), rounded_text(duration(pipeline_ps()))));
        if (!sound({"flit", "header", "max_payload"}))
            return p;
        if (std::string why = format().no_room_for_one(buffer_per_vl); !why.empty())
            need(false, "buffer_per_vl", std::move(why));
        if (std::string why = local_buffer ? format().no_room_for_one(*local_buffer) : ""; !why.empty())
            need(false, "local_buffer", std::move(why));
        for (const auto& [key, r] : {std::pair{"link_rate", link_rate}, std::pair{"local_port_rate", local_port_rate}})
            if (sound({key}))
                need(format().packet_ps(r) <= k_longest_ps, key,
                     fmt::format(
                         "is {}, where one packet of {} takes {}; it may take at most 1 ms. Write a higher rate or a "
                         "smaller max_payload.",
                         to_string(r), to_string(max_payload), rounded_text(duration(format().packet_ps(r)))));
        return p;
    }

private:
    static constexpr std::uint64_t k_slowest_bps = 1'000'000;
    static constexpr std::uint64_t k_fastest_bps = 1'000'000'000'000'000;
    static constexpr std::uint64_t k_longest_ps = 1'000'000'000; ///< of one delay: the fabric holds delays in 32 bits
};

} // namespace weft
