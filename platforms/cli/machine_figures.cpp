// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/machine_figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace weft::cli {

namespace {
double percent_of(std::uint64_t busy_ps, std::uint64_t measured_ps)
{
    return measured_ps == 0 ? 0.0 : 100.0 * static_cast<double>(busy_ps) / static_cast<double>(measured_ps);
}
} // namespace

std::vector<link_load> busiest_links(machine& m, std::uint64_t measured_ps)
{
    constexpr std::size_t k_show = 5;
    struct seen_wire {
        const component* owner;
        std::uint32_t wire;
        wire_load load;
    };
    std::vector<seen_wire> all;
    for (const component* c : m.time().components())
        for (std::uint32_t wire = 0; wire < c->wires(); ++wire)
            if (const wire_load load = c->load_of_wire(wire); load.wire_bytes > 0)
                all.push_back({c, wire, load});
    std::sort(all.begin(), all.end(), [](const seen_wire& a, const seen_wire& b) { return a.load.busy_ps > b.load.busy_ps; });
    // Of wires that were busy as long, those with the first names.
    const auto end =
        all.size() <= k_show ? all.end() : std::find_if(all.begin() + k_show, all.end(), [&](const seen_wire& w) {
            return w.load.busy_ps < all[k_show - 1].load.busy_ps;
        });
    std::vector<link_load> busiest;
    for (auto w = all.begin(); w != end; ++w)
        busiest.push_back(
            {w->owner->wire_name(w->wire), w->load.wire_bytes, percent_of(w->load.busy_ps, measured_ps)});
    std::sort(busiest.begin(), busiest.end(), [](const link_load& a, const link_load& b) {
        return a.utilisation_percent != b.utilisation_percent ? a.utilisation_percent > b.utilisation_percent : a.name < b.name;
    });
    busiest.resize(std::min(busiest.size(), k_show));
    return busiest;
}

std::vector<link_load> links_of(machine& m, std::uint64_t measured_ps)
{
    std::vector<link_load> links;
    for (const component* c : m.time().components())
        for (std::uint32_t wire = 0; wire < c->wires(); ++wire)
            if (const wire_load load = c->load_of_wire(wire); load.wire_bytes > 0)
                links.push_back({c->wire_name(wire), load.wire_bytes, percent_of(load.busy_ps, measured_ps)});
    return links;
}

std::vector<rank_row> ranks_of(machine& m)
{
    std::map<std::uint32_t, rank_row> rows;
    std::map<std::uint32_t, std::map<std::string, std::size_t>> places; // of a name in the row
    for (const component* c : m.time().components()) {
        const chip* const owner = chip_of(*c);
        if (owner == nullptr)
            continue;
        rank_row& row = rows[owner->rank()];
        row.rank = owner->rank();
        for (const stat_group* group : c->stat_groups())
            for (const stat_row& s : group->rows()) {
                if (s.value() == 0)
                    continue;
                const auto [at, is_new] =
                    places[row.rank].emplace(fmt::format("{}.{}", c->stat_prefix(), s.name), row.stats.size());
                if (is_new)
                    row.stats.emplace_back(at->first, 0);
                row.stats[at->second].second += s.value();
            }
    }
    std::vector<rank_row> all;
    for (auto& [rank, row] : rows)
        all.push_back(std::move(row));
    return all;
}

memory_traffic memory_traffic_of(machine& m)
{
    memory_traffic t;
    for (const component* c : m.time().components()) {
        const auto load = c->memory_traffic();
        const chip* const owner = chip_of(*c);
        if (!load || owner == nullptr) // of a host
            continue;
        t.memory = load->name;
        t.bytes_read += load->bytes_read;
        t.bytes_written += load->bytes_written;
        const std::uint64_t bytes = load->bytes_read + load->bytes_written;
        if (t.busiest_chip.empty() || bytes > t.busiest_bytes) {
            t.busiest_chip = fmt::format("rank {}", owner->rank());
            t.busiest_bytes = bytes;
        }
    }
    return t;
}

std::uint64_t packet_hops_of(machine& m)
{
    std::uint64_t hops = 0;
    for (const component* c : m.time().components())
        hops += c->packet_hops();
    return hops;
}

std::vector<report_stat> statistics_of(machine& m)
{
    struct sum {
        std::uint64_t value = 0;
        const stat_row* row = nullptr;
        std::size_t parts = 0;
    };
    std::vector<std::pair<std::string, sum>> all;
    std::map<std::string, std::size_t> place; // in `all`
    for (const component* c : m.time().components()) {
        const std::string prefix = c->stat_prefix();
        for (const stat_group* group : c->stat_groups())
            for (const stat_row& row : group->rows()) {
                const auto [at, is_new] = place.emplace(fmt::format("{}.{}", prefix, row.name), all.size());
                if (is_new)
                    all.push_back({at->first, {}});
                sum& s = all[at->second].second;
                s.value += row.value();
                s.row = &row;
                ++s.parts;
            }
    }
    std::vector<report_stat> stats;
    for (const auto& [name, s] : all)
        stats.push_back({name, s.value, s.row->unit,
                         s.parts == 1 ? std::string(s.row->description)
                                      : fmt::format("{}, sum over {}", s.row->description, s.parts)});
    stats.push_back({"fabric.packet_pool", m.pool().peak(), "packets", "Packets that the pool has made"});
    return stats;
}

} // namespace weft::cli
