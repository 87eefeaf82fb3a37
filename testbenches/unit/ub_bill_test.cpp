// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bill of materials, cost and availability of UB-Mesh against the published figures (UB-Mesh, arXiv 2503.20377), and what a
// price file must say.
#include "hw/routing/ub/ub_topology.h"
#include "platforms/config/yaml_document.h"
#include "platforms/ub_mesh/ub_bill_costs.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace weft;

namespace {

const std::string k_prices = WEFT_SOURCE_DIR "/configs/ub_mesh/prices.yaml";

ub_prices shipped()
{
    std::vector<problem> problems;
    const ub_prices p = read_prices(k_prices, problems);
    throw_if_errors(problems);
    return p;
}

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

std::string read_changed(const std::string& from, const std::string& to)
{
    std::ifstream in(k_prices);
    std::stringstream text;
    text << in.rdbuf();
    std::string s = text.str();
    const std::size_t at = s.find(from);
    REQUIRE(at != std::string::npos);
    s.replace(at, from.size(), to);
    const std::string path = "/tmp/weft_prices_" + std::to_string(getpid()) + ".yaml";
    std::ofstream(path) << s;
    std::vector<problem> problems;
    read_prices(path, problems);
    std::remove(path.c_str());
    std::string all;
    for (const problem& p : problems)
        all += p.key_path + ": " + p.message + "\n";
    return all;
}

} // namespace

TEST_CASE("ub_bill: the ledger of a SuperPod")
{
    ub_shape s;
    s.pods = 8;
    s.rack_rows = s.rack_cols = 4;
    s.hrs = true;
    const ub_bill b = bill_of(s);
    CHECK(b.npus == 8192);
    CHECK(b.spares == 128);
    CHECK(b.cpus == 1024);
    CHECK(b.nics == 1024);
    CHECK(b.lrs == 128 * 48);
    CHECK(b.hrs == 64);
    CHECK(b.cables_of(ub_cable_class::x) == 128 * 8 * 28);
    CHECK(b.lanes_of(ub_cable_class::y) == 128 * 8 * 28 * 4);
    // Both ends of all cables of a rack: x72 of the NPUs, x32 of the CPUs, x1024 out.
    CHECK(2 * (b.lanes_of(ub_cable_class::x) + b.lanes_of(ub_cable_class::y)) == 8192 * 56);
    CHECK(2 * (b.lanes_of(ub_cable_class::z) + b.lanes_of(ub_cable_class::alpha)) + b.lanes_of(ub_cable_class::hrs) ==
          128 * 1024);
    CHECK(b.lanes_of(ub_cable_class::backplane) == 128 * (64 * 16 + 128 * 2 + 8 * 32 + 16 * 4));
    // x72 of every leaf, x36 of every spine are used.
    CHECK(2 * b.lanes_of(ub_cable_class::backplane) - 128 * (64 * 16 + 8 * 32 + 16 * 4) + 128 * 1024 ==
          128 * (32 * 72 + 16 * 36));

    ub_shape board;
    board.boards = 1;
    board.backplane = false;
    CHECK(bill_of(board).lrs == 0);
    CHECK(bill_of(board).cables_of(ub_cable_class::x) == 28);
    CHECK(bill_of(board).cables.size() == 1);
}

TEST_CASE("ub_bill: the bill of a machine counts what is built")
{
    ub_shape pods;
    pods.pods = 8;
    pods.rack_rows = pods.rack_cols = 4;
    pods.hrs = true;
    const ub_bill counted = bill_of(pods), built = bill_of(ub_topology(pods));
    CHECK(built.name == counted.name);
    for (const ub_cable_class type : {ub_cable_class::x, ub_cable_class::y, ub_cable_class::z, ub_cable_class::alpha, ub_cable_class::hrs})
        CHECK(built.lanes_of(type) == counted.lanes_of(type));
    CHECK(built.lanes_of(ub_cable_class::backplane) == counted.lanes_of(ub_cable_class::backplane) + 1024 * 8); // NICs are x8
    CHECK(built.hrs == counted.hrs);

    ub_shape one_pod = pods; // HRS with most of their ports free
    one_pod.pods = 1;
    const ub_bill pod = bill_of(ub_topology(one_pod));
    CHECK(pod.hrs == 64);
    CHECK(bill_of(one_pod).hrs == 8); // filled
    CHECK(pod.lanes_of(ub_cable_class::hrs) == 1024 * 4);
    std::uint64_t narrow = 0, wide = 0;
    for (const ub_cable_line& l : pod.cables)
        if (l.type == ub_cable_class::backplane)
            (l.lanes == 2 ? narrow : wide) += l.cables;
    CHECK(narrow == 4096); // leaf to spine and CPU to spine, 2048 each
    CHECK(wide == 4096 + 256 + 256); // NPUs, spares, and x8 of 128 NICs

    ub_shape small; // fewer CPUs and NICs than a rack of the paper
    small.boards = 2;
    small.npus = 4;
    const ub_bill two_boards = bill_of(ub_topology(small));
    CHECK(two_boards.cpus == 2);
    CHECK(two_boards.nics == 2);
    CHECK(two_boards.cables_of(ub_cable_class::x) == 2 * 6);
    CHECK(two_boards.cables_of(ub_cable_class::y) == 4);
    ub_shape wide_board; // a link of x8 is two cables
    wide_board.boards = 1;
    wide_board.npus = 4;
    wide_board.x_lanes = 8;
    wide_board.backplane = false;
    CHECK(bill_of(ub_topology(wide_board)).cables_of(ub_cable_class::x) == 2 * 6);

    ub_shape baseline;
    baseline.rack = ub_rack_kind::full_mesh_1d_a;
    const ub_bill rack = bill_of(ub_topology(baseline));
    CHECK(rack.lanes_of(ub_cable_class::x) == 8 * 28 * 4);
    CHECK(rack.lanes_of(ub_cable_class::y) == 0);
    CHECK(rack.lanes_of(ub_cable_class::hrs) == 0); // those of a rack stand in it
    CHECK(rack.lanes_of(ub_cable_class::backplane) >= 64 * 32);
}

TEST_CASE("ub_bill: the baselines have the switches of the paper")
{
    CHECK(bill_of(ub_architecture::fm_2d_x16).hrs == 256);
    CHECK(bill_of(ub_architecture::fm_1d_x16).lrs == 128 * 36);
    CHECK(bill_of(ub_architecture::fm_1d_x16).hrs == 128 * 4 + 256);
    CHECK(bill_of(ub_architecture::fm_1d_x32).lrs == 128 * 16);
    CHECK(bill_of(ub_architecture::fm_1d_x32).hrs == 128 * 8 + 512);
    CHECK(bill_of(ub_architecture::clos_x64).lrs == 2048);
    CHECK(bill_of(ub_architecture::clos_x64).hrs == 2048 + 1024);
    ub_shape rack;
    for (const auto& [kind, lrs, hrs] :
         {std::tuple{ub_rack_kind::full_mesh_1d_a, 36u, 4u}, std::tuple{ub_rack_kind::full_mesh_1d_b, 16u, 8u},
          std::tuple{ub_rack_kind::clos, 72u, 0u}, std::tuple{ub_rack_kind::full_mesh_2d, 48u, 0u}}) {
        rack.rack = kind;
        CHECK(bill_of(rack).lrs == lrs);
        CHECK(bill_of(rack).hrs == hrs);
    }
    // Lanes of an NPU: all x72, but 1D-FM-A has x28 + x16 + x16.
    for (unsigned i = 0; i < k_ub_architectures; ++i) {
        const ub_bill b = bill_of(static_cast<ub_architecture>(i));
        std::uint64_t lanes = 2 * (b.lanes_of(ub_cable_class::x) + b.lanes_of(ub_cable_class::y)) +
                              b.lanes_of(ub_cable_class::backplane) - b.cpus * 32;
        if (b.lanes_of(ub_cable_class::y) != 0)
            lanes -= 128 * (128 * 2 + 16 * 4); // leaf to spine, spare NPU
        INFO(b.name);
        CHECK(lanes == b.npus * (static_cast<ub_architecture>(i) == ub_architecture::fm_1d_x16 ? 60 : 72));
    }
}

TEST_CASE("ub_bill: V7 and V8: what is saved against the Clos")
{
    const ub_comparison c(shipped());
    CHECK(c.hrs_saving() == Approx(1 - 64.0 / 3072).epsilon(1e-12));
    CHECK(rounded(100 * c.hrs_saving(), 0.1) == Approx(97.9));
    CHECK(c.optical_saving() == 0.9375);
    CHECK(c.optical_saving_with_alpha() == Approx(0.890625).epsilon(1e-12));
}

TEST_CASE("ub_bill: V11 and V12: MTBF and availability")
{
    const ub_prices p = shipped();
    const ub_comparison c(p);
    CHECK(p.switch_failures.value == 9.0 / 1024);
    CHECK(c.table_6_mesh().lrs == 81);
    CHECK(c.table_6_mesh().hrs == 0.5625);
    CHECK(c.table_6_clos().lrs == 18);
    CHECK(c.table_6_clos().hrs == 27);
    CHECK(rounded(c.table_6_mesh().total(), 0.1) == Approx(88.9));
    CHECK(rounded(c.table_6_clos().total(), 0.1) == Approx(632.8));
    CHECK(rounded(c.table_6_mesh().mtbf_h(), 0.1) == Approx(98.5));
    CHECK(rounded(c.table_6_clos().mtbf_h(), 0.1) == Approx(13.8));
    CHECK(100 * c.table_6_mesh().availability(p.mttr_minutes.value) == Approx(98.75).margin(0.005));
    CHECK(100 * c.table_6_clos().availability(p.mttr_minutes.value) == Approx(91.7).margin(0.05));
    CHECK(rounded(100 * c.table_6_mesh().availability(p.mttr_monitored_minutes.value), 0.01) == Approx(99.78));
    CHECK(c.table_6_mesh_built().lrs == 54); // 48 LRS a rack
    CHECK(c.table_6_mesh_built().mtbf_h() > c.table_6_mesh().mtbf_h());
    // Optics at the rate of the Clos.
    CHECK(c.column(ub_architecture::clos_x64).failures.optical == Approx(574));
    CHECK(c.column(ub_architecture::fm_4d_x4).failures.optical == Approx(574 * (1 - 0.890625)));
}

TEST_CASE("ub_bill: V6 and V9 and V10: cost")
{
    const ub_comparison c(shipped());
    CHECK(c.prices_make_sense());
    CHECK(c.worst_residual() < 0.01);
    const double mesh = c.column(ub_architecture::fm_4d_x4).published_capex;
    const double published[] = {1, 1.18, 1.26, 1.65, 2.46};
    for (unsigned i = 0; i < k_ub_architectures; ++i) {
        const ub_costs& column = c.columns()[i];
        INFO(column.bill.name);
        CHECK(column.published_capex / mesh == Approx(published[i]).margin(0.01)); // read off a chart
        CHECK(column.capex / c.columns()[0].capex == Approx(published[i]).epsilon(0.03));
    }
    CHECK(c.column(ub_architecture::fm_4d_x4).opex == Approx(0.65));
    CHECK(c.column(ub_architecture::clos_x64).opex == 1);
    CHECK(c.column(ub_architecture::clos_x64).tco == Approx(1));
    CHECK(c.column(ub_architecture::clos_x64).efficiency == Approx(1));
    CHECK(rounded(c.published_efficiency(1), 0.001) == Approx(2.085));
    CHECK(rounded(c.published_efficiency(0.95), 0.01) == Approx(1.98));
    CHECK(c.column(ub_architecture::fm_4d_x4).efficiency == Approx(1.98).margin(0.01));
}

TEST_CASE("ub_bill: the residuals of the fit are orthogonal to what is paid for")
{
    const ub_prices p = shipped();
    const ub_comparison c(p);
    double along_switches = 0, along_optics = 0;
    for (const ub_costs& k : c.columns()) {
        const double r = k.network - k.published_network;
        const double switches =
            static_cast<double>(k.bill.hrs) * 512 + p.lrs_lane_ratio.value * static_cast<double>(k.bill.lrs) * 72;
        along_switches += r * switches;
        along_optics += r * (k.network - c.hrs_lane_price() * switches) / c.optical_end_price();
    }
    CHECK(std::fabs(along_switches) < 1e-6);
    CHECK(std::fabs(along_optics) < 1e-6);
}

TEST_CASE("ub_bill: the text names what does not fit")
{
    const std::string t = ub_comparison(shipped()).text();
    for (const char* part : {"4D-FM + x4 Clos", "x64 Clos", "97.9 %", "93.75 %", "MTBF 98.5 h", "MTBF 13.8 h",
                             "98.75 %", "99.78 %", "72 LRS a rack", "48 LRS a rack", "54 failures", "0.27 %", "2.085",
                             "1.98", "0.978", "86.7 : 7.2 : 4.8 : 1.2 %"}) {
        INFO(part << "\n" << t);
        CHECK(t.find(part) != std::string::npos);
    }
}

TEST_CASE("ub_bill: one machine")
{
    const ub_comparison c(shipped());
    ub_shape rack;
    const std::string t = c.text(bill_of(rack));
    INFO(t);
    CHECK(t.find("64 NPU, 1 spare NPU, 8 CPU, 8 NIC, 48 LRS, 0 HRS") != std::string::npos);
    CHECK(t.find("224 cables of x4, 1 m passive") != std::string::npos);
    CHECK(t.find("0 optical modules of x8") != std::string::npos);
    const ub_bill pods = bill_of(ub_architecture::fm_4d_x4);
    CHECK(c.network_of(pods) == c.column(ub_architecture::fm_4d_x4).network);
    CHECK(c.failures_of(pods).total() == c.column(ub_architecture::fm_4d_x4).failures.total());
    CHECK(c.failures_of(pods).electrical == Approx(5.82));
}

TEST_CASE("ub_bill: a price file must say where everything is from")
{
    CHECK(read_changed("other_capex:", "other_capex:").empty());
    CHECK(read_changed(", confidence: read_off}", "}") ==
          "other_capex.confidence: is missing; write quoted, read_off, derived or assumed.\n");
    CHECK(read_changed("source: \"Paper 6.6\", ", "")
              .find("mttr_minutes.source: is missing; write where the figure is from") == 0);
    CHECK(read_changed("value: 0.327", "value: -3").find("other_capex.value: is -3, must not be below zero.") == 0);
    CHECK(read_changed("value: 0.327, ", "") == "other_capex.value: is missing.\n");
    CHECK(read_changed("architecture: clos_x64, network", "architecture: 1d_fm_x32, network") ==
          "published_capex: has 1d_fm_x32 2 times, must have it once.\n"
          "published_capex: has clos_x64 0 times, must have it once.\n");
    CHECK(read_changed("value: 8,", "value: 0.5,") ==
          "lanes_per_module.value: is 0.5, must be a whole number from 1 to 1000.\n");
    CHECK(read_changed("other_capex", "other_capx").find("other_cap") != std::string::npos);
}
