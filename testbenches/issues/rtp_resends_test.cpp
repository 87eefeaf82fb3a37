// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The end-to-end transport sends nothing again that was not lost, and where it does it says so.
#include "testbenches/system/ub_bench.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

ub_mesh_config loaded_rack(std::uint64_t bytes)
{
    ub_mesh_config config = ub_rack();
    config.ub.transport = ub_transport::rtp;
    config.run.data = data_mode::off;
    config.run.workload = {ub_spec(collective_op::all_to_all, {algorithm::direct}, {bytes})};
    return config;
}

} // namespace

TEST_CASE("nothing is sent again on a loaded rack that loses nothing", "[ub]")
{
    for (const auto use : {ub_path_use::shortest, ub_path_use::all}) {
        ub_mesh_config config = loaded_rack(6 << 20);
        config.ub.paths = use;
        // Above the loaded round trip that `weft check` computes; 32 MiB a rank with the default need as much, and longer runs.
        config.ub.rtp_timeout = duration(15 * k_us);
        const ub_verdict v = run_exact(config);
        fmt::print("{}: {} packets sent, {} again, {:.1f} us\n", name_of(use), v.sent, v.resent,
                   static_cast<double>(v.time()) / 1e6);
        CHECK(v.dropped == 0);
        CHECK(v.resent == 0);
        CHECK_FALSE(v.warns("sent again"));
    }
}

TEST_CASE("packets that are sent again though none was lost are reported", "[ub]")
{
    // A wait far below the first round trip: no estimate can know better before the first acknowledgement.
    ub_mesh_config config = loaded_rack(1 << 20);
    config.ub.rtp_timeout = duration(500'000);
    const std::vector<config_problem> told = config.validate();
    const auto warning =
        std::find_if(told.begin(), told.end(), [](const config_problem& p) { return p.key == "ub.rtp_timeout"; });
    REQUIRE(warning != told.end());
    CHECK(warning->level == severity::warning);
    CHECK(warning->message.find("an acknowledgement takes") != std::string::npos);
    const ub_verdict v = run_exact(config);
    CHECK(v.dropped == 0);
    CHECK(v.resent > 0);
    INFO(v.warnings.data());
    CHECK(v.warns("packets were sent again"));
    CHECK(v.warns("although the first copy arrived"));
    // The default wait is above the loaded round trip that can be computed.
    for (const config_problem& p : loaded_rack(1 << 20).validate())
        CHECK(p.key != "ub.rtp_timeout");
}
