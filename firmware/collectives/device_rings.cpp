// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings over the ranks of devices, both ways around every cycle of devices, each with a part of every shard. Source:
// AWS Neuron documentation, "Intra-node Collective Communications with AWS Neuron", sections on Ring and KangaRing.
//
//   ring      all ranks of a device one after the other. A step reads what came and the own contribution, and writes
//             their sum on (2R1W); results are read and written on (1R1W).
//   kangaring only the primary one of every two ranks is in the cycle: it reads what came, its own contribution and
//             that of its secondary (3R1W), and writes results on to both the next primary and the secondary (1R2W).
//             Roles change from cycle to cycle.
//
// Small shards take the first cycle one way, longer ones both cycles, then both ways.
// What is on its way waits at the same place of the scratch area as its shard has in the buffer. A shard goes in
// slices, so that one is summed while the other one is sent.
#include "firmware/collectives/device_collectives.h"
#include "firmware/collectives/streams.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_most_streams = 4; ///< two cycles, both ways
/// Bytes of a message below which another one costs more than it brings: chosen on the model of 4x4 Trn2 chips.
constexpr std::uint64_t k_least_message = 8192;
constexpr std::uint32_t k_slices = 2;

// Numbers for stream_semaphore(), by stream.
constexpr std::uint32_t sums_of(std::uint32_t stream) { return stream; }
constexpr std::uint32_t results_of(std::uint32_t stream) { return k_most_streams + stream; }
/// From the own pair, or the rank itself.
constexpr std::uint32_t own_of(std::uint32_t stream) { return 2 * k_most_streams + stream; }

using neighbour_ranks = other_ranks<k_most_streams + 1>; ///< one of each stream, and the other one of a pair

class ring_plan_base {
public:
    ring_plan_base(const abi::platform_table& table, const abi::command& command)
        : map_(table), cycles_(map_), places_(command), sums_(command.op != abi::collective_op::all_gather),
          gathers_(command.op != abi::collective_op::reduce_scatter)
    {
        const std::uint64_t longest = abi::shard_of(command.count, map_.ranks, 0).count * places_.element;
        const std::uint32_t all = 2 * cycles_.count();
        const std::uint64_t fit = longest / k_least_message;
        streams_ = fit >= all ? all : fit > 1 ? static_cast<std::uint32_t>(fit) : 1;
        slices_ = longest / streams_ >= k_slices * k_least_message ? k_slices : 1;
    }
    const device_map& map() const { return map_; }
    std::uint32_t streams() const { return streams_; }
    bool holds_peers() const { return false; }

protected:
    std::uint32_t cycle_of(std::uint32_t stream) const { return stream % cycles_.count(); }
    /// Place in a cycle of `length` as its direction counts it.
    std::uint32_t turned(std::uint32_t stream, std::uint32_t place, std::uint32_t length) const
    {
        return stream / cycles_.count() % 2 == 0 ? place : length - 1 - place;
    }
    /// Of the shard of `rank`, what slice `slice` of `stream` carries.
    abi::element_range piece(std::uint32_t rank, std::uint32_t stream, std::uint32_t slice) const
    {
        const abi::element_range shard = abi::shard_of(places_.count, map_.ranks, rank);
        const abi::element_range part = abi::shard_of(shard.count, streams_, stream);
        const abi::element_range cut = abi::shard_of(part.count, slices_, slice);
        return {shard.first + part.first + cut.first, cut.count};
    }

    device_map map_;
    device_cycles cycles_;
    stream_places places_;
    bool sums_, gathers_;
    std::uint32_t streams_ = 1, slices_ = 1;
};

class ring_plan : public ring_plan_base {
public:
    static constexpr std::uint32_t k_step = costs::k_device_ring_step, k_place = 0, k_looks = 0;
    using ring_plan_base::ring_plan_base;

    std::uint32_t length(std::uint32_t) const { return slices_ * ((sums_ ? map_.ranks : 0) + (gathers_ ? map_.ranks - 1 : 0)); }

    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        const std::uint32_t slice = k % slices_, n = map_.ranks;
        const std::uint32_t here = place_of(stream, map_.rank);
        const std::uint32_t next = rank_at(stream, here + 1);
        std::uint32_t step = k / slices_;
        if (sums_ && step < n) {
            const bool last = step == n - 1;
            const abi::element_range r = piece(rank_at(stream, here + 2 * n - step - 1), stream, slice);
            s.bytes = r.count * places_.element;
            if (step > 0) {
                s.reads(map_.rank, places_.in_scratch(r.first));
                s.waits(sums_of(stream), (step - 1) * slices_ + slice + 1);
            }
            s.reads(map_.rank, places_.in_buffer(r.first));
            if (last)
                s.writes(map_.rank, places_.in_buffer(r.first), own_of(stream));
            else
                s.writes(next, places_.in_scratch(r.first), sums_of(stream));
            return;
        }
        step -= sums_ ? n : 0;
        const abi::element_range r = piece(rank_at(stream, here + n - step), stream, slice);
        s.bytes = r.count * places_.element;
        s.reads(map_.rank, places_.in_buffer(r.first));
        s.writes(next, places_.in_buffer(r.first), results_of(stream));
        if (step > 0)
            s.waits(results_of(stream), (step - 1) * slices_ + slice + 1);
        else if (sums_)
            s.waits(own_of(stream), slice + 1);
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        const std::uint32_t messages = slices_ * (map_.ranks - 1);
        if (number < streams_)
            return sums_ ? messages : 0;
        if (number >= k_most_streams && number < k_most_streams + streams_)
            return gathers_ ? messages : 0;
        return sums_ && number >= 2 * k_most_streams && number < 2 * k_most_streams + streams_ ? slices_ : 0;
    }

    template <class Sink> void tells(Sink&& sink) const { neighbours(false).each(sink); }
    std::uint32_t told_by() const { return neighbours(true).count; }

private:
    std::uint32_t place_of(std::uint32_t stream, std::uint32_t rank) const
    {
        const std::uint32_t place = cycles_.position_of(cycle_of(stream), rank / map_.per_device) * map_.per_device + rank % map_.per_device;
        return turned(stream, place, map_.ranks);
    }
    std::uint32_t rank_at(std::uint32_t stream, std::uint32_t place) const
    {
        const std::uint32_t at = turned(stream, place % map_.ranks, map_.ranks);
        return map_.rank_of(cycles_.device_at(cycle_of(stream), at / map_.per_device), at % map_.per_device);
    }
    /// The next rank of every stream, or the one before.
    neighbour_ranks neighbours(bool next) const
    {
        neighbour_ranks found(map_.rank);
        for (std::uint32_t stream = 0; stream < streams_; ++stream)
            found.add(rank_at(stream, place_of(stream, map_.rank) + (next ? 1 : map_.ranks - 1)));
        return found;
    }
};

class kangaring_plan : public ring_plan_base {
public:
    static constexpr std::uint32_t k_step = costs::k_kangaring_step, k_place = 0, k_looks = 0;
    using ring_plan_base::ring_plan_base;

    std::uint32_t length(std::uint32_t stream) const
    {
        return is_primary(stream) ? slices_ * 2 * ((sums_ ? pairs() : 0) + (gathers_ ? pairs() : 0)) : 0;
    }

    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        const std::uint32_t slice = k % slices_, n = pairs();
        std::uint32_t member = k / slices_ % 2, step = k / slices_ / 2;
        const std::uint32_t here = place_of(stream, map_.rank), next = primary_at(stream, here + 1), second = map_.rank ^ 1u;
        if (sums_ && step < n) {
            const bool last = step == n - 1;
            const std::uint32_t owner = member_at(stream, here + 2 * n - step - 1, member);
            const abi::element_range r = piece(owner, stream, slice);
            s.bytes = r.count * places_.element;
            if (step > 0) {
                s.reads(map_.rank, places_.in_scratch(r.first));
                s.waits(sums_of(stream), ((step - 1) * 2 + member) * slices_ + slice + 1);
            }
            s.reads(map_.rank, places_.in_buffer(r.first));
            s.reads(second, places_.in_buffer(r.first));
            if (!last) {
                s.writes(next, places_.in_scratch(r.first), sums_of(stream));
                return;
            }
            // What the secondary gets the primary needs, too, where it sends results on.
            s.writes(owner, places_.in_buffer(r.first), own_of(stream));
            if (gathers_ && owner == second)
                s.writes(map_.rank, places_.in_buffer(r.first), own_of(stream));
            return;
        }
        step -= sums_ ? n : 0;
        // The secondary's first: behind it comes something for the secondary, which may leave then.
        member = step == 0 ? 1 - member : member;
        const std::uint32_t owner = member_at(stream, here + n - step, member);
        const abi::element_range r = piece(owner, stream, slice);
        s.bytes = r.count * places_.element;
        const bool seconds = step == 0 && member == 1;
        s.reads(seconds && !sums_ ? second : map_.rank, places_.in_buffer(r.first));
        if (step < n - 1)
            s.writes(next, places_.in_buffer(r.first), results_of(stream));
        if (!seconds)
            s.writes(second, places_.in_buffer(r.first), results_of(stream));
        else if (!sums_)
            s.writes(map_.rank, places_.in_buffer(r.first), own_of(stream));
        if (step > 0)
            s.waits(results_of(stream), ((step - 1) * 2 + (step == 1 ? 1 - member : member)) * slices_ + slice + 1);
        else if (sums_) // sums end with the own one, then the secondary's
            s.waits(own_of(stream), member * slices_ + slice + 1);
        if (s.destinations == 0) // two ranks alone: both have it
            s.bytes = s.sources = 0;
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        const std::uint32_t stream = number % k_most_streams, kind = number / k_most_streams;
        if (stream >= streams_)
            return 0;
        const bool primary = is_primary(stream);
        const std::uint32_t passed_on = slices_ * 2 * (pairs() - 1);
        switch (kind) {
        case 0: return sums_ && primary ? passed_on : 0;
        case 1: return !gathers_ ? 0 : primary ? passed_on : passed_on + slices_;
        case 2: return primary ? slices_ * ((sums_ ? 1 : 0) + (gathers_ ? 1 : 0)) : sums_ ? slices_ : 0;
        default: return 0;
        }
    }

    /// The primaries before this one, and where it is secondary, its primary.
    template <class Sink> void tells(Sink&& sink) const { partners(false).each(sink); }
    /// The next primaries, and where it is primary, its secondary.
    std::uint32_t told_by() const { return partners(true).count; }

private:
    std::uint32_t pairs_of_device() const { return map_.per_device / 2; }
    std::uint32_t pairs() const { return map_.ranks / 2; }
    bool is_primary(std::uint32_t stream) const { return map_.rank % 2 == role_of(stream); }
    /// Which one of two is the primary: cycles take turns; where there is one only, its directions do.
    std::uint32_t role_of(std::uint32_t stream) const { return cycles_.count() > 1 ? cycle_of(stream) : stream % 2; }
    std::uint32_t place_of(std::uint32_t stream, std::uint32_t rank) const
    {
        const std::uint32_t place = cycles_.position_of(cycle_of(stream), rank / map_.per_device) * pairs_of_device() + rank % map_.per_device / 2;
        return turned(stream, place, pairs());
    }
    /// Of the pair at `place`: 0 the primary, 1 the secondary.
    std::uint32_t member_at(std::uint32_t stream, std::uint32_t place, std::uint32_t member) const
    {
        const std::uint32_t at = turned(stream, place % pairs(), pairs());
        const std::uint32_t first = map_.rank_of(cycles_.device_at(cycle_of(stream), at / pairs_of_device()), at % pairs_of_device() * 2);
        return first + (role_of(stream) ^ member);
    }
    std::uint32_t primary_at(std::uint32_t stream, std::uint32_t place) const { return member_at(stream, place, 0); }
    neighbour_ranks partners(bool after) const
    {
        neighbour_ranks found(map_.rank);
        for (std::uint32_t stream = 0; stream < streams_; ++stream) {
            const bool primary = is_primary(stream);
            if (primary == after)
                found.add(map_.rank ^ 1u);
            if (primary)
                found.add(primary_at(stream, place_of(stream, map_.rank) + (after ? 1 : pairs() - 1)));
        }
        return found;
    }
};

} // namespace

void run_device_ring(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<ring_plan>(hal, dma, context, command, result);
}

void run_kangaring(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<kangaring_plan>(hal, dma, context, command, result);
}

} // namespace weft::firmware
