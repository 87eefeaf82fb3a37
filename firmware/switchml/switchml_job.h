// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a core knows of its SwitchML job: the table of hw/abi/switchml.h, checked, and what follows from it.
//
// Slots. The pool is shared evenly: core c of C has the W = slots/C slots from first_slot + c*W on, W at most
// k_max_window. Use number u of a core takes position (u + shift) mod 2W: the slot is position mod W, its version
// position / W. Use u + W is then the same slot in the other version, and `shift` goes on from one tensor to the next,
// so that versions alternate for ever. All workers count alike. RDMA: the same with groups of packets_per_message slots
// in place of slots.
//
// Memory of the NIC, from `nic_area` on, the same on all workers (the address of an answer is the one that another
// worker sent):
//   rings            nic_queues * nic_ring_entries * (128 + 2048)
//   then, by core    UDP: (W + 1) * payload: one send buffer a slot, one of zeros
//                    RDMA: 3 * packets_per_message * payload: zeros, the answers to them, a short last message
//   then             k_own_shard_bytes: where parameter_server's messages from a machine to itself end
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/nic.h"
#include "hw/abi/switchml.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_max_window = 512; ///< slots that one core uses; more are left alone
inline constexpr std::uint32_t k_switchml_cores = 16;
inline constexpr std::uint32_t k_switchml_workers = 128; ///< of a job, over all switches: sums of more could overflow
inline constexpr std::uint32_t k_rdma_workers = 32;      ///< 5 bits of a queue pair at the switch
inline constexpr std::uint32_t k_switch_queues = 512;    ///< queue pairs of one worker at the switch
inline constexpr std::uint32_t k_max_payload_bytes = 1024;
inline constexpr std::uint32_t k_own_shard_bytes = 64 << 10;

/// Reads the table. No magic: `job` is left without one and the status is ok; the machine has no SwitchML.
abi::status read_job(abi::hal& hal, const abi::platform_table& table, abi::switchml::table& job);
/// magic, version, check word, and the fields the firmware computes with. `where` is "switchml.<field>".
abi::status check_job(const abi::platform_table& table, const abi::switchml::table& job);

constexpr bool present(const abi::switchml::table& job) { return job.magic == abi::switchml::k_table_magic; }

constexpr std::uint32_t payload_bytes(const abi::switchml::table& job) { return job.elements_per_packet * 4; }
/// Slots of this core.
constexpr std::uint32_t window_slots(const abi::switchml::table& job)
{
    const std::uint32_t share = job.slots / job.cores;
    return share < k_max_window ? share : k_max_window;
}
constexpr std::uint32_t first_slot(const abi::switchml::table& job)
{
    return job.first_slot + job.core * (job.slots / job.cores);
}
/// RDMA: messages that one core has under way. Each has two queue pairs: the first sends, both number its measurements.
constexpr std::uint32_t window_messages(const abi::switchml::table& job)
{
    const std::uint32_t by_slots = window_slots(job) / job.packets_per_message;
    const std::uint32_t by_queues = k_switch_queues / 2 / job.cores;
    return by_slots < by_queues ? by_slots : by_queues;
}
/// Queue pairs that all cores together need.
constexpr std::uint32_t queue_pairs_needed(const abi::switchml::table& job)
{
    return job.protocol == abi::switchml::transport::rdma ? 2 * window_messages(job) * job.cores : 0;
}

constexpr std::uint64_t nic_ring_bytes(const abi::switchml::table& job)
{
    return std::uint64_t{job.nic_queues} * job.nic_ring_entries *
           (abi::k_nic_send_entry_bytes + abi::k_nic_receive_entry_bytes);
}
/// Send buffers of one core.
constexpr std::uint64_t core_area_bytes(const abi::switchml::table& job)
{
    return std::uint64_t{payload_bytes(job)} *
           (job.protocol == abi::switchml::transport::udp ? window_slots(job) + 1 : 3 * job.packets_per_message);
}
/// Of parameter_server, from `nic_area` on. Its size hangs on no key of the job, so that these change no time.
constexpr std::uint64_t own_shard_offset(const abi::switchml::table& job)
{
    return nic_ring_bytes(job) + job.cores * core_area_bytes(job);
}
/// Bytes that must be free from `nic_area` on.
constexpr std::uint64_t nic_area_bytes(const abi::switchml::table& job)
{
    return own_shard_offset(job) + k_own_shard_bytes;
}

/// This core's part of `count` elements: whole packets (UDP) or messages (RDMA), of which the last may be short.
struct core_share {
    std::uint64_t first = 0; ///< element
    std::uint64_t count = 0; ///< elements
    std::uint32_t blocks = 0;
};
core_share share_of(const abi::switchml::table& job, std::uint64_t count);

} // namespace weft::firmware
