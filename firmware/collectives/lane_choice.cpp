// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/lane_choice.h"

#include "firmware/collectives/schedule.h"
#include "firmware/costs.h"

namespace weft::firmware {

namespace {

// A shard that is cut into parts has one message more for each part; below this they would cost more than idle links.
// On rings every step waits for them: calibrated on an 8x8 torus, where an all_gather of 4 MiB took 117 us in parts of
// 16 KiB and 78 us by one lane.
// On an 8x8 full mesh a reduce_scatter of 1 MiB took 15.1 us in parts of 8 KiB and 13.3 us by one lane.
constexpr std::uint64_t k_shortest_part_bytes = 16 << 10, k_shortest_ring_part_bytes = 32 << 10;
// An all_reduce cuts no shard of a rank, but its lanes share a core. On rings one lane is done sooner than two below
// this, and two sooner than four below k_shortest_ring_part_bytes. Calibrated on an 8x8 mesh and torus with 64 KiB to
// 4 MiB.
constexpr std::uint64_t k_shortest_ring_lane_part_bytes = 2048;
// In direct exchanges, when a link carries a message along the longest dimension in less than this for each of them:
// the core makes them one after the other. Calibrated on racks of 3x3 to 8x8 NPUs, where two lanes pay from 100, 270,
// 560, 1000 and (8x8) 1750 KiB on.
constexpr std::uint64_t k_lane_ns_of_message = 314;
// An all_reduce on rings goes in two halves from here on: while the first one is gathered, which touches memory twice a
// byte, sums of the second one touch it three times, and its messages fill what the other's steps leave idle.
// Calibrated on an 8x8 torus: 24 MiB takes 1.6 % longer in halves, 32 MiB 5.7 % less, 64 MiB 4.6 %.
constexpr std::uint64_t k_shortest_half_part_bytes = 64 << 10;
// Two lanes take turns in direct exchanges, when a link carries a shard in so long for each message of a turn: while
// one waits for the last message of a dimension, the other one sends, but the core has twice as many messages.
// Calibrated with an all_reduce, in us without and with turns: board of 8, 1 MiB 14.6 and 15.2, 2 MiB 20.0 and 17.5;
// 4x4 NPUs, 4 MiB 39.1 and 40.2, 6 MiB 52.5 and 52.3, 32 MiB 227 and 222; 8x8 NPUs, 2 MiB 29.1 and 47.8, 16 MiB 68 and
// 85, 32 MiB 117 and 119. One dimension has no second one whose messages the core could send meanwhile, so turns pay
// earlier.
constexpr std::uint64_t k_turn_ns_of_message = 503, k_turn_ns_of_lone_message = 377;

// What a pass takes that moves shards to their ranks: its entry, a message and the longest way; in an all-gather its
// receivers say first that they are ready. Calibrated on a pod of 1,024 NPUs with 4 KiB, in us without and with the
// pass: reduce_scatter 18.3 and 20.7, all_gather 17.2 and 22.7.
constexpr std::uint64_t k_move_ns = 2400, k_move_ready_ns = 3100;
// Of two dimensions a block has few pieces.
constexpr std::uint32_t k_fewest_levels_to_move = 3;

// As many lanes as a core keeps busy in messages of the command's chunk.
constexpr std::uint32_t k_lanes_of_a_chunk = 2;

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

bool joined(abi::dimension_kind kind)
{
    return kind == abi::dimension_kind::full || kind == abi::dimension_kind::switched;
}

// What a core takes for a message and, on a ring, for the step that waits for it. Calibrated: all_gather of 1 to 8 MiB
// on 4x4x4 chips of four ranks.
constexpr std::uint64_t k_message_ns = 150;

/// What a shard of each rank takes on links, dimension by dimension in this order, in ns.
std::uint64_t link_ns(const abi::platform_table& t, const joined_axes& direct, const std::uint32_t* axes,
                      std::uint32_t levels, std::uint64_t shard_bytes)
{
    std::uint64_t ns = 0;
    std::uint64_t bytes = shard_bytes * t.ranks;
    for (std::uint32_t i = 0; i < levels; ++i) {
        const std::uint32_t d = t.dim_count - 1 - axes[i];
        const std::uint64_t ways = direct.has(axes[i]) ? 1 : 2; // a ring goes one way round
        bytes /= t.dims[d];
        ns += t.rate_mbps[d] != 0 ? bytes * (t.dims[d] - 1) * ways * 8000 / t.rate_mbps[d] : 0;
    }
    return ns;
}

/// With one lane, whether all data should go along fast dimensions first, although blocks of shards of ranks do not lie
/// side by side then, so that there are more messages.
bool fast_axes_first_pays(const abi::platform_table& t, const axis_places& places, const joined_axes& direct,
                          std::uint64_t shard_bytes, bool any_ring)
{
    std::uint32_t axes[abi::k_max_dims];
    const std::uint32_t levels = axes_of_lane(places, 0, axes);
    const std::uint64_t fast_ns = link_ns(t, direct, axes, levels, shard_bytes);
    std::uint64_t messages = 0;
    std::uint32_t shards = t.ranks;
    for (std::uint32_t i = 0; i < levels; ++i) {
        const std::uint32_t size = t.dims[t.dim_count - 1 - axes[i]];
        const std::uint32_t last = t.dims[t.dim_count - 1 - axes[levels - 1]];
        shards /= size;
        messages += std::uint64_t{size - 1} * (any_ring || i + 1 == levels ? shards : shards / last); // pieces of one
    }
    outermost_first(axes, levels);
    return link_ns(t, direct, axes, levels, shard_bytes) > fast_ns + messages * k_message_ns;
}

/// How many of two dimensions of direct exchanges, of which one is slow, begin a lane: both, where the messages of
/// further lanes cost less than the links that the fast one leaves idle. `turns`: of lanes of one dimension, and of
/// two.
std::uint32_t first_axes(const lane_loads& loads, std::uint32_t messages, const bool* turns, bool by_rank)
{
    // Of two lanes that take turns, the second one is late by half. An all_reduce goes on meanwhile.
    const std::uint64_t behind_ns = !turns[0] ? loads.behind_ns(1) : by_rank ? loads.behind_ns(1) / 2 : 0;
    const std::uint64_t fast_ns = loads.first_ns() + behind_ns;
    const std::uint32_t more_lanes = turns[1] ? 2 : 1;
    const std::uint64_t made_ns = std::uint64_t{more_lanes} * messages * k_lane_ns_of_message;
    return loads.ns(loads.balanced(2), turns[1]) + made_ns < fast_ns ? 2 : 1;
}

/// How many of `most` lanes of direct exchanges are done first, with `messages` in each.
std::uint32_t lanes_that_pay(const lane_loads& loads, std::uint32_t most, std::uint32_t messages)
{
    std::uint32_t best = 1;
    std::uint64_t least_ns = ~0ull;
    for (std::uint32_t lanes = 1; lanes <= most; ++lanes) {
        const std::uint64_t ns = loads.ns(even_shares(lanes), false) + loads.behind_ns(lanes) +
                                 std::uint64_t{lanes} * messages * k_lane_ns_of_message;
        best = ns < least_ns ? lanes : best;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return best;
}

/// Whether links that wait for other dimensions would be idle, if all lanes of direct exchanges had as much, for longer
/// than the last lane is late, behind the messages of the others. On rings lanes are alike always: messages of several
/// lengths take turns there, and all lanes would wait for the longest ones (an all_gather of 64 MiB on a 4x8 torus took
/// 23 % longer).
bool balance_pays(const lane_loads& loads, const lane_shares& balanced, bool turns)
{
    const std::uint64_t late_ns = k_lane_ns_of_message * loads.longest_size();
    return loads.ns(balanced, turns) + late_ns < loads.ns(even_shares(balanced.lanes), turns);
}

/// Of the parts of shards of `shard` elements and of one more.
std::uint64_t longest_part(std::uint64_t shard, const lane_shares& shares, std::uint32_t parts)
{
    std::uint64_t longest = 0;
    for (std::uint32_t i = 0; i < 2 * shares.lanes; ++i) {
        const std::uint64_t part = shares.cut(i / 2, parts, 0).of(shard + i % 2).count;
        longest = part > longest ? part : longest;
    }
    return longest;
}

/// What a choice weighs, step by step.
class lane_chooser {
public:
    lane_chooser(const abi::platform_table& table, const abi::command& command, lane_choice& out);
    void choose();
    /// What the choice takes, of exchanges: a reduce-scatter, an all-gather or half of an all_reduce.
    std::uint64_t exchanges_ns() const;
    /// Shards go to their ranks, or from them, one by one.
    std::uint64_t move_ns() const;

private:
    void survey_dimensions();
    void choose_direct_lanes();
    void shorten();
    void cut_shards();
    void share_data();

    std::uint64_t bytes_in(std::uint64_t ns) const { return ns * link_mbps_ / 8000; }
    std::uint32_t messages_of_lane(bool in_parts) const;
    std::uint32_t size(std::uint32_t level) const { return table_.dims[table_.dim_count - 1 - axes_[level]]; }
    std::uint64_t part_bytes() const { return shard_ / out_.ways() * element_bytes_; }
    std::uint64_t shortest_part_bytes() const { return out_.any_ring ? k_shortest_ring_part_bytes : k_shortest_part_bytes; }

    const abi::platform_table& table_;
    const abi::command& command_;
    lane_choice& out_;
    bool by_rank_, to_root_;
    std::uint32_t element_bytes_;
    std::uint64_t bytes_, shard_; ///< of each rank; elements of a shard
    std::uint32_t axes_[abi::k_max_dims];
    std::uint64_t longest_ = 1, link_mbps_ = 0; ///< dimension, in ranks, and the links between them
    std::uint32_t first_;      ///< dimensions that begin a lane
    std::uint32_t most_lanes_ = 1;
};

lane_chooser::lane_chooser(const abi::platform_table& table, const abi::command& command, lane_choice& out)
    : table_(table), command_(command), out_(out), by_rank_(shards_are_of_ranks(command.op)),
      to_root_(command.op == abi::collective_op::reduce), element_bytes_(abi::element_bytes(command.type)),
      bytes_(command.count * element_bytes_), shard_(command.count / table.ranks), first_(out.places.fast)
{
    out_.levels = axes_of_lane(out_.places, 0, axes_);
}

void lane_chooser::choose()
{
    out_.cost += costs::k_axes + out_.levels * costs::k_axes_dimension;
    survey_dimensions();
    if (!out_.any_ring)
        choose_direct_lanes();
    shorten();
    cut_shards();
    if (out_.colours > 1 && !out_.any_ring)
        share_data();
    if (out_.in_parts) { // all parts of a lane have as many messages
        const std::uint64_t part =
            out_.alike() ? shard_ / out_.ways() + 1 : longest_part(shard_, out_.shares, out_.directions);
        const auto messages = static_cast<std::uint32_t>((part + out_.chunk_elements - 1) / out_.chunk_elements);
        out_.chunk_elements = (part + messages - 1) / messages;
    }
    if (!by_rank_ && !to_root_ && out_.any_ring && 2 * out_.ways() <= most_lanes_ &&
        shard_ / (2 * out_.ways()) * element_bytes_ >= k_shortest_half_part_bytes)
        out_.halves = 2;
}

void lane_chooser::survey_dimensions()
{
    bool any_direct = false;
    for (std::uint32_t i = 0; i < out_.levels; ++i) {
        const std::uint32_t d = table_.dim_count - 1 - axes_[i];
        if (table_.dims[d] > longest_) {
            longest_ = table_.dims[d];
            link_mbps_ = table_.rate_mbps[d] / (table_.dims[d] - 1);
        }
        if (table_.kind[d] == abi::dimension_kind::ring)
            out_.directions = 2;
        (out_.direct.has(axes_[i]) ? any_direct : out_.any_ring) = true;
    }
    // A rank has one predecessor on a ring, but many in a direct exchange, and on the way to a root.
    out_.semaphores = !out_.any_ring             ? out_.levels + 1
                      : any_direct || to_root_ ? 2 * out_.levels
                                                 : out_.levels;
    most_lanes_ = smaller(k_axis_data_semaphores / out_.semaphores, k_max_lanes);
}

void lane_chooser::choose_direct_lanes()
{
    out_.chunk_elements = command_.count; // nobody forwards anything, so a block is one message
    const std::uint32_t messages = messages_of_lane(by_rank_);
    const std::uint64_t turn = messages * bytes_in(out_.levels > 1 ? k_turn_ns_of_message : k_turn_ns_of_lone_message);
    const std::uint64_t shard_bytes = shard_ * element_bytes_;
    const bool turns[2] = {shard_bytes >= turn, shard_bytes >= 2 * turn};
    // Of more than two dimensions slow ones begin no lane: with lanes for links between racks, an all_reduce of
    // 64 MiB on a pod of 1,024 NPUs took 401 us, 248 us without.
    if (out_.levels == 2 && out_.places.fast == 1)
        first_ = first_axes(lane_loads(table_, out_.places, bytes_), messages, turns, by_rank_);
    else if (by_rank_ && out_.levels > 2 && first_ > 1)
        first_ = lanes_that_pay(lane_loads(table_, out_.places, bytes_), first_, messages);
    if (out_.levels > 2)
        out_.cost += costs::k_axes_loads * out_.levels * out_.levels;
    if (shard_bytes >= first_ * turn)
        out_.directions = 2;
}

// Of direct exchanges; with shards in parts for all pieces of a block, see axis_lane::pieces_of_message().
std::uint32_t lane_chooser::messages_of_lane(bool in_parts) const
{
    std::uint32_t messages = 0;
    const std::uint32_t last = size(out_.levels - 1);
    std::uint32_t shards = table_.ranks;
    for (std::uint32_t i = 0; i < out_.levels; ++i) {
        shards /= size(i);
        messages += (size(i) - 1) * (in_parts && shards > last ? shards / last : 1);
    }
    return messages;
}

// As many lanes as there are semaphores for, and as the length of the data pays.
void lane_chooser::shorten()
{
    std::uint32_t& colours = out_.colours;
    std::uint32_t& directions = out_.directions;
    if (first_ * directions > most_lanes_ && (!out_.any_ring || most_lanes_ < 2))
        directions = 1; // dimensions before turns
    colours = smaller(first_, most_lanes_ / directions);
    if (!by_rank_ && out_.any_ring && part_bytes() < shortest_part_bytes()) {
        directions = 1;
        colours = smaller(colours, k_lanes_of_a_chunk);
    }
    // Shards of ranks that are too short for all lanes are cut for fewer: one direction of each dimension, then fewer
    // dimensions.
    if (by_rank_ && part_bytes() < shortest_part_bytes())
        directions = 1;
    while (by_rank_ && colours > 1 && part_bytes() < shortest_part_bytes())
        --colours;
    const std::uint64_t shortest_lane =
        out_.any_ring     ? k_shortest_ring_lane_part_bytes
        : directions == 1 ? bytes_in(k_lane_ns_of_message) * longest_ * (longest_ - 1) / table_.ranks
                          : 0; // turns pay later than lanes
    if (part_bytes() < (by_rank_ ? shortest_part_bytes() : shortest_lane))
        colours = directions = 1;
}

void lane_chooser::cut_shards()
{
    // One core serves all lanes: with four its messages are twice as long as with two, so that it has as long for each.
    if (out_.any_ring && out_.ways() > k_lanes_of_a_chunk)
        out_.chunk_elements *= out_.ways() / k_lanes_of_a_chunk;
    if (!by_rank_)
        return;
    out_.in_parts = part_bytes() >= shortest_part_bytes();
    if (out_.in_parts)
        return;
    out_.cost += out_.levels * costs::k_axes_order;
    out_.in_parts = fast_axes_first_pays(table_, out_.places, out_.direct, shard_ * element_bytes_, out_.any_ring);
}

void lane_chooser::share_data()
{
    const lane_loads loads(table_, out_.places, bytes_);
    if (loads.alike(out_.colours))
        return;
    out_.unlike = true;
    if (out_.colours == first_)
        if (const lane_shares balanced = loads.balanced(out_.colours); balance_pays(loads, balanced, out_.directions == 2))
            out_.shares = balanced;
    out_.cost += costs::k_axes_shares * out_.colours * out_.colours / 4;
}

std::uint64_t lane_chooser::exchanges_ns() const
{
    const std::uint64_t made_ns = std::uint64_t{out_.ways()} * messages_of_lane(out_.in_parts) * k_lane_ns_of_message;
    if (by_rank_ && !out_.in_parts) {
        std::uint32_t axes[abi::k_max_dims];
        axes_of_lane(out_.places, 0, axes);
        outermost_first(axes, out_.levels);
        return link_ns(table_, out_.direct, axes, out_.levels, shard_ * element_bytes_) + made_ns;
    }
    const lane_loads loads(table_, out_.places, bytes_);
    return loads.ns(out_.alike() ? even_shares(out_.colours) : out_.shares, out_.directions == 2) +
           loads.behind_ns(out_.colours) + made_ns;
}

std::uint64_t lane_chooser::move_ns() const
{
    std::uint64_t slowest_ns = 0; // of links that carry a shard
    for (std::uint32_t i = 0; i < out_.levels; ++i)
        if (const std::uint64_t mbps = table_.rate_mbps[table_.dim_count - 1 - axes_[i]]; mbps != 0) {
            const std::uint64_t ns = shard_ * element_bytes_ * (size(i) - 1) * 8000 / mbps;
            slowest_ns = ns > slowest_ns ? ns : slowest_ns;
        }
    const bool gathers = command_.op == abi::collective_op::all_gather;
    // Shards meet in each dimension. In an all-gather all lanes wait for all of them.
    return k_move_ns + (gathers ? k_move_ready_ns : 0) + (gathers ? 2 : 1) * out_.levels * slowest_ns;
}

/// A shard of a rank lies in pieces of two neighbouring lanes at most; a piece of a lane lies in three shards at most.
std::uint32_t most_sends_of_moves(const lane_choice& c)
{
    const lane_shares shares = c.alike() ? even_shares(c.colours) : c.shares;
    std::uint32_t most = 3 * c.ways();
    for (std::uint32_t i = 0; i < shares.lanes; ++i) {
        const std::uint32_t pieces = lane_cut::k_whole * c.directions / shares.of[i] + 3;
        most = pieces > most ? pieces : most;
    }
    return most;
}

} // namespace

joined_axes::joined_axes(const abi::platform_table& t)
{
    bool rings = false;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        rings = rings || (t.dims[d] > 1 && !joined(t.kind[d]));
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        if (joined(t.kind[d]) && !(rings && t.dims[d] == 2))
            bits_ |= 1u << (t.dim_count - 1 - d);
}

lane_choice::lane_choice(const abi::platform_table& table, const abi::command& command, std::uint64_t chunk)
    : places(axis_places_of(table)), direct(table), chunk_elements(chunk)
{
    lane_chooser by_ranks(table, command, *this);
    by_ranks.choose();
    if (!shards_are_of_ranks(command.op) || any_ring || levels < k_fewest_levels_to_move)
        return;
    abi::command as_whole = command;
    as_whole.op = abi::collective_op::all_reduce;
    lane_choice moved(table, as_whole, chunk);
    moved.cost += cost;
    moved.moves_shards = true;
    const lane_chooser as_all_reduce(table, as_whole, moved);
    cost = moved.cost;
    if (most_sends_of_moves(moved) <= k_max_sends && as_all_reduce.exchanges_ns() + by_ranks.move_ns() < by_ranks.exchanges_ns())
        *this = moved;
}

} // namespace weft::firmware
