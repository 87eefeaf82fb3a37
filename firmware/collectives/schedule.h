// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What one rank does in a collective, as data: a planner (planner.h) makes it from platform table and command, the
// engine (engine.h) executes it and `weft check --schedule` prints it.
//
// A schedule has channels, which run side by side. A channel has passes, one after the other. A pass is a list of runs
// of elements to send, which the engine cuts into messages of at most a chunk; runs.h finds them. What the messages
// wait for:
//   * `ready` of the successor, once;
//   * arrivals, where a pass forwards: message k after the first `free_sends` forwards the k-th message received;
//   * a guard, where a pass is guarded (failed_chips.h).
// A pass ends when everything is sent and everything it receives has arrived.
#pragma once

#include "firmware/collectives/axes.h"
#include "firmware/collectives/donation.h"
#include "firmware/collectives/line_trees.h"
#include "firmware/collectives/rings.h"
#include "firmware/context.h"

namespace weft::firmware {

/// Where the runs of a pass come from.
enum class run_source : std::uint8_t {
    list,      ///< entries of schedule::sends
    ring,      ///< shards of the lane's lists, by position on a ring, falling
    ring_rank, ///< shards of the ranks, split in two by lane, along a ring
    ring_walk, ///< the same along a ring without positions: the walk around failed chips
    axis_ring, ///< blocks of axes.h, around a ring
    axis_direct, ///< and to each other rank of a line
    fan_out,   ///< every chunk to each other rank of a line
    tree_parts,  ///< pieces of the trees of line_trees.h, to the rank of a line whose tree it is
    tree_spread, ///< pieces of the own tree, to all its children
    tree_sums,   ///< pieces of the own tree, to its parent
    tile,      ///< units of the four chips of a tile, in rounds; the last three: failed_chips.h
    donate,    ///< units that this chip owns in its tile
    give_back  ///< the same units of a donor
};
constexpr bool is_ring(run_source s) { return s >= run_source::ring && s <= run_source::axis_ring; }
constexpr bool is_of_tree(run_source s) { return s >= run_source::tree_parts && s <= run_source::tree_sums; }

/// Elements to send to one rank.
struct send_entry {
    abi::element_range range;
    std::uint32_t to = 0; ///< rank
};

inline constexpr std::uint8_t k_no_lane = 0xff;

struct pass {
    run_source source = run_source::list;
    bool accumulate = false;         ///< messages carry the reduction
    bool forwards = false;           ///< messages wait for arrivals, see above
    bool guarded = false;            ///< a guard looks at every message
    bool posted_ahead = false;       ///< guarded: the DMA engine waits for what messages need, see posted_ahead.cpp
    bool of_contributions = false;   ///< guarded: messages wait for all that the other channels of the lane get of them
    bool sends_empty = false;        ///< every run is one message, even an empty one
    bool needs_ready = false;        ///< the first message waits for the successor
    bool tells_when_entered = false; ///< the predecessor is told `ready` when the pass begins, not in a notice
    bool meets_line = false;         ///< its ready_semaphore counts all ranks of the line, who are told at once
    bool shortest_paths = false;     ///< messages keep to them, where the fabric has others
    bool after_all_lanes = false;    ///< it begins when every channel has ended its passes before the same number
    std::uint8_t wakes = k_no_lane;  ///< lane whose sleeping channels begin with it
    std::uint8_t first_list = 0;     ///< of the lane: what it works on
    std::uint8_t lists = 1;          ///< how many; they have their turns in each step of the ring
    std::uint8_t remote_semaphore = 0;  ///< counts at the successor
    std::uint8_t receive_semaphore = 0; ///< counts here
    std::uint8_t ready_semaphore = 0;   ///< counts here: the successor may be sent to
    std::uint8_t first_send = 0;        ///< of a list: its entries in schedule::sends
    std::uint8_t sends = 0;             ///< how many
    std::uint8_t donor = 0;             ///< of give_back: index of schedule::donors
    std::uint8_t level = 0; ///< of axis_ring and axis_direct: dimension of schedule::axis_lanes; of trees: colour
    std::uint8_t group_semaphore = 0;   ///< of passes that are posted ahead: counts groups that have left
    std::uint8_t leaf_semaphore = 0;    ///< of tree_spread: counts at children along the own dimension
    std::uint16_t first_queue = 0;      ///< of axis_direct: that of the next rank of the line; the others follow
    bool has_queue = false;             ///< of a list: first_queue is that of its messages
    bool moves_shards = false;          ///< a list: between ranks and those that sum or gather for them
    ring_id ring = {ring_kind::hamiltonian};
    ring_view view;           ///< of the ring, or of a list's neighbours
    std::uint32_t stride = 0; ///< of fan_out and where it meets a line: between the ranks of that line
    /// Messages. Rings count theirs when they begin.
    std::uint32_t total_sends = 0;
    std::uint32_t total_receives = 0;
    std::uint32_t free_sends = 0;
    std::uint32_t shared_receives = 0; ///< counted by an earlier pass on the same semaphore, and waited for here, too
    std::uint16_t entry_cost = 0; ///< instructions, costs.h
    std::uint16_t run_cost = 0;   ///< the same for finding a run
};

inline constexpr std::uint32_t k_max_passes = 2 * abi::k_max_dims;
inline constexpr std::uint32_t k_max_adopted = 8; ///< columns with failed chips that one whole column serves

struct channel_plan {
    std::uint32_t lane = 0;
    std::uint32_t pass_count = 0;
    std::uint16_t queue = 0; ///< of its messages, where a pass gives them no other; modulo the number of queues
    bool sleeps = false;     ///< until a pass wakes its lane
    union {
        pass passes[k_max_passes]; ///< made one by one
    };
    channel_plan() {}
};

/// What the channels of one direction share: list 0 is all that the lane works on, the others are shards that inner
/// passes work on.
struct lane_plan {
    abi::element_range lists[2 + k_max_adopted];
};

/// Of a lane where chips have failed, see failed_chips.h.
struct tile_plan {
    donation parts;
    std::uint32_t first_unit[k_tile_chips] = {}; ///< by owner
    std::uint32_t owner = 0;                     ///< which one this chip is
    std::uint32_t receiver = 0;                  ///< rank that this chip forwards to
    std::uint32_t receiver_slot = 0;
};

/// A neighbour of failed chips that forwards to this rank.
struct donor_plan {
    std::uint32_t rank = 0;
    std::uint32_t slot = 0;
    std::uint32_t owner = 0;          ///< of its tile
    std::uint32_t first_unit[2] = {}; ///< by lane
};

/// A message without data that is sent before anything else.
struct notice {
    std::uint8_t queue = 0; ///< modulo the number of queues
    std::uint8_t semaphore = 0;
    std::uint32_t to = 0; ///< rank
};

/// The same to all of a line, `stride` ranks apart.
struct told_line {
    std::uint8_t semaphore = 0;
    std::uint16_t first_queue = 0; ///< that of the next rank; the others follow
    std::uint32_t size = 1;
    std::uint32_t at = 0; ///< coordinate of this rank
    std::uint32_t stride = 0;
};

/// Messages that this rank will get besides those that passes count.
struct expectation {
    std::uint32_t semaphore = 0;
    std::uint32_t messages = 0;
};

inline constexpr std::uint32_t k_max_channels = 12; ///< of multi_ring: six rings in each of two lanes
static_assert(k_max_channels >= 2 + 2 * k_max_donors, "2 lanes, of which each gives back to every donor");
inline constexpr std::uint32_t k_max_notices = k_ring_numbers + k_max_donors;
inline constexpr std::uint32_t k_max_expectations = k_max_notices + 2 * k_max_donors;
inline constexpr std::uint32_t k_max_sends = 2 * (1 + k_max_adopted);

/// Entries are made where they are first needed: most commands use few.
struct schedule {
    std::uint64_t count = 0;          ///< elements of the command
    std::uint64_t chunk_elements = 1; ///< the longest message
    std::uint32_t steps = 0;          ///< of the whole collective, the longest over its channels
    std::uint32_t cost = 0;           ///< instructions: its planning and the engine's set-up
    std::uint32_t channel_count = 0;
    std::uint32_t notice_count = 0;
    std::uint32_t line_count = 0;
    std::uint32_t expectation_count = 0;
    std::uint32_t send_count = 0;
    std::uint32_t donor_count = 0;
    bool posted_ahead = false;     ///< passes of some ranks are
    std::uint32_t tree_pieces = 0; ///< of a part of `trees`; 0: it has none
    union {
        channel_plan channels[k_max_channels];
    };
    union {
        lane_plan lanes[k_max_channels];
    };
    union {
        axis_lane axis_lanes[k_max_lanes]; ///< of multi_axis
    };
    union {
        line_trees trees; ///< of mesh_tree on a full mesh
    };
    union {
        tile_plan tiles[2]; ///< by lane
    };
    union {
        donor_plan donors[k_max_donors];
    };
    union {
        notice notices[k_max_notices];
    };
    union {
        told_line lines[abi::k_max_dims];
    };
    union {
        expectation expectations[k_max_expectations];
    };
    union {
        send_entry sends[k_max_sends];
    };
    schedule() {}

    /// Messages of a run of `elements`.
    std::uint32_t chunks(std::uint64_t elements) const
    {
        return static_cast<std::uint32_t>((elements + chunk_elements - 1) / chunk_elements);
    }
};

} // namespace weft::firmware
