// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Everybody writes straight to everybody, and routing brings it there. Source: AWS Neuron documentation, "Intra-node
// Collective Communications with AWS Neuron", sections on Mesh.
//
//   reduce_scatter  step 0: the other devices are parted among the ranks of this one. For each rank of its devices a
//                   rank sums the contributions of the own device and writes the sum to the landing stack there, a slot
//                   for each device. Step 1: the stack is summed.
//   all_gather      step 0: a rank writes the shards of the own device to one rank of each of its devices. Step 1: what
//                   came goes to the others of the device.
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

/// Queues that a plan whose steps do not follow each other fills in turn.
std::uint32_t queues_for(const abi::platform_table& table) { return table.dma_queues < 8 ? table.dma_queues : 8; }

class mesh_plan {
public:
    static constexpr std::uint32_t k_step = costs::k_device_mesh_step, k_place = costs::k_device_mesh_place, k_looks = 0;
    mesh_plan(const abi::platform_table& table, const abi::command& command)
        : map_(table), places_(command), sums_(command.op != abi::collective_op::all_gather), gathers_(command.op != abi::collective_op::reduce_scatter),
          streams_(queues_for(table)), slot_(abi::shard_of(command.count, map_.ranks, 0).count), stack_(map_.devices)
    {
        for (std::uint32_t r = map_.index == 0 ? map_.per_device : map_.index; r < map_.devices; r += map_.per_device)
            ++mine_;
    }
    const device_map& map() const { return map_; }
    bool holds_peers() const { return map_.per_device > 1; }

    std::uint32_t streams() const { return streams_; }
    std::uint32_t length(std::uint32_t stream) const { return (tasks() + streams_ - 1 - stream) / streams_; }

    // Every task waits for earlier ones only, of this rank and of others.
    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        std::uint32_t task = k * streams_ + stream;
        const auto is = [&task](std::uint32_t tasks) {
            if (task < tasks)
                return true;
            task -= tasks;
            return false;
        };
        if (is(sends_of_sums()))
            send_sum(task, s);
        else if (is(sums_of_stack()))
            sum_stack(task, s);
        else if (is(announcements()))
            announce(s);
        else if (is(sends_of_results()))
            send_result(task, s);
        else if (is(copies()))
            share_own(task, s);
        else
            pass_on(task / copies(), task % copies(), s);
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        switch (number) {
        case k_landed: return sums_ ? map_.devices : 0;
        case k_summed: return sums_ ? stack_.groups : 0;
        case k_of_device: return announcements() * map_.per_device;
        case k_came: return gathers_ ? mine_ * map_.per_device : 0;
        case k_passed_on: return gathers_ && map_.per_device > 1 ? map_.devices - 1 - mine_ + map_.per_device - 1 : 0;
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
    static constexpr std::uint32_t k_landed = 0, k_summed = 1, k_of_device = 2, k_came = 3, k_passed_on = 4;

    std::uint32_t sends_of_sums() const { return sums_ ? mine_ * map_.per_device + 1 : 0; }
    std::uint32_t sums_of_stack() const { return sums_ ? stack_.groups : 0; }
    std::uint32_t announcements() const { return sums_ && gathers_ ? 1 : 0; }
    std::uint32_t sends_of_results() const { return gathers_ ? mine_ * map_.per_device : 0; }
    /// Of what all others of the device get.
    std::uint32_t copies() const { return gathers_ ? copies_to(map_.per_device - 1) : 0; }
    std::uint32_t tasks() const
    {
        return sends_of_sums() + sums_of_stack() + announcements() + sends_of_results() + copies() * (1 + mine_);
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
    abi::element_range shard_of(std::uint32_t rank) const { return abi::shard_of(places_.count, map_.ranks, rank); }

    void send_sum(std::uint32_t task, stream_step& s) const
    {
        const bool own = task == mine_ * map_.per_device;
        const std::uint32_t to = own ? map_.rank : map_.rank_of(away(distance_of(task / map_.per_device), true), task % map_.per_device);
        const abi::element_range shard = shard_of(to);
        s.bytes = shard.count * places_.element;
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            s.reads(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(shard.first));
        s.writes(to, slot_of(map_.device), k_landed);
    }
    void sum_stack(std::uint32_t group, stream_step& s) const
    {
        const abi::element_range shard = shard_of(map_.rank);
        s.bytes = shard.count * places_.element;
        if (group > 0)
            s.reads(map_.rank, slot_of(0));
        for (std::uint32_t slot = stack_.first_of(group); slot < stack_.end_of(group); ++slot)
            s.reads(map_.rank, slot_of(slot));
        if (group == 0)
            s.waits(k_landed, map_.devices);
        else
            s.waits(k_summed, group);
        s.writes(map_.rank, group + 1 < stack_.groups ? slot_of(0) : places_.in_buffer(shard.first), k_summed);
    }
    /// The own result can be read, by all ranks of the device.
    void announce(stream_step& s) const
    {
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            s.writes(map_.rank_of(map_.device, i), 0, k_of_device);
        s.waits(k_summed, stack_.groups);
    }
    void send_result(std::uint32_t task, stream_step& s) const
    {
        const std::uint32_t to = map_.rank_of(away(distance_of(task / map_.per_device), true), map_.index);
        const std::uint32_t from = map_.rank_of(map_.device, (map_.index + task % map_.per_device) % map_.per_device);
        const abi::element_range r = shard_of(from);
        s.bytes = r.count * places_.element;
        s.reads(from, places_.in_buffer(r.first));
        s.writes(to, places_.in_buffer(r.first), k_came);
        if (sums_)
            s.waits(k_of_device, map_.per_device);
    }
    void share_own(std::uint32_t copy, stream_step& s) const
    {
        const abi::element_range own = shard_of(map_.rank);
        s.bytes = own.count * places_.element;
        s.reads(map_.rank, places_.in_buffer(own.first));
        copy_to_peers(map_, copy, s, places_.in_buffer(own.first), k_passed_on);
        if (sums_)
            s.waits(k_summed, stack_.groups);
    }
    /// The shards of all ranks of the `n`-th device that sends to this rank lie side by side.
    void pass_on(std::uint32_t n, std::uint32_t copy, stream_step& s) const
    {
        const std::uint32_t device = away(distance_of(n), false);
        const std::uint64_t first = shard_of(map_.rank_of(device, 0)).first;
        const abi::element_range last = shard_of(map_.rank_of(device, map_.per_device - 1));
        s.bytes = (last.first + last.count - first) * places_.element;
        s.reads(map_.rank, places_.in_buffer(first));
        copy_to_peers(map_, copy, s, places_.in_buffer(first), k_passed_on);
        s.waits(k_came, mine_ * map_.per_device);
    }

    device_map map_;
    stream_places places_;
    bool sums_, gathers_;
    std::uint32_t streams_;
    std::uint64_t slot_; ///< elements
    stack_sum stack_;
    std::uint32_t mine_ = 0; ///< devices to which this rank sends
};

/// Several queues send; each says when the buffer has been read, as the result overwrites it. Parts of the stack are
/// summed side by side, and then their sums.
class one_step_plan {
public:
    static constexpr std::uint32_t k_step = costs::k_one_step_step, k_place = costs::k_one_step_place, k_looks = 0;
    one_step_plan(const abi::platform_table& table, const abi::command& command) : map_(table), places_(command), streams_(queues_for(table)) {}
    const device_map& map() const { return map_; }
    bool holds_peers() const { return false; }
    std::uint32_t streams() const { return streams_; }
    std::uint32_t length(std::uint32_t stream) const { return in_stream(sends(), stream) + 1 + in_stream(parts(), stream) + (stream == 0 ? 2 : 0); }

    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        if (k < in_stream(sends(), stream))
            return send(k * streams_ + stream, s);
        k -= in_stream(sends(), stream);
        if (k == 0) // all of this queue has been read
            return s.writes(map_.rank, 0, k_ready);
        k -= 1;
        if (k < in_stream(parts(), stream))
            return sum_part(k * streams_ + stream, s);
        // Rank by rank, whoever sums: what all add in the same order is the same for all.
        if (k == in_stream(parts(), stream))
            return s.waits(k_ready, streams_ + parts());
        s.waits(k_landed, map_.ranks - 1);
        s.bytes = places_.count * places_.element;
        if (parts() == 0)
            read_slots(0, map_.ranks, s);
        for (std::uint32_t part = 0; part < parts(); ++part)
            s.reads(map_.rank, slot_of(first_of(part)));
        s.writes(map_.rank, places_.buffer, k_summed);
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        return number == k_landed ? map_.ranks - 1 : number == k_ready ? streams_ + parts() : number == k_summed ? 1 : 0;
    }
    template <class Sink> void tells(Sink&& sink) const
    {
        for (std::uint32_t rank = 0; rank < map_.ranks; ++rank)
            if (rank != map_.rank)
                sink(rank);
    }
    std::uint32_t told_by() const { return map_.ranks - 1; }

private:
    static constexpr std::uint32_t k_landed = 0, k_ready = 1, k_summed = 2;
    std::uint32_t in_stream(std::uint32_t tasks, std::uint32_t stream) const { return (tasks + streams_ - 1 - stream) / streams_; }
    std::uint32_t sends() const { return copies_to(map_.ranks - 1); }
    /// Of at most as many slots as a descriptor reads; none: the last sum reads all slots.
    std::uint32_t parts() const { return map_.ranks <= abi::k_most_sources ? 0 : (map_.ranks + abi::k_most_sources - 1) / abi::k_most_sources; }
    std::uint32_t first_of(std::uint32_t part) const { return part * abi::k_most_sources; }
    std::uint64_t slot_of(std::uint32_t rank) const { return places_.in_scratch(rank * places_.count); }

    void send(std::uint32_t copy, stream_step& s) const
    {
        s.bytes = places_.count * places_.element;
        s.reads(map_.rank, places_.buffer);
        for (std::uint32_t i = copy * k_duplicates + 1; i <= (copy + 1) * k_duplicates && i < map_.ranks; ++i)
            s.writes((map_.rank + i) % map_.ranks, slot_of(map_.rank), k_landed);
    }
    void read_slots(std::uint32_t first, std::uint32_t end, stream_step& s) const
    {
        for (std::uint32_t rank = first; rank < end; ++rank)
            s.reads(map_.rank, rank == map_.rank ? places_.buffer : slot_of(rank));
    }
    void sum_part(std::uint32_t part, stream_step& s) const
    {
        s.bytes = places_.count * places_.element;
        read_slots(first_of(part), part + 1 == parts() ? map_.ranks : first_of(part + 1), s);
        s.waits(k_landed, map_.ranks - 1);
        s.writes(map_.rank, slot_of(first_of(part)), k_ready);
    }

    device_map map_;
    stream_places places_;
    std::uint32_t streams_;
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
