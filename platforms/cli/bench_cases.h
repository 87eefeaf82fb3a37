// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft bench` measures. Every function elaborates one system, so each runs in a process of its own: a SystemC kernel can
// be elaborated only once. CPU time of the process, never wall time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weft::cli {

/// Named figures of one measurement; names carry the unit.
using figures = std::map<std::string, double>;

/// Runs `measure` in a child process and returns its figures. Throws bug when it fails, user_error when the host has no process
/// left. The caller must not have elaborated anything itself. May be called by several threads at once.
figures in_child(const std::function<figures()>& measure);

/// Bare SC_METHOD that re-notifies itself, with `pending` such methods: "events_per_s".
figures bench_kernel_events(unsigned pending);
/// Hold model on the calendar queue with `pending` events: "events_per_s".
figures bench_calendar_queue(unsigned pending);
/// Uniform random traffic of 256 B packets on an n x n mesh: "hops_per_s", "events_per_hop", "activations_per_hop", "hops".
figures bench_uniform(unsigned side, bool carry_data, double load, unsigned packets_each);
/// All-reduce on a mesh, with `burst` packets per transaction, 0 being auto; `deep`: buffers of 512 KiB for long trains. As bench_uniform, and "time_us", "cpu_s", "resident_MiB",
/// "instructions" (of rv64 cores).
figures bench_all_reduce(const std::string& algorithm, unsigned side, bool checked, const std::string& size,
                         unsigned packet_bytes, unsigned burst, bool rv64 = false, bool deep = false);
/// The RV64 engine alone on a loop of loads and arithmetic, in quanta of 940 instructions: "instructions_per_s".
figures bench_rv64_engine();
/// Elaboration of n x n chips: "s_per_1000_chips", "bytes_per_chip", "bytes_per_link".
figures bench_elaboration(unsigned side);

/// Eight workers of eight cores below one switch, one all-reduce, packets of 256 elements.
struct switchml_case {
    bool rdma = true;
    std::uint32_t gigabits_per_s = 100;
    const char* aggregator = "model";
    bool checked = true;
    const char* type = "int32";
    const char* size = "16 MiB";
};
/// "packets_per_s" (switch packets per CPU second), "time_us", "events_per_packet", "thread_switches_per_packet".
figures bench_switchml(const switchml_case& what);
/// Elaboration, and memory once every core waits for a command: "s" of CPU, "resident_MiB". An empty tree is one switch.
figures bench_switchml_elaboration(std::uint32_t workers, const std::vector<std::uint32_t>& tree);

/// One collective of a UB-Mesh machine, data off.
struct ub_case {
    std::uint32_t pods = 1;
    std::uint32_t racks = 1; ///< rows and columns of a pod
    bool all_to_all = false;
    const char* algorithm = "hierarchical";
    const char* size = "1 MiB";
    std::uint32_t burst = 1; ///< 0: auto
    bool deep = false;       ///< the buffers of configs/ub_mesh/superpod.yaml
    std::uint32_t payload_bytes = 1024;
    std::uint64_t chunk_bytes = 128 << 10;
    bool shortest = false; ///< paths; else all
    bool rtp = false;      ///< transport; else ctp
    /// A link of the first board fails at this time.
    std::uint64_t link_fails_at_ps = 0; ///< 0: none does
};
/// "hops_per_s", "events_per_hop", "hops", "time_us", "cpu_s", "resident_MiB".
figures bench_ub_mesh(const ub_case& what);
/// "proof_s" (topology, lane rule, proof, census), "s" (with all hardware), "resident_MiB", "bytes_per_npu", "fabric_bytes_per_npu".
figures bench_ub_elaboration(const ub_case& what);

/// Resident memory of this process.
double resident_bytes();

} // namespace weft::cli
