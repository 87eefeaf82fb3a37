// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Paths, lanes and the proof of a configured UB-Mesh machine, made before anything is built.
#include "hw/routing/ub/ub_table_paths.h"
#include "hw/ub/ub_fabric_plan.h"
#include "platforms/machine/user_routing.h"
#include "hw/routing/ub/ub_lane_rules.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "hw/routing/ub/ub_paths.h"
#include "hw/routing/ub/ub_proof.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

ub_path_options options_of(const ub_config& ub)
{
    ub_path_options o;
    o.detour = ub.paths == ub_path_use::detour || ub.paths == ub_path_use::all;
    o.borrow = ub.paths == ub_path_use::borrow || ub.paths == ub_path_use::all;
    o.tables_where_same = ub.source_routing == ub_source_routing::differing;
    return o;
}

} // namespace

ub_routes::ub_routes(const ub_mesh_config& config)
    : topology(std::make_shared<const ub_topology>(config.mesh, config.cables)), plan(topology->plan()),
      use_(config.ub.paths), ub_(config.ub), ranks_(config.mesh.ranks())
{
    const ub_lane_rule rule = lane_rule_of(lane_word_for(config.mesh));
    const ub_path_options options = options_of(config.ub);
    all_paths = options.detour || options.borrow;
    paths = std::make_shared<const ub_paths>(topology, rule, options);
    plan.lanes = rule;
    plan.paths = paths;
    down.assign(plan.links.size(), false);
    for (const ub_faulty_link& f : faulty_links(config, *topology))
        if (f.fault->bit_error_rate)
            plan.links[f.link].bit_error_rate = plan.links[f.reverse].bit_error_rate = *f.fault->bit_error_rate;
        else if (f.fault->lanes && f.fault->at.value() == 0)
            plan.links[f.link].lanes_left = plan.links[f.reverse].lanes_left = static_cast<std::uint8_t>(*f.fault->lanes);
        else if (f.fault->down_from_the_start())
            down[f.link] = down[f.reverse] = true;
    for (const ub_faulty_device& d : faulty_devices(config, *topology))
        for (const std::uint32_t l : d.fault->at.value() == 0 ? d.links : std::vector<std::uint32_t>{})
            down[l] = true;

    if (!config.run.routing.empty()) {
        use_tables(config);
        prove_notices(config);
        return;
    }
    const channel_proof proof = prove_lanes(plan, ub_fabric_plan(plan, config.ub), rule);
    const ub_table_check checked = check_tables(*topology, rule);
    proved = fmt::format("Routing   {} paths, {} by {}; {}\n", name_of(config.ub.paths), name_of(config.ub.choice),
                         name_of(config.ub.spreading), checked.text);
    proved += fmt::format("Proof     {}\n", proof.text);
    if (!proof)
        problem_key_ = "mesh", problem_ = "the rule of lanes " + proof.text;
    else if (!checked)
        problem_key_ = "mesh", problem_ = checked.text;
    else if (const std::string pair = unreachable_pair(config); !pair.empty())
        problem_key_ = config.faults.links.empty() ? "faults.devices" : "faults.links", problem_ = fmt::format("leave no path from {}.", pair);
    prove_notices(config);
}

/// Notices follow the rule as well, on lanes of their own, and begin at switches, too.
void ub_routes::prove_notices(const ub_mesh_config& config)
{
    if (!problem_.empty() || !config.sends_notices())
        return;
    fabric_plan wired = ub_fabric_plan(plan, config.ub);
    wired.endpoints.clear();
    for (std::uint32_t r = 0; r < plan.routers.size(); ++r)
        wired.endpoints.push_back({r, plan.routers[r].ports, 1});
    const channel_proof proof = prove_lanes(plan, wired, plan.lanes);
    proved += fmt::format("Proof     of notices, which begin at switches, too: {}\n", proof.text);
    if (!proof)
        problem_key_ = "faults.notification", problem_ = "needs a rule of lanes without circles: " + proof.text;
}

/// Tables of the user: one path a pair, and the lanes that they say.
void ub_routes::use_tables(const ub_mesh_config& config)
{
    all_paths = false;
    fabric_plan lanes = lanes_of_a_class(ub_fabric_plan(plan, config.ub), down);
    for (const ub_npu_fault_config& f : config.faults.npus)
        if (const std::uint32_t npu = topology->npu_router(*npu_by_name(config.mesh, f.npu)); f.at.value() == 0) {
            lanes.endpoints[npu].ports = 0; // endpoint i is router i
            for (plan_link& l : lanes.links)
                l.works = l.works && l.from != npu && l.to != npu;
        }
    for (const ub_faulty_device& d : faulty_devices(config, *topology))
        if (d.fault->at.value() == 0 && d.router < topology->endpoints())
            lanes.endpoints[d.router].ports = 0;
    const user_routing user = read_user_routing(config.run.routing, lanes);
    tables = std::make_shared<const ub_table_paths>(topology, plan.lanes, user.policy);
    plan.paths = tables;
    proved = fmt::format("Routing   {}; of both message classes\nProof     {}\n", k_user_routing_text, user.proof.text);
    problem_key_ = "routing";
    problem_ = refusal_of(user.proof);
    if (problem_.empty())
        problem_ = tables->too_long();
}

std::string ub_routes::report() const { return tables ? proved : proved + census_of(*paths).text(); }

std::string ub_routes::route_tables() const
{
    if (tables)
        return tables->text(lanes_of_a_class(ub_fabric_plan(plan, ub_), down));
    const fabric_plan lanes = lanes_of_a_class(ub_fabric_plan(plan, ub_), down);
    return text_of_route_tables(lanes, routes_of_address_tables(*topology, plan.lanes));
}

/// NPUs are alike: what the first one finds is what there is.
std::string ub_routes::unused_kind() const
{
    if (tables || use_ == ub_path_use::shortest || use_ == ub_path_use::all)
        return {};
    const ub_path_kind kind = use_ == ub_path_use::detour ? ub_path_kind::detour : ub_path_kind::borrow;
    for (std::uint32_t to = 1; to < ranks_; ++to)
        for (const ub_path& p : paths->paths(0, to, {}))
            if (p.kind == kind)
                return {};
    return kind == ub_path_kind::borrow
               ? "is borrow, but no way between NPUs can be borrowed from HRS here: shortest paths alone are in use; borrowing needs "
                 "mesh.hrs: true and several racks of a pod."
               : "is detour, but this machine has no detours between NPUs: shortest paths alone are in use; write shortest or all.";
}

/// Only NPUs next to a link that is down can lose their last path.
std::string ub_routes::unreachable_pair(const ub_mesh_config& config) const
{
    for (std::uint32_t l = 0; l < down.size(); ++l) {
        const std::uint32_t from = plan.links[l].from;
        if (!down[l] || topology->place_of(from).is != ub_place::role::npu)
            continue;
        for (std::uint32_t to = 0; to < config.mesh.ranks(); ++to)
            if (to != from && paths->paths(from, to, down).empty())
                return fmt::format("{} to {}", plan.routers[from].name, plan.routers[to].name);
    }
    for (const std::uint32_t npu : replaced_npus(config)) { // and a spare NPU those that stand between
        const std::uint32_t rack = npu / config.mesh.npus_per_rack(), spare = topology->spare_router(rack);
        const std::uint32_t first = rack * config.mesh.npus_per_rack();
        for (std::uint32_t from = first; from < first + config.mesh.npus_per_rack(); ++from)
            if (from != npu && paths->paths(from, spare, down).empty())
                return fmt::format("{} to {}", plan.routers[from].name, plan.routers[spare].name);
    }
    return {};
}

std::vector<std::uint32_t> ub_routes::sources_over(const std::vector<std::uint32_t>& links) const
{
    std::vector<std::uint32_t> all;
    for (const std::uint32_t l : links)
        if ((l & 1u) == 0) { // the other direction has the number behind
            const std::vector<std::uint32_t> some = sources_over(l);
            all.insert(all.end(), some.begin(), some.end());
        }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<std::uint32_t> ub_routes::sources_over(std::uint32_t link) const
{
    std::vector<std::uint32_t> all;
    for (const std::uint32_t l : {link, topology->reverse_of(link)})
        for (const std::uint32_t router : tables ? tables->sources_over(l) : paths->affected_sources(l))
            if (router < topology->endpoints()) // endpoint i is router i
                all.push_back(router);
    if (all_paths) {
        // Detours and borrowed ways begin in the racks, or for a link between racks in the pods, at both ends.
        const ub_place& a = topology->place_of(plan.links[link].from);
        const ub_place& b = topology->place_of(plan.links[link].to);
        const bool inside = a.rack >= 0 && a.rack == b.rack;
        for (std::uint32_t e = 0; e < topology->endpoints(); ++e) {
            const ub_place& p = topology->place_of(e);
            const bool near =
                inside ? p.rack == a.rack : (a.pod >= 0 && p.pod == a.pod) || (b.pod >= 0 && p.pod == b.pod);
            if (near)
                all.push_back(e);
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

} // namespace weft
