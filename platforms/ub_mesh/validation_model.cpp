// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/validation_model.h"

#include <algorithm>
#include <cmath>

namespace weft {

namespace {

constexpr std::uint32_t k_rack_npus = 64;

/// Ranks of a degree that is placed around groups of `inner` NPUs: those in the same rack.
std::uint32_t in_rack(std::uint32_t ranks, std::uint32_t inner) { return std::min(ranks, std::max(1u, k_rack_npus / inner)); }

double time_of(const ub_times_by_ranks& times, std::uint32_t ranks, double mib) { return ranks == 1 ? 0 : times.at(ranks).us(mib); }

} // namespace

// Table 5 (quoted) and Fig. 17a (read off).
const ub_trained k_ub_models[5] = {{{"LLAMA-70B", 80, 64, 8192, 0}, {95.7, 98.1, 99.3}},
                                   {{"GPT3-175B", 96, 96, 12288, 0}, {95.9, 97.5, 99.0}},
                                   {{"Dense-1T", 128, 128, 24576, 0}, {95.0, 95.5, 97.95}},
                                   {{"GPT4-2T", 96, 96, 12288, 16}, {94.5, 94.9, 98.1}},
                                   {{"MoE-10T", 128, 144, 18432, 32}, {93.2, 94.3, 96.8}}};

const std::vector<double> k_short_sequences{8 << 10, 16 << 10, 32 << 10};
const std::vector<double> k_long_sequences{64 << 10, 256 << 10, 1 << 20, 10 << 20};

std::vector<double> all_sequences()
{
    std::vector<double> all = k_short_sequences;
    all.insert(all.end(), k_long_sequences.begin(), k_long_sequences.end());
    return all;
}

/// Over `ranks` groups of `tensor` NPUs, in two stages: each byte crosses racks once, then spreads in the rack. Chunks
/// keep both stages busy at once where their lanes differ. `mib`: of the buffer of an NPU, all shards together.
double ub_step_model::exchange_us(const ub_architecture_times& t, exchange what, std::uint32_t ranks, std::uint32_t tensor, double mib) const
{
    const bool gathers = what == exchange::gather;
    const std::uint32_t near = in_rack(ranks, tensor), racks = ranks / near;
    const double in_rack_us = time_of(gathers ? t.rack.gather : t.rack.all_to_all, near, mib);
    const double far_us = time_of(gathers ? t.far.gather : t.far.all_to_all, racks, gathers ? mib / near : mib);
    return stages_in_turn || t.shares_lanes ? in_rack_us + far_us : std::max(in_rack_us, far_us);
}

/// All buckets of a stage: an all-reduce over the replicas of a pod, of what is left of a bucket between pods by HRS,
/// and of what is left then between SuperPods by the DCN. The slowest of them counts: buckets follow each other.
double ub_step_model::data_us(const ub_model& m, const ub_parallelism& plan, const ub_architecture_times& t) const
{
    const std::uint32_t replica = plan.tensor * plan.sequence * plan.pipeline;
    const auto within = [&](std::uint32_t npus) { return std::clamp(npus / replica, 1u, plan.data); };
    const std::uint32_t of_pod = within(rules.closest), of_superpod = within(k_superpod_npus);
    const auto sent = [](double ranks) { return 2 * (ranks - 1) / ranks; };
    const double bucket = bucket_mib(m, plan);
    constexpr double k_sent_by_4 = 2 * 3.0 / 4; // what is simulated
    const double pod = of_pod == 1 ? 0 : t.far.all_reduce.us(bucket * sent(of_pod) / k_sent_by_4);
    const auto by_rate = [](double mib, double gbps) { return mib * k_bytes_of_mib / (gbps * 1e3 / 8); };
    const double hrs = by_rate(sent(of_superpod / of_pod) * bucket / of_pod, hrs_gbps);
    const double dcn = by_rate(sent(plan.data / of_superpod) * bucket / of_superpod, dcn_gbps);
    return layers_of_stage(m, plan) * std::max({pod, hrs, dcn});
}

ub_step_parts ub_step_model::parts_of(const ub_model& m, const ub_parallelism& plan, double sequence, const ub_architecture_times& t) const
{
    const double rate = chip_tflops * utilisation * 1e6; // operations a us
    const double of_dense = m.experts == 0 ? 1 : (4 + 8 * rules.active_experts) / 12;
    const double attention = plan.tokens * 8 * sequence * m.hidden / plan.tensor / rate;
    const double rest = plan.tokens * 96.0 * m.hidden * m.hidden * of_dense / plan.tensor / rate;
    const double activation = activation_mib(m, plan), shard = activation / plan.tensor;
    const double keys = shard * plan.sequence;

    const double tensor = 6 * time_of(t.rack.all_reduce, plan.tensor, activation);
    const double gathers = 6 * exchange_us(t, exchange::gather, plan.sequence, plan.tensor, keys) +
                           2 * exchange_us(t, exchange::gather, plan.sequence, plan.tensor, 2 * keys);
    const double experts = 6 * exchange_us(t, exchange::all_to_all, plan.expert, plan.tensor, shard * rules.active_experts);

    const double used = network_is_free ? 0 : 1;
    const double of_stage = layers_of_stage(m, plan) * rules.micro_batches;
    ub_step_parts parts;
    parts.compute = of_stage * (attention + rest);
    parts.tensor = used * of_stage * exposed * tensor;
    parts.sequence = used * of_stage * (ring_attention ? std::max(0.0, gathers - attention) : exposed * gathers);
    parts.expert = used * of_stage * experts;
    const double stage = (parts.compute + parts.tensor + parts.sequence + parts.expert) / rules.micro_batches;
    parts.bubble = (plan.pipeline - 1) * stage;
    // Both send. Between racks also where two stages have room in one.
    parts.pipeline = used * 2 * (plan.pipeline - 1) * t.far.gather.at(2).us(2 * activation);
    parts.data = used * std::max(0.0, data_us(m, plan, t) - stage * 3 / 4); // behind recomputation and backward
    return parts;
}

std::optional<ub_best_plan> ub_step_model::best(const ub_model& m, std::uint32_t npus, double sequence, const ub_architecture_times& t) const
{
    std::optional<ub_best_plan> best;
    for (const ub_parallelism& plan : plans_of(m, npus, sequence, rules)) {
        if (tensor_degree != 0 && plan.tensor != tensor_degree)
            continue;
        const ub_step_parts parts = parts_of(m, plan, sequence, t);
        const double rate = plan.data * rules.micro_batches * sequence / parts.total();
        if (!best || rate > best->tokens_per_us)
            best = ub_best_plan{plan, parts, rate};
    }
    return best;
}

std::optional<double> performance_percent(const ub_step_model& step, const ub_model& m, const std::vector<double>& sequences,
                                          const ub_architecture_times& a, const ub_architecture_times& b)
{
    double logarithms = 0;
    for (const double s : sequences) {
        const auto of_a = step.best(m, k_superpod_npus, s, a), of_b = step.best(m, k_superpod_npus, s, b);
        if (!of_a || !of_b)
            return std::nullopt;
        logarithms += std::log(of_a->tokens_per_us / of_b->tokens_per_us);
    }
    return 100 * std::exp(logarithms / static_cast<double>(sequences.size()));
}

std::optional<double> mean_performance_percent(const ub_step_model& step, const std::vector<double>& sequences, const ub_architecture_times& a,
                                               const ub_architecture_times& b)
{
    double logarithms = 0;
    for (const ub_trained& m : k_ub_models) {
        const auto percent = performance_percent(step, m.model, sequences, a, b);
        if (!percent)
            return std::nullopt;
        logarithms += std::log(*percent);
    }
    return std::exp(logarithms / 5);
}

std::optional<double> linearity_percent(const ub_step_model& step, const ub_model& m, std::uint32_t base, std::uint32_t npus,
                                        const ub_architecture_times& t)
{
    constexpr double k_sequence = 256 << 10;
    const auto small = step.best(m, base, k_sequence, t);
    if (!small)
        return std::nullopt;
    ub_step_model scaled = step;
    scaled.rules.tokens = std::max(step.rules.tokens, small->plan.tokens);
    const auto large = scaled.best(m, npus, k_sequence, t);
    if (!large)
        return std::nullopt;
    return 100 * (large->tokens_per_us / npus) / (small->tokens_per_us / base);
}

ub_architecture_times null_times(const ub_null_lanes& lanes)
{
    constexpr double k_lane_bytes_per_us = 112e3 / 8 * 0.85;
    const auto of = [](double share, double width) { // of the size, that an NPU gets
        const auto us = [&](double mib) { return share * mib * k_bytes_of_mib / (width * k_lane_bytes_per_us); };
        return ub_time_of_size{{{us(ub_time_of_size::k_small_mib), us(ub_time_of_size::k_large_mib)}}};
    };
    const auto to_racks = [&](std::uint32_t racks) { // of rows of four
        const std::uint32_t cols = std::min(racks, 4u), rows = racks / cols;
        return lanes.far + lanes.rack_link * (cols - 1 + rows - 1);
    };
    const auto to_boards = [&](std::uint32_t boards) { return lanes.other_boards + lanes.y_link * (boards - 1); };
    ub_architecture_times t;
    for (const std::uint32_t ranks : k_tensor_ranks) {
        const std::uint32_t boards = ranks / 8;
        const double width = lanes.board + (boards > 1 || lanes.board == 0 ? to_boards(boards) : 0);
        t.rack.all_reduce[ranks] = of(2 * (ranks - 1.0) / ranks, width);
    }
    for (const std::uint32_t boards : k_column_ranks)
        t.rack.gather[boards] = t.rack.all_to_all[boards] = of((boards - 1.0) / boards, to_boards(boards));
    for (const std::uint32_t racks : k_rack_ranks)
        t.far.gather[racks] = t.far.all_to_all[racks] = of((racks - 1.0) / racks, to_racks(racks));
    t.far.all_reduce = of(2 * 3.0 / 4, to_racks(4));
    t.shares_lanes = lanes.shares_lanes;
    return t;
}

bool fit_exposed(ub_step_model& step, const ub_model& m, double percent, const ub_architecture_times& a, const ub_architecture_times& b)
{
    const auto performance = [&] { return performance_percent(step, m, all_sequences(), a, b).value_or(0); };
    double low = 0, high = 1; // the more is exposed, the less the slower of the two performs
    for (int i = 0; i < 60; ++i) {
        step.exposed = (low + high) / 2;
        (performance() > percent ? low : high) = step.exposed;
    }
    return std::abs(performance() - percent) < 0.01;
}

} // namespace weft
