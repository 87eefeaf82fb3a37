// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The price file: what CapEx, OpEx and availability of UB-Mesh and its alternatives are computed from. There are no
// defaults: a figure without value, source and confidence is an error of the file. configs/ub_mesh/prices.yaml is the
// one that ships.
#pragma once

#include "platforms/ub_mesh/ub_bill.h"
#include "tlm/check.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// How far a figure can be trusted.
enum class ub_confidence : std::uint8_t { quoted, read_off, derived, assumed };
template <> struct enum_names<ub_confidence> {
    static constexpr std::pair<ub_confidence, const char*> values[] = {{ub_confidence::quoted, "quoted"},
                                                                       {ub_confidence::read_off, "read_off"},
                                                                       {ub_confidence::derived, "derived"},
                                                                       {ub_confidence::assumed, "assumed"}};
};

struct ub_price {
    double value = -1; ///< below zero: not given
    std::string source;
    std::optional<ub_confidence> confidence;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("value", self.value, "The figure", k_user_choice);
        visit("source", self.source, "Where it is from", k_user_choice);
        visit("confidence", self.confidence, "How far it can be trusted", k_user_choice);
    }
    std::vector<config_problem> validate() const;
};

struct ub_published_capex {
    std::optional<ub_architecture> architecture;
    double network = -1; ///< of the CapEx of the x64 Clos
    double total = -1;
    std::string source;
    std::optional<ub_confidence> confidence;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("architecture", self.architecture, "Column of Fig. 21", k_user_choice);
        visit("network", self.network, "CapEx of the network", k_user_choice);
        visit("total", self.total, "CapEx of all", k_user_choice);
        visit("source", self.source, "Where it is from", k_user_choice);
        visit("confidence", self.confidence, "How far it can be trusted", k_user_choice);
    }
    std::vector<config_problem> validate() const;
};

struct ub_performance {
    std::optional<ub_architecture> architecture;
    double value = -1; ///< training performance to that of the x64 Clos
    std::string source;
    std::optional<ub_confidence> confidence;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("architecture", self.architecture, "Column of Fig. 21", k_user_choice);
        visit("value", self.value, "Performance, the x64 Clos is 1", k_user_choice);
        visit("source", self.source, "Where it is from", k_user_choice);
        visit("confidence", self.confidence, "How far it can be trusted", k_user_choice);
    }
    std::vector<config_problem> validate() const;
};

struct ub_prices {
    ub_price other_capex, lrs_lane_ratio, passive_lane_ratio, active_lane_ratio, lanes_per_module;
    std::vector<ub_published_capex> published_capex; ///< each architecture once
    ub_price opex_share, opex_saving;
    std::vector<ub_performance> performance; ///< each architecture once
    ub_price switch_failures, mesh_electrical_failures, mesh_optical_failures, clos_electrical_failures,
        clos_optical_failures, table_6_lrs_per_rack;
    ub_price mttr_minutes, mttr_monitored_minutes;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("other_capex", self.other_capex, "CapEx that is not network; x64 Clos: 1 in all", k_user_choice);
        visit("lrs_lane_ratio", self.lrs_lane_ratio, "A lane of an LRS to one of an HRS", k_user_choice);
        visit("passive_lane_ratio", self.passive_lane_ratio, "A lane of passive copper to an optical one", k_user_choice);
        visit("active_lane_ratio", self.active_lane_ratio, "A lane of active copper to an optical one", k_user_choice);
        visit("lanes_per_module", self.lanes_per_module, "Lanes of an optical module", k_user_choice);
        visit("published_capex", self.published_capex, "What the prices are fitted to", k_user_choice);
        visit("opex_share", self.opex_share, "OpEx of the TCO of the x64 Clos", k_user_choice);
        visit("opex_saving", self.opex_saving, "OpEx that UB-Mesh saves of that", k_user_choice);
        visit("performance", self.performance, "Of each architecture", k_user_choice);
        visit("switch_failures", self.switch_failures, "Of one switch, a year", k_user_choice);
        visit("mesh_electrical_failures", self.mesh_electrical_failures, "Of all electrical cables of UB-Mesh, a year",
              k_user_choice);
        visit("mesh_optical_failures", self.mesh_optical_failures, "Of all optics of UB-Mesh, a year", k_user_choice);
        visit("clos_electrical_failures", self.clos_electrical_failures, "Of all electrical cables of the Clos, a year",
              k_user_choice);
        visit("clos_optical_failures", self.clos_optical_failures, "Of all optics of the Clos, a year", k_user_choice);
        visit("table_6_lrs_per_rack", self.table_6_lrs_per_rack, "LRS of a rack that table 6 counts", k_user_choice);
        visit("mttr_minutes", self.mttr_minutes, "Mean time to repair", k_user_choice);
        visit("mttr_monitored_minutes", self.mttr_monitored_minutes, "The same with monitoring and migration", k_user_choice);
    }
    std::vector<config_problem> validate() const;

    const ub_published_capex& published(ub_architecture a) const;
    double performance_of(ub_architecture a) const;
};

/// Reads a price file; what is wrong with it is added to `problems`, with positions. Throws user_error when there is no
/// YAML to read. The prices are usable only when no error was added.
ub_prices read_prices(const std::string& path, std::vector<problem>& problems);

} // namespace weft
