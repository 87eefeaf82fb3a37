// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A training step as degrees of parallelism, and what follows from them: the transfers that Table 1 lists, memory of an
// NPU, and the plans that section 5.2 searches. UB-Mesh, arXiv 2503.20377. Arithmetic only; times stand in
// validation_model.h. MiB and GiB are powers of two, as the sizes of Table 1 are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

inline constexpr double k_bytes_of_mib = 1 << 20;
inline constexpr std::uint32_t k_superpod_npus = 8192;             ///< quoted: section 3.3.4
inline constexpr std::uint32_t k_tensor_ranks[] = {8, 16, 32, 64}; ///< degrees of TP: whole boards of a rack

/// Table 5 (quoted).
struct ub_model {
    const char* name;
    std::uint32_t layers, heads, hidden;
    std::uint32_t experts; ///< 0: dense
};

/// Degrees; NPUs are the product of all but `expert`, which is shared by the ranks of `sequence` and `data`.
struct ub_parallelism {
    std::uint32_t tensor = 1, sequence = 1, expert = 1, pipeline = 1, data = 1;
    double tokens = 8192; ///< of a micro-batch that a rank of `sequence` has

    std::uint64_t npus() const { return std::uint64_t{tensor} * sequence * pipeline * data; }
    std::string text() const; ///< "TP 16, SP 16, EP 8, PP 2, DP 4"
};

/// What no plan changes.
struct ub_step_rules {
    double micro_batches = 13;      ///< derived: 26 transfers of PP are 13 both ways
    double tokens = 8192;           ///< of a rank, at most of `sequence`; derived: 192 MiB / (12288 x 2 B)
    double hbm_gib = 64;            ///< chosen by hand: with the 128 GiB of the reference NPU, GPT3 and GPT4 take TP 8
    double active_experts = 1;      ///< a token; derived: 10.5 MB of Table 1 are each token once
    std::uint32_t closest = 1024;   ///< TP x SP and TP x EP at most: a pod; assumed: by HRS there are x4 of an NPU
    std::uint32_t most_stages = 16; ///< PP; assumed: more than 13 micro-batches are mostly bubble
};

/// Bytes that one NPU sends in one transfer, and how often one pipeline does so in a step.
struct ub_transfer {
    double count = 0, sent_mib = 0;
    double total_gib() const { return count * sent_mib / 1024; }
};
/// The rows of Table 1. SP gathers keys and values in three passes (forward, recomputation, backward), and scatters
/// their gradients in fp32.
struct ub_traffic {
    ub_transfer tensor, sequence, sequence_fp32, expert, pipeline, data;
    double total_gib() const;
};

double layers_of_stage(const ub_model& m, const ub_parallelism& plan); ///< of the longest
/// Tokens of a rank x hidden x 2 B.
double activation_mib(const ub_model& m, const ub_parallelism& plan);
/// Gradients of a layer on an NPU, bf16. Feed-forward of 4 hidden, or as many for each expert (assumed).
double bucket_mib(const ub_model& m, const ub_parallelism& plan);
/// `bucket`: what data ranks reduce at once, a layer.
ub_traffic traffic_of(const ub_model& m, const ub_parallelism& plan, const ub_step_rules& rules, double bucket);
/// Weights and gradients in bf16; master weights and two moments in fp32, over all who hold the same weights; keys and
/// values of one head of the whole sequence. Checkpoints of activations may lie in memories of CPUs (assumed).
double memory_gib(const ub_model& m, const ub_parallelism& plan);
/// All that section 5.2 admits: TP of 8 to 64 that divides the heads; SP as wide as sequence, NPUs and a pod allow;
/// SP x DP a multiple of EP; memory within HBM. Empty where nothing fits.
std::vector<ub_parallelism> plans_of(const ub_model& m, std::uint32_t npus, double sequence, const ub_step_rules& rules);

/// The step that Table 1 was taken of, as far as the table lets derive it: 64 layers of hidden 12288, 474.5 MiB of
/// gradients a layer. Heads and experts are not known; 16 experts would make 360 MiB.
extern const ub_model k_table_1_model;
inline constexpr double k_table_1_bucket_mib = 474.5;
extern const ub_parallelism k_table_1_plan;

} // namespace weft
