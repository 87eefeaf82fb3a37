// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Corner cases that follow from the order of the published tables, RDMA, drops by reason, queues, Algorithm 1,
// admission.
#include "testbenches/hw/tofino_bench.h"

#include <cmath>

using namespace weft;
using namespace weft::testing;
using namespace weft::literals;

namespace {

tofino_config few_ports(std::uint32_t n = 4)
{
    tofino_config c;
    c.ports = n;
    return c;
}
udp_message part(std::uint32_t words, std::uint32_t m, std::uint16_t slot = 0, bool version = false)
{
    udp_message u;
    u.words = ramp(words, m);
    u.slot = slot;
    u.version = version;
    return u;
}
std::string refused(const tofino_switch& chip, const tofino_job& job) { return chip.refusal(job); }
bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("tofino corner 1: a duplicate while one worker is missing is read in vain with 64 words and not with 256")
{
    tofino_world narrow(few_ports()), wide(few_ports());
    narrow.chip.add_job(narrow.job(2, 64));
    wide.chip.add_job(wide.job(2, 256));
    for (const double us : {1.0, 5.0}) {
        narrow.send(us, 0, part(64, 1));
        wide.send(us, 0, part(256, 1));
    }
    sc_core::sc_start();
    CHECK(narrow.chip.dropped(drop_reason::wasted_harvest) == 1);
    CHECK(narrow.chip.passes.value() == 3);
    CHECK(wide.chip.dropped() == 0);
    CHECK(wide.chip.passes.value() == 5);
    CHECK(narrow.log(0).empty());
    CHECK(wide.log(0).empty());
    CHECK(says(wide.chip.blocked_on(), "job 1 slot 0 set 0 waits for worker 1 of 2"));
}

TEST_CASE("tofino corners 2 and 3: the drop simulator acts before the bitmap and kills all copies of a result together")
{
    tofino_config c = few_ports();
    c.ingress_drop = 1;
    tofino_world ingress(c);
    c.ingress_drop = 0;
    c.egress_drop = 1;
    tofino_world egress(c);
    for (tofino_world* w : {&ingress, &egress}) {
        w->chip.add_job(w->job(2, 64));
        w->send(1, 0, part(64, 1));
        w->send(2, 1, part(64, 1));
        w->send(3, 1, part(64, 1));
    }
    sc_core::sc_start();
    CHECK(ingress.chip.dropped(drop_reason::ingress_simulated) == 3);
    CHECK(ingress.chip.passes.value() == 0);
    CHECK(ingress.slots.lines.empty());
    CHECK(egress.chip.dropped(drop_reason::egress_simulated) == 2);
    CHECK(egress.chip.completions.value() == 1);
    CHECK(egress.log(0).empty());
    CHECK(egress.log(1).empty());
}

TEST_CASE("tofino: the drop simulator follows the rule of the published program")
{
    // 16 bits plus floor(65535 p), saturated, equal to 0xffff: p = 0.01 drops 656 of 65536.
    for (const double p : {0.0001, 0.01, 0.5}) {
        drop_simulator s(p, 7);
        std::uint64_t dropped = 0;
        const std::uint64_t n = 4'000'000;
        for (std::uint64_t i = 0; i < n; ++i)
            dropped += s.drops() ? 1 : 0;
        const double expected = (static_cast<double>(static_cast<std::uint32_t>(65535 * p)) + 1) / 65536;
        CHECK(std::abs(static_cast<double>(dropped) / n - expected) < 4 * std::sqrt(expected / n));
    }
    drop_simulator never(0, 7), always(1, 7);
    for (int i = 0; i < 200'000; ++i) {
        REQUIRE(!never.drops());
        REQUIRE(always.drops());
    }
}

TEST_CASE("tofino corner 4: a full recirculation queue loses a packet whose first pipes have counted it")
{
    tofino_config c = few_ports();
    c.recirculation_queue = data_size(2048);
    c.recirculation_rate = bandwidth(1'000'000'000);
    tofino_world w(c);
    w.chip.add_job(w.job(2, 256));
    for (std::uint16_t slot = 0; slot < 4; ++slot)
        w.send(1 + 0.1 * slot, 0, part(256, 1, slot));
    for (std::uint16_t slot = 0; slot < 4; ++slot)
        w.send(500 + 200 * slot, 1, part(256, 1, slot)); // one at a time
    w.run();
    CHECK(w.chip.dropped(drop_reason::recirculation_queue) == 2);
    // Pipe 0 holds all four slots complete; pipes 1 to 3 lack worker 0 in those that were lost.
    CHECK(w.chip.completions.value() == 4);
    CHECK(w.log(0).size() == 2);
    CHECK(w.log(1).size() == 2);
    for (const received_frame& r : w.log(0))
        CHECK(r.words == ramp(256, 2));
}

TEST_CASE("tofino: recirculation ports serialise what is left of a packet")
{
    // At 1 Gb/s the wire is longer than a pass: 844, 588, 332 bytes to pipes 1 to 3, then 204 to 972 in steps of 128.
    tofino_config c = few_ports();
    c.recirculation_rate = bandwidth(1'000'000'000);
    tofino_world w(c);
    w.chip.add_job(w.job(1, 256));
    w.send(10, 0, part(256, 1));
    w.run();
    std::uint64_t expected = 10 * k_us + 600'000 + 88'000;
    for (const std::uint64_t bytes : {844, 588, 332, 204, 332, 460, 588, 716, 844, 972})
        expected += std::max<std::uint64_t>(520'000, 200'000 + bytes * 8000);
    REQUIRE(w.log(0).size() == 1);
    CHECK(w.log(0)[0].time_ps == expected);
}

TEST_CASE("tofino corner 5: a set that is used again without the other one in between counts as a retransmission")
{
    tofino_world w(few_ports());
    w.chip.add_job(w.job(2, 64));
    for (std::uint32_t i = 0; i < 2; ++i) {
        w.send(1 + 50 * i, 0, part(64, 1 + 4 * i));
        w.send(2 + 50 * i, 1, part(64, 1 + 4 * i));
    }
    w.run();
    CHECK(w.chip.completions.value() == 1);
    CHECK(w.chip.retransmissions.value() == 2);
    for (const received_frame& r : w.log(0))
        CHECK(r.words == ramp(64, 2));
}

namespace {

rdma_message write(sml::opcode op, std::uint32_t psn, std::uint32_t slot, word_list words, std::uint32_t worker = 0)
{
    rdma_message m;
    m.op = op;
    m.worker = worker;
    m.queue = 5;
    m.psn = psn;
    m.reth = {0x1234'5678'9000, slot << 1, 4096};
    m.immediate = sml::immediate(0xabc, 7, -9);
    m.words = std::move(words);
    return m;
}
word_list alternating(std::uint32_t words)
{
    word_list w(words);
    for (std::uint32_t i = 0; i < words; ++i)
        w[i] = i % 2 == 0 ? i : 0u - i;
    return w;
}

} // namespace

TEST_CASE("tofino RDMA: a single worker gets its write-only packet back unchanged")
{
    tofino_world w(few_ports());
    tofino_job j = w.job(1, 64);
    j.protocol = sml::transport::rdma;
    j.workers[0].queue_pair_base = 0x100;
    w.chip.add_job(j);
    w.send(1, 0, write(sml::opcode::write_only_immediate, 99, 3, alternating(64)));
    w.send(9, 0, write(sml::opcode::write_only_immediate, 4, 4, alternating(64)));
    w.run();
    REQUIRE(w.log(0).size() == 2);
    const received_frame& r = w.log(0)[0];
    CHECK(r.words == alternating(64));
    CHECK(r.fields.bth.op == sml::opcode::write_only_immediate);
    CHECK(r.fields.bth.queue_pair == 0x105);
    CHECK(r.fields.bth.psn == 0);
    CHECK(w.log(0)[1].fields.bth.psn == 1);
    CHECK(r.fields.reth.address == 0x1234'5678'9000);
    CHECK(r.fields.reth.length == 4096);
    CHECK(r.fields.immediate == sml::immediate(0xabc, 7, -9));
    CHECK(r.fields.addresses.tos == 2);
    CHECK(r.fields.addresses.do_not_fragment);
    CHECK(r.fields.addresses.destination_port == sml::k_udp_port_roce);
    CHECK(r.fields.addresses.destination_mac == station_mac(0));
    CHECK(r.checksum_ok);
    CHECK(r.bytes.size() == 74 + 256 + 4);
}

TEST_CASE("tofino RDMA: messages of four packets fill consecutive slots and a gap stops the message until the next")
{
    tofino_world w(few_ports());
    tofino_job j = w.job(2, 256, 64);
    j.protocol = sml::transport::rdma;
    w.chip.add_job(j);
    const sml::opcode ops[] = {sml::opcode::write_first, sml::opcode::write_middle, sml::opcode::write_middle,
                               sml::opcode::write_last_immediate};
    const auto message = [&](double us, std::uint32_t worker, std::uint32_t psn, int lost) {
        for (std::uint32_t i = 0; i < 4; ++i)
            if (static_cast<int>(i) != lost)
                w.send(us + 0.2 * i, worker,
                       write(ops[i], (psn + i) & sml::k_psn_mask, 8, ramp(256, 10 * (i + 1) + worker), worker));
    };
    message(1, 0, 0xff'fffe, -1); // numbers wrap
    message(2, 1, 500, 1);        // its second packet is lost: the third and fourth are dropped
    message(100, 1, 504, -1); // the whole message again: its first packet is answered, the rest complete their slots
    message(200, 0, 2, -1);   // worker 0 lacked the first three answers, say
    w.run();
    CHECK(w.chip.dropped(drop_reason::rdma_sequence) == 2);
    REQUIRE(w.log(0).size() == 8);
    REQUIRE(w.log(1).size() == 5);
    std::uint32_t psn = 0;
    for (const received_frame& r : w.log(0)) {
        const std::uint32_t i = psn % 4;
        INFO("packet " << psn);
        CHECK(r.fields.bth.psn == psn++);
        CHECK(r.fields.bth.op == ops[i]);
        CHECK(r.words == ramp(256, 20 * (i + 1) + 1));
        if (i == 3)
            CHECK(r.fields.immediate == sml::immediate(0xabc, 7, -9));
    }
    CHECK(w.log(1)[1].fields.bth.op == sml::opcode::write_first);
}

TEST_CASE("tofino RDMA: after a gap even the packet that was missing is dropped until a message begins")
{
    tofino_config c = few_ports();
    c.stale_filter = true;
    tofino_world w(c);
    tofino_job j = w.job(1, 64, 64);
    j.protocol = sml::transport::rdma;
    w.chip.add_job(j);
    w.send(1, 0, write(sml::opcode::write_first, 0, 0, ramp(64, 1)));
    w.send(2, 0, write(sml::opcode::write_middle, 2, 0, ramp(64, 1)));         // behind a gap
    w.send(3, 0, write(sml::opcode::write_middle, 1, 0, ramp(64, 1)));         // late
    w.send(4, 0, write(sml::opcode::write_only_immediate, 4, 9, ramp(64, 5))); // begins anew
    w.send(5, 0, write(sml::opcode::write_only_immediate, 3, 9, ramp(64, 5))); // older than that
    w.run();
    CHECK(w.chip.dropped(drop_reason::rdma_sequence) == 2);
    CHECK(w.chip.dropped(drop_reason::stale) == 1);
    CHECK(w.log(0).size() == 2);
}

TEST_CASE("tofino: passes use the recirculation ports of the published tables")
{
    tofino_config c = few_ports(32);
    tofino_world w(c);
    tofino_job j = w.job(4, 256);
    w.chip.add_job(j);
    tofino_job turned_job = w.job(0, 64);
    turned_job.number = 2;
    turned_job.home_pipe = 1;
    turned_job.multicast_group = 2;
    turned_job.register_slot = 100;
    turned_job.workers.push_back({station_mac(20), station_ip(20), 20});
    w.chip.add_job(turned_job);
    for (std::uint32_t worker = 0; worker < 4; ++worker)
        w.send(1 + worker, worker, part(256, 1));
    udp_message m = part(64, 1);
    m.job = 2;
    w.send(1, 20, m);
    w.run();
    const auto bytes = [](std::uint32_t payload) { return ethernet_wire_bytes(52 + payload); };
    for (std::uint32_t worker = 0; worker < 4; ++worker)
        for (std::uint32_t k = 1; k <= 3; ++k)
            CHECK(w.chip.recirculated_bytes(128 * k + 4 * worker) == bytes(1024 - 256 * k));
    const std::uint32_t ports[] = {452, 324, 448, 196, 192, 64, 68};
    for (std::uint32_t k = 0; k < 7; ++k)
        CHECK(w.chip.recirculated_bytes(ports[k]) == bytes(128 * (k + 1)));
    CHECK(w.chip.recirculated_bytes(68 + 128, 1) == bytes(128));
    CHECK(w.log(20).size() == 1);
}

TEST_CASE("tofino corner 6: exponents count in the last packet of an RDMA message alone")
{
    tofino_world w(few_ports());
    tofino_job j = w.job(1, 64, 64);
    j.protocol = sml::transport::rdma;
    w.chip.add_job(j);
    rdma_message first = write(sml::opcode::write_first, 0, 0, ramp(64, 1));
    rdma_message last = write(sml::opcode::write_last_immediate, 1, 0, ramp(64, 2));
    w.send(1, 0, first);
    w.send(2, 0, last);
    w.run();
    REQUIRE(w.log(0).size() == 2);
    CHECK(w.log(0)[1].fields.immediate == sml::immediate(0xabc, 7, -9));
    CHECK(says(w.chip.describe_slot(0, 0), "slot 0"));
}

TEST_CASE("tofino: every bad frame is dropped and counted by its reason")
{
    tofino_config c = few_ports();
    tofino_world w(c);
    w.chip.add_job(w.job(2, 256));
    tofino_job rdma = w.job(1, 64);
    rdma.number = 2;
    rdma.protocol = sml::transport::rdma;
    rdma.register_slot = 100;
    rdma.multicast_group = 2;
    rdma.queues = 8;
    w.chip.add_job(rdma);
    struct one {
        drop_reason reason;
        std::function<packet_ptr(station&)> make;
    };
    const auto damaged = [&](udp_message m, std::function<void(packet&)> f) {
        return [&c, m, f](station& s) {
            packet_ptr p = s.udp(c, m);
            f(*p);
            return p;
        };
    };
    const auto set16 = [](std::uint32_t at, std::uint32_t v, bool fix) {
        return [=](packet& p) {
            sml::put16(p.payload + at, v);
            if (fix) {
                sml::put16(p.payload + sml::k_ip + 10, 0);
                sml::put16(p.payload + sml::k_ip + 10, sml::internet_checksum(p.payload + sml::k_ip, 20));
            }
        };
    };
    const auto rdma_of = [&](rdma_message m) { return [&c, m](station& s) { return s.rdma(c, m); }; };
    udp_message wrong_job = part(256, 1), wrong_slot = part(256, 1, 16), size0 = part(256, 1), size2 = part(256, 1),
                short_one = part(64, 1);
    wrong_job.job = 9;
    size0.size_code = 0;
    size2.size_code = 2;
    short_one.size_code = 3;
    rdma_message queue = write(sml::opcode::write_only_immediate, 0, 0, ramp(64, 1)), worker = queue, op = queue,
                 key = queue, gap = queue;
    queue.queue = 9;
    worker.worker = 3;
    op.op = static_cast<sml::opcode>(0x04);
    key.reth.key = 0x10'0000;
    gap.op = sml::opcode::write_middle;
    const auto cut = [](std::uint32_t carried, std::uint32_t wire) {
        return [=](packet& p) {
            p.payload_bytes = carried;
            if (wire != 0)
                p.wire_bytes = wire;
        };
    };
    const std::vector<one> bad = {
        {drop_reason::bad_fcs, damaged(part(256, 1), [](packet& p) { p.flags |= k_corrupted; })},
        {drop_reason::truncated, damaged(part(256, 1), cut(10, 84))},
        {drop_reason::truncated, damaged(part(256, 1), cut(30, 84))},
        {drop_reason::truncated, damaged(part(256, 1), cut(48, 0))},
        {drop_reason::truncated, damaged(part(256, 1), cut(500, 0))},
        {drop_reason::truncated, damaged(part(256, 1), cut(52, 300))},
        {drop_reason::unknown_mac, damaged(part(256, 1), set16(2, 0x7777, false))},
        {drop_reason::not_switchml, damaged(part(256, 1), set16(12, 0x86dd, false))},
        {drop_reason::not_switchml, damaged(part(256, 1), set16(sml::k_udp + 2, 53, false))},
        {drop_reason::not_switchml, damaged(part(256, 1), set16(sml::k_ip + 6, 0x2000, true))},
        {drop_reason::bad_ip_checksum, damaged(part(256, 1), set16(sml::k_ip + 10, 1, false))},
        {drop_reason::size_code, damaged(size0, [](packet&) {})},
        {drop_reason::size_code, damaged(size2, [](packet&) {})},
        {drop_reason::wrong_length, damaged(short_one, [](packet&) {})},
        {drop_reason::wrong_job, damaged(wrong_job, [](packet&) {})},
        {drop_reason::wrong_job, rdma_of(queue)},
        {drop_reason::not_worker, damaged(part(256, 1), set16(sml::k_ip + 14, 0x9999, true))},
        {drop_reason::not_worker, rdma_of(worker)},
        {drop_reason::pool_index, damaged(wrong_slot, [](packet&) {})},
        {drop_reason::pool_index, rdma_of(key)},
        {drop_reason::rdma_opcode, rdma_of(op)},
        {drop_reason::rdma_sequence, rdma_of(gap)},
    };
    std::vector<std::uint64_t> expected(k_drop_reasons, 0);
    double us = 1;
    for (const one& b : bad) {
        ++expected[static_cast<std::size_t>(b.reason)];
        w.events.at(static_cast<std::uint64_t>(us * k_us), [&w, &b] { w.stations[0]->put(b.make(*w.stations[0])); });
        us += 1;
    }
    w.run();
    for (std::size_t r = 0; r < k_drop_reasons; ++r) {
        INFO(drop_name(static_cast<drop_reason>(r)));
        CHECK(w.chip.dropped(static_cast<drop_reason>(r)) == expected[r]);
    }
    CHECK(w.chip.packets.value() == 0);
    CHECK(w.chip.passes.value() == 0);
    CHECK(w.chip.stats.find("drop_size_code")->value() == 2);
}

TEST_CASE("tofino: a full egress queue drops copies and counts them")
{
    tofino_config c = few_ports();
    c.port_rate = bandwidth(1'000'000'000);
    c.egress_queue = data_size(2048);
    tofino_world w(c);
    w.chip.add_job(w.job(2, 256));
    for (std::uint16_t slot = 0; slot < 4; ++slot)
        for (std::uint32_t worker = 0; worker < 2; ++worker)
            w.send(1 + slot + 0.1 * worker, worker, part(256, 1, slot));
    w.run();
    CHECK(w.chip.dropped(drop_reason::egress_queue) == 8 - w.log(0).size() - w.log(1).size());
    CHECK(w.chip.dropped(drop_reason::egress_queue) > 0);
}

TEST_CASE("tofino: Algorithm 1 frees a slot at once and needs no sets")
{
    tofino_world w(few_ports());
    tofino_job j = w.job(3, 256);
    j.loss_recovery = false;
    w.chip.add_job(j);
    for (std::uint32_t round = 0; round < 3; ++round)
        for (std::uint32_t worker = 0; worker < 3; ++worker)
            w.send(1 + 30 * round + worker, worker, part(256, 1 + round));
    w.send(200, 2, part(256, 1)); // the others never come
    w.run();
    for (std::uint32_t s = 0; s < 3; ++s) {
        REQUIRE(w.log(s).size() == 3);
        for (std::uint32_t round = 0; round < 3; ++round)
            CHECK(w.log(s)[round].words == ramp(256, 3 * (1 + round)));
    }
    CHECK(w.log(0)[0].time_ps == 3 * k_us + 600'000 + 10 * 520'000 + 88'000);
    CHECK(says(w.chip.blocked_on(), "job 1 slot 0 set 0 waits for workers 0, 1 of 3"));
}

TEST_CASE("tofino: admission names the rule that a job breaks")
{
    tofino_config c = few_ports(40);
    c.ports_per_pipe = 36;
    c.register_depth = 256;
    tofino_world w(c);
    tofino_job good = w.job(2, 256, 32);
    w.chip.add_job(good);
    const auto next = [&] {
        tofino_job j = good;
        j.number = 2;
        j.first_slot = 32;
        j.multicast_group = 2;
        return j;
    };
    CHECK(refused(w.chip, next()) == "");
    tofino_job j = next();
    j.first_slot = 31;
    CHECK(says(refused(w.chip, j), "overlap slots 0 to 31 of job 1: every job needs a pool of its own"));
    j = next();
    j.slots = 97;
    CHECK(says(refused(w.chip, j), "its slots would be 32 to 128 of the registers, which hold 128"));
    j = next();
    j.slots = 0;
    CHECK(says(refused(w.chip, j), "no slots"));
    j = next();
    j.multicast_group = 1;
    CHECK(says(refused(w.chip, j), "multicast group 1 belongs to job 1"));
    j = next();
    j.workers = w.job(17).workers;
    CHECK(says(refused(w.chip, j), "only workers 0 to 15"));
    j.words = 64;
    CHECK(refused(w.chip, j) == "");
    j.workers = w.job(33).workers;
    CHECK(says(refused(w.chip, j), "the bitmap of a slot has 32 bits"));
    j = next();
    j.workers[1].port = 39;
    CHECK(says(refused(w.chip, j), "worker 1 is at port 39 of pipe 1, but the slots are in pipe 0"));
    j.workers[1].port = 40;
    CHECK(says(refused(w.chip, j), "the switch has ports 0 to 39"));
    j = next();
    j.workers[1] = j.workers[0];
    CHECK(says(refused(w.chip, j), "workers 0 and 1 have the same address"));
    j = next();
    j.number = 1;
    CHECK(says(refused(w.chip, j), "already a worker of a job with this number"));
    j = next();
    j.words = 128;
    CHECK(says(refused(w.chip, j), "64 or 256"));
    j = next();
    j.parent.kind = parent_kind::inside;
    j.parent.job = 5;
    CHECK(says(refused(w.chip, j), "no job that runs"));
    j.parent.kind = parent_kind::port;
    j.protocol = sml::transport::rdma;
    CHECK(says(refused(w.chip, j), "RDMA in a tree"));
    CHECK_THROWS_AS(w.chip.add_job(j), user_error);

    tofino_config four = few_ports();
    tofino_switch verilog("verilog", w.time, w.pool, four, models(four), true);
    j = good;
    j.loss_recovery = false;
    CHECK(says(refused(verilog, j), "implements Algorithm 3 alone"));

    tofino_config wrong;
    CHECK(no_errors(wrong.validate()));
    wrong.register_depth = 1000;
    wrong.ports = 65;
    wrong.ingress_drop = 1.5;
    wrong.ingress_latency = duration(600'000);
    wrong.recirculation_queue = data_size(100);
    CHECK(wrong.validate().size() == 5);
}
