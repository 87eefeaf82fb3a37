// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/switchml/switchml_job.h"

namespace weft::firmware {

namespace {

constexpr abi::status corrupted(const char* where, std::uint64_t detail)
{
    return {abi::status_code::corrupted, where, detail};
}

constexpr bool power_of_two(std::uint32_t v) { return v != 0 && (v & (v - 1)) == 0; }

} // namespace

abi::status check_job(const abi::platform_table& table, const abi::switchml::table& job)
{
    using abi::switchml::transport;
    if (!present(job))
        return corrupted("switchml.magic", job.magic);
    if (job.version != abi::switchml::k_table_version)
        return {abi::status_code::wrong_version, "switchml.version", job.version};
    if (abi::check_of(job) != job.check)
        return corrupted("switchml.check", job.check);

    if (job.cores == 0 || job.cores > k_switchml_cores)
        return corrupted("switchml.cores", job.cores);
    if (job.core >= job.cores)
        return corrupted("switchml.core", job.core);
    if (job.workers == 0 || job.workers > k_switchml_workers)
        return corrupted("switchml.workers", job.workers);
    if (job.worker >= job.workers || (job.protocol == transport::rdma && job.worker >= k_rdma_workers))
        return corrupted("switchml.worker", job.worker);
    if (job.job > 0xff)
        return corrupted("switchml.job", job.job);
    if (job.protocol != transport::udp && job.protocol != transport::rdma)
        return corrupted("switchml.protocol", static_cast<std::uint64_t>(job.protocol));
    if (job.elements_per_packet != 64 && job.elements_per_packet != 256)
        return corrupted("switchml.elements_per_packet", job.elements_per_packet);
    if (job.first_slot > abi::switchml::k_slot_mask)
        return corrupted("switchml.first_slot", job.first_slot);
    if (job.slots < job.cores || job.slots > abi::switchml::k_slot_mask + 1 - job.first_slot)
        return corrupted("switchml.slots", job.slots);
    if (job.protocol == transport::rdma &&
        (!power_of_two(job.packets_per_message) || job.packets_per_message > 16 || window_messages(job) == 0))
        return corrupted("switchml.packets_per_message", job.packets_per_message);
    if (job.nic_queues < job.cores || job.nic_queues > abi::k_max_nic_queues)
        return corrupted("switchml.nic_queues", job.nic_queues);
    if (!power_of_two(job.nic_ring_entries) || job.nic_ring_entries > 1u << 20)
        return corrupted("switchml.nic_ring_entries", job.nic_ring_entries);
    if (job.packet_batch == 0)
        return corrupted("switchml.packet_batch", job.packet_batch);
    if (job.timeout_ns == 0)
        return corrupted("switchml.timeout_ns", job.timeout_ns);
    const std::uint64_t bytes = nic_area_bytes(job);
    if (job.nic_area < table.hbm_base || bytes > table.hbm_bytes ||
        job.nic_area - table.hbm_base > table.hbm_bytes - bytes)
        return corrupted("switchml.nic_area", job.nic_area);
    return {};
}

abi::status read_job(abi::hal& hal, const abi::platform_table& table, abi::switchml::table& job)
{
    hal.copy_in(&job, abi::switchml::k_table_address, sizeof job);
    if (const abi::bus_fault fault = hal.fault(); fault.set)
        return {abi::status_code::bus_error, "switchml.table", fault.address};
    if (!present(job)) {
        job.magic = 0;
        return {};
    }
    const abi::status s = check_job(table, job);
    if (!s.ok())
        job.magic = 0; // nothing in it can be trusted
    return s;
}

core_share share_of(const abi::switchml::table& job, std::uint64_t count)
{
    const std::uint64_t block = std::uint64_t{job.elements_per_packet} *
                                (job.protocol == abi::switchml::transport::rdma ? job.packets_per_message : 1);
    const abi::element_range blocks = abi::shard_of((count + block - 1) / block, job.cores, job.core);
    core_share s;
    s.first = blocks.first * block;
    s.blocks = static_cast<std::uint32_t>(blocks.count);
    if (blocks.count != 0)
        s.count = blocks.count * block < count - s.first ? blocks.count * block : count - s.first;
    return s;
}

} // namespace weft::firmware
