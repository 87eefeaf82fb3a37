// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/trainium/trainium.h"

#include <algorithm>

namespace weft {

trainium_routing::trainium_routing(const trainium_config& config)
    : planned_routing(plan_neuronlink(config.shape(), config.neuronlink.wires(), config.known_down()), config.run.routing)
{
    if (from_file())
        return;
    auto policy = std::make_shared<neuronlink_routing>(config.shape(), plan());
    unreachable_ = policy->unreachable();
    const std::string text = policy->detours() == 0 ? "dimension order: X, Y, then Z; two VLs for each"
                                                    : "dimension order: X, Y, then Z; around what has failed up and down a tree, on a VL of its own";
    choose(std::move(policy), text);
}

std::string trainium_routing::problem() const
{
    if (unreachable_.empty())
        return planned_routing::problem();
    return "leave ranks that no way connects: " + unreachable_ + " over links that work in both directions.";
}

trainium_machine::trainium_machine(const trainium_config& config, const trainium_routing& routing, const core_fitter& fit)
    : standing_machine(config.trains(), fit), shape_(config.shape()),
      fabric_("neuronlink", hardware_.time, hardware_.pool, routing.plan(), routing.policy(),
              fabric_config{neuronlink_vls(config.shape(), !config.known_down().empty()), config.neuronlink.router_latency, true, true})
{
    hardware_.add(fabric_.engine());
    dma_fabric_view view = dma_view(config.run, trains(), config.neuronlink.format(), config.neuronlink.port_rate);
    view.ports = config.neuronlink.ports;
    view.vl_count = fabric_.engine().vl_count();
    const chip_config chip = config.control_chip();
    for (std::uint32_t rank = 0; rank < config.ranks(); ++rank) {
        weft::chip& c = hardware_.add_chip(module_name(shape_.rank_name(rank)), chip, view, config.rank_table(rank));
        for (std::uint32_t port = 0; port < view.ports; ++port)
            bind_local_port(c, port, fabric_.port(rank, port));
    }
    let_read_each_other(config);
    for (const trainium_link_fault& f : config.faults.links_down)
        if (!f.known_to_routing()) { // the others are down in the plan
            const std::uint32_t at = config.chip_of(f);
            fabric_.engine().fail_link_at(
                fabric_.engine().out_link(2 * at + shape_.half_of_link(at, f.axis(), f.up()), shape_.link_port(f.axis(), f.up())), f.at.value());
        }
}

/// The engines of a rank read every stack of their chip.
void trainium_machine::let_read_each_other(const trainium_config& config)
{
    const std::vector<chip*>& chips = hardware_.chips();
    for (std::uint32_t half = 0; half < 2 * shape_.chips(); ++half)
        wires_.push_back(std::make_unique<shared_wires>(config.neuronlink.half_rate));
    for (std::uint32_t reader = 0; reader < chips.size(); ++reader) {
        const std::uint32_t first = reader / shape_.ranks * shape_.ranks;
        for (std::uint32_t owner = first; owner < first + shape_.ranks; ++owner) {
            if (owner == reader)
                continue;
            const std::uint32_t half = shape_.half_of_rank(owner % shape_.ranks);
            const bool crosses = half != shape_.half_of_rank(reader % shape_.ranks);
            // There and back through the routers of the halves.
            const duration way(2 * config.neuronlink.router_latency.value() * (crosses ? 2 : 1));
            paths_.push_back(std::make_unique<memory_path>(chips[owner]->memory, way,
                                                           crosses ? wires_[2 * (owner / shape_.ranks) + half].get() : nullptr));
            chips[reader]->dma.read_memory_of(owner, *paths_.back());
        }
    }
}

} // namespace weft
