// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/unit_costs.h"

#include "firmware/collectives/ccu_plan.h"
#include "hw/abi/ccu.h"
#include "platforms/workload/cost_parts.h"

#include <vector>

namespace weft {

namespace {

// Of collective communication units, calibrated on a board of 8 NPUs: register accesses of a core for a task on both
// dies, from its arguments to the status; moving and reducing one slice; share of the links' payload rate that slices
// and their requests leave.
constexpr double k_unit_accesses = 56, k_unit_slice_us = 0.35, k_unit_share = 0.97;
// Links idle while sums of more ranks than one instruction takes follow each other: each such round but the first adds
// this part. Calibrated: all_reduce by ccu_one_shot of 256 KiB and by ccu of 16 MiB on racks of 2x8 to 8x8 NPUs.
constexpr double k_round_part = 0.28;

class unit_costs : cost_parts {
public:
    using cost_parts::cost_parts;

    std::optional<double> us() const
    {
        if (!fits())
            return std::nullopt;
        switch (c_.algo) {
        case abi::algorithm::ccu:
            return more_than_channels() ? in_rounds() : flat(c_.op == abi::collective_op::all_reduce ? 2 : 1);
        case abi::algorithm::ccu_one_shot: return one_shot();
        case abi::algorithm::ccu_axes:
            return c_.op == abi::collective_op::all_to_all ? by_lines() : by_axes();
        default: return std::nullopt;
        }
    }

private:
    /// The units have room for its programs.
    bool fits() const
    {
        abi::command command;
        command.op = c_.op;
        command.algo = c_.algo;
        command.type = c_.type;
        command.count = c_.count;
        return m_.units && firmware::ccu_refusal(t_, command, *m_.units).ok();
    }
    std::uint32_t channels() const { return std::min(m_.units->channels, firmware::k_ccu_channels); }
    /// An all_to_all of more ranks than channels.
    bool more_than_channels() const { return c_.op == abi::collective_op::all_to_all && t_.ranks > channels() + 1; }
    /// All meet before and behind; the own block is a task, and so are those of as many ranks as there are channels.
    double in_rounds() const
    {
        const double rounds = 1 + std::ceil((t_.ranks - 1.0) / channels());
        return 2 * barrier() + rounds * (task() + round(farthest())) + shot(bytes_, false);
    }
    /// all_to_all: a task for each dimension, with all data.
    double by_lines() const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
            if (t_.dims[d] < 2)
                continue;
            const double rate = bytes_per_us(t_.rate_mbps[d] != 0 ? t_.rate_mbps[d] : m_.links_bps / 1'000'000);
            us += task() + 2 * m_.hop_us[d] + 2 * m_.unit_bits_us + round(m_.hop_us[d]) +
                  std::max(bytes_ * (t_.dims[d] - 1) / t_.dims[d] / rate / k_unit_share, at_unit(bytes_ / 2, t_.dims[d], m_.hop_us[d], false));
        }
        return us;
    }
    /// A request to a unit `hop_us` away and its answer, a slice of data either way: both memories, bits here.
    double round(double hop_us) const { return 2 * hop_us + 2 * m_.memory_us + m_.unit_bits_us + k_unit_slice_us; }
    /// The core launches a task on both dies, or on the first where the other has no element, and is woken.
    double task() const
    {
        const double dies = c_.algo != abi::algorithm::ccu_axes && elements_in_halves() < 2 ? 1 : abi::ccu::k_dies;
        return start() + k_unit_accesses * dies / abi::ccu::k_dies * m_.unit_access_us + m_.unit_start_us + m_.wake_us;
    }
    /// What dies halve: a shard of the first rank, or all there is.
    std::uint64_t elements_in_halves() const
    {
        const bool all = c_.algo == abi::algorithm::ccu_one_shot || has_root(c_.op);
        return all ? c_.count : abi::shard_of(c_.count, t_.ranks, 0).count;
    }
    /// Everybody sends everybody their part of `bytes`, by all dimensions at once.
    double wire(double bytes) const
    {
        double us = 0;
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            if (t_.dims[d] > 1 && t_.rate_mbps[d] != 0)
                us = std::max(us, bytes * (t_.dims[d] - 1) / t_.dims[d] / bytes_per_us(t_.rate_mbps[d]));
        return (us != 0 ? us : bytes / bytes_per_us(m_.links_bps / 1'000'000)) / k_unit_share;
    }
    /// What one unit needs to bring `bytes` of `ranks`, itself included, to its slices or its memory, to sum them
    /// there, and for what it may have under way on the channel to each of them.
    double at_unit(double bytes, double ranks, double hop_us, bool sums) const
    {
        const double share = bytes / ranks, answer_us = 2 * hop_us + m_.memory_us;
        const double rounds = rounds_of(ranks);
        const auto at = [](double moved, double rate) { return rate > 0 ? moved / rate : 0; };
        const bool in_slices = c_.op != abi::collective_op::all_to_all; // else from memory to memory
        const double window = std::max(static_cast<double>(m_.units->outstanding) * abi::ccu::k_slice_bytes, in_slices ? 0 : m_.unit_segment);
        return std::max({at(share, window / answer_us), in_slices ? at(bytes, m_.unit_sram_rate) : 0,
                         sums ? rounds * at(share, m_.unit_reduce_rate) : 0, sums || !in_slices ? at(bytes - share, m_.unit_read_rate) : 0});
    }
    /// Everybody sends everybody their part of `bytes`: the slower of links and units. Sums go on from their slices.
    double shot(double bytes, bool sums) const
    {
        const double idle = sums ? 1 + k_round_part * (rounds_of(t_.ranks) - 1) : 1;
        return std::max(wire(bytes) * idle, at_unit(bytes / 2, t_.ranks, farthest(), sums));
    }
    static double rounds_of(double ranks) { return std::ceil((ranks - 1) / (abi::ccu::k_most_reduced - 1.0)); }
    /// Reductions of more ranks than one instruction takes follow each other: what the next one needs is on its way,
    /// and comes one hop later. Calibrated: racks of 2x8 to 8x8, cables of 45 ns and 2 us, 4 KiB.
    double chain(double hop_us) const
    {
        return (rounds_of(t_.ranks) - 1) * hop_us;
    }
    double flat(double shots) const
    {
        const double rounds = has_root(c_.op) ? 2 : shots;
        const double hop_us = farthest();
        const double bytes =
            has_root(c_.op) ? bytes_ * t_.ranks / (t_.ranks - 1) : bytes_; // shares of all but the root
        return task() + 2 * hop_us + rounds * round(hop_us) + (reduces(c_.op) ? chain(hop_us) : 0) +
               shot(bytes, reduces(c_.op)) + (shots - 1) * shot(bytes, false);
    }
    double one_shot() const
    {
        const double hop_us = farthest();
        return task() + 2 * hop_us + round(hop_us) + chain(hop_us) + shot(bytes_ * t_.ranks, true);
    }
    /// Shards of ranks that a line exchanges lie apart: they go one after the other, or all of them slice after slice.
    double pieces_in_turn(std::size_t die, std::uint32_t dimension) const
    {
        if (c_.op == abi::collective_op::all_reduce)
            return 1;
        double inside = 1;
        for (std::uint32_t d = dimension + 1; d < t_.dim_count; ++d)
            inside *= t_.dims[d];
        const double pieces = die == 0 ? t_.ranks / (inside * t_.dims[dimension]) : inside;
        const double slices = std::ceil(bytes_ / t_.ranks / 2 / abi::ccu::k_slice_bytes);
        return std::max(1.0, std::min(pieces, slices));
    }
    /// One die begins with the innermost dimension, the other with the outermost.
    double by_axes() const
    {
        std::vector<std::uint32_t> order;
        for (std::uint32_t d = t_.dim_count; d-- > 0;)
            if (t_.dims[d] > 1)
                order.push_back(d);
        const double passes = c_.op == abi::collective_op::all_reduce ? 2 : 1;
        const bool spreads = has_root(
            c_.op); // all goes through every dimension, parts from the root and on to the others, or the other way
        double us = task();
        double left[2] = {bytes_ / 2, bytes_ / 2};
        std::vector<double> wire[2];
        for (std::size_t level = 0; level < order.size(); ++level) {
            double level_us = 0, gather_us = 0;
            for (std::size_t die = 0; die < 2; ++die) {
                const std::uint32_t d = order[die == 0 ? level : order.size() - 1 - level];
                const double rate = bytes_per_us(t_.rate_mbps[d] != 0 ? t_.rate_mbps[d] : m_.links_bps / 1'000'000);
                const double share = spreads ? 1 : (t_.dims[d] - 1.0) / t_.dims[d];
                const bool meet = 2 * level + 1 == order.size(); // both dies in the same dimension
                const double wire_us = (meet ? 2 : 1) * left[die] * share / rate / k_unit_share;
                wire[die].push_back(wire_us);
                const double rounds = spreads ? 2 : pieces_in_turn(die, d);
                const double in_turn_us = rounds * round(m_.hop_us[d]) + 2 * m_.hop_us[d] + 2 * m_.unit_bits_us;
                level_us = std::max(level_us, std::max(wire_us, at_unit(left[die], t_.dims[d], m_.hop_us[d], reduces(c_.op))) + in_turn_us);
                gather_us = std::max(gather_us, std::max(wire_us, at_unit(left[die], t_.dims[d], m_.hop_us[d], false)) + in_turn_us);
                left[die] /= spreads ? 1 : t_.dims[d];
            }
            us += level_us + (passes - 1) * gather_us;
        }
        return us + (order.size() == 2 && !spreads ? in_the_way(wire) : 0);
    }
    /// Of two dimensions, when the die that begins with the faster one is ahead of the other: it sums along the links
    /// by which that one still sums, gathers there, too, and then along those by which that one goes on.
    double in_the_way(const std::vector<double>* wire) const
    {
        const std::size_t late = wire[1][0] > wire[0][0] ? 1 : 0;
        const double ahead = wire[late][0] - wire[1 - late][0];
        const double early = wire[1 - late][1], own = wire[late][1];
        return !reduces(c_.op)                              ? 0
               : c_.op == abi::collective_op::all_reduce    ? std::min(ahead, 2 * early) + std::min(ahead, 2 * own)
                                                            : std::min(ahead, early);
    }
};

} // namespace

std::optional<double> by_units_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c)
{
    return unit_costs(table, costs, c).us();
}

} // namespace weft
