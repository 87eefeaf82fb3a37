// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Control plane: admission of jobs, forwarding table, statistics, and what the slots wait for.
#include "hw/tofino/tofino_switch.h"

#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace sml = abi::switchml;

namespace {

struct drop_text {
    const char* name;
    const char* description;
};
constexpr drop_text k_drop_texts[] = {
    {"drop_none", ""},
    {"drop_bad_fcs", "Frames with a wrong frame check sequence"},
    {"drop_truncated", "Frames shorter than their headers say"},
    {"drop_unknown_mac", "Foreign frames to an address of no table entry"},
    {"drop_not_switchml", "Frames to the switch of no protocol it speaks"},
    {"drop_bad_ip_checksum", "Frames with a wrong IP header checksum"},
    {"drop_size_code", "Packets of a size that the job does not have: 32 or 128 words, or wider than the job's"},
    {"drop_wrong_length", "Packets whose length is not that of their size code"},
    {"drop_wrong_job", "Packets with a job number, or an RDMA queue, of no job"},
    {"drop_not_worker", "Packets whose sender is no worker of the job"},
    {"drop_pool_index", "Packets with a slot outside of the job's pool"},
    {"drop_rdma_opcode", "RoCE packets that are no RDMA writes"},
    {"drop_rdma_sequence", "RoCE packets behind a gap in their message"},
    {"drop_stale", "Packets older than the last one of their sender in the slot (stale_filter)"},
    {"drop_ingress_simulated", "Packets dropped by the ingress drop simulator"},
    {"drop_egress_simulated", "Results dropped, with all copies, by the egress drop simulator"},
    {"drop_recirculation_queue", "Packets that found the queue of a recirculation port full"},
    {"drop_egress_queue", "Frames that found the queue of a front-panel port full"},
    {"drop_job_removed", "Packets whose job ended while they were in the switch"},
    {"drop_wasted_harvest", "64-word duplicates that were read although one worker is missing"},
};
static_assert(std::size(k_drop_texts) == k_drop_reasons, "one text a reason");

bool overlap(std::uint32_t a, std::uint32_t a_count, std::uint32_t b, std::uint32_t b_count)
{
    return a < b + b_count && b < a + a_count;
}
std::uint32_t registers_of(const tofino_job& job)
{
    return job.register_slot == tofino_job::k_same_slot ? job.first_slot : job.register_slot;
}
bool share_a_pipe(const tofino_job& a, const tofino_job& b)
{
    return a.words == 256 || b.words == 256 || a.home_pipe == b.home_pipe;
}
std::string range(std::uint32_t first, std::uint32_t count)
{
    return fmt::format("{} to {}", first, first + count - 1);
}

} // namespace

const char* drop_name(drop_reason reason) { return k_drop_texts[static_cast<std::size_t>(reason)].name; }

void tofino_switch::list_stats()
{
    stats.add("frames_in", "packets", "Frames received", frames_in);
    stats.add("frames_out", "packets", "Frames handed to the ports, copies included", frames_out);
    stats.add("forwarded", "packets", "Foreign frames forwarded", forwarded);
    stats.add("packets", "packets", "SwitchML packets accepted", packets);
    stats.add("passes", "1", "Passes through a pipe", passes);
    stats.add("recirculations", "1", "Packets sent over a recirculation port", recirculations);
    stats.add("completions", "1", "Slots completed", completions);
    stats.add("duplicates_ignored", "packets", "Packets of a worker that had contributed before, slot incomplete",
              duplicates_ignored);
    stats.add("broadcasts", "packets", "Results sent to all workers", broadcasts);
    stats.add("retransmissions", "packets", "Results sent again to one worker", retransmissions);
    stats.add("sent_up", "packets", "Sums sent to a parent, repeats included", sent_up);
    stats.add("results_from_above", "packets", "Results received from a parent switch", results_from_above);
    stats.add("most_in_flight", "packets", "SwitchML packets inside at once", most_in_flight);
    stats.add("recirculation_wait_max", "ps", "Longest time from a recirculation queue's tail to the last byte out",
              recirculation_wait_max_);
    for (std::size_t r = 1; r < k_drop_reasons; ++r)
        stats.add(k_drop_texts[r].name, "packets", k_drop_texts[r].description, drops_[r]);
}

std::uint64_t tofino_switch::dropped() const
{
    std::uint64_t sum = 0;
    for (const counter& c : drops_)
        sum += c.value();
    return sum;
}

void tofino_switch::add_mac(std::uint64_t mac, std::uint32_t port)
{
    if (port >= config_.ports)
        throw user_error(fmt::format("{}: the address {:012x} is at port {}, but the switch has ports 0 to {}.", name(),
                                     mac, port, config_.ports - 1));
    const auto at = std::lower_bound(mac_table_.begin(), mac_table_.end(), std::pair{mac, std::uint32_t{0}});
    if (at != mac_table_.end() && at->first == mac)
        at->second = port;
    else
        mac_table_.insert(at, {mac, port});
}

// Admission
// ------------------------------------------------------------------------------------------------------------

std::string tofino_switch::refusal(const tofino_job& job) const
{
    for (const std::string& problem : {worker_problem(job), pool_problem(job), parent_problem(job)})
        if (!problem.empty())
            return fmt::format("job {}: {}", job.number, problem);
    return "";
}

std::string tofino_switch::worker_problem(const tofino_job& job) const
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
    if (!job.loss_recovery && verilog_)
        return "it runs without loss recovery (Algorithm 1), but the Verilog pipe implements Algorithm 3 alone: use the C++ "
               "model (aggregator: model).";
    for (std::size_t w = 0; w < n; ++w) {
        const tofino_worker& worker = job.workers[w];
        if (worker.inside)
            continue;
        if (worker.port >= config_.ports)
            return fmt::format("worker {} is at port {}, but the switch has ports 0 to {}.", w, worker.port,
                               config_.ports - 1);
        if (worker.port / config_.ports_per_pipe != job.home_pipe)
            return fmt::format(
                "worker {} is at port {} of pipe {}, but the slots are in pipe {} and a packet begins in the "
                "pipe of its port: the workers of one node share a pipe of {} ports.",
                w, worker.port, worker.port / config_.ports_per_pipe, job.home_pipe, config_.ports_per_pipe);
        if (job.words == 256 && worker.port % config_.ports_per_pipe >= k_wide_packet_workers)
            return fmt::format(
                "worker {} is at port {}, number {} of its pipe, but 256-word packets recirculate over a port "
                "for each of the first {}.",
                w, worker.port, worker.port % config_.ports_per_pipe, k_wide_packet_workers);
        for (std::size_t v = 0; v < w; ++v)
            if (!job.workers[v].inside && job.workers[v].mac == worker.mac && job.workers[v].ip == worker.ip)
                return fmt::format("workers {} and {} have the same address.", v, w);
        for (const job_state& j : jobs_)
            if (j.active && j.job.number == job.number && j.job.protocol == job.protocol)
                for (const tofino_worker& other : j.job.workers)
                    if (!other.inside && other.mac == worker.mac && other.ip == worker.ip)
                        return fmt::format("worker {} is already a worker of a job with this number.", w);
    }
    return "";
}

std::string tofino_switch::pool_problem(const tofino_job& job) const
{
    const std::uint32_t registers = registers_of(job);
    const std::uint32_t slots_there = config_.register_depth / 2;
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
    for (const auto& [first, end] : closed_)
        if (overlap(registers, job.slots, first, end - first))
            return fmt::format(
                "its slots {} of the registers overlap slots {} of a job that was removed; they can be cleared "
                "when no job runs.",
                range(registers, job.slots), range(first, end - first));
    const bool rdma = job.protocol == sml::transport::rdma;
    if (rdma && (job.queues == 0 || job.queues > 512 || job.first_queue > 512 - job.queues))
        return fmt::format("its queues {} to {} are not within the 512 that an RDMA queue pair number can tell apart.",
                           job.first_queue, std::uint64_t{job.first_queue} + job.queues - 1);
    for (const job_state& j : jobs_) {
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

std::string tofino_switch::parent_problem(const tofino_job& job) const
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
        if (parent.port >= config_.ports)
            return fmt::format("its parent is at port {}, but the switch has ports 0 to {}.", parent.port,
                               config_.ports - 1);
        for (const job_state& j : jobs_)
            if (j.active && j.job.number == job.number && j.job.parent.kind == parent_kind::port &&
                j.job.parent.own_mac == parent.own_mac)
                return "another node of this job goes to its parent from the same address; every node needs one of its own.";
        return "";
    }
    if (parent.job >= jobs_.size() || !jobs_[parent.job].active)
        return "its parent in the switch is no job that runs; add the parent first.";
    const job_state& above = jobs_[parent.job];
    if (parent.worker >= above.job.workers.size() || !above.job.workers[parent.worker].inside)
        return fmt::format("its parent in the switch has no worker {} that is inside.", parent.worker);
    if (above.inside[parent.worker] != k_none)
        return fmt::format("worker {} of its parent in the switch is already another node.", parent.worker);
    if (above.job.number != job.number || above.job.first_slot != job.first_slot || above.job.slots != job.slots ||
        above.job.words != job.words || above.job.loss_recovery != job.loss_recovery)
        return "its parent in the switch differs in number, slots, words or algorithm: one packet goes through all nodes.";
    return "";
}

std::uint32_t tofino_switch::add_job(const tofino_job& job)
{
    const std::string problem = refusal(job);
    if (!problem.empty())
        throw user_error(fmt::format("{}: {}", name(), problem));
    const auto free = std::find_if(jobs_.begin(), jobs_.end(), [](const job_state& j) { return !j.active; });
    const auto id = static_cast<std::uint32_t>(free - jobs_.begin());
    if (free == jobs_.end())
        jobs_.emplace_back();
    job_state& j = jobs_[id];
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
    begin_job(j);
    if (job.protocol == sml::transport::rdma)
        std::fill_n(by_queue_.begin() + job.first_queue, job.queues, id);
    j.next_same_number = by_number_[job.number];
    by_number_[job.number] = id;
    if (job.parent.kind == parent_kind::inside)
        jobs_[job.parent.job].inside[job.parent.worker] = id;
    return id;
}

/// What the packets of a job change, as it is before the first of them.
void tofino_switch::begin_job(job_state& j) const
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

bool tofino_switch::settled(std::uint64_t now_ps)
{
    return idle() && std::all_of(ports_.begin(), ports_.end(),
                                 [=](const auto& p) { return p->transmitter.busy_until_ps() <= now_ps; });
}

void tofino_switch::reset(std::uint32_t draw)
{
    for (job_state& j : jobs_)
        if (j.active)
            begin_job(j);
    for (auto& unit : units_)
        unit->clear();
    closed_.clear(); // with clean registers
    ingress_drops_.reset(draw);
    egress_drops_.reset(draw);
    std::fill(sequences_.begin(), sequences_.end(), 0);
}

void tofino_switch::remove_job(std::uint32_t id)
{
    if (id >= jobs_.size() || !jobs_[id].active)
        throw user_error(fmt::format("{}: there is no job with the id {}.", name(), id));
    job_state& j = jobs_[id];
    if (std::any_of(j.inside.begin(), j.inside.end(), [](std::uint32_t child) { return child != k_none; }))
        throw user_error(fmt::format("{}: job {} still has nodes below it; remove them first.", name(), j.job.number));
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
    if (std::none_of(jobs_.begin(), jobs_.end(), [](const job_state& other) { return other.active; })) {
        for (auto& unit : units_)
            unit->clear();
        closed_.clear();
    }
}

// State
// ----------------------------------------------------------------------------------------------------------------

std::string tofino_switch::blocked_on(std::size_t at_most) const
{
    std::string text;
    std::size_t found = 0;
    for (const job_state& j : jobs_) {
        if (!j.active)
            continue;
        for (std::size_t e = 0; e < j.watch.size(); ++e) {
            if (j.watch[e].missing == 0 || ++found > at_most)
                continue;
            std::string missing;
            for (std::size_t w = 0; w < j.job.workers.size(); ++w)
                if ((j.watch[e].seen >> w & 1) == 0)
                    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", w);
            if (missing.empty()) { // only a packet that was counted in another use than its own brings this about
                text += fmt::format("{}{}: job {} slot {} set {} has heard all {} workers, but counts {} as missing: it "
                                    "has taken a late packet for a new one{}",
                                    text.empty() ? "" : "\n", name(), j.job.number, j.job.first_slot + e / 2, e % 2,
                                    j.job.workers.size(), j.watch[e].missing,
                                    config_.stale_filter ? "" : ", which stale_filter, now off, prevents");
                continue;
            }
            text += fmt::format("{}{}: job {} slot {} set {} waits for worker{} {} of {}", text.empty() ? "" : "\n",
                                name(), j.job.number, j.job.first_slot + e / 2, e % 2,
                                missing.find(',') == std::string::npos ? "" : "s", missing, j.job.workers.size());
        }
    }
    if (found > at_most)
        text += fmt::format("\n{}: and {} more slots", name(), found - at_most);
    return text;
}

std::vector<awaited_sender> tofino_switch::awaited() const
{
    std::vector<awaited_sender> all;
    for (const job_state& j : jobs_) {
        if (!j.active)
            continue;
        for (std::size_t w = 0; w < j.job.workers.size(); ++w) {
            awaited_sender sender;
            sender.job = j.job.number;
            sender.mac = j.job.workers[w].inside ? 0 : j.job.workers[w].mac;
            const std::uint32_t everybody = (std::uint32_t{2} << (j.job.workers.size() - 1)) - 1;
            for (const slot_watch& slot : j.watch)
                if (slot.missing != 0 && (slot.seen >> w & 1) == 0) {
                    ++sender.slots;
                    sender.alone += (slot.seen | std::uint32_t{1} << w) == everybody ? 1 : 0;
                }
            if (sender.slots != 0)
                all.push_back(sender);
        }
    }
    return all;
}

std::string tofino_switch::broken_messages() const
{
    std::string text;
    for (const job_state& j : jobs_)
        for (std::size_t w = 0; j.active && w < j.job.workers.size(); ++w) {
            std::uint32_t dropped = 0;
            for (std::size_t q = w * j.job.queues; q < (w + 1) * j.job.queues && q < j.receive_queues.size(); ++q)
                dropped += j.receive_queues[q].gaps;
            if (dropped != 0)
                text += fmt::format("{}{}: messages of worker {} of job {} do not arrive whole and in order: {} packets "
                                    "dropped behind a gap since the last whole one",
                                    text.empty() ? "" : "\n", name(), w, j.job.number, dropped);
        }
    return text;
}

std::string tofino_switch::waits() const
{
    std::string text = broken_messages();
    const std::string slots = blocked_on();
    return text + (text.empty() || slots.empty() ? "" : "\n") + slots;
}

void tofino_switch::record_into(trace_sink& trace)
{
    trace_ = std::make_unique<frame_trace>(trace);
    for (std::uint32_t port = 0; port < ports(); ++port)
        trace_->add_track(*this, fmt::format("from port {}", port));
    watch_.set(trace_.get(), 0);
}

std::string tofino_switch::describe_slot(std::uint32_t id, std::uint32_t slot) const
{
    const job_state& j = jobs_.at(id);
    std::string text;
    for (std::uint32_t pipe = 0; pipe < k_tofino_pipes; ++pipe)
        if (j.job.words == 256 || pipe == j.job.home_pipe)
            text += fmt::format(
                "pipe {}: {}\n", pipe,
                units_[pipe]->describe_slot(static_cast<std::uint16_t>(slot - j.job.first_slot + j.register_slot)));
    return text;
}

} // namespace weft
