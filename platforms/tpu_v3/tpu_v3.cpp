// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/tpu_v3/tpu_v3.h"

#include "platforms/tpu_v3/tiles.h"

#include <fmt/format.h>

namespace weft {

namespace {
dma_fabric_view view_of(const tpu_v3_config& config, const train_choice& trains)
{
    dma_fabric_view view = dma_view(config.run, trains, config.ici.format(), config.ici.local_port_rate);
    view.ports = config.ici.local_ports;
    view.vl_count = config.ici.virtual_lanes;
    return view;
}

/// What makes a mesh routable whose chips are connected; each remedy is tried before it is named.
std::string routing_remedy(const mesh& topology)
{
    mesh_description wider = topology.description();
    wider.vls = 2;
    const bool by_lanes = topology.description().vls < 2 && plan_detours(mesh(wider), wider.vls).complete;
    mesh_description both = topology.description();
    std::string reversed;
    for (const mesh_link& l : topology.description().links_down) {
        const std::uint32_t rank = topology.rank_at(l.row, l.col);
        for (const plan_link& back : topology.plan().links)
            if (back.works && back.to == rank && back.to_port == l.port) { // works, against the one that is down
                const mesh::place at = topology.place_of(back.from);
                both.links_down.push_back({at.row, at.col, back.from_port});
                reversed += fmt::format("{}{{row: {}, col: {}, direction: {}}}", reversed.empty() ? "" : ", ", at.row,
                                        at.col, name_of(static_cast<mesh_direction>(back.from_port)));
            }
    }
    const bool by_both = !reversed.empty() && plan_detours(mesh(both), both.vls).complete;
    if (!by_lanes && !by_both)
        return {};
    return fmt::format(
        "; {}{}{}", by_lanes ? "with ici.virtual_lanes: 2 there is one" : "", by_lanes && by_both ? "; " : "",
        by_both ? fmt::format("with both directions down there is one: add {} to faults.links_down", reversed) : "");
}

/// What joins all chips again; each remedy is tried before it is named.
std::string connection_remedy(const mesh& topology)
{
    constexpr std::size_t k_most_trials = 64; // each looks at all chips
    const mesh_description& given = topology.description();
    for (std::size_t i = 0; i < given.links_down.size() && i < k_most_trials; ++i) {
        mesh_description without = given;
        without.links_down.erase(without.links_down.begin() + static_cast<std::ptrdiff_t>(i));
        if (pair_without_path(mesh(without)).empty()) {
            const mesh_link& l = given.links_down[i];
            return fmt::format("; without {{row: {}, col: {}, direction: {}}} in faults.links_down all are connected", l.row, l.col,
                               name_of(static_cast<mesh_direction>(l.port)));
        }
    }
    mesh_description regions_alone = given;
    regions_alone.links_down.clear();
    if (!given.failed.empty() && !pair_without_path(mesh(regions_alone)).empty())
        return "; faults.regions part the mesh: add the smaller part to them";
    return "; leave out several links of faults.links_down, or name the chips behind them in faults.regions";
}
} // namespace

tpu_v3_routing::tpu_v3_routing(const tpu_v3_config& config) : tpu_v3_routing(config, weft::mesh(config.description())) {}

tpu_v3_routing::tpu_v3_routing(const tpu_v3_config& config, weft::mesh whole)
    : planned_routing(whole.plan(), config.run.routing), topology(std::move(whole))
{
    if (from_file())
        return;
    if (topology.broken()) {
        detours = plan_detours(topology, config.ici.virtual_lanes);
        const bool wraps = topology.description().wrap_rows || topology.description().wrap_cols;
        choose(std::make_shared<detour_policy>(detours->table), detours->rule.text() + (wraps ? "; wrap links are not used" : ""));
    } else {
        choose(std::make_shared<dimension_order>(topology.grid()), "dimension order: X, then Y");
    }
}

std::string tpu_v3_routing::problem() const
{
    if (!detours || detours->complete)
        return planned_routing::problem();
    const bool wraps = topology.description().wrap_rows || topology.description().wrap_cols;
    const char* const no_wraps = wraps ? " (detours do not use wrap links)" : "";
    if (const std::string pair = pair_without_path(topology); !pair.empty())
        return fmt::format("leave chips that no route connects: {} over the links that work{}{}.", pair, no_wraps, connection_remedy(topology));
    const std::uint32_t vls = topology.description().vls;
    return fmt::format(
        "leave every chip connected, but no routing free of deadlock was found on {} virtual lane{}: {} by the "
        "last rule tried ({}){}{}.",
        vls, vls == 1 ? "" : "s", detours->unreachable, detours->rule.text(), no_wraps, routing_remedy(topology));
}

tpu_v3::tpu_v3(const tpu_v3_config& config) : tpu_v3(config, tpu_v3_routing(config)) {}

tpu_v3::tpu_v3(const tpu_v3_config& config, const tpu_v3_routing& routing, const core_fitter& fit)
    : standing_machine(config.trains(), fit), topology_(routing.topology)
{
    routing.require_usable();
    ici_ = std::make_unique<ici_fabric>("ici", hardware_.time, hardware_.pool, topology_, config.ici, routing.policy());
    hardware_.add(ici_->engine());
    const dma_fabric_view view = view_of(config, trains());
    for (std::uint32_t rank = 0; rank < config.ranks(); ++rank) {
        const mesh::place at = topology_.place_of(rank);
        chip& c = hardware_.add_chip(fmt::format("chip_{}_{}", at.row, at.col), config.chip, view,
                                     config.rank_table(rank));
        for (std::uint32_t port = 0; port < view.ports; ++port)
            bind_local_port(c, port, ici_->router(rank).local_port(port));
    }
    for (const link_fault_config& f : config.faults.links_down) {
        const std::uint32_t router = topology_.rank_at(f.row, f.col);
        if (!f.known_to_routing()) // the others are down in the plan
            ici_->engine().fail_link_at(ici_->engine().out_link(router, static_cast<std::uint32_t>(f.direction)),
                                        f.at.value());
    }
}

group_layout tpu_v3::groups_of(std::uint32_t ranks_per_group) const { return tile_groups(topology_, ranks_per_group); }

} // namespace weft
