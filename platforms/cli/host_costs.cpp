// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/host_costs.h"

#include "firmware/collectives/token_lines.h"
#include "platforms/config/suggest.h"
#include "platforms/workload/case_memory.h"
#include "tlm/check.h"
#include "tlm/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <unistd.h>

namespace weft::cli {

namespace {

// Measured on a machine with two cores, with data off: 4x4 to 32x32 TPUs, 2 to 64 NPUs of a rack, pods of 16 to 1,024
// NPUs, the SuperPod; in single packets and in trains of 9 to 1,024. Of 60 runs most are within a factor of 1.5.
struct event_costs {
    double hops;        ///< of a packet
    double of_hop;      ///< events
    double parts = 1;   ///< of a train, each of which has events of its own
};

event_costs costs_of(const train_choice& choice, std::uint32_t train)
{
    if (choice.paths > 1 && train > 1)
        return {1.9, 6.4, static_cast<double>(std::min(choice.paths, train))};
    return {1.3, 4.3};
}

/// The more ranks, the less of them stays in the caches of the host.
double events_per_second(double ranks) { return 0.65e6 + 4e6 / (1 + ranks / 250); }

} // namespace

double host_seconds(const platform& p)
{
    constexpr double k_start_s = 0.1, k_rank_s = 5e-4, k_events_of_rank = 80, k_data_bytes_per_s = 4e8, k_expert_s = 1e-7;
    const train_choice choice = p.trains();
    const double payload = choice.limits.packet_payload == 0 ? 256 : choice.limits.packet_payload;
    const double ranks = p.ranks();
    double events = 0, bytes = 0, drawn = 0;
    const auto add = [&](const collective_case& c, double times) {
        const double moved = ranks * static_cast<double>(c.size_bytes) *
                             (abi::moves_tokens(c.op) ? experts_of(c, p.ranks()) : reduces(c.op) ? 2 : 1);
        const std::uint32_t train = train_of(choice, c);
        const event_costs costs = costs_of(choice, train);
        events += times * (moved / payload / train * costs.parts * costs.hops * costs.of_hop + k_events_of_rank * ranks);
        bytes += times * ranks * static_cast<double>(c.size_bytes);
        if (abi::moves_tokens(c.op)) // twice with data: to fill memories, and to check them
            drawn += times * ranks * static_cast<double>(c.size_bytes / c.token_bytes) * experts_of(c, p.ranks()) *
                     (p.run().data == data_mode::off ? 1 : 2);
    };
    for (const collective_spec& spec : p.run().workload)
        for (const collective_case& c : spec.cases())
            add(c, spec.repeats);
    if (p.run().training_step)
        for (const collective_case& c : p.run().training_step->cases())
            add(c, p.run().training_step->steps);
    return k_start_s + ranks * k_rank_s + events / events_per_second(ranks) + drawn * k_expert_s +
           (p.run().data == data_mode::off ? 0 : bytes / k_data_bytes_per_s);
}

std::string about_seconds(double seconds)
{
    constexpr double k_minute = 60, k_hour = 3600;
    if (seconds < 1.5 * k_minute)
        return fmt::format("{:.0f} s", std::max(1.0, std::ceil(seconds)));
    return seconds < 1.5 * k_hour ? fmt::format("{:.0f} min", seconds / k_minute)
                                  : fmt::format("{:.1f} h", seconds / k_hour);
}

std::uint64_t host_memory_bytes(const platform& p)
{
    constexpr std::uint64_t k_program = 40 << 20, k_rank = 600 << 10;
    return k_program + k_rank * p.ranks() + host_data_bytes_for(p.run(), p.ranks()) +
           host_list_bytes_for(p.run(), p.ranks(), firmware::token_line(p.rank_table(0)));
}

std::uint64_t free_host_memory_bytes()
{
    std::uint64_t bytes =
        static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::ifstream info("/proc/meminfo");
    for (std::string name, unit; info >> name;) {
        std::uint64_t kib = 0;
        if (name == "MemAvailable:" && info >> kib)
            bytes = kib * 1024;
        std::getline(info, unit);
    }
    std::uint64_t limit = 0, used = 0;
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && std::ifstream("/sys/fs/cgroup/memory.current") >> used &&
        limit > used)
        bytes = std::min(bytes, limit - used);
    return bytes;
}

std::uint64_t host_memory_option(const std::string& text)
{
    if (text.empty())
        return free_host_memory_bytes();
    const parsed_quantity size = parse_quantity(quantity_kind::data_size, text);
    if (!size.ok || size.value == 0)
        throw user_error(
            fmt::format("--memory: {} is no size; write {}.", in_quotes(text), legal_units(quantity_kind::data_size)));
    return size.value;
}

} // namespace weft::cli
