// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Recursive halving and doubling over devices that form a hypercube, in groups of the ranks with the same index on
// their devices. Source: AWS Neuron documentation, "Intra-node Collective Communications with AWS Neuron", section on
// RDH: a 4x4 torus is a hypercube of four axes.
//
//   reduce_scatter  on the device, a rank sums the contributions for all ranks of its group; then along one axis after
//                   the other it sends half of what is left, each shard as the sum of what it has and of what came for
//                   it before
//   all_gather      along one axis after the other it exchanges what it has so far, then passes all on to the others of
//                   the device
//
// Long shards go in slices, so that a step passes on the first one while the next one comes.
// Groups begin with different axes, so that all links are in use. A ring of 2^m devices has m axes by the Gray code of
// the coordinate; in a ring of four each step is one link.
#include "firmware/collectives/device_collectives.h"
#include "firmware/collectives/streams.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_most_axes_of_cube = 6;
/// Chosen on the model of 4x4 Trn2 chips: several elements of an engine, so that overheads are small.
constexpr std::uint64_t k_least_slice_bytes = 128 << 10;
constexpr std::uint32_t k_most_slices = 4;

template <bool rotates> class halving_plan {
public:
    static constexpr std::uint32_t k_step = costs::k_rdh_step, k_place = costs::k_rdh_place, k_looks = 0;
    halving_plan(const abi::platform_table& table, const abi::command& command, std::uint32_t turn)
        : map_(table), turn_(turn), places_(command), sums_(command.op != abi::collective_op::all_gather), gathers_(command.op != abi::collective_op::reduce_scatter),
          slot_(abi::shard_of(command.count, map_.ranks, 0).count)
    {
        for (std::uint32_t d = 0; d < map_.dims; ++d)
            axes_ += bits_of(map_.size[d]);
        while (slices_ < k_most_slices && slot_ * places_.element / (2 * slices_) >= k_least_slice_bytes)
            slices_ *= 2;
    }
    const device_map& map() const { return map_; }
    bool holds_peers() const { return map_.per_device > 1 && sums_ && !gathers_; }

    // Each step has a queue of its own, so that one can begin while the one before still waits for its link: sums on
    // the device, halving steps and the own result, doubling steps, and what is passed on to the device, by as many
    // queues as are left, because it is sent several times.
    std::uint32_t streams() const { return first_passing() + passing(); }
    std::uint32_t length(std::uint32_t stream) const
    {
        if (stream < k_halves)
            return sums_ && map_.per_device > 1 ? slices_ * ((map_.devices + k_halves - 1 - stream) / k_halves) : 0;
        if (stream <= axes_ + k_halves) {
            const std::uint32_t step = stream - k_halves;
            return sums_ ? waits_before(step) + slices_ * (end_of(step) - first_of(step)) : 0;
        }
        if (stream <= 2 * axes_ + k_halves)
            return gathers_ ? slices_ << (stream - axes_ - k_halves - 1) : 0;
        return gathers_ && map_.per_device > 1 ? slices_ * copies() * ((map_.devices + passing() - 1 - (stream - first_passing())) / passing()) : 0;
    }

    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        if (stream < k_halves)
            return sum_on_device(last_of(stream) - k_halves * (k / slices_), k % slices_, s);
        if (stream <= axes_ + k_halves)
            return halve(stream - k_halves, k, s);
        if (stream <= 2 * axes_ + k_halves)
            return double_up(stream - axes_ - k_halves - 1, k / slices_, k % slices_, s);
        const std::uint32_t copy = k % copies();
        k /= copies();
        pass_on(k / slices_ * passing() + stream - first_passing(), k % slices_, copy, s);
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        if (number < k_halves)
            return length(number);
        if (number < own())
            return sums_ ? slices_ * (map_.devices >> (number - k_halves + 1)) : 0;
        if (number == own())
            return sums_ ? slices_ : 0;
        if (number < passed_on())
            return gathers_ ? slices_ << (number - own() - 1) : 0;
        return number == passed_on() && gathers_ ? slices_ * (map_.per_device - 1) * map_.devices : 0;
    }

    template <class Sink> void tells(Sink&& sink) const
    {
        for (std::uint32_t i = 0; i < axes_; ++i)
            sink(map_.rank_of(across(1u << i, true), map_.index));
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            if (i != map_.index)
                sink(map_.rank_of(map_.device, i));
    }
    std::uint32_t told_by() const { return axes_ + map_.per_device - 1; }

private:
    /// Of the sums on the device, by the number of the shard, so that two queues of engines share them.
    static constexpr std::uint32_t k_halves = 2;
    // Numbers for stream_semaphore(): sums on the device, arrivals of each halving step, the own result, arrivals of
    // each doubling step, from the device.
    static std::uint32_t arrivals(std::uint32_t step) { return k_halves + step; }
    std::uint32_t own() const { return axes_ + k_halves; }
    std::uint32_t passed_on() const { return 2 * axes_ + k_halves + 1; }

    std::uint32_t first_passing() const { return k_halves + 2 * axes_ + 1; }
    std::uint32_t passing() const { return k_most_streams - first_passing() < 4 ? k_most_streams - first_passing() : 4; }

    /// The axis of step `i`.
    std::uint32_t axis_of(std::uint32_t i) const { return rotates ? (i + map_.index * axes_ / map_.per_device + turn_) % axes_ : i; }
    /// The device across the axes of the steps that are set in `steps`: step 0 is the lowest bit, or the highest one.
    std::uint32_t across(std::uint32_t steps, bool lowest_first) const
    {
        std::uint32_t flipped = 0;
        for (std::uint32_t i = 0; i < axes_; ++i)
            if ((steps >> (lowest_first ? i : axes_ - 1 - i) & 1) != 0)
                flipped |= 1u << axis_of(i);
        return across_hypercube(map_, map_.device, flipped);
    }
    abi::element_range shard(std::uint32_t device) const { return abi::shard_of(places_.count, map_.ranks, map_.rank_of(device, map_.index)); }
    abi::element_range piece(std::uint32_t device, std::uint32_t slice) const
    {
        const abi::element_range all = shard(device), part = abi::shard_of(all.count, slices_, slice);
        return {all.first + part.first, part.count};
    }
    /// Layer 0: the sum of the own device. Layer 1 + i: what came in step i.
    std::uint64_t slot_of(std::uint32_t layer, std::uint32_t device, const abi::element_range& piece) const
    {
        return places_.in_scratch((std::uint64_t{layer} * map_.devices + device) * slot_ + piece.first - shard(device).first);
    }

    // Shards of the group are numbered by the steps in which their devices are across, step 0 the highest bit: what
    // step i sends is [devices >> i + 1, devices >> i), and 0 is the own one. All go from the highest number to the
    // lowest.
    /// The highest one of a half.
    std::uint32_t last_of(std::uint32_t half) const { return map_.devices - 1 - (map_.devices - 1 - half) % k_halves; }
    /// Sums of a half that are made when that of shard `t` is; none where it does not exist.
    std::uint32_t sums_until(std::uint32_t t) const { return t < map_.devices ? (map_.devices - 1 - t) / k_halves + 1 : 0; }
    void sum_on_device(std::uint32_t t, std::uint32_t slice, stream_step& s) const
    {
        const std::uint32_t device = across(t, false);
        const abi::element_range r = piece(device, slice);
        s.bytes = r.count * places_.element;
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            s.reads(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(r.first));
        s.writes(map_.rank, slot_of(0, device, r), t % k_halves);
    }
    std::uint32_t end_of(std::uint32_t step) const { return map_.devices >> step; }
    std::uint32_t first_of(std::uint32_t step) const { return step == axes_ ? 0 : end_of(step) / 2; }

    /// A descriptor waits for one semaphore. For what came in the step before it waits shard by shard; for the sums of
    /// the own device, and for what came in the steps before that one, the whole step waits beforehand.
    std::uint32_t waits_before(std::uint32_t step) const { return (step >= 1 && map_.per_device > 1 ? k_halves : 0) + (step >= 2 ? step - 1 : 0); }
    void halve(std::uint32_t step, std::uint32_t k, stream_step& s) const
    {
        const std::uint32_t waits = waits_before(step);
        if (k + 1 < step) // all of step k
            return s.waits(arrivals(k), slices_ * end_of(k + 1));
        if (k < waits) {
            const std::uint32_t half = k - (step >= 2 ? step - 1 : 0), first = first_of(step);
            return s.waits(half, slices_ * sums_until(first + (first + half) % k_halves));
        }
        const std::uint32_t t = end_of(step) - 1 - (k - waits) / slices_, slice = (k - waits) % slices_;
        const std::uint32_t device = across(t, false);
        const abi::element_range r = piece(device, slice);
        s.bytes = r.count * places_.element;
        s.reads(map_.rank, map_.per_device > 1 ? slot_of(0, device, r) : places_.in_buffer(r.first));
        for (std::uint32_t i = 0; i < step; ++i)
            s.reads(map_.rank, slot_of(1 + i, device, r));
        if (step > 0)
            s.waits(arrivals(step - 1), slices_ * (end_of(step) - 1 - t) + slice + 1);
        else if (map_.per_device > 1)
            s.waits(t % k_halves, slices_ * (sums_until(t) - 1) + slice + 1);
        if (step == axes_)
            s.writes(map_.rank, places_.in_buffer(r.first), own());
        else
            s.writes(map_.rank_of(across(1u << (axes_ - 1 - step), false), map_.index), slot_of(1 + step, device, r), arrivals(step));
    }

    // Here step 0 is the lowest bit: before step i there are [0, 1 << i).
    void wait_for(std::uint32_t t, std::uint32_t slice, stream_step& s) const
    {
        if (t != 0)
            s.waits(own() + 1 + bits_of(t), slices_ * (t - (1u << bits_of(t))) + slice + 1);
        else if (sums_)
            s.waits(own(), slice + 1);
    }
    void double_up(std::uint32_t step, std::uint32_t t, std::uint32_t slice, stream_step& s) const
    {
        const abi::element_range r = piece(across(t, true), slice);
        s.bytes = r.count * places_.element;
        s.reads(map_.rank, places_.in_buffer(r.first));
        s.writes(map_.rank_of(across(1u << step, true), map_.index), places_.in_buffer(r.first), own() + 1 + step);
        wait_for(t, slice, s);
    }
    std::uint32_t copies() const { return copies_to(map_.per_device - 1); }
    void pass_on(std::uint32_t t, std::uint32_t slice, std::uint32_t copy, stream_step& s) const
    {
        const abi::element_range r = piece(across(t, true), slice);
        s.bytes = r.count * places_.element;
        s.reads(map_.rank, places_.in_buffer(r.first));
        copy_to_peers(map_, copy, s, places_.in_buffer(r.first), passed_on());
        wait_for(t, slice, s);
    }

    device_map map_;
    std::uint32_t turn_; ///< axes that the process group begins later
    stream_places places_;
    bool sums_, gathers_;
    std::uint64_t slot_; ///< elements
    std::uint32_t axes_ = 0;
    std::uint32_t slices_ = 1; ///< of a shard
};

} // namespace

bool is_hypercube(const abi::platform_table& table)
{
    const device_map map(table);
    std::uint32_t axes = 0;
    for (std::uint32_t d = 0; d < map.dims; ++d) {
        if ((map.size[d] & (map.size[d] - 1)) != 0)
            return false;
        axes += bits_of(map.size[d]);
    }
    return axes <= k_most_axes_of_cube;
}

namespace {
/// Process groups of one rank of each device run beside each other, and begin with different axes.
std::uint32_t turn_of_group(abi::hal& hal, const firmware_context& context)
{
    const abi::platform_table& t = context.table;
    const bool one_of_device = context.in_group && t.members != 0 && t.device_ranks > 1 && t.device_members <= 1;
    return one_of_device ? hal.read32(t.members) % t.device_ranks : 0;
}
} // namespace

void run_rdh(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<halving_plan<true>>(hal, dma, context, command, result, turn_of_group(hal, context));
}

void run_rdh_same_axis(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<halving_plan<false>>(hal, dma, context, command, result, 0u);
}

} // namespace weft::firmware
