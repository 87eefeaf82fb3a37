// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Why more local ports, or more DMA queues, may be slower: a mesh that is full carries less, and each queue costs a register access.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;

namespace {

std::uint64_t all_to_all_ps(tpu_v3_config config, std::uint64_t bytes)
{
    config.run.data = data_mode::off;
    config.run.workload = {spec(abi::collective_op::all_to_all, {abi::algorithm::direct}, {bytes})};
    return run_exact(config).time();
}

} // namespace

TEST_CASE(
    "more local ports slow an all-to-all down where its packets fill the buffers of the mesh and not where they fit")
{
    const auto ratio = [](std::uint64_t buffer) { // of four ports against one
        tpu_v3_config config = pod(4, 4);
        config.ici.voq = config.ici.relays_first = false;
        config.ici.buffer_per_vl = data_size(buffer);
        config.ici.local_ports = 1;
        const auto one_ps = static_cast<double>(all_to_all_ps(config, 4 << 20));
        config.ici.local_ports = 4;
        return static_cast<double>(all_to_all_ps(config, 4 << 20)) / one_ps;
    };
    // With one FIFO for all outputs, what enters faster than the mesh carries it stands in all buffers, in front of packets for other outputs.
    const double full = ratio(16 << 10), fitting = ratio(4 << 20);
    fmt::print("all-to-all of 4 MiB, four local ports against one: {:.3f}; with buffers for all of it {:.3f}\n", full,
               fitting);
    CHECK(full > 1.05);
    CHECK(fitting < 1.0);
}

TEST_CASE("a DMA queue more costs an all-to-all of small messages about one register access")
{
    tpu_v3_config config = pod(4, 4);
    const auto with_queues = [&](std::uint32_t queues) {
        config.chip.dma.queues = queues;
        return static_cast<double>(all_to_all_ps(config, 64 << 10));
    };
    const core_config& core = config.chip.core;
    const double access_ps =
        static_cast<double>(config.chip.bus.latency.value() + config.chip.dma.register_latency.value()) +
        static_cast<double>(core.mmio_overhead.value()) * 1e12 / static_cast<double>(core.clock.value());
    const double more_ps = (with_queues(12) - with_queues(4)) / 8;
    fmt::print("a queue more: {:.1f} ns, one register access {:.1f} ns\n", more_ps / 1e3, access_ps / 1e3);
    CHECK(more_ps > 0.8 * access_ps);
    CHECK(more_ps < 1.3 * access_ps);
}
