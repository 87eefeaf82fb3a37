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
    return {{{fixed_us + us_per_mib * ub_time_of_size::k_small_mib, fixed_us + us_per_mib * ub_time_of_size::k_large_mib}}};
}


/// Every degree alike.
ub_architecture_times all_times(const ub_time_of_size& in_rack, const ub_time_of_size& far)
{
    ub_architecture_times t;
    for (const std::uint32_t ranks : k_tensor_ranks)
        t.rack.all_reduce[ranks] = in_rack;
    for (const std::uint32_t ranks : k_column_ranks)
        t.rack.gather[ranks] = t.rack.all_to_all[ranks] = in_rack;
    for (const std::uint32_t ranks : k_rack_ranks)
        t.far.gather[ranks] = t.far.all_to_all[ranks] = far;
    t.far.all_reduce = far;
    return t;
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

TEST_CASE("ub_validation: a plan of TP 16 and SP 16 sends what Table 1 prints")
{
    const ub_step_rules rules;
    const ub_traffic t = traffic_of(k_table_1_model, k_table_1_plan, rules, k_table_1_bucket_mib);
    CHECK(k_table_1_plan.npus() == 2048);
    CHECK(k_table_1_plan.text() == "TP 16, SP 16, EP 8, PP 2, DP 4");
    CHECK(t.tensor.sent_mib == 360);
    CHECK(t.tensor.count == 4992);
    CHECK(t.sequence.sent_mib == 180);
    CHECK(t.sequence_fp32.sent_mib == 360);
    CHECK(t.sequence_fp32.count == 1664);
    CHECK(t.expert.sent_mib == 10.5);
    CHECK(t.pipeline.sent_mib == 192);
    CHECK(t.pipeline.count == 26);
    CHECK(t.data.sent_mib == 711.75);
    CHECK(t.data.count == 64);
    CHECK(t.tensor.total_gib() == 1755);
    CHECK(t.total_gib() == Approx(1755 + 1462.5 + 51.1875 + 4.875 + 44.484375));
    // Another degree, other bytes.
    ub_parallelism narrow = k_table_1_plan;
    narrow.tensor = 8;
    narrow.sequence = 1;
    narrow.expert = 1;
    narrow.pipeline = 1;
    narrow.data = 1;
    const ub_traffic n = traffic_of(k_table_1_model, narrow, rules, k_table_1_bucket_mib);
    CHECK(n.tensor.sent_mib == 2 * 7.0 / 8 * 192);
    for (const ub_transfer& none : {n.sequence, n.sequence_fp32, n.expert, n.data})
        CHECK(none.total_gib() == 0);
    CHECK(n.pipeline.total_gib() == 0);
}

TEST_CASE("ub_validation: the search admits what section 5.2 does")
{
    const ub_step_rules rules;
    for (const ub_trained& m : k_ub_models)
        for (const double sequence : all_sequences()) {
            const std::vector<ub_parallelism> plans = plans_of(m.model, k_superpod_npus, sequence, rules);
            INFO(m.model.name << ", " << sequence);
            REQUIRE_FALSE(plans.empty());
            for (const ub_parallelism& p : plans) {
                INFO(p.text());
                CHECK(p.npus() == k_superpod_npus);
                CHECK(m.model.heads % p.tensor == 0);
                CHECK(p.tensor * p.sequence <= 1024);
                CHECK(p.tokens * p.sequence == sequence);
                CHECK((m.model.experts == 0 ? p.expert == 1 : m.model.experts % p.expert == 0));
                CHECK(p.sequence * p.data % p.expert == 0);
                CHECK(memory_gib(m.model, p) <= rules.hbm_gib);
            }
        }
    // By hand: GPT3-175B, 12 hidden^2 a layer, TP 16: 4 B of each weight, and 12 B of one in 512; keys and values of 8192 tokens and one head of 128.
    const double weights = 96 * 12.0 * 12288 * 12288 / 16;
    CHECK(memory_gib(k_ub_models[1].model, {16, 1, 1, 1, 512, 8192}) == Approx((weights * (4 + 12.0 / 512) + 2 * 8192 * 128 * 2) / (1 << 30)));
    // GPT4-2T, TP 16, EP 16: attention 4 hidden^2 on all, one expert of 8 hidden^2 on each; 512 and 32 replicas.
    const double attention = 96 * 4.0 * 12288 * 12288 / 16, expert = 2 * attention;
    CHECK(memory_gib(k_ub_models[3].model, {16, 1, 16, 1, 512, 8192}) ==
          Approx((attention * (4 + 12.0 / 512) + expert * (4 + 12.0 / 32) + 2 * 8192 * 128 * 2) / (1 << 30)));
    CHECK(bucket_mib(k_ub_models[3].model, {16, 1, 16, 1, 512, 8192}) == Approx(12.0 * 12288 * 12288 * 2 / 16 / (1 << 20)));
    CHECK(plans_of(k_ub_models[2].model, 64, 8192, rules).empty()); // a thousand milliard weights on a rack
}

TEST_CASE("ub_validation: a step is compute and what is not hidden")
{
    ub_step_model step;
    step.exposed = 0.5;
    const ub_model& gpt3 = k_ub_models[1].model;
    const ub_parallelism plan{16, 8, 1, 2, 32, 8192};
    const ub_architecture_times none = all_times(line(0, 0), line(0, 0));
    const ub_step_parts bare = step.parts_of(gpt3, plan, 65536, none);
    const double operations = 8192.0 / 16 * (96.0 * 12288 * 12288 + 8.0 * 65536 * 12288);
    CHECK(bare.compute == Approx(48 * 13 * operations / (752e6 * 0.5)));
    CHECK(bare.bubble == Approx(bare.compute / 13));
    CHECK(bare.total() == Approx(bare.compute * 14 / 13));
    // TP alone, 1 us/MiB: six of 192 MiB a layer and micro-batch, half of it hidden.
    ub_architecture_times t = none;
    t.rack.all_reduce[16] = line(0, 1);
    CHECK(step.parts_of(gpt3, plan, 65536, t).tensor == Approx(0.5 * 48 * 13 * 6 * 192));
    // SP 8 is four boards and two racks. Between racks each shard of 12 MiB crosses once: 24 MiB, and 48 in fp32.
    t = none;
    t.far.gather[2] = line(0, 1000);
    CHECK(step.parts_of(gpt3, plan, 65536, t).sequence == Approx(0.5 * 48 * 13 * (6 * 24e3 + 2 * 48e3)));
    step.ring_attention = true; // hidden as long as attention lasts
    const double attention = 8192.0 / 16 * 8.0 * 65536 * 12288 / (752e6 * 0.5);
    CHECK(step.parts_of(gpt3, plan, 65536, t).sequence == Approx(48 * 13 * (6 * 24e3 + 2 * 48e3 - attention)));
    t.rack.gather[4] = line(0, 1000); // 96 MiB: the longer stage, with chunks in both
    CHECK(step.parts_of(gpt3, plan, 65536, t).sequence == Approx(48 * 13 * (6 * 96e3 + 2 * 192e3 - attention)));
    step.stages_in_turn = true;
    CHECK(step.parts_of(gpt3, plan, 65536, t).sequence == Approx(48 * 13 * (6 * 120e3 + 2 * 240e3 - attention)));
    t.far.gather[2] = line(0, 1e-3);
    t.rack.gather[4] = line(0, 1e-3);
    CHECK(step.parts_of(gpt3, plan, 65536, t).sequence == 0); // all behind attention
}

TEST_CASE("ub_validation: experts and replicas of a step by hand")
{
    ub_step_model step;
    const ub_model& gpt4 = k_ub_models[3].model;
    const double rate = 752e6 * 0.5;
    const ub_architecture_times none = all_times(line(0, 0), line(0, 0));
    const ub_parallelism plan{16, 1, 16, 1, 512, 8192};
    // One expert a token computes what a dense layer does; two compute 20 in place of 12 and send twice.
    const double dense = 96 * 13 * 8192.0 / 16 * 96.0 * 12288 * 12288 / rate, attention = 96 * 13 * 8192.0 / 16 * 8.0 * 8192 * 12288 / rate;
    CHECK(step.parts_of(gpt4, plan, 8192, none).compute == Approx(dense + attention));
    ub_architecture_times t = none;
    t.rack.all_to_all[4] = line(0, 10); // EP 16 of TP 16: four boards' worth in a rack, four racks
    t.far.all_to_all[4] = line(0, 1);
    CHECK(step.parts_of(gpt4, plan, 8192, t).expert == Approx(96 * 13 * 6 * 12 * 10.0));
    t.shares_lanes = true;
    CHECK(step.parts_of(gpt4, plan, 8192, t).expert == Approx(96 * 13 * 6 * 12 * 11.0));
    step.rules.active_experts = 2;
    CHECK(step.parts_of(gpt4, plan, 8192, t).expert == Approx(96 * 13 * 6 * 24 * 11.0));
    CHECK(step.parts_of(gpt4, plan, 8192, none).compute == Approx(dense * 20 / 12 + attention));
    CHECK(traffic_of(gpt4, plan, step.rules, 1).expert.sent_mib == Approx(15.0 / 16 * 24));
    step.rules.active_experts = 1;
    // DP: 64 replicas in a pod, 8 pods. 108 MiB of attention and experts a layer; the all-reduce of 4 sends 1.5 of it, that of 64 more.
    t = none;
    t.far.all_reduce = line(0, 1e5);
    const double bucket = 12.0 * 12288 * 12288 * 2 / 16 / (1 << 20), stage = (dense + attention) / 13;
    CHECK(step.parts_of(gpt4, plan, 8192, t).data == Approx(96 * bucket * 1e5 * (2 * 63.0 / 64) / 1.5 - stage * 3 / 4));
    // Two SuperPods: half of a bucket that 512 replicas have shared crosses the DCN both ways.
    step.dcn_gbps = 1e-3;
    ub_parallelism wide = plan;
    wide.data = 1024;
    CHECK(step.parts_of(gpt4, wide, 8192, none).data == Approx(96 * (2 * 1.0 / 2) * bucket * (1 << 20) / 512 / (1e-3 * 1e3 / 8) - stage * 3 / 4));
    // A pipeline fills and drains: three boundaries, both ways, and the gather of two has what both send.
    t = none;
    t.far.gather[2] = line(0, 1);
    CHECK(step.parts_of(gpt4, {16, 1, 16, 4, 128, 8192}, 8192, t).pipeline == Approx(2 * 3 * 2 * 192.0));
    step.network_is_free = true;
    CHECK(step.parts_of(gpt4, {16, 1, 16, 4, 128, 8192}, 8192, t).pipeline == 0);
}

TEST_CASE("ub_validation: every plan of every scale has its times and more NPUs are no worse where replicas cost nothing")
{
    ub_step_model step;
    step.exposed = 0.3;
    ub_architecture_times t = null_times(k_null_2d_fm);
    for (const ub_trained& m : k_ub_models)
        for (std::uint32_t npus = 128; npus <= 65536; npus *= 2)
            for (const double sequence : all_sequences())
                for (const ub_parallelism& p : plans_of(m.model, npus, sequence, step.rules)) {
                    INFO(m.model.name << ", " << npus << " NPUs, " << p.text());
                    CHECK(p.npus() == npus);
                    CHECK(p.tensor * p.sequence * p.pipeline <= 8192);
                    CHECK(step.parts_of(m.model, p, sequence, t).total() > 0);
                }
    t.far.all_reduce = line(0, 0);
    step.hrs_gbps = step.dcn_gbps = 1e9;
    for (const auto& [model, base] : {std::pair<unsigned, std::uint32_t>{0, 128}, {1, 512}, {2, 1024}, {3, 1024}})
        for (std::uint32_t factor = 2; factor <= 64; factor *= 2) {
            INFO(k_ub_models[model].model.name << " x" << factor);
            CHECK(linearity_percent(step, k_ub_models[model].model, base, base * factor, t).value() >= 99.999);
        }
}

TEST_CASE("ub_validation: a transfer takes the fastest way at its size")
{
    const ub_time_of_size t{{{18, 42}, {40, 40}}}; // 10 us + 1 us/MiB, and 40 us
    CHECK(t.us(8) == Approx(18));
    CHECK(t.us(0) == Approx(10));
    CHECK(t.us(30) == Approx(40));
    CHECK(t.us(100) == Approx(40));
    CHECK((ub_time_of_size{{{1, 32}}}).us(0) == 0); // never below zero
}

TEST_CASE("ub_validation: the null model is bytes over lanes")
{
    constexpr double k_lane = 112e3 / 8 * 0.85 / (1 << 20); // MiB a us
    const ub_architecture_times t = null_times(k_null_2d_fm);
    CHECK(t.rack.all_reduce.at(8).us(64) == Approx(2 * 7.0 / 8 * 64 / (28 * k_lane)));
    CHECK(t.rack.all_reduce.at(32).us(64) == Approx(2 * 31.0 / 32 * 64 / ((28 + 12) * k_lane)));
    CHECK(t.rack.gather.at(4).us(64) == Approx(3.0 / 4 * 64 / (12 * k_lane)));
    CHECK(t.far.gather.at(2).us(64) == Approx(1.0 / 2 * 64 / (2 * k_lane)));
    CHECK(t.far.gather.at(16).us(64) == Approx(15.0 / 16 * 64 / (12 * k_lane)));
    CHECK_FALSE(t.shares_lanes);
    const ub_architecture_times clos = null_times(k_null_clos);
    CHECK(clos.rack.all_reduce.at(8).us(64) == Approx(2 * 7.0 / 8 * 64 / (72 * k_lane)));
    CHECK(clos.far.all_to_all.at(4).us(64) == Approx(3.0 / 4 * 64 / (72 * k_lane)));
    CHECK(clos.shares_lanes);
}

TEST_CASE("ub_validation: the fit meets its one target and nothing else moves")
{
    ub_step_model step;
    const ub_architecture_times slow = all_times(line(10, 6), line(10, 12)), fast = all_times(line(10, 3), line(10, 3));
    const ub_model& fitted = k_ub_models[k_fitted_model].model;
    CHECK(fit_exposed(step, fitted, 95.9, slow, fast));
    CHECK(step.exposed > 0);
    CHECK(step.exposed < 1);
    CHECK(performance_percent(step, fitted, all_sequences(), slow, fast).value() == Approx(95.9).margin(1e-3));
    CHECK_FALSE(fit_exposed(step, fitted, 10, slow, fast)); // out of reach: all is exposed
    CHECK(step.exposed == Approx(1));
    step.rules.hbm_gib = 1;
    CHECK_FALSE(performance_percent(step, fitted, all_sequences(), slow, fast).has_value());
}
