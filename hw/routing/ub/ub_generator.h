// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a UB fabric of one kind of rack: its routers and links, then a table for each router. A generator a kind; what
// they share are the building blocks here: endpoints, X and Y of a mesh, links between racks.
#pragma once

#include "hw/routing/ub/ub_plan.h"
#include "hw/routing/ub/ub_shape.h"
#include "hw/routing/ub/ub_table_maker.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// What a router is, and where. Coordinates that do not apply are -1: an HRS of pods has no rack, a leaf no unit.
struct ub_place {
    enum class role : std::uint8_t { npu, spare, cpu, nic, leaf, spine, hrs };
    role is = role::npu;
    std::int8_t pod = -1, row = -1, col = -1, board = -1, unit = -1;
    std::int16_t plane = -1; ///< of switches; number of an HRS
    std::int32_t rack = -1;  ///< over all pods
};

/// By which numbers the routers of a fabric are found: the first of each role, and how many a rack has.
struct ub_numbering {
    std::uint32_t planes = 0, spines = 0, cpus = 0, nics = 0;
    std::uint32_t leaves = 0;   ///< of a rack: leaf LRS, LRS of columns, switches of a Clos
    std::uint32_t rack_hrs = 0; ///< of a rack (1D-FM)
    std::uint32_t hrs = 0;      ///< of pods
    std::uint32_t first_spare = 0, first_cpu = 0, first_nic = 0, first_leaf = 0, first_spine = 0, first_hrs = 0;
};

struct ub_parts {
    ub_plan plan;                     ///< without lane rule and paths
    std::vector<ub_place> places;     ///< of routers
    std::vector<std::string> remarks; ///< violations of the lane ledger seen while building
    ub_numbering numbers;
};

class ub_generator {
public:
    static constexpr std::uint32_t k_least_planes = 4, k_spines_per_plane = 4, k_hrs_per_leaf = 2, k_port_lanes = 4,
                                   k_cpu_lanes = 32;

    /// Backplanes of a 2d_fm rack: more than x16 an NPU goes to more of them, as an LRS has no lanes for wider links.
    static std::uint32_t planes_of(const ub_shape& s) { return std::max(k_least_planes, s.backplane_lanes / 16 * k_least_planes); }
    /// Of each link from a leaf to an HRS between pods: as wide as that of an NPU to the leaf, x4 at most.
    static std::uint32_t hrs_lanes_of(const ub_shape& s) { return std::min(k_port_lanes, s.backplane_lanes / planes_of(s)); }

    virtual ~ub_generator() = default;
    ub_parts make(); ///< call once

protected:
    using role = ub_place::role;
    using segment = abi::ub::segment;
    using kind = abi::ub::node_kind;

    ub_generator(const ub_shape& shape, const ub_cables& cables);

    virtual void build() = 0;
    virtual void make_table(std::uint32_t router, const ub_place& at, ub_table_maker& t) const = 0;

    // Routers and links
    std::uint32_t add_router(ub_device device, ub_place place, std::string name, std::uint32_t ports);
    /// A switch of one rack.
    std::uint32_t add_switch(ub_device device, role is, std::uint32_t rack, std::uint32_t plane, std::string name,
                             std::uint32_t ports);
    /// NPUs by rank, then the spare NPU, CPUs and NICs of every rack: as many CPUs and NICs as boards (8 and 8;
    /// quoted). The second die of an NPU begins behind `first_die_ports`.
    void add_npus(std::uint32_t ports, std::uint32_t first_die_ports);
    void add_side_nodes(std::uint32_t spare_ports, std::uint32_t cpu_ports, std::uint32_t nic_ports);
    void connect(std::uint32_t a, std::uint32_t a_port, std::uint32_t b, std::uint32_t b_port, std::uint32_t lanes,
                 ub_channel there, ub_channel back, duration propagation);
    /// Within a rack, over backplane cables: NPU to switch, leaf to spine, CPU, NIC or spare NPU to spine.
    void connect_up(std::uint32_t npu, std::uint32_t npu_port, std::uint32_t to, std::uint32_t to_port,
                    std::uint32_t lanes);
    void connect_spine(std::uint32_t leaf, std::uint32_t leaf_port, std::uint32_t spine, std::uint32_t spine_port,
                       std::uint32_t lanes);
    void connect_side(std::uint32_t node, std::uint32_t node_port, std::uint32_t to, std::uint32_t to_port,
                      std::uint32_t lanes);
    /// Boards of a rack, ports from 0 on; with Y, its columns too, ports from `first_y` on.
    void connect_boards(std::uint32_t rack);
    void connect_boards_and_columns(std::uint32_t rack, std::uint32_t first_y);
    /// Switch i of every rack (`first` + rack * per_rack + i) with switch i of the racks of its row and column: columns
    /// from first_port on, then rows.
    void connect_racks(std::uint32_t first, std::uint32_t per_rack, std::uint32_t first_port, std::uint32_t lanes);

    std::uint32_t next_router() const { return static_cast<std::uint32_t>(parts_.places.size()); }
    std::uint32_t npu(std::uint32_t rack, std::uint32_t board, std::uint32_t unit) const
    {
        return (rack * shape_.boards + board) * shape_.npus + unit;
    }
    std::uint32_t spare(std::uint32_t rack) const { return numbers_.first_spare + rack; }
    std::uint32_t cpu(std::uint32_t rack, std::uint32_t j) const
    {
        return numbers_.first_cpu + rack * numbers_.cpus + j;
    }
    std::uint32_t nic(std::uint32_t rack, std::uint32_t j) const
    {
        return numbers_.first_nic + rack * numbers_.nics + j;
    }
    std::uint32_t spine(std::uint32_t rack, std::uint32_t s) const
    {
        return numbers_.first_spine + rack * numbers_.spines + s;
    }
    std::uint32_t links_to_racks() const { return shape_.rack_cols - 1 + shape_.rack_rows - 1; } ///< of one switch
    std::string rack_name(std::uint32_t rack) const;

    // Racks in which spine s has CPUs, the spare NPU and half of NIC s / 2, in this order on its ports from `cpu_port`
    // on.
    bool has_nic(std::uint32_t s) const { return s / 2 < numbers_.nics; }
    void connect_side_nodes(std::uint32_t rack, std::uint32_t s, std::uint32_t cpu_port, std::uint32_t cpu_lanes);

    // Tables
    ub_entries racks_from(const ub_place& at, std::uint32_t first) const; ///< by `rack`: the column first
    ub_entries npus_by_place(std::uint32_t first) const;                  ///< by board_and_unit, ports from `first` on
    ub_by_kind over_all_ports(std::uint32_t router) const;                ///< of a CPU, NIC or spare NPU: any way
    /// Of a CPU, NIC or spare NPU: by kind to the router of the rack that has it, over any port to other racks.
    static void side_node_table(const ub_by_kind& by_kind, ub_table_maker& t);
    /// The same where NIC j hangs on spines 2 j and 2 j + 1.
    void side_node_table(std::uint32_t router, const ub_place& at, ub_table_maker& t) const;
    /// Of an HRS of a rack whose ports from 0 on go to its NPUs, those from `racks` on to other racks.
    void rack_hrs_table(const ub_place& at, std::uint32_t racks, const ub_by_kind& by_kind, ub_table_maker& t) const;

    const ub_shape shape_;
    const ub_cables cables_;
    ub_parts parts_;
    ub_numbering& numbers_;

private:
    void connect_x(std::uint32_t rack, std::uint32_t board, std::uint32_t unit);
    void connect_y(std::uint32_t rack, std::uint32_t board, std::uint32_t unit, std::uint32_t first_port);
    std::uint32_t add_endpoint(ub_device device, ub_place place, std::string name, std::uint32_t ports,
                               std::uint32_t first_die_ports);
    std::uint16_t add_table(std::vector<abi::ub::table_step> steps);
};

/// For the kind of rack that `shape` has, which has no problem (ub_topology::problems).
std::unique_ptr<ub_generator> ub_generator_for(const ub_shape& shape, const ub_cables& cables);

// One for each kind; the files of these names have them.
std::unique_ptr<ub_generator> ub_bare_rack(const ub_shape& shape, const ub_cables& cables);
std::unique_ptr<ub_generator> ub_full_mesh_2d(const ub_shape& shape, const ub_cables& cables);
std::unique_ptr<ub_generator> ub_full_mesh_1d_a(const ub_shape& shape, const ub_cables& cables);
std::unique_ptr<ub_generator> ub_full_mesh_1d_b(const ub_shape& shape, const ub_cables& cables);
std::unique_ptr<ub_generator> ub_clos_rack(const ub_shape& shape, const ub_cables& cables);

} // namespace weft
