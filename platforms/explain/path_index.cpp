// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/explain/path_index.h"

#include "hw/abi/nic.h"
#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"
#include "hw/abi/switchml.h"

#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <string>

namespace weft {

std::uint64_t key_of(const step_packet& p)
{
    return (std::uint64_t{p.source} << 32 | p.destination) * 0x9e37'79b9'7f4a'7c15ull ^ p.message;
}

path_index::path_index(const recorded_run& run) : run_(run)
{
    for (std::uint32_t i = 0; i < run.posted.size(); ++i)
        posted_of_work_[place(run.posted[i].device, 0) ^ run.posted[i].step.work * 0x9e37'79b9'7f4a'7c15ull].push_back(
            i);
    for (std::uint32_t i = 0; i < run.woken.size(); ++i)
        woken_of_work_[place(run.woken[i].device, 0) ^ run.woken[i].step.work * 0x9e37'79b9'7f4a'7c15ull].push_back(i);
    for (std::uint32_t i = 0; i < run.slices.size(); ++i)
        note_slice(i);
    sort_slices();
    match_doorbells();
    match_works();
    index_steps();
}

void path_index::index_steps()
{
    for (index_lists* lists : {&crossings_of_message_, &crossings_of_link_, &crossings_of_buffer_, &sent_of_message_})
        lists->clear();
    for (ordered_lists* lists : {&sent_of_port_, &accepted_of_device_, &completions_of_device_})
        lists->clear();
    for (std::uint32_t i = run_.crossings.first(); i < run_.crossings.end(); ++i) {
        const auto& c = run_.crossings[i];
        crossings_of_message_[key_of(c.step.packet)].push_back(i);
        crossings_of_link_[place(c.device, c.step.link)].push_back(i);
        crossings_of_buffer_[place(c.device, c.step.in_link) << 6 | (c.step.in_vl & 63)].push_back(i);
    }
    posted_of_sent_.clear();
    for (std::uint32_t i = run_.sent.first(); i < run_.sent.end(); ++i) {
        const sent_packet& s = run_.sent[i];
        sent_of_message_[key_of(s.step.packet)].push_back(i);
        sent_of_port_[place(s.device, s.step.port)].push_back(i);
        posted_of_sent_.push_back(work_at(s.device, s.step.work, s.step.time_ps));
    }
    for (std::uint32_t i = run_.accepted.first(); i < run_.accepted.end(); ++i)
        accepted_of_device_[run_.accepted[i].device].push_back(i);
    for (std::uint32_t i = run_.completions.first(); i < run_.completions.end(); ++i)
        completions_of_device_[run_.completions[i].device].push_back(i);
    for (auto& of_device : completions_of_device_)
        std::stable_sort(of_device.second.begin(), of_device.second.end(), [&](std::uint32_t a, std::uint32_t b) {
            return run_.completions[a].time_ps < run_.completions[b].time_ps;
        });
}

std::string path_index::slot_of(const std::string& name, bool with_version)
{
    if (name.rfind("qp ", 0) == 0) { // toward the switch the number has that of the worker in front
        const auto pair = static_cast<std::uint32_t>(std::strtoul(name.c_str() + 3, nullptr, 10));
        return "qp " + std::to_string(abi::switchml::switch_queue_pair(0, pair));
    }
    const std::size_t dot = name.find('.');
    return dot == std::string::npos ? "" : with_version ? name : name.substr(0, dot);
}

bool path_index::is_switch_track(std::uint32_t track) const
{
    return run_.tracks[track].rank == recorded_device::k_nobody && run_.tracks[track].name.rfind("from port", 0) == 0;
}

void path_index::note_slice(std::uint32_t number)
{
    const trace_slice& s = run_.slices[number];
    if (s.name == "sync") {
        syncs_of_rank_[run_.tracks[s.track].rank].push_back(number);
        syncs_of_zone_[std::hash<std::string>{}(s.arguments)].push_back(number);
    }
    if (s.flow == flow_step::none)
        return;
    slices_of_flow_[s.flow_id].push_back(number);
    if (s.flow == flow_step::begins)
        note_sent_frame(number);
    if (s.flow == flow_step::ends)
        frames_of_rank_[run_.tracks[s.track].rank].push_back(number);
    if (is_wire_track(s.track))
        slices_of_wire_[s.track].push_back(number);
    if (is_switch_track(s.track))
        switch_slices_of_slot_[std::hash<std::string>{}(slot_of(s.name, true))].push_back(number);
}

std::pair<std::uint32_t, std::uint32_t> path_index::sent_before(std::uint32_t number) const
{
    const trace_slice& s = run_.slices[number];
    const auto start_of = [&](std::uint32_t i) { return run_.slices[i].start_ps; };
    const std::vector<std::uint32_t>& sent = list_at(frames_from_rank_, run_.tracks[s.track].rank);
    const std::uint64_t stream = streams_.at(number);
    const std::uint32_t head = last_of(sent, s.start_ps, start_of, [&](std::uint32_t i) {
        return streams_.at(i) == stream && message_texts_.count(i) != 0;
    });
    if (head == k_none || run_.slices[head].start_ps == 0)
        return {head, k_none};
    const std::uint64_t text = message_texts_.at(head);
    return {head, last_of(sent, run_.slices[head].start_ps - 1, start_of, [&](std::uint32_t i) {
                const auto other = message_texts_.find(i);
                return other != message_texts_.end() && other->second == text;
            })};
}

/// Packets of RDMA have numbers of their own when they are sent again: what their message is, the first one says.
void path_index::note_sent_frame(std::uint32_t number)
{
    const trace_slice& s = run_.slices[number];
    frames_from_rank_[run_.tracks[s.track].rank].push_back(number);
    const std::size_t psn = s.name.find(" psn ");
    streams_[number] = psn == std::string::npos ? s.flow_id : std::hash<std::string>{}(s.name.substr(0, psn));
    std::string text = s.arguments;
    if (psn != std::string::npos) {
        const std::size_t from = text.find(" PSN "), to = text.find(" address ");
        if (from == std::string::npos || to == std::string::npos)
            return;
        text.erase(from, to - from);
    }
    message_texts_[number] = std::hash<std::string>{}(text);
}

std::string path_index::link_name(const step_at<link_crossing>& c) const
{
    const std::vector<std::string>& names = run_.devices[c.device].links;
    return c.step.link < names.size() ? names[c.step.link] : fmt::format("link {}", c.step.link);
}

std::string path_index::port_name(std::uint32_t sent) const
{
    return fmt::format("port {} of rank {}", run_.sent[sent].step.port, rank_of(run_.sent[sent].device));
}

std::uint32_t path_index::last_write_to_other_device(std::uint32_t rank, std::uint64_t at_ps) const
{
    const std::vector<core_mark>& marks = run_.cores[rank];
    for (std::size_t i = marks.size(); i-- > 0;) {
        const core_mark& m = marks[i];
        if (m.time_ps > at_ps || m.what != core_mark::kind::write || m.address < abi::k_nic_base)
            continue;
        if (m.address < abi::k_sync_base || m.address >= abi::k_sync_base + 0x1'0000)
            return static_cast<std::uint32_t>(i);
    }
    return k_none;
}

/// Those on a way by their starts, those that have come by their ends.
void path_index::sort_slices()
{
    const auto sort_by = [](index_lists& lists, auto&& time_of) {
        for (auto& one : lists)
            std::stable_sort(one.second.begin(), one.second.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return time_of(a) < time_of(b); });
    };
    const auto start = [&](std::uint32_t i) { return run_.slices[i].start_ps; };
    sort_by(slices_of_flow_, start);
    sort_by(slices_of_wire_, start);
    sort_by(frames_from_rank_, start);
    sort_by(switch_slices_of_slot_, start);
    sort_by(syncs_of_zone_, start);
    const auto end = [&](std::uint32_t i) { return run_.slices[i].start_ps + run_.slices[i].span_ps; };
    sort_by(frames_of_rank_, end);
    sort_by(syncs_of_rank_, end);
}

/// Which write of a doorbell each descriptor came by: rings are first in, first out.
void path_index::match_doorbells()
{
    doorbell_of_posted_.assign(run_.posted.size(), k_none);
    struct ring {
        std::vector<std::uint32_t> doorbells; ///< marks
        std::size_t next = 0;
        std::uint32_t fetched = 0;
    };
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_device;
    for (std::uint32_t i = 0; i < run_.posted.size(); ++i)
        if (run_.devices[run_.posted[i].device].has_rings)
            of_device[run_.posted[i].device].push_back(i);
    for (const auto& [device, list] : of_device) {
        const std::vector<core_mark>& marks = run_.cores[rank_of(device)];
        std::unordered_map<std::uint32_t, ring> rings;
        std::size_t m = 0;
        for (const std::uint32_t i : list) {
            const work_posted& p = run_.posted[i].step;
            for (; m < marks.size() && marks[m].time_ps <= p.time_ps; ++m) {
                if (marks[m].what != core_mark::kind::write)
                    continue;
                const std::uint64_t offset = marks[m].address - abi::k_dma_base;
                if (offset == abi::dma::CONTROL) {
                    rings.clear();
                    continue;
                }
                const std::uint64_t stride = abi::dma::TAIL(1) - abi::dma::TAIL(0);
                if (offset >= abi::dma::TAIL(0) && offset < abi::dma::SEM_COUNT(0) &&
                    (offset - abi::dma::TAIL(0)) % stride == 0)
                    rings[static_cast<std::uint32_t>((offset - abi::dma::TAIL(0)) / stride)].doorbells.push_back(
                        static_cast<std::uint32_t>(m));
            }
            ring& r = rings[p.queue];
            r.fetched += p.entries;
            while (r.next < r.doorbells.size() &&
                   static_cast<std::int32_t>(marks[r.doorbells[r.next]].value - r.fetched) < 0)
                ++r.next;
            if (r.next < r.doorbells.size())
                doorbell_of_posted_[i] = r.doorbells[r.next];
        }
    }
}

/// The wake-up of each work: numbers of works are used again.
void path_index::match_works()
{
    woken_of_posted_.assign(run_.posted.size(), k_none);
    for (std::uint32_t i = 0; i < run_.posted.size(); ++i)
        posted_of_device_[run_.posted[i].device].push_back(i);
    for (std::uint32_t i = 0; i < run_.woken.size(); ++i)
        if (const std::uint32_t p = work_at(run_.woken[i].device, run_.woken[i].step.work, run_.woken[i].step.time_ps);
            p != k_none)
            woken_of_posted_[p] = i;
}

std::uint32_t path_index::work_at(std::uint32_t device, std::uint64_t work, std::uint64_t at_ps) const
{
    return last_of(
        list_at(posted_of_work_, place(device, 0) ^ work * 0x9e37'79b9'7f4a'7c15ull), at_ps,
        [&](std::uint32_t p) { return run_.posted[p].step.time_ps; },
        [&](std::uint32_t p) { return run_.posted[p].device == device && run_.posted[p].step.work == work; });
}

} // namespace weft
