// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Several links fail at once: sources hear of all links that their fallback sets use, and no collective pays for it later.
#include "hw/routing/ub/ub_paths.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

constexpr std::uint64_t k_bytes = 1 << 20; // of one NPU: 16 KiB a pair

ub_mesh_config rack_with(unsigned failing, bool from_the_start = false)
{
    ub_mesh_config config = ub_rack();
    config.ub.transport = ub_transport::rtp;
    config.ub.paths = ub_path_use::shortest;
    config.run.data = data_mode::off;
    config.run.workload = {
        spec(collective_op::all_to_all, {algorithm::direct}, std::vector<std::uint64_t>(5, k_bytes))};
    for (unsigned i = 1; i <= failing; ++i)
        config.faults.links.push_back(
            link_fault("npu(p0,r0,b0,0)", fmt::format("npu(p0,r0,b0,{})", i).c_str(), from_the_start ? 0 : 5 * k_us));
    return config;
}

/// Load of the most loaded link, in bytes, of an all-to-all over the paths that are left, spread by their weights.
double most_bytes_on_a_link(const ub_mesh_config& config)
{
    const ub_routes routes(config);
    const auto& links = routes.plan.links;
    std::vector<bool> down(links.size(), false);
    for (const ub_faulty_link& f : faulty_links(config, *routes.topology))
        down[f.link] = down[f.reverse] = true;
    std::vector<double> lanes(links.size(), 0.0);
    const std::uint32_t ranks = config.ranks();
    const std::uint64_t wire = config.ub.format().wire_bytes(k_bytes / ranks);
    for (std::uint32_t from = 0; from < ranks; ++from)
        for (std::uint32_t to = 0; to < ranks; ++to) {
            if (from == to)
                continue;
            const auto set = routes.paths->paths(from, to, down);
            double total = 0;
            for (const ub_path& p : set)
                total += p.weight;
            for (const ub_path& p : set)
                for (const std::uint32_t l : p.links)
                    lanes[l] += p.weight / total * static_cast<double>(wire) / links[l].lanes * 4;
        }
    return *std::max_element(lanes.begin(), lanes.end()); // as if it had four lanes
}

} // namespace

TEST_CASE("two links of one NPU that fail slow no later all-to-all beyond path counting", "[ub]")
{
    for (const unsigned failing : {2u, 3u, 6u}) {
        const verdict healthy = run_exact(rack_with(0));
        const verdict knowing = run_exact(rack_with(failing, true)); // routing knows from the start
        const verdict v = run_exact(rack_with(failing));
        const double four_lanes =
            static_cast<double>(rack_with(0).ub.link_rate(4).value()) / 8e12; // bytes a picosecond
        const double healthy_links_ps = most_bytes_on_a_link(rack_with(0)) / four_lanes;
        const double links_ps = most_bytes_on_a_link(rack_with(failing)) / four_lanes;
        // What is no transmission on the most loaded link takes as long as without faults.
        const double predicted_ps = static_cast<double>(healthy.time(4)) + links_ps - healthy_links_ps;
        fmt::print(
            "{} links: {:.2f} us without faults, {:.2f} by path counting, {:.2f} known from the start, {:.2f} later\n",
            failing, static_cast<double>(healthy.time(4)) / 1e6, predicted_ps / 1e6,
            static_cast<double>(knowing.time(4)) / 1e6, static_cast<double>(v.time(4)) / 1e6);
        CHECK(static_cast<double>(v.time(4)) < 1.1 * predicted_ps);
        CHECK(static_cast<double>(v.time(4)) < 1.1 * static_cast<double>(knowing.time(4)));
        CHECK_FALSE(v.says("cannot reach"));
    }
}
