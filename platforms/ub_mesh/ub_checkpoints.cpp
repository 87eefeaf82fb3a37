// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints and loads: which message goes by which NIC, what has arrived, what limits it.
#include "hw/ub/ub_link.h"
#include "platforms/ub_mesh/ub_checkpoints.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

ub_checkpoints::ub_checkpoints(ub_host_devices& devices, std::function<void()> give_up_all) : devices_(devices), give_up_all_(std::move(give_up_all))
{
    const auto leads_to_hosts = [](ub_channel c) {
        return c == ub_channel::up || c == ub_channel::down || c == ub_channel::spine_up || c == ub_channel::spine_down || c == ub_channel::side_up ||
               c == ub_channel::side_down;
    };
    for (std::uint32_t l = 0; l < devices_.topology.plan().links.size(); ++l)
        if (leads_to_hosts(devices_.topology.plan().links[l].channel))
            watched_links_.push_back(l);
}

void ub_checkpoints::begin(std::uint32_t number, bool load, std::uint64_t after_ps)
{
    result_ = {};
    result_.number = number;
    result_.load = load;
    failure_.clear();
    busy_ = true;
    pieces_.clear();
    piece_of_.clear();
    left_ = 0;
    start_at_ps_ = devices_.time.now_ps() + after_ps;
    if (!load)
        fill_states();
    if (after_ps == 0)
        return start();
    devices_.schedule(start_at_ps_, number, ub_host_devices::k_start);
}

/// The state as of now, of which chips write a copy.
void ub_checkpoints::fill_states()
{
    if (devices_.npu_view.carry_data)
        for (const ub_host_devices::npu& n : devices_.npus)
            write_contents(n.mover->memory(), devices_.host_offset, devices_.config.run.host->checkpoint->state.value(),
                           host_state_key(devices_.config.run.seed, n.position, result_.number), 0);
}

void ub_checkpoints::start()
{
    if (!busy_ || devices_.time.now_ps() != start_at_ps_)
        return; // of one that was given up
    const checkpoint_config& c = *devices_.config.run.host->checkpoint;
    result_.start_ps = devices_.time.now_ps();
    result_.checked = devices_.npu_view.carry_data;
    note_use();
    find_bound();
    left_ = c.messages() * devices_.npus.size();
    pieces_.reserve(left_);
    for (std::uint32_t i = 0; i < c.messages(); ++i) // all NPUs begin at once
        for (std::uint32_t rank = 0; rank < devices_.npus.size(); ++rank) {
            pieces_.push_back({rank, i, nic_for(devices_.npus[rank], i), ub_host_devices::k_none});
            result_.bytes += bytes_of(pieces_.back());
            if (pieces_.back().nic == ub_host_devices::k_none)
                return end(fmt::format("{} reaches no NIC of its rack any more", devices_.fabric.endpoint_name(rank)));
        }
    for (piece& p : pieces_)
        post(p);
}

std::uint64_t ub_checkpoints::bytes_of(const piece& p) const
{
    const checkpoint_config& c = *devices_.config.run.host->checkpoint;
    return std::min(c.message.value(), c.state.value() - p.index * c.message.value());
}

/// In the storage.
std::uint64_t ub_checkpoints::offset_of(const piece& p) const
{
    const checkpoint_config& c = *devices_.config.run.host->checkpoint;
    return (result_.load ? devices_.store.base_of_last() : devices_.store.base_of_next()) + devices_.npus[p.rank].position * c.state.value() +
           p.index * c.message.value();
}

/// Counted among those that work and that the NPU reaches.
std::uint32_t ub_checkpoints::nic_for(const ub_host_devices::npu& n, std::uint32_t message) const
{
    const auto works = [&](std::uint32_t j) { return !devices_.nics[n.rack * devices_.nics_per_rack + j].failed && !n.avoids[j]; };
    std::uint32_t working = 0;
    for (std::uint32_t j = 0; j < devices_.nics_per_rack; ++j)
        working += works(j) ? 1 : 0;
    if (working == 0)
        return ub_host_devices::k_none;
    std::uint32_t turn = (n.in_rack + (devices_.config.run.host->checkpoint->nics == nic_choice::all ? message : 0)) % working;
    std::uint32_t j = 0;
    for (; !works(j) || turn != 0; ++j)
        turn -= works(j) ? 1 : 0;
    return n.rack * devices_.nics_per_rack + j;
}

void ub_checkpoints::post(piece& p)
{
    const checkpoint_config& c = *devices_.config.run.host->checkpoint;
    p.number = devices_.next_number++;
    piece_of_[p.number] = static_cast<std::uint32_t>(&p - pieces_.data());
    const std::uint64_t at_npu = devices_.host_offset + p.index * c.message.value(), in_storage = offset_of(p);
    bulk_message m;
    m.number = p.number;
    m.bytes = bytes_of(p);
    m.peer = result_.load ? p.rank : devices_.first_nic + p.nic;
    m.source_offset = result_.load ? in_storage : at_npu;
    m.destination_offset = result_.load ? at_npu : in_storage;
    m.port = result_.load ? 0 : p.index % devices_.npu_view.ports;
    (result_.load ? *devices_.nics[p.nic].mover : *devices_.npus[p.rank].mover).post(m);
}

/// False: there is none, and all has ended.
bool ub_checkpoints::send_by_another(piece& p)
{
    piece_of_.erase(p.number);
    const ub_host_devices::npu& n = devices_.npus[p.rank];
    p.nic = nic_for(n, p.index);
    if (p.nic == ub_host_devices::k_none) {
        std::string failed;
        for (std::uint32_t j = 0; j < devices_.nics_per_rack; ++j)
            failed += (failed.empty() ? "" : ", ") + devices_.topology.plan().routers[devices_.topology.nic_router(n.rack, j)].name;
        end(fmt::format("{} reaches no NIC of its rack any more: {} have failed, or no way leads there",
                        devices_.fabric.endpoint_name(p.rank), failed));
        return false;
    }
    ++result_.resent;
    post(p);
    return true;
}

bool ub_checkpoints::arrived(std::uint32_t number)
{
    const auto p = piece_of_.find(number);
    if (p == piece_of_.end())
        return false;
    piece& arrives = pieces_[p->second];
    piece_of_.erase(p);
    // Else its buffer is lost with it, and the message is sent again.
    if (result_.load || devices_.time.now_ps() < devices_.nics[arrives.nic].fails_ps)
        take(arrives);
    return true;
}

void ub_checkpoints::send_by_others(std::uint32_t lost, std::optional<std::uint32_t> rank)
{
    for (piece& p : pieces_)
        if (busy_ && p.number != ub_host_devices::k_none && p.nic == lost && (!rank || p.rank == *rank) && !send_by_another(p))
            return;
}

void ub_checkpoints::take(piece& p)
{
    p.number = ub_host_devices::k_none;
    if (devices_.npu_view.carry_data)
        check(p);
    if (--left_ != 0)
        return;
    if (!result_.load)
        devices_.store.complete(result_.number);
    end("");
}

void ub_checkpoints::check(const piece& p)
{
    const std::uint64_t begins = p.index * devices_.config.run.host->checkpoint->message.value();
    const std::uint64_t at = result_.load ? devices_.host_offset + begins : offset_of(p);
    const memory_if& memory = result_.load ? devices_.npus[p.rank].mover->memory() : static_cast<const memory_if&>(devices_.store);
    const std::uint64_t key = host_state_key(devices_.config.run.seed, devices_.npus[p.rank].position, result_.number);
    const found_contents found = contents_of(memory, at, bytes_of(p), key, begins / 8);
    result_.wrong_bytes += found.wrong_bytes;
    result_.checksum += found.checksum ^ key;
}

void ub_checkpoints::end(std::string failure)
{
    busy_ = false;
    failure_ = std::move(failure);
    result_.time_ps = devices_.time.now_ps() - result_.start_ps;
    find_busiest();
    if (!failure_.empty())
        give_up_all_();
    devices_.time.notify_at(done_, devices_.time.now_ps());
}

void ub_checkpoints::give_up()
{
    busy_ = false;
    piece_of_.clear();
}

/// One that has not begun; bytes on their way through the DCN; rtp: packets that their controllers will send again or
/// give up.
bool ub_checkpoints::expects_more() const
{
    const std::uint64_t now = devices_.time.now_ps();
    return (busy_ && start_at_ps_ > now) || std::any_of(devices_.nics.begin(), devices_.nics.end(), [=](const ub_host_devices::nic& n) { return n.dcn->in_place_ps() > now; }) ||
           awaits_controllers();
}

bool ub_checkpoints::awaits_controllers() const
{
    for (std::uint32_t rank = 0; rank < devices_.npus.size(); ++rank)
        if (devices_.fabric.endpoint(rank).awaits_any_from(devices_.first_nic))
            return true;
    for (std::uint32_t e = devices_.first_nic; e < devices_.end; ++e)
        if (devices_.fabric.endpoint(e).awaits_any_from(0))
            return true;
    return false;
}

std::uint64_t ub_checkpoints::moved() const
{
    std::uint64_t moved = pieces_.size() - left_;
    for (const ub_host_devices::nic& n : devices_.nics)
        moved += n.mover->bytes_sent.value() + n.mover->bytes_received.value();
    return moved;
}

std::string ub_checkpoints::progress() const
{
    if (!busy_)
        return "";
    const piece* first = nullptr;
    for (const piece& p : pieces_)
        if (p.number != ub_host_devices::k_none && first == nullptr)
            first = &p;
    if (first == nullptr)
        return fmt::format("{} {} has not begun", result_.load ? "the load of checkpoint" : "checkpoint",
                           result_.number);
    const std::string &chip_name = devices_.fabric.endpoint_name(first->rank),
                      &nic_name = devices_.topology.plan().routers[devices_.first_nic + first->nic].name;
    return fmt::format("{} {}: {} of {} messages have not arrived, the first one from {} to {}",
                       result_.load ? "the load of checkpoint" : "checkpoint", result_.number, left_, pieces_.size(),
                       result_.load ? nic_name : chip_name, result_.load ? chip_name : nic_name);
}

// ---- what limits it

void ub_checkpoints::find_bound()
{
    const checkpoint_config& c = *devices_.config.run.host->checkpoint;
    const packet_format format = devices_.config.ub.format();
    const double state = static_cast<double>(c.state.value());
    const std::uint64_t last = c.state.value() - (c.messages() - 1) * c.message.value();
    const double wire =
        static_cast<double>((c.messages() - 1) * format.wire_bytes(c.message.value()) + format.wire_bytes(last));
    const auto us = [](double bytes, double bits_per_s) { return bytes * 8e6 / bits_per_s; };
    const auto lanes_out = [&](std::uint32_t router, ub_channel way) {
        std::uint32_t lanes = 0;
        for (std::uint32_t port = 0; port < devices_.topology.ports(router); ++port)
            if (const std::uint32_t l = devices_.topology.out_link(router, port);
                l != ub_topology::k_none && devices_.topology.plan().links[l].channel == way)
                lanes += devices_.topology.plan().links[l].lanes;
        return lanes;
    };
    const auto lanes_to_switches_of = [&](std::uint32_t router) {
        std::uint32_t lanes = 0;
        for (std::uint32_t port = 0; port < devices_.topology.ports(router); ++port) {
            const std::uint32_t out = devices_.topology.out_link(router, port);
            const std::uint32_t lrs = out == ub_topology::k_none ? router : devices_.topology.plan().links[out].to;
            for (std::uint32_t p = 0; lrs != router && p < devices_.topology.ports(lrs); ++p)
                if (const std::uint32_t in = devices_.topology.in_link(lrs, p); in != ub_topology::k_none)
                    if (const ub_link_plan& l = devices_.topology.plan().links[in];
                        l.channel == ub_channel::up || l.channel == ub_channel::spine_up)
                        lanes += l.lanes;
        }
        return lanes;
    };
    const std::vector<std::uint32_t> replaced = replaced_npus(devices_.config);
    const auto longest = [&](double at_us, const char* resource) {
        if (at_us > result_.bound_us) {
            result_.bound_us = at_us;
            result_.bound_by = resource;
        }
    };
    longest(us(state, static_cast<double>(devices_.config.npu.hbm.rate.value())), "HBM");
    if (const std::uint32_t lanes = lanes_out(devices_.topology.npu_router(0), ub_channel::up); lanes != 0)
        longest(us(wire, static_cast<double>(devices_.config.ub.link_rate(lanes).value())), "links of NPUs to LRS");
    for (std::uint32_t rack = 0; rack < devices_.config.mesh.racks(); ++rack) {
        double npus = 0, nics = 0;
        for (const ub_host_devices::npu& n : devices_.npus)
            npus += n.rack == rack ? 1 : 0;
        for (std::uint32_t j = 0; j < devices_.nics_per_rack; ++j)
            nics += devices_.nics[rack * devices_.nics_per_rack + j].failed ? 0 : 1;
        if (nics == 0)
            continue;
        longest(us(npus * state / nics, static_cast<double>(devices_.config.nic.rate.value())), "DCN of NICs");
        if (const std::uint32_t lanes = lanes_out(devices_.topology.nic_router(rack, 0), ub_channel::side_up); lanes != 0)
            longest(us(npus * wire / nics, static_cast<double>(devices_.config.ub.link_rate(lanes).value())), "links of NICs");
        // All of it crosses the links from NPUs and leaves into the switches of a NIC, but for what a spare NPU sends,
        // which stands at switches itself.
        const double behind =
            npus - static_cast<double>(std::count_if(replaced.begin(), replaced.end(), [&](std::uint32_t position) {
                return position / devices_.config.mesh.npus_per_rack() == rack;
            }));
        for (std::uint32_t j = 0; j < devices_.nics_per_rack; ++j)
            if (const std::uint32_t lanes = lanes_to_switches_of(devices_.topology.nic_router(rack, j));
                lanes != 0 && !devices_.nics[rack * devices_.nics_per_rack + j].failed)
                longest(us(behind * wire / nics, static_cast<double>(devices_.config.ub.link_rate(lanes).value())),
                        "links to the LRS of NICs");
        // A load reads as many packets ahead as the buffer holds, and each comes after the latency of the DCN.
        if (result_.load)
            longest(npus * state / nics /
                        static_cast<double>(devices_.config.nic_read_ahead() * devices_.config.ub.max_payload.value()) *
                        static_cast<double>(devices_.config.nic.latency.value()) / 1e6,
                    "buffers of NICs");
    }
}

void ub_checkpoints::note_use()
{
    used_ps_.clear();
    for (const std::uint32_t l : watched_links_)
        used_ps_.push_back(devices_.fabric.engine().link_busy_ps(devices_.fabric.link_of(l)));
    for (const ub_host_devices::nic& n : devices_.nics)
        used_ps_.push_back(n.dcn->busy_ps());
    for (const ub_host_devices::npu& n : devices_.npus)
        if (const auto* memory = dynamic_cast<const hbm*>(&n.mover->memory()))
            used_ps_.push_back(memory->busy_time.value());
}

void ub_checkpoints::find_busiest()
{
    if (result_.time_ps == 0 || used_ps_.empty())
        return;
    std::size_t at = 0;
    const auto consider = [&](std::uint64_t busy_ps, auto&& name) {
        const double share = static_cast<double>(busy_ps - used_ps_[at++]) / static_cast<double>(result_.time_ps);
        if (share > result_.busiest_share) {
            result_.busiest_share = share;
            result_.busiest = name();
        }
    };
    for (const std::uint32_t l : watched_links_)
        consider(devices_.fabric.engine().link_busy_ps(devices_.fabric.link_of(l)),
                 [&] { return "link " + devices_.fabric.engine().link_name(devices_.fabric.link_of(l)); });
    for (const ub_host_devices::nic& n : devices_.nics)
        consider(n.dcn->busy_ps(), [&] { return "DCN of " + n.dcn->name(); });
    for (std::uint32_t rank = 0; rank < devices_.npus.size(); ++rank)
        if (const auto* memory = dynamic_cast<const hbm*>(&devices_.npus[rank].mover->memory()))
            consider(memory->busy_time.value(), [&] { return "HBM of " + devices_.fabric.endpoint_name(rank); });
    result_.busiest_share = std::min(result_.busiest_share, 1.0); // what was promised before the end may lie behind it
}

} // namespace weft
