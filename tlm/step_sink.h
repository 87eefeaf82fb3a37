// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps: what packets waited for on their way, finer than event records, for who follows a message back to its cause
// (docs/adr/0028). A trace sink that wants them is a step_trace_sink; components then give it steps in place of slices.
// A step costs nothing unless somebody looks.
#pragma once

#include "tlm/event_record.h"
#include "tlm/trace_sink.h"

#include <cstdint>

namespace weft {

/// A packet, as all places of its way know it. `index` is that of the pool: copies and parts have others.
struct step_packet {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint32_t message = 0;
    std::uint32_t index = 0;

    static step_packet of(const packet& p) { return {p.source, p.destination, p.message, p.index}; }
    bool same_way(const step_packet& o) const { return source == o.source && destination == o.destination; }
    bool same_message(const step_packet& o) const
    {
        return source == o.source && destination == o.destination && message == o.message;
    }
};

/// A device has work to send from now on. Of a ring: its descriptor has been loaded.
struct work_posted {
    std::uint64_t time_ps = 0;
    std::uint64_t work = 0;     ///< number given by the device; used again when it is done
    std::uint32_t queue = 0;    ///< ring
    std::uint32_t entries = 0;  ///< of the ring; 0: the device has made the work itself
    bool answers = false;       ///< it answers a request of the same message number
    std::uint64_t fetch_ps = 0; ///< of a ring: since when its descriptor was being read; filled in by who keeps it
};
/// Work that waited for a semaphore of its engine begins.
struct work_woken {
    std::uint64_t time_ps = 0;
    std::uint64_t work = 0;
    std::uint32_t semaphore = 0;
};
/// A packet starts on the wire of a device's port. It was there not before `ready_ps`, and the wire not before
/// `wire_free_ps`; what is beyond both, it waited for credits.
struct packet_sent {
    step_packet packet;
    std::uint64_t time_ps = 0;
    std::uint64_t ready_ps = 0; ///< read from memory
    std::uint64_t wire_free_ps = 0;
    std::uint64_t work = 0;
    std::uint32_t serialisation_ps = 0; ///< 0: it stays in the chip
    std::uint32_t port = 0;
};
/// A packet starts on a link of a fabric.
struct link_crossing {
    step_packet packet;
    std::uint64_t time_ps = 0;
    std::uint64_t head_ps = 0;     ///< its head could be arbitrated
    std::uint64_t earliest_ps = 0; ///< it could start, if the output is idle and has credits
    std::uint32_t serialisation_ps = 0;
    std::uint32_t in_serialisation_ps = 0; ///< on the wire that it came by
    std::uint32_t latency_ps = 0;          ///< of the link, with the pipeline behind it
    std::uint32_t pipeline_ps = 0;         ///< of that
    std::uint32_t in_latency_ps = 0;       ///< of the link that it came by, with the pipeline
    std::uint32_t link = 0;
    std::uint32_t in_link = 0;
    std::uint32_t in_vl = 0;
};
/// A device has a packet whole; its memory has it at `done_ps`.
struct packet_accepted {
    step_packet packet;
    std::uint64_t time_ps = 0;
    std::uint64_t done_ps = 0;
};

class step_sink : public event_sink {
public:
    void record(const event_record&) final {}
    virtual void posted(const work_posted& s) = 0;
    /// The next descriptor of `queue` is being read from now on.
    virtual void fetches(std::uint64_t time_ps, std::uint32_t queue) = 0;
    virtual void woken(const work_woken& s) = 0;
    /// A packet of `port` is being read from now on; those of a port are sent in this order.
    virtual void reads(std::uint64_t time_ps, std::uint32_t port) = 0;
    virtual void sent(const packet_sent& s) = 0;
    virtual void crosses(const link_crossing& s) = 0;
    virtual void accepted(const packet_accepted& s) = 0;
    /// Semaphore `semaphore` counts at `at_ps`, because of what was accepted last.
    virtual void completes(std::uint64_t at_ps, std::uint32_t semaphore) = 0;

protected:
    ~step_sink() = default;
};

class step_trace_sink : public trace_sink {
public:
    virtual step_sink& steps_of(const component& owner) = 0;

protected:
    ~step_trace_sink() = default;
};

/// Where `owner` gives steps instead of slices; nullptr: `trace` wants slices.
inline step_sink* steps_for(trace_sink& trace, const component& owner)
{
    auto* const wants = dynamic_cast<step_trace_sink*>(&trace);
    return wants == nullptr ? nullptr : &wants->steps_of(owner);
}
/// The sink of a component, as long as it records steps; nullptr: it does not.
inline step_sink* steps_of(event_sink* sink) { return sink == nullptr ? nullptr : dynamic_cast<step_sink*>(sink); }

} // namespace weft
