// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Saturated throughput of UB-Mesh machines: adversarial permutations against path counting (docs/adr/0012), links with bit errors against
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

rates saturate(const ub_shape& shape, ub_path_use use, const ub_partner& partner, const std::function<void(ub_config&)>& tune = {},
               std::uint64_t warm_ps = 40'000'000, std::uint64_t window_ps = 40'000'000)
{
    const ub_ways ways(shape, use == ub_path_use::detour || use == ub_path_use::all, use == ub_path_use::borrow || use == ub_path_use::all);
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

void check_factors(const char* name, const ub_shape& shape, const ub_partner& partner, const std::vector<ub_path_use>& uses)
{
    double shortest_measured = 0, shortest_predicted = 0;
    for (const ub_path_use use : uses) {
        const rates r = saturate(shape, use, partner);
        if (use == ub_path_use::shortest)
            shortest_measured = r.measured, shortest_predicted = r.predicted;
        const double factor = r.measured / shortest_measured, promised = r.predicted / shortest_predicted;
        CAPTURE(name, name_of(use), r.measured, r.predicted, factor, promised);
        std::printf("%-28s %-8s %7.3f of %7.3f lanes a pair (%.1f %%), factor %.3f of %.3f\n", name, name_of(use), r.measured, r.predicted,
                    100 * r.ratio(), factor, promised);
        CHECK(r.ratio() > 0.95);
        CHECK(r.ratio() < 1.05);
        CHECK(factor / promised > 0.95);
        CHECK(factor / promised < 1.05);
    }
}

const std::vector<ub_path_use> k_inside = {ub_path_use::shortest, ub_path_use::detour};
const std::vector<ub_path_use> k_between = {ub_path_use::shortest, ub_path_use::detour, ub_path_use::borrow, ub_path_use::all};

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

TEST_CASE("detours raise the throughput of x + 1, y + 1 on a rack by the factor of path counting")
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
    const ub_shape s = ub_rack(4, 4, 4, 4, 1, true);
    check_factors("col + 1, row + 1", s, shifted(s, {0, 1, 1, 0, 0}), k_between);
}
