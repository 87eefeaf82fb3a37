// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What breaks must be seen: a damaged byte in the answer, a lost packet and a dead link in the report.
#include "testbenches/system/pod_bench.h"

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

tpu_pod_config one_ring()
{
    tpu_pod_config config = pod(4, 4);
    config.run.firmware_timeout = duration(1'000'000'000); // 1 ms
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, {65536})};
    return config;
}

run_outcome run_with(const tpu_pod_config& config, link_fault_if& hook)
{
    tpu_pod machine(config);
    machine.ici().engine().set_fault_hook(machine.ici().link_at(1, 1, k_plus_x), &hook);
    collective_runner runner("host", machine, config.run, nullptr);
    return runner.run();
}

} // namespace

TEST_CASE("one flipped bit on one link shows up as wrong elements")
{
    link_verdict damage;
    damage.corrupt = true;
    nth_packet hook(7, damage);
    const run_outcome outcome = run_with(one_ring(), hook);
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
    const run_outcome outcome = run_with(one_ring(), hook);
    REQUIRE(outcome.cases.size() == 1);
    CHECK(outcome.failure.empty());
    CHECK(outcome.cases[0].check.wrong == 0);
}

TEST_CASE("a lost message ends the run with the neighbour and the step")
{
    tpu_pod_config config = one_ring();
    config.run.burst = packet_count(64); // a message is one transaction, and the drop loses it whole
    link_verdict lost;
    lost.drop = true;
    nth_packet hook(3, lost);
    const run_outcome outcome = run_with(config, hook);
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
    const run_outcome outcome = run_with(one_ring(), hook);
    const bool reported = !outcome.failure.empty();
    const bool wrong = outcome.cases.size() == 1 && outcome.cases[0].check.wrong > 0;
    CHECK((reported || wrong));
}

TEST_CASE("a dead link without a way around ends the run and names what waits for it")
{
    tpu_pod_config config = one_ring();
    config.faults.links_down.push_back({1, 1, mesh_direction::plus_x});
    tpu_pod machine(config);
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    INFO(outcome.failure);
    CHECK(outcome.cases.empty());
    CHECK(outcome.failure.find("chip(1,1).+X: the link is down") != std::string::npos);
    CHECK(outcome.failure.find("Nothing can move any more") != std::string::npos);
    CHECK(outcome.failure.find("timed out") != std::string::npos);
}
