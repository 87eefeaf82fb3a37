// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_bill_costs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint32_t k_racks = 128;
constexpr const char* k_kinds[] = {"passive", "active", "optical"}; // by ub_cable_kind
constexpr double k_printed_capex_ratio = 2.46;                      // paper 6.4

double printed(double value, double unit) { return std::round(value / unit) * unit; }

/// A network as the amounts that the two calibrated prices are paid for.
struct amounts {
    double switch_lanes = 0, optical_ends = 0;
    amounts(const ub_bill& b, const ub_prices& p)
    {
        const double lrs = static_cast<double>(b.lrs) * 72, hrs = static_cast<double>(b.hrs) * 512;
        switch_lanes = hrs + p.lrs_lane_ratio.value * lrs;
        optical_ends = 2 * (static_cast<double>(b.lanes_of(ub_cable_kind::optical)) +
                            p.passive_lane_ratio.value * static_cast<double>(b.lanes_of(ub_cable_kind::passive)) +
                            p.active_lane_ratio.value * static_cast<double>(b.lanes_of(ub_cable_kind::active)));
    }
};

double electrical_lanes(const ub_bill& b)
{
    return static_cast<double>(b.lanes_of(ub_cable_kind::passive) + b.lanes_of(ub_cable_kind::active));
}

std::string mtbf_text(const ub_failures& f)
{
    return f.total() > 0 ? fmt::format("{:.1f} h", f.mtbf_h()) : "without end: these rates have no failures";
}
} // namespace

ub_comparison::ub_comparison(const ub_prices& prices) : prices_(prices)
{
    for (unsigned i = 0; i < k_ub_architectures; ++i) {
        ub_costs c;
        c.architecture = static_cast<ub_architecture>(i);
        c.bill = bill_of(c.architecture);
        c.published_network = prices.published(c.architecture).network;
        c.published_capex = prices.published(c.architecture).total;
        columns_.push_back(std::move(c));
    }
    calibrate();

    const ub_costs& mesh = column(ub_architecture::fm_4d_x4);
    const ub_costs& clos = column(ub_architecture::clos_x64);
    // Rates of one lane and one module: electrical from UB-Mesh, which is nearly all electrical, optical from the Clos.
    lane_failures_ = prices.mesh_electrical_failures.value / electrical_lanes(mesh.bill);
    module_failures_ =
        prices.clos_optical_failures.value / static_cast<double>(clos.bill.optical_modules(lanes_per_module()));
    for (ub_costs& c : columns_) {
        c.network = network_of(c.bill);
        c.capex = c.network + prices.other_capex.value;
        // From 1 at the network of the Clos to 1 - saving at that of UB-Mesh.
        const double saved =
            (clos.published_network - c.published_network) / (clos.published_network - mesh.published_network);
        c.opex = 1 - prices.opex_saving.value * saved;
        c.tco =
            (1 - prices.opex_share.value) * c.published_capex / clos.published_capex + prices.opex_share.value * c.opex;
        c.efficiency = prices.performance_of(c.architecture) / c.tco;
        c.failures = failures_of(c.bill);
    }
    const double switch_rate = prices.switch_failures.value;
    table_6_mesh_built_ = {prices.mesh_electrical_failures.value, prices.mesh_optical_failures.value, mesh.failures.lrs,
                           mesh.failures.hrs};
    table_6_mesh_ = table_6_mesh_built_;
    table_6_mesh_.lrs = switch_rate * prices.table_6_lrs_per_rack.value * k_racks;
    table_6_clos_ = {prices.clos_electrical_failures.value, prices.clos_optical_failures.value, clos.failures.lrs,
                     clos.failures.hrs};
}

std::uint32_t ub_comparison::lanes_per_module() const
{
    return static_cast<std::uint32_t>(prices_.lanes_per_module.value);
}

double ub_comparison::network_of(const ub_bill& bill) const
{
    const amounts a(bill, prices_);
    return hrs_lane_price_ * a.switch_lanes + optical_end_price_ * a.optical_ends;
}

ub_failures ub_comparison::failures_of(const ub_bill& bill) const
{
    const double switch_rate = prices_.switch_failures.value;
    return {lane_failures_ * electrical_lanes(bill),
            module_failures_ * static_cast<double>(bill.optical_modules(lanes_per_module())),
            switch_rate * static_cast<double>(bill.lrs), switch_rate * static_cast<double>(bill.hrs)};
}

std::string ub_comparison::text(const ub_bill& bill) const
{
    std::string t =
        fmt::format("Bill of materials of this machine ({}): {} NPU, {} spare NPU, {} CPU, {} NIC, {} LRS, {} HRS\n",
                    bill.name, bill.npus, bill.spares, bill.cpus, bill.nics, bill.lrs, bill.hrs);
    for (const ub_cable_line& l : bill.cables) {
        const ub_cable_traits& traits = k_ub_cables[static_cast<unsigned>(l.type)];
        t += fmt::format("  {:<10} {:>7} cables of x{}, {} m {}\n", traits.name, l.cables, l.lanes, traits.length_m,
                         k_kinds[static_cast<unsigned>(traits.kind)]);
    }
    const ub_failures f = failures_of(bill);
    t += fmt::format(
        "  {} optical modules of x{}; {:.2f} failures a year by rates of one part, MTBF {}, availability "
        "{:.2f} % ({:.2f} % with monitoring)\n",
        bill.optical_modules(lanes_per_module()), lanes_per_module(), f.total(), mtbf_text(f),
        100 * f.availability(prices_.mttr_minutes.value), 100 * f.availability(prices_.mttr_monitored_minutes.value));
    return t;
}

// Least squares of five equations in two unknowns.
void ub_comparison::calibrate()
{
    double ss = 0, so = 0, oo = 0, sy = 0, oy = 0;
    for (const ub_costs& c : columns_) {
        const amounts a(c.bill, prices_);
        ss += a.switch_lanes * a.switch_lanes;
        so += a.switch_lanes * a.optical_ends;
        oo += a.optical_ends * a.optical_ends;
        sy += a.switch_lanes * c.published_network;
        oy += a.optical_ends * c.published_network;
    }
    const double determinant = ss * oo - so * so; // the bills are not multiples of each other
    hrs_lane_price_ = (sy * oo - oy * so) / determinant;
    optical_end_price_ = (ss * oy - so * sy) / determinant;
}

double ub_comparison::worst_residual() const
{
    double worst = 0;
    for (const ub_costs& c : columns_)
        worst = std::max(worst, std::fabs(c.network - c.published_network));
    return worst;
}

double ub_comparison::hrs_saving() const
{
    return 1 - static_cast<double>(column(ub_architecture::fm_4d_x4).bill.hrs) /
                   static_cast<double>(column(ub_architecture::clos_x64).bill.hrs);
}

double ub_comparison::optical_saving() const
{
    return 1 - static_cast<double>(column(ub_architecture::fm_4d_x4).bill.lanes_of(ub_cable_class::hrs)) /
                   static_cast<double>(column(ub_architecture::clos_x64).bill.lanes_of(ub_cable_class::hrs));
}

double ub_comparison::optical_saving_with_alpha() const
{
    return 1 - static_cast<double>(column(ub_architecture::fm_4d_x4).bill.lanes_of(ub_cable_kind::optical)) /
                   static_cast<double>(column(ub_architecture::clos_x64).bill.lanes_of(ub_cable_kind::optical));
}

double ub_comparison::published_efficiency(double performance) const
{
    const double share = prices_.opex_share.value;
    return performance / ((1 - share) / k_printed_capex_ratio + share * (1 - prices_.opex_saving.value));
}

std::string ub_comparison::text() const
{
    const std::uint32_t lanes = lanes_per_module();
    std::string t = "Bill of materials at 8192 NPUs (Fig. 21)\n";
    const auto row = [&](const std::string& name, const auto& cell) {
        t += fmt::format("  {:<26}", name);
        for (const ub_costs& c : columns_)
            t += fmt::format(" {:>16}", cell(c));
        t += "\n";
    };
    const auto number = [&](const char* name, const auto& value, const char* format) {
        row(name, [&](const ub_costs& c) { return fmt::format(fmt::runtime(format), value(c)); });
    };
    row("", [](const ub_costs& c) { return c.bill.name; });
    number(
        "LRS x72", [](const ub_costs& c) { return c.bill.lrs; }, "{}");
    number(
        "HRS x512", [](const ub_costs& c) { return c.bill.hrs; }, "{}");
    number(
        "CPUs", [](const ub_costs& c) { return c.bill.cpus; }, "{}");
    number(
        "NICs", [](const ub_costs& c) { return c.bill.nics; }, "{}");
    number(
        "spare NPUs", [](const ub_costs& c) { return c.bill.spares; }, "{}");
    for (unsigned i = 0; i < k_ub_cable_classes; ++i) {
        const ub_cable_traits& traits = k_ub_cables[i];
        const auto type = static_cast<ub_cable_class>(i);
        row(fmt::format("{}, {} m {}", traits.name, traits.length_m, k_kinds[static_cast<unsigned>(traits.kind)]),
            [&](const ub_costs& c) {
                const std::uint64_t n = c.bill.cables_of(type);
                return n == 0 ? std::string("-") : fmt::format("{}/x{}", n, c.bill.lanes_of(type));
            });
    }
    number(
        "optical modules", [&](const ub_costs& c) { return c.bill.optical_modules(lanes); }, "{}");
    number(
        "failures a year", [](const ub_costs& c) { return c.failures.total(); }, "{:.1f}");
    number(
        "MTBF, h", [](const ub_costs& c) { return c.failures.mtbf_h(); }, "{:.1f}");
    number(
        "availability, %", [&](const ub_costs& c) { return 100 * c.failures.availability(prices_.mttr_minutes.value); },
        "{:.2f}");
    number(
        "  with monitoring, %",
        [&](const ub_costs& c) { return 100 * c.failures.availability(prices_.mttr_monitored_minutes.value); },
        "{:.2f}");
    number(
        "network CapEx, calibrated", [](const ub_costs& c) { return c.network; }, "{:.3f}");
    number(
        "  Fig. 21", [](const ub_costs& c) { return c.published_network; }, "{:.3f}");
    number(
        "  residual", [](const ub_costs& c) { return c.network - c.published_network; }, "{:+.3f}");
    const ub_costs& mesh = column(ub_architecture::fm_4d_x4);
    number(
        "CapEx to UB-Mesh", [&](const ub_costs& c) { return c.capex / mesh.capex; }, "{:.2f}");
    number(
        "  Fig. 21", [&](const ub_costs& c) { return c.published_capex / mesh.published_capex; }, "{:.2f}");
    number(
        "OpEx, of the Clos", [](const ub_costs& c) { return c.opex; }, "{:.2f}");
    number(
        "TCO, of the Clos", [](const ub_costs& c) { return c.tco; }, "{:.3f}");
    number(
        "performance, input", [&](const ub_costs& c) { return prices_.performance_of(c.architecture); }, "{:.3f}");
    number(
        "cost efficiency", [](const ub_costs& c) { return c.efficiency; }, "{:.2f}");
    t += fmt::format("  cables are \"number/lanes in all\"; modules of x{}, one at each end\n", lanes);
    t += fmt::format(
        "  prices calibrated on Fig. 21: HRS lane {:.3g}, end of an optical lane {:.3g} of the CapEx of the Clos{}\n",
        hrs_lane_price_, optical_end_price_, prices_make_sense() ? "" : "; one is negative: the fit means nothing");
    t += fmt::format(
        "Savings to the x64 Clos: HRS {:.1f} % (paper 98 %); optics to HRS {:.2f} % (93 %), {:.1f} % with the alpha "
        "cables, which table 2 calls optical\n",
        100 * hrs_saving(), 100 * optical_saving(), 100 * optical_saving_with_alpha());

    const auto failures = [&](const char* name, const ub_failures& f) {
        t += fmt::format(
            "  {:<34} E-cables {:.2f}, optical {:.2f}, LRS {:.2f}, HRS {:.2f}: {:.1f} a year, MTBF {}, "
            "availability {:.2f} % ({:.2f} % with monitoring)\n",
            name, f.electrical, f.optical, f.lrs, f.hrs, f.total(), mtbf_text(f),
            100 * f.availability(prices_.mttr_minutes.value),
            100 * f.availability(prices_.mttr_monitored_minutes.value));
    };
    t += "Failures as table 6 prints them, switches from counts\n";
    failures(fmt::format("UB-Mesh, {} LRS a rack", prices_.table_6_lrs_per_rack.value).c_str(), table_6_mesh_);
    failures(fmt::format("UB-Mesh, {} LRS a rack, as built", mesh.bill.lrs / k_racks).c_str(), table_6_mesh_built_);
    failures("x64 Clos", table_6_clos_);
    t += fmt::format(
        "What does not fit in the paper\n"
        "  table 6 counts {} LRS a rack (81 failures), text and lanes need {}: {:.0f} failures\n"
        "  table 6 has {:.2f} % of the optical failures of the Clos, but {:.2f} % of its optics: by rate {:.1f} in place "
        "of {:.2f} (with the alpha cables {:.1f})\n",
        prices_.table_6_lrs_per_rack.value, mesh.bill.lrs / k_racks, table_6_mesh_built_.lrs,
        100 * table_6_mesh_.optical / table_6_clos_.optical, 100 * (1 - optical_saving()),
        table_6_clos_.optical * (1 - optical_saving()), table_6_mesh_.optical, mesh.failures.optical);
    const double at_printed_performance = prices_.performance_of(ub_architecture::fm_4d_x4);
    t += fmt::format(
        "  cost efficiency 2.04 lies between {:.3f} (performance of the Clos) and {:.2f} (performance {:.2f}, Fig. 17); "
        "it needs {:.3f}\n",
        published_efficiency(1), published_efficiency(at_printed_performance), at_printed_performance,
        printed(2.04 / published_efficiency(1), 0.001));
    const auto lanes_in = [&](ub_cable_class a) { return static_cast<double>(mesh.bill.lanes_of(a)); };
    const double xy = lanes_in(ub_cable_class::x) + lanes_in(ub_cable_class::y);
    const double all =
        xy + lanes_in(ub_cable_class::z) + lanes_in(ub_cable_class::alpha) + lanes_in(ub_cable_class::hrs);
    t += fmt::format(
        "  table 2 is 72 : 6 : 4 : 1 of 83 ({:.1f} : {:.1f} : {:.1f} : {:.1f} %), in a unit it does not name; lanes of the bill "
        "are {:.1f} : {:.1f} : {:.1f} : {:.1f} %\n",
        7200.0 / 83, 600.0 / 83, 400.0 / 83, 100.0 / 83, 100 * xy / all, 100 * lanes_in(ub_cable_class::z) / all,
        100 * lanes_in(ub_cable_class::alpha) / all, 100 * lanes_in(ub_cable_class::hrs) / all);
    return t;
}

} // namespace weft
