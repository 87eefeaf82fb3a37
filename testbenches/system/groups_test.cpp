// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Process groups: ranks that run a collective among themselves, all groups at the same time.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;

namespace {

case_result all_reduce_of_groups(const std::vector<std::string>& groups)
{
    ub_mesh_config config;
    config.run.data = data_mode::off;
    config.ub.paths = ub_path_use::shortest;
    config.run.name = "test";
    config.run.workload = {all_reduce({abi::algorithm::direct}, {16 << 20})};
    config.run.workload[0].chunk = data_size(1 << 20);
    config.run.workload[0].groups = groups;
    const verdict v = run_exact(config);
    REQUIRE(v.cases.size() == 1);
    return v.cases[0];
}

/// Two shots, each of 1/8 of the data over one x4 link.
double least_us()
{
    const ub_config ub;
    return 2 * (16 << 20) / 8 / (56e9 * ub.payload_efficiency()) * 1e6;
}

} // namespace

TEST_CASE("ub_groups: all boards of a rack sum at once as fast as one alone could")
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
