// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Workers that stop, start late or share the switch with bad neighbours; the algorithm without recovery; every frame of a small
// run lost, damaged, repeated and late. Answers are exact, or the run ends with the reason.
#include "testbenches/support/small_machines.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/ranges.h>
#include <fstream>
#include <sstream>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::element_type;
using abi::switchml::transport;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What a worker sees of its cable: how many frames, a hash of their times, and the last one.
class cable_log final : public ethernet_fault_if {
public:
    ethernet_verdict on_frame(std::uint32_t from, std::uint64_t, std::uint64_t time_ps, const packet&) override
    {
        ++frames[from];
        hash = (hash ^ time_ps) * 0x100000001b3ull;
        last_ps = time_ps;
        return {};
    }
    std::uint64_t frames[2] = {};
    std::uint64_t hash = 0xcbf29ce484222325ull;
    std::uint64_t last_ps = 0;
};

} // namespace

TEST_CASE("switchml: a worker that stops for a time holds the others up and no more")
{
    for (const transport t : {transport::udp, transport::rdma}) {
        switchml_config c = rack(4, 2);
        c.job.transport = t;
        c.job.packets_per_message = 2;
        c.run.workload = {switched({60'000})};
        const std::uint64_t undisturbed = run_exact(c).time(0);
        worker_outage_config o;
        o.worker = 2;
        o.from = duration(20'000'000);
        o.until = duration(5'300'000'000);
        c.faults.outages = {o};
        const verdict v = run_exact(c);
        const auto time = v.time(0);
        INFO(undisturbed << " ps, with the outage " << time << " ps");
        CHECK(time > 5'280'000'000);
        // Whoever waits tries again every timeout (1 ms) at least; then the tensor goes on.
        CHECK(time < 5'300'000'000 + 2 * c.job.timeout.value() + undisturbed);
    }
}

TEST_CASE("switchml: a worker that stops for good ends the run with its name")
{
    for (const transport t : {transport::udp, transport::rdma}) {
        switchml_config c = rack(4, 2);
        c.job.transport = t;
        c.job.packets_per_message = 2;
        c.run.firmware_timeout = duration(4'000'000'000); // 4 ms
        c.run.workload = {switched({60'000}), switched({4})};
        worker_outage_config o;
        o.worker = 2;
        o.from = duration(20'000'000);
        c.faults.outages = {o};
        const verdict v = run(c);
        INFO(v.failure);
        CHECK(v.cases.empty());
        CHECK(has(v.failure, "all_reduce switchml of 60000 B did not complete"));
        CHECK(has(v.failure, "waits for worker 2 of 4"));
        CHECK(has(v.failure, "a wait timed out on NIC.RX_HEAD"));
        CHECK(v.simulated_time_ps < 3 * c.run.firmware_timeout.value());
    }
}

TEST_CASE("switchml: a worker below a tree that stops for good is named by its switch")
{
    switchml_config c = rack(6, 1);
    c.tree = {2, 3};
    c.run.firmware_timeout = duration(4'000'000'000);
    c.run.workload = {switched({20'000})};
    worker_outage_config o;
    o.worker = 4; // the second one of the second switch below
    o.from = duration(0);
    c.faults.outages = {o};
    const verdict v = run(c);
    INFO(v.failure);
    CHECK(v.cases.empty());
    CHECK(has(v.failure, "switch_2: job 0 slot 0 set 0 waits for worker 1 of 3"));
    CHECK(has(v.failure, "switch_0: job 0 slot 0 set 0 waits for worker 1 of 2"));
}

TEST_CASE("switchml: the program ends with 1 when a worker stops for good")
{
    const std::filesystem::path dir =
        std::filesystem::temp_directory_path() / ("weft_switchml_" + std::to_string(::getpid()));
    std::filesystem::create_directories(dir);
    std::ofstream(dir / "gone.yaml") << "platform: switchml\nname: gone\nworkers: 3\nfirmware_timeout: 3 ms\n"
                                        "network: {rate: 10 Gbps}\njob: {slots: 16}\n"
                                        "faults: {outages: [{worker: 1, from: 10 us}]}\n"
                                        "workload: [{op: all_reduce, algorithms: [switchml], sizes: [64 KiB]}]\n";
    const std::string command =
        "cd " + dir.string() + " && " + WEFT_PROGRAM + " run gone.yaml --quiet > stdout.txt 2> stderr.txt";
    const int status = std::system(command.c_str());
    std::stringstream err;
    err << std::ifstream(dir / "stderr.txt").rdbuf();
    INFO(err.str());
    CHECK(WEXITSTATUS(status) == 1);
    CHECK(err.str().find("waits for worker 1 of 3") != std::string::npos);
    std::filesystem::remove_all(dir);
}

TEST_CASE("switchml: without loss recovery sums are exact as long as nothing is lost")
{
    for (const std::uint32_t elements : {64u, 256u})
        for (const std::uint32_t workers : {2u, 3u, 16u, 20u}) {
            switchml_config c = rack(workers, workers < 16 ? 4 : 1);
            c.job.elements_per_packet = elements;
            c.run.workload = {all_reduce({algorithm::switchml_lossless}, {4, 1000, 50'000, 50'004},
                                         {element_type::int32, element_type::float32})};
            INFO(workers << " workers, " << elements << " elements");
            run_exact(c);
        }
    switchml_config c = rack(6, 1);
    c.tree = {2, 3};
    c.run.workload = {all_reduce({algorithm::switchml_lossless}, {4, 50'000})};
    run_exact(c);
}

TEST_CASE("switchml: without loss recovery the first lost frame ends the run by a timeout")
{
    for (const std::uint32_t direction : {0u, 1u}) {
        switchml_config c = rack(2, 1);
        c.run.firmware_timeout = duration(2'000'000'000);
        c.run.workload = {all_reduce({algorithm::switchml_lossless}, {20'000})};
        ethernet_verdict lost;
        lost.drop = true;
        nth_frame hook(direction, 5, lost);
        const verdict v = run(c, [&](switchml_machine& m) { m.cable(1).set_fault_hook(&hook); });
        INFO(v.failure);
        CHECK(v.cases.empty());
        CHECK(has(v.failure, "all_reduce switchml_lossless of 20000 B did not complete"));
        CHECK(has(v.failure, "a wait timed out on NIC.RX_HEAD"));
        CHECK(v.simulated_time_ps < 3 * c.run.firmware_timeout.value());
    }
}

TEST_CASE("switchml: jobs that share the switch do not see what the others lose")
{
    for (const std::uint32_t jobs : {2u, 4u}) {
        switchml_config c = rack(3 * jobs, 2);
        c.job.jobs = jobs;
        c.job.timeout = duration(200'000'000);
        c.run.workload = {all_reduce({algorithm::switchml}, {60'000})};
        const auto run_logged = [&] {
            std::vector<cable_log> logs(c.workers);
            return run_exact(
                c,
                [&](switchml_machine& m) {
                    for (std::uint32_t w = 0; w < c.workers; ++w)
                        m.cable(w).set_fault_hook(&logs[w]);
                },
                [&](switchml_machine&, json& out) {
                    for (const cable_log& l : logs)
                        out["cables"].push_back(json{l.frames[0], l.frames[1], l.hash, l.last_ps});
                });
        };
        const verdict good = run_logged();
        cable_fault_config f;
        f.worker = 4; // of job 1
        f.impairments.loss = 0.05;
        c.faults.cables = {f};
        const verdict bad = run_logged();
        for (std::uint32_t w = 0; w < c.workers; ++w) {
            INFO(jobs << " jobs, worker " << w);
            const bool neighbour = w / 3 == 1;
            const json& without = good.more.at("cables").at(w);
            const json& with = bad.more.at("cables").at(w);
            if (neighbour) {
                CHECK(with.at(3) > without.at(3));
                continue;
            }
            // The other jobs send and get the same frames. Harvests of all jobs share recirculation ports, so that one may
            // wait for another for some nanoseconds.
            CHECK(with.at(0) == without.at(0));
            CHECK(with.at(1) == without.at(1));
            CHECK(with.at(3).get<double>() == Approx(without.at(3).get<double>()).epsilon(0.001));
        }
    }
}

TEST_CASE("switchml: jobs are exact with loss and every type and one after the other")
{
    for (const std::uint32_t jobs : {2u, 3u, 8u}) {
        switchml_config c = rack(24, 1);
        c.job.jobs = jobs;
        c.job.slots = 8;
        c.job.timeout = duration(200'000'000);
        c.network.cable.impairments.loss = 0.01;
        c.run.workload = {switched({4, 20'000, 1'000})};
        INFO(jobs << " jobs");
        run_exact(c);
    }
}

TEST_CASE("switchml: a worker that is heard only later holds the others up")
{
    switchml_config c = rack(4, 2);
    c.run.workload = {switched({30'000})};
    worker_outage_config o;
    o.worker = 3;
    o.from = duration(0);
    o.until = duration(2'500'000'000);
    c.faults.outages = {o};
    const verdict v = run_exact(c);
    CHECK(v.time(0) > 2'400'000'000);
}

TEST_CASE("switchml: one bad cable in either direction")
{
    for (const cable_end end : {cable_end::up, cable_end::down, cable_end::both}) {
        switchml_config c = rack(3, 1);
        c.job.timeout = duration(100'000'000);
        c.run.workload = {switched({60'000})};
        cable_fault_config f;
        f.worker = 1;
        f.direction = end;
        f.impairments.loss = 0.05;
        c.faults.cables = {f};
        const verdict v = run_exact(c, {}, [](switchml_machine& m, json& out) {
            for (std::uint32_t w = 0; w < 3; ++w)
                out["lost"].push_back(json{m.cable(w).from(0).lost.value(), m.cable(w).from(1).lost.value()});
        });
        CHECK((v.more.at("lost").at(1).at(0) > 0) == (end != cable_end::down));
        CHECK((v.more.at("lost").at(1).at(1) > 0) == (end != cable_end::up));
        CHECK(v.more.at("lost").at(0) == json{0, 0});
        CHECK(v.more.at("lost").at(2) == json{0, 0});
    }
}

namespace {

enum class anomaly { drop, corrupt, duplicate, three_copies, late, later_than_the_timer };

ethernet_verdict verdict_of(anomaly a)
{
    ethernet_verdict v;
    switch (a) {
    case anomaly::drop: v.drop = true; break;
    case anomaly::corrupt: v.corrupt = true; break;
    case anomaly::duplicate: v.copies = 1; break;
    case anomaly::three_copies: v.copies = 3; break;
    case anomaly::late: v.extra_delay_ps = 30'000'000; break;
    case anomaly::later_than_the_timer: v.extra_delay_ps = 180'000'000; break;
    }
    return v;
}

/// Every frame of a run of three packets a worker, then of a second tensor over the same slots.
unsigned sweep(transport t, element_type type, std::uint32_t elements, std::uint32_t slots)
{
    switchml_config c = rack(2, 1);
    c.tofino.chip.register_depth = 64;
    c.job.transport = t;
    c.job.packets_per_message = 2;
    c.job.elements_per_packet = elements;
    c.job.slots = slots;
    c.job.timeout = duration(100'000'000);
    const std::uint64_t bytes = 3ull * elements * 4 - 4;
    c.run.workload = {all_reduce({algorithm::switchml}, {bytes}, {type}),
                      all_reduce({algorithm::switchml}, {8}, {type})};
    unsigned runs = 0;
    for (const anomaly a : {anomaly::drop, anomaly::corrupt, anomaly::duplicate, anomaly::three_copies, anomaly::late,
                            anomaly::later_than_the_timer})
        for (std::uint32_t worker = 0; worker < 2; ++worker)
            for (std::uint32_t from = 0; from < 2; ++from)
                for (std::uint64_t n = 0;; ++n) {
                    nth_frame hook(from, n, verdict_of(a));
                    INFO(name_of(t) << " " << name_of(type) << ", " << slots << " slots: anomaly "
                                    << static_cast<int>(a) << " of frame " << n << " from end " << from << " of cable "
                                    << worker);
                    const verdict v = run_exact(
                        c, [&](switchml_machine& m) { m.cable(worker).set_fault_hook(&hook); },
                        [&](switchml_machine& m, json& out) {
                            out["frames"] = m.cable(worker).from(from).frames.value();
                        });
                    ++runs;
                    if (n >= v.more.at("frames").get<std::uint64_t>())
                        break; // there was no such frame
                }
    return runs;
}

} // namespace

TEST_CASE("switchml: every frame may be lost or damaged or repeated or late over UDP")
{
    CHECK(sweep(transport::udp, element_type::int32, 64, 2) > 6 * 4 * 4);
    CHECK(sweep(transport::udp, element_type::int32, 256, 1) > 6 * 4 * 4);
    CHECK(sweep(transport::udp, element_type::float32, 256, 2) > 6 * 4 * 5);
}

TEST_CASE("switchml: every frame may be lost or damaged or repeated or late over RDMA")
{
    CHECK(sweep(transport::rdma, element_type::int32, 64, 2) > 6 * 4 * 4);
    CHECK(sweep(transport::rdma, element_type::int32, 256, 4) > 6 * 4 * 4);
    CHECK(sweep(transport::rdma, element_type::float32, 64, 2) > 6 * 4 * 5);
}

TEST_CASE("switchml: what the check lets pass the switch admits and runs")
{
    std::uint64_t state = 1;
    const auto below = [&](std::uint32_t n) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<std::uint32_t>((state >> 33) % n);
    };
    unsigned sound = 0, ran = 0;
    for (unsigned round = 0; round < 400; ++round) {
        switchml_config c = rack(1 + below(below(3) == 0 ? 130 : 40), 1 + below(3));
        c.tofino.chip.ports_per_pipe = std::vector<std::uint32_t>{4, 8, 16, 16, 24, 32, 64}[below(7)];
        c.tofino.chip.ports = 4 * c.tofino.chip.ports_per_pipe;
        c.tofino.chip.register_depth = 4096;
        c.job.elements_per_packet = below(2) == 0 ? 64 : 256;
        c.job.transport = below(4) == 0 ? transport::rdma : transport::udp;
        c.job.packets_per_message = 1 << below(3);
        c.job.slots = 4 * (1 + below(40));
        c.job.first_slot = below(3) == 0 ? below(300) : 0;
        c.job.jobs = below(2) == 0 ? 1 : 1 + below(6);
        if (below(4) == 0) {
            c.tree = {1 + below(5), 1 + below(20)};
            c.workers = c.tree[0] * c.tree[1];
            c.job.jobs = 1;
            c.job.transport = transport::udp;
        }
        c.run.workload = {all_reduce({algorithm::switchml}, {3000})};
        if (!errors_of(c).empty())
            continue;
        ++sound;
        INFO(fmt::format("round {}: {} workers, {} jobs, tree [{}], {} elements, {} ports a pipe, {} slots from {}, {}",
                         round, c.workers, c.job.jobs, fmt::join(c.tree, ", "), c.job.elements_per_packet,
                         c.tofino.chip.ports_per_pipe, c.job.slots, c.job.first_slot, name_of(c.job.transport)));
        if (sound % 4 == 0) {
            run_exact(c);
            ++ran;
            continue;
        }
        const json j = in_child([&](json&) { const switchml_machine machine(c); });
        INFO(j.value("thrown", ""));
        CHECK_FALSE(j.contains("thrown"));
    }
    INFO(sound << " sound");
    CHECK(sound >= 80);
    CHECK(ran >= 20);
}
