// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_paths.h"

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
        paths_.each_path(from, to, patterns, [&](const ub_pattern& p, const std::uint32_t* links, std::uint32_t count) {
            classes_.clear();
            for (std::uint32_t i = 0; i < count; ++i)
                classes_.push_back(paths_.topology().plan().links[links[i]].channel);
            found_[{row_of(group, p.kind), classes_}] += times;
        });
    }
    ub_path_census result() const
    {
        ub_path_census c;
        c.rows = rows_;
        for (const auto& [key, count] : found_)
            c.sequences.push_back({key.first, key.second, count});
        c.judge(paths_.rule());
        return c;
    }

private:
    std::uint32_t row_of(const char* group, ub_path_kind kind)
    {
        for (std::uint32_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].pairs == group && rows_[i].kind == kind)
                return i;
        rows_.push_back({group, kind, 0, 0, 0, 0});
        return static_cast<std::uint32_t>(rows_.size() - 1);
    }
    const ub_paths& paths_;
    std::vector<ub_path_census::row> rows_;
    std::vector<ub_channel> classes_;
    std::map<std::pair<std::uint32_t, std::vector<ub_channel>>, std::uint64_t> found_;
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
        text += fmt::format("{}, {}: {} of {} paths ({:.1f} %), {} of {} sequences of classes\n", r.pairs,
                            name_of_kind(r.kind), r.admitted, r.all,
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

    // Between racks the column of an NPU does not matter: a leaf serves all of its board.
    const auto npu = [&](std::uint32_t rack, std::uint32_t board) { return rack * in_rack + board * s.npus; };
    const auto boards_of = [&](const char* group, std::uint32_t rack, std::uint32_t other, std::uint64_t times) {
        for (std::uint32_t b = 0; b < s.boards; ++b)
            for (std::uint32_t d = 0; d < s.boards; ++d)
                c.pair(group, npu(rack, b), npu(other, d), times * columns);
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
    const auto side_pairs = [&](std::uint32_t rack, std::uint32_t other, std::uint64_t times) {
        const std::uint32_t spare = t.spare_router(other), cpu = t.cpu_router(other, 0), nic = t.nic_router(other, 0);
        for (const auto& [end, count] : {std::pair<std::uint32_t, std::uint64_t>{spare, 1}, {cpu, cpus}, {nic, cpus}}) {
            c.pair(k_side, npu(rack, 0), end, times * all * count);
            c.pair(k_side, end, npu(rack, 0), times * all * count);
            c.pair(k_side, t.cpu_router(rack, cpus > 1 && rack == other ? 1 : 0), end, times * cpus * count);
            c.pair(k_side, t.spare_router(rack), end, times * count);
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
