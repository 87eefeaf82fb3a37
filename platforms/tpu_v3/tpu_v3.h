// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// TPU-v3 pod: R x C chips on a 2-D mesh of ICI links (Kumar and Jouppi, "Highly Available Data Parallel ML training on
// Mesh Networks"). Ranks count the chips that work, row by row; on a whole mesh rank = row * cols + col.
#pragma once

#include "hw/ici/ici_fabric.h"
#include "hw/routing/detour_routing.h"
#include "hw/routing/mesh.h"
#include "platforms/machine/machine_hardware.h"
#include "platforms/machine/planned_routing.h"

#include <optional>

namespace weft {

struct workload_limits;

enum class mesh_wrap : std::uint8_t { none, rows, cols, both };
template <> struct enum_names<mesh_wrap> {
    static constexpr std::pair<mesh_wrap, const char*> values[] = {
        {mesh_wrap::none, "none"}, {mesh_wrap::rows, "rows"}, {mesh_wrap::cols, "cols"}, {mesh_wrap::both, "both"}};
};

enum class mesh_direction : std::uint8_t { plus_x, minus_x, plus_y, minus_y };
template <> struct enum_names<mesh_direction> {
    static constexpr std::pair<mesh_direction, const char*> values[] = {{mesh_direction::plus_x, "+X"},
                                                                        {mesh_direction::minus_x, "-X"},
                                                                        {mesh_direction::plus_y, "+Y"},
                                                                        {mesh_direction::minus_y, "-Y"}};
};

struct mesh_config {
    static constexpr std::uint32_t k_most_chips_of_a_side = 256;
    std::uint32_t rows = 8;
    std::uint32_t cols = 8;
    mesh_wrap wrap = mesh_wrap::none;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("rows", self.rows, "Chips along Y", k_user_choice, between(1, k_most_chips_of_a_side));
        visit("cols", self.cols, "Chips along X", k_user_choice, between(1, k_most_chips_of_a_side));
        visit("wrap", self.wrap,
              "none; rows: links from the last row to the first; cols: from the last column to the first; both",
              quoted("Kumar and Jouppi use no wrap links"));
    }
    std::vector<config_problem> validate() const;
    bool wraps_rows() const { return wrap == mesh_wrap::rows || wrap == mesh_wrap::both; }
    bool wraps_cols() const { return wrap == mesh_wrap::cols || wrap == mesh_wrap::both; }
};

/// One directed link that does not work, from time zero or from `at` on.
struct link_fault_config {
    std::uint32_t row = 0;
    std::uint32_t col = 0;
    mesh_direction direction = mesh_direction::plus_x;
    std::optional<bool> announced = {};
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("row", self.row, "Row of the chip that sends on the link", k_must_be_given);
        visit("col", self.col, "Column of the chip that sends on the link", k_must_be_given);
        visit("direction", self.direction, "+X: to col + 1, -X, +Y: to row + 1, -Y", k_must_be_given);
        visit(
            "announced", self.announced,
            "true: routing knows and goes around; false: it does not, and what is sent there waits. Left out: true, with "
            "`at` false",
            k_user_choice);
        visit(
            "at", self.at,
            "When the link goes down: 0 ps from the start; later, routing never knows. Counted from time zero, when the "
            "cores begin to boot; the first collective starts some microseconds after it",
            k_user_choice);
    }
    /// Routing tables are computed before time zero: they cannot know of what fails later.
    bool known_to_routing() const { return announced.value_or(at.value() == 0); }
    std::string link_text() const; ///< "(3,4) +X"
};

/// A rectangle of failed chips: they have no core, no router and no links.
struct failed_region_config {
    std::uint32_t row = 0;
    std::uint32_t col = 0;
    std::uint32_t rows = 2;
    std::uint32_t cols = 2;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("row", self.row, "First failed row", k_must_be_given);
        visit("col", self.col, "First failed column", k_must_be_given);
        visit("rows", self.rows, "Failed rows", quoted("a board is 2x2 chips, a host 4x2: Kumar and Jouppi, section 2"),
              at_least(1).because("; leave the entry out when no chip fails"));
        visit("cols", self.cols, "Failed columns", assumed("as rows"),
              at_least(1).because("; leave the entry out when no chip fails"));
    }
};

struct faults_config {
    std::vector<failed_region_config> regions;
    std::vector<link_fault_config> links_down;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("regions", self.regions, "Rectangles of failed chips, from time zero; routing goes around them", k_user_choice);
        visit("links_down", self.links_down, "Directed links that are down from time zero, or go down at a time", k_user_choice);
    }
};

// A chip of the pod: what is published or recalled of it, beside what every chip assumes.
struct tpu_core_config : core_config {
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {{"clock", recalled("940 MHz of TPU v3")}};
        with_sources sourced(visit, k_sources);
        core_config::fields(self, sourced);
    }
};

struct tpu_memory_config : hbm_config {
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"capacity", quoted("Google Cloud TPU v3 page")},
            {"rate", quoted("Google Cloud TPU v3 page")},
        };
        with_sources sourced(visit, k_sources);
        hbm_config::fields(self, sourced);
    }
};

struct tpu_dma_config : dma_config {
    tpu_dma_config() { read_ahead = 128; }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"read_ahead", assumed("covers hbm.latency at ici.local_port_rate, 77 packets of 256 B")},
        };
        with_sources sourced(visit, k_sources);
        dma_config::fields(self, sourced);
    }
};

struct tpu_chip_config : chip_sections<tpu_core_config, bus_config, tpu_memory_config, tpu_dma_config> {
    std::vector<config_problem> validate() const { return chip().validate(); }
    chip_config chip() const { return *this; }
};

struct tpu_v3_config {
    static constexpr const char* k_platform = "tpu_v3";
    run_config run;
    mesh_config mesh;
    ici_config ici;
    tpu_chip_config chip;
    faults_config faults;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        run_config::fields(self.run, visit);
        visit("mesh", self.mesh, "Shape of the pod", k_user_choice);
        visit("ici", self.ici, "Inter-chip interconnect", k_user_choice);
        visit("chip", self.chip, "One chip", k_user_choice);
        visit("faults", self.faults, "What is broken", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<tpu_v3_config>> key_rules();

    std::uint32_t ranks() const;          ///< chips that work
    mesh_description description() const; ///< what routing knows: without links whose failure is not announced
    /// Topology part of the table of the chip at (row, col).
    abi::platform_table rank_table(std::uint32_t rank) const;
    std::vector<config_problem> fault_problems() const; ///< of `faults` alone
    train_choice trains() const;
    chip_config control_chip() const { return chip; }
    std::uint32_t payload_mbps(std::uint64_t bits_per_second) const; ///< of what a wire carries
    double payload_share() const;                                    ///< of it, in full packets
    /// Of cables, which meshes beyond one board of 2x2 chips have, else of traces.
    duration longest_propagation() const;
    duration hop_latency(std::uint32_t dimension) const; ///< over the longest link
    std::uint64_t control_cores() const { return ranks(); }
    workload_limits limits() const; ///< of collectives

private:
    /// Whether any packet may take a VL beyond the first one.
    static bool uses_second_lane(const tpu_v3_config& config);
    void check_faults(std::vector<config_problem>& problems) const;
    void check_regions(std::vector<config_problem>& problems) const;
    workload_limits limits_of_any() const; ///< where the mesh is not sound
    std::string group_refusal(std::uint32_t ranks_per_group) const;
    /// Why the firmware cannot run it on this mesh, as a sentence; "" when it can.
    std::string refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const;
    std::string broadcast_refusal(std::uint32_t root, bool transposed) const;
    void check_buffers(std::vector<config_problem>& problems) const;
};

/// What `weft check` prints about faults, a line; "" when nothing is broken.
std::string describe_faults(const tpu_v3_config& config);

/// Dimension order on a whole mesh, detours where something has failed.
struct tpu_v3_routing final : planned_routing {
    explicit tpu_v3_routing(const tpu_v3_config& config);
    weft::mesh topology;
    std::optional<detour_plan> detours; ///< only where something has failed
    std::string problem() const override;

private:
    tpu_v3_routing(const tpu_v3_config& config, weft::mesh whole);
};

class tpu_v3 final : public standing_machine {
public:
    /// Throws user_error when the routing cannot be used.
    explicit tpu_v3(const tpu_v3_config& config);
    tpu_v3(const tpu_v3_config& config, const tpu_v3_routing& routing, const core_fitter& fit = {});
    std::string chip_name(std::uint32_t rank) const override { return ici_->engine().router_name(rank); }
    group_layout groups_of(std::uint32_t ranks_per_group) const override; ///< tiles of the mesh, see tiles.h
    ici_fabric& ici() { return *ici_; }
    const mesh& topology() const { return topology_; }

private:
    mesh topology_;
    std::unique_ptr<ici_fabric> ici_;
};

extern const platform_info k_tpu_v3_info;

} // namespace weft
