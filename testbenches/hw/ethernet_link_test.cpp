// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Transmitter, cable and recorder.
#include "hw/ethernet/frame_recorder.h"
#include "testbenches/hw/ethernet_bench.h"

#include <cmath>
#include <set>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

/// Two ports on a cable.
struct cable_bench {
    timeline time{"timeline"};
    packet_pool pool;
    script events{time};
    test_port a, b;
    ethernet_link link;
    cable_bench(bandwidth rate, data_size queue, const ethernet_link_config& c = {}, std::uint32_t stream = 0)
        : a(sc_core::sc_gen_unique_name("a"), time, pool, rate, queue),
          b(sc_core::sc_gen_unique_name("b"), time, pool, rate, queue),
          link(sc_core::sc_gen_unique_name("link"), time, pool, c, stream)
    {
        a.out.bind(link.in(0));
        link.out(0).bind(a.in);
        b.out.bind(link.in(1));
        link.out(1).bind(b.in);
    }
    void run()
    {
        sc_core::sc_start();
        CHECK(pool.leak_report() == "");
    }
};

ethernet_link_config impaired(double loss, double corruption, double duplication, double reordering)
{
    ethernet_link_config c;
    c.impairments.loss = loss;
    c.impairments.corruption = corruption;
    c.impairments.duplication = duplication;
    c.impairments.reordering = reordering;
    return c;
}

struct function_hook final : ethernet_fault_if {
    std::function<ethernet_verdict(std::uint32_t, std::uint64_t)> decide;
    ethernet_verdict on_frame(std::uint32_t from, std::uint64_t number, std::uint64_t, const packet&) override
    {
        return decide(from, number);
    }
};

} // namespace

TEST_CASE("ethernet: goodput on a full wire is payload over payload plus 76 bytes")
{
    // Sapio et al.: 63, 77 and 93 %; the overhead is 52 bytes of headers, 4 of check sequence, 20 of preamble and gap.
    cable_bench w(100_Gbps, 0_B);
    std::uint64_t expected_ps = 0;
    w.events.at(0, [&] {
        for (const std::uint32_t payload : {128u, 256u, 1024u})
            for (int i = 0; i < 100; ++i)
                CHECK(w.a.send(payload + 52));
    });
    w.run();
    REQUIRE(w.b.log.size() == 300);
    for (std::size_t i = 0; i < 300; ++i) {
        expected_ps += (i < 100 ? 128 + 76 : i < 200 ? 256 + 76 : 1024 + 76) * 80;
        CHECK(w.b.log[i].time_ps == expected_ps + 500'000);
    }
    CHECK(std::lround(100.0 * 128 / (128 + 76)) == 63);
    CHECK(std::lround(100.0 * 256 / (256 + 76)) == 77);
    CHECK(std::lround(100.0 * 1024 / (1024 + 76)) == 93);
    CHECK(w.a.mac.busy_time.value() == expected_ps);
    CHECK(w.a.mac.wire_bytes.value() == 100 * (204 + 332 + 1100));
    CHECK(w.a.mac.bytes.value() == 100 * (180 + 308 + 1076));
    CHECK(w.a.mac.frames.value() == 300);
}

TEST_CASE("ethernet: no drift at rates of no whole picoseconds per byte")
{
    cable_bench w(bandwidth(3'000'000'000), data_size(10'000'000)); // 2666.67 ps a byte
    std::uint64_t bytes = 0;
    w.events.at(0, [&] {
        for (int i = 0; i < 2000; ++i) {
            CHECK(w.a.send(i % 3 == 0 ? 1077 : 61));
            bytes += i % 3 == 0 ? 1101 : 85;
            CHECK(w.a.mac.busy_until_ps() == (bytes * 8000 + 2) / 3);
        }
        CHECK(w.a.mac.queued_bytes(0) == bytes);
        CHECK(w.a.mac.max_queue_bytes() == bytes);
        CHECK(w.a.mac.wire_time_ps(3) == 8000);
        CHECK(w.a.mac.wire_time_ps(1) == 2667);
    });
    // An idle wire starts afresh.
    w.events.at(1'000'000'000'000, [&] {
        w.a.send(61);
        CHECK(w.a.mac.busy_until_ps() == 1'000'000'000'000 + (85 * 8000 + 2) / 3);
    });
    w.run();
    CHECK(w.b.log[1999].time_ps == (bytes * 8000 + 2) / 3 + 500'000);
}

namespace {
void drop_tail(std::uint64_t rate)
{
    // On the wire a frame takes 24 bytes more.
    cable_bench w(bandwidth(rate), 3000_B);
    w.events.at(0, [&] {
        CHECK(w.a.send(1076));
        CHECK(w.a.send(1076));
        CHECK_FALSE(w.a.send(801 - 24)); // 3001 bytes
        CHECK(w.a.send(800 - 24));       // 3000
        CHECK(w.a.mac.queued_bytes(w.time.now_ps()) == 3000);
        CHECK_FALSE(w.a.send(60));
    });
    // When 84 bytes have left, a minimal frame fits; a picosecond before it does not.
    const std::uint64_t left_ps = (84 * 8'000'000'000'000ull + rate - 1) / rate;
    w.events.at(left_ps - 1, [&] { CHECK_FALSE(w.a.send(60)); });
    w.events.at(left_ps, [&] {
        CHECK(w.a.send(60));
        CHECK_FALSE(w.a.send(60));
    });
    w.run();
    CHECK(w.b.log.size() == 4);
    CHECK(w.a.mac.drops.value() == 4);
    CHECK(w.a.mac.max_queue_bytes() == 3000);
}
} // namespace

TEST_CASE("ethernet: drop tail at the right byte") { drop_tail(100'000'000'000); }
TEST_CASE("ethernet: drop tail at the right byte at an odd rate") { drop_tail(30'000'000'000); }

TEST_CASE("ethernet: a frame crosses in its wire time and the propagation both ways")
{
    ethernet_link_config c;
    c.propagation = 1_us;
    cable_bench w(10_Gbps, 0_B, c);
    w.events.at(5'000'000, [&] {
        w.a.send(1076, 1);
        w.b.send(10, 2); // padded to 60
    });
    w.run();
    REQUIRE(w.b.log.size() == 1);
    REQUIRE(w.a.log.size() == 1);
    CHECK(w.b.log[0].time_ps == 5'000'000 + 1100 * 800 + 1'000'000);
    CHECK(w.a.log[0].time_ps == 5'000'000 + 84 * 800 + 1'000'000);
    CHECK(w.a.log[0].wire_bytes == 84);
}

TEST_CASE("ethernet: loss is as likely as asked and reproducible and independent between links and directions")
{
    constexpr int k_frames = 20'000;
    struct one {
        std::uint64_t seed;
        std::uint32_t stream;
        double corruption;
    };
    timeline time("timeline");
    packet_pool pool;
    std::vector<std::set<std::uint32_t>> arrived;
    std::vector<std::unique_ptr<test_port>> ports;
    std::vector<std::unique_ptr<ethernet_link>> links;
    const double p = 0.01;
    for (const one& o : {one{1, 0, 0}, one{1, 0, 0.5}, one{1, 1, 0}, one{2, 0, 0}}) {
        ethernet_link_config c = impaired(p, o.corruption, 0, 0);
        c.seed = o.seed;
        links.push_back(std::make_unique<ethernet_link>(sc_core::sc_gen_unique_name("link"), time, pool, c, o.stream));
        for (std::uint32_t end = 0; end < 2; ++end) {
            ports.push_back(std::make_unique<test_port>(sc_core::sc_gen_unique_name("port"), time, pool, 100_Gbps));
            ports.back()->out.bind(links.back()->in(end));
            links.back()->out(end).bind(ports.back()->in);
            ports.back()->keep_bytes = false;
        }
    }
    script events(time);
    events.at(0, [&] {
        for (int i = 0; i < k_frames; ++i)
            for (auto& port : ports)
                port->send(60, static_cast<std::uint32_t>(i));
    });
    sc_core::sc_start();
    CHECK(pool.leak_report() == "");
    for (auto& port : ports) {
        arrived.emplace_back();
        for (const seen_frame& f : port->log)
            arrived.back().insert(f.message);
    }
    const double sigma = std::sqrt(k_frames * p * (1 - p));
    std::vector<std::set<std::uint32_t>> lost(arrived.size());
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        for (std::uint32_t n = 0; n < k_frames; ++n)
            if (arrived[i].count(n) == 0)
                lost[i].insert(n);
        CHECK(std::abs(static_cast<double>(lost[i].size()) - k_frames * p) < 4 * sigma);
        CHECK(links[i / 2]->from(1 - i % 2).lost.value() == lost[i].size());
        CHECK(links[i / 2]->from(1 - i % 2).frames.value() == k_frames);
    }
    // Port 2i+1 hears direction 0 of link i. The same seed and stream lose the same frames, corruption or not.
    CHECK(lost[1] == lost[3]);
    CHECK(lost[0] == lost[2]);
    const double corrupted = static_cast<double>(links[1]->from(0).corrupted.value());
    CHECK(std::abs(corrupted - k_frames * (1 - p) * 0.5) < 4 * std::sqrt(k_frames * 0.25));
    // Any other pair shares frames as two independent sequences do: about p * p of them.
    const std::vector<std::size_t> different{0, 1, 4, 5, 6, 7};
    for (const std::size_t i : different)
        for (const std::size_t j : different)
            if (i < j) {
                std::size_t both = 0;
                for (const std::uint32_t n : lost[i])
                    both += lost[j].count(n);
                CHECK(static_cast<double>(both) < k_frames * p * p + 4 * std::sqrt(k_frames * p * p) + 1);
            }
}

TEST_CASE("ethernet: impairments corrupt and duplicate and reorder")
{
    ethernet_link_config c = impaired(0, 0.05, 0.05, 0.05);
    c.impairments.reorder_delay = 1_us;
    cable_bench w(100_Gbps, 0_B, c);
    w.events.at(0, [&] {
        for (std::uint32_t i = 0; i < 4000; ++i)
            w.a.send(100, i);
    });
    w.run();
    const auto& seen = w.link.from(0);
    const auto near = [](const counter& n) { return std::abs(static_cast<double>(n.value()) - 200) < 4 * 13.8; };
    CHECK(near(seen.corrupted));
    CHECK(near(seen.duplicated));
    CHECK(near(seen.delayed));
    CHECK(w.b.log.size() == 4000 + seen.duplicated.value());
    std::vector<int> copies(4000);
    std::uint64_t corrupted = 0, late = 0;
    for (std::size_t i = 0; i < w.b.log.size(); ++i) {
        const seen_frame& f = w.b.log[i];
        ++copies[f.message];
        int flipped = 0;
        for (const std::uint8_t byte : f.bytes)
            flipped += __builtin_popcount(byte ^ (f.message & 0xff));
        CHECK(flipped == (f.corrupted ? 1 : 0));
        corrupted += f.corrupted && copies[f.message] == 1;
        const std::uint64_t on_time = (f.message + 1) * 124 * 80 + 500'000;
        const std::uint64_t delay = f.time_ps - on_time;
        CHECK((delay == 0 || delay == 1'000'000 || delay == 124 * 80 || delay == 1'000'000 + 124 * 80));
        late += delay == 1'000'000 || (copies[f.message] == 1 && delay > 1'000'000);
    }
    CHECK(corrupted == seen.corrupted.value());
    CHECK(late == seen.delayed.value());
    for (const int n : copies)
        CHECK((n == 1 || n == 2));
    // The kinds of impairments are independent of each other: about 10 frames have met two of them.
    int corrupted_twice = 0;
    for (const seen_frame& f : w.b.log)
        corrupted_twice += f.corrupted && copies[f.message] == 2;
    CHECK(corrupted_twice / 2 < 10 + 4 * 4);
}

TEST_CASE("ethernet: a cable that is down loses both directions and a hook decides per frame")
{
    ethernet_link_config c;
    c.outages.push_back({duration(1'000'000), duration(2'000'000)});
    cable_bench w(100_Gbps, 0_B, c);
    // The last byte enters the cable 84 * 80 ps after the call.
    constexpr std::uint64_t k_wire = 84 * 80;
    for (const std::uint64_t at : {999'999 - k_wire, 1'999'999 - k_wire})
        w.events.at(at, [&] { w.a.send(60, 1); });
    for (const std::uint64_t at : {1'000'000 - k_wire, 2'000'000 - k_wire})
        w.events.at(at, [&] { w.b.send(60, 1); });
    function_hook hook;
    hook.decide = [](std::uint32_t from, std::uint64_t number) {
        ethernet_verdict v;
        if (from == 0 && number == 2)
            v.drop = true;
        if (from == 0 && number == 3)
            v.copies = 2;
        if (from == 1 && number == 2)
            v.corrupt = true;
        if (from == 1 && number == 3)
            v.extra_delay_ps = 123'456;
        return v;
    };
    w.link.set_fault_hook(&hook);
    w.events.at(10'000'000, [&] {
        for (std::uint32_t i = 4; i < 7; ++i) {
            w.a.send(60, i);
            w.b.send(60, i);
        }
    });
    w.run();
    CHECK(w.link.from(0).lost_in_outage.value() == 1);
    CHECK(w.link.from(1).lost_in_outage.value() == 1);
    CHECK(w.link.from(0).lost.value() == 2);
    CHECK(w.link.from(1).lost.value() == 1);
    std::vector<std::uint32_t> got;
    for (const seen_frame& f : w.b.log)
        got.push_back(f.message);
    CHECK(got == std::vector<std::uint32_t>{1, 5, 5, 6, 5});
    got.clear();
    for (const seen_frame& f : w.a.log)
        got.push_back(f.message);
    CHECK(got == std::vector<std::uint32_t>{1, 4, 6, 5});
    CHECK(w.a.log[1].corrupted);
}

TEST_CASE("ethernet: a recorder decodes frames and changes nothing")
{
    namespace sml = abi::switchml;
    timeline time("timeline");
    packet_pool pool;
    script events(time);
    test_port a("a", time, pool, 100_Gbps), b("b", time, pool, 100_Gbps);
    vector_frame_sink sink;
    frame_recorder there("there", time, sink, 0), back("back", time, sink, 1);
    a.out.bind(there.in);
    there.out.bind(b.in);
    b.out.bind(back.in);
    back.out.bind(a.in);

    sml::addresses from_to;
    from_to.destination_mac = 0x02'00'00'00'00'ff;
    from_to.source_mac = 0x02'00'00'00'00'01;
    from_to.destination_port = sml::k_udp_port_base + 3;
    std::vector<std::uint8_t> frame(52 + 1024);
    sml::encode(from_to, 10 + 1024, frame.data());
    sml::header h;
    h.job = 1;
    h.slot = 5;
    h.version = true;
    h.id = 7;
    h.exponent0 = 3;
    h.exponent1 = -4;
    sml::encode(h, frame.data() + sml::k_header);
    std::vector<std::uint8_t> roce(42 + 12 + 16 + 4 + 256 + 4);
    from_to.destination_port = sml::k_udp_port_roce;
    sml::encode(from_to, 12 + 16 + 4 + 256 + 4, roce.data());
    sml::encode(sml::bth{sml::opcode::write_only_immediate, 0x20005, 9}, roce.data() + 42);
    sml::encode(sml::reth{0x1000, 11, 256}, roce.data() + 54);
    sml::put32(roce.data() + 70, 0xabcd0102);
    std::vector<std::uint8_t> arp(60);
    sml::put16(arp.data() + 12, 0x0806);
    events.at(1000, [&] {
        a.send(frame);
        b.send(roce);
        a.send(arp);
    });
    sc_core::sc_start();
    REQUIRE(b.log.size() == 2);
    CHECK(b.log[0].time_ps == 1000 + 1100 * 80);
    CHECK(b.log[0].bytes == frame);
    REQUIRE(sink.records.size() == 3);
    CHECK(sink.records[0].time_ps == 1000 + 1100 * 80);
    CHECK(sink.records[0].frame.kind == frame_kind::switchml);
    CHECK(sink.records[1].direction == 1);
    CHECK(sink.records[1].frame.reth.address == 0x1000);
    CHECK(to_string(sink.records[0]) ==
          "89 ns direction 0: SwitchML job 1 slot 5 version 1 id 7 exponents 3/-4, 256 words, "
          "02:00:00:00:00:01 > 02:00:00:00:00:ff, 1100 B");
    CHECK(
        to_string(sink.records[1].frame) ==
        "RoCE write only with immediate queue pair 0x20005 PSN 9 address 0x1000 key 0xb length 256 immediate 0xabcd0102, "
        "256 B payload, 02:00:00:00:00:01 > 02:00:00:00:00:ff, 358 B");
    CHECK(to_string(sink.records[2].frame) == "Ethernet type 0x0806, 00:00:00:00:00:00 > 00:00:00:00:00:00, 84 B");
    // Truncated at any length, a frame is decoded without reading beyond it.
    for (std::size_t n = 0; n < roce.size(); ++n) {
        packet_ptr p = make_frame(pool, static_cast<std::uint32_t>(roce.size()), static_cast<std::uint32_t>(n));
        if (n > 0)
            std::memcpy(p->payload, roce.data(), n);
        CHECK_FALSE(frame_text(*p).empty());
        CHECK((decode_frame(*p).kind == frame_kind::roce) == (n >= 74));
    }
}

TEST_CASE("ethernet: configurations that make no sense are refused")
{
    ethernet_link_config c = impaired(1.5, -0.1, 0, 0);
    c.outages.push_back({duration(5), duration(5)});
    const auto problems = c.validate();
    REQUIRE(problems.size() == 3);
    CHECK(problems[0].key == "impairments.loss");
    CHECK(problems[1].key == "impairments.corruption");
    CHECK(problems[2].key == "outages.0");
    CHECK(ethernet_link_config{}.validate().empty());
    CHECK(nic_config{}.validate().empty());
    nic_config n;
    n.queues = 17;
    n.queue_pairs = 0;
    n.rate = bandwidth(1);
    n.prefetch = 0;
    n.read_ahead = 1;
    n.receive_buffer = 1_B;
    n.register_latency = duration(2'000'000'000);
    CHECK(n.validate().size() == 7);
}
