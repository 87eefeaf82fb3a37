// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// M8: Table 2, the speed-up of training steps over ring all-reduce.
#include "platforms/switchml/validation_runs.h"

#include <fmt/format.h>

namespace weft {

namespace {

/// A row of Tables 1 and 2.
struct dnn_row {
    const char* file;
    const char* model;
    double rate_gbps;
    double batch_ms;        ///< Table 1
    double share_percent;   ///< Table 1, c
    double overlap_percent; ///< Table 1
    double speed_up;        ///< Table 2, INA
};
constexpr dnn_row k_table_2[] = {
    {"deeplight_10g", "DeepLight", 10, 2101, 97, 2, 1.80},
    {"lstm_10g", "LSTM", 10, 1534, 94, 10, 1.77},
    {"ncf_10g", "NCF", 10, 149, 72, 4, 1.54},
    {"bert_10g", "BERT", 10, 1677, 67, 3, 1.54},
    {"vgg19_10g", "VGG19", 10, 661, 73, 67, 1.60},
    {"ugatit_10g", "UGATIT", 10, 1612, 28, 84, 1.22},
    {"resnet50_10g", "ResNet-50", 10, 299, 29, 67, 1.05},
    {"ssd_10g", "SSD", 10, 293, 26, 99, 1.01},
    {"deeplight_100g", "DeepLight", 100, 258, 79, 20, 1.67},
    {"lstm_100g", "LSTM", 100, 312, 46, 56, 1.20},
    {"ncf_100g", "NCF", 100, 46, 23, 27, 1.22},
    {"bert_100g", "BERT", 100, 668, 17, 35, 1.14},
};
constexpr double k_theory_f = 1.75; ///< 2 (n - 1) / n
constexpr double k_batch_tolerance_percent = 5;

double tolerance_percent(const dnn_row& t) { return t.overlap_percent < 50 ? 5 : 10; }

struct pair_of_steps {
    std::optional<double> switchml_ms;
    std::optional<double> ring_ms;
    std::optional<double> overlap_percent; ///< of communication, with switchml
    std::optional<double> speed_up() const
    {
        return switchml_ms && ring_ms ? std::optional<double>(*ring_ms / *switchml_ms) : std::nullopt;
    }
};

/// Of the ring over the lossless network; the switch uses neither.
constexpr data_size k_ring_chunk{1 << 20}; ///< assumed
constexpr packet_count k_auto{0};

template <class Run>
pair_of_steps both(const switchml_config& config, Run&& run, packet_count ring_burst = k_auto)
{
    pair_of_steps result;
    const run_figures in_network = run(config);
    switchml_config ring = config;
    ring.run.training_step->algorithm = abi::algorithm::ring_1d;
    ring.run.training_step->chunk = k_ring_chunk;
    ring.run.burst = ring_burst;
    result.switchml_ms = figure(in_network, "step_ms");
    result.ring_ms = figure(run(ring), "step_ms");
    if (result.switchml_ms)
        result.overlap_percent = 100 * (1 - in_network.at("exposed_ms") / in_network.at("communication_ms"));
    return result;
}

} // namespace

void switchml_checks::check_files() const
{
    for (const char* name : {"rack_8x10g", "rack_8x10g_rdma", "rack_8x100g_rdma", "rack_16x100g", "loss_8x10g"})
        (void)config_of(name);
    for (const dnn_row& t : k_table_2)
        (void)config_of(fmt::format("dnn/{}", t.file));
}

void switchml_checks::speed_ups()
{
    const auto run_it = [this](const switchml_config& c) { return run(c); };
    add_null("M8", "speed-ups: theory without slack, 1 + 0.75 c");
    for (const dnn_row& t : k_table_2) {
        const switchml_config config = config_of(fmt::format("dnn/{}", t.file));
        const pair_of_steps steps = both(config, run_it);
        const double theory = 1 + (k_theory_f - 1) * t.share_percent / 100;
        add(with_null(row_of(row_kind::emergent(), "M8",
                             fmt::format("{}, {:g} Gb/s: speed-up over ring_1d (theory without slack {:.2f})", t.model,
                                         t.rate_gbps, theory),
                             t.speed_up, steps.speed_up(), "", "Sapio et al., Table 2 (quoted); tolerance: ours",
                             tolerance::percent(tolerance_percent(t))),
                      theory));
        add(row_of(row_kind::calibrated("compute and ready times, made of Table 1"), "M8",
                   fmt::format("{}, {:g} Gb/s: batch time with switchml (overlap {:.0f} % of communication, "
                               "published {:g} %)",
                               t.model, t.rate_gbps, steps.overlap_percent.value_or(0), t.overlap_percent),
                   t.batch_ms, steps.switchml_ms, "ms",
                   "Sapio et al., Table 1 (quoted), of which compute and most ready times are made; tolerance: ours",
                   tolerance::percent(k_batch_tolerance_percent)));
    }
}

/// What the choices of the profiles do.
void switchml_checks::speed_up_sensitivities()
{
    const auto run_it = [this](const switchml_config& c) { return run(c); };
    const auto tell = [&](const std::string& what, const switchml_config& config,
                          packet_count ring_burst = k_auto) {
        const pair_of_steps steps = both(config, run_it, ring_burst);
        const auto gain = steps.speed_up();
        report.sensitivities.push_back(
            {what,
             gain ? fmt::format("speed-up {:.3f}, batch {:.1f} ms", *gain, *steps.switchml_ms) : "did not complete"});
    };
    switchml_config lstm = config_of("dnn/lstm_100g");
    lstm.run.training_step->groups[0].ready_at = lstm.run.training_step->compute;
    tell("lstm_100g with the softmax ready with the compute", lstm);
    switchml_config resnet = config_of("dnn/resnet50_10g");
    for (gradient_group& g : resnet.run.training_step->groups)
        g.elements = *g.elements * 22'806'528 / 25'557'032;
    tell("resnet50_10g of 87 MiB, as Table 1 prints", resnet);
    switchml_config fused = config_of("dnn/resnet50_10g");
    fused.run.training_step->groups[0].ready_at = duration(212'290'000'000); // T - c T
    tell("resnet50_10g with communication in one piece, its first buffer ready at T - c T", fused);
    switchml_config ssd = config_of("dnn/ssd_10g");
    for (gradient_group& g : ssd.run.training_step->groups)
        g.elements = *g.elements * 98 / 87;
    tell("ssd_10g of 98 MiB, as Table 1 prints", ssd);
    switchml_config wide = config_of("dnn/vgg19_10g");
    wide.job.transport = abi::switchml::transport::udp;
    wide.worker.cores = 4;
    tell("vgg19_10g over UDP with 4 cores", wide);
    tell("resnet50_10g with the ring in single packets", config_of("dnn/resnet50_10g"),
         packet_count(1));
}

} // namespace weft
