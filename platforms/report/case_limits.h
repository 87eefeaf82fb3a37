// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What limited a collective: for how much of its time the busiest part of each kind was busy, or stood still for
// want of credits or of its turn.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Shares of the time of one collective, 0 to 1, each of the part of its kind that had most.
struct case_shares {
    double core = 0;        ///< a core worked, or waited for registers and local memory
    /// A wire between a chip and the fabric carried something, or DMA engines moved bytes at a rate of their own, or
    /// some queue started while no memory and no link was busy (at most the time that the busiest leaves).
    double dma = 0;
    /// A memory moved bytes, of the time that compute units (`hbm.load`) leave; or a core waited for it.
    double memory = 0;
    double offload = 0;     ///< SRAM or adders of a coprocessor, or a loop-back port of a switch that sums, worked
    double link = 0;        ///< a link or cable carried something
    double credits = 0;     ///< a link was idle while a head waited for credits
    double arbitration = 0; ///< a link was busy while a head from another rank waited for its turn
    double core_waits = 0;  ///< that core waited for memory; part of `memory`, and none of those that are listed
    bool lost = false;      ///< packets were, and their senders waited for timeouts
    bool known = false;     ///< false: nobody measured

    /// Becomes the shares of `time_ps`, which it is of, and of a further run together: means by time.
    void add(std::uint64_t time_ps, const case_shares& more, std::uint64_t more_ps);
    /// In the order above, with the names that results have: "core", "dma", "memory", "offload", "link",
    /// "credits", "arbitration".
    std::vector<std::pair<const char*, double>> listed() const;
};

/// The part that was busy, or starved of credits, for the largest share, where that is half of the time or more. A
/// core, which waits for registers and works beside the rest, where its work and its waits for memory together are a
/// quarter larger than all others: then "core" or "memory", the larger of the two.
/// Else "timeout", where packets were lost.
/// Else "credits" or "arbitration", where some head waited for them for a quarter of the time; the larger one. Credits
/// count where heads waited for them more than twice as long as for their turn. Else "latency": nothing is short, steps
/// wait for each other. "" when nobody measured.
std::string limited_by(const case_shares& shares);

} // namespace weft
