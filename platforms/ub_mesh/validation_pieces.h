// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulated times of the collectives that a training step is composed of: on racks of each architecture, and on a slice
// of a pod (one board of every rack, with its share of the lanes between racks; no other board shares its leaves).
// All groups that would work at the same time do. Internal to this folder.
#pragma once

#include "platforms/report/isolated_run.h"
#include "platforms/ub_mesh/training_plan.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The fastest of several ways at every size; each is affine through two simulated sizes.
struct ub_time_of_size {
    struct way {
        double small_us = 0, large_us = 0; ///< at k_small_mib and k_large_mib
    };
    static constexpr double k_small_mib = 8, k_large_mib = 32;
    std::vector<way> ways; ///< one at least
    double us(double mib) const;
};

/// The degrees that are simulated, beside k_tensor_ranks.
inline constexpr std::uint32_t k_column_ranks[] = {2, 4, 8};       ///< NPUs of a column of a rack, far apart
inline constexpr std::uint32_t k_rack_ranks[] = {2, 4, 8, 16};     ///< NPUs of as many racks of a pod, row by row
using ub_times_by_ranks = std::map<std::uint32_t, ub_time_of_size>;

/// Collectives inside a rack.
struct ub_rack_times {
    ub_times_by_ranks all_reduce; ///< by k_tensor_ranks
    ub_times_by_ranks gather;     ///< by k_column_ranks
    ub_times_by_ranks all_to_all; ///< by k_column_ranks
};
/// Collectives that leave the rack.
struct ub_far_times {
    ub_times_by_ranks gather;     ///< by k_rack_ranks
    ub_times_by_ranks all_to_all; ///< by k_rack_ranks
    ub_time_of_size all_reduce;   ///< of 4 NPUs in the racks of a column
};

/// What is run; each in a process of its own.
std::optional<ub_rack_times> rack_times(const isolated_run& isolated, ub_rack_kind kind, ub_path_use paths,
                                        ub_choice choice);
struct ub_far_machine {
    ub_rack_kind rack = ub_rack_kind::full_mesh_2d;
    ub_pod_kind pod = ub_pod_kind::full_mesh_2d;
    ub_path_use paths = ub_path_use::all;
    std::uint32_t lanes = 16; ///< of an NPU towards other racks
    ub_choice choice = ub_choice::weighted;
};
std::optional<ub_far_times> far_times(const isolated_run& isolated, const ub_far_machine& what);
/// Of a Clos with x72 everywhere: ranks of several racks stand in one rack of kind clos, whose switches block nobody.
std::optional<ub_far_times> far_times_of_clos(const isolated_run& isolated);
/// Boards without backplanes and with shortest paths.
struct ub_board_machine {
    std::uint32_t npus = 8, boards = 1;
    std::uint32_t lane_gbps = 112;
    bool fec_inside = true;
    double efficiency = 1;
    std::uint64_t clock_mhz = 1000;
};
/// Microseconds of collectives of all NPUs by the algorithm of this name, in the order of the sizes; none where a run
/// failed.
std::vector<std::optional<double>> board_times(const isolated_run& isolated, const ub_board_machine& what, abi::collective_op op,
                                               const std::string& algorithm, const std::vector<double>& sizes_mib);
/// Payload bytes of the collective communication units of all NPUs together in one collective; none where a run failed.
struct ub_unit_bytes {
    std::optional<double> read, written, sent; ///< from and to memories, to peers
};
ub_unit_bytes board_unit_bytes(const isolated_run& isolated, const ub_board_machine& what, abi::collective_op op, const std::string& algorithm,
                               double size_mib);
/// One all-reduce of 16 NPUs, all groups of a rack at once, of this size; for the error of the affine times.
std::optional<double> tensor_us(const isolated_run& isolated, ub_rack_kind kind, double mib);

} // namespace weft
