// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The published two-worker packet scenarios, the example of appendix A (Fig. 8), latencies, and the corner cases that
// follow from the order of the next-step table.
#include "testbenches/hw/tofino_bench.h"

using namespace weft;
using namespace weft::testing;
using namespace weft::literals;

namespace {

tofino_config two_ports()
{
    tofino_config c;
    c.ports = 4;
    return c;
}

udp_message part(std::uint32_t words, std::uint32_t m, std::uint16_t slot = 0, bool version = false,
                 std::uint32_t id = 7)
{
    udp_message u;
    u.words = ramp(words, m);
    u.slot = slot;
    u.version = version;
    u.id = id;
    return u;
}

void check_answer(const received_frame& r, std::uint32_t to, const udp_message& completing, const word_list& expected)
{
    CHECK(r.words == expected);
    CHECK(r.checksum_ok);
    CHECK(r.id_field == 0);
    CHECK(r.fields.addresses.ttl == 64);
    CHECK(r.fields.addresses.tos == 0);
    CHECK(r.fields.addresses.destination_mac == station_mac(to));
    CHECK(r.fields.addresses.destination_ip == station_ip(to));
    CHECK(r.fields.addresses.source_mac == tofino_config{}.mac);
    CHECK(r.fields.addresses.source_ip == tofino_config{}.ip);
    CHECK(r.fields.addresses.source_port == completing.port);
    CHECK(r.fields.addresses.destination_port == completing.source_port);
    CHECK(r.fields.switchml.message_type == 1);
    CHECK(r.fields.switchml.size_code == (expected.size() == 64 ? 1 : 3));
    CHECK(r.fields.switchml.job == completing.job);
    CHECK(r.fields.switchml.id == completing.id);
    CHECK(r.fields.switchml.slot == completing.slot);
    CHECK(r.fields.switchml.version == completing.version);
    CHECK(r.fields.wire_bytes == (expected.size() == 64 ? 332 : 1100));
    CHECK(r.carried_bytes == 52 + 4 * expected.size());
}

struct two_workers : tofino_world {
    explicit two_workers(std::uint32_t words_of_packet) : tofino_world(two_ports()), words(words_of_packet)
    {
        chip.add_job(job(2, words));
    }
    void give(double us, std::uint32_t worker, std::uint32_t m, std::uint16_t slot = 0, bool version = false)
    {
        send(us, worker, part(words, m, slot, version));
    }
    word_list sum(std::uint32_t m) const { return ramp(words, 2 * m); }
    /// What both stations got, in order.
    void check(std::uint32_t s, const std::vector<word_list>& expected)
    {
        INFO("station " << s);
        REQUIRE(log(s).size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
            CHECK(log(s)[i].words == expected[i]);
    }
    std::uint32_t words;
};

/// The scenario with packets of 64 and of 256 words, in two worlds of one kernel.
template <class Play, class Check> void both_sizes(Play play, Check check)
{
    two_workers narrow(64), wide(256);
    for (two_workers* w : {&narrow, &wide})
        play(*w);
    sc_core::sc_start();
    for (two_workers* w : {&narrow, &wide}) {
        INFO(w->words << " words");
        w->check_clean();
        check(*w);
        CHECK(w->chip.dropped() == w->chip.dropped(drop_reason::wasted_harvest));
    }
}

} // namespace

TEST_CASE("tofino: two workers reduce and the answer has the fields of the published program")
{
    const auto last = [](std::uint32_t words) {
        udp_message m = part(words, 3, 0, false, 0xdeadbeef);
        m.exponent0 = -3;
        m.exponent1 = 5;
        return m;
    };
    both_sizes(
        [&](two_workers& w) {
            udp_message first = part(w.words, 3);
            first.exponent0 = -7;
            first.exponent1 = 100;
            w.send(1, 0, first);
            w.send(2, 1, last(w.words));
        },
        [&](two_workers& w) {
            for (const std::uint32_t s : {0u, 1u}) {
                REQUIRE(w.log(s).size() == 1);
                check_answer(w.log(s)[0], s, last(w.words), w.sum(3));
                CHECK(w.log(s)[0].fields.switchml.exponent0 == -3);
                CHECK(w.log(s)[0].fields.switchml.exponent1 == 100);
            }
            CHECK(w.chip.stats.find("completions")->value() == 1);
            CHECK(w.chip.passes.value() == (w.words == 64 ? 3 : 15));
            CHECK(w.chip.blocked_on() == "");
        });
}

TEST_CASE("tofino: a retransmission after the reduction gets the result alone")
{
    both_sizes(
        [](two_workers& w) {
            w.give(1, 0, 1);
            w.give(2, 1, 1);
            w.give(50, 0, 1); // again
        },
        [](two_workers& w) {
            w.check(0, {w.sum(1), w.sum(1)});
            w.check(1, {w.sum(1)});
            CHECK(w.chip.retransmissions.value() == 1);
        });
}

TEST_CASE("tofino: the other set first and both sets and slots used again")
{
    both_sizes(
        [](two_workers& w) {
            w.give(1, 0, 3, 5, true); // the other set first
            w.give(2, 1, 3, 5, true);
            w.give(23, 0, 1, 6, false); // both sets of a slot, the second before the answer of the first is out
            w.give(23.1, 1, 1, 6, false);
            w.give(23.2, 1, 3, 6, true);
            w.give(23.3, 0, 3, 6, true);
            for (std::uint32_t i = 0; i < 4; ++i) { // four uses, sets alternate
                w.give(50 + 20 * i, 0, 1 + i, 7, i % 2 != 0);
                w.give(51 + 20 * i, 1, 1 + i, 7, i % 2 != 0);
            }
        },
        [](two_workers& w) {
            const std::vector<word_list> all = {w.sum(3), w.sum(1), w.sum(3), w.sum(1), w.sum(2), w.sum(3), w.sum(4)};
            w.check(0, all);
            w.check(1, all);
            CHECK(w.chip.completions.value() == 7);
        });
}

TEST_CASE("tofino: retransmissions amid a slot are ignored")
{
    both_sizes(
        [](two_workers& w) {
            w.give(1, 0, 3);
            w.give(30, 1, 3);
            // Three retransmissions while one of two is missing; with 64 words the published table reads the slot in
            // vain.
            for (const double us : {2.0, 8.0, 14.0})
                w.give(us, 0, 3, 1);
            w.give(30, 1, 3, 1);
        },
        [](two_workers& w) {
            w.check(0, {w.sum(3), w.sum(3)});
            w.check(1, {w.sum(3), w.sum(3)});
            CHECK(w.chip.duplicates_ignored.value() == 2);
        });
}

TEST_CASE("tofino: a retransmission from the previous set while the other is half full")
{
    both_sizes(
        [](two_workers& w) {
            w.give(1, 0, 1);
            w.give(2, 1, 1);
            w.give(20, 1, 3, 0, true);  // worker 1 goes on
            w.give(40, 0, 1, 0, false); // worker 0 has not got its result
            w.give(60, 0, 3, 0, true);
        },
        [](two_workers& w) {
            w.check(0, {w.sum(1), w.sum(1), w.sum(3)});
            w.check(1, {w.sum(1), w.sum(3)});
        });
}

TEST_CASE("tofino: slots used again with retransmissions in between")
{
    both_sizes(
        [](two_workers& w) {
            for (std::uint32_t i = 0; i < 3; ++i) {
                const bool version = i % 2 != 0;
                w.give(1 + 100 * i, 0, 1 + i, 2, version);
                w.give(10 + 100 * i, 0, 1 + i, 2, version); // ignored
                w.give(20 + 100 * i, 1, 1 + i, 2, version);
                w.give(40 + 100 * i, 1, 1 + i, 2, version); // answered
                w.give(60 + 100 * i, 0, 1 + i, 2, version); // answered
            }
        },
        [](two_workers& w) {
            std::vector<word_list> each;
            for (std::uint32_t i = 0; i < 3; ++i)
                for (int twice = 0; twice < 2; ++twice)
                    each.push_back(w.sum(1 + i));
            w.check(0, each);
            w.check(1, each);
            CHECK(w.chip.duplicates_ignored.value() == 3);
            CHECK(w.chip.retransmissions.value() == 6);
        });
}

TEST_CASE("tofino: the UDP ports of the completing packet come back swapped")
{
    both_sizes(
        [](two_workers& w) {
            for (std::uint32_t core = 0; core < 16; ++core)
                for (std::uint32_t worker = 0; worker < 2; ++worker) {
                    udp_message m = part(w.words, 1, static_cast<std::uint16_t>(core));
                    m.port = static_cast<std::uint16_t>(sml::k_udp_port_base + core);
                    m.source_port = static_cast<std::uint16_t>(0x4000 + core);
                    w.send(1 + 10 * core + worker, worker, m);
                }
        },
        [](two_workers& w) {
            for (std::uint32_t s = 0; s < 2; ++s) {
                REQUIRE(w.log(s).size() == 16);
                for (std::uint32_t core = 0; core < 16; ++core) {
                    CHECK(w.log(s)[core].fields.addresses.source_port == sml::k_udp_port_base + core);
                    CHECK(w.log(s)[core].fields.addresses.destination_port == 0x4000 + core);
                    CHECK(w.log(s)[core].fields.switchml.slot == core);
                }
            }
        });
}

TEST_CASE("tofino: foreign traffic is forwarded unchanged after one pass")
{
    two_workers w(64);
    w.chip.add_mac(station_mac(1), 1);
    w.chip.add_mac(station_mac(3), 3);
    w.chip.add_mac(station_mac(3), 2); // moved
    tofino_config to_station = w.config;
    to_station.mac = station_mac(3);
    to_station.ip = station_ip(3);
    udp_message m = part(256, 5); // between workers even the SwitchML ports are foreign
    std::vector<std::uint8_t> sent;
    w.events.at(10 * k_us, [&] {
        auto f = w.stations[0]->udp(to_station, m);
        sent.assign(f->payload, f->payload + f->payload_bytes);
        w.stations[0]->put(std::move(f));
        to_station.mac = station_mac(9);
        w.stations[0]->put(w.stations[0]->udp(to_station, m));
    });
    w.run();
    REQUIRE(w.log(2).size() == 1);
    CHECK(w.log(2)[0].bytes == sent);
    CHECK(w.log(2)[0].time_ps == 10 * k_us + 600'000 + 88'000); // 1100 bytes at 100 Gb/s
    CHECK(w.log(3).empty());
    CHECK(w.chip.forwarded.value() == 1);
    CHECK(w.chip.dropped(drop_reason::unknown_mac) == 1);
}

TEST_CASE("tofino: the example of appendix A event by event")
{
    tofino_world w(two_ports());
    w.chip.add_job(w.job(3, 256));
    const auto give = [&](double us, std::uint32_t worker, bool version) {
        w.send(us, worker, part(256, version ? 3 : 1, 4, version));
    };
    give(0, 0, false);    // t0
    give(1, 1, false);    // t1; t2 and t3: the packet of w3 is lost
    give(1000, 0, false); // t4
    give(1001, 1, false); // t5
    give(1002, 2, false); // t6
    give(2000, 0, false); // t8: the first response to w1 was lost at t7
    give(1010, 1, true);  // t9, t12
    give(1011, 2, true);  // t10, t13
    give(2010, 0, true);  // t11, t14, t15
    w.run();
    CHECK(w.slots.lines ==
          std::vector<std::string>{"arrival w0 slot 4 v0", "arrival w1 slot 4 v0", "ignored w0 slot 4 v0",
                                   "ignored w1 slot 4 v0", "arrival w2 slot 4 v0", "completion w2 slot 4 v0",
                                   "multicast w2 slot 4 v0", "arrival w1 slot 4 v1", "arrival w2 slot 4 v1",
                                   "unicast w0 slot 4 v0", "arrival w0 slot 4 v1", "completion w0 slot 4 v1",
                                   "multicast w0 slot 4 v1"});
    CHECK(w.log(0).size() == 3);
    CHECK(w.log(1).size() == 2);
    CHECK(w.log(2).size() == 2);
    CHECK(w.log(0)[1].words == ramp(256, 3));
    CHECK(w.log(1)[1].words == ramp(256, 9));
}

TEST_CASE("tofino: every pass costs 520 ns exactly")
{
    // Last byte in to first byte out; the answers leave at ports of their own.
    both_sizes(
        [](two_workers& w) {
            w.give(10, 0, 1);
            w.give(20, 1, 1);
            w.give(50, 0, 1); // answered
        },
        [](two_workers& w) {
            const std::uint64_t passes = w.words == 64 ? 2 : 11;
            const std::uint64_t wire = w.words == 64 ? 26'560 : 88'000;
            REQUIRE(w.log(0).size() == 2);
            CHECK(w.log(0)[0].time_ps == 20 * k_us + 600'000 + (passes - 1) * 520'000 + wire);
            CHECK(w.log(1)[0].time_ps == w.log(0)[0].time_ps);
            CHECK(w.log(0)[1].time_ps == 50 * k_us + 600'000 + (passes - 1) * 520'000 + wire);
            CHECK(w.chip.passes.value() == 2 * passes + (w.words == 64 ? 1 : 4));
            CHECK(w.chip.recirculations.value() == 2 * (passes - 1) + (w.words == 64 ? 0 : 3));
        });
}

TEST_CASE("tofino: packets without data take the same passes and times")
{
    two_workers with(256), without(256);
    for (two_workers* w : {&with, &without})
        for (std::uint32_t i = 0; i < 2; ++i) {
            udp_message m = part(256, 1, 3);
            m.exponent0 = static_cast<std::int8_t>(4 + i);
            m.carry_data = w == &with;
            w->send(5 + i, i, m);
        }
    sc_core::sc_start();
    for (std::uint32_t s = 0; s < 2; ++s) {
        REQUIRE(with.log(s).size() == 1);
        REQUIRE(without.log(s).size() == 1);
        CHECK(with.log(s)[0].time_ps == without.log(s)[0].time_ps);
        CHECK(with.log(s)[0].fields.wire_bytes == without.log(s)[0].fields.wire_bytes);
        CHECK(without.log(s)[0].fields.switchml.exponent0 == 5);
        CHECK(without.log(s)[0].carried_bytes == sml::k_udp_headers);
        CHECK(with.log(s)[0].words == with.sum(1));
    }
    CHECK(with.chip.passes.value() == without.chip.passes.value());
}

TEST_CASE("tofino: a single worker gets back what it sent")
{
    tofino_world narrow(two_ports()), wide(two_ports());
    narrow.chip.add_job(narrow.job(1, 64));
    wide.chip.add_job(wide.job(1, 256));
    for (std::uint32_t i = 0; i < 4; ++i) {
        narrow.send(1 + 30 * i, 0, part(64, i, 3, i % 2 != 0));
        wide.send(1 + 30 * i, 0, part(256, i, 3, i % 2 != 0));
    }
    wide.send(200, 0, part(256, 77, 3, true)); // a retransmission: the registers answer, not the packet
    sc_core::sc_start();
    REQUIRE(narrow.log(0).size() == 4);
    REQUIRE(wide.log(0).size() == 5);
    for (std::uint32_t i = 0; i < 4; ++i) {
        CHECK(narrow.log(0)[i].words == ramp(64, i));
        CHECK(wide.log(0)[i].words == ramp(256, i));
    }
    CHECK(wide.log(0)[4].words == ramp(256, 3));
}
