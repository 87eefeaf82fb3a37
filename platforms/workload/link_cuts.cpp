// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/link_cuts.h"

#include "hw/routing/fabric_plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace weft {

namespace {

constexpr std::uint32_t k_nobody = ~0u;
/// A cut needs no best placing of switches to be one: a few rounds come close to it.
constexpr unsigned k_rounds = 4;
/// Rings up to this length are cut at all pairs of places, longer ones in halves.
constexpr std::uint32_t k_short_ring = 16;

/// What routers have in common in their names: "chip(0,1)" of "chip(0,1)a" and "chip(0,1)b".
std::string common_name(const std::vector<std::string>& names)
{
    std::string name = names.front();
    for (const std::string& other : names)
        name.resize(static_cast<std::size_t>(std::mismatch(name.begin(), name.end(), other.begin(), other.end()).first - name.begin()));
    return name;
}

/// Bytes that cross a cut.
struct crossing {
    double in = 0, out = 0;
};

/// `inside` of `ranks` are on this side, the root as well or not.
crossing crossing_of(const collective_case& c, double inside, double ranks, bool has_root)
{
    using abi::collective_op;
    const auto bytes = static_cast<double>(c.size_bytes);
    const double outside = ranks - inside;
    if (inside == 0 || outside == 0)
        return {};
    switch (c.op) {
    case collective_op::all_reduce: return {bytes, bytes};
    case collective_op::reduce_scatter: return {bytes * inside / ranks, bytes * outside / ranks};
    case collective_op::all_gather: return {bytes * outside / ranks, bytes * inside / ranks};
    case collective_op::all_to_all: return {bytes * inside * outside / ranks, bytes * inside * outside / ranks};
    case collective_op::broadcast: return has_root ? crossing{0, bytes} : crossing{bytes, 0};
    case collective_op::reduce: return has_root ? crossing{bytes, 0} : crossing{0, bytes};
    case collective_op::dispatch:
    case collective_op::combine: {
        // Once at least, if any of its experts is on the other side; what is made of it, back.
        const auto from = [&](double side) {
            const double tokens = side * bytes / static_cast<double>(c.token_bytes) * share_of_tokens_outside(c, side, ranks);
            return std::max(0.0, tokens - 5 * std::sqrt(tokens)) * static_cast<double>(c.token_bytes); // by chance
        };
        const crossing there{from(outside), from(inside)};
        return c.op == collective_op::dispatch ? there : crossing{there.out, there.in};
    }
    }
    return {};
}

/// Coordinates of a dimension, and behind them routers that belong to no rank, with what joins them.
struct sides {
    std::uint32_t size = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> rates; ///< bytes per us
    std::uint32_t nodes = 0;

    crossing rates_across(const std::vector<bool>& inside) const
    {
        std::vector<signed char> side(nodes, 0);
        for (std::uint32_t i = 0; i < size; ++i)
            side[i] = inside[i] ? 1 : -1;
        for (unsigned round = 0; round < k_rounds && nodes > size; ++round) {
            std::vector<double> pull(nodes, 0);
            for (const auto& [ends, rate] : rates)
                pull[ends.second] += side[ends.first] * rate;
            for (std::uint32_t i = size; i < nodes; ++i)
                side[i] = static_cast<signed char>(pull[i] > 0 ? 1 : -1);
        }
        crossing sum;
        for (const auto& [ends, rate] : rates)
            if (side[ends.first] != side[ends.second])
                (side[ends.second] > 0 ? sum.in : sum.out) += rate;
        return sum;
    }
};

} // namespace

machine_links links_of(const fabric_plan& plan, std::uint32_t ranks, double payload_share)
{
    const auto rate_of = [payload_share](const fabric_link_params& wire) {
        return payload_share * static_cast<double>(wire.rate.value()) / 8e6;
    };
    machine_links all;
    all.routers = static_cast<std::uint32_t>(plan.routers.size());
    for (const plan_link& l : plan.links)
        if (l.works)
            all.links.push_back({l.from, l.to, rate_of(l.wire)});
    for (std::uint32_t rank = 0; rank < ranks && rank < plan.endpoints.size(); ++rank)
        all.ranks.push_back({plan.endpoints[rank].router, plan.endpoints[rank].ports * rate_of(plan.endpoints[rank].wire)});
    all.router_name = [&plan](std::uint32_t router) { return plan.routers[router].name; };
    return all;
}

link_cuts::link_cuts(const machine_links& links, const table_of_rank& table_of)
{
    const auto ranks = static_cast<std::uint32_t>(links.ranks.size());
    const abi::platform_table first = table_of(0);
    const std::uint32_t sharers = std::max<std::uint32_t>(1, first.device_ranks);
    coordinates_.resize(first.dim_count);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const abi::platform_table& table = table_of(rank);
        device_of_.push_back(rank / sharers);
        for (std::uint32_t d = 0; d < first.dim_count; ++d)
            coordinates_[d].push_back(table.coord[d]);
    }
    devices_ = (ranks + sharers - 1) / sharers;
    sizes_.assign(first.dims, first.dims + first.dim_count);
    own_routers(links);
    cut_devices(links);
    const std::uint32_t outer = first.dim_count - (sharers > 1 ? 1 : 0);
    for (std::uint32_t d = 0; d < outer; ++d) {
        const bool in_a_row = first.kind[d] == abi::dimension_kind::line || first.kind[d] == abi::dimension_kind::ring;
        if (first.dims[d] > 1 && (in_a_row || first.dims[d] != devices_)) // else its cuts are those of devices
            cut_dimension(links, d, first);
    }
}

/// A router belongs to the device whose ranks alone it serves. One that serves none belongs to the device to which it
/// has more links than to all others.
void link_cuts::own_routers(const machine_links& links)
{
    constexpr std::uint32_t k_several = k_nobody - 1;
    owner_.assign(links.routers, k_nobody);
    for (std::size_t rank = 0; rank < links.ranks.size(); ++rank) {
        std::uint32_t& owner = owner_[links.ranks[rank].router];
        owner = owner == k_nobody || owner == device_of_[rank] ? device_of_[rank] : k_several;
    }
    std::map<std::uint32_t, std::map<std::uint32_t, double>> joined; // of routers that serve no rank
    for (const machine_links::link& l : links.links)
        if (owner_[l.from] == k_nobody)
            joined[l.from][owner_[l.to]] += l.bytes_per_us;
    for (const auto& [router, to] : joined) {
        double all = 0;
        for (const auto& [device, rate] : to)
            all += rate;
        for (const auto& [device, rate] : to)
            if (device < k_several && 2 * rate > all)
                owner_[router] = device;
    }
    std::replace(owner_.begin(), owner_.end(), k_several, k_nobody);
}

void link_cuts::cut_devices(const machine_links& links)
{
    std::vector<cut> of(devices_);
    for (std::uint32_t device = 0; device < devices_; ++device)
        of[device].dimension = k_device, of[device].first = device;
    for (const machine_links::link& l : links.links) {
        if (owner_[l.from] == owner_[l.to])
            continue;
        if (owner_[l.from] != k_nobody)
            of[owner_[l.from]].out_rate += l.bytes_per_us;
        if (owner_[l.to] != k_nobody)
            of[owner_[l.to]].in_rate += l.bytes_per_us;
    }
    for (std::size_t rank = 0; rank < links.ranks.size(); ++rank)
        if (owner_[links.ranks[rank].router] == k_nobody) {
            of[device_of_[rank]].out_rate += links.ranks[rank].bytes_per_us;
            of[device_of_[rank]].in_rate += links.ranks[rank].bytes_per_us;
        }
    std::vector<std::vector<std::string>> names(devices_);
    for (std::uint32_t router = 0; router < links.routers; ++router)
        if (owner_[router] != k_nobody)
            names[owner_[router]].push_back(links.router_name(router));
    for (std::uint32_t device = 0; device < devices_; ++device) {
        of[device].name = names[device].empty() ? fmt::format("links of rank {}", device) : "links of " + common_name(names[device]);
        device_out_.push_back(of[device].out_rate);
        cuts_.push_back(std::move(of[device]));
    }
}

void link_cuts::cut_dimension(const machine_links& links, std::uint32_t d, const abi::platform_table& table)
{
    sides all;
    all.size = all.nodes = table.dims[d];
    std::vector<std::uint32_t> coordinate_of_device(devices_);
    for (std::size_t rank = 0; rank < device_of_.size(); ++rank)
        coordinate_of_device[device_of_[rank]] = coordinates_[d][rank];
    std::map<std::uint32_t, std::uint32_t> node_of; // routers that belong to nobody
    const auto node = [&](std::uint32_t router) {
        if (owner_[router] != k_nobody)
            return coordinate_of_device[owner_[router]];
        const auto [at, is_new] = node_of.emplace(router, all.nodes);
        all.nodes += is_new ? 1 : 0;
        return at->second;
    };
    const auto add = [&](std::uint32_t from, std::uint32_t to, double rate) {
        if (from != to)
            all.rates[{from, to}] += rate;
    };
    for (const machine_links::link& l : links.links)
        add(node(l.from), node(l.to), l.bytes_per_us);
    for (std::size_t rank = 0; rank < links.ranks.size(); ++rank) {
        add(coordinates_[d][rank], node(links.ranks[rank].router), links.ranks[rank].bytes_per_us);
        add(node(links.ranks[rank].router), coordinates_[d][rank], links.ranks[rank].bytes_per_us);
    }
    const std::string dimension = fmt::format("dimension {}", table.dim_count - 1 - d);
    const auto add_cut = [&](std::uint32_t first, std::uint32_t count) {
        std::vector<bool> inside(all.size, false);
        for (std::uint32_t i = 0; i < count; ++i)
            inside[(first + i) % all.size] = true;
        const crossing rates = all.rates_across(inside);
        cuts_.push_back({fmt::format("links across {}", dimension), d, first, count, rates.in, rates.out});
    };
    const std::uint32_t n = all.size;
    if (table.kind[d] == abi::dimension_kind::line) {
        for (std::uint32_t count = 1; count < n; ++count)
            add_cut(0, count);
        return;
    }
    const bool is_ring = table.kind[d] == abi::dimension_kind::ring;
    for (std::uint32_t first = 0; first < n; ++first)
        for (std::uint32_t count = 1; count == 1 || (is_ring && count <= n / 2); ++count)
            if (count == 1 || count == n / 2 || n <= k_short_ring)
                add_cut(first, count);
}

std::uint32_t link_cuts::devices_of(const rank_list& group) const
{
    std::set<std::uint32_t> devices;
    for (const std::uint32_t rank : group)
        devices.insert(device_of_[rank]);
    return static_cast<std::uint32_t>(devices.size());
}

std::optional<collective_bound> link_cuts::bound_of_sums(double bytes, const std::vector<rank_list>& groups) const
{
    double sent = 0, rate = 0;
    for (const rank_list& group : groups) {
        std::set<std::uint32_t> devices;
        for (const std::uint32_t rank : group)
            if (devices.insert(device_of_[rank]).second)
                rate += device_out_[device_of_[rank]];
        sent += 2 * bytes * static_cast<double>(devices.size() - 1);
    }
    return sent > 0 && rate > 0 ? std::optional(collective_bound{sent / rate, "links of all ranks"}) : std::nullopt;
}

std::optional<collective_bound> link_cuts::bound(const collective_case& c, const std::vector<rank_list>& groups) const
{
    const auto bytes = static_cast<double>(c.size_bytes);
    std::optional<collective_bound> found = c.op == abi::collective_op::all_reduce ? bound_of_sums(bytes, groups) : std::nullopt;
    // How many ranks of each group are at a place, by dimension; made once for all cuts along it.
    std::map<std::uint32_t, std::vector<std::map<std::uint32_t, double>>> at;
    const auto ranks_at = [&](std::uint32_t dimension) -> const std::vector<std::map<std::uint32_t, double>>& {
        auto& all = at[dimension];
        if (all.empty())
            for (const rank_list& group : groups) {
                all.emplace_back();
                for (const std::uint32_t rank : group)
                    all.back()[place_along(dimension, rank)] += 1;
            }
        return all;
    };
    // Of a device only the groups that have ranks there count.
    std::vector<std::vector<std::size_t>> groups_of_device(devices_);
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (const auto& [device, count] : ranks_at(k_device)[g])
            groups_of_device[device].push_back(g);
    std::vector<std::size_t> all_groups(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
        all_groups[g] = g;
    for (const cut& k : cuts_) {
        const std::uint32_t size = k.dimension == k_device ? devices_ : sizes_[k.dimension];
        crossing sum;
        const auto& places = ranks_at(k.dimension);
        for (const std::size_t g : k.dimension == k_device ? groups_of_device[k.first] : all_groups) {
            double inside = 0;
            for (std::uint32_t i = 0; i < k.count; ++i)
                if (const auto found_at = places[g].find((k.first + i) % size); found_at != places[g].end())
                    inside += found_at->second;
            const std::uint32_t root = c.root < groups[g].size() ? place_along(k.dimension, groups[g][c.root]) : 0;
            const crossing of_group = crossing_of(c, inside, static_cast<double>(groups[g].size()),
                                                  (root + size - k.first) % size < k.count);
            sum.in += of_group.in;
            sum.out += of_group.out;
        }
        for (const auto& [crosses, rate] : {std::pair{sum.in, k.in_rate}, {sum.out, k.out_rate}})
            if (crosses > 0 && rate > 0 && (!found || crosses / rate > found->us))
                found = collective_bound{crosses / rate, k.name};
    }
    return found;
}

} // namespace weft
