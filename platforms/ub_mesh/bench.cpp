// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// UB-Mesh: packet-hops of a rack, elaboration and memory of a SuperPod, the error of trains.
#include "platforms/ub_mesh/bench.h"

#include "platforms/config/config_reader.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_use.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint32_t k_auto = 0; ///< `burst: auto`
constexpr std::uint64_t k_superpod_chunk = 8 << 20; ///< of configs/ub_mesh/superpod.yaml

/// One collective of a UB-Mesh machine, data off.
struct ub_case {
    std::uint32_t pods = 1;
    std::uint32_t racks = 1; ///< rows and columns of a pod
    bool board = false; ///< one, without its backplane
    bool all_to_all = false;
    const char* algorithm = "hierarchical";
    const char* size = "1 MiB";
    std::uint32_t burst = 1; ///< 0: auto
    bool deep = false;       ///< the buffers of configs/ub_mesh/superpod.yaml
    std::uint32_t payload_bytes = 1024;
    std::uint64_t chunk_bytes = 128 << 10;
    bool shortest = false; ///< paths; else all
    bool rtp = false;      ///< transport; else ctp
    /// A link of the first board fails at this time.
    std::uint64_t link_fails_at_ps = 0; ///< 0: none does
};

ub_mesh_config config_of(const ub_case& what)
{
    ub_mesh_config config;
    config.run.name = "bench";
    config.run.data = data_mode::off;
    config.run.burst = packet_count(what.burst);
    config.ub.max_payload = data_size(what.payload_bytes);
    if (what.deep)
        config.deepen_buffers();
    if (what.shortest)
        config.ub.paths = ub_path_use::shortest;
    if (what.rtp)
        config.ub.transport = ub_transport::rtp;
    if (what.link_fails_at_ps != 0) {
        ub_link_fault_config fault;
        fault.from = "npu(p0,r0,b0,0)";
        fault.to = "npu(p0,r0,b0,1)";
        fault.at = duration(what.link_fails_at_ps);
        config.faults.links = {fault};
    }
    config.mesh.pods = what.pods;
    config.mesh.rack_rows = config.mesh.rack_cols = what.racks;
    config.mesh.hrs = what.racks > 1;
    if (what.board) {
        config.mesh.boards = 1;
        config.mesh.backplane = false;
    }
    collective_spec spec;
    spec.op = what.all_to_all ? abi::collective_op::all_to_all : abi::collective_op::all_reduce;
    spec.algorithms = {*value_of<abi::algorithm>(what.algorithm)};
    spec.sizes = {data_size(parse_quantity(quantity_kind::data_size, what.size).value)};
    spec.chunk = data_size(what.chunk_bytes);
    config.run.workload = {spec};
    require_sound(config.validate());
    return config;
}

std::shared_ptr<const ub_routes> routes_of(const ub_mesh_config& config)
{
    auto routes = std::make_shared<const ub_routes>(config);
    if (!routes->problem().empty())
        throw bug("bench", 0, routes->problem());
    return routes;
}

/// "hops_per_s", "events_per_hop", "hops", "time_us", "cpu_s", "resident_MiB".
run_figures measure(const ub_case& what)
{
    const ub_mesh_config config = config_of(what);
    ub_machine machine(config, routes_of(config));
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    if (!outcome.failure.empty() || outcome.cases.size() != 1)
        throw bug("bench", machine.time().now_ps(), "the collective failed: " + outcome.failure);
    const auto hops = static_cast<double>(machine.ub().engine().packet_hops());
    return {{"hops", hops},
            {"hops_per_s", hops / outcome.cpu_seconds},
            {"cpu_s", outcome.cpu_seconds},
            {"time_us", static_cast<double>(outcome.cases[0].time_ps) * 1e-6},
            {"events_per_hop", static_cast<double>(machine.time().events()) / hops},
            {"resident_MiB", resident_bytes() / (1 << 20)}};
}

/// "proof_s" (topology, lane rule, proof, census), "s" (with all hardware), "resident_MiB", "bytes_per_npu",
/// "fabric_bytes_per_npu".
run_figures measure_elaboration(const ub_case& what)
{
    const ub_mesh_config config = config_of(what);
    const double before_bytes = resident_bytes();
    const double start = cpu_seconds();
    const auto routes = routes_of(config);
    (void)routes->report(); // counts the paths
    const double proved = cpu_seconds() - start;
    ub_machine machine(config, routes);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US)); // every core has reached its first wait
    const double built = cpu_seconds() - start;
    const double bytes = resident_bytes() - before_bytes;
    return {{"proof_s", proved},
            {"s", built},
            {"resident_MiB", bytes / (1 << 20)},
            {"bytes_per_npu", bytes / config.mesh.ranks()},
            {"fabric_bytes_per_npu", static_cast<double>(machine.ub().state_bytes()) / config.mesh.ranks()}};
}

/// A ratio of two runs that follow each other, so that it holds on any host.
void measure_ub_fault(bench_page& out, const bench_settings& how)
{
    constexpr double k_most = 1.5;
    out.title("UB-Mesh: CPU time of a run with a fault over that of the same run without, one rack, rtp, data off");
    ub_case healthy;
    healthy.all_to_all = true;
    healthy.algorithm = "direct";
    healthy.size = "4 MiB";
    healthy.rtp = true;
    ub_case faulty = healthy;
    faulty.link_fails_at_ps = 20'000'000;
    std::vector<double> ratios;
    for (unsigned i = 0; i < how.repeats; ++i) {
        const double without = how.isolated([&] { return measure(healthy); }).at("cpu_s");
        ratios.push_back(how.isolated([&] { return measure(faulty); }).at("cpu_s") / without);
    }
    std::sort(ratios.begin(), ratios.end());
    const double ratio = ratios[ratios.size() / 2];
    out.line("all-to-all of 4 MiB, a link fails at 20 us", fmt::format("{:.2f}", ratio), "<= 1.5", ratio <= k_most);
}

void measure_hops(bench_page& out, const bench_settings& how)
{
    constexpr double k_rack_target = 3e6;
    constexpr double k_seconds = 60;
    constexpr double k_MiB = 12 * 1024;
    out.title(
        "UB-Mesh: packet-hops per CPU second, one rack, all-to-all of 1 MiB per pair, one packet per transaction, data off");
    ub_case c;
    c.all_to_all = true;
    c.algorithm = "direct";
    c.size = "64 MiB";
    for (const std::uint32_t payload : {1024u, 512u, 4096u}) {
        c.payload_bytes = payload;
        const auto r = how.median_of([&] { return measure(c); });
        const bool counts = payload == 1024;
        out.line(fmt::format("packets of {} B", payload), millions(r.at("hops_per_s")), counts ? ">= 3 M/s" : "",
                 r.at("hops_per_s") >= k_rack_target);
        if (counts)
            out.line("timeline events per packet-hop, cores and DMA included",
                     fmt::format("{:.2f}", r.at("events_per_hop")));
    }
    ub_case units;
    units.board = units.shortest = true;
    units.algorithm = "ccu";
    units.size = "64 MiB";
    const auto by_units = how.median_of([&] { return measure(units); });
    out.line("board, all_reduce of 64 MiB by CCUs", millions(by_units.at("hops_per_s")), ">= 1 M/s", by_units.at("hops_per_s") >= 1e6);
    measure_ub_fault(out, how);
    out.title("UB-Mesh: a SuperPod of 8,192 NPUs");
    ub_case superpod;
    superpod.pods = 8;
    superpod.racks = 4;
    superpod.burst = k_auto;
    superpod.deep = true;
    const auto e = how.isolated([&] { return measure_elaboration(superpod); });
    out.line("topology, proof of the lane rule, check of tables, census of paths",
             fmt::format("{:.1f} s CPU", e.at("proof_s")), "<= 60 s", e.at("proof_s") <= k_seconds);
    out.line("the same and all hardware, until every core waits", fmt::format("{:.1f} s CPU", e.at("s")), "<= 60 s",
             e.at("s") <= k_seconds);
    out.line("resident memory", fmt::format("{:.0f} MiB", e.at("resident_MiB")), "<= 12 GiB",
             e.at("resident_MiB") <= k_MiB);
    out.line("resident memory per NPU, of which fabric",
             fmt::format("{:.1f} KiB, {:.1f} KiB", e.at("bytes_per_npu") / 1024, e.at("fabric_bytes_per_npu") / 1024));
}

void measure_ub_trains(bench_page& out, const bench_settings& how)
{
    constexpr double k_error_target = 2.0;
    const auto time_of = [&](const ub_case& c) { return how.isolated([=] { return measure(c); }).at("time_us"); };
    const auto line = [&](ub_case c) {
        c.burst = 1;
        const double one = time_of(c);
        c.burst = k_auto;
        const double error = 100 * (time_of(c) / one - 1);
        out.line(fmt::format("{}{} {}, all paths, chunks of {} KiB", c.all_to_all ? "all-to-all, " : "", c.algorithm, c.size,
                             c.chunk_bytes >> 10),
                 fmt::format("{:+.2f} %", error), "<= 2 %", std::abs(error) <= k_error_target);
    };
    out.title("UB-Mesh: error of the simulated time with `burst: auto` against single packets, one rack, data off");
    ub_case c;
    c.deep = true;
    c.chunk_bytes = k_superpod_chunk;
    const std::vector<const char*> sizes =
        how.full ? std::vector<const char*>{"16 MiB", "64 MiB"} : std::vector<const char*>{"16 MiB"};
    for (const char* size : sizes) {
        c.size = size;
        c.all_to_all = false;
        for (const char* algorithm : {"hierarchical", "direct", "ring_1d"}) {
            c.algorithm = algorithm;
            line(c);
        }
        c.all_to_all = true;
        c.algorithm = "direct";
        line(c);
    }
    c.all_to_all = false;
    c.algorithm = "hierarchical";
    c.size = "256 MiB";
    line(c);
}

void measure_superpod(bench_page& out, const bench_settings& how)
{
    constexpr double k_seconds = 600;
    constexpr double k_MiB = 12 * 1024;
    out.title("UB-Mesh: 8,192 NPUs all-reduce 256 MiB each, hierarchical, all paths, data off");
    ub_case c;
    c.pods = 8;
    c.racks = 4;
    c.size = "256 MiB";
    c.burst = k_auto;
    c.deep = true;
    c.chunk_bytes = k_superpod_chunk;
    const auto r = how.isolated([=] { return measure(c); });
    out.line("simulated time", fmt::format("{:.3f} ms", r.at("time_us") / 1000));
    out.line("CPU time", fmt::format("{:.0f} s", r.at("cpu_s")), "<= 10 min", r.at("cpu_s") <= k_seconds);
    out.line("resident memory", fmt::format("{:.0f} MiB", r.at("resident_MiB")), "<= 12 GiB",
             r.at("resident_MiB") <= k_MiB);
}

} // namespace

void bench_ub_mesh(bench_page& out, const bench_settings& how)
{
    measure_hops(out, how);
    if (!how.quick)
        measure_ub_trains(out, how);
    if (how.full)
        measure_superpod(out, how);
}

} // namespace weft
