// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/ethernet_link.h"

#include "hw/ethernet/ethernet_frame.h"
#include "tlm/draw.h"

#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {
enum chance : std::uint64_t { k_loss = 1, k_corruption, k_which_bit, k_duplication, k_reordering };

std::uint64_t draw(std::uint64_t key, std::uint64_t number, chance kind)
{
    return mixed(mixed(key + number * k_draw_step) + kind * 0xd1b54a32d192ed03ull);
}

bool happens(double probability, std::uint64_t random)
{
    return probability > 0 && std::ldexp(static_cast<double>(random >> 11), -53) < probability;
}
} // namespace

std::vector<config_problem> ethernet_impairments::validate() const { return limit_problems(*this); }

std::vector<config_problem> ethernet_link_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    for (config_problem& problem : impairments.validate()) {
        problem.key = "impairments." + problem.key;
        p.push_back(std::move(problem));
    }
    for (std::size_t i = 0; i < outages.size(); ++i)
        if (outages[i].until <= outages[i].from)
            p.push_back({severity::error, fmt::format("outages.{}", i),
                         fmt::format("ends at {}, must end after it begins at {}.", to_string(outages[i].until),
                                     to_string(outages[i].from))});
    return p;
}

ethernet_link::end_side::end_side(ethernet_link& link, std::uint32_t end)
    : in(end == 0 ? "in0" : "in1", link, end), out(end == 0 ? "out0" : "out1"),
      stats(fmt::format("{}.from{}", link.name(), end))
{
    stats.add("frames", "1", "Frames that entered the cable", seen.frames);
    stats.add("lost", "1", "Frames that did not come out, outages included", seen.lost);
    stats.add("corrupted", "1", "Frames that came out damaged", seen.corrupted);
    stats.add("duplicated", "1", "Further copies that came out", seen.duplicated);
    stats.add("delayed", "1", "Frames delayed so that others may pass", seen.delayed);
    stats.add("lost_in_outage", "1", "Frames lost while the cable was down", seen.lost_in_outage);
    stats.add_row({"wire_bytes", "B", "Bytes of the frames on the wire, of a transmitter that is known", this, [](const void* side) {
                       const ethernet_transmitter* const t = static_cast<const end_side*>(side)->transmitter;
                       return t == nullptr ? std::uint64_t{0} : t->wire_bytes.value();
                   }});
}

ethernet_link::ethernet_link(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                             const ethernet_link_config& config, std::uint32_t stream)
    : sc_core::sc_module(name), time_(time), pool_(pool), config_(config), ends_{{{*this, 0}, {*this, 1}}}
{
    for (std::uint32_t end = 0; end < 2; ++end) {
        ends_[end].key = ends_[end].seed_key =
            mixed(mixed(config.seed + k_draw_step) + (std::uint64_t{stream} << 1 | end));
        set_impairments(end, config.impairments);
    }
    time.components().add(*this);
}

void ethernet_link::reset(std::uint32_t draw)
{
    for (end_side& side : ends_) {
        side.key = key_of_draw(side.seed_key, draw);
        side.frames_before = side.seen.frames.value();
        if (side.tapped != packet_tap::k_hidden)
            tap_->on_reset(side.tapped, draw);
    }
}

void ethernet_link::tap_wires(packet_tap& tap)
{
    tap_ = &tap;
    for (std::uint32_t end = 0; end < 2; ++end)
        ends_[end].tapped = tap.add_wire(*this, end, wire_protocol::ethernet);
}

wire_load ethernet_link::load_of_wire(std::uint32_t wire) const
{
    const end_side& from = ends_.at(wire);
    wire_load load;
    if (from.transmitter != nullptr) {
        load.wire_bytes = from.transmitter->wire_bytes.value();
        load.busy_ps = from.transmitter->busy_time.value();
        load.busy_until_ps = from.transmitter->busy_until_ps();
    }
    return load;
}

std::string ethernet_link::wire_name(std::uint32_t wire) const
{
    return fmt::format("{} {}", basename(), wire == 0 ? "up" : "down");
}

void ethernet_link::record_into(trace_sink& trace)
{
    trace_ = std::make_unique<frame_trace>(trace);
    for (std::uint32_t end = 0; end < 2; ++end) {
        trace_->add_track(*this, wire_name(end), flow_step::goes_on);
        ends_[end].losses.set(trace_.get(), end);
        if (ends_[end].transmitter != nullptr)
            ends_[end].transmitter->watch(trace_.get(), end);
    }
}

void ethernet_link::set_impairments(std::uint32_t from, const ethernet_impairments& impairments)
{
    ends_[from].impairments = impairments;
    ends_[from].chance = impairments.any();
}

void ethernet_link::on_frame(std::uint32_t end, packet_ptr frame, std::uint64_t delay_ps)
{
    end_side& from = ends_[end];
    const std::uint64_t number = from.seen.frames.value() - from.frames_before;
    ++from.seen.frames;
    if (from.chance || hook_ != nullptr || !config_.outages.empty())
        return impair(from, end, number, std::move(frame), delay_ps);
    const std::uint64_t arrives_ps = delay_ps + config_.propagation.value();
    tell(from, *frame, arrives_ps, wire_fate::carried, "");
    ends_[1 - end].out->receive(std::move(frame), arrives_ps);
}

void ethernet_link::put_out(std::uint32_t from, packet_ptr frame, std::uint64_t delay_ps)
{
    ++ends_.at(from).seen.frames;
    tell(ends_[from], *frame, delay_ps, (frame->flags & k_corrupted) != 0 ? wire_fate::damaged : wire_fate::carried,
         "");
    ends_[1 - from].out->receive(std::move(frame), delay_ps);
}

void ethernet_link::lose(end_side& from, const packet& frame, std::uint64_t enters_ps, const char* why)
{
    ++from.seen.lost;
    tell(from, frame, enters_ps - time_.now_ps() + config_.propagation.value(), wire_fate::lost, why);
    if (from.losses)
        from.losses.record(frame, enters_ps, enters_ps, 0, true);
}

void ethernet_link::impair(end_side& from, std::uint32_t end, std::uint64_t number, packet_ptr frame,
                           std::uint64_t delay_ps)
{
    const std::uint64_t enters_ps = time_.now_ps() + delay_ps;
    const ethernet_verdict verdict =
        hook_ != nullptr ? hook_->on_frame(end, number, enters_ps, *frame) : ethernet_verdict{};
    for (const ethernet_outage& o : config_.outages)
        if (enters_ps >= o.from.value() && enters_ps < o.until.value()) {
            ++from.seen.lost_in_outage;
            return lose(from, *frame, enters_ps, "the cable is down");
        }
    const ethernet_impairments& odds = from.impairments;
    if (verdict.drop || happens(odds.loss, draw(from.key, number, k_loss)))
        return lose(from, *frame, enters_ps, "");
    const char* remark = "";
    if (verdict.corrupt || happens(odds.corruption, draw(from.key, number, k_corruption))) {
        ++from.seen.corrupted;
        corrupt_frame(*frame, draw(from.key, number, k_which_bit));
    }
    std::uint64_t at_ps = delay_ps + config_.propagation.value() + verdict.extra_delay_ps;
    const bool reordered = happens(odds.reordering, draw(from.key, number, k_reordering));
    if (reordered)
        at_ps += odds.reorder_delay.value();
    if (reordered || verdict.extra_delay_ps > 0)
        ++from.seen.delayed, remark = "delayed by the cable";
    const wire_fate fate = (frame->flags & k_corrupted) != 0 ? wire_fate::damaged : wire_fate::carried;
    const std::uint32_t copies =
        verdict.copies + (happens(odds.duplication, draw(from.key, number, k_duplication)) ? 1 : 0);
    ethernet_transmit_socket& out = ends_[1 - end].out;
    for (std::uint32_t i = 0; i < copies; ++i) {
        ++from.seen.duplicated;
        packet_ptr copy = copy_frame(pool_, *frame);
        const std::uint64_t behind_ps = std::uint64_t{i + 1} * frame->serialisation_ps;
        tell(from, *copy, at_ps + behind_ps, fate, "repeated by the cable");
        out->receive(std::move(copy), at_ps + behind_ps);
    }
    tell(from, *frame, at_ps, fate, remark);
    out->receive(std::move(frame), at_ps);
}

} // namespace weft
