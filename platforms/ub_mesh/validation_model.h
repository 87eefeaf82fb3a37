// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of training steps for Fig. 17, 19, 20 and 22: arithmetic over simulated times of collectives
// (validation_pieces.h), by the best of the plans that section 5.2 admits (training_plan.h). What nobody publishes
// stands in ub_step_model, with its confidence; one of it, `exposed`, is fitted. Internal to this folder.
//
//   step  = (micro-batches + PP - 1) x layers / PP x layer + fill and drain of the pipeline + DP beyond a backward pass
//   layer = compute + exposed x (TP + SP) + EP; compute is balanced though attention is causal
//   compute = tokens x (96 hidden^2 f + 8 sequence x hidden) / (TP x rate), f = (4 + 8 experts a token) / 12:
//   three passes, of which backward counts twice
#pragma once

#include "platforms/ub_mesh/training_plan.h"
#include "platforms/ub_mesh/validation_pieces.h"

#include <optional>
#include <vector>

namespace weft {

/// A model of Fig. 17 and its bars.
struct ub_trained {
    ub_model model;
    double published[3]; ///< Fig. 17a: 2D-FM, 1D-FM-A, 1D-FM-B, % of Clos
};
extern const ub_trained k_ub_models[5];
inline constexpr unsigned k_fitted_model = 1; ///< GPT3-175B

struct ub_architecture_times {
    ub_rack_times rack;
    ub_far_times far;
    bool shares_lanes = false; ///< the same lanes of an NPU lead to other boards and to other racks
};

/// Of one step, us.
struct ub_step_parts {
    double compute = 0, tensor = 0, sequence = 0, expert = 0, pipeline = 0, data = 0; ///< exposed
    double bubble = 0;                                                               ///< of the pipeline
    double total() const { return compute + tensor + sequence + expert + pipeline + data + bubble; }
};
struct ub_best_plan {
    ub_parallelism plan;
    ub_step_parts parts;
    double tokens_per_us = 0; ///< of the whole machine
};

struct ub_step_model {
    ub_step_rules rules;
    double chip_tflops = 752;      ///< 910C as the reference (recalled)
    double utilisation = 0.5;      ///< assumed
    double hrs_gbps = 4 * 112 * 0.85; ///< of an NPU between pods: x4 (quoted), payload of it (derived)
    double dcn_gbps = 50;             ///< of an NPU: a NIC of 400 Gb/s for 8 NPUs (assumed)
    double exposed = 0;            ///< share of TP and SP that nothing hides; fitted
    bool ring_attention = false;   ///< SP is hidden as far as attention lasts, in place of the fitted share
    bool stages_in_turn = false;   ///< stages of a collective in a rack and between racks, though their lanes differ
    std::uint32_t tensor_degree = 0; ///< 0: searched
    bool network_is_free = false;  ///< transfers take no time: what compute, bubble and memory say alone

    ub_step_parts parts_of(const ub_model& m, const ub_parallelism& plan, double sequence, const ub_architecture_times& t) const;
    /// The plan with most tokens in a time; none where none fits.
    std::optional<ub_best_plan> best(const ub_model& m, std::uint32_t npus, double sequence, const ub_architecture_times& t) const;

private:
    enum class exchange : std::uint8_t { gather, all_to_all };
    double exchange_us(const ub_architecture_times& t, exchange what, std::uint32_t ranks, std::uint32_t tensor, double mib) const;
    double data_us(const ub_model& m, const ub_parallelism& plan, const ub_architecture_times& t) const;
};

extern const std::vector<double> k_short_sequences; ///< 8K to 32K
extern const std::vector<double> k_long_sequences;  ///< 64K to 10M
std::vector<double> all_sequences();

/// Performance of a to b in percent on a SuperPod, geometric mean over the sequences; none where no plan fits.
std::optional<double> performance_percent(const ub_step_model& step, const ub_model& m, const std::vector<double>& sequences,
                                          const ub_architecture_times& a, const ub_architecture_times& b);
/// The same, over all models as well.
std::optional<double> mean_performance_percent(const ub_step_model& step, const std::vector<double>& sequences, const ub_architecture_times& a,
                                               const ub_architecture_times& b);
/// Performance of an NPU on `npus` to that on `base`, percent; sequences of 256K, as many tokens a rank as on `base`.
std::optional<double> linearity_percent(const ub_step_model& step, const ub_model& m, std::uint32_t base, std::uint32_t npus,
                                        const ub_architecture_times& t);

/// The null model: bytes that an NPU has to get / rate of its lanes that lead to who has them, at 85 % of 112 Gb/s. No
/// paths, no latency, nothing in the way.
struct ub_null_lanes {
    double board;        ///< towards the NPUs of its board; 0: by the switches
    double other_boards; ///< towards all NPUs of the same column, by switches; 0: by Y links
    double y_link;       ///< towards each of them
    double far;          ///< towards all other racks, by switches; 0: by links to racks
    double rack_link;    ///< towards each rack of the row and of the column
    bool shares_lanes;
};
inline constexpr ub_null_lanes k_null_2d_fm{28, 0, 4, 0, 2, false}, k_null_1d_fm_a{28, 16, 0, 0, 2, false}, k_null_1d_fm_b{28, 32, 0, 0, 4, true},
    k_null_clos{0, 72, 0, 72, 0, true};
ub_architecture_times null_times(const ub_null_lanes& lanes);
/// Sets `exposed` (0 to 1) so that this performance comes out, or comes closest: false.
bool fit_exposed(ub_step_model& step, const ub_model& m, double percent, const ub_architecture_times& a, const ub_architecture_times& b);

} // namespace weft
