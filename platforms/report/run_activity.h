// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run has done over time, for people who look at it: the machine as a map of places and the bundles of wires
// between them, and for each
// collective how busy they were. Plain data, filled by platforms/workload/activity_recorder.h.
#pragma once

#include "platforms/report/case_limits.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// A place where wires end: a chip, or a switch.
struct map_node {
    std::string name;
    std::uint32_t ranks = 0; ///< that stand there; 0: a switch
    std::uint32_t first_rank = 0;
    std::vector<std::uint32_t> at; ///< coordinates of the first rank, the outermost dimension first
};

/// All wires from one place, or group of places, to another; `from` == `to`: inside a group.
struct map_bundle {
    std::uint32_t from = 0, to = 0;
    std::uint32_t wires = 0;
    std::uint32_t broken = 0; ///< of them, at the end of the run
};

/// The machine, seen from one distance.
struct map_level {
    std::string what;             ///< "chips", "boards"
    std::vector<map_node> places; ///< nodes, or groups of nodes
    std::vector<map_bundle> bundles;
};

struct map_dimension {
    std::uint32_t size = 0;
    std::string kind; ///< "line", "ring", "full", "switched"
};

struct machine_map {
    std::vector<map_dimension> dimensions; ///< the outermost first
    std::vector<map_level> levels;         ///< the nearest first
    std::uint32_t nodes = 0, wires = 0;    ///< of the machine, also those that no level shows one by one
};

/// A wire that was blocked, or carried much.
struct wire_trouble {
    std::string name;
    bool local = false; ///< between a chip and the fabric: what it starves of is room in the memory behind
    std::uint64_t bytes = 0;
    double busy = 0, credits = 0, arbitration = 0; ///< shares of the time of the case
    std::string failed = {}; ///< "" unless it was down: since when, and what that did to packets
};
/// A VL, and the buffer at its far end.
struct lane_trouble {
    std::string wire;
    std::uint32_t vl = 0;
    double credits = 0; ///< share of the time
    double fullest = 0; ///< of its depth, at the fullest moment that was looked at
    std::uint32_t depth_cells = 0;
};

/// One collective.
struct case_activity {
    std::string op, algorithm, type, redop;
    std::uint64_t size_bytes = 0;
    bool complete = false;
    std::uint64_t start_ps = 0;
    std::uint64_t time_ps = 0; ///< of the window: from the first start to the last answer
    case_shares shares;
    /// Shares in bins, 0 to 200 for 0 to 1, a row per series after the other; empty where the run had no room for more.
    std::uint32_t bins = 0;
    std::uint64_t bin_ps = 0, last_bin_ps = 0;
    std::vector<std::vector<std::uint8_t>> bundles; ///< by level: mean of the wires of each bundle
    /// By level, of bundles with wires that did not work at its end: bundle, how many.
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> broken;
    std::vector<std::uint8_t> work;                 ///< by shown rank, then kind
    std::vector<std::uint8_t> machine;              ///< mean over all parts, by kind of work; then over all links
    std::vector<wire_trouble> wires;                ///< worst first
    std::vector<lane_trouble> lanes;
    std::uint64_t bytes_read = 0, bytes_written = 0; ///< of all memories
};

struct run_activity {
    machine_map map;
    std::vector<std::string> kinds;         ///< of work, as in case_activity::work
    std::vector<std::uint32_t> ranks_shown; ///< whose work is kept
    std::vector<std::string> rank_names;
    std::vector<case_activity> cases;
    std::uint64_t left_out = 0; ///< collectives behind those
    std::string memory = "HBM";
    std::vector<std::pair<std::uint64_t, std::uint64_t>> memory_bytes; ///< read, written, by rank
};

} // namespace weft
