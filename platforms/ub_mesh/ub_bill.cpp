// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_bill.h"

#include "hw/routing/ub/ub_generator.h"
#include "hw/routing/ub/ub_topology.h"

#include <map>
#include <utility>

namespace weft {

namespace {

constexpr std::uint32_t k_planes = 4;           // backplanes of a rack (Fig. 8)
constexpr std::uint32_t k_spines = 4;           // of a backplane (Fig. 16)
constexpr std::uint32_t k_cpus = 8;             // of a rack: 4 boards of 2 CPUs and 2 NICs (Fig. 8)
constexpr std::uint32_t k_cpu_lanes = 32;       // table 3
constexpr std::uint32_t k_npu_lanes = 72;       // table 3
constexpr std::uint32_t k_lrs_lanes = 72;       // table 3
constexpr std::uint32_t k_hrs_lanes = 512;      // table 3
constexpr std::uint32_t k_port_lanes = 4;       // of an NPU, and of HRS as drawn in Fig. 7
constexpr std::uint32_t k_leaf_spine_lanes = 2; // the only split that fits x72 (derived)
constexpr std::uint32_t k_superpod_lanes = 4;   // of an NPU to HRS (Fig. 7)
constexpr std::uint32_t k_lrs_1d_a = 36;        // of a rack (Fig. 16)
constexpr std::uint32_t k_lrs_1d_b = 16;
constexpr std::uint32_t k_lrs_clos = 72;
constexpr std::uint32_t k_lrs_clos_x64 = 16; // derived from table 6: 18 failures a year are 2048 LRS

std::uint64_t pairs(std::uint64_t n) { return n * (n - 1) / 2; }

struct counting {
    const ub_shape& s;
    ub_bill& b;
    std::uint64_t racks = s.racks();

    void add(ub_cable_class type, std::uint64_t cables, std::uint32_t lanes)
    {
        if (cables != 0 && lanes != 0)
            b.cables.push_back({type, cables, lanes});
    }
    /// Every NPU has `lanes` through cables of this class, in x4.
    void add_per_npu(ub_cable_class type, std::uint32_t lanes)
    {
        add(type, b.npus * (lanes / k_port_lanes), k_port_lanes);
    }

    void x_mesh() { add(ub_cable_class::x, racks * s.boards * pairs(s.npus), s.x_lanes); }

    /// HRS in the racks, lanes of an NPU down and as many up to a second stage when there are racks to join.
    void two_stages(std::uint32_t lanes)
    {
        add_per_npu(ub_cable_class::backplane, lanes);
        b.hrs = 2 * b.npus * lanes / k_hrs_lanes;
        if (racks < 2)
            return;
        add_per_npu(ub_cable_class::hrs, lanes);
        b.hrs += b.npus * lanes / k_hrs_lanes;
    }

    /// One stage: an HRS has a port of x4 for each of up to 128 racks.
    void one_stage(std::uint32_t lanes)
    {
        add_per_npu(ub_cable_class::hrs, lanes);
        b.hrs = (b.npus * lanes + k_hrs_lanes - 1) / k_hrs_lanes;
    }

    void mesh_rack()
    {
        x_mesh();
        add(ub_cable_class::y, racks * s.npus * pairs(s.boards), s.y_lanes);
        if (!s.backplane) {
            b.cpus = b.nics = 0;
            return;
        }
        b.spares = racks;
        b.lrs = racks * k_planes * (s.boards + k_spines);
        add_per_npu(ub_cable_class::backplane, s.backplane_lanes);
        add(ub_cable_class::backplane, racks * k_planes * s.boards * k_spines, k_leaf_spine_lanes);
        // A CPU reaches each spine with x2; the spare NPU has 4 ports to each backplane.
        add(ub_cable_class::backplane, b.cpus * k_planes * k_spines, k_cpu_lanes / (k_planes * k_spines));
        add(ub_cable_class::backplane, b.spares * k_planes * 4, k_port_lanes);
        if (s.pod == ub_pod_kind::clos) {
            one_stage(s.backplane_lanes);
            return;
        }
        const std::uint64_t bundle = s.rack_link_lanes / k_port_lanes;
        add(ub_cable_class::z, s.pods * s.rack_rows * pairs(s.rack_cols) * bundle, k_port_lanes);
        add(ub_cable_class::alpha, s.pods * s.rack_cols * pairs(s.rack_rows) * bundle, k_port_lanes);
        if (s.hrs)
            one_stage(k_superpod_lanes * ub_generator::hrs_lanes_of(s) / k_port_lanes);
    }

    /// Of the baselines only NPUs and CPUs to the LRS are counted: how the LRS are joined is not published.
    void to_lrs(std::uint32_t npu_lanes, std::uint32_t lrs)
    {
        b.lrs = racks * lrs;
        add_per_npu(ub_cable_class::backplane, npu_lanes);
        add(ub_cable_class::backplane, b.cpus * (k_cpu_lanes / k_port_lanes), k_port_lanes);
    }
};

const char* name_of(const ub_shape& shape)
{
    switch (shape.rack) {
    case ub_rack_kind::full_mesh_2d: return shape.pod == ub_pod_kind::clos ? "2D-FM, Clos" : "2D-FM";
    case ub_rack_kind::full_mesh_1d_a: return "1D-FM-A";
    case ub_rack_kind::full_mesh_1d_b: return "1D-FM-B";
    case ub_rack_kind::clos: return "Clos";
    }
    return "";
}

/// NPUs reach HRS of their rack, and LRS, over the backplane.
ub_cable_class class_of(const ub_link_plan& link)
{
    switch (link.channel) {
    case ub_channel::x_plus:
    case ub_channel::x_minus: return ub_cable_class::x;
    case ub_channel::y_plus:
    case ub_channel::y_minus: return ub_cable_class::y;
    case ub_channel::z_plus:
    case ub_channel::z_minus: return ub_cable_class::z;
    case ub_channel::alpha_plus:
    case ub_channel::alpha_minus: return ub_cable_class::alpha;
    case ub_channel::hrs_up:
    case ub_channel::hrs_down: return ub_cable_class::hrs;
    default: return ub_cable_class::backplane;
    }
}

} // namespace

ub_bill bill_of(const ub_topology& topology)
{
    const ub_ledger ledger = topology.ledger();
    ub_bill b;
    b.name = name_of(topology.shape());
    b.npus = ledger.npus, b.spares = ledger.spares, b.cpus = ledger.cpus, b.nics = ledger.nics, b.lrs = ledger.lrs, b.hrs = ledger.hrs;
    std::map<std::pair<ub_cable_class, std::uint32_t>, std::uint64_t> cables;
    const std::vector<ub_link_plan>& links = topology.plan().links;
    for (std::size_t l = 0; l < links.size(); l += 2) { // both directions are one cable
        const std::uint32_t lanes = links[l].lanes % k_port_lanes == 0 ? k_port_lanes : links[l].lanes;
        cables[{class_of(links[l]), lanes}] += links[l].lanes / lanes;
    }
    for (const auto& [type_and_lanes, n] : cables)
        b.cables.push_back({type_and_lanes.first, n, type_and_lanes.second});
    return b;
}

ub_bill bill_of(const ub_shape& shape)
{
    ub_bill b;
    b.name = name_of(shape);
    b.npus = shape.ranks();
    b.cpus = b.nics = std::uint64_t{shape.racks()} * k_cpus;
    counting c{shape, b};
    const std::uint32_t x_lanes = (shape.npus - 1) * shape.x_lanes;
    switch (shape.rack) {
    case ub_rack_kind::full_mesh_2d:
        c.mesh_rack();
        break;
    case ub_rack_kind::full_mesh_1d_a: // x16 to LRS, x16 to HRS
        c.x_mesh();
        c.to_lrs(16, k_lrs_1d_a);
        c.two_stages(16);
        break;
    case ub_rack_kind::full_mesh_1d_b: // x32 to HRS, the rest to LRS
        c.x_mesh();
        c.to_lrs(k_npu_lanes - x_lanes - 32, k_lrs_1d_b);
        c.two_stages(32);
        break;
    case ub_rack_kind::clos:
        c.to_lrs(64, k_lrs_clos);
        break;
    }
    return b;
}

ub_bill bill_of(ub_architecture architecture, std::uint32_t pods)
{
    ub_shape s;
    s.pods = pods;
    s.rack_rows = s.rack_cols = 4;
    s.hrs = true;
    switch (architecture) {
    case ub_architecture::fm_4d_x4: break;
    case ub_architecture::fm_2d_x16: s.pod = ub_pod_kind::clos; break;
    case ub_architecture::fm_1d_x16: s.rack = ub_rack_kind::full_mesh_1d_a; break;
    case ub_architecture::fm_1d_x32: s.rack = ub_rack_kind::full_mesh_1d_b; break;
    case ub_architecture::clos_x64: s.rack = ub_rack_kind::clos; break;
    }
    ub_bill b;
    if (architecture == ub_architecture::clos_x64) {
        b.npus = s.ranks();
        b.cpus = b.nics = std::uint64_t{s.racks()} * k_cpus;
        counting c{s, b};
        c.to_lrs(k_npu_lanes - 64, k_lrs_clos_x64);
        c.two_stages(64);
    } else {
        b = bill_of(s);
    }
    constexpr const char* k_names[k_ub_architectures] = {"4D-FM + x4 Clos", "2D-FM + x16 Clos", "1D-FM + x16 Clos",
                                                         "1D-FM + x32 Clos", "x64 Clos"};
    b.name = k_names[static_cast<unsigned>(architecture)];
    return b;
}

std::uint64_t ub_bill::cables_of(ub_cable_class type) const
{
    std::uint64_t n = 0;
    for (const ub_cable_line& l : cables)
        n += l.type == type ? l.cables : 0;
    return n;
}

std::uint64_t ub_bill::lanes_of(ub_cable_class type) const
{
    std::uint64_t n = 0;
    for (const ub_cable_line& l : cables)
        n += l.type == type ? l.cables * l.lanes : 0;
    return n;
}

std::uint64_t ub_bill::lanes_of(ub_cable_kind kind) const
{
    std::uint64_t n = 0;
    for (const ub_cable_line& l : cables)
        n += k_ub_cables[static_cast<unsigned>(l.type)].kind == kind ? l.cables * l.lanes : 0;
    return n;
}

std::uint64_t ub_bill::optical_modules(std::uint32_t lanes_per_module) const
{
    std::uint64_t n = 0;
    // A cable narrower than a module shares one with its neighbours of the same class.
    for (unsigned i = 0; i < k_ub_cable_classes; ++i)
        if (k_ub_cables[i].kind == ub_cable_kind::optical)
            n += 2 * ((lanes_of(static_cast<ub_cable_class>(i)) + lanes_per_module - 1) / lanes_per_module);
    return n;
}

std::uint64_t ub_bill::switch_lanes() const { return lrs * k_lrs_lanes + hrs * k_hrs_lanes; }

} // namespace weft
