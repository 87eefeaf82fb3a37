// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/switchml/validation_runs.h"
#include "hw/abi/switchml.h"
#include "hw/tofino/aggregation_model.h"
#include "hw/tofino/tofino_switch.h"
#include "platforms/config/config_dump.h"
#include "platforms/config/config_reader.h"
#include "platforms/workload/case_times.h"
#include "platforms/workload/collective_runner.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>

namespace weft {

namespace {

/// Bytes of registers that hold something: 32 pairs of words for each entry of a pipe.
double touched_register_bytes(tofino_switch& sw)
{
    std::uint64_t bytes = 0;
    for (std::uint32_t pipe = 0; pipe < k_tofino_pipes; ++pipe) {
        const auto* unit = dynamic_cast<const aggregation_model*>(&sw.unit(pipe));
        if (unit == nullptr)
            return 0;
        const auto used = [](const auto& words) {
            return std::any_of(words.begin(), words.end(), [](std::uint32_t w) { return w != 0; });
        };
        for (std::uint32_t slot = 0; slot < unit->register_depth() / 2; ++slot)
            for (const auto& v : unit->slot_state(static_cast<std::uint16_t>(slot)).versions)
                if (used(v.first) || used(v.second))
                    bytes += sizeof v.first + sizeof v.second;
    }
    return static_cast<double>(bytes);
}

void add_counters(run_figures& figures, switchml_machine& machine)
{
    double nic_frames = 0, nic_bytes = 0, nic_wire = 0, received = 0, received_bytes = 0, dma_sent = 0,
           dma_received = 0;
    for (chip* c : machine.chips()) {
        dma_sent += static_cast<double>(c->dma.bytes_sent.value());
        dma_received += static_cast<double>(c->dma.bytes_received.value());
        if (c->guest<ethernet_nic>() == nullptr)
            continue; // a server
        const ethernet_nic& nic = *c->guest<ethernet_nic>();
        nic_frames += static_cast<double>(nic.transmitter().frames.value());
        nic_bytes += static_cast<double>(nic.transmitter().bytes.value());
        nic_wire += static_cast<double>(nic.transmitter().wire_bytes.value());
        received += static_cast<double>(nic.receiver().frames_received.value());
        received_bytes += static_cast<double>(nic.receiver().bytes_received.value());
    }
    figures["frames_sent"] = nic_frames;
    figures["frames_received"] = received;
    figures["wire_bytes_sent"] = nic_wire;
    // Without the headers of UDP; for RDMA these two mean nothing.
    figures["udp_payload_sent"] = nic_bytes - nic_frames * abi::switchml::k_udp_headers;
    figures["udp_payload_received"] = received_bytes - received * abi::switchml::k_udp_headers;
    figures["dma_bytes_sent"] = dma_sent;
    figures["dma_bytes_received"] = dma_received;
    tofino_switch& sw = *machine.switches().front();
    figures["passes"] = static_cast<double>(sw.passes.value());
    figures["retransmissions"] = static_cast<double>(sw.retransmissions.value());
}

run_figures simulate(const switchml_config& config)
{
    switchml_machine machine(config);
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    run_figures figures = case_times(config.run.name, outcome);
    if (!outcome.failure.empty())
        return figures;
    std::uint64_t wrong = 0;
    for (const auto& c : outcome.cases)
        wrong += c.check.wrong;
    figures["wrong"] = static_cast<double>(wrong);
    if (!outcome.training_steps.empty()) {
        const training_step_result& s = outcome.training_steps.back();
        figures["step_ms"] = static_cast<double>(s.time_ps) * 1e-9;
        figures["communication_ms"] = static_cast<double>(s.communication_ps) * 1e-9;
        figures["exposed_ms"] = static_cast<double>(s.exposed_ps()) * 1e-9;
    }
    figures["cpu_s"] = outcome.cpu_seconds;
    add_counters(figures, machine);
    if (config.run.data == data_mode::checked)
        figures["register_bytes"] = touched_register_bytes(*machine.switches().front());
    return figures;
}

} // namespace

std::vector<std::string> in_order(std::vector<named_value> values)
{
    std::vector<std::pair<double, std::string>> known;
    for (const named_value& v : values) {
        if (!v.value)
            return {};
        known.emplace_back(*v.value, v.name);
    }
    return largest_first(std::move(known));
}

void check_sound(const switchml_config& config)
{
    for (const config_problem& p : config.validate())
        if (p.level == severity::error)
            throw bug("validate", 0, fmt::format("{}: {} {}", config.run.name, p.key, p.message));
}

switchml_config switchml_checks::config_of(const std::string& name) const
{
    return read_config_or_throw<switchml_config>(
        yaml_document::load_layered(fmt::format("{}/{}.yaml", how_.config_dir, name)), {"platform"});
}

switchml_config switchml_checks::one_sum(const char* name, std::uint64_t bytes, abi::algorithm algorithm) const
{
    switchml_config config = config_of(name);
    config.run.training_step.reset();
    config.run.data = data_mode::off;
    collective_spec spec;
    spec.algorithms = {algorithm};
    spec.sizes = {data_size(bytes)};
    config.run.workload = {spec};
    return config;
}

validation_row switchml_checks::row_of(row_kind kind, const char* target, std::string what,
                                       std::optional<double> published, std::optional<double> simulated,
                                       const char* unit, std::string source, weft::tolerance how_far)
{
    validation_row row(std::move(kind), target, std::move(what), unit, std::move(source));
    row.published = published;
    row.simulated = simulated;
    row.tolerance = how_far;
    return row;
}

void switchml_checks::add(validation_row row)
{
    // Shown where a row of the target misses.
    static const std::map<std::string, const char*> k_reasons = {
        {"M5", "the model has no delays of a host besides its cores, its NIC and worker.transmit_hold"},
        {"M14",
         "a core of the paper costs more for a packet: ours is charged no copy, and its scalar steps by counts of RV64 (assumed)"},
        {"M15",
         "as M14: cores that keep up with the line leave UDP its smaller frames, a percent less than those of RDMA"},
    };
    if (const auto known = k_reasons.find(row.target); known != k_reasons.end() && row.why_miss.empty())
        row.why_miss = known->second;
    report.add(std::move(row), how_);
}

run_figures switchml_checks::run(const switchml_config& config)
{
    check_sound(config);
    return how_.isolated([&config] { return simulate(config); }, to_yaml(describe(config)));
}

} // namespace weft
