// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder on real machines: it changes nothing, its bins sum to what the links count, and what it says limits a
// collective is what was made
// scarce on purpose.
#include "hw/dma/overlapping_time.h"
#include "platforms/trainium/trainium.h"
#include "platforms/workload/activity_recorder.h"
#include "testbenches/support/small_machines.h"

#include <memory>

using namespace weft;
using namespace weft::test;
using abi::algorithm;

namespace {

/// What components count themselves, of all wires between devices.
std::uint64_t busy_of(machine& m)
{
    std::uint64_t sum = 0;
    for (const component* c : m.time().components())
        for (std::uint32_t w = 0; w < c->wires(); ++w)
            sum += machine_loads::busy_ps(c->load_of_wire(w), kernel_now_ps());
    return sum;
}

class recording final : public run_observer {
public:
    explicit recording(machine& m) : machine_(m), recorder_("activity", m) {}
    void on_case(std::size_t, std::size_t, const collective_case&) override {}
    void on_progress(double) override {}
    void on_begin(const collective_case& c) override
    {
        recorder_.begin(c);
        before_ps_ = busy_of(machine_);
    }
    void on_end(std::uint64_t time_ps) override
    {
        recorder_.end(time_ps);
        counted_ps.push_back(busy_of(machine_) - before_ps_);
        std::uint64_t sum = 0;
        for (std::size_t b = 0; b < bundles; ++b)
            sum += recorder_.busy_ps(0, b);
        binned_ps.push_back(sum);
    }
    run_activity finish() { return recorder_.finish(); }

    std::size_t bundles = 0;
    std::vector<std::uint64_t> counted_ps, binned_ps;

private:
    machine& machine_;
    activity_recorder recorder_;
    std::uint64_t before_ps_ = 0;
};

tpu_v3_config small_pod(std::uint64_t bytes)
{
    tpu_v3_config config = pod(4, 4);
    config.run.workload = {spec(abi::collective_op::all_reduce, {algorithm::two_d}, {bytes})};
    return config;
}

case_shares shares_in(machine& m, const run_config& run)
{
    collective_runner runner("host", m, run, nullptr, nullptr);
    const run_outcome outcome = runner.run();
    INFO(outcome.failure);
    REQUIRE(outcome.failure.empty());
    return outcome.cases.back().shares;
}
case_shares shares_of(const tpu_v3_config& config)
{
    tpu_v3 machine(config);
    return shares_in(machine, config.run);
}
case_shares shares_of(const trainium_config& config)
{
    const trainium_routing routing(config);
    trainium_machine machine(config, routing, {});
    return shares_in(machine, config.run);
}

/// By a machine in a process of its own, of which a test can have several.
template <class Config> json told_shares(const Config& config)
{
    return in_child([&](json& told) {
        const case_shares s = shares_of(config);
        for (const auto& [part, share] : s.listed())
            told[part] = share;
        told["limited_by"] = limited_by(s);
    });
}

} // namespace

TEST_CASE("bins sum to the busy time of the links exactly and the digest is that of a run without a recorder")
{
    tpu_v3_config config = pod(4, 4);
    config.run.workload = {
        spec(abi::collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d}, {4, 4096, 1 << 20})};
    std::uint64_t plain = 0;
    const json without = in_child([&](json& told) {
        tpu_v3 machine(config);
        collective_runner runner("host", machine, config.run, nullptr, nullptr);
        told["digest"] = runner.run().digest;
    });
    plain = without.at("digest").get<std::uint64_t>();

    tpu_v3 machine(config);
    recording seen(machine);
    seen.bundles = 48; // two directions of 24 cables
    collective_runner runner("host", machine, config.run, &seen, nullptr);
    const run_outcome outcome = runner.run();
    REQUIRE(outcome.failure.empty());
    CHECK(outcome.digest == plain);
    REQUIRE(seen.binned_ps.size() == 6);
    CHECK(seen.binned_ps == seen.counted_ps);
    CHECK(seen.counted_ps.back() > 0);

    const run_activity all = seen.finish();
    REQUIRE(all.cases.size() == 6);
    CHECK(all.map.nodes == 16);
    CHECK(all.map.wires == 48);
    REQUIRE(all.map.levels.size() == 1);
    CHECK(all.map.levels[0].places.size() == 16);
    CHECK(all.map.levels[0].bundles.size() == 48);
    for (const case_activity& c : all.cases) {
        CHECK(c.complete);
        CHECK(c.bins > 0);
        CHECK(c.bins <= activity_recorder::k_most_bins);
        CHECK((c.bins - 1) * c.bin_ps + c.last_bin_ps == c.time_ps);
        CHECK(c.bundles.at(0).size() == std::size_t{48} * c.bins);
        CHECK(c.work.size() == 16 * k_work_kinds * c.bins);
    }
    // A ring over 4 B is latency; 1 MiB fills links more than 4 B do.
    CHECK(limited_by(all.cases[0].shares) == "latency");
    CHECK(all.cases[2].shares.link > 10 * all.cases[0].shares.link);
    CHECK(all.cases[2].bytes_read > 0);
}

TEST_CASE("large collectives of a plain mesh are limited by links")
{
    const case_shares s = shares_of(small_pod(8 << 20));
    CHECK(limited_by(s) == "link");
    CHECK(s.link > 0.8);
}

TEST_CASE("with a slow memory the memory limits")
{
    tpu_v3_config config = small_pod(1 << 20);
    config.chip.hbm.rate = bandwidth(400'000'000'000); // 50 GB/s below links of 82
    const case_shares s = shares_of(config);
    CHECK(limited_by(s) == "memory");
    CHECK(s.memory > 0.8);
    CHECK(s.link < s.memory);
}

TEST_CASE("with a slow core the core limits")
{
    tpu_v3_config config = small_pod(4096);
    config.chip.core.cpi = 60;
    const case_shares s = shares_of(config);
    CHECK(limited_by(s) == "core");
    CHECK(s.core > 0.5);
}

TEST_CASE("with buffers below rate times round trip credits limit")
{
    tpu_v3_config config = small_pod(1 << 20);
    config.run.burst = packet_count(1);
    config.ici.buffer_per_vl = data_size(1024); // a fifth of what the shortest cable needs
    const case_shares s = shares_of(config);
    INFO(s.core << " " << s.dma << " " << s.memory << " " << s.link << " " << s.credits << " " << s.arbitration);
    CHECK(limited_by(s) == "credits");
    CHECK(s.credits > 0.5);
    CHECK(s.link < 0.5);
    CHECK(s.link + s.credits <= 1.01);
}

TEST_CASE("behind packets of its own rank a packet does not wait for others")
{
    // In a ring of neighbours every link carries what one rank sends; in a line the links of the middle are shared.
    tpu_v3_config ring = pod(2, 2);
    ring.run.workload = {spec(abi::collective_op::all_gather, {algorithm::ring_1d}, {1 << 20})};
    const json own = told_shares(ring);
    INFO(own);
    CHECK(own.at("link") > 0.4);
    CHECK(own.at("arbitration") == 0);
    tpu_v3_config line = pod(1, 8);
    line.run.workload = {spec(abi::collective_op::all_to_all, {algorithm::direct}, {1 << 20})};
    CHECK(told_shares(line).at("arbitration") > 0.25);
}

TEST_CASE("what DMA engines take to start and to wake is time of the DMA")
{
    overlapping_time t;
    t.add(10, 20);
    t.add(12, 15); // within
    t.add(18, 30);
    CHECK(t.up_to(25) == 15);
    CHECK(t.up_to(30) == 20);
    t.add(40, 45);
    CHECK(t.up_to(99) == 25);

    trainium_config config;
    config.run.workload = {spec(abi::collective_op::all_reduce, {algorithm::rdh}, {64 << 10})};
    const json s = told_shares(config);
    INFO(s);
    CHECK(s.at("dma") > 0.5);
    CHECK(s.at("limited_by") == "dma");
    config.chip.dma.start = config.chip.dma.wake = duration(0);
    CHECK(told_shares(config).at("dma") < 0.2);
}

TEST_CASE("a DMA engine whose queues start while others move limits nothing")
{
    trainium_config config;
    config.run.data = data_mode::off;
    config.run.workload = {spec(abi::collective_op::all_reduce, {algorithm::device_ring}, {64 << 20})};
    const json s = told_shares(config);
    INFO(s);
    CHECK(s.at("memory") > 0.9);
    CHECK(s.at("limited_by") == "memory");
    CHECK(s.at("dma") < 0.7); // what its wires carried; some queue starts nearly always
}

TEST_CASE("shares of a repeated case are those of all its runs")
{
    ub_mesh_config config = ub_board(4);
    collective_spec repeated = spec(abi::collective_op::all_reduce, {algorithm::direct}, {64 << 10});
    repeated.repeats = 4;
    repeated.start_skew = duration(40'000'000);
    config.run.workload = {repeated};
    ub_machine machine(config, std::make_shared<ub_routes>(config));
    recording seen(machine);
    collective_runner runner("host", machine, config.run, &seen, nullptr);
    const run_outcome outcome = runner.run();
    REQUIRE(outcome.failure.empty());
    const case_result& all = outcome.cases.at(0);
    const run_activity runs = seen.finish();
    REQUIRE(runs.cases.size() == 4);
    // The same bytes in times that count from the last start on.
    for (std::size_t i = 1; i < 4; ++i)
        CHECK(runs.cases[i].shares.link * static_cast<double>(all.repeats_ps.at(i)) ==
              Approx(runs.cases[0].shares.link * static_cast<double>(all.repeats_ps.at(0))).epsilon(0.1));
    double link = 0, core = 0, sum = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        const auto time = static_cast<double>(all.repeats_ps.at(i));
        link += time * runs.cases[i].shares.link;
        core += time * runs.cases[i].shares.core;
        sum += time;
    }
    CHECK(all.shares.link == Approx(link / sum));
    CHECK(all.shares.core == Approx(core / sum));
}

TEST_CASE("a star of cables has its places and its wires on the map")
{
    switchml_config config = rack(4);
    config.run.workload = {switched({64 << 10}), spec(abi::collective_op::all_reduce, {algorithm::ring_1d}, {64 << 10})};
    switchml_machine machine(config);
    recording seen(machine);
    seen.bundles = 8; // of the cables, which the lossless network uses as well
    collective_runner runner("host", machine, config.run, &seen, nullptr);
    REQUIRE(runner.run().failure.empty());
    CHECK(seen.binned_ps == seen.counted_ps);
    const run_activity all = seen.finish();
    REQUIRE(all.map.levels.size() == 1);
    CHECK(all.map.levels[0].places.size() == 5); // four workers and the switch
    CHECK(all.map.levels[0].bundles.size() == 8);
    CHECK(all.map.wires == 8);
    CHECK(all.cases.front().shares.link > 0);
    REQUIRE(all.cases.size() == 3);
    for (const case_activity& c : all.cases) { // no cable twice, by its link and by the port that feeds it
        CHECK(c.wires.size() == 8);
        for (const wire_trouble& w : c.wires)
            CHECK_FALSE(w.local);
        // The mean of the links is that of the cables.
        const std::size_t row = k_work_kinds * c.bins;
        for (std::uint32_t b = 0; b < c.bins; ++b) {
            double sum = 0;
            for (std::size_t bundle = 0; bundle < 8; ++bundle)
                sum += c.bundles[0][bundle * c.bins + b];
            CHECK(c.machine[row + b] == Approx(sum / 8).margin(1));
        }
    }
}
