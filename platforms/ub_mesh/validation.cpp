// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/validation_runs.h"

#include <fmt/format.h>

namespace weft {

void ub_validation::add(validation_row row)
{
    report.add(std::move(row), how_);
}

void ub_validation::inputs()
{
    const auto word = [](const ub_price& p) {
        switch (p.confidence.value_or(ub_confidence::assumed)) {
        case ub_confidence::quoted: return "quoted";
        case ub_confidence::read_off: return "derived: read off a chart";
        case ub_confidence::derived: return "derived";
        default: return "assumed";
        }
    };
    const auto from = [&](const char* what, const ub_price& p) {
        report.inputs.push_back({what, fmt::format("{:g}", p.value), fmt::format("{} ({})", p.source, word(p))});
    };
    from("CapEx that is no network, x64 Clos: 1 in all", prices_.other_capex);
    from("LRS lane to HRS lane, price", prices_.lrs_lane_ratio);
    from("passive lane to optical lane, price", prices_.passive_lane_ratio);
    from("active lane to optical lane, price", prices_.active_lane_ratio);
    report.inputs.push_back({"HRS lane, price",
                             fmt::format("{:.3g} of the CapEx of the x64 Clos", costs_.hrs_lane_price()),
                             "fitted to the five networks of Fig. 21 (calibrated)"});
    report.inputs.push_back({"end of an optical lane, price",
                             fmt::format("{:.3g} of the CapEx of the x64 Clos", costs_.optical_end_price()),
                             "the same fit (calibrated)"});
    from("OpEx of the TCO of the x64 Clos", prices_.opex_share);
    from("OpEx that UB-Mesh saves", prices_.opex_saving);
    from("failures of a switch a year", prices_.switch_failures);
    from("failures of all electrical cables of UB-Mesh a year", prices_.mesh_electrical_failures);
    from("failures of all optics of UB-Mesh a year", prices_.mesh_optical_failures);
    from("failures of all electrical cables of the Clos a year", prices_.clos_electrical_failures);
    from("failures of all optics of the Clos a year", prices_.clos_optical_failures);
    from("LRS of a rack that Table 6 counts", prices_.table_6_lrs_per_rack);
    from("MTTR, minutes", prices_.mttr_minutes);
    from("MTTR with monitoring, minutes", prices_.mttr_monitored_minutes);
}

void ub_validation::notes()
{
    report.notes.push_back(
        "Sources are sections, tables and figures of UB-Mesh, arXiv 2503.20377. V1 is counted from the links of topologies that are built; "
        "V7, V8, V11, V12 and V14 follow by arithmetic from counts and tables; V6 fits two prices to five columns, so only its residuals "
        "say anything. Where a null model meets about as many rows as the simulation, the published bars do not tell this model from none. What only the "
        "simulation has: the order of the racks for every model, the order of the ways between racks for GPT4-2T, and what each way between racks takes.");
    report.notes.push_back(
        "The paper does not agree with itself in five places: the total of TP in Table 1 (1775 for 1755 GB), LRS of a rack (Table 6 "
        "counts 72, Fig. 16 and the lanes have 48), optical failures (0.27 % of those of the Clos, with 7 % of its optics), the "
        "loss of GPT4-2T with shortest paths (0.73 % in the text, 0.96 % in Fig. 19), cost efficiency (2.04 needs a performance of 0.978; "
        "Fig. 17 has 0.95).");
    report.notes.push_back(
        "V3 to V5 and V13 are composed, not simulated whole: a step is compute and, of each kind of traffic, count x simulated time x what is not hidden, "
        "for the best plan that section 5.2 admits. The same generator prints Table 1 (V14). Simulated times in ms of one transfer of Table 1 (TP 192 MiB, "
        "shards of SP 12 MiB, EP 12 MiB, DP 474.5 MiB), by ranks:\n\n"
        "| rack | TP 8 | 16 | 32 | 64 | SP 2 | 4 | 8 | EP 2 | 4 | 8 |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n" +
        rack_times_ + "\n| between racks | SP 2 | 4 | 8 | 16 | EP 2 | 4 | 8 | 16 | DP 4 |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n" +
        far_times_.substr(0, far_times_.empty() ? 0 : far_times_.size() - 1));
    report.notes.push_back(
        "What V3 to V5 and V13 say, and do not. With the traffic of Table 1 TP takes two boards or more from GPT3-175B on, and SP leaves the rack where sequences are "
        "long: so long sequences gain from lanes between racks, as published. One share of exposed TP and SP serves all models and sequences; short ones then lose "
        "more than published, long ones mostly less. Times are affine beyond 32 MiB: the all-reduce of 192 MiB by 16 NPUs is 10 % longer when simulated itself. 1D-FM-A misses in short sequences, since TP inside a board has the same X links as in 2D-FM. MoE-10T misses, since "
        "its pipeline of four stages idles as long on every machine. With lanes from x4 to x16 short sequences of MoE models gain more than published: their experts are in four or eight racks. "
        "V13: larger machines hold more of the optimiser, and nothing else makes them better here; whether that shortens a pipeline hangs on the limit of memory "
        "(sensitivities). DP over the DCN stays hidden behind a backward pass, so nothing falls at x64. Batches, which could change both, are not published.");
    report.notes.push_back("Plans that the search takes on a SuperPod, and shares of the step:\n\n"
                           "| model | sequence | rack | plan | HBM, GiB | compute, % | TP, % | SP, % | EP, % | PP and DP, % | bubble, % |\n"
                           "|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|\n" +
                           plans_.substr(0, plans_.empty() ? 0 : plans_.size() - 1));
    report.notes.push_back(
        "V18 has two constants, and so has the published curve: 47.6 GB/s and 4.21 us give every digit of it, as the null model shows. What the "
        "simulation adds is that its own time of a collective is a fixed part and a rate, over 1 to 256 MiB, and the rows by ccu have nothing fitted. "
        "Which workload is behind the table is not published. V15 and V16 compare with what links at those payload rates allow, which nobody has "
        "measured: they say how much software and arbitration cost. CCUs, where ub.efficiency is not fitted, have a little more payload than 0.85.");
    report.notes.push_back("### Trains against single packets\n\ndocs/18_burst_error.md has the error of `burst: auto`.");
}

validation_report validate_ub_mesh(const validation_settings& how)
{
    std::vector<problem> problems;
    const ub_prices prices = read_prices(how.config_dir + "/prices.yaml", problems);
    throw_if_errors(problems);
    ub_validation v(how, prices);
    v.report.name = "ub_mesh";
    v.report.title = "UB-Mesh: a Hierarchically Localized nD-FullMesh Datacenter Network Architecture";
    v.ledger();
    v.link_classes();
    v.costs();
    v.reliability();
    v.contradictions();
    v.table_1();
    v.training();
    v.board_all_reduce();
    v.bytes_of_units();
    v.all_to_all_by_two_ways();
    v.utilisation();
    v.utilisation_by_units();
    v.inputs();
    v.step_inputs();
    v.curve_inputs();
    v.notes();
    return std::move(v.report);
}

} // namespace weft
