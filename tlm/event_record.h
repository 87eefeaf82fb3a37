// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Event records: what happened to packets, at exactly two points per component: accepted and emitted. A component has a
// sink pointer that is null unless somebody looks; then a record costs one call. Control of a link, which is no packet,
// is recorded where it is sent. Everything else is derived from these.
#pragma once

#include "tlm/packet.h"

namespace weft {

enum class record_kind : std::uint8_t {
    message_emitted,  ///< a DMA starts a packet on its wire; `span_ps` is its serialisation
    link_emitted,     ///< a router starts a packet on link `where`; `span_ps` is its serialisation
    message_accepted, ///< a DMA has a packet whole; `span_ps` is what its memory takes
    control_emitted,  ///< credits and acknowledgements start on link `where`; `payload_bytes` are all of its bytes
    request_emitted,  ///< a request to send again, likewise
    packet_lost,      ///< a packet is lost on link `where`, or dropped because it wanted that link
};

struct event_record {
    std::uint64_t time_ps;
    std::uint64_t span_ps;
    record_kind kind;
    std::uint32_t where; ///< rank of the DMA, number of the link
    std::uint32_t source;
    std::uint32_t destination;
    std::uint32_t message;   ///< number given by the source
    std::uint32_t semaphore; ///< that counts the message at its destination
    std::uint64_t payload_bytes;
    bool last_of_message;
    std::uint32_t queue = 0; ///< of the device that sends; message_emitted only
};

class event_sink {
public:
    virtual void record(const event_record& r) = 0;

protected:
    ~event_sink() = default;
};

inline event_record make_record(record_kind kind, std::uint64_t time_ps, std::uint64_t span_ps, std::uint32_t where,
                                const packet& p, std::uint32_t queue = 0)
{
    return {time_ps,       span_ps,   kind,        where,           p.source,
            p.destination, p.message, p.semaphore, p.payload_bytes, (p.flags & k_last_of_message) != 0,
            queue};
}

} // namespace weft
