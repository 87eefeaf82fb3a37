// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Same configuration and seed, same digest; data on or off, same times. Each run needs a process of its own, so the runs are
// children of the test and report through a pipe.
#include "testbenches/support/child.h"
#include "testbenches/system/pod_bench.h"

#include <cstdio>
#include <functional>

using namespace weft;
using namespace weft::test;

namespace {

struct fingerprint {
    std::uint64_t digest = 0;
    std::uint64_t times = 0; ///< digest of the times alone
    std::uint64_t events = 0;
    bool operator==(const fingerprint& o) const { return digest == o.digest && times == o.times && events == o.events; }
};

fingerprint fingerprint_of(const tpu_v3_config& config)
{
    tpu_v3 machine(config);
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    if (!outcome.failure.empty())
        throw std::runtime_error(outcome.failure);
    fingerprint f;
    f.digest = outcome.digest;
    for (const case_result& r : outcome.cases)
        f.times = f.times * 1'000'003 + r.time_ps;
    for (const training_step_result& s : outcome.training_steps)
        for (const step_part& p : s.parts)
            f.times = (f.times * 1'000'003 + p.start_ps) * 1'000'003 + p.time_ps;
    f.events = machine.time().events();
    return f;
}

fingerprint run_in_child(const tpu_v3_config& config)
{
    return testing::value_from_child([&] { return fingerprint_of(config); });
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
    const fingerprint first = run_in_child(workload());
    CHECK(run_in_child(workload()) == first);
    tpu_v3_config other = workload();
    other.run.seed = 2;
    const fingerprint changed = run_in_child(other);
    CHECK(changed.digest != first.digest);
    CHECK(changed.times == first.times); // the seed changes data, and data do not change times
}

TEST_CASE("data off gives the same simulated times and events")
{
    tpu_v3_config off = workload();
    off.run.data = data_mode::off;
    const fingerprint checked = run_in_child(workload());
    const fingerprint timed = run_in_child(off);
    CHECK(timed.times == checked.times);
    CHECK(timed.events == checked.events);
}
