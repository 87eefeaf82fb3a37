// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/ub_mesh/ub_exchange_paths.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace weft {

namespace {


dma_fabric_view view_of(const ub_mesh_config& config, const train_choice& trains)
{
    dma_fabric_view view = dma_view(config.run, trains, config.ub.format(), config.ub.local_port_rate);
    view.ports = k_ub_dies;
    view.vl_count = k_ub_vls;
    view.in_order = false; // packets of a message take several paths
    return view;
}

} // namespace

ub_machine::ub_machine(const ub_mesh_config& config, std::shared_ptr<const ub_routes> routes, core_fitter fit)
    : config_(config), trains_(config.trains()), routes_(std::move(routes)), fit_(std::move(fit))
{
    if (!routes_->problem().empty())
        throw user_error(routes_->problem());
    std::map<std::uint64_t, std::vector<std::string>> by_time;
    for (const ub_npu_fault_config& f : config_.faults.npus)
        if (f.at.value() != 0)
            by_time[f.at.value()].push_back(f.npu);
    for (const ub_faulty_device& d : faulty_devices(config_, *routes_->topology))
        if (d.interrupts)
            by_time[d.fault->at.value()].push_back(d.fault->device);
    for (auto& [at_ps, npus] : by_time)
        interruptions_.push_back({at_ps, std::move(npus)});
    if (config_.run.host)
        store_ = std::make_unique<ub_checkpoint_store>(config_.mesh.ranks() * (config_.run.host->checkpoint ? config_.run.host->checkpoint->state.value() : 0));
    for (std::size_t i = 0; i <= interruptions_.size(); ++i)
        build(i);
}

ub_machine::~ub_machine() = default;

/// The hardware after `number` interruptions: their NPUs, and those that failed before time zero, are not part of the
/// job.
void ub_machine::build(std::size_t number)
{
    const std::string suffix = number == 0 ? "" : fmt::format("_{}", number);
    incarnations_.push_back(std::make_unique<incarnation>(fit_, suffix));
    incarnation& i = *incarnations_.back();
    i.config = config_at(config_, number < interruptions_.size() ? interruptions_[number].at_ps - 1 : k_never_ps);
    i.fabric = std::make_unique<ub_fabric>(("ub" + suffix).c_str(), i.hardware.time, i.hardware.pool, routes_->plan, config_.ub,
                                           1u + (config_.has_ccus() ? 1 : 0) + (config_.run.host ? 1 : 0), config_.sends_notices());
    i.hardware.add(i.fabric->engine());

    const ub_topology& topology = *routes_->topology;
    i.positions = i.config.positions();
    std::vector<bool> used(i.fabric->endpoints(), false);
    i.routers = routers_of_ranks(i.config, topology);
    const dma_fabric_view view = view_of(config_, trains_);
    if (config_.run.host)
        i.hosts = std::make_unique<ub_hosts>(i.hardware.time, i.hardware.pool, *i.fabric, topology, config_, *store_, suffix);
    for (std::uint32_t rank = 0; rank < i.positions.size(); ++rank) {
        const std::uint32_t npu = i.positions[rank];
        const std::uint32_t behind = i.routers[rank];
        used[behind] = true;
        if (behind != rank) // a spare NPU stands in, or ranks have closed up
            i.fabric->take_over(rank, behind);
        const std::string name = fmt::format("npu_{}{}", npu, suffix);
        chip& c = i.hardware.add_chip(name, config_.npu.chip(), view, i.config.rank_table(rank), with_ccus(i, rank));
        if (i.hosts != nullptr)
            i.hosts->add_npu(c, npu, name);
        bind_ports(i, c, behind, name);
    }
    for (std::uint32_t e = 0; e < i.fabric->endpoints(); ++e) {
        if (used[e] || (i.hosts != nullptr && i.hosts->is_host(e)))
            continue;
        for (std::uint32_t die = 0; die < i.fabric->dies(e); ++die) {
            i.idle_ports.push_back(std::make_unique<ub_idle_port>(fmt::format("idle_{}_{}{}", e, die, suffix).c_str(),
                                                                  k_ub_vls, 256u));
            i.idle_ports.back()->to_controller.bind(i.fabric->controller(e, die).in);
            i.fabric->controller(e, die).out.bind(i.idle_ports.back()->from_controller);
        }
    }
    i.owner = this;
    i.number = number;
    i.fabric->set_link_listener(&i);
    add_faults(i, number);
}

/// One in each IO die, behind the chip's memory and core.
chip_options ub_machine::with_ccus(incarnation& i, std::uint32_t rank) const
{
    chip_options options;
    if (!config_.has_ccus())
        return options;
    ccu_fabric_view view;
    view.ranks = static_cast<std::uint32_t>(i.positions.size());
    view.vl_count = k_ub_vls;
    view.answer_vl = static_cast<std::uint32_t>(ub_class::response) * k_ub_lanes_per_class;
    view.port_rate = config_.ub.local_port_rate;
    view.format = config_.ub.format();
    view.carry_data = config_.run.data == data_mode::checked;
    for (std::uint32_t die = 0; die < k_ub_dies; ++die) {
        view.die = die;
        options.guests.push_back([&i, this, rank, die, view](chip& host) {
            auto unit = std::make_unique<ccu>(fmt::format("ccu{}", die).c_str(), i.hardware.time, i.hardware.pool, *host.interrupts().front(),
                                              abi::k_irq_ccu << die, rank, config_.npu.ccu, view);
            unit->memory.bind(host.memory);
            host.attach(unit->registers, {abi::ccu::k_base + die * abi::ccu::k_die_stride, k_device_window_bytes, die == 0 ? "CCU0" : "CCU1"});
            i.ccus.push_back(unit.get());
            return unit;
        });
    }
    return options;
}

void ub_machine::bind_ports(incarnation& i, chip& c, std::uint32_t router, const std::string& name) const
{
    bulk_mover* const mover = i.hosts == nullptr ? nullptr : &i.hosts->mover_beside(c);
    for (std::uint32_t die = 0; die < k_ub_dies; ++die) {
        ub_io_controller& at = i.fabric->controller(router, die);
        if (i.ccus.empty() && mover == nullptr) {
            bind_local_port(c, die, at);
            continue;
        }
        i.sharers.push_back(std::make_unique<ub_port_sharer>(fmt::format("{}_port{}", name, die).c_str(), k_ub_vls, !i.ccus.empty(), mover != nullptr,
                                                             routes_->topology->cpu_router(0, 0)));
        ub_port_sharer& sharer = *i.sharers.back();
        c.dma.to_fabric(die).bind(sharer.from_dma());
        sharer.to_dma().bind(c.dma.from_fabric(die));
        if (!i.ccus.empty()) {
            ccu& unit = *i.ccus[i.ccus.size() - k_ub_dies + die];
            unit.to_fabric.bind(sharer.from_coprocessor());
            sharer.to_coprocessor().bind(unit.from_fabric);
        }
        if (mover != nullptr) {
            mover->to_fabric(die).bind(sharer.from_mover());
            sharer.to_mover().bind(mover->from_fabric(die));
        }
        sharer.to_controller.bind(at.in);
        at.out.bind(sharer.from_controller);
    }
}

/// Routing knows it.
void ub_machine::down_from_the_start(incarnation& i, std::uint32_t plan_link)
{
    i.down.at(plan_link) = true;
    i.fabric->fail_link_at(plan_link, 0);
    for (std::uint32_t e = 0; e < i.fabric->endpoints(); ++e)
        i.fabric->exclude(e, plan_link);
}

void ub_machine::add_faults(incarnation& i, std::size_t number)
{
    const ub_topology& topology = *routes_->topology;
    const std::vector<ub_faulty_link> faulty = faulty_links(config_, topology);
    i.down.assign(routes_->plan.links.size(), false);
    if (config_.sends_notices()) {
        i.notices = std::make_unique<ub_notices>(*i.fabric, i.hardware.time, config_.ub, config_.faults, i.down, config_.has_bit_errors());
        i.fabric->set_fall_back_listener(i.notices.get());
        if (i.hosts != nullptr)
            i.notices->when_known([&i](std::uint32_t router, const ub_failed_part& part) {
                const auto rank = std::find(i.routers.begin(), i.routers.end(), router);
                if (part.device != ub_topology::k_none && rank != i.routers.end())
                    i.hosts->hears(static_cast<std::uint32_t>(rank - i.routers.begin()), part.device);
            });
    }
    if (config_.ub.transport == ub_transport::rtp) // nobody is unreachable whose first answer is still on its way
        i.fabric->set_patience(config_.loaded_round_trip_ps(topology));
    for (const ub_faulty_link& f : faulty) {
        const std::uint64_t at_ps = f.fault->at.value();
        if (f.fault->bit_error_rate)
            continue; // the fabric has been told when it was built
        if (f.fault->lanes) {
            for (const std::uint32_t l : {f.link, f.reverse})
                i.fabric->narrow_link_at(l, *f.fault->lanes, at_ps);
            continue;
        }
        for (const std::uint32_t l : {f.link, f.reverse})
            at_ps == 0 ? down_from_the_start(i, l) : i.fabric->fail_link_at(l, at_ps);
        if (f.fault->until)
            for (const std::uint32_t l : {f.link, f.reverse})
                i.fabric->restore_link_at(l, f.fault->until->value());
        if (at_ps != 0 || f.fault->until)
            expect(i, f.link, at_ps, f.fault->until ? f.fault->until->value() : k_never_ps, routes_->sources_over(f.link));
    }
    // A device that fails takes its links with it; one between two of them goes with the first.
    std::map<std::uint32_t, std::uint64_t> fails_at;
    const auto take_along = [&](const std::vector<std::uint32_t>& links, std::uint64_t at_ps) {
        for (const std::uint32_t l : links)
            if (const auto [known, is_new] = fails_at.try_emplace(l, at_ps); !is_new)
                known->second = std::min(known->second, at_ps);
    };
    const std::uint64_t interrupted_ps = number < interruptions_.size() ? interruptions_[number].at_ps : k_never_ps;
    for (const ub_npu_fault_config& f : config_.faults.npus) {
        const std::uint64_t at_ps = f.at.value();
        if (at_ps <= interrupted_ps)
            take_along(links_of(topology, topology.npu_router(*npu_by_name(config_.mesh, f.npu))), at_ps < interrupted_ps ? 0 : at_ps);
    }
    for (const ub_faulty_device& d : faulty_devices(config_, topology)) {
        const std::uint64_t at_ps = d.fault->at.value();
        if (d.interrupts && at_ps > interrupted_ps)
            continue;
        take_along(d.links, d.interrupts && at_ps < interrupted_ps ? 0 : at_ps);
        if (!d.interrupts && at_ps != 0)
            expect(i, ub_failed_part::of_device(d.router), at_ps, k_never_ps, routes_->sources_over(d.links));
        if (i.hosts != nullptr && i.hosts->is_host(d.router))
            i.hosts->device_fails(d.router, at_ps, at_ps == 0 ? 0 : hosts_know_ps(i, d));
    }
    for (const auto& [link, at_ps] : fails_at)
        at_ps == 0 ? down_from_the_start(i, link) : i.fabric->fail_link_at(link, at_ps);
}

/// Sources are going to be told, and give nobody up before they could have been.
void ub_machine::expect(incarnation& i, const ub_failed_part& part, std::uint64_t at_ps, std::uint64_t until_ps,
                        const std::vector<std::uint32_t>& affected)
{
    if (i.notices == nullptr)
        return;
    i.notices->expect(part, at_ps, until_ps, affected);
    if (at_ps != 0)
        i.fabric->set_patience(i.notices->times().patience_ps(part, config_.failures() + i.given_up.size()));
}

std::uint64_t ub_machine::hosts_know_ps(const incarnation& i, const ub_faulty_device& d) const
{
    if (i.notices == nullptr)
        return k_never_ps;
    return d.fault->at.value() +
           i.notices->times().patience_ps(ub_failed_part::of_device(d.router), config_.failures() + i.given_up.size());
}

std::vector<std::uint16_t> ub_machine::near_ranks(const std::vector<std::vector<std::uint32_t>>& groups,
                                                  const std::vector<abi::platform_table>& tables) const
{
    if (!routes_->all_paths)
        return {};
    std::vector<std::vector<std::uint32_t>> routers = groups;
    for (std::vector<std::uint32_t>& group : routers)
        for (std::uint32_t& rank : group)
            rank = now().routers[rank];
    return near_ranks_of(routes_->plan, routes_->down, routers, tables);
}

std::string ub_machine::chip_name(std::uint32_t rank) const
{
    const auto name_of_router = [this](std::uint32_t router) { return routes_->plan.routers[router].name; };
    const std::uint32_t npu = now().positions[rank];
    const std::uint32_t behind = now().routers[rank];
    return behind == npu ? name_of_router(npu)
                         : fmt::format("{} in place of {}", name_of_router(behind), name_of_router(npu));
}

std::uint64_t ub_machine::interrupted_at_ps() const
{
    return present_ < interruptions_.size() ? interruptions_[present_].at_ps : k_never_ps;
}

restart_plan ub_machine::restart()
{
    const std::vector<std::string>& npus = interruptions_.at(present_).npus;
    const std::size_t replaced_before = replaced_npus(now().config).size(), ranks_before = chips().size();
    ++present_;
    restart_plan plan;
    const std::uint64_t load_ps = config_.faults.checkpoint_load.value_or(duration(0)).value();
    plan.takes_ps = config_.faults.take_over.value() + load_ps;
    plan.loads = !config_.faults.checkpoint_load;
    plan.cause = fmt::format("{} failed", fmt::join(npus, " and "));
    const std::size_t replaced = replaced_npus(now().config).size();
    if (replaced > replaced_before)
        plan.remedy = replaced == replaced_before + 1 ? "the spare NPU of its rack had taken over" : "the spare NPUs of their racks had taken over";
    if (chips().size() != ranks_before)
        plan.remedy += fmt::format("{}the job was set up again on {} NPUs", plan.remedy.empty() ? "" : ", ", chips().size());
    if (load_ps != 0)
        plan.remedy += fmt::format(" and its checkpoint was loaded back in {}", to_string(duration(load_ps)));
    return plan;
}

std::vector<std::string> ub_machine::interruptions_to_come() const
{
    std::vector<std::string> all;
    for (std::size_t i = present_; i < interruptions_.size(); ++i)
        for (const std::string& npu : interruptions_[i].npus)
            all.push_back(fmt::format("{} fails at {}", npu, to_string(duration(interruptions_[i].at_ps))));
    return all;
}

/// Resends cost the rate that they take, and tell that a wait is shorter than the way. One lost acknowledgement may
/// stand for many.
std::vector<std::string> ub_machine::warnings() const
{
    const ub_fabric& ub = *now().fabric;
    std::vector<std::string> all;
    for (const ub_device_fault_config& f : config_.faults.devices)
        if (f.at.value() != 0 && !stands_in(config_, f))
            all.push_back(f.at.value() > now().hardware.time.now_ps()
                              ? fmt::format("faults: {} fails at {}, after the end of the run: the fault had no effect.", f.device, to_string(f.at))
                              : fmt::format("faults: {} failed at {}, and its links with it.", f.device, to_string(f.at)));
    const std::uint64_t resent = ub.sum(&ub_endpoint::resent);
    const std::uint64_t in_vain = ub.sum(&ub_endpoint::duplicates_dropped);
    const std::uint64_t lost = ub.engine().dropped() + ub.sum(&ub_endpoint::corrupted_dropped);
    if (in_vain <= lost * config_.ub.rtp_packets_per_ack)
        return all;
    all.push_back(fmt::format(
        "ub.rtp_timeout = {}: {} packets were sent again, {} of them although the first copy arrived, and {} "
        "were lost. Acknowledgements take longer than the timeout under this load; a longer one avoids it.",
        to_string(config_.ub.rtp_timeout), resent, in_vain, lost));
    return all;
}

bool ub_machine::tells_failure(const fabric_engine&, const link_failure& failure) const
{
    const std::uint32_t link = now().fabric->plan_link_of(failure.link);
    // Nobody sends again what it does not get; others take its part.
    const auto is_dead_host = [&](std::uint32_t router) {
        const ub_router_plan& r = routes_->plan.routers[router];
        return (r.device == ub_device::cpu || r.device == ub_device::nic) &&
               std::any_of(config_.faults.devices.begin(), config_.faults.devices.end(), [&](const ub_device_fault_config& f) { return f.device == r.name; });
    };
    if (link != fabric_engine::k_none && (is_dead_host(routes_->plan.links[link].from) || is_dead_host(routes_->plan.links[link].to)))
        return false;
    const bool told = failure.at_ps == 0 || of_failed_device(link); // of the device, in warnings()
    return (!told || failure.affected) && !taken_along(now(), link);
}

bool ub_machine::of_failed_device(std::uint32_t plan_link) const
{
    const ub_link_plan& l = routes_->plan.links[plan_link];
    return std::any_of(config_.faults.devices.begin(), config_.faults.devices.end(), [&](const ub_device_fault_config& f) {
        return f.device == routes_->plan.routers[l.from].name || f.device == routes_->plan.routers[l.to].name;
    });
}

bool ub_machine::taken_along(const incarnation& i, std::uint32_t plan_link) const
{
    if (i.number >= interruptions_.size())
        return false;
    const ub_link_plan& l = routes_->plan.links[plan_link];
    const std::vector<std::string>& npus = interruptions_[i.number].npus;
    return std::any_of(npus.begin(), npus.end(), [&](const std::string& npu) {
        return npu == routes_->plan.routers[l.from].name || npu == routes_->plan.routers[l.to].name;
    });
}

void ub_machine::link_fails(incarnation& i, std::uint32_t link, std::uint64_t now_ps)
{
    const std::uint32_t l = i.fabric->plan_link_of(link);
    if (l == fabric_engine::k_none)
        return;
    if (is_given_up(i, l))
        give_up(i, l, now_ps);
    if (i.notices != nullptr)
        i.notices->link_down(l);
}

void ub_machine::link_works_again(incarnation& i, std::uint32_t link)
{
    if (const std::uint32_t l = i.fabric->plan_link_of(link); l != fabric_engine::k_none && i.notices != nullptr)
        i.notices->link_up(l);
}

/// By its bit errors: it was not planned, and is no consequence of what was.
bool ub_machine::is_given_up(const incarnation& i, std::uint32_t plan_link) const
{
    const ub_topology& topology = *routes_->topology;
    if (i.down[plan_link] || taken_along(i, plan_link) || of_failed_device(plan_link))
        return false;
    for (const ub_faulty_link& f : faulty_links(config_, topology))
        if (f.fault->goes_down() && (f.link == plan_link || f.reverse == plan_link))
            return false;
    // With its way back.
    return std::find(i.given_up.begin(), i.given_up.end(), topology.reverse_of(plan_link)) == i.given_up.end();
}

/// A link that its bit errors have brought down is a failure like any other: both directions end, and sources are told.
void ub_machine::give_up(incarnation& i, std::uint32_t plan_link, std::uint64_t now_ps)
{
    const std::uint32_t reverse = routes_->topology->reverse_of(plan_link);
    i.given_up.push_back(plan_link);
    i.fabric->fail_link_at(reverse, now_ps);
    std::vector<std::uint32_t> affected = routes_->sources_over(plan_link);
    if (i.notices != nullptr) {
        const std::vector<std::uint32_t> fallen_back = i.notices->users_of(plan_link);
        affected.insert(affected.end(), fallen_back.begin(), fallen_back.end());
        std::sort(affected.begin(), affected.end());
        affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
    }
    expect(i, plan_link, now_ps, k_never_ps, affected);
}

/// What is left on the timeline then are credits, timers that nobody needs, and faults to come.
bool ub_machine::at_rest()
{
    const incarnation& i = now();
    return i.fabric->idle() && (i.hosts == nullptr || i.hosts->idle()) &&
           std::all_of(chips().begin(), chips().end(), [](const chip* c) { return c->dma.idle(); }) &&
           std::all_of(i.ccus.begin(), i.ccus.end(), [](const ccu* c) { return c->idle(); });
}

std::vector<timeline*> ub_machine::timelines()
{
    std::vector<timeline*> all;
    for (const auto& i : incarnations_)
        all.push_back(&i->hardware.time);
    return all;
}

} // namespace weft
