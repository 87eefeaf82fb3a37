// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Control plane: jobs come and go, forwarding table, statistics.
#include "hw/tofino/slot_report.h"
#include "hw/tofino/tofino_admission.h"
#include "hw/tofino/tofino_switch.h"
#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

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
    drops_.list_in(stats);
}

void tofino_switch::add_mac(std::uint64_t mac, std::uint32_t port)
{
    if (port >= config_.ports)
        throw user_error(fmt::format("{}: the address {:012x} is at port {}, but the switch has ports 0 to {}.", name(),
                                     mac, port, config_.ports - 1));
    mac_table_.set(mac, port);
}

std::string tofino_switch::refusal(const tofino_job& job) const { return refusal_of(job, jobs_, config_, verilog_); }

std::uint32_t tofino_switch::add_job(const tofino_job& job)
{
    const std::string problem = refusal(job);
    if (!problem.empty())
        throw user_error(fmt::format("{}: {}", name(), problem));
    return jobs_.add(job);
}

void tofino_switch::remove_job(std::uint32_t id)
{
    if (!jobs_.is_active(id))
        throw user_error(fmt::format("{}: there is no job with the id {}.", name(), id));
    const tofino_job_state& j = jobs_[id];
    if (std::any_of(j.inside.begin(), j.inside.end(),
                    [](std::uint32_t child) { return child != tofino_job_table::k_none; }))
        throw user_error(fmt::format("{}: job {} still has nodes below it; remove them first.", name(), j.job.number));
    if (jobs_.remove(id)) {
        clear_registers();
        jobs_.registers_are_clean();
    }
}

void tofino_switch::clear_registers()
{
    for (auto& unit : units_)
        unit->clear();
}

bool tofino_switch::settled(std::uint64_t now_ps)
{
    return idle() && std::all_of(ports_.begin(), ports_.end(),
                                 [=](const auto& p) { return p->transmitter.busy_until_ps() <= now_ps; });
}

void tofino_switch::reset(std::uint32_t draw)
{
    clear_registers();
    jobs_.reset();
    ingress_drops_.reset(draw);
    egress_drops_.reset(draw);
    std::fill(sequences_.begin(), sequences_.end(), 0);
}

// State
// ----------------------------------------------------------------------------------------------------------------

std::string tofino_switch::blocked_on(std::size_t at_most) const
{
    return waiting_slots(jobs_, name(), config_.stale_filter, at_most);
}

std::vector<awaited_sender> tofino_switch::awaited() const { return awaited_senders(jobs_); }

std::string tofino_switch::broken_messages() const { return weft::broken_messages(jobs_, name()); }

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
        trace_->add_track(*this, fmt::format("from port {}", port), flow_step::goes_on);
    watch_.set(trace_.get(), 0);
}

std::string tofino_switch::describe_slot(std::uint32_t id, std::uint32_t slot) const
{
    const tofino_job_state& j = jobs_.at(id);
    std::string text;
    for (std::uint32_t pipe = 0; pipe < k_tofino_pipes; ++pipe)
        if (j.job.words == 256 || pipe == j.job.home_pipe)
            text += fmt::format(
                "pipe {}: {}\n", pipe,
                units_[pipe]->describe_slot(static_cast<std::uint16_t>(slot - j.job.first_slot + j.register_slot)));
    return text;
}

} // namespace weft
