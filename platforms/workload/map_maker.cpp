// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/map_maker.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace weft {

namespace {
constexpr std::uint32_t k_no_node = 0xffff'ffff;

const char* kind_name(abi::dimension_kind kind)
{
    switch (kind) {
    case abi::dimension_kind::line: return "line";
    case abi::dimension_kind::ring: return "ring";
    case abi::dimension_kind::full: return "full";
    case abi::dimension_kind::switched: return "switched";
    }
    return "";
}
} // namespace

place_name parts_of(const std::string& name)
{
    place_name p;
    const std::size_t open = name.find('('), dot = name.find('.');
    const std::size_t close = open == std::string::npos ? open : name.find(')', open);
    if (open == std::string::npos || close == std::string::npos) {
        // "d0.ipu3": groups stand in front.
        const bool grouped = dot != std::string::npos && dot > 0;
        p.kind = grouped ? name.substr(dot + 1) : name;
        if (grouped)
            p.groups.push_back(name.substr(0, dot));
        p.kind.erase(std::find_if(p.kind.begin(), p.kind.end(), [](unsigned char c) { return std::isdigit(c) != 0; }),
                     p.kind.end());
        return p;
    }
    p.kind = name.substr(0, open);
    for (std::size_t at = open + 1; at < close;) {
        const std::size_t end = std::min(name.find(',', at), close);
        const std::string part = name.substr(at, end - at);
        if (part.empty() || std::isalpha(static_cast<unsigned char>(part[0])) == 0)
            break;
        p.groups.push_back(part);
        at = end + 1;
    }
    return p;
}

map_maker::map_maker(machine& m, const machine_loads& loads) : machine_(m), loads_(loads)
{
    const abi::platform_table& table = m.chips().front()->table();
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        map_.dimensions.push_back({table.dims[d], kind_name(table.kind[d])});
    add_nodes();
    map_.nodes = static_cast<std::uint32_t>(nodes_.size());
    std::vector<std::uint32_t> own(nodes_.size());
    for (std::uint32_t n = 0; n < own.size(); ++n)
        own[n] = n;
    add_level("devices", own, nodes_);
    for (const map_bundle& b : map_.levels.back().bundles)
        map_.wires += b.wires;
    if (!is_crowded())
        return;
    map_.levels.clear(); // nobody can look at so many: groups only
    bundle_of_.clear();
    add_groups();
    if (map_.levels.empty())
        add_tiles();
}

void map_maker::add_nodes()
{
    std::unordered_map<std::string, std::uint32_t> known;
    const auto node = [&](const std::string& name) {
        const auto [at, is_new] = known.emplace(name, static_cast<std::uint32_t>(nodes_.size()));
        if (is_new)
            nodes_.push_back({name, 0, 0, {}});
        return at->second;
    };
    const std::vector<chip*>& chips = machine_.chips();
    for (std::uint32_t rank = 0; rank < chips.size(); ++rank) {
        map_node& n = nodes_[node(machine_.node_name(rank))];
        if (n.ranks++ != 0)
            continue;
        n.first_rank = rank;
        const abi::platform_table& table = chips[rank]->table();
        n.at.assign(table.coord, table.coord + table.dim_count);
    }
    ends_.reserve(loads_.wires().size());
    std::vector<std::string> networks;
    const component* last = nullptr;
    std::uint32_t network = 0;
    for (const machine_loads::wire& w : loads_.wires()) {
        if (w.owner != last) {
            last = w.owner;
            const auto at = std::find(networks.begin(), networks.end(), w.owner->stat_prefix());
            network = static_cast<std::uint32_t>(at - networks.begin());
            if (at == networks.end())
                networks.push_back(w.owner->stat_prefix());
        }
        const wire_ends ends = w.local ? wire_ends{} : w.owner->ends_of_wire(w.number);
        if (ends.from.empty() || ends.to.empty()) {
            ends_.push_back({k_no_node, k_no_node, network});
            continue;
        }
        const std::uint32_t from = node(ends.from), to = node(ends.to);
        ends_.push_back({from, to, network});
    }
}

void map_maker::add_level(std::string what, const std::vector<std::uint32_t>& place_of_node,
                          std::vector<map_node> places)
{
    map_level level{std::move(what), std::move(places), {}};
    std::vector<std::uint32_t> of_wire(ends_.size(), k_no_bundle);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> wires; // by bundle and network
    for (std::size_t w = 0; w < ends_.size(); ++w) {
        if (ends_[w].from == k_no_node)
            continue;
        const std::uint32_t from = place_of_node[ends_[w].from], to = place_of_node[ends_[w].to];
        const auto [at, is_new] =
            known.emplace(std::pair{from, to}, static_cast<std::uint32_t>(level.bundles.size()));
        if (is_new)
            level.bundles.push_back({from, to, 0, 0});
        // Networks between the same two places are two uses of the same cables, and never work at a time.
        std::uint32_t& count = level.bundles[at->second].wires;
        count = std::max(count, ++wires[{at->second, ends_[w].network}]);
        of_wire[w] = at->second;
    }
    map_.levels.push_back(std::move(level));
    bundle_of_.push_back(std::move(of_wire));
}

bool map_maker::is_crowded() const
{
    return map_.levels.back().places.size() > k_most_places || map_.levels.back().bundles.size() > k_most_bundles;
}

/// From the smallest groups that are few enough to the largest.
void map_maker::add_groups()
{
    std::vector<place_name> names;
    std::size_t deepest = 0;
    for (const map_node& n : nodes_) {
        names.push_back(parts_of(n.name));
        if (n.ranks != 0)
            deepest = std::max(deepest, names.back().groups.size());
    }
    for (std::size_t depth = deepest; depth > 0; --depth) {
        std::unordered_map<std::string, std::uint32_t> known;
        std::vector<std::uint32_t> place_of(nodes_.size());
        std::vector<map_node> places;
        std::string what;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            const place_name& p = names[n];
            const std::size_t parts = std::min(depth, p.groups.size());
            std::string name;
            for (std::size_t i = 0; i < parts; ++i)
                name += (i == 0 ? "" : ",") + p.groups[i];
            if (nodes_[n].ranks == 0) // switches of a group stand beside its chips
                name += (name.empty() ? "" : " ") + p.kind;
            else if (what.empty() && parts == depth)
                what = p.groups[depth - 1].substr(0, 1);
            const auto [at, is_new] = known.emplace(name, static_cast<std::uint32_t>(places.size()));
            if (is_new) {
                places.push_back({name, 0, nodes_[n].first_rank, nodes_[n].at});
            }
            places[at->second].ranks += nodes_[n].ranks;
            place_of[n] = at->second;
        }
        add_level(fmt::format("groups {}", what), place_of, std::move(places));
        if (is_crowded()) {
            map_.levels.pop_back();
            bundle_of_.pop_back();
        }
    }
}

/// Squares of a mesh, 4 x 4 or the next power of two that makes few enough of them; of anything else runs of nodes.
void map_maker::add_tiles()
{
    const bool mesh = map_.dimensions.size() >= 2;
    for (std::uint32_t side = 4;; side *= 2) {
        std::map<std::vector<std::uint32_t>, std::uint32_t> known;
        std::vector<std::uint32_t> place_of(nodes_.size());
        std::vector<map_node> places;
        for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
            const map_node& node = nodes_[n];
            std::vector<std::uint32_t> tile{n / (side * side)};
            if (mesh && node.ranks != 0) {
                tile = node.at;
                for (std::uint32_t& c : tile)
                    c /= side;
            }
            const auto [at, is_new] = known.emplace(tile, static_cast<std::uint32_t>(places.size()));
            if (is_new)
                places.push_back({"from " + node.name, 0, node.first_rank, tile});
            places[at->second].ranks += node.ranks;
            place_of[n] = at->second;
        }
        add_level(mesh ? fmt::format("tiles of {} x {}", side, side) : fmt::format("runs of {}", side * side), place_of,
                  std::move(places));
        if (!is_crowded() || side > 4096)
            return;
        map_.levels.pop_back();
        bundle_of_.pop_back();
    }
}

void map_maker::look_for_broken()
{
    for (map_level& level : map_.levels)
        for (map_bundle& b : level.bundles)
            b.broken = 0;
    for (std::size_t w = 0; w < ends_.size(); ++w) {
        const machine_loads::wire& wire = loads_.wires()[w];
        if (ends_[w].from == k_no_node || wire.owner->wire_works(wire.number))
            continue;
        for (std::size_t level = 0; level < map_.levels.size(); ++level)
            if (map_bundle& b = map_.levels[level].bundles[bundle_of_[level][w]]; b.broken < b.wires)
                ++b.broken;
    }
}

} // namespace weft
