// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A key that nothing uses is a warning with its place. testbenches/fuzz/keys_test.cpp tries every key of every mode; here is a
// sample, and what users met.
#include "testbenches/support/key_modes.h"
#include "testbenches/support/key_sweep.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::testing;
using Catch::Matchers::Contains;

namespace {

std::string message_of(const std::string& text) { return cli::read_platform_text(text, "a.yaml").message(); }

const std::string k_tpu = "platform: tpu_v3\nmesh: {rows: 2, cols: 2}\n";
const std::string k_ub = "platform: ub_mesh\nmesh: {boards: 1, npus: 4, backplane: false}\n";
const std::string k_switchml = "platform: switchml\nworkers: 4\nnetwork: {rate: 10 Gbps}\n";
const std::string k_ring = "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}]\n";
const std::string k_servers = "workload: [{op: all_reduce, algorithms: [parameter_server], sizes: [4 KiB]}]\n";
const std::string k_by_switch =
    "workload: [{op: all_reduce, algorithms: [switchml], types: [int32], sizes: [4 KiB]}]\n";

} // namespace

TEST_CASE("a key that nothing uses is a warning with file and line and column")
{
    CHECK(
        message_of(k_ub + k_ring + "ub: {rtp_window: 8}\n") ==
        "a.yaml:4:18: warning: ub.rtp_window: is set, but nothing uses it: it applies only with transport: rtp. Leave it out.\n"
        "    ub: {rtp_window: 8}\n"
        "                     ^\n");
    struct entry {
        std::string text;
        std::string key;
        std::string only;
    };
    const entry cases[] = {
        {k_tpu + k_ring + "ici: {virtual_lanes: 1}\n", "ici.virtual_lanes", "with mesh.wrap, for detours"},
        {k_tpu + k_ring + "ici: {virtual_lanes: 3}\nfaults: {links_down: [{row: 0, col: 0, direction: +X, announced: false}]}\n",
         "ici.virtual_lanes", "around faults that routing knows of"},
        {k_ub + k_ring + "ub: {rtp_timeout: 1 ms}\n", "ub.rtp_timeout", "with transport: rtp"},
        {k_ub + k_ring + "ub: {die_crossing: 60 ns}\n", "ub.die_crossing", "where NPUs have links on both IO dies"},
        {"platform: ub_mesh\nmesh: {boards: 2, npus: 4}\nub: {transport: rtp}\n" + k_ring +
             "faults: {flood_per_hop: 1 ms, links: [{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 20 us}]}\n",
         "faults.flood_per_hop", "with notification: hop_by_hop"},
        {k_ub + "workload: [{op: all_gather, sizes: [4 KiB], transposed: true}]\n", "workload.0.transposed",
         "on a mesh of rows and columns"},
        {k_switchml +
             "workload: [{op: all_reduce, algorithms: [switchml], types: [int32], sizes: [4 KiB], transposed: true}]\n",
         "workload.0.transposed", "on a mesh of rows and columns"},
        {k_tpu + "workload: [{op: all_to_all, sizes: [4 KiB], chunk: 1 KiB}]\n", "workload.0.chunk", "not all_to_all"},
        {k_ub + "workload: [{op: all_reduce, algorithms: [ccu], sizes: [4 KiB], chunk: 1 KiB}]\n", "workload.0.chunk",
         "those of CCUs"},
        {k_tpu + "workload: [{op: all_gather, sizes: [4 KiB], redops: [max], root: 1}]\n", "workload.0.root",
         "for broadcast"},
        {k_tpu + k_ring + "chip: {core: {clock_read: 5 cycles}}\n", "chip.core.clock_read",
         "where firmware reads the clock"},
        {k_ub + k_ring + "ub: {cpu_latency: 1 us}\n", "ub.cpu_latency", "with host.traffic"},
        {k_ub + k_ring + "ub: {nic_latency: 1 us}\n", "ub.nic_latency", "with host.checkpoint"},
        {k_ub + k_ring + "nic: {dcn_rate: 1 Gbps}\n", "nic.dcn_rate", "with host.checkpoint"},
        {k_switchml + k_ring + "switch: {recirculation_queue: 4 KiB}\n", "switch.recirculation_queue",
         "for algorithms by the switch"},
        {k_switchml + k_by_switch + "worker: {dma: {queues: 4}}\n", "worker.dma",
         "for algorithms over the lossless network"},
        {k_switchml + k_ring + "worker: {cores: 2}\n", "worker.cores",
         "for algorithms by the switch or by parameter servers"},
        {k_switchml + k_ring + "worker: {core: {instruction_set: x86_sse}}\n", "worker.core.instruction_set",
         "for algorithms by the switch or by parameter servers"},
        {k_switchml + k_servers + "worker: {packet_batch: 8 packets}\n", "worker.packet_batch",
         "for algorithms by the switch over udp"},
        {k_switchml + k_by_switch + "job: {transport: rdma}\nworker: {transmit_hold: 5 us}\n", "worker.transmit_hold",
         "for algorithms by the switch over udp"},
    };
    for (const entry& c : cases) {
        const std::string message = message_of(c.text);
        INFO(c.text << message);
        CHECK_THAT(message, Contains("warning: " + c.key + ": is set, but nothing uses it: it applies only ") &&
                                Contains(c.only));
        CHECK(message.find("a.yaml:") == 0);
    }
    // Keys that never did anything are gone.
    CHECK_THAT(message_of(k_tpu + k_ring + "chip: {core: {log_line: 5 cycles}}\n"),
               Contains("chip.core.log_line: unknown key"));
    // Where two virtual lanes are used, more are not.
    const std::string wrapped = "platform: tpu_v3\nmesh: {rows: 3, cols: 3, wrap: both}\n" + k_ring;
    CHECK(message_of(wrapped + "ici: {virtual_lanes: 2}\n").empty());
    CHECK_THAT(message_of(wrapped + "ici: {virtual_lanes: 3}\n"),
               Contains("a.yaml:4:22: warning: ici.virtual_lanes: is 3, but datelines and detours use two"));
    // The same keys where they are used.
    const std::string broken = k_tpu + k_ring + "faults: {links_down: [{row: 0, col: 0, direction: +X}]}\n";
    for (const char* lanes : {"ici: {virtual_lanes: 1}\n", "ici: {virtual_lanes: 2}\n"})
        CHECK(message_of(broken + lanes).find("virtual_lanes: is set") == std::string::npos);
    CHECK(message_of(k_ub + k_ring + "ub: {transport: rtp, rtp_window: 8, rtp_timeout: 100 us}\n").empty());
    CHECK(message_of("platform: ub_mesh\nmesh: {boards: 2, npus: 4, backplane: false}\nub: {die_crossing: 60 ns}\n" +
                     k_ring)
              .empty());
    CHECK(message_of(k_ub + k_ring + "ub: {die_crossing: 2 us}\n").empty()); // raises the buffers
    // So does the default on long narrow links, where zero makes a difference.
    CHECK(
        message_of("platform: ub_mesh\nmesh: {boards: 1, npus: 8, x_lanes: 1, backplane: false}\ncables: {x: 3723 ns}\n"
                   "ub: {paths: shortest, die_crossing: 0 ns}\n" +
                   k_ring)
            .empty());
    CHECK(message_of(k_switchml + k_by_switch + "worker: {core: {clock_read: 5 cycles}}\n").empty());
    CHECK(message_of(k_switchml + k_servers + "worker: {cores: 2, core: {instruction_set: x86_sse}}\n").empty());
    CHECK(message_of(
              k_switchml + k_by_switch +
              "worker: {cores: 2, packet_batch: 8 packets, transmit_hold: 5 us, core: {instruction_set: x86_sse}}\n")
              .empty());
}

TEST_CASE("polled registers and rv64 cores: what only native cores use is a warning")
{
    const std::string text = k_tpu + k_ring + "chip: {core: {model: rv64, poll_interval: 9 cycles}}\n";
    if (cli::read_platform_text(k_tpu + k_ring + "chip: {core: {model: rv64}}\n", "a.yaml").platform == nullptr)
        return; // no engine
    CHECK_THAT(message_of(text),
               Contains("chip.core.poll_interval: is set, but nothing uses it: it applies only with model: native"));
}

TEST_CASE("keys do something or are warned about: a sample of all modes")
{
    std::size_t at = 0;
    std::size_t tried = 0;
    for (const key_mode& mode : key_modes()) {
        if (mode.rv64 || mode.rtl)
            continue;
        INFO(mode.name);
        const key_sweep sweep(mode.text);
        CHECK(sweep.complaint().empty());
        for (const swept_key& key : sweep.keys()) {
            constexpr std::size_t k_every = 40;
            if (++at % k_every != 0)
                continue;
            if (keys_of_platforms().at(mode.platform).exception_for(key.doc_path) != nullptr)
                continue;
            INFO(key.path);
            ++tried;
            CHECK_FALSE(is_silent(sweep.effect_of(key)));
        }
    }
    CHECK(tried > 20);
}

TEST_CASE("a chunk that the algorithm of a machine does not use is a warning")
{
    const auto of = [](const std::string& machine, const char* entry) {
        return message_of(machine + fmt::format("workload: [{{{}}}]\n", entry));
    };
    CHECK_THAT(of(k_ub, "op: all_reduce, algorithms: [multi_axis], sizes: [1 MiB], chunk: 64 KiB"),
               Contains("warning: workload.0.chunk: nothing uses it: multi_axis sends each block whole"));
    CHECK(of(k_ub, "op: all_reduce, algorithms: [multi_axis, direct], sizes: [1 MiB], chunk: 64 KiB").empty());
    CHECK(of(k_tpu, "op: all_reduce, algorithms: [multi_axis], sizes: [1 MiB], chunk: 64 KiB").empty());
    CHECK_THAT(
        of(k_ub, "op: reduce, sizes: [16 MiB], chunk: 64 KiB"),
        Contains("warning: workload.0.chunk: is 64 KiB, but a reduce of 16 MiB by mesh_tree goes in messages of "));
    CHECK(of(k_ub, "op: reduce, sizes: [1 MiB], chunk: 64 KiB").empty());
    CHECK(of(k_ub, "op: broadcast, sizes: [16 MiB], chunk: 64 KiB").empty());
}
