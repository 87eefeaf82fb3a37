// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/tpu_pod/validation_runs.h"

#include "firmware/context.h"
#include "platforms/config/config_reader.h"
#include "platforms/report/link_occupancy.h"
#include "platforms/workload/collective_runner.h"

#include <cstdio>
#include <fmt/format.h>

namespace weft {

namespace {

std::vector<bool> wires_of(const fabric_engine& fabric)
{
    std::vector<bool> wires;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link)
        wires.push_back(fabric.is_router_link(link));
    return wires;
}

void add_sharing(run_figures& figures, const std::string& phase, const ring_sharing& s)
{
    figures[phase + "_rings"] = s.rings;
    figures[phase + "_ring_links"] = s.ring_links;
    figures[phase + "_shared_links"] = s.shared_links;
    figures[phase + "_most_rings"] = s.most_rings;
    figures[phase + "_tangled"] = s.tangled ? 1 : 0;
}

/// Which rings used which links, by what the messages count on: firmware/context.h.
void add_occupancy(run_figures& figures, const link_occupancy& seen)
{
    using firmware::data_kind;
    const auto both_lanes = [](data_kind kind) {
        return std::vector<std::uint32_t>{firmware::data_semaphore(0, kind), firmware::data_semaphore(1, kind)};
    };
    add_sharing(figures, "first", find_sharing(seen, both_lanes(data_kind::outer_reduce)));
    add_sharing(figures, "second", find_sharing(seen, both_lanes(data_kind::inner_gather)));
    std::vector<std::uint32_t> first_and_forwards = both_lanes(data_kind::outer_reduce);
    for (std::uint32_t lane = 0; lane < 2; ++lane)
        for (std::uint32_t slot = 0; slot < firmware::k_max_donors; ++slot)
            first_and_forwards.push_back(firmware::donor_semaphore(lane, slot));
    const ring_sharing forwards = find_sharing(seen, first_and_forwards);
    figures["forward_streams"] = forwards.open_streams;
    figures["forward_links"] = forwards.open_links;
    figures["forward_on_ring_links"] = forwards.open_on_ring_links;
}

/// Lets a sink see the collectives of the fault-tolerant scheme, and not what else a step exchanges.
class scheme_watch final : public run_observer {
public:
    scheme_watch(fabric_engine& fabric, event_sink* sink) : fabric_(fabric), sink_(sink) {}
    void on_case(std::size_t, std::size_t, const collective_case& c) override
    {
        const bool of_scheme = c.algo == abi::algorithm::row_pair || c.algo == abi::algorithm::row_pair_forward;
        fabric_.set_event_sink(of_scheme ? sink_ : nullptr);
    }
    void on_progress(double) override {}

private:
    fabric_engine& fabric_;
    event_sink* sink_;
};

/// Runs the configuration in this process. No figures when it did not complete.
run_figures simulate(const tpu_pod_config& config)
{
    const tpu_pod_routing routing(config);
    tpu_pod pod(config, routing);
    fabric_engine& fabric = pod.ici().engine();
    link_occupancy seen(wires_of(fabric));
    const bool broken = !config.faults.regions.empty();
    scheme_watch watch(fabric, &seen);
    collective_runner runner("host", pod, config.run, broken ? &watch : nullptr);
    const run_outcome outcome = runner.run();
    if (!outcome.failure.empty()) {
        fmt::print(stderr, "{}: {}\n", config.run.name, outcome.failure);
        return {};
    }
    run_figures figures;
    for (std::size_t i = 0; i < outcome.cases.size(); ++i) {
        figures[fmt::format("steps_{}", i)] = outcome.cases[i].steps;
        figures[fmt::format("time_us_{}", i)] = static_cast<double>(outcome.cases[i].time_ps) * 1e-6;
    }
    if (!outcome.training_steps.empty()) {
        const training_step_result& s = outcome.training_steps.back();
        figures["share_percent"] = 100 * s.share();
        figures["exposed_ms"] = static_cast<double>(s.exposed_ps()) * 1e-9;
        figures["step_ms"] = static_cast<double>(s.time_ps) * 1e-9;
    }
    if (broken)
        add_occupancy(figures, seen);
    figures["deadlock_free"] = routing.proof ? 1 : 0;
    figures["channels"] = static_cast<double>(routing.proof.used_channels);
    figures["dependencies"] = static_cast<double>(routing.proof.dependencies);
    figures["longest_route"] = routing.proof.longest_route;
    return figures;
}

} // namespace

tpu_pod_config all_reduces(std::uint32_t rows, std::uint32_t cols, std::vector<abi::algorithm> algorithms,
                           std::uint64_t bytes)
{
    tpu_pod_config config;
    config.run.name = fmt::format("{}x{}", rows, cols);
    config.run.data = data_mode::off;
    config.mesh.rows = rows;
    config.mesh.cols = cols;
    collective_spec spec;
    spec.algorithms = std::move(algorithms);
    spec.sizes = {data_size(bytes)};
    config.run.workload = {spec};
    return config;
}

tpu_pod_config validation::config_of(const char* name) const
{
    return read_config_or_throw<tpu_pod_config>(yaml_document::load(fmt::format("{}/{}.yaml", how_.config_dir, name)),
                                                {"platform"});
}

void validation::add(validation_row row)
{
    if (how_.on_row)
        how_.on_row(row);
    report.rows.push_back(std::move(row));
}

run_figures validation::run(const tpu_pod_config& config)
{
    return how_.isolated([&config] { return simulate(config); });
}

const run_figures& validation::run_of(const char* name)
{
    const auto found = done_.find(name);
    return found != done_.end() ? found->second : done_.emplace(name, run(config_of(name))).first->second;
}

void validation::try_variant(const std::string& what, const tpu_pod_config& config)
{
    const run_figures figures = run(config);
    const auto share = figure(figures, "share_percent");
    report.sensitivities.push_back(
        {what,
         share ? fmt::format("{:.2f} %, {:.3f} ms exposed", *share, figures.at("exposed_ms")) : "did not complete"});
}

} // namespace weft
