// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Switch packets of 256 words per CPU second through the aggregation registers alone: eight workers, four pipes, so 4 passes a
// packet and 11 for the one that completes a slot. By the model, by the Verilog, and by both in lockstep.
#include "hw/tofino/aggregation_model.h"
#ifdef WEFT_RTL
#include "rtl/shell/rtl_aggregation.h"
#endif

#include <benchmark/benchmark.h>

#include <memory>

namespace {

using namespace weft;

constexpr int k_workers = 8;
constexpr std::uint64_t k_pass_ps = 520'000;  // of one packet to the next pass
constexpr std::uint64_t k_packet_ps = 11'000; // one packet of 1100 bytes at 8 x 100 Gb/s
constexpr std::uint32_t k_slots = 512;

template <typename unit_type> void switch_packets(benchmark::State& state)
{
    std::vector<std::unique_ptr<unit_type>> pipes;
    for (int i = 0; i < 4; ++i)
        pipes.push_back(std::make_unique<unit_type>());
    aggregation_pass pass;
    pass.workers = k_workers;
    for (std::uint32_t k = 0; k < k_aggregation_alus; ++k)
        pass.d0[k] = pass.d1[k] = k;
    std::uint64_t now_ps = 0;
    std::uint64_t packets = 0;
    std::uint64_t broadcasts = 0;
    for (auto _ : state) {
        const std::uint64_t round = packets / k_workers;
        pass.type = pass_type::consume0;
        pass.worker = static_cast<std::uint8_t>(packets % k_workers);
        pass.pool_index = static_cast<std::uint16_t>(round % k_slots * 2 + round / k_slots % 2);
        for (std::uint64_t number = 0;; ++number) {
            const auto type = static_cast<unsigned>(pass.type);
            auto& pipe = *pipes[is_consume(pass.type) ? type - 4 : 3 - (type - 8) / 2];
            const std::uint64_t at_ps = now_ps + number * k_pass_ps;
            const auto result = pipe.take(pipe.submit(pass, at_ps), at_ps);
            benchmark::DoNotOptimize(result.words[0]);
            if (result.step != next_step::recirculate) {
                broadcasts += result.step == next_step::broadcast;
                break;
            }
            pass.type = result.next_type;
            pass.map_result = result.map_result;
            pass.count = result.count;
        }
        ++packets;
        now_ps += 12 * k_pass_ps +
                  k_packet_ps; // one packet after the other: the clock of the Verilog stands still in between
    }
    if (broadcasts != packets / k_workers)
        state.SkipWithError("a slot was not completed");
    state.counters["switch_packets/s"] = benchmark::Counter(static_cast<double>(packets), benchmark::Counter::kIsRate);
}
BENCHMARK_TEMPLATE(switch_packets, aggregation_model);
#ifdef WEFT_RTL
BENCHMARK_TEMPLATE(switch_packets, rtl_aggregation);
BENCHMARK_TEMPLATE(switch_packets, lockstep_aggregation);
#endif

} // namespace
