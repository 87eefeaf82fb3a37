// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/training_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr double k_gib = 1 << 30;
constexpr double k_passes = 3; // forward, recomputation, backward
constexpr double k_bf16 = 2;

double square(double x) { return x * x; }

/// Parameters of a layer that every expert rank has a copy of, and of those that are spread over the experts' ranks.
struct layer_parameters {
    double shared, of_experts;
};
layer_parameters parameters_of(const ub_model& m)
{
    const double attention = 4 * square(m.hidden), feed_forward = 8 * square(m.hidden);
    return m.experts == 0 ? layer_parameters{attention + feed_forward, 0} : layer_parameters{attention, m.experts * feed_forward};
}

} // namespace

// Counts of Table 1: 4992 = 64 layers x 13 x 6.
const ub_model k_table_1_model{"MoE-2T", 64, 96, 12288, 16};
const ub_parallelism k_table_1_plan{16, 16, 8, 2, 4, 8192};

std::string ub_parallelism::text() const
{
    return fmt::format("TP {}, SP {}{}, PP {}, DP {}", tensor, sequence, expert > 1 ? fmt::format(", EP {}", expert) : "", pipeline, data);
}

double ub_traffic::total_gib() const
{
    return tensor.total_gib() + sequence.total_gib() + sequence_fp32.total_gib() + expert.total_gib() + pipeline.total_gib() + data.total_gib();
}

double layers_of_stage(const ub_model& m, const ub_parallelism& plan) { return (m.layers + plan.pipeline - 1) / plan.pipeline; }

double activation_mib(const ub_model& m, const ub_parallelism& plan) { return plan.tokens * m.hidden * k_bf16 / k_bytes_of_mib; }

double bucket_mib(const ub_model& m, const ub_parallelism& plan)
{
    const layer_parameters p = parameters_of(m);
    return (p.shared + p.of_experts / plan.expert) / plan.tensor * k_bf16 / k_bytes_of_mib;
}

ub_traffic traffic_of(const ub_model& m, const ub_parallelism& plan, const ub_step_rules& rules, double bucket)
{
    const auto others = [](double ranks) { return (ranks - 1) / ranks; };
    const double layers = m.layers * rules.micro_batches; // of all stages of a pipeline
    const double activation = activation_mib(m, plan), shard = activation / plan.tensor;
    ub_traffic t;
    t.tensor = {layers * 2 * k_passes, 2 * others(plan.tensor) * activation};
    if (plan.sequence > 1) {
        t.sequence = {layers * 2 * k_passes, (plan.sequence - 1) * shard};
        t.sequence_fp32 = {layers * 2, 2 * t.sequence.sent_mib};
    }
    if (plan.expert > 1)
        t.expert = {layers * 2 * k_passes, others(plan.expert) * shard * rules.active_experts};
    t.pipeline = {2 * rules.micro_batches * (plan.pipeline - 1), activation};
    if (plan.data > 1)
        t.data = {static_cast<double>(m.layers), 2 * others(plan.data) * bucket};
    return t;
}

double memory_gib(const ub_model& m, const ub_parallelism& plan)
{
    const layer_parameters p = parameters_of(m);
    const double layers = layers_of_stage(m, plan);
    const double replicas = static_cast<double>(plan.sequence) * plan.data;
    const double shared = layers * p.shared / plan.tensor, of_experts = layers * p.of_experts / (plan.tensor * plan.expert);
    const double weights = 2 * k_bf16 * (shared + of_experts);
    const double optimiser = 12 * (shared / replicas + of_experts / std::max(1.0, replicas / plan.expert));
    const double keys_and_values = 2 * plan.tokens * plan.sequence * m.hidden / m.heads * k_bf16;
    return (weights + optimiser + keys_and_values) / k_gib;
}

std::vector<ub_parallelism> plans_of(const ub_model& m, std::uint32_t npus, double sequence, const ub_step_rules& rules)
{
    std::vector<ub_parallelism> plans;
    for (const std::uint32_t tensor : k_tensor_ranks) {
        if (m.heads % tensor != 0)
            continue;
        for (std::uint32_t stages = 1; stages <= std::min(rules.most_stages, m.layers) && tensor * stages <= std::min(npus, k_superpod_npus); stages *= 2) {
            ub_parallelism plan;
            plan.tensor = tensor;
            plan.pipeline = stages;
            const std::uint32_t widest = std::min(std::min(npus, k_superpod_npus) / (tensor * stages), rules.closest / tensor);
            while (plan.sequence * 2 <= widest && plan.sequence * rules.tokens < sequence)
                plan.sequence *= 2;
            plan.tokens = sequence / plan.sequence;
            plan.data = npus / (tensor * stages * plan.sequence);
            for (plan.expert = 1; plan.expert <= std::min(std::max(1u, m.experts), rules.closest / tensor); plan.expert *= 2) {
                const bool spread = m.experts % plan.expert == 0 && plan.sequence * plan.data % plan.expert == 0;
                if (spread && memory_gib(m, plan) <= rules.hbm_gib)
                    plans.push_back(plan);
            }
        }
    }
    return plans;
}

} // namespace weft
