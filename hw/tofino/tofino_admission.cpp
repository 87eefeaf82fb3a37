// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/tofino_admission.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace sml = abi::switchml;

namespace {

bool overlap(std::uint32_t a, std::uint32_t a_count, std::uint32_t b, std::uint32_t b_count)
{
    return a < b + b_count && b < a + a_count;
}
bool share_a_pipe(const tofino_job& a, const tofino_job& b)
{
    return a.words == 256 || b.words == 256 || a.home_pipe == b.home_pipe;
}
std::string range(std::uint32_t first, std::uint32_t count)
{
    return fmt::format("{} to {}", first, first + count - 1);
}

std::string worker_problem(const tofino_job& job, const tofino_job_table& jobs, const tofino_config& config,
                           bool verilog)
{
    const std::size_t n = job.workers.size();
    if (job.words != 64 && job.words != 256)
        return fmt::format("its packets have {} words, but the pipes take 64 or 256.", job.words);
    if (n == 0)
        return "it has no workers.";
    if (n > k_max_aggregation_workers)
        return fmt::format(
            "it has {} workers, but the bitmap of a slot has {} bits: make a tree of nodes with at most that "
            "many workers each.",
            n, k_max_aggregation_workers);
    if (job.words == 256 && n > k_wide_packet_workers)
        return fmt::format(
            "it has {} workers with 256-word packets, which recirculate over port 128 + 4 * worker, and only "
            "workers 0 to {} have one: use 64-word packets or a tree of nodes.",
            n, k_wide_packet_workers - 1);
    if (job.home_pipe >= k_tofino_pipes)
        return fmt::format("its home pipe is {}, but there are pipes 0 to {}.", job.home_pipe, k_tofino_pipes - 1);
    if (!job.loss_recovery && verilog)
        return "it runs without loss recovery (Algorithm 1), but the Verilog pipe implements Algorithm 3 alone: use the C++ "
               "model (aggregator: model).";
    for (std::size_t w = 0; w < n; ++w) {
        const tofino_worker& worker = job.workers[w];
        if (worker.inside)
            continue;
        if (worker.port >= config.ports)
            return fmt::format("worker {} is at port {}, but the switch has ports 0 to {}.", w, worker.port,
                               config.ports - 1);
        if (worker.port / config.ports_per_pipe != job.home_pipe)
            return fmt::format(
                "worker {} is at port {} of pipe {}, but the slots are in pipe {} and a packet begins in the "
                "pipe of its port: the workers of one node share a pipe of {} ports.",
                w, worker.port, worker.port / config.ports_per_pipe, job.home_pipe, config.ports_per_pipe);
        if (job.words == 256 && worker.port % config.ports_per_pipe >= k_wide_packet_workers)
            return fmt::format(
                "worker {} is at port {}, number {} of its pipe, but 256-word packets recirculate over a port "
                "for each of the first {}.",
                w, worker.port, worker.port % config.ports_per_pipe, k_wide_packet_workers);
        for (std::size_t v = 0; v < w; ++v)
            if (!job.workers[v].inside && job.workers[v].mac == worker.mac && job.workers[v].ip == worker.ip)
                return fmt::format("workers {} and {} have the same address.", v, w);
        for (const tofino_job_state& j : jobs.all())
            if (j.active && j.job.number == job.number && j.job.protocol == job.protocol)
                for (const tofino_worker& other : j.job.workers)
                    if (!other.inside && other.mac == worker.mac && other.ip == worker.ip)
                        return fmt::format("worker {} is already a worker of a job with this number.", w);
    }
    return "";
}

std::string pool_problem(const tofino_job& job, const tofino_job_table& jobs, const tofino_config& config)
{
    const std::uint32_t registers = registers_of(job);
    const std::uint32_t slots_there = config.register_depth / 2;
    if (job.slots == 0)
        return "it has no slots.";
    if (job.slots > sml::k_slot_mask + 1 || job.first_slot > sml::k_slot_mask + 1 - job.slots)
        return fmt::format("its slots {} to {} do not fit into the 14 bits of a slot number.", job.first_slot,
                           std::uint64_t{job.first_slot} + job.slots - 1);
    if (job.slots > slots_there || registers > slots_there - job.slots)
        return fmt::format(
            "its slots would be {} to {} of the registers, which hold {} (two entries a slot, one for each "
            "set).",
            registers, std::uint64_t{registers} + job.slots - 1, slots_there);
    for (const auto& [first, end] : jobs.closed())
        if (overlap(registers, job.slots, first, end - first))
            return fmt::format(
                "its slots {} of the registers overlap slots {} of a job that was removed; they can be cleared "
                "when no job runs.",
                range(registers, job.slots), range(first, end - first));
    const bool rdma = job.protocol == sml::transport::rdma;
    if (rdma && (job.queues == 0 || job.queues > 512 || job.first_queue > 512 - job.queues))
        return fmt::format("its queues {} to {} are not within the 512 that an RDMA queue pair number can tell apart.",
                           job.first_queue, std::uint64_t{job.first_queue} + job.queues - 1);
    for (const tofino_job_state& j : jobs.all()) {
        if (!j.active)
            continue;
        if (share_a_pipe(job, j.job) && overlap(registers, job.slots, j.register_slot, j.job.slots))
            return fmt::format(
                "its slots {} of the registers overlap slots {} of job {}: every job needs a pool of its own.",
                range(registers, job.slots), range(j.register_slot, j.job.slots), j.job.number);
        if (j.job.multicast_group == job.multicast_group)
            return fmt::format("multicast group {} belongs to job {}.", job.multicast_group, j.job.number);
        if (rdma && j.job.protocol == sml::transport::rdma &&
            overlap(job.first_queue, job.queues, j.job.first_queue, j.job.queues))
            return fmt::format(
                "its RDMA queues {} overlap queues {} of job {}: RDMA packets carry no job number, their queue "
                "tells the job.",
                range(job.first_queue, job.queues), range(j.job.first_queue, j.job.queues), j.job.number);
    }
    return "";
}

std::string parent_problem(const tofino_job& job, const tofino_job_table& jobs, const tofino_config& config)
{
    const bool any_inside =
        std::any_of(job.workers.begin(), job.workers.end(), [](const tofino_worker& w) { return w.inside; });
    const tofino_parent& parent = job.parent;
    if (job.protocol == sml::transport::rdma && (any_inside || parent.kind != parent_kind::none))
        return "it uses RDMA in a tree of nodes, but the position of a packet in its message ends at one node: use UDP.";
    if (parent.kind == parent_kind::none)
        return "";
    if (parent.worker >= k_max_aggregation_workers)
        return fmt::format("it is worker {} of its parent, but a bitmap has {} bits.", parent.worker,
                           k_max_aggregation_workers);
    if (parent.kind == parent_kind::port) {
        if (parent.port >= config.ports)
            return fmt::format("its parent is at port {}, but the switch has ports 0 to {}.", parent.port,
                               config.ports - 1);
        for (const tofino_job_state& j : jobs.all())
            if (j.active && j.job.number == job.number && j.job.parent.kind == parent_kind::port &&
                j.job.parent.own_mac == parent.own_mac)
                return "another node of this job goes to its parent from the same address; every node needs one of its own.";
        return "";
    }
    if (!jobs.is_active(parent.job))
        return "its parent in the switch is no job that runs; add the parent first.";
    const tofino_job_state& above = jobs[parent.job];
    if (parent.worker >= above.job.workers.size() || !above.job.workers[parent.worker].inside)
        return fmt::format("its parent in the switch has no worker {} that is inside.", parent.worker);
    if (above.inside[parent.worker] != tofino_job_table::k_none)
        return fmt::format("worker {} of its parent in the switch is already another node.", parent.worker);
    if (above.job.number != job.number || above.job.first_slot != job.first_slot || above.job.slots != job.slots ||
        above.job.words != job.words || above.job.loss_recovery != job.loss_recovery)
        return "its parent in the switch differs in number, slots, words or algorithm: one packet goes through all nodes.";
    return "";
}

} // namespace

std::string refusal_of(const tofino_job& job, const tofino_job_table& jobs, const tofino_config& config, bool verilog)
{
    for (const std::string& problem : {worker_problem(job, jobs, config, verilog), pool_problem(job, jobs, config),
                                       parent_problem(job, jobs, config)})
        if (!problem.empty())
            return fmt::format("job {}: {}", job.number, problem);
    return "";
}

} // namespace weft
