// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_host_devices.h"

#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_page = 64 << 10; ///< capacities of memories are multiples of it
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

ub_host_devices::ub_host_devices(timeline& all_time, packet_pool& all_packets, ub_fabric& built, const ub_topology& planned, const ub_mesh_config& read,
                                 ub_checkpoint_store& storage, const std::string& suffix, timeline_client& client, bulk_listener& listener)
    : time(all_time), pool(all_packets), fabric(built), topology(planned), config(read), host_offset(read.host_offset()), store(storage),
      first_cpu(planned.cpu_router(0, 0)), first_nic(planned.nic_router(0, 0)), end(planned.endpoints()), cpus_per_rack(planned.cpus_per_rack()),
      nics_per_rack(planned.nics_per_rack()), client_(client), actor_(all_time.register_actors(1))
{
    npu_view.ports = k_ub_dies;
    npu_view.vl_count = k_ub_vls;
    npu_view.format = config.ub.format();
    npu_view.port_rate = config.ub.local_port_rate;
    npu_view.read_ahead = config.npu.dma.read_ahead;
    npu_view.carry_data = config.run.data == data_mode::checked;
    add_devices(suffix, listener);
}

void ub_host_devices::add_devices(const std::string& suffix, bulk_listener& listener)
{
    const auto bind = [&](bulk_mover& m, std::uint32_t endpoint) {
        m.to_fabric(0).bind(fabric.controller(endpoint).in);
        fabric.controller(endpoint).out.bind(m.from_fabric(0));
    };
    const auto module_of = [&](const char* kind, std::uint32_t n) { return fmt::format("{}_{}{}", kind, n, suffix); };
    const std::uint32_t of_rack = config.mesh.npus_per_rack();
    const std::uint64_t cpu_bytes = (of_rack * stream_bytes() + k_page - 1) / k_page * k_page;
    for (std::uint32_t e = first_cpu; e < first_nic; ++e) {
        cpu c;
        const std::string name = module_of("cpu", e - first_cpu);
        c.memory = std::make_unique<ub_cpu_memory>(time, config.cpu, std::max(cpu_bytes, k_page), name + "_memory");
        bulk_mover_view view = npu_view;
        view.ports = 1;
        view.receive_bytes = config.npu.dma.receive_buffer.value();
        c.mover = std::make_unique<bulk_mover>(name.c_str(), time, pool, view, *c.memory, listener, "cpu");
        bind(*c.mover, e);
        cpus.push_back(std::move(c));
    }
    for (std::uint32_t e = first_nic; e < end; ++e) {
        nic n;
        const std::string name = module_of("nic", e - first_nic);
        n.dcn = std::make_unique<dcn_port>(time, config.nic, store, topology.plan().routers[e].name);
        bulk_mover_view view = npu_view;
        view.ports = 1;
        view.receive_bytes = config.nic.buffer.value();
        view.read_ahead = static_cast<std::uint32_t>(config.nic_read_ahead());
        n.mover = std::make_unique<bulk_mover>(name.c_str(), time, pool, view, *n.dcn, listener, "nic");
        bind(*n.mover, e);
        nics.push_back(std::move(n));
    }
}

std::uint64_t ub_host_devices::state_bytes() const { return config.run.host->checkpoint ? config.run.host->checkpoint->state.value() : 0; }

std::uint64_t ub_host_devices::stream_bytes() const { return config.run.host->memory_bytes() - state_bytes(); }

void ub_host_devices::add_npu(chip& c, std::uint32_t position, const std::string& name, bulk_listener& listener)
{
    npu n{position, position / config.mesh.npus_per_rack(), position % config.mesh.npus_per_rack(), nullptr, {}};
    n.avoids.assign(nics_per_rack, false);
    n.mover = std::make_unique<bulk_mover>((name + "_bulk").c_str(), time, pool, npu_view, c.memory, listener, "npu_bulk");
    npus.push_back(std::move(n));
}

void ub_host_devices::schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind)
{
    time.schedule(at_ps, make_order(event_class::device, actor_, sequence_++), client_, a, kind);
}

bool ub_host_devices::idle() const
{
    const auto all_idle = [](const auto& devices) { return std::all_of(devices.begin(), devices.end(), [](const auto& d) { return d.mover->idle(); }); };
    return all_idle(npus) && all_idle(cpus) && all_idle(nics);
}

void ub_host_devices::drop_queues()
{
    for (npu& n : npus)
        n.mover->drop_queue();
    for (cpu& c : cpus)
        c.mover->drop_queue();
    for (nic& n : nics)
        n.mover->drop_queue();
}

} // namespace weft
