// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A training step as compute and collectives, for Fig. 17, 19 and 20: arithmetic over simulated times
// (validation_pieces.h). All that is not known stands in ub_step_inputs, with its confidence; one of them, `exposed`,
// is fitted. Internal to this folder.
//
//   step = compute + exposed x (TP + SP + EP + PP + DP), each count x time of one transfer
//   counts and sizes: Table 1 for 96 layers of hidden 12288; count ~ layers, size ~ hidden, DP size ~ layers x hidden^2
//   compute = layers x micro-batches x tokens x (72 hidden^2 f + 6 sequence x hidden) / (TP x rate), f = (4 + 8 experts
//   a token) / 12 sequence beyond what 8 boards hold (8 x tokens): SP gathers grow with it; from 64K on SP spans two
//   racks
#pragma once

#include "platforms/ub_mesh/validation_pieces.h"

#include <vector>

namespace weft {

struct ub_model {
    const char* name;
    double layers, hidden;
    bool experts;
    double published[3]; ///< Fig. 17a: 2D-FM, 1D-FM-A, 1D-FM-B, % of Clos
};
extern const ub_model k_ub_models[5];
inline constexpr unsigned k_fitted_model = 1; ///< GPT3-175B

struct ub_step_inputs {
    // Table 1.
    double tensor_mib = 360, sequence_mib = 180, sequence_large_mib = 360, expert_mib = 10.5, pipeline_mib = 192,
           data_mib = 711.75;
    double pipeline_count = 26, data_count = 64;
    double sequence_large_share = 1.0 / 3; // of the TP count: 1664 of 4992
    double base_layers = 96, base_hidden = 12288;
    double micro_batches = 13; // 4992 = 96 layers x 4 x 13
    double tensor_per_layer = 4;
    double tokens = 15360; // 360 MiB / (12288 x 2 B)
    double tensor_ranks = 8;
    double sequence_ranks = 8;   // in a rack; 16 over two
    double far_sequence = 65536; // SP spans two racks from here on
    double active_experts = 2;
    double chip_tflops = 752;
    double utilisation = 0.5;
    double exposed = 0; // fitted

    double compute_us(const ub_model& m, double sequence) const;
    double communication_us(const ub_model& m, double sequence, const ub_rack_times& rack,
                            const ub_far_times& far) const;
    double step_us(const ub_model& m, double sequence, const ub_rack_times& rack, const ub_far_times& far) const
    {
        return compute_us(m, sequence) + exposed * communication_us(m, sequence, rack, far);
    }
};

extern const std::vector<double> k_short_sequences; ///< 8K to 32K
extern const std::vector<double> k_long_sequences;  ///< 64K to 10M
std::vector<double> all_sequences();

struct ub_architecture_times {
    ub_rack_times rack;
    ub_far_times far;
};
/// Performance of a to b in percent, geometric mean over the sequences.
double performance_percent(const ub_step_inputs& inputs, const ub_model& m, const std::vector<double>& sequences,
                           const ub_architecture_times& a, const ub_architecture_times& b);
/// The same, over all models as well.
double mean_performance_percent(const ub_step_inputs& inputs, const std::vector<double>& sequences,
                                const ub_architecture_times& a, const ub_architecture_times& b);
/// The null model: bytes that an NPU has to get / rate of its lanes that lead to who has them, at 85 % of 112 Gb/s. No
/// paths, no latency, nothing in the way.
struct ub_null_lanes {
    double board;  ///< towards the NPUs of its board
    double column; ///< towards the same NPU of the other boards
    double far;    ///< towards other racks
};
inline constexpr ub_null_lanes k_null_2d_fm{28, 28, 16}, k_null_1d_fm_a{28, 32, 16}, k_null_1d_fm_b{28, 32, 32},
    k_null_clos{64, 64, 64};
ub_architecture_times null_times(const ub_null_lanes& lanes);
/// Sets `exposed` (0 to 1) so that this performance comes out, or comes closest.
void fit_exposed(ub_step_inputs& inputs, const ub_model& m, double percent, const ub_architecture_times& a,
                 const ub_architecture_times& b);

} // namespace weft
