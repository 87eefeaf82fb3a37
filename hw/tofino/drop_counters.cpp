// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/drop_counters.h"

#include <iterator>

namespace weft {

namespace {

struct drop_text {
    const char* name;
    const char* description;
};
constexpr drop_text k_drop_texts[] = {
    {"drop_none", ""},
    {"drop_bad_fcs", "Frames with a wrong frame check sequence"},
    {"drop_truncated", "Frames shorter than their headers say"},
    {"drop_unknown_mac", "Foreign frames to an address of no table entry"},
    {"drop_not_switchml", "Frames to the switch of no protocol it speaks"},
    {"drop_bad_ip_checksum", "Frames with a wrong IP header checksum"},
    {"drop_size_code", "Packets of a size that the job does not have: 32 or 128 words, or wider than the job's"},
    {"drop_wrong_length", "Packets whose length is not that of their size code"},
    {"drop_wrong_job", "Packets with a job number, or an RDMA queue, of no job"},
    {"drop_not_worker", "Packets whose sender is no worker of the job"},
    {"drop_pool_index", "Packets with a slot outside of the job's pool"},
    {"drop_rdma_opcode", "RoCE packets that are no RDMA writes"},
    {"drop_rdma_sequence", "RoCE packets behind a gap in their message"},
    {"drop_stale", "Packets older than the last one of their sender in the slot (stale_filter)"},
    {"drop_ingress_simulated", "Packets dropped by the ingress drop simulator"},
    {"drop_egress_simulated", "Results dropped, with all copies, by the egress drop simulator"},
    {"drop_recirculation_queue", "Packets that found the queue of a recirculation port full"},
    {"drop_egress_queue", "Frames that found the queue of a front-panel port full"},
    {"drop_job_removed", "Packets whose job ended while they were in the switch"},
    {"drop_wasted_harvest", "64-word duplicates that were read although one worker is missing"},
};
static_assert(std::size(k_drop_texts) == k_drop_reasons, "one text a reason");

} // namespace

const char* drop_name(drop_reason reason) { return k_drop_texts[static_cast<std::size_t>(reason)].name; }

std::uint64_t drop_counters::all() const
{
    std::uint64_t sum = 0;
    for (const counter& c : by_reason_)
        sum += c.value();
    return sum;
}

void drop_counters::list_in(stat_group& stats)
{
    for (std::size_t r = 1; r < k_drop_reasons; ++r)
        stats.add(k_drop_texts[r].name, "packets", k_drop_texts[r].description, by_reason_[r]);
}

} // namespace weft
