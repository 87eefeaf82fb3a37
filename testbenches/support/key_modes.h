// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small configurations, one for every mode of a platform, whose runs take a fraction of a second.
#pragma once

#include <string>
#include <vector>

namespace weft::testing {

struct key_mode {
    std::string name; ///< begins with its platform
    std::string text;
    bool rv64 = false; ///< needs RISC-V cores
    bool rtl = false;  ///< needs the Verilog
};

inline const std::vector<key_mode>& key_modes()
{
    static const std::vector<key_mode> all{
        {"tpu_v3, healthy mesh", R"yaml(platform: tpu_v3
mesh: {rows: 2, cols: 4}
workload:
  - {op: all_reduce, algorithms: [ring_1d, two_d], types: [int32], sizes: [64 KiB], inputs: random}
  - {op: all_reduce, algorithms: [row_pair], types: [float32], redops: [max], range: {from: 4 B, to: 4 KiB, factor: 16}}
  - {op: broadcast, sizes: [256 KiB]}
  - {op: all_to_all, sizes: [16 KiB]}
)yaml"},
        {"tpu_v3, torus in bursts without data", R"yaml(platform: tpu_v3
mesh: {rows: 4, cols: 4, wrap: both}
data: off
burst: 4 packets
ici: {rate_counts: wire, switching: store_and_forward}
workload:
  - {op: all_gather, sizes: [256 KiB]}
  - {op: reduce_scatter, sizes: [256 KiB]}
  - {op: all_to_all, sizes: [64 KiB]}
)yaml"},
        {"tpu_v3, failed region", R"yaml(platform: tpu_v3
mesh: {rows: 4, cols: 6}
faults: {regions: [{row: 0, col: 0, rows: 2, cols: 2}]}
workload:
  - {op: all_reduce, algorithms: [row_pair], sizes: [16 KiB]}
  - {op: all_to_all, sizes: [16 KiB]}
)yaml"},
        {"tpu_v3, links down", R"yaml(platform: tpu_v3
mesh: {rows: 4, cols: 4}
firmware_timeout: 200 us
faults:
  links_down:
    - {row: 1, col: 1, direction: +X}
    - {row: 2, col: 2, direction: -X, at: 60 us}
workload:
  - {op: all_reduce, algorithms: [two_d], sizes: [64 KiB]}
  - {op: all_to_all, sizes: [16 KiB]}
)yaml"},
        {"tpu_v3, training step", R"yaml(platform: tpu_v3
mesh: {rows: 4, cols: 4}
training_step:
  steps: 2
  compute: 100 us
  overlap: when_ready
  groups:
    - {name: early, bytes: 64 KiB, ready: 0.5}
    - {name: late, elements: 4096, ready_at: 90 us}
    - {name: end, bytes: 4 KiB}
  exchanges:
    - {name: norm, count: 2, bytes: 1 KiB, from: 0.1, to: 0.4}
    - {name: local, count: 1, bytes: 1 KiB, ranks_per_group: 4}
)yaml"},
        {"tpu_v3, rv64 cores", R"yaml(platform: tpu_v3
mesh: {rows: 2, cols: 2}
chip: {core: {model: rv64}}
workload:
  - {op: all_reduce, algorithms: [ring_1d], sizes: [16 KiB]}
)yaml",
         true},
        {"tpu_v3, short rings of descriptors", R"yaml(platform: tpu_v3
mesh: {rows: 2, cols: 4}
chip: {dma: {ring_entries: 4}}
workload:
  - {op: all_reduce, algorithms: [two_d], sizes: [64 KiB], chunk: 4 KiB}
  - {op: broadcast, sizes: [64 KiB], chunk: 1 KiB}
)yaml"},
        {"ub_mesh, board", R"yaml(platform: ub_mesh
mesh: {boards: 1, npus: 4, backplane: false}
workload:
  - {op: all_reduce, algorithms: [ring_1d, direct], sizes: [256 KiB]}
  - {op: broadcast, algorithms: [mesh_tree], sizes: [64 KiB]}
  - {op: all_to_all, sizes: [256 KiB]}
  - {op: all_gather, range: {from: 4 KiB, to: 32 KiB, factor: 4}}
)yaml"},
        {"ub_mesh, short rings of descriptors and little read ahead", R"yaml(platform: ub_mesh
mesh: {boards: 1, npus: 4, backplane: false}
npu: {dma: {ring_entries: 4, read_ahead: 2}}
workload:
  - {op: all_reduce, algorithms: [ring_1d, direct], sizes: [256 KiB], chunk: 16 KiB}
  - {op: all_gather, algorithms: [ring_1d], sizes: [64 KiB], chunk: 1 KiB}
)yaml"},
        {"ub_mesh, boards with bursts and shortest paths", R"yaml(platform: ub_mesh
mesh: {boards: 2, npus: 4}
burst: 2 packets
data: off
ub: {paths: shortest, spreading: flow}
workload:
  - {op: all_gather, algorithms: [ring_1d], sizes: [256 KiB]}
  - {op: reduce_scatter, algorithms: [ring_1d], sizes: [256 KiB]}
)yaml"},
        {"ub_mesh, rtp with a link that fails", R"yaml(platform: ub_mesh
mesh: {boards: 2, npus: 4}
firmware_timeout: 10 ms
ub: {transport: rtp}
faults:
  links:
    - {from: "npu(p0,r0,b0,0)", to: "npu(p0,r0,b0,1)", at: 20 us, until: 40 us}
    - {from: "npu(p0,r0,b0,1)", to: "npu(p0,r0,b0,3)", lanes: 2, at: 10 us}
workload:
  - {op: all_to_all, sizes: [1 MiB]}
  - {op: all_reduce, algorithms: [direct], sizes: [256 KiB]}
)yaml"},
        {"ub_mesh, notices from hop to hop", R"yaml(platform: ub_mesh
mesh: {boards: 2, npus: 4}
firmware_timeout: 10 ms
ub: {transport: rtp}
faults:
  notification: hop_by_hop
  flood_per_hop: 10 us
  links:
    - {from: "npu(p0,r0,b0,0)", to: "npu(p0,r0,b0,1)", at: 5 us}
workload:
  - {op: all_to_all, sizes: [1 MiB]}
)yaml"},
        {"ub_mesh, bit errors", R"yaml(platform: ub_mesh
mesh: {boards: 1, npus: 4}
firmware_timeout: 10 ms
ub: {bit_error_rate: 1e-5, choice: adaptive}
faults:
  links:
    - {from: "npu(p0,r0,b0,0)", to: "npu(p0,r0,b0,1)", bit_error_rate: 1e-4}
workload:
  - {op: all_to_all, sizes: [256 KiB]}
)yaml"},
        {"ub_mesh, an NPU fails", R"yaml(platform: ub_mesh
mesh: {boards: 2, npus: 4}
faults:
  npus: [{npu: "npu(p0,r0,b0,3)", at: 10 us}]
  take_over: 1 ms
workload:
  - {op: all_reduce, algorithms: [direct], sizes: [256 KiB]}
  - {op: all_to_all, sizes: [256 KiB]}
)yaml"},
        {"ub_mesh, two racks", R"yaml(platform: ub_mesh
mesh: {rack_cols: 2, boards: 2, npus: 2}
workload:
  - {op: all_to_all, sizes: [256 KiB]}
)yaml"},
        {"ub_mesh, two pods", R"yaml(platform: ub_mesh
mesh: {pods: 2, rack_cols: 1, boards: 2, npus: 2, hrs: true}
workload:
  - {op: all_to_all, sizes: [256 KiB]}
)yaml"},
        {"ub_mesh, training step", R"yaml(platform: ub_mesh
mesh: {boards: 1, npus: 4, backplane: false}
training_step:
  compute: 50 us
  algorithm: direct
  groups: [{bytes: 64 KiB}]
  exchanges: [{name: norm, count: 2, bytes: 1 KiB, from: 0.1, to: 0.4}]
)yaml"},
        {"switchml, udp", R"yaml(platform: switchml
workers: 4
data: checked
network: {rate: 10 Gbps}
job: {slots: 32}
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32, float32], sizes: [64 KiB], inputs: random}
  - {op: all_reduce, algorithms: [switchml], types: [int32], range: {from: 1 KiB, to: 8 KiB, factor: 4}}
)yaml"},
        {"switchml, lossy cables", R"yaml(platform: switchml
workers: 4
network:
  rate: 10 Gbps
  cable:
    impairments: {loss: 0.01, corruption: 0.01, duplication: 0.01, reordering: 0.02}
    outages: [{from: 400 us, until: 450 us}]
switch: {ingress_drop: 0.01, egress_drop: 0.01}
job: {slots: 32, timeout: 100 us, backoff_after: 1}
worker: {cores: 2}
faults:
  cables: [{worker: 1, direction: up, impairments: {loss: 0.1, corruption: 0.02, duplication: 0.02, reordering: 0.05}}]
  outages: [{worker: 2, from: 50 us, until: 300 us}]
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}
)yaml"},
        {"switchml, small packets and two jobs", R"yaml(platform: switchml
workers: 4
data: off
job: {elements_per_packet: 64, jobs: 2, slots: 32}
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}
)yaml"},
        {"switchml, slow recirculation", R"yaml(platform: switchml
workers: 4
network: {rate: 100 Gbps}
switch: {recirculation_rate: 20 Gbps}
job: {slots: 64}
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}
)yaml"},
        {"switchml, without recovery", R"yaml(platform: switchml
workers: 4
job: {slots: 32}
workload:
  - {op: all_reduce, algorithms: [switchml_lossless], types: [int32], sizes: [64 KiB]}
)yaml"},
        {"switchml, rdma", R"yaml(platform: switchml
workers: 4
job: {transport: rdma, packets_per_message: 4, slots: 64, timeout: 300 us}
network: {cable: {impairments: {loss: 0.005}}}
worker: {cores: 1}
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32, float32], sizes: [64 KiB]}
)yaml"},
        {"switchml, a tree of switches", R"yaml(platform: switchml
workers: 4
tree: [2, 2]
job: {slots: 32}
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}
)yaml"},
        {"switchml, lossless network", R"yaml(platform: switchml
workers: 4
workload:
  - {op: all_reduce, algorithms: [ring_1d, halving_doubling], sizes: [256 KiB]}
)yaml"},
        {"switchml, parameter servers", R"yaml(platform: switchml
workers: 2
servers: 2
workload:
  - {op: all_reduce, algorithms: [parameter_server], sizes: [256 KiB]}
)yaml"},
        {"switchml, training step", R"yaml(platform: switchml
workers: 2
job: {slots: 32}
training_step:
  compute: 50 us
  algorithm: switchml
  groups: [{bytes: 64 KiB}]
  exchanges: [{name: norm, count: 2, bytes: 1 KiB, from: 0.1, to: 0.4}]
)yaml"},
        {"switchml, Verilog", R"yaml(platform: switchml
workers: 2
job: {slots: 32}
switch: {aggregator: rtl}
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}
)yaml",
         false, true},
    };
    return all;
}

} // namespace weft::testing
