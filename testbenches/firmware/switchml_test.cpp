// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SwitchML workers against a switch that is algorithm 3 of the paper: exact answers whatever the links do, exact volumes, and
// named ends where there is no answer.
#include <catch2/catch.hpp>

#include "firmware/collectives/supports.h"
#include "testbenches/firmware/switchml_world.h"

using namespace weft;
using namespace weft::testing;
using abi::algorithm;
using abi::element_type;
using abi::status_code;
using sml::transport;

namespace {

struct tensor {
    std::uint64_t count;
    element_type type = element_type::int32;
};

/// Runs the tensors back to back; problems, answers that are missing, and retransmissions.
std::string run_all(switchml_world& w, const switchml_options& o, const std::vector<tensor>& tensors,
                    algorithm algo = algorithm::switchml, std::uint64_t* timeouts = nullptr)
{
    for (const tensor& t : tensors)
        w.add(t.count, t.type, algo);
    w.run();
    std::string problems = w.problems();
    for (std::uint32_t i = 0; i < o.workers; ++i)
        for (std::uint32_t c = 0; c < o.cores; ++c) {
            if (w.responses(i, c).size() != tensors.size())
                problems += "worker " + std::to_string(i) + "." + std::to_string(c) + " answered " +
                            std::to_string(w.responses(i, c).size()) + " commands; ";
            for (const abi::response& r : w.responses(i, c))
                if (timeouts != nullptr && r.code == status_code::ok)
                    *timeouts += r.detail;
        }
    if (w.late_writes() != 0)
        problems += "answers were written into a buffer that was the host's; ";
    return problems;
}

std::string run_all(const switchml_options& o, const std::vector<tensor>& tensors, algorithm algo = algorithm::switchml,
                    std::uint64_t* timeouts = nullptr)
{
    switchml_world w(o);
    return run_all(w, o, tensors, algo, timeouts);
}

std::vector<tensor> of_sizes(const std::vector<std::uint64_t>& counts, element_type type)
{
    std::vector<tensor> all;
    for (const std::uint64_t c : counts)
        all.push_back({c, type});
    return all;
}

constexpr element_type k_types[] = {element_type::int32, element_type::float32};
constexpr transport k_transports[] = {transport::udp, transport::rdma};

} // namespace

TEST_CASE("switchml: sums are right for every size and loss and number of workers")
{
    std::uint32_t seed = 0;
    std::uint64_t timeouts = 0;
    for (const transport protocol : k_transports)
        for (const element_type type : k_types)
            for (const double loss : {0.0, 0.001, 0.01, 0.05, 0.2})
                for (const std::uint32_t workers : {1u, 2u, 3u, 8u}) {
                    switchml_options o;
                    o.protocol = protocol;
                    o.workers = workers;
                    o.loss = loss;
                    o.seed = ++seed;
                    o.packets_per_message = 1u << seed % 3;
                    o.slots = 8 + seed % 3;
                    o.first_slot = seed % 5 * 100;
                    o.ring_entries = 1u << (2 + seed % 4);
                    o.late_ns = seed % 2 * 50'000;
                    o.repeat = o.junk = loss / 2;
                    INFO("seed " << seed << " rdma " << int(protocol) << " type " << int(type) << " loss " << loss
                                 << " workers " << workers);
                    // One element; less than a packet; not a multiple; less than a window; exactly two; many.
                    REQUIRE(run_all(o, of_sizes({1, 63, 65, 200, 64 * 8 * 2, 64 * 9 + 1, 0, 3001, 4096}, type),
                                    algorithm::switchml, &timeouts) == "");
                }
    CHECK(timeouts > 1000);
}

TEST_CASE("switchml: thirty-two workers with several cores and packets of 256 elements")
{
    std::uint32_t seed = 500;
    for (const transport protocol : k_transports)
        for (const element_type type : k_types)
            for (const std::uint32_t cores : {1u, 2u, 3u}) {
                switchml_options o;
                o.protocol = protocol;
                o.workers = cores == 1 ? 32 : 5;
                o.cores = cores;
                o.slots = 25;
                o.elements_per_packet = 256;
                o.packets_per_message = 2;
                o.small_messages = true;
                o.loss = cores == 1 ? 0.002 : 0.02;
                o.seed = ++seed;
                o.ring_entries = 32;
                INFO("seed " << seed << " rdma " << int(protocol) << " type " << int(type) << " cores " << cores);
                REQUIRE(run_all(o, of_sizes({10'000, 1, 300, 12'800}, type)) == "");
            }
}

TEST_CASE("switchml: many tensors back to back keep slots and versions in step")
{
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        std::mt19937 engine(seed);
        const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
        switchml_options o;
        o.seed = seed;
        o.protocol = k_transports[seed % 2];
        o.workers = 2 + random() % 4;
        o.cores = 1 + random() % 3;
        o.slots = o.cores * (4 + random() % 6);
        o.packets_per_message = 1u << random() % 3;
        o.loss = 0.03 * (seed % 3);
        o.repeat = 0.05 * (seed % 2);
        o.junk = 0.05 * (seed % 4);
        o.late_ns = random() % 60'000;
        o.backoff_after = seed % 5 == 0 ? 3 : 0;
        std::vector<tensor> tensors;
        for (unsigned i = 0; i < 25; ++i)
            tensors.push_back({random() % 3 == 0 ? random() % 4000 : random() % 300, k_types[random() % 2]});
        INFO("seed " << seed);
        REQUIRE(run_all(o, tensors) == "");
    }
}

TEST_CASE("switchml: without loss every block goes once each way and nothing else")
{
    for (const transport protocol : k_transports)
        for (const element_type type : k_types)
            for (const std::uint64_t count : {64ull * 8 * 4, 64ull * 8 * 20}) {
                switchml_options o;
                o.protocol = protocol;
                o.workers = 4;
                o.timeout_ns = 10'000'000;
                o.ring_entries = 32;
                switchml_world w(o);
                REQUIRE(run_all(w, o, {{count, type}}) == "");
                const std::uint64_t packets = count / 64 + (type == element_type::float32 ? o.slots : 0);
                for (std::uint32_t i = 0; i < o.workers; ++i) {
                    CHECK(w.frames_sent(i) == packets); // |U| each way, 2|U| in all
                    CHECK(w.frames_received(i) == packets);
                    CHECK(w.responses(i)[0].detail == 0);
                    CHECK(w.responses(i)[0].messages ==
                          packets / (protocol == transport::rdma ? o.packets_per_message : 1));
                }
            }
    // A tensor smaller than the window: an exponent packet for each block, and no more.
    switchml_options o;
    o.timeout_ns = 10'000'000;
    switchml_world w(o);
    REQUIRE(run_all(w, o, {{130, element_type::float32}}) == "");
    CHECK(w.frames_sent(0) == 6);
}

TEST_CASE("switchml_lossless: the same without versions and timers")
{
    std::uint32_t seed = 700;
    for (const transport protocol : k_transports)
        for (const element_type type : k_types)
            for (const std::uint32_t workers : {1u, 2u, 7u}) {
                switchml_options o;
                o.protocol = protocol;
                o.workers = workers;
                o.seed = ++seed;
                o.late_ns = 100'000; // no timer sends anything again
                o.ring_entries = 32;
                switchml_world w(o);
                REQUIRE(run_all(w, o, of_sizes({1, 640, 100, 5000, 4096}, type), algorithm::switchml_lossless) == "");
            }
    switchml_options o;
    o.loss = 0.05;
    o.ring_entries = 32;
    switchml_world w(o);
    w.add(10'000, element_type::int32, algorithm::switchml_lossless);
    w.run();
    for (std::uint32_t i = 0; i < 2; ++i) { // a lost packet is not sent again: the wait ends by its bound
        REQUIRE(w.responses(i).size() == 1);
        CHECK(w.responses(i)[0].code == status_code::timeout);
        CHECK(std::string(w.responses(i)[0].where) == "NIC.RX_HEAD");
    }
    CHECK(w.now_ns() < 6'100'000);
}

TEST_CASE("switchml: any bit pattern as a float is added without harm")
{
    for (const transport protocol : k_transports)
        for (std::uint32_t seed = 1; seed <= 6; ++seed) {
            switchml_options o;
            o.protocol = protocol;
            o.seed = seed;
            o.workers = 3;
            o.wild_floats = true;
            REQUIRE(run_all(o, of_sizes({5000, 77}, element_type::float32)) == "");
        }
}

TEST_CASE("switchml: no answer ends within its bound in a timeout that names the register")
{
    for (const transport protocol : k_transports)
        for (const bool silent : {true, false})
            for (const element_type type : k_types) {
                switchml_options o;
                o.protocol = protocol;
                o.workers = 3;
                o.ring_entries = 64;
                if (silent)
                    o.silent_workers = 1;
                else
                    o.deaf_after = 100;
                switchml_world w(o);
                w.add(10'000, type);
                w.add(10'000, type);
                w.run();
                for (std::uint32_t i = 0; i < 3 - o.silent_workers; ++i) {
                    REQUIRE(w.responses(i).size() == 2);
                    CHECK(w.responses(i)[0].code == status_code::timeout);
                    CHECK(std::string(w.responses(i)[0].where) == "NIC.RX_HEAD");
                    CHECK(w.responses(i)[0].failed_peer == 3);
                    CHECK(w.responses(i)[1].code == status_code::device_error);
                }
                CHECK(w.now_ns() < 3'000'000 + 400'000);
                if (silent) // sent again, and the interval does not matter to the bound
                    CHECK(w.frames_sent(0) > 8 * 100);
            }
}

TEST_CASE("switchml: the timeout doubles as the client's does")
{
    const auto frames = [](std::uint32_t backoff_after) {
        switchml_options o;
        o.silent_workers = 1;
        o.backoff_after = backoff_after;
        o.slots = 1;
        switchml_world w(o);
        w.add(10);
        w.run();
        CHECK(w.responses(0).at(0).code == status_code::timeout);
        return w.frames_sent(0);
    };
    CHECK(frames(0) >= 149); // 3 ms in steps of 20 us
    CHECK(frames(0) <= 151);
    // 10 at 20 us, 20 at 40, 30 at 80 (3.4 ms): 200 + 800 us, then 25 of the third.
    CHECK(frames(10) >= 54);
    CHECK(frames(10) <= 57);
}

TEST_CASE("switchml: a NIC that stops is reported as such")
{
    for (const transport protocol : k_transports)
        for (const std::uint64_t entry : {1u, 5u, 40u}) {
            switchml_options o;
            o.protocol = protocol;
            o.nic_error_worker = 1;
            o.nic_error_after = entry;
            switchml_world w(o);
            w.add(64 * 200);
            w.run();
            REQUIRE(w.responses(1).size() == 1);
            CHECK(w.responses(1)[0].code == status_code::device_error);
            CHECK(std::string(w.responses(1)[0].where) == "NIC.ERROR");
            REQUIRE(w.responses(0).size() == 1);
            CHECK(w.responses(0)[0].code == status_code::timeout);
        }
}

TEST_CASE("switchml: a bus error on any access is reported by its worker and ends")
{
    for (const transport protocol : k_transports)
        for (const element_type type : k_types) {
            switchml_options o;
            o.protocol = protocol;
            o.packets_per_message = 2;
            o.slots = 4;
            o.timeout_ns = 500'000;
            std::uint64_t last = 0;
            {
                switchml_world w(o);
                REQUIRE(run_all(w, o, {{700, type}}) == "");
                last = w.accesses(1);
            }
            for (std::uint64_t n = 1; n <= last; ++n) {
                switchml_options broken = o;
                broken.fault_worker = 1;
                broken.fault_access = n;
                switchml_world w(broken);
                w.add(700, type);
                w.run();
                INFO("rdma " << int(protocol) << " type " << int(type) << " access " << n);
                const auto& answers = w.responses(1);
                if (!answers.empty() && answers[0].code != status_code::ok) {
                    CHECK(answers[0].code == status_code::bus_error);
                    CHECK(answers[0].where[0] != '\0');
                    CHECK(answers[0].detail != 0);
                }
                REQUIRE(w.responses(0).size() == 1);
                const status_code code = w.responses(0)[0].code;
                CHECK((code == status_code::ok || code == status_code::timeout));
            }
        }
}

TEST_CASE("switchml: an IRQ_PENDING that only a look clears costs time and no answers")
{
    for (const std::uint32_t cores : {1u, 4u}) {
        switchml_options o;
        o.cores = cores;
        o.slots = 16;
        o.shared_pending = true;
        REQUIRE(run_all(o, of_sizes({5000, 777}, element_type::int32)) == "");
    }
}

TEST_CASE("switchml: refusals say why and harm nobody")
{
    switchml_options o;
    switchml_world w(o);
    const auto ask = [&](element_type type, abi::reduce_op redop, std::uint64_t count, algorithm algo,
                         std::uint64_t offset) {
        abi::command c;
        c.algo = algo;
        c.type = type;
        c.redop = redop;
        c.count = count;
        c.buffer_offset = offset;
        w.add(c);
    };
    const std::uint64_t here = w.buffer_offset();
    ask(element_type::float16, abi::reduce_op::sum, 10, algorithm::switchml, here);
    ask(element_type::int32, abi::reduce_op::max, 10, algorithm::switchml, here);
    ask(element_type::int32, abi::reduce_op::sum, 1ull << 60, algorithm::switchml_lossless, here);
    ask(element_type::int32, abi::reduce_op::sum, 10, algorithm::switchml, w.job().nic_area - abi::k_hbm_base + 64);
    ask(element_type::int32, abi::reduce_op::sum, 10, algorithm::two_d, here); // is for a mesh, but runs on a line
    w.run();
    const std::pair<status_code, const char*> answers[] = {
        {status_code::unsupported, "switches add int32 and float32 only"},
        {status_code::unsupported, "switches sum; no other reduction"},
        {status_code::bad_command, "command.count"},
        {status_code::bad_command, "command.buffer_offset"},
    };
    for (std::uint32_t i = 0; i < 2; ++i)
        for (std::size_t k = 0; k < 4; ++k) {
            REQUIRE(w.responses(i).size() >= 4);
            CHECK(w.responses(i)[k].code == answers[k].first);
            CHECK(std::string(w.responses(i)[k].where) == answers[k].second);
        }
}

TEST_CASE("switchml: every field of the table is checked")
{
    const auto refused = [](const std::string& where, void (*change)(sml::table&), bool reseal = true,
                            transport protocol = transport::udp) {
        switchml_options o;
        o.protocol = protocol;
        switchml_world w(o);
        change(w.job_of(0, 0));
        if (reseal)
            w.job_of(0, 0).check = abi::check_word(reinterpret_cast<const std::uint32_t*>(&w.job_of(0, 0)),
                                                   offsetof(sml::table, check) / 4);
        w.add(10);
        w.run();
        REQUIRE(w.responses(0).size() == 1);
        CHECK(w.responses(0)[0].code != status_code::ok);
        CHECK(w.responses(0)[0].code != status_code::timeout);
        CHECK(std::string(w.responses(0)[0].where) == where);
    };
    refused(
        "switchml.check", [](sml::table& t) { ++t.switch_ip; }, false);
    refused("switchml.version", [](sml::table& t) { t.version = 9; });
    refused("switchml.cores", [](sml::table& t) { t.cores = 0; });
    refused("switchml.core", [](sml::table& t) { t.core = 1; });
    refused("switchml.workers", [](sml::table& t) { t.workers = 129; });
    refused("switchml.worker", [](sml::table& t) { t.worker = 2; });
    refused("switchml.job", [](sml::table& t) { t.job = 256; });
    refused("switchml.elements_per_packet", [](sml::table& t) { t.elements_per_packet = 128; });
    refused("switchml.first_slot", [](sml::table& t) { t.first_slot = 0x4000; });
    refused("switchml.slots", [](sml::table& t) { t.first_slot = 0x3fff; });
    refused(
        "switchml.packets_per_message", [](sml::table& t) { t.packets_per_message = 3; }, true, transport::rdma);
    refused(
        "switchml.packets_per_message", [](sml::table& t) { t.packets_per_message = 16; }, true, transport::rdma);
    refused("switchml.nic_queues", [](sml::table& t) { t.nic_queues = 0; });
    refused("switchml.nic_ring_entries", [](sml::table& t) { t.nic_ring_entries = 6; });
    refused("switchml.timeout_ns", [](sml::table& t) { t.timeout_ns = 0; });
    refused("switchml.nic_area", [](sml::table& t) { t.nic_area = abi::k_hbm_base - 64; });
    refused("switchml.nic_area", [](sml::table& t) { t.nic_ring_entries = 1 << 20; });
    refused("NIC.QUEUES", [](sml::table& t) {
        t.nic_queues = 2;
        t.nic_ring_entries = 4;
    });
    refused("switchml needs workers with an Ethernet NIC bel", [](sml::table& t) { t.magic = 0; });
}

TEST_CASE("switchml: what a host must know beforehand")
{
    switchml_options o;
    o.workers = 6;
    switchml_world w(o);
    abi::platform_table table;
    table.ranks = 6;
    table.dim_count = 1;
    table.dims[0] = 6;
    table.kind[0] = abi::dimension_kind::switched;
    const char* why = nullptr;
    using abi::collective_op;
    CHECK(firmware::supports(collective_op::all_reduce, algorithm::switchml, table, false, &why, &w.job()));
    CHECK(firmware::supports(collective_op::all_reduce, algorithm::switchml_lossless, table, false, &why, &w.job()));
    CHECK_FALSE(firmware::supports(collective_op::all_reduce, algorithm::switchml, table, false, &why));
    CHECK(std::string(why) == "switchml needs workers with an Ethernet NIC below a SwitchML switch");
    CHECK_FALSE(firmware::supports(collective_op::all_gather, algorithm::switchml, table, false, &why, &w.job()));
    sml::table second = w.job();
    second.core = 1;
    CHECK(firmware::supports(collective_op::all_reduce, algorithm::switchml, table, false, &why, &second));
    CHECK_FALSE(firmware::supports(collective_op::all_reduce, algorithm::ring_1d, table, false, &why, &second));
    CHECK(std::string(why) == "cores of a worker beyond the first run switchml and switchml_lossless only");
    // Rings of 8 queues of 64 entries, 4 windows of 32 slots of 1 KiB and a block of zeros each.
    sml::table t;
    t.cores = 4;
    t.slots = 128;
    t.nic_queues = 8;
    t.nic_ring_entries = 64;
    CHECK(firmware::nic_area_bytes(t) == 8 * 64 * (128 + 2048) + 4 * 33 * 1024 + 65536);
    t.protocol = transport::rdma;
    CHECK(firmware::nic_area_bytes(t) == 8 * 64 * (128 + 2048) + 4 * 3 * 16 * 1024 + 65536);
    CHECK(firmware::queue_pairs_needed(t) == 4 * 2 * 2);
}
