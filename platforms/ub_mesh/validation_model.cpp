// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/validation_model.h"

#include <algorithm>
#include <cmath>

namespace weft {

// Table 5 (quoted) and Fig. 17a (read off).
const ub_model k_ub_models[5] = {{"LLAMA-70B", 80, 8192, false, {95.7, 98.1, 99.3}},
                                 {"GPT3-175B", 96, 12288, false, {95.9, 97.5, 99.0}},
                                 {"Dense-1T", 128, 24576, false, {95.0, 95.5, 97.95}},
                                 {"GPT4-2T", 96, 12288, true, {94.5, 94.9, 98.1}},
                                 {"MoE-10T", 128, 18432, true, {93.2, 94.3, 96.8}}};

const std::vector<double> k_short_sequences{8 << 10, 16 << 10, 32 << 10};
const std::vector<double> k_long_sequences{64 << 10, 256 << 10, 1 << 20, 10 << 20};

std::vector<double> all_sequences()
{
    std::vector<double> all = k_short_sequences;
    all.insert(all.end(), k_long_sequences.begin(), k_long_sequences.end());
    return all;
}

double ub_step_inputs::compute_us(const ub_model& m, double sequence) const
{
    const double f = m.experts ? (4 + 8 * active_experts) / 12 : 1;
    const double operations =
        m.layers * micro_batches * tokens * (72 * m.hidden * m.hidden * f + 6 * sequence * m.hidden) / tensor_ranks;
    return operations / (chip_tflops * utilisation * 1e6);
}

double ub_step_inputs::communication_us(const ub_model& m, double sequence, const ub_rack_times& rack,
                                        const ub_far_times& far) const
{
    const double wider = m.hidden / base_hidden;
    const double count = m.layers * micro_batches * tensor_per_layer;
    const double longer = std::max(1.0, sequence / (sequence_ranks * tokens));
    const ub_time_of_size& gather = sequence >= far_sequence ? far.sequence : rack.sequence;
    double us = count * rack.tensor.us(tensor_mib * wider);
    us += count * (gather.us(sequence_mib * wider * longer) +
                   sequence_large_share * gather.us(sequence_large_mib * wider * longer));
    if (m.experts)
        us += count * far.expert.us(expert_mib * wider);
    us += pipeline_count * far.pipeline.us(2 * pipeline_mib * wider); // both send: the size of the gather is twice that
    us += data_count * far.data.us(data_mib * m.layers / base_layers * wider * wider);
    return us;
}

double performance_percent(const ub_step_inputs& inputs, const ub_model& m, const std::vector<double>& sequences,
                           const ub_architecture_times& a, const ub_architecture_times& b)
{
    double logarithms = 0;
    for (const double s : sequences)
        logarithms += std::log(inputs.step_us(m, s, b.rack, b.far) / inputs.step_us(m, s, a.rack, a.far));
    return 100 * std::exp(logarithms / static_cast<double>(sequences.size()));
}

double mean_performance_percent(const ub_step_inputs& inputs, const std::vector<double>& sequences,
                                const ub_architecture_times& a, const ub_architecture_times& b)
{
    double logarithms = 0;
    for (const ub_model& m : k_ub_models)
        logarithms += std::log(performance_percent(inputs, m, sequences, a, b));
    return std::exp(logarithms / 5);
}

ub_architecture_times null_times(const ub_null_lanes& lanes)
{
    constexpr double k_lane_bytes_per_us = 112e3 / 8 * 0.85;
    const auto of = [](double share, double width) { // of the size, that an NPU gets
        const auto us = [&](double mib) { return share * mib * 1048576 / (width * k_lane_bytes_per_us); };
        return ub_time_of_size{us(ub_time_of_size::k_small_mib), us(ub_time_of_size::k_large_mib)};
    };
    ub_architecture_times t;
    t.rack.tensor = of(2 * 7.0 / 8, lanes.board);
    t.rack.sequence = of(7.0 / 8, lanes.column);
    t.far.sequence = of(8.0 / 16, lanes.far); // half of the sixteen are in the other rack
    t.far.expert = of(8.0 / 16, lanes.far);
    t.far.pipeline = of(1.0 / 2, lanes.far); // the size is what both send
    t.far.data = of(2 * 3.0 / 4, lanes.far);
    return t;
}

void fit_exposed(ub_step_inputs& inputs, const ub_model& m, double percent, const ub_architecture_times& a,
                 const ub_architecture_times& b)
{
    double low = 0, high = 1; // the more is exposed, the less the slower of the two performs
    for (int i = 0; i < 60; ++i) {
        inputs.exposed = (low + high) / 2;
        (performance_percent(inputs, m, all_sequences(), a, b) > percent ? low : high) = inputs.exposed;
    }
}

} // namespace weft
