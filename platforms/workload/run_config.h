// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a platform file says besides the platform itself: how to simulate, and what to run: collectives, training steps.
#pragma once

#include "platforms/workload/collective_case.h"
#include "platforms/workload/training_step.h"
#include "tlm/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

enum class data_mode : std::uint8_t { checked, off };
template <> struct enum_names<data_mode> {
    static constexpr std::pair<data_mode, const char*> values[] = {{data_mode::checked, "checked"},
                                                                   {data_mode::off, "off"}};
};

/// A geometric row of sizes, both ends included.
struct size_range {
    data_size from = data_size(4);
    data_size to = data_size(64ull << 20);
    std::uint32_t factor = 4;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("from", self.from, "First size", "",
              between(data_size(1), k_largest_size).because("; write the smallest size to run, for example \"4 B\""));
        visit("to", self.to, "Last size; reached exactly, whatever the factor", "", at_most(k_largest_size));
        visit("factor", self.factor, "Each size is this many times the one before", "",
              at_least(2).because(", or the row of sizes would never end"));
    }
    std::vector<config_problem> validate() const;
};

/// One entry of `workload`: all combinations of its lists are run.
struct collective_spec {
    abi::collective_op op = abi::collective_op::all_reduce;
    std::vector<abi::algorithm> algorithms;
    std::vector<abi::element_type> types{abi::element_type::int32};
    std::vector<abi::reduce_op> redops{abi::reduce_op::sum};
    std::vector<data_size> sizes;
    std::optional<size_range> range;
    std::uint32_t root = 0;
    bool transposed = false;
    data_style inputs = data_style::exact;
    data_size chunk = data_size(128 << 10);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("op", self.op, "The collective", "");
        visit("algorithms", self.algorithms, "How; empty: ring_1d, for broadcast mesh_tree, for all_to_all direct", "");
        visit("types", self.types, "Element types", "");
        visit("redops", self.redops, "Reductions; ignored where nothing is reduced", "");
        visit(
            "sizes", self.sizes,
            "Sizes as in nccl-tests: the buffer, or for all_gather, reduce_scatter and all_to_all all shards together",
            "", between(data_size(1), k_largest_size));
        visit("range", self.range, "A geometric row of sizes instead of, or besides, `sizes`", "");
        visit("root", self.root, "Root rank of a broadcast", "");
        visit("transposed", self.transposed,
              "Swap the roles of rows and columns in ring_1d and row_pair; nothing changes for the others", "");
        visit("inputs", self.inputs,
              "exact: every sum is exact and bits are compared; random: compared within the rounding bound", "");
        visit("chunk", self.chunk, "Pipelining grain of the firmware; all_to_all sends each block whole",
              "assumed; Kumar and Jouppi give none", between(data_size(1), data_size(1ull << 32)));
    }
    std::vector<config_problem> validate() const;

    std::vector<std::uint64_t> all_sizes() const; ///< bytes, in the order to run
    std::vector<abi::algorithm> all_algorithms() const;
    std::vector<collective_case> cases() const;
    std::uint64_t case_count() const; ///< of cases(), without making them
};

struct run_config {
    static constexpr std::uint64_t k_largest_burst = 65536;
    static constexpr duration k_longest_time = duration(1'000'000'000'000'000'000); ///< twice that still fits 64 bits
    static constexpr std::uint64_t k_most_cases = 100'000;

    std::string name = "unnamed";
    std::uint64_t seed = 1;
    data_mode data = data_mode::checked;
    packet_count burst = packet_count(1);
    duration firmware_timeout = duration(100'000'000'000);
    duration time_limit = duration(100'000'000'000'000);
    std::vector<collective_spec> workload;
    std::optional<training_step_config> training_step;

    /// Called by the platform's own fields(): these keys stand at the top of the file.
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("name", self.name, "Name of the run; results go to out/<name>", "");
        visit("seed", self.seed, "Seed of the generated inputs and of everything random", "");
        visit("data", self.data,
              "checked: every byte is carried and the answer verified; off: the same times without bytes", "");
        visit("burst", self.burst, "Packets per transport transaction; 1 packet is the reference", "",
              between(packet_count(1), packet_count(k_largest_burst)).because("; 1 packet is the reference"));
        visit("firmware_timeout", self.firmware_timeout,
              "Bound of every single wait of the firmware, in simulated time", "assumed",
              between(duration(1'000'000), k_longest_time).because(": it bounds every single wait of the firmware"));
        visit("time_limit", self.time_limit, "The run ends after this much simulated time", "",
              between(duration(1'000'000), k_longest_time).because(": the run ends after this much simulated time"));
        visit("workload", self.workload, "Collectives to run, in order", "");
        visit("training_step", self.training_step, "Training steps to run, after the collectives", "");
    }
    std::uint64_t case_count() const; ///< of all entries of `workload`
    std::vector<config_problem> validate() const;
};

/// Whether the entry is sound by itself, so that its cases can be made.
bool is_sound(const collective_spec& spec);

} // namespace weft
