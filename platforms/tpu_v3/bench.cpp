// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/tpu_v3/bench.h"

#include "hw/core/iss.h"
#include "platforms/config/config_reader.h"
#include "platforms/tpu_v3/tpu_v3.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_use.h"
#include "platforms/workload/traffic.h"

#include <fmt/format.h>
#include <vector>

namespace weft {

namespace {

constexpr std::uint32_t k_auto = 0; ///< `burst: auto`
constexpr bench_buffers k_deep_buffers = {512, 512, 512, 1024};
constexpr bench_buffers k_pod_buffers = {64, 256, 128, 512};

tpu_v3_config pod_config(unsigned side)
{
    tpu_v3_config config;
    config.mesh.rows = side;
    config.mesh.cols = side;
    config.run.name = "bench";
    return config;
}

/// Elaboration of n x n chips: "s_per_1000_chips", "bytes_per_chip", "bytes_per_link".
run_figures bench_elaboration(unsigned side)
{
    const double before_bytes = resident_bytes();
    const double start = cpu_seconds();
    tpu_v3 pod(pod_config(side));
    const double built = cpu_seconds() - start;
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US)); // every core has reached its first wait
    const double chips = side * side;
    const fabric_engine& engine = pod.ici().engine();
    return {{"s_per_1000_chips", built / chips * 1000},
            {"bytes_per_chip", (resident_bytes() - before_bytes) / chips},
            {"bytes_per_link", static_cast<double>(engine.state_bytes()) / engine.link_count()}};
}

} // namespace

run_figures bench_uniform(unsigned side, bool carry_data, double load, unsigned packets_each)
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
        endpoints.to_fabric(i).bind(fabric.port(i).in);
        fabric.port(i).out.bind(endpoints.from_fabric(i));
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

run_figures bench_all_reduce(const std::string& algorithm, unsigned side, bool checked, const std::string& size,
                         unsigned packet_bytes, unsigned burst, bool rv64, const bench_buffers* deep)
{
    tpu_v3_config config = pod_config(side);
    config.chip.core.model = rv64 ? core_model::rv64 : core_model::native;
    config.ici.max_payload = data_size(packet_bytes);
    config.ici.buffer_per_vl = data_size((deep != nullptr ? deep->per_vl_KiB : 40) << 10);
    if (deep != nullptr) {
        config.ici.local_buffer = data_size(deep->local_KiB << 10);
        config.chip.dma.receive_buffer = data_size(deep->receive_KiB << 10);
        config.chip.dma.read_ahead = deep->read_ahead;
    }
    config.run.burst = packet_count(burst);
    config.run.data = checked ? data_mode::checked : data_mode::off;
    collective_spec spec;
    spec.algorithms = {*value_of<abi::algorithm>(algorithm)};
    spec.types = {abi::element_type::float32};
    spec.sizes = {data_size(parse_quantity(quantity_kind::data_size, size).value)};
    spec.chunk = data_size(256 << 10);
    config.run.workload = {spec};
    require_sound(config.validate());
    tpu_v3 pod(config);
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
            {"train", static_cast<double>(pod.train_of(outcome.cases[0].what))},
            {"activations_per_hop", static_cast<double>(pod.time().activations()) / hops},
            {"resident_MiB", resident_bytes() / (1 << 20)}};
}

namespace {

void measure_hops(bench_page& out, const bench_settings& how)
{
    constexpr double k_uniform_target = 5e6;
    constexpr double k_ring_target = 0.6e6;
    constexpr double k_train_target = 100e6;
    constexpr double k_train_length_target = 64; // k_deep_buffers hold 128; shorter trains measure something else
    out.title("Packet-hops per CPU second, one packet per transaction");
    // Loads are shares of the local port; 0.13 keeps the mesh links of 8x8 at 40 %, 0.0185 those of 64x64.
    const auto small = how.median_of([] { return bench_uniform(8, false, 0.13, 10'000); });
    const auto with_data = how.median_of([] { return bench_uniform(8, true, 0.13, 10'000); });
    const auto full = how.median_of([] { return bench_uniform(8, false, 1.0, 10'000); });
    const auto large = how.median_of([] { return bench_uniform(64, false, 0.0185, 200); });
    out.line("uniform random, 8x8, 256 B, links at 40 %, data off", millions(small.at("hops_per_s")), ">= 5 M/s",
             small.at("hops_per_s") >= k_uniform_target);
    out.line("the same, saturated", millions(full.at("hops_per_s")), ">= 5 M/s",
             full.at("hops_per_s") >= k_uniform_target);
    out.line("the same at 40 %, data carried and checked", millions(with_data.at("hops_per_s")));
    out.line("timeline events per packet-hop (40 %, saturated)",
             fmt::format("{:.2f}, {:.2f}", small.at("events_per_hop"), full.at("events_per_hop")));
    out.line("kernel activations per packet-hop", fmt::format("{:.4f}", small.at("activations_per_hop")));
    out.line("uniform random, 64x64, links at 40 %, data off", millions(large.at("hops_per_s")));
    const double ratio = small.at("hops_per_s") / large.at("hops_per_s");
    out.line("cost per packet-hop at 4,096 routers / at 64", fmt::format("{:.2f}", ratio), "<= 2", ratio <= 2);
    const auto ring_off = how.median_of([] { return bench_all_reduce("ring_1d", 8, false, "16 MiB", 4096, 1); });
    const auto ring = how.median_of([] { return bench_all_reduce("ring_1d", 8, true, "16 MiB", 4096, 1); });
    const auto ring_256 = how.median_of([] { return bench_all_reduce("ring_1d", 8, true, "16 MiB", 256, 1); });
    out.line("ring all-reduce, 64 chips, 16 MiB, 4 KiB packets, data off", millions(ring_off.at("hops_per_s")));
    out.line("the same, data checked", millions(ring.at("hops_per_s")), ">= 0.6 M/s",
             ring.at("hops_per_s") >= k_ring_target);
    out.line("the same, data checked, 256 B packets", millions(ring_256.at("hops_per_s")));
    const auto trains = how.median_of([] { return bench_all_reduce("ring_1d", 8, false, "1 GiB", 256, k_auto, false, &k_deep_buffers); });
    out.line("the same, 1 GiB, 256 B packets in trains, buffers of 512 KiB, data off", millions(trains.at("hops_per_s")),
             ">= 100 M/s", trains.at("hops_per_s") >= k_train_target);
    out.line("packets of such a train", fmt::format("{:.0f}", trains.at("train")), ">= 64",
             trains.at("train") >= k_train_length_target);
    out.line("timeline events per packet-hop (off, checked)",
             fmt::format("{:.2f}, {:.2f}", ring_off.at("events_per_hop"), ring.at("events_per_hop")));
    out.line("kernel activations per packet-hop", fmt::format("{:.3f}", ring_off.at("activations_per_hop")));
}

void measure_size(bench_page& out, const bench_settings& how)
{
    out.title("Size and elaboration");
    const auto e = how.median_of([] { return bench_elaboration(32); });
    out.line("resident memory per idle chip (core thread, DMA, HBM, router)",
             fmt::format("{:.1f} KiB", e.at("bytes_per_chip") / 1024));
    out.line("state per directed link (2 VLs, share of router and queues)",
             fmt::format("{:.0f} B", e.at("bytes_per_link")));
    out.line("elaboration per 1,000 chips", fmt::format("{:.3f} s CPU", e.at("s_per_1000_chips")));
}

void measure_rv64(bench_page& out, const bench_settings& how)
{
    if (*iss_engine_name() == '\0')
        return;
    constexpr double k_seconds = 60;
    constexpr double k_MiB = 1024;
    out.title("RV64 cores: 64 chips all-reduce 16 MiB by ring_1d, data off");
    const auto native = how.median_of([] { return bench_all_reduce("ring_1d", 8, false, "16 MiB", 256, 1); });
    const auto rv64 = how.median_of([] { return bench_all_reduce("ring_1d", 8, false, "16 MiB", 256, 1, true); });
    out.line("CPU time", fmt::format("{:.1f} s", rv64.at("cpu_s")), "<= 60 s", rv64.at("cpu_s") <= k_seconds);
    out.line("the same on native cores", fmt::format("{:.1f} s", native.at("cpu_s")));
    out.line("resident memory", fmt::format("{:.0f} MiB", rv64.at("resident_MiB")), "<= 1 GiB",
             rv64.at("resident_MiB") <= k_MiB);
    out.line("instructions executed", fmt::format("{:.1f} M", rv64.at("instructions") / 1e6));
    out.line("instructions per second of one host core in this run, fabric included",
             millions(rv64.at("instructions") / rv64.at("cpu_s")));
}

void measure_trains(bench_page& out, const bench_settings& how)
{
    constexpr double k_error_target = 2.0;
    out.title("Trains: error of the simulated time with `burst: auto` against single packets, 8x8, float32, data off");
    const std::vector<const char*> sizes = how.full ? std::vector<const char*>{"6.4 MB", "25.6 MB", "102.4 MB"}
                                                : std::vector<const char*>{"6.4 MB", "25.6 MB"};
    for (const char* algorithm : {"two_d", "row_pair", "ring_1d"})
        for (const char* size : sizes) {
            const auto time_of = [=](unsigned burst) {
                return how.isolated([=] { return bench_all_reduce(algorithm, 8, false, size, 256, burst); }).at("time_us");
            };
            const double error = 100 * (time_of(k_auto) / time_of(1) - 1);
            out.line(fmt::format("{} {}", algorithm, size), fmt::format("{:+.2f} %", error), "<= 2 %",
                     std::abs(error) <= k_error_target);
        }
}

void measure_pod(bench_page& out, const bench_settings& how)
{
    constexpr double k_seconds = 60;
    constexpr double k_MiB = 2048;
    out.title("A 32x32 mesh all-reduces 102.4 MB, data off, `burst: auto`, buffers of 64 KiB, at local ports 256 KiB");
    for (const char* algorithm : {"two_d", "row_pair"}) {
        const auto r = how.isolated([=] { return bench_all_reduce(algorithm, 32, false, "102.4 MB", 256, k_auto, false, &k_pod_buffers); });
        out.line(fmt::format("{}: simulated time", algorithm), fmt::format("{:.3f} ms", r.at("time_us") / 1000));
        out.line(fmt::format("{}: CPU time", algorithm), fmt::format("{:.1f} s", r.at("cpu_s")), "<= 60 s",
                 r.at("cpu_s") <= k_seconds);
        out.line(fmt::format("{}: resident memory", algorithm), fmt::format("{:.0f} MiB", r.at("resident_MiB")),
                 "<= 2 GiB", r.at("resident_MiB") <= k_MiB);
    }
}

} // namespace

void bench_tpu_v3(bench_page& out, const bench_settings& how)
{
    measure_hops(out, how);
    measure_size(out, how);
    measure_rv64(out, how);
    if (how.quick)
        return;
    measure_trains(out, how);
    measure_pod(out, how);
}

} // namespace weft
