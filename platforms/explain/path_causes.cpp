// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/explain/critical_path.h"

namespace weft {

namespace {

constexpr path_cause_row k_rows[k_path_causes] = {
    {"host", "firmware", "the command comes to the rank"},
    {"firmware", "firmware", "cores work, or wait for registers and local memory: instructions, accesses, wake-ups"},
    {"timeout", "firmware", "until a timeout ends: a core sleeps, or what was lost is sent again"},
    {"DMA", "DMA", "doorbells and descriptors on their way, engines that start"},
    {"memory", "memory", "reads before sending, writes and sums after receiving, accesses of cores, their queue included"},
    {"queueing: port", "queueing", "the port of the chip sends other messages"},
    {"queueing: credits", "queueing", "no room at the far end"},
    {"queueing: arbitration", "queueing", "the link carries packets of other senders"},
    {"queueing: head of line", "queueing", "behind others in the same buffer"},
    {"serialisation", "serialisation",
     "bytes of the message on a wire, and of those before it from its sender"},
    {"propagation", "propagation", "flight on wires, and what congestion of an exchange adds"},
    {"router", "propagation", "pipelines of routers"},
    {"controller", "queueing", "controllers between chip and fabric, their queues included"},
    {"CCU", "compute", "collective communication units: microcode, slices, sums",
     "the path takes what came last, which need not be what an instruction waited for"},
    {"sync", "propagation", "sync wires, after the last rank has arrived"},
    {"NIC", "DMA", "network cards and their rings, with what cores do between a frame and the next one of its slot",
     "work of cores between two frames of a slot is in it, and so are other cores of the chip"},
    {"switch", "compute", "a switch that sums"},
    {"unknown", "unknown", "not followed further"},
};

} // namespace

const path_cause_row& row_of(path_cause cause) { return k_rows[static_cast<std::size_t>(cause)]; }

std::array<std::uint64_t, k_path_causes> critical_path::by_cause() const
{
    std::array<std::uint64_t, k_path_causes> all{};
    for (const path_part& p : parts)
        all[static_cast<std::size_t>(p.cause)] += p.until_ps - p.from_ps;
    return all;
}

} // namespace weft
