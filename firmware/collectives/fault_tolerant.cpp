// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// row_pair and row_pair_forward on a mesh with failed chips (Kumar and Jouppi, section 2.2, Fig. 9 and 10).
//
// Pairs of rows without failed chips form full rings, as on a whole mesh. In the other pairs the remaining chips form tiles of
// 2x2, and each of the two directions of a tile's ring works on one half of the data:
//   tile_reduce   the four chips reduce among themselves, round after round; each then owns a quarter (donation.h)
//   donate        each adds its quarter to the buffer of the nearest chip of a whole pair in its column
//   give_back     from there, when the full ring's all-gather has brought the results
//   tile_gather   the four chips exchange the quarters
// A chip of a whole pair sends an element around its ring only after what its donors owe it has arrived. All four streams run
// at the same time and unit by unit, so that only their first and last units lengthen the collective.
//
// The second phase runs in columns, over whole pairs only; hops over failed chips are routed around them. row_pair_forward
// lets columns with failed chips take no part in it:
//   hand_over     their chips send their shard to the nearest whole column in the same row, and wait for the result
//   take_over     there, wait for these shards; the second phase then works on several shards. They overwrite, so a chip says
//                 that it is ready for the second phase only then
//   hand_back     there, send the results
//
// Nobody's data is overwritten too early, beyond what engine.h says: a donor adds only after its receiver has said that it
// has entered; a unit that comes back contains the contribution of everybody in the tile; a shard that is handed over contains
// the contribution of the chip whose buffer it is put into.
#include "firmware/collectives/engine.h"
#include "firmware/costs.h"

#include <new>

namespace weft::firmware {

namespace {

ring_id tile_ring(std::uint32_t lane_index) { return {ring_kind::tile, false, lane_index != 0, 2, 2}; }
ring_id pair_ring(bool transposed, std::uint32_t lane_index) { return {ring_kind::pair, transposed, lane_index != 0}; }

/// Position in a ring of four by the owner's number, which counts forward; its own inverse.
std::uint32_t turned(std::uint32_t owner, std::uint32_t lane_index)
{
    return lane_index != 0 ? (k_tile_chips - owner) % k_tile_chips : owner;
}

} // namespace

// ---------------------------------------------------------------------------------------------------------------- plans

void engine::plan_row_pair_around_failed_chips(bool transposed, bool forwards_columns)
{
    const mesh o = oriented(mesh_, transposed);
    const place here = oriented(place_of(mesh_, context_.table.rank), transposed);
    charge(costs::k_plan_around);
    const bool whole = pair_is_whole(o, here.row / 2);
    for (std::uint32_t d = 0; d < 2; ++d) {
        lane_plan& l = make_lane(d, abi::shard_of(command_.count, 2, d));
        l.parts = make_donation(l.outer_range.count, chunk_elements_);
    }
    if (whole) {
        for (std::uint32_t d = 0; d < 2; ++d)
            plan_whole_pair(d, here, transposed, forwards_columns);
        find_donors(here, transposed);
    } else {
        for (std::uint32_t d = 0; d < 2; ++d)
            plan_tile(d, here, transposed);
        expects_donor_ready_ = true;
    }
    // Of the longest chain: around tile, pair and column and back, and the hops between them.
    steps_ = 2 * (k_tile_chips - 1 + 1 + 2 * o.cols - 1 + whole_pairs(o) - 1 + (forwards_columns ? 1 : 0));
}

void engine::plan_whole_pair(std::uint32_t lane_index, place here, bool transposed, bool forwards_columns)
{
    const ring_id first = pair_ring(transposed, lane_index);
    const ring_id second{ring_kind::alternate, transposed, lane_index != 0};
    charge(costs::k_plan_pair);
    channel& c = add_channel(lane_index);
    lane_plan& l = lanes_[lane_index];
    const ring_view& outer = view(first);
    l.inner[0] = abi::shard_of(l.outer_range.count, outer.size, outer.position);
    l.inner[0].first += l.outer_range.first;
    const auto add = [&](phase_kind kind, ring_id ring, bool inner) {
        c.phases[c.phase_count++] = {kind, ring, static_cast<std::uint8_t>(inner ? 1 : 0)};
    };

    add(phase_kind::reduce, first, false);
    if (forwards_columns && !column_is_whole(oriented(mesh_, transposed), here.col)) {
        std::uint32_t col = here.col;
        nearest_whole_column(oriented(mesh_, transposed), here.col, col);
        l.adopter = rank_of(mesh_, oriented(place{here.row, col}, transposed));
        add(phase_kind::hand_over, {}, true);
    } else {
        if (forwards_columns)
            adopt_columns(l, here, transposed);
        if (l.inner_count > 1)
            add(phase_kind::take_over, {}, true);
        add(phase_kind::reduce, second, true);
        add(phase_kind::gather, second, true);
        if (l.inner_count > 1)
            add(phase_kind::hand_back, {}, true);
    }
    add(phase_kind::gather, first, false);
}

void engine::adopt_columns(lane_plan& l, place here, bool transposed)
{
    const mesh o = oriented(mesh_, transposed);
    const std::uint32_t lane_index = static_cast<std::uint32_t>(&l - lanes_);
    charge(costs::k_adopt);
    const ring_id ring = pair_ring(transposed, lane_index);
    for (std::uint32_t col = 0; col < o.cols; ++col) {
        std::uint32_t taker = here.col;
        if (column_is_whole(o, col) || !nearest_whole_column(o, col, taker) || taker != here.col)
            continue;
        const std::uint32_t rank = rank_of(mesh_, oriented(place{here.row, col}, transposed));
        abi::element_range shard = abi::shard_of(l.outer_range.count, 2 * o.cols, ring_position(mesh_, ring, rank));
        shard.first += l.outer_range.first;
        l.adopted_from[l.inner_count - 1] = rank;
        l.inner[l.inner_count++] = shard;
    }
}

// The chips beyond this pair of rows, up or down from here, that forward to this one.
void engine::find_donors(place here, bool transposed)
{
    const mesh o = oriented(mesh_, transposed);
    for (std::uint32_t away = 1; away <= k_max_donors; ++away) {
        const bool down = here.row % 2 != 0;
        if (!down && away > here.row)
            break;
        const place from{down ? here.row + away : here.row - away, here.col};
        if (from.row >= o.rows || pair_is_whole(o, from.row / 2))
            break;
        place target;
        std::uint32_t distance = 0;
        if (!works(o, from) || !forward_target(o, from, target, distance) || !(target == here))
            continue;
        charge(costs::k_plan_donor);
        donor_plan& donor = *new (&donors_[donor_count_]) donor_plan;
        donor.rank = rank_of(mesh_, oriented(from, transposed));
        donor.slot = distance - 1;
        donor.owner = ring_position(mesh_, tile_ring(0), donor.rank);
        for (std::uint32_t d = 0; d < 2; ++d) {
            const lane_plan& l = lanes_[d];
            const ring_id ring = pair_ring(transposed, d);
            donor.first_unit[d] = first_round_unit(
                l.parts, donor.owner, ring_position(mesh_, ring, context_.table.rank), ring_size(mesh_, ring));
            const std::uint32_t semaphore = donor_semaphore(d, donor.slot);
            donor.base[d] = context_.expected[semaphore];
            context_.expected[semaphore] += l.parts.rounds;
            channel& c = add_channel(d);
            c.donor = donor_count_;
            c.phases[c.phase_count++] = {phase_kind::give_back, {}, 0};
            c.active = false;
        }
        ++donor_count_;
    }
}

void engine::plan_tile(std::uint32_t lane_index, place here, bool transposed)
{
    const mesh o = oriented(mesh_, transposed);
    const place corner = oriented(place{here.row & ~1u, here.col & ~1u}, transposed);
    charge(costs::k_plan_tile);
    const ring_id ring = pair_ring(transposed, lane_index);
    lane_plan& l = lanes_[lane_index];
    const std::uint32_t corner_rank = rank_of(mesh_, corner);
    for (std::uint32_t owner = 0; owner < k_tile_chips; ++owner) {
        const std::uint32_t rank = ring_member(mesh_, tile_ring(0), corner_rank, owner);
        place target;
        std::uint32_t distance = 0;
        forward_target(o, oriented(place_of(mesh_, rank), transposed), target, distance);
        const std::uint32_t receiver = rank_of(mesh_, oriented(target, transposed));
        l.first_unit[owner] =
            first_round_unit(l.parts, owner, ring_position(mesh_, ring, receiver), ring_size(mesh_, ring));
        if (rank == context_.table.rank) {
            l.tile_owner = owner;
            l.receiver = receiver;
            l.receiver_slot = distance - 1;
        }
    }
    constexpr phase_kind k_streams[] = {phase_kind::tile_reduce, phase_kind::donate, phase_kind::tile_gather};
    for (const phase_kind kind : k_streams) {
        channel& c = add_channel(lane_index);
        c.phases[c.phase_count++] = {kind, tile_ring(lane_index), 0};
    }
    // What comes back is waited for by tile_gather, and counted here because no phase receives it.
    context_.expected[data_semaphore(lane_index, data_kind::inner_reduce)] += l.parts.rounds;
}

// --------------------------------------------------------------------------------------------------------------- phases

void engine::enter_detached_phase(channel& c)
{
    const lane_plan& l = lanes_[c.lane];
    const std::uint32_t rounds = l.parts.rounds;
    c.receive_semaphore = data_semaphore(c.lane, data_kind::outer_reduce);
    switch (c.kind()) {
    case phase_kind::tile_reduce:
    case phase_kind::tile_gather: {
        const bool reduce = c.kind() == phase_kind::tile_reduce;
        c.ring = view(c.phases[c.phase].ring);
        c.successor = c.ring.successor;
        c.predecessor = c.ring.predecessor;
        c.receive_semaphore = data_semaphore(c.lane, reduce ? data_kind::outer_reduce : data_kind::outer_gather);
        c.remote_semaphore = c.receive_semaphore;
        c.ready_semaphore = ready_semaphore(ring_number(c.phases[c.phase].ring));
        c.needs_ready = c.sends_empty = true;
        c.accumulate = reduce;
        c.total_sends = c.total_receives = rounds * (k_tile_chips - 1);
        break;
    }
    case phase_kind::donate:
        c.successor = c.predecessor = l.receiver;
        c.remote_semaphore = donor_semaphore(c.lane, l.receiver_slot);
        c.ready_semaphore = k_sem_donor_ready + (command_.transposed != 0 ? 1 : 0);
        c.needs_ready = c.sends_empty = c.accumulate = true;
        c.total_sends = rounds;
        c.receive_base = context_.expected[c.receive_semaphore] - rounds * (k_tile_chips - 1); // tile_reduce came first
        return;
    case phase_kind::give_back:
        c.successor = c.predecessor = donors_[c.donor].rank;
        c.remote_semaphore = data_semaphore(c.lane, data_kind::inner_reduce);
        c.sends_empty = true;
        c.total_sends = rounds;
        break;
    case phase_kind::hand_over:
        c.successor = c.predecessor = l.adopter;
        c.remote_semaphore = k_sem_adopted + c.lane;
        c.receive_semaphore = data_semaphore(c.lane, data_kind::inner_reduce);
        c.total_sends = c.total_receives = c.free_sends = chunks(l.inner[0].count);
        break;
    case phase_kind::take_over:
        c.predecessor = l.adopted_from[0];
        c.receive_semaphore = k_sem_adopted + c.lane;
        for (std::uint32_t i = 1; i < l.inner_count; ++i)
            c.total_receives += chunks(l.inner[i].count);
        break;
    default: // hand_back
        c.remote_semaphore = data_semaphore(c.lane, data_kind::inner_reduce);
        for (std::uint32_t i = 1; i < l.inner_count; ++i)
            c.total_sends += chunks(l.inner[i].count);
        c.free_sends = c.total_sends;
        break;
    }
    c.receive_base = context_.expected[c.receive_semaphore];
}

void engine::load_detached_run(channel& c)
{
    charge(c.kind() == phase_kind::fan_out ? 0 : costs::k_unit);
    const lane_plan& l = lanes_[c.lane];
    std::uint32_t unit = 0;
    switch (c.kind()) {
    case phase_kind::tile_reduce:
    case phase_kind::tile_gather: {
        const std::uint32_t back = c.step % (k_tile_chips - 1) + (c.kind() == phase_kind::tile_reduce ? 1 : 0);
        const std::uint32_t owner = turned((c.ring.position + k_tile_chips - back) % k_tile_chips, c.lane);
        unit = unit_in_round(l.parts, owner, l.first_unit[owner], c.step / (k_tile_chips - 1));
        break;
    }
    case phase_kind::donate: unit = unit_in_round(l.parts, l.tile_owner, l.first_unit[l.tile_owner], c.step); break;
    case phase_kind::give_back: {
        const donor_plan& donor = donors_[c.donor];
        unit = unit_in_round(l.parts, donor.owner, donor.first_unit[c.lane], c.step);
        break;
    }
    case phase_kind::hand_over: c.shard = l.inner[0]; return;
    case phase_kind::fan_out: {
        const std::uint32_t others = c.ring.size - 1;
        const std::uint64_t first = c.step / others * chunk_elements_;
        const std::uint32_t back = c.step % others + 1; // the next rank first, so that not all begin with the same
        const std::uint32_t to = c.ring.position + back < c.ring.size ? back : back - c.ring.size;
        const std::uint64_t left = command_.count - first;
        c.shard = {first, left < chunk_elements_ ? left : chunk_elements_};
        c.successor = context_.table.rank + to * c.stride; // unsigned: wraps back
        c.queue = (c.index + back) % dma_.queues();        // the same for a rank always: its chunks stay in order
        c.port = static_cast<std::uint8_t>(c.queue % context_.table.dma_ports);
        return;
    }
    default: // hand_back
        c.shard = l.inner[1 + c.step];
        c.successor = l.adopted_from[c.step];
        return;
    }
    c.shard = l.parts.unit(unit);
    c.shard.first += l.outer_range.first;
}

bool engine::must_wait_detached(channel& c)
{
    charge(c.kind() == phase_kind::fan_out ? 0 : costs::k_look_around);
    const lane_plan& l = lanes_[c.lane];
    switch (c.kind()) {
    case phase_kind::tile_reduce:
    case phase_kind::tile_gather: {
        // Step 0 of a round sends what this chip has by itself, the others forward what arrived last.
        const std::uint32_t step = c.sent % (k_tile_chips - 1);
        if (step != 0)
            return must_wait(c, c.receive_semaphore, c.receive_base + c.sent, c.predecessor);
        if (c.kind() == phase_kind::tile_reduce)
            return false;
        const std::uint32_t results = data_semaphore(c.lane, data_kind::inner_reduce);
        const std::uint32_t before = context_.expected[results] - l.parts.rounds;
        return must_wait(c, results, before + c.sent / (k_tile_chips - 1) + 1, l.receiver);
    }
    case phase_kind::donate: // the last step of the round brought this chip's own unit
        return must_wait(c, c.receive_semaphore, c.receive_base + (c.sent + 1) * (k_tile_chips - 1), c.predecessor);
    case phase_kind::give_back: {
        const channel& main = channels_[c.lane];
        charge(costs::k_arrivals);
        return must_wait(c, main.receive_semaphore, main.receive_base + arrivals_before_unit(main, c.shard),
                         main.predecessor);
    }
    case phase_kind::fan_out: // the root has it all
        return c.sent >= c.free_sends &&
               must_wait(c, c.receive_semaphore, c.receive_base + c.sent / (c.ring.size - 1) + 1, c.predecessor);
    default: return false;
    }
}

// Messages of the all-gather after which all of the unit is there. Shards arrive in falling order, from the one before this
// chip's own, which is there from the beginning.
std::uint32_t engine::arrivals_before_unit(const channel& main, abi::element_range unit) const
{
    if (unit.count == 0)
        return 0;
    const lane_plan& l = lanes_[main.lane];
    const std::uint32_t n = main.ring.size;
    const std::uint32_t own = main.ring.position;
    const std::uint64_t first = unit.first - l.outer_range.first;
    const std::uint32_t low = shard_index(l.outer_range.count, n, first);
    const std::uint32_t high = shard_index(l.outer_range.count, n, first + unit.count - 1);
    if (low == own && high == own)
        return 0;
    const std::uint32_t last = low <= own && own < high ? own + 1 : low; // of the unit's shards, in order of arrival
    const std::uint64_t base = l.outer_range.count / n;
    const auto extra = static_cast<std::uint32_t>(l.outer_range.count % n);
    const auto chunks_below = [&](std::uint32_t shard) {
        const std::uint32_t long_shards = shard < extra ? shard : extra;
        return long_shards * chunks(base + 1) + (shard - long_shards) * chunks(base);
    };
    const std::uint32_t from_last = chunks_below(own) - chunks_below(last); // wraps when last lies above
    return last < own ? from_last : from_last + chunks_below(n);
}

bool engine::must_wait_for_donors(channel& c, abi::element_range range)
{
    charge(costs::k_donors);
    const lane_plan& l = lanes_[c.lane];
    const std::uint64_t first = range.first - l.outer_range.first;
    const std::uint32_t low = l.parts.unit_of(first);
    const std::uint32_t high = l.parts.unit_of(first + range.count - 1);
    for (std::uint32_t i = 0; i < donor_count_; ++i) {
        const donor_plan& donor = donors_[i];
        for (std::uint32_t unit = low; unit <= high; ++unit) {
            charge(costs::k_donor);
            if (unit % k_tile_chips != donor.owner)
                continue;
            const std::uint32_t round = round_of_unit(l.parts, donor.first_unit[c.lane], unit);
            if (must_wait(c, donor_semaphore(c.lane, donor.slot), donor.base[c.lane] + round + 1, donor.rank))
                return true;
        }
    }
    return false;
}

bool engine::must_wait_for_all_donors(channel& c)
{
    for (std::uint32_t i = 0; i < donor_count_; ++i) {
        const donor_plan& donor = donors_[i];
        const std::uint32_t target = donor.base[c.lane] + lanes_[c.lane].parts.rounds;
        if (must_wait(c, donor_semaphore(c.lane, donor.slot), target, donor.rank))
            return true;
    }
    return false;
}

} // namespace weft::firmware
