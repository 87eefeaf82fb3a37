// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Notices of failed links as packets: when they arrive on idle and on loaded wires, what they cost, whom they reach when more than one link has
// failed, and that nothing hangs where they cannot arrive.
#include "testbenches/support/ub_told_world.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace weft;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_us = 1'000'000;
constexpr std::uint64_t k_notice_bytes =
    100; // headers of 64 B, 16 B of payload, a check sum of 4 B: five flits of 20 B
constexpr std::uint64_t k_fails_ps = 5 * k_us;

struct told {
    std::uint64_t notices, repeats, acknowledgements, duplicates, bytes, hops, wire_bytes, slowest_ps, end_ps,
        not_arrived;
    std::uint64_t expected_ps, at_most_ps; ///< from the failure until the last source has heard
    child_text complaint;
};

told look_at(ub_told_world& w)
{
    told t{};
    t.notices = w.notices->notices.value();
    t.repeats = w.notices->repeats.value();
    t.acknowledgements = w.notices->acknowledgements.value();
    t.duplicates = w.notices->duplicates.value();
    t.bytes = w.fabric.management()->bytes();
    t.hops = w.fabric.management()->hops();
    t.not_arrived = w.fabric.management()->sent() - w.fabric.management()->arrived();
    t.wire_bytes = w.wire_bytes();
    t.slowest_ps = w.notices->slowest.value();
    t.end_ps = w.time.now_ps();
    t.complaint = w.complaint();
    return t;
}

ub_notice_config told_by(ub_notification how)
{
    ub_notice_config faults;
    faults.notification = how;
    return faults;
}

/// One part fails at 5 us.
told run_failure(const ub_ways& ways, const ub_failed_part& part, const std::vector<std::uint32_t>& affected,
                 const ub_notice_config& faults, const ub_load& load = {}, const ub_config& config = {})
{
    return in_child<told>([&] {
        ub_told_world w(ways, config, faults, load);
        w.fail(part, k_fails_ps, affected);
        const std::uint64_t expected_ps =
            ub_notice_times::last_after_ps(w.notices->times().of(part, affected)) - w.notices->times().work_ps();
        const std::uint64_t messages =
            faults.notification == ub_notification::direct ? ub_notice_times::messages_for(affected.size()) : 1;
        const std::uint64_t at_most_ps =
            w.notices->times().at_most_ps(part, affected, messages) - w.notices->times().work_ps();
        sc_core::sc_start();
        told t = look_at(w);
        t.expected_ps = expected_ps;
        t.at_most_ps = at_most_ps;
        return t;
    });
}

/// Sends one packet from each router to each other one, when the one before has arrived.
struct all_pairs final : ub_management_if {
    all_pairs(ub_fabric& f, timeline& t, const ub_management_ways& w) : fabric(f), time(t), ways(w) { next(); }
    void heard(const ub_message& m) override
    {
        wrong += m.from != from || m.to != to || time.now_ps() != due_ps ? 1 : 0;
        ++arrived;
        next();
    }
    void next()
    {
        for (++to;; to = 0, ++from) {
            if (from == fabric.plan().routers.size())
                return;
            for (; to < fabric.plan().routers.size(); ++to) {
                const auto way = to == from ? std::nullopt : ways.quickest({from}, to, ub_management_ways::no_toll);
                if (!way)
                    continue;
                due_ps = time.now_ps() + ways.zero_load_ps(*way);
                return fabric.management()->send({ub_message::kind::notice, 7, from, to}, *way);
            }
        }
    }
    ub_fabric& fabric;
    timeline& time;
    const ub_management_ways& ways;
    std::uint32_t from = 0, to = 0;
    std::uint64_t due_ps = 0, arrived = 0, wrong = 0;
};

ub_shape small_shape(std::uint32_t boards, std::uint32_t npus, bool backplane)
{
    ub_shape s = ub_rack(boards, npus);
    s.backplane = backplane;
    return s;
}

/// CPUs, NICs and spare NPUs of these reach the other rack by more links than a header has instructions.
ub_shape two_racks_1d()
{
    ub_shape s = ub_rack(4, 4, 1, 2);
    s.rack = ub_rack_kind::full_mesh_1d_a;
    return s;
}

/// Routers that live links join to one of `from`.
std::vector<bool> joined(const ub_plan& plan, const std::vector<std::uint32_t>& from, const std::vector<bool>& down)
{
    std::vector<bool> reached(plan.routers.size(), false);
    std::vector<std::uint32_t> queue = from;
    for (const std::uint32_t r : from)
        reached[r] = true;
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (std::uint32_t l = 0; l < plan.links.size(); ++l)
            if (plan.links[l].from == queue[i] && !down[l] && !reached[plan.links[l].to]) {
                reached[plan.links[l].to] = true;
                queue.push_back(plan.links[l].to);
            }
    return reached;
}

/// Fails up to `failures` different links at the times of `when()`, and marks them in `down`.
template <class When>
std::vector<ub_failed_part> fail_some(ub_told_world& w, const ub_ways& ways, traffic_random& random, unsigned failures, std::vector<bool>& down, When&& when)
{
    std::vector<ub_failed_part> parts;
    for (unsigned i = 0; i < failures; ++i) {
        const std::uint32_t l = random.below(static_cast<std::uint32_t>(down.size())) & ~1u;
        if (down[l])
            continue;
        down[l] = down[l + 1] = true;
        parts.emplace_back(l);
        w.fail(l, when(), everybody_in(ways));
    }
    return parts;
}

} // namespace

TEST_CASE("a lone management packet takes the time of the formula from any device to any other")
{
    struct result {
        std::uint64_t arrived, wrong, bytes, wire_bytes, hops, relayed;
        child_text complaint;
    };
    std::uint64_t relayed = 0;
    for (const bool voq : {true, false})
        for (const ub_shape& shape :
             {small_shape(1, 8, false), small_shape(3, 3, true), ub_rack(2, 2, 1, 2, 2), two_racks_1d()}) {
            const ub_ways ways(shape);
            const auto r = in_child<result>([&] {
                ub_config config;
                config.voq = voq;
                ub_told_world w(ways, config, {});
                all_pairs pairs(w.fabric, w.time, w.notices->times().ways());
                w.fabric.management()->set_listener(&pairs);
                sc_core::sc_start();
                result all{pairs.arrived,
                           pairs.wrong,
                           w.fabric.management()->bytes(),
                           w.wire_bytes(),
                           w.fabric.management()->hops(),
                           w.fabric.management()->relayed(),
                           {}};
                all.complaint = w.complaint();
                return all;
            });
            CHECK(r.complaint.str() == "");
            CHECK(r.arrived == ways.plan.routers.size() * (ways.plan.routers.size() - 1));
            CHECK(r.wrong == 0);
            CHECK(r.bytes == (r.arrived + r.relayed) * k_notice_bytes);
            CHECK(r.wire_bytes == r.hops * k_notice_bytes);
            relayed += r.relayed;
        }
    CHECK(relayed > 0); // some ways are longer than a header
}

TEST_CASE("direct: on idle wires each source hears when the formula says and of many the last one within the bound")
{
    for (const ub_shape& shape : {small_shape(1, 8, false), ub_rack()}) {
        const ub_ways ways(shape);
        const ub_notice_config faults = told_by(ub_notification::direct);
        const std::uint32_t link = ways.topology->link_between(0, 1);
        for (const std::uint32_t source : {0u, 1u, 2u, 5u, ways.topology->endpoints() - 1}) {
            const told t = run_failure(ways, link, {source}, faults);
            INFO("source " << source);
            CHECK(t.complaint.str() == "");
            CHECK(t.slowest_ps == t.expected_ps);
            CHECK(t.notices == (source < 2 ? 0u : 1u));
            CHECK(t.acknowledgements == (source < 2 ? 0u : 2u));
            CHECK(t.repeats == 0);
            CHECK(t.bytes == (t.notices + t.acknowledgements) * k_notice_bytes);
            CHECK(t.wire_bytes == t.hops * k_notice_bytes);
        }
        const told all = run_failure(ways, link, everybody_in(ways), faults);
        CHECK(all.complaint.str() == "");
        CHECK(all.slowest_ps >= all.expected_ps);
        CHECK(all.slowest_ps <= all.at_most_ps);
        CHECK(all.notices == ways.topology->endpoints() - 2);
        CHECK(all.acknowledgements == 2 * all.notices);
        CHECK(all.bytes == (all.notices + all.acknowledgements) * k_notice_bytes);
        CHECK(all.wire_bytes == all.hops * k_notice_bytes);
        CHECK(all.not_arrived == 0);
    }
}

TEST_CASE("hop by hop: on idle wires the flood arrives when the formula says by one notice a link")
{
    for (const ub_shape& shape : {small_shape(1, 8, false), ub_rack()})
        for (const std::uint64_t per_hop_ps : {1000 * k_us, 1 * k_us}) {
            const ub_ways ways(shape);
            ub_notice_config faults = told_by(ub_notification::hop_by_hop);
            faults.flood_per_hop = duration(per_hop_ps);
            const told t = run_failure(ways, ways.topology->link_between(0, 1), everybody_in(ways), faults);
            CHECK(t.complaint.str() == "");
            CHECK(t.slowest_ps == t.expected_ps);
            CHECK(t.notices == ways.plan.links.size() - ways.plan.routers.size()); // to all neighbours but one
            CHECK(t.duplicates == t.notices - (ways.plan.routers.size() - 2));
            CHECK(t.bytes == t.notices * k_notice_bytes);
            CHECK(t.wire_bytes == t.hops * k_notice_bytes);
            CHECK(t.hops == t.notices);
        }
}

TEST_CASE("notices wait for packets on loaded wires keep within the bound and packets wait for them")
{
    const ub_ways ways(ub_rack(4, 4));
    ub_load load;
    load.destinations = uniform(ways.topology->endpoints(), 16, 3);
    load.packets_each = 4000; // some 80 us
    const std::uint32_t link = ways.topology->link_between(0, 1);
    ub_config config;
    config.transport = ub_transport::rtp;
    for (const bool direct : {true, false}) {
        ub_notice_config faults = told_by(direct ? ub_notification::direct : ub_notification::hop_by_hop);
        faults.flood_per_hop = duration(k_us);
        const told idle = run_failure(ways, link, everybody_in(ways), faults, {}, config);
        const told loaded = run_failure(ways, link, everybody_in(ways), faults, load, config);
        INFO(loaded.complaint.str());
        CHECK(loaded.slowest_ps > idle.slowest_ps);
        CHECK(loaded.slowest_ps <= loaded.at_most_ps);
        std::printf(
            "4 x 4 NPUs, %s: the last source hears after %.3f us, under full load after %.3f us, at most %.3f us\n",
            name_of(faults.notification), static_cast<double>(idle.slowest_ps) / 1e6,
            static_cast<double>(loaded.slowest_ps) / 1e6, static_cast<double>(loaded.at_most_ps) / 1e6);
    }
}

TEST_CASE("packets wait for notices on the wire that both take")
{
    struct result {
        std::uint64_t last_ps, slot_ps;
        child_text complaint;
    };
    const ub_ways ways(small_shape(1, 2, false));
    constexpr std::uint32_t k_notices = 300;
    const auto last_with = [&](std::uint32_t notices) {
        return in_child<result>([&] {
            ub_load load;
            load.destinations = {{1}, {}};
            load.packets_each = 3000;
            ub_told_world w(ways, {}, told_by(ub_notification::direct), load);
            struct counter_of final : ub_management_if {
                void heard(const ub_message&) override {}
            } nobody;
            w.fabric.management()->set_listener(&nobody);
            w.time.set_run_ahead(false);
            sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
            const auto way = w.notices->times().ways().quickest({0}, 1, ub_management_ways::no_toll);
            for (std::uint32_t i = 0; i < notices; ++i)
                w.fabric.management()->send({ub_message::kind::notice, 0, 0, 1}, *way);
            sc_core::sc_start();
            result r{w.traffic.last_arrival_ps(), w.notices->times().ways().wire_ps(way->links.front()), {}};
            r.complaint = w.complaint();
            return r;
        });
    };
    const result without = last_with(0), with = last_with(k_notices);
    CHECK(without.complaint.str() == "");
    CHECK(with.complaint.str() == "");
    // Control blocks for the answers of the other direction may come or go.
    CHECK(with.last_ps - without.last_ps >= k_notices * with.slot_ps);
    CHECK(with.last_ps - without.last_ps < k_notices * with.slot_ps * 21 / 20);
}

TEST_CASE("the cost of notices grows with the fabric")
{
    struct scale {
        const char* name;
        ub_shape shape;
    };
    told before[2] = {};
    std::printf("%-18s%-12s%10s%10s%12s%14s%12s\n", "", "", "notices", "answers", "bytes", "B on wires", "last, us");
    for (const scale& s : {scale{"board of 8", small_shape(1, 8, false)}, scale{"rack of 8 x 8", ub_rack()},
                           scale{"4 x 4 racks", ub_rack(8, 8, 4, 4)}}) {
        const ub_ways ways(s.shape);
        for (const bool direct : {true, false}) {
            const ub_notice_config faults = told_by(direct ? ub_notification::direct : ub_notification::hop_by_hop);
            const told t = run_failure(ways, ways.topology->link_between(0, 1), everybody_in(ways), faults);
            std::printf("%-18s%-12s%10llu%10llu%12llu%14llu%12.3f\n", s.name, name_of(faults.notification),
                        static_cast<unsigned long long>(t.notices), static_cast<unsigned long long>(t.acknowledgements),
                        static_cast<unsigned long long>(t.bytes), static_cast<unsigned long long>(t.wire_bytes),
                        static_cast<double>(t.slowest_ps) / 1e6);
            CHECK(t.complaint.str() == "");
            told& last = before[direct ? 0 : 1];
            CHECK(t.notices > last.notices);
            CHECK(t.wire_bytes > last.wire_bytes);
            CHECK(t.slowest_ps > last.slowest_ps);
            CHECK(t.slowest_ps <= t.at_most_ps);
            last = t;
        }
    }
}

TEST_CASE("direct: a second failed link on the way of a notice delays it by a timeout and the source hears")
{
    const ub_ways ways(ub_rack(4, 4));
    const std::uint32_t first = ways.topology->link_between(0, 1), source = 10; // npu(b2,2)
    struct result {
        told t;
        bool heard_first, heard_second;
        child_text complaint;
    };
    const auto r = in_child<result>([&] {
        ub_told_world w(ways, {}, told_by(ub_notification::direct));
        const auto pair = w.notices->times().ways().from_nearest_two(
            {0, 1}, {source}, [&](std::uint32_t l) { return l == first || l == (first ^ 1u) ? k_never_ps : 0; });
        const std::uint32_t second = pair[0][0]->links.back(); // of which the end knows nothing
        w.fail(first, k_fails_ps, {source});
        w.fail(second, k_fails_ps, {source});
        sc_core::sc_start();
        const told t = look_at(w);
        return result{t, w.notices->has_heard(0, source), w.notices->has_heard(1, source), t.complaint};
    });
    CHECK(r.complaint.str() == ""); // of the run, or of a child that has died
    CHECK(r.heard_first);
    CHECK(r.heard_second);
    CHECK(r.t.not_arrived > 0);
    CHECK(r.t.repeats > 0);
    CHECK(r.t.slowest_ps > 25 * k_us);
    CHECK(r.t.slowest_ps < 50 * k_us);
}

TEST_CASE("notices end at the border of a fabric that has come apart and nothing hangs")
{
    const ub_ways ways(small_shape(1, 4, false));
    struct result {
        told t;
        bool heard[4];
        child_text complaint;
    };
    for (const bool direct : {true, false}) {
        ub_notice_config faults = told_by(direct ? ub_notification::direct : ub_notification::hop_by_hop);
        faults.flood_per_hop = duration(k_us);
        const auto r = in_child<result>([&] {
            ub_told_world w(ways, {}, faults);
            for (const std::uint32_t a : {0u, 1u})
                for (const std::uint32_t b : {2u, 3u})
                    w.fail(ways.topology->link_between(a, b), k_fails_ps, everybody_in(ways));
            w.fail(ways.topology->link_between(2, 3), 40 * k_us, everybody_in(ways));
            sc_core::sc_start();
            result all{look_at(w), {}, {}};
            for (std::uint32_t e = 0; e < 4; ++e)
                all.heard[e] = w.notices->has_heard(4, e);
            all.complaint = all.t.complaint;
            return all;
        });
        INFO(name_of(faults.notification));
        CHECK(r.complaint.str() == "");
        CHECK_FALSE(r.heard[0]);
        CHECK_FALSE(r.heard[1]);
        CHECK(r.heard[2]);
        CHECK(r.heard[3]);
        CHECK(r.t.end_ps < 1000 * k_us);
    }
}

TEST_CASE("hop by hop: who was cut off hears when a link works again")
{
    const ub_ways ways(small_shape(1, 4, false));
    ub_notice_config faults = told_by(ub_notification::hop_by_hop);
    faults.flood_per_hop = duration(k_us);
    struct result {
        bool heard[4];
        std::uint64_t excluded;
        child_text complaint;
    };
    const auto r = in_child<result>([&] {
        ub_told_world w(ways, {}, faults);
        for (const std::uint32_t a : {0u, 1u})
            for (const std::uint32_t b : {2u, 3u})
                w.fail(ways.topology->link_between(a, b), k_fails_ps, everybody_in(ways),
                       a == 1 && b == 3 ? 100 * k_us : k_never_ps);
        w.fail(ways.topology->link_between(2, 3), 40 * k_us, everybody_in(ways));
        sc_core::sc_start();
        result all{{}, w.fabric.endpoint(0).paths().excluded().size(), {}};
        for (std::uint32_t e = 0; e < 4; ++e)
            all.heard[e] = w.notices->has_heard(4, e);
        all.complaint = w.complaint();
        return all;
    });
    CHECK(r.complaint.str() == "");
    for (const bool heard : r.heard)
        CHECK(heard);
    CHECK(r.excluded == 2 * 4); // three of the four links between the halves, and the one of the other half
}

TEST_CASE("hop by hop: a flood reaches everybody who is joined to an end by live links and nobody else")
{
    struct result {
        std::uint64_t missed, too_far, cut_off, end_ps;
        child_text complaint;
    };
    std::uint64_t cut_off = 0;
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        traffic_random random(seed);
        const ub_ways ways(small_shape(1 + random.below(3), 2 + random.below(3), random.below(3) == 0));
        const unsigned failures = 1 + random.below(6);
        const bool at_once = random.below(2) == 0;
        const auto r = in_child<result>([&] {
            ub_notice_config faults = told_by(ub_notification::hop_by_hop);
            faults.flood_per_hop = duration(k_us);
            ub_config config;
            config.detection = duration(2 * k_us);
            ub_told_world w(ways, config, faults);
            const ub_plan& plan = ways.plan;
            std::vector<bool> down(plan.links.size(), false);
            const std::vector<ub_failed_part> parts =
                fail_some(w, ways, random, failures, down, [&] { return at_once ? k_fails_ps : 1 + random.below(8'000'000); });
            sc_core::sc_start();
            result all{};
            for (std::uint32_t n = 0; n < parts.size(); ++n) {
                const std::vector<bool> at_the_end = joined(plan, parts[n].ends(plan), down);
                std::vector<bool> only_this(plan.links.size(), false);
                for (const std::uint32_t l : parts[n].links(plan))
                    only_this[l] = true;
                const std::vector<bool> ever = joined(plan, parts[n].ends(plan), only_this);
                for (std::uint32_t router = 0; router < plan.routers.size(); ++router) {
                    all.missed += at_the_end[router] && !w.notices->has_heard(n, router) ? 1 : 0;
                    all.too_far += w.notices->has_heard(n, router) && !(at_once ? at_the_end : ever)[router] ? 1 : 0;
                    all.cut_off += at_the_end[router] ? 0 : 1;
                }
            }
            all.end_ps = w.time.now_ps();
            all.complaint = w.complaint();
            return all;
        });
        INFO("seed " << seed << ", " << failures << " failures");
        CHECK(r.complaint.str() == "");
        CHECK(r.missed == 0);
        CHECK(r.too_far == 0);
        CHECK(r.end_ps < 1000 * k_us);
        cut_off += r.cut_off;
    }
    CHECK(cut_off > 0); // some fabrics have come apart
}

TEST_CASE("direct: with up to six failures every source hears that has a way from an end for a notice")
{
    std::uint64_t repeats = 0, cut_off = 0;
    struct result {
        std::uint64_t missed, repeats, cut_off, end_ps;
        child_text complaint;
    };
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        traffic_random random(seed);
        const ub_ways ways(small_shape(1 + random.below(3), 2 + random.below(3), random.below(3) == 0));
        const unsigned failures = 1 + random.below(6);
        const auto r = in_child<result>([&] {
            ub_notice_config faults = told_by(ub_notification::direct);
            faults.notice_timeout = duration(5 * k_us);
            ub_told_world w(ways, {}, faults);
            const ub_plan& plan = ways.plan;
            std::vector<bool> down(plan.links.size(), false);
            const std::vector<ub_failed_part> parts = fail_some(w, ways, random, failures, down, [] { return k_fails_ps; });
            sc_core::sc_start();
            result all{};
            for (std::uint32_t n = 0; n < parts.size(); ++n)
                for (std::uint32_t e = 0; e < ways.topology->endpoints(); ++e) {
                    const bool way =
                        w.notices->times()
                            .ways()
                            .quickest(parts[n].ends(plan), e, [&](std::uint32_t l) { return down[l] ? k_never_ps : 0; })
                            .has_value();
                    all.missed += way && !w.notices->has_heard(n, e) ? 1 : 0;
                    all.cut_off += way ? 0 : 1;
                }
            all.repeats = w.notices->repeats.value();
            all.end_ps = w.time.now_ps();
            all.complaint = w.complaint();
            return all;
        });
        INFO("seed " << seed << ", " << failures << " failures");
        CHECK(r.complaint.str() == "");
        CHECK(r.missed == 0);
        CHECK(r.end_ps < 1000 * k_us);
        repeats += r.repeats;
        cut_off += r.cut_off;
    }
    CHECK(repeats > 0);
    CHECK(cut_off > 0);
}

TEST_CASE("a link that fails again and again leaves no source behind with what is no longer so")
{
    struct result {
        std::uint64_t excluded_between, excluded_at_the_end;
        child_text complaint;
    };
    const ub_ways ways(small_shape(2, 4, true));
    for (const bool direct : {true, false}) {
        ub_notice_config faults = told_by(direct ? ub_notification::direct : ub_notification::hop_by_hop);
        faults.flood_per_hop = duration(7 * k_us); // news of one failure are on their way when the next one comes
        const auto r = in_child<result>([&] {
            ub_told_world w(ways, {}, faults);
            w.time.set_run_ahead(false);
            const std::uint32_t link = ways.topology->link_between(0, 1);
            w.fail(link, 150 * k_us, everybody_in(ways), 153 * k_us); // nobody has declared it dead
            w.fail(link, 60 * k_us, everybody_in(ways), 71 * k_us);
            w.fail(link, 5 * k_us, everybody_in(ways), 45 * k_us);
            w.fail(link, 72 * k_us, everybody_in(ways), 100 * k_us);
            result all{};
            const auto excluded = [&] {
                std::uint64_t n = 0;
                for (std::uint32_t e = 0; e < w.fabric.endpoints(); ++e)
                    n += w.fabric.endpoint(e).paths().excluded().size();
                return n;
            };
            sc_core::sc_start(sc_core::sc_time(40, sc_core::SC_US));
            all.excluded_between = excluded();
            sc_core::sc_start();
            all.excluded_at_the_end = excluded();
            all.complaint = w.complaint();
            return all;
        });
        INFO(name_of(faults.notification));
        CHECK(r.complaint.str() == "");
        CHECK(r.excluded_between > 0);
        CHECK(r.excluded_at_the_end == 0);
    }
}
