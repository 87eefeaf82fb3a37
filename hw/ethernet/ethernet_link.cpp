// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/ethernet_link.h"

#include "hw/ethernet/ethernet_frame.h"

#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {
/// Finaliser of splitmix64: every bit of the result depends on every bit of `z`.
constexpr std::uint64_t mixed(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

enum chance : std::uint64_t { k_loss = 1, k_corruption, k_which_bit, k_duplication, k_reordering };

std::uint64_t draw(std::uint64_t key, std::uint64_t number, chance kind)
{
    return mixed(mixed(key + number * 0x9e3779b97f4a7c15ull) + kind * 0xd1b54a32d192ed03ull);
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
}

ethernet_link::ethernet_link(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                             const ethernet_link_config& config, std::uint32_t stream)
    : sc_core::sc_module(name), time_(time), pool_(pool), config_(config), ends_{{{*this, 0}, {*this, 1}}}
{
    for (std::uint32_t end = 0; end < 2; ++end) {
        ends_[end].key = ends_[end].seed_key =
            mixed(mixed(config.seed + 0x9e3779b97f4a7c15ull) + (std::uint64_t{stream} << 1 | end));
        set_impairments(end, config.impairments);
    }
    time.resets().add(*this);
}

void ethernet_link::reset(std::uint32_t draw)
{
    for (end_side& side : ends_) {
        side.key = key_of_draw(side.seed_key, draw);
        side.frames_before = side.seen.frames.value();
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
        impair(from, end, number, std::move(frame), delay_ps);
    else
        ends_[1 - end].out->receive(std::move(frame), delay_ps + config_.propagation.value());
}

void ethernet_link::lose(end_side& from, const packet& frame, std::uint64_t enters_ps)
{
    ++from.seen.lost;
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
            return lose(from, *frame, enters_ps);
        }
    const ethernet_impairments& odds = from.impairments;
    if (verdict.drop || happens(odds.loss, draw(from.key, number, k_loss)))
        return lose(from, *frame, enters_ps);
    if (verdict.corrupt || happens(odds.corruption, draw(from.key, number, k_corruption))) {
        ++from.seen.corrupted;
        corrupt_frame(*frame, draw(from.key, number, k_which_bit));
    }
    std::uint64_t at_ps = delay_ps + config_.propagation.value() + verdict.extra_delay_ps;
    const bool reordered = happens(odds.reordering, draw(from.key, number, k_reordering));
    if (reordered)
        at_ps += odds.reorder_delay.value();
    if (reordered || verdict.extra_delay_ps > 0)
        ++from.seen.delayed;
    const std::uint32_t copies =
        verdict.copies + (happens(odds.duplication, draw(from.key, number, k_duplication)) ? 1 : 0);
    ethernet_transmit_socket& out = ends_[1 - end].out;
    for (std::uint32_t i = 0; i < copies; ++i) {
        ++from.seen.duplicated;
        packet_ptr copy = copy_frame(pool_, *frame);
        const std::uint64_t behind_ps = std::uint64_t{i + 1} * frame->serialisation_ps;
        out->receive(std::move(copy), at_ps + behind_ps);
    }
    out->receive(std::move(frame), at_ps);
}

} // namespace weft
