// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A seeded campaign of failures on a rack: one or two links, switches or NPUs fail while every endpoint sends. Every
// packet arrives exactly
// once, or its pair is reported unreachable, and then no path is left or one end is dead. Nothing hangs.
#include "testbenches/support/ub_told_world.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_longest_ps = 20'000'000'000; // 20 ms

struct failure {
    std::uint64_t at_ps = 0;
    std::uint32_t dead = ub_topology::k_none; ///< router, when all of its links fail
    std::vector<std::uint32_t> links;         ///< one of each pair
};

struct scenario {
    std::vector<failure> failures;
    bool told = true; ///< notices, direct
    ub_config config;
    ub_load load;
    std::string text;
};

scenario scenario_of(const ub_ways& ways, std::uint64_t seed, unsigned count)
{
    const ub_topology& t = *ways.topology;
    traffic_random random(seed * 2 + count);
    scenario s;
    for (unsigned i = 0; i < count; ++i) {
        failure f;
        f.at_ps = 1 + random.below(40'000'000);
        const std::uint32_t kind = random.below(4); // half of them single links
        if (kind < 2) {
            f.links = {random.below(static_cast<std::uint32_t>(ways.plan.links.size())) & ~1u};
            s.text += fmt::format("{} - {}", ways.plan.routers[ways.plan.links[f.links[0]].from].name,
                                  ways.plan.routers[ways.plan.links[f.links[0]].to].name);
        } else {
            const std::uint32_t switches = t.routers() - t.endpoints();
            f.dead = kind == 2 ? t.endpoints() + random.below(switches) : random.below(t.shape().ranks());
            for (std::uint32_t port = 0; port < t.ports(f.dead); ++port)
                if (const std::uint32_t l = t.out_link(f.dead, port); l != ub_topology::k_none)
                    f.links.push_back(l & ~1u);
            s.text += "all of " + ways.plan.routers[f.dead].name;
        }
        s.text += fmt::format(" at {} ns; ", f.at_ps / 1000);
        s.failures.push_back(std::move(f));
    }
    s.told = random.below(3) != 0;
    s.config.transport = ub_transport::rtp;
    s.config.buffer_per_vl = data_size(8 << 10);
    s.config.choice = random.below(2) == 0 ? ub_choice::weighted : ub_choice::adaptive;
    s.config.spreading = random.below(4) == 0 ? ub_spreading::flow : ub_spreading::packet;
    if (s.told && random.below(2) == 0)
        s.config.paths = ub_path_use::shortest; // others are found when they are needed
    s.text += fmt::format("{}, {}, {}, {}", s.told ? "direct notices" : "no notices", name_of(s.config.choice),
                          name_of(s.config.spreading), name_of(s.config.paths));
    s.load.seed = seed;
    s.load.packets_each = 24;
    s.load.gap_below_ps = 6'000'000; // over about 40 us
    s.load.destinations = uniform(t.endpoints(), 8, seed);
    return s;
}

/// No path is left between two that live, there or back. Without notices too: the last tries take ways beside the set.
bool excused(const ub_ways& ways, std::uint32_t from, std::uint32_t to, const std::vector<bool>& down)
{
    return ways.paths->paths(from, to, down).empty() || ways.paths->paths(to, from, down).empty();
}

/// What the run says, and what is wrong about its report of unreachable pairs.
ub_outcome play(const ub_ways& ways, const scenario& s)
{
    return in_child<ub_outcome>([&] {
        ub_notice_config faults;
        faults.notification = s.told ? ub_notification::direct : ub_notification::none;
        ub_told_world w(ways, s.config, faults, s.load);
        std::vector<bool> down(ways.plan.links.size(), false);
        for (const failure& f : s.failures)
            for (const std::uint32_t l : f.links) {
                down[l] = down[l ^ 1u] = true;
                if (s.told) {
                    w.fail(l, f.at_ps, everybody_in(ways));
                    continue;
                }
                w.fabric.fail_link_at(l, f.at_ps);
                w.fabric.fail_link_at(l ^ 1u, f.at_ps);
            }
        sc_core::sc_start();
        ub_outcome o{};
        const auto pairs = w.fabric.unreachable();
        o = outcome_of(w);
        std::string text = w.traffic.verdict(pairs);
        const auto add = [&](const std::string& more) { text += more.empty() ? "" : "; " + more; };
        add(w.fabric.engine().audit());
        add(w.pool.leak_report());
        if (w.fabric.engine().packets_inside() != 0)
            add(w.fabric.engine().describe_blocked(4));
        if (!w.fabric.idle())
            add("not idle");
        if (w.time.now_ps() > k_longest_ps)
            add(fmt::format("took {} us", w.time.now_ps() / 1'000'000));
        o.suspected = 0;
        for (const auto& [from, to] : pairs) {
            const bool dead =
                std::any_of(s.failures.begin(), s.failures.end(),
                            [&, a = from, b = to](const failure& f) { return f.dead == a || f.dead == b; });
            if (!dead && !excused(ways, from, to, down))
                add(fmt::format("{} is said not to reach {}", w.fabric.endpoint_name(from),
                                w.fabric.endpoint_name(to)));
            o.suspected += !dead && !ways.paths->paths(from, to, down).empty() ? 1 : 0;
        }
        o.complaint = text;
        return o;
    });
}

/// Runs the seeds first, first + step, ... and returns how many were wrong.
void campaign(unsigned failures, std::uint64_t first, std::uint64_t count)
{
    const ub_ways ways(ub_rack());
    for (std::uint32_t from = 0; from < ways.topology->endpoints(); ++from) // once, for all children
        for (std::uint32_t to = 0; to < ways.topology->endpoints(); ++to)
            ways.plan.paths->paths(from, to, {});
    ub_outcome sum{};
    std::uint64_t longest_ps = 0;
    unsigned wrong = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const scenario s = scenario_of(ways, seed, failures);
        const ub_outcome o = play(ways, s);
        sum.sent += o.sent;
        sum.received += o.received;
        sum.resent += o.resent;
        sum.unreachable += o.unreachable;
        sum.suspected += o.suspected;
        sum.duplicates += o.duplicates;
        longest_ps = std::max(longest_ps, o.end_ps);
        if (o.complaint.str().empty() && o.sent > 0)
            continue;
        if (wrong++ < 5)
            FAIL_CHECK("seed " << seed << ": " << s.text << ": " << o.complaint.str());
    }
    std::printf(
        "%llu runs with %u failures: %llu packets, %llu not delivered, %llu sent again, %llu duplicates dropped, %llu pairs "
        "unreachable, %llu of them only for want of notices, longest %llu us\n",
        static_cast<unsigned long long>(count), failures, static_cast<unsigned long long>(sum.sent),
        static_cast<unsigned long long>(sum.sent - sum.received), static_cast<unsigned long long>(sum.resent),
        static_cast<unsigned long long>(sum.duplicates), static_cast<unsigned long long>(sum.unreachable),
        static_cast<unsigned long long>(sum.suspected), static_cast<unsigned long long>(longest_ps / 1'000'000));
    CHECK(wrong == 0);
    CHECK(sum.resent > 0);
}

} // namespace

TEST_CASE("campaign: 500 racks with one failure under traffic deliver every packet once or report the pair")
{
    campaign(1, 1, 500);
}
TEST_CASE(
    "campaign: 500 racks with two failures under traffic deliver every packet once or report the pair: first half")
{
    campaign(2, 1, 250);
}
TEST_CASE(
    "campaign: 500 racks with two failures under traffic deliver every packet once or report the pair: second half")
{
    campaign(2, 251, 250);
}
