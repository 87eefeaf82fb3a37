// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// link_layer: go-back-N retry of one direction of a link, at packet level. Plain C++; the fabric engine asks it once
// per transmission on links that have one.
//
// Models: blocks of flits with a check sum each; seeded bit errors that remain behind the FEC; the request back and the
// sender's return to the damaged packet; PHY re-initialisation when retries are used up; the end of the link when these
// are used up too; a retry buffer that bounds what is sent and not yet acknowledged. Does not model: damage to requests
// and acknowledgements (33 blocks of a request make that improbable), their share of the reverse direction's bandwidth
// (link_control.h has it), FEC itself (its overhead is a factor on the rate, bit_error_rate is what it leaves),
// undetected errors.
//
// Timing. A transmission begins at t, D is the propagation, S(x) the serialisation of x bytes. When the first damaged
// block ends e bytes after the beginning of the transmission, its receiver finds out at t + S(e) + D, and the sender
// begins again at
//
//     t' = t + S(e) + 2 D + request + turnaround                        (+ reinit, when `retries` have been used up)
//
// with the packet that the block belongs to: a train goes back to one of its packets, those before it are through.
// Nothing of a damaged packet is forwarded. What the sender puts on the wire between S(e) and t' is thrown away by the
// receiver and sent again, in the same order; the model keeps the link busy instead and sends it once, from t' + S on.
// Arrivals are the same. Two things differ: what follows stays in the buffer of the router meanwhile and not in the
// retry buffer, and is arbitrated when it is sent for good. When `reinits` re-initialisations did not help either, the
// link is down at t + S(e) + 2 D + request. Its place in the retry buffer is free when it is acknowledged, at
//
//     t_last + S + 2 D + acknowledge
#pragma once

#include "hw/routing/fabric_plan.h"
#include "tlm/credit.h"
#include "tlm/draw.h"
#include "tlm/units.h"

#include <cstdint>

namespace weft {

inline constexpr std::uint64_t k_no_error = ~std::uint64_t{0};

/// For tests: says which transmissions go wrong, instead of bit_error_rate.
class link_error_script {
public:
    /// Flit of the `number`-th transmission of the link that is damaged first, of `flits`; k_no_error when none is.
    virtual std::uint64_t damaged_flit(std::uint32_t link, std::uint64_t number, std::uint64_t flits) = 0;

protected:
    ~link_error_script() = default;
};

/// How a packet got over the link.
struct link_passage {
    std::uint64_t start_ps = 0;         ///< of an undisturbed transmission that ends when this one did
    std::uint64_t serialisation_ps = 0; ///< at the rate of the last transmission
    bool given_up = false;              ///< the link is down from `start_ps` on
    std::uint64_t asked_ps = 0;         ///< the receiver asks for it once more, for the first time; 0: it did not
};

class link_layer {
public:
    link_layer(const link_layer_params& params, std::uint32_t link, duration propagation);

    void set_script(link_error_script* script) { script_ = script; }

    /// Transmissions of a packet (train of `packets`) from `start_ps` on; `rate_at(ps)` is the rate of the link at a
    /// time. Nothing is begun at or after `down_at_ps`.
    template <class Rate>
    link_passage pass(std::uint64_t start_ps, std::uint32_t wire_bytes, std::uint32_t packets, std::uint64_t down_at_ps,
                      Rate&& rate_at);

    /// First damaged bit of a transmission, or k_no_error: a function of seed, link and number alone.
    std::uint64_t damaged_bit(std::uint64_t number, std::uint64_t bits) const;

    // The retry buffer: a window of cells that come back with the acknowledgements.
    bool bounded() const { return params_.retry_buffer_cells != 0; }
    bool has_room(std::uint64_t now_ps, std::uint32_t cells)
    {
        return window_.has(under_way_, now_ps, in_window(cells));
    }
    std::uint64_t room_at_ps(std::uint32_t cells) const { return window_.when(under_way_, in_window(cells)); }
    void keep(std::uint64_t now_ps, std::uint32_t cells, std::uint64_t tail_sent_ps)
    {
        window_.take(in_window(cells));
        window_.give(under_way_, now_ps, tail_sent_ps + 2 * propagation_ps_ + params_.acknowledge.value(),
                     in_window(cells));
    }

    /// The retry buffer is empty.
    bool settled(std::uint64_t now_ps) { return !bounded() || window_.settled(under_way_, now_ps); }
    /// Bit errors from now on are those of draw `draw`, counted from its first transmission.
    void reset(std::uint32_t draw)
    {
        first_of_draw_ = transmissions_;
        key_ = key_of_draw(seed_key_, draw);
    }

    /// Of one request to send again, on the other wire: 1 idle and 32 request blocks of a flit each (UB).
    std::uint32_t request_bytes() const { return 33 * params_.flit_bytes; }

    std::uint64_t transmissions() const { return transmissions_; }
    std::uint64_t retries() const { return retries_; }
    std::uint64_t reinits() const { return reinits_; }
    std::uint64_t wasted_ps() const { return wasted_ps_; } ///< in which the link brought nothing across

private:
    std::uint64_t damaged_flit(std::uint64_t flits);
    /// A packet that is larger than the whole buffer goes when it is empty.
    std::uint32_t in_window(std::uint32_t cells) const
    {
        return cells < params_.retry_buffer_cells ? cells : params_.retry_buffer_cells;
    }

    link_layer_params params_;
    std::uint32_t link_;
    std::uint64_t propagation_ps_;
    double log_good_bit_;
    std::uint64_t seed_key_; ///< of draw 0
    std::uint64_t key_;
    link_error_script* script_ = nullptr;
    credit_pool under_way_;
    credit_counter window_;
    std::uint64_t transmissions_ = 0;
    std::uint64_t first_of_draw_ = 0; ///< transmissions before
    std::uint64_t retries_ = 0;
    std::uint64_t reinits_ = 0;
    std::uint64_t wasted_ps_ = 0;
};

template <class Rate>
link_passage link_layer::pass(std::uint64_t start_ps, std::uint32_t wire_bytes, std::uint32_t packets,
                              std::uint64_t down_at_ps, Rate&& rate_at)
{
    const std::uint64_t flit = params_.flit_bytes;
    const std::uint64_t flits = (wire_bytes + flit - 1) / flit;
    const std::uint64_t of_packet = (flits + packets - 1) / packets;
    const std::uint64_t to_sender_ps = 2 * propagation_ps_ + params_.request.value();
    std::uint64_t through = 0; // flits of packets that are across
    std::uint32_t tries = 0, inits = 0;
    std::uint64_t t = start_ps;
    std::uint64_t first_asked_ps = 0;
    for (;;) {
        const wire_rate rate = rate_at(t);
        const auto time_of = [&](std::uint64_t from, std::uint64_t to) {
            return rate.time_ps(to * flit < wire_bytes ? to * flit : wire_bytes) - rate.time_ps(from * flit);
        };
        const std::uint64_t bad = t < down_at_ps ? damaged_flit(flits - through) : k_no_error;
        if (bad == k_no_error)
            return {t - rate.time_ps(through * flit), rate.time_ps(wire_bytes), false, first_asked_ps};
        const std::uint64_t packet_start = (through + bad) / of_packet * of_packet;
        const std::uint64_t block = (through + bad - packet_start) / params_.block_flits;
        std::uint64_t block_end = packet_start + (block + 1) * params_.block_flits;
        block_end = block_end < packet_start + of_packet ? block_end : packet_start + of_packet;
        block_end = block_end < flits ? block_end : flits;
        const std::uint64_t asked_ps = t + time_of(through, block_end) + to_sender_ps;
        if (first_asked_ps == 0)
            first_asked_ps = asked_ps - to_sender_ps + propagation_ps_;
        if (packet_start > through)
            tries = inits = 0;
        wasted_ps_ += asked_ps - t - time_of(through, packet_start);
        through = packet_start;
        std::uint64_t pause = params_.turnaround.value();
        if (tries == params_.retries) {
            if (inits == params_.reinits)
                return {asked_ps, rate.time_ps(wire_bytes), true, first_asked_ps};
            ++inits;
            ++reinits_;
            tries = 0;
            pause += params_.reinit.value();
        } else {
            ++tries;
            ++retries_;
        }
        wasted_ps_ += pause;
        t = asked_ps + pause;
    }
}

} // namespace weft
