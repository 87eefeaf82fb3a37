// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The points of the burst sweep: their number, that they are the same every time, and that every value is there and can run.
#include "platforms/cli/burst_points.h"
#include "platforms/cli/point_runs.h"
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace weft;
using namespace weft::cli;
using weft::testing::has;

namespace {

const std::string k_configs = std::string(WEFT_SOURCE_DIR) + "/configs";

const sweep_family& family(const std::string& name)
{
    for (const sweep_family& f : sweep_families())
        if (f.name == name)
            return f;
    FAIL("no family " << name);
    return sweep_families().front();
}

const sweep_axis& axis(const sweep_family& f, const std::string& name)
{
    for (const sweep_axis& a : f.axes)
        if (a.name == name)
            return a;
    FAIL(f.name << " has no axis " << name);
    return f.axes.front();
}

std::vector<std::string> names_of(const std::vector<sweep_point>& points)
{
    std::vector<std::string> names;
    for (const sweep_point& p : points)
        names.push_back(p.name());
    return names;
}

/// `texts`, each set for `key` by one value of the axis.
void sets(const std::string& of, const std::string& name, const std::string& key, const std::vector<std::string>& texts)
{
    for (const std::string& text : texts) {
        INFO(of << ", " << name << ": " << key << "=" << text);
        const auto& all = axis(family(of), name).values;
        CHECK(std::any_of(all.begin(), all.end(), [&](const sweep_value& v) {
            return std::find(v.overrides.begin(), v.overrides.end(), key + "=" + text) != v.overrides.end();
        }));
    }
}

sweep_family small_family(std::uint32_t share)
{
    sweep_family f;
    f.name = "small";
    f.share = share;
    f.axes = {{"a", {{"0", {}, {}}, {"1", {}, {}}, {"2", {}, {}}}, false},
              {"b", {{"0", {}, {}}, {"1", {}, {}}}, false}};
    return f;
}

} // namespace

TEST_CASE("the sweep has all combinations of the values of its axes", "[bursts]")
{
    CHECK(family("tpu_v3 mesh").count() == 3 * 3 * 4 * 3 * 4 * 4 * 3 * 2);
    CHECK(family("ub_mesh").count() == 2 * 7 * 3 * 5 * 3 * 4 * 4 * 3 * 2);
    CHECK(family("switchml star").count() == 4 * 5 * 3 * 4 * 4 * 2);
    std::uint64_t sum = 0;
    for (const sweep_family& f : sweep_families())
        sum += f.count();
    const std::vector<std::string> names = names_of(sweep_points(sweep_subset::all, 0, 0));
    CHECK(names.size() == sum);
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == sum);

    for (const sweep_family& f : sweep_families())
        for (const sweep_axis& a : f.axes) {
            std::set<std::string> values;
            for (const sweep_value& v : a.values) {
                INFO(f.name << ", " << a.name << ": " << v.name << " twice");
                CHECK(values.insert(v.name).second);
            }
        }

    const sweep_family f = small_family(1);
    std::set<std::string> places;
    for (std::uint64_t i = 0; i < f.count(); ++i)
        places.insert(sweep_point{&f, i}.where());
    CHECK(places ==
          std::set<std::string>{"a: 0, b: 0", "a: 0, b: 1", "a: 1, b: 0", "a: 1, b: 1", "a: 2, b: 0", "a: 2, b: 1"});
}

TEST_CASE("the sweep has the values that were asked for", "[bursts]")
{
    const std::vector<std::string> buffers{"4 KiB", "8 KiB", "16 KiB", "64 KiB"};
    const std::vector<std::string> cables{"1 ns", "25 ns", "100 ns", "1000 ns"};
    sets("tpu_v3 mesh", "buffer", "ici.buffer_per_vl", buffers);
    sets("tpu_v3 mesh", "router", "ici.router_latency", {"4 cycles", "40 cycles", "94 cycles"});
    sets("tpu_v3 mesh", "cable", "ici.cable_propagation", cables);
    sets("tpu_v3 mesh", "links", "ici.link_rate", {"328 Gbps", "164 Gbps"});
    sets("tpu_v3 mesh", "packet", "ici.max_payload", {"64 B", "256 B", "1 KiB"});
    sets("tpu_v3 mesh", "mesh", "mesh.wrap", {"both"});
    sets("ub_mesh", "buffer", "ub.buffer_per_vl", buffers);
    sets("ub_mesh", "cable", "cables.x", cables);
    sets("ub_mesh", "cable", "cables.y", cables);
    sets("ub_mesh", "links", "ub.lane_rate", {"56 Gbps", "28 Gbps"});
    sets("ub_mesh", "links", "mesh.x_lanes", {"2"});
    sets("ub_mesh", "packet", "ub.max_payload", {"256 B", "1 KiB", "2 KiB"});
    sets("ub_mesh", "paths", "ub.paths", {"shortest", "all"});
    sets("ub_mesh", "paths", "ub.choice", {"adaptive"});
    sets("switchml star", "buffer", "network.lossless_buffer", buffers);
    sets("switchml star", "cable", "network.cable.propagation", cables);
    CHECK(axis(family("tpu_v3 mesh"), "fault").values.size() == 3);
    CHECK(axis(family("ub_mesh"), "fault").values.size() == 7);
    // Trains are long at 16 MiB: every point runs it that does not compare one collective alone.
    for (const sweep_family& f : sweep_families())
        if (f.share > 1)
            for (std::uint64_t i = 0; i < f.count(); ++i)
                CHECK((sweep_point{&f, i}.large_cases() > 0 || !sweep_point{&f, i}.work().collectives.empty()));
}

TEST_CASE("a sample is the same for the same seed and has every value equally often", "[bursts]")
{
    const auto sample = [](std::uint64_t count, std::uint64_t seed) {
        return sweep_points(sweep_subset::sample, count, seed);
    };
    CHECK(names_of(sample(100, 1)) == names_of(sample(100, 1)));
    CHECK(names_of(sample(100, 1)) != names_of(sample(100, 2)));
    const std::vector<std::string> names = names_of(sample(100, 1));
    CHECK(names.size() <= 100);
    CHECK(names.size() > 80);
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());

    std::map<std::string, std::map<std::string, unsigned>> uses; // of the values of each axis
    for (const sweep_point& p : sample(1000, 3)) {
        CHECK(p.family->share > 0);
        const std::vector<const sweep_value*> values = p.values();
        if (p.family->share == 5)
            for (std::size_t a = 0; a < values.size(); ++a)
                ++uses[p.family->name + ", " + p.family->axes[a].name][values[a]->name];
    }
    CHECK(uses.size() == 8 + 9);
    for (const sweep_family& f : sweep_families())
        for (const sweep_axis& a : f.axes)
            if (f.share == 5) {
                const std::map<std::string, unsigned>& counts = uses[f.name + ", " + a.name];
                INFO(f.name << ", " << a.name);
                CHECK(counts.size() == a.values.size());
                unsigned least = ~0u;
                unsigned most = 0;
                for (const auto& [name, n] : counts) {
                    least = std::min(least, n);
                    most = std::max(most, n);
                }
                CHECK(most <= least + 3); // a point drawn twice moves on to its neighbour
            }

    const std::vector<sweep_family> one{small_family(1)};
    CHECK(sweep_points(sweep_subset::sample, 100, 5, one).size() == 6); // all there are
    std::set<std::string> of_a;
    for (const sweep_point& p : sweep_points(sweep_subset::sample, 3, 5, one))
        of_a.insert(p.values()[0]->name);
    CHECK(of_a.size() == 3);
}

TEST_CASE("the corner is small and has every platform", "[bursts]")
{
    std::set<std::string> platforms;
    const std::vector<sweep_point> corner = sweep_points(sweep_subset::corner, 0, 0);
    for (const sweep_point& p : corner)
        platforms.insert(p.family->platform);
    CHECK(platforms == std::set<std::string>{"switchml", "tpu_v3", "ub_mesh"});
    CHECK(corner.size() >= 10);
    CHECK(corner.size() <= 31);
    for (const sweep_point& p : corner)
        CHECK(p.work().collectives.size() == 1);
}

TEST_CASE("every machine of the sweep runs all collectives and algorithms that it can", "[bursts]")
{
    sweep_workloads workloads(k_configs);
    const auto workload_of = [&](const char* of, std::uint64_t index) {
        const platform_source source = workloads.source_of({&family(of), index});
        return source.overrides.back();
    };
    CHECK(
        workload_of("tpu_v3 mesh", 0) ==
        "workload=[{op: all_reduce, algorithms: [ring_1d, two_d, row_pair, multi_axis], sizes: [4 KiB, 64 KiB, 1 MiB]}, "
        "{op: reduce_scatter, algorithms: [ring_1d, multi_axis], sizes: [4 KiB, 64 KiB, 1 MiB]}, "
        "{op: all_gather, algorithms: [ring_1d, multi_axis], sizes: [4 KiB, 64 KiB, 1 MiB]}, "
        "{op: broadcast, algorithms: [mesh_tree], sizes: [4 KiB, 64 KiB, 1 MiB]}, "
        "{op: all_to_all, algorithms: [direct, two_phase, two_phase_one_path], sizes: [4 KiB, 64 KiB, 1 MiB]}, "
        "{op: reduce, algorithms: [mesh_tree, multi_axis], sizes: [4 KiB, 64 KiB, 1 MiB]}, "
        "{op: all_reduce, algorithms: [ring_1d], sizes: [16 MiB]}]");
    const std::string with_largest = workload_of("tpu_v3 mesh", 1); // the next pair
    const std::string end = "{op: reduce, algorithms: [mesh_tree, multi_axis], sizes: [4 KiB, 64 KiB, 1 MiB]}, "
                            "{op: all_reduce, algorithms: [two_d], sizes: [16 MiB]}]";
    INFO(with_largest);
    CHECK(with_largest.substr(with_largest.size() - std::min(with_largest.size(), end.size())) == end);
    for (const char* op : {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "reduce"})
        CHECK(has(workload_of("ub_mesh", 0), std::string("op: ") + op));
    for (const char* algorithm : {"ring_1d", "halving_doubling", "direct"})
        CHECK(has(workload_of("ub_mesh", 0), algorithm));
    const std::uint64_t rack = family("ub_mesh").count() / 2;
    for (const char* algorithm : {"ring_1d", "two_d", "hierarchical", "direct"})
        CHECK(has(workload_of("ub_mesh", rack), algorithm));
    for (const char* algorithm : {"ring_1d", "halving_doubling", "parameter_server"})
        CHECK(has(workload_of("switchml star", 0), algorithm));
    CHECK_FALSE(has(workload_of("switchml star", 0), "switchml_lossless"));
}

TEST_CASE("every what-if and a sample of all points can be run", "[bursts]")
{
    sweep_workloads workloads(k_configs);
    std::vector<sweep_point> points = sweep_points(sweep_subset::sample, 400, 7);
    for (const sweep_family& f : sweep_families())
        if (f.axes.size() == 1)
            for (std::uint64_t i = 0; i < f.count(); ++i)
                points.push_back({&f, i});
    for (const sweep_point& p : points) {
        platform_source source = workloads.source_of(p);
        source.overrides.push_back(std::string("burst=") + k_burst_reference);
        INFO(p.name() << ": " << run_command(source, k_burst_reference));
        const loaded_platform loaded = read_platform(source);
        INFO(loaded.message());
        CHECK(loaded.platform != nullptr);
    }
    CHECK(points.size() > 400);
}

TEST_CASE("a command of the sweep is one line for a shell", "[bursts]")
{
    platform_source source;
    source.file = "configs/a.yaml";
    source.overrides = {"data=off", "ici.link_rate=100 GB/s", "workload=[{op: broadcast}]"};
    CHECK(
        run_command(
            with_workload(source,
                          workload_text({{"all_reduce", "two_d"}, {"all_to_all", "direct"}, {"all_reduce", "ring_1d"}},
                                        {"4 KiB", "1 MiB"}, "chunk: 8 KiB")),
            "16 packets") ==
        "weft run configs/a.yaml --set data=off --set 'ici.link_rate=100 GB/s' --set 'workload=[{op: all_reduce, algorithms: "
        "[two_d, ring_1d], sizes: [4 KiB, 1 MiB], chunk: 8 KiB}, {op: all_to_all, algorithms: [direct], sizes: [4 KiB, 1 MiB], "
        "chunk: 8 KiB}]' --set 'burst=16 packets'");
    for (const sweep_family& f : sweep_families()) // quotes of the shell are not escaped
        for (const sweep_axis& a : f.axes)
            for (const sweep_value& v : a.values)
                for (const std::string& o : v.overrides)
                    CHECK_FALSE(has(o, "'"));
}
