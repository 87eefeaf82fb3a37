// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/machine_loads.h"

#include <algorithm>

namespace weft {

machine_loads::machine_loads(machine& m) : time_(&m.time())
{
    for (const component* c : m.time().components()) {
        components_.push_back(c);
        const std::uint32_t wires = c->wires();
        for (std::uint32_t w = 0; w < wires + c->local_wires(); ++w)
            wires_.push_back({c, w, w >= wires});
        for (std::uint32_t i = 0; i < c->movers(); ++i)
            movers_.push_back({c, i});
        for (std::uint32_t i = 0; i < c->offload_units(); ++i)
            offload_units_.push_back({c, i});
        const chip* const of = chip_of(*c);
        for (std::size_t kind = 0; of != nullptr && kind < k_work_kinds; ++kind)
            if (c->spent_on(static_cast<work_kind>(kind), m.time().now_ps()).units != 0)
                workers_[kind].push_back({c, of->rank()});
    }
}

std::uint64_t machine_loads::lost_packets() const
{
    std::uint64_t all = 0;
    for (const component* c : components_)
        all += c->lost_packets();
    return all;
}

void share_meter::read(std::uint64_t now_ps, reading& all) const
{
    all.lost_packets = loads_->lost_packets();
    all.wires.clear();
    all.moved_ps.clear();
    all.offloaded_ps.clear();
    for (const machine_loads::wire& w : loads_->wires()) {
        const wire_load load = w.load();
        all.wires.push_back(
            {machine_loads::busy_ps(load, now_ps), load.starved_ps, machine_loads::contended_ps(load, now_ps)});
    }
    for (const machine_loads::mover& m : loads_->movers())
        all.moved_ps.push_back(m.moved_ps(now_ps));
    for (const machine_loads::offload_unit& u : loads_->offload_units())
        all.offloaded_ps.push_back(u.busy_ps(now_ps));
    for (std::size_t kind = 0; kind < k_work_kinds; ++kind) {
        all.spent[kind].clear();
        all.taken[kind].clear();
        all.waited[kind].clear();
        for (const machine_loads::worker& w : loads_->workers(static_cast<work_kind>(kind))) {
            const work_load load = w.spent(static_cast<work_kind>(kind), now_ps);
            all.spent[kind].push_back(load.spent_ps / std::max(1u, load.units));
            all.taken[kind].push_back(load.taken_ps / std::max(1u, load.units));
            all.waited[kind].push_back(load.waited_ps / std::max(1u, load.units));
        }
    }
}

void share_meter::begin(std::uint64_t now_ps)
{
    if (loads_ == nullptr || !loads_->is_of(machine_))
        loads_ = std::make_unique<machine_loads>(machine_);
    begun_ps_ = now_ps;
    read(now_ps, begun_);
}

case_shares share_meter::end(std::uint64_t now_ps, std::uint64_t time_ps)
{
    case_shares s;
    if (loads_ == nullptr || !loads_->is_of(machine_) || now_ps <= begun_ps_ || time_ps == 0)
        return s;
    reading ended;
    read(now_ps, ended);
    const double all_ps = static_cast<double>(time_ps);
    const auto raise = [all_ps](double& share, std::uint64_t after_ps, std::uint64_t before_ps) {
        share = std::max(share, std::min(1.0, static_cast<double>(after_ps - std::min(after_ps, before_ps)) / all_ps));
    };
    for (std::size_t i = 0; i < ended.wires.size(); ++i) {
        const wire_reading &after = ended.wires[i], &before = begun_.wires[i];
        raise(loads_->wires()[i].local ? s.dma : s.link, after.busy_ps, before.busy_ps);
        if (loads_->wires()[i].local)
            continue; // a chip that takes nothing more waits for its memory, which has a share of its own
        raise(s.credits, after.starved_ps, before.starved_ps);
        raise(s.arbitration, after.contended_ps, before.contended_ps);
    }
    for (std::size_t i = 0; i < ended.moved_ps.size(); ++i)
        raise(s.dma, ended.moved_ps[i], begun_.moved_ps[i]);
    for (std::size_t i = 0; i < ended.offloaded_ps.size(); ++i)
        raise(s.offload, ended.offloaded_ps[i], begun_.offloaded_ps[i]);
    // Of the time that compute units leave.
    const auto raise_by = [&](double& share, work_kind kind) {
        const auto k = static_cast<std::size_t>(kind);
        for (std::size_t i = 0; i < ended.spent[k].size(); ++i) {
            const auto taken_ps = static_cast<double>(ended.taken[k][i] - begun_.taken[k][i]);
            const auto own_ps = static_cast<double>(ended.spent[k][i] - begun_.spent[k][i]) - taken_ps;
            if (own_ps > 0 && all_ps > taken_ps)
                share = std::max(share, std::min(1.0, own_ps / (all_ps - taken_ps)));
        }
    };
    // A core that waits for memory is what memory does.
    const auto cores = static_cast<std::size_t>(work_kind::core);
    const auto &worked = ended.spent[cores], &worked_before = begun_.spent[cores];
    const auto &waited = ended.waited[cores], &waited_before = begun_.waited[cores];
    double most = 0; // of the core that had most to do
    for (std::size_t i = 0; i < worked.size(); ++i) {
        double all = 0, waits = 0;
        raise(all, worked[i], worked_before[i]);
        raise(waits, waited[i], waited_before[i]);
        s.memory = std::max(s.memory, waits);
        if (all > most) {
            most = all;
            s.core_waits = std::min(waits, all);
            s.core = all - s.core_waits;
        }
    }
    raise_by(s.dma, work_kind::send);
    raise_by(s.memory, work_kind::memory);
    // Other queues move bytes while one starts: a start costs time only where memory and links had nothing to do.
    double starting = 0;
    raise_by(starting, work_kind::start);
    s.dma = std::max(s.dma, std::min(starting, 1 - std::max(s.memory, s.link)));
    s.lost = ended.lost_packets > begun_.lost_packets;
    s.known = true;
    return s;
}

} // namespace weft
