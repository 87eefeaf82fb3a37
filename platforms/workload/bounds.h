// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The least time that a collective can take on a machine, from what its links and memories carry; latencies and
// software are not in it. Rates of dimensions are those of whole machines, with ranks numbered by coordinates: what
// links that are down leave, and what process groups share, is counted by cuts (link_cuts.h). bound_on() takes the
// largest of all.
//
// All ranks sum equal shares, as in every algorithm here. Where ranks have unlike links, at the ends of a line, an
// all_reduce that left those with few of them without a share could take less.
//
// A process group leaves links of others idle, which routing may borrow; only the links that each of its ranks has
// bound it.
//
//   links of a rank   all_reduce sends 2 S (n-1)/n from each rank, reduce_scatter and all_gather S (n-1)/n, over all
//                     its links, or over those of a corner where lines do not close. A broadcast brings S to each rank,
//                     a reduce S to its root.
//   a dimension       all_to_all: on a full mesh S (d-1)/d of each rank along d ranks. On a line or ring, what crosses
//                     its middle
//   links of a device the same as those of a rank, where ranks share a device and read each other's memory: of all its
//   ranks together, over all its links
//   memory            reads to send, reads and writes to accumulate, writes to store: S (n-1)/n times 5, 3, 2;
//                     all_to_all 2; S times 1 in a broadcast, 2 in a reduce. With devices: inputs read and results
//                     written once, and what comes to be summed written and read. Collective communication units
//                     (`by_units`) sum what they read on its way: inputs are read and results written once.
//                     Compute units take their load of it meanwhile
//   dispatch, combine each token leaves its rank, or what became of it, once for each other rank of its experts: the
//                     average of all ranks, less five standard deviations of what chance keeps at home. Memory is
//                     touched as often. With devices: once for each other device
//   a switch that sums is no algorithm of the ranks: the platform bounds it (bound_by_cuts)
#pragma once

#include "hw/abi/platform_table.h"
#include "platforms/workload/collective_case.h"

#include <optional>
#include <string>

namespace weft {

struct collective_bound {
    double us = 0;
    std::string resource; ///< that sets it: "links of a rank"
    /// Of cuts: they count ways that rates of dimensions do not know, which bound nothing then.
    bool beside_dimensions = false;
};

/// The memory of a rank: bit/s of reads and writes together, 0 for not known, of which compute units take `load` in
/// blocks at random intervals (hbm.h).
struct memory_supply {
    std::uint64_t bps = 0;
    double load = 0;
    std::uint64_t load_block_bytes = 0;

    memory_supply(std::uint64_t bits_per_second = 0, double taken = 0, std::uint64_t block_bytes = 0)
        : bps(bits_per_second), load(taken), load_block_bytes(block_bytes)
    {
    }

    /// The least time in which it moves so many bytes.
    double least_us(double bytes) const;
};

/// Of a collective of `size_bytes` as in collective_case.h.
/// `links_bps`: what a rank can send by all links that it has, or, where ranks share devices, by its local ports. What
/// exceeds the rates of its dimensions may carry their traffic, too. Nothing where no rates are known.
std::optional<collective_bound> bound_of(const abi::platform_table& table, std::uint64_t links_bps, const memory_supply& memory,
                                         abi::collective_op op, std::uint64_t size_bytes, bool by_units = false);

/// Of a process group of `ranks`, each of which sends at most `links_bps` (bit/s of payload, 0 for not known).
std::optional<collective_bound> bound_of_group(std::uint32_t ranks, std::uint64_t links_bps, const memory_supply& memory,
                                               abi::collective_op op, std::uint64_t size_bytes, bool by_units = false);
/// Bytes that a rank sends to others, or gets in a broadcast, or the root in a reduce.
double moved_bytes(abi::collective_op op, double bytes, std::uint32_t ranks);
/// Of dispatch and combine; nothing where no rates are known. `table`: nullptr in a process group of `ranks`.
std::optional<collective_bound> bound_of_tokens(const abi::platform_table* table, std::uint32_t ranks, std::uint64_t links_bps,
                                                const memory_supply& memory, const collective_case& c);
/// Share of the tokens, on average, that go to any other ranks than `inside` of `ranks`; 0 with a skew: not known.
double share_of_tokens_outside(const collective_case& c, double inside, double ranks);
/// By memory alone; 0 us: not known. `devices`: on which the ranks are, where DMA engines sum, and read the memories of
/// their device; 0: they do not.
collective_bound bound_of_memory(const memory_supply& memory, abi::collective_op op, double bytes, std::uint32_t ranks,
                                 std::uint32_t devices, bool by_units);

} // namespace weft
