// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Zero-load time of every class of paths of UB-Mesh machines against the sum of docs/03_timing_model.md, to the
// picosecond.
#include "hw/ub/ub_link.h"
#include "testbenches/hw/fabric_bench.h"
#include "testbenches/support/ub_patterns.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <sstream>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

/// The one path that the test wants next.
struct chosen_path final : ub_path_source {
    ub_path path;
    std::vector<ub_path> paths(std::uint32_t, std::uint32_t, const std::vector<bool>&) const override { return {path}; }
};

struct probe {
    std::uint32_t from, to, die;
    std::uint64_t payload;
    ub_path path;
};

/// "up Z down" of a path, with the IO die that it begins on.
std::string class_of(const ub_plan& plan, const ub_path& p)
{
    static const char* const names[] = {"X",      "Y",        "up",       "down",       "Z",       "alpha",
                                        "HRS up", "HRS down", "spine up", "spine down", "side up", "side down"};
    std::string text;
    for (const std::uint32_t l : p.links)
        text +=
            fmt::format("{}{}", text.empty() ? "" : ", ", names[static_cast<unsigned>(move_of(plan.links[l].channel))]);
    return text;
}

/// The first and the last path of every class of every kind between the endpoints asked for.
std::vector<probe> probes_of(const ub_ways& ways, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs,
                             const std::vector<std::uint64_t>& payloads, std::map<std::string, unsigned>& classes)
{
    std::vector<probe> all;
    for (const auto& [from, to] : pairs) {
        std::map<std::string, std::vector<ub_path>> ends; // of each class
        for (const ub_path& p : ways.paths->paths(from, to, {})) {
            auto& e = ends[class_of(ways.plan, p)];
            if (e.size() == 2)
                e.pop_back();
            e.push_back(p);
        }
        for (const auto& [name, paths] : ends)
            for (const ub_path& p : paths)
                for (std::uint32_t die = 0; die < ways.plan.routers[from].local_ports; ++die)
                    for (const std::uint64_t payload : payloads) {
                        all.push_back({from, to, die, payload, p});
                        ++classes[name];
                    }
    }
    return all;
}

struct measured {
    std::uint64_t took_ps = 0, expected_ps = 0;
};

/// Sends each probe alone through the fabric.
std::vector<measured> measure(const ub_ways& ways, const ub_config& config, const std::vector<probe>& probes)
{
    fabric_bench bench;
    bench.time.set_run_ahead(true);
    bench.format = config.format();
    auto source = std::make_shared<chosen_path>();
    ub_plan plan = ways.plan;
    plan.paths = source;
    ub_fabric fabric("ub", bench.time, bench.pool, plan, config);
    bench.audited.push_back(&fabric.engine());
    std::vector<std::vector<endpoint*>> points(fabric.endpoints());
    for (std::uint32_t e = 0; e < fabric.endpoints(); ++e)
        for (std::uint32_t die = 0; die < fabric.dies(e); ++die) {
            endpoint& p = bench.new_endpoint(e, k_ub_vls, config.local_port_rate, static_cast<std::uint8_t>(die));
            p.out.bind(fabric.controller(e, die).in);
            fabric.controller(e, die).out.bind(p.in);
            points[e].push_back(&p);
        }
    std::uint64_t at_ps = 0;
    std::map<std::uint64_t, std::size_t> number; // by time of sending
    for (std::size_t i = 0; i < probes.size(); ++i) {
        const probe& p = probes[i];
        at_ps += 100'000'000; // 100 us: alone even with five cables of a kilometre
        bench.events.at(at_ps - 1, [&, i] {
            source->path = probes[i].path;
            fabric.endpoint(probes[i].from).paths().forget();
        });
        points[p.from][p.die]->orders.push_back({at_ps, p.to, p.payload});
        number[at_ps] = i;
    }
    bench.audit_every = 997;
    bench.run();
    CHECK(bench.first_audit == "");
    CHECK(bench.wrong() == 0);
    CHECK(bench.pool.leak_report() == "");
    std::vector<measured> all(probes.size());
    for (const auto& of_endpoint : points)
        for (const endpoint* e : of_endpoint)
            for (const arrived& a : e->log) {
                const std::size_t i = number.at(a.born_ps);
                REQUIRE(a.hops == probes[i].path.links.size());
                REQUIRE(a.source == probes[i].from);
                all[i] = {a.tail_ps - a.born_ps,
                          ub_zero_load_ps(config, plan.routers[probes[i].from].device,
                                          ub_hops(plan, probes[i].path, probes[i].die), probes[i].payload)};
            }
    return all;
}

void check(const ub_ways& ways, const ub_config& config,
           const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs,
           const std::vector<std::uint64_t>& payloads, const std::vector<const char*>& wanted)
{
    std::map<std::string, unsigned> classes;
    const std::vector<probe> probes = probes_of(ways, pairs, payloads, classes);
    for (const char* name : wanted) {
        INFO(name);
        CHECK(classes.count(name) == 1);
    }
    const std::vector<measured> all = measure(ways, config, probes);
    unsigned bad = 0;
    for (std::size_t i = 0; i < probes.size(); ++i) {
        if (all[i].took_ps == all[i].expected_ps && all[i].took_ps > 0)
            continue;
        if (bad++ < 5)
            FAIL_CHECK(class_of(ways.plan, probes[i].path)
                       << " from die " << probes[i].die << ", " << probes[i].payload << " B: took " << all[i].took_ps
                       << " ps, not " << all[i].expected_ps);
    }
    CHECK(bad == 0);
    std::string names;
    for (const auto& [name, n] : classes)
        names += fmt::format("{}[{}] ", name, n);
    INFO(names);
    CHECK(classes.size() >= wanted.size());
}

const std::vector<const char*> k_rack_classes = {"X",
                                                 "Y",
                                                 "X, Y",
                                                 "Y, X",
                                                 "X, X",
                                                 "Y, Y",
                                                 "X, X, Y",
                                                 "X, Y, X",
                                                 "Y, X, X",
                                                 "up, down",
                                                 "up, down, Y",
                                                 "Y, up, down",
                                                 "up, spine up, spine down, down",
                                                 "up, spine up, side down",
                                                 "side up, spine down, down",
                                                 "side up, side down"};

std::vector<std::pair<std::uint32_t, std::uint32_t>> rack_pairs(const ub_ways& w)
{
    const auto& t = *w.topology;
    const std::uint32_t n = t.shape().npus, last = t.shape().npus_per_rack() - 1;
    const std::uint32_t spare = t.spare_router(0), cpu = t.cpu_router(0, 0), nic = t.nic_router(0, 0),
                        nic1 = t.nic_router(0, 1);
    return {{0, 1},     {last, last - 1}, {0, n},     {last, last - n}, {0, n + 1},   {n + 1, 0},
            {n - 1, n}, {0, last},        {0, cpu},   {cpu, last},      {last, nic},  {nic, 0},
            {0, spare}, {spare, last},    {cpu, nic}, {nic, cpu},       {cpu, spare}, {nic, nic1}};
}

} // namespace

TEST_CASE("zero-load time of every class of paths of a rack is the sum of the timing model")
{
    const ub_ways ways(ub_rack(8, 8));
    check(ways, {}, rack_pairs(ways), {1, 64, 512, 1024}, k_rack_classes);
}

TEST_CASE("zero-load time of packets of 4 KiB is the sum of the timing model")
{
    const ub_ways ways(ub_rack(8, 8));
    ub_config config;
    config.max_payload = data_size(4096);
    check(ways, config, rack_pairs(ways), {1, 64, 512, 1024, 4096}, k_rack_classes);
}

TEST_CASE("zero-load time of every class of paths between racks and pods is the sum of the timing model")
{
    const ub_ways ways(ub_rack(4, 4, 2, 3, 2, true));
    const auto& t = *ways.topology;
    const ub_shape& s = t.shape();
    const auto at = [&](std::uint32_t pod, std::uint32_t row, std::uint32_t col, std::uint32_t board,
                        std::uint32_t unit) {
        return rank_at(s, {pod, row, col, board, unit});
    };
    const std::uint32_t me = at(0, 0, 0, 0, 0);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const std::uint32_t other : {at(0, 0, 1, 0, 1), at(0, 0, 1, 1, 1), at(0, 1, 0, 0, 2), at(0, 1, 0, 2, 0),
                                      at(0, 1, 1, 0, 0), at(0, 1, 1, 3, 2), at(1, 0, 0, 0, 0), at(1, 1, 1, 2, 3)}) {
        pairs.push_back({me, other});
        pairs.push_back({other, me});
    }
    for (const std::uint32_t rack : {1u, 3u, 4u, 7u}) { // Z, alpha, both, another pod
        pairs.push_back({t.cpu_router(0, 0), t.nic_router(rack, 1)});
        pairs.push_back({t.nic_router(rack, 0), me});
        pairs.push_back({me, t.cpu_router(rack, 1)});
        pairs.push_back({me, t.spare_router(rack)});
    }
    check(ways, {}, pairs, {1, 64, 512, 1024},
          {"up, Z, down",
           "up, Z, down, Y",
           "Y, up, Z, down",
           "up, alpha, down",
           "up, alpha, down, Y",
           "Y, up, alpha, down",
           "up, Z, alpha, down",
           "up, alpha, Z, down",
           "up, Z, alpha, down, Y",
           "Y, up, alpha, Z, down",
           "up, Z, Z, down",
           "up, Z, Z, alpha, down",
           "up, HRS up, HRS down, down",
           "up, HRS up, HRS down, down, Y",
           "Y, up, HRS up, HRS down, down",
           "up, Z, spine up, side down",
           "side up, spine down, Z, down",
           "side up, spine down, alpha, spine up, side down",
           "side up, spine down, HRS up, HRS down, spine up, side down",
           "up, HRS up, HRS down, spine up, side down"});
}

TEST_CASE("hops of a rack that headers leave to tables take the lookup and lead the same way")
{
    ub_config config;
    config.table_lookup = duration(13'000);
    const ub_ways rack(ub_rack(4, 4), true, true, true);
    check(rack, config, rack_pairs(rack), {64, 1024}, {"X, Y", "Y, X", "X, X, Y", "up, spine up, spine down, down"});
}

TEST_CASE("hops between racks that headers leave to tables take the lookup and lead the same way")
{
    ub_config config;
    config.table_lookup = duration(13'000);
    const ub_ways racks(ub_rack(4, 4, 2, 3, 2, true), true, true, true);
    const std::uint32_t n = racks.topology->shape().npus_per_rack();
    check(racks, config, {{0, n + 1}, {n + 5, 0}, {0, 4 * n + 6}, {0, 7 * n + 6}}, {64, 1024}, {"up, Z, down", "up, Z, alpha, down, Y"});
    unsigned mixed = 0;
    for (const ub_path& p : racks.paths->paths(0, 4 * n + 6, {})) {
        unsigned by_table = 0;
        for (const ub_hop& h : ub_hops(racks.plan, p))
            by_table += h.looked_up ? 1 : 0;
        mixed += by_table > 0 && by_table < p.hops ? 1 : 0;
    }
    CHECK(mixed > 10);
}

TEST_CASE("the worked example of the timing model is what the fabric takes")
{
    const ub_ways ways(ub_rack(8, 8));
    std::map<std::string, unsigned> classes;
    // npu(p0,r0,b0,0) to npu(p0,r0,b3,5), X then Y.
    const ub_config config;
    probe p{0, 3 * 8 + 5, 0, 1024, {}};
    for (const ub_path& path : ways.paths->paths(p.from, p.to, {}))
        if (class_of(ways.plan, path) == "X, Y")
            p.path = path;
    const auto all = measure(ways, config, {p});
    const std::uint64_t wire = config.format().wire_bytes(1024);
    const std::uint64_t link = wire_rate(config.link_rate(4)).time_ps(wire);
    const std::uint64_t by_hand = 3 * 175'000 + 2 * (5'000 + 70'000) + 50'000 + link;
    CHECK(all[0].took_ps == by_hand);
    CHECK(all[0].expected_ps == by_hand);
    std::ifstream file(WEFT_SOURCE_DIR "/docs/03_timing_model.md");
    std::stringstream text;
    text << file.rdbuf();
    INFO("docs/03_timing_model.md should say: " << fmt::format("{} B at 420 Gb/s take {} ps", wire, link) << ", and "
                                                << fmt::format("= {} ps", by_hand));
    CHECK(text.str().find(fmt::format("{} B at 420 Gb/s take {} ps", wire, link)) != std::string::npos);
    CHECK(text.str().find(fmt::format("= {} ps", by_hand)) != std::string::npos);
}
