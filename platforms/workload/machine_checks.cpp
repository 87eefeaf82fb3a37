// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/machine_checks.h"

#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_most_burst_bytes = 64ull << 20;
constexpr std::uint64_t k_longest_transmission_ps = 4'000'000'000; // the fabric holds it in 32 bits of picoseconds
/// The kernel of the host limits how many stacks a process can guard.
constexpr std::uint64_t k_most_stack_bytes = 64ull << 30;
} // namespace

void check_receive_buffer(data_size receive_buffer, const packet_format& format, const std::string& key,
                          std::vector<config_problem>& problems)
{
    const std::uint64_t one = format.cells_of_one(format.max_payload_bytes) * format.cell_bytes();
    if (receive_buffer.value() >= one)
        return;
    problems.push_back(
        {severity::error, key,
         fmt::format("is {}, but one packet fills {} ({} of payload and {} of header in {} of {}), so none could ever "
                     "arrive.",
                     to_string(receive_buffer), to_string(data_size(one)),
                     to_string(data_size(format.max_payload_bytes)), to_string(data_size(format.header_bytes)),
                     format.cell_flits == 1 ? "flits" : "cells", to_string(data_size(format.cell_bytes())))});
}

void check_dma_for_bursts(const dma_config& dma, packet_count burst, std::uint32_t burst_cells,
                          const packet_format& format, const std::string& key, std::vector<config_problem>& problems)
{
    if (burst.value() <= 1)
        return;
    if (const std::uint64_t raised = burst_cells * format.cell_bytes(); dma.receive_buffer.value() < raised)
        problems.push_back(
            {severity::warning, "burst",
             fmt::format("is {}, and two bursts fill {}: {}.receive_buffer = {} is simulated with that size.",
                         to_string(burst), rounded_text(data_size(raised)), key, to_string(dma.receive_buffer))});
    if (dma.read_ahead < 2 * burst.value())
        problems.push_back(
            {severity::warning, "burst",
             fmt::format("is {}, and two bursts are read ahead: {}.read_ahead = {} is simulated with {}.",
                         to_string(burst), key, dma.read_ahead, 2 * burst.value())});
}

std::uint32_t cells_of_two_bursts(packet_count burst, const packet_format& format)
{
    return burst.value() <= 1 ? 0
                              : 2 * static_cast<std::uint32_t>(format.cells(burst.value() * format.max_payload_bytes));
}

bool check_burst_fits(packet_count burst, data_size max_payload, const std::string& of_what,
                      const packet_format& format, bandwidth slowest, const std::string& wire,
                      std::vector<config_problem>& problems)
{
    const std::uint64_t payload = burst.value() * max_payload.value();
    if (payload > k_most_burst_bytes) {
        problems.push_back({severity::error, "burst",
                            fmt::format("is {} {}, {} in one transaction; must be at most 64 MiB.", to_string(burst),
                                        of_what, to_string(data_size(payload)))});
        return false;
    }
    const std::uint64_t transmission = wire_rate(slowest).time_ps(format.wire_bytes(payload));
    if (transmission > k_longest_transmission_ps)
        problems.push_back({severity::error, "burst",
                            fmt::format("is {}, which take {} on {} of {}; must take at most 4 ms.", to_string(burst),
                                        rounded_text(duration(transmission)), wire, to_string(slowest))});
    return true;
}

void check_stacks(data_size stack, std::uint64_t threads, const std::string& of_what, const std::string& key,
                  std::vector<config_problem>& problems)
{
    const std::uint64_t all = stack.value() * threads;
    if (all > k_most_stack_bytes)
        problems.push_back(
            {severity::error, key,
             fmt::format("is {}, which for {} {} takes {} of addresses on the host; must be at most 64 GiB in all.",
                         to_string(stack), threads, of_what, rounded_text(data_size(all)))});
}

} // namespace weft
