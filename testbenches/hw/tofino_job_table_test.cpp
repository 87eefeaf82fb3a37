// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// tofino_job_table, admission and answers of the switch alone, without time or packets on wires.
#include "hw/tofino/answer_headers.h"
#include "hw/tofino/mac_table.h"
#include "hw/tofino/slot_report.h"
#include "hw/tofino/tofino_admission.h"

#include <catch2/catch.hpp>

#include <array>

using namespace weft;
namespace sml = abi::switchml;

namespace {

constexpr std::uint32_t k_workers = 3;

tofino_job job_of(std::uint8_t number, sml::transport protocol, std::uint32_t first_slot = 4)
{
    tofino_job job;
    job.number = number;
    job.protocol = protocol;
    job.first_slot = first_slot;
    job.slots = 8;
    job.multicast_group = number;
    job.first_queue = 16u * number;
    job.queues = 16;
    for (std::uint32_t w = 0; w < k_workers; ++w) {
        tofino_worker worker;
        worker.mac = 0x100 * number + w;
        worker.ip = 0x0a00'0000 + 0x100 * number + w;
        worker.port = w;
        worker.queue_pair_base = 1000 * w;
        job.workers.push_back(worker);
    }
    return job;
}

tofino_packet udp_packet(std::uint8_t number, std::uint32_t worker, std::uint16_t slot, bool version = false)
{
    tofino_packet p;
    p.fields.header.job = number;
    p.fields.source_mac = 0x100u * number + worker;
    p.fields.source_ip = 0x0a00'0000 + 0x100u * number + worker;
    p.fields.words = 256;
    p.slot = slot;
    p.version = version;
    return p;
}

tofino_packet rdma_packet(std::uint8_t number, std::uint32_t worker, sml::opcode op, std::uint32_t psn,
                          std::uint32_t key = 0)
{
    tofino_packet p = udp_packet(number, worker, 0);
    p.fields.rdma = true;
    p.fields.bth = {op, worker << 16 | (16u * number + 1), psn};
    p.fields.reth.key = key;
    return p;
}

} // namespace

TEST_CASE("tofino_job_table: a UDP packet finds its job and worker by number and address")
{
    const tofino_config config;
    tofino_job_table jobs(config);
    const std::uint32_t a = jobs.add(job_of(1, sml::transport::udp));
    const std::uint32_t b = jobs.add(job_of(2, sml::transport::udp, 12));
    tofino_packet p = udp_packet(2, 1, 13, true);
    REQUIRE(jobs.find_udp_worker(p) == drop_reason::none);
    CHECK(p.job == b);
    CHECK(p.worker == 1);
    REQUIRE(jobs.find_slot(p) == drop_reason::none);
    CHECK(p.pool_index == 13 * 2 + 1);
    CHECK(jobs[b].entry_of(p) == 3);

    tofino_packet stranger = udp_packet(1, 0, 4);
    stranger.fields.source_ip ^= 1;
    CHECK(jobs.find_udp_worker(stranger) == drop_reason::not_worker);
    tofino_packet lost = udp_packet(3, 0, 4);
    CHECK(jobs.find_udp_worker(lost) == drop_reason::wrong_job);
    tofino_packet outside = udp_packet(1, 0, 12);
    REQUIRE(jobs.find_udp_worker(outside) == drop_reason::none);
    CHECK(jobs.find_slot(outside) == drop_reason::pool_index);

    CHECK_FALSE(jobs.remove(a));
    tofino_packet late = udp_packet(1, 0, 4);
    CHECK(jobs.find_udp_worker(late) == drop_reason::wrong_job);
    CHECK(jobs.closed().size() == 1);
    CHECK(jobs.remove(b)); // the last one
}

TEST_CASE("tofino_job_table: RDMA packets behind a gap are dropped until a message begins")
{
    const tofino_config config;
    tofino_job_table jobs(config);
    const std::uint32_t id = jobs.add(job_of(1, sml::transport::rdma));
    const auto arrives = [&](sml::opcode op, std::uint32_t psn, std::uint32_t key = 0) {
        tofino_packet p = rdma_packet(1, 2, op, psn, key);
        const drop_reason reason = jobs.find_rdma_worker(p);
        if (reason == drop_reason::none) {
            CHECK(p.job == id);
            CHECK(p.worker == 2);
            CHECK(p.queue == 1);
        }
        return std::pair{reason, std::move(p)};
    };
    // The pool index of the first packet counts on by two: the next slot, the same version.
    CHECK(arrives(sml::opcode::write_first, 0xff'ffff, 9).second.slot == 4);
    const auto [reason, second] = arrives(sml::opcode::write_middle, 0);
    CHECK(reason == drop_reason::none);
    CHECK(second.slot == 5);
    CHECK(second.version);
    CHECK(second.position == 1);
    CHECK(arrives(sml::opcode::write_middle, 2).first == drop_reason::rdma_sequence);
    CHECK(arrives(sml::opcode::write_last, 1).first == drop_reason::rdma_sequence);
    CHECK(
        broken_messages(jobs, "switch") ==
        "switch: messages of worker 2 of job 1 do not arrive whole and in order: 2 packets dropped behind a gap since "
        "the last whole one");
    CHECK(arrives(sml::opcode::write_only, 7, 8).first == drop_reason::none);
    CHECK(broken_messages(jobs, "switch").empty());
}

TEST_CASE("tofino_job_table: the stale filter drops what its sender has overtaken")
{
    tofino_config config;
    config.stale_filter = true;
    tofino_job_table jobs(config);
    jobs.add(job_of(1, sml::transport::udp));
    const auto stale = [&](std::uint32_t id, std::uint32_t worker) {
        tofino_packet p = udp_packet(1, worker, 4);
        REQUIRE(jobs.find_udp_worker(p) == drop_reason::none);
        p.fields.header.id = id;
        return jobs.is_stale(p);
    };
    CHECK_FALSE(stale(0xffff'fffe, 0));
    CHECK_FALSE(stale(1, 0)); // modulo 2^32
    CHECK(stale(0xffff'ffff, 0));
    CHECK_FALSE(stale(0xffff'ffff, 1));
    jobs.reset();
    CHECK_FALSE(stale(0xffff'ffff, 0));
}

TEST_CASE("tofino_send_queue: sequence numbers of answers go by position")
{
    tofino_send_queue q;
    CHECK(q.psn_of(0, false) == 0);
    CHECK(q.psn_of(2, false) == 2); // answers leave in the order in which slots complete
    CHECK(q.psn_of(1, false) == 1);
    CHECK(q.psn_of(0, true) == 3);
    CHECK(q.psn_of(1, false) == 1); // sent again
    q.next = 0xff'ffff;
    CHECK(q.psn_of(0, false) == 0xff'ffff);
    CHECK(q.psn_of(1, false) == 0);
}

TEST_CASE("tofino_admission: a job meets those that are there")
{
    const tofino_config config;
    tofino_job_table jobs(config);
    const auto refused = [&](const tofino_job& job) { return refusal_of(job, jobs, config, false); };
    CHECK(refused(job_of(1, sml::transport::udp)).empty());
    jobs.add(job_of(1, sml::transport::udp));
    CHECK(
        refused(job_of(2, sml::transport::udp)) ==
        "job 2: its slots 4 to 11 of the registers overlap slots 4 to 11 of job 1: every job needs a pool of its own.");
    CHECK(refused(job_of(2, sml::transport::udp, 12)).empty());
    tofino_job simple = job_of(2, sml::transport::udp, 12);
    simple.loss_recovery = false;
    CHECK(refused(simple).empty());
    CHECK_FALSE(refusal_of(simple, jobs, config, true).empty());
}

TEST_CASE("answer_headers: an answer goes back where its packet came from")
{
    tofino_config own;
    const tofino_job job = job_of(1, sml::transport::udp);
    tofino_packet p = udp_packet(1, 0, 5, true);
    p.fields.source_port = 4711;
    p.fields.destination_port = 48'864;
    std::array<std::uint8_t, sml::k_udp_headers> bytes{};
    const auto port_at = [&](std::size_t at) { return sml::get16(bytes.data() + sml::k_udp + at); };
    write_udp_answer(own, p, job, 2, bytes.data());
    CHECK(sml::get48(bytes.data()) == job.workers[2].mac);
    CHECK(port_at(0) == 48'864);
    CHECK(port_at(2) == 4711);
    p.end = packet_fate::from_above; // whose sender has swapped them
    write_udp_answer(own, p, job, 2, bytes.data());
    CHECK(port_at(0) == 4711);
    CHECK(port_at(2) == 48'864);
    CHECK(answer_opcode(sml::opcode::write_last) == sml::opcode::write_last_immediate);
    CHECK(answer_opcode(sml::opcode::write_middle) == sml::opcode::write_middle);
}

TEST_CASE("mac_table: the last entry of an address counts")
{
    mac_table table;
    CHECK(table.port_of(7) == mac_table::k_unknown);
    table.set(7, 3);
    table.set(5, 1);
    table.set(7, 4);
    CHECK(table.port_of(7) == 4);
    CHECK(table.port_of(5) == 1);
    CHECK(table.port_of(6) == mac_table::k_unknown);
}
