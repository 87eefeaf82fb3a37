// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A switch packet of these measurements is a packet that a worker sends and the switch aggregates: one pass or four, and for
// the one that completes its slot another seven and the copies to all workers.
#include "hw/tofino/tofino_switch.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/config/config_reader.h"
#include "platforms/switchml/switchml.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_time.h"

namespace weft::cli {

namespace {

constexpr std::uint32_t k_cores = 8; // of a worker: Sapio et al., NSDI 2021, section 6

switchml_config rack_of(std::uint32_t workers, std::uint64_t gigabits_per_s)
{
    switchml_config config;
    config.run.name = "bench";
    config.workers = workers;
    config.worker.cores = k_cores;
    config.worker.nic.queues = k_cores;
    config.network.rate = bandwidth(gigabits_per_s * 1'000'000'000);
    config.job.slots = gigabits_per_s < 100 ? 128 : 512; // appendix C
    return config;
}

void refuse_problems(const switchml_config& config)
{
    for (const config_problem& p : config.validate())
        if (p.level == severity::error)
            throw bug("bench", 0, p.key + " " + p.message);
}

} // namespace

figures bench_switchml(const switchml_case& what)
{
    switchml_config config = rack_of(8, what.gigabits_per_s);
    config.job.transport = what.rdma ? abi::switchml::transport::rdma : abi::switchml::transport::udp;
    config.tofino.aggregator = *value_of<aggregator_kind>(what.aggregator);
    config.run.data = what.checked ? data_mode::checked : data_mode::off;
    collective_spec spec;
    spec.algorithms = {abi::algorithm::switchml};
    spec.types = {*value_of<abi::element_type>(what.type)};
    spec.sizes = {data_size(parse_quantity(quantity_kind::data_size, what.size).value)};
    config.run.workload = {spec};
    refuse_problems(config);
    switchml_machine machine(config);
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    if (!outcome.failure.empty() || outcome.cases.size() != 1 ||
        (what.checked && (!outcome.cases[0].checked || outcome.cases[0].check.wrong != 0)))
        throw bug("bench", machine.time().now_ps(), "the all-reduce failed: " + outcome.failure);
    const auto packets = static_cast<double>(machine.switches().front()->packets.value());
    double switches = 0;
    for (const chip* c : machine.chips())
        for (const core_base* core : c->cores())
            switches += static_cast<double>(core->thread_switches.value());
    return {{"packets_per_s", packets / outcome.cpu_seconds},
            {"time_us", static_cast<double>(outcome.cases[0].time_ps) * 1e-6},
            {"events_per_packet", static_cast<double>(machine.time().events()) / packets},
            {"thread_switches_per_packet", switches / packets}};
}

figures bench_switchml_elaboration(std::uint32_t workers, const std::vector<std::uint32_t>& tree)
{
    switchml_config config = rack_of(workers, 10);
    config.tree = tree;
    const double before_bytes = resident_bytes();
    const double start = cpu_seconds();
    switchml_machine machine(config);
    const double built = cpu_seconds() - start;
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US)); // every core has booted and waits for a command
    return {{"s", built}, {"resident_MiB", (resident_bytes() - before_bytes) / (1 << 20)}};
}

} // namespace weft::cli
