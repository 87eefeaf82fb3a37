// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings of the first phase share no link (Kumar and Jouppi, section 2.2), from the packets of real runs. That the observer would
// see it if they did: a ring that has to go around a broken link, and the second phase.
#include "firmware/context.h"
#include "platforms/report/link_occupancy.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using firmware::data_kind;

namespace {

std::vector<std::uint32_t> both_lanes(data_kind kind)
{
    return {firmware::data_semaphore(0, kind), firmware::data_semaphore(1, kind)};
}

tpu_v3_config all_reduce(algorithm algo, bool transposed = false)
{
    tpu_v3_config config = pod(8, 8);
    config.run.workload = {spec(abi::collective_op::all_reduce, {algo}, {64 << 10})};
    config.run.workload[0].transposed = transposed;
    return config;
}

struct observed {
    ring_sharing first, last, second, forwards;
};

observed observe(const tpu_v3_config& config)
{
    // Here and not in a child: the log of all packets is looked at.
    tpu_v3 machine(config);
    fabric_engine& fabric = machine.ici().engine();
    std::vector<bool> wires;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link)
        wires.push_back(fabric.is_router_link(link));
    link_occupancy seen(wires);
    fabric.set_event_sink(&seen);
    const verdict outcome = run_here(machine, config.run);
    INFO(outcome.failure);
    REQUIRE(outcome.failure.empty());
    CHECK(outcome.unsound == "");
    REQUIRE(outcome.cases.size() == 1);
    CHECK(outcome.cases[0].check.wrong == 0);

    // Every byte that the fabric counted is in the log: nothing went past the observer.
    std::uint64_t counted = 0;
    std::uint64_t logged = 0;
    for (std::uint32_t link = 0; link < fabric.link_count(); ++link)
        counted += wires[link] ? fabric.link_wire_bytes(link) : 0;
    for (std::uint32_t semaphore = 0; semaphore < firmware::k_semaphores; ++semaphore)
        for (const link_use& u : seen.uses(semaphore))
            logged += u.bytes;
    CHECK(logged > 0);
    CHECK(logged <= counted); // notifications take a flit on the wire and have no payload
    CHECK(static_cast<double>(logged) > 0.9 * static_cast<double>(counted));

    std::vector<std::uint32_t> forwards;
    for (std::uint32_t lane = 0; lane < 2; ++lane)
        for (std::uint32_t slot = 0; slot < firmware::k_max_donors; ++slot)
            forwards.push_back(firmware::donor_semaphore(lane, slot));
    return {find_sharing(seen, both_lanes(data_kind::outer_reduce)),
            find_sharing(seen, both_lanes(data_kind::outer_gather)),
            find_sharing(seen, both_lanes(data_kind::inner_gather)), find_sharing(seen, forwards)};
}

} // namespace

TEST_CASE("rings around a failed host share no link in the first and the last phase")
{
    tpu_v3_config config = all_reduce(algorithm::row_pair);
    config.faults.regions = {{2, 2, 2, 4}};
    const observed o = observe(config);
    INFO(o.first.example << "; " << o.last.example);
    // Three whole pairs of rows and two tiles, in both directions.
    for (const ring_sharing* phase : {&o.first, &o.last}) {
        CHECK(phase->rings == 2 * (3 + 2));
        CHECK(phase->ring_links == 2 * (3 * 16 + 2 * 4));
        CHECK(phase->disjoint());
        CHECK(phase->open_streams == 0);
    }
    // Each of the 8 chips in tiles forwards each half, one link up or down.
    CHECK(o.forwards.rings == 0);
    CHECK(o.forwards.open_streams == 2 * 8);
    CHECK(o.forwards.open_links == 8);
}

TEST_CASE("rings around a failed host that lies across them share no link")
{
    tpu_v3_config config = all_reduce(algorithm::row_pair_forward, true);
    config.faults.regions = {{2, 2, 2, 4}};
    const observed o = observe(config);
    INFO(o.first.example);
    // Two whole pairs of columns; in the others three tiles each.
    CHECK(o.first.rings == 2 * (2 + 6));
    CHECK(o.first.ring_links == 2 * (2 * 16 + 6 * 4));
    CHECK(o.first.disjoint());
}

TEST_CASE("a ring that has to go around a broken link shares links and that is seen")
{
    tpu_v3_config config = all_reduce(algorithm::row_pair);
    config.faults.links_down = {{0, 3, mesh_direction::plus_x}};
    const observed o = observe(config);
    CHECK(o.first.rings == 2 * 4);
    CHECK(o.first.shared_links > 0);
    CHECK(o.first.most_rings == 2);
    CHECK_FALSE(o.first.disjoint());
    CHECK(o.first.example.find("ring of 16") != std::string::npos);
}

TEST_CASE("the rings of the second phase share links as the paper says and that is seen")
{
    const observed o = observe(all_reduce(algorithm::row_pair));
    CHECK(o.first.disjoint());
    CHECK(o.second.rings == 2 * 2 * 8); // both parities of rows, both directions, 8 columns
    CHECK(o.second.most_rings > 1);
    CHECK_FALSE(o.second.disjoint());
}
