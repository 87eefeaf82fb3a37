// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Training steps whose exchanges run in tiles of a simulated mesh: every rank must hold the sum of its own tile.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;

namespace {

step_exchange exchange(const char* name, std::uint32_t ranks_per_group, std::uint64_t bytes, abi::element_type type)
{
    step_exchange e;
    e.name = name;
    e.count = 3;
    e.bytes = data_size(bytes);
    e.type = type;
    e.ranks_per_group = ranks_per_group;
    return e;
}

/// Boards of 2x2 chips, hosts of 4x2 and pairs, with sizes that leave shards of different length.
training_step_config step_of_tiles(std::vector<std::uint32_t> sizes)
{
    training_step_config c;
    c.compute = duration(100 * k_us);
    for (const std::uint32_t n : sizes) {
        c.exchanges.push_back(exchange("statistics", n, 4096, abi::element_type::float32));
        c.exchanges.push_back(exchange("few", n, 6, abi::element_type::bfloat16));
        c.exchanges.push_back(exchange("odd", n, 4 * 1001, abi::element_type::int32));
    }
    return c;
}

/// Answers right, and all communication exposed: compute waits for every exchange.
training_step_result step_on(tpu_v3_config config, const training_step_config& step)
{
    config.run.training_step = step;
    const verdict outcome = run_exact(config);
    REQUIRE(outcome.training_steps.size() == 1);
    const training_step_result& result = outcome.training_steps[0];
    std::uint64_t sum = 0;
    for (const step_part& p : result.parts) {
        INFO(p.name << " over " << p.what.ranks_per_group << ": " << p.first_wrong);
        CHECK(p.checked);
        CHECK(p.wrong == 0);
        CHECK(p.calls == (p.is_exchange ? 3 : 1));
        if (p.what.ranks_per_group > 0)
            CHECK(p.steps == 2 * (p.what.ranks_per_group - 1)); // a ring of the group
        sum += p.time_ps;
    }
    CHECK(result.exposed_ps() == sum);
    CHECK(result.communication_ps == sum);
    return result;
}

} // namespace

TEST_CASE("exchanges over boards of a 4x4 mesh are right", "[groups]") { step_on(pod(4, 4), step_of_tiles({4})); }

TEST_CASE("exchanges over boards and hosts and pairs of an 8x8 mesh are right", "[groups]")
{
    const training_step_result r = step_on(pod(8, 8), step_of_tiles({4, 8, 2}));
    CHECK(r.parts[0].time_ps < r.parts[3].time_ps); // 6 steps against 14
}

TEST_CASE("groups of gradients over all ranks and exchanges over boards share a step", "[groups]")
{
    training_step_config step = step_of_tiles({4});
    gradient_group gradients;
    gradients.bytes = data_size(100'000);
    step.groups = {gradients};
    step.algorithm = abi::algorithm::row_pair;
    const training_step_result r = step_on(pod(4, 4), step);
    CHECK(r.parts[0].what.algo == abi::algorithm::row_pair);
    CHECK(r.parts[1].what.algo == abi::algorithm::ring_1d);
}

TEST_CASE("exchanges over boards are right around a board that has failed", "[groups]")
{
    tpu_v3_config config = pod(8, 8);
    config.faults.regions = {{2, 4, 2, 2}};
    step_on(config, step_of_tiles({4, 2}));
}
