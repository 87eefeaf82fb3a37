// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// NIC: rings, frames, registers, interrupts, errors. RDMA: ethernet_rdma_test.cpp.
#include "hw/abi/block_float.h"
#include "testbenches/hw/ethernet_bench.h"

#include <set>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
namespace regs = weft::abi::nic;

namespace {

constexpr std::uint64_t k_go = 10'000'000;
constexpr std::uint16_t k_port = 0xbee0;

std::vector<std::uint8_t> frame_to(std::uint64_t mac, std::uint16_t port, std::uint32_t payload, std::uint8_t fill = 7)
{
    const abi::nic_send_entry e = udp_entry(mac, 1, port, 0, payload);
    std::vector<std::uint8_t> f(e.header, e.header + 42);
    f.resize(42 + payload, fill);
    return f;
}

} // namespace

TEST_CASE("nic: a frame takes the time of the formula with and without data")
{
    nic_world w;
    std::vector<nic_pair*> pairs;
    struct one {
        std::uint32_t payload;
        bool data;
        std::uint64_t host_latency_ps;
    };
    const std::vector<one> runs{{1034, true, 0}, {1034, false, 0}, {266, true, 0},           {266, false, 0},
                                {0, true, 0},    {0, false, 0},    {1034, true, 55'000'000}, {266, false, 1}};
    for (const one& r : runs) {
        nic_knobs k;
        k.data = r.data;
        k.nic.host_latency = duration(r.host_latency_ps);
        pairs.push_back(&w.add(k));
    }
    w.at(k_go, [&] {
        for (std::size_t i = 0; i < runs.size(); ++i) {
            pairs[i]->a.set_up();
            pairs[i]->b.set_up();
            pairs[i]->b.write(regs::RX_ARM(0), 1);
            const auto bytes = random_bytes(2000, i);
            pairs[i]->a.memory.write_bytes(4096, bytes.data(), bytes.size());
            pairs[i]->a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 4096, runs[i].payload));
        }
    });
    w.run();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        nic_pair& p = *pairs[i];
        const std::uint64_t payload = runs[i].payload, frame = std::max<std::uint64_t>(60, 42 + payload);
        const auto m = [](std::uint64_t bytes) { return (bytes * 5 + 1) / 2 + 100'000; };
        // doorbell, entry, payload, wire, cable, completion and frame, host
        const std::uint64_t expected = k_go + 20'000 + m(128) + (payload > 0 ? m(payload) : 0) + (frame + 24) * 80 +
                                       500'000 + m(16 + frame) + runs[i].host_latency_ps;
        REQUIRE(p.b.irqs[0]->rises.size() == 1);
        CHECK(p.b.irqs[0]->rises[0] == expected);
        CHECK(p.b.rx_head(0) == 1);
        const abi::nic_completion c = p.b.completion(0, 0);
        CHECK(c.what == abi::nic_event::frame);
        CHECK(c.bytes == frame);
        if (!runs[i].data)
            continue;
        std::vector<std::uint8_t> sent(frame);
        const abi::nic_send_entry e = udp_entry(k_mac_b, k_mac_a, k_port, 4096, runs[i].payload);
        std::memcpy(sent.data(), e.header, 42);
        const auto body = p.a.contents(4096, payload);
        std::copy(body.begin(), body.end(), sent.begin() + 42);
        CHECK(p.b.received(0, 0) == sent);
    }
}

TEST_CASE("nic: full line rate from one queue and from four with wrapping rings")
{
    nic_world w;
    struct one {
        std::uint32_t payload, queues;
        bool data;
        nic_pair* p;
        std::uint32_t sent = 0, taken = 0;
        std::vector<std::uint64_t> arrivals;
        std::uint64_t first_ps = 0, last_ps = 0;
    };
    constexpr std::uint32_t k_frames = 2000;
    std::vector<one> runs;
    for (const std::uint32_t payload : {1034u, 266u})
        for (const std::uint32_t queues : {1u, 4u})
            for (const bool data : {true, false}) {
                nic_knobs k;
                k.data = data;
                k.tx_entries = 64;
                k.rx_entries = 64;
                runs.push_back({payload, queues, data, &w.add(k), 0, 0, {}, 0, 0});
            }
    // Sender: keeps the rings full. Receiver: takes what is there, checks it.
    std::vector<std::function<void(std::uint64_t)>> steps(runs.size());
    for (std::size_t r = 0; r < runs.size(); ++r) {
        one& o = runs[r];
        w.at(k_go, [&o] {
            o.p->a.set_up();
            o.p->b.set_up(o.queues);
            const auto bytes = random_bytes(65536, 5);
            o.p->a.memory.write_bytes(0, bytes.data(), bytes.size());
        });
        steps[r] = [&w, &o, &steps, r](std::uint64_t now) {
            for (std::uint32_t q = 0; q < o.queues; ++q) {
                bool rang = false;
                const auto head = static_cast<std::uint32_t>(o.p->a.read(regs::TX_HEAD(q)));
                while (o.p->a.posted[q] - head < 64 && o.sent < k_frames) {
                    const std::uint64_t offset = (o.sent % 61) * 64;
                    o.p->a.put(q,
                               udp_entry(k_mac_b, k_mac_a, static_cast<std::uint16_t>(k_port + q), offset, o.payload));
                    ++o.sent;
                    rang = true;
                }
                if (rang)
                    o.p->a.ring(q);
                const std::uint32_t filled = o.p->b.rx_head(q);
                auto tail = static_cast<std::uint32_t>(o.p->b.read(regs::RX_TAIL(q)));
                for (; tail != filled; ++tail, ++o.taken) {
                    CHECK(o.p->b.completion(q, tail).bytes == 42 + o.payload);
                    if (o.data && o.queues == 1)
                        CHECK(std::memcmp(o.p->b.received(q, tail).data() + 42,
                                          o.p->a.contents((tail % 61) * 64, o.payload).data(), o.payload) == 0);
                }
                o.p->b.write(regs::RX_TAIL(q), tail);
            }
            if (o.taken < k_frames && now < 1'000'000'000)
                w.at(now + 200'000, [&steps, r, now] { steps[r](now + 200'000); });
        };
        w.at(k_go + 1, [&steps, r] { steps[r](k_go + 1); });
    }
    w.run();
    for (one& o : runs) {
        CHECK(o.taken == k_frames);
        const std::uint64_t wire = (o.payload + 42 + 24) * 80;
        const ethernet_transmitter& t = o.p->a.nic.transmitter();
        CHECK(t.frames.value() == k_frames);
        // Never idle from the first frame to the last.
        CHECK(t.busy_time.value() == k_frames * wire);
        const auto m = [](std::uint64_t bytes) { return (bytes * 5 + 1) / 2 + 100'000; };
        const std::uint64_t start = k_go + 1 + 20'000 + m(8 * 128) + m(o.payload);
        if (o.queues == 1)
            CHECK(t.busy_until_ps() == start + k_frames * wire);
        CHECK(t.busy_until_ps() <= start + 4 * m(8 * 128) + k_frames * wire);
        CHECK(o.p->b.nic.receiver().no_room.value() == 0);
    }
    for (std::size_t r = 0; r < runs.size(); r += 2) // data on, data off
        CHECK(runs[r].p->a.nic.transmitter().busy_until_ps() == runs[r + 1].p->a.nic.transmitter().busy_until_ps());
}

TEST_CASE("nic: a sender that posts for ever does not reserve the wire")
{
    // Queue 0 has 64 long frames posted when queue 1 posts one: it leaves after the frames read ahead and its turn.
    nic_knobs k;
    k.tx_entries = 64;
    k.rx_entries = 128;
    k.nic.read_ahead = 4;
    nic_world w;
    nic_pair& p = w.add(k);
    std::uint64_t posted_ps = 0;
    w.at(k_go, [&] {
        p.a.set_up();
        p.b.set_up(2);
        for (int i = 0; i < 64; ++i)
            p.a.put(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 1034));
        p.a.ring(0);
    });
    w.at(k_go + 2'000'000, [&] {
        p.b.write(regs::RX_ARM(1), 1);
        posted_ps = w.time.now_ps();
        p.a.post(1, udp_entry(k_mac_b, k_mac_a, k_port + 1, 0, 1034));
    });
    w.run();
    REQUIRE(p.b.irqs[0]->rises.size() == 1);
    const std::uint64_t m = 100'000 + 128 * 5 / 2 + 1092 * 5 / 2; // no more than these a piece
    CHECK(p.b.irqs[0]->rises[0] - posted_ps < 20'000 + 3 * m + 500'000 + 7 * 88'000);
    CHECK(p.b.rx_head(0) == 64);
}

TEST_CASE("nic: TX_HEAD counts an entry when its last byte has left memory")
{
    nic_knobs k;
    nic_world w;
    nic_pair& p = w.add(k);
    const std::uint64_t left = k_go + 20'000 + (128 + 1000) * 5 / 2 + 200'000;
    w.at(k_go, [&] {
        p.a.set_up();
        p.b.set_up();
        p.a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 1000));
    });
    w.at(left - 1, [&] { CHECK(p.a.read(regs::TX_HEAD(0)) == 0); });
    w.at(left, [&] { CHECK(p.a.read(regs::TX_HEAD(0)) == 1); });
    w.run();
}

TEST_CASE("nic: flow steering")
{
    nic_knobs k;
    k.nic.queues = 4;
    port_and_nic w(k);
    w.events.at(k_go, [&] {
        w.node.set_up(3);
        for (std::uint32_t port = 0; port < 16; ++port)
            w.port.send(frame_to(k_mac_b, static_cast<std::uint16_t>(k_port + port), 100));
        w.port.send(frame_to(0xffff'ffff'ffff, k_port + 1, 100)); // broadcast
        std::vector<std::uint8_t> arp(60);
        abi::switchml::put48(arp.data(), k_mac_b);
        abi::switchml::put16(arp.data() + 12, 0x0806);
        w.port.send(arp);
        w.port.send(frame_to(k_mac_b + 1, k_port, 100)); // somebody else's
    });
    w.events.at(2 * k_go, [&] {
        CHECK(w.node.rx_head(0) == 6 + 1);
        CHECK(w.node.rx_head(1) == 5 + 1);
        CHECK(w.node.rx_head(2) == 5);
        CHECK(w.node.rx_head(3) == 0);
        CHECK(w.node.read(regs::RX_BAD) == 1);
        w.node.write(regs::ACTIVE_QUEUES, 0); // counts as 1
        w.port.send(frame_to(k_mac_b, k_port + 3, 100));
    });
    w.events.at(3 * k_go, [&] {
        CHECK(w.node.rx_head(0) == 8);
        w.node.write(regs::ACTIVE_QUEUES, 99); // at most what there are
        w.port.send(frame_to(k_mac_b, k_port + 3, 100));
    });
    w.run();
    CHECK(w.node.rx_head(3) == 1);
}

TEST_CASE("nic: a full receive ring drops and counts until entries are given back")
{
    nic_knobs k;
    k.rx_entries = 4;
    port_and_nic w(k);
    w.events.at(k_go, [&] {
        w.node.set_up();
        for (std::uint8_t i = 0; i < 7; ++i)
            w.port.send(frame_to(k_mac_b, k_port, 500, i));
    });
    w.events.at(2 * k_go, [&] {
        CHECK(w.node.rx_head(0) == 4);
        CHECK(w.node.read(regs::RX_NO_ROOM) == 3);
        CHECK(w.node.nic.blocked_on() == "NIC queue 0 has a full receive ring: 4 entries filled, 0 taken");
        for (std::uint32_t i = 0; i < 4; ++i)
            CHECK(w.node.received(0, i)[42] == i);
        w.node.write(regs::RX_TAIL(0), 2);
        for (std::uint8_t i = 10; i < 13; ++i)
            w.port.send(frame_to(k_mac_b, k_port, 500, i));
    });
    w.run();
    CHECK(w.node.rx_head(0) == 6);
    CHECK(w.node.read(regs::RX_NO_ROOM) == 4);
    CHECK(w.node.received(0, 4)[42] == 10);
    CHECK(w.node.received(0, 5)[42] == 11);
}

TEST_CASE("nic: a memory slower than the wire fills the receive buffer and frames are dropped")
{
    nic_knobs k;
    k.memory.rate = 50_Gbps;
    k.rx_entries = 1024;
    k.nic.queues = 1;
    k.nic.receive_buffer = 16_KiB;
    k.memory.capacity = data_size(8 << 20);
    port_and_nic w(k);
    w.events.at(k_go, [&] {
        w.node.set_up();
        for (int i = 0; i < 200; ++i)
            w.port.send(frame_to(k_mac_b, k_port, 1034));
    });
    w.run();
    // 200 frames come in at twice the speed at which they go: 100 and the buffer.
    const std::uint64_t got = w.node.rx_head(0);
    CHECK(got > 100);
    CHECK(got < 125);
    CHECK(got + w.node.read(regs::RX_NO_ROOM) == 200);
}

TEST_CASE("nic: registers")
{
    port_and_nic w;
    w.events.at(0, [&] {
        nic_node& n = w.node;
        CHECK(n.read(regs::TYPE) == 0x4e494331);
        CHECK(n.read(regs::VERSION) == 1);
        CHECK(n.read(regs::NEXT) == 0);
        CHECK(n.read(regs::QUEUES) == 4);
        CHECK(n.read(regs::QUEUE_PAIRS) == 512);
        CHECK(n.read(regs::CONTROL) == 0);
        CHECK(n.read(regs::IRQ_PENDING) == 0);
        CHECK(n.read(regs::ERROR) == 0);
        CHECK(n.read(regs::ERROR_QUEUE) == 0);
        CHECK(n.read(regs::MAC, 8) == k_mac_b);
        CHECK(n.read(regs::ACTIVE_QUEUES) == 1);
        CHECK(n.read(regs::RX_NO_ROOM) == 0);
        CHECK(n.read(regs::RX_BAD) == 0);
        for (std::uint32_t q = 0; q < 16; ++q) {
            n.write(regs::TX_BASE(q), 0x12345678900u + q, 8);
            n.write(regs::RX_BASE(q), 0x22345678900u + q, 8);
            n.write(regs::TX_ENTRIES(q), 32);
            n.write(regs::RX_ENTRIES(q), 16);
            n.write(regs::RX_TAIL(q), 3 + q);
            n.write(regs::RX_ARM(q), 1);
            CHECK(n.read(regs::TX_BASE(q), 8) == 0x12345678900u + q);
            CHECK(n.read(regs::RX_BASE(q), 8) == 0x22345678900u + q);
            CHECK(n.read(regs::TX_ENTRIES(q)) == 32);
            CHECK(n.read(regs::RX_ENTRIES(q)) == 16);
            CHECK(n.read(regs::RX_TAIL(q)) == 3 + q);
            CHECK(n.read(regs::TX_HEAD(q)) == 0);
            CHECK(n.read(regs::RX_HEAD(q)) == 0);
        }
        std::uint64_t v = 1, delay = 0;
        for (const std::uint64_t ro : {regs::TYPE, regs::QUEUES, regs::RX_HEAD(0), regs::TX_HEAD(3), regs::RX_BAD})
            CHECK(n.cpu.write(ro, &v, 4, delay) == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
        CHECK(n.cpu.read(regs::MAC, &v, 4, delay) == ::tlm::TLM_BURST_ERROR_RESPONSE);
        CHECK(n.cpu.read(0x500, &v, 4, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        CHECK(delay == 7 * 20'000);
    });
    w.run();
}

TEST_CASE("nic: a disabled NIC drops what it receives and disabling clears")
{
    nic_world w;
    nic_pair& p = w.add();
    w.at(k_go, [&] {
        p.b.set_up();
        for (int i = 0; i < 10; ++i)
            p.b.put(0, udp_entry(k_mac_a, k_mac_b, k_port, 0, 1000));
        p.b.ring(0);
        p.b.write(regs::RX_ARM(0), 0); // at once
        CHECK(p.b.irqs[0]->up);
    });
    // Entries are loaded and some frames are under way.
    w.at(k_go + 20'000 + 102'560 + 1000, [&] {
        p.b.write(regs::CONTROL, 0);
        CHECK_FALSE(p.b.irqs[0]->up);
        CHECK(p.b.read(regs::IRQ_PENDING) == 0);
        CHECK(p.b.read(regs::TX_HEAD(0)) == 0);
        CHECK(p.b.read(regs::TX_TAIL(0)) == 0);
        p.b.posted[0] = 0;
    });
    w.at(3 * k_go, [&] {
        CHECK(p.a.nic.receiver().dropped_disabled.value() == p.b.nic.transmitter().frames.value());
        p.b.write(regs::CONTROL, 1);
        p.a.set_up();
        p.b.post(0, udp_entry(k_mac_a, k_mac_b, k_port, 0, 100));
    });
    w.run();
    CHECK(p.a.rx_head(0) == 1);
    CHECK(p.b.read(regs::TX_HEAD(0)) == 1);
}

TEST_CASE("nic: what is under way when the NIC is disabled is void")
{
    nic_world w;
    nic_pair& p = w.add();
    const std::uint64_t arrival = k_go + 20'000 + 128 * 5 / 2 + 100'000 + 1000 * 5 / 2 + 100'000 + 1066 * 80 + 500'000;
    w.at(k_go, [&] {
        p.a.set_up();
        p.b.set_up();
        p.a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 1000));
    });
    w.at(arrival + 1, [&] { // the frame is on its way to memory, a doorbell on the bus
        p.b.post(1, udp_entry(k_mac_a, k_mac_b, k_port, 0, 1000));
        CHECK_FALSE(p.b.nic.idle());
        p.b.write(regs::CONTROL, 0);
        CHECK(p.b.nic.idle());
        p.b.write(regs::CONTROL, 1);
    });
    w.run();
    CHECK(p.b.rx_head(0) == 0);
    CHECK(p.b.nic.receiver().frames_received.value() == 1);
    CHECK(p.b.nic.transmitter().frames.value() == 0);
}

TEST_CASE("nic: a doorbell before enable waits for it")
{
    nic_world w;
    nic_pair& p = w.add();
    w.at(k_go, [&] {
        p.a.set_up();
        p.b.set_up();
        p.a.write(regs::CONTROL, 0);
        p.a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 1000));
    });
    w.at(2 * k_go, [&] {
        CHECK(p.a.nic.blocked_on() == "NIC queue 0 has 1 entries left and waits for CONTROL to enable the NIC");
        CHECK_FALSE(p.a.nic.idle());
        CHECK(p.b.rx_head(0) == 0);
        p.a.write(regs::CONTROL, 1);
    });
    w.run();
    CHECK(p.b.rx_head(0) == 1);
    CHECK(p.a.nic.blocked_on().empty());
}

TEST_CASE("nic: interrupts are not lost whenever the queue is armed")
{
    // One frame arrives while RX_ARM is written at every picosecond offset around its completion: always exactly one interrupt.
    nic_world w;
    struct one {
        nic_pair* p;
        std::int64_t offset;
    };
    std::vector<one> runs;
    for (std::int64_t offset : {-1'000'000, -100'000, -2, -1, 0, 1, 2, 100'000})
        runs.push_back({&w.add(), offset});
    const std::uint64_t done =
        k_go + 20'000 + 128 * 5 / 2 + 100'000 + 600'000 + 84 * 80 + 76 * 5 / 2; // no payload: 60 B
    for (one& o : runs) {
        w.at(k_go, [&o] {
            o.p->a.set_up();
            o.p->b.set_up();
            o.p->a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 0));
        });
        w.at(static_cast<std::uint64_t>(static_cast<std::int64_t>(done) + o.offset),
             [&o] { o.p->b.write(regs::RX_ARM(0), 1); });
    }
    w.at(2 * k_go, [&] {
        for (one& o : runs) {
            const irq_log& irq = *o.p->b.irqs[0];
            REQUIRE(irq.rises.size() == 1);
            const auto armed = static_cast<std::uint64_t>(static_cast<std::int64_t>(done) + o.offset);
            CHECK(irq.rises[0] == std::max(done, armed));
            CHECK(irq.up);
            CHECK(o.p->b.read(regs::IRQ_PENDING) == 1);
            CHECK(irq.up); // reading is no acknowledgement
            o.p->b.write(regs::IRQ_PENDING, 2);
            CHECK(irq.up);
            o.p->b.write(regs::IRQ_PENDING, 1);
            CHECK_FALSE(irq.up);
            o.p->b.write(regs::RX_ARM(0), 1); // reached already: at once
            CHECK(irq.up);
            o.p->b.write(regs::RX_ARM(0), 2); // a re-arm acknowledges
            CHECK_FALSE(irq.up);
            CHECK(o.p->b.read(regs::IRQ_PENDING) == 0);
            o.p->b.write(regs::RX_ARM(0), 0xffff'fff0); // 17 ago, around zero
            CHECK(irq.up);
            CHECK(o.p->b.nic.interrupts() == 3);
        }
    });
    w.run();
}

TEST_CASE("nic: each queue interrupts its core and no core takes the interrupt of another")
{
    nic_knobs k;
    k.cores = 2;
    port_and_nic w(k);
    w.events.at(k_go, [&] {
        w.node.set_up(4);
        for (std::uint32_t q = 0; q < 4; ++q)
            w.node.write(regs::RX_ARM(q), 1);
        w.port.send(frame_to(k_mac_b, k_port + 1, 100));
        w.port.send(frame_to(k_mac_b, k_port + 3, 100));
    });
    w.events.at(2 * k_go, [&] {
        CHECK_FALSE(w.node.irqs[0]->up);
        CHECK(w.node.irqs[1]->up);
        CHECK(w.node.read(regs::IRQ_PENDING) == 0b1010);
        w.port.send(frame_to(k_mac_b, k_port + 2, 100));
    });
    w.events.at(3 * k_go, [&] {
        CHECK(w.node.irqs[0]->up);
        w.node.write(regs::RX_ARM(1), 2); // core 1 serves queue 1: its line stays for queue 3, core 0's stays
        CHECK(w.node.irqs[0]->up);
        CHECK(w.node.irqs[1]->up);
        w.node.write(regs::RX_ARM(3), 2);
        CHECK(w.node.irqs[0]->up);
        CHECK_FALSE(w.node.irqs[1]->up);
    });
    w.run();
}

TEST_CASE("nic: bad entries and doorbells stop their queue alone")
{
    using edit = std::function<void(abi::nic_send_entry&)>;
    struct one {
        edit change;
        bool good_check;
        std::uint32_t error;
        nic_pair* p;
    };
    nic_world w;
    std::vector<one> runs;
    const auto bad = [&](edit e, std::uint32_t error = 1, bool good_check = true) {
        runs.push_back({std::move(e), good_check, error, &w.add()});
    };
    using entry = abi::nic_send_entry;
    bad([](entry&) {}, 1, false);
    bad([](entry& e) { e.what = static_cast<abi::nic_send>(3); });
    bad([](entry& e) { e.send_format = static_cast<abi::nic_format>(3); });
    bad([](entry& e) { e.receive_format = static_cast<abi::nic_format>(9); });
    bad([](entry& e) { e.header_bytes = 65; });
    bad([](entry& e) { e.header_bytes = 13; });
    bad([](entry& e) { e.payload_bytes = 2032 - 42 + 1; });
    bad([](entry& e) { e.payload_bytes = 0xffff'ffff; });
    bad([](entry& e) { e.payload_offset = 4 << 20; }, 2);
    bad([](entry& e) { e.payload_offset = ~std::uint64_t{0} - 7; }, 2);
    bad([](entry& e) { e.send_format = abi::nic_format::swap32, e.payload_bytes = 6; });
    bad([](entry& e) { e.send_format = abi::nic_format::swap32, e.payload_offset = 2; });
    bad([](entry& e) { e.send_format = abi::nic_format::quantised, e.scale = -1; });
    bad([](entry& e) { e.send_format = abi::nic_format::quantised, e.workers = 0; });
    bad([](entry& e) { e.send_format = abi::nic_format::quantised, e.scale = __builtin_nanf(""); });
    bad([](entry& e) { e.send_format = abi::nic_format::quantised, e.scale = __builtin_inff(); });
    bad([](entry& e) { e.what = abi::nic_send::write, e.packet_payload_bytes = 512; });
    bad([](entry& e) { e.what = abi::nic_send::write, e.packet_payload_bytes = 1024, e.queue_pair = 512; });
    bad([](entry& e) { e.what = abi::nic_send::write, e.packet_payload_bytes = 1024, e.header_bytes = 41; });
    bad([](entry& e) { e.what = abi::nic_send::measure, e.payload_bytes = 3; });
    for (one& o : runs) {
        w.at(k_go, [&o] {
            o.p->a.set_up();
            o.p->b.set_up();
            entry e = udp_entry(k_mac_b, k_mac_a, k_port, 0, 100);
            o.p->a.put(1, e); // one good before, one after
            o.change(e);
            o.p->a.put(1, e, o.good_check);
            o.p->a.post(1, udp_entry(k_mac_b, k_mac_a, k_port, 0, 100));
        });
        w.at(2 * k_go, [&o] { o.p->a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 100)); });
    }
    // Doorbells: no ring, an odd ring, a queue that does not exist, too far, backwards.
    std::vector<nic_pair*> bells;
    for (int i = 0; i < 5; ++i)
        bells.push_back(&w.add());
    w.at(k_go, [&] {
        for (nic_pair* p : bells)
            p->a.set_up();
        bells[0]->a.write(regs::TX_ENTRIES(1), 0);
        bells[1]->a.write(regs::TX_ENTRIES(1), 12);
        bells[0]->a.write(regs::TX_TAIL(1), 1);
        bells[1]->a.write(regs::TX_TAIL(1), 1);
        bells[2]->a.write(regs::TX_TAIL(4), 1);
        bells[3]->a.write(regs::TX_TAIL(1), 17);
        bells[4]->a.put(1, udp_entry(k_mac_b, k_mac_a, k_port, 0, 100));
        bells[4]->a.post(1, udp_entry(k_mac_b, k_mac_a, k_port, 0, 100));
        bells[4]->a.write(regs::TX_TAIL(1), 1);
    });
    w.run();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        INFO("entry " << i);
        nic_node& a = runs[i].p->a;
        CHECK(a.read(regs::ERROR) == runs[i].error);
        CHECK(a.read(regs::ERROR_QUEUE) == 1);
        CHECK(a.nic.sender().bad_entries.value() == 1);
        CHECK(a.read(regs::TX_HEAD(1)) == 0); // the good one was loaded with it and not yet read
        CHECK(a.read(regs::TX_HEAD(0)) == 1);
        CHECK(a.nic.blocked_on() == "NIC queue 1 is stopped by an error with 3 entries left");
        a.write(regs::ERROR, 3);
        CHECK(a.read(regs::ERROR) == 0);
    }
    for (std::size_t i = 0; i < bells.size(); ++i) {
        CHECK(bells[i]->a.read(regs::ERROR) == 4);
        CHECK(bells[i]->a.read(regs::ERROR_QUEUE) == (i == 2 ? 4 : 1));
    }
}

TEST_CASE("nic: rings outside of memory are memory errors")
{
    nic_world w;
    nic_pair& p = w.add();
    w.at(k_go, [&] {
        p.a.set_up();
        p.b.set_up();
        p.b.write(regs::RX_BASE(0), (4 << 20) - 1024, 8);
        p.a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 100));
        p.a.write(regs::TX_BASE(2), 1ull << 40, 8);
        p.a.write(regs::TX_TAIL(2), 1);
    });
    w.at(2 * k_go, [&] { p.a.post(0, udp_entry(k_mac_b, k_mac_a, k_port, 0, 100)); });
    w.run();
    CHECK(p.a.read(regs::ERROR) == 2);
    CHECK(p.a.read(regs::ERROR_QUEUE) == 2);
    CHECK(p.b.read(regs::ERROR) == 2);
    CHECK(p.b.read(regs::ERROR_QUEUE) == 0);
    CHECK(p.b.nic.receiver().dropped_disabled.value() == 1); // its queue is stopped
}

TEST_CASE("nic: measure gives the exponent of the largest magnitude")
{
    nic_world w;
    nic_knobs off;
    off.data = false;
    nic_pair& p = w.add();
    nic_pair& q = w.add(off);
    abi::nic_send_entry e;
    e.what = abi::nic_send::measure;
    e.payload_offset = 8192;
    e.payload_bytes = 1024;
    e.queue_pair = 33;
    w.at(k_go, [&] {
        std::vector<float> x(256, 0.001f);
        x[200] = -5.5f; // 2^3 > 5.5
        x[7] = __builtin_nanf("");
        p.a.memory.write_bytes(8192, x.data(), 1024);
        for (nic_pair* one : {&p, &q}) {
            one->a.set_up();
            one->a.write(regs::RX_ARM(0), 1);
            one->a.post(0, e);
        }
    });
    w.run();
    const abi::nic_completion c = p.a.completion(0, 0);
    CHECK(c.what == abi::nic_event::measured);
    CHECK(static_cast<std::int32_t>(c.immediate) == 3);
    CHECK(c.queue_pair == 33);
    const std::uint64_t expected = k_go + 20'000 + 320 + 100'000 + 2560 + 100'000 + 40 + 100'000;
    REQUIRE(p.a.irqs[0]->rises.size() == 1);
    CHECK(p.a.irqs[0]->rises[0] == expected);
    CHECK(q.a.irqs[0]->rises == p.a.irqs[0]->rises);
    CHECK(q.a.completion(0, 0).immediate == 0);
    CHECK(p.a.read(regs::TX_HEAD(0)) == 1);
}
