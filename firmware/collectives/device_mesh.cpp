// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Everybody writes straight to everybody, and routing brings it there. Source: AWS Neuron documentation, "Intra-node Collective Communications with
// AWS Neuron", sections on Mesh.
//
//   reduce_scatter  step 0: the other devices are parted among the ranks of this one. For each rank of its devices a rank sums the contributions of the own
//                   device and writes the sum to the landing stack there, a slot for each device. Step 1: the stack is summed.
//   all_gather      step 0: a rank writes the shards of the own device to one rank of each of its devices. Step 1: what came goes to the others of the device.
//   one step        (all_reduce) everybody sends all to everybody, and sums what came.
//
// Which device is whose goes by how far it stands from the own one, so that the work of all ranks has the same shape.
#include "firmware/collectives/device_collectives.h"
#include "firmware/collectives/streams.h"

namespace weft::firmware {

namespace {

/// Sources of the descriptors that sum a stack of slots, each with what the one before it left.
struct stack_sum {
    static constexpr std::uint32_t k_first = abi::k_most_sources, k_more = abi::k_most_sources - 1;
    explicit stack_sum(std::uint32_t all) : slots(all), groups(all <= k_first ? 1 : 1 + (all - k_first + k_more - 1) / k_more) {}
    std::uint32_t first_of(std::uint32_t group) const { return group == 0 ? 0 : k_first + (group - 1) * k_more; }
    std::uint32_t end_of(std::uint32_t group) const { return group + 1 == groups ? slots : first_of(group + 1); }
    std::uint32_t slots, groups;
};

class mesh_plan {
public:
    mesh_plan(const abi::platform_table& table, const abi::command& command)
        : map_(table), places_(command), sums_(command.op != abi::collective_op::all_gather), gathers_(command.op != abi::collective_op::reduce_scatter),
          slot_(abi::shard_of(command.count, map_.ranks, 0).count), stack_(map_.devices)
    {
        for (std::uint32_t r = map_.index == 0 ? map_.per_device : map_.index; r < map_.devices; r += map_.per_device)
            ++mine_;
    }
    const device_map& map() const { return map_; }
    bool holds_peers() const { return map_.per_device > 1 && !(sums_ && gathers_); }

    std::uint32_t streams() const { return k_streams; }
    std::uint32_t length(std::uint32_t stream) const { return (tasks() + k_streams - 1 - stream) / k_streams; }

    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        std::uint32_t task = k * k_streams + stream;
        if (sums_) {
            if (task < sends_of_sums())
                return send_sum(task, s);
            task -= sends_of_sums();
            if (task < stack_.groups)
                return sum_stack(task, s);
            task -= stack_.groups;
        }
        if (task < sends_of_results())
            return send_result(task, s);
        pass_on(task - sends_of_results(), s);
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        switch (number) {
        case k_landed: return sums_ ? map_.devices : 0;
        case k_summed: return sums_ ? stack_.groups - (gathers_ ? 1 : 0) : 0;
        case k_of_device: return gathers_ ? map_.per_device - (sums_ ? 0 : 1) : 0;
        case k_came: return gathers_ ? mine_ * messages_of_device() : 0;
        case k_passed_on: return gathers_ && map_.per_device > 1 ? map_.devices - 1 - mine_ : 0;
        default: return 0;
        }
    }

    template <class Sink> void tells(Sink&& sink) const
    {
        for (std::uint32_t r = 1; r < map_.devices; ++r)
            if (sums_ || r % map_.per_device == map_.index)
                sink(map_.rank_of(away(r, false), r % map_.per_device));
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            if (i != map_.index)
                sink(map_.rank_of(map_.device, i));
    }
    std::uint32_t told_by() const { return mine_ * (sums_ ? map_.per_device : 1) + map_.per_device - 1; }

private:
    static constexpr std::uint32_t k_streams = 4;
    static constexpr std::uint32_t k_landed = 0, k_summed = 1, k_of_device = 2, k_came = 3, k_passed_on = 4;

    std::uint32_t sends_of_sums() const { return mine_ * map_.per_device + 1; }
    std::uint32_t messages_of_device() const { return sums_ ? 1 : map_.per_device; }
    std::uint32_t sends_of_results() const
    {
        return gathers_ ? mine_ * messages_of_device() + (!sums_ && map_.per_device > 1 ? 1 : 0) : 0;
    }
    std::uint32_t tasks() const
    {
        return (sums_ ? sends_of_sums() + stack_.groups : 0) + sends_of_results() + (gathers_ && map_.per_device > 1 ? mine_ : 0);
    }
    /// Number, in the order of distance, of the `n`-th device of this rank.
    std::uint32_t distance_of(std::uint32_t n) const { return (map_.index == 0 ? map_.per_device : map_.index) + n * map_.per_device; }
    /// The device at that distance from the own one, forwards or backwards along every dimension.
    std::uint32_t away(std::uint32_t distance, bool forwards) const
    {
        std::uint32_t device = 0, stride = 1, rest = map_.device;
        for (std::uint32_t d = map_.dims; d-- > 0;) {
            const std::uint32_t size = map_.size[d], far = distance % size;
            device += (rest % size + (forwards ? far : size - far)) % size * stride;
            stride *= size;
            rest /= size;
            distance /= size;
        }
        return device;
    }
    std::uint64_t slot_of(std::uint32_t device) const { return places_.in_scratch(device * slot_); }

    void send_sum(std::uint32_t task, stream_step& s) const
    {
        const bool own = task == mine_ * map_.per_device;
        const std::uint32_t to = own ? map_.rank : map_.rank_of(away(distance_of(task / map_.per_device), true), task % map_.per_device);
        const abi::element_range shard = abi::shard_of(places_.count, map_.ranks, to);
        s.bytes = shard.count * places_.element;
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            s.reads(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(shard.first));
        s.writes(to, slot_of(map_.device), k_landed);
    }
    void sum_stack(std::uint32_t group, stream_step& s) const
    {
        const abi::element_range shard = abi::shard_of(places_.count, map_.ranks, map_.rank);
        s.bytes = shard.count * places_.element;
        if (group > 0)
            s.reads(map_.rank, slot_of(0));
        for (std::uint32_t slot = stack_.first_of(group); slot < stack_.end_of(group); ++slot)
            s.reads(map_.rank, slot_of(slot));
        if (group == 0)
            s.waits(k_landed, map_.devices);
        else
            s.waits(k_summed, group);
        if (group + 1 < stack_.groups)
            s.writes(map_.rank, slot_of(0), k_summed);
        else if (!gathers_)
            s.writes(map_.rank, places_.in_buffer(shard.first), k_summed);
        else
            for (std::uint32_t i = 0; i < map_.per_device; ++i)
                s.writes(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(shard.first), k_of_device);
    }
    /// The shards of all ranks of a device lie side by side.
    abi::element_range shards_of(std::uint32_t device) const
    {
        const std::uint64_t first = abi::shard_of(places_.count, map_.ranks, map_.rank_of(device, 0)).first;
        const abi::element_range last = abi::shard_of(places_.count, map_.ranks, map_.rank_of(device, map_.per_device - 1));
        return {first, last.first + last.count - first};
    }
    void send_result(std::uint32_t task, stream_step& s) const
    {
        const std::uint32_t each = messages_of_device();
        if (task == mine_ * each) { // the own one to the others of the device; where sums were made they have it
            const abi::element_range own = abi::shard_of(places_.count, map_.ranks, map_.rank);
            s.bytes = own.count * places_.element;
            s.reads(map_.rank, places_.in_buffer(own.first));
            for (std::uint32_t i = 1; i < map_.per_device; ++i)
                s.writes(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(own.first), k_of_device);
            return;
        }
        const std::uint32_t to = map_.rank_of(away(distance_of(task / each), true), map_.index);
        const std::uint32_t from = map_.rank_of(map_.device, sums_ ? map_.index : (map_.index + task % each) % map_.per_device);
        const abi::element_range r = sums_ ? shards_of(map_.device) : abi::shard_of(places_.count, map_.ranks, from);
        s.bytes = r.count * places_.element;
        s.reads(from, places_.in_buffer(r.first));
        s.writes(to, places_.in_buffer(r.first), k_came);
        if (sums_)
            s.waits(k_of_device, map_.per_device);
    }
    void pass_on(std::uint32_t n, stream_step& s) const
    {
        const abi::element_range r = shards_of(away(distance_of(n), false));
        s.bytes = r.count * places_.element;
        s.reads(map_.rank, places_.in_buffer(r.first));
        for (std::uint32_t i = 1; i < map_.per_device; ++i)
            s.writes(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(r.first), k_passed_on);
        s.waits(k_came, mine_ * messages_of_device());
    }

    device_map map_;
    stream_places places_;
    bool sums_, gathers_;
    std::uint64_t slot_; ///< elements
    stack_sum stack_;
    std::uint32_t mine_ = 0; ///< devices to which this rank sends
};

/// One queue: the result overwrites what has been sent.
class one_step_plan {
public:
    one_step_plan(const abi::platform_table& table, const abi::command& command) : map_(table), places_(command), stack_(map_.ranks) {}
    const device_map& map() const { return map_; }
    bool holds_peers() const { return false; }
    std::uint32_t streams() const { return 1; }
    std::uint32_t length(std::uint32_t) const { return sends() + stack_.groups; }

    void step(std::uint32_t, std::uint32_t k, stream_step& s) const
    {
        s.bytes = places_.count * places_.element;
        if (k < sends()) {
            s.reads(map_.rank, places_.buffer);
            for (std::uint32_t i = k * abi::k_most_destinations + 1; i <= (k + 1) * abi::k_most_destinations && i < map_.ranks; ++i)
                s.writes((map_.rank + i) % map_.ranks, slot_of(map_.rank), k_landed);
            return;
        }
        // Rank by rank, whoever sums: what all add in the same order is the same for all. The own slot holds what is summed.
        const std::uint32_t group = k - sends();
        if (group > 0)
            s.reads(map_.rank, slot_of(map_.rank));
        for (std::uint32_t rank = stack_.first_of(group); rank < stack_.end_of(group); ++rank)
            s.reads(map_.rank, rank == map_.rank ? places_.buffer : slot_of(rank));
        if (group == 0)
            s.waits(k_landed, map_.ranks - 1);
        else
            s.waits(k_summed, group);
        s.writes(map_.rank, group + 1 == stack_.groups ? places_.buffer : slot_of(map_.rank), k_summed);
    }

    std::uint32_t expected(std::uint32_t number) const { return number == k_landed ? map_.ranks - 1 : number == k_summed ? stack_.groups : 0; }
    template <class Sink> void tells(Sink&& sink) const
    {
        for (std::uint32_t rank = 0; rank < map_.ranks; ++rank)
            if (rank != map_.rank)
                sink(rank);
    }
    std::uint32_t told_by() const { return map_.ranks - 1; }

private:
    static constexpr std::uint32_t k_landed = 0, k_summed = 1;
    std::uint32_t sends() const { return (map_.ranks - 1 + abi::k_most_destinations - 1) / abi::k_most_destinations; }
    std::uint64_t slot_of(std::uint32_t rank) const { return places_.in_scratch(rank * places_.count); }

    device_map map_;
    stream_places places_;
    stack_sum stack_;
};

} // namespace

void run_device_mesh(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<mesh_plan>(hal, dma, context, command, result);
}

void run_device_mesh_one_step(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    run_streams<one_step_plan>(hal, dma, context, command, result);
}

} // namespace weft::firmware
