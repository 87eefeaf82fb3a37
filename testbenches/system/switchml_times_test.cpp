// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Physics of the SwitchML platform: volumes, latency of one packet, goodput of a full pipe and of half a window; and what must not
// change times: data, the run before, who adds.
#include "hw/core/iss.h"
#include "testbenches/support/small_machines.h"

#include <algorithm>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::element_type;
using abi::switchml::transport;

namespace {

/// When every frame of a cable enters it, its age then, and its size.
class frame_times final : public ethernet_fault_if {
public:
    ethernet_verdict on_frame(std::uint32_t from, std::uint64_t, std::uint64_t time_ps, const packet& frame) override
    {
        seen[from].push_back({time_ps, frame.born_ps, frame.wire_bytes});
        return {};
    }
    struct entry {
        std::uint64_t time_ps, born_ps;
        std::uint32_t wire_bytes;
    };
    std::vector<entry> seen[2];
};

/// Time of a tensor once the pipe is full: what twice as much takes longer.
double goodput_bps(switchml_config c, std::uint64_t bytes)
{
    c.run.data = data_mode::off;
    c.run.workload = {all_reduce({algorithm::switchml}, {bytes, 2 * bytes})};
    const verdict v = run_exact(c);
    const auto times = v.times();
    return 8e12 * static_cast<double>(bytes) / static_cast<double>(times.at(1) - times.at(0));
}

} // namespace

TEST_CASE("switchml: a worker sends and receives 2U through the switch")
{
    // U a whole number of packets of every core; int32, since float32 sends the exponents of a window first.
    for (const std::uint32_t elements : {64u, 256u})
        for (const std::uint32_t workers : {2u, 5u, 17u}) {
            switchml_config c = rack(workers, 4);
            c.job.elements_per_packet = elements;
            const std::uint64_t tensor = 160 * 1024;
            c.run.workload = {all_reduce({algorithm::switchml}, {tensor})};
            const verdict v = run_exact(c);
            for (std::uint32_t w = 0; w < workers; ++w) {
                const auto at = [&](const char* name) { return v.each(name).at(w); };
                const std::uint64_t frames = tensor / (4 * elements);
                CHECK(at("nic.frames_sent") == frames);
                CHECK(at("nic.frames_received") == frames);
                const std::uint64_t headers = abi::switchml::k_udp_headers * frames;
                CHECK(at("nic.bytes_sent") - headers + at("nic.bytes_received") - headers == 2 * tensor);
                CHECK(at("dma.bytes_sent") + at("dma.bytes_received") == 0);
            }
        }
}

TEST_CASE("switchml: RDMA and float32 send what they must and no more")
{
    const std::uint64_t tensor = 64 * 1024;
    switchml_config c = rack(4, 1);
    c.job.transport = transport::rdma;
    c.job.packets_per_message = 4;
    c.run.workload = {all_reduce({algorithm::switchml}, {tensor})};
    verdict v = run_exact(c);
    // Per message: BTH 4 times, RETH and immediate once.
    const std::uint64_t rdma_frames = tensor / 1024;
    const std::uint64_t rdma_headers = rdma_frames * (abi::switchml::k_header + 12 + 4) + rdma_frames / 4 * (16 + 4);
    for (const char* way : {"nic.bytes_sent", "nic.bytes_received"})
        for (const std::uint64_t bytes : v.each(way))
            CHECK(bytes == tensor + rdma_headers);
    // float32: one window of exponents before the first integers (section 4.6).
    c = rack(4, 1);
    c.run.workload = {all_reduce({algorithm::switchml}, {tensor}, {element_type::float32})};
    v = run_exact(c);
    for (const char* way : {"nic.frames_sent", "nic.frames_received"})
        for (const std::uint64_t frames : v.each(way))
            CHECK(frames == tensor / 1024 + c.job.slots);
}

TEST_CASE("switchml: a worker of a ring sends and receives 4U(n-1)/n")
{
    for (const std::uint32_t n : {2u, 3u, 8u, 16u}) {
        switchml_config c = rack(n);
        const std::uint64_t tensor = std::uint64_t{n} * 4096;
        c.run.workload = {all_reduce({algorithm::ring_1d}, {tensor})};
        const verdict v = run_exact(c);
        for (std::uint32_t w = 0; w < n; ++w) {
            const auto at = [&](const char* name) { return v.each(name).at(w); };
            CHECK(at("dma.bytes_sent") + at("dma.bytes_received") == 4 * tensor / n * (n - 1));
            CHECK(at("nic.frames_sent") == 0);
        }
    }
}

TEST_CASE("switchml: one packet takes the time of the headers from memory to the answer")
{
    for (const std::uint32_t elements : {64u, 256u})
        for (const std::uint64_t gbps : {10u, 100u}) {
            switchml_config c = rack(2);
            c.network.rate = bandwidth(gbps * 1'000'000'000);
            c.job.elements_per_packet = elements;
            c.run.workload = {all_reduce({algorithm::switchml}, {4})};
            std::vector<frame_times> hooks(2);
            const verdict k = run_exact(
                c,
                [&](switchml_machine& m) {
                    for (std::uint32_t w = 0; w < 2; ++w)
                        m.cable(w).set_fault_hook(&hooks[w]);
                },
                [&](switchml_machine&, json& out) {
                    for (const frame_times& h : hooks) {
                        out["frames"].push_back({h.seen[0].size(), h.seen[1].size()});
                        for (std::size_t end = 0; end < 2; ++end)
                            for (const frame_times::entry& e : h.seen[end])
                                out["times_of_cable"].push_back(json{e.time_ps, e.born_ps, e.wire_bytes});
                    }
                });
            CHECK(k.more.at("frames") == json{{1, 1}, {1, 1}});
            const json& t = k.more.at("times_of_cable"); // up, down, of both workers
            const auto value = [&](std::size_t frame, std::size_t field) {
                return t.at(frame).at(field).get<std::uint64_t>();
            };
            const std::uint64_t wire_bytes = elements == 64 ? 332 : 1100;
            const std::uint64_t wire_ps = wire_bytes * 8'000 / gbps;
            const std::uint64_t memory_ps =
                std::uint64_t{elements} * 4 * 8'000'000'000'000 / c.worker.hbm.rate.value() +
                c.worker.hbm.latency.value();
            // NIC: read the payload, then the wire. Cable, switch of 11 passes (2), wire: from there on both answers alike.
            const std::uint64_t last_up = std::max(value(0, 0), value(2, 0));
            const std::uint64_t passes = elements == 64 ? 2 : 11;
            for (const std::size_t up : {0u, 2u}) {
                CHECK(value(up, 2) == wire_bytes);
                CHECK(value(up, 0) - value(up, 1) == memory_ps + wire_ps);
            }
            for (const std::size_t down : {1u, 3u}) {
                CHECK(value(down, 2) == wire_bytes);
                CHECK(value(down, 0) ==
                      last_up + c.network.cable.propagation.value() + 600'000 + (passes - 1) * 520'000 + wire_ps);
            }
        }
}

TEST_CASE("switchml: the time of one packet has every delay as often as the packet meets it")
{
    const auto time_of = [](const std::function<void(switchml_config&)>& change) {
        switchml_config c = rack(2);
        change(c);
        c.run.workload = {all_reduce({algorithm::switchml}, {1024})};
        return run_exact(c).time(0);
    };
    const std::uint64_t base = time_of([](switchml_config&) {});
    const std::uint64_t d = 123'000;
    CHECK(time_of([&](switchml_config& c) { c.network.cable.propagation = duration(500'000 + d); }) == base + 2 * d);
    CHECK(time_of([&](switchml_config& c) { c.tofino.chip.first_pass_latency = duration(600'000 + d); }) == base + d);
    CHECK(time_of([&](switchml_config& c) { c.tofino.chip.pass_latency = duration(520'000 + d); }) == base + 10 * d);
    CHECK(time_of([&](switchml_config& c) { c.network.rate = bandwidth(5'000'000'000); }) == base + 2 * 880'000);
    // The line of 64 elements: one pass more, 332 bytes a frame; four packets, one of each slot, take 3 wire times more.
    CHECK(time_of([&](switchml_config& c) {
              c.job.elements_per_packet = 64;
              c.tofino.chip.pass_latency = duration(520'000 + d);
          }) == time_of([&](switchml_config& c) { c.job.elements_per_packet = 64; }) + d);
}

TEST_CASE("switchml: a full pipe runs at the line rate")
{
    for (const std::uint32_t workers : {2u, 8u}) {
        switchml_config c = rack(workers, 4);
        c.job.slots = 128; // appendix C
        const double limit = 10e9 * 1024 / 1100;
        const double got = goodput_bps(c, 2 << 20);
        INFO(workers << " workers: " << got / limit << " of the limit");
        CHECK(got >= 0.99 * limit);
        CHECK(got <= 1.0001 * limit);
    }
}

TEST_CASE("switchml: half of the slots that are needed give half of the line rate")
{
    switchml_config c = rack(2, 2);
    c.network.cable.propagation = duration(3'000'000);
    const double limit = 10e9 * 1024 / 1100;
    c.job.slots = 2; // one a core: a packet under way each
    const double one_each = goodput_bps(c, 1 << 20);
    const double needed = 2 * limit / one_each;
    INFO("a slot a core gives " << one_each / limit << " of the limit, so " << needed << " slots are needed");
    REQUIRE(needed > 16);
    c.job.slots = static_cast<std::uint32_t>(needed / 2) / 2 * 2;
    const double got = goodput_bps(c, 1 << 20);
    INFO(c.job.slots << " slots: " << got / limit);
    CHECK(got == Approx(limit * c.job.slots / needed).epsilon(0.05));
    c.job.slots = static_cast<std::uint32_t>(needed * 1.3) / 2 * 2 + 2;
    CHECK(goodput_bps(c, 1 << 20) >= 0.99 * limit);
}

TEST_CASE("switchml: without data the times are the same")
{
    for (const transport t : {transport::udp, transport::rdma}) {
        switchml_config c = rack(3, 2);
        c.job.transport = t;
        c.job.packets_per_message = 4;
        c.job.timeout = duration(100'000'000);
        c.network.cable.impairments.loss = 0.02;
        c.network.cable.impairments.duplication = 0.02;
        c.run.workload = {switched({4, 70'000}),
                          all_reduce({algorithm::ring_1d, algorithm::parameter_server}, {5'000})};
        const verdict with = run_exact(c);
        c.run.data = data_mode::off;
        const verdict without = run_exact(c);
        CHECK(with.times() == without.times());
        CHECK(with.stat("switch*.packets") == without.stat("switch*.packets"));
        CHECK(with.simulated_time_ps == without.simulated_time_ps);
    }
}

TEST_CASE("switchml: two runs give one digest and another seed another")
{
    switchml_config c = rack(4, 2);
    c.network.cable.impairments.loss = 0.02;
    c.job.timeout = duration(100'000'000);
    c.run.workload = {switched({50'000})};
    const verdict first = run_exact(c);
    const verdict second = run_exact(c);
    CHECK(first.digest == second.digest);
    CHECK(first.times() == second.times());
    c.run.seed = 2;
    const verdict other = run_exact(c);
    CHECK(first.digest != other.digest);
    CHECK(first.times() != other.times()); // other frames are lost
}

TEST_CASE("switchml: RV64 cores give the answers of native ones")
{
    if (*iss_engine_name() == '\0')
        return;
    for (const transport t : {transport::udp, transport::rdma}) {
        switchml_config c = rack(4, 2);
        c.job.transport = t;
        c.job.packets_per_message = 2;
        c.job.timeout = duration(1'000'000'000);
        c.network.cable.impairments.loss = 0.01;
        c.run.workload = {switched({4, 30'000}), all_reduce({algorithm::halving_doubling}, {5'000})};
        const verdict native = run_exact(c);
        c.worker.core.model = core_model::rv64;
        const verdict rv64 = run_exact(c);
        CHECK(native.answers() == rv64.answers());
    }
}
