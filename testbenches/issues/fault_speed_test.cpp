// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A fault that is far away, and timeouts that never come, must not make the event queue slow.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

struct queue_work {
    double events = 0, moves = 0;
    bool failed = false;
};

queue_work work_of(const ub_mesh_config& config)
{
    const verdict v = run(config, {}, [](ub_machine& m, json& more) { more["moves"] = m.time().extra_moves(); });
    return {static_cast<double>(v.events), v.more.at("moves").get<double>(), v.failed};
}

} // namespace

TEST_CASE("a link that fails in mid-run leaves the cost of an event what it was", "[ub]")
{
    // A rack that keeps thousands of events pending, as configs/ub_mesh/rack_link_down.yaml does.
    ub_mesh_config config = ub_rack();
    config.ub.transport = ub_transport::rtp;
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {1 << 20})};
    const queue_work healthy = work_of(config);
    config.faults.links = {link_fault("npu(p0,r0,b0,0)", "npu(p0,r0,b0,1)", 20 * k_us)};
    const queue_work faulty = work_of(config);
    CHECK_FALSE(healthy.failed);
    CHECK_FALSE(faulty.failed);
    fmt::print("events {:.0f} and with the fault {:.0f}; moves in the queue per event {:.2f} and {:.2f}\n",
               healthy.events, faulty.events, healthy.moves / healthy.events, faulty.moves / faulty.events);
    CHECK(faulty.events < 1.5 * healthy.events);
    CHECK(healthy.moves < 8 * healthy.events);
    CHECK(faulty.moves < 8 * faulty.events);
}
