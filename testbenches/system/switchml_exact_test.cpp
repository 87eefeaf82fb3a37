// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums through the switch are right: int32 bit by bit, float32 within n^2 2^e / 2^32 (appendix E of Sapio et al., NSDI 2021), whatever the
// cables lose, and whoever adds.
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::element_type;
using abi::switchml::transport;

namespace {

const std::vector<element_type> k_both = {element_type::int32, element_type::float32};

/// One element, below a packet, no multiple of a packet, below one window, many windows; exact and random inputs.
std::vector<collective_spec> every_size(const switchml_config& c, std::uint64_t windows)
{
    const std::uint64_t block =
        c.job.elements_per_packet * 4 * (c.job.transport == transport::rdma ? c.job.packets_per_message : 1);
    const std::uint64_t window = std::uint64_t{c.job.slots} * c.job.elements_per_packet * 4;
    const std::vector<std::uint64_t> bytes = {4, block - 4, block + 4, window / 2, windows * window + 2 * block - 8};
    return {all_reduce({algorithm::switchml}, bytes, k_both),
            all_reduce({algorithm::switchml}, {bytes.back()}, k_both, data_style::random)};
}

switchml_config case_of(std::uint32_t workers, std::uint32_t cores, transport t, std::uint32_t elements, double loss)
{
    switchml_config c = rack(workers, cores);
    c.job.transport = t;
    c.job.elements_per_packet = elements;
    c.job.packets_per_message = 2;
    c.job.slots = 8 * cores;
    c.job.timeout = duration(200'000'000);
    c.network.cable.impairments.loss = loss;
    return c;
}

/// Every loss by every transport and packet size; of the workers and cores the next `each` ones.
void sweep(aggregator_kind kind, const std::vector<std::uint32_t>& workers, unsigned each, std::uint64_t windows)
{
    const std::vector<std::uint32_t> cores = {1, 2, 4, 8, 3};
    unsigned run = 0;
    for (const double loss : {0.0, 0.0001, 0.001, 0.01, 0.05})
        for (const transport t : {transport::udp, transport::rdma})
            for (const std::uint32_t elements : {64u, 256u})
                for (unsigned i = 0; i < each; ++i) {
                    ++run;
                    switchml_config c =
                        case_of(workers[run % workers.size()], cores[run % cores.size()], t, elements, loss);
                    c.tofino.aggregator = kind;
                    c.run.seed = run;
                    c.run.workload = every_size(c, windows);
                    INFO(name_of(kind) << " " << c.workers << " workers, " << c.worker.cores << " cores, " << name_of(t)
                                       << ", " << elements << " elements, loss " << loss);
                    const verdict v = run_exact(c);
                    if (loss >= 0.05) // so that the test tests what it says
                        CHECK(v.stat("switch*.duplicates_ignored") + v.stat("switch*.retransmissions") > 0);
                    if (loss == 0)
                        CHECK(v.stat("switch*.duplicates_ignored") == 0);
                }
}

} // namespace

TEST_CASE("switchml: every loss and transport and packet size is exact by the model")
{
    sweep(aggregator_kind::model, {2, 3, 5, 8, 4, 7, 16}, 4, 6);
}

TEST_CASE("switchml: every loss and transport and packet size is exact by the RTL")
{
    for (const aggregator_kind kind : aggregator_settings())
        if (kind != aggregator_kind::model)
            sweep(kind, {2, 3, 4}, 1, 1);
}

TEST_CASE("switchml: thirty-two workers are exact at every loss")
{
    for (const double loss : {0.0, 0.001, 0.01, 0.05})
        for (const std::uint32_t elements : {64u, 256u}) {
            // 64 elements leave a pipe in one pass, so 32 ports of one feed it; 256 elements: two virtual switches.
            switchml_config c = case_of(32, 2, transport::udp, elements, loss);
            c.run.workload = {switched({4, 20'000})};
            INFO(elements << " elements, loss " << loss);
            run_exact(c);
        }
}

TEST_CASE("switchml: thirty-two workers through the RTL")
{
    for (const aggregator_kind kind : aggregator_settings()) {
        switchml_config c = case_of(32, 1, transport::udp, 256, 0.01);
        c.tofino.aggregator = kind;
        c.run.workload = {switched({10'000})};
        INFO(name_of(kind));
        run_exact(c);
    }
}

TEST_CASE("switchml: model and RTL and lockstep give one digest and the same times")
{
    for (const transport t : {transport::udp, transport::rdma}) {
        std::vector<verdict> answers;
        for (const aggregator_kind kind : aggregator_settings()) {
            switchml_config c = case_of(3, 2, t, 256, 0.02);
            c.tofino.aggregator = kind;
            c.run.workload = {switched({4, 40'000})};
            answers.push_back(run_exact(c));
        }
        for (const verdict& a : answers) {
            CHECK(a.digest == answers[0].digest);
            CHECK(a.times() == answers[0].times());
            CHECK(a.answers() == answers[0].answers());
            CHECK(a.simulated_time_ps == answers[0].simulated_time_ps);
        }
    }
}

TEST_CASE("switchml: many tensors back to back")
{
    // Slots and versions go on from one tensor to the next, so odd numbers of blocks stand in the middle.
    for (const transport t : {transport::udp, transport::rdma}) {
        switchml_config c = case_of(4, 2, t, 64, 0.01);
        for (unsigned i = 0; i < 12; ++i) {
            const std::uint64_t bytes = 4 + 252 * (i * 7 % 31) + 4 * i;
            c.run.workload.push_back(switched({bytes}));
            c.run.workload.push_back(all_reduce({algorithm::ring_1d}, {bytes}));
        }
        run_exact(c);
    }
}

TEST_CASE("switchml: trees of two and three levels are exact with loss on every cable")
{
    for (const std::vector<std::uint32_t>& tree :
         {std::vector<std::uint32_t>{2, 3}, {4, 4}, {1, 3}, {2, 2, 2}, {3, 1, 2}})
        for (const double loss : {0.0, 0.01, 0.05}) {
            std::uint32_t workers = 1;
            for (const std::uint32_t n : tree)
                workers *= n;
            switchml_config c = case_of(workers, 2, transport::udp, loss == 0.01 ? 64 : 256, loss);
            c.tree = tree;
            c.run.workload = {switched({4, 15'000})};
            INFO(fmt::format("{} levels, {} workers, loss {}", tree.size(), workers, loss));
            run_exact(c);
        }
}

TEST_CASE("switchml: a tree through the RTL")
{
    for (const aggregator_kind kind : aggregator_settings()) {
        switchml_config c = case_of(4, 1, transport::udp, 256, 0.02);
        c.tofino.aggregator = kind;
        c.tree = {2, 2};
        c.run.workload = {switched({12'000})};
        INFO(name_of(kind));
        run_exact(c);
    }
}

TEST_CASE("switchml: virtual switches from 17 to 64 workers")
{
    unsigned run = 0;
    for (const std::uint32_t workers : {17u, 33u, 48u, 64u}) {
        switchml_config c = case_of(workers, 1, transport::udp, run % 2 == 0 ? 256 : 64, run % 2 == 0 ? 0.01 : 0.0);
        ++run;
        c.run.workload = {switched({4, 9'000})};
        INFO(workers << " workers");
        run_exact(c);
    }
}

TEST_CASE("switchml: what the star carries is exact from 2 to 16 workers")
{
    using abi::collective_op;
    for (const std::uint32_t workers : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 12u, 16u}) {
        switchml_config c = rack(workers);
        std::vector<algorithm> all = {algorithm::ring_1d, algorithm::parameter_server, algorithm::multi_axis};
        if ((workers & (workers - 1)) == 0)
            all.push_back(algorithm::halving_doubling);
        c.run.workload = {all_reduce(all, {4, 100, 20'000}, k_both)};
        for (const collective_op op : {collective_op::reduce_scatter, collective_op::all_gather,
                                       collective_op::broadcast, collective_op::all_to_all}) {
            c.run.workload.push_back(all_reduce({}, {4, 5'000}));
            c.run.workload.back().op = op;
        }
        INFO(workers << " workers");
        run_exact(c);
    }
}

TEST_CASE("switchml: duplicates and reordering and corruption together leave every sum exact")
{
    for (const transport t : {transport::udp, transport::rdma})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            switchml_config c = case_of(4, 2, t, seed == 2 ? 64 : 256, 0.01);
            c.run.seed = seed;
            ethernet_impairments& worse = c.network.cable.impairments;
            worse.corruption = 0.01;
            worse.duplication = 0.03;
            worse.reordering = 0.05;
            worse.reorder_delay = duration(seed * 15'000'000);
            c.run.workload = {switched({4, 1'000, 60'000})};
            INFO(name_of(t) << ", seed " << seed);
            const verdict v = run_exact(c);
            CHECK(v.stat("switch*.duplicates_ignored") > 0);
        }
}

TEST_CASE("switchml: late frames that come after their timer add nothing twice")
{
    // Longer than the timeout: the request sent again overtakes, its answer starts the other version, then the first arrives.
    for (const transport t : {transport::udp, transport::rdma})
        for (const std::uint32_t packets : {1u, 4u})
            for (std::uint64_t seed = 1; seed <= 4; ++seed) {
                switchml_config c = case_of(3, 1, t, 256, 0);
                c.run.seed = seed;
                c.run.firmware_timeout = duration(5'000'000'000);
                c.job.packets_per_message = packets;
                c.job.timeout = duration(50'000'000);
                c.network.cable.impairments.reordering = 0.05;
                c.network.cable.impairments.reorder_delay = duration(120'000'000);
                c.run.workload = {switched({100'000})};
                INFO(name_of(t) << ", " << packets << " packets a message, seed " << seed);
                const verdict v = run_exact(c);
                CHECK(v.stat("switch*.drop_*") > 0);
                // The published program has no stale_filter, and adds them.
                c.tofino.chip.stale_filter = false;
                const verdict published = run(c);
                CHECK((published.wrong > 0 || published.failure != ""));
            }
}

TEST_CASE("switchml: a retransmission storm ends and is exact")
{
    // The timeout is below the round trip: everything is sent again before it can be answered.
    for (const transport t : {transport::udp, transport::rdma}) {
        switchml_config c = case_of(4, 1, t, 256, 0);
        c.job.timeout = duration(8'000'000);
        c.run.workload = {switched({50'000})};
        const verdict v = run_exact(c);
        CHECK(v.stat("switch*.duplicates_ignored") + v.stat("switch*.retransmissions") > 0);
    }
}
