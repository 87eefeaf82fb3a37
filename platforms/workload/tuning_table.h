// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `tuning: FILE`: which algorithm is the fastest of its kind, by size, as `weft tune` has measured it on one machine.
//
//   format: 1
//   machine:
//     digest: "0123456789abcdef"
//     values: ["platform=tpu_v3", "mesh.rows=4", ...]
//   tables:
//     - op: all_reduce
//       type: int32
//       redop: sum
//       ranges:
//         - {from: 4 B, to: 70031 B, algorithm: multi_axis}
//         - {from: 70032 B, to: 64 MiB, algorithm: two_d}
//
// Both ends of a range belong to it. Sizes in no range are not covered, and nothing is said of them.
#pragma once

#include "platforms/workload/machine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct tuned_range {
    data_size from;
    data_size to;
    abi::algorithm algorithm = k_auto_algorithm;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("from", self.from, "Smallest size", k_user_choice, between(data_size(1), k_largest_size));
        visit("to", self.to, "Largest size", k_user_choice, between(data_size(1), k_largest_size));
        visit("algorithm", self.algorithm, "The fastest one", k_user_choice);
    }
    std::vector<config_problem> validate() const;
};

/// Of cases that differ in nothing but their size.
struct tuned_cases {
    abi::collective_op op = abi::collective_op::all_reduce;
    abi::element_type type = abi::element_type::int32;
    abi::reduce_op redop = abi::reduce_op::sum;
    std::uint32_t root = 0;
    bool transposed = false;
    data_size chunk = k_default_chunk;
    std::vector<std::string> groups;
    // Of dispatch and combine.
    data_size token = k_default_token;
    std::uint32_t experts_per_token = k_default_experts;
    double expert_skew = 0;
    std::vector<tuned_range> ranges;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("op", self.op, "The collective", k_user_choice);
        visit("type", self.type, "Element type", k_user_choice);
        visit("redop", self.redop, "Reduction, where there is one", k_user_choice);
        visit("root", self.root, "Root of a broadcast", k_user_choice);
        visit("transposed", self.transposed, "Roles of rows and columns swapped", k_user_choice);
        visit("chunk", self.chunk, "Pipelining grain of the firmware", k_user_choice,
              between(data_size(1), data_size(1ull << 32)));
        visit("groups", self.groups, "Process groups, as in the workload", k_user_choice);
        visit("token", self.token, "Bytes of a token, of dispatch and combine", k_user_choice, between(data_size(1), k_largest_size));
        visit("experts_per_token", self.experts_per_token, "Ranks that each token goes to, of dispatch and combine", k_user_choice, at_least(1));
        visit("expert_skew", self.expert_skew, "As in the workload, of dispatch and combine", k_user_choice, real_between(0, 1));
        visit("ranges", self.ranges, "The fastest algorithm by size, from small to large", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    /// Whether `c` differs in nothing but its size.
    bool has(const collective_case& c) const;
};

/// Whether two tables are of the same cases: they differ in nothing that their operation uses.
bool same_cases(const tuned_cases& a, const tuned_cases& b);

/// The machine on which times were measured.
struct tuned_machine {
    std::string digest;
    std::vector<std::string> values; ///< "ici.link_rate=82 GB/s", as for --set

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("digest", self.digest, "Of all values", k_user_choice);
        visit("values", self.values, "Every value of the machine, as for --set", k_user_choice);
    }
};

struct tuning_table {
    static constexpr std::uint32_t k_format = 1;

    std::uint32_t format = 0;
    tuned_machine machine;
    std::vector<tuned_cases> tables;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("format", self.format, "Of this file", k_user_choice);
        visit("machine", self.machine, "Where the times were measured", k_user_choice);
        visit("tables", self.tables, "One for each kind of case", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    /// Nothing where the table does not have the case.
    std::optional<abi::algorithm> fastest(const collective_case& c) const;
};

/// Throws user_error with all that is wrong: of the file itself without a position, so that it goes on with "tuning";
/// of its content with line and column.
tuning_table read_tuning_table(const std::string& file);
/// Text of such a file; `made_by` is its first line. The same table gives the same bytes.
std::string to_text(const tuning_table& table, const std::string& made_by);

/// What the times of a machine depend on: "mesh.rows=4". Not in it: workload, data, seed, bounds of a run, how packets
/// are put together. A file that the configuration names counts by its content.
tuned_machine machine_of(const platform& p);
/// The same with all values that a run depends on but for its workload, for results that are kept.
std::string digest_of_run(const platform& p);
/// "ici.link_rate is 164 GB/s here and 82 GB/s there, and 2 more values differ"; "" where the machines are the same.
std::string difference_of(const tuned_machine& there, const tuned_machine& here);

} // namespace weft
