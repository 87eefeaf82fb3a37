// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// UB parameters, the flit arithmetic behind them, link buffers, and the choice among paths.
#include "hw/ub/ub_link.h"
#include "hw/ub/ub_path_cache.h"
#include "platforms/config/config_reader.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <catch2/catch.hpp>

#include <map>

using namespace weft;

TEST_CASE("UB packets have the flits and blocks that the flit count says")
{
    ub_config c;
    c.route_header = data_size(0); // the count was made without it
    const struct {
        std::uint64_t payload, flits, blocks;
    } rows[] = {{256, 16, 1}, {512, 29, 1}, {1024, 55, 2}, {2048, 107, 4}, {4096, 210, 7}};
    for (const auto& r : rows) {
        c.max_payload = data_size(r.payload);
        CHECK(c.format().wire_bytes_of_one(r.payload) == r.flits * 20);
        CHECK(c.format().blocks_for(r.payload + c.format().header_bytes) == r.blocks);
        CHECK(c.format().cells_of_one(r.payload) == (r.flits + 7) / 8);
    }
    // The route header fits into the padding of the default packet.
    CHECK(ub_config().format().wire_bytes_of_one(1024) == 55 * 20);
}

TEST_CASE("deepened buffers are those of the SuperPod's file")
{
    const yaml_document file = yaml_document::load(WEFT_SOURCE_DIR "/configs/ub_mesh/superpod.yaml");
    const auto superpod = read_config_or_throw<ub_mesh_config>(file, {"platform"});
    ub_mesh_config deep;
    deep.deepen_buffers();
    CHECK(deep.ub.buffer_per_vl.value() == superpod.ub.buffer_per_vl.value());
    CHECK(deep.ub.transmit_queue == superpod.ub.transmit_queue);
    CHECK(deep.npu.dma.receive_buffer.value() == superpod.npu.dma.receive_buffer.value());
    CHECK(deep.npu.dma.read_ahead == superpod.npu.dma.read_ahead);
}

TEST_CASE("UB payload efficiency: of the raw lane rate 83 % with 512 B and 87 % with 1 KiB")
{
    ub_config c;
    CHECK(c.payload_efficiency() == Approx(0.873).margin(0.0005));
    c.max_payload = data_size(512);
    CHECK(c.payload_efficiency() == Approx(0.828).margin(0.0005));
    c.fec = ub_fec::outside;
    CHECK(c.payload_efficiency() == Approx(0.883).margin(0.0005));
    CHECK(c.link_rate(4).value() == 448'000'000'000);
}

TEST_CASE("UB buffers hold 64 KiB or rate times round trip where that is more")
{
    ub_config c;
    const auto depth = [&](std::uint64_t wire_ps, ub_device into) {
        return ub_depth_cells(c, 4, duration(wire_ps), into) * c.cell_bytes();
    };
    CHECK(depth(5'000, ub_device::npu) == (64u << 10) / 160 * 160);
    // 1 km: 2 x (5 us + 70 ns) + 200 ns + one packet at 52.5 GB/s are 545 kB, in cells a little more.
    CHECK(depth(5'000'000, ub_device::hrs) > 543'000);
    CHECK(depth(5'000'000, ub_device::hrs) < 575'000);
    c.buffers_cover_round_trip = false;
    CHECK(depth(5'000'000, ub_device::hrs) == (64u << 10) / 160 * 160);
}

TEST_CASE("UB parameters: each limit has its sentence and the defaults have none")
{
    CHECK(ub_config().validate().empty());
    const auto key_of = [](auto change) {
        ub_config c;
        change(c);
        const auto problems = c.validate();
        return problems.empty() ? std::string() : problems.front().key;
    };
    CHECK(key_of([](ub_config& c) { c.lane_rate = bandwidth(119'000'000'000); }) == "lane_rate");
    CHECK(key_of([](ub_config& c) { c.max_payload = data_size(1022); }) == "max_payload");
    // 512 flits are 10240 B: 16 blocks with 4 B of CRC, 15 of them with a header of 2 B, and 64 B of headers of the packet.
    CHECK(key_of([](ub_config& c) { c.max_payload = data_size(10080); }).empty());
    CHECK(key_of([](ub_config& c) { c.max_payload = data_size(10084); }) == "max_payload");
    CHECK(key_of([](ub_config& c) { c.buffer_per_vl = data_size(1000); }) == "buffer_per_vl");
    CHECK(key_of([](ub_config& c) { c.cell_flits = 0; }) == "cell_flits");
    CHECK(key_of([](ub_config& c) { c.bit_error_rate = 0.5; }) == "bit_error_rate");
    CHECK(key_of([](ub_config& c) { c.rtp_window = 100; }) == "rtp_window");
    CHECK(key_of([](ub_config& c) { c.rtp_tries = 0; }) == "rtp_tries");
    CHECK(key_of([](ub_config& c) { c.transmit_queue = 1; }) == "transmit_queue");
    CHECK(key_of([](ub_config& c) { c.lrs_latency = duration(0); }) == "lrs_latency");
}

namespace {
struct three_ways final : ub_path_source {
    std::vector<ub_path> paths(std::uint32_t, std::uint32_t, const std::vector<bool>& down) const override
    {
        std::vector<ub_path> all;
        for (std::uint32_t i = 0; i < 3; ++i) {
            ub_path p;
            p.kind = static_cast<ub_path_kind>(i);
            p.weight = i == 0 ? 4 : i;
            p.links = {i};
            p.route.set_bitmap(1);
            p.route.set_instruction_byte(0, static_cast<std::uint8_t>(i));
            if (down.empty() || !down[i])
                all.push_back(p);
        }
        return all;
    }
};
ub_plan two_routers()
{
    ub_plan plan;
    plan.routers.resize(2);
    plan.routers[0].ports = plan.routers[1].ports = 3;
    plan.links.resize(3);
    plan.endpoint_router = {0, 1};
    plan.paths = std::make_shared<three_ways>();
    return plan;
}
const auto no_backlog = [](std::uint32_t) { return 0u; };
} // namespace

TEST_CASE("UB path choice by weights is exact in every run of the sum of the weights")
{
    const ub_plan plan = two_routers();
    const ub_routing routing(plan, true);
    ub_turns turns;
    ub_path_cache cache(plan, routing, turns, ub_config(), 0);
    for (int run = 0; run < 5; ++run) {
        std::map<std::uint32_t, int> taken;
        std::uint32_t before = 9, in_a_row = 0;
        for (int i = 0; i < 7; ++i) {
            const std::uint32_t path = cache.choose(cache.set_for(1), 0, 0, false, 0, no_backlog);
            in_a_row = path == before ? in_a_row + 1 : 1;
            before = path;
            CHECK(in_a_row <= 2);
            ++taken[path];
        }
        CHECK(taken == std::map<std::uint32_t, int>{{0, 4}, {1, 1}, {2, 2}});
    }
    CHECK(cache.fetches() == 1);
    CHECK(cache.round_of(cache.set_for(1), k_never_ps) == 7);
    // A short message must not wait for the slowest of its ways.
    cache.set_for(1).most_extra_ps = 1000;
    CHECK(cache.round_of(cache.set_for(1), 999) == 0);
    CHECK(cache.round_of(cache.set_for(1), 1000) == 7);
}

TEST_CASE("UB path sets: kinds and faults and flows and queues")
{
    const ub_plan plan = two_routers();
    const ub_routing routing(plan, true);
    ub_turns turns;
    ub_config c;
    c.paths = ub_path_use::shortest;
    ub_path_cache shortest(plan, routing, turns, c, 0);
    CHECK(shortest.set_for(1).paths.size() == 1);
    shortest.exclude(0); // the shortest is broken: what the configuration left out is used
    REQUIRE(shortest.set_for(1).paths.size() == 2);
    CHECK(shortest.set_for(1).paths[0].kind == ub_path_kind::detour);
    shortest.exclude(1);
    shortest.exclude(2);
    CHECK(shortest.set_for(1).paths.empty());
    shortest.readmit(0);
    CHECK(shortest.set_for(1).paths.size() == 1);
    c.paths = ub_path_use::borrow;
    ub_path_cache borrow(plan, routing, turns, c, 0);
    REQUIRE(borrow.set_for(1).paths.size() == 2);
    CHECK(borrow.set_for(1).paths[1].kind == ub_path_kind::borrow);
    c.paths = ub_path_use::all;
    c.spreading = ub_spreading::flow;
    ub_path_cache flows(plan, routing, turns, c, 0);
    std::map<std::uint32_t, int> used;
    for (std::uint32_t flow = 0; flow < 7; ++flow) {
        const std::uint32_t path = flows.choose(flows.set_for(1), flow, 0, false, 0, no_backlog);
        ++used[path];
        for (int i = 0; i < 3; ++i)
            CHECK(flows.choose(flows.set_for(1), flow, 0, false, 0, no_backlog) == path);
    }
    CHECK(used == std::map<std::uint32_t, int>{{0, 4}, {1, 1}, {2, 2}});
    CHECK(flows.round_of(flows.set_for(1), k_never_ps) == 0);
    c.spreading = ub_spreading::packet;
    c.choice = ub_choice::adaptive;
    ub_path_cache adaptive(plan, routing, turns, c, 0);
    const std::uint32_t waiting[] = {5, 3, 3};
    CHECK(adaptive.choose(adaptive.set_for(1), 0, 0, false, 0, [&](std::uint32_t port) { return waiting[port]; }) == 1);
    CHECK(adaptive.round_of(adaptive.set_for(1), k_never_ps) == 0);
}
