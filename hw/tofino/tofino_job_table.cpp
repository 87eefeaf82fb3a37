// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/tofino_job_table.h"

#include <algorithm>

namespace weft {

namespace sml = abi::switchml;

std::uint32_t registers_of(const tofino_job& job)
{
    return job.register_slot == tofino_job::k_same_slot ? job.first_slot : job.register_slot;
}

std::uint32_t tofino_send_queue::psn_of(std::uint32_t position, bool version)
{
    if (position == 0)
        base[version ? 1 : 0] = next;
    const std::uint32_t psn = (base[version ? 1 : 0] + position) & sml::k_psn_mask;
    if (((psn - next) & sml::k_psn_mask) <= sml::k_psn_mask / 2)
        next = (psn + 1) & sml::k_psn_mask;
    return psn;
}

tofino_job_table::tofino_job_table(const tofino_config& config) : config_(config)
{
    by_number_.fill(k_none);
    by_queue_.fill(k_none);
}

// Control plane
// ----------------------------------------------------------------------------------------------------------------

std::uint32_t tofino_job_table::add(const tofino_job& job)
{
    const auto free = std::find_if(jobs_.begin(), jobs_.end(), [](const tofino_job_state& j) { return !j.active; });
    const auto id = static_cast<std::uint32_t>(free - jobs_.begin());
    if (free == jobs_.end())
        jobs_.emplace_back();
    tofino_job_state& j = jobs_[id];
    j.job = job;
    j.active = true;
    ++j.generation;
    j.register_slot = registers_of(job);
    j.plane = job.home_pipe;
    j.lanes.clear();
    for (std::size_t w = 0; w < job.workers.size(); ++w) {
        const tofino_worker& worker = job.workers[w];
        j.plane = worker.inside ? k_tofino_pipes : j.plane;
        j.lanes.push_back(static_cast<std::uint8_t>(worker.inside ? w : worker.port % config_.ports_per_pipe));
    }
    j.inside.assign(job.workers.size(), k_none);
    begin(j);
    if (job.protocol == sml::transport::rdma)
        std::fill_n(by_queue_.begin() + job.first_queue, job.queues, id);
    j.next_same_number = by_number_[job.number];
    by_number_[job.number] = id;
    if (job.parent.kind == parent_kind::inside)
        jobs_[job.parent.job].inside[job.parent.worker] = id;
    return id;
}

/// What the packets of a job change, as it is before the first of them.
void tofino_job_table::begin(tofino_job_state& j) const
{
    const std::size_t workers = j.job.workers.size();
    j.watch.assign(std::size_t{j.job.slots} * 2, {});
    j.last_ids.assign(config_.stale_filter ? std::size_t{j.job.slots} * workers : 0, {});
    j.simple.reset();
    if (!j.job.loss_recovery)
        j.simple = std::make_unique<algorithm1_pool>(j.job.slots * 2);
    const std::size_t queues = j.job.protocol == sml::transport::rdma ? workers * j.job.queues : 0;
    j.receive_queues.assign(queues, {});
    j.send_queues.assign(queues, {});
}

void tofino_job_table::reset()
{
    for (tofino_job_state& j : jobs_)
        if (j.active)
            begin(j);
    closed_.clear(); // with clean registers
}

bool tofino_job_table::remove(std::uint32_t id)
{
    tofino_job_state& j = jobs_[id];
    std::uint32_t* link = &by_number_[j.job.number];
    while (*link != id)
        link = &jobs_[*link].next_same_number;
    *link = j.next_same_number;
    std::replace(by_queue_.begin(), by_queue_.end(), id, k_none);
    if (j.job.parent.kind == parent_kind::inside)
        jobs_[j.job.parent.job].inside[j.job.parent.worker] = k_none;
    j.active = false;
    ++j.generation;
    closed_.emplace_back(j.register_slot, j.register_slot + j.job.slots);
    return std::none_of(jobs_.begin(), jobs_.end(), [](const tofino_job_state& other) { return other.active; });
}

// Match tables
// ----------------------------------------------------------------------------------------------------------------

bool tofino_job_table::own_address(std::uint64_t mac) const
{
    if (mac == config_.mac)
        return true;
    for (const tofino_job_state& j : jobs_)
        if (j.active && j.job.parent.kind == parent_kind::port && j.job.parent.own_mac == mac)
            return true;
    return false;
}

drop_reason tofino_job_table::find_udp_worker(tofino_packet& p) const
{
    const std::uint32_t first = by_number_[p.fields.header.job];
    bool found_job = false;
    for (std::uint32_t id = first; id != k_none; id = jobs_[id].next_same_number) {
        const tofino_job& job = jobs_[id].job;
        if (job.protocol != sml::transport::udp)
            continue;
        found_job = true;
        for (std::size_t w = 0; w < job.workers.size(); ++w)
            if (job.workers[w].mac == p.fields.source_mac && job.workers[w].ip == p.fields.source_ip) {
                p.job = id;
                p.worker = static_cast<std::uint8_t>(w);
                return drop_reason::none;
            }
    }
    return found_job ? drop_reason::not_worker : drop_reason::wrong_job;
}

drop_reason tofino_job_table::find_rdma_worker(tofino_packet& p)
{
    const std::uint32_t qp = p.fields.bth.queue_pair;
    const std::uint32_t queue = qp & 0x1ff;
    const std::uint32_t worker = qp >> 16 & 0x1f;
    if (by_queue_[queue] == k_none)
        return drop_reason::wrong_job;
    p.job = by_queue_[queue];
    tofino_job_state& j = jobs_[p.job];
    if (worker >= j.job.workers.size() || j.job.workers[worker].mac != p.fields.source_mac ||
        j.job.workers[worker].ip != p.fields.source_ip)
        return drop_reason::not_worker;
    p.worker = static_cast<std::uint8_t>(worker);
    p.queue = queue - j.job.first_queue;
    tofino_receive_queue& q = j.receive_queues[worker * j.job.queues + p.queue];
    if (sml::begins_message(p.fields.bth.op)) {
        const std::uint32_t ahead = (p.fields.bth.psn - q.next_psn) & sml::k_psn_mask;
        if (config_.stale_filter && q.known && ahead > sml::k_psn_mask / 2)
            return drop_reason::stale;
        q.known = true;
        q.pool_index = p.fields.reth.key;
        q.position = 0;
        q.error = false;
    } else if (q.error || p.fields.bth.psn != q.next_psn) {
        q.error = true;
        ++q.gaps;
        return drop_reason::rdma_sequence;
    } else {
        q.pool_index = q.pool_index > 0xffff'fffd ? 0xffff'ffff : q.pool_index + 2;
        ++q.position;
    }
    p.position = q.position;
    q.next_psn = (p.fields.bth.psn + 1) & sml::k_psn_mask;
    if (q.pool_index > 2 * sml::k_slot_mask + 1)
        return drop_reason::pool_index;
    if (p.fields.last_of_message)
        q.gaps = 0;
    p.slot = static_cast<std::uint16_t>(q.pool_index >> 1);
    p.version = (q.pool_index & 1) != 0;
    return drop_reason::none;
}

bool tofino_job_table::comes_from_parent(tofino_packet& p) const
{
    for (std::uint32_t id = by_number_[p.fields.header.job]; id != k_none; id = jobs_[id].next_same_number) {
        const tofino_job& job = jobs_[id].job;
        if (job.parent.kind == parent_kind::port && job.parent.port == p.ingress_port &&
            job.parent.mac == p.fields.source_mac && job.parent.ip == p.fields.source_ip &&
            job.parent.own_mac == sml::get48(p.frame->payload)) {
            p.job = id;
            p.generation = jobs_[id].generation;
            p.worker = 0;
            return true;
        }
    }
    return false;
}

drop_reason tofino_job_table::find_slot(tofino_packet& p) const
{
    const tofino_job_state& j = jobs_[p.job];
    if (p.slot < j.job.first_slot || p.slot - j.job.first_slot >= j.job.slots)
        return drop_reason::pool_index;
    if (p.fields.words > j.job.words)
        return drop_reason::size_code;
    p.pool_index = j.pool_index_of(p);
    return drop_reason::none;
}

/// Ids of a sender grow from use to use of a slot, modulo 2^32; RDMA packets are told by their sequence numbers.
bool tofino_job_table::is_stale(const tofino_packet& p)
{
    if (p.fields.rdma)
        return false;
    tofino_job_state& j = jobs_[p.job];
    tofino_last_id& last = j.last_ids[std::size_t{p.slot - j.job.first_slot} * j.job.workers.size() + p.worker];
    if (last.known && static_cast<std::int32_t>(p.fields.header.id - last.id) < 0)
        return true;
    last = {p.fields.header.id, true};
    return false;
}

} // namespace weft
