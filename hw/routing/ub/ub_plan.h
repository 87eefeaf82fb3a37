// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a platform loads into the devices of a UB fabric before time zero: routers with their ports, addresses and
// linear tables, links, the rule of virtual lanes, and who answers the question which paths a source may use. Plain
// data; ub_topology and ub_paths compute it, hw/ub runs it.
#pragma once

#include "hw/abi/ub.h"
#include "tlm/units.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

enum class ub_device : std::uint8_t { npu, cpu, nic, lrs, hrs };

/// Classes of directed channels for the rule of virtual lanes. A class is a direction in a dimension or a stage of a
/// switched part.
/// `plus` leads to a higher coordinate.
enum class ub_channel : std::uint8_t {
    local,  ///< between a controller and its own DMA or memory
    x_plus, ///< NPU to NPU of the board
    x_minus,
    y_plus, ///< NPU to NPU of another board of the rack
    y_minus,
    up,     ///< NPU to LRS
    down,   ///< LRS to NPU
    z_plus, ///< rack to rack of a row, LRS to LRS
    z_minus,
    alpha_plus, ///< rack to rack of a column
    alpha_minus,
    hrs_up,     ///< LRS or NPU to HRS
    hrs_down,   ///< HRS to LRS or NPU
    spine_up,   ///< leaf LRS to spine LRS
    spine_down, ///< spine LRS to leaf LRS
    side_up,    ///< CPU, NIC or spare NPU to spine LRS
    side_down   ///< spine LRS to CPU, NIC or spare NPU
};
inline constexpr unsigned k_ub_channels = 17;
const char* name_of(ub_channel c); ///< "X+", "U", "H up"; in ub_plan.cpp

/// Requests and what answers them never share a lane: VL = class * 2 + lane, lane 0 or 1.
enum class ub_class : std::uint8_t { request = 0, response = 1 };
inline constexpr std::uint32_t k_ub_classes = 2;
inline constexpr std::uint32_t k_ub_lanes_per_class = 2;
inline constexpr std::uint32_t k_ub_vls = k_ub_classes * k_ub_lanes_per_class;
/// Where devices speak to each other there is a third class behind these, management, with its own two lanes: VL 4 and
/// 5. What it carries ends in a control processor, never in a chip, and goes before all data.
inline constexpr std::uint32_t k_ub_management_vl = k_ub_vls;
inline constexpr std::uint32_t k_ub_managed_vls = k_ub_vls + k_ub_lanes_per_class;

struct ub_router_plan {
    ub_device device = ub_device::npu;
    std::string name;                       ///< "npu(p0,r3,b2,5)"
    abi::ub::address place;                 ///< own address; of a switch: where it stands
    std::uint16_t ports = 0;                ///< UB ports; local ports follow
    std::uint8_t local_ports = 0;           ///< toward DMA or a test; 0 for switches
    std::uint16_t second_die_from = 0xffff; ///< ports from here on, and local port 1, belong to the second IO die
    std::uint16_t table = 0;                ///< into ub_plan::tables
    std::vector<abi::ub::table_entry> entries;
};

/// One direction.
struct ub_link_plan {
    std::uint32_t from = 0, to = 0; ///< routers
    std::uint16_t from_port = 0, to_port = 0;
    std::uint8_t lanes = 4;
    std::uint8_t lanes_left = 0; ///< from the start, of a link that has lost some; 0: it has all
    ub_channel channel = ub_channel::local;
    duration propagation;       ///< of the cable alone
    double bit_error_rate = -1; ///< of this direction; negative: as the fabric's config says
};

/// Steps of a lookup, shared by the routers of one kind.
struct ub_table_plan {
    std::vector<abi::ub::table_step> steps;
};

/// Which lane a packet goes on by when it is routed by table (VL switching by in-lane and classes at each node).
/// Deadlock freedom is proved over every turn that this rule allows.
class ub_lane_rule {
public:
    static constexpr std::uint8_t k_refused = 0xff;
    ub_lane_rule()
    {
        for (auto& in : next_)
            for (auto& lane : in)
                for (auto& out : lane)
                    out = k_refused;
    }
    /// Lane (0 or 1) of the next channel, the lowest that the rule allows; k_refused when this turn is never allowed.
    std::uint8_t next(ub_channel in, std::uint8_t lane, ub_channel out) const
    {
        return next_[static_cast<unsigned>(in)][lane][static_cast<unsigned>(out)];
    }
    void set(ub_channel in, std::uint8_t lane, ub_channel out, std::uint8_t next)
    {
        next_[static_cast<unsigned>(in)][lane][static_cast<unsigned>(out)] = next;
    }

private:
    std::uint8_t next_[k_ub_channels][k_ub_lanes_per_class][k_ub_channels];
};

enum class ub_path_kind : std::uint8_t { shortest, detour, borrow };

/// One way from a source to a destination, as its controller stamps it into packets.
struct ub_path {
    abi::ub::source_route route; ///< not present(): by tables
    std::uint8_t first_lane = 0; ///< lane of the first link
    ub_path_kind kind = ub_path_kind::shortest;
    std::uint8_t hops = 0;            ///< links
    std::uint32_t weight = 1;         ///< share of the traffic, relative to the other paths of the set
    std::vector<std::uint32_t> links; ///< indices into ub_plan::links, in order
};

/// Answers of the platform's all-path routing. Asked when a source first sends to a destination and when a link that
/// one of the paths uses has been reported down or up again; never per packet.
class ub_path_source {
public:
    virtual ~ub_path_source() = default;
    /// Paths from router to router that avoid every link marked in `down` (one flag per link, may be empty), in a fixed
    /// order.
    /// Empty: unreachable.
    virtual std::vector<ub_path> paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const = 0;
};

struct ub_plan {
    std::vector<ub_router_plan> routers;
    std::vector<ub_link_plan> links;
    std::vector<ub_table_plan> tables;
    std::vector<std::uint32_t> endpoint_router; ///< endpoint number (ranks first) -> router
    ub_lane_rule lanes;
    std::shared_ptr<const ub_path_source> paths;
};

} // namespace weft
