// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Why ctp takes longer than rtp for the all-to-all of a healthy rack: it holds fewer packets for its ports, rtp 4096.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

double time_us(ub_transport transport, std::uint32_t room)
{
    ub_mesh_config config = ub_rack();
    config.run.data = data_mode::off;
    config.run.workload = {spec(collective_op::all_to_all, {algorithm::direct}, {4 << 20})};
    config.ub.paths = ub_path_use::shortest;
    config.ub.transport = transport;
    (transport == ub_transport::ctp ? config.ub.transmit_queue : config.ub.rtp_send_buffer) = room;
    const verdict v = run_exact(config);
    CHECK(v.stat("ub.resent") == 0);
    return static_cast<double>(v.time()) / 1e6;
}

} // namespace

TEST_CASE("ctp and rtp take the same time for an all-to-all where their controllers hold as many packets", "[ub]")
{
    // Ports share what a controller holds, and each local port serves all ranks in turn, which loads all ports alike: so 64 packets are as
    // good as 4096. Other orders of packets make 0.2 % either way.
    double before = 1e9;
    for (const std::uint32_t room : {64u, 256u, 1024u, 4096u}) {
        const double ctp = time_us(ub_transport::ctp, room), rtp = time_us(ub_transport::rtp, room);
        fmt::print("{} packets: ctp {:.1f} us, rtp {:.1f} us\n", room, ctp, rtp);
        CHECK(ctp < 1.002 * before);
        CHECK(ctp < 1.01 * rtp); // rtp keeps packets until they are acknowledged, which takes room as well
        if (room >= 1024)
            CHECK(ctp > 0.99 * rtp);
        before = ctp;
    }
    const ub_config defaults;
    CHECK(defaults.transmit_queue == 576);
    CHECK(defaults.rtp_send_buffer == 4096);
    CHECK(time_us(ub_transport::ctp, defaults.transmit_queue) < 1.05 * before);
}
