// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/process_groups.h"

#include "firmware/collectives/gapped_lines.h"
#include "platforms/workload/machine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace weft {

namespace {

constexpr const char* k_forms = "write rows, columns, \"dimension 0\", \"blocks of 4\" or a list of ranks like \"0-3,8,12-28/4\".";

std::vector<std::string> words_of(const std::string& text)
{
    std::vector<std::string> words(1);
    for (const char c : text)
        if (c != ' ')
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    if (words.back().empty())
        words.pop_back();
    return words;
}

/// Reads a number at the head of `text` and takes it off.
std::optional<std::uint32_t> take_number(std::string_view& text)
{
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

std::optional<std::uint32_t> number_of(std::string_view text)
{
    const std::optional<std::uint32_t> value = take_number(text);
    return text.empty() ? value : std::nullopt;
}

bool take(std::string_view& text, char c)
{
    const bool found = !text.empty() && text.front() == c;
    if (found)
        text.remove_prefix(1);
    return found;
}

/// "0-3,8,12-28/4"; nullopt for another form. Ranks from `ranks` on are kept, at most one of a range.
std::optional<rank_list> list_of(std::string_view text, std::uint32_t ranks)
{
    rank_list list;
    do {
        const std::optional<std::uint32_t> first = take_number(text);
        std::optional<std::uint32_t> last = first;
        std::optional<std::uint32_t> step = 1;
        if (take(text, '-')) {
            last = take_number(text);
            if (take(text, '/'))
                step = take_number(text);
        }
        if (!first || !last || !step || *last < *first || *step == 0)
            return std::nullopt;
        for (std::uint64_t rank = *first; rank <= *last; rank += *step) {
            list.push_back(static_cast<std::uint32_t>(rank));
            if (rank >= ranks)
                break;
        }
    } while (take(text, ','));
    return text.empty() ? std::optional(list) : std::nullopt;
}

/// Ranks that differ in no other dimension than those of `varies`, bit K for dimension K from the innermost.
std::vector<rank_list> along(std::uint32_t varies, std::uint32_t ranks, const table_of_rank& table_of)
{
    std::map<std::vector<std::uint32_t>, std::size_t> found; // the coordinates in which they agree
    std::vector<rank_list> lists;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const abi::platform_table& t = table_of(rank);
        std::vector<std::uint32_t> fixed;
        for (std::uint32_t d = 0; d < t.dim_count; ++d)
            if ((varies >> (t.dim_count - 1 - d) & 1) == 0)
                fixed.push_back(t.coord[d]);
        const auto [at, is_new] = found.emplace(fixed, lists.size());
        if (is_new)
            lists.emplace_back();
        lists[at->second].push_back(rank);
    }
    return lists;
}

/// The groups of one text; a problem in place of them.
std::vector<rank_list> groups_of_text(const std::string& text, std::uint32_t ranks, const table_of_rank& table_of,
                                      std::string& problem)
{
    const std::vector<std::string> words = words_of(text);
    const std::uint32_t dims = table_of(0).dim_count;
    const auto along_all = [&](const std::vector<std::uint32_t>& dimensions) -> std::vector<rank_list> {
        std::uint32_t varies = 0;
        for (const std::uint32_t d : dimensions) {
            if (d >= dims) {
                problem = fmt::format("is \"{}\", but the ranks of this machine have {} dimension{}; {}", text, dims,
                                      dims == 1 ? "" : "s", k_forms);
                return {};
            }
            varies |= 1u << d;
        }
        return along(varies, ranks, table_of);
    };
    if (words.size() == 1 && (words[0] == "rows" || words[0] == "columns"))
        return along_all({words[0] == "rows" ? 0u : 1u});
    if (words.size() > 1 && (words[0] == "dimension" || words[0] == "dimensions")) {
        std::vector<std::uint32_t> dimensions;
        for (std::size_t i = 1; i < words.size(); ++i)
            if (const auto d = number_of(words[i]))
                dimensions.push_back(*d);
        if (dimensions.size() + 1 == words.size())
            return along_all(dimensions);
    }
    if (words.size() == 3 && words[0] == "blocks" && words[1] == "of")
        if (const auto size = number_of(words[2]); size && *size > 0) {
            if (ranks % *size != 0) {
                problem = fmt::format("is \"{}\", which leaves {} of {} ranks over; {}", text, ranks % *size, ranks, k_forms);
                return {};
            }
            std::vector<rank_list> lists(ranks / *size);
            for (std::uint32_t rank = 0; rank < ranks; ++rank)
                lists[rank / *size].push_back(rank);
            return lists;
        }
    if (words.size() == 1)
        if (auto list = list_of(words[0], ranks))
            return {std::move(*list)};
    problem = fmt::format("is \"{}\", which names no ranks; {}", text, k_forms);
    return {};
}

/// The part of the machine that a list enumerates row by row, by dimension of the machine; nullopt: it is no box.
struct box {
    std::vector<rank_list> coordinates;
};
std::optional<box> box_of(const rank_list& list, const table_of_rank& table_of)
{
    const abi::platform_table& machine = table_of(list.front());
    if (machine.dim_count == 0)
        return std::nullopt;
    box b;
    b.coordinates.resize(machine.dim_count);
    std::size_t ranks = 1;
    for (std::uint32_t d = 0; d < machine.dim_count; ++d) {
        rank_list& all = b.coordinates[d];
        for (const std::uint32_t rank : list)
            all.push_back(table_of(rank).coord[d]);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        ranks *= all.size();
    }
    if (ranks != list.size())
        return std::nullopt;
    for (std::size_t place = 0; place < list.size(); ++place) {
        std::size_t rest = place;
        for (std::uint32_t d = machine.dim_count; d-- > 0;) {
            const rank_list& all = b.coordinates[d];
            if (table_of(list[place]).coord[d] != all[rest % all.size()])
                return std::nullopt;
            rest /= all.size();
        }
    }
    return b;
}

/// Of `mbps` along a full mesh of `size` ranks, what the links to the other members carry.
std::uint64_t mbps_among(std::uint64_t members, std::uint64_t mbps, std::uint32_t size) { return (mbps * (members - 1) + size - 2) / (size - 1); }

/// Two dimensions of a machine that are full meshes, and where its ranks are there: those of the platform table, or the
/// rows and columns of a machine with gaps.
struct two_sides {
    std::uint32_t sizes[2];
    std::uint32_t mbps[2]; ///< of a rank along each
    std::vector<std::array<std::uint32_t, 2>> at; ///< of the members of a list
};
std::optional<two_sides> sides_of(const rank_list& list, const table_of_rank& table_of)
{
    const abi::platform_table& machine = table_of(list.front());
    two_sides found{};
    if (const abi::gapped_mesh& m = machine.on_mesh; m.rows != 0) {
        found = {{m.rows, m.cols}, {m.col_mbps, m.row_mbps}, {}};
        const firmware::gapped_lines rows(m, false);
        for (const std::uint32_t rank : list) {
            auto& [row, col] = found.at.emplace_back();
            rows.find(rank, row, col);
        }
        return found;
    }
    std::vector<std::uint32_t> differ; // dimensions
    for (std::uint32_t d = 0; d < machine.dim_count; ++d)
        if (std::any_of(list.begin(), list.end(), [&](std::uint32_t rank) { return table_of(rank).coord[d] != machine.coord[d]; }))
            differ.push_back(d);
    if (differ.size() != 2)
        return std::nullopt;
    for (std::size_t side = 0; side < 2; ++side) {
        if (machine.kind[differ[side]] != abi::dimension_kind::full)
            return std::nullopt;
        found.sizes[side] = machine.dims[differ[side]];
        found.mbps[side] = machine.rate_mbps[differ[side]];
    }
    for (const std::uint32_t rank : list)
        found.at.push_back({table_of(rank).coord[differ[0]], table_of(rank).coord[differ[1]]});
    return found;
}

/// Where the members of a list stand, if that is a full mesh of two dimensions with few gaps, in the order of its rows.
abi::gapped_mesh mesh_of_list(const rank_list& list, const table_of_rank& table_of)
{
    const std::optional<two_sides> sides = sides_of(list, table_of);
    if (!sides)
        return {};
    std::set<std::uint32_t> lines[2];
    for (const auto& at : sides->at)
        for (std::size_t side = 0; side < 2; ++side)
            lines[side].insert(at[side]);
    const std::size_t rows = lines[0].size(), cols = lines[1].size();
    if (rows < 2 || cols < 2 || rows * cols > list.size() + abi::k_most_gaps)
        return {};
    abi::gapped_mesh mesh;
    std::size_t next = 0;
    std::uint32_t place = 0;
    for (const std::uint32_t row : lines[0])
        for (const std::uint32_t col : lines[1]) {
            if (next < list.size() && sides->at[next] == std::array{row, col})
                ++next;
            else if (mesh.gaps == abi::k_most_gaps)
                return {}; // or members in another order
            else
                mesh.gap[mesh.gaps++] = static_cast<std::uint16_t>(place);
            ++place;
        }
    if (next != list.size())
        return {};
    mesh.rows = static_cast<std::uint16_t>(rows);
    mesh.cols = static_cast<std::uint16_t>(cols);
    mesh.col_mbps = static_cast<std::uint32_t>(mbps_among(rows, sides->mbps[0], sides->sizes[0]));
    mesh.row_mbps = static_cast<std::uint32_t>(mbps_among(cols, sides->mbps[1], sides->sizes[1]));
    return mesh;
}

/// What every rank of the machine is told, by rank.
std::vector<abi::platform_table> rank_tables(const platform& p)
{
    std::vector<abi::platform_table> all;
    const std::uint32_t ranks = p.rank_table(0).ranks;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        all.push_back(p.rank_table(rank));
    return all;
}

/// The groups of a case; all ranks where it has none.
std::vector<rank_list> lists_of(const platform& p, const collective_case& c)
{
    if (c.groups.empty()) {
        std::vector<rank_list> all(1, rank_list(p.ranks()));
        std::iota(all[0].begin(), all[0].end(), 0u);
        return all;
    }
    const std::vector<abi::platform_table> tables = rank_tables(p);
    return find_groups(c.groups, p.ranks(), [&tables](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; }).lists;
}

/// Of rates in a platform table, which are whole Mb/s.
constexpr double k_rounded_rates = 1e-4;

} // namespace

named_groups find_groups(const std::vector<std::string>& texts, std::uint32_t ranks, const table_of_rank& table_of)
{
    named_groups found;
    std::map<std::uint32_t, std::size_t> entry_of; // of a rank that has a group
    for (std::size_t i = 0; i < texts.size() && found.problem.empty(); ++i) {
        found.problem_at = i;
        for (rank_list& list : groups_of_text(texts[i], ranks, table_of, found.problem)) {
            for (const std::uint32_t rank : list) {
                const auto [at, is_new] = entry_of.emplace(rank, i);
                if (rank >= ranks)
                    found.problem = fmt::format("names rank {}, but the ranks of this machine are 0 to {}.", rank, ranks - 1);
                else if (!is_new)
                    found.problem = at->second == i
                                        ? fmt::format("names rank {} twice.", rank)
                                        : fmt::format("names rank {}, which is in \"{}\" already; groups that run at once share no rank.",
                                                      rank, texts[at->second]);
            }
            found.lists.push_back(std::move(list));
        }
    }
    return found;
}

std::vector<abi::platform_table> tables_of_group(const rank_list& list, const table_of_rank& table_of, std::uint32_t bank)
{
    const std::optional<box> part = box_of(list, table_of);
    const bool stands_on_mesh = list.size() > 1 && (!part || table_of(list.front()).on_mesh.rows != 0);
    const abi::gapped_mesh mesh = stands_on_mesh ? mesh_of_list(list, table_of) : abi::gapped_mesh();
    std::vector<abi::platform_table> tables;
    for (std::size_t place = 0; place < list.size(); ++place) {
        const abi::platform_table& machine = table_of(list[place]);
        abi::platform_table& t = tables.emplace_back(machine);
        t.rank = static_cast<std::uint32_t>(place);
        t.ranks = static_cast<std::uint32_t>(list.size());
        t.semaphore_bank = static_cast<std::uint16_t>(bank);
        t.members = abi::k_group_members_address;
        t.failed_regions = t.servers = 0;
        t.device_members = part && machine.device_ranks > 1 ? static_cast<std::uint8_t>(part->coordinates.back().size()) : 1;
        t.gateway_dims = 0;
        for (std::uint32_t d = 0; part && d < machine.gateway_dims; ++d)
            t.gateway_dims = static_cast<std::uint8_t>(t.gateway_dims + (part->coordinates[d].size() > 1 ? 1 : 0));
        t.dim_count = 0;
        for (std::uint32_t d = 0; d < abi::k_max_dims; ++d) {
            t.dims[d] = t.coord[d] = t.rate_mbps[d] = 0;
            t.kind[d] = abi::dimension_kind::line;
        }
        const auto add = [&](std::size_t size, std::size_t coordinate, abi::dimension_kind kind, std::uint64_t rate_mbps) {
            t.dims[t.dim_count] = static_cast<std::uint32_t>(size);
            t.coord[t.dim_count] = static_cast<std::uint32_t>(coordinate);
            t.kind[t.dim_count] = kind;
            t.rate_mbps[t.dim_count++] = static_cast<std::uint32_t>(rate_mbps);
        };
        for (std::uint32_t d = 0; part && d < machine.dim_count; ++d) {
            const rank_list& all = part->coordinates[d];
            if (all.size() == 1)
                continue;
            const auto at = std::lower_bound(all.begin(), all.end(), machine.coord[d]) - all.begin();
            abi::dimension_kind kind = machine.kind[d];
            std::uint64_t rate = machine.rate_mbps[d];
            if (kind == abi::dimension_kind::full)
                rate = mbps_among(all.size(), rate, machine.dims[d]);
            else if (kind == abi::dimension_kind::ring && all.size() != machine.dims[d])
                kind = abi::dimension_kind::line;
            if (kind == abi::dimension_kind::line && all.size() == 2) {
                kind = abi::dimension_kind::full;
                rate = (rate + 1) / 2; // that of one link
            }
            add(all.size(), static_cast<std::size_t>(at), kind, rate);
        }
        t.on_mesh = mesh;
        if (!part && list.size() > 1)
            add(list.size(), place, abi::dimension_kind::switched, 0);
    }
    return tables;
}

std::optional<collective_bound> bound_on(const platform& p, const collective_case& c)
{
    if (abi::by_switch(c.algo)) // a switch that sums needs half of the bytes
        return p.bound_by_cuts(c);
    const bool by_units = abi::is_in(abi::k_by_ccu, c.algo);
    const std::uint64_t links_bps = p.links_rate().value();
    const memory_supply memory = p.memory();
    const abi::platform_table machine = p.rank_table(0);
    const auto own_cuts = p.bound_by_cuts(c);
    const bool by_dimension = c.groups.empty() && !(own_cuts && own_cuts->beside_dimensions);
    const std::vector<rank_list> groups = lists_of(p, c);
    std::size_t longest = 0;
    for (const rank_list& group : groups)
        longest = std::max(longest, group.size());
    const auto ranks = static_cast<std::uint32_t>(longest);
    if (abi::moves_tokens(c.op)) {
        std::optional<collective_bound> bound = bound_of_tokens(by_dimension ? &machine : nullptr, ranks, links_bps, memory, c);
        const link_cuts* const cuts = machine.ranks == p.ranks() ? p.cuts() : nullptr;
        if (const auto by_cuts = cuts == nullptr ? std::nullopt : cuts->bound(c, groups); by_cuts && (!bound || by_cuts->us > bound->us))
            bound = by_cuts;
        return bound;
    }
    const std::uint64_t sends_bps = machine.device_ranks != 0 && links_bps == 0 && c.op != abi::collective_op::all_to_all ? p.ports_rate().value() : links_bps;
    std::optional<collective_bound> bound = by_dimension ? bound_of(machine, sends_bps, memory, c.op, c.size_bytes, by_units)
                                                         : bound_of_group(ranks, links_bps, memory, c.op, c.size_bytes, by_units);
    const auto take_larger = [&](const std::optional<collective_bound>& other) {
        if (other && (!bound || other->us > bound->us))
            bound = other;
    };
    take_larger(own_cuts);
    const link_cuts* const cuts = c.ranks_per_group == 0 && machine.ranks == p.ranks() ? p.cuts() : nullptr;
    if (cuts == nullptr)
        return bound;
    // Rates of tables are rounded up: what exceeds a bound by no more than that is the same one.
    if (const auto by_cuts = cuts->bound(c, groups); by_cuts && (!bound || by_cuts->us > bound->us * (1 + k_rounded_rates)))
        bound = by_cuts;
    const bool on_devices = machine.device_ranks != 0 && c.op != abi::collective_op::all_to_all;
    for (const rank_list& group : groups)
        if (group.size() > 1 && memory.bps != 0)
            take_larger(bound_of_memory(memory, c.op, static_cast<double>(c.size_bytes), static_cast<std::uint32_t>(group.size()),
                                        on_devices ? cuts->devices_of(group) : 0, by_units));
    return bound;
}

std::vector<abi::platform_table> tables_told(const platform& p, const collective_case& c)
{
    std::vector<abi::platform_table> all = rank_tables(p);
    if (c.groups.empty())
        return all;
    const table_of_rank tables = [&all](std::uint32_t rank) -> const abi::platform_table& { return all[rank]; };
    const std::vector<rank_list> lists = find_groups(c.groups, p.ranks(), tables).lists;
    return tables_of_group(*std::max_element(lists.begin(), lists.end(),
                                             [](const rank_list& a, const rank_list& b) { return a.size() < b.size(); }),
                           tables, 0);
}

std::vector<abi::platform_table> group_tables(const platform& p, const std::vector<std::string>& groups)
{
    if (groups.empty())
        return {p.rank_table(0)};
    const std::vector<abi::platform_table> all = rank_tables(p);
    const table_of_rank tables = [&all](std::uint32_t rank) -> const abi::platform_table& { return all[rank]; };
    std::vector<abi::platform_table> firsts;
    for (const rank_list& list : find_groups(groups, p.ranks(), tables).lists)
        firsts.push_back(tables_of_group(list, tables, 0).front());
    return firsts;
}

std::string text_of_group(const rank_list& list)
{
    const bool consecutive = list.size() > 2 && list.back() - list.front() + 1 == list.size() && std::is_sorted(list.begin(), list.end());
    if (consecutive)
        return fmt::format("ranks {} to {}", list.front(), list.back());
    constexpr std::size_t k_show = 8;
    std::string text = list.size() == 1 ? "rank " : "ranks ";
    for (std::size_t i = 0; i < std::min(list.size(), k_show); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", list[i]);
    return list.size() > k_show ? fmt::format("{} and {} more", text, list.size() - k_show) : text;
}

} // namespace weft
