// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/bounds.h"

#include "platforms/workload/token_lists.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {

using abi::collective_op;
using abi::dimension_kind;

constexpr double k_bytes_per_us_and_mbps = 1e6 / 8 / 1e6; ///< 1 Mb/s

/// Bytes per us that the rank with the fewest links can send. A rank at the end of a line has half of the others' links
/// there.
double least_rate(const abi::platform_table& t)
{
    double all = 0;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        if (t.dims[d] > 1)
            all += t.rate_mbps[d] * k_bytes_per_us_and_mbps * (t.kind[d] == dimension_kind::line ? 0.5 : 1);
    return all;
}

/// The average of all ranks: at the ends of a line one of two links is missing.
double average_rate(const abi::platform_table& t, std::uint32_t dimensions)
{
    double all = 0;
    for (std::uint32_t d = 0; d < dimensions; ++d)
        if (t.dims[d] > 1)
            all += t.rate_mbps[d] * k_bytes_per_us_and_mbps * (t.kind[d] == dimension_kind::line ? (t.dims[d] - 1.0) / t.dims[d] : 1);
    return all;
}

/// Bytes per us that a rank can send by links of no dimension: those to switches, which detours take.
double rate_outside(const abi::platform_table& t, std::uint64_t links_bps)
{
    std::uint64_t inside = 0;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        inside += std::uint64_t{t.rate_mbps[d]} * 1'000'000;
    return links_bps > inside ? static_cast<double>(links_bps - inside) / 8e6 : 0;
}

/// Whether `links_bps` is less than the links of all dimensions carry: ports between a rank and its router.
bool ports_are_slower(const abi::platform_table& t, std::uint64_t links_bps)
{
    std::uint64_t inside = 0;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        inside += std::uint64_t{t.rate_mbps[d]} * 1'000'000;
    return links_bps != 0 && links_bps < inside;
}

/// An all_to_all along one dimension.
double across(const abi::platform_table& t, std::uint32_t d, double bytes, double other_links)
{
    const double n = t.dims[d];
    const double rate = t.rate_mbps[d] * k_bytes_per_us_and_mbps + other_links;
    if (t.kind[d] == dimension_kind::full || t.kind[d] == dimension_kind::switched)
        return bytes * (n - 1) / n / rate;
    const double low = t.dims[d] / 2;
    const double crossing = low * bytes * (n - low) / n;              // of each line
    const double links = t.kind[d] == dimension_kind::ring ? 1 : 0.5; // a rank's rate counts both directions
    return crossing / (rate * links);
}

/// How often memory is touched for each byte that a rank sends or gets.
double touches(collective_op op)
{
    switch (op) {
    case collective_op::all_reduce: return 5;
    case collective_op::reduce_scatter: return 3;
    case collective_op::broadcast: return 1;
    default: return 2;
    }
}

/// The larger one of what has been found and `us`.
void at_least(collective_bound& bound, double us, const std::string& resource)
{
    if (us > bound.us)
        bound = {us, resource};
}

/// Ranks that share devices read each other's memory, and what DMA engines sum and duplicate is touched once: what
/// bounds them is a whole device.
collective_bound bound_of_devices(const abi::platform_table& t, std::uint64_t ports_bps, collective_op op, double bytes)
{
    const double per_device = t.device_members > 1 ? t.device_members : 1;
    const double devices = t.ranks / per_device;
    const std::uint32_t outer = t.dim_count - (per_device > 1 ? 1 : 0);
    double rate = 0;
    for (std::uint32_t d = 0; d < outer; ++d)
        if (t.dims[d] > 1)
            rate += t.rate_mbps[d] * k_bytes_per_us_and_mbps * per_device * (t.kind[d] == dimension_kind::line ? 0.5 : 1);
    collective_bound bound;
    if (rate > 0)
        at_least(bound, moved_bytes(op, bytes, static_cast<std::uint32_t>(devices)) / rate, "links of a device");
    if (ports_bps != 0) // ranks of a device send for each other
        at_least(bound, moved_bytes(op, bytes, static_cast<std::uint32_t>(devices)) / (t.device_ranks * static_cast<double>(ports_bps) / 8e6), "ports of a device");
    return bound;
}

/// Bytes that the memory of a rank is touched with on average, where it shares a device with others. What comes for a
/// sum is written and read again; inputs are read and results written once.
double touched_on_devices(collective_op op, double bytes, double ranks, double devices)
{
    const double landed = 2 * bytes * (devices - 1) / ranks;
    switch (op) {
    case collective_op::all_reduce: return 2 * bytes + landed;
    case collective_op::reduce_scatter: return bytes + landed;
    case collective_op::broadcast: return bytes;
    case collective_op::reduce: return 2 * bytes;
    default: return bytes * (ranks - 1) / ranks;
    }
}

/// The same by units that sum on the way: the input of a sum is read, here or by others, its result written once.
double touched_by_units(collective_op op, double bytes, double ranks)
{
    switch (op) {
    case collective_op::all_reduce:
    case collective_op::reduce:
    case collective_op::all_to_all: return 2 * bytes;
    case collective_op::reduce_scatter: return bytes + bytes / ranks;
    default: return bytes;
    }
}

/// The same by DMA engines that read and write the memory of their own rank.
double touched_alone(collective_op op, double bytes, double ranks)
{
    const double others = bytes * (ranks - 1) / ranks;
    // All but the root get a broadcast, and send their sums in a reduce: from a memory, and into another one. So it is
    // on average, wherever relays are.
    const double on_average = op == collective_op::reduce ? 3 * others : op == collective_op::broadcast ? 2 * others : 0;
    return std::max((has_root(op) ? bytes : others) * touches(op), on_average);
}

} // namespace

double moved_bytes(collective_op op, double bytes, std::uint32_t ranks)
{
    const double others = bytes * (ranks - 1) / ranks;
    return has_root(op) ? bytes : op == collective_op::all_reduce ? 2 * others : others;
}

// Load comes by chance. In the time in which memory could move x bytes, x load / block of its blocks come on average:
// N, of which no more than k_less sqrt(N) fail to come. So x = bytes + load x - k_less sqrt(load block x).
double memory_supply::least_us(double bytes) const
{
    if (bps == 0)
        return 0;
    constexpr double k_less = 5; // once in three million runs, of exponential intervals; these scatter less
    const double chance = k_less * std::sqrt(load * static_cast<double>(load_block_bytes));
    const double root = (std::sqrt(chance * chance + 4 * (1 - load) * bytes) - chance) / (2 * (1 - load));
    return std::max(bytes, root * root) / (static_cast<double>(bps) / 8e6);
}

namespace {
/// The chance that a token goes to none of `others` among `ranks`: its experts are drawn one after the other.
double misses(double others, double ranks, std::uint32_t experts)
{
    double chance = 1;
    for (std::uint32_t e = 0; e < experts; ++e)
        chance *= std::max(0.0, ranks - others - e) / std::max(1.0, ranks - e);
    return chance;
}

/// What remains of `expected` events, less five standard deviations of as many by chance.
double at_least_of(double expected) { return std::max(0.0, expected - 5 * std::sqrt(expected)); }
} // namespace

double share_of_tokens_outside(const collective_case& c, double inside, double ranks)
{
    return c.expert_skew > 0 ? 0 : 1 - misses(ranks - inside, ranks, experts_of(c, static_cast<std::uint32_t>(ranks)));
}

std::optional<collective_bound> bound_of_tokens(const abi::platform_table* table, std::uint32_t ranks, std::uint64_t links_bps,
                                                const memory_supply& memory, const collective_case& c)
{
    if (ranks < 2 || c.token_bytes == 0)
        return std::nullopt;
    double rate = static_cast<double>(links_bps) / 8e6, unit = 1; // ranks whose links are one
    if (table != nullptr) {
        if (table->failed_regions != 0)
            return std::nullopt;
        for (std::uint32_t d = 0; d < table->dim_count; ++d)
            if (table->dims[d] > 1 && table->rate_mbps[d] == 0)
                return std::nullopt;
        rate = average_rate(*table, table->dim_count) + rate_outside(*table, links_bps);
        if (ports_are_slower(*table, links_bps))
            rate = std::min(rate, static_cast<double>(links_bps) / 8e6);
    }
    if (rate <= 0)
        return std::nullopt;
    if (table != nullptr && table->device_members > 1) {
        unit = table->device_members;
        rate = average_rate(*table, table->dim_count - 1) * unit;
    }
    const std::uint32_t experts = experts_of(c, ranks);
    const double n = ranks, tokens = static_cast<double>(c.size_bytes / c.token_bytes), choices = n * tokens * experts;
    collective_bound bound;
    // To other units. A token goes to its own rank once at most.
    const double units = n / unit;
    const double reached = (units - 1) * (1 - misses(unit, n, experts)) * n * tokens;
    const double by_chance = unit > 1 && c.expert_skew > 0 ? 0 : at_least_of(reached);
    const double sure = unit > 1 ? 0 : n * tokens * (experts - 1);
    if (rate > 0)
        at_least(bound, std::max(by_chance, sure) / n * static_cast<double>(c.token_bytes) * unit / rate,
                 unit > 1                                                     ? "links of a device"
                 : table != nullptr && ports_are_slower(*table, links_bps) ? "ports of a rank"
                                                                              : "links of a rank");
    at_least(bound, memory.least_us(std::max(at_least_of(choices * (n - 1) / n), n * tokens * (experts - 1)) / n * static_cast<double>(c.token_bytes)),
             "memory");
    return bound.us > 0 ? std::optional(bound) : std::nullopt;
}

collective_bound bound_of_memory(const memory_supply& memory, collective_op op, double bytes, std::uint32_t ranks, std::uint32_t devices,
                                 bool by_units)
{
    const double touched = devices != 0 ? touched_on_devices(op, bytes, ranks, devices)
                           : by_units   ? touched_by_units(op, bytes, ranks)
                                        : touched_alone(op, bytes, ranks);
    return {memory.least_us(touched), "memory"};
}

std::optional<collective_bound> bound_of(const abi::platform_table& t, std::uint64_t links_bps, const memory_supply& memory,
                                         collective_op op, std::uint64_t size_bytes, bool by_units)
{
    if (t.ranks < 2 || t.failed_regions != 0)
        return std::nullopt;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        if (t.dims[d] > 1 && t.rate_mbps[d] == 0)
            return std::nullopt;
    const double bytes = static_cast<double>(size_bytes);
    const bool on_devices = t.device_ranks != 0 && op != collective_op::all_to_all;
    const std::uint32_t devices = on_devices ? t.ranks / std::max<std::uint32_t>(1, t.device_members) : 0;
    collective_bound bound = on_devices ? bound_of_devices(t, links_bps, op, bytes) : collective_bound();
    const collective_bound by_memory = bound_of_memory(memory, op, bytes, t.ranks, devices, by_units);
    if (!on_devices) {
        const double other_links = rate_outside(t, links_bps);
        if (op != collective_op::all_to_all)
            at_least(bound, moved_bytes(op, bytes, t.ranks) / (least_rate(t) + other_links), "links of a rank");
        else
            for (std::uint32_t d = 0; d < t.dim_count; ++d)
                if (t.dims[d] > 1)
                    at_least(bound, across(t, d, bytes, other_links), fmt::format("links of dimension {}", t.dim_count - 1 - d));
        if (ports_are_slower(t, links_bps))
            at_least(bound, moved_bytes(op, bytes, t.ranks) / (static_cast<double>(links_bps) / 8e6), "ports of a rank");
    }
    at_least(bound, by_memory.us, by_memory.resource);
    return bound;
}

std::optional<collective_bound> bound_of_group(std::uint32_t ranks, std::uint64_t links_bps, const memory_supply& memory,
                                               collective_op op, std::uint64_t size_bytes, bool by_units)
{
    if (ranks < 2 || links_bps == 0)
        return std::nullopt;
    const double bytes = static_cast<double>(size_bytes);
    collective_bound bound;
    at_least(bound, moved_bytes(op, bytes, ranks) / (static_cast<double>(links_bps) / 8e6), "links of a rank");
    const collective_bound by_memory = bound_of_memory(memory, op, bytes, ranks, 0, by_units);
    at_least(bound, by_memory.us, by_memory.resource);
    return bound;
}

} // namespace weft
