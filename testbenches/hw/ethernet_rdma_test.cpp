// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// RDMA writes of the NIC: RoCE v2, unreliable connected.
#include "hw/abi/block_float.h"
#include "hw/ethernet/frame_recorder.h"
#include "testbenches/hw/ethernet_bench.h"

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
namespace regs = weft::abi::nic;
namespace sml = weft::abi::switchml;

namespace {

constexpr std::uint64_t k_go = 10'000'000;

/// A hook that does one thing to one frame from end 0.
struct nth_frame final : ethernet_fault_if {
    std::uint64_t n = 0;
    ethernet_verdict what;
    ethernet_verdict on_frame(std::uint32_t from, std::uint64_t number, std::uint64_t, const packet&) override
    {
        return from == 0 && number == n ? what : ethernet_verdict{};
    }
};

/// A RoCE frame made by hand.
std::vector<std::uint8_t> roce_frame(sml::opcode op, std::uint32_t queue_pair, std::uint32_t psn, std::uint32_t payload,
                                     std::uint64_t address = 0, std::uint32_t length = 0, std::uint32_t immediate = 0,
                                     std::uint8_t fill = 0)
{
    const std::uint32_t headers = sml::roce_headers(op);
    std::vector<std::uint8_t> f(headers + payload + 4, fill);
    sml::addresses a;
    a.destination_mac = k_mac_b;
    a.destination_port = sml::k_udp_port_roce;
    sml::encode(a, headers - 42 + payload + 4, f.data());
    sml::encode(sml::bth{op, queue_pair, psn}, f.data() + 42);
    if (sml::begins_message(op))
        sml::encode(sml::reth{address, 1, length}, f.data() + 54);
    if (sml::has_immediate(op))
        sml::put32(f.data() + headers - 4, immediate);
    return f;
}

} // namespace

TEST_CASE("rdma: messages of 1 to 16 packets both ways")
{
    nic_world w;
    for (const bool data : {true, false}) {
        nic_knobs k;
        k.data = data;
        k.tx_entries = k.rx_entries = 64;
        w.add(k);
    }
    struct one {
        std::uint32_t bytes;
        std::uint16_t packet;
    };
    std::vector<one> messages;
    for (std::uint32_t n = 1; n <= 16; ++n)
        messages.push_back({n * 1024, 1024});
    for (std::uint32_t n = 1; n <= 16; n *= 2)
        messages.push_back({n * 256, 256});
    messages.push_back({0, 256});
    messages.push_back({1, 1024});
    messages.push_back({1025, 1024});
    w.at(k_go, [&] {
        for (auto& p : w.pairs)
            for (nic_node* n : {&p->a, &p->b}) {
                n->set_up();
                const auto bytes = random_bytes(16384, n->mac);
                n->memory.write_bytes(0, bytes.data(), bytes.size());
                n->write(regs::RX_ARM(1), static_cast<std::uint32_t>(messages.size()));
                // A queue pair belongs to the queue that last posted on it.
                for (std::uint32_t i = 0; i < messages.size(); ++i)
                    n->put(1, write_entry(n->mac == k_mac_a ? k_mac_b : k_mac_a, n->mac, 0, 65536 + i * 16384,
                                          messages[i].bytes, i % 3, 1000 + i, messages[i].packet));
                n->ring(1);
            }
    });
    w.run();
    std::uint64_t packets = 0;
    for (const one& m : messages)
        packets += std::max<std::uint32_t>(1, (m.bytes + m.packet - 1) / m.packet);
    for (auto& p : w.pairs)
        for (nic_node* n : {&p->a, &p->b}) {
            const nic_node& other = n == &p->a ? p->b : p->a;
            CHECK(n->nic.transmitter().frames.value() == packets);
            CHECK(n->read(regs::TX_HEAD(1)) == messages.size());
            CHECK(n->rx_head(0) == 0);
            REQUIRE(n->rx_head(1) == messages.size());
            CHECK(n->nic.receiver().messages_received.value() == messages.size());
            CHECK(n->nic.receiver().broken_messages.value() == 0);
            for (std::uint32_t i = 0; i < messages.size(); ++i) {
                const abi::nic_completion c = n->completion(1, i);
                CHECK(c.what == abi::nic_event::message);
                CHECK(c.immediate == 1000 + i);
                CHECK(c.queue_pair == i % 3);
                if (n->knobs.data)
                    CHECK(n->contents(65536 + i * 16384, messages[i].bytes) == other.contents(0, messages[i].bytes));
                else
                    CHECK(n->contents(65536 + i * 16384, 16384) == std::vector<std::uint8_t>(16384));
            }
            REQUIRE(n->irqs[0]->rises.size() == 1);
            CHECK(n->irqs[0]->rises == w.pairs[0]->a.irqs[0]->rises); // data or not, this way or that
        }
}

TEST_CASE("rdma: frames on the wire")
{
    timeline time("timeline");
    packet_pool pool;
    script events(time);
    nic_node a("a", time, pool, {}, k_mac_a);
    test_port b("b", time, pool, 100_Gbps);
    vector_frame_sink sink;
    frame_recorder tap("tap", time, sink, 0);
    a.nic.to_network.bind(tap.in);
    tap.out.bind(b.in);
    b.out.bind(a.nic.from_network);
    events.at(k_go, [&] {
        a.set_up();
        a.nic.set_send_psn(5, 0xff'fffe);
        a.put(0, write_entry(k_mac_b, k_mac_a, 0, 0x5000, 4096, 5, 0x12345678));
        a.put(0, write_entry(k_mac_b, k_mac_a, 0, 0x6000, 256, 5, 0x9abc, 256));
        a.ring(0);
    });
    sc_core::sc_start();
    REQUIRE(sink.records.size() == 5);
    const sml::opcode ops[] = {sml::opcode::write_first, sml::opcode::write_middle, sml::opcode::write_middle,
                               sml::opcode::write_last_immediate, sml::opcode::write_only_immediate};
    const std::uint32_t psns[] = {0xff'fffe, 0xff'ffff, 0, 1, 2}; // wraps at 24 bits
    // 14 + 20 + 8 + 12 [+ 16] [+ 4] + payload + 4, and 24 on the wire
    const std::uint32_t wire[] = {1024 + 98, 1024 + 82, 1024 + 82, 1024 + 86, 256 + 102};
    std::uint64_t at = sink.records[0].time_ps - wire[0] * 80;
    for (std::size_t i = 0; i < 5; ++i) {
        const frame_summary& f = sink.records[i].frame;
        CHECK(f.kind == frame_kind::roce);
        CHECK(f.bth.op == ops[i]);
        CHECK(f.bth.psn == psns[i]);
        CHECK(f.bth.queue_pair == 5);
        CHECK(f.wire_bytes == wire[i]);
        CHECK(f.payload_bytes == (i < 4 ? 1024 : 256));
        at += wire[i] * 80;
        CHECK(sink.records[i].time_ps == at); // back to back
        CHECK(sml::internet_checksum(b.log[i].bytes.data() + 14, 20) == 0);
        CHECK(sml::get16(b.log[i].bytes.data() + 16) + 14 == b.log[i].bytes.size());
    }
    CHECK(sink.records[0].frame.reth.address == 0x5000);
    CHECK(sink.records[0].frame.reth.key == 77);
    CHECK(sink.records[0].frame.reth.length == 4096);
    CHECK(sink.records[3].frame.immediate == 0x12345678);
    CHECK(sink.records[4].frame.reth.address == 0x6000);
    CHECK(sink.records[4].frame.immediate == 0x9abc);
}

TEST_CASE("rdma: the receiver follows PSNs over the wrap and drops what it cannot place")
{
    port_and_nic w;
    const auto send = [&](std::vector<std::uint8_t> f) { w.port.send(f); };
    w.events.at(k_go, [&] {
        w.node.set_up();
        using op = sml::opcode;
        // A message over the wrap.
        send(roce_frame(op::write_first, 3, 0xff'ffff, 256, 0x1000, 768, 0, 1));
        send(roce_frame(op::write_middle, 3, 0, 256, 0, 0, 0, 2));
        send(roce_frame(op::write_last_immediate, 3, 1, 256, 0, 0, 71, 3));
        // Nothing began it; then a gap, the rest of which is dropped although it fits together.
        send(roce_frame(op::write_middle, 4, 0, 256));
        send(roce_frame(op::write_first, 4, 10, 256, 0x2000, 1024, 0, 4));
        send(roce_frame(op::write_middle, 4, 12, 256, 0, 0, 0, 5));
        send(roce_frame(op::write_last_immediate, 4, 13, 256, 0, 0, 72, 6));
        // Two messages mixed on two queue pairs.
        send(roce_frame(op::write_first, 5, 0, 256, 0x3000, 512, 0, 7));
        send(roce_frame(op::write_first, 6, 0, 256, 0x4000, 512, 0, 8));
        send(roce_frame(op::write_last_immediate, 6, 1, 256, 0, 0, 73, 9));
        send(roce_frame(op::write_last_immediate, 5, 1, 256, 0, 0, 74, 10));
        // A message cut short by the next one.
        send(roce_frame(op::write_first, 7, 0, 256, 0x5000, 512));
        send(roce_frame(op::write_only_immediate, 7, 99, 256, 0x5000, 256, 75, 11));
        // Longer and shorter than the RETH said.
        send(roce_frame(op::write_first, 8, 0, 256, 0x6000, 300));
        send(roce_frame(op::write_last_immediate, 8, 1, 256, 0, 0, 76));
        send(roce_frame(op::write_only_immediate, 8, 0, 256, 0x6000, 512, 77));
        // Without immediate: written, no entry.
        send(roce_frame(op::write_only, 9, 0, 256, 0x7000, 256, 0, 12));
        // No such queue pair, no such opcode, lengths that lie.
        send(roce_frame(op::write_only_immediate, 512, 0, 256, 0x8000, 256, 78));
        send(roce_frame(static_cast<op>(0x04), 3, 0, 256));
        auto lie = roce_frame(op::write_only_immediate, 3, 0, 256, 0x8000, 256, 79);
        sml::put16(lie.data() + sml::k_udp + 4, 2000);
        send(lie);
        sml::put16(lie.data() + sml::k_udp + 4, 20);
        send(lie);
        lie.resize(60);
        send(lie);
    });
    w.run();
    nic_node& n = w.node;
    REQUIRE(n.rx_head(0) == 4);
    const std::uint32_t immediates[] = {71, 73, 74, 75};
    for (std::uint32_t i = 0; i < 4; ++i)
        CHECK(n.completion(0, i).immediate == immediates[i]);
    CHECK(n.contents(0x1000, 1)[0] == 1);
    CHECK(n.contents(0x1100, 1)[0] == 2);
    CHECK(n.contents(0x11ff + 0x100, 1)[0] == 3);
    CHECK(n.contents(0x2100, 1)[0] == 0);
    CHECK(n.contents(0x3100, 1)[0] == 10);
    CHECK(n.contents(0x4100, 1)[0] == 9);
    CHECK(n.contents(0x5000, 1)[0] == 11);
    CHECK(n.contents(0x7000, 1)[0] == 12);
    CHECK(n.contents(0x8000, 1)[0] == 0);
    CHECK(n.nic.receiver().dropped_packets.value() == 3);
    CHECK(n.nic.receiver().broken_messages.value() == 4); // the gap, cut short, longer, shorter
    CHECK(n.read(regs::RX_BAD) == 7);          // longer, shorter, and the last five
    CHECK(n.nic.receiver().messages_received.value() == 5);
    CHECK(n.read(regs::ERROR) == 0);
}

TEST_CASE("rdma: an address outside of memory is a memory error of the queue")
{
    port_and_nic w;
    w.events.at(k_go, [&] {
        w.node.set_up();
        w.port.send(roce_frame(sml::opcode::write_only_immediate, 3, 0, 256, (4 << 20) - 255, 256, 1));
    });
    w.run();
    CHECK(w.node.read(regs::ERROR) == 2);
    CHECK(w.node.rx_head(0) == 0);
}

TEST_CASE("rdma: a message that finds no receive entry is in memory but not told")
{
    nic_knobs k;
    k.rx_entries = 2;
    port_and_nic w(k);
    w.events.at(k_go, [&] {
        w.node.set_up();
        for (std::uint32_t i = 0; i < 3; ++i)
            w.port.send(roce_frame(sml::opcode::write_only_immediate, 3, i, 256, 0x1000 + i * 256, 256, i, 9));
    });
    w.run();
    CHECK(w.node.rx_head(0) == 2);
    CHECK(w.node.contents(0x1200, 1)[0] == 9);
    CHECK(w.node.read(regs::RX_NO_ROOM) == 1);
    CHECK(w.node.nic.receiver().messages_received.value() == 2);
}

TEST_CASE("rdma: formats convert on the way out and the answer is converted as its write said")
{
    // b plays the switch: it sees big-endian integers and answers on the same queue pair with the address of the write.
    timeline time("timeline");
    packet_pool pool;
    script events(time);
    nic_node a("a", time, pool, {}, k_mac_b); // receives what roce_frame addresses
    test_port b("b", time, pool, 100_Gbps);
    a.nic.to_network.bind(b.in);
    b.out.bind(a.nic.from_network);
    std::vector<float> x(64);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = 0.37f * static_cast<float>(i) - 9;
    const auto scale = static_cast<float>(abi::block_scale(4, 2));
    const auto post = [&](std::uint64_t address, float s, abi::nic_format f) {
        abi::nic_send_entry e = write_entry(1, 2, 0, address, 256, 5, 0, 256);
        e.send_format = e.receive_format = f;
        e.scale = s;
        e.workers = 2;
        a.post(0, e);
    };
    const auto answer = [&](std::uint64_t address, std::uint32_t immediate) {
        auto f = roce_frame(sml::opcode::write_only_immediate, 5, 1, 256, address, 256, immediate);
        for (std::uint32_t i = 0; i < 64; ++i)
            sml::put32(f.data() + 74 + 4 * i, (i * 1000003u) << 4);
        b.send(f);
    };
    events.at(k_go, [&] {
        a.set_up();
        a.memory.write_bytes(0, x.data(), 256);
        post(0x1000, scale, abi::nic_format::quantised);
    });
    events.at(2 * k_go, [&] { answer(0x1000, 1); });
    events.at(3 * k_go, [&] {
        post(0x2000, 2 * scale, abi::nic_format::quantised);
        answer(0x1000, 2); // of the write before: its own scale
    });
    events.at(4 * k_go, [&] {
        answer(0x2000, 3);
        post(0x3000, 4 * scale, abi::nic_format::quantised);
        post(0x3000, 4 * scale, abi::nic_format::quantised); // sent again: 0x2000 is still known
    });
    events.at(5 * k_go, [&] {
        answer(0x2000, 4);
        answer(0x1000, 5); // forgotten: dropped rather than wrongly scaled
    });
    events.at(6 * k_go, [&] { post(0x4000, 1, abi::nic_format::swap32); });
    events.at(7 * k_go, [&] { answer(0x5000, 6); }); // never posted: as the last write says
    sc_core::sc_start();
    CHECK(pool.leak_report() == "");
    REQUIRE(b.log.size() == 5);
    for (std::uint32_t i = 0; i < 64; ++i)
        CHECK(static_cast<std::int32_t>(sml::get32(b.log[0].bytes.data() + 74 + 4 * i)) ==
              abi::quantise(x[i], static_cast<double>(scale), 2));
    const auto check_floats = [&](std::uint64_t address, float s) {
        const auto got = a.contents(address, 256);
        for (std::uint32_t i = 0; i < 64; ++i) {
            float v;
            std::memcpy(&v, got.data() + 4 * i, 4);
            REQUIRE(v == abi::dequantise(static_cast<std::int32_t>((i * 1000003u) << 4), static_cast<double>(s)));
        }
    };
    check_floats(0x1000, scale);
    check_floats(0x2000, 2 * scale);
    const auto words = a.contents(0x5000, 256);
    for (std::uint32_t i = 0; i < 64; ++i) {
        std::uint32_t v;
        std::memcpy(&v, words.data() + 4 * i, 4);
        REQUIRE(v == (i * 1000003u) << 4);
    }
    REQUIRE(a.rx_head(0) == 5);
    const std::uint32_t immediates[] = {1, 2, 3, 4, 6};
    for (std::uint32_t i = 0; i < 5; ++i)
        CHECK(a.completion(0, i).immediate == immediates[i]);
    CHECK(a.nic.receiver().stale_messages.value() == 1);
}

TEST_CASE("rdma: anomaly sweep")
{
    // Four messages of four packets; frame n is dropped, corrupted, copied or delayed, for every n. Every message that is told is
    // whole, the others are exactly those that a missing packet breaks, and nothing else happens.
    enum anomaly { k_drop, k_corrupt, k_copy, k_delay, k_anomalies };
    nic_world w;
    struct one {
        nic_pair* p;
        nth_frame hook;
        anomaly kind;
    };
    std::vector<std::unique_ptr<one>> runs;
    for (std::uint64_t n = 0; n < 16; ++n)
        for (int kind = 0; kind < k_anomalies; ++kind) {
            runs.push_back(std::make_unique<one>());
            one& o = *runs.back();
            o.p = &w.add();
            o.kind = static_cast<anomaly>(kind);
            o.hook.n = n;
            o.hook.what.drop = kind == k_drop;
            o.hook.what.corrupt = kind == k_corrupt;
            o.hook.what.copies = kind == k_copy;
            o.hook.what.extra_delay_ps = kind == k_delay ? 100'000 : 0; // the next frame passes
            o.p->link.set_fault_hook(&o.hook);
            w.at(k_go, [&o] {
                o.p->a.set_up();
                o.p->b.set_up();
                const auto bytes = random_bytes(16384, 3);
                o.p->a.memory.write_bytes(0, bytes.data(), bytes.size());
                for (std::uint32_t i = 0; i < 4; ++i)
                    o.p->a.put(0, write_entry(k_mac_b, k_mac_a, i * 4096, 0x8000 + i * 4096, 4096, 1, i));
                o.p->a.ring(0);
            });
        }
    w.run();
    for (auto& r : runs) {
        one& o = *r;
        nic_node& b = o.p->b;
        INFO("frame " << o.hook.n << ", anomaly " << o.kind);
        const std::uint32_t hit = static_cast<std::uint32_t>(o.hook.n / 4);
        const bool last = o.hook.n % 4 == 3;
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < 4; ++i) {
            if (i != hit) {
                // The last packet of a message delayed behind the first of the next breaks both: what comes late is out of place.
                if (o.kind == k_delay && last && i == hit + 1)
                    continue;
                expected.push_back(i);
            } else if (o.kind == k_copy) {
                // A copy comes behind the shorter packet that follows: out of sequence, a first one begins the message again.
                // That of a last packet comes after the end and is dropped.
                if (last)
                    expected.push_back(i);
            } else if (o.kind == k_delay && o.hook.n == 15) {
                expected.push_back(i); // nothing passes the very last
            }
        }
        std::vector<std::uint32_t> told;
        for (std::uint32_t i = 0; i < b.rx_head(0); ++i) {
            const abi::nic_completion c = b.completion(0, i);
            told.push_back(c.immediate);
            CHECK(b.contents(0x8000 + c.immediate * 4096, 4096) == o.p->a.contents(c.immediate * 4096, 4096));
        }
        CHECK(told == expected);
        CHECK(b.read(regs::ERROR) == 0);
        CHECK(b.read(regs::RX_BAD) == (o.kind == k_corrupt ? 1 : 0));
    }
}

TEST_CASE("rdma: random traffic over bad cables is whole or not told")
{
    // Messages and frames both ways while frames are lost, damaged, copied and reordered. Each has a place of its own.
    constexpr std::uint32_t k_messages = 60;
    nic_world w;
    w.cable.impairments = {0.02, 0.02, 0.02, 0.02, duration(300'000)};
    nic_knobs k;
    k.tx_entries = 128;
    k.rx_entries = 1024;
    k.nic.queues = 2;
    k.memory.capacity = data_size(8 << 20);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        w.cable.seed = seed;
        w.add(k);
    }
    traffic_random random(9);
    std::vector<std::uint32_t> sizes(k_messages);
    for (auto& bytes : sizes)
        bytes = random.below(8) * 1024 + random.below(1024);
    const auto place = [](std::uint32_t i) { return (5u << 20) + i * 8192; };
    w.at(k_go, [&] {
        for (auto& p : w.pairs)
            for (nic_node* n : {&p->a, &p->b}) {
                const std::uint64_t other = n->mac == k_mac_a ? k_mac_b : k_mac_a;
                n->set_up(2);
                const auto bytes = random_bytes(16384, n->mac);
                n->memory.write_bytes(0, bytes.data(), bytes.size());
                for (std::uint32_t i = 0; i < k_messages; ++i) {
                    n->put(0, write_entry(other, n->mac, i * 8, place(i), sizes[i], i % 3, i));
                    n->put(1, udp_entry(other, n->mac, 0xbee1, i * 8, sizes[i] % 1900));
                }
                n->ring(0);
                n->ring(1);
            }
    });
    w.run();
    std::uint64_t told = 0, frames = 0, broken = 0;
    for (auto& p : w.pairs)
        for (nic_node* n : {&p->a, &p->b}) {
            const nic_node& other = n == &p->a ? p->b : p->a;
            for (std::uint32_t i = 0; i < n->rx_head(0); ++i, ++told) {
                const std::uint32_t m = n->completion(0, i).immediate;
                REQUIRE(m < k_messages);
                REQUIRE(n->contents(place(m), sizes[m]) == other.contents(m * 8, sizes[m]));
            }
            for (std::uint32_t i = 0; i < n->rx_head(1); ++i, ++frames) {
                const auto got = n->received(1, i);
                bool known = false;
                for (std::uint32_t m = 0; m < k_messages && !known; ++m) {
                    const std::uint32_t size = sizes[m] % 1900;
                    const auto sent = other.contents(m * 8, size);
                    known = got.size() == std::max<std::size_t>(60, 42 + size) &&
                            std::equal(sent.begin(), sent.end(), got.begin() + 42);
                }
                REQUIRE(known);
            }
            broken += n->nic.receiver().broken_messages.value();
            CHECK(n->read(regs::ERROR) == 0);
            CHECK(n->read(regs::RX_BAD) > 0);
        }
    // 720 messages of about 5 packets, each hit with a chance of 6 %, and 720 frames that arrive with one of 96 %.
    CHECK(broken > 50);
    CHECK(told > 400);
    CHECK(frames > 650);
}

TEST_CASE("rdma: the rest of a broken message is counted and the stall report names the queue pair")
{
    port_and_nic w;
    w.events.at(k_go, [&] {
        w.node.set_up();
        w.port.send(roce_frame(sml::opcode::write_first, 3, 7, 256, 0x1000, 1024));
    });
    w.run();
    CHECK(w.node.nic.blocked_on() == "NIC queue pair 3 waits for 768 bytes of a message, PSN 8");
}
