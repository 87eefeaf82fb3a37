// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Credits and acknowledgements of UB links on the wire that carries them, against hw/fabric/link_control.h in closed form.
#include "testbenches/hw/ub_bench.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace weft;
using namespace weft::testing;

namespace {

constexpr std::uint32_t k_packets = 4000;

struct stream {
    std::uint64_t packets = 0;
    std::uint64_t payload = 1024;
};

struct outcome {
    double interval_ps[2] = {};                  ///< between packets at endpoints 0 and 1, in the middle of the run
    std::uint64_t tails[2] = {};                 ///< a sum over the times at which they arrived
    std::uint64_t control[2] = {}, busy[2] = {}; ///< of the wires from 0 to 1 and back
    std::uint64_t retries = 0;                   ///< of the first
    bool well = false;
    child_text complaint;
};

outcome run(const ub_config& config, stream there, stream back)
{
    const outcome found = in_child<outcome>([&] {
        board_bench b(2, config);
        const auto order = [&](std::uint32_t from, stream s) {
            for (std::uint64_t i = 0; i < s.packets; ++i)
                b.at(from).orders.push_back({1'000'000, 1 - from, s.payload});
        };
        order(0, there);
        order(1, back);
        b.bench.run();
        outcome o;
        o.well = b.bench.first_audit.empty() && b.bench.received() == b.bench.ordered();
        for (std::uint32_t e = 0; e < 2; ++e) {
            const std::vector<arrived> log = b.log(e);
            for (const arrived& a : log)
                o.tails[e] = o.tails[e] * 31 + a.tail_ps;
            if (const std::size_t from = log.size() / 4, to = log.size() / 2; to > from)
                o.interval_ps[e] = static_cast<double>(log[to].tail_ps - log[from].tail_ps) / static_cast<double>(to - from);
        }
        const fabric_engine& engine = b.fabric->engine();
        const std::uint32_t wires[] = {b.fabric->link_of(b.links().at(0, 1)), b.fabric->link_of(b.links().at(1, 0))};
        for (std::uint32_t i = 0; i < 2; ++i) {
            o.control[i] = engine.link_control_bytes(wires[i]);
            o.busy[i] = engine.link_busy_ps(wires[i]);
        }
        o.retries = engine.link_retries(wires[0]);
        return o;
    });
    CHECK(found.complaint.str() == "");
    CHECK(found.well);
    return found;
}

ub_config config_of(std::uint64_t payload, std::uint32_t cell_flits, std::uint32_t return_at = 32)
{
    ub_config c;
    c.paths = ub_path_use::shortest;
    c.max_payload = data_size(payload);
    c.cell_flits = cell_flits;
    c.credit_return_at = return_at;
    return c;
}

/// Bytes of control behind each packet where both wires carry packets of this size and nothing else, by the terms of link_control.h.
double control_of_a_packet(const ub_config& c)
{
    const packet_format f = c.format();
    const std::uint64_t payload = f.max_payload_bytes;
    const auto blocks = static_cast<double>((f.flits_of_one(payload) + c.block_flits - 1) / c.block_flits);
    double packets = static_cast<double>(f.cells_of_one(payload)) - blocks * c.credit_bit_cells; // that stay owed, for now cells
    if (packets <= 0)
        return 0; // acknowledgements: a block of the other wire has as many flits as one bit stands for, or fewer
    packets = std::ceil(c.credit_return_at / packets);
    return 2 * static_cast<double>(c.flit.value()) / packets;
}

} // namespace

TEST_CASE("a stream in one direction pays nothing for its credits that the other wire carries")
{
    const ub_config charged = config_of(1024, 8);
    ub_config free = charged;
    free.control_blocks = ub_control_blocks::free;
    const outcome with = run(charged, {k_packets, 1024}, {});
    const outcome without = run(free, {k_packets, 1024}, {});
    CHECK(with.tails[1] == without.tails[1]);
    CHECK(with.tails[1] != 0);
    CHECK(with.control[0] == 0);
    CHECK(with.control[1] == k_packets * 40);
    CHECK(without.control[1] == 0);
    CHECK(with.busy[0] == without.busy[0]);
    CHECK(with.busy[1] == wire_rate(charged.link_rate(4)).time_ps(k_packets * 40));
}

TEST_CASE("streams in both directions lose what credits and acknowledgements of each other take")
{
    // With UB's own grains nothing is left for control blocks; small cells, for which the bits in headers do not suffice, show the law.
    for (const std::uint64_t payload : {256, 512, 1024, 4096})
        for (const std::uint32_t cell_flits : {1, 2, 8})
            for (const std::uint32_t return_at : {1, 32, 200}) {
                const ub_config c = config_of(payload, cell_flits, return_at);
                const outcome o = run(c, {k_packets, payload}, {k_packets, payload});
                const auto wire = static_cast<double>(c.format().wire_bytes(payload));
                const double control = control_of_a_packet(c);
                const double expected_ps = (wire + control) * 8e12 / static_cast<double>(c.link_rate(4).value());
                CAPTURE(payload, cell_flits, return_at, control, o.interval_ps[0], o.interval_ps[1], expected_ps);
                CHECK(o.interval_ps[0] == Approx(expected_ps).epsilon(0.001));
                CHECK(o.interval_ps[1] == Approx(expected_ps).epsilon(0.001));
                for (const std::uint64_t bytes : o.control)
                    CHECK(std::abs(static_cast<double>(bytes) - control * k_packets) < 0.02 * control * k_packets + 60 * 40);
            }
}

TEST_CASE("large packets that carry the credits of small ones lose more than these")
{
    // Per large packet of W bytes and x bytes of control, (W + x) / w small ones of w bytes and 1 cell arrive; what the blocks of the large one
    // do not give back goes in a control block each `return_at` cells.
    ub_config c = config_of(1024, 8, 32);
    const packet_format f = c.format();
    const auto large = static_cast<double>(f.wire_bytes(1024)), small = static_cast<double>(f.wire_bytes(16));
    const double cells = static_cast<double>(f.cells_of_one(16)), taken = 2.0 * c.credit_bit_cells;
    double control = 0; // a fixed point
    for (int i = 0; i < 20; ++i)
        control = 40 * ((large + control) / small * cells - taken) / c.credit_return_at;
    const outcome o = run(c, {k_packets, 1024}, {12 * k_packets, 16});
    const double expected_ps = (large + control) * 8e12 / static_cast<double>(c.link_rate(4).value());
    const double small_ps = small * 8e12 / static_cast<double>(c.link_rate(4).value());
    CAPTURE(control, expected_ps, o.interval_ps[1], o.interval_ps[0], small_ps);
    CHECK(control > 3);
    CHECK(o.interval_ps[1] == Approx(expected_ps).epsilon(0.001));
    CHECK(o.interval_ps[0] == Approx(small_ps).epsilon(0.001)); // one bit in 11 headers would do
}

TEST_CASE("a request to send again takes 33 flits of the other wire")
{
    ub_config c = config_of(1024, 8);
    c.bit_error_rate = 2e-6;
    const outcome alone = run(c, {k_packets, 1024}, {});
    CHECK(alone.retries > 20);
    CHECK(alone.control[1] == alone.retries * 660 + k_packets * 40);
    const outcome both = run(c, {k_packets, 1024}, {k_packets, 1024});
    CHECK(both.retries > 20);
    CHECK(both.control[1] >= both.retries * 660);
    CHECK(both.control[1] < both.retries * 660 + k_packets * 4); // retries make the wire idle now and then
}
