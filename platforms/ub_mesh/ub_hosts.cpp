// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// CPUs and NICs as they are built, streams, and devices that fail. Checkpoints: ub_checkpoints.cpp.
#include "platforms/ub_mesh/ub_hosts.h"

#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_page = 64 << 10; ///< capacities of memories are multiples of it

/// From a message to the next one. Streams may be slower than any wire_rate.
std::uint64_t interval_ps(const host_stream_config& s)
{
    constexpr std::uint64_t ps_per_s = 1'000'000'000'000;
    const std::uint64_t bits = s.message.value() * 8, rate = s.rate.value();
    const double rest_s = static_cast<double>(bits % rate) / static_cast<double>(rate);
    return bits / rate * ps_per_s + static_cast<std::uint64_t>(std::llround(rest_s * ps_per_s));
}
} // namespace

ub_cpu_memory::ub_cpu_memory(timeline& time, const ub_cpu_config& config, std::uint64_t capacity_bytes, const std::string& name)
    : stats(name), rate_(config.rate), latency_ps_(config.latency.value()), contents_(capacity_bytes)
{
    stats.add("bytes_read", "B", "Bytes read", bytes_read_);
    stats.add("bytes_written", "B", "Bytes written", bytes_written_);
    time.components().add(*this);
}

std::uint64_t ub_cpu_memory::charge(std::uint64_t at_ps, std::uint64_t, std::uint64_t bytes, access kind)
{
    busy_until_ps_ = std::max(busy_until_ps_, at_ps) + rate_.time_ps(bytes);
    (kind == access::read ? bytes_read_ : bytes_written_).add(bytes);
    return busy_until_ps_ + latency_ps_;
}

ub_hosts::ub_hosts(timeline& time, packet_pool& pool, ub_fabric& fabric, const ub_topology& topology, const ub_mesh_config& config,
                   ub_checkpoint_store& store, const std::string& suffix)
    : time_(time), fabric_(fabric), topology_(topology), config_(config), host_offset_(config.host_offset()), store_(store), actor_(time.register_actors(1)),
      first_cpu_(topology.cpu_router(0, 0)), first_nic_(topology.nic_router(0, 0)), end_(topology.endpoints()), cpus_per_rack_(topology.cpus_per_rack()),
      nics_per_rack_(topology.nics_per_rack()), pool_(pool)
{
    npu_view_.ports = k_ub_dies;
    npu_view_.vl_count = k_ub_vls;
    npu_view_.format = config.ub.format();
    npu_view_.port_rate = config.ub.local_port_rate;
    npu_view_.read_ahead = config.npu.dma.read_ahead;
    npu_view_.carry_data = config.run.data == data_mode::checked;
    add_devices(pool, suffix);
    fabric.set_unreachable_listener(this);
    fabric.set_first_host(first_cpu_);
    const auto leads_to_hosts = [](ub_channel c) {
        return c == ub_channel::up || c == ub_channel::down || c == ub_channel::spine_up || c == ub_channel::spine_down || c == ub_channel::side_up ||
               c == ub_channel::side_down;
    };
    for (std::uint32_t l = 0; l < topology.plan().links.size(); ++l)
        if (leads_to_hosts(topology.plan().links[l].channel))
            watched_links_.push_back(l);
    if (store_.streams.empty())
        for (const host_stream_config& s : config.run.host->traffic) {
            host_stream_result r;
            r.name = s.name;
            r.direction = s.direction;
            r.asked_bps = s.rate.value() * config.ranks();
            r.checked = npu_view_.carry_data;
            store_.streams.push_back(std::move(r));
        }
    time.components().add(*this);
}

ub_hosts::~ub_hosts() = default;

void ub_hosts::add_devices(packet_pool& pool, const std::string& suffix)
{
    const auto bind = [&](bulk_mover& m, std::uint32_t endpoint) {
        m.to_fabric(0).bind(fabric_.controller(endpoint).in);
        fabric_.controller(endpoint).out.bind(m.from_fabric(0));
    };
    const auto module_of = [&](const char* kind, std::uint32_t n) { return fmt::format("{}_{}{}", kind, n, suffix); };
    const std::uint32_t of_rack = config_.mesh.npus_per_rack();
    const std::uint64_t cpu_bytes = (of_rack * stream_bytes() + k_page - 1) / k_page * k_page;
    for (std::uint32_t e = first_cpu_; e < first_nic_; ++e) {
        cpu c;
        const std::string name = module_of("cpu", e - first_cpu_);
        c.memory = std::make_unique<ub_cpu_memory>(time_, config_.cpu, std::max(cpu_bytes, k_page), name + "_memory");
        bulk_mover_view view = npu_view_;
        view.ports = 1;
        view.receive_bytes = config_.npu.dma.receive_buffer.value();
        c.mover = std::make_unique<bulk_mover>(name.c_str(), time_, pool, view, *c.memory, static_cast<bulk_listener&>(*this), "cpu");
        bind(*c.mover, e);
        cpus_.push_back(std::move(c));
    }
    for (std::uint32_t e = first_nic_; e < end_; ++e) {
        nic n;
        const std::string name = module_of("nic", e - first_nic_);
        n.dcn = std::make_unique<dcn_port>(time_, config_.nic, store_, topology_.plan().routers[e].name);
        bulk_mover_view view = npu_view_;
        view.ports = 1;
        view.receive_bytes = config_.nic.buffer.value();
        view.read_ahead = static_cast<std::uint32_t>(config_.nic_read_ahead());
        n.mover = std::make_unique<bulk_mover>(name.c_str(), time_, pool, view, *n.dcn, static_cast<bulk_listener&>(*this), "nic");
        bind(*n.mover, e);
        nics_.push_back(std::move(n));
    }
}

std::uint64_t ub_hosts::state_bytes() const { return config_.run.host->checkpoint ? config_.run.host->checkpoint->state.value() : 0; }

std::uint64_t ub_hosts::stream_bytes() const { return config_.run.host->memory_bytes() - state_bytes(); }

void ub_hosts::reset(std::uint32_t)
{
    next_number_ = 0; // flows go as in the case before, and contents differ
    ++resets_;
}

void ub_hosts::add_npu(chip& c, std::uint32_t position, const std::string& name)
{
    npu n{position, position / config_.mesh.npus_per_rack(), position % config_.mesh.npus_per_rack(), nullptr, {}};
    n.avoids.assign(nics_per_rack_, false);
    n.mover = std::make_unique<bulk_mover>((name + "_bulk").c_str(), time_, pool_, npu_view_, c.memory, static_cast<bulk_listener&>(*this), "npu_bulk");
    npus_.push_back(std::move(n));
}

void ub_hosts::schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind)
{
    time_.schedule(at_ps, make_order(event_class::device, actor_, sequence_++), *this, a, kind);
}

void ub_hosts::on_event(std::uint32_t a, std::uint8_t kind)
{
    switch (kind) {
    case k_due: return due(a);
    case k_start: return start();
    case k_failed: return lose(failures_[a].router);
    default: {
        const auto [source, destination] = lost_pairs_.take(a);
        const bool to_host = is_host(destination);
        const std::uint32_t device = to_host ? destination : source, rank = to_host ? source : destination;
        if (!is_host(device) || rank >= npus_.size())
            return;
        if (device < first_nic_)
            return leave(device - first_cpu_);
        const std::uint32_t lost = device - first_nic_;
        npus_[rank].avoids[lost % nics_per_rack_] = true;
        npus_[rank].mover->drop_queue_to(device);
        send_by_others([&](const piece& p) { return p.rank == rank && p.nic == lost; });
    }
    }
}

/// What has not arrived, of those chosen, until there is no other way or all has ended.
template <class Which> void ub_hosts::send_by_others(Which&& which)
{
    for (piece& p : pieces_)
        if (busy_ && p.number != k_none && which(p) && !send_by_another(p))
            return;
}

bool ub_hosts::idle() const
{
    const auto all_idle = [](const auto& devices) { return std::all_of(devices.begin(), devices.end(), [](const auto& d) { return d.mover->idle(); }); };
    return all_idle(npus_) && all_idle(cpus_) && all_idle(nics_);
}

void ub_hosts::bulk_arrived(std::uint32_t number)
{
    if (const auto s = stream_messages_.find(number); s != stream_messages_.end()) {
        const stream_message m = s->second;
        stream_messages_.erase(s);
        return stream_arrived(number, m);
    }
    if (const auto p = piece_of_.find(number); p != piece_of_.end()) {
        piece& arrives = pieces_[p->second];
        piece_of_.erase(p);
        // Else its buffer is lost with it, and the message is sent again.
        if (result_.load || time_.now_ps() < nics_[arrives.nic].fails_ps)
            arrived(arrives);
    }
}

// ---- devices that fail

void ub_hosts::device_fails(std::uint32_t router, std::uint64_t at_ps, std::uint64_t known_ps)
{
    if (at_ps == 0)
        return lose(router);
    failures_.push_back({router, at_ps, known_ps});
    if (router >= first_nic_)
        nics_[router - first_nic_].fails_ps = at_ps;
    if (known_ps != k_never_ps)
        schedule(known_ps, static_cast<std::uint32_t>(failures_.size() - 1), k_failed);
}

/// From a controller in the middle of its work: looked at when that is done.
void ub_hosts::unreachable(std::uint32_t source, std::uint32_t destination)
{
    schedule(time_.now_ps(), lost_pairs_.add({source, destination}), k_unreachable);
}

void ub_hosts::lose(std::uint32_t router)
{
    if (router < first_nic_) {
        cpus_[router - first_cpu_].failed = true;
        cpus_[router - first_cpu_].mover->drop_queue();
        return leave(router - first_cpu_);
    }
    const std::uint32_t lost = router - first_nic_;
    nics_[lost].failed = true;
    nics_[lost].mover->drop_queue();
    for (npu& n : npus_)
        n.mover->drop_queue_to(router);
    send_by_others([lost](const piece& p) { return p.nic == lost; });
}

// ---- streams

void ub_hosts::make_flows()
{
    for (std::uint32_t s = 0; s < config_.run.host->traffic.size(); ++s)
        for (std::uint32_t rank = 0; rank < npus_.size(); ++rank) {
            flow f{};
            f.stream = s;
            f.rank = rank;
            f.cpu = cpu_for(npus_[rank]);
            flows_.push_back(f);
        }
}

/// Counted among those that work.
std::uint32_t ub_hosts::cpu_for(const npu& n) const
{
    std::vector<std::uint32_t> working;
    for (std::uint32_t c = n.rack * cpus_per_rack_; c < (n.rack + 1) * cpus_per_rack_; ++c)
        if (!cpus_[c].failed)
            working.push_back(c);
    return working.empty() ? k_none : working[n.in_rack % working.size()];
}

/// They are lost, and their slots are free.
template <class Which> void ub_hosts::forget_messages(Which&& which)
{
    for (auto m = stream_messages_.begin(); m != stream_messages_.end();) {
        if (!which(m->second)) {
            ++m;
            continue;
        }
        --flows_[m->second.flow].outstanding;
        flows_[m->second.flow].slots_in_use &= ~(1u << m->second.slot);
        ++store_.streams[flows_[m->second.flow].stream].lost;
        m = stream_messages_.erase(m);
    }
}

void ub_hosts::leave(std::uint32_t lost)
{
    for (std::uint32_t i = 0; i < flows_.size(); ++i) {
        flow& f = flows_[i];
        if (f.cpu != lost)
            continue;
        forget_messages([i](const stream_message& m) { return m.flow == i; });
        npus_[f.rank].mover->drop_queue_to(first_cpu_ + lost);
        cpus_[lost].failed = true; // nobody of the rack tries it again
        f.cpu = cpu_for(npus_[f.rank]);
        if (f.cpu != k_none && f.waits && on_)
            post(i);
    }
}

void ub_hosts::begin_traffic()
{
    if (config_.run.host->traffic.empty() || on_)
        return;
    if (flows_.empty())
        make_flows();
    forget_messages([](const stream_message&) { return true; }); // all is at rest: what has not come never will
    on_ = true;
    on_since_ps_ = time_.now_ps();
    for (std::uint32_t i = 0; i < flows_.size(); ++i) { // spread over the interval, so that not all come at once
        flow& f = flows_[i];
        const host_stream_config& s = config_.run.host->traffic[f.stream];
        const std::uint64_t interval = interval_ps(s), n = flows_.size();
        f.due_ps = on_since_ps_ + interval / n * i + interval % n * i / n; // no product overflows
        schedule(f.due_ps, i, k_due);
    }
}

void ub_hosts::end_traffic()
{
    if (!on_)
        return;
    on_ = false;
    for (flow& f : flows_) {
        f.due_ps = k_never_ps;
        f.waits = false;
    }
    for (host_stream_result& r : store_.streams)
        r.active_ps += time_.now_ps() - on_since_ps_;
}

std::vector<host_stream_result> ub_hosts::streams() const
{
    std::vector<host_stream_result> all = store_.streams;
    for (const auto& [number, m] : stream_messages_)
        ++all[flows_[m.flow].stream].lost;
    return all;
}

void ub_hosts::due(std::uint32_t i)
{
    flow& f = flows_[i];
    if (!on_ || f.due_ps != time_.now_ps())
        return; // of a time before
    if (f.cpu != k_none && f.outstanding < host_stream_config::k_outstanding)
        return post(i);
    f.waits = true;
    ++store_.streams[f.stream].late;
}

/// The region of a message in the memory of its NPU or its CPU.
ub_hosts::window ub_hosts::slot_of(const flow& f, std::uint32_t slot, bool at_npu) const
{
    const std::uint64_t message = config_.run.host->traffic[f.stream].message.value();
    std::uint64_t offset = at_npu ? host_offset_ + state_bytes()
                                  : npus_[f.rank].in_rack * stream_bytes();
    for (std::uint32_t s = 0; s < f.stream; ++s)
        offset += host_stream_config::k_outstanding * config_.run.host->traffic[s].message.value();
    return {offset + slot * message, message};
}

void ub_hosts::post(std::uint32_t i)
{
    flow& f = flows_[i];
    const host_stream_config& s = config_.run.host->traffic[f.stream];
    const bool to_npu = s.direction == host_direction::to_npus;
    const std::uint32_t number = next_number_++;
    while ((f.slots_in_use >> f.next_slot & 1) != 0) // fewer are outstanding than there are
        f.next_slot = (f.next_slot + 1) % host_stream_config::k_outstanding;
    const std::uint32_t slot = f.next_slot;
    f.slots_in_use |= 1u << slot;
    f.next_slot = (slot + 1) % host_stream_config::k_outstanding;
    f.waits = false;
    ++f.outstanding;
    stream_messages_[number] = {i, slot, f.due_ps};
    bulk_mover& sender = to_npu ? *cpus_[f.cpu].mover : *npus_[f.rank].mover;
    const window from = slot_of(f, slot, !to_npu), to = slot_of(f, slot, to_npu);
    if (npu_view_.carry_data)
        write_contents(sender.memory(), from.offset, from.bytes, host_message_key(config_.run.seed + resets_, number), 0);
    bulk_message m;
    m.peer = to_npu ? f.rank : first_cpu_ + f.cpu;
    m.number = number;
    m.source_offset = from.offset;
    m.destination_offset = to.offset;
    m.bytes = from.bytes;
    m.port = to_npu ? 0 : slot % k_ub_dies;
    f.due_ps = std::max(f.due_ps + interval_ps(s), time_.now_ps());
    schedule(f.due_ps, i, k_due);
    sender.post(m);
}

void ub_hosts::stream_arrived(std::uint32_t number, const stream_message& m)
{
    flow& f = flows_[m.flow];
    const host_stream_config& s = config_.run.host->traffic[f.stream];
    host_stream_result& r = store_.streams[f.stream];
    --f.outstanding;
    f.slots_in_use &= ~(1u << m.slot);
    ++r.messages;
    const std::uint64_t latency_ps = time_.now_ps() - m.due_ps;
    r.latency_sum_ps += latency_ps;
    r.latency_max_ps = std::max(r.latency_max_ps, latency_ps);
    if (on_)
        r.bytes += s.message.value();
    if (npu_view_.carry_data) {
        const bool to_npu = s.direction == host_direction::to_npus;
        const window at = slot_of(f, m.slot, to_npu);
        const memory_if& memory = to_npu ? npus_[f.rank].mover->memory() : cpus_[f.cpu].mover->memory();
        r.wrong_bytes += contents_of(memory, at.offset, at.bytes, host_message_key(config_.run.seed + resets_, number), 0).wrong_bytes;
    }
    if (f.waits && on_ && f.cpu != k_none)
        post(m.flow);
}

} // namespace weft
