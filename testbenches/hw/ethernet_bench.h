// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A bench for Ethernet: ports that send frames a test makes and write down what arrives, and NICs with memory and a script.
#pragma once

#include "hw/ethernet/ethernet_frame.h"
#include "hw/ethernet/ethernet_link.h"
#include "hw/ethernet/ethernet_nic.h"
#include "hw/ethernet/ethernet_transmitter.h"
#include "hw/memory/hbm.h"
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace weft::testing {

struct seen_frame {
    std::uint64_t time_ps;
    std::uint32_t message;
    std::uint32_t wire_bytes;
    bool corrupted;
    std::vector<std::uint8_t> bytes;
};

/// A port of a test: a transmitter, and a log of what arrives, in the order of arrival times.
class test_port final : public sc_core::sc_module, private ethernet_device, private timeline_client {
public:
    ethernet_transmit_socket out{"out"};
    ethernet_receive_socket in;
    ethernet_transmitter mac;
    std::vector<seen_frame> log;
    bool keep_bytes = true;

    test_port(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, bandwidth rate,
              data_size queue = data_size(0))
        : sc_core::sc_module(name), in("in", *this, 0), mac(out, rate, queue), time_(time), pool_(pool),
          actor_(time.register_actors(1))
    {
    }
    /// A frame of `bytes` bytes filled from `message`; the first two MACs are zero.
    bool send(std::uint32_t bytes, std::uint32_t message = 0)
    {
        packet_ptr p = make_frame(pool_, bytes, bytes);
        std::memset(p->payload, static_cast<int>(message & 0xff), bytes);
        p->message = message;
        return mac.send(std::move(p), time_.now_ps());
    }
    bool send(const std::vector<std::uint8_t>& bytes)
    {
        packet_ptr p =
            make_frame(pool_, static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(bytes.size()));
        std::memcpy(p->payload, bytes.data(), bytes.size());
        return mac.send(std::move(p), time_.now_ps());
    }

private:
    void on_frame(std::uint32_t, packet_ptr frame, std::uint64_t delay_ps) override
    {
        const std::uint32_t index = frame.release()->index;
        time_.schedule(time_.now_ps() + delay_ps, make_order(event_class::arrival, actor_, sequence_++), *this, index,
                       0);
    }
    void on_event(std::uint32_t a, std::uint8_t) override
    {
        packet_ptr p(&pool_.at(a));
        log.push_back({time_.now_ps(), p->message, p->wire_bytes, (p->flags & k_corrupted) != 0, {}});
        if (keep_bytes && p->payload != nullptr)
            log.back().bytes.assign(p->payload, p->payload + p->payload_bytes);
    }
    timeline& time_;
    packet_pool& pool_;
    std::uint32_t actor_;
    std::uint32_t sequence_ = 0;
};

struct irq_log final : irq_if {
    explicit irq_log(const timeline& t) : time(t) {}
    void set_irq(std::uint32_t lines, bool level) override
    {
        CHECK(lines == abi::k_irq_nic);
        CHECK(level != up);
        up = level;
        (level ? rises : falls).push_back(time.now_ps());
        if (level && on_rise)
            on_rise();
    }
    const timeline& time;
    bool up = false;
    std::vector<std::uint64_t> rises, falls;
    std::function<void()> on_rise;
};

struct nic_knobs {
    nic_config nic;
    hbm_config memory;
    std::uint32_t tx_entries = 16, rx_entries = 16, cores = 1;
    bool data = true;
    nic_knobs()
    {
        memory.capacity = data_size(4 << 20);
        memory.rate = bandwidth(3'200'000'000'000); // 2.5 ps a byte
        memory.latency = duration(100'000);
    }
};

/// A NIC with memory. Queue q has its rings at k_tx_area + 64 KiB * q and k_rx_area + 128 KiB * q; buffers lie below 1 MiB.
struct nic_node final : sc_core::sc_module {
    static constexpr std::uint64_t k_tx_area = 1 << 20, k_rx_area = 2 << 20;

    nic_node(const sc_core::sc_module_name& name, timeline& t, packet_pool& pool, const nic_knobs& k,
             std::uint64_t own_mac)
        : sc_core::sc_module(name), cpu("cpu"), window("window"), irqs(make_irqs(t, k.cores)),
          memory("memory", k.memory), nic("nic", t, pool, k.nic, own_mac, pointers(irqs), k.data), mac(own_mac),
          time(t), knobs(k)
    {
        cpu.bind(nic.registers);
        window.bind(memory.socket);
        nic.memory.bind(memory.port);
    }
    static std::vector<std::unique_ptr<irq_log>> make_irqs(const timeline& t, std::uint32_t n)
    {
        std::vector<std::unique_ptr<irq_log>> v;
        for (std::uint32_t i = 0; i < n; ++i)
            v.push_back(std::make_unique<irq_log>(t));
        return v;
    }
    static std::vector<irq_if*> pointers(const std::vector<std::unique_ptr<irq_log>>& from)
    {
        std::vector<irq_if*> v;
        for (const auto& i : from)
            v.push_back(i.get());
        return v;
    }
    std::uint64_t read(std::uint64_t reg, std::uint32_t bytes = 4)
    {
        std::uint64_t value = 0, delay = 0;
        if (cpu.read(reg, &value, bytes, delay) != ::tlm::TLM_OK_RESPONSE)
            FAIL("read of " << reg);
        return value;
    }
    void write(std::uint64_t reg, std::uint64_t value, std::uint32_t bytes = 4)
    {
        std::uint64_t delay = 0;
        if (cpu.write(reg, &value, bytes, delay) != ::tlm::TLM_OK_RESPONSE)
            FAIL("write of " << reg);
    }
    void set_up(std::uint32_t active_queues = 1)
    {
        namespace regs = abi::nic;
        for (std::uint32_t q = 0; q < knobs.nic.queues; ++q) {
            write(regs::TX_BASE(q), k_tx_area + (q << 16), 8);
            write(regs::TX_ENTRIES(q), knobs.tx_entries);
            write(regs::RX_BASE(q), k_rx_area + (q << 17), 8);
            write(regs::RX_ENTRIES(q), knobs.rx_entries);
        }
        write(regs::ACTIVE_QUEUES, active_queues);
        write(regs::CONTROL, 1);
    }
    /// Write an entry into the ring, without the doorbell.
    void put(std::uint32_t q, abi::nic_send_entry e, bool good_check = true)
    {
        std::uint32_t words[offsetof(abi::nic_send_entry, check) / 4];
        std::memcpy(words, &e, sizeof words);
        e.check = abi::check_word(words, sizeof words / 4) + (good_check ? 0 : 1);
        memory.write_bytes(k_tx_area + (q << 16) + (posted[q]++ % knobs.tx_entries) * sizeof e, &e, sizeof e);
    }
    void ring(std::uint32_t q) { write(abi::nic::TX_TAIL(q), posted[q]); }
    void post(std::uint32_t q, const abi::nic_send_entry& e)
    {
        put(q, e);
        ring(q);
    }
    abi::nic_completion completion(std::uint32_t q, std::uint32_t index)
    {
        abi::nic_completion c;
        memory.read_bytes(k_rx_area + (q << 17) + (index % knobs.rx_entries) * 2048, &c, sizeof c);
        return c;
    }
    std::vector<std::uint8_t> received(std::uint32_t q, std::uint32_t index)
    {
        std::vector<std::uint8_t> v(completion(q, index).bytes);
        memory.read_bytes(k_rx_area + (q << 17) + (index % knobs.rx_entries) * 2048 + 16, v.data(), v.size());
        return v;
    }
    std::uint32_t rx_head(std::uint32_t q) { return static_cast<std::uint32_t>(read(abi::nic::RX_HEAD(q))); }
    std::vector<std::uint8_t> contents(std::uint64_t offset, std::uint64_t bytes) const
    {
        std::vector<std::uint8_t> v(bytes);
        memory.read_bytes(offset, v.data(), bytes);
        return v;
    }

    memory_initiator_socket cpu, window;
    std::vector<std::unique_ptr<irq_log>> irqs;
    hbm memory;
    ethernet_nic nic;
    std::uint64_t mac;
    timeline& time;
    nic_knobs knobs;
    std::array<std::uint32_t, 16> posted{};
};

inline std::vector<std::uint8_t> random_bytes(std::size_t bytes, std::uint64_t seed)
{
    traffic_random r(seed);
    std::vector<std::uint8_t> p(bytes);
    for (auto& b : p)
        b = static_cast<std::uint8_t>(r.next());
    return p;
}

inline constexpr std::uint64_t k_mac_a = 0x02'00'00'00'00'0a, k_mac_b = 0x02'00'00'00'00'0b;

/// UDP frame whose 42 bytes of headers are inline: payload from `offset`.
inline abi::nic_send_entry udp_entry(std::uint64_t to, std::uint64_t from, std::uint16_t port, std::uint64_t offset,
                                     std::uint32_t bytes)
{
    namespace sml = abi::switchml;
    abi::nic_send_entry e;
    e.header_bytes = sml::k_header;
    sml::addresses a;
    a.destination_mac = to;
    a.source_mac = from;
    a.destination_ip = 0x0a000002;
    a.source_ip = 0x0a000001;
    a.destination_port = port;
    a.source_port = 1;
    sml::encode(a, bytes, e.header);
    e.payload_offset = offset;
    e.payload_bytes = bytes;
    return e;
}
inline abi::nic_send_entry write_entry(std::uint64_t to, std::uint64_t from, std::uint64_t offset,
                                       std::uint64_t remote_address, std::uint32_t bytes, std::uint32_t queue_pair,
                                       std::uint32_t immediate, std::uint16_t packet_bytes = 1024)
{
    abi::nic_send_entry e = udp_entry(to, from, abi::switchml::k_udp_port_roce, offset, 0);
    e.what = abi::nic_send::write;
    e.payload_bytes = bytes;
    e.remote_address = remote_address;
    e.remote_key = 77;
    e.queue_pair = queue_pair;
    e.remote_queue_pair = queue_pair;
    e.immediate = immediate;
    e.packet_payload_bytes = packet_bytes;
    return e;
}

/// Two NICs on one cable; a is at end 0.
struct nic_pair final : sc_core::sc_module {
    nic_pair(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const nic_knobs& k,
             const ethernet_link_config& cable, std::uint32_t stream = 0)
        : sc_core::sc_module(name), link("link", time, pool, cable, stream), a("a", time, pool, k, k_mac_a),
          b("b", time, pool, k, k_mac_b)
    {
        a.nic.to_network.bind(link.in(0));
        link.out(0).bind(a.nic.from_network);
        b.nic.to_network.bind(link.in(1));
        link.out(1).bind(b.nic.from_network);
    }
    ethernet_link link;
    nic_node a, b;
};

struct nic_world {
    timeline time{"timeline"};
    packet_pool pool;
    script events{time};
    std::vector<std::unique_ptr<nic_pair>> pairs;
    ethernet_link_config cable;
    nic_pair& add(const nic_knobs& k = {})
    {
        pairs.push_back(std::make_unique<nic_pair>(sc_core::sc_gen_unique_name("pair"), time, pool, k, cable,
                                                   static_cast<std::uint32_t>(pairs.size())));
        return *pairs.back();
    }
    void at(std::uint64_t time_ps, std::function<void()> f) { events.at(time_ps, std::move(f)); }
    void run()
    {
        sc_core::sc_start();
        CHECK(pool.leak_report() == "");
        for (auto& p : pairs) {
            CHECK(p->a.nic.idle());
            CHECK(p->b.nic.idle());
        }
    }
};

/// A NIC on a cable with a test_port at end 0.
struct port_and_nic {
    timeline time{"timeline"};
    packet_pool pool;
    script events{time};
    test_port port;
    ethernet_link link;
    nic_node node;
    explicit port_and_nic(const nic_knobs& k = {}, const ethernet_link_config& cable = {})
        : port("port", time, pool, k.nic.rate), link("link", time, pool, cable, 0), node("node", time, pool, k, k_mac_b)
    {
        port.out.bind(link.in(0));
        link.out(0).bind(port.in);
        node.nic.to_network.bind(link.in(1));
        link.out(1).bind(node.nic.from_network);
    }
    void run()
    {
        sc_core::sc_start();
        CHECK(pool.leak_report() == "");
        CHECK(node.nic.idle());
    }
};

} // namespace weft::testing
