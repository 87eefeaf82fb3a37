// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_host_streams.h"

#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <cmath>

namespace weft {

namespace {
/// From a message to the next one. Streams may be slower than any wire_rate.
std::uint64_t interval_ps(const host_stream_config& s)
{
    constexpr std::uint64_t ps_per_s = 1'000'000'000'000;
    const std::uint64_t bits = s.message.value() * 8, rate = s.rate.value();
    const double rest_s = static_cast<double>(bits % rate) / static_cast<double>(rate);
    return bits / rate * ps_per_s + static_cast<std::uint64_t>(std::llround(rest_s * ps_per_s));
}
} // namespace

ub_host_streams::ub_host_streams(ub_host_devices& devices) : devices_(devices)
{
    if (devices_.store.streams.empty())
        for (const host_stream_config& s : devices_.config.run.host->traffic) {
            host_stream_result r;
            r.name = s.name;
            r.direction = s.direction;
            r.asked_bps = s.rate.value() * devices_.config.ranks();
            r.checked = devices_.npu_view.carry_data;
            devices_.store.streams.push_back(std::move(r));
        }
}

void ub_host_streams::make_flows()
{
    for (std::uint32_t s = 0; s < devices_.config.run.host->traffic.size(); ++s)
        for (std::uint32_t rank = 0; rank < devices_.npus.size(); ++rank) {
            flow f{};
            f.stream = s;
            f.rank = rank;
            f.cpu = cpu_for(devices_.npus[rank]);
            flows_.push_back(f);
        }
}

/// Counted among those that work.
std::uint32_t ub_host_streams::cpu_for(const ub_host_devices::npu& n) const
{
    std::vector<std::uint32_t> working;
    for (std::uint32_t c = n.rack * devices_.cpus_per_rack; c < (n.rack + 1) * devices_.cpus_per_rack; ++c)
        if (!devices_.cpus[c].failed)
            working.push_back(c);
    return working.empty() ? ub_host_devices::k_none : working[n.in_rack % working.size()];
}

/// They are lost, and their slots are free.
template <class Which> void ub_host_streams::forget_messages(Which&& which)
{
    for (auto m = messages_.begin(); m != messages_.end();) {
        if (!which(m->second)) {
            ++m;
            continue;
        }
        --flows_[m->second.flow].outstanding;
        flows_[m->second.flow].slots_in_use &= ~(1u << m->second.slot);
        ++devices_.store.streams[flows_[m->second.flow].stream].lost;
        m = messages_.erase(m);
    }
}

void ub_host_streams::leave(std::uint32_t lost)
{
    for (std::uint32_t i = 0; i < flows_.size(); ++i) {
        flow& f = flows_[i];
        if (f.cpu != lost)
            continue;
        forget_messages([i](const message& m) { return m.flow == i; });
        devices_.npus[f.rank].mover->drop_queue_to(devices_.first_cpu + lost);
        devices_.cpus[lost].failed = true; // nobody of the rack tries it again
        f.cpu = cpu_for(devices_.npus[f.rank]);
        if (f.cpu != ub_host_devices::k_none && f.waits && on_)
            post(i);
    }
}

void ub_host_streams::begin()
{
    if (devices_.config.run.host->traffic.empty() || on_)
        return;
    if (flows_.empty())
        make_flows();
    forget_messages([](const message&) { return true; }); // all is at rest: what has not come never will
    on_ = true;
    on_since_ps_ = devices_.time.now_ps();
    for (std::uint32_t i = 0; i < flows_.size(); ++i) { // spread over the interval, so that not all come at once
        flow& f = flows_[i];
        const host_stream_config& s = devices_.config.run.host->traffic[f.stream];
        const std::uint64_t interval = interval_ps(s), n = flows_.size();
        f.due_ps = on_since_ps_ + interval / n * i + interval % n * i / n; // no product overflows
        devices_.schedule(f.due_ps, i, ub_host_devices::k_due);
    }
}

void ub_host_streams::end()
{
    if (!on_)
        return;
    on_ = false;
    for (flow& f : flows_) {
        f.due_ps = k_never_ps;
        f.waits = false;
    }
    for (host_stream_result& r : devices_.store.streams)
        r.active_ps += devices_.time.now_ps() - on_since_ps_;
}

std::vector<host_stream_result> ub_host_streams::results() const
{
    std::vector<host_stream_result> all = devices_.store.streams;
    for (const auto& [number, m] : messages_)
        ++all[flows_[m.flow].stream].lost;
    return all;
}

void ub_host_streams::due(std::uint32_t i)
{
    flow& f = flows_[i];
    if (!on_ || f.due_ps != devices_.time.now_ps())
        return; // of a time before
    if (f.cpu != ub_host_devices::k_none && f.outstanding < host_stream_config::k_outstanding)
        return post(i);
    f.waits = true;
    ++devices_.store.streams[f.stream].late;
}

/// The region of a message in the memory of its NPU or its CPU.
ub_host_streams::window ub_host_streams::slot_of(const flow& f, std::uint32_t slot, bool at_npu) const
{
    const std::uint64_t message = devices_.config.run.host->traffic[f.stream].message.value();
    std::uint64_t offset = at_npu ? devices_.host_offset + devices_.state_bytes()
                                  : devices_.npus[f.rank].in_rack * devices_.stream_bytes();
    for (std::uint32_t s = 0; s < f.stream; ++s)
        offset += host_stream_config::k_outstanding * devices_.config.run.host->traffic[s].message.value();
    return {offset + slot * message, message};
}

void ub_host_streams::post(std::uint32_t i)
{
    flow& f = flows_[i];
    const host_stream_config& s = devices_.config.run.host->traffic[f.stream];
    const bool to_npu = s.direction == host_direction::to_npus;
    const std::uint32_t number = devices_.next_number++;
    while ((f.slots_in_use >> f.next_slot & 1) != 0) // fewer are outstanding than there are
        f.next_slot = (f.next_slot + 1) % host_stream_config::k_outstanding;
    const std::uint32_t slot = f.next_slot;
    f.slots_in_use |= 1u << slot;
    f.next_slot = (slot + 1) % host_stream_config::k_outstanding;
    f.waits = false;
    ++f.outstanding;
    messages_[number] = {i, slot, f.due_ps};
    bulk_mover& sender = to_npu ? *devices_.cpus[f.cpu].mover : *devices_.npus[f.rank].mover;
    const window from = slot_of(f, slot, !to_npu), to = slot_of(f, slot, to_npu);
    if (devices_.npu_view.carry_data)
        write_contents(sender.memory(), from.offset, from.bytes, host_message_key(devices_.config.run.seed + devices_.resets, number), 0);
    bulk_message m;
    m.peer = to_npu ? f.rank : devices_.first_cpu + f.cpu;
    m.number = number;
    m.source_offset = from.offset;
    m.destination_offset = to.offset;
    m.bytes = from.bytes;
    m.port = to_npu ? 0 : slot % k_ub_dies;
    f.due_ps = std::max(f.due_ps + interval_ps(s), devices_.time.now_ps());
    devices_.schedule(f.due_ps, i, ub_host_devices::k_due);
    sender.post(m);
}

bool ub_host_streams::arrived(std::uint32_t number)
{
    const auto found = messages_.find(number);
    if (found == messages_.end())
        return false;
    const message m = found->second;
    messages_.erase(found);
    take(number, m);
    return true;
}

void ub_host_streams::take(std::uint32_t number, const message& m)
{
    flow& f = flows_[m.flow];
    const host_stream_config& s = devices_.config.run.host->traffic[f.stream];
    host_stream_result& r = devices_.store.streams[f.stream];
    --f.outstanding;
    f.slots_in_use &= ~(1u << m.slot);
    ++r.messages;
    const std::uint64_t latency_ps = devices_.time.now_ps() - m.due_ps;
    r.latency_sum_ps += latency_ps;
    r.latency_max_ps = std::max(r.latency_max_ps, latency_ps);
    if (on_)
        r.bytes += s.message.value();
    if (devices_.npu_view.carry_data) {
        const bool to_npu = s.direction == host_direction::to_npus;
        const window at = slot_of(f, m.slot, to_npu);
        const memory_if& memory = to_npu ? devices_.npus[f.rank].mover->memory() : devices_.cpus[f.cpu].mover->memory();
        r.wrong_bytes += contents_of(memory, at.offset, at.bytes, host_message_key(devices_.config.run.seed + devices_.resets, number), 0).wrong_bytes;
    }
    if (f.waits && on_ && f.cpu != ub_host_devices::k_none)
        post(m.flow);
}

} // namespace weft
