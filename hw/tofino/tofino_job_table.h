// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The jobs that a switch serves: what the control plane has admitted, the tables by which a packet finds its job,
// worker and slot, and what the packets of a job have changed. Plain C++, no time.
#pragma once

#include "hw/tofino/algorithm1_pool.h"
#include "hw/tofino/tofino_config.h"
#include "hw/tofino/tofino_job.h"
#include "hw/tofino/tofino_packet.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Of one worker, RDMA.
struct tofino_receive_queue {
    std::uint32_t next_psn = 0;
    std::uint32_t pool_index = 0;
    bool error = true;          ///< nothing has begun
    bool known = false;         ///< next_psn is one
    std::uint32_t position = 0; ///< of the last packet in its message
    std::uint32_t gaps = 0;     ///< packets dropped behind a gap since the last whole message
};
/// RDMA, toward one worker. The PSN of an answer goes by position: an answer to the first packet of a message takes the
/// lowest that has not been used on its queue pair, one to packet k the same plus k, for either version of the slots by
/// itself. So a packet that is skipped (its slot is not complete), or comes twice (to one worker and to all), is a gap
/// to the receiver, which drops the rest. A PSN that merely counted answers would let it put a packet where another
/// belongs.
struct tofino_send_queue {
    std::array<std::uint32_t, 2> base{}; ///< of the present message, by version
    std::uint32_t next = 0;              ///< not used yet

    /// PSN of the answer to the packet at `position` of its message.
    std::uint32_t psn_of(std::uint32_t position, bool version);
};
/// Of one worker in one slot, for the stale filter.
struct tofino_last_id {
    std::uint32_t id = 0;
    bool known = false;
};
/// What the first pass saw, for reports and the observer.
struct tofino_slot_watch {
    std::uint32_t seen = 0;
    std::uint8_t missing = 0;
    std::int8_t exponent0 = 0;
};

struct tofino_job_state {
    tofino_job job;
    bool active = false;
    std::uint32_t generation = 0;
    std::uint32_t next_same_number = 0;
    std::uint32_t register_slot = 0;
    std::uint32_t plane = 0;           ///< whose recirculation ports it uses
    std::vector<std::uint8_t> lanes;   ///< by worker: of the 16 sets of consume ports
    std::vector<std::uint32_t> inside; ///< by worker: id of the node in the same switch, or k_none
    std::vector<tofino_receive_queue> receive_queues;
    std::vector<tofino_send_queue> send_queues;
    std::vector<tofino_slot_watch> watch;    ///< slot * 2 + version, from the job's first slot on
    std::vector<tofino_last_id> last_ids;    ///< slot * workers + worker
    std::unique_ptr<algorithm1_pool> simple; ///< without loss recovery

    /// Of `watch`.
    std::uint32_t entry_of(const tofino_packet& p) const
    {
        return (p.slot - job.first_slot) * 2u + (p.version ? 1 : 0);
    }
    /// In the registers.
    std::uint16_t pool_index_of(const tofino_packet& p) const
    {
        return static_cast<std::uint16_t>((p.slot - job.first_slot + register_slot) * 2 + (p.version ? 1 : 0));
    }
};

class tofino_job_table {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    explicit tofino_job_table(const tofino_config& config);

    tofino_job_state& operator[](std::uint32_t id) { return jobs_[id]; }
    const tofino_job_state& operator[](std::uint32_t id) const { return jobs_[id]; }
    const tofino_job_state& at(std::uint32_t id) const { return jobs_.at(id); }
    /// By id; removed ones are inactive.
    const std::vector<tofino_job_state>& all() const { return jobs_; }
    bool is_active(std::uint32_t id) const { return id < jobs_.size() && jobs_[id].active; }
    /// Registers [first, end) of slots of removed jobs that have not been cleared yet.
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& closed() const { return closed_; }

    // Control plane. `job` has been found sound (tofino_admission.h).
    std::uint32_t add(const tofino_job& job);
    /// Its registers stay closed. True: no job is left, and the registers may be cleared.
    bool remove(std::uint32_t id);
    void registers_are_clean() { closed_.clear(); }
    /// All jobs begin anew.
    void reset();

    // Match tables. They fill in job, worker, queue, position, slot and version of `p`; drop_reason::none: found.
    bool own_address(std::uint64_t mac) const;
    drop_reason find_udp_worker(tofino_packet& p) const;
    drop_reason find_rdma_worker(tofino_packet& p);
    bool comes_from_parent(tofino_packet& p) const;
    drop_reason find_slot(tofino_packet& p) const;
    bool is_stale(const tofino_packet& p);

private:
    void begin(tofino_job_state& j) const;

    const tofino_config& config_;
    std::vector<tofino_job_state> jobs_;
    std::array<std::uint32_t, 256> by_number_;
    std::array<std::uint32_t, 512> by_queue_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> closed_;
};

/// Where the slots of a job begin in the registers.
std::uint32_t registers_of(const tofino_job& job);

} // namespace weft
