// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A bench for switches: stations that put frames on a wire when a test says so, and keep what arrives.
#pragma once

#include "hw/abi/switchml.h"
#include "hw/ethernet/ethernet_frame.h"
#include "hw/tofino/aggregation_model.h"
#include "hw/tofino/tofino_switch.h"
#include "tlm/timeline.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <vector>

namespace weft::testing {

namespace sml = abi::switchml;

inline constexpr std::uint64_t k_us = 1'000'000;
inline std::uint64_t station_mac(std::uint32_t n) { return 0x02'00'00'00'01'00 + n; }
inline std::uint32_t station_ip(std::uint32_t n) { return 0x0a00'0100 + n; }

/// Runs functions at given times, as timeline events after all others of the same time.
class frame_script final : private timeline_client {
public:
    explicit frame_script(timeline& time) : time_(time), actor_(time.register_actors(1)) {}
    void at(std::uint64_t time_ps, std::function<void()> f)
    {
        actions_.push_back(std::move(f));
        const auto i = static_cast<std::uint32_t>(actions_.size() - 1);
        time_.schedule(time_ps, make_order(event_class::device, actor_, i), *this, i, 0);
    }

private:
    void on_event(std::uint32_t a, std::uint8_t) override
    {
        const std::function<void()> action = std::move(actions_[a]); // it may add others
        action();
    }
    timeline& time_;
    std::uint32_t actor_;
    std::vector<std::function<void()>> actions_;
};

/// splitmix64
class test_random {
public:
    explicit test_random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next()
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }

private:
    std::uint64_t state_;
};

using word_list = std::vector<std::uint32_t>;
/// Word i = m * i.
inline word_list ramp(std::uint32_t words, std::uint32_t m)
{
    word_list w(words);
    for (std::uint32_t i = 0; i < words; ++i)
        w[i] = m * i;
    return w;
}

struct udp_message {
    std::uint8_t job = 1;
    std::uint32_t id = 0;
    std::uint16_t slot = 0;
    bool version = false;
    word_list words;
    std::int8_t exponent0 = 0;
    std::int8_t exponent1 = 0;
    std::uint16_t port = sml::k_udp_port_base;
    std::uint8_t size_code = 0xff; ///< 0xff: that of the words
    bool carry_data = true;
    std::uint16_t source_port = 0x1234;
};

struct rdma_message {
    sml::opcode op = sml::opcode::write_only_immediate;
    std::uint32_t worker = 0, queue = 0, psn = 0;
    sml::reth reth;
    std::uint32_t immediate = 0;
    word_list words;
};

/// What came out of the switch, decoded.
struct received_frame {
    std::uint64_t time_ps = 0;
    frame_summary fields;
    word_list words;
    std::vector<std::uint8_t> bytes;
    std::uint32_t carried_bytes = 0;
    std::uint16_t id_field = 0;
    bool checksum_ok = false;
};

class station final : public sc_core::sc_module, public ethernet_device {
public:
    ethernet_receive_socket in;
    ethernet_transmit_socket out;
    std::vector<received_frame> log;
    std::function<void(received_frame&)> on_receive;
    bool keep = true;

    station(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, std::uint32_t number)
        : sc_core::sc_module(name), in("in", *this, 0), out("out"), number_(number), time_(time), pool_(pool)
    {
    }
    std::uint64_t mac() const { return station_mac(number_); }
    std::uint32_t ip() const { return station_ip(number_); }

    /// Last byte is at the switch now.
    void put(packet_ptr frame) { out->receive(std::move(frame), 0); }
    packet_ptr udp(const tofino_config& to, const udp_message& m)
    {
        const auto bytes = static_cast<std::uint32_t>(sml::k_udp_headers + 4 * m.words.size());
        packet_ptr frame = make_frame(pool_, bytes, m.carry_data ? bytes : sml::k_udp_headers);
        sml::addresses a;
        a.destination_mac = to.mac;
        a.source_mac = mac();
        a.destination_ip = to.ip;
        a.source_ip = ip();
        a.destination_port = m.port;
        a.source_port = m.source_port;
        sml::encode(a, bytes - sml::k_header, frame->payload);
        sml::header h;
        h.job = m.job;
        h.id = m.id;
        h.slot = m.slot;
        h.version = m.version;
        h.exponent0 = m.exponent0;
        h.exponent1 = m.exponent1;
        h.size_code = m.size_code != 0xff ? m.size_code : m.words.size() == 64 ? 1 : 3;
        sml::encode(h, frame->payload + sml::k_header);
        if (m.carry_data)
            for (std::size_t i = 0; i < m.words.size(); ++i)
                sml::put32(frame->payload + sml::k_udp_headers + 4 * i, m.words[i]);
        return frame;
    }
    packet_ptr rdma(const tofino_config& to, const rdma_message& m)
    {
        const std::uint32_t headers = sml::roce_headers(m.op);
        const auto bytes = static_cast<std::uint32_t>(headers + 4 * m.words.size() + sml::k_icrc_bytes);
        packet_ptr frame = make_frame(pool_, bytes, bytes);
        sml::addresses a;
        a.destination_mac = to.mac;
        a.source_mac = mac();
        a.destination_ip = to.ip;
        a.source_ip = ip();
        a.destination_port = sml::k_udp_port_roce;
        a.tos = 2;
        sml::encode(a, bytes - sml::k_header, frame->payload);
        sml::encode(sml::bth{m.op, sml::switch_queue_pair(m.worker, m.queue), m.psn}, frame->payload + sml::k_header);
        std::uint8_t* next = frame->payload + sml::k_header + sml::k_bth_bytes;
        if (sml::begins_message(m.op)) {
            sml::encode(m.reth, next);
            next += sml::k_reth_bytes;
        }
        if (sml::has_immediate(m.op)) {
            sml::put32(next, m.immediate);
            next += sml::k_immediate_bytes;
        }
        for (std::size_t i = 0; i < m.words.size(); ++i)
            sml::put32(next + 4 * i, m.words[i]);
        std::memset(next + 4 * m.words.size(), 0, sml::k_icrc_bytes);
        return frame;
    }

private:
    void on_frame(std::uint32_t, packet_ptr frame, std::uint64_t delay_ps) override
    {
        received_frame r;
        r.time_ps = time_.now_ps() + delay_ps;
        r.fields = decode_frame(*frame);
        r.carried_bytes = static_cast<std::uint32_t>(frame->payload_bytes);
        r.bytes.assign(frame->payload, frame->payload + frame->payload_bytes);
        if (frame->payload_bytes >= sml::k_header) {
            r.id_field = static_cast<std::uint16_t>(sml::get16(frame->payload + sml::k_ip + 4));
            r.checksum_ok = sml::internet_checksum(frame->payload + sml::k_ip, 20) == 0;
        }
        std::uint32_t headers = 0;
        if (r.fields.kind == frame_kind::switchml)
            headers = sml::k_udp_headers;
        else if (r.fields.kind == frame_kind::roce)
            headers = sml::roce_headers(r.fields.bth.op);
        const bool icrc = r.fields.kind == frame_kind::roce;
        if (headers != 0 && frame->payload_bytes > headers)
            for (std::uint32_t at = headers; at + 4 <= frame->payload_bytes - (icrc ? 4 : 0); at += 4)
                r.words.push_back(sml::get32(frame->payload + at));
        if (on_receive)
            on_receive(r);
        if (keep)
            log.push_back(std::move(r));
    }
    std::uint32_t number_;
    timeline& time_;
    packet_pool& pool_;
};

inline aggregation_factory models(const tofino_config& c)
{
    return [depth = c.register_depth](std::uint32_t) { return std::make_unique<aggregation_model>(depth); };
}

/// Observer that writes one word an event: "arrival w0 v0".
struct slot_log final : tofino_observer {
    void on_slot_event(const slot_event& e) override
    {
        static const char* const names[] = {"arrival", "ignored", "completion", "multicast", "unicast", "up", "down"};
        lines.push_back(
            fmt::format("{} w{} slot {} v{}", names[static_cast<int>(e.kind)], e.worker, e.slot, e.version ? 1 : 0));
        events.push_back(e);
    }
    std::vector<std::string> lines;
    std::vector<slot_event> events;
};

/// One switch, a station at each port.
struct tofino_world {
    explicit tofino_world(const tofino_config& c = {})
        : config(c), chip(sc_core::sc_gen_unique_name("switch"), time, pool, c, models(c))
    {
        for (std::uint32_t p = 0; p < c.ports; ++p) {
            stations.push_back(std::make_unique<station>(sc_core::sc_gen_unique_name("station"), time, pool, p));
            stations[p]->out.bind(chip.from_network(p));
            chip.to_network(p).bind(stations[p]->in);
        }
        chip.set_observer(&slots);
    }
    tofino_job job(std::uint32_t workers, std::uint32_t words = 256, std::uint32_t pool_slots = 16) const
    {
        tofino_job j;
        j.number = 1;
        j.words = words;
        j.slots = pool_slots;
        for (std::uint32_t w = 0; w < workers; ++w)
            j.workers.push_back({station_mac(w), station_ip(w), w});
        return j;
    }
    /// Station `s` sends `m`, whose last byte arrives at `us` microseconds.
    void send(double us, std::uint32_t s, udp_message m)
    {
        events.at(static_cast<std::uint64_t>(us * k_us),
                  [this, s, m] { stations[s]->put(stations[s]->udp(config, m)); });
    }
    void send(double us, std::uint32_t s, rdma_message m)
    {
        events.at(static_cast<std::uint64_t>(us * k_us),
                  [this, s, m] { stations[s]->put(stations[s]->rdma(config, m)); });
    }
    void run()
    {
        sc_core::sc_start();
        check_clean();
    }
    void check_clean()
    {
        CHECK(chip.idle());
        CHECK(pool.leak_report() == "");
    }
    std::vector<received_frame>& log(std::uint32_t s) { return stations[s]->log; }

    tofino_config config;
    timeline time{sc_core::sc_gen_unique_name("timeline")};
    packet_pool pool;
    frame_script events{time};
    tofino_switch chip;
    std::vector<std::unique_ptr<station>> stations;
    slot_log slots;
};

} // namespace weft::testing
