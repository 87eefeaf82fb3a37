// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a UB-Mesh machine looks like, as numbers: the input of the topology, of the bill of materials and of the YAML section `mesh`.
// Plain data. Figures: UB-Mesh (arXiv 2503.20377), tables 2 and 3, Fig. 7, 8, 16, 18.
#pragma once

#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <cstdint>

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
    bool backplane = true;            ///< false: boards alone, without LRS, CPUs, spare NPU (a single board or a bare mesh)
    bool hrs = false;                 ///< racks connect to HRS (needed for more than one pod; lets one pod borrow)
    std::uint32_t x_lanes = 4;        ///< of each X link
    std::uint32_t y_lanes = 4;        ///< of each Y link
    std::uint32_t backplane_lanes = 16; ///< of each NPU to its LRS, over four planes
    std::uint32_t rack_link_lanes = 128; ///< of each rack-to-rack link, over four planes

    std::uint32_t racks_per_pod() const { return rack_rows * rack_cols; }
    std::uint32_t racks() const { return pods * racks_per_pod(); }
    std::uint32_t npus_per_rack() const { return boards * npus; }
    std::uint32_t ranks() const { return racks() * npus_per_rack(); }
};

/// Length of the cables of a class; with 5 ns/m that is the propagation (table 2 for the lengths; 5 ns/m assumed).
struct ub_cables {
    duration x = duration(5'000);          ///< 1 m
    duration y = duration(5'000);          ///< 1 m
    duration backplane = duration(5'000);  ///< NPU, leaf, spine: 1 m, assumed
    duration z = duration(50'000);         ///< 10 m
    duration alpha = duration(500'000);    ///< 100 m
    duration hrs = duration(5'000'000);    ///< 1000 m
};

} // namespace weft
