// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Executes a schedule: an event loop over its channels, each a chunked and pipelined stream of messages that depend on
// what arrives. It knows no topology.
//
// Why nobody's data is overwritten too early:
//   * into a neighbour's buffer before it has entered the collective: the first message to a successor waits for its
//     ready;
//   * an all-gather overwrites a shard that its receiver still has to send in the reduce-scatter: the final value of a
//     shard contains that very contribution, so it has been read long before;
//   * a fast neighbour's inner reduce-scatter meets the outer one: both accumulate, and the owned shard is the one the
//     outer pass never sends from here;
//   * the next collective reuses the buffer: a rank leaves when all its messages have arrived and all its sends have
//     left memory.
// Semaphores are explained in firmware/context.h.
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/collectives/runs.h"
#include "firmware/drivers/dma_driver.h"

namespace weft::firmware {

/// A channel of the schedule while it runs.
struct channel {
    const channel_plan* plan = nullptr;
    const pass* now = nullptr;
    std::uint32_t pass_index = 0;
    run_cursor cursor;
    std::uint32_t index = 0;
    std::uint32_t queue = 0;
    std::uint8_t port = 0;          ///< of the destination
    bool active = true;             ///< it does not sleep
    bool needs_ready = false;       ///< the successor has not said it yet
    bool run_over = false;          ///< all of the run is sent, or none yet was looked for: the next one is to be found
    message_counts counts;          ///< of the pass
    std::uint32_t receive_base = 0; ///< count of its semaphore when the pass began
    std::uint32_t sent = 0;         ///< messages of the pass
    std::uint64_t run_done = 0;     ///< elements of the run sent

    // What it waits for.
    bool done = false;
    bool waiting = false; ///< for wait_semaphore to reach wait_count
    bool blocked_by_ring = false;
    bool has_more = false; ///< nothing: it stopped to give the others a turn
    // Posted ahead, see posted_ahead.cpp.
    std::uint32_t group = 0;      ///< messages; 0: the core waits before each
    std::uint32_t sources = 0;    ///< semaphores that each waits for
    std::uint32_t left_base = 0;  ///< count of the semaphore of groups when the pass began
    std::uint32_t batch = 0; ///< messages of a turn; but for k_batch each has a doorbell of its own
    std::uint32_t wait_semaphore = 0;
    std::uint32_t wait_count = 0;
    std::uint32_t wait_peer = 0;    ///< rank that is waited for
    std::uint32_t steps_before = 0; ///< steps of finished passes
};

class engine {
public:
    engine(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
           const ring_map& rings, const schedule& s);

    /// Executes the schedule to its end: everything has arrived, everything sent has left memory.
    void run(collective_result& result);

private:
    abi::status notify(std::uint32_t queue_index, std::uint32_t rank, std::uint32_t semaphore, std::uint32_t more_ranks = 0);
    abi::status say_ready();
    void start_channels();
    void enter_pass(channel& c);
    void load_run(channel& c);
    void use_queue(channel& c, std::uint32_t queue_index);
    void look_ahead();
    std::uint32_t receives_needed(const channel& c) const;
    bool must_wait(channel& c, std::uint32_t semaphore, std::uint32_t count, std::uint32_t peer)
    {
        c.wait_semaphore = semaphore;
        c.wait_count = count;
        c.wait_peer = peer;
        return c.waiting = !reached(context_, semaphore, count);
    }
    bool must_wait_for_arrivals(channel& c);
    bool held_back(channel& c);
    bool held_back_in_tree(channel& c);
    bool must_wait_for_contributions(channel& c);
    abi::status advance(channel& c);
    abi::status next_pass(channel& c);
    void wait_for_all_lanes(channel& c);
    abi::status send_chunk(channel& c);
    abi::status sleep();
    abi::status look_at_semaphores(bool ready_only);
    void charge(std::uint32_t cycles) { cycles_ += cycles; }
    void pay();
    void ring_doorbells();

    struct channel_range {
        channel* first;
        channel* last;
        channel* begin() const { return first; }
        channel* end() const { return last; }
    };
    channel_range channels() { return {channels_, end_}; }
    bool somebody_waits() const;

    // posted_ahead.cpp
    void start_ahead(channel& c);
    bool is_far_ahead(channel& c);
    abi::status post_ahead(channel& c);
    abi::dma_descriptor own_notice(const channel& c) const;
    abi::status stage_waiting(channel& c, const channel& from, const abi::dma_descriptor& d);
    bool contributes(const channel& from, const channel& to) const;
    bool tells_of_group(const channel& c) const;

    // failed_chips.cpp
    bool held_back_by_failed_chips(channel& c);
    bool must_wait_for_donors(channel& c, abi::element_range range);
    bool must_wait_for_all_donors(channel& c);
    std::uint32_t arrivals_before_unit(const pass& main, std::uint32_t lane, abi::element_range unit) const;
    std::uint32_t donated_before(const donor_plan& donor, std::uint32_t lane) const;

    abi::hal& hal_;
    dma_driver& dma_;
    firmware_context& context_;
    const abi::command& command_;
    const schedule& schedule_;
    run_finder runs_;
    abi::dma_descriptor message_; ///< the last one; what is the same in all stays
    std::uint32_t element_bytes_;
    std::uint32_t window_; ///< messages, see receives_needed()
    std::uint32_t cycles_; ///< work not yet charged
    std::uint32_t messages_ = 0;
    channel* end_; ///< behind the last channel of the schedule
    union {
        channel channels_[k_max_channels];
    };
};

} // namespace weft::firmware
