// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// UB-Mesh: packet-hops of a rack, elaboration and memory of a SuperPod, the error of bursts.
#include "platforms/cli/bench_cases.h"
#include "platforms/config/config_reader.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_time.h"

namespace weft::cli {

namespace {

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
    collective_spec spec;
    spec.op = what.all_to_all ? abi::collective_op::all_to_all : abi::collective_op::all_reduce;
    spec.algorithms = {*value_of<abi::algorithm>(what.algorithm)};
    spec.sizes = {data_size(parse_quantity(quantity_kind::data_size, what.size).value)};
    spec.chunk = data_size(what.chunk_bytes);
    config.run.workload = {spec};
    for (const config_problem& p : config.validate())
        if (p.level == severity::error)
            throw bug("bench", 0, p.key + " " + p.message);
    return config;
}

std::shared_ptr<const ub_routes> routes_of(const ub_mesh_config& config)
{
    auto routes = std::make_shared<const ub_routes>(config);
    if (!routes->problem.empty())
        throw bug("bench", 0, routes->problem);
    return routes;
}

} // namespace

figures bench_ub_mesh(const ub_case& what)
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

figures bench_ub_elaboration(const ub_case& what)
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

} // namespace weft::cli
