// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_hosts.h"

#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>

namespace weft {

ub_hosts::ub_hosts(timeline& time, packet_pool& pool, ub_fabric& fabric, const ub_topology& topology, const ub_mesh_config& config,
                   ub_checkpoint_store& store, const std::string& suffix)
    : devices_(time, pool, fabric, topology, config, store, suffix, *this, *this), streams_(devices_), checkpoints_(devices_, [this] { give_up(); })
{
    fabric.set_unreachable_listener(this);
    fabric.set_first_host(devices_.first_cpu);
    time.components().add(*this);
}

ub_hosts::~ub_hosts() = default;

void ub_hosts::reset(std::uint32_t)
{
    devices_.next_number = 0; // flows go as in the case before, and contents differ
    ++devices_.resets;
}

void ub_hosts::give_up()
{
    streams_.end();
    checkpoints_.give_up();
    devices_.drop_queues();
}

/// A failure that has happened, and that nobody knows of yet; what checkpoints expect.
bool ub_hosts::expects_more() const
{
    const std::uint64_t now = devices_.time.now_ps();
    return std::any_of(failures_.begin(), failures_.end(),
                       [=](const failure_to_come& f) { return f.at_ps <= now && now <= f.known_ps && f.known_ps != k_never_ps; }) ||
           checkpoints_.expects_more();
}

void ub_hosts::on_event(std::uint32_t a, std::uint8_t kind)
{
    switch (kind) {
    case ub_host_devices::k_due: return streams_.due(a);
    case ub_host_devices::k_start: return checkpoints_.start();
    case ub_host_devices::k_failed: return lose(failures_[a].router);
    default: {
        const auto [source, destination] = lost_pairs_.take(a);
        const bool to_host = is_host(destination);
        const std::uint32_t device = to_host ? destination : source, rank = to_host ? source : destination;
        if (!is_host(device) || rank >= devices_.npus.size())
            return;
        if (device < devices_.first_nic)
            return streams_.leave(device - devices_.first_cpu);
        const std::uint32_t lost = device - devices_.first_nic;
        devices_.npus[rank].avoids[lost % devices_.nics_per_rack] = true;
        devices_.npus[rank].mover->drop_queue_to(device);
        checkpoints_.send_by_others(lost, rank);
    }
    }
}

void ub_hosts::bulk_arrived(std::uint32_t number)
{
    if (!streams_.arrived(number))
        checkpoints_.arrived(number);
}

void ub_hosts::device_fails(std::uint32_t router, std::uint64_t at_ps, std::uint64_t known_ps)
{
    if (at_ps == 0)
        return lose(router);
    failures_.push_back({router, at_ps, known_ps});
    if (router >= devices_.first_nic)
        devices_.nics[router - devices_.first_nic].fails_ps = at_ps;
    if (known_ps != k_never_ps)
        devices_.schedule(known_ps, static_cast<std::uint32_t>(failures_.size() - 1), ub_host_devices::k_failed);
}

/// From a controller in the middle of its work: looked at when that is done.
void ub_hosts::unreachable(std::uint32_t source, std::uint32_t destination)
{
    devices_.schedule(devices_.time.now_ps(), lost_pairs_.add({source, destination}), ub_host_devices::k_unreachable);
}

void ub_hosts::lose(std::uint32_t router)
{
    if (router < devices_.first_nic) {
        devices_.cpus[router - devices_.first_cpu].failed = true;
        devices_.cpus[router - devices_.first_cpu].mover->drop_queue();
        return streams_.leave(router - devices_.first_cpu);
    }
    const std::uint32_t lost = router - devices_.first_nic;
    devices_.nics[lost].failed = true;
    devices_.nics[lost].mover->drop_queue();
    for (ub_host_devices::npu& n : devices_.npus)
        n.mover->drop_queue_to(router);
    checkpoints_.send_by_others(lost);
}

} // namespace weft
