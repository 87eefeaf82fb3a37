// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What breaks must be seen: a damaged byte in the answer, a lost packet and a dead link in the report.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

/// Does something to the n-th packet with payload on a link.
class nth_packet final : public link_fault_if {
public:
    nth_packet(unsigned n, link_verdict verdict) : left_(n), verdict_(verdict) {}
    link_verdict on_packet(std::uint64_t, const packet& p) override
    {
        return p.payload_bytes > 0 && left_-- == 0 ? verdict_ : link_verdict{};
    }

private:
    unsigned left_;
    link_verdict verdict_;
};

/// Directed link from (row, col) through `port`; fabric_engine::k_none where there is none.
std::uint32_t link_of(tpu_v3& pod, std::uint32_t row, std::uint32_t col, mesh_port port)
{
    return pod.ici().engine().out_link(pod.topology().rank_at(row, col), port);
}

tpu_v3_config one_ring()
{
    tpu_v3_config config = pod(4, 4);
    config.run.firmware_timeout = duration(1'000'000'000); // 1 ms
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, {65536})};
    return config;
}

verdict run_with(const tpu_v3_config& config, link_fault_if& hook)
{
    return run(config, [&](tpu_v3& m) { m.ici().engine().set_fault_hook(link_of(m, 1, 1, k_plus_x), &hook); });
}

} // namespace

TEST_CASE("one flipped bit on one link shows up as wrong elements")
{
    link_verdict damage;
    damage.corrupt = true;
    nth_packet hook(7, damage);
    const verdict outcome = run_with(one_ring(), hook);
    REQUIRE(outcome.cases.size() == 1);
    CHECK(outcome.failure.empty());
    // The damaged partial sum reaches every rank by the all-gather, or those behind the link if it happens there.
    CHECK(outcome.cases[0].check.wrong > 0);
    CHECK(outcome.cases[0].check.wrong <= 16);
}

TEST_CASE("a late packet changes the time and nothing else")
{
    link_verdict late;
    late.extra_delay_ps = 5'000'000;
    nth_packet hook(7, late);
    const verdict outcome = run_with(one_ring(), hook);
    REQUIRE(outcome.cases.size() == 1);
    CHECK(outcome.failure.empty());
    CHECK(outcome.cases[0].check.wrong == 0);
}

TEST_CASE("a lost message ends the run with the neighbour and the step")
{
    tpu_v3_config config = one_ring();
    config.run.burst = packet_count(64); // a message is one transaction, and the drop loses it whole
    link_verdict lost;
    lost.drop = true;
    nth_packet hook(3, lost);
    const verdict outcome = run_with(config, hook);
    INFO(outcome.failure);
    CHECK(outcome.cases.empty());
    CHECK(outcome.failure.find("did not complete") != std::string::npos);
    CHECK(outcome.failure.find("timed out on DMA.SEM_PENDING") != std::string::npos);
    CHECK(outcome.failure.find("waiting for rank") != std::string::npos);
}

TEST_CASE("a lost packet inside a message gives wrong elements and not silence")
{
    link_verdict lost;
    lost.drop = true;
    nth_packet hook(3, lost); // of the 8 packets of a 2 KiB shard
    const verdict outcome = run_with(one_ring(), hook);
    const bool reported = !outcome.failure.empty();
    const bool wrong = outcome.cases.size() == 1 && outcome.cases[0].check.wrong > 0;
    CHECK((reported || wrong));
}

TEST_CASE("a dead link that routing does not know ends the run and names what waits for it")
{
    tpu_v3_config config = one_ring();
    config.faults.links_down.push_back({1, 1, mesh_direction::plus_x, false});
    const verdict outcome = run(config);
    INFO(outcome.failure);
    CHECK(outcome.cases.empty());
    CHECK(outcome.failure.find("chip(1,1).+X: the link is down") != std::string::npos);
    CHECK(outcome.failure.find("Nothing can move any more") != std::string::npos);
    CHECK(outcome.failure.find("timed out") != std::string::npos);
}

TEST_CASE("a second collective that nothing can move says that and not that somebody gave up")
{
    tpu_v3_config config = one_ring();
    collective_spec far_from_it = config.run.workload.at(0);
    far_from_it.groups = {"0,1"};
    config.run.workload.insert(config.run.workload.begin(), far_from_it);
    config.faults.links_down.push_back({1, 1, mesh_direction::plus_x, false});
    const verdict outcome = run(config);
    INFO(outcome.failure);
    CHECK(outcome.cases.size() == 1);
    CHECK(outcome.failure.find("Nothing can move any more") != std::string::npos);
    CHECK(outcome.failure.find("gave up") == std::string::npos);
}

TEST_CASE("collectives are exact around links that are known to be down")
{
    tpu_v3_config config = pod(4, 4);
    config.run.workload = everything({4096});
    config.faults.links_down = {
        {1, 1, mesh_direction::plus_x}, {2, 3, mesh_direction::minus_y}, {0, 0, mesh_direction::plus_y}};
    const verdict outcome = run_exact(config, {}, [](tpu_v3& m, json& more) {
        const fabric_engine& engine = m.ici().engine();
        more["up"] = {engine.link_up(link_of(m, 1, 2, k_plus_x)), engine.link_up(link_of(m, 1, 1, k_plus_x))};
        more["packets"] = engine.link_packets(link_of(m, 1, 1, k_plus_x));
    });
    CHECK(outcome.cases.size() == 7);
    CHECK(outcome.more.at("up") == json{true, false});
    CHECK(outcome.more.at("packets") == 0);
}

TEST_CASE("a mesh with failed chips is built without them")
{
    tpu_v3_config config = pod(8, 8);
    config.faults.regions = {{2, 2, 2, 4}};
    tpu_v3 machine(config);
    CHECK(machine.chips().size() == 56);
    CHECK(machine.ici().engine().router_count() == 56);
    CHECK(link_of(machine, 2, 1, k_plus_x) == fabric_engine::k_none);
    CHECK(machine.topology().rank_at(2, 2) == mesh::k_none);
    CHECK(std::string(machine.chips()[18]->basename()) == "chip_2_6");
    CHECK(machine.chips()[18]->rank() == 18);
    // The wires of the engine are those that the proof looked at.
    const mesh topology(config.description());
    std::uint32_t wires = 0;
    for (std::uint32_t l = 0; l < machine.ici().engine().link_count(); ++l)
        wires += machine.ici().engine().is_router_link(l) ? 1 : 0;
    CHECK(wires == topology.plan().links.size());
    for (const plan_link& l : topology.plan().links)
        CHECK(machine.ici().engine().link_name(machine.ici().engine().out_link(l.from, l.from_port)) ==
              topology.plan().routers[l.from].name + "." + topology.plan().port_name(l.from_port));
}

TEST_CASE("links that cut a chip off are refused with the pair")
{
    tpu_v3_config config = pod(4, 4);
    config.faults.links_down = {{0, 0, mesh_direction::plus_x}, {0, 0, mesh_direction::plus_y}};
    CHECK_THROWS_WITH(tpu_v3(config), Catch::Matchers::Contains("chip(0,0) cannot reach chip(0,1)"));
}
