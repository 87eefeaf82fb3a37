// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ub_fabric: a UB network from a plan: one switching engine with every NPU, CPU, NIC, LRS and HRS as a router, and the
// UB IO controllers at its edges. Switches have no sockets and are no modules: they are their slice of the engine's
// state, with a name and statistics.
//
// Models: source-routed and table-routed hops (ub_routing), path choice and transport (ub_endpoint), wires with MAC
// latency, dies.
// Timing: hw/fabric/fabric_engine.h; of a whole path: ub_zero_load_ps() in ub_link.h.
#pragma once

#include "hw/ub/ub_io_controller.h"
#include "hw/ub/ub_link.h"
#include "hw/ub/ub_management.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// What a run has done to a switch or any other router, summed over its links.
struct ub_router_stats {
    std::uint64_t packets_out = 0; ///< over UB links
    std::uint64_t wire_bytes_out = 0;
    std::uint64_t busy_ps = 0; ///< of all its UB links together
};

class ub_fabric final : public sc_core::sc_module,
                        public component,
                        private ub_unreachable_if,
                        private link_listener_if,
                        private timeline_client,
                        private port_namer_if {
public:
    /// `plan` and `config` must outlive the fabric. `npu_users`: who sends through each controller of an NPU: its DMA
    /// engine, and a coprocessor.
    /// `managed`: devices speak to each other (ub_management).
    ub_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const ub_plan& plan,
              const ub_config& config, std::uint32_t npu_users = 1, bool managed = false);
    ~ub_fabric() override;

    ub_io_controller& controller(std::uint32_t endpoint, std::uint32_t die = 0);
    std::uint32_t dies(std::uint32_t endpoint) const;
    ub_endpoint& endpoint(std::uint32_t endpoint) { return *endpoints_.at(endpoint); }
    const ub_endpoint& endpoint(std::uint32_t endpoint) const { return *endpoints_.at(endpoint); }
    std::uint32_t endpoints() const { return static_cast<std::uint32_t>(endpoints_.size()); }
    /// nullptr where it is not managed.
    ub_management* management() { return management_.get(); }
    fabric_engine& engine() { return *engine_; }
    const fabric_engine& engine() const { return *engine_; }
    const ub_routing& routing() const { return routing_; }
    const ub_plan& plan() const { return plan_; }
    std::uint32_t link_of(std::uint32_t plan_link) const { return links_.at(plan_link); } ///< number in the engine
    std::uint32_t plan_link_of(std::uint32_t engine_link) const; ///< fabric_engine::k_none: an edge

    // --- Faults. Links by their number in the plan; times before the run or later than now. --------------------------
    void fail_link_at(std::uint32_t plan_link, std::uint64_t at_ps);
    void restore_link_at(std::uint32_t plan_link, std::uint64_t at_ps);
    /// The link goes on with fewer lanes, without stopping.
    void narrow_link_at(std::uint32_t plan_link, std::uint32_t lanes, std::uint64_t at_ps);
    /// The source stops, or begins again, to use paths over a link: what a notice does when it has arrived.
    void exclude_at(std::uint32_t source, std::uint32_t plan_link, std::uint64_t at_ps);
    void readmit_at(std::uint32_t source, std::uint32_t plan_link, std::uint64_t at_ps);
    void exclude(std::uint32_t source, std::uint32_t plan_link);
    void readmit(std::uint32_t source, std::uint32_t plan_link);
    /// No source reports a destination as unreachable sooner than this after a first try; never less than before.
    void set_patience(std::uint64_t at_least_ps);
    /// Told, per endpoint, of the links of every path set that is made while links are excluded.
    void set_fall_back_listener(ub_fall_back_if* listener);
    /// From now on the chip behind `router` stands for `endpoint` (64+1): packets for it go there, and what that chip
    /// sends comes from it. Transport channels with it begin anew; what was under way to it is given up.
    void take_over(std::uint32_t endpoint, std::uint32_t router);

    // --- Look --------------------------------------------------------------------------------------------------------
    /// Pairs (source, destination) of which packets were not sent or given up, sorted.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> unreachable() const;
    std::string unreachable_text(std::size_t at_most = 16) const; ///< by names; "" when there are none
    /// Packets to endpoints from this number on have shares of transmit queues of their own.
    void set_first_host(std::uint32_t endpoint)
    {
        for (const auto& e : endpoints_)
            e->set_first_host(endpoint);
    }
    void set_unreachable_listener(ub_unreachable_if* listener) { listener_ = listener; }
    /// Told of links that are declared down or up, by their number in the engine, after the endpoints next to them.
    void set_link_listener(link_listener_if* listener) { link_listener_ = listener; }
    bool idle() const; ///< nothing inside and nothing waits for an acknowledgement
    std::string blocked_on(std::size_t at_most = 16) const;
    ub_router_stats router_stats(std::uint32_t router) const;
    const std::string& endpoint_name(std::uint32_t endpoint) const;
    std::uint64_t sum(counter ub_endpoint::*which) const;
    std::uint64_t state_bytes() const;
    std::uint64_t lost_packets() const override { return sum(&ub_endpoint::resent); }
    std::string stat_prefix() const override { return "ub"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    std::string waits() const override; ///< who cannot reach whom, and packets without an acknowledgement

    stat_group stats{"ub"}; ///< over all endpoints and links

private:
    void set_up_statistics();
    struct change {
        std::uint32_t source, link;
        bool exclude;
    };
    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void unreachable(std::uint32_t source, std::uint32_t destination) override;
    std::string port_name(std::uint32_t router, std::uint32_t port) const override;
    void link_down(std::uint32_t link, std::uint64_t now_ps) override;
    void link_up(std::uint32_t link, std::uint64_t now_ps) override;
    std::uint32_t endpoint_that_sends(std::uint32_t engine_link) const;
    void schedule(const change& c, std::uint64_t at_ps);
    void restart_channels(std::uint32_t a, std::uint32_t b);

    timeline& time_;
    const ub_plan& plan_;
    const ub_config& config_;
    ub_routing routing_;
    ub_turns turns_;
    std::unique_ptr<fabric_engine> engine_;
    std::vector<std::uint32_t> links_;
    std::vector<std::unique_ptr<ub_endpoint>> endpoints_;
    std::vector<std::uint32_t> first_controller_; ///< of each endpoint
    std::vector<std::unique_ptr<ub_io_controller>> controllers_;
    std::unique_ptr<ub_management> management_;
    std::vector<std::uint32_t> endpoint_at_; ///< router -> endpoint object, ub_routing::k_none
    std::vector<change> changes_;
    ub_unreachable_if* listener_ = nullptr;
    link_listener_if* link_listener_ = nullptr;
    std::uint64_t patience_ps_ = 0;
    std::uint32_t actor_;
};

} // namespace weft
