// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/ethernet_transmitter.h"

#include "hw/ethernet/ethernet_format.h"
#include "tlm/check.h"

#include <algorithm>

namespace weft {

namespace {
__extension__ typedef unsigned __int128 uint128;
constexpr std::uint64_t k_ps_bits = 8'000'000'000'000; ///< picoseconds a byte takes at 1 bit/s
} // namespace

ethernet_transmitter::ethernet_transmitter(ethernet_transmit_socket& socket, bandwidth rate, data_size queue)
    : socket_(socket), rate_bits_(rate.value()), limit_bytes_(queue.value() == 0 ? ~std::uint64_t{0} : queue.value())
{
    if (rate_bits_ == 0)
        throw bug("ethernet_transmitter", 0, "a port needs a rate above 0 bit/s");
    ps_per_byte_ = k_ps_bits % rate_bits_ == 0 ? k_ps_bits / rate_bits_ : 0;
}

bool ethernet_transmitter::send(packet_ptr frame, std::uint64_t now_ps, std::uint64_t ready_ps)
{
    const std::uint64_t size = frame->wire_bytes;
    if (busy_until_ps() <= ready_ps) { // idle by then: whatever was left over is gone
        busy_until_ps_ = ready_ps;
        busy_rest_ = 0;
    }
    const std::uint64_t backlog_ps = busy_until_ps_ - ready_ps;
    if (limit_bytes_ != ~std::uint64_t{0}) {
        // backlog + size <= limit, as times, so that nothing is rounded and nothing divided
        const bool fits =
            size <= limit_bytes_ && (ps_per_byte_ != 0 ? backlog_ps <= (limit_bytes_ - size) * ps_per_byte_
                                                       : static_cast<uint128>(backlog_ps) * rate_bits_ + busy_rest_ <=
                                                             static_cast<uint128>(limit_bytes_ - size) * k_ps_bits);
        if (!fits) {
            ++drops;
            return false;
        }
    }
    last_start_ps_ = busy_until_ps();
    const std::uint64_t before_ps = busy_until_ps_;
    if (ps_per_byte_ != 0) {
        busy_until_ps_ += size * ps_per_byte_;
    } else {
        const uint128 span = static_cast<uint128>(size) * k_ps_bits + busy_rest_;
        busy_until_ps_ += static_cast<std::uint64_t>(span / rate_bits_);
        busy_rest_ = static_cast<std::uint64_t>(span % rate_bits_);
    }
    const std::uint64_t queue_ps = busy_until_ps_ - ready_ps;
    if (queue_ps > max_backlog_ps_ || (queue_ps == max_backlog_ps_ && busy_rest_ > max_backlog_rest_)) {
        max_backlog_ps_ = queue_ps;
        max_backlog_rest_ = busy_rest_;
    }
    ++frames;
    bytes.add(size - k_fcs_bytes - k_preamble_and_gap_bytes);
    wire_bytes.add(size);
    busy_time.add_ps(busy_until_ps_ - before_ps);
    const std::uint64_t departure_ps = busy_until_ps();
    frame->serialisation_ps = static_cast<std::uint32_t>(departure_ps - last_start_ps_);
    frame->tail_ps = departure_ps;
    if (watch_)
        watch_.record(*frame, last_start_ps_, departure_ps);
    socket_->receive(std::move(frame), departure_ps - now_ps);
    return true;
}

std::uint64_t ethernet_transmitter::bytes_in(std::uint64_t span_ps, std::uint64_t rest) const
{
    return static_cast<std::uint64_t>((static_cast<uint128>(span_ps) * rate_bits_ + rest + k_ps_bits - 1) / k_ps_bits);
}

std::uint64_t ethernet_transmitter::queued_bytes(std::uint64_t now_ps) const
{
    return busy_until_ps() <= now_ps ? 0 : bytes_in(busy_until_ps_ - now_ps, busy_rest_);
}

std::uint64_t ethernet_transmitter::wire_time_ps(std::uint32_t size) const
{
    return static_cast<std::uint64_t>((static_cast<uint128>(size) * k_ps_bits + rate_bits_ - 1) / rate_bits_);
}

std::uint64_t ethernet_transmitter::max_queue_bytes() const { return bytes_in(max_backlog_ps_, max_backlog_rest_); }

void ethernet_transmitter::list_in(stat_group& group) const
{
    group.add("frames_sent", "1", "Frames put on the wire", frames);
    group.add("bytes_sent", "B", "Bytes of these frames, without check sequence, preamble and gap", bytes);
    group.add("wire_bytes_sent", "B", "Bytes they took on the wire", wire_bytes);
    group.add("egress_drops", "1", "Frames dropped because the egress queue was full", drops);
    group.add("busy_time", "ps", "Time the wire was busy", busy_time);
    group.add_row({"max_queue", "B", "Most bytes in the egress queue, the frame being sent included", this,
                   [](const void* object) -> std::uint64_t {
                       return static_cast<const ethernet_transmitter*>(object)->max_queue_bytes();
                   }});
}

} // namespace weft
