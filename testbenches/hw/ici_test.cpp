// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ici/ici_fabric.h"
#include "hw/routing/mesh_ports.h"
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

struct mesh_shape {
    std::uint32_t rows, cols;
    bool wrap_rows, wrap_cols;
};

/// A mesh with one endpoint per local port (id = rank).
struct mesh_bench {
    mesh_bench(fabric_bench& b, const mesh_shape& s, const ici_config& c)
        : bench(b), shape(s), config(c),
          fabric(sc_core::sc_gen_unique_name("ici"), b.time, b.pool,
                 mesh(ici_mesh(c, s.rows, s.cols, s.wrap_rows, s.wrap_cols)), c)
    {
        b.audited.push_back(&fabric.engine());
        const packet_format saved = b.format;
        b.format = config.format();
        for (std::uint32_t r = 0; r < shape.rows * shape.cols; ++r)
            for (std::uint32_t p = 0; p < config.local_ports; ++p) {
                endpoint& e =
                    b.new_endpoint(r, config.virtual_lanes, config.local_port_rate, static_cast<std::uint8_t>(p));
                e.connect(fabric.router(r).local_port(p));
                points.push_back(&e);
            }
        b.format = saved;
    }
    endpoint& at(std::uint32_t rank, std::uint32_t port = 0) { return *points[rank * config.local_ports + port]; }
    std::uint32_t ranks() const { return shape.rows * shape.cols; }

    fabric_bench& bench;
    mesh_shape shape;
    ici_config config;
    ici_fabric fabric;
    std::vector<endpoint*> points;
};

/// Wires of the way along one dimension, written down from the description of the machine and not from its code: shorter
/// way round where it wraps, up when equal; even-odd neighbours share a board, all else is cable.
std::vector<std::uint64_t> wires(std::uint32_t from, std::uint32_t to, std::uint32_t n, bool wrap, const ici_config& c)
{
    const std::uint64_t board = c.board_propagation.value();
    const std::uint64_t cable = c.cable_propagation.value();
    int step = to > from ? 1 : -1;
    if (wrap) {
        const std::uint32_t up = (to + n - from) % n;
        step = up <= n - up ? 1 : -1;
    }
    std::vector<std::uint64_t> w;
    for (std::uint32_t at = from; at != to;) {
        const std::uint32_t next = step > 0 ? (at + 1) % n : (at + n - 1) % n;
        const std::uint32_t low = std::min(at, next);
        const bool neighbours = std::max(at, next) - low == 1;
        w.push_back(neighbours && low % 2 == 0 ? board : cable);
        at = next;
    }
    return w;
}

/// docs/03_timing_model.md, "One packet through an idle mesh".
std::uint64_t zero_load_ps(const mesh_shape& s, const ici_config& c, std::uint32_t from, std::uint32_t to,
                           std::uint64_t payload)
{
    auto way = wires(from % s.cols, to % s.cols, s.cols, s.wrap_cols, c);
    const auto y = wires(from / s.cols, to / s.cols, s.rows, s.wrap_rows, c);
    way.insert(way.end(), y.begin(), y.end());
    std::uint64_t flight = 0;
    for (const std::uint64_t w : way)
        flight += w;
    const std::uint64_t h = way.size();
    const std::uint64_t bytes = c.format().wire_bytes(payload);
    const std::uint64_t local = wire_rate(c.local_port_rate).time_ps(bytes);
    const std::uint64_t link = wire_rate(c.link_rate).time_ps(bytes);
    const std::uint64_t pipes = (h + 1) * c.pipeline_ps();
    if (c.switching == switching_mode::store_and_forward)
        return pipes + flight + 2 * local + h * link;
    return pipes + flight + std::max(local, link) + (local > link ? local - link : 0);
}

} // namespace

TEST_CASE("every pair of a mesh sees the zero-load latency of the formula")
{
    fabric_bench b;
    std::vector<std::unique_ptr<mesh_bench>> meshes;
    const std::uint64_t payloads[] = {0, 4, 100, 256};
    const bandwidth local_rates[] = {1312_Gbps, 656_Gbps, 300_Gbps};
    for (const auto& [rows, cols] : {std::pair{4u, 4u}, std::pair{3u, 5u}})
        for (const bool wrap : {false, true})
            for (const auto mode : {switching_mode::cut_through, switching_mode::store_and_forward})
                for (const bandwidth rate : local_rates)
                    for (const rate_basis basis : {rate_basis::payload, rate_basis::wire}) {
                        ici_config c;
                        c.local_ports = 1;
                        c.local_port_rate = rate;
                        c.switching = mode;
                        c.rate_counts = basis;
                        meshes.push_back(std::make_unique<mesh_bench>(b, mesh_shape{rows, cols, wrap, wrap}, c));
                        mesh_bench& m = *meshes.back();
                        // A slot of its own for every packet of a mesh.
                        std::uint64_t at = 1'000'000;
                        for (std::uint32_t from = 0; from < m.ranks(); ++from)
                            for (std::uint32_t to = 0; to < m.ranks(); ++to)
                                for (const std::uint64_t payload : payloads)
                                    if (from != to)
                                        m.at(from).orders.push_back({at += 1'000'000, to, payload});
                    }
    b.audit_every = 5003;
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    CHECK(b.received() == b.ordered());
    CHECK(b.pool.leak_report() == "");
    for (const auto& m : meshes) {
        std::uint32_t bad = 0;
        const mesh topology(
            ici_mesh(m->config, m->shape.rows, m->shape.cols, m->shape.wrap_rows, m->shape.wrap_cols));
        const dimension_order order(topology.grid());
        for (std::uint32_t to = 0; to < m->ranks(); ++to)
            for (const arrived& a : m->at(to).log) {
                const std::uint64_t expected = zero_load_ps(m->shape, m->config, a.source, to, a.payload_bytes);
                if (a.tail_ps - a.born_ps != expected && bad++ == 0)
                    FAIL_CHECK(fmt::format("{}x{} wrap {} mode {} local {}: {} to {} of {} B took {}, not {}",
                                           m->shape.rows, m->shape.cols, m->shape.wrap_rows,
                                           static_cast<int>(m->config.switching), m->config.local_port_rate.value(),
                                           a.source, to, a.payload_bytes, a.tail_ps - a.born_ps, expected));
                if (a.hops != order.hops(a.source, to))
                    ++bad;
            }
        CHECK(bad == 0);
    }
}

namespace {
struct traffic_case {
    const char* name;
    std::function<std::uint32_t(std::uint32_t rank, std::uint32_t ranks, traffic_random& r)> to;
};

/// All endpoints at full rate; returns when everything has drained and all laws hold.
void drains(std::uint32_t vls, bool wrap, bool small_buffers)
{
    fabric_bench b;
    const traffic_case cases[] = {
        {"uniform",
         [](std::uint32_t me, std::uint32_t n, traffic_random& r) {
             const std::uint32_t d = r.below(n - 1);
             return d >= me ? d + 1 : d;
         }},
        {"transpose", [](std::uint32_t me, std::uint32_t, traffic_random&) { return me % 4 * 4 + me / 4; }},
        {"hot spot",
         [](std::uint32_t me, std::uint32_t, traffic_random& r) { return r.below(4) != 0 ? 5u : (me + 1) % 16; }},
        {"half round the ring",
         [](std::uint32_t me, std::uint32_t, traffic_random&) { return me / 4 * 4 + (me + 2) % 4; }},
    };
    std::vector<std::unique_ptr<mesh_bench>> meshes;
    for (const traffic_case& t : cases)
        for (std::uint64_t seed = 1; seed <= 3; ++seed)
            for (const bool stalls : {false, true}) {
                ici_config c;
                c.virtual_lanes = vls;
                if (small_buffers)
                    c.buffer_per_vl = data_size(9 * 32);
                meshes.push_back(std::make_unique<mesh_bench>(b, mesh_shape{4, 4, wrap, wrap}, c));
                mesh_bench& m = *meshes.back();
                for (std::uint32_t rank = 0; rank < m.ranks(); ++rank)
                    for (std::uint32_t port = 0; port < 2; ++port) {
                        traffic_random r(seed * 977 + rank * 2 + port);
                        endpoint& e = m.at(rank, port);
                        e.seed(seed);
                        e.stall_below_ps = stalls ? 60'000 : 0;
                        e.receive_cells = small_buffers ? 9 : 64;
                        for (int i = 0; i < 60; ++i) {
                            const std::uint32_t to = t.to(rank, m.ranks(), r);
                            if (to != rank)
                                e.orders.push_back({1'000'000, to, r.below(257), static_cast<std::uint8_t>(port)});
                        }
                    }
            }
    b.audit_every = 211;
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    CHECK(b.received() == b.ordered());
    CHECK(b.overtaken() == 0);
    CHECK(b.pool.leak_report() == "");
    for (const auto& m : meshes) {
        CHECK(m->fabric.engine().packets_inside() == 0);
        CHECK(m->fabric.engine().describe_blocked() == "");
    }
}
} // namespace

TEST_CASE("a mesh with 1 VL drains under every pattern") { drains(1, false, false); }
TEST_CASE("a mesh with 1 VL and buffers of one packet drains") { drains(1, false, true); }
TEST_CASE("a mesh with 3 VLs drains under every pattern") { drains(3, false, false); }
TEST_CASE("a torus with 2 VLs drains under every pattern") { drains(2, true, false); }
TEST_CASE("a torus with 2 VLs and buffers of one packet drains") { drains(2, true, true); }
TEST_CASE("a torus with 3 VLs and buffers of one packet drains") { drains(3, true, true); }

TEST_CASE("a wrapped ring with 1 VL deadlocks and the report says so")
{
    // The configuration check refuses this machine; the fabric itself must stop and say why, not hang.
    fabric_bench b;
    ici_config c;
    c.virtual_lanes = 1;
    c.local_ports = 1;
    c.buffer_per_vl = data_size(9 * 32);
    // The dateline rule asks for VL 1: route on VL 0 only.
    const mesh ring(ici_mesh(c, 1, 5, false, true));
    const dimension_order rule(ring.grid());
    fabric_config f;
    f.vl_count = 1;
    fabric_engine& e = b.add_engine(f, [&](std::uint32_t router, std::uint32_t in_port, packet& p) {
        route_decision d = rule.route(router, in_port, p);
        d.vl = 0;
        return d;
    });
    e.set_port_names({"+X", "-X", "+Y", "-Y", "local0"});
    const fabric_link_params wire{656_Gbps, 25_ns, 9};
    b.format = c.format();
    for (std::uint32_t r = 0; r < 5; ++r)
        e.add_router(5, fmt::format("chip(0,{})", r));
    for (std::uint32_t r = 0; r < 5; ++r)
        e.add_link(r, k_plus_x, (r + 1) % 5, k_minus_x, wire);
    for (std::uint32_t r = 0; r < 5; ++r) {
        endpoint& p = b.add_endpoint(e, r, k_first_local, {1312_Gbps, 0_ns, 64});
        for (int i = 0; i < 50; ++i)
            p.orders.push_back({1'000'000, (r + 2) % 5, 256});
    }
    e.finish_build();
    b.run(); // returns: nothing is left that could happen
    CHECK(b.received() < b.ordered());
    CHECK(e.packets_inside() > 0);
    CHECK(b.first_audit == "");
    const std::string text = e.describe_blocked(32);
    INFO(text);
    CHECK(text.find("They form a cycle of 5:") != std::string::npos);
    for (std::uint32_t r = 0; r < 5; ++r)
        CHECK(text.find(fmt::format("chip(0,{}).+X VL 0 ->", r)) != std::string::npos);
    CHECK(text.find("needs 9 credits of VL 0, has 0") != std::string::npos);
}

TEST_CASE("messages of both local ports arrive at the port they name")
{
    fabric_bench b;
    mesh_bench m(b, {2, 2, false, false}, ici_config{});
    for (std::uint32_t from = 0; from < 4; ++from)
        for (std::uint32_t port = 0; port < 2; ++port)
            for (std::uint32_t to = 0; to < 4; ++to)
                for (std::uint8_t to_port = 0; to_port < 2; ++to_port)
                    if (to != from)
                        m.at(from, port).orders.push_back({1'000'000, to, 64, to_port});
    b.run();
    CHECK(b.wrong() == 0);
    CHECK(b.received() == b.ordered());
}

TEST_CASE("what waits for one link has its share of a local buffer and no more")
{
    // The chip in the middle of a row sends to the right, where the link is down: of two links each has half of 64 KiB, which 114 packets fill.
    fabric_bench b;
    mesh_bench m(b, {1, 3, false, false}, ici_config{});
    fabric_engine& e = m.fabric.engine();
    fabric_socket& local = m.fabric.router(1).local_port(0);
    const std::uint32_t right = e.out_link(1, k_plus_x);
    e.set_link_up(right, false);
    for (int i = 0; i < 114; ++i)
        m.at(1).orders.push_back({1'000'000, 2, 256});
    b.events.at(500'000, [&] { CHECK(local.has_room(2, false)); });
    b.events.at(1'100'000, [&] { CHECK(local.has_room(2, false)); });
    b.events.at(3'000'000, [&] {
        CHECK_FALSE(local.has_room(2, false));
        CHECK(local.has_room(0, false));
        e.set_link_up(right, true);
    });
    b.events.at(3'010'000, [&] { CHECK(local.has_room(2, false)); });
    b.run();
    CHECK(b.received() == b.ordered());
    CHECK(b.first_audit == "");
}
