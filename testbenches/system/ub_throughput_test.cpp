// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Saturated throughput of UB-Mesh machines: adversarial permutations against path counting (docs/adr/0012), links
// with bit errors against
// the retry formula, links with fewer lanes.
#include "hw/ub/ub_link.h"
#include "testbenches/support/ub_patterns.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

struct rates {
    double measured = 0, predicted = 0; ///< lanes a pair
    double ratio() const { return measured / predicted; }
};

/// Payload that one lane carries.
double lane_bytes_per_s(const ub_config& config, std::uint64_t payload)
{
    return static_cast<double>(config.link_rate(4).value()) / 8 / 4 * static_cast<double>(payload) /
           static_cast<double>(config.format().wire_bytes(payload));
}

rates saturate(const ub_shape& shape, ub_path_use use, const ub_partner& partner,
               const std::function<void(ub_config&)>& tune = {}, std::uint64_t warm_ps = 30'000'000,
               std::uint64_t window_ps = 20'000'000)
{
    const ub_ways ways(shape, use == ub_path_use::detour || use == ub_path_use::all,
                       use == ub_path_use::borrow || use == ub_path_use::all);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t r = 0; r < shape.ranks(); ++r)
        pairs.emplace_back(r, partner(r));
    const std::vector<double> loads = link_loads(*ways.paths, pairs);
    rates r;
    r.predicted = 1 / *std::max_element(loads.begin(), loads.end());
    ub_config config;
    config.paths = use;
    if (tune)
        tune(config);
    ub_load load;
    load.destinations = fixed(shape.ranks(), partner);
    load.from_ps = warm_ps;
    load.to_ps = warm_ps + window_ps;
    const double lane = lane_bytes_per_s(config, load.payload_bytes);
    load.packets_each = static_cast<std::uint64_t>(r.predicted * lane * 1.05e-12 * static_cast<double>(load.to_ps) /
                                                   static_cast<double>(load.payload_bytes));
    const ub_outcome o = run_ub(ways, config, load);
    INFO(o.complaint.str());
    CHECK(o.complaint.str() == "");
    r.measured = static_cast<double>(o.counted_bytes) / (static_cast<double>(window_ps) * 1e-12) / shape.ranks() / lane;
    return r;
}

void check_factors(const char* name, const ub_shape& shape, const ub_partner& partner,
                   const std::vector<ub_path_use>& uses)
{
    double shortest_measured = 0, shortest_predicted = 0;
    for (const ub_path_use use : uses) {
        // Sources borrow when packets have waited for as long as the way through an HRS takes longer (docs/adr/0023).
        const bool borrows = use == ub_path_use::borrow || use == ub_path_use::all;
        const rates r = saturate(shape, use, partner, {}, borrows && shape.hrs ? 60'000'000 : 30'000'000);
        if (use == ub_path_use::shortest)
            shortest_measured = r.measured, shortest_predicted = r.predicted;
        const double factor = r.measured / shortest_measured, promised = r.predicted / shortest_predicted;
        CAPTURE(name, name_of(use), r.measured, r.predicted, factor, promised);
        std::printf("%-28s %-8s %7.3f of %7.3f lanes a pair (%.1f %%), factor %.3f of %.3f\n", name, name_of(use),
                    r.measured, r.predicted, 100 * r.ratio(), factor, promised);
        CHECK(r.ratio() > 0.95);
        CHECK(r.ratio() < 1.05);
        CHECK(factor / promised > 0.95);
        CHECK(factor / promised < 1.05);
    }
}

const std::vector<ub_path_use> k_inside = {ub_path_use::shortest, ub_path_use::detour};
const std::vector<ub_path_use> k_between = {ub_path_use::shortest, ub_path_use::detour, ub_path_use::borrow,
                                            ub_path_use::all};

} // namespace

TEST_CASE("detours raise the throughput of x + 1 on a rack by the factor of path counting")
{
    const ub_shape s = ub_rack();
    check_factors("x + 1", s, shifted(s, {0, 0, 0, 0, 1}), k_inside);
}

TEST_CASE("detours raise the throughput of y + 1 on a rack by the factor of path counting")
{
    const ub_shape s = ub_rack();
    check_factors("y + 1", s, shifted(s, {0, 0, 0, 1, 0}), k_inside);
}

TEST_CASE("detours raise the throughput of x + 1 with y + 1 on a rack by the factor of path counting")
{
    const ub_shape s = ub_rack();
    check_factors("x + 1, y + 1", s, shifted(s, {0, 0, 0, 1, 1}), k_inside);
}

TEST_CASE("detour and borrow raise the throughput to the next rack by the factor of path counting")
{
    const ub_shape s = ub_rack(8, 8, 1, 4, 1, true);
    check_factors("next rack", s, shifted(s, {0, 0, 1, 0, 0}), k_between);
}

TEST_CASE("detour and borrow raise the throughput to the rack across by the factor of path counting")
{
    const ub_shape s = ub_rack(8, 8, 3, 3, 1, true);
    check_factors("col + 1, row + 1", s, shifted(s, {0, 1, 1, 0, 0}), k_between);
}

TEST_CASE("throughput by path counting lasts where buffers are large for the lanes of a pair")
{
    // Pairs of these racks have four times the lanes of full ones. What waits for a loaded output fills the pool of its VL, and the link
    // stops for all outputs: docs/17_ub_mesh.md, section 4.
    const ub_shape s = ub_rack(4, 4, 4, 4, 1, true);
    const auto borrowed = [&](data_size buffer) {
        return saturate(
                   s, ub_path_use::borrow, shifted(s, {0, 1, 1, 0, 0}), [=](ub_config& c) { c.buffer_per_vl = buffer; },
                   120'000'000)
            .ratio();
    };
    const double large = borrowed(256_KiB), usual = borrowed(ub_config().buffer_per_vl);
    std::printf("racks of 4x4, borrow, after 120 us: %.1f %% with 256 KiB a VL, %.1f %% with the default\n",
                100 * large, 100 * usual);
    CHECK(large > 0.95);
    CHECK(large < 1.05);
    // 79 %, as docs/17 says: it falls with the number of requests that a die lets wait, 84 % with ub.transmit_queue 144, 78 % with 1024.
    CHECK(usual > 0.76);
    CHECK(usual < 0.82);
}

// --- Links -----------------------------------------------------------------------------------------------------------

namespace {

/// Mean time that a packet takes on a link with bit errors, by the retry of docs/03_timing_model.md: a damaged
/// transmission costs
/// the time until its first damaged block has ended, the way there and back, and the request.
double time_with_retries(const ub_config& config, std::uint64_t payload, duration propagation)
{
    const link_layer_params retry = ub_retry(config, 4);
    const std::uint64_t wire = config.format().wire_bytes(payload);
    const wire_rate rate(config.link_rate(4));
    const double good_flit = std::pow(1 - config.bit_error_rate, 8.0 * static_cast<double>(config.flit.value()));
    const std::uint64_t flits = wire / config.flit.value();
    double damaged = 0, cost = 0; // of one transmission
    for (std::uint64_t f = 0; f < flits; ++f) {
        const double here = std::pow(good_flit, static_cast<double>(f)) * (1 - good_flit); // the first damaged flit
        const std::uint64_t end = std::min<std::uint64_t>(flits, (f / config.block_flits + 1) * config.block_flits);
        damaged += here;
        cost += here *
                static_cast<double>(rate.time_ps(end * config.flit.value()) + 2 * ub_wire(config, propagation).value() +
                                    retry.request.value() + retry.turnaround.value());
    }
    return static_cast<double>(rate.time_ps(wire)) + cost / (1 - damaged);
}

} // namespace

TEST_CASE("bit errors on all links cost the throughput that the retry formula says and no packet")
{
    const ub_shape s = ub_rack(4, 4);
    const ub_ways ways(s, false, false);
    for (const double rate : {0.0, 1e-9, 1e-8, 1e-7, 1e-6}) {
        ub_config config;
        config.paths = ub_path_use::shortest;
        config.bit_error_rate = rate;
        ub_load load;
        load.destinations = fixed(s.ranks(), shifted(s, {0, 0, 0, 0, 1}));
        load.packets_each = 12'000;
        load.from_ps = 10'000'000;
        load.to_ps = 240'000'000;
        const ub_outcome o = run_ub(ways, config, load);
        INFO(o.complaint.str());
        CHECK(o.complaint.str() == "");
        CHECK(o.received == o.sent);
        const double packets = static_cast<double>(o.counted_bytes) / 1024 / s.ranks();
        const double measured = 230e6 / packets;
        const double expected = time_with_retries(config, 1024, duration(5'000));
        std::printf("bit error rate %7.0e: %.1f ps a packet, expected %.1f\n", rate, measured, expected);
        CHECK(measured == Approx(expected).epsilon(0.005));
    }
}

TEST_CASE("bit errors and the end-to-end transport: each packet once on a rack under uniform load")
{
    const ub_ways ways(ub_rack(4, 4));
    for (const auto transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_config config;
        config.transport = transport;
        config.bit_error_rate = 1e-6;
        ub_load load;
        load.packets_each = 400;
        load.destinations = uniform(ways.topology->endpoints(), 400, 3);
        const ub_outcome o = run_ub(ways, config, load);
        INFO(o.complaint.str());
        CHECK(o.complaint.str() == "");
        CHECK(o.received == o.sent);
    }
}

TEST_CASE("a link that goes from x4 to x2 carries half and the others what they did")
{
    const ub_shape s = ub_rack(4, 4);
    const ub_ways ways(s, false, false);
    ub_config config;
    config.paths = ub_path_use::shortest;
    ub_load load;
    load.destinations = fixed(s.ranks(), shifted(s, {0, 0, 0, 0, 1}));
    load.packets_each = 6'000;
    load.from_ps = 20'000'000;
    load.to_ps = 100'000'000;
    struct answer {
        std::uint64_t narrow, other;
        child_text complaint;
    };
    const answer a = in_child<answer>([&] {
        ub_world w(ways, config, load);
        w.fabric.narrow_link_at(ways.topology->link_between(0, 1), 2, 10'000'000);
        sc_core::sc_start();
        answer seen{};
        seen.narrow = w.traffic.counted_bytes(0);
        seen.other = w.traffic.counted_bytes(1);
        seen.complaint = w.complaint();
        return seen;
    });
    CHECK(a.complaint.str() == "");
    CHECK(static_cast<double>(a.narrow) == Approx(static_cast<double>(a.other) / 2).epsilon(0.002));
    CHECK(static_cast<double>(a.other) == Approx(lane_bytes_per_s(config, 1024) * 4 * 80e-6).epsilon(0.002));
}

TEST_CASE("a link whose retries are used up goes down and its traffic goes on by other paths")
{
    const ub_ways ways(ub_rack(4, 4));
    ub_config config;
    config.transport = ub_transport::rtp;
    ub_load load;
    load.packets_each = 2'000;
    load.destinations = uniform(16, 2'000, 9);
    struct answer {
        std::uint64_t sent, received, resent;
        bool dead;
        child_text complaint;
    };
    const answer a = in_child<answer>([&] {
        ub_world w(ways, config, load);
        const std::uint32_t link = w.fabric.link_of(ways.topology->link_between(0, 1));
        link_layer_params bad = ub_retry(config, 4);
        bad.bit_error_rate = 1e-2; // no packet gets through
        w.fabric.engine().set_link_layer(link, bad);
        sc_core::sc_start();
        answer seen{};
        seen.sent = w.traffic.sent();
        seen.received = w.traffic.received();
        seen.resent = w.fabric.sum(&ub_endpoint::resent);
        seen.dead = w.fabric.engine().link_dead(link);
        seen.complaint = w.complaint();
        return seen;
    });
    CHECK(a.complaint.str() == "");
    CHECK(a.dead);
    CHECK(a.resent > 0);
    CHECK(a.received == a.sent);
}
