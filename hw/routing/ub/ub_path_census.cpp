// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_paths.h"

#include <fmt/format.h>

namespace weft {

namespace {

const char* name_of_kind(ub_path_kind k)
{
    switch (k) {
    case ub_path_kind::shortest: return "shortest";
    case ub_path_kind::detour: return "one detour";
    case ub_path_kind::borrow: break;
    }
    return "borrow";
}

class counter {
public:
    explicit counter(const ub_paths& paths) : paths_(paths) {}

    /// Counts the paths of one pair `times` times.
    void pair(const char* group, std::uint32_t from, std::uint32_t to, std::uint64_t times)
    {
        if (from == ub_topology::k_none || to == ub_topology::k_none || from == to || times == 0)
            return;
        const auto patterns = paths_.patterns(from, to, true, true);
        const std::uint64_t rows[] = {row_of(group, ub_path_kind::shortest), row_of(group, ub_path_kind::detour),
                                      row_of(group, ub_path_kind::borrow)};
        std::uint64_t last_key = 0;
        std::uint64_t* last = nullptr;
        paths_.each_path(from, to, patterns, [&](const ub_pattern& p, const std::uint32_t* links, std::uint32_t count) {
            std::uint64_t key = rows[static_cast<unsigned>(p.kind)];
            for (std::uint32_t i = 0; i < count; ++i)
                key =
                    key << k_class_bits | static_cast<std::uint64_t>(paths_.topology().plan().links[links[i]].channel);
            if (last == nullptr || key != last_key) {
                last = &found_[key];
                last_key = key;
            }
            *last += times;
        });
    }
    /// Rows without any path are left out.
    ub_path_census result() const
    {
        ub_path_census c;
        std::vector<std::uint32_t> row_in(rows_.size(), ~0u);
        for (const auto& [key, count] : found_) {
            std::uint64_t rest = key;
            std::vector<ub_channel> classes;
            for (; rest >= k_first_row << k_class_bits; rest >>= k_class_bits)
                classes.insert(classes.begin(), static_cast<ub_channel>(rest & ((1u << k_class_bits) - 1)));
            c.sequences.push_back({static_cast<std::uint32_t>(rest - k_first_row), std::move(classes), count});
            row_in[c.sequences.back().row] = 0;
        }
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (row_in[i] == 0) {
                row_in[i] = static_cast<std::uint32_t>(c.rows.size());
                c.rows.push_back(rows_[i]);
            }
        for (auto& s : c.sequences)
            s.row = row_in[s.row];
        c.judge(paths_.rule());
        return c;
    }

private:
    // A key is the row, which is at least k_first_row and below twice that, and the classes behind it.
    static constexpr unsigned k_class_bits = 5;
    static constexpr std::uint64_t k_first_row = 16;
    static_assert(k_ub_channels <= 1u << k_class_bits && k_class_bits * ub_pattern::k_most_moves + 5 <= 64);

    std::uint64_t row_of(const char* group, ub_path_kind kind)
    {
        for (std::uint32_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].pairs == group && rows_[i].kind == kind)
                return k_first_row + i;
        rows_.push_back({group, kind, 0, 0, 0, 0});
        return k_first_row + rows_.size() - 1;
    }
    const ub_paths& paths_;
    std::vector<ub_path_census::row> rows_;
    std::map<std::uint64_t, std::uint64_t> found_;
};

} // namespace

void ub_path_census::judge(const ub_lane_rule& rule)
{
    for (row& r : rows)
        r.admitted = r.all = r.sequences_admitted = r.sequences = 0;
    for (const sequence& s : sequences) {
        row& r = rows[s.row];
        const bool ok = weft::admitted(rule, s.classes.data(), s.classes.size());
        r.all += s.paths;
        ++r.sequences;
        r.admitted += ok ? s.paths : 0;
        r.sequences_admitted += ok ? 1 : 0;
    }
}

std::string ub_path_census::text() const
{
    std::string text;
    for (const row& r : rows)
        text +=
            fmt::format("{}{}, {}: {} of {} paths ({:.1f} %), {} of {} sequences of classes\n",
                        text.empty() ? "Admitted  " : "          ", r.pairs, name_of_kind(r.kind), r.admitted, r.all,
                        r.all == 0 ? 100.0 : 100.0 * static_cast<double>(r.admitted) / static_cast<double>(r.all),
                        r.sequences_admitted, r.sequences);
    return text;
}

ub_path_census census_of(const ub_paths& paths)
{
    const ub_topology& t = paths.topology();
    const ub_shape& s = t.shape();
    counter c(paths);
    const std::uint32_t in_rack = s.npus_per_rack();
    const std::uint64_t pods = s.pods, pod_pairs = std::uint64_t{s.pods} * (s.pods - 1), racks = s.racks_per_pod(),
                        columns = std::uint64_t{s.npus} * s.npus;
    for (std::uint32_t from = 0; from < in_rack; ++from)
        for (std::uint32_t to = 0; to < in_rack; ++to)
            c.pair("in a rack", from, to, s.racks());

    // Between racks the column of an NPU does not matter: a leaf serves all of its board. Nor do boards but for the
    // sign of the one Y hop.
    const auto npu = [&](std::uint32_t rack, std::uint32_t board) { return rack * in_rack + board * s.npus; };
    const std::uint64_t board_pairs = std::uint64_t{s.boards} * (s.boards - 1) / 2;
    const auto boards_of = [&](const char* group, std::uint32_t rack, std::uint32_t other, std::uint64_t times) {
        c.pair(group, npu(rack, 0), npu(other, 0), times * columns * s.boards);
        if (s.boards > 1) {
            c.pair(group, npu(rack, 0), npu(other, 1), times * columns * board_pairs);
            c.pair(group, npu(rack, 1), npu(other, 0), times * columns * board_pairs);
        }
    };
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t other = 0; other < racks; ++other)
            if (rack != other)
                boards_of("between racks", rack, other, pods);
    if (pods > 1) // all pairs of racks are alike
        boards_of("between pods", 0, static_cast<std::uint32_t>(racks), pod_pairs * racks * racks);
    if (!s.backplane)
        return c.result();

    constexpr const char* k_side = "CPU, NIC, spare NPU";
    const std::uint64_t all = in_rack, cpus = t.cpus_per_rack();
    // With spines a spare NPU stands for CPUs too: both hang on all of them.
    const bool alike = s.rack == ub_rack_kind::full_mesh_2d;
    const std::uint64_t spares = alike ? 1 + cpus : 1;
    const auto side_pairs = [&](std::uint32_t rack, std::uint32_t other, std::uint64_t times) {
        const std::uint32_t spare = t.spare_router(other), cpu = t.cpu_router(other, 0), nic = t.nic_router(other, 0);
        const std::uint32_t from_cpu = t.cpu_router(rack, cpus > 1 && rack == other ? 1 : 0);
        const std::uint64_t others = rack == other ? spares - 1 : spares;
        for (const auto& [end, count] :
             {std::pair<std::uint32_t, std::uint64_t>{spare, spares}, {cpu, alike ? 0 : cpus}, {nic, cpus}}) {
            c.pair(k_side, npu(rack, 0), end, times * all * count);
            c.pair(k_side, end, npu(rack, 0), times * all * count);
            if (!alike) {
                c.pair(k_side, from_cpu, end, times * cpus * count);
                c.pair(k_side, t.spare_router(rack), end, times * count);
            }
        }
        if (alike) {
            c.pair(k_side, from_cpu, spare, times * spares * others);
            c.pair(k_side, from_cpu, nic, times * spares * cpus);
        }
    };
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t other = 0; other < racks; ++other)
            side_pairs(rack, other, pods);
    if (pods > 1)
        side_pairs(0, static_cast<std::uint32_t>(racks), pod_pairs * racks * racks);
    return c.result();
}

} // namespace weft
