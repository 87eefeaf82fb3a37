// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys that may change nothing without a word, and why. `sometimes`: nothing says in advance whether a run uses it, but at least
// one mode of its platform does. `limit`: it only bounds what others need, and at least one mode of its platform is refused for it.
// `never`: it is not about what is simulated.
#pragma once

#include <string>
#include <vector>

namespace weft::testing {

enum class exception_kind { sometimes, limit, never };

struct key_exception {
    const char* key; ///< of the documentation; with "*" in front: on all platforms, wherever its path ends so
    exception_kind kind;
    const char* reason;

    bool covers(const std::string& doc_path) const
    {
        const std::string k = key;
        if (k[0] != '*')
            return k == doc_path;
        return doc_path.size() >= k.size() - 1 &&
               doc_path.compare(doc_path.size() - (k.size() - 1), k.size() - 1, k, 1) == 0;
    }
};

inline const std::vector<key_exception>& key_exceptions()
{
    using kind = exception_kind;
    static const std::vector<key_exception> all{
        {"name", kind::never, "names the run and its folder"},
        {"prices", kind::never, "weft check prints a bill"},
        {"routing", kind::never, "a file of tables, which a sweep of keys does not have at hand (issues/user_routing_test)"},
        {"switch.waves", kind::never, "a file of signals for a viewer"},
        {"*.name", kind::sometimes, "a name in the results"},
        {"*.core.stack", kind::never, "memory of the host"},
        {"*.core.elf", kind::never, "another firmware, which a test does not have at hand"},
        {"seed", kind::sometimes, "nothing is random where no data is carried and no chance has a part"},
        {"*.seed", kind::sometimes, "chance may hit nothing in a small run"},
        {"*_seed", kind::sometimes, "chance may hit nothing in a small run"},
        {"data", kind::sometimes, "times are the same without data, by contract"},
        {"time_limit", kind::sometimes, "a bound"},
        {"firmware_timeout", kind::sometimes, "a bound"},
        {"cases", kind::sometimes, "one case, or cases that leave nothing behind"},
        {"burst", kind::sometimes, "messages of one packet have no bursts"},
        {"workload.N.algorithms.N", kind::sometimes, "the default, where no other algorithm can run"},
        {"workload.N.types.N", kind::sometimes, "types of one size take the same time"},
        {"workload.N.redops.N", kind::sometimes, "reductions take the same time"},
        {"workload.N.inputs", kind::sometimes, "both kinds are right"},
        {"workload.N.transposed", kind::sometimes, "a square mesh is its own transpose"},
        {"training_step.transposed", kind::sometimes, "a square mesh is its own transpose"},
        {"training_step.inputs", kind::sometimes, "both kinds are right"},
        {"workload.N.chunk", kind::sometimes, "less than a chunk is one chunk"},
        {"training_step.chunk", kind::sometimes, "less than a chunk is one chunk"},
        {"*.hbm.capacity", kind::limit, "what does not fit is refused"},
        {"*.memory.capacity", kind::limit, "what does not fit is refused"},
        {"*.poll_interval", kind::sometimes, "when a ring of descriptors is full"},
        {"*.poll_interval_max", kind::sometimes, "when a ring of descriptors is full for long"},
        {"*.clock_read", kind::sometimes, "the clock is read when something is late"},
        {"*.ring_entries", kind::sometimes, "when a ring of descriptors is full"},
        {"*.dma.queues", kind::sometimes, "no algorithm needs more than a few"},
        {"*.dma.prefetch", kind::sometimes, "when several messages of a queue are under way"},
        {"*.dma.read_ahead", kind::sometimes, "when many packets of a port are under way"},
        {"*.receive_buffer", kind::sometimes, "when memory is slower than the network"},
        {"mesh.wrap", kind::sometimes, "rings of a mesh and around failed chips need no wrap links"},
        {"faults.links_down.N.announced", kind::sometimes, "when nothing is on its way to the link"},
        {"faults.links.N.until", kind::sometimes, "when nothing is on its way to the link after that"},
        {"ici.local_ports", kind::sometimes, "where one port carries what a chip sends"},
        {"ici.header", kind::sometimes, "charged on the wire with rate_counts: wire, and in full buffers"},
        {"ici.virtual_lanes", kind::sometimes, "the second for wrap links and detours"},
        {"ici.buffer_per_vl", kind::sometimes, "when a buffer is full"},
        {"job.first_slot", kind::sometimes, "a place"},
        {"job.backoff_after", kind::sometimes, "when packets are lost again and again"},
        {"job.timeout", kind::sometimes, "when something is lost"},
        {"switch.aggregator", kind::sometimes, "the Verilog gives the same answers at the same times"},
        {"switch.stale_filter", kind::sometimes, "where packets of a sender overtake each other"},
        {"switch.egress_queue", kind::sometimes, "when a queue is full"},
        {"switch.recirculation_queue", kind::sometimes, "when a queue is full"},
        {"switch.recirculation_rate", kind::sometimes, "when slower than the passes"},
        {"switch.ports", kind::sometimes, "a limit"},
        {"switch.ports_per_pipe", kind::sometimes, "a limit; nodes of large jobs"},
        {"switch.register_depth", kind::sometimes, "a limit"},
        {"worker.transmit_hold", kind::sometimes, "where the switch, and not the worker, sets the pace"},
        {"worker.core.instruction_set", kind::sometimes, "with RDMA the NIC moves the data"},
        {"worker.nic.queues", kind::sometimes, "a limit"},
        {"worker.nic.queue_pairs", kind::sometimes, "a limit"},
        {"ub.buffer_per_vl", kind::sometimes, "raised to the round trip, with buffers_cover_round_trip"},
        {"ub.buffers_cover_round_trip", kind::sometimes, "where 64 KiB cover it anyway"},
        {"ub.cell_flits", kind::sometimes, "when a buffer is full"},
        {"ub.choice", kind::sometimes, "where there are several paths"},
        {"ub.spreading", kind::sometimes, "where there are several paths"},
        {"ub.paths", kind::sometimes, "where there are several paths"},
        {"ub.relays_first", kind::sometimes, "where packets are relayed"},
        {"ub.voq", kind::sometimes, "where somebody waits behind a packet for another output"},
        {"ub.transmit_queue", kind::sometimes, "when a queue is full"},
        {"ub.lrs_latency", kind::sometimes, "where a path leads over LRS"},
        {"ub.hrs_latency", kind::sometimes, "where a path leads over HRS"},
        {"ub.die_crossing", kind::sometimes, "where a path turns from one IO die to the other"},
        {"ub.retries", kind::sometimes, "bit errors may hit no block so often"},
        {"ub.reinitialisations", kind::sometimes, "bit errors may hit no block so often"},
        {"ub.reinitialisation_time", kind::sometimes, "bit errors may hit no block so often"},
        {"ub.detection", kind::sometimes, "bit errors may bring no link down"},
        {"ub.rtp_window", kind::sometimes, "when as much is under way"},
        {"ub.rtp_send_buffer", kind::sometimes, "when as much is under way"},
        {"ub.rtp_timeout", kind::sometimes, "when something is lost or late"},
        {"ub.rtp_tries", kind::sometimes, "when a destination does not answer"},
        {"faults.notice_software", kind::sometimes, "bit errors may bring no link down"},
        {"faults.table_write", kind::sometimes, "bit errors may bring no link down"},
        {"faults.notification", kind::sometimes, "bit errors may bring no link down"},
        {"cables.backplane", kind::sometimes, "where a path leads over LRS"},
        {"cables.hrs", kind::sometimes, "where a path leads over HRS"},
        {"mesh.backplane", kind::sometimes, "where a path leads over LRS"},
        {"mesh.backplane_lanes", kind::sometimes, "where a path leads over LRS"},
        {"mesh.hrs", kind::sometimes, "where a path leads over HRS"},
    };
    return all;
}

} // namespace weft::testing
