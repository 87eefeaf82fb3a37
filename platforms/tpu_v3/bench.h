// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft bench` measures of TPU-v3 meshes. Every function but the last elaborates one system, so each runs in a
// process of its own.
// CPU time of the process, never wall time.
#pragma once

#include "platforms/report/bench_page.h"

#include <cstdint>
#include <string>

namespace weft {

/// Uniform random traffic of 256 B packets on an n x n mesh: "hops_per_s", "events_per_hop", "activations_per_hop",
/// "hops".
run_figures bench_uniform(unsigned side, bool carry_data, double load, unsigned packets_each);
/// Deeper buffers than those of the platform, for long trains; in KiB and packets.
struct bench_buffers {
    std::uint64_t per_vl_KiB, local_KiB, receive_KiB;
    std::uint32_t read_ahead;
};
/// All-reduce on a mesh, with `burst` packets per transaction, 0 being auto; without `deep`, with 40 KiB a VL. As
/// bench_uniform, and "train" (its packets), "time_us", "cpu_s", "resident_MiB", "instructions" (of rv64 cores).
run_figures bench_all_reduce(const std::string& algorithm, unsigned side, bool checked, const std::string& size,
                             unsigned packet_bytes, unsigned burst, bool rv64 = false,
                             const bench_buffers* deep = nullptr);

void bench_tpu_v3(bench_page& out, const bench_settings& how);

} // namespace weft
