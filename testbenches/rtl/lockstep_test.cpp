// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Model and Verilog on the same random passes; the clock gated and running on; what happens when something is wrong.
#include "rtl/shell/rtl_aggregation.h"
#include "rtl/shell/verilog_output.h"
#include "testbenches/support/aggregation_passes.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

using namespace weft;
using weft::testing::random_passes;
using weft::testing::splitmix;

namespace {

constexpr std::uint64_t k_round_ps = 100'000'000; // more than the passes of a round take: a later seed, a later time

/// Submits `passes` random passes and takes the results late, up to `behind` passes after.
template <typename unit_type>
std::uint64_t run_random(unit_type& unit, std::uint64_t seed, std::uint64_t passes, std::uint32_t behind)
{
    random_passes source(seed, unit.register_depth(), seed % 100 * k_round_ps);
    splitmix random(seed ^ 1);
    std::deque<std::uint64_t> waiting;
    std::uint64_t digest = 0;
    const auto take = [&] {
        const auto result = unit.take(waiting.front(), source.now_ps());
        waiting.pop_front();
        digest = (digest ^ result.words[7] ^ result.count) * 0x100'0000'01b3 + result.map_result +
                 static_cast<std::uint64_t>(result.step) * 977;
    };
    for (std::uint64_t i = 0; i < passes; ++i) {
        const auto& pass = source.next();
        waiting.push_back(unit.submit(pass, source.now_ps()));
        while (waiting.size() > random.below(behind + 1))
            take();
    }
    while (!waiting.empty())
        take();
    return digest;
}

} // namespace

TEST_CASE("lockstep: 100000 random passes without a difference")
{
    for (const std::uint64_t seed : {1u, 2u}) {
        lockstep_aggregation both;
        run_random(both, seed, 50'000, seed == 1 ? 12 : 0);
        CHECK(both.compared() == 50'000);
        both.compare_registers(0);
    }
}

TEST_CASE("lockstep: 10000000 random passes without a difference", "[.slow]")
{
    lockstep_aggregation both;
    for (std::uint64_t seed = 100; seed < 110; ++seed) {
        run_random(both, seed, 1'000'000, seed % 2 == 0 ? 12 : 1);
        both.compare_registers(0);
    }
    CHECK(both.compared() == 10'000'000);
}

TEST_CASE("lockstep: clearing in between")
{
    lockstep_aggregation both(256);
    for (std::uint64_t round = 0; round < 4; ++round) {
        run_random(both, 7 + round, 500, 5);
        both.compare_registers(0);
        CHECK(both.rtl().slot_state(0) != aggregation_slot_state{});
        both.clear();
        both.compare_registers(0);
        for (std::uint16_t slot = 0; slot < 128; ++slot)
            REQUIRE(both.rtl().slot_state(slot) == aggregation_slot_state{});
    }
}

TEST_CASE("the clock gated and running on give the same")
{
    rtl_aggregation gated;
    rtl_aggregation running(k_default_register_depth, {pipe_clock::free_running, ""});
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const std::uint32_t behind = seed % 2 == 0 ? 0 : 9;
        CHECK(run_random(gated, seed, 3000, behind) == run_random(running, seed, 3000, behind));
        gated.drain();
        running.drain();
        CHECK(gated.next_cycle() == running.next_cycle());
    }
    for (std::uint32_t slot = 0; slot < k_default_register_depth / 2; ++slot)
        REQUIRE(gated.slot_state(static_cast<std::uint16_t>(slot)) ==
                running.slot_state(static_cast<std::uint16_t>(slot)));
    CHECK(gated.clocks() < running.clocks());
    CHECK(gated.clocks() <= (k_pipe_latency_clocks + 1) * gated.passes());
}

TEST_CASE("a result stands four clocks after its pass")
{
    rtl_aggregation rtl(4);
    aggregation_pass pass;
    pass.workers = 2;
    const auto before = rtl.clocks();
    const auto ticket = rtl.submit(pass, 1000); // 1.22 clocks: enters at clock 2
    CHECK(rtl.next_cycle() == 3);
    rtl.take(ticket, 1000);
    CHECK(rtl.clocks() - before == k_pipe_latency_clocks);
    rtl.submit(pass, 1'000'000);
    CHECK(rtl.next_cycle() == 1221);
}

TEST_CASE("lockstep: a difference stops the run and shows both sides")
{
    lockstep_aggregation both(16);
    aggregation_pass pass;
    pass.workers = 3;
    pass.worker = 1;
    pass.pool_index = 4;
    pass.d1[3] = 0x77;
    both.take(both.submit(pass, 0), 0);
    both.rtl().clear(); // the Verilog forgets what the model still knows
    CHECK_THROWS_AS(both.compare_registers(5), bug);
    try {
        pass.worker = 2;
        both.take(both.submit(pass, 0), 0);
        FAIL("no difference was found");
    } catch (const std::exception& e) {
        const std::string text = e.what();
        INFO(text);
        for (const char* part :
             {"differ at pass", "worker: 2 of 3", "result of the model", "result of the RTL", "bitmap before: 00000002",
              "bitmap before: 00000000", "model: slot 2", "RTL: slot 2", "version 0: bitmap 00000006"})
            CHECK(text.find(part) != std::string::npos);
    }
}

TEST_CASE("a failed assertion of the Verilog is a bug")
{
    rtl_aggregation rtl(16);
    auto& pins = rtl.pins();
    CHECK(pins.failed_assertions() == 0);
    pins.in.clear = true;
    pins.clock(0);
    pins.in.clear = false;
    pins.in.valid = true; // a pass while the registers are being cleared
    pins.in.type = 4;
    pins.clock(1000);
    pins.in.valid = false;
    CHECK(pins.failed_assertions() > 0);
    aggregation_pass pass;
    CHECK_THROWS_AS(rtl.take(rtl.submit(pass, 5000), 5000), bug);
}

TEST_CASE("of the assertions that fail the first are printed on standard error")
{
    const auto file = std::filesystem::temp_directory_path() / ("weft_assertions_" + std::to_string(::getpid()));
    std::fflush(stderr);
    const int kept = ::dup(STDERR_FILENO);
    const int to = ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    REQUIRE(to >= 0);
    ::dup2(to, STDERR_FILENO);
    for (int i = 0; i < 100; ++i)
        weft_verilog_print("[%d] %%Error: x.sv:1: Assertion failed in a.b: 'assert' failed.\n", i);
    weft_verilog_print("of $display: %d\n", 7);
    std::fflush(stderr);
    ::dup2(kept, STDERR_FILENO);
    ::close(kept), ::close(to);
    std::ifstream written(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(written, line);)
        lines.push_back(line);
    std::filesystem::remove(file);
    REQUIRE(lines.size() >= 2);
    CHECK(lines.size() <= k_printed_assertions + 1u); // another test of this process may have used some
    CHECK(lines.front() == "[0] %Error: x.sv:1: Assertion failed in a.b: 'assert' failed.");
    CHECK(lines.back() == "of $display: 7");
}

TEST_CASE("waves are written on request")
{
    const auto file = std::filesystem::temp_directory_path() / ("weft_waves_" + std::to_string(::getpid()) + ".fst");
    {
        rtl_aggregation rtl(16, {pipe_clock::gated, file.string()});
        run_random(rtl, 3, 200, 3);
    }
    CHECK(std::filesystem::file_size(file) > 1000);
    std::filesystem::remove(file);
    CHECK_THROWS_AS(rtl_aggregation(16, {pipe_clock::gated, "/nowhere/a.fst"}), user_error);
    CHECK_THROWS_AS(rtl_aggregation(32768), bug);
}
