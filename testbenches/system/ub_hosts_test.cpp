// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// CPUs and NICs of UB-Mesh that send and receive: latencies are formulas in which those of CPU and NIC stand once; checkpoints arrive whole, near their
// bound; knobs move what they should; NICs fail; what goes beside collectives costs them no more than the links that both use.
#include "hw/ub/ub_link.h"
#include "testbenches/issues/program.h"
#include "testbenches/support/small_machines.h"

#include <set>

using namespace weft;
using namespace weft::test;
using namespace weft::testing;

namespace {

/// What the program makes of a file, with its exit code as "code".
json result_of(const std::string& text, const std::string& more = "")
{
    const program_folder folder;
    folder.write("a.yaml", text);
    const int code = folder.weft("run a.yaml --json r.json " + more);
    json r = folder.exists("r.json") ? json::parse(folder.read("r.json")) : json::object();
    r["code"] = code;
    r["stderr"] = folder.read("stderr");
    return r;
}

const json& checkpoint(const json& r, std::size_t i = 0)
{
    INFO(r["stderr"].get<std::string>());
    REQUIRE(r.contains("host"));
    REQUIRE(r["host"]["checkpoints"].size() > i);
    return r["host"]["checkpoints"][i];
}
double time_us(const json& r, std::size_t i = 0) { return checkpoint(r, i)["time_us"].get<double>(); }

void check_whole(const json& r)
{
    INFO(r["stderr"].get<std::string>());
    CHECK(r["code"] == 0);
    CHECK(r["failure"] == "");
    REQUIRE(r.contains("host"));
    for (const json& c : r["host"]["checkpoints"])
        CHECK(c["wrong_bytes"] == 0);
    for (const json& s : r["host"]["traffic"]) {
        CHECK(s["wrong_bytes"] == 0);
        CHECK(s["lost"] == 0);
    }
}

const std::string k_small = "platform: ub_mesh\nmesh: {boards: 2, npus: 4}\n";
const std::string k_one_case = "workload: [{op: all_reduce, algorithms: [direct], sizes: [4 KiB]}]\n";

/// Of one packet over the path that its source would take, from IO die `die`; every shortest path has the same.
std::uint64_t way_ps(const ub_mesh_config& config, const std::string& from, const std::string& to, std::uint64_t bytes, std::uint32_t die)
{
    const ub_routes routes(config);
    const auto router = [&](const std::string& name) {
        for (std::uint32_t r = 0; r < routes.plan.routers.size(); ++r)
            if (routes.plan.routers[r].name == name)
                return r;
        throw bug("test", 0, "no " + name);
    };
    const std::uint32_t source = router(from);
    const ub_path path = routes.plan.paths->paths(source, router(to), {}).front();
    return ub_zero_load_ps(config.ub, routes.plan.routers[source].device, ub_hops(routes.plan, path, die), bytes);
}

} // namespace

TEST_CASE("a message from a CPU to an NPU takes the way and both memories and the latency of a CPU once", "[ub]")
{
    // Two NPUs, each at a CPU of its own; one message of one packet each, long apart.
    ub_mesh_config config = ub_machine_of(2, 1);
    config.ub.paths = ub_path_use::shortest;
    const auto expected = [&] {
        const std::uint64_t bytes = 1024;
        return 100'000 + wire_rate(config.cpu.rate).time_ps(bytes) + way_ps(config, "cpu(p0,r0,0)", "npu(p0,r0,b0,0)", bytes, 0) +
               config.npu.hbm.latency.value() + wire_rate(config.npu.hbm.rate).time_ps(bytes);
    };
    const std::string text = "platform: ub_mesh\nmesh: {boards: 2, npus: 1}\nub: {paths: shortest, die_crossing: 0 ps}\n"
                             "host: {compare: false, traffic: [{rate: 1 Mbps, message: 1 KiB}]}\n" + k_one_case;
    config.ub.die_crossing = duration(0);
    double before = 0;
    for (const std::uint64_t ns : {175, 176, 1175}) {
        config.ub.cpu_latency = duration(ns * 1000);
        const json r = result_of(text, fmt::format("--set 'ub.cpu_latency={} ns'", ns));
        check_whole(r);
        const json& s = r["host"]["traffic"][0];
        CHECK(s["messages"] >= 1);
        CHECK(s["mean_latency_us"].get<double>() == Approx(static_cast<double>(expected()) / 1e6).margin(0.000002));
        if (ns == 1175)
            CHECK(s["mean_latency_us"].get<double>() - before == Approx(0.999).margin(0.000002));
        before = s["mean_latency_us"].get<double>();
    }
}

TEST_CASE("a packet of a checkpoint takes the way and both memories and the latency of a NIC once", "[ub]")
{
    ub_mesh_config config = ub_machine_of(2, 1);
    config.ub.paths = ub_path_use::shortest;
    const std::string text = "platform: ub_mesh\nmesh: {boards: 2, npus: 1}\nub: {paths: shortest}\n"
                             "host: {compare: false, checkpoint: {state: 1 KiB, nics: own, mode: blocking}}\n" + k_one_case;
    for (const std::uint64_t ns : {175, 176, 1175}) {
        config.ub.nic_latency = duration(ns * 1000);
        const std::uint64_t bytes = 1024;
        const std::uint64_t expected = config.npu.hbm.latency.value() + wire_rate(config.npu.hbm.rate).time_ps(bytes) +
                                       way_ps(config, "npu(p0,r0,b0,0)", "nic(p0,r0,0)", bytes, 0) + wire_rate(config.nic.rate).time_ps(bytes) +
                                       config.nic.latency.value();
        const json r = result_of(text, fmt::format("--set 'ub.nic_latency={} ns'", ns));
        check_whole(r);
        CHECK(time_us(r) == Approx(static_cast<double>(expected) / 1e6).margin(0.000002));
    }
}

TEST_CASE("a large checkpoint of an idle rack takes its bound and at most a twentieth more", "[ub]")
{
    const auto run = [](const std::string& more) {
        return result_of(k_small + "host: {compare: false, checkpoint: {state: 8 MiB, mode: blocking}}\n" + k_one_case, more);
    };
    const json r = run("");
    check_whole(r);
    CHECK(checkpoint(r)["bytes"] == 8 * (8 << 20));
    CHECK(checkpoint(r)["bound_by"] == "DCN of NICs");
    const double dcn_us = 8.0 * (8 << 20) * 8 / (2 * 400e9) * 1e6;
    CHECK(checkpoint(r)["bound_us"].get<double>() == Approx(dcn_us));
    CHECK(time_us(r) >= dcn_us);
    CHECK(time_us(r) < dcn_us / 0.95);
    CHECK(has(checkpoint(r)["busiest"].get<std::string>(), "DCN of nic("));
    // By the links of NICs where the DCN is faster: x8 of each NIC.
    const json fast = run("--set 'nic.dcn_rate=4 Tbps'");
    check_whole(fast);
    CHECK(checkpoint(fast)["bound_by"] == "links of NICs");
    CHECK(checkpoint(fast)["bound_share"].get<double>() > 0.90);
    CHECK(checkpoint(fast)["bound_share"].get<double>() <= 1);
    // By the memory where that is slow.
    const json slow = run("--set 'npu.hbm.rate=5 GB/s'");
    check_whole(slow);
    CHECK(checkpoint(slow)["bound_by"] == "HBM");
    CHECK(checkpoint(slow)["bound_share"].get<double>() > 0.95);
    CHECK(checkpoint(slow)["bound_share"].get<double>() <= 1);
    // Bytes of two runs are alike, and so are times without bytes.
    CHECK(checkpoint(fast)["checksum"] == checkpoint(r)["checksum"]);
    CHECK(time_us(run("--set data=off")) == time_us(r));
}

TEST_CASE("rates and sizes and latencies move checkpoints as they should", "[ub]")
{
    const auto time_of = [](const std::string& more) {
        const json r = result_of(k_small + "host: {compare: false, checkpoint: {state: 1 MiB, mode: blocking}}\n" + k_one_case, more);
        check_whole(r);
        CHECK(checkpoint(r)["bound_share"].get<double>() <= 1);
        return time_us(r);
    };
    const double plain = time_of("");
    CHECK(time_of("--set 'nic.dcn_rate=200 Gbps'") > 1.8 * plain);
    CHECK(time_of("--set 'nic.dcn_rate=100 Gbps'") > 3.4 * plain);
    CHECK(time_of("--set 'host.checkpoint.state=2 MiB'") == Approx(2 * plain).epsilon(0.1));
    CHECK(time_of("--set 'nic.dcn_latency=25 us'") == Approx(plain + 20).epsilon(0.01));
    CHECK(time_of("--set 'host.checkpoint.message=16 KiB'") == Approx(plain).epsilon(0.05));
    // Odd sizes, and a buffer of two packets.
    for (const char* more : {"'host.checkpoint.state=1000008 B' --set 'host.checkpoint.message=4104 B'", "'host.checkpoint.state=8 B'", "'nic.buffer=2 KiB'",
                             "ub.transport=rtp", "'ub.max_payload=4 B' --set 'host.checkpoint.state=16 KiB'", "host.checkpoint.nics=own"})
        CHECK(time_of(std::string("--set ") + more) > 0);
}

TEST_CASE("a NIC that fails during a checkpoint leaves its part to the others", "[ub]")
{
    const std::string text = k_small + "host: {compare: false, checkpoint: {state: 1 MiB, message: 64 KiB}}\n"
                                       "workload: [{op: all_reduce, algorithms: [direct], sizes: [4 KiB]}, {op: all_reduce, algorithms: [direct], sizes: [8 KiB]}]\n";
    const double healthy = time_us(result_of(text));
    for (const std::string transport : {"ctp", "rtp"})
        for (const std::string at : {"30 us", "50 us", "70 us"}) {
            INFO(transport << " " << at);
            const json r = result_of(text, fmt::format("--set ub.transport={} --set 'faults.devices=[{{device: \"nic(p0,r0,1)\", at: {}}}]'", transport, at));
            check_whole(r);
            CHECK(checkpoint(r)["resent"] > 0);
            CHECK(checkpoint(r, 1)["resent"] == 0);
            CHECK(time_us(r) > 1.1 * healthy);
            CHECK(time_us(r, 1) > 1.8 * healthy); // by one NIC
            CHECK(time_us(r, 1) < 2.1 * healthy);
        }
    // An NPU sends its messages again when its own notice has come; by then the other NIC has nothing else to do.
    double sooner = 0;
    for (const std::string software : {"1 us", "20 us"}) {
        const json r = result_of(text, "--set 'faults.notice_software=" + software + "' --set 'faults.devices=[{device: \"nic(p0,r0,1)\", at: 70 us}]'");
        check_whole(r);
        CHECK(checkpoint(r)["resent"] > 0);
        CHECK(time_us(r) > sooner);
        sooner = time_us(r) + 5;
    }
    // What a NIC held when it failed is lost: the other one takes all but what had reached the storage, (30 - 3) us at 50 GB/s.
    const json early = result_of(text, "--set 'faults.devices=[{device: \"nic(p0,r0,1)\", at: 30 us}]'");
    CHECK(time_us(early) > (8 * 1024 * 1024 - 27 * 50'000) / 50'000.0 + 5);
    const json declared = result_of(text, "--set 'faults.devices=[{device: \"nic(p0,r0,1)\"}]'");
    check_whole(declared);
    CHECK(time_us(declared) == Approx(2 * healthy).epsilon(0.1));
    // All of them: a sentence, not a hang.
    for (const std::string transport : {"ctp", "rtp"}) {
        const json none = result_of(text, fmt::format("--set ub.transport={} --set 'faults.devices=[{{device: \"nic(p0,r0,1)\", at: 40 us}}, {{device: \"nic(p0,r0,0)\", "
                                                      "at: 50 us}}]'", transport));
        CHECK(none["code"] == 1);
        CHECK(has(none["failure"].get<std::string>(), "reaches no NIC of its rack any more"));
    }
}

TEST_CASE("a checkpoint that loses packets on links ends with a sentence or survives with rtp", "[ub]")
{
    const std::string text = k_small + "firmware_timeout: 10 ms\nhost: {compare: false, checkpoint: {state: 1 MiB}}\n" + k_one_case +
                             "faults: {devices: [{device: \"leaf(p0,r0,1.1)\", at: 60 us}]}\n";
    const json ctp = result_of(text);
    CHECK(ctp["code"] == 1);
    CHECK(has(ctp["failure"].get<std::string>(), "messages have not arrived"));
    CHECK(has(ctp["failure"].get<std::string>(), "nobody sends again what is lost"));
    check_whole(result_of(text, "--set ub.transport=rtp"));
    // Nobody is told: rtp gives the NIC up.
    const json unnoticed = result_of(text, "--set ub.transport=rtp --set faults.notification=none --set 'faults.devices=[{device: \"nic(p0,r0,1)\", at: 60 us}]'");
    check_whole(unnoticed);
    CHECK(checkpoint(unnoticed)["resent"] > 0);
}

TEST_CASE("a checkpoint that has lost messages ends within firmware_timeout beside a stream that never rests", "[ub]")
{
    const std::string text =
        k_small +
        "data: off\nfirmware_timeout: 2 ms\nhost: {compare: false, checkpoint: {state: 1 MiB}, traffic: [{rate: 20 GB/s}]}\n"
        "faults: {devices: [{device: \"leaf(p0,r0,1.1)\", at: 163 us}]}\n"
        "training_step: {steps: 3, compute: 100 us, algorithm: direct, groups: [{bytes: 256 KiB}]}\n";
    for (const std::string mode : {"blocking", "overlapped"}) {
        const json r = result_of(text, "--set host.checkpoint.mode=" + mode);
        CHECK(r["code"] == 1);
        const std::string failure = r["failure"].get<std::string>();
        INFO(mode << ": " << failure);
        CHECK(failure.rfind("checkpoint 0: ", 0) == 0);
        CHECK(failure.find("checkpoint 0: ", 1) == std::string::npos);
        CHECK(has(failure, "messages have not arrived, the first one from npu("));
        CHECK(has(failure, "longer than firmware_timeout = 2 ms"));
        CHECK(has(failure, "nobody sends again what is lost"));
        CHECK(has(failure, "leaf(p0,r0,1.1)"));
        CHECK(r["simulated_time_ps"].get<double>() < (163 + 2000 + 500) * 1e6);
        CHECK(r["host"]["checkpoints"].empty());
        CHECK(r["host"]["traffic"][0]["lost"] > 0);
    }
}

TEST_CASE("a slow checkpoint beside a stream that never rests is not called stuck", "[ub]")
{
    // Packets take 8 us of the DCN each; the buffer of a NIC empties for 200 us, and then the last one is on its way for 1 ms.
    const std::string text =
        k_small +
        "firmware_timeout: 100 us\nnic: {dcn_rate: 1 Gbps, dcn_latency: 1 ms, buffer: 25 KiB}\nub: {transport: rtp}\n"
        "host: {compare: false, checkpoint: {state: 64 KiB, mode: blocking}, traffic: [{rate: 20 GB/s, message: 4 KiB}]}\n" +
        k_one_case;
    for (const std::string mode : {"blocking", "overlapped"}) {
        const json r = result_of(text, "--set host.checkpoint.mode=" + mode);
        check_whole(r);
        CHECK(time_us(r) > 1000 + 8 * 65536 * 8 / 2e3);
    }
}

TEST_CASE("what is told of a NIC that has failed is no matter of collectives and of packets sent again", "[ub]")
{
    const std::string text = k_small + "host: {compare: false, checkpoint: {state: 1 MiB, message: 64 KiB}}\n" + k_one_case +
                             "faults: {devices: [{device: \"nic(p0,r0,1)\", at: 30 us}]}\n";
    for (const std::string transport : {"ctp", "rtp"}) {
        const json r = result_of(text, "--set ub.transport=" + transport);
        check_whole(r);
        const std::string told = r["stderr"].get<std::string>();
        INFO(transport << ": " << told);
        CHECK(has(told, "nic(p0,r0,1) failed at 30 us"));
        CHECK_FALSE(has(told, "a collective that needs it"));
        CHECK_FALSE(has(told, "sent again"));
    }
    // Of several NPUs that fail at once in racks of their own each has a spare one; of one there is one rack.
    const json one = result_of(k_small + k_one_case + "faults: {npus: [{npu: \"npu(p0,r0,b0,1)\", at: 5 us}, {npu: \"npu(p0,r0,b0,2)\", at: 5 us}], take_over: 100 us}\n");
    INFO(one["stderr"].get<std::string>());
    CHECK(has(one["stderr"].get<std::string>(), "the spare NPU of its rack had taken over"));
}

TEST_CASE("bounds of checkpoints and loads know the links to the switches of NICs and what a NIC reads ahead", "[ub]")
{
    const json thin = result_of("platform: ub_mesh\nmesh: {boards: 1, npus: 2}\nnic: {dcn_rate: 10 Tbps}\n"
                                "host: {compare: false, checkpoint: {state: 4 MiB, mode: blocking}}\n" +
                                k_one_case);
    check_whole(thin);
    CHECK(checkpoint(thin)["bound_by"] == "links to the LRS of NICs");
    CHECK(checkpoint(thin)["bound_share"].get<double>() > 0.75);
    CHECK(checkpoint(thin)["bound_share"].get<double>() <= 1);

    const json ahead =
        result_of(k_small + "nic: {buffer: 2 KiB}\nhost: {compare: false, checkpoint: {state: 128 KiB}}\n"
                            "training_step: {steps: 3, compute: 200 us, algorithm: direct, groups: [{bytes: 64 KiB}]}\n"
                            "faults: {npus: [{npu: \"npu(p0,r0,b0,3)\", at: 600 us}], take_over: 100 us}\n");
    check_whole(ahead);
    CHECK(has(ahead["stderr"].get<std::string>(), "nic.buffer: is 2 KiB, less than dcn_rate x dcn_latency"));
    std::size_t loads = 0;
    for (const json& c : ahead["host"]["checkpoints"])
        if (c["load"].get<bool>()) {
            ++loads;
            CHECK(c["bound_by"] == "buffers of NICs");
            CHECK(c["bound_share"].get<double>() > 0.9);
            CHECK(c["bound_share"].get<double>() <= 1);
        }
    CHECK(loads == 1);
}

TEST_CASE("a job whose NPU fails goes on behind its last checkpoint which comes back by packets", "[ub]")
{
    const std::string text = k_small + "host: {checkpoint: {state: 512 KiB, every: 2}}\n"
                                       "training_step: {steps: 5, compute: 100 us, algorithm: direct, groups: [{bytes: 256 KiB}]}\n"
                                       "faults: {npus: [{npu: \"npu(p0,r0,b0,3)\", at: 590 us}], take_over: 1 ms}\n";
    for (const std::string recovery : {"spare", "mask"}) {
        const json r = result_of(text, "--set faults.recovery=" + recovery);
        check_whole(r);
        CHECK(r["training_step"]["steps"].size() == 5);
        std::size_t loads = 0;
        for (const json& c : r["host"]["checkpoints"]) {
            loads += c["load"].get<bool>() ? 1 : 0;
            if (c["load"].get<bool>()) {
                CHECK(c["bytes"] == (recovery == "spare" ? 8 : 7) * (512 << 10));
                CHECK(c["time_us"].get<double>() >= c["bound_us"].get<double>());
            }
        }
        CHECK(loads == 1);
        CHECK(has(r["warnings"].dump(), "was loaded back in"));
        CHECK(has(r["warnings"].dump(), "training steps "));
    }
    // A stated time is taken as it stands.
    const json stated = result_of(text, "--set 'faults.checkpoint_load=3 ms'");
    CHECK(stated["code"] == 0);
    CHECK(has(stated["stderr"].get<std::string>(), "faults.checkpoint_load: is 3 ms"));
    for (const json& c : stated["host"]["checkpoints"])
        CHECK_FALSE(c["load"].get<bool>());
}

TEST_CASE("overlapped checkpoints cost steps little and blocking ones their whole time", "[ub]")
{
    const std::string text = k_small + "host: {checkpoint: {state: 1 MiB}}\n"
                                       "training_step: {steps: 3, compute: 400 us, algorithm: multi_axis, groups: [{bytes: 1 MiB}]}\n";
    const json overlapped = result_of(text), blocking = result_of(text, "--set host.checkpoint.mode=blocking");
    check_whole(overlapped);
    check_whole(blocking);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(checkpoint(blocking, i)["waited_us"].get<double>() == Approx(time_us(blocking, i)));
        CHECK(checkpoint(overlapped, i)["waited_us"].get<double>() == Approx(i == 2 ? time_us(overlapped, i) : 0));
    }
    const double alone = overlapped["host"]["step_alone_us"].get<double>();
    CHECK(overlapped["training_step"]["steps"][1]["beside_checkpoint"] == true);
    CHECK(overlapped["training_step"]["steps"][1]["time_us"].get<double>() < 1.05 * alone);
    CHECK(blocking["training_step"]["steps"][1]["time_us"].get<double>() == Approx(alone).epsilon(0.001));
}

TEST_CASE("a step of CCUs alone is timed behind the microcode that its first one writes", "[ub]")
{
    const json run = result_of(k_small + "host: {checkpoint: {state: 4 KiB, mode: blocking}}\n"
                                         "training_step: {steps: 3, compute: 400 us, algorithm: ccu, groups: [{bytes: 1 MiB}]}\n");
    check_whole(run);
    const auto step_us = [&](std::size_t i) { return run["training_step"]["steps"][i]["time_us"].get<double>(); };
    const double alone = run["host"]["step_alone_us"].get<double>();
    CHECK(step_us(0) > 1.05 * alone); // writes it
    CHECK(step_us(1) == Approx(alone).epsilon(0.001));
    CHECK(step_us(2) == Approx(alone).epsilon(0.001));
}

TEST_CASE("streams of hosts reach their rate and cost a collective what they take from its links", "[ub]")
{
    const auto run = [](const std::string& rate, const std::string& more = "") {
        return result_of("platform: ub_mesh\nmesh: {boards: 1, npus: 4}\nub: {paths: shortest}\nhost: {traffic: [{name: in, message: 4 KiB, rate: " + rate +
                             ", direction: to_npus}, {name: out, message: 4 KiB, rate: " + rate + ", direction: from_npus}]}\n"
                                                                                  "workload: [{op: all_reduce, algorithms: [multi_axis], sizes: [16 MiB]}]\n",
                         more);
    };
    double before = 0;
    for (const std::string rate : {"500 MB/s", "2 GB/s", "8 GB/s"}) {
        const json r = run(rate);
        check_whole(r);
        const double beside = r["results"][0]["time_us"].get<double>(), alone = r["results"][0]["alone_us"].get<double>();
        INFO(rate << ": " << beside << " us, " << alone << " us alone");
        // X links carry the collective, planes the streams: what both share are controllers of ten times the rate, and memories.
        CHECK(beside < 1.03 * alone);
        CHECK(beside > 0.97 * alone);
        for (const json& s : r["host"]["traffic"]) {
            CHECK(s["rate_GBps"].get<double>() > 0.85 * s["asked_GBps"].get<double>());
            CHECK(s["rate_GBps"].get<double>() < 1.15 * s["asked_GBps"].get<double>());
        }
        CHECK(r["host"]["traffic"][0]["rate_GBps"].get<double>() > before);
        before = r["host"]["traffic"][0]["rate_GBps"].get<double>();
    }
    // More than a CPU's memory gives: less than asked, late, and never lost.
    const json full = run("8 GB/s", "--set 'cpu.memory_rate=8 GB/s'");
    check_whole(full);
    CHECK(full["host"]["traffic"][0]["late"] > 0);
    CHECK(full["host"]["traffic"][0]["rate_GBps"].get<double>() + full["host"]["traffic"][1]["rate_GBps"].get<double>() < 8.2);
    // A CPU that fails leaves its NPUs to another one.
    const json failed = result_of(k_small + "ub: {transport: rtp}\nhost: {compare: false, traffic: [{rate: 2 GB/s}]}\n"
                                            "workload: [{op: all_reduce, algorithms: [direct], sizes: [16 MiB]}]\n"
                                            "faults: {devices: [{device: \"cpu(p0,r0,0)\", at: 60 us}]}\n");
    CHECK(failed["code"] == 0);
    CHECK(failed["host"]["traffic"][0]["wrong_bytes"] == 0);
    CHECK(failed["host"]["traffic"][0]["rate_GBps"].get<double>() > 0.6 * failed["host"]["traffic"][0]["asked_GBps"].get<double>());
}

TEST_CASE("a checkpoint keeps back no message of a collective that uses other links", "[ub]")
{
    // X and Y links carry nothing of it. Messages of a few bytes may also go by the links to LRS, which it fills.
    for (const std::string machine : {"{boards: 3, npus: 5}", "{boards: 2, npus: 4}", "{boards: 7, npus: 3}"})
        for (const std::string transport : {"ctp", "rtp"}) {
            const json r = result_of("platform: ub_mesh\nmesh: " + machine + "\nub: {transport: " + transport + "}\nhost: {checkpoint: {state: 1 MiB}}\n"
                                     "workload: [{op: all_reduce, algorithms: [multi_axis, direct], sizes: [4 B, 64 KiB]}]\n");
            check_whole(r);
            for (const json& row : r["results"]) {
                INFO(machine << " " << transport << ": " << row.dump());
                CHECK(row["time_us"].get<double>() < 1.1 * row["alone_us"].get<double>());
            }
            for (const json& c : r["host"]["checkpoints"])
                CHECK(c["bound_share"].get<double>() > 0.9);
        }
}

TEST_CASE("a checkpoint that is broken off spoils none although failures follow each other", "[ub]")
{
    // Collectives begin theirs before they find that the next NPU has failed.
    const json r = result_of(k_small + "host: {compare: false, checkpoint: {state: 128 KiB}}\n"
                                       "workload: [{op: all_reduce, algorithms: [multi_axis, direct], sizes: [1 MiB]}]\n"
                                       "faults: {npus: [{npu: \"npu(p0,r0,b0,1)\", at: 35 us}, {npu: \"npu(p0,r0,b0,0)\", at: 60 us}], take_over: 100 us, recovery: mask}\n");
    check_whole(r);
    CHECK(has(r["warnings"].dump(), "was loaded back in"));
}

TEST_CASE("messages of a stream that overtake each other keep their contents", "[ub]")
{
    check_whole(result_of("platform: ub_mesh\nmesh: {rack_cols: 2, boards: 2, npus: 2}\nub: {transport: rtp, paths: detour, spreading: flow, buffer_per_vl: 8 KiB}\n"
                          "host: {compare: false, traffic: [{direction: from_npus, rate: 1 GB/s, message: 8 B}]}\n"
                          "training_step: {steps: 3, compute: 100 us, algorithm: multi_axis, groups: [{bytes: 256 KiB}]}\n"));
}

TEST_CASE("the slowest stream of the table sends its first messages", "[ub]")
{
    const json r = result_of(k_small + "host: {compare: false, traffic: [{rate: 1 kbps, message: 256 MiB}, {rate: 1 kbps, message: 8 B}]}\n" + k_one_case,
                             "--set data=off");
    INFO(r["stderr"].get<std::string>());
    CHECK(r["code"] == 0);
    CHECK(r["host"]["traffic"][0]["messages"] == 1); // of its first NPU; others are due hours later
    for (const json& stat : r["stats"])
        if (has(stat["name"].get<std::string>(), ".utilisation"))
            CHECK(stat["value"].get<double>() <= 100);
}

TEST_CASE("work that a second failure undoes begins where the first one ended", "[ub]")
{
    const auto lost_at = [](const std::string& second) {
        return result_of(k_small + "host: {compare: false, checkpoint: {state: 512 KiB}}\n"
                                   "training_step: {steps: 4, compute: 100 us, algorithm: direct, groups: [{bytes: 256 KiB}]}\n"
                                   "faults: {npus: [{npu: \"npu(p0,r0,b0,3)\", at: 280 us}, {npu: \"npu(p0,r0,b1,2)\", at: " +
                         second + "}], take_over: 100 us}\n");
    };
    for (const std::string second : {"300 us", "400 us"}) { // during the take-over, during the load
        const json r = lost_at(second);
        check_whole(r);
        const std::string told = r["warnings"].dump();
        INFO(told);
        CHECK(has(told, "npu(p0,r0,b1,2) failed at " + second + "; nothing was under way"));
    }
}

TEST_CASE("hosts that cannot be are refused with a sentence", "[ub]")
{
    const auto errors = [](const std::string& text) { return errors_of_file(text + k_one_case); };
    const std::string bare = "platform: ub_mesh\nmesh: {boards: 1, npus: 4, backplane: false}\n";
    CHECK(has(errors(bare + "host: {checkpoint: {state: 1 MiB}}\n"), "host.checkpoint: needs NICs, and this machine has none: write mesh.backplane: true."));
    CHECK(has(errors(bare + "host: {traffic: [{rate: 1 GB/s}]}\n"), "host.traffic: needs CPUs"));
    CHECK(has(errors(k_small + "host: {checkpoint: {state: 200 GiB}}\n"), "host.checkpoint.state: needs"));
    CHECK(has(errors(k_small + "host: {checkpoint: {state: 1 MiB}}\nnpu: {hbm: {capacity: 1 MiB}}\n"), "needs 1 MiB of the HBM"));
    CHECK(has(errors(k_small + "host: {}\n"), "has neither traffic nor checkpoint"));
    CHECK(has(errors(k_small + "host: {checkpoint: {state: 1 MiB}}\nnic: {dcn_rate: 0 Gbps}\n"), "nic.dcn_rate"));
    CHECK(has(errors(k_small + "host: {checkpoint: {}}\n"), "host.checkpoint.state"));
    CHECK(has(errors(k_small + "host: {traffic: [{rate: 0 Gbps}]}\n"), "host.traffic.0.rate"));
    CHECK(has(errors(k_small + "host: {checkpoint: {state: 1 MiB}}\nfaults: {devices: [{device: \"nic(p0,r0,0)\"}, {device: \"nic(p0,r0,1)\"}]}\n"),
              "all of the rack of npu(p0,r0,b0,0) have failed from the start"));
    CHECK(errors(k_small + "host: {checkpoint: {state: 1 MiB}}\n").empty());
    const std::string large = "platform: ub_mesh\nmesh: {pods: 2, hrs: true, rack_rows: 4, rack_cols: 4}\nhost: {checkpoint: ";
    CHECK(has(errors(large + "{state: 1 GiB, message: 8 KiB}}\n"), "host.checkpoint.message: is 8 KiB: the states of 2048 NPUs make 268435456 messages, must be at most 67108864; write "));
    CHECK(errors(large + "{state: 1 GiB, message: 32776 B}}\n").empty());
}

TEST_CASE("ways between NPUs and CPUs and NICs are among the turns that are proved free of deadlock", "[ub]")
{
    const ub_mesh_config config = ub_machine_of(2, 4);
    const ub_routes routes(config);
    CHECK(routes.problem().empty());
    // Each hop of every path is a turn of the lane rule, which the proof walks in full.
    std::set<ub_device> seen;
    for (std::uint32_t from = 0; from < routes.topology->endpoints(); ++from)
        for (std::uint32_t to = 0; to < routes.topology->endpoints(); ++to) {
            const ub_device a = routes.plan.routers[from].device, b = routes.plan.routers[to].device;
            if (a == b || (a != ub_device::npu && b != ub_device::npu))
                continue;
            const std::vector<ub_path> paths = routes.plan.paths->paths(from, to, {});
            CHECK_FALSE(paths.empty());
            seen.insert(a);
            for (const ub_path& p : paths) {
                ub_channel channel = ub_channel::local;
                std::uint8_t lane = 0;
                for (const std::uint32_t l : p.links) {
                    const ub_channel next = routes.plan.links[l].channel;
                    if (channel != ub_channel::local) {
                        lane = routes.plan.lanes.next(channel, lane, next);
                        CHECK(lane != ub_lane_rule::k_refused);
                    } else {
                        lane = p.first_lane;
                    }
                    channel = next;
                }
            }
        }
    CHECK(seen.size() == 3);
}
