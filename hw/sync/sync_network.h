// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// sync_network: wires by which ranks meet without a packet. Every rank has a sync unit (sync_unit.h) whose registers
// its firmware writes.
//
// Models: zones of any ranks, one beside the other, and wires that are cut. Where the wires of a zone meet, a signal is
// made when all members have arrived; it goes back to each of them. Does not model: the encoding of the signal. Real
// machines have few zones with fixed patterns (assumed).
//
// Timing. Member i is way(i) from the place where the wires of its zone meet (sync_wires, made by the platform):
//   meet = the latest arrival(i) + way(i), release(i) = meet + way(i)
#pragma once

#include "hw/sync/sync_unit.h"
#include "hw/sync/sync_zone.h"
#include "tlm/timeline.h"

#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <vector>

namespace weft {

/// How the wires of a machine lie.
class sync_wires {
public:
    virtual ~sync_wires() = default;
    /// By member: time of flight to where the wires of this zone meet.
    virtual std::vector<duration> ways(const sync_zone& zone) const = 0;
};

class sync_network final : public sc_core::sc_module, public component, private timeline_client {
public:
    /// `wires` outlives it. Units are added in the order of ranks.
    sync_network(const sc_core::sc_module_name& name, timeline& time, const sync_wires& wires);

    /// Before the simulation starts.
    void add(sync_unit& unit);
    /// What this rank says from `at` on is lost.
    void cut(std::uint32_t rank, duration at);

    /// Of the unit: it has arrived at `at_ps`. False: the zone does not exist, or the rank is none of it.
    bool arrive(std::uint32_t rank, const sync_zone& zone, std::uint64_t at_ps);

    std::uint64_t syncs() const { return syncs_.value(); } ///< completed
    std::uint64_t longest_ps() const { return longest_ps_; } ///< of them: from the last arrival to the last release
    std::uint64_t lost() const { return lost_.value(); }   ///< arrivals, by wires that are cut

    std::string stat_prefix() const override { return "sync"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    std::uint64_t work() const override { return syncs_.value(); }
    /// Zones in which some have arrived and others have not: whom they wait for.
    std::string waits() const override;
    bool settled(std::uint64_t) override { return pending_ == 0; }
    void reset(std::uint32_t draw) override;

    stat_group stats;

private:
    struct meeting {
        std::vector<duration> ways;
        std::vector<bool> arrived; ///< by member
        std::vector<bool> lost;    ///< the same: it has, and its wire is cut
        std::uint32_t count = 0;
        std::uint64_t meet_ps = 0;  ///< as far as it is known
        std::uint64_t last_ps = 0;  ///< last arrival
        std::uint64_t first_ps = 0; ///< first arrival
        std::uint64_t done = 0;     ///< syncs that have ended, since the reset
    };

    void on_event(std::uint32_t rank, std::uint8_t kind) override;
    meeting& meeting_of(const sync_zone& zone);
    std::string who_is_missing(const sync_zone& zone, const meeting& m) const;

    timeline& time_;
    const sync_wires& wires_;
    std::uint32_t actor_;
    std::vector<sync_unit*> units_;     ///< by rank
    std::vector<std::uint64_t> cut_ps_; ///< the same; k_never_ps: whole
    std::map<sync_zone, meeting> meetings_;
    std::uint32_t pending_ = 0; ///< releases under way
    std::uint64_t longest_ps_ = 0;
    counter syncs_;
    counter lost_;
};

} // namespace weft
