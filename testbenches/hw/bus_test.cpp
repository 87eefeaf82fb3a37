// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/bus.h"
#include "hw/memory/hbm.h"
#include "hw/memory/local_memory.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::literals;
using Catch::Matchers::Contains;

namespace {
struct master : sc_core::sc_module, ::tlm::tlm_bw_transport_if<> {
    explicit master(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket"), raw("raw")
    {
        raw.bind(static_cast<::tlm::tlm_bw_transport_if<>&>(*this));
    }
    ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload&, ::tlm::tlm_phase&, sc_core::sc_time&) override
    {
        return ::tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override
    {
        invalidated_first = first;
        invalidated_last = last;
    }
    memory_initiator_socket socket;
    ::tlm::tlm_initiator_socket<> raw; // for a second bus: sees DMI calls
    sc_dt::uint64 invalidated_first = 0;
    sc_dt::uint64 invalidated_last = 0;
};

const reg_row_view k_rows[] = {
    {"TYPE", 0, 0, 1, 32, reg_rights::ro, 0x31545354, "Device type"},
    {"SCRATCH", 4, 0, 1, 32, reg_rights::rw, 0, "For tests"},
    {"WIDE", 8, 0, 1, 64, reg_rights::rw, 0, "For tests"},
};
struct device : sc_core::sc_module {
    explicit device(const sc_core::sc_module_name& name)
        : sc_core::sc_module(name), regs("TEST", k_rows), socket("socket", regs, 30_ns)
    {
        regs.on_write(4, [this](std::uint32_t, std::uint64_t) { written_at_ps = socket.access_ps(); });
    }
    reg_file regs;
    mmio_target_socket socket;
    std::uint64_t written_at_ps = 0;
};

struct system_under_test {
    master cpu{"cpu"};
    bus decoder{"bus", bus_config{}};
    bus second{"second", bus_config{}};
    local_memory local{"local", local_memory_config{}};
    device dev{"dev"};
    hbm memory{"hbm", hbm_config{}};
    local_memory other{"other", local_memory_config{}};
    static constexpr std::uint64_t k_dev = 0x1000'0000;
    static constexpr std::uint64_t k_hbm = 0x80'0000'0000;
    system_under_test()
    {
        cpu.socket.bind(decoder.socket);
        cpu.raw.bind(second.socket);
        decoder.connect(memory.socket, {k_hbm, memory.capacity_bytes(), "hbm", 0});
        decoder.connect(dev.socket, {k_dev, 0x1000, "dev", 0});
        decoder.connect(local.socket, {0, 0x1'0000, "local", 0});
        second.connect(other.socket, {0x4000, 0x1000, "other", 0x2000});
    }
};
} // namespace

TEST_CASE("accesses reach their target with both latencies")
{
    system_under_test s;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::uint64_t delay = 0;
    std::uint32_t word = 0;
    CHECK(s.cpu.socket.read(s.k_dev, &word, 4, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(word == 0x31545354);
    CHECK(delay == 20'000 + 30'000);
    word = 77;
    delay = 1'000;
    CHECK(s.cpu.socket.write(s.k_dev + 4, &word, 4, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(s.dev.regs.at(4) == 77);
    CHECK(s.dev.written_at_ps == 51'000); // what is annotated before the target counts
    std::uint64_t wide = 0x1122'3344'5566'7788;
    CHECK(s.cpu.socket.write(s.k_dev + 8, &wide, 8, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(s.dev.regs.at(8) == wide);

    delay = 0;
    CHECK(s.cpu.socket.write(s.k_hbm + 900, &wide, 8, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(delay == 20'000 + 120'000 + 9); // 8 B / 900 GB/s = 8.9 ps
    wide = 0;
    s.memory.read_bytes(900, &wide, 8);
    CHECK(wide == 0x1122'3344'5566'7788);
    delay = 0;
    CHECK(s.cpu.socket.write(0xfff8, &wide, 8, delay) == ::tlm::TLM_OK_RESPONSE);
    CHECK(delay == 20'000 + 5'000);
    CHECK(s.decoder.accesses.value() == 5);
    CHECK(s.decoder.unmapped.value() == 0);
}

TEST_CASE("errors of the bus and of registers are TLM responses")
{
    system_under_test s;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::uint64_t delay = 0;
    std::uint64_t word = 0;
    auto& socket = s.cpu.socket;
    CHECK(socket.read(0x2000'0000, &word, 4, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE); // no target
    CHECK(socket.read(0xfffc, &word, 8, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);      // half of it outside
    CHECK(socket.read(~0ull - 1, &word, 4, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(socket.read(s.k_hbm + s.memory.capacity_bytes(), &word, 4, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(s.decoder.unmapped.value() == 4);
    CHECK(socket.read(s.k_dev + 0x20, &word, 4, delay) == ::tlm::TLM_ADDRESS_ERROR_RESPONSE); // no register
    CHECK(socket.write(s.k_dev, &word, 4, delay) == ::tlm::TLM_COMMAND_ERROR_RESPONSE);       // read only
    CHECK(socket.read(s.k_dev, &word, 8, delay) == ::tlm::TLM_BURST_ERROR_RESPONSE);          // too wide
    CHECK(socket.read(s.k_dev + 8, &word, 4, delay) == ::tlm::TLM_BURST_ERROR_RESPONSE);      // too narrow
    CHECK(socket.read(s.k_dev, &word, 2, delay) == ::tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(socket.read(0, &word, k_max_block_bytes + 1, delay) == ::tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(s.dev.socket.errors() == 5);

    ::tlm::tlm_generic_payload trans;
    sc_core::sc_time t;
    unsigned char enable = 0xff;
    trans.set_command(::tlm::TLM_READ_COMMAND);
    trans.set_address(s.k_dev);
    trans.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    trans.set_data_length(4);
    trans.set_streaming_width(4);
    trans.set_byte_enable_ptr(&enable);
    socket->b_transport(trans, t);
    CHECK(trans.get_response_status() == ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    CHECK(trans.get_address() == s.k_dev);
}

TEST_CASE("windows translate addresses and debug access and DMI pass through")
{
    system_under_test s;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    std::uint32_t word = 0xabcd0123;
    CHECK(s.cpu.socket.write_debug(s.k_dev + 4, &word, 4) == 4);
    CHECK(s.dev.regs.at(4) == word);
    CHECK(s.dev.written_at_ps == 0); // no hook
    CHECK(s.cpu.socket.read_debug(0x2000'0000, &word, 4) == 0);

    word = 5;
    ::tlm::tlm_generic_payload trans;
    sc_core::sc_time t;
    trans.set_command(::tlm::TLM_WRITE_COMMAND);
    trans.set_address(0x4010);
    trans.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    trans.set_data_length(4);
    trans.set_streaming_width(4);
    s.cpu.raw->b_transport(trans, t);
    CHECK(trans.get_response_status() == ::tlm::TLM_OK_RESPONSE);
    word = 0;
    s.other.read_bytes(0x2010, &word, 4);
    CHECK(word == 5);

    ::tlm::tlm_dmi dmi;
    trans.set_address(s.k_hbm + 0x1'2345);
    REQUIRE(s.cpu.socket->get_direct_mem_ptr(trans, dmi));
    CHECK(dmi.get_start_address() == s.k_hbm + 0x1'0000);
    CHECK(dmi.get_end_address() == s.k_hbm + 0x1'ffff);
    trans.set_address(s.k_dev);
    CHECK_FALSE(s.cpu.socket->get_direct_mem_ptr(trans, dmi));
    trans.set_address(0x2000'0000);
    CHECK_FALSE(s.cpu.socket->get_direct_mem_ptr(trans, dmi));
    s.memory.release_contents();
}

TEST_CASE("DMI ranges are clipped to a window that shows a part of its target")
{
    master cpu("cpu");
    bus decoder("bus", bus_config{});
    bus unused("unused", bus_config{});
    hbm memory("hbm", hbm_config{});
    local_memory local("local", local_memory_config{});
    cpu.socket.bind(unused.socket);
    cpu.raw.bind(decoder.socket);
    unused.connect(local.socket, {0, 0x1000, "local", 0});
    decoder.connect(memory.socket, {0x7000, 0x1000, "part of hbm", 0x1'4000});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const char mark = 'x';
    memory.write_bytes(0x1'4000, &mark, 1);
    ::tlm::tlm_generic_payload trans;
    ::tlm::tlm_dmi dmi;
    trans.set_address(0x7800);
    REQUIRE(cpu.raw->get_direct_mem_ptr(trans, dmi));
    CHECK(dmi.get_start_address() == 0x7000);
    CHECK(dmi.get_end_address() == 0x7fff);
    CHECK(dmi.get_dmi_ptr()[0] == 'x');
    memory.release_contents();
    CHECK(cpu.invalidated_first == 0x7000);
    CHECK(cpu.invalidated_last == 0x7fff);
}

TEST_CASE("overlapping and impossible windows are refused with both names")
{
    bus decoder("bus", bus_config{});
    local_memory a("a", local_memory_config{});
    local_memory b("b", local_memory_config{});
    decoder.connect(a.socket, {0x1000, 0x1000, "first", 0});
    CHECK_THROWS_WITH(decoder.connect(b.socket, {0x1fff, 0x10, "second", 0}), Contains("first") && Contains("second"));
    CHECK_THROWS_AS(decoder.connect(b.socket, {0, 0x1001, "second", 0}), user_error);
    CHECK_THROWS_AS(decoder.connect(b.socket, {0x1400, 4, "second", 0}), user_error);
    CHECK_THROWS_AS(decoder.connect(b.socket, {0, 0x4000, "second", 0}), user_error);
    CHECK_THROWS_AS(decoder.connect(b.socket, {0x8000, 0, "second", 0}), user_error);
    CHECK_THROWS_AS(decoder.connect(b.socket, {~0ull - 3, 8, "second", 0}), user_error);
    CHECK_NOTHROW(decoder.connect(b.socket, {0x2000, 0x10, "second", 0}));
    REQUIRE(decoder.window_of(0x2008));
    CHECK(decoder.window_of(0x2008)->name == "second");
    CHECK(decoder.window_of(0x0fff) == nullptr);
}
