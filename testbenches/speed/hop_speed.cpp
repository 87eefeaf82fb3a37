// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The hot path in pieces and as a whole. Systems with a SystemC kernel run in a child process each; their time is the CPU time
// of one packet-hop, and the counters tell timeline events and kernel activations per hop (house rule: few and lazy).
#include "hw/arithmetic/reduce.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/tpu_v3/bench.h"
#include "tlm/calendar_queue.h"
#include "tlm/credit.h"
#include "tlm/packet.h"

#include <benchmark/benchmark.h>
#include <vector>

using namespace weft;

namespace {

/// Hold model: take the next event, schedule it again a pseudo-random time later.
void calendar_queue_hold(benchmark::State& state)
{
    calendar_queue queue;
    std::uint64_t random = 1;
    const auto next = [&] { return (random = random * 6364136223846793005ull + 1442695040888963407ull) >> 47; };
    for (std::int64_t i = 0; i < state.range(0); ++i)
        queue.push({next(), make_order(event_class::arrival, static_cast<std::uint32_t>(i), 0), 0, 0, 0});
    for (auto _ : state) {
        timeline_event e = *queue.peek();
        queue.pop();
        e.time_ps += 1 + next();
        ++e.order;
        queue.push(e);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(calendar_queue_hold)->Arg(64)->Arg(1024)->Arg(16384);

void credit_give_and_take(benchmark::State& state)
{
    credit_pool pool;
    credit_counter credits;
    credits.give(pool, 0, 0, 512);
    std::uint64_t now = 0;
    for (auto _ : state) {
        now += 3300;
        benchmark::DoNotOptimize(credits.has(pool, now, 9));
        credits.take(9);
        credits.give(pool, now, now + 60'000, 9);
        if (credits.available() < 9)
            now += 60'000;
    }
}
BENCHMARK(credit_give_and_take);

void packet_make_and_release(benchmark::State& state)
{
    packet_pool pool;
    for (auto _ : state) {
        packet_ptr p = pool.make();
        benchmark::DoNotOptimize(p->index);
    }
}
BENCHMARK(packet_make_and_release);

void reduce_sum(benchmark::State& state)
{
    const auto type = static_cast<abi::element_type>(state.range(0));
    constexpr std::size_t k_bytes = 4096;
    std::vector<std::uint8_t> memory(k_bytes), incoming(k_bytes);
    for (auto _ : state) {
        reduce(type, abi::reduce_op::sum, memory.data(), incoming.data(), k_bytes);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(k_bytes));
}
BENCHMARK(reduce_sum)->DenseRange(0, static_cast<int>(abi::element_type::int16));

void report_hops(benchmark::State& state, const std::function<run_figures()>& measure)
{
    run_figures f;
    for (auto _ : state) {
        f = cli::in_child(measure);
        state.SetIterationTime(f.at("hops") / f.at("hops_per_s"));
    }
    state.counters["hops_per_cpu_s"] = f.at("hops_per_s");
    state.counters["events_per_hop"] = f.at("events_per_hop");
    state.counters["activations_per_hop"] = f.at("activations_per_hop");
}

void uniform_traffic(benchmark::State& state)
{
    const auto side = static_cast<unsigned>(state.range(0));
    report_hops(state,
                [=] { return bench_uniform(side, false, side > 16 ? 0.0185 : 0.13, side > 16 ? 100 : 5000); });
}
BENCHMARK(uniform_traffic)
    ->Arg(8)
    ->Arg(64)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(3)
    ->Unit(benchmark::kMillisecond);

void ring_all_reduce(benchmark::State& state)
{
    const bool checked = state.range(0) != 0;
    report_hops(state, [=] { return bench_all_reduce("ring_1d", 8, checked, "4 MiB", 4096, 1); });
}
BENCHMARK(ring_all_reduce)
    ->Arg(0)
    ->Arg(1)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(3)
    ->Unit(benchmark::kMillisecond);

} // namespace
