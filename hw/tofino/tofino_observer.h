// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a test or a trace sees of the slots of a switch.
#pragma once

#include <cstdint>

namespace weft {

enum class slot_event_kind : std::uint8_t {
    arrival,            ///< a packet was aggregated
    ignored_duplicate,  ///< a packet of a worker that had contributed before; the slot is not complete
    completion,         ///< the last missing packet was aggregated; follows its `arrival`
    multicast,          ///< the result leaves for all workers of the node
    unicast_retransmit, ///< the result leaves for `worker` alone
    sent_up,            ///< the sum of this node leaves for its parent, for the first time or again
    result_from_above   ///< the parent's answer leaves for all workers
};

struct slot_event {
    slot_event_kind kind;
    std::uint64_t time_ps;
    std::uint32_t job;   ///< what add_job() returned
    std::uint8_t number; ///< job number in the packets
    std::uint16_t slot;  ///< as in the packets
    bool version;        ///< the set of the slot
    std::uint8_t worker; ///< whose packet caused it; for result_from_above: 0
};

class tofino_observer {
public:
    virtual void on_slot_event(const slot_event& event) = 0;

protected:
    ~tofino_observer() = default;
};

} // namespace weft
