// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A pod of UB-Mesh with HRS loses devices, one and two at a time: collectives stay exact, and are as fast behind the failure as with the same
// faults from the start.
#include "testbenches/support/small_machines.h"

#include <random>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

TEST_CASE("devices of a pod of UB-Mesh fail alone and in pairs", "[ub][slow]")
{
    ub_mesh_config config = ub_racks(2, 2, 4, 4);
    config.mesh.hrs = true;
    config.ub.transport = ub_transport::rtp;
    config.run.firmware_timeout = duration(20 * k_ms);
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::multi_axis}, std::vector<std::uint64_t>(4, 1 << 20))};
    run_exact(config);
    std::vector<std::string> devices;
    const ub_topology topology(config.mesh, config.cables);
    for (const ub_router_plan& r : topology.plan().routers)
        if (r.name.rfind("npu(", 0) != 0)
            devices.push_back(r.name);
    std::mt19937 random(11);
    for (unsigned i = 0; i < 60; ++i) {
        config.faults.devices.clear();
        std::string text;
        for (unsigned k = 0; k <= i % 2; ++k) {
            ub_device_fault_config f;
            f.device = devices[random() % devices.size()];
            f.at = duration(20 * k_us + random() % (40 * k_us));
            if (k == 0 || f.device != config.faults.devices[0].device)
                config.faults.devices.push_back(f);
            text += f.device + " ";
        }
        INFO(text);
        const verdict later = run_exact(config);
        for (ub_device_fault_config& f : config.faults.devices)
            f.at = duration(0);
        const verdict from_start = run_exact(config);
        const double ratio = static_cast<double>(later.times().back()) / static_cast<double>(from_start.times().back());
        CHECK(ratio < 1.03);
        CHECK(ratio > 0.97);
    }
}
