// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The event loop behind every ring and tree collective: a few concurrent channels, each a chunked and pipelined stream of
// messages that depend on what arrives.
//
// A channel goes through phases, and a phase is a list of runs of elements to send, cut into messages of at most a chunk.
// Around a ring:
//   reduce-scatter, step s   send shard position-1-s, receive and accumulate shard position-2-s; ends owning shard `position`
//   all-gather, step s       send shard position-s,   receive and overwrite shard position-1-s; starts owning shard `position`
// for s = 0 .. size-2, indices modulo the ring size. What is sent in step s+1 is what arrived in step s, so chunk c of step
// s+1 leaves as soon as chunk c of step s is in. An inner phase works inside the shard that the outer ring left here. The
// phases around failed chips are explained in fault_tolerant.cpp.
//
// Why nobody's data is overwritten too early:
//   * into a neighbour's buffer before it has entered the collective: the first message to a successor waits for its ready;
//   * an all-gather overwrites a shard that its receiver still has to send in the reduce-scatter: the final value of a shard
//     contains that very contribution, so it has been read long before;
//   * a fast neighbour's inner reduce-scatter meets the outer one: both accumulate, and the owned shard is the one the outer
//     phase never sends from here;
//   * the next collective reuses the buffer: a rank leaves when all its messages have arrived and all its sends have left
//     memory.
// Semaphores are explained in firmware/context.h.
#pragma once

#include "firmware/collectives/donation.h"
#include "firmware/collectives/rings.h"
#include "firmware/context.h"
#include "firmware/drivers/dma_driver.h"

namespace weft::firmware {

/// What a collective did, for the response.
struct collective_result {
    abi::status status;
    std::uint32_t steps = 0;
    std::uint32_t messages = 0;
    std::uint32_t failed_step = 0;
    std::uint32_t failed_peer = 0; ///< number of ranks when no peer was waited for
};

enum class phase_kind : std::uint8_t {
    tree,        ///< one edge of a broadcast tree, or the arrivals
    reduce,      ///< reduce-scatter around a ring
    gather,      ///< all-gather around a ring
    tile_reduce, ///< reduce-scatter among the four chips of a tile, in rounds
    tile_gather, ///< all-gather among them
    donate,      ///< their sums to the chip of a whole pair of rows
    give_back,   ///< from there, the results
    hand_over,   ///< the inner shard to a whole column, and back from there
    take_over,   ///< there: wait for the shards
    hand_back,   ///< there: send the results
    fan_out      ///< broadcast on a full mesh: every chunk to every other rank of a line
};

struct phase_plan {
    phase_kind kind = phase_kind::tree;
    ring_id ring = {ring_kind::hamiltonian}; ///< all zeros: a channel is made of many
    /// 0: works on all the lane has; 1: inside the shard that the ring of level 0 left; and so on.
    std::uint8_t level = 0;
};

inline constexpr std::uint32_t k_max_phases = 2 * abi::k_max_dims;
inline constexpr std::uint32_t k_max_adopted = 8; ///< columns with failed chips that one whole column serves

/// What the channels of one direction share. Filled by the plan.
struct lane_plan {
    abi::element_range outer_range; ///< elements this lane works on
    /// Shards that inner phases work on: the own one, then adopted ones. `hierarchical` has no adopted ones, but levels.
    abi::element_range inner[1 + k_max_adopted];
    std::uint32_t adopted_from[k_max_adopted] = {}; ///< ranks
    std::uint32_t inner_count = 1;
    std::uint32_t adopter = 0; ///< rank, for hand_over
    donation parts;
    std::uint32_t first_unit[k_tile_chips] = {}; ///< of a tile: by owner
    std::uint32_t tile_owner = 0;                ///< of a tile: which owner this chip is
    std::uint32_t receiver = 0;                  ///< of a tile: rank that this chip forwards to
    std::uint32_t receiver_slot = 0;
};

/// A neighbour of failed chips that forwards to this rank.
struct donor_plan {
    std::uint32_t rank = 0;
    std::uint32_t slot = 0;
    std::uint32_t owner = 0;          ///< of its tile
    std::uint32_t first_unit[2] = {}; ///< by lane
    std::uint32_t base[2] = {};       ///< its semaphores when the collective began, by lane
};

/// One stream of messages. Plans fill the first group of members, the engine owns the rest.
struct channel {
    std::uint32_t index = 0;
    std::uint32_t queue = 0;
    std::uint8_t port = 0; ///< of the destination
    std::uint32_t lane = 0;
    phase_plan phases[k_max_phases];
    std::uint32_t phase_count = 0; ///< 0: a tree edge, set up by plan_broadcast
    bool by_rank = false;          ///< shards are those of the ranks, split in two by direction, not those of positions
    bool active = true;            ///< give_back channels sleep until the all-gather begins
    std::uint32_t donor = 0;       ///< of give_back
    std::uint32_t stride = 0;      ///< of fan_out: between the ranks of its line

    // Of the current phase.
    std::uint32_t phase = 0;
    ring_view ring;
    std::uint32_t successor = 0;
    std::uint32_t predecessor = 0;
    std::uint32_t remote_semaphore = 0;  ///< counts at the successor
    std::uint32_t receive_semaphore = 0; ///< counts here
    std::uint32_t receive_base = 0;      ///< its count when the phase began
    std::uint32_t ready_semaphore = 0;   ///< counts here: the successor may be sent to
    bool needs_ready = false;
    bool accumulate = false;          ///< messages carry the reduction
    bool sends_empty = false;         ///< every run is one message, even an empty one
    std::uint32_t total_sends = 0;    ///< messages
    std::uint32_t total_receives = 0; ///< messages
    std::uint32_t free_sends = 0;     ///< messages that depend on nothing received
    std::uint32_t sent = 0;           ///< messages
    std::uint32_t step = 0;           ///< run being sent
    place at;                         ///< by_rank on a walk: whose shard it is
    std::uint32_t position = 0;       ///< in the ring: whose shard it is; not on a walk
    std::uint32_t rank_limit = 0;     ///< by_rank: ranks from here on have empty shards
    std::uint64_t short_length = 0;   ///< of the shards of the ring's only list; the first `long_shards` are one longer
    std::uint32_t long_shards = 0;
    abi::element_range shard;     ///< the run
    std::uint64_t shard_done = 0; ///< elements of it sent
    bool run_over = false;        ///< all of it is sent, or none yet was looked for: the next one is to be found

    // What it waits for.
    bool done = false;
    bool waiting = false; ///< for wait_semaphore to reach wait_count
    bool blocked_by_ring = false;
    bool has_more = false; ///< nothing: it stopped to give the others a turn
    std::uint32_t wait_semaphore = 0;
    std::uint32_t wait_count = 0;
    std::uint32_t wait_peer = 0;    ///< rank that is waited for
    std::uint32_t steps_before = 0; ///< steps of finished phases

    phase_kind kind() const { return phases[phase].kind; }
};

/// 2 lanes, of which each gives back to every donor.
inline constexpr std::uint32_t k_max_channels = 2 + 2 * k_max_donors;

class engine {
public:
    engine(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command);

    /// Adds the channels of the command's algorithm. The command has been checked.
    abi::status plan();
    /// Runs them to the end: everything has arrived, everything sent has left memory.
    void run(collective_result& result);

private:
    // plans.cpp
    channel& add_channel(std::uint32_t lane_index);
    lane_plan& make_lane(std::uint32_t index, abi::element_range range);
    void plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours, bool both_ways);
    abi::status plan_ring_1d();
    void plan_groups();
    void plan_hierarchical();
    void plan_broadcast();
    void plan_fan_out();

    // fault_tolerant.cpp
    void plan_row_pair_around_failed_chips(bool transposed, bool forwards_columns);
    void plan_whole_pair(std::uint32_t lane_index, place here, bool transposed, bool forwards_columns);
    void plan_tile(std::uint32_t lane_index, place here, bool transposed);
    void find_donors(place here, bool transposed);
    void adopt_columns(lane_plan& l, place here, bool transposed);
    void enter_detached_phase(channel& c);
    void load_detached_run(channel& c);
    bool must_wait_detached(channel& c);
    bool must_wait_for_donors(channel& c, abi::element_range range);
    bool must_wait_for_all_donors(channel& c);
    std::uint32_t arrivals_before_unit(const channel& main, abi::element_range unit) const;

    // engine.cpp
    abi::status say_ready();
    const ring_view& view(ring_id ring);
    std::uint32_t member(ring_id ring, std::uint32_t position) const;
    const abi::element_range& range_of(const channel& c, std::uint32_t list) const;
    abi::status notify(std::uint32_t queue_index, std::uint32_t rank, std::uint32_t semaphore);
    void enter_phase(channel& c);
    void enter_ring_phase(channel& c);
    void load_run(channel& c);
    void find_ring_run(channel& c, std::uint32_t position, std::uint32_t list);
    void load_run_without_position(channel& c);
    void look_ahead();
    bool has_positions(const channel& c) const
    {
        return (c.kind() == phase_kind::reduce || c.kind() == phase_kind::gather) && !(c.by_rank && mesh_.broken());
    }
    std::uint32_t inner_count(const channel& c) const;
    abi::element_range shard_at(const channel& c, std::uint32_t list, std::uint32_t position) const;
    abi::element_range shard_of_rank(const channel& c, std::uint32_t rank) const;
    std::uint32_t chunks(std::uint64_t elements) const;
    std::uint32_t chunks_of_all_shards(const channel& c, std::uint64_t count) const;
    std::uint32_t receives_needed(const channel& c) const;
    bool must_wait(channel& c, std::uint32_t semaphore, std::uint32_t count, std::uint32_t peer)
    {
        c.wait_semaphore = semaphore;
        c.wait_count = count;
        c.wait_peer = peer;
        return c.waiting = !reached(context_, semaphore, count);
    }
    bool must_wait_for_arrivals(channel& c);
    bool must_wait_with_run(channel& c);
    abi::status advance(channel& c);
    abi::status send_chunk(channel& c);
    abi::status sleep();
    abi::status look_at_semaphores(bool ready_only);
    void charge(std::uint32_t cycles) { cycles_ += cycles; }
    void pay();

    abi::hal& hal_;
    dma_driver& dma_;
    firmware_context& context_;
    const abi::command& command_;
    mesh mesh_;
    abi::dma_descriptor message_;  ///< the last one; what is the same in all stays
    std::uint32_t seen_rings_ = 0; ///< bit per ring_number(): `rings_` has it
    std::uint32_t element_bytes_;
    std::uint64_t chunk_elements_;
    std::uint32_t window_;
    std::uint32_t cycles_ = 0;    ///< work not yet charged
    std::uint32_t set_up_cycles_; ///< of this engine
    std::uint32_t messages_ = 0;
    std::uint32_t steps_ = 0; ///< of the whole collective
    std::uint32_t channel_count_ = 0;
    std::uint32_t donor_count_ = 0;
    bool expects_donor_ready_ = false; ///< this rank is a donor
    // Most of these no command uses: each is made where it is first needed.
    union {
        channel channels_[k_max_channels];
    };
    union {
        lane_plan lanes_[k_lanes];
    };
    union {
        donor_plan donors_[k_max_donors];
    };
    union {
        ring_view rings_[k_ring_numbers];
    };
};

/// The Hamiltonian ring that ring_1d uses: the asked orientation if the mesh allows it, else the other.
ring_id hamiltonian_ring(const mesh& m, bool transposed, bool reversed);

} // namespace weft::firmware
