// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The event loop behind every ring and tree collective: a few concurrent channels, each a chunked and pipelined stream of
// messages to one successor that depends on what arrives from one predecessor.
//
// A ring channel runs a sequence of phases, each a reduce-scatter or an all-gather around one ring:
//   reduce-scatter, step s   send shard position-1-s, receive and accumulate shard position-2-s; ends owning shard `position`
//   all-gather, step s       send shard position-s,   receive and overwrite shard position-1-s; starts owning shard `position`
// for s = 0 .. size-2, indices modulo the ring size. What is sent in step s+1 is what arrived in step s, so chunk c of step
// s+1 leaves as soon as chunk c of step s is in. An inner phase works inside the shard that the outer ring left here.
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

struct ring_phase {
    ring_id ring;
    bool reduce = false; ///< reduce-scatter, else all-gather
    bool inner = false;  ///< works inside the shard of the outer ring
};

/// One stream of messages. Plans fill the first group of members, the engine owns the rest.
struct channel {
    std::uint32_t index = 0; ///< selects queue, port and data semaphores
    ring_phase phases[k_max_phases];
    std::uint32_t phase_count = 0; ///< 0: a tree edge, set up by plan_broadcast
    bool by_rank = false;          ///< shards are those of the ranks, split in two by direction, not those of positions
    abi::element_range outer_range; ///< elements this channel works on
    abi::element_range inner_range; ///< shard of them that inner phases work on

    // Of the current phase.
    std::uint32_t phase = 0;
    ring_view ring;
    bool reduce = false;
    std::uint32_t successor = 0;
    std::uint32_t predecessor = 0;
    std::uint32_t remote_semaphore = 0;  ///< counts at the successor
    std::uint32_t receive_semaphore = 0; ///< counts here
    std::uint32_t receive_base = 0;      ///< its count when the phase began
    std::uint32_t ready_semaphore = 0;   ///< counts here: the successor may be sent to
    std::uint32_t total_sends = 0;       ///< messages
    std::uint32_t total_receives = 0;    ///< messages
    std::uint32_t free_sends = 0;        ///< messages that depend on nothing received
    std::uint32_t sent = 0;              ///< messages
    std::uint32_t step = 0;              ///< whose shard is being sent
    abi::element_range shard;            ///< being sent
    std::uint64_t shard_done = 0;        ///< elements of it sent

    // What it waits for.
    bool done = false;
    bool blocked_by_ring = false;
    bool has_more = false; ///< nothing: it stopped to give the others a turn
    std::uint32_t wait_semaphore = 0;
    std::uint32_t wait_count = 0;
    std::uint32_t steps_before = 0; ///< steps of finished phases
};

inline constexpr std::uint32_t k_max_channels = 5; ///< 4 ring channels, or 4 tree edges and the arrivals

class engine {
public:
    engine(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command);

    /// Adds the channels of the command's algorithm. The command has been checked.
    void plan();
    /// Runs them to the end: everything has arrived, everything sent has left memory.
    void run(collective_result& result);

private:
    channel& add_channel();
    void plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours, bool both_ways);
    void plan_ring_1d();
    void plan_broadcast();

    abi::status say_ready();
    abi::status notify(std::uint32_t queue_index, std::uint32_t rank, std::uint32_t semaphore);
    void enter_phase(channel& c);
    abi::element_range shard_at(const channel& c, std::uint32_t position) const;
    std::uint32_t sent_position(const channel& c, std::uint32_t step) const;
    std::uint32_t chunks(std::uint64_t elements) const;
    std::uint32_t chunks_of_all_shards(const channel& c) const;
    std::uint32_t receives_needed(const channel& c) const;
    bool must_wait(channel& c, std::uint32_t semaphore, std::uint32_t count);
    abi::status advance(channel& c);
    abi::status send_chunk(channel& c);
    abi::status sleep();
    void charge(std::uint32_t cycles) { cycles_ += cycles; }
    void pay();

    abi::hal& hal_;
    dma_driver& dma_;
    firmware_context& context_;
    const abi::command& command_;
    mesh mesh_;
    std::uint32_t element_bytes_;
    std::uint64_t chunk_elements_;
    std::uint32_t window_;
    std::uint32_t cycles_ = 0; ///< work not yet charged
    std::uint32_t messages_ = 0;
    std::uint32_t steps_ = 0; ///< of the whole collective
    std::uint32_t channel_count_ = 0;
    channel channels_[k_max_channels];
};

/// The Hamiltonian ring that ring_1d uses: the asked orientation if the mesh allows it, else the other.
ring_id hamiltonian_ring(const mesh& m, bool transposed, bool reversed);

} // namespace weft::firmware
