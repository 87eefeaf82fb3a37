// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups of NPUs that run a collective among themselves at the same time.
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/collective_runner.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {

case_result all_reduce_of_groups(const std::vector<std::vector<std::uint32_t>>& groups)
{
    ub_mesh_config config;
    config.run.data = data_mode::off;
    config.run.burst = packet_count(4);
    config.ub.paths = ub_path_use::shortest;
    config.groups = groups;
    collective_spec spec;
    spec.algorithms = {abi::algorithm::direct};
    spec.sizes = {data_size(16 << 20)};
    spec.chunk = data_size(1 << 20);
    config.run.workload = {spec};
    ub_machine machine(config, std::make_shared<ub_routes>(config));
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    INFO(outcome.failure);
    REQUIRE(outcome.cases.size() == 1);
    CHECK(machine.ub().idle());
    return outcome.cases[0];
}

/// Two shots, each of 1/8 of the data over one x4 link.
double least_us()
{
    const ub_config ub;
    return 2 * (16 << 20) / 8 / (56e9 * ub.payload_efficiency()) * 1e6;
}

} // namespace

TEST_CASE("ub_groups: all boards of a rack sum at once, as fast as one alone could")
{
    std::vector<std::vector<std::uint32_t>> groups(8);
    for (std::uint32_t r = 0; r < 64; ++r)
        groups[r / 8].push_back(r);
    const double us = static_cast<double>(all_reduce_of_groups(groups).time_ps) * 1e-6;
    CHECK(us > least_us());
    CHECK(us < 1.05 * least_us() + 20);
}

TEST_CASE("ub_groups: all columns of a rack sum at once; ranks of a group are no neighbours in number")
{
    std::vector<std::vector<std::uint32_t>> groups(8);
    for (std::uint32_t r = 0; r < 64; ++r)
        groups[r % 8].push_back(r);
    const double us = static_cast<double>(all_reduce_of_groups(groups).time_ps) * 1e-6;
    CHECK(us > least_us());
    CHECK(us < 1.05 * least_us() + 20);
}
