// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// IPU-Machines, Pods and clusters of Pods as a plan, wired as Graphcore's guide to scaling draws them (section 7.9.1,
// Fig. 7.1 to 7.5).
//
//   IPU          link controllers 0B 0C 1B 1C on the west edge, 2A 2B 2C 3A 3B 3C on the east edge, and a Host-Link
//   IPU-Machine  IPUs 0 1 below, 2 3 above; 0-1 and 2-3 by the six links of the east edge, 0-2 by 0B 0C, 1-3 by 1B 1C;
//                a gateway at the Host-Links
//   domain       machines one above the other, joined by what is left: 1B 1C of IPUs 0 and 2, 0B 0C of IPUs 1 and 3. A
//                ladder of 2 x 2n IPUs. torus: cables also close the top to the bottom
//   cluster      domains side by side; gateways of machines in the same slot form a ring over a switch
// Links join controllers of the same name (assumed: the text names the two of each side, the figure that pairs them is
// not public).
#pragma once

#include "hw/routing/fabric_plan.h"
#include "tlm/config_fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

enum class ipu_topology : std::uint8_t { mesh, torus, barley_twist };
template <> struct enum_names<ipu_topology> {
    static constexpr std::pair<ipu_topology, const char*> values[] = {
        {ipu_topology::mesh, "mesh"}, {ipu_topology::torus, "torus"}, {ipu_topology::barley_twist, "barley_twist"}};
};

/// Ports of an IPU's router: controllers first, in this order.
inline constexpr std::array<const char*, 10> k_controllers = {"0B", "0C", "1B", "1C", "2A", "2B", "2C", "3A", "3B", "3C"};
inline constexpr std::uint32_t k_host_link_port = 10;   ///< of an IPU: to its gateway
inline constexpr std::uint32_t k_first_tile_port = 11;  ///< of an IPU: from its exchange
/// Lane l of the exchange takes link l modulo the links of a way; none waits for another one.
inline constexpr std::uint32_t k_tile_ports = 12;
inline constexpr std::uint32_t k_ipu_vls = 2;
inline constexpr std::uint32_t k_machine_ipus = 4;
// Ports of gateways and switches have numbers, and names, of their own. Of a gateway: the Host-Links of its IPUs, then
// its sides.
inline constexpr std::uint32_t k_gateway_ipu_port = k_first_tile_port + k_tile_ports;
inline constexpr std::uint32_t k_east_port = k_gateway_ipu_port + k_machine_ipus, k_west_port = k_east_port + 1;
/// Of a switch: the east side of domain d, then its west side.
inline constexpr std::uint32_t k_switch_port = k_west_port + 1;

/// Where a packet leaves an IPU.
enum class ipu_way : std::uint8_t { rung, up, down };

struct ipu_shape {
    std::uint32_t machines = 4; ///< of a domain
    std::uint32_t domains = 1;
    ipu_topology topology = ipu_topology::mesh;
    std::uint32_t partition = k_machine_ipus; ///< IPUs in use of a machine that stands alone

    std::uint32_t domain_ipus() const { return machines * partition; }
    std::uint32_t ipus() const { return domains * domain_ipus(); }
    std::uint32_t rungs() const { return (domain_ipus() + 1) / 2; }
    bool closes() const { return topology != ipu_topology::mesh && rungs() > 2; }
    // Of an IPU, by its number in the cluster.
    std::uint32_t domain_of(std::uint32_t ipu) const { return ipu / domain_ipus(); }
    std::uint32_t column_of(std::uint32_t ipu) const { return ipu % 2; }
    std::uint32_t rung_of(std::uint32_t ipu) const { return ipu % domain_ipus() / 2; }
    std::uint32_t slot_of(std::uint32_t ipu) const { return ipu % domain_ipus() / k_machine_ipus; }
    std::uint32_t at(std::uint32_t domain, std::uint32_t rung, std::uint32_t column) const { return domain * domain_ipus() + 2 * rung + column; }
    /// The other end of that way; none: it leads nowhere.
    std::optional<std::uint32_t> neighbour(std::uint32_t ipu, ipu_way way) const;
    /// Controllers of that way: a row of k_controllers.
    port_range controllers(std::uint32_t ipu, ipu_way way) const;
    /// The IPU to which a controller leads; none: it has no cable.
    std::optional<std::uint32_t> far_end(std::uint32_t ipu, std::uint32_t controller) const;
    /// Whether a controller with a far end has it in the same IPU-Machine, where there is no cable to swap.
    bool on_board(std::uint32_t ipu, std::uint32_t controller) const;
    std::string ipu_name(std::uint32_t ipu) const; ///< "ipu7", "d1.ipu7" in a cluster
    std::string machine_name(std::uint32_t machine) const; ///< "machine 3", "d1 machine 3" in a cluster

    // Routers: IPUs, then gateways, then switches, by slot. One domain has neither gateway nor switch links to others.
    std::uint32_t gateway(std::uint32_t domain, std::uint32_t slot) const { return ipus() + domain * machines + slot; }
    std::uint32_t gateway_switch(std::uint32_t slot) const { return ipus() + domains * machines + slot; }
    /// Of a switch, for the east or west port of that domain's gateway.
    std::uint32_t switch_port(std::uint32_t domain, std::uint32_t gateway_port) const { return k_switch_port + 2 * domain + (gateway_port == k_east_port ? 0 : 1); }
    std::uint32_t routers() const { return ipus() + (domains > 1 ? domains * machines + machines : 0); }
};

/// An IPU's controller, or a gateway's port: the end of a cable, or the sender of one direction of a link.
struct ipu_link_end {
    std::uint32_t router = 0;
    std::uint32_t port = 0;

    bool operator==(const ipu_link_end& other) const { return router == other.router && port == other.port; }
};

/// Two ends of external cables, exchanged by mistake.
struct swapped_cables {
    ipu_link_end ends[2];
};

/// Where a Sync-Link cable ends: the upper or the lower connector of an IPU-Machine.
struct sync_link_end {
    std::uint32_t machine = 0; ///< over all domains
    bool up = true;

    bool operator==(const sync_link_end& other) const { return machine == other.machine && up == other.up; }
};
struct swapped_sync_cables {
    sync_link_end ends[2];
};

struct ipu_pod_wires {
    fabric_link_params tiles;   ///< between an IPU and its exchange
    fabric_link_params link;    ///< an IPU-Link
    fabric_link_params host;    ///< between an IPU and its gateway
    fabric_link_params gateway; ///< between a gateway and a switch
};

fabric_plan plan_ipu_pod(const ipu_shape& shape, const ipu_pod_wires& wires, const std::vector<swapped_cables>& swapped, const std::vector<ipu_link_end>& down);

/// What the plan wires otherwise than the shape says: a sentence for each controller that leads to another IPU. None
/// where it is right.
std::vector<std::string> wrong_cables(const ipu_shape& shape, const fabric_plan& plan);
/// The same for each port of a gateway that leads to another port of a switch.
std::vector<std::string> wrong_gw_cables(const ipu_shape& shape, const fabric_plan& plan);

/// The other end of the Sync-Link cable there; none: the connector is free. Sync-Links follow the IPU-Links (section
/// 7.9.1); that one cable joins two neighbouring machines is assumed.
std::optional<sync_link_end> sync_neighbour(const ipu_shape& shape, const sync_link_end& end);

/// Sentences, as of wrong_cables(), for the Sync-Links with those cables swapped one after the other.
std::vector<std::string> wrong_sync_cables(const ipu_shape& shape, const std::vector<swapped_sync_cables>& swapped);

/// The wiring with port names, for `weft check`.
std::string wiring_text(const ipu_shape& shape);

} // namespace weft
