// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints and loads: which message goes by which NIC, what has arrived, what limits it.
#include "hw/ub/ub_link.h"
#include "platforms/ub_mesh/ub_hosts.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

void ub_hosts::begin_checkpoint(std::uint32_t number, std::uint64_t after_ps) { begin(number, false, after_ps); }

void ub_hosts::begin_load(std::uint32_t number) { begin(number, true, 0); }

void ub_hosts::begin(std::uint32_t number, bool load, std::uint64_t after_ps)
{
    result_ = {};
    result_.number = number;
    result_.load = load;
    failure_.clear();
    busy_ = true;
    pieces_.clear();
    piece_of_.clear();
    left_ = 0;
    start_at_ps_ = time_.now_ps() + after_ps;
    if (!load)
        fill_states();
    if (after_ps == 0)
        return start();
    schedule(start_at_ps_, number, k_start);
}

/// The state as of now, of which chips write a copy.
void ub_hosts::fill_states()
{
    if (npu_view_.carry_data)
        for (const npu& n : npus_)
            write_contents(n.mover->memory(), host_offset_, config_.run.host->checkpoint->state.value(),
                           host_state_key(config_.run.seed, n.position, result_.number), 0);
}

void ub_hosts::start()
{
    if (!busy_ || time_.now_ps() != start_at_ps_)
        return; // of one that was given up
    const checkpoint_config& c = *config_.run.host->checkpoint;
    result_.start_ps = time_.now_ps();
    result_.checked = npu_view_.carry_data;
    note_use();
    find_bound();
    left_ = c.messages() * npus_.size();
    pieces_.reserve(left_);
    for (std::uint32_t i = 0; i < c.messages(); ++i) // all NPUs begin at once
        for (std::uint32_t rank = 0; rank < npus_.size(); ++rank) {
            pieces_.push_back({rank, i, nic_for(npus_[rank], i), k_none});
            result_.bytes += bytes_of(pieces_.back());
            if (pieces_.back().nic == k_none)
                return end(fmt::format("{} reaches no NIC of its rack any more", fabric_.endpoint_name(rank)));
        }
    for (piece& p : pieces_)
        post(p);
}

std::uint64_t ub_hosts::bytes_of(const piece& p) const
{
    const checkpoint_config& c = *config_.run.host->checkpoint;
    return std::min(c.message.value(), c.state.value() - p.index * c.message.value());
}

/// In the storage.
std::uint64_t ub_hosts::offset_of(const piece& p) const
{
    const checkpoint_config& c = *config_.run.host->checkpoint;
    return (result_.load ? store_.base_of_last() : store_.base_of_next()) + npus_[p.rank].position * c.state.value() +
           p.index * c.message.value();
}

/// Counted among those that work and that the NPU reaches.
std::uint32_t ub_hosts::nic_for(const npu& n, std::uint32_t message) const
{
    const auto works = [&](std::uint32_t j) { return !nics_[n.rack * nics_per_rack_ + j].failed && !n.avoids[j]; };
    std::uint32_t working = 0;
    for (std::uint32_t j = 0; j < nics_per_rack_; ++j)
        working += works(j) ? 1 : 0;
    if (working == 0)
        return k_none;
    std::uint32_t turn = (n.in_rack + (config_.run.host->checkpoint->nics == nic_choice::all ? message : 0)) % working;
    std::uint32_t j = 0;
    for (; !works(j) || turn != 0; ++j)
        turn -= works(j) ? 1 : 0;
    return n.rack * nics_per_rack_ + j;
}

void ub_hosts::post(piece& p)
{
    const checkpoint_config& c = *config_.run.host->checkpoint;
    p.number = next_number_++;
    piece_of_[p.number] = static_cast<std::uint32_t>(&p - pieces_.data());
    const std::uint64_t at_npu = host_offset_ + p.index * c.message.value(), in_storage = offset_of(p);
    bulk_message m;
    m.number = p.number;
    m.bytes = bytes_of(p);
    m.peer = result_.load ? p.rank : first_nic_ + p.nic;
    m.source_offset = result_.load ? in_storage : at_npu;
    m.destination_offset = result_.load ? at_npu : in_storage;
    m.port = result_.load ? 0 : p.index % npu_view_.ports;
    (result_.load ? *nics_[p.nic].mover : *npus_[p.rank].mover).post(m);
}

/// False: there is none, and all has ended.
bool ub_hosts::send_by_another(piece& p)
{
    piece_of_.erase(p.number);
    const npu& n = npus_[p.rank];
    p.nic = nic_for(n, p.index);
    if (p.nic == k_none) {
        std::string failed;
        for (std::uint32_t j = 0; j < nics_per_rack_; ++j)
            failed += (failed.empty() ? "" : ", ") + topology_.plan().routers[topology_.nic_router(n.rack, j)].name;
        end(fmt::format("{} reaches no NIC of its rack any more: {} have failed, or no way leads there",
                        fabric_.endpoint_name(p.rank), failed));
        return false;
    }
    ++result_.resent;
    post(p);
    return true;
}

void ub_hosts::arrived(piece& p)
{
    p.number = k_none;
    if (npu_view_.carry_data)
        check(p);
    if (--left_ != 0)
        return;
    if (!result_.load)
        store_.complete(result_.number);
    end("");
}

void ub_hosts::check(const piece& p)
{
    const std::uint64_t begins = p.index * config_.run.host->checkpoint->message.value();
    const std::uint64_t at = result_.load ? host_offset_ + begins : offset_of(p);
    const memory_if& memory = result_.load ? npus_[p.rank].mover->memory() : static_cast<const memory_if&>(store_);
    const std::uint64_t key = host_state_key(config_.run.seed, npus_[p.rank].position, result_.number);
    const found_contents found = contents_of(memory, at, bytes_of(p), key, begins / 8);
    result_.wrong_bytes += found.wrong_bytes;
    result_.checksum += found.checksum ^ key;
}

void ub_hosts::end(std::string failure)
{
    busy_ = false;
    failure_ = std::move(failure);
    result_.time_ps = time_.now_ps() - result_.start_ps;
    find_busiest();
    if (!failure_.empty())
        give_up();
    time_.notify_at(done_, time_.now_ps());
}

void ub_hosts::give_up()
{
    end_traffic();
    busy_ = false;
    piece_of_.clear();
    for (npu& n : npus_)
        n.mover->drop_queue();
    for (cpu& c : cpus_)
        c.mover->drop_queue();
    for (nic& n : nics_)
        n.mover->drop_queue();
}

/// A failure that has happened, and that nobody knows of yet; a checkpoint that has not begun; bytes on their way
/// through the DCN; rtp: packets that their controllers will send again or give up.
bool ub_hosts::expects_more() const
{
    const std::uint64_t now = time_.now_ps();
    return (busy_ && start_at_ps_ > now) ||
           std::any_of(nics_.begin(), nics_.end(), [=](const nic& n) { return n.dcn->in_place_ps() > now; }) ||
           std::any_of(failures_.begin(), failures_.end(), [=](const failure_to_come& f) {
               return f.at_ps <= now && now <= f.known_ps && f.known_ps != k_never_ps;
           }) ||
           awaits_controllers();
}

bool ub_hosts::awaits_controllers() const
{
    for (std::uint32_t rank = 0; rank < npus_.size(); ++rank)
        if (fabric_.endpoint(rank).awaits_any_from(first_nic_))
            return true;
    for (std::uint32_t e = first_nic_; e < end_; ++e)
        if (fabric_.endpoint(e).awaits_any_from(0))
            return true;
    return false;
}

std::uint64_t ub_hosts::moved() const
{
    std::uint64_t moved = pieces_.size() - left_;
    for (const nic& n : nics_)
        moved += n.mover->bytes_sent.value() + n.mover->bytes_received.value();
    return moved;
}

std::string ub_hosts::progress() const
{
    if (!busy_)
        return "";
    const piece* first = nullptr;
    for (const piece& p : pieces_)
        if (p.number != k_none && first == nullptr)
            first = &p;
    if (first == nullptr)
        return fmt::format("{} {} has not begun", result_.load ? "the load of checkpoint" : "checkpoint",
                           result_.number);
    const std::string &chip_name = fabric_.endpoint_name(first->rank),
                      &nic_name = topology_.plan().routers[first_nic_ + first->nic].name;
    return fmt::format("{} {}: {} of {} messages have not arrived, the first one from {} to {}",
                       result_.load ? "the load of checkpoint" : "checkpoint", result_.number, left_, pieces_.size(),
                       result_.load ? nic_name : chip_name, result_.load ? chip_name : nic_name);
}

// ---- what limits it

void ub_hosts::find_bound()
{
    const checkpoint_config& c = *config_.run.host->checkpoint;
    const packet_format format = config_.ub.format();
    const double state = static_cast<double>(c.state.value());
    const std::uint64_t last = c.state.value() - (c.messages() - 1) * c.message.value();
    const double wire =
        static_cast<double>((c.messages() - 1) * format.wire_bytes(c.message.value()) + format.wire_bytes(last));
    const auto us = [](double bytes, double bits_per_s) { return bytes * 8e6 / bits_per_s; };
    const auto lanes_out = [&](std::uint32_t router, ub_channel way) {
        std::uint32_t lanes = 0;
        for (std::uint32_t port = 0; port < topology_.ports(router); ++port)
            if (const std::uint32_t l = topology_.out_link(router, port);
                l != ub_topology::k_none && topology_.plan().links[l].channel == way)
                lanes += topology_.plan().links[l].lanes;
        return lanes;
    };
    const auto lanes_to_switches_of = [&](std::uint32_t router) {
        std::uint32_t lanes = 0;
        for (std::uint32_t port = 0; port < topology_.ports(router); ++port) {
            const std::uint32_t out = topology_.out_link(router, port);
            const std::uint32_t lrs = out == ub_topology::k_none ? router : topology_.plan().links[out].to;
            for (std::uint32_t p = 0; lrs != router && p < topology_.ports(lrs); ++p)
                if (const std::uint32_t in = topology_.in_link(lrs, p); in != ub_topology::k_none)
                    if (const ub_link_plan& l = topology_.plan().links[in];
                        l.channel == ub_channel::up || l.channel == ub_channel::spine_up)
                        lanes += l.lanes;
        }
        return lanes;
    };
    const std::vector<std::uint32_t> replaced = replaced_npus(config_);
    const auto longest = [&](double at_us, const char* resource) {
        if (at_us > result_.bound_us) {
            result_.bound_us = at_us;
            result_.bound_by = resource;
        }
    };
    longest(us(state, static_cast<double>(config_.npu.hbm.rate.value())), "HBM");
    if (const std::uint32_t lanes = lanes_out(topology_.npu_router(0), ub_channel::up); lanes != 0)
        longest(us(wire, static_cast<double>(config_.ub.link_rate(lanes).value())), "links of NPUs to LRS");
    for (std::uint32_t rack = 0; rack < config_.mesh.racks(); ++rack) {
        double npus = 0, nics = 0;
        for (const npu& n : npus_)
            npus += n.rack == rack ? 1 : 0;
        for (std::uint32_t j = 0; j < nics_per_rack_; ++j)
            nics += nics_[rack * nics_per_rack_ + j].failed ? 0 : 1;
        if (nics == 0)
            continue;
        longest(us(npus * state / nics, static_cast<double>(config_.nic.rate.value())), "DCN of NICs");
        if (const std::uint32_t lanes = lanes_out(topology_.nic_router(rack, 0), ub_channel::side_up); lanes != 0)
            longest(us(npus * wire / nics, static_cast<double>(config_.ub.link_rate(lanes).value())), "links of NICs");
        // All of it crosses the links from NPUs and leaves into the switches of a NIC, but for what a spare NPU sends,
        // which stands at switches itself.
        const double behind =
            npus - static_cast<double>(std::count_if(replaced.begin(), replaced.end(), [&](std::uint32_t position) {
                return position / config_.mesh.npus_per_rack() == rack;
            }));
        for (std::uint32_t j = 0; j < nics_per_rack_; ++j)
            if (const std::uint32_t lanes = lanes_to_switches_of(topology_.nic_router(rack, j));
                lanes != 0 && !nics_[rack * nics_per_rack_ + j].failed)
                longest(us(behind * wire / nics, static_cast<double>(config_.ub.link_rate(lanes).value())),
                        "links to the LRS of NICs");
        // A load reads as many packets ahead as the buffer holds, and each comes after the latency of the DCN.
        if (result_.load)
            longest(npus * state / nics /
                        static_cast<double>(config_.nic_read_ahead() * config_.ub.max_payload.value()) *
                        static_cast<double>(config_.nic.latency.value()) / 1e6,
                    "buffers of NICs");
    }
}

void ub_hosts::note_use()
{
    used_ps_.clear();
    for (const std::uint32_t l : watched_links_)
        used_ps_.push_back(fabric_.engine().link_busy_ps(fabric_.link_of(l)));
    for (const nic& n : nics_)
        used_ps_.push_back(n.dcn->busy_ps());
    for (const npu& n : npus_)
        if (const auto* memory = dynamic_cast<const hbm*>(&n.mover->memory()))
            used_ps_.push_back(memory->busy_time.value());
}

void ub_hosts::find_busiest()
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
        consider(fabric_.engine().link_busy_ps(fabric_.link_of(l)),
                 [&] { return "link " + fabric_.engine().link_name(fabric_.link_of(l)); });
    for (const nic& n : nics_)
        consider(n.dcn->busy_ps(), [&] { return "DCN of " + n.dcn->name(); });
    for (std::uint32_t rank = 0; rank < npus_.size(); ++rank)
        if (const auto* memory = dynamic_cast<const hbm*>(&npus_[rank].mover->memory()))
            consider(memory->busy_time.value(), [&] { return "HBM of " + fabric_.endpoint_name(rank); });
    result_.busiest_share = std::min(result_.busiest_share, 1.0); // what was promised before the end may lie behind it
}

} // namespace weft
