// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/failed_chips.h"

#include "firmware/collectives/engine.h"

namespace weft::firmware {

namespace {

/// Position in a ring of four by the owner's number, which counts forward; its own inverse.
std::uint32_t turned(std::uint32_t owner, std::uint32_t lane)
{
    return lane != 0 ? (k_tile_chips - owner) % k_tile_chips : owner;
}

} // namespace

void run_finder::find_unit(const pass& p, run_cursor& c)
{
    const tile_plan& tile = schedule_.tiles[c.lane];
    const donation& parts = tile.parts;
    std::uint32_t unit = 0;
    if (p.source == run_source::tile) {
        const std::uint32_t back = c.step % (k_tile_chips - 1) + (p.accumulate ? 1 : 0);
        const std::uint32_t owner = turned((p.view.position + k_tile_chips - back) % k_tile_chips, c.lane);
        unit = unit_in_round(parts, owner, tile.first_unit[owner], c.step / (k_tile_chips - 1));
    } else if (p.source == run_source::donate) {
        unit = unit_in_round(parts, tile.owner, tile.first_unit[tile.owner], c.step);
    } else {
        const donor_plan& donor = schedule_.donors[p.donor];
        unit = unit_in_round(parts, donor.owner, donor.first_unit[c.lane], c.step);
    }
    c.run = parts.unit(unit);
    c.run.first += schedule_.lanes[c.lane].lists[0].first;
}

bool engine::held_back_by_failed_chips(channel& c)
{
    const pass& p = *c.now;
    if (p.source == run_source::ring) {
        const std::uint64_t left = c.cursor.run.count - c.run_done;
        const std::uint64_t elements = left < schedule_.chunk_elements ? left : schedule_.chunk_elements;
        return must_wait_for_donors(c, {c.cursor.run.first + c.run_done, elements});
    }
    charge(costs::k_look_around);
    const std::uint32_t rounds = schedule_.tiles[c.cursor.lane].parts.rounds;
    switch (p.source) {
    case run_source::tile: {
        // Step 0 of a round sends what this chip has by itself, the others forward what arrived last.
        if (c.sent % (k_tile_chips - 1) != 0)
            return must_wait(c, p.receive_semaphore, c.receive_base + c.sent, p.view.predecessor);
        if (p.accumulate)
            return false;
        const std::uint32_t results = data_semaphore(c.cursor.lane, data_kind::inner_reduce);
        const std::uint32_t before = context_.expected[results] - rounds;
        return must_wait(c, results, before + c.sent / (k_tile_chips - 1) + 1, schedule_.tiles[c.cursor.lane].receiver);
    }
    case run_source::donate: // the last step of the round brought this chip's own unit
        return must_wait(c, p.receive_semaphore, c.receive_base + (c.sent + 1) * (k_tile_chips - 1),
                         p.view.predecessor);
    case run_source::give_back: {
        const channel& main = channels_[c.cursor.lane];
        charge(costs::k_arrivals);
        return must_wait(c, main.now->receive_semaphore,
                         main.receive_base + arrivals_before_unit(*main.now, c.cursor.lane, c.cursor.run),
                         main.now->view.predecessor);
    }
    default: return false;
    }
}

// Messages of the all-gather `main` after which all of the unit is there. Shards arrive in falling order, from the one
// before this chip's own, which is there from the beginning.
std::uint32_t engine::arrivals_before_unit(const pass& main, std::uint32_t lane, abi::element_range unit) const
{
    if (unit.count == 0)
        return 0;
    const abi::element_range& all = schedule_.lanes[lane].lists[0];
    const std::uint32_t n = main.view.size;
    const std::uint32_t own = main.view.position;
    const std::uint64_t first = unit.first - all.first;
    const std::uint32_t low = shard_index(all.count, n, first);
    const std::uint32_t high = shard_index(all.count, n, first + unit.count - 1);
    if (low == own && high == own)
        return 0;
    const std::uint32_t last = low <= own && own < high ? own + 1 : low; // of the unit's shards, in order of arrival
    const std::uint64_t base = all.count / n;
    const auto extra = static_cast<std::uint32_t>(all.count % n);
    const auto chunks_below = [&](std::uint32_t shard) {
        const std::uint32_t long_shards = shard < extra ? shard : extra;
        return long_shards * schedule_.chunks(base + 1) + (shard - long_shards) * schedule_.chunks(base);
    };
    const std::uint32_t from_last = chunks_below(own) - chunks_below(last); // wraps when last lies above
    return last < own ? from_last : from_last + chunks_below(n);
}

bool engine::must_wait_for_donors(channel& c, abi::element_range range)
{
    charge(costs::k_donors);
    const std::uint32_t lane = c.cursor.lane;
    const donation& parts = schedule_.tiles[lane].parts;
    const std::uint64_t first = range.first - schedule_.lanes[lane].lists[0].first;
    const std::uint32_t low = parts.unit_of(first);
    const std::uint32_t high = parts.unit_of(first + range.count - 1);
    for (std::uint32_t i = 0; i < schedule_.donor_count; ++i) {
        const donor_plan& donor = schedule_.donors[i];
        for (std::uint32_t unit = low; unit <= high; ++unit) {
            charge(costs::k_donor);
            if (unit % k_tile_chips != donor.owner)
                continue;
            const std::uint32_t round = round_of_unit(parts, donor.first_unit[lane], unit);
            if (must_wait(c, donor_semaphore(lane, donor.slot), donated_before(donor, lane) + round + 1, donor.rank))
                return true;
        }
    }
    return false;
}

bool engine::must_wait_for_all_donors(channel& c)
{
    const std::uint32_t lane = c.cursor.lane;
    for (std::uint32_t i = 0; i < schedule_.donor_count; ++i) {
        const donor_plan& donor = schedule_.donors[i];
        if (must_wait(c, donor_semaphore(lane, donor.slot), context_.expected[donor_semaphore(lane, donor.slot)],
                      donor.rank))
            return true;
    }
    return false;
}

// Messages of this donor before this collective.
std::uint32_t engine::donated_before(const donor_plan& donor, std::uint32_t lane) const
{
    return context_.expected[donor_semaphore(lane, donor.slot)] - schedule_.tiles[lane].parts.rounds;
}

} // namespace weft::firmware
