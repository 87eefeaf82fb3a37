// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Training steps: the schedule against a host of fixed times, and whole steps on a simulated 4x4 mesh.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;

namespace {

gradient_group group(std::uint64_t bytes, double ready)
{
    gradient_group g;
    g.bytes = data_size(bytes);
    g.ready = ready;
    return g;
}

step_exchange exchange(std::uint32_t count, double from, double to)
{
    step_exchange e;
    e.count = count;
    e.bytes = data_size(4096);
    e.from = from;
    e.to = to;
    return e;
}

/// Every collective takes one microsecond per 1000 bytes, exchanges of 4 KiB 4.096.
class fixed_host final : public step_host {
public:
    bool run_collective(const collective_case& c, std::uint64_t, std::uint64_t offset, std::uint64_t seed,
                        case_result& r) override
    {
        r = case_result{};
        r.what = c;
        r.time_ps = c.size_bytes * 1000;
        now_ps += r.time_ps;
        offsets.push_back(offset);
        seeds.push_back(seed);
        return true;
    }
    bool compute(std::uint64_t time_ps) override
    {
        now_ps += time_ps;
        return true;
    }
    std::uint32_t replicas() const override { return 16; }
    std::uint64_t now_ps = 0;
    std::vector<std::uint64_t> offsets, seeds;
};

training_step_result schedule(const training_step_config& config)
{
    REQUIRE(is_sound(config));
    fixed_host host;
    training_step_result result;
    std::string part;
    REQUIRE(run_training_step(config, host, 1, result, part));
    CHECK(result.time_ps == host.now_ps); // what is reported is what has passed
    CHECK(result.time_ps >= result.compute_ps);
    CHECK(result.exposed_ps() <= result.communication_ps);
    for (const step_part& p : result.parts)
        CHECK(p.start_ps >= p.ready_ps);
    return result;
}

training_step_config config_of(overlap_rule overlap, std::vector<gradient_group> groups)
{
    training_step_config c;
    c.compute = duration(100 * k_us);
    c.overlap = overlap;
    c.groups = std::move(groups);
    return c;
}

training_step_result step_on_mesh(const training_step_config& step, data_mode data)
{
    tpu_v3_config config = pod(4, 4);
    config.run.data = data;
    config.run.training_step = step;
    const verdict outcome = run_exact(config);
    REQUIRE(outcome.training_steps.size() == step.steps);
    for (const training_step_result& s : outcome.training_steps)
        for (const step_part& p : s.parts) {
            CHECK(p.checked == (data == data_mode::checked));
            CHECK(p.wrong == 0);
            CHECK(p.steps > 0);
        }
    return outcome.training_steps.back();
}

} // namespace

TEST_CASE("without overlap a step is its compute and all its all-reduces")
{
    const training_step_result r = schedule(config_of(overlap_rule::none, {group(30'000, 0.1), group(20'000, 1)}));
    CHECK(r.time_ps == 150 * k_us);
    CHECK(r.exposed_ps() == 50 * k_us);
    CHECK(r.share() == Approx(1.0 / 3));
    CHECK(r.parts[0].start_ps == 100 * k_us);
    CHECK(r.parts[1].start_ps == 130 * k_us);
}

TEST_CASE("overlap hides what fits in order and one at a time")
{
    // Ready at 20 and 30 us, 40 us each: the second waits for the first and both end at 100 us.
    training_step_result r = schedule(config_of(overlap_rule::when_ready, {group(40'000, 0.2), group(40'000, 0.3)}));
    CHECK(r.time_ps == 100 * k_us);
    CHECK(r.exposed_ps() == 0);
    CHECK(r.communication_ps == 80 * k_us);
    CHECK(r.parts[1].ready_ps == 30 * k_us);
    CHECK(r.parts[1].start_ps == 60 * k_us);
    // One that is ready at the end is exposed in full; one that is ready earlier but later in the file does not overtake.
    r = schedule(config_of(overlap_rule::when_ready, {group(10'000, 1), group(5'000, 0)}));
    CHECK(r.exposed_ps() == 15 * k_us);
    CHECK(r.parts[1].ready_ps == 0);
    CHECK(r.parts[1].start_ps == 110 * k_us);
}

TEST_CASE("compute waits for exchanges and these go before waiting groups")
{
    training_step_config c = config_of(overlap_rule::when_ready, {group(40'000, 0.1), group(10'000, 0.2)});
    c.exchanges = {exchange(2, 0.2, 0.4)}; // at 25 and 35 us of compute
    const training_step_result r = schedule(c);
    // 10 us compute; group 0 until 50 us, compute stops at 25 us of it; exchange until 54.096; group 1 runs 10 us beside compute
    // up to the second exchange at 35 us of compute; exchange until 68.192; 65 us of compute are left.
    CHECK(r.parts[0].start_ps == 10 * k_us);
    CHECK(r.parts[2].ready_ps == 25 * k_us);
    CHECK(r.parts[2].start_ps == 50 * k_us);
    CHECK(r.parts[1].start_ps == 54'096'000);
    CHECK(r.parts[2].calls == 2);
    CHECK(r.time_ps == 68'192'000 + 65 * k_us);
    // All of it when nothing overlaps.
    c.overlap = overlap_rule::none;
    CHECK(schedule(c).time_ps == 150 * k_us + 2 * 4'096'000);
}

TEST_CASE("buffers of a step do not overlap and every collective has inputs of its own")
{
    training_step_config c = config_of(overlap_rule::none, {group(5000, 1), group(100, 1)});
    c.exchanges = {exchange(2, 0, 1)};
    fixed_host host;
    training_step_result result;
    std::string part;
    REQUIRE(run_training_step(c, host, 7, result, part));
    CHECK(host.offsets == std::vector<std::uint64_t>{12288, 12288, 0, 8192});
    CHECK(host.seeds == std::vector<std::uint64_t>{7, 8, 9, 10});
    CHECK(c.buffer_bytes() == 8192 + 4096 + 4096);
    CHECK(c.collectives() == 4);
}

TEST_CASE("micro batches repeat compute and exchanges and groups are ready in the last one")
{
    training_step_config c = config_of(overlap_rule::when_ready, {group(30'000, 0.5)});
    c.exchanges = {exchange(2, 0, 1)};
    c.accumulation = 3;
    c.micro_batch = 20;
    const std::uint64_t batch_ps = c.compute.value();
    const training_step_result r = schedule(c);
    CHECK(r.compute_ps == 3 * batch_ps);
    CHECK(r.parts[1].calls == 6);
    CHECK(r.parts[0].ready_ps >= 2 * batch_ps + batch_ps / 2);
    CHECK(r.samples == 16 * 20 * 3);
    CHECK(c.collectives() == 1 + 6);
}

TEST_CASE("without overlap the throughput of a step is that of the law")
{
    training_step_config c = config_of(overlap_rule::none, {group(30'000, 1), group(20'000, 1)});
    c.exchanges = {exchange(2, 0, 1)};
    c.accumulation = 5;
    c.micro_batch = 7;
    const training_step_result r = schedule(c);
    // T_MB: compute and two exchanges of 4.096 us; T_AR: 50 us.
    const double t_mb = static_cast<double>(c.compute.value()) + 2 * 4'096'000.0, t_ar = 50'000'000;
    CHECK(r.t_ar_ps() == 50'000'000);
    CHECK(r.throughput() == Approx(16.0 * 7 * 5 * 1e12 / (5 * t_mb + t_ar)));
    CHECK(r.law(static_cast<double>(r.t_ar_ps())) == Approx(r.throughput()));
    CHECK(r.law(0) == Approx(16.0 * 7 * 1e12 / t_mb));
}

TEST_CASE("groups are merged up to a size in order and by type")
{
    training_step_config c = config_of(overlap_rule::when_ready, {group(4'000, 0.1), group(4'000, 0.6), group(4'000, 0.2), group(4'000, 0.9), group(4'000, 1)});
    c.groups[3].type = abi::element_type::bfloat16;
    c.merge_up_to = data_size(8'000);
    const std::vector<gradient_group> summed = c.summed();
    REQUIRE(summed.size() == 3); // 0+1, then 3, which has another type, then 2+4
    CHECK(summed[0].size_bytes() == 8'000);
    CHECK(c.ready_ps(summed[0]) == c.ready_ps(c.groups[1])); // the later one
    CHECK(summed[1].type == abi::element_type::bfloat16);
    CHECK(summed[1].size_bytes() == 4'000);
    CHECK(summed[2].size_bytes() == 8'000);
    CHECK(c.ready_ps(summed[2]) == c.ready_ps(c.groups[4]));
    CHECK(schedule(c).parts.size() == 3);
    CHECK(c.clusters(false).size() == 3); // of all types: 0+1, 2+3, 4
    c.merge_up_to = data_size(7'999);
    CHECK(c.summed().size() == 5);
    c.merge_up_to.reset();
    CHECK(c.summed().size() == 5);
}

TEST_CASE("a step is no shorter than its samples take and waits for them as the settings say")
{
    training_step_config c = config_of(overlap_rule::none, {group(30'000, 1)});
    c.micro_batch = 10;
    const std::uint64_t alone = schedule(c).time_ps;
    c.input.data = sample_source::generated;
    c.input.sample = data_size(1000);
    c.input.link_rate = bandwidth(1'000'000'000);
    // 160 samples of 8000 bits over 1 Gb/s.
    const std::uint64_t takes = 1'280'000'000;
    training_step_result r = schedule(c);
    CHECK(r.time_ps == std::max(takes, alone));
    CHECK(r.input_ps == r.time_ps - alone);
    CHECK(r.exposed_ps() == alone - r.compute_ps);
    c.input.prefetch = false;
    CHECK(schedule(c).time_ps == takes + alone);
    c.input.prefetch = true;
    c.input.data = sample_source::real;
    c.input.samples_per_second = 10'000;
    c.input.instances = 4;
    CHECK(schedule(c).time_ps == 4'000'000'000); // 160 samples by four instances
    c.input.numa_nodes = 2;
    CHECK(schedule(c).time_ps == 8'000'000'000); // of which two find room
    c.input.hosts_per_pod = 2;
    CHECK(schedule(c).time_ps == 4'000'000'000); // on each of two hosts
    CHECK(c.input.transfer_ps(160) == takes / 2);
    c.input.pods = 4;
    CHECK(schedule(c).time_ps == 1'000'000'000);
    c.input.hosts_per_pod = 0;
    c.input.links = 1000;
    c.input.samples_per_second = 1e9;
    CHECK(schedule(c).time_ps == alone);
    c.input.data = sample_source::synthetic;
    CHECK(schedule(c).input_ps == 0);
}

TEST_CASE("on a mesh the step is compute plus the all-reduces and every answer is right")
{
    training_step_config c = config_of(overlap_rule::none, {group(400'000, 1), group(100'002, 0.5)});
    c.groups[1].type = abi::element_type::bfloat16;
    c.algorithm = abi::algorithm::row_pair;
    c.exchanges = {exchange(3, 0.1, 0.9)};
    c.steps = 2;
    const training_step_result r = step_on_mesh(c, data_mode::checked);
    std::uint64_t sum = 0;
    for (const step_part& p : r.parts)
        sum += p.time_ps;
    CHECK(r.communication_ps == sum);
    CHECK(r.time_ps == c.compute.value() + sum); // posting takes the host no time
    CHECK(r.parts[2].calls == 3);
}

TEST_CASE("overlap on a mesh hides a group that fits and exposes one that is ready last")
{
    training_step_config c = config_of(overlap_rule::when_ready, {group(400'000, 0.2), group(100'000, 1)});
    c.algorithm = abi::algorithm::two_d;
    const training_step_result r = step_on_mesh(c, data_mode::off);
    CHECK(r.parts[0].start_ps == 20 * k_us);
    CHECK(r.exposed_ps() == r.parts[1].time_ps); // the first one is hidden
    CHECK(r.share() < 0.5);
    CHECK(r.communication_ps == r.parts[0].time_ps + r.parts[1].time_ps);
    CHECK(r.parts[0].time_ps < 80 * k_us);
}

TEST_CASE("a step that would pass the time limit says so")
{
    tpu_v3_config config = pod(4, 4);
    config.run.time_limit = duration(50 * k_us);
    config.run.training_step = config_of(overlap_rule::none, {group(4096, 1)});
    const verdict outcome = run(config);
    CHECK(outcome.failure.find("training step 0, compute: ") == 0);
    CHECK(outcome.failure.find("time_limit") != std::string::npos);
    CHECK(outcome.training_steps.empty());
}
