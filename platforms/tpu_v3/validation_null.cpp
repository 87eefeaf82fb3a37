// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The null model of training steps: an all-reduce takes bytes / link rate + one constant, with failed chips a factor
// more. Constant and factor are fitted to what they are judged by, which is the best such a model can do.
#include "platforms/tpu_v3/validation_runs.h"

#include <algorithm>
#include <cmath>

namespace weft {

double validation::null_all_reduce_ms(const std::string& name) const
{
    const tpu_v3_config config = config_of(name);
    double bits = 0;
    for (const gradient_group& g : config.run.training_step->groups)
        bits += 8.0 * static_cast<double>(g.size_bytes());
    const double ms = bits / static_cast<double>(config.ici.link_rate.value()) * 1e3 + null_constant_ms_;
    return config.faults.regions.empty() ? ms : ms * null_factor_;
}

double validation::null_step_ms(const std::string& name) const
{
    return static_cast<double>(config_of(name).run.training_step->compute.value()) * 1e-9 + null_all_reduce_ms(name);
}

double validation::null_share_percent(const std::string& name) const
{
    return 100 * null_all_reduce_ms(name) / null_step_ms(name);
}

std::optional<double> validation::null_efficiency_percent(const table_2_row& t) const
{
    return 100 * null_step_ms(t.full) * t.chips / (null_step_ms(t.broken) * t.chips_left);
}

void validation::fit_null_models()
{
    const auto worst_share = [this](bool broken) {
        double worst = 0;
        for (const table_2_row& t : k_table_2) {
            const double published = broken ? t.broken_percent : t.share_percent;
            worst = std::max(worst, std::abs(null_share_percent(broken ? t.broken : t.full) / published - 1));
        }
        return worst;
    };
    null_constant_ms_ = least_worst(0, 2, 0.01, [&](double ms) {
        null_constant_ms_ = ms;
        return worst_share(false);
    });
    null_factor_ = least_worst(1, 2, 0.01, [&](double factor) {
        null_factor_ = factor;
        return worst_share(true);
    });
}

} // namespace weft
