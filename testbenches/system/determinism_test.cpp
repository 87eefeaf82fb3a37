// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Same configuration and seed, same digest; data on or off, same times.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;

namespace {

/// Times of everything, also of the parts of training steps.
std::vector<std::uint64_t> all_times(const verdict& v)
{
    std::vector<std::uint64_t> all = v.times();
    for (const training_step_result& s : v.training_steps)
        for (const step_part& p : s.parts)
            all.insert(all.end(), {p.start_ps, p.time_ps});
    return all;
}

tpu_v3_config workload()
{
    tpu_v3_config config = pod(4, 4);
    config.run.workload = everything({4, 5000, 262144});
    training_step_config step;
    step.compute = duration(100'000'000);
    step.steps = 2;
    step.overlap = overlap_rule::when_ready;
    step.algorithm = abi::algorithm::row_pair;
    step.groups.resize(2);
    step.groups[0].bytes = data_size(400'000);
    step.groups[0].ready = 0.25;
    step.groups[1].elements = 5001;
    step.exchanges.resize(1);
    step.exchanges[0].count = 2;
    step.exchanges[0].bytes = data_size(4096);
    config.run.training_step = step;
    return config;
}

} // namespace

TEST_CASE("two runs give the same digest and another seed another one")
{
    const verdict first = run_exact(workload());
    const verdict again = run_exact(workload());
    CHECK(again.digest == first.digest);
    CHECK(all_times(again) == all_times(first));
    CHECK(again.events == first.events);
    tpu_v3_config other = workload();
    other.run.seed = 2;
    const verdict changed = run_exact(other);
    CHECK(changed.digest != first.digest);
    CHECK(all_times(changed) == all_times(first)); // the seed changes data, and data do not change times
}

TEST_CASE("data off gives the same simulated times and events")
{
    tpu_v3_config off = workload();
    off.run.data = data_mode::off;
    const verdict checked = run_exact(workload());
    const verdict timed = run_exact(off);
    CHECK(all_times(timed) == all_times(checked));
    CHECK(timed.events == checked.events);
}
