// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Broadcast and reduce along trees over devices (device_trees.h), slice after slice. No two trees use the same link in
// the same direction, and each carries a part of the data. AWS Neuron documents no scheme for either. These take from
// its rings that they share no link, that copies are duplicated, and that sums are made on the way.
//
//   broadcast  The rank of a tree writes what came to the next devices and to the others of its half (1R2W). It tells a
//              rank of the other half, which reads there and writes to itself and the others of its half. So data
//              crosses the joint of the halves once. On the root's device ranks of trees read the root's memory.
//   reduce     The rank of a tree reads the contributions of its device and what came from the next devices, and writes
//              their sum on. On the root's device it goes into the root's memory, which is touched most: the root has
//              no tree there.
//
// Long data goes along each tree twice, by two ranks of a half with a part each: ranks share the work of a device.
#include "firmware/collectives/device_collectives.h"
#include "firmware/collectives/device_trees.h"
#include "firmware/collectives/streams.h"

namespace weft::firmware {

namespace {

/// Next devices of all parts, by rank, and the own device.
using told_ranks = other_ranks<64>;

class tree_plan_base {
public:
    tree_plan_base(const abi::platform_table& table, const abi::command& command)
        : map_(table), places_(command), trees_(map_, command.root), root_(command.root), on_root_device_(map_.device == trees_.root_device())
    {
        const tree_shape shape = shape_of_trees(trees_, command.count * places_.element, abi::reduces(command.op));
        turns_ = shape.turns;
        parts_ = turns_ * trees_.colours();
        slices_ = shape.slices;
    }
    const device_map& map() const { return map_; }

protected:
    std::uint32_t colour_of(std::uint32_t part) const { return part % trees_.colours(); }
    std::uint32_t rank_on(std::uint32_t part, std::uint32_t device) const { return trees_.rank_on(colour_of(part), device, part / trees_.colours()); }
    abi::element_range piece(std::uint32_t part, std::uint32_t slice) const
    {
        const abi::element_range all = abi::shard_of(places_.count, parts_, part), cut = abi::shard_of(all.count, slices_, slice);
        return {all.first + cut.first, cut.count};
    }

    device_map map_;
    stream_places places_;
    device_trees trees_;
    std::uint32_t root_;
    bool on_root_device_;
    std::uint32_t turns_ = 1, parts_ = 1, slices_ = 1;
};

class broadcast_plan : public tree_plan_base {
public:
    static constexpr std::uint32_t k_step = costs::k_device_tree_broadcast_step, k_place = costs::k_device_tree_place,
                                   k_looks = costs::k_device_tree_broadcast;
    broadcast_plan(const abi::platform_table& table, const abi::command& command) : tree_plan_base(table, command), tells_(map_.rank), told_(map_.rank)
    {
        for (std::uint32_t part = 0; part < parts_; ++part)
            find_role(part);
    }
    bool holds_peers() const { return map_.per_device > 1 && (on_root_device_ || halves()); }
    std::uint32_t instructions() const { return (parts_ - 1) * costs::k_device_tree_broadcast_part; }
    // Where one has several streams, those of a tree follow each other: nothing waits for a later tree.
    std::uint32_t streams() const { return parts_ * k_ways; }
    std::uint32_t length(std::uint32_t stream) const { return slices_ * steps_in(stream); }

    void step(std::uint32_t stream, std::uint32_t k, stream_step& s) const
    {
        const std::uint32_t part = stream / k_ways, steps = steps_in(stream), slice = k / steps;
        const role& r = roles_[part];
        std::uint32_t group = k % steps;
        const bool notices = notifies(stream) && group == 0;
        const abi::element_range range = piece(part, slice);
        if (notices) {
            s.writes(r.other_half, 0, k_to_half + part);
        } else {
            group = (group - (notifies(stream) ? 1 : 0)) * k_ways + stream % k_ways;
            const std::uint32_t from = group == 0 || !r.reads_root ? r.from : map_.rank;
            s.bytes = range.count * places_.element;
            s.reads(from, places_.in_buffer(range.first));
            for (std::uint32_t i = group * k_duplicates; i < (group + 1) * k_duplicates && i < r.count; ++i)
                s.writes(r.to[i].rank, places_.in_buffer(range.first), r.to[i].semaphore);
            if (from == root_ && r.reads_root)
                return;
        }
        if (r.begins_at != k_nothing)
            s.waits(r.begins_at, slice + 1);
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        std::uint32_t parts = 0;
        for (std::uint32_t part = 0; part < parts_; ++part)
            parts += (roles_[part].arrivals == number ? 1 : 0) + (roles_[part].notices == number ? 1 : 0);
        return slices_ * parts;
    }
    template <class Sink> void tells(Sink&& sink) const { tells_.each(sink); }
    std::uint32_t told_by() const { return told_.count; }

private:
    static constexpr std::uint32_t k_ways = 2; ///< streams of a part
    // Numbers for stream_semaphore(): what comes to the rank of a tree, by part; notices to a rank of the other half;
    // what comes to all others.
    static constexpr std::uint32_t k_to_half = k_most_tree_parts, k_last = 2 * k_most_tree_parts, k_nothing = ~0u;
    static_assert(k_last < k_stream_semaphores);

    struct place_of_copy {
        std::uint32_t rank, semaphore;
    };
    struct role {
        std::uint32_t arrivals = k_nothing;   ///< semaphore number of what comes here
        std::uint32_t notices = k_nothing;    ///< and of what only says so
        std::uint32_t begins_at = k_nothing;  ///< the one that descriptors wait for
        std::uint32_t from = 0;               ///< whose memory it reads
        std::uint32_t other_half = k_nothing; ///< who is told there
        bool reads_root = false;              ///< of the root's device: the first descriptor does, and writes here, too
        std::uint32_t count = 0;
        place_of_copy to[device_trees::k_most_children + 9];
        void sends(std::uint32_t rank, std::uint32_t semaphore) { to[count++] = {rank, semaphore}; }
    };
    /// What is short goes straight to all of a device.
    bool halves() const { return slices_ > 1 && trees_.half() < map_.per_device; }
    bool notifies(std::uint32_t stream) const { return stream % k_ways != 0 && roles_[stream / k_ways].other_half != k_nothing; }
    std::uint32_t steps_in(std::uint32_t stream) const
    {
        const std::uint32_t groups = copies_to(roles_[stream / k_ways].count);
        return (groups + k_ways - 1 - stream % k_ways) / k_ways + (notifies(stream) ? 1 : 0);
    }
    void copies(role& r, std::uint32_t first, std::uint32_t count) const
    {
        for (std::uint32_t i = first; i < first + count; ++i)
            if (const std::uint32_t rank = map_.rank_of(map_.device, i); rank != map_.rank && rank != root_)
                r.sends(rank, k_last);
    }

    void find_role(std::uint32_t part)
    {
        role& r = roles_[part];
        const std::uint32_t own = rank_on(part, map_.device), half = halves() ? trees_.half() : map_.per_device;
        const std::uint32_t own_half = own % map_.per_device / half, beside = (own % half + half / 2) % half;
        // Of the ranks that have trees themselves none gets two.
        const std::uint32_t across = halves() ? map_.rank_of(map_.device, (own_half ^ 1u) * half + beside) : own;
        r.from = map_.rank;
        if (map_.rank == own) {
            r.reads_root = on_root_device_ && own != root_;
            r.from = r.reads_root ? root_ : own;
            r.begins_at = own == root_ ? k_nothing : part;
            std::uint32_t found[device_trees::k_most_children];
            const std::uint32_t children = trees_.children(colour_of(part), map_.device, found);
            for (std::uint32_t i = 0; i < children; ++i) {
                r.sends(rank_on(part, found[i]), part);
                if (i == 0 && r.reads_root)
                    r.sends(own, part);
            }
            if (children == 0 && r.reads_root)
                r.sends(own, part);
            copies(r, own_half * half, half);
            if (across != own && across != root_) {
                r.other_half = across;
                tells_.add(across); // it reads here
                told_.add(across);
            }
            if (!on_root_device_)
                tells_.add(rank_on(part, trees_.parent(colour_of(part), map_.device)));
        } else if (map_.rank == across) {
            if (map_.rank != root_) {
                r.from = own;
                r.notices = r.begins_at = k_to_half + part;
                r.sends(map_.rank, k_last);
                tells_.add(own);
            }
            copies(r, (own_half ^ 1u) * half, half);
        } else {
            tells_.add(map_.index / half == own_half ? own : across);
        }
        if (map_.rank == root_)
            tells_.add(own); // it reads here
        else
            r.arrivals = map_.rank == own ? part : k_last;
        for (std::uint32_t i = 0; i < r.count; ++i)
            told_.add(r.to[i].rank);
        if (r.from != map_.rank)
            told_.add(r.from);
    }

    role roles_[k_most_tree_parts];
    told_ranks tells_, told_;
};

class reduce_plan : public tree_plan_base {
public:
    static constexpr std::uint32_t k_step = costs::k_device_tree_reduce_step, k_place = costs::k_device_tree_place,
                                   k_looks = costs::k_device_tree_reduce;
    reduce_plan(const abi::platform_table& table, const abi::command& command) : tree_plan_base(table, command), tells_(map_.rank), told_(map_.rank)
    {
        for (std::uint32_t part = 0; part < parts_; ++part)
            find_role(part);
    }
    bool holds_peers() const { return map_.per_device > 1; }
    std::uint32_t instructions() const
    {
        std::uint32_t roles = 0;
        for (std::uint32_t part = 0; part < parts_; ++part)
            roles += roles_[part].sums ? 1 : 0;
        return (parts_ - 1) * costs::k_device_tree_reduce_part + roles * costs::k_device_tree_reduce_role;
    }
    // One of each part.
    std::uint32_t streams() const { return parts_; }
    std::uint32_t length(std::uint32_t stream) const { return roles_[stream].sums ? slices_ * waits_of(stream) : 0; }

    // A descriptor waits for one semaphore: others wait before it.
    void step(std::uint32_t part, std::uint32_t k, stream_step& s) const
    {
        const role& r = roles_[part];
        const std::uint32_t waits = waits_of(part), slice = k / waits, number = k % waits;
        if (r.children != 0)
            s.waits(arrivals(part, number), slice + 1);
        if (number + 1 < waits)
            return;
        const abi::element_range range = piece(part, slice);
        s.bytes = range.count * places_.element;
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            s.reads(map_.rank_of(map_.device, (map_.index + i) % map_.per_device), places_.in_buffer(range.first));
        for (std::uint32_t child = 0; child < r.children; ++child)
            s.reads(map_.rank, slot_of(child, range));
        if (on_root_device_)
            s.writes(root_, places_.in_buffer(range.first), k_result);
        else
            s.writes(r.parent, slot_of(r.at_parent, range), arrivals(part, r.at_parent));
    }

    std::uint32_t expected(std::uint32_t number) const
    {
        if (number == k_result)
            return map_.rank == root_ ? parts_ * slices_ : 0;
        const std::uint32_t part = number / most_children(), child = number % most_children();
        return part < parts_ && child < roles_[part].children ? slices_ : 0;
    }
    template <class Sink> void tells(Sink&& sink) const { tells_.each(sink); }
    std::uint32_t told_by() const { return told_.count; }

private:
    // Not the root: contributions are read there and results written.
    std::uint32_t rank_on(std::uint32_t part, std::uint32_t device) const
    {
        if (device != trees_.root_device() || slices_ == 1 || map_.per_device < 3)
            return tree_plan_base::rank_on(part, device);
        return map_.rank_of(device, (root_ + 1 + part % (map_.per_device - 1)) % map_.per_device);
    }
    // Numbers for stream_semaphore(): sums from each child, by part; what comes to the root.
    static constexpr std::uint32_t k_result = k_stream_semaphores - 1;
    /// Of a tree, on all shapes: firmware/device_trees_test.
    std::uint32_t most_children() const { return trees_.colours() == 4 ? 2 : trees_.colours() == 3 ? 3 : 4; }
    std::uint32_t arrivals(std::uint32_t part, std::uint32_t child) const { return part * most_children() + child; }

    struct role {
        bool sums = false; ///< this rank has the tree
        std::uint32_t children = 0;
        std::uint32_t parent = 0, at_parent = 0; ///< its rank there; which of its children this device is
    };
    std::uint32_t waits_of(std::uint32_t part) const { return roles_[part].children > 1 ? roles_[part].children : 1; }
    /// Where the sum from child number `child` lands.
    std::uint64_t slot_of(std::uint32_t child, const abi::element_range& range) const { return places_.in_scratch(child * places_.count + range.first); }

    void find_role(std::uint32_t part)
    {
        role& r = roles_[part];
        const std::uint32_t own = rank_on(part, map_.device), colour = colour_of(part);
        tells_.add(own); // it reads here
        if (map_.rank != own)
            return;
        std::uint32_t found[device_trees::k_most_children];
        r.sums = true;
        r.children = trees_.children(colour, map_.device, found);
        for (std::uint32_t i = 0; i < r.children; ++i)
            tells_.add(rank_on(part, found[i]));
        for (std::uint32_t i = 0; i < map_.per_device; ++i)
            told_.add(map_.rank_of(map_.device, i));
        if (on_root_device_)
            return;
        const std::uint32_t parent = trees_.parent(colour, map_.device);
        r.parent = rank_on(part, parent);
        const std::uint32_t siblings = trees_.children(colour, parent, found);
        for (std::uint32_t i = 0; i < siblings; ++i)
            r.at_parent = found[i] == map_.device ? i : r.at_parent;
        told_.add(r.parent);
    }

    role roles_[k_most_tree_parts];
    told_ranks tells_, told_;
};

template <class Plan> void run_trees(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    exchange x{hal, dma, context, command};
    const Plan plan(context.table, command);
    hal.compute(costs::k_command + costs::k_stream_plan + plan.instructions());
    x.finish(result, stream_runner(x).run(plan));
}

} // namespace

void run_device_tree(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    if (command.op == abi::collective_op::broadcast)
        run_trees<broadcast_plan>(hal, dma, context, command, result);
    else
        run_trees<reduce_plan>(hal, dma, context, command, result);
}

} // namespace weft::firmware
