// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A switch packet of these measurements is a packet that a worker sends and the switch aggregates: one pass or four,
// and for the one that completes its slot another seven and the copies to all workers.
#include "platforms/switchml/bench.h"

#include "hw/tofino/tofino_switch.h"
#include "platforms/config/config_reader.h"
#include "platforms/switchml/aggregators.h"
#include "platforms/switchml/switchml.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_use.h"

#include <fmt/format.h>

namespace weft {

namespace {

/// Eight workers of eight cores below one switch, one all-reduce, packets of 256 elements.
struct switchml_case {
    bool rdma = true;
    std::uint32_t gigabits_per_s = 100;
    const char* aggregator = "model";
    bool checked = true;
    const char* type = "int32";
    const char* size = "16 MiB";
};

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

/// "packets_per_s" (switch packets per CPU second), "time_us", "events_per_packet", "thread_switches_per_packet".
run_figures measure(const switchml_case& what)
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
    require_sound(config.validate());
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

/// Elaboration, and memory once every core waits for a command: "s" of CPU, "resident_MiB". An empty tree is one
/// switch.
run_figures measure_elaboration(std::uint32_t workers, const std::vector<std::uint32_t>& tree)
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

} // namespace

void bench_switchml(bench_page& out, const bench_settings& how)
{
    constexpr double k_model_target = 200e3;
    constexpr double k_rtl_target = 10e3;
    out.title("SwitchML: switch packets per CPU second, 8 workers of 8 cores, packets of 256 elements");
    const auto line = [&](const std::string& text, const switchml_case& what, double target = 0) {
        const auto r = how.median_of([&] { return measure(what); });
        const double rate = r.at("packets_per_s");
        out.line(text, fmt::format("{:.0f} k/s", rate / 1e3),
                 target == 0 ? "" : fmt::format(">= {:.0f} k/s", target / 1e3), rate >= target);
        return r;
    };
    out.line("a switch packet: sent by a worker, aggregated by the switch", "");
    switchml_case c;
    const auto rdma = line("RDMA, 100 Gb/s, int32, 16 MiB, data checked", c, k_model_target);
    c.checked = false;
    line("the same, data off", c);
    c.checked = true;
    c.type = "float32";
    line("the same, data checked, float32", c, k_model_target);
    c.type = "int32";
    c.rdma = false;
    const auto udp_fast = line("UDP, 100 Gb/s, int32, 16 MiB, data checked", c, k_model_target);
    c.gigabits_per_s = 10;
    const auto udp = line("UDP, 10 Gb/s, int32, 16 MiB, data checked", c, k_model_target);
    c.checked = false;
    line("the same, data off", c);
    for (const char* aggregator : {"rtl", "lockstep"}) {
        if (!aggregator_refusal(aggregator_kind::rtl, {}).empty())
            break;
        c = {};
        c.aggregator = aggregator;
        c.size = "2 MiB";
        line(fmt::format("RDMA, 100 Gb/s, int32, 2 MiB, data checked, aggregator: {}", aggregator), c, k_rtl_target);
    }
    out.line("timeline events per packet (RDMA; UDP at 100 and 10 Gb/s)",
             fmt::format("{:.1f}; {:.1f}, {:.1f}", rdma.at("events_per_packet"), udp_fast.at("events_per_packet"),
                         udp.at("events_per_packet")));
    out.line("switches of a core's thread per packet (the same)",
             fmt::format("{:.1f}; {:.1f}, {:.1f}", rdma.at("thread_switches_per_packet"),
                         udp_fast.at("thread_switches_per_packet"), udp.at("thread_switches_per_packet")));
    const auto elaboration = [&](const std::string& text, std::uint32_t workers, std::vector<std::uint32_t> tree) {
        const auto r = how.median_of([&] { return measure_elaboration(workers, tree); });
        out.line(text, fmt::format("{:.2f} s, {:.0f} MiB", r.at("s"), r.at("resident_MiB")));
    };
    elaboration("elaboration and memory, 8 workers below one switch", 8, {});
    elaboration("32 workers below one switch", 32, {});
    elaboration("256 workers below a tree [16, 16] of 17 switches", 256, {16, 16});
}

} // namespace weft
