// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/tpu_v3/validation_runs.h"

#include "firmware/context.h"
#include "platforms/config/config_dump.h"
#include "platforms/config/config_reader.h"
#include "platforms/report/link_occupancy.h"
#include "platforms/workload/case_times.h"
#include "platforms/workload/collective_runner.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>

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

/// Ring steps that a run of one collective made, from its packets: the messages with payload that a chip sent by one
/// lane. Each step of a lane is one message, as long as shards are smaller than the chunk of the firmware.
double steps_sent(const link_occupancy& seen)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> of_lane; // (source, lane)
    for (const auto& [edge, messages] : seen.messages_between())
        if (const auto& [source, destination, semaphore] = edge; semaphore < firmware::k_sem_ready)
            of_lane[{source, (semaphore - firmware::k_sem_data) / firmware::k_data_kinds}] += messages;
    std::uint64_t most = 0;
    for (const auto& [lane, messages] : of_lane)
        most = std::max(most, messages);
    return static_cast<double>(most);
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
run_figures simulate(const tpu_v3_config& config)
{
    const tpu_v3_routing routing(config);
    tpu_v3 pod(config, routing);
    fabric_engine& fabric = pod.ici().engine();
    link_occupancy seen(wires_of(fabric));
    const bool broken = !config.faults.regions.empty();
    scheme_watch watch(fabric, &seen);
    const bool count_steps = !config.run.training_step;
    if (count_steps)
        fabric.set_event_sink(&seen);
    collective_runner runner("host", pod, config.run, broken ? &watch : nullptr);
    const run_outcome outcome = runner.run();
    run_figures figures = case_times(config.run.name, outcome);
    if (!outcome.failure.empty())
        return figures;
    if (count_steps)
        figures["steps_sent"] = steps_sent(seen);
    if (!outcome.training_steps.empty()) {
        const training_step_result& s = outcome.training_steps.back();
        figures["share_percent"] = 100 * s.share();
        figures["exposed_ms"] = static_cast<double>(s.exposed_ps()) * 1e-9;
        figures["step_ms"] = static_cast<double>(s.time_ps) * 1e-9;
    }
    if (broken)
        add_occupancy(figures, seen);
    figures["deadlock_free"] = routing.proof() ? 1 : 0;
    figures["channels"] = static_cast<double>(routing.proof().used_channels);
    figures["dependencies"] = static_cast<double>(routing.proof().dependencies);
    return figures;
}

/// ResNet-50's step on other meshes than those of the files.
tpu_v3_config reshaped(tpu_v3_config config, const char* name, std::uint32_t rows, std::uint32_t cols)
{
    config.run.name = name;
    config.mesh.rows = rows;
    config.mesh.cols = cols;
    return config;
}

} // namespace

tpu_v3_config all_reduces(std::uint32_t rows, std::uint32_t cols, std::vector<abi::algorithm> algorithms,
                           std::uint64_t bytes)
{
    tpu_v3_config config;
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

tpu_v3_config validation::config_of(const std::string& name) const
{
    if (name == k_resnet50_256)
        return reshaped(config_of("resnet50_512"), k_resnet50_256, 16, 16);
    if (name == k_mesh_128x32) {
        // One gradient group of ResNet-50, and half of it: what else is needed there follows by bytes.
        tpu_v3_config config = reshaped(config_of("resnet50_1024"), k_mesh_128x32, 128, 32);
        const training_step_config step = *config.run.training_step;
        config.run.training_step.reset();
        collective_spec spec;
        spec.algorithms = {step.by()};
        spec.types = {step.groups.front().type};
        spec.chunk = step.chunk;
        spec.sizes = {data_size(step.groups.front().size_bytes() / 2), data_size(step.groups.front().size_bytes())};
        config.run.workload = {spec};
        return config;
    }
    return read_config_or_throw<tpu_v3_config>(yaml_document::load_layered(fmt::format("{}/{}.yaml", how_.config_dir, name)),
                                                {"platform"});
}

void validation::add(validation_row row)
{
    report.add(std::move(row), how_);
}

std::size_t alike_groups(const tpu_v3_config& config)
{
    if (!config.run.training_step || !config.run.training_step->exchanges.empty() ||
        config.run.training_step->overlap != overlap_rule::none)
        return 1;
    const std::vector<gradient_group>& groups = config.run.training_step->groups;
    const auto as_first = [&](const gradient_group& g) {
        return g.size_bytes() == groups.front().size_bytes() && g.type == groups.front().type;
    };
    return std::all_of(groups.begin(), groups.end(), as_first) ? groups.size() : 1;
}

run_figures validation::run(const tpu_v3_config& config)
{
    const std::size_t alike = alike_groups(config);
    tpu_v3_config one = config;
    if (alike > 1) {
        one.run.training_step->groups.resize(1);
        one.run.training_step->compute = duration(config.run.training_step->compute.value() / alike);
    }
    run_figures figures = how_.isolated([&one] { return simulate(one); }, to_yaml(describe(one)));
    for (const char* name : {"exposed_ms", "step_ms"})
        if (const auto found = figures.find(name); found != figures.end())
            found->second *= static_cast<double>(alike);
    return figures;
}

const run_figures& validation::run_of(const std::string& name)
{
    const auto found = done_.find(name);
    return found != done_.end() ? found->second : done_.emplace(name, run(config_of(name))).first->second;
}

void validation::run_all(const std::vector<std::pair<std::string, tpu_v3_config>>& named)
{
    std::mutex guard;
    std::vector<std::function<void()>> jobs;
    for (const auto& [name, config] : named)
        if (done_.count(name) == 0)
            jobs.push_back([this, &guard, &name = name, &config = config] {
                run_figures figures = run(config);
                const std::lock_guard<std::mutex> lock(guard);
                done_.emplace(name, std::move(figures));
            });
    run_at_once(jobs);
}

void validation::run_ahead()
{
    std::vector<std::pair<std::string, tpu_v3_config>> named;
    const auto need = [&](const char* name) { named.emplace_back(name, config_of(name)); };
    for (const table_2_row& t : {k_table_2[3], k_table_2[2], k_table_2[1], k_table_2[0]}) { // the longest first
        need(t.broken);
        need(t.full);
    }
    need(k_mesh_128x32);
    need(k_resnet50_256);
    run_all(named);
}

void validation::show_variants()
{
    run_all(variants_);
    for (const auto& [what, config] : variants_) {
        const run_figures& figures = done_.at(what);
        const auto share = figure(figures, "share_percent");
        report.sensitivities.push_back(
            {what, share ? fmt::format("{:.2f} %, {:.3f} ms exposed", *share, figures.at("exposed_ms"))
                         : "did not complete"});
    }
    variants_.clear();
}

} // namespace weft
