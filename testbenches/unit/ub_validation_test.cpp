// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The bill that is computed from a shape against the ledger of the topology that is built from it, and the arithmetic of composed
// training steps.
#include "platforms/ub_mesh/ub_bill.h"
#include "hw/routing/ub/ub_topology.h"
#include "platforms/ub_mesh/validation_model.h"

#include <catch2/catch.hpp>

#include <map>

using namespace weft;

namespace {

/// Lanes by class of cable, a link both ways counted once. Links of NICs apart: no bill has them.
std::map<ub_cable_class, std::uint64_t> lanes_built(const ub_topology& t, std::uint64_t& of_nics)
{
    std::map<ub_cable_class, std::uint64_t> lanes;
    of_nics = 0;
    for (std::size_t i = 0; i < t.plan().links.size(); i += 2) {
        const ub_link_plan& l = t.plan().links[i];
        const auto is = [&](std::uint32_t router, ub_place::role role) { return t.place_of(router).is == role; };
        if (is(l.from, ub_place::role::nic) || is(l.to, ub_place::role::nic)) {
            of_nics += l.lanes;
            continue;
        }
        switch (l.channel) {
        case ub_channel::x_plus:
        case ub_channel::x_minus: lanes[ub_cable_class::x] += l.lanes; break;
        case ub_channel::y_plus:
        case ub_channel::y_minus: lanes[ub_cable_class::y] += l.lanes; break;
        case ub_channel::z_plus:
        case ub_channel::z_minus: lanes[ub_cable_class::z] += l.lanes; break;
        case ub_channel::alpha_plus:
        case ub_channel::alpha_minus: lanes[ub_cable_class::alpha] += l.lanes; break;
        case ub_channel::hrs_up:
        case ub_channel::hrs_down: lanes[ub_cable_class::hrs] += l.lanes; break;
        default: lanes[ub_cable_class::backplane] += l.lanes;
        }
    }
    return lanes;
}

ub_shape shape_of(std::uint32_t pods, std::uint32_t side, bool hrs, ub_pod_kind pod = ub_pod_kind::full_mesh_2d)
{
    ub_shape s;
    s.pods = pods;
    s.rack_rows = s.rack_cols = side;
    s.hrs = hrs;
    s.pod = pod;
    return s;
}

constexpr ub_cable_class k_classes[] = {ub_cable_class::x, ub_cable_class::y,     ub_cable_class::backplane,
                                        ub_cable_class::z, ub_cable_class::alpha, ub_cable_class::hrs};

ub_time_of_size line(double fixed_us, double us_per_mib)
{
    return {fixed_us + us_per_mib * ub_time_of_size::k_small_mib, fixed_us + us_per_mib * ub_time_of_size::k_large_mib};
}

} // namespace

TEST_CASE("ub_validation: bill and built topology agree on full meshes but for NICs and HRS of one pod")
{
    ub_shape board;
    board.boards = 1;
    board.backplane = false;
    for (const ub_shape& s : {board, ub_shape{}, shape_of(1, 4, false), shape_of(1, 4, true), shape_of(8, 4, true)}) {
        const ub_topology t(s);
        const ub_ledger g = t.ledger();
        const ub_bill b = bill_of(s);
        INFO(g.text());
        CHECK(b.npus == g.npus);
        CHECK(b.spares == g.spares);
        CHECK(b.cpus == g.cpus);
        CHECK(b.nics == g.nics);
        CHECK(b.lrs == g.lrs);
        // One pod is built with the HRS of a SuperPod, (plane, board, k) each with one port a rack; the bill has as many as its
        // lanes fill.
        CHECK(g.hrs == (s.hrs ? 64 : 0));
        CHECK(b.hrs == (s.hrs ? 8 * s.pods : 0));
        std::uint64_t of_nics = 0;
        auto built = lanes_built(t, of_nics);
        for (const ub_cable_class c : k_classes)
            CHECK(b.lanes_of(c) == built[c]);
        CHECK(of_nics == g.nics * 8); // the bill counts no NIC cables
    }
}

TEST_CASE("ub_validation: bill and built topology of the baselines differ where the paper gives no wiring")
{
    struct difference {
        ub_rack_kind kind;
        std::uint64_t spares;    ///< built
        std::uint64_t backplane; ///< lanes that are built and no bill has: spare NPU and between switches
        std::uint64_t billed;    ///< lanes that the bill has and are not built
    };
    // 1D-FM-A: 32 LRS x4 to the side LRS, spare x64. B: 16 LRS x32 to HRS, spare x64; billed with x72 an NPU, built with x60. Clos: x72 of each NPU where the
    // bill has x64, spare x64.
    for (const difference& d : {difference{ub_rack_kind::full_mesh_1d_a, 1, 32 * 4 + 64, 0},
                                difference{ub_rack_kind::full_mesh_1d_b, 1, 16 * 32 + 64, 64 * 12},
                                difference{ub_rack_kind::clos, 1, 64 * 8 + 64, 0}}) {
        ub_shape s;
        s.rack = d.kind;
        const ub_topology t(s);
        const ub_ledger g = t.ledger();
        const ub_bill b = bill_of(s);
        INFO(b.name << "\n" << g.text());
        CHECK(b.npus == g.npus);
        CHECK(b.cpus == g.cpus);
        CHECK(b.lrs == g.lrs);
        CHECK(b.hrs == g.hrs);
        CHECK(b.spares == 0); // a baseline is billed without
        CHECK(g.spares == d.spares);
        std::uint64_t of_nics = 0;
        auto built = lanes_built(t, of_nics);
        CHECK(b.lanes_of(ub_cable_class::x) == built[ub_cable_class::x]);
        CHECK(b.lanes_of(ub_cable_class::y) == built[ub_cable_class::y]);
        CHECK(b.lanes_of(ub_cable_class::backplane) + d.backplane == built[ub_cable_class::backplane] + d.billed);
    }
}

TEST_CASE("ub_validation: a composed step counts what Table 1 counts")
{
    ub_step_inputs in;
    const ub_model& gpt4 = k_ub_models[3];
    CHECK(gpt4.layers * in.micro_batches * in.tensor_per_layer == 4992);
    CHECK(gpt4.layers * in.micro_batches * in.tensor_per_layer * in.sequence_large_share == Approx(1664));
    CHECK(in.tokens * gpt4.hidden * 2 / (1 << 20) == in.tensor_mib);
    // Only TP takes time: 4992 x 360 MiB at 1 us/MiB.
    const ub_rack_times rack{line(0, 1), line(0, 0)};
    const ub_far_times nothing{};
    CHECK(in.communication_us(gpt4, 8192, rack, nothing) == Approx(4992.0 * 360));
    // EP is of models with experts only; SP leaves the rack from 64K on, and grows beyond 8 x 15360 tokens.
    const ub_far_times far{line(0, 1), line(0, 0), line(0, 0), line(0, 0)};
    CHECK(in.communication_us(gpt4, 32768, {}, far) == 0);
    CHECK(in.communication_us(gpt4, 65536, {}, far) == Approx(4992 * 180.0 + 1664 * 360.0));
    CHECK(in.communication_us(gpt4, 245760, {}, far) == Approx(2 * (4992 * 180.0 + 1664 * 360.0)));
    const ub_far_times experts{line(0, 0), line(0, 1), line(0, 0), line(0, 0)};
    CHECK(in.communication_us(gpt4, 8192, {}, experts) == Approx(4992 * 10.5));
    CHECK(in.communication_us(k_ub_models[1], 8192, {}, experts) == 0);
    CHECK(in.compute_us(gpt4, 8192) > in.compute_us(k_ub_models[1], 8192));
}

TEST_CASE("ub_validation: the fit meets its one target and nothing else moves")
{
    ub_step_inputs in;
    const ub_architecture_times slow{{line(10, 6), line(10, 3)},
                                     {line(10, 12), line(10, 12), line(10, 12), line(10, 12)}};
    const ub_architecture_times fast{{line(10, 3), line(10, 1)}, {line(10, 3), line(10, 3), line(10, 3), line(10, 3)}};
    fit_exposed(in, k_ub_models[k_fitted_model], 95.9, slow, fast);
    CHECK(in.exposed > 0);
    CHECK(in.exposed < 1);
    CHECK(performance_percent(in, k_ub_models[k_fitted_model], all_sequences(), slow, fast) ==
          Approx(95.9).margin(1e-6));
    CHECK(performance_percent(in, k_ub_models[0], all_sequences(), fast, fast) == Approx(100));
    fit_exposed(in, k_ub_models[k_fitted_model], 10, slow, fast); // out of reach: all is exposed
    CHECK(in.exposed == Approx(1));
}
