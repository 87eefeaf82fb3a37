// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a UB-Mesh machine looks like, as numbers: the input of the topology, of the bill of materials and of the YAML
// section `mesh`.
// Plain data. Figures: UB-Mesh (arXiv 2503.20377), tables 2 and 3, Fig. 7, 8, 16, 18.
#pragma once

#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <cstdint>
#include <vector>

namespace weft {

/// How the NPUs of a rack are joined (Fig. 16).
enum class ub_rack_kind : std::uint8_t { full_mesh_2d, full_mesh_1d_a, full_mesh_1d_b, clos };
template <> struct enum_names<ub_rack_kind> {
    static constexpr std::pair<ub_rack_kind, const char*> values[] = {{ub_rack_kind::full_mesh_2d, "2d_fm"},
                                                                      {ub_rack_kind::full_mesh_1d_a, "1d_fm_a"},
                                                                      {ub_rack_kind::full_mesh_1d_b, "1d_fm_b"},
                                                                      {ub_rack_kind::clos, "clos"}};
};

/// How the racks of a pod are joined (Fig. 18).
enum class ub_pod_kind : std::uint8_t { full_mesh_2d, clos };
template <> struct enum_names<ub_pod_kind> {
    static constexpr std::pair<ub_pod_kind, const char*> values[] = {{ub_pod_kind::full_mesh_2d, "2d_fm"},
                                                                     {ub_pod_kind::clos, "clos"}};
};

struct ub_shape {
    std::uint32_t pods = 1;
    std::uint32_t rack_rows = 1; ///< alpha dimension
    std::uint32_t rack_cols = 1; ///< Z dimension
    std::uint32_t boards = 8;    ///< Y dimension
    std::uint32_t npus = 8;      ///< of a board: X dimension
    ub_rack_kind rack = ub_rack_kind::full_mesh_2d;
    ub_pod_kind pod = ub_pod_kind::full_mesh_2d;
    bool backplane = true;     ///< false: boards alone, without LRS, CPUs, spare NPU (a single board or a bare mesh)
    bool hrs = false;          ///< racks connect to HRS (needed for more than one pod; lets one pod borrow)
    std::uint32_t x_lanes = 4; ///< of each X link
    std::uint32_t y_lanes = 4; ///< of each Y link
    std::uint32_t backplane_lanes = 16;  ///< of each NPU to its LRS, over four planes
    std::uint32_t rack_link_lanes = 128; ///< of each rack-to-rack link, over four planes

    std::uint32_t racks_per_pod() const { return rack_rows * rack_cols; }
    std::uint32_t racks() const { return pods * racks_per_pod(); }
    std::uint32_t npus_per_rack() const { return boards * npus; }
    std::uint32_t ranks() const { return racks() * npus_per_rack(); }

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("pods", self.pods, "Pods of a SuperPod, joined by HRS",
              quoted("8 in a SuperPod of 8192 NPUs, UB-Mesh section 3.3.4"),
              between(1, 8).because(": an address has 3 bits for it"));
        visit("rack_rows", self.rack_rows, "Racks of a column of a pod (alpha dimension)",
              quoted("4, UB-Mesh section 3.3.3"),
              between(1, 4).because(": an address has 2 bits for it, and cables reach no further"));
        visit("rack_cols", self.rack_cols, "Racks of a row of a pod (Z dimension)", quoted("4, UB-Mesh section 3.3.3"),
              between(1, 4).because(": an address has 2 bits for it, and cables reach no further"));
        visit("boards", self.boards, "NPU boards of a rack (Y dimension)", quoted("8, UB-Mesh section 3.3.1"),
              between(1, 8).because(": an address has 3 bits for it"));
        visit("npus", self.npus, "NPUs of a board (X dimension)", quoted("8, UB-Mesh section 3.3.1"),
              between(1, 8).because(": an address has 3 bits for it"));
        visit("rack", self.rack,
              "Inside a rack: 2d_fm, the full mesh of UB-Mesh, or a baseline: 1d_fm_a, 1d_fm_b, clos",
              quoted("UB-Mesh, Fig. 16"));
        visit("pod", self.pod, "Between the racks of a pod: 2d_fm, or the baseline clos", quoted("UB-Mesh, Fig. 18"));
        visit("backplane", self.backplane,
              "LRS backplanes with CPUs, NICs and the spare NPU; false: the NPUs' own links only (one rack)", k_user_choice);
        visit("hrs", self.hrs, "Racks are connected to HRS; several pods need them, one pod may borrow them", k_user_choice);
        visit("x_lanes", self.x_lanes, "Lanes of each link between NPUs of a board", derived("4: 7 of them are x28 of x72"),
              one_of(1, 2, 4, 8).because(": the lanes that a UB port may have"));
        visit("y_lanes", self.y_lanes, "Lanes of each link between boards", derived("4"),
              one_of(1, 2, 4, 8).because(": the lanes that a UB port may have"));
        visit("backplane_lanes", self.backplane_lanes, "Lanes of each NPU to the LRS, over four planes",
              quoted("16, UB-Mesh section 6.3"), between(4, 64).multiple_of(4).because(": there are four planes"));
        visit("rack_link_lanes", self.rack_link_lanes, "Lanes of each link between two racks, over four planes",
              quoted("128, UB-Mesh section 3.3.3"));
    }
    std::vector<config_problem> validate() const;
};

/// Length of the cables of a class; with 5 ns/m that is the propagation (table 2 for the lengths; 5 ns/m assumed).
struct ub_cables {
    static constexpr config_part k_part = config_part::links;
    static constexpr duration k_longest = duration(100'000'000);
    duration x = duration(5'000);         ///< 1 m
    duration y = duration(5'000);         ///< 1 m
    duration backplane = duration(5'000); ///< NPU, leaf, spine: 1 m, assumed
    duration z = duration(50'000);        ///< 10 m
    duration alpha = duration(500'000);   ///< 100 m
    duration hrs = duration(5'000'000);   ///< 1000 m

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        constexpr value_source metre = assumed("about 1 m, UB-Mesh table 2 (quoted), at 5 ns/m (assumed)");
        visit("x", self.x, "Propagation between NPUs of a board", metre, between(duration(1'000), k_longest));
        visit("y", self.y, "Propagation between boards of a rack", metre, between(duration(1'000), k_longest));
        visit("backplane", self.backplane, "Propagation between NPU, CPU, NIC and LRS, and between LRS", assumed("1 m"),
              between(duration(1'000), k_longest));
        visit("z", self.z, "Propagation between racks of a row", assumed("about 10 m, UB-Mesh table 2 (quoted), at 5 ns/m (assumed)"),
              between(duration(1'000), k_longest));
        visit("alpha", self.alpha, "Propagation between racks of a column",
              assumed("about 100 m, UB-Mesh table 2 (quoted), at 5 ns/m (assumed)"), between(duration(1'000), k_longest));
        visit("hrs", self.hrs, "Propagation between rack and HRS",
              assumed("about 1000 m, UB-Mesh table 2 (quoted), at 5 ns/m (assumed)"), between(duration(1'000), k_longest));
    }
    std::vector<config_problem> validate() const;
};

} // namespace weft
