// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/bench_cases.h"

#include "hw/core/iss.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/workload/host_use.h"
#include "platforms/workload/traffic.h"

#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <sstream>
#include <vector>

namespace weft::cli {

namespace {

class ticking final : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(ticking);
    ticking(const sc_core::sc_module_name& name, unsigned period_ps)
        : sc_core::sc_module(name), period_(sc_time_from_ps(period_ps))
    {
        SC_METHOD(tick);
    }
    std::uint64_t count = 0;

private:
    void tick()
    {
        ++count;
        next_trigger(period_);
    }
    sc_core::sc_time period_;
};

} // namespace

run_figures in_child(const isolated_run::simulation& measure, const std::string&)
{
    const isolated_result r = run_isolated(
        [&] {
            std::string text;
            for (const auto& [name, value] : measure())
                text += fmt::format("{} {:.17g}\n", name, value);
            return text;
        },
        0);
    if (!r.failure.empty())
        throw bug("bench", 0, "a measurement " + r.failure);
    run_figures result;
    std::istringstream lines(r.text);
    std::string name;
    for (double value = 0; lines >> name >> value;)
        result[name] = value;
    return result;
}

run_figures bench_kernel_events(unsigned pending)
{
    std::vector<std::unique_ptr<ticking>> all;
    for (unsigned i = 0; i < pending; ++i)
        all.push_back(std::make_unique<ticking>(fmt::format("tick{}", i).c_str(), 1'000'000 + i * 7));
    const auto run_for = [&](std::uint64_t periods) {
        sc_core::sc_start(sc_core::sc_time(static_cast<double>(periods), sc_core::SC_US));
    };
    run_for(2);
    std::uint64_t before = 0;
    for (const auto& t : all)
        before += t->count;
    const double start = cpu_seconds();
    run_for(std::max<std::uint64_t>(20, 4'000'000 / pending));
    const double spent = cpu_seconds() - start;
    std::uint64_t after = 0;
    for (const auto& t : all)
        after += t->count;
    return {{"events_per_s", static_cast<double>(after - before) / spent}};
}

run_figures bench_calendar_queue(unsigned pending)
{
    calendar_queue queue;
    traffic_random random(1);
    for (unsigned i = 0; i < pending; ++i)
        queue.push({random.below(100'000), make_order(event_class::arrival, i, 0), i, 0, 0});
    constexpr unsigned k_turns = 5'000'000;
    const double start = cpu_seconds();
    for (unsigned i = 0; i < k_turns; ++i) {
        timeline_event e = *queue.peek();
        queue.pop();
        e.time_ps += 1 + random.below(100'000);
        ++e.order;
        queue.push(e);
    }
    return {{"events_per_s", k_turns / (cpu_seconds() - start)}};
}

run_figures bench_rv64_engine()
{
    struct no_devices final : iss_host {
        bool iss_read(std::uint64_t, unsigned, std::uint64_t&) override { return false; }
        bool iss_write(std::uint64_t, unsigned, std::uint64_t) override { return false; }
        std::uint64_t iss_read_counter(iss_counter) override { return 0; }
    } host;
    // auipc a1,0; 1: lwu a3,0(a1); xor a0,a0,a3; mul a0,a0,a3; addi a2,a2,1; bnez a1,1b
    constexpr std::uint32_t k_loop[] = {0x00000597, 0x0005e683, 0x00d54533, 0x02d50533, 0x00160613, 0xfe0598e3};
    constexpr std::uint64_t k_bytes = 4096;
    constexpr std::uint64_t k_instructions = 50'000'000;
    alignas(k_bytes) static std::uint8_t memory[k_bytes];
    std::memcpy(memory, k_loop, sizeof k_loop);
    const std::unique_ptr<iss> engine = make_iss(host);
    engine->map_memory(0x10'0000, k_bytes, memory);
    engine->program_loaded();
    engine->set_pc(0x10'0000);
    const double start = cpu_seconds();
    while (engine->retired() < k_instructions)
        if (engine->run(940) != iss_stop::budget)
            throw bug("bench", 0, "the loop trapped");
    return {{"instructions_per_s", static_cast<double>(k_instructions) / (cpu_seconds() - start)}};
}

} // namespace weft::cli
