// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft tune` measures: kinds of collectives, from the workload of the file and the options, and the algorithms
// that run each of them on the machine.
#pragma once

#include "platforms/cli/tune_points.h"
#include "platforms/workload/tuning_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

/// Cases that differ in size and algorithm alone.
struct tuned_kind {
    tuned_cases cases; ///< without ranges
    std::vector<abi::algorithm> algorithms;
    bool asks_token = false; ///< the file names `token`, and `experts_per_token`
    bool asks_experts = false;
    std::uint32_t repeats = 1;
    duration start_skew; ///< of repeats

    /// A size that fits into any memory, for questions about the machine.
    std::uint64_t least_bytes() const { return asks_token ? cases.token.value() : abi::element_bytes(cases.type); }
    /// For people: "root 2, transposed"; "" where nothing is unusual.
    std::string how() const;
    collective_case case_of(std::uint64_t bytes) const;
    /// Of an entry of a workload, beside operation, algorithms and sizes: "types: [int32]".
    std::string entry_keys() const;
    /// "[{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB], types: [int32]}]"
    std::string workload(const std::vector<abi::algorithm>& by, std::uint64_t bytes) const;
};

/// What the user asks for; empty: what the file has.
struct tuned_names {
    std::vector<std::string> ops;
    std::vector<std::string> algorithms;
    std::optional<std::uint32_t> repeats;
};

/// The entries of the workload of a file, without a look at the machine. The document has been read once, so what is
/// wrong with an entry by itself has been told.
std::vector<collective_spec> entries_of(const yaml_document& document);
/// What to measure: the entries of the file, for the operations asked for; the defaults of an entry where the file has
/// none. Throws user_error for names that nothing has.
std::vector<tuned_kind> kinds_of(const tuned_names& asked, const std::vector<collective_spec>& entries);
/// Finds which algorithms run each kind on the machine. Throws user_error where none does.
void find_algorithms(const tuned_names& asked, const tuned_source& source, std::uint64_t smallest, std::vector<tuned_kind>& kinds);
/// The machine, with warnings that hold whatever is measured: not that a key is of no use to one algorithm.
loaded_platform machine_for(const tuned_source& source, const std::vector<tuned_kind>& kinds);

} // namespace weft::cli
