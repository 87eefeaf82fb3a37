// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/memory/hbm.h"
#include "hw/memory/hbm_beside.h"
#include "hw/memory/local_memory.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>
#include <malloc.h>
#include <memory>
#include <vector>

using namespace weft;
using namespace weft::literals;

namespace {
constexpr std::uint64_t k_page = sparse_store::k_page_bytes;

/// Drives a target socket from the test's body: our targets do not wait(), so no process is needed.
struct master : sc_core::sc_module {
    explicit master(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {}
    memory_initiator_socket socket;
};

hbm_config small_hbm()
{
    hbm_config c;
    c.capacity = 1_MiB;
    c.rate = 1_GBps; // 1 ns a byte
    c.latency = 100_ns;
    return c;
}

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed)
{
    std::vector<std::uint8_t> p(bytes);
    for (auto& b : p) {
        seed = seed * 1664525u + 1013904223u;
        b = static_cast<std::uint8_t>(seed >> 24);
    }
    return p;
}
} // namespace

TEST_CASE("a lone access takes latency plus bytes over rate")
{
    hbm m("hbm", small_hbm());
    CHECK(m.charge(0, 0, 64, hbm::access::read) == 64'000 + 100'000);
    CHECK(m.idle(64'000));
    CHECK_FALSE(m.idle(63'999));
    CHECK(m.charge(1'000'000, 0, 0, hbm::access::read) == 1'000'000 + 100'000);
    CHECK(m.charge(2'000'000, 0, 256, hbm::access::write) == 2'000'000 + 256'000 + 100'000);
    CHECK(m.charge(3'000'000, 0, 256, hbm::access::read_modify_write) == 3'000'000 + 512'000 + 100'000);
    CHECK(m.bytes_read.value() == 64 + 256);
    CHECK(m.bytes_written.value() == 512);
    CHECK(m.busy_time.value() == 64'000 + 256'000 + 512'000);
}

TEST_CASE("accesses share one server in the order of their arrival")
{
    hbm m("hbm", small_hbm());
    CHECK(m.charge(0, 0, 1000, hbm::access::read) == 1'000'000 + 100'000);
    CHECK(m.charge(0, 0, 1000, hbm::access::write) == 2'000'000 + 100'000);
    CHECK(m.charge(500'000, 0, 10, hbm::access::read) == 2'010'000 + 100'000);
    CHECK(m.charge(5'000'000, 0, 10, hbm::access::read) == 5'010'000 + 100'000); // the server was idle in between
}

TEST_CASE("memories beside each other share one server and nothing else")
{
    hbm first("hbm", small_hbm());
    hbm_config other = small_hbm();
    other.latency = 300_ns;
    hbm_beside second("beside", other, first);
    CHECK(first.charge(0, 0, 1000, hbm::access::read) == 1'000'000 + 100'000);
    CHECK(second.charge(0, 0, 500, hbm::access::read_modify_write) == 2'000'000 + 300'000);
    CHECK(first.charge(0, 0, 10, hbm::access::write) == 2'010'000 + 100'000);
    CHECK_FALSE(second.settled(2'009'999));
    CHECK(second.settled(2'010'000));
    CHECK(first.bytes_read.value() == 1000);
    CHECK(first.bytes_written.value() == 10);
    CHECK(second.bytes_read.value() == 500);
    CHECK(second.bytes_written.value() == 500);
    CHECK(second.busy_time.value() == 1'000'000);
    CHECK(second.reduce_time.value() == 1'000'000);
    CHECK(second.spent_on(work_kind::memory, 5'000'000).spent_ps == 2'010'000); // the stack
    const std::vector<std::uint8_t> bytes = pattern(64, 7);
    second.write_bytes(128, bytes.data(), bytes.size());
    std::vector<std::uint8_t> found(64);
    first.read_bytes(128, found.data(), found.size());
    CHECK(found == std::vector<std::uint8_t>(64, 0));
    second.read_bytes(128, found.data(), found.size());
    CHECK(found == bytes);
}

TEST_CASE("a stream runs at the peak rate and never beats it")
{
    const double rate = 900e9;
    for (std::uint64_t bytes : {1u, 64u, 100u, 256u, 4096u}) {
        hbm m(sc_core::sc_gen_unique_name("hbm"), hbm_config{});
        const std::uint64_t accesses = 100'000;
        std::uint64_t done = 0;
        for (std::uint64_t i = 0; i < accesses; ++i)
            done = m.charge(0, 0, bytes, i % 2 ? hbm::access::read : hbm::access::write);
        const double least_ps = static_cast<double>(bytes * accesses) / rate * 1e12;
        const double actual_ps = static_cast<double>(done - m.config().latency.value());
        INFO(bytes);
        CHECK(actual_ps >= least_ps - 1e-3);
        CHECK(actual_ps <= least_ps * 1.000001 + 1);
        CHECK(static_cast<double>(m.busy_time.value()) == Approx(actual_ps).margin(1));
    }
}

TEST_CASE("contents survive page boundaries and untouched pages read as zero")
{
    hbm m("hbm", hbm_config{});
    const auto data = pattern(3 * k_page + 777, 1);
    const std::uint64_t offset = 5 * k_page - 123;
    m.write_bytes(offset, data.data(), data.size());
    std::vector<std::uint8_t> back(data.size() + 200, 0xee);
    m.read_bytes(offset - 100, back.data(), back.size());
    for (std::size_t i = 0; i < 100; ++i) {
        CHECK(back[i] == 0);
        CHECK(back[back.size() - 1 - i] == 0);
    }
    CHECK(std::equal(data.begin(), data.end(), back.begin() + 100));
    CHECK(m.resident_bytes() == 5 * k_page);

    // The far end of the memory, in another leaf of the page table.
    const std::uint64_t end = m.capacity_bytes();
    m.write_bytes(end - 8, data.data(), 8);
    m.read_bytes(end - 8, back.data(), 8);
    CHECK(std::equal(back.begin(), back.begin() + 8, data.begin()));
    CHECK(m.resident_bytes() == 6 * k_page);
    m.read_bytes(20ull << 30, back.data(), 64); // reading makes no page
    CHECK(back[0] == 0);
    CHECK(m.resident_bytes() == 6 * k_page);

    m.release_contents();
    CHECK(m.resident_bytes() == 0);
    CHECK(m.stats.find("peak_resident")->value() == 6 * k_page);
    m.read_bytes(offset, back.data(), 64);
    CHECK(std::all_of(back.begin(), back.begin() + 64, [](auto b) { return b == 0; }));
    m.write_bytes(offset, data.data(), data.size());
    m.read_bytes(offset, back.data(), data.size());
    CHECK(std::equal(data.begin(), data.end(), back.begin()));
}

TEST_CASE("spans are contiguous and bounded by page and capacity")
{
    hbm m("hbm", small_hbm());
    std::uint64_t got = 1;
    CHECK(m.span_for_write(1 << 20, 1, got) == nullptr);
    CHECK(got == 0);
    CHECK(m.span_for_read(~0ull, 1, got) == nullptr);
    CHECK(got == 0);

    const auto* zero = m.span_for_read(10, 200'000, got); // the shared zero page: one page at most
    CHECK(got == k_page - 10);
    CHECK(zero[0] == 0);
    CHECK(zero[got - 1] == 0);
    CHECK(m.resident_bytes() == 0);

    auto* w = m.span_for_write(100, 3 * k_page, got); // pages made together are neighbours
    REQUIRE(w);
    CHECK(got == 3 * k_page);
    CHECK(m.span_for_read(100, 3 * k_page, got) == w);
    CHECK(got == 3 * k_page);
    w[3 * k_page - 1] = 7;
    std::uint8_t b = 0;
    m.read_bytes(100 + 3 * k_page - 1, &b, 1);
    CHECK(b == 7);
    m.span_for_write((1 << 20) - 16, 4096, got);
    CHECK(got == 16);

    // A walk over spans covers every byte once, whatever the pages look like.
    m.release_contents();
    m.span_for_write(7 * k_page, 1, got);
    m.span_for_write(3 * k_page, 1, got);
    std::uint64_t covered = 0;
    while (covered < m.capacity_bytes()) {
        REQUIRE(m.span_for_read(covered, m.capacity_bytes() - covered, got));
        REQUIRE(got > 0);
        covered += got;
    }
    CHECK(covered == m.capacity_bytes());
}

TEST_CASE("many large spans move through arenas of all sizes")
{
    hbm m("hbm", hbm_config{});
    const auto data = pattern(24 << 20, 3);
    std::uint64_t moved = 0;
    std::uint64_t spans = 0;
    while (moved < data.size()) {
        std::uint64_t got = 0;
        auto* to = m.span_for_write((1ull << 30) + moved, data.size() - moved, got);
        std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(moved), got, to);
        moved += got;
        ++spans;
    }
    std::vector<std::uint8_t> back(data.size());
    m.read_bytes(1ull << 30, back.data(), back.size());
    CHECK(back == data);
    CHECK(spans < 16);
}

TEST_CASE("accesses of the host beyond the capacity are a bug")
{
    hbm m("hbm", small_hbm());
    std::uint64_t word = 0;
    CHECK_THROWS_AS(m.read_bytes((1 << 20) - 4, &word, 8), bug);
    CHECK_THROWS_AS(m.write_bytes(1 << 20, &word, 1), bug);
    CHECK_THROWS_AS(m.write_bytes(~0ull - 3, &word, 8), bug);
    CHECK_NOTHROW(m.write_bytes((1 << 20) - 8, &word, 8));
    CHECK_NOTHROW(m.write_bytes(1 << 20, &word, 0));
}

TEST_CASE("the socket charges time and answers errors")
{
    master cpu("cpu");
    hbm m("hbm", small_hbm());
    cpu.socket.bind(m.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    const auto data = pattern(64, 9);
    std::uint64_t delay = 0;
    CHECK(cpu.socket.write(k_page - 32, data.data(), 64, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(delay == 64'000 + 100'000);
    std::vector<std::uint8_t> back(64);
    CHECK(cpu.socket.read(k_page - 32, back.data(), 64, delay) ==
          ::tlm::TLM_OK_RESPONSE); // asked after the first answer
    CHECK(delay == 2 * (64'000 + 100'000));
    CHECK(back == data);
    CHECK(m.bytes_read.value() == 64);
    CHECK(m.bytes_written.value() == 64);

    delay = 0;
    std::uint64_t word = 1;
    CHECK(cpu.socket.read((1 << 20) - 4, &word, 8, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(word == 0);
    CHECK(cpu.socket.read(~0ull - 3, &word, 8, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);

    ::tlm::tlm_generic_payload trans;
    sc_core::sc_time t;
    unsigned char enables[4] = {0xff, 0, 0xff, 0};
    trans.set_command(::tlm::TLM_READ_COMMAND);
    trans.set_data_ptr(back.data());
    trans.set_data_length(4);
    trans.set_streaming_width(4);
    trans.set_byte_enable_ptr(enables);
    cpu.socket->b_transport(trans, t);
    CHECK(trans.get_response_status() == ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    trans.set_byte_enable_ptr(nullptr);
    trans.set_streaming_width(2);
    cpu.socket->b_transport(trans, t);
    CHECK(trans.get_response_status() == ::tlm::TLM_BURST_ERROR_RESPONSE);
    trans.set_streaming_width(4);
    trans.set_command(::tlm::TLM_IGNORE_COMMAND);
    cpu.socket->b_transport(trans, t);
    CHECK(trans.get_response_status() == ::tlm::TLM_COMMAND_ERROR_RESPONSE);

    trans.set_command(::tlm::TLM_READ_COMMAND);
    trans.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
    CHECK(cpu.socket->nb_transport_fw(trans, phase, t) == ::tlm::TLM_COMPLETED);
    CHECK(trans.get_response_status() == ::tlm::TLM_OK_RESPONSE);
}

TEST_CASE("debug access and DMI see the same bytes and take no time")
{
    master cpu("cpu");
    hbm m("hbm", small_hbm());
    cpu.socket.bind(m.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);

    std::uint32_t word = 0xfeedf00d;
    CHECK(cpu.socket.write_debug(2 * k_page + 4, &word, 4) == 4);
    word = 0;
    CHECK(cpu.socket.read_debug(2 * k_page + 4, &word, 4) == 4);
    CHECK(word == 0xfeedf00d);
    CHECK(cpu.socket.read_debug(1 << 20, &word, 4) == 0);

    ::tlm::tlm_generic_payload trans;
    ::tlm::tlm_dmi dmi;
    trans.set_address(2 * k_page + 40);
    trans.set_command(::tlm::TLM_READ_COMMAND);
    REQUIRE(cpu.socket->get_direct_mem_ptr(trans, dmi));
    CHECK(dmi.get_start_address() == 2 * k_page);
    CHECK(dmi.get_end_address() == 3 * k_page - 1);
    std::memcpy(&word, dmi.get_dmi_ptr() + 4, 4);
    CHECK(word == 0xfeedf00d);
    trans.set_address(1 << 20);
    CHECK_FALSE(cpu.socket->get_direct_mem_ptr(trans, dmi));
    CHECK(m.busy_time.value() == 0);
    CHECK(m.bytes_read.value() + m.bytes_written.value() == 0);
    m.release_contents(); // takes the pointers back
}

TEST_CASE("a wrong HBM configuration is explained")
{
    CHECK(hbm_config{}.validate().empty());
    hbm_config c;
    c.capacity = data_size(100'000);
    c.rate = bandwidth(0);
    c.latency = duration(2'000'000'000);
    CHECK(c.validate().size() == 3);
    local_memory_config l;
    CHECK(l.validate().empty());
    l.capacity = data_size(5);
    CHECK(l.validate().size() == 1);
}

TEST_CASE("core-local memory keeps contents and answers errors")
{
    master cpu("cpu");
    local_memory m("local", local_memory_config{});
    cpu.socket.bind(m.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    CHECK(m.capacity_bytes() == 64 * 1024);
    CHECK(m.resident_bytes() == 0);
    const auto data = pattern(5000, 4);
    m.write_bytes(4000, data.data(), data.size());
    CHECK(m.resident_bytes() == 3 * 4096);
    std::vector<std::uint8_t> back(data.size());
    std::uint64_t delay = 0;
    CHECK(cpu.socket.read(4000, back.data(), 5000, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(delay == 5'000);
    CHECK(back == data);
    std::uint64_t word = 1;
    CHECK(cpu.socket.read(0, &word, 8, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(word == 0);
    CHECK(cpu.socket.write(65'532, &word, 8, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(cpu.socket.write_debug(65'528, &word, 8) == 8);
    CHECK(cpu.socket.read_debug(65'532, &word, 8) == 0);
    CHECK_THROWS_AS(m.write_bytes(65'532, &word, 8), bug);
}

TEST_CASE("an idle HBM is small")
{
    const int count = 256;
    std::vector<std::unique_ptr<hbm>> all;
    all.reserve(count);
    const auto before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < count; ++i)
        all.push_back(std::make_unique<hbm>(sc_core::sc_gen_unique_name("hbm"), hbm_config{}));
    const auto each = (mallinfo2().uordblks + mallinfo2().hblkhd - before) / count;
    std::printf("idle hbm: %zu bytes of host memory\n", static_cast<std::size_t>(each));
    CHECK(each < 8 * 1024);
}

TEST_CASE("charge is cheap")
{
    hbm m("hbm", hbm_config{});
    memory_if& port = m;
    const std::uint64_t calls = 5'000'000;
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t done = 0;
    for (std::uint64_t i = 0; i < calls; ++i)
        done = port.charge(i * 300, 0, 256, memory_if::access::read);
    const std::chrono::duration<double, std::nano> span = std::chrono::steady_clock::now() - begin;
    std::printf("hbm charge(): %.1f ns a call\n", span.count() / static_cast<double>(calls));
    CHECK(done > calls * 284);
    CHECK(span.count() / static_cast<double>(calls) < 500); // generous: sanitizers and busy hosts
}

TEST_CASE("what compute units take of the rate is gone and accesses wait the longer the more they take")
{
    double waited_before_ns = 0;
    for (const double load : {0.25, 0.5, 0.9}) {
        INFO(load);
        hbm_config c = small_hbm();
        c.load = load;
        c.load_block = data_size(1000);
        hbm m("hbm", c);
        // The first access comes with a block.
        CHECK(m.charge(5'000'000, 0, 100, hbm::access::read) == 5'000'000 + 1'000'000 + 100'000 + 100'000);
        // A stream gets what is left.
        std::uint64_t done = 0;
        const std::uint64_t start = 10'000'000'000, bytes = 64, accesses = 100'000;
        for (std::uint64_t i = 0, at = start; i < accesses; ++i, at = done - 100'000)
            done = m.charge(at, 0, bytes, hbm::access::read);
        CHECK(static_cast<double>(done - start) / 1000 == Approx(bytes * accesses / (1 - load)).epsilon(0.05));
        // Lone accesses wait as in a queue of random arrivals with equal services: s u / (2 (1 - u)).
        double waited_ns = 0;
        const std::uint64_t lone = 20'000;
        std::uint64_t at = 2 * done;
        for (std::uint64_t i = 0; i < lone; ++i, at += 77'777'777)
            waited_ns += static_cast<double>(m.charge(at, 0, 1, hbm::access::read) - at) / 1000 - 101;
        waited_ns /= lone;
        CHECK(waited_ns == Approx(1000 * load / 2 / (1 - load)).epsilon(0.25));
        CHECK(waited_ns > waited_before_ns);
        waited_before_ns = waited_ns;
        // After a reset the first block comes with the first access again, and the same ones follow.
        std::uint64_t first = 0;
        for (const std::uint64_t fresh : {3 * at, 5 * at}) {
            m.reset(0);
            CHECK(m.charge(fresh, 0, 100, hbm::access::read) == fresh + 1'000'000 + 100'000 + 100'000);
            const std::uint64_t later = m.charge(fresh + 12'345'678, 0, 100, hbm::access::read) - fresh;
            CHECK((first == 0 || later == first));
            first = later;
        }
    }
}
