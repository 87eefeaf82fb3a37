// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bill of materials of a UB-Mesh machine and of what it is compared with: chips, switches, cables by class, optical
// modules. A machine is counted from its devices and links, the columns of Fig. 21 by arithmetic from their shape.
// Plain C++. Figures: UB-Mesh (arXiv 2503.20377), tables 2, 3 and 6, Fig. 16, 18, 21.
//
// Models, by arithmetic: lanes of every cable class, switches of every stage that is non-blocking for the lanes an NPU
// has towards it. Not there: the wiring inside the backplanes of 1D-FM (only its 36 or 16 LRS are published), cables of
// NICs. Neither counts NICs to the DCN, nor power.
#pragma once

#include "hw/routing/ub/ub_shape.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class ub_topology;

/// The columns of Fig. 21. "xN": lanes of an NPU towards other racks through switches.
enum class ub_architecture : std::uint8_t { fm_4d_x4, fm_2d_x16, fm_1d_x16, fm_1d_x32, clos_x64 };
inline constexpr unsigned k_ub_architectures = 5;
template <> struct enum_names<ub_architecture> {
    static constexpr std::pair<ub_architecture, const char*> values[] = {{ub_architecture::fm_4d_x4, "4d_fm_x4"},
                                                                         {ub_architecture::fm_2d_x16, "2d_fm_x16"},
                                                                         {ub_architecture::fm_1d_x16, "1d_fm_x16"},
                                                                         {ub_architecture::fm_1d_x32, "1d_fm_x32"},
                                                                         {ub_architecture::clos_x64, "clos_x64"}};
};

enum class ub_cable_class : std::uint8_t { x, y, backplane, z, alpha, hrs };
inline constexpr unsigned k_ub_cable_classes = 6;
enum class ub_cable_kind : std::uint8_t { passive, active, optical };

/// Table 2: X and Y 1 m passive, Z 10 m active, alpha 100 m and beta, gamma (to HRS) 1000 m optical. Backplane: assumed
/// as X.
struct ub_cable_traits {
    const char* name;
    ub_cable_kind kind;
    std::uint32_t length_m;
};
inline constexpr ub_cable_traits k_ub_cables[k_ub_cable_classes] = {
    {"x", ub_cable_kind::passive, 1}, {"y", ub_cable_kind::passive, 1},       {"backplane", ub_cable_kind::passive, 1},
    {"z", ub_cable_kind::active, 10}, {"alpha", ub_cable_kind::optical, 100}, {"hrs", ub_cable_kind::optical, 1000}};

struct ub_cable_line {
    ub_cable_class type = ub_cable_class::x;
    std::uint64_t cables = 0;
    std::uint32_t lanes = 0; ///< of each cable
};

/// Counted whole, not per rack.
struct ub_bill {
    std::string name;
    std::uint64_t npus = 0, spares = 0, cpus = 0, nics = 0, lrs = 0, hrs = 0;
    std::vector<ub_cable_line> cables; ///< without empty ones; a class may have several widths

    std::uint64_t cables_of(ub_cable_class type) const;
    std::uint64_t lanes_of(ub_cable_class type) const;
    std::uint64_t lanes_of(ub_cable_kind kind) const;
    /// Modules at both ends of every optical cable.
    std::uint64_t optical_modules(std::uint32_t lanes_per_module) const;
    std::uint64_t switch_lanes() const; ///< x72 an LRS, x512 an HRS
};

/// What was built: devices and links of a machine, whatever its size. A link of x8 or x12 is two or three cables of x4.
ub_bill bill_of(const ub_topology& topology);

/// What the shape describes, at the scale of the paper: switches are filled. Racks of the baselines 1d_fm_a, 1d_fm_b
/// and clos are those of Fig. 16; with several racks, a second stage of HRS joins the first two. The LRS of a Clos rack
/// have no lanes left.
ub_bill bill_of(const ub_shape& shape);

/// A column of Fig. 21 for pods of 4x4 racks of 64 NPUs; 8 pods: 8192 NPUs. clos_x64 has leaf and spine of x512 without
/// LRS between NPUs, and 16 LRS a rack for the CPUs (derived from table 6).
ub_bill bill_of(ub_architecture architecture, std::uint32_t pods = 8);

} // namespace weft
