// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Process groups: ranks that run a collective among themselves, all groups at the same time.
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/collective_runner.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {

case_result all_reduce_of_groups(const std::vector<std::string>& groups)
{
    ub_mesh_config config;
    config.run.data = data_mode::off;
    config.ub.paths = ub_path_use::shortest;
    collective_spec spec;
    spec.algorithms = {abi::algorithm::direct};
    spec.sizes = {data_size(16 << 20)};
    spec.chunk = data_size(1 << 20);
    spec.groups = groups;
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
    const double us = static_cast<double>(all_reduce_of_groups({"rows"}).time_ps) * 1e-6;
    CHECK(us > least_us());
    CHECK(us < 1.05 * least_us() + 20);
}

TEST_CASE("ub_groups: all columns of a rack sum at once; ranks of a group are no neighbours in number")
{
    const double us = static_cast<double>(all_reduce_of_groups({"columns"}).time_ps) * 1e-6;
    CHECK(us > least_us());
    CHECK(us < 1.05 * least_us() + 20);
}
