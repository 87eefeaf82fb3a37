// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The hot path with virtual output queues: 64 routers in an 8x8 two-dimensional full mesh (14 links each, 4 VLs, packets of 512 B in
// blocks), uniform traffic, X then Y.
#include "hw/fabric/fabric_socket.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/workload/host_use.h"
#include "platforms/workload/traffic.h"
#include "tlm/check.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

using namespace weft;
using namespace weft::literals;

namespace {

constexpr std::uint32_t k_side = 8, k_x = 0, k_y = k_side, k_local = 2 * k_side; // ports k_x + column, k_y + row

struct x_then_y final : routing_policy {
    route_decision route(std::uint32_t router, std::uint32_t, packet& p) const override
    {
        const std::uint32_t x = p.destination % k_side, y = p.destination / k_side;
        const std::uint32_t port = x != router % k_side ? k_x + x : y != router / k_side ? k_y + y : k_local;
        return {static_cast<std::uint16_t>(port), static_cast<std::uint8_t>(p.vl)};
    }
};

/// Where the sockets are.
struct board final : sc_core::sc_module {
    explicit board(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}
    fabric_socket& add(fabric_engine& engine, std::uint32_t router, const fabric_link_params& wire)
    {
        simcontext()->hierarchy_push(this);
        sockets.push_back(
            std::make_unique<fabric_socket>(fmt::format("s{}", router), engine, router, k_local, wire, wire));
        simcontext()->hierarchy_pop();
        return *sockets.back();
    }
    void start_of_simulation() override
    {
        for (auto& s : sockets)
            s->advertise();
    }
    std::vector<std::unique_ptr<fabric_socket>> sockets;
};

run_figures full_mesh(bool voq, double bit_error_rate, double load, unsigned packets_each)
{
    timeline time("timeline");
    time.set_run_ahead(true);
    packet_pool pool;
    x_then_y policy;
    fabric_config config{4, 175_ns, true};
    config.voq = voq;
    fabric_engine engine(time, pool, policy, config);
    traffic_config t;
    t.endpoints = k_side * k_side;
    t.vl_count = 4;
    t.packets_each = packets_each;
    t.payload_bytes = 512;
    t.format.header_bytes = 56;
    t.format.flit_bytes = 20;
    t.format.block_flits = 32;
    t.format.cell_flits = 8;
    t.wire_rate = bandwidth(7 * 448'000'000'000ull);
    t.load = load;
    t.check_order = false;
    traffic endpoints("traffic", time, pool, t);
    board sockets("board");
    for (std::uint32_t r = 0; r < t.endpoints; ++r) {
        engine.add_router(k_local + 1, fmt::format("r{}", r));
        fabric_socket& local = sockets.add(engine, r, {t.wire_rate, 0_ns, 2048});
        endpoints.to_fabric(r).bind(local.in);
        local.out.bind(endpoints.from_fabric(r));
    }
    const fabric_link_params link{448_Gbps, 75_ns, 256};
    const auto add = [&](std::uint32_t from, std::uint32_t from_port, std::uint32_t to, std::uint32_t to_port) {
        const std::uint32_t id = engine.add_link(from, from_port, to, to_port, link);
        link_layer_params retry;
        retry.bit_error_rate = bit_error_rate;
        engine.set_link_layer(id, retry);
    };
    for (std::uint32_t r = 0; r < t.endpoints; ++r)
        for (std::uint32_t i = 0; i < k_side; ++i) {
            if (i != r % k_side)
                add(r, k_x + i, r / k_side * k_side + i, k_x + r % k_side);
            if (i != r / k_side)
                add(r, k_y + i, i * k_side + r % k_side, k_y + r / k_side);
        }
    engine.finish_build();
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const double start = cpu_seconds();
    sc_core::sc_start();
    const double spent = cpu_seconds() - start;
    if (endpoints.received() != endpoints.sent() || endpoints.misdelivered() != 0 || engine.audit() != "")
        throw bug("bench", time.now_ps(), "uniform traffic lost or misdelivered packets");
    const auto hops = static_cast<double>(engine.packet_hops());
    return {{"hops", hops},
            {"hops_per_s", hops / spent},
            {"events_per_hop", static_cast<double>(time.events()) / hops},
            {"state_bytes", static_cast<double>(engine.state_bytes())}};
}

/// Arguments: virtual output queues, bit errors per 10^12, percent of the load that the links can bear.
void full_mesh_traffic(benchmark::State& state)
{
    run_figures f;
    for (auto _ : state) {
        f = cli::in_child([&] {
            return full_mesh(state.range(0) != 0, static_cast<double>(state.range(1)) * 1e-12,
                             static_cast<double>(state.range(2)) / 100, 4000);
        });
        state.SetIterationTime(f.at("hops") / f.at("hops_per_s"));
    }
    state.counters["hops_per_cpu_s"] = f.at("hops_per_s");
    state.counters["events_per_hop"] = f.at("events_per_hop");
    state.counters["state_bytes"] = f.at("state_bytes");
}
BENCHMARK(full_mesh_traffic)
    ->Args({1, 0, 50})
    ->Args({1, 0, 90})
    ->Args({0, 0, 50})
    ->Args({1, 1, 50})
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(3)
    ->Unit(benchmark::kMillisecond);

} // namespace
