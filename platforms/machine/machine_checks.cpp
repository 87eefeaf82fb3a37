// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/machine_checks.h"

#include "firmware/costs.h"

#include <fmt/format.h>

namespace weft {

namespace {
/// The kernel of the host limits how many stacks a process can guard.
constexpr std::uint64_t k_most_stack_bytes = 64ull << 30;
} // namespace

void check_receive_buffer(const chip_config& chip, const packet_format& format, const std::string& key,
                          std::vector<config_problem>& problems)
{
    check_holds_packet(format, key + ".dma.receive_buffer", chip.dma.receive_buffer, problems);
}

void check_holds_packet(const packet_format& format, const std::string& key, data_size buffer, std::vector<config_problem>& problems)
{
    if (std::string why = format.no_room_for_one(buffer); !why.empty())
        problems.push_back({severity::error, key, std::move(why)});
}

void check_link_buffer(const packet_format& format, const std::string& key, data_size buffer, const std::string& rate_key, bandwidth rate, duration wire,
                       duration pipeline, std::vector<config_problem>& problems)
{
    check_holds_packet(format, key, buffer, problems);
    const data_size needed = format.room_for_full_rate(rate, wire, pipeline);
    if (buffer >= format.room_of_one() && buffer < needed)
        problems.push_back({severity::warning, key,
                            fmt::format("is {}, below {} x round trip = {} (a credit is back after {}, packets are buffered with their headers), so a VL reaches "
                                        "at most {:.3g} % of that rate.",
                                        to_string(buffer), rate_key, rounded_text(needed), rounded_text(duration(format.round_trip_ps(rate, wire, pipeline))),
                                        100 * format.reachable_share(buffer, rate, wire, pipeline))});
}

void check_packet_time(const std::string& key, bandwidth rate, std::uint64_t bytes, std::vector<config_problem>& problems)
{
    if (rate.value() == 0)
        return; // of a configuration that is refused
    const std::uint64_t packet_ps = wire_rate(rate).time_ps(bytes);
    if (packet_ps > k_longest_delay_ps)
        problems.push_back({severity::error, key,
                            fmt::format("makes {} of a wire, where one packet of {} takes {}; it may take at most {}. Write a higher rate or a smaller packet.",
                                        to_string(rate), to_string(data_size(bytes)), rounded_text(duration(packet_ps)),
                                        to_string(duration(k_longest_delay_ps)))});
}

void check_hop_time(const std::string& key, const std::string& parts, duration hop, std::vector<config_problem>& problems)
{
    if (hop.value() > k_longest_delay_ps)
        problems.push_back({severity::error, key,
                            fmt::format("makes a hop of {} ({}); it may take at most {}. Write a smaller one.", rounded_text(hop), parts,
                                        to_string(duration(k_longest_delay_ps)))});
}

namespace {
double cycle_us_of(const chip_config& chip) { return 1e6 / static_cast<double>(chip.core.clock.value()); }
/// From the core to a device.
double through_bus_us_of(const chip_config& chip)
{
    return static_cast<double>(chip.core.mmio_overhead.value()) * cycle_us_of(chip) + static_cast<double>(chip.bus.latency.value()) / 1e6;
}
} // namespace

double access_us_of(const chip_config& chip, duration latency) { return through_bus_us_of(chip) + static_cast<double>(latency.value()) / 1e6; }

message_costs costs_of(const chip_config& chip)
{
    const double cycle_us = cycle_us_of(chip);
    const auto us = [](duration d) { return static_cast<double>(d.value()) / 1e6; };
    message_costs c;
    c.instruction_us = chip.core.cpi * cycle_us;
    const double through_bus_us = through_bus_us_of(chip);
    c.access_us = access_us_of(chip, chip.dma.register_latency);
    c.memory_us = us(chip.hbm.latency);
    c.engine_us = us(chip.dma.engine.start);
    c.engine_wake_us = us(chip.dma.engine.wake);
    c.engine_rate = static_cast<double>(chip.dma.engine.rate.value()) / 8e6;
    const double words = static_cast<double>(abi::k_descriptor_bytes) / 8;
    c.descriptor_us = through_bus_us + (chip.bus.posted_writes ? 0 : c.memory_us) + words * static_cast<double>(chip.core.copy_per_8_bytes.value()) * cycle_us;
    c.wake_us = static_cast<double>(chip.core.irq_wake.value()) * cycle_us;
    c.memory_bps = static_cast<std::uint64_t>(static_cast<double>(chip.hbm.rate.value()) * (1 - chip.hbm.load));
    return c;
}

std::uint64_t message_ps_of(const chip_config& chip)
{
    return static_cast<std::uint64_t>(1e6 * costs_of(chip).message_us());
}

void set_ports(message_costs& costs, const chip_config& chip, std::uint32_t ports, bandwidth rate, const packet_format& format,
               std::uint32_t reading_ports)
{
    const double payload = format.max_payload_bytes;
    const double by_wire = static_cast<double>(rate.value()) / 8e6 * payload / static_cast<double>(format.wire_bytes_of_one(format.max_payload_bytes));
    const double latency_us = static_cast<double>(chip.hbm.latency.value()) / 1e6;
    const double by_reads = latency_us > 0 ? chip.dma.read_ahead * payload / latency_us : by_wire;
    costs.port_rate = std::min(by_wire, by_reads);
    costs.ports_rate = std::min(ports * by_wire, std::max(ports, reading_ports) * by_reads);
}

void check_stacks(const chip_config& chip, std::uint64_t threads, const std::string& of_what, const std::string& key,
                  std::vector<config_problem>& problems)
{
    const data_size stack = chip.core.stack;
    const std::uint64_t all = stack.value() * threads;
    if (all > k_most_stack_bytes)
        problems.push_back(
            {severity::error, key + ".core.stack",
             fmt::format("is {}, which for {} {} takes {} of addresses on the host; must be at most 64 GiB in all.",
                         to_string(stack), threads, of_what, rounded_text(data_size(all)))});
}

void check_outage(duration at, bool known_to_routing, const std::string& key, const run_config& run,
                  std::vector<config_problem>& problems)
{
    if (at.value() != 0 && known_to_routing)
        problems.push_back(
            {severity::error, key + ".announced",
             fmt::format("is true, but the link goes down at {}: routing tables are computed before time zero and "
                         "cannot know. Remove `announced` to let the link fail during the run, or remove `at` to "
                         "have it down from time zero and routed around.",
                         to_string(at))});
    else if (at > run.time_limit)
        problems.push_back({severity::warning, key + ".at",
                            fmt::format("is {}, behind time_limit = {}: the link will not fail in this run.",
                                        to_string(at), to_string(run.time_limit))});
}

void check_burst(const run_config& run, const train_choice& trains, std::vector<config_problem>& problems)
{
    if (trains.chosen || run.case_count() > run_config::k_most_cases ||
        !runs_any(run, abi::by_dma))
        return; // within the bounds, refused, or nothing goes in trains
    if (const std::string warning = train_warning(trains, run.burst, run.all_cases()); !warning.empty())
        problems.push_back({severity::warning, "burst", warning});
}

} // namespace weft
