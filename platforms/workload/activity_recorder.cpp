// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/activity_recorder.h"

#include "platforms/workload/link_failure_report.h"
#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace weft {

namespace {
constexpr std::uint32_t k_not_shown = 0xffff'ffff;
constexpr std::uint64_t k_first_bin_ps = 10'000;
constexpr const char* k_kind_names[k_work_kinds] = {"core", "send", "memory", "reduce", "sync", "start"};
/// Of 256 bytes for 200 steps of half a percent: a byte per value in the page.
constexpr double k_whole = 200;
constexpr std::size_t k_most_lanes = 50'000; ///< that are looked at one by one in every bin

std::uint64_t since(std::uint64_t after, std::uint64_t before) { return after > before ? after - before : 0; }
} // namespace

activity_recorder::activity_recorder(const sc_core::sc_module_name& name, machine& m)
    : sc_core::sc_module(name), machine_(m), bin_ends_("bin_ends"), meter_(m)
{
    SC_METHOD(look);
    sensitive << bin_ends_;
    dont_initialize();
}

void activity_recorder::set_up()
{
    loads_ = std::make_unique<machine_loads>(machine_);
    map_ = std::make_unique<map_maker>(machine_, *loads_);
    const auto ranks = static_cast<std::uint32_t>(machine_.chips().size());
    const std::uint32_t shown = std::min(ranks, k_most_ranks);
    all_.kinds.assign(std::begin(k_kind_names), std::end(k_kind_names));
    all_.ranks_shown.clear();
    all_.rank_names.clear();
    slot_of_rank_.assign(ranks, k_not_shown);
    for (std::uint32_t slot = 0; slot < shown; ++slot) {
        const auto rank = static_cast<std::uint32_t>(std::uint64_t{slot} * ranks / shown);
        slot_of_rank_[rank] = slot;
        all_.ranks_shown.push_back(rank);
        all_.rank_names.push_back(machine_.chip_name(rank));
    }
    std::size_t series = 0;
    first_of_level_.clear();
    for (const map_level& level : map_->map().levels) {
        first_of_level_.push_back(series);
        series += level.bundles.size();
    }
    first_of_ranks_ = series;
    series += std::size_t{shown} * k_work_kinds;
    first_of_machine_ = series;
    series += k_work_kinds + 1;
    parts_of_ranks_.assign(std::size_t{shown} * k_work_kinds, 0);
    parts_of_machine_.assign(k_work_kinds + 1, 0);
    const std::uint64_t now_ps = kernel_now_ps();
    for (std::size_t kind = 0; kind < k_work_kinds; ++kind)
        for (const machine_loads::worker& w : loads_->workers(static_cast<work_kind>(kind))) {
            const std::uint32_t units = w.spent(static_cast<work_kind>(kind), now_ps).units;
            parts_of_machine_[kind] += units;
            if (w.rank < ranks && slot_of_rank_[w.rank] != k_not_shown)
                parts_of_ranks_[slot_of_rank_[w.rank] * k_work_kinds + kind] += units;
        }
    std::size_t lanes = 0;
    first_lane_.clear();
    for (const machine_loads::wire& w : loads_->wires()) {
        first_lane_.push_back(lanes);
        lanes += w.local ? 0 : w.owner->lanes();
    }
    parts_of_machine_[k_work_kinds] = map_->map().wires;
    for (std::size_t w = 0; w < loads_->wires().size(); ++w)
        if (!loads_->wires()[w].local && map_->bundles_of(0)[w] == map_maker::k_no_bundle) // nobody knows its ends
            ++parts_of_machine_[k_work_kinds];
    lanes_.assign(lanes, {});
    before_.assign(loads_->wires().size(), {});
    std::uint32_t bins = k_most_bins;
    while (bins > 32 && series * bins > 600'000)
        bins /= 2;
    bins_ = std::make_unique<time_bins>(series, bins, k_first_bin_ps);
}

void activity_recorder::begin(const collective_case& c)
{
    lose();
    const auto alike = std::count_if(all_.cases.begin(), all_.cases.end(), [&](const case_activity& one) {
        return one.size_bytes == c.size_bytes && one.op == name_of(c.op) && one.algorithm == name_of(c.algo) && one.type == name_of(c.type);
    });
    if (all_.cases.size() >= k_most_cases || static_cast<std::size_t>(alike) >= k_most_alike || values_ > k_most_values) {
        ++all_.left_out;
        return;
    }
    if (loads_ == nullptr || !loads_->is_of(machine_)) // the first one, or a restart has found other hardware
        set_up();
    now_.emplace();
    now_->op = name_of(c.op);
    now_->algorithm = name_of(c.algo);
    now_->type = name_of(c.type);
    now_->redop = name_of(c.redop);
    now_->size_bytes = c.size_bytes;
    const std::uint64_t now_ps = kernel_now_ps();
    now_->start_ps = now_ps;
    meter_.begin(now_ps);
    memory_before_ = memory_bytes();
    for (std::size_t w = 0; w < before_.size(); ++w) {
        const machine_loads::wire& wire = loads_->wires()[w];
        const wire_load load = wire.load();
        before_[w] = {machine_loads::busy_ps(load, now_ps), load.starved_ps, machine_loads::contended_ps(load, now_ps),
                      load.wire_bytes};
        for (std::uint32_t vl = 0; !wire.local && vl < wire.owner->lanes(); ++vl)
            lanes_[first_lane_[w] + vl] = {wire.owner->load_of_lane(wire.number, vl).starved_ps, 0};
    }
    at_start_ = before_;
    for (std::size_t kind = 0; kind < k_work_kinds; ++kind) {
        spent_[kind].clear();
        for (const machine_loads::worker& w : loads_->workers(static_cast<work_kind>(kind)))
            spent_[kind].push_back(w.spent(static_cast<work_kind>(kind), now_ps).spent_ps);
    }
    bins_->begin(now_ps);
    arm();
}

void activity_recorder::arm()
{
    bin_ends_.cancel();
    bin_ends_.notify(sc_time_from_ps(bins_->end_of_bin_ps() - kernel_now_ps()));
}

/// Adds what has happened since the last look to the present bin.
void activity_recorder::look()
{
    if (!now_)
        return;
    const std::uint64_t now_ps = kernel_now_ps();
    const std::size_t levels = first_of_level_.size();
    const std::size_t links = first_of_machine_ + k_work_kinds;
    for (std::size_t w = 0; w < before_.size(); ++w) {
        const machine_loads::wire& wire = loads_->wires()[w];
        if (wire.local)
            continue;
        const std::uint64_t busy_ps = machine_loads::busy_ps(wire.load(), now_ps);
        const std::uint64_t more_ps = since(busy_ps, before_[w].busy_ps);
        if (more_ps == 0)
            continue;
        before_[w].busy_ps = busy_ps;
        bins_->add(links, more_ps);
        for (std::size_t level = 0; level < levels; ++level)
            if (const std::uint32_t bundle = map_->bundles_of(level)[w]; bundle != map_maker::k_no_bundle)
                bins_->add(first_of_level_[level] + bundle, more_ps);
    }
    for (std::size_t kind = 0; kind < k_work_kinds; ++kind) {
        const auto& workers = loads_->workers(static_cast<work_kind>(kind));
        for (std::size_t i = 0; i < workers.size(); ++i) {
            const std::uint64_t spent_ps = workers[i].spent(static_cast<work_kind>(kind), now_ps).spent_ps;
            const std::uint64_t more_ps = since(spent_ps, spent_[kind][i]);
            if (more_ps == 0)
                continue;
            spent_[kind][i] = spent_ps;
            bins_->add(first_of_machine_ + kind, more_ps);
            if (const std::uint32_t slot =
                    workers[i].rank < slot_of_rank_.size() ? slot_of_rank_[workers[i].rank] : k_not_shown;
                slot != k_not_shown)
                bins_->add(first_of_ranks_ + slot * k_work_kinds + kind, more_ps);
        }
    }
    look_at_lanes();
    if (now_ps == bins_->end_of_bin_ps()) {
        bins_->next();
        arm();
    }
}

void activity_recorder::look_at_lanes()
{
    if (lanes_.size() > k_most_lanes)
        return;
    for (std::size_t w = 0; w < before_.size(); ++w) {
        const machine_loads::wire& wire = loads_->wires()[w];
        for (std::uint32_t vl = 0; !wire.local && vl < wire.owner->lanes(); ++vl) {
            std::uint32_t& most = lanes_[first_lane_[w] + vl].most_cells;
            most = std::max(most, wire.owner->load_of_lane(wire.number, vl).held_cells);
        }
    }
}

void activity_recorder::end(std::uint64_t time_ps)
{
    if (now_)
        close(time_ps);
}

void activity_recorder::lose()
{
    if (now_)
        close(std::nullopt);
}

std::vector<std::uint8_t> activity_recorder::shares_of(std::size_t first_series, std::size_t count,
                                                       const std::vector<std::uint32_t>& parts) const
{
    std::vector<std::uint8_t> shares;
    shares.reserve(count * bins_->bins());
    for (std::size_t s = 0; s < count; ++s)
        for (std::uint32_t b = 0; b < bins_->bins(); ++b) {
            const double all_ps = static_cast<double>(bins_->length_ps(b)) * std::max(1u, parts[s]);
            const double share = static_cast<double>(bins_->value(first_series + s, b)) / all_ps;
            // What is not nothing is seen.
            const double steps = share > 0 ? std::max(1.0, share * k_whole) : 0;
            shares.push_back(static_cast<std::uint8_t>(std::min(k_whole, steps) + 0.5));
        }
    return shares;
}

void activity_recorder::close(std::optional<std::uint64_t> time_ps)
{
    const std::uint64_t now_ps = kernel_now_ps();
    look();
    bin_ends_.cancel();
    bins_->end(now_ps);
    case_activity& c = *now_;
    c.complete = time_ps.has_value();
    c.time_ps = now_ps - c.start_ps;
    c.shares = meter_.end(now_ps, time_ps.value_or(c.time_ps));
    c.bins = bins_->bins();
    c.bin_ps = bins_->width_ps();
    c.last_bin_ps = c.bins == 0 ? 0 : bins_->length_ps(c.bins - 1);
    map_->look_for_broken();
    for (std::size_t level = 0; level < first_of_level_.size(); ++level) {
        const std::vector<map_bundle>& bundles = map_->map().levels[level].bundles;
        std::vector<std::uint32_t> wires;
        c.broken.emplace_back();
        for (std::uint32_t i = 0; i < bundles.size(); ++i) {
            wires.push_back(bundles[i].wires);
            if (bundles[i].broken != 0)
                c.broken.back().emplace_back(i, bundles[i].broken);
        }
        c.bundles.push_back(shares_of(first_of_level_[level], wires.size(), wires));
        values_ += c.bundles.back().size();
    }
    c.work = shares_of(first_of_ranks_, parts_of_ranks_.size(), parts_of_ranks_);
    c.machine = shares_of(first_of_machine_, parts_of_machine_.size(), parts_of_machine_);
    values_ += c.work.size() + c.machine.size();
    name_troubles(c, now_ps);
    const auto memory_now = memory_bytes();
    c.bytes_read = memory_now.first - memory_before_.first;
    c.bytes_written = memory_now.second - memory_before_.second;
    all_.cases.push_back(std::move(c));
    now_.reset();
}

void activity_recorder::name_troubles(case_activity& c, std::uint64_t now_ps) const
{
    if (c.time_ps == 0)
        return;
    const double all_ps = static_cast<double>(c.time_ps);
    const auto share = [all_ps](std::uint64_t after, std::uint64_t before) {
        return std::min(1.0, static_cast<double>(since(after, before)) / all_ps);
    };
    struct found_wire {
        std::size_t wire;
        std::uint64_t bytes;
        double busy, credits, arbitration;
        std::string failed;
        double blocked() const { return credits + arbitration; }
    };
    struct found_lane {
        std::size_t wire;
        std::uint32_t vl;
        double credits, fullest;
        std::uint32_t depth;
    };
    std::vector<found_wire> wires;
    std::vector<found_lane> lanes;
    std::map<std::pair<const component*, std::string>, std::string> failures;
    for (failed_wire& f : failed_wires(machine_, c.start_ps, now_ps))
        failures.emplace(std::pair(f.fabric, std::move(f.name)), std::move(f.what));
    for (std::size_t w = 0; w < before_.size(); ++w) {
        const machine_loads::wire& wire = loads_->wires()[w];
        const wire_load load = wire.load();
        const auto failure = failures.empty() ? failures.end() : failures.find({wire.owner, wire.owner->wire_name(wire.number)});
        const bool failed = failure != failures.end();
        if (load.wire_bytes == at_start_[w].bytes && load.starved_ps == at_start_[w].starved_ps && !failed)
            continue;
        found_wire found{w, load.wire_bytes - at_start_[w].bytes,
                         share(machine_loads::busy_ps(load, now_ps), at_start_[w].busy_ps),
                         share(load.starved_ps, at_start_[w].starved_ps),
                         share(machine_loads::contended_ps(load, now_ps), at_start_[w].contended_ps),
                         failed ? failure->second : std::string()};
        if (!wire.local || failed || found.blocked() > 0) // what a port carries, its link carries again
            wires.push_back(std::move(found));
        for (std::uint32_t vl = 0; !wire.local && vl < wire.owner->lanes(); ++vl) {
            const lane_load lane = wire.owner->load_of_lane(wire.number, vl);
            const lane_reading& first = lanes_[first_lane_[w] + vl];
            const double fullest = lane.depth_cells == 0 ? 0 : static_cast<double>(first.most_cells) / lane.depth_cells;
            if (lane.starved_ps != first.starved_ps || first.most_cells != 0)
                lanes.push_back({w, vl, share(lane.starved_ps, first.starved_ps), fullest, lane.depth_cells});
        }
    }
    // Of equals the first wire: the order of the components is always the same.
    const auto first_of = [](auto& all, auto&& is_worse) {
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(k_troubles, all.size()));
        std::partial_sort(all.begin(), end, all.end(), is_worse);
        all.erase(end, all.end());
    };
    first_of(wires, [](const found_wire& a, const found_wire& b) {
        if (a.failed.empty() != b.failed.empty())
            return b.failed.empty();
        if (a.blocked() != b.blocked())
            return a.blocked() > b.blocked();
        return a.busy != b.busy ? a.busy > b.busy : a.wire < b.wire;
    });
    first_of(lanes, [](const found_lane& a, const found_lane& b) {
        if (a.credits != b.credits)
            return a.credits > b.credits;
        if (a.fullest != b.fullest)
            return a.fullest > b.fullest;
        return a.wire != b.wire ? a.wire < b.wire : a.vl < b.vl;
    });
    for (const found_wire& w : wires) {
        const machine_loads::wire& wire = loads_->wires()[w.wire];
        c.wires.push_back({wire.owner->wire_name(wire.number), wire.local, w.bytes, w.busy, w.credits, w.arbitration, w.failed});
    }
    for (const found_lane& l : lanes) {
        const machine_loads::wire& wire = loads_->wires()[l.wire];
        c.lanes.push_back({wire.owner->wire_name(wire.number), l.vl, l.credits, l.fullest, l.depth});
    }
}

std::pair<std::uint64_t, std::uint64_t> activity_recorder::memory_bytes() const
{
    std::pair<std::uint64_t, std::uint64_t> all;
    for (const component* c : machine_.time().components())
        if (const auto load = c->memory_traffic()) {
            all.first += load->bytes_read;
            all.second += load->bytes_written;
        }
    return all;
}

run_activity activity_recorder::finish()
{
    lose();
    if (map_ != nullptr) {
        map_->look_for_broken();
        all_.map = map_->map();
    }
    all_.memory_bytes.assign(machine_.chips().size(), {});
    for (const component* c : machine_.time().components()) {
        const auto load = c->memory_traffic();
        const chip* const of = chip_of(*c);
        if (!load || of == nullptr || of->rank() >= all_.memory_bytes.size())
            continue;
        all_.memory = load->name;
        all_.memory_bytes[of->rank()].first += load->bytes_read;
        all_.memory_bytes[of->rank()].second += load->bytes_written;
    }
    return std::move(all_);
}

std::uint64_t activity_recorder::busy_ps(std::size_t level, std::size_t bundle) const
{
    std::uint64_t sum = 0;
    for (std::uint32_t b = 0; b < bins_->bins(); ++b)
        sum += bins_->value(first_of_level_.at(level) + bundle, b);
    return sum;
}

} // namespace weft
