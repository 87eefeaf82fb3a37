// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of training steps: what Table 1 lets derive (V14), which plans the search takes, linearity (V13), and what
// inputs that nobody publishes do.
#include "platforms/ub_mesh/validation_runs.h"

#include <cmath>
#include <fmt/format.h>

namespace weft {

/// V14. Sizes, counts and shares of Table 1 from degrees, tokens and hidden.
void ub_validation::table_1()
{
    const ub_traffic t = traffic_of(k_table_1_model, k_table_1_plan, step_.rules, k_table_1_bucket_mib);
    struct line {
        const char* name;
        const ub_transfer& transfer;
        double size_mb, count, share, digit; ///< below 0: no share of its own
    };
    const line lines[] = {{"TP all-reduce", t.tensor, 360, 4992, 52.9, 0.051},
                          {"SP all-gather", t.sequence, 180, 4992, -1, 0},
                          {"SP in fp32", t.sequence_fp32, 360, 1664, -1, 0},
                          {"EP all-to-all", t.expert, 10.5, 4992, 1.54, 0.0051},
                          {"PP point to point", t.pipeline, 192, 26, 0.14, 0.0051},
                          {"DP all-reduce", t.data, 711.75, 64, 1.34, 0.0051}};
    constexpr const char* k_quoted = "Table 1 (quoted); degrees, layers and micro-batches derived from it";
    constexpr const char* k_digit = "Table 1 (quoted); tolerance: the printed digit";
    for (const line& l : lines) {
        // Degrees, layers, micro-batches and passes were read from these very rows.
        const row_kind kind = row_kind::identity();
        exact(kind, "V14", fmt::format("{}: MB that an NPU sends in one", l.name), l.size_mb, l.transfer.sent_mib, k_quoted);
        exact(kind, "V14", fmt::format("{}: transfers of a step", l.name), l.count, l.transfer.count, k_quoted);
        if (l.share > 0)
            within_points(kind, "V14", fmt::format("{}: share of all", l.name), "%", l.share, 100 * l.transfer.total_gib() / t.total_gib(), l.digit, k_digit,
                          "0.147 is not printed as 0.14");
    }
    const double of_sequence = t.sequence.total_gib() + t.sequence_fp32.total_gib();
    exact(row_kind::identity(), "V14", "SP: both, total, GB", 1462.5, of_sequence, k_quoted);
    within_points(row_kind::identity(), "V14", "SP: both, share of all", "%", 44.08, 100 * of_sequence / t.total_gib(), 0.0051, k_digit);
    remark(row_kind::identity(), "V14", "TP: total, 4992 x 360 MB", "GB", 1775, t.tensor.total_gib(), "a misprint: the printed shares add up with 1755 only",
           "Table 1 (quoted)");
}

/// Which plans the step of each model has, for a reader who wants to judge them.
void ub_validation::plans_chosen(const ub_architecture_times& mesh, const ub_architecture_times& clos)
{
    for (const ub_trained& m : k_ub_models)
        for (const double sequence : all_sequences())
            for (const auto& [name, times] : {std::pair<const char*, const ub_architecture_times&>{"2D-FM", mesh}, {"Clos", clos}}) {
                const auto best = step_.best(m.model, k_superpod_npus, sequence, times);
                if (!best)
                    continue;
                const auto part = [&](double us) { return fmt::format("{:.1f}", 100 * us / best->parts.total()); };
                const ub_step_parts& p = best->parts;
                plans_ += fmt::format("| {} | {:g}K | {} | {} | {:.0f} | {} | {} | {} | {} | {} | {} |\n", m.model.name, sequence / 1024, name,
                                      best->plan.text(), memory_gib(m.model, best->plan), part(p.compute), part(p.tensor), part(p.sequence), part(p.expert),
                                      part(p.pipeline + p.data), part(p.bubble));
            }
}

namespace {

struct linearity_curve {
    unsigned model;
    std::uint32_t base;
    double published[6]; ///< x2, x4 ... x64
};
constexpr linearity_curve k_linearity[] = {{0, 128, {102.7, 104.1, 104.0, 104.8, 104.7, 104.7}},
                                           {1, 512, {100, 102.7, 104.0, 104.0, 103.7, 100.8}},
                                           {3, 1024, {102.1, 102.1, 102.65, 101.9, 100.8, 95}},
                                           {2, 1024, {102.1, 108.3, 108.2, 112.0, 109.0, 95}}};

} // namespace

/// V13.
void ub_validation::linearity(const ub_architecture_times& mesh)
{
    ub_step_model free = step_;
    free.network_is_free = true;
    add_null("V13", "the same plans and search with transfers that take no time: compute, bubble and memory alone");
    for (const linearity_curve& c : k_linearity)
        for (unsigned i = 0; i < 6; ++i) {
            const ub_model& m = k_ub_models[c.model].model;
            const std::uint32_t factor = 2u << i;
            validation_row row(row_kind::emergent(), "V13", fmt::format("{}, {} x {} NPUs: linearity", m.name, factor, c.base), "%",
                               "Fig. 22, read off (derived); tolerance: 2 points (ours)");
            row.published = c.published[i];
            row.simulated = linearity_percent(step_, m, c.base, factor * c.base, mesh);
            row.null_value = linearity_percent(free, m, c.base, factor * c.base, mesh);
            row.tolerance = tolerance::points(2);
            row.why_miss = "memory alone makes a larger machine better here, and the DCN stays hidden: see the notes";
            add(std::move(row));
        }
}

/// What inputs that nobody publishes do to the bars of 2D-FM.
void ub_validation::step_sensitivities(const ub_architecture_times& mesh, const ub_architecture_times& clos)
{
    const auto percent_text = [](std::optional<double> percent) { return percent ? fmt::format("{:.2f}", *percent) : std::string("no plan fits"); };
    const auto with = [&](const std::string& what, ub_step_model other) {
        const ub_trained& fitted = k_ub_models[k_fitted_model];
        const bool fits = fit_exposed(other, fitted.model, fitted.published[0], mesh, clos);
        std::string text;
        for (const ub_trained& m : k_ub_models)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", m.model.name, percent_text(performance_percent(other, m.model, all_sequences(), mesh, clos)));
        report.sensitivities.push_back(
            {what, fmt::format("exposed {:.3f}{}; 2D-FM to Clos: {}; 8K to 32K {}, 64K to 10M {} %", other.exposed, fits ? "" : " (the bar is out of reach)", text,
                               percent_text(mean_performance_percent(other, k_short_sequences, mesh, clos)),
                               percent_text(mean_performance_percent(other, k_long_sequences, mesh, clos)))});
    };
    with("as judged", step_);
    ub_far_machine between;
    const auto best = far_of(between);
    between.pod = ub_pod_kind::clos;
    if (const auto hrs = far_of(between); best && hrs)
        for (const unsigned m : {0u, 1u, 3u})
            report.sensitivities.push_back(
                {fmt::format("V4, {}: the best set of paths for each collective", k_ub_models[m].model.name),
                 fmt::format("{} % of the inter-rack Clos",
                             percent_text(performance_percent(step_, k_ub_models[m].model, all_sequences(), {mesh.rack, *best}, {mesh.rack, *hrs})))});
    if (best) {
        std::string text;
        for (const ub_trained& m : k_ub_models)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", m.model.name,
                                percent_text(performance_percent(step_, m.model, all_sequences(), mesh, {clos.rack, *best, true})));
        report.sensitivities.push_back({"V3 with 2D-FM x16 between racks of kind clos as well, exposed as judged", "2D-FM to Clos: " + text});
    }
    for (const double utilisation : {0.3, 0.7}) {
        ub_step_model other = step_;
        other.utilisation = utilisation;
        with(fmt::format("utilisation {}, exposed fitted again", utilisation), other);
    }
    ub_step_model other = step_;
    other.rules.active_experts = 2;
    with("two experts a token, exposed fitted again", other);
    for (const double hbm_gib : {48.0, 128.0}) {
        other = step_;
        other.rules.hbm_gib = hbm_gib;
        with(fmt::format("HBM of {:g} GiB, exposed fitted again", hbm_gib), other);
    }
    for (const double hbm_gib : {48.0, 60.0, 68.0, 128.0}) {
        other = step_;
        other.rules.hbm_gib = hbm_gib;
        std::string text;
        for (const linearity_curve& c : k_linearity)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", k_ub_models[c.model].model.name,
                                percent_text(linearity_percent(other, k_ub_models[c.model].model, c.base, 8 * c.base, mesh)));
        report.sensitivities.push_back({fmt::format("V13 with HBM of {:g} GiB, exposed as judged: linearity at x8", hbm_gib), text});
    }
    other = step_;
    other.tensor_degree = 16;
    with("TP 16 for all, exposed fitted again", other);
    other = step_;
    other.ring_attention = true;
    with("SP behind attention as far as that lasts, exposed share of TP alone fitted again", other);
    other = step_;
    other.stages_in_turn = true;
    with("stages in a rack and between racks one after the other, exposed fitted again", other);
    if (const auto us = tensor_us(how_.isolated, ub_rack_kind::full_mesh_2d, 192))
        report.sensitivities.push_back(
            {"all-reduce of 192 MiB by 16 NPUs on the boards of a 2d_fm rack, all paths, simulated itself", fmt::format("{:.3f} ms", *us * 1e-3)});
    report.sensitivities.push_back({"the same by the affine time of the better path set", fmt::format("{:.3f} ms", mesh.rack.all_reduce.at(16).us(192) * 1e-3)});
}

void ub_validation::step_inputs()
{
    const auto in = [&](const char* what, const std::string& value, const char* source) {
        report.inputs.push_back({what, value, source});
    };
    const ub_step_model& s = step_;
    in("step: transfers", "as Table 1: of a layer and micro-batch TP 6, SP 6 and 2 in fp32, EP 6; of a step PP 2 (PP - 1) x 13, DP one a layer",
       "Table 1 (derived): 4992 = 64 layers x 13 x 6");
    in("step: micro-batches", fmt::format("{:g} of a pipeline", s.rules.micro_batches), "Table 1 (derived): 26 transfers of PP");
    in("step: tokens of a rank", fmt::format("{:g}, more where SP can grow no further; one sequence a micro-batch", s.rules.tokens),
       "192 MiB / (12288 x 2 B) of Table 1 (derived)");
    in("step: search", "TP of 8 to 64 that divides the heads, SP as wide as it can, PP of 1 to 16, DP the rest, EP a divisor of the experts and of SP x DP; what makes most tokens in a time",
       "section 5.2 (quoted), steps of two (assumed)");
    in("step: TP x SP and TP x EP", fmt::format("at most {} NPUs", s.rules.closest), "a pod (assumed): between pods there are x4 of an NPU");
    in("step: HBM", fmt::format("{:g} GiB for weights, gradients and optimiser", s.rules.hbm_gib),
       "chosen by hand, between what Table 1 needs for weights and gradients (30 GiB) and the reference NPU (128 GiB), with which models of 12288 would take TP 8");
    in("step: mapping", "TP on boards of a rack, SP over the other boards, then the racks of a row, then rows; EP likewise; DP by pods; PP to the next rack",
       "Fig. 15 and section 5.2 (quoted)");
    in("step: stages of a collective", "a byte crosses racks once; in the rack and between racks at the same time where the lanes differ (2D-FM, 1D-FM-A), else in turn",
       "section 5.1 (quoted), chunks assumed");
    in("step: compute", fmt::format("{:g} TFLOPS x {:g}", s.chip_tflops, s.utilisation), "910C as the reference (recalled), utilisation assumed");
    in("step: operations", fmt::format("96 hidden^2 + 8 sequence x hidden a layer and token; MoE: {:g} experts a token", s.rules.active_experts),
       "feed-forward of 4 hidden, causal attention in balanced parts, recomputed once (assumed); passes and one expert: Table 1 (derived)");
    in("step: share of TP and SP that is not hidden", fmt::format("{:.3f}", s.exposed), "fitted to GPT3-175B, 2D-FM of Fig. 17a (calibrated)");
    in("step: gradients", "a bucket of shared weights and experts goes over all DP ranks; experts have fewer replicas, SP ranks none of their own", "simplified (assumed)");
    in("step: overlap of others", "DP behind the last backward pass, PP behind other micro-batches but for fill and drain, EP not at all", "assumed");
    in("step: batch", "13 micro-batches of every pipeline: it grows with DP", "assumed");
    in("step: DP beyond a pod", fmt::format("{:g} Gb/s of an NPU by HRS, {:g} Gb/s by the DCN", s.hrs_gbps, s.dcn_gbps),
       "x4 (quoted), payload of it (derived); a NIC of 400 Gb/s for 8 NPUs (assumed)");
    in("step: sequences", "8K, 16K, 32K; 64K, 256K, 1M, 10M; geometric mean; 256K for V13", "assumed; 256K: Fig. 22 (quoted)");
    in("step: paths",
       "the best set for each collective: in racks of shortest and all, the latter by weights and adaptive; between racks of shortest, "
       "detour, borrow and all; in V4 as named, by weights",
       "assumed");
    in("step: between racks of 1D-FM", "2D-FM as for 2D-FM: x16 of 1D-FM-A, x32 of 1D-FM-B", "section 6.2 (quoted)");
    in("step: Clos", "V3: rack of kind clos, whose x72 serve other racks as well; V4: x16 between racks by HRS",
       "Fig. 16 and 18 (assumed); section 6.2 fixes 2D-FM between racks, but then 1D-FM-B with its x32 would be above the Clos, which no bar is");
    in("simulation",
       "all-reduce by direct, multi_axis or hierarchical, gather by direct or multi_axis, whichever is faster, all-to-all by direct; burst: auto with the buffers of "
       "configs/ub_mesh/superpod.yaml, 8 and 32 MiB, affine beyond",
       "assumed");
}

} // namespace weft
