// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A fabric from its plan: one switching engine, and for every router with endpoints or gates a module with their
// sockets. The same plan is what routing was proved on (hw/routing).
// Timing: hw/fabric/fabric_engine.h and fabric_socket.h.
#pragma once

#include "hw/fabric/fabric_socket.h"
#include "hw/routing/fabric_plan.h"

#include <memory>
#include <vector>

namespace weft {

/// The routers of the plan, in its order, with dies and entries.
void add_plan_routers(fabric_engine& engine, const fabric_plan& plan);
/// Its links, in its order, with their retry; those that do not work are down. Returns the number of each in the
/// engine.
std::vector<std::uint32_t> add_plan_links(fabric_engine& engine, const fabric_plan& plan);

/// A router as its chips and other parts see it: the sockets of its local ports, then those of its gates.
class fabric_router final : public sc_core::sc_module {
public:
    struct outside {
        std::string name;
        std::uint32_t port;
        fabric_link_params in, out;
    };
    fabric_router(const sc_core::sc_module_name& name, fabric_engine& engine, std::uint32_t router,
                  const std::vector<outside>& ports);
    fabric_socket& local_port(std::uint32_t i) { return *ports_.at(i); }

private:
    void start_of_simulation() override;
    std::vector<std::unique_ptr<fabric_socket>> ports_;
};

class plan_fabric : public sc_core::sc_module {
public:
    plan_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const fabric_plan& plan,
                std::shared_ptr<const routing_policy> routing, const fabric_config& config);

    /// Of an endpoint. Endpoints at one router share it, one local port after the other.
    fabric_router& router(std::uint32_t endpoint) { return *modules_.at(module_of_.at(endpoint)); }
    fabric_socket& port(std::uint32_t endpoint, std::uint32_t i = 0) { return *ports_.at(first_port_.at(endpoint) + i); }
    fabric_socket& gate(std::uint32_t i) { return *gates_.at(i); }
    fabric_engine& engine() { return *engine_; }
    const fabric_engine& engine() const { return *engine_; }
    std::uint32_t link_of(std::uint32_t plan_link) const { return links_.at(plan_link); } ///< number in the engine
    const routing_policy& routing() const { return *routing_; }

private:
    void add_modules(const fabric_plan& plan);

    std::shared_ptr<const routing_policy> routing_;
    std::unique_ptr<fabric_engine> engine_;
    std::vector<std::uint32_t> links_;
    std::vector<std::unique_ptr<fabric_router>> modules_;
    std::vector<std::uint32_t> module_of_;  ///< of each endpoint
    std::vector<std::uint32_t> first_port_; ///< of each endpoint, into ports_
    std::vector<fabric_socket*> ports_, gates_;
};

/// SystemC names hold no brackets or commas: "npu(p0,r3,b2,5)" -> "npu_p0_r3_b2_5".
std::string module_name(const std::string& plan_name);

} // namespace weft
