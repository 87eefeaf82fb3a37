// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ethernet_transmitter: the sending half of a MAC, a plain object inside a device: serialisation at the port's rate and
// an egress queue in bytes with drop-tail.
//
// Models: store-and-forward, one FIFO, frames whole (no pre-emption, no pause frames, no priorities). It has no events:
// a FIFO at a fixed rate is known from the time until which it is busy.
//
// Timing: a frame that is ready at t starts at max(t, busy until) and its last byte leaves `wire_bytes` * 8 / rate
// later. Exact: fractions of a picosecond are carried while the wire is busy, and answers are rounded up to whole
// picoseconds. Queue: the bytes that have not left yet, the rest of the frame on the wire included, are (busy until -
// t) * rate. A frame that would make them more than `queue` bytes is dropped and counted. All bytes are those of the
// wire (preamble and gap included).
#pragma once

#include "hw/ethernet/ethernet_socket.h"
#include "hw/ethernet/frame_record.h"
#include "tlm/stats.h"
#include "tlm/units.h"

namespace weft {

class ethernet_transmitter {
public:
    /// A queue of 0 bytes has no limit.
    ethernet_transmitter(ethernet_transmit_socket& socket, bandwidth rate, data_size queue);
    ethernet_transmitter(const ethernet_transmitter&) = delete;
    ethernet_transmitter& operator=(const ethernet_transmitter&) = delete;

    /// Queue `frame` at `now_ps` (the caller's present time). False: no room, the frame is gone.
    bool send(packet_ptr frame, std::uint64_t now_ps) { return send(std::move(frame), now_ps, now_ps); }
    /// The same for a frame that cannot start before `ready_ps` >= now_ps, and nothing after it either.
    bool send(packet_ptr frame, std::uint64_t now_ps, std::uint64_t ready_ps);

    /// Bytes that have not left at `now_ps`, rounded up.
    std::uint64_t queued_bytes(std::uint64_t now_ps) const;
    std::uint64_t busy_until_ps() const { return busy_until_ps_ + (busy_rest_ != 0 ? 1 : 0); }
    std::uint64_t last_start_ps() const { return last_start_ps_; } ///< when the last frame sent starts on the wire
    std::uint64_t wire_time_ps(std::uint32_t wire_bytes) const;    ///< of a frame on an idle wire

    /// List the statistics below in the group of the device.
    void list_in(stat_group& group) const;

    /// Records every frame while it is on the wire.
    void watch(frame_sink* sink, std::uint32_t number) { watch_.set(sink, number); }

    counter frames;
    counter bytes;      ///< without frame check sequence, preamble and gap
    counter wire_bytes; ///< all
    counter drops;
    accumulated_time busy_time;
    std::uint64_t max_queue_bytes() const;

private:
    std::uint64_t bytes_in(std::uint64_t span_ps, std::uint64_t rest) const;

    ethernet_transmit_socket& socket_;
    std::uint64_t rate_bits_;
    std::uint64_t limit_bytes_;
    std::uint64_t ps_per_byte_; ///< 0: not a whole number
    std::uint64_t busy_until_ps_ = 0;
    std::uint64_t busy_rest_ = 0; ///< and so many (1 / rate_bits_) ps
    std::uint64_t last_start_ps_ = 0;
    std::uint64_t max_backlog_ps_ = 0;
    std::uint64_t max_backlog_rest_ = 0;
    frame_watch watch_;
};

} // namespace weft
