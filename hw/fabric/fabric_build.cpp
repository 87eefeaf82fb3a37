// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A fabric engine before time zero.
#include "hw/fabric/fabric_engine.h"

namespace weft {

fabric_engine::fabric_engine(timeline& time, packet_pool& pool, const routing_policy& policy, const fabric_config& config)
    : fabric_layout(config), time_(time), pool_(pool), policy_(policy)
{
    time.components().add(*this);
    time.take_hints(*this, *this);
    list_stats();
}

void fabric_engine::set_link_layer(std::uint32_t link, const link_layer_params& params, link_error_script* script)
{
    link_state& l = links_.at(link);
    link_cold& cold = cold_[link];
    if (l.from_edge || cold.layer != k_none)
        throw bug("fabric_engine", 0, link_name(link) + ": cannot have a link layer, or has one already");
    if (params.bit_error_rate == 0 && params.retry_buffer_cells == 0 && script == nullptr)
        return; // it would never do anything
    cold.layer = static_cast<std::uint32_t>(layers_.size());
    layers_.emplace_back(params, link, duration(queues_[queue_of(link, 0)].return_ps));
    layers_.back().set_script(script);
    l.special = static_cast<std::uint8_t>(l.special | k_layer | (params.retry_buffer_cells != 0 ? k_retry_buffer : 0));
}

void fabric_engine::finish_build()
{
    actor_base_ = time_.register_actors(link_count());
    lay_out();
    for (std::uint32_t link = 0; link < link_count(); ++link) {
        link_state& l = links_[link];
        if (l.router == k_none)
            continue;
        const router_state& r = routers_[l.router];
        arbiter_.add_output(l, r.ports << vl_shift_, [&](std::uint32_t bit) { return is_entry_port(r, port_of_bit(bit)); });
    }
    arbiter_.finish(links_.size(), voqs_.size());
    for (std::uint32_t bit = 0; bit < 64; ++bit)
        if (const std::uint32_t vl = vl_of_bit(bit); vl >= config_.urgent_from_vl && vl < config_.vl_count)
            urgent_bits_ |= std::uint64_t{1} << bit;
    waits_.set_outputs(links_.size(), config_.vl_count);
    if (config_.control) {
        std::vector<std::uint32_t> reverses(links_.size(), k_none);
        for (const std::uint32_t link : router_links_) {
            const link_state& l = links_[link];
            const std::uint32_t back = out_links_[routers_[l.to_router].first_port + l.to_port];
            if (back != k_none && links_[back].to_router == l.router && links_[back].to_port == l.from_port)
                reverses[link] = back;
        }
        control_.set_params(*config_.control);
        control_.set_reverses(reverses);
    }
    look_at_links();
}

} // namespace weft
