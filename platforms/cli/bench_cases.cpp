// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/bench_cases.h"

#include "hw/core/iss.h"
#include "platforms/config/config_reader.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/tpu_pod/tpu_pod.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_time.h"
#include "platforms/workload/traffic.h"

#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace weft::cli {

namespace {

class ticking final : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(ticking);
    ticking(const sc_core::sc_module_name& name, unsigned period_ps)
        : sc_core::sc_module(name), period_(sc_time_from_ps(period_ps))
    {
        SC_METHOD(tick);
    }
    std::uint64_t count = 0;

private:
    void tick()
    {
        ++count;
        next_trigger(period_);
    }
    sc_core::sc_time period_;
};

tpu_pod_config pod_config(unsigned side)
{
    tpu_pod_config config;
    config.mesh.rows = side;
    config.mesh.cols = side;
    config.run.name = "bench";
    return config;
}

} // namespace

double resident_bytes()
{
    std::ifstream statm("/proc/self/statm");
    double total = 0;
    double resident = 0;
    statm >> total >> resident;
    return resident * 4096;
}

figures in_child(const std::function<figures()>& measure)
{
    const isolated_result r = run_isolated(
        [&] {
            std::string text;
            for (const auto& [name, value] : measure())
                text += fmt::format("{} {:.17g}\n", name, value);
            return text;
        },
        0);
    if (!r.failure.empty())
        throw bug("bench", 0, "a measurement " + r.failure);
    figures result;
    std::istringstream lines(r.text);
    std::string name;
    for (double value = 0; lines >> name >> value;)
        result[name] = value;
    return result;
}

figures bench_kernel_events(unsigned pending)
{
    std::vector<std::unique_ptr<ticking>> all;
    for (unsigned i = 0; i < pending; ++i)
        all.push_back(std::make_unique<ticking>(fmt::format("tick{}", i).c_str(), 1'000'000 + i * 7));
    const auto run_for = [&](std::uint64_t periods) {
        sc_core::sc_start(sc_core::sc_time(static_cast<double>(periods), sc_core::SC_US));
    };
    run_for(2);
    std::uint64_t before = 0;
    for (const auto& t : all)
        before += t->count;
    const double start = cpu_seconds();
    run_for(std::max<std::uint64_t>(20, 4'000'000 / pending));
    const double spent = cpu_seconds() - start;
    std::uint64_t after = 0;
    for (const auto& t : all)
        after += t->count;
    return {{"events_per_s", static_cast<double>(after - before) / spent}};
}

figures bench_calendar_queue(unsigned pending)
{
    calendar_queue queue;
    traffic_random random(1);
    for (unsigned i = 0; i < pending; ++i)
        queue.push({random.below(100'000), make_order(event_class::arrival, i, 0), i, 0, 0});
    constexpr unsigned k_turns = 5'000'000;
    const double start = cpu_seconds();
    for (unsigned i = 0; i < k_turns; ++i) {
        timeline_event e = *queue.peek();
        queue.pop();
        e.time_ps += 1 + random.below(100'000);
        ++e.order;
        queue.push(e);
    }
    return {{"events_per_s", k_turns / (cpu_seconds() - start)}};
}

figures bench_uniform(unsigned side, bool carry_data, double load, unsigned packets_each)
{
    timeline time("timeline");
    time.set_run_ahead(true);
    packet_pool pool;
    ici_config config;
    config.local_ports = 1;
    ici_fabric fabric("ici", time, pool, mesh(ici_mesh(config, side, side)), config);
    traffic_config t;
    t.endpoints = side * side;
    t.vl_count = config.virtual_lanes;
    t.packets_each = packets_each;
    t.payload_bytes = config.max_payload.value();
    t.format = config.format();
    t.wire_rate = config.local_port_rate;
    t.load = load;
    t.check_order = false;
    t.carry_data = carry_data;
    traffic endpoints("traffic", time, pool, t);
    for (unsigned i = 0; i < t.endpoints; ++i) {
        endpoints.to_fabric(i).bind(fabric.router(i).local_port(0).in);
        fabric.router(i).local_port(0).out.bind(endpoints.from_fabric(i));
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const double start = cpu_seconds();
    sc_core::sc_start();
    const double spent = cpu_seconds() - start;
    if (endpoints.received() != endpoints.sent() || endpoints.misdelivered() != 0 || endpoints.damaged() != 0)
        throw bug("bench", time.now_ps(), "uniform traffic lost, misdelivered or damaged packets");
    const auto hops = static_cast<double>(fabric.engine().packet_hops());
    return {{"hops", hops},
            {"hops_per_s", hops / spent},
            {"events_per_hop", static_cast<double>(time.events()) / hops},
            {"activations_per_hop", static_cast<double>(time.activations()) / hops}};
}

figures bench_all_reduce(const std::string& algorithm, unsigned side, bool checked, const std::string& size,
                         unsigned packet_bytes, unsigned burst, bool rv64, bool deep)
{
    tpu_pod_config config = pod_config(side);
    config.chip.core.model = rv64 ? core_model::rv64 : core_model::native;
    config.ici.max_payload = data_size(packet_bytes);
    config.ici.buffer_per_vl = data_size((deep ? 512 : 40) << 10);
    if (deep) {
        config.chip.dma.receive_buffer = data_size(512 << 10);
        config.chip.dma.read_ahead = 1024;
    }
    config.run.burst = packet_count(burst);
    config.run.data = checked ? data_mode::checked : data_mode::off;
    collective_spec spec;
    spec.algorithms = {*value_of<abi::algorithm>(algorithm)};
    spec.types = {abi::element_type::float32};
    spec.sizes = {data_size(parse_quantity(quantity_kind::data_size, size).value)};
    spec.chunk = data_size(256 << 10);
    config.run.workload = {spec};
    for (const config_problem& p : config.validate())
        if (p.level == severity::error)
            throw bug("bench", 0, p.key + " " + p.message);
    tpu_pod pod(config);
    collective_runner runner("host", pod, config.run, nullptr);
    const run_outcome outcome = runner.run();
    if (!outcome.failure.empty() || outcome.cases.size() != 1 || (checked && outcome.cases[0].check.wrong != 0))
        throw bug("bench", pod.time().now_ps(), "the all-reduce failed: " + outcome.failure);
    const auto hops = static_cast<double>(pod.ici().engine().packet_hops());
    double instructions = 0;
    for (const chip* c : pod.chips())
        if (const stat_row* row = c->core.stats.find("instructions"))
            instructions += static_cast<double>(row->value());
    return {{"hops", hops},
            {"hops_per_s", hops / outcome.cpu_seconds},
            {"instructions", instructions},
            {"cpu_s", outcome.cpu_seconds},
            {"time_us", static_cast<double>(outcome.cases[0].time_ps) * 1e-6},
            {"events_per_hop", static_cast<double>(pod.time().events()) / hops},
            {"activations_per_hop", static_cast<double>(pod.time().activations()) / hops},
            {"resident_MiB", resident_bytes() / (1 << 20)}};
}

figures bench_rv64_engine()
{
    struct no_devices final : iss_host {
        bool iss_read(std::uint64_t, unsigned, std::uint64_t&) override { return false; }
        bool iss_write(std::uint64_t, unsigned, std::uint64_t) override { return false; }
        std::uint64_t iss_read_counter(iss_counter) override { return 0; }
    } host;
    // auipc a1,0; 1: lwu a3,0(a1); xor a0,a0,a3; mul a0,a0,a3; addi a2,a2,1; bnez a1,1b
    constexpr std::uint32_t k_loop[] = {0x00000597, 0x0005e683, 0x00d54533, 0x02d50533, 0x00160613, 0xfe0598e3};
    constexpr std::uint64_t k_bytes = 4096;
    constexpr std::uint64_t k_instructions = 50'000'000;
    alignas(k_bytes) static std::uint8_t memory[k_bytes];
    std::memcpy(memory, k_loop, sizeof k_loop);
    const std::unique_ptr<iss> engine = make_iss(host);
    engine->map_memory(0x10'0000, k_bytes, memory);
    engine->program_loaded();
    engine->set_pc(0x10'0000);
    const double start = cpu_seconds();
    while (engine->retired() < k_instructions)
        if (engine->run(940) != iss_stop::budget)
            throw bug("bench", 0, "the loop trapped");
    return {{"instructions_per_s", static_cast<double>(k_instructions) / (cpu_seconds() - start)}};
}

figures bench_elaboration(unsigned side)
{
    const double before_bytes = resident_bytes();
    const double start = cpu_seconds();
    tpu_pod pod(pod_config(side));
    const double built = cpu_seconds() - start;
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US)); // every core has reached its first wait
    const double chips = side * side;
    const fabric_engine& engine = pod.ici().engine();
    return {{"s_per_1000_chips", built / chips * 1000},
            {"bytes_per_chip", (resident_bytes() - before_bytes) / chips},
            {"bytes_per_link", static_cast<double>(engine.state_bytes()) / engine.link_count()}};
}

} // namespace weft::cli
