// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Recursive halving and doubling over devices that form a hypercube, in groups of the ranks with the same index on their devices. Source: AWS Neuron
// documentation, "Intra-node Collective Communications with AWS Neuron", section on RDH: a 4x4 torus is a hypercube of four axes.
//
//   reduce_scatter  on the device, a rank sums the contributions for all ranks of its group; then along one axis after the other it sends half of what is
//                   left, each shard as the sum of what it has and of what came for it before
//   all_gather      along one axis after the other it exchanges what it has so far, then passes all on to the others of the device
//
// Groups begin with different axes, so that all links are in use. A ring of 2^m devices has m axes by the Gray code of the coordinate; in a ring of four
// each step is one link.
#include "firmware/collectives/device_collectives.h"
#include "firmware/collectives/streams.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_most_axes_of_cube = 6;

std::uint32_t bits_of(std::uint32_t size)
{
    std::uint32_t bits = 0;
    while (size >> (bits + 1) != 0)
        ++bits;
    return bits;
}

template <bool rotates> class halving_plan {
public:
    halving_plan(const abi::platform_table& table, const abi::command& command)
        : map_(table), places_(command), sums_(command.op != abi::collective_op::all_gather), gathers_(command.op != abi::collective_op::reduce_scatter),
          slot_(abi::shard_of(command.count, map_.ranks, 0).count)
    {
        for (std::uint32_t d = 0; d < map_.dims; ++d)
            axes_ += bits_of(map_.size[d]);
    }
    const device_map& map() const { return map_; }
    bool holds_peers() const { return map_.per_device > 1 && sums_ && !gathers_; }

    std::uint32_t streams() const { return 4; }
    std::uint32_t length(std::uint32_t stream) const
    {
        switch (stream) {
        case k_on_device: return sums_ && map_.per_device > 1 ? map_.devices : 0;
        case k_halving: return sums_ ? map_.devices + (axes_ > 1 ? axes_ - 1 : 0) + (map_.per_device > 1 ? axes_ : 0) : 0;
        case k_doubling: return gathers_ ? map_.devices - 1 : 0;
        default: return gathers_ && map_.per_device > 1 ? map_.devices : 0;
        }
    }

    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        switch (stream) {
        case k_on_device: return sum_on_device(map_.devices - 1 - k, s);
        case k_halving: return halve_or_wait(k, s);
        case k_doubling: return double_up(k + 1, s);
        default: return pass_on(k, s);
        }
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        if (number == 0)
            return length(k_on_device);
        if (number <= axes_)
            return sums_ ? map_.devices >> number : 0;
        if (number == own())
            return sums_ ? 1 : 0;
        if (number < passed_on())
            return gathers_ ? 1u << (number - own() - 1) : 0;
        return number == passed_on() && gathers_ ? (map_.per_device - 1) * map_.devices : 0;
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
    static constexpr std::uint32_t k_on_device = 0, k_halving = 1, k_doubling = 2;
    // Numbers for stream_semaphore(): sums on the device, arrivals of each halving step, the own result, arrivals of each doubling step, from the device.
    std::uint32_t own() const { return axes_ + 1; }
    std::uint32_t passed_on() const { return 2 * axes_ + 2; }

    /// The axis of step `i`.
    std::uint32_t axis_of(std::uint32_t i) const { return rotates ? (i + map_.index * axes_ / map_.per_device) % axes_ : i; }
    /// The device across the axes of the steps that are set in `steps`: step 0 is the lowest bit, or the highest one.
    std::uint32_t across(std::uint32_t steps, bool lowest_first) const
    {
        std::uint32_t flipped = 0;
        for (std::uint32_t i = 0; i < axes_; ++i)
            if ((steps >> (lowest_first ? i : axes_ - 1 - i) & 1) != 0)
                flipped |= 1u << axis_of(i);
        std::uint32_t device = 0, stride = 1, rest = map_.device;
        for (std::uint32_t d = map_.dims; d-- > 0;) {
            const std::uint32_t bits = bits_of(map_.size[d]), at = rest % map_.size[d];
            std::uint32_t gray = (at ^ (at >> 1)) ^ (flipped & ((1u << bits) - 1));
            for (std::uint32_t shift = 1; shift < bits; shift *= 2)
                gray ^= gray >> shift;
            device += gray * stride;
            stride *= map_.size[d];
            rest /= map_.size[d];
            flipped >>= bits;
        }
        return device;
    }
    abi::element_range shard(std::uint32_t device) const { return abi::shard_of(places_.count, map_.ranks, map_.rank_of(device, map_.index)); }
    /// Layer 0: the sum of the own device. Layer 1 + i: what came in step i.
    std::uint64_t slot_of(std::uint32_t layer, std::uint32_t device) const { return places_.in_scratch((std::uint64_t{layer} * map_.devices + device) * slot_); }

    // Shards of the group are numbered by the steps in which their devices are across, step 0 the highest bit: what step i sends is [devices >> i + 1,
    // devices >> i), and 0 is the own one. All go from the highest number to the lowest.
    void sum_on_device(std::uint32_t t, stream_step& s) const
    {
        const std::uint32_t device = across(t, false);
        const abi::element_range r = shard(device);
        s.bytes = r.count * places_.element;
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            s.reads(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(r.first));
        s.writes(map_.rank, slot_of(0, device), 0);
    }
    /// A descriptor waits for one semaphore. For what came in the step before it waits shard by shard; for the sums of the own device, and for what came in
    /// the steps before that one, the whole step waits beforehand.
    void halve_or_wait(std::uint32_t k, stream_step& s) const
    {
        for (std::uint32_t i = 0; i <= axes_; ++i) {
            const std::uint32_t end = map_.devices >> i, first = i == axes_ ? 0 : end / 2; // of the shards of step i
            if (i >= 1 && map_.per_device > 1 && k-- == 0)
                return s.waits(0, map_.devices - first);
            if (i >= 2 && k-- == 0)
                return s.waits(i - 1, 2 * end);
            if (k < end - first)
                return halve(end - 1 - k, s);
            k -= end - first;
        }
    }
    void halve(std::uint32_t t, stream_step& s) const
    {
        const std::uint32_t device = across(t, false);
        const abi::element_range r = shard(device);
        s.bytes = r.count * places_.element;
        const std::uint32_t step = t == 0 ? axes_ : axes_ - 1 - bits_of(t);
        s.reads(map_.rank, map_.per_device > 1 ? slot_of(0, device) : places_.in_buffer(r.first));
        for (std::uint32_t i = 0; i < step; ++i)
            s.reads(map_.rank, slot_of(1 + i, device));
        if (step > 0)
            s.waits(step, (map_.devices >> step) - t);
        else if (map_.per_device > 1)
            s.waits(0, map_.devices - t);
        if (t == 0)
            s.writes(map_.rank, places_.in_buffer(r.first), own());
        else
            s.writes(map_.rank_of(across(1u << (axes_ - 1 - step), false), map_.index), slot_of(1 + step, device), 1 + step);
    }

    // Here step 0 is the lowest bit: before step i there are [0, 1 << i).
    void wait_for(std::uint32_t t, stream_step& s) const
    {
        if (t != 0)
            s.waits(own() + 1 + bits_of(t), t - (1u << bits_of(t)) + 1);
        else if (sums_)
            s.waits(own(), 1);
    }
    void double_up(std::uint32_t k, stream_step& s) const
    {
        const std::uint32_t step = bits_of(k), t = k - (1u << step);
        const abi::element_range r = shard(across(t, true));
        s.bytes = r.count * places_.element;
        s.reads(map_.rank, places_.in_buffer(r.first));
        s.writes(map_.rank_of(across(1u << step, true), map_.index), places_.in_buffer(r.first), own() + 1 + step);
        wait_for(t, s);
    }
    void pass_on(std::uint32_t t, stream_step& s) const
    {
        const abi::element_range r = shard(across(t, true));
        s.bytes = r.count * places_.element;
        s.reads(map_.rank, places_.in_buffer(r.first));
        for (std::uint32_t i = 1; i < map_.per_device; ++i)
            s.writes(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(r.first), passed_on());
        wait_for(t, s);
    }

    device_map map_;
    stream_places places_;
    bool sums_, gathers_;
    std::uint64_t slot_; ///< elements
    std::uint32_t axes_ = 0;
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

void run_rdh(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<halving_plan<true>>(hal, dma, context, command, result);
}

void run_rdh_same_axis(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<halving_plan<false>>(hal, dma, context, command, result);
}

} // namespace weft::firmware
