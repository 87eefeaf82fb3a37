// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/explain/critical_path.h"

#include "hw/abi/hal.h"
#include "hw/abi/nic.h"
#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"
#include "platforms/explain/path_index.h"
#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>
#include <utility>

namespace weft {

namespace {

class path_finder : private path_index {
public:
    path_finder(recorded_run& run, step_store& store, critical_path& path)
        : path_index(run), steps_(run), store_(store), path_(path), cursor_(path.end_ps)
    {
    }

    void go(std::uint32_t rank)
    {
        const std::vector<core_mark>& marks = run_.cores[rank];
        next_ = {step::core, rank, k_none};
        if (std::none_of(marks.begin(), marks.end(), [&](const core_mark& m) { return m.time_ps == cursor_; }))
            from_other_devices(rank);       // another core than the first of the chip has answered
        constexpr unsigned k_patience = 64; // steps without getting on in time
        unsigned idle = 0;
        while (cursor_ > path_.begin_ps) {
            const std::uint64_t before = cursor_;
            const place_of_path here = next_;
            load_steps_at(cursor_, needed_at(here));
            follow(here);
            idle = cursor_ < before ? 0 : idle + 1;
            if (idle > k_patience)
                attribute(path_cause::unknown, path_.begin_ps, here.rank);
        }
        std::reverse(path_.parts.begin(), path_.parts.end());
    }

private:
    enum class step : std::uint8_t { core, accepted, sent, unit, frame, lost };
    struct place_of_path {
        step what = step::lost;
        std::uint32_t rank = k_none;
        std::uint32_t number = k_none;
    };

    void follow(const place_of_path& here)
    {
        next_ = {step::lost, here.rank, k_none};
        switch (here.what) {
        case step::core: return from_core(here.rank);
        case step::accepted: return from_accepted(here.number);
        case step::sent: return from_sent(here.number);
        case step::unit: return from_unit(here.number, here.rank);
        case step::frame: return from_frame(here.number);
        case step::lost: return attribute(path_cause::unknown, path_.begin_ps, here.rank);
        }
    }
    /// Steps around `at_ps` are in memory afterwards. Lists of steps, and numbers of steps, are others then.
    void load_steps_at(std::uint64_t at_ps, const step_store::needed_steps& needed = {})
    {
        if (store_.reach(steps_, at_ps, needed))
            index_steps();
    }
    /// Nothing was found among the steps that are here, and earlier ones than `since_ps` do not matter.
    void note_missing(std::uint64_t since_ps) { missed_ = missed_ || store_.has_before(since_ps); }
    /// The same as last_of(), of steps.
    template <class TimeOf, class Fits>
    std::uint32_t last_step(const std::vector<std::uint32_t>& list, std::uint64_t at_ps, TimeOf&& time_of, Fits&& fits,
                            std::uint64_t since_ps = 0)
    {
        const std::uint32_t found = last_of(list, at_ps, time_of, fits);
        if (found == k_none)
            note_missing(since_ps);
        return found;
    }
    /// What `look` finds. Where it notes that steps are missing, the path is restored, earlier steps are loaded, and it
    /// looks again.
    template <class Look> std::uint32_t found_after_loading(const step_store::needed_steps& needed, Look&& look)
    {
        const std::uint64_t cursor_ps = cursor_;
        const std::size_t parts = path_.parts.size();
        const path_part last = parts == 0 ? path_part{} : path_.parts.back();
        for (;;) {
            missed_ = false;
            const std::uint32_t found = look();
            if (!missed_ || !store_.reach_back(steps_, cursor_ps, needed))
                return found;
            index_steps();
            cursor_ = cursor_ps;
            path_.parts.resize(parts);
            if (parts != 0)
                path_.parts.back() = last;
            behind_ = k_none;
        }
    }
    static step_store::needed_steps needed_at(const place_of_path& here)
    {
        step_store::needed_steps needed;
        if ((here.what == step::sent || here.what == step::unit) && here.number != k_none)
            needed.sent = here.number;
        if (here.what == step::accepted)
            needed.accepted = here.number;
        return needed;
    }

    /// The time from `from_ps` to where the path is now has this cause.
    void attribute(path_cause cause, std::uint64_t from_ps, std::uint32_t rank, const std::string& where = {})
    {
        from_ps = std::max(from_ps, path_.begin_ps);
        if (from_ps >= cursor_)
            return;
        std::vector<path_part>& parts = path_.parts;
        if (!parts.empty() && parts.back().cause == cause && parts.back().rank == rank && parts.back().where == where)
            parts.back().from_ps = from_ps;
        else
            parts.push_back({from_ps, cursor_, cause, rank, where});
        cursor_ = from_ps;
    }

    // --- Cores

    /// Back from what the core of `rank` does now to what woke it.
    void from_core(std::uint32_t rank)
    {
        const std::vector<core_mark>& marks = run_.cores[rank];
        std::size_t b = static_cast<std::size_t>(
            std::upper_bound(marks.begin(), marks.end(), cursor_,
                             [](std::uint64_t t, const core_mark& m) { return t < m.time_ps; }) -
            marks.begin());
        while (b > 0 && marks[b - 1].what == core_mark::kind::interrupt)
            --b;
        if (b == 0)
            return from_other_devices(rank);
        for (--b;;) {
            if (from_poll(rank, b))
                return;
            std::size_t a = b;
            while (a > 0 && marks[a - 1].what == core_mark::kind::interrupt)
                --a;
            const bool has_before = a > 0;
            const core_mark& now = marks[b];
            const std::uint64_t before_ps = has_before ? marks[a - 1].time_ps : 0;
            const std::uint64_t worked_ps = now.busy_ps - (has_before ? marks[a - 1].busy_ps : 0);
            const std::uint64_t waited_ps = now.memory_ps - (has_before ? marks[a - 1].memory_ps : 0);
            if (now.time_ps - before_ps > worked_ps) {
                // The first interrupt behind which it has worked all the time.
                for (std::size_t i = a; i < b; ++i)
                    if (marks[i].time_ps <= cursor_ &&
                        now.time_ps - marks[i].time_ps == now.busy_ps - marks[i].busy_ps) {
                        worked(now.memory_ps - marks[i].memory_ps, marks[i].time_ps, rank);
                        return from_interrupt(rank, marks[i]);
                    }
                worked(waited_ps, now.time_ps - worked_ps, rank);
                attribute(path_cause::time_out, before_ps, rank);
            } else {
                worked(waited_ps, before_ps, rank);
            }
            if (cursor_ <= path_.begin_ps)
                return;
            b = a - 1;
        }
    }

    /// Back to `from_ps`: the core has worked since, and waited so long for memory, which stands last wherever it was.
    void worked(std::uint64_t waited_ps, std::uint64_t from_ps, std::uint32_t rank)
    {
        attribute(path_cause::memory, std::max(from_ps, cursor_ - std::min(cursor_, waited_ps)), rank);
        attribute(path_cause::firmware, from_ps, rank);
    }

    /// The core has polled the head of a ring until mark `b`: it waited for a packet to leave.
    bool from_poll(std::uint32_t rank, std::size_t b)
    {
        const std::vector<core_mark>& marks = run_.cores[rank];
        std::size_t first = b;
        const auto same = [&](std::size_t i) {
            return marks[i].what == core_mark::kind::read && marks[i].address == marks[b].address;
        };
        if (!same(b))
            return false;
        for (std::size_t i = b; i > 0; --i) {
            if (marks[i - 1].what == core_mark::kind::interrupt)
                continue;
            if (!same(i - 1))
                break;
            first = i - 1;
        }
        if (first == b)
            return false;
        load_steps_at(marks[b].time_ps);
        std::uint64_t best_ps = marks[first].time_ps;
        const std::uint32_t best = found_after_loading({}, [&] {
            std::uint32_t last = k_none;
            best_ps = marks[first].time_ps;
            for (const auto& [port, list] : sent_of_port_) {
                const std::uint64_t device = port >> 32;
                if (rank_of(device) != rank || !run_.devices[device].has_rings)
                    continue;
                const std::uint32_t s = last_step(
                    list, marks[b].time_ps,
                    [&](std::uint32_t i) { return run_.sent[i].step.time_ps + run_.sent[i].step.serialisation_ps; },
                    [&](std::uint32_t i) { return run_.sent[i].step.serialisation_ps != 0; }, marks[first].time_ps);
                if (s == k_none)
                    continue;
                const std::uint64_t left_ps = run_.sent[s].step.time_ps + run_.sent[s].step.serialisation_ps;
                if (left_ps > best_ps && left_ps < cursor_) {
                    last = s;
                    best_ps = left_ps;
                }
            }
            return last;
        });
        if (best == k_none)
            return false;
        attribute(path_cause::firmware, best_ps, rank);
        attribute(path_cause::serialisation, run_.sent[best].step.time_ps, rank, port_name(best));
        next_ = {step::sent, rank, best};
        return true;
    }

    /// The last one of the chip of `rank` up to `at_ps`.
    std::uint32_t completion_for(std::uint32_t rank, std::uint64_t at_ps)
    {
        for (const auto& [device, list] : completions_of_device_)
            if (rank_of(device) == rank)
                if (const std::uint32_t c = last_of(
                        list, at_ps, [&](std::uint32_t i) { return run_.completions[i].time_ps; }, any);
                    c != k_none)
                    return c;
        note_missing(0);
        return k_none;
    }

    void from_interrupt(std::uint32_t rank, const core_mark& at)
    {
        load_steps_at(at.time_ps);
        const auto lines = static_cast<std::uint32_t>(at.address);
        if ((lines & abi::k_irq_dma) != 0)
            if (const std::uint32_t c = found_after_loading({}, [&] { return completion_for(rank, at.time_ps); }); c != k_none) {
                attribute(path_cause::dma, run_.completions[c].time_ps, rank);
                next_ = {step::accepted, rank, run_.completions[c].accepted};
                return;
            }
        if ((lines & abi::k_irq_sync) != 0 && from_sync(rank))
            return;
        if ((lines & abi::k_irq_mailbox) != 0)
            return attribute(path_cause::host, path_.begin_ps, rank);
        from_other_devices(rank);
    }

    /// Ranks have met: the last one to arrive let them go.
    bool from_sync(std::uint32_t rank)
    {
        const auto end_of = [&](std::uint32_t i) { return run_.slices[i].start_ps + run_.slices[i].span_ps; };
        const std::uint32_t own = last_of(list_at(syncs_of_rank_, rank), cursor_, end_of, any);
        if (own == k_none || end_of(own) == 0)
            return false;
        const std::string& zone = run_.slices[own].arguments;
        const std::uint32_t last = last_of(
            list_at(syncs_of_zone_, std::hash<std::string>{}(zone)), end_of(own) - 1,
            [&](std::uint32_t i) { return run_.slices[i].start_ps; },
            [&](std::uint32_t i) { return run_.slices[i].arguments == zone; });
        if (last == k_none)
            return false;
        attribute(path_cause::sync, run_.slices[last].start_ps, rank, "sync wires");
        next_ = {step::core, run_.tracks[run_.slices[last].track].rank, k_none};
        return true;
    }

    // --- Devices beside the DMA engine: the path goes on with what came to them last

    /// A frame, a packet for a coprocessor of this chip, or a register that its core has written.
    void from_other_devices(std::uint32_t rank)
    {
        for (std::uint32_t d = 0; d < run_.devices.size(); ++d)
            if (rank_of(d) == rank && !run_.devices[d].has_rings && (run_.devices[d].accepts || run_.devices[d].sends)) {
                next_ = {step::unit, rank, k_none};
                return;
            }
        from_frames(rank, "", path_cause::firmware, cursor_);
    }

    /// `sent`: what a unit has sent, of which the reason is wanted; k_none: its interrupt.
    void from_unit(std::uint32_t sent, std::uint32_t rank)
    {
        const std::uint32_t w = last_write_to_other_device(rank, cursor_);
        const std::uint64_t written_ps = w == k_none ? 0 : run_.cores[rank][w].time_ps;
        step_store::needed_steps needed;
        if (sent != k_none)
            needed.sent = sent;
        const std::uint32_t packet = found_after_loading(needed, [&] {
            std::uint32_t last = k_none;
            std::uint64_t last_ps = 0;
            for (const auto& [device, list] : accepted_of_device_) {
                if (rank_of(device) != rank || run_.devices[device].has_rings ||
                    (sent != k_none && run_.sent[sent].device != device))
                    continue;
                const std::uint32_t a = last_of(
                    list, cursor_, [&](std::uint32_t i) { return run_.accepted[i].step.time_ps; }, any);
                if (a != k_none && run_.accepted[a].step.time_ps >= last_ps) {
                    last = a;
                    last_ps = run_.accepted[a].step.time_ps;
                }
            }
            if (last == k_none)
                note_missing(written_ps);
            return last;
        });
        const std::uint64_t packet_ps = packet == k_none ? 0 : run_.accepted[packet].step.time_ps;
        if (w != k_none && (packet == k_none || written_ps > packet_ps)) {
            attribute(path_cause::ccu, written_ps, rank);
            next_ = {step::core, rank, k_none};
        } else if (packet != k_none) {
            attribute(path_cause::ccu, packet_ps, rank);
            next_ = {step::accepted, rank, packet};
        }
    }

    /// The last frame that came to `rank`. For one of a slot, whose versions alternate ("slot 3.1"), the last of that
    /// slot: without any it was of the first ones, for which nothing had to come.
    void from_frames(std::uint32_t rank, const std::string& name, path_cause between, std::uint64_t until_ps)
    {
        const std::string slot = slot_of(name, false);
        const std::uint32_t last = last_of(
            list_at(frames_of_rank_, rank), until_ps,
            [&](std::uint32_t i) { return run_.slices[i].start_ps + run_.slices[i].span_ps; },
            [&](std::uint32_t i) { return slot.empty() || slot_of(run_.slices[i].name, false) == slot; });
        const std::uint64_t came_ps = last == k_none ? path_.begin_ps : run_.slices[last].start_ps + run_.slices[last].span_ps;
        if (between == path_cause::nic)
            wait_in_card(came_ps, rank);
        attribute(between, came_ps, rank);
        if (last != k_none)
            next_ = {step::frame, rank, last};
    }

    /// What a card has not put on its wire waits there: as long as the wire carries one frame behind the other, for the
    /// frames before it; for the rest it is the card.
    void wait_in_card(std::uint64_t since_ps, std::uint32_t rank)
    {
        since_ps = std::max(since_ps, path_.begin_ps);
        const std::uint32_t wire = std::exchange(wire_, k_none);
        const std::vector<std::uint32_t>& carried = list_at(slices_of_wire_, wire);
        for (std::size_t i = up_to(carried, cursor_ == 0 ? 0 : cursor_ - 1, [&](std::uint32_t n) { return run_.slices[n].start_ps; }); i-- > 0 && cursor_ > since_ps;) {
            const trace_slice& before = run_.slices[carried[i]];
            if (before.start_ps + before.span_ps < cursor_)
                break;
            attribute(path_cause::serialisation, std::max(since_ps, before.start_ps), recorded_device::k_nobody, run_.tracks[wire].name);
        }
        attribute(path_cause::nic, since_ps, rank);
    }

    /// Back along the way of a frame: cards, cables, switches.
    void from_frame(std::uint32_t number)
    {
        const trace_slice& s = run_.slices[number];
        const recorded_track& at = run_.tracks[s.track];
        const std::string where = at.rank == recorded_device::k_nobody ? at.name : "";
        if (s.flow == flow_step::begins) { // it left a card: for the frame of this slot that came before
            ++path_.frames;
            if (const auto [head, earlier] = sent_before(number); earlier != k_none) { // it was lost, or its answer was
                const trace_slice& lost = run_.slices[earlier];
                wait_in_card(run_.slices[head].start_ps, at.rank);
                attribute(path_cause::time_out, lost.start_ps + lost.span_ps, at.rank);
                next_ = {step::frame, at.rank, earlier};
                return;
            }
            return from_frames(at.rank, s.name, path_cause::nic, std::min(cursor_, s.start_ps));
        }
        if (is_wire_track(s.track))
            wire_ = s.track;
        attribute(s.flow == flow_step::ends  ? path_cause::nic
              : is_switch_track(s.track) ? path_cause::aggregation
                                         : path_cause::serialisation,
              s.start_ps, at.rank, where);
        // The place before: the last one that this frame came to. It may still be there when it leaves, with its last
        // bytes.
        const auto start_of = [&](std::uint32_t i) { return run_.slices[i].start_ps; };
        std::uint32_t before = k_none;
        if (s.start_ps != 0)
            before = last_of(list_at(slices_of_flow_, s.flow_id), s.start_ps - 1, start_of, any);
        // Frames of one text come again and again: where the first of them was seen first, all begin.
        if (before != k_none && (run_.slices[before].track == s.track ||
                                 run_.slices[list_at(slices_of_flow_, s.flow_id).front()].track == s.track))
            before = k_none;
        if (before != k_none) {
            attribute(path_cause::propagation, run_.slices[before].start_ps + run_.slices[before].span_ps,
                  recorded_device::k_nobody, where);
            next_ = {step::frame, at.rank, before};
            return;
        }
        // A switch has made it when the last frame of its slot had come.
        const std::string slot = slot_of(s.name, true);
        before = last_of(list_at(switch_slices_of_slot_, std::hash<std::string>{}(slot)), cursor_ - 1, start_of,
                         [&](std::uint32_t i) { return slot_of(run_.slices[i].name, true) == slot; });
        if (before != k_none) {
            ++path_.frames;
            next_ = {step::frame, at.rank, before};
        }
    }

    // --- Packets

    /// Back from a packet that a device has whole, along all links, to its sender.
    void from_accepted(std::uint32_t number)
    {
        const step_at<packet_accepted> a = run_.accepted[number];
        const std::uint32_t rank = rank_of(a.device);
        attribute(run_.devices[a.device].has_rings ? path_cause::memory : path_cause::ccu, a.step.time_ps, rank);
        ++path_.messages;
        const step_packet& packet = a.step.packet;
        const auto ways = [&]() -> const std::vector<std::uint32_t>& {
            return list_at(crossings_of_message_, key_of(packet));
        };
        load_steps_at(cursor_);
        const auto time_of = [&](std::uint32_t i) { return run_.crossings[i].step.time_ps; };
        const auto of_packet = [&](std::uint32_t i) {
            const step_packet& p = run_.crossings[i].step.packet;
            return p.same_message(packet) && p.index == packet.index;
        };
        const auto of_message = [&](std::uint32_t i) { return run_.crossings[i].step.packet.same_message(packet); };
        std::uint32_t hop = found_after_loading({}, [&] {
            const std::uint32_t exact = last_of(ways(), cursor_, time_of, of_packet);
            return exact != k_none ? exact : last_step(ways(), cursor_, time_of, of_message);
        });
        std::uint32_t index = packet.index;
        if (hop != k_none) {
            const step_at<link_crossing>& c = run_.crossings[hop];
            index = c.step.packet.index;
            const std::uint64_t flight_ps = std::uint64_t{c.step.serialisation_ps} + c.step.latency_ps;
            if (cursor_ - c.step.time_ps > flight_ps)
                attribute(path_cause::controller, c.step.time_ps + flight_ps, rank);
            attribute(path_cause::propagation,
                  std::max(c.step.time_ps, cursor_ - std::min<std::uint64_t>(cursor_, c.step.latency_ps)), k_none,
                  link_name(c));
            attribute(path_cause::serialisation, c.step.time_ps, k_none, link_name(c));
        }
        while (hop != k_none) {
            const step_at<link_crossing> c = run_.crossings[hop];
            wait_before(hop);
            load_steps_at(cursor_);
            attribute(path_cause::serialisation, c.step.head_ps, k_none,
                  link_name(c)); // it must not run dry, or is stored whole
            const auto same = [&](std::uint32_t i) {
                const step_packet& p = run_.crossings[i].step.packet;
                return p.same_message(packet) && p.index == index && run_.crossings[i].step.link == c.step.in_link &&
                       run_.crossings[i].device == c.device;
            };
            const std::uint64_t way_ps = std::uint64_t{c.step.in_latency_ps} + c.step.in_serialisation_ps;
            const std::uint64_t since_ps = c.step.head_ps - std::min<std::uint64_t>(c.step.head_ps, way_ps);
            hop = c.step.time_ps == 0
                      ? k_none
                      : found_after_loading({}, [&] { return last_step(ways(), c.step.time_ps - 1, time_of, same, since_ps); });
            if (hop == k_none) { // it came in here
                attribute(path_cause::router,
                      c.step.head_ps - std::min<std::uint64_t>(c.step.head_ps, c.step.in_latency_ps), k_none,
                      link_name(c));
                break;
            }
            const step_at<link_crossing>& before = run_.crossings[hop];
            const std::uint64_t flight_ps = std::min<std::uint64_t>(
                before.step.latency_ps - std::min(before.step.latency_ps, before.step.pipeline_ps),
                cursor_ > before.step.time_ps ? cursor_ - before.step.time_ps : 0);
            attribute(path_cause::router, before.step.time_ps + flight_ps, k_none, link_name(before));
            attribute(path_cause::propagation, before.step.time_ps, k_none, link_name(before));
        }
        load_steps_at(cursor_);
        const auto sent_time = [&](std::uint32_t i) { return run_.sent[i].step.time_ps; };
        const auto sent_message = [&](std::uint32_t i) { return run_.sent[i].step.packet.same_message(packet); };
        const auto sent_packet_of = [&](std::uint32_t i) {
            return sent_message(i) && run_.sent[i].step.packet.index == packet.index;
        };
        const std::uint32_t sent = found_after_loading({}, [&] {
            const std::vector<std::uint32_t>& all = list_at(sent_of_message_, key_of(packet));
            const std::uint32_t exact = last_of(all, cursor_, sent_time, sent_packet_of);
            return exact != k_none ? exact : last_step(all, cursor_, sent_time, sent_message);
        });
        if (sent == k_none)
            return;
        // No controller keeps a packet so long: what its sender put on the way was lost, and sent again after its
        // timeout, which may have run before.
        const std::uint64_t kept_ps = cursor_ - std::min(cursor_, run_.sent[sent].step.time_ps);
        const bool resent = run_.resend_timeout_ps != 0 && kept_ps >= run_.resend_timeout_ps / 4 * 3;
        attribute(resent ? path_cause::time_out : path_cause::controller, run_.sent[sent].step.time_ps, rank_of(run_.sent[sent].device));
        next_ = {step::sent, rank_of(run_.sent[sent].device), sent};
    }

    /// What a packet waited for in front of its output. Behind packets of its sender it waits for its own bytes; in one
    /// buffer behind those to its receiver, for what they did.
    void wait_before(std::uint32_t hop)
    {
        const std::uint64_t first_ps = run_.crossings[hop].step.earliest_ps;
        while (hop != k_none && cursor_ > first_ps) {
            load_steps_at(cursor_, {{}, {}, hop});
            hop = wait_behind(hop, first_ps);
        }
    }
    /// The packet before it in its buffer, that the path goes on with; none: it has come to `first_ps`.
    std::uint32_t wait_behind(std::uint32_t hop, std::uint64_t first_ps)
    {
        const auto time_of = [&](std::uint32_t i) { return run_.crossings[i].step.time_ps; };
        const step_at<link_crossing> c = run_.crossings[hop];
        const std::string name = link_name(c);
        const auto same_buffer = [&](std::uint32_t i) {
            const step_at<link_crossing>& o = run_.crossings[i];
            return o.device == c.device && o.step.in_link == c.step.in_link && o.step.in_vl == c.step.in_vl;
        };
        const std::uint32_t previous = found_after_loading({}, [&] {
            const auto& buffer =
                list_at(crossings_of_buffer_, place(c.device, c.step.in_link) << 6 | (c.step.in_vl & 63));
            return last_step(buffer, c.step.time_ps - 1, time_of, same_buffer, first_ps);
        });
        const step_at<link_crossing> before = previous == k_none ? step_at<link_crossing>{} : run_.crossings[previous];
        // Until when the buffer was read for the one before.
        std::uint64_t asked_ps = std::max(first_ps, std::min(c.step.earliest_ps, cursor_));
        if (const link_crossing& o = before.step; previous != k_none && o.link != c.step.link)
            asked_ps =
                std::clamp(o.time_ps + std::min(o.serialisation_ps, o.in_serialisation_ps), first_ps, cursor_);
        for (std::uint64_t behind_ps = c.step.time_ps; cursor_ > asked_ps && behind_ps > 0;) {
            load_steps_at(cursor_);
            const std::uint32_t last = found_after_loading({}, [&] {
                return last_step(list_at(crossings_of_link_, place(c.device, c.step.link)), behind_ps - 1, time_of, any, asked_ps);
            });
            if (last == k_none)
                break;
            const step_at<link_crossing> o = run_.crossings[last];
            behind_ps = o.step.time_ps;
            const std::uint64_t end_ps = o.step.time_ps + o.step.serialisation_ps;
            if (end_ps <= asked_ps)
                break;
            attribute(path_cause::credits, std::max(end_ps, asked_ps), k_none, name);
            const bool own = o.step.packet.source == c.step.packet.source;
            attribute(own ? path_cause::serialisation : path_cause::arbitration, std::max(o.step.time_ps, asked_ps),
                  k_none, name);
        }
        attribute(path_cause::credits, asked_ps, k_none, name);
        if (cursor_ <= first_ps)
            return k_none;
        if (previous != k_none && before.step.packet.same_way(c.step.packet)) {
            attribute(path_cause::serialisation, std::max(before.step.time_ps, first_ps), k_none, link_name(before));
            return previous;
        }
        attribute(path_cause::head_of_line, first_ps, k_none, name);
        return k_none;
    }

    /// Back from a packet on its port to why it was sent: packets before it, reads, its descriptor, the doorbell.
    void from_sent(std::uint32_t number)
    {
        const sent_packet first = run_.sent[number]; // others may be here when the path has gone along its port
        const std::uint32_t device = first.device, rank = rank_of(device);
        const std::uint64_t work_key = place(device, 0) ^ first.step.work * 0x9e37'79b9'7f4a'7c15ull;
        const std::uint32_t posted = last_of(
            list_at(posted_of_work_, work_key), first.step.time_ps,
            [&](std::uint32_t i) { return run_.posted[i].step.time_ps; },
            [&](std::uint32_t i) {
                return run_.posted[i].device == device && run_.posted[i].step.work == first.step.work;
            });
        if (posted == k_none)
            return;
        const work_posted& p = run_.posted[posted].step;
        const std::uint32_t doorbell = doorbell_of_posted_[posted];
        std::uint64_t limit_ps = p.entries != 0 && doorbell != k_none ? run_.cores[rank][doorbell].time_ps : p.time_ps;
        const std::uint32_t woken = last_of(
            list_at(woken_of_work_, work_key), first.step.time_ps,
            [&](std::uint32_t i) { return run_.woken[i].step.time_ps; },
            [&](std::uint32_t i) {
                return run_.woken[i].device == device && run_.woken[i].step.work == first.step.work &&
                       run_.woken[i].step.time_ps >= p.time_ps;
            });
        if (woken != k_none)
            limit_ps = run_.woken[woken].step.time_ps;
        if (woken == k_none)
            if (const std::uint32_t held = held_up_by(posted, limit_ps);
                held != k_none) { // the queue stood still behind it
                const last_packet last = run_.last_of_posted[held];
                along_port(number, last.read_ps);
                attribute(path_cause::dma, last.read_ps, rank);
                next_ = {step::sent, rank, last.sent};
                return;
            }
        along_port(number, limit_ps);
        if (const std::uint32_t behind = std::exchange(behind_, k_none); behind != k_none) {
            next_ = {step::sent, rank, behind};
            return;
        }
        if (cursor_ <= p.time_ps && p.entries != 0)
            attribute(path_cause::memory, std::max(p.fetch_ps, limit_ps), rank);
        attribute(path_cause::dma, limit_ps, rank);
        load_steps_at(cursor_);
        if (woken != k_none) {
            const std::uint32_t c = found_after_loading({}, [&] { // engines take long to start
                return last_step(
                    list_at(completions_of_device_, device), limit_ps,
                    [&](std::uint32_t i) { return run_.completions[i].time_ps; },
                    [&](std::uint32_t i) { return run_.completions[i].semaphore == run_.woken[woken].step.semaphore; });
            });
            if (c == k_none)
                return;
            attribute(path_cause::dma, run_.completions[c].time_ps, rank);
            next_ = {step::accepted, rank, run_.completions[c].accepted};
        } else if (p.entries != 0) {
            if (doorbell != k_none)
                next_ = {step::core, rank, k_none};
        } else if (const std::uint32_t request =
                   p.answers ? found_after_loading({}, [&] { return request_of(first); }) : k_none;
                   request != k_none) {
            attribute(path_cause::ccu, run_.accepted[request].step.time_ps, rank);
            next_ = {step::accepted, rank, request};
        } else {
            next_ = {step::unit, rank, number};
        }
    }

    /// The work before it in its ring, when that waited for a semaphore until after `limit_ps`, or stood behind such
    /// work; its last packet was read since then.
    std::uint32_t held_up_by(std::uint32_t posted, std::uint64_t limit_ps) const
    {
        const std::uint32_t device = run_.posted[posted].device;
        if (!run_.devices[device].has_rings)
            return k_none;
        const auto& of_device = list_at(posted_of_device_, device);
        std::size_t at =
            static_cast<std::size_t>(std::lower_bound(of_device.begin(), of_device.end(), posted) - of_device.begin());
        std::uint32_t direct = k_none; // just before
        while (at-- > 0) {
            const std::uint32_t before = of_device[at];
            const work_posted& p = run_.posted[before].step;
            if (p.queue != run_.posted[posted].step.queue)
                continue;
            const last_packet& last = run_.last_of_posted[before];
            if (last.sent == k_none || last.read_ps <= limit_ps || last.read_ps >= cursor_)
                return k_none;
            if (direct == k_none)
                direct = before;
            if (woken_of_posted_[before] != k_none)
                return run_.woken[woken_of_posted_[before]].step.time_ps > limit_ps ? direct : k_none;
        }
        return k_none;
    }

    /// What a unit answers by `sent`: the request of the same message from there.
    std::uint32_t request_of(const sent_packet& sent)
    {
        return last_step(
            list_at(accepted_of_device_, sent.device), cursor_,
            [&](std::uint32_t i) { return run_.accepted[i].step.time_ps; },
            [&](std::uint32_t i) {
                const step_packet& p = run_.accepted[i].step.packet;
                return p.source == sent.step.packet.destination && p.message == sent.step.packet.message;
            });
    }

    /// Place in `port` of the packet that was sent at `at_ps`, before place `at`; `at`: none was.
    std::size_t sent_at(const std::vector<std::uint32_t>& port, std::size_t at, std::uint64_t at_ps)
    {
        std::size_t before = at;
        while (before > 0 && run_.sent[port[before - 1]].step.time_ps > at_ps)
            --before;
        if (before == 0)
            note_missing(at_ps);
        return before > 0 && run_.sent[port[before - 1]].step.time_ps == at_ps ? before - 1 : at;
    }

    /// The packet at place `at` was read now although no slot has come free: its descriptor has come, or room on its
    /// way. Which packet the path goes on with; `at`: none.
    std::size_t before_read(const std::vector<std::uint32_t>& port, std::size_t at, std::uint64_t limit_ps,
                            const std::string& name)
    {
        const std::uint32_t rank = rank_of(run_.sent[port[at]].device);
        const std::uint32_t p = posted_of_sent(port[at]);
        std::size_t before = at;
        if (p == k_none || run_.posted[p].step.time_ps < cursor_) {
            while (before > 0 && run_.sent[port[before - 1]].step.time_ps > cursor_)
                --before;
            if (before == 0) {
                note_missing(limit_ps);
                return at;
            }
            const packet_sent& o = run_.sent[port[--before]].step;
            attribute(path_cause::credits, std::max(std::min(o.time_ps + o.serialisation_ps, cursor_), limit_ps), rank,
                  name);
            attribute(o.packet.same_way(run_.sent[port[at]].step.packet) ? path_cause::serialisation : path_cause::port,
                  std::max(o.time_ps, limit_ps), rank, name);
            return before;
        }
        attribute(path_cause::memory, std::max(run_.posted[p].step.fetch_ps, limit_ps), rank);
        // Its ring was read on when the descriptor before it was there, or one had been read out.
        const auto& of_device = list_at(posted_of_device_, run_.sent[port[at]].device);
        for (auto o = std::lower_bound(of_device.begin(), of_device.end(), p);
             o != of_device.begin() && cursor_ > limit_ps;)
            if (const work_posted& w = run_.posted[*--o].step; w.queue == run_.posted[p].step.queue) {
                if (w.time_ps != cursor_)
                    break;
                attribute(path_cause::memory, std::max(w.fetch_ps, limit_ps), rank);
            }
        note_missing(cursor_);
        for (std::size_t i = at; i-- > 0 && cursor_ > limit_ps;) {
            if (run_.sent[port[i]].read_ps != cursor_)
                continue;
            const std::uint32_t w = posted_of_sent(port[i]);
            const bool waited =
                w != k_none &&
                ((woken_of_posted_[w] != k_none && run_.woken[woken_of_posted_[w]].step.time_ps > limit_ps) ||
                 held_up_by(w, limit_ps) != k_none);
            if (waited) { // the ring stood still behind a semaphore: the path is that of the work before
                behind_ = port[i];
                return at;
            }
            return sent_at(port, at, cursor_);
        }
        return at;
    }

    /// Along the packets of a port, as long as each waited for the one before, or for a slot to be read into; down to
    /// `limit_ps`.
    void along_port(std::uint32_t number, std::uint64_t limit_ps)
    {
        const step_packet own = run_.sent[number].step.packet;
        const std::uint64_t key = place(run_.sent[number].device, run_.sent[number].step.port);
        const std::string name = port_name(number);
        while (number != k_none && cursor_ > limit_ps) {
            load_steps_at(cursor_, {number, {}, {}});
            number = found_after_loading({number, {}, {}}, [&] { return before_on_port(number, limit_ps, key, own, name); });
        }
    }
    /// The packet that the path goes on with; none: this one waited for no other.
    std::uint32_t before_on_port(std::uint32_t number, std::uint64_t limit_ps, std::uint64_t key,
                                 const step_packet& own, const std::string& name)
    {
        const auto& port = list_at(sent_of_port_, key);
        const auto at = static_cast<std::size_t>(std::lower_bound(port.begin(), port.end(), number) - port.begin());
        const sent_packet& s = run_.sent[port[at]];
        const std::uint32_t rank = rank_of(s.device);
        attribute(path_cause::credits, std::max({s.step.ready_ps, s.step.wire_free_ps, limit_ps}), rank, name);
        std::size_t before = at;
        const bool is_read = cursor_ <= s.read_ps; // the path has come to its reading
        if (!is_read && s.step.wire_free_ps >= s.step.ready_ps) {
            while (before > 0 && run_.sent[port[before - 1]].step.serialisation_ps == 0)
                --before;
            if (before == 0) {
                note_missing(limit_ps);
                return k_none;
            }
            const sent_packet& o = run_.sent[port[--before]];
            attribute(o.step.packet.same_way(own) ? path_cause::serialisation : path_cause::port,
                  std::max(o.step.time_ps, limit_ps), rank, name);
            return port[before];
        }
        attribute(path_cause::memory, std::max(s.read_ps, limit_ps), rank);
        before = sent_at(port, at, cursor_); // it was read when a packet before it had left its slot
        if (before == at && cursor_ > limit_ps)
            before = before_read(port, at, limit_ps, name);
        return before == at ? k_none : port[before];
    }

    packet_steps& steps_;
    step_store& store_;
    critical_path& path_;
    std::uint64_t cursor_;
    std::uint32_t wire_ = k_none; ///< the cable behind the card that the path comes to
    bool missed_ = false; ///< what was looked for is not here, and may be further back
    std::uint32_t behind_ = k_none; ///< sent packet behind whose work a ring stood still
    place_of_path next_;
};

} // namespace

critical_path find_critical_path(recorded_run& run, step_store& store, std::uint32_t rank)
{
    critical_path path;
    path.rank = rank;
    path.begin_ps = run.begin_ps;
    path.end_ps = run.answer_ps.at(rank);
    path_finder(run, store, path).go(rank);
    std::uint64_t sum_ps = 0, at_ps = path.begin_ps;
    for (const path_part& p : path.parts) {
        if (p.from_ps != at_ps || p.until_ps <= p.from_ps)
            throw bug("critical_path", p.from_ps,
                      fmt::format("the parts of the path of rank {} have a gap at {} ps", rank, at_ps));
        at_ps = p.until_ps;
        sum_ps += p.until_ps - p.from_ps;
    }
    if (sum_ps != path.time_ps())
        throw bug("critical_path", path.end_ps,
                  fmt::format("the parts of the path of rank {} sum to {} ps of {} ps", rank, sum_ps, path.time_ps()));
    return path;
}

} // namespace weft
