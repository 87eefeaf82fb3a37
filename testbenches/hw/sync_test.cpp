// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The sync network by its registers: when ranks are released, what is refused, what is said of who is missing.
#include "hw/sync/sync_network.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

using namespace weft;
namespace regs = weft::abi::sync;

namespace {

/// Rank r is r x 10 ns from where every zone meets.
struct straight_wires final : sync_wires {
    std::vector<duration> ways(const sync_zone& zone) const override
    {
        std::vector<duration> all;
        for (std::uint32_t i = 0; i < zone.members; ++i)
            all.emplace_back(zone.rank(i) * 10'000);
        return all;
    }
};

struct one_rank : sc_core::sc_module, irq_if {
    one_rank(const sc_core::sc_module_name& name, timeline& time, sync_network& network, std::uint32_t rank)
        : sc_core::sc_module(name), socket("socket"), unit("unit", time, network, rank, *this, duration(5'000))
    {
        socket.bind(unit.registers);
    }
    void set_irq(std::uint32_t lines, bool on) override
    {
        CHECK(lines == abi::k_irq_sync);
        if (on && !level)
            raised_ps.push_back(kernel_now_ps());
        level = on;
    }
    std::uint32_t read(std::uint64_t offset)
    {
        std::uint32_t value = 0;
        std::uint64_t delay = 0;
        CHECK(socket.read(offset, &value, 4, delay) == ::tlm::TLM_OK_RESPONSE);
        return value;
    }
    void write(std::uint64_t offset, std::uint32_t value)
    {
        std::uint64_t delay = 0;
        CHECK(socket.write(offset, &value, 4, delay) == ::tlm::TLM_OK_RESPONSE);
    }
    void join(std::uint32_t first, std::uint32_t stride, std::uint32_t members)
    {
        write(regs::ZONE_FIRST, first);
        write(regs::ZONE_STRIDE, stride);
        write(regs::ZONE_MEMBERS, members);
    }
    memory_initiator_socket socket;
    sync_unit unit;
    bool level = false;
    std::vector<std::uint64_t> raised_ps;
};

struct bench : sc_core::sc_module {
    explicit bench(const sc_core::sc_module_name& name, std::uint32_t ranks) : sc_core::sc_module(name), time("time"), network("network", time, wires)
    {
        for (std::uint32_t r = 0; r < ranks; ++r)
            all.push_back(std::make_unique<one_rank>(("rank" + std::to_string(r)).c_str(), time, network, r));
    }
    one_rank& rank(std::uint32_t r) { return *all[r]; }
    straight_wires wires;
    timeline time;
    sync_network network;
    std::vector<std::unique_ptr<one_rank>> all;
};

} // namespace

TEST_CASE("sync: zones side by side release their members by the latest arrival and the ways of their wires")
{
    bench b("bench", 6);
    for (std::uint32_t r = 0; r < 6; ++r)
        b.rank(r).join(r % 2, 2, 3); // 0 2 4 and 1 3 5
    for (const std::uint32_t r : {0u, 4u, 1u, 3u})
        b.rank(r).write(regs::ARRIVE, 1);
    sc_core::sc_start(1, sc_core::SC_US);
    CHECK(b.rank(0).raised_ps.empty());
    CHECK(
        b.network.waits() ==
        "sync zone of ranks 0 to 4 in steps of 2, sync 1 since it began: 2 of 3 have arrived, the first at 5.00 ns; missing: rank 2\n"
        "sync zone of ranks 1 to 5 in steps of 2, sync 1 since it began: 2 of 3 have arrived, the first at 5.00 ns; missing: rank 5");
    b.rank(2).write(regs::ARRIVE, 1);
    sc_core::sc_start(1, sc_core::SC_US);
    // Rank 2 arrives at 1 us + 5 ns; its way is 20 ns, and back to rank r 10 r ns.
    CHECK(b.rank(0).raised_ps == std::vector<std::uint64_t>{1'025'000});
    CHECK(b.rank(2).raised_ps == std::vector<std::uint64_t>{1'045'000});
    CHECK(b.rank(4).raised_ps == std::vector<std::uint64_t>{1'065'000});
    CHECK(b.rank(1).raised_ps.empty());
    CHECK(b.rank(0).read(regs::RELEASES) == 1);
    CHECK(b.rank(0).read(regs::IRQ_PENDING) == 1);
    b.rank(0).write(regs::IRQ_PENDING, 1);
    CHECK_FALSE(b.rank(0).level);
    CHECK(b.network.syncs() == 1);
    // Round two, of all at once: the farthest one sets the time.
    for (const std::uint32_t r : {2u, 4u})
        b.rank(r).write(regs::IRQ_PENDING, 1);
    for (const std::uint32_t r : {0u, 2u, 4u})
        b.rank(r).write(regs::ARRIVE, 1);
    sc_core::sc_start(1, sc_core::SC_US);
    CHECK(b.rank(0).raised_ps.back() == 2'045'000);
    CHECK(b.rank(4).raised_ps.back() == 2'085'000);
}

TEST_CASE("sync: who is no member or arrives twice is told so and the zone goes on")
{
    bench b("bench", 4);
    b.rank(3).join(0, 1, 3);
    b.rank(3).write(regs::ARRIVE, 1);
    CHECK(b.rank(3).read(regs::ERROR) == 1);
    CHECK(b.rank(3).level);
    b.rank(3).write(regs::ERROR, 1);
    CHECK_FALSE(b.rank(3).level);
    b.rank(2).join(0, 1, 5); // ranks that do not exist
    b.rank(2).write(regs::ARRIVE, 1);
    CHECK(b.rank(2).read(regs::ERROR) == 1);
    b.rank(2).write(regs::ERROR, 1);
    b.rank(2).join(0, 0, 3);
    b.rank(2).write(regs::ARRIVE, 1);
    CHECK(b.rank(2).read(regs::ERROR) == 1);
    b.rank(2).write(regs::ERROR, 1);
    for (std::uint32_t r = 0; r < 3; ++r)
        b.rank(r).join(0, 1, 3);
    b.rank(0).write(regs::ARRIVE, 1);
    b.rank(0).write(regs::ARRIVE, 1);
    CHECK(b.rank(0).read(regs::ERROR) == 2);
    CHECK(b.rank(0).read(regs::IRQ_PENDING) == 2);
    b.rank(1).write(regs::ARRIVE, 1);
    b.rank(2).write(regs::ARRIVE, 1);
    sc_core::sc_start(1, sc_core::SC_US);
    CHECK(b.rank(0).read(regs::RELEASES) == 1);
    CHECK(b.rank(0).read(regs::IRQ_PENDING) == 3);
}

TEST_CASE("sync: an arrival over a wire that is cut is lost and the zone says whose")
{
    bench b("bench", 3);
    b.network.cut(1, duration(500'000));
    for (std::uint32_t r = 0; r < 3; ++r) {
        b.rank(r).join(0, 1, 3);
        b.rank(r).write(regs::ARRIVE, 1);
    }
    sc_core::sc_start(1, sc_core::SC_US);
    CHECK(b.network.syncs() == 1); // it was whole then
    for (std::uint32_t r = 0; r < 2; ++r)
        b.rank(r).write(regs::ARRIVE, 1);
    sc_core::sc_start(1, sc_core::SC_US);
    CHECK(b.network.syncs() == 1);
    CHECK(b.network.lost() == 1);
    CHECK(
        b.network.waits() ==
        "sync zone of ranks 0 to 2, sync 2 since it began: 1 of 3 have arrived, the first at 1.00 us; missing: rank 2; rank 1 has, but its sync wire is cut");
    b.time.components().reset(0);
    CHECK(b.network.waits().empty());
    CHECK(b.rank(0).read(regs::RELEASES) == 0);
}
