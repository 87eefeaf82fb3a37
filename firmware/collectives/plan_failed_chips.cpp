// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of row_pair and row_pair_forward on a mesh with failed chips; failed_chips.h explains them.
#include "firmware/collectives/failed_chips.h"
#include "firmware/collectives/planners.h"
#include "firmware/collectives/schedule_writer.h"

#include <new>

namespace weft::firmware {

namespace {
ring_id pair_ring(bool transposed, std::uint32_t lane) { return {ring_kind::pair, transposed, lane != 0}; }

class failed_chip_planner : public schedule_writer {
public:
    using schedule_writer::schedule_writer;

    void plan_row_pair(bool transposed, bool forwards_columns);

private:
    void plan_whole_pair(std::uint32_t lane, place here, bool transposed, bool forwards_columns);
    std::uint32_t adopt_columns(std::uint32_t lane, place here, bool transposed, std::uint32_t* from);
    void plan_tile(std::uint32_t lane, place here, bool transposed);
    void find_donors(place here, bool transposed);
};

void failed_chip_planner::plan_row_pair(bool transposed, bool forwards_columns)
{
    const mesh o = oriented(mesh_, transposed);
    const place here = oriented(place_of(mesh_, table_.rank), transposed);
    charge(costs::k_plan_around);
    const bool whole = pair_is_whole(o, here.row / 2);
    for (std::uint32_t d = 0; d < 2; ++d) {
        const lane_plan& l = make_lane(d, abi::shard_of(command_.count, 2, d));
        tile_plan& tile = *new (&out_.tiles[d]) tile_plan;
        tile.parts = make_donation(l.lists[0].count, out_.chunk_elements);
    }
    const std::uint32_t donor_ready = k_sem_donor_ready + (transposed ? 1 : 0);
    if (whole) {
        for (std::uint32_t d = 0; d < 2; ++d)
            plan_whole_pair(d, here, transposed, forwards_columns);
        find_donors(here, transposed);
        announce_rings();
        for (std::uint32_t i = 0; i < out_.donor_count; ++i)
            notify(i, out_.donors[i].rank, donor_ready);
    } else {
        for (std::uint32_t d = 0; d < 2; ++d)
            plan_tile(d, here, transposed);
        announce_rings();
        expect(donor_ready, 1);
    }
    // Of the longest chain: around tile, pair and column and back, and the hops between them.
    out_.steps = 2 * (k_tile_chips - 1 + 1 + 2 * o.cols - 1 + whole_pairs(o) - 1 + (forwards_columns ? 1 : 0));
}

void failed_chip_planner::plan_whole_pair(std::uint32_t lane, place here, bool transposed, bool forwards_columns)
{
    const ring_id first = pair_ring(transposed, lane);
    const ring_id second{ring_kind::alternate, transposed, lane != 0};
    charge(costs::k_plan_pair);
    channel_plan& c = add_channel(lane);
    lane_plan& l = out_.lanes[lane];
    const ring_view& outer = view(first);
    l.lists[1] = abi::shard_of(l.lists[0].count, outer.size, outer.position);
    l.lists[1].first += l.lists[0].first;
    const std::uint32_t inner_reduce = data_semaphore(lane, data_kind::inner_reduce);
    const std::uint32_t adopted = k_sem_adopted + lane;
    const auto add_list = [&](std::uint32_t receive_semaphore, std::uint32_t remote_semaphore) -> pass& {
        pass& p = add_pass(c, run_source::list);
        p.run_cost = costs::k_run + costs::k_unit;
        p.guarded = true;
        p.receive_semaphore = static_cast<std::uint8_t>(receive_semaphore);
        p.remote_semaphore = static_cast<std::uint8_t>(remote_semaphore);
        return p;
    };

    add_ring(c, first, true);
    if (forwards_columns && !column_is_whole(oriented(mesh_, transposed), here.col)) { // hand over
        std::uint32_t col = here.col;
        nearest_whole_column(oriented(mesh_, transposed), here.col, col);
        const std::uint32_t adopter = rank_of(mesh_, oriented(place{here.row, col}, transposed));
        pass& p = add_list(inner_reduce, adopted);
        p.view.successor = p.view.predecessor = adopter;
        p.total_sends = p.total_receives = p.free_sends = out_.chunks(l.lists[1].count);
        add_send(p, l.lists[1], adopter);
    } else {
        std::uint32_t from[k_max_adopted];
        const std::uint32_t adoptions = forwards_columns ? adopt_columns(lane, here, transposed, from) : 0;
        std::uint32_t messages = 0;
        for (std::uint32_t i = 0; i < adoptions; ++i)
            messages += out_.chunks(l.lists[2 + i].count);
        if (adoptions != 0) { // take over
            pass& p = add_list(adopted, 0);
            p.view.predecessor = from[0];
            p.total_receives = messages;
        }
        pass& p = add_ring(c, second, true, 1, 1 + adoptions);
        p.tells_when_entered = adoptions != 0 && p.view.size > 1;
        add_ring(c, second, false, 1, 1 + adoptions);
        if (adoptions != 0) { // hand back
            pass& back = add_list(data_semaphore(lane, data_kind::outer_reduce), inner_reduce);
            back.total_sends = back.free_sends = messages;
            for (std::uint32_t i = 0; i < adoptions; ++i)
                add_send(back, l.lists[2 + i], from[i]);
        }
    }
    add_ring(c, first, false).wakes = static_cast<std::uint8_t>(lane);
}

// How many columns this chip's column serves, and the chips of this row in them.
std::uint32_t failed_chip_planner::adopt_columns(std::uint32_t lane, place here, bool transposed, std::uint32_t* from)
{
    const mesh o = oriented(mesh_, transposed);
    lane_plan& l = out_.lanes[lane];
    charge(costs::k_adopt);
    const ring_id ring = pair_ring(transposed, lane);
    std::uint32_t count = 0;
    for (std::uint32_t col = 0; col < o.cols; ++col) {
        std::uint32_t taker = here.col;
        if (column_is_whole(o, col) || !nearest_whole_column(o, col, taker) || taker != here.col)
            continue;
        const std::uint32_t rank = rank_of(mesh_, oriented(place{here.row, col}, transposed));
        abi::element_range shard = abi::shard_of(l.lists[0].count, 2 * o.cols, ring_position(mesh_, ring, rank));
        shard.first += l.lists[0].first;
        from[count] = rank;
        l.lists[2 + count++] = shard;
    }
    return count;
}

// The chips beyond this pair of rows, up or down from here, that forward to this one.
void failed_chip_planner::find_donors(place here, bool transposed)
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
        donor_plan& donor = *new (&out_.donors[out_.donor_count]) donor_plan;
        donor.rank = rank_of(mesh_, oriented(from, transposed));
        donor.slot = distance - 1;
        donor.owner = ring_position(mesh_, tile_ring(0), donor.rank);
        for (std::uint32_t d = 0; d < 2; ++d) {
            const donation& parts = out_.tiles[d].parts;
            const ring_id ring = pair_ring(transposed, d);
            donor.first_unit[d] =
                first_round_unit(parts, donor.owner, ring_position(mesh_, ring, table_.rank), ring_size(mesh_, ring));
            expect(donor_semaphore(d, donor.slot), parts.rounds);
            out_.channels[d].passes[0].guarded = true;
            channel_plan& c = add_channel(d);
            c.sleeps = true;
            pass& p = add_pass(c, run_source::give_back);
            p.run_cost = costs::k_run + costs::k_unit;
            p.guarded = p.sends_empty = true;
            p.donor = static_cast<std::uint8_t>(out_.donor_count);
            p.view.successor = p.view.predecessor = donor.rank;
            p.receive_semaphore = static_cast<std::uint8_t>(data_semaphore(d, data_kind::outer_reduce));
            p.remote_semaphore = static_cast<std::uint8_t>(data_semaphore(d, data_kind::inner_reduce));
            p.total_sends = parts.rounds;
        }
        ++out_.donor_count;
    }
}

void failed_chip_planner::plan_tile(std::uint32_t lane, place here, bool transposed)
{
    const mesh o = oriented(mesh_, transposed);
    const place corner = oriented(place{here.row & ~1u, here.col & ~1u}, transposed);
    charge(costs::k_plan_tile);
    const ring_id ring = pair_ring(transposed, lane);
    tile_plan& tile = out_.tiles[lane];
    const std::uint32_t rounds = tile.parts.rounds;
    const std::uint32_t corner_rank = rank_of(mesh_, corner);
    for (std::uint32_t owner = 0; owner < k_tile_chips; ++owner) {
        const std::uint32_t rank = ring_member(mesh_, tile_ring(0), corner_rank, owner);
        place target;
        std::uint32_t distance = 0;
        forward_target(o, oriented(place_of(mesh_, rank), transposed), target, distance);
        const std::uint32_t receiver = rank_of(mesh_, oriented(target, transposed));
        tile.first_unit[owner] =
            first_round_unit(tile.parts, owner, ring_position(mesh_, ring, receiver), ring_size(mesh_, ring));
        if (rank == table_.rank) {
            tile.owner = owner;
            tile.receiver = receiver;
            tile.receiver_slot = distance - 1;
        }
    }
    const auto add = [&](run_source source, std::uint32_t semaphore) -> pass& {
        pass& p = add_pass(add_channel(lane), source);
        p.run_cost = costs::k_run + costs::k_unit;
        p.guarded = p.sends_empty = p.needs_ready = true;
        p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(semaphore);
        return p;
    };
    const auto add_exchange = [&](bool accumulate) {
        pass& p =
            add(run_source::tile, data_semaphore(lane, accumulate ? data_kind::outer_reduce : data_kind::outer_gather));
        p.accumulate = accumulate;
        p.ring = tile_ring(lane);
        p.view = view(p.ring);
        p.ready_semaphore = static_cast<std::uint8_t>(ready_semaphore(ring_number(p.ring)));
        p.total_sends = p.total_receives = rounds * (k_tile_chips - 1);
    };
    add_exchange(true);
    pass& donate = add(run_source::donate, data_semaphore(lane, data_kind::outer_reduce));
    donate.accumulate = true;
    donate.view.successor = donate.view.predecessor = tile.receiver;
    donate.remote_semaphore = static_cast<std::uint8_t>(donor_semaphore(lane, tile.receiver_slot));
    donate.ready_semaphore = static_cast<std::uint8_t>(k_sem_donor_ready + (transposed ? 1 : 0));
    donate.total_sends = rounds;
    donate.shared_receives = rounds * (k_tile_chips - 1); // those of the reduction, which comes first
    add_exchange(false);
    // What comes back is waited for by the last exchange, and counted here because no pass receives it.
    expect(data_semaphore(lane, data_kind::inner_reduce), rounds);
}

} // namespace

void plan_row_pair_around_failed_chips(ring_map& rings, const abi::command& command, schedule& out, bool forwards_columns)
{
    failed_chip_planner(rings, command, out).plan_row_pair(command.transposed != 0, forwards_columns);
}

} // namespace weft::firmware
