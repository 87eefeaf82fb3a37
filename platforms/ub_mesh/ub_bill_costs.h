// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cost and availability of the five architectures of Fig. 21 at 8192 NPUs, side by side, from their bills and a price
// file. Plain C++. Equations: UB-Mesh (arXiv 2503.20377) 6.4 (cost efficiency) and 6.6 (MTBF, availability).
//
//   CapEx of a network = s (HRS lanes + r LRS lanes) + o (2 optical lanes + 2 p passive + 2 a active lanes), a lane
//   having two ends;
//                        r, p, a from the price file, s and o calibrated on the published network CapEx by least
//                        squares
//   OpEx               between the published ends, by network CapEx (assumed)
//   TCO = CapEx + OpEx  with OpEx the published share of the TCO of the x64 Clos; cost efficiency = performance / TCO
//   MTBF = 8760 h / failures a year; availability = MTBF / (MTBF + MTTR)
#pragma once

#include "platforms/ub_mesh/ub_bill_prices.h"

#include <string>
#include <vector>

namespace weft {

/// Failures a year of the whole machine.
struct ub_failures {
    double electrical = 0, optical = 0, lrs = 0, hrs = 0;
    double total() const { return electrical + optical + lrs + hrs; }
    double mtbf_h() const { return 365.0 * 24.0 / total(); }
    double availability(double mttr_minutes) const { return 1 / (1 + mttr_minutes / 60.0 / mtbf_h()); }
};

struct ub_costs {
    ub_architecture architecture = ub_architecture::fm_4d_x4;
    ub_bill bill;
    double network = 0;           ///< CapEx by the calibrated prices; the x64 Clos is about 1 in all
    double capex = 0;             ///< network and other
    double published_network = 0; ///< Fig. 21
    double published_capex = 0;
    double opex = 0;       ///< of the OpEx of the x64 Clos
    double tco = 0;        ///< of the TCO of the x64 Clos, with the published CapEx
    double efficiency = 0; ///< performance / tco, of that of the x64 Clos
    ub_failures failures;  ///< by rates of one switch, lane and module: the same for all architectures
};

class ub_comparison {
public:
    explicit ub_comparison(const ub_prices& prices);

    const std::vector<ub_costs>& columns() const { return columns_; }
    const ub_costs& column(ub_architecture a) const { return columns_[static_cast<unsigned>(a)]; }

    // Calibrated.
    double hrs_lane_price() const { return hrs_lane_price_; }
    double optical_end_price() const { return optical_end_price_; } ///< of one end of an optical lane
    double worst_residual() const;                                  ///< of the network CapEx, absolute
    /// Also with negative prices the sums could fit; then they mean nothing.
    bool prices_make_sense() const { return hrs_lane_price_ >= 0 && optical_end_price_ >= 0; }

    // Table 6: cables and optics as printed, switches from counts.
    const ub_failures& table_6_mesh() const { return table_6_mesh_; }             ///< with the LRS that table 6 counts
    const ub_failures& table_6_mesh_built() const { return table_6_mesh_built_; } ///< with those of the bill
    const ub_failures& table_6_clos() const { return table_6_clos_; }

    double hrs_saving() const;     ///< UB-Mesh against x64 Clos
    double optical_saving() const; ///< cables to HRS only, as the paper's 93 %
    double optical_saving_with_alpha() const;
    /// Cost efficiency of UB-Mesh from the printed ratio 2.46 of CapEx, at this performance.
    double published_efficiency(double performance) const;

    // Any machine, by the same rates and prices.
    double network_of(const ub_bill& bill) const; ///< CapEx, of all of that of the x64 Clos at 8192 NPUs
    ub_failures failures_of(const ub_bill& bill) const;
    std::uint32_t lanes_per_module() const;

    /// Lines for `weft check`: the comparison, and one machine.
    std::string text() const;
    std::string text(const ub_bill& bill) const;

private:
    void calibrate();

    ub_prices prices_;
    std::vector<ub_costs> columns_;
    double hrs_lane_price_ = 0;
    double optical_end_price_ = 0;
    double lane_failures_ = 0;   ///< of one electrical lane, a year
    double module_failures_ = 0; ///< of one optical module
    ub_failures table_6_mesh_, table_6_mesh_built_, table_6_clos_;
};

} // namespace weft
