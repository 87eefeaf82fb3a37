// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the control plane tells the switch about a job. Plain C++.
//
// A job of one rack is one tofino_job. Beyond 16 workers (256-word packets), one pipe (64-word packets) or a rack, a
// job is a tree of them (Sapio et al., NSDI 2021, section 7): every node aggregates its workers and hands the sum on
// to its parent as one of that one's workers, the root's result comes back down to all. The parent is another
// switch behind a port (parent_kind::port) or another node in the same switch (parent_kind::inside): several nodes
// with one job number in one switch are the paper's virtual switches.
#pragma once

#include "hw/abi/switchml.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// One contributor; its place in tofino_job::workers is its number, its bit of the bitmap.
struct tofino_worker {
    std::uint64_t mac = 0;
    std::uint32_t ip = 0;
    std::uint32_t port = 0;            ///< front-panel port behind which it is
    std::uint32_t queue_pair_base = 0; ///< RDMA: answers on queue q go to its queue pair queue_pair_base + q
    bool inside = false; ///< a node of the same switch, added later with this job as parent; the rest is unused
};

enum class parent_kind : std::uint8_t { none, port, inside };

struct tofino_parent {
    parent_kind kind = parent_kind::none;
    std::uint32_t worker = 0; ///< this node's number at the parent
    std::uint32_t job = 0;    ///< inside: what add_job() returned for the parent
    // Behind a port:
    std::uint32_t port = 0;
    std::uint64_t mac = 0; ///< of the parent switch
    std::uint32_t ip = 0;
    std::uint64_t own_mac = 0; ///< from which the parent knows this node; another one for every node of a switch
    std::uint32_t own_ip = 0;
};

struct tofino_job {
    static constexpr std::uint32_t k_same_slot = 0xffff'ffff;

    std::uint8_t number = 0; ///< in the packets (UDP)
    abi::switchml::transport protocol = abi::switchml::transport::udp;
    bool loss_recovery = true; ///< false: Algorithm 1 of the paper, a counter only (C++ model)
    std::uint32_t words = 256; ///< widest packets it may send: 64 or 256
    std::vector<tofino_worker> workers;
    std::uint32_t first_slot = 0; ///< slot numbers in its packets: first_slot to first_slot + slots - 1
    std::uint32_t slots = 0;
    std::uint32_t register_slot = k_same_slot; ///< where its slots begin in the registers; k_same_slot: at first_slot
    std::uint32_t home_pipe = 0;               ///< pipe of its workers' ports, and of the first pass
    std::uint16_t multicast_group = 1;         ///< unique in the switch
    std::uint32_t first_queue = 0;             ///< RDMA: frames carry no job number; queues tell the jobs apart
    std::uint32_t queues = 512;
    tofino_parent parent;
};

/// A sender that slots of a job wait for.
struct awaited_sender {
    std::uint32_t job = 0;   ///< number
    std::uint64_t mac = 0;   ///< of the sender; 0 for a node inside of the switch
    std::uint32_t slots = 0; ///< in which it is missing
    std::uint32_t alone = 0; ///< in which nobody else is
};

} // namespace weft
