// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// link_control: what the two directions of a link tell each other about credits and acknowledgements, as bytes on the
// wire. Plain C++; the fabric engine asks it once per transmission and once per freed buffer. No events.
//
// Models, for each direction of a link ("wire"), what it owes for the traffic of the other one: cells to give back and
// bytes to acknowledge, from the moment at which a packet of the other direction begins to leave its buffer.
//   * A wire that has been idle sends a control block at once for each packet. It delays nobody.
//   * A wire that is busy takes `cells_per_bit` cells and `bytes_per_bit` bytes along with each data block, free of
//     charge: bits of its header.
//   * When what is left after a transmission reaches a threshold, control blocks follow it: the wire is busy for their
//     bytes as well.
//   * What is left when the wire falls idle goes in one control block there.
// So the wire carries, with `b` blocks a packet and c cells, w bytes owed for each in steady state (per packet of its
// own, r = c - b cells_per_bit):
//   r <= 0 and w <= b bytes_per_bit: nothing;   else one control block per ceil(return_at_cells / r) packets, or by
//   bytes likewise.
//
// Does not model: when credits arrive (the engine gives them back without a wait for a block to ride on), the rounding
// of cells of each VL to whole bits, a packet that waits for a control block on an idle wire (less than the time of one
// block), loss of control blocks.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

struct link_control_params {
    /// Of a full data block: its header has one bit for credits, one for an acknowledgement.
    std::uint32_t block_bytes = 0;
    std::uint32_t cells_per_bit = 0;       ///< that the credit bit gives back
    std::uint32_t bytes_per_bit = 0;       ///< that the acknowledgement bit stands for
    std::uint32_t control_block_bytes = 0; ///< of a block that holds counts for all VLs and an acknowledgement
    std::uint32_t cells_per_block = 0;     ///< that one control block gives back, at most
    std::uint32_t return_at_cells = 0;     ///< owed cells at which a busy wire sends a control block
    std::uint32_t return_at_bytes = 0;     ///< owed bytes, likewise
};

/// Control that goes on a wire, for who draws it.
struct sent_control {
    std::uint32_t link = 0;
    std::uint64_t start_ps = 0;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0; ///< of credits and acknowledgements; 0: a request to send again
};
class control_listener_if {
public:
    virtual void on_control(const sent_control& c) = 0;

protected:
    ~control_listener_if() = default;
};

class link_control {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    void set_params(const link_control_params& params) { params_ = params; }
    /// Of all links, in their order: the other direction of each, k_none where the fabric ends.
    void set_reverses(const std::vector<std::uint32_t>& reverses)
    {
        wires_.resize(reverses.size());
        sent_.resize(reverses.size());
        reverses_ = reverses;
    }
    bool on() const { return !wires_.empty(); }
    /// Told of everything that is sent from now on.
    void set_listener(control_listener_if& listener) { listener_ = &listener; }

    /// `packets` that came over `link` leave the buffer behind it from now on. A function of its own: fabrics without
    /// control must not pay for its registers.
    [[gnu::noinline]] void owe(std::uint32_t link, std::uint64_t now_ps, std::uint32_t cells, std::uint32_t bytes,
                               std::uint32_t packets)
    {
        const std::uint32_t reverse = reverses_[link];
        if (reverse == k_none)
            return;
        wire& w = wires_[reverse];
        if (w.busy_until_ps >= now_ps) {
            w.cells += cells;
            w.bytes += bytes;
        } else {
            const std::uint64_t left = settle(w);
            sent_[reverse].blocks += left + packets;
            if (listener_ != nullptr) {
                tell(reverse, w.busy_until_ps, left, 0);
                tell(reverse, now_ps, packets, 0);
            }
        }
    }
    /// Flits of another kind for the receiver of `link`, on the other wire: a request to send again, which it makes at
    /// `at_ps`, not before `now_ps`.
    void owe_flits(std::uint32_t link, std::uint64_t now_ps, std::uint64_t at_ps, std::uint64_t bytes)
    {
        const std::uint32_t reverse = reverses_[link];
        if (reverse == k_none || bytes == 0)
            return;
        wires_[reverse].requests += bytes;
        if (wires_[reverse].busy_until_ps < now_ps)
            send(reverse, at_ps, 0);
    }

    /// A transmission on `link` begins, and ends at `end_ps`: bytes of control that follow it on the wire.
    std::uint64_t follow(std::uint32_t link, std::uint64_t now_ps, std::uint64_t end_ps, std::uint32_t wire_bytes,
                         std::uint32_t packets)
    {
        wire& w = wires_[link];
        if ((w.cells | w.bytes | w.requests) == 0) // nor has a wire without the other direction
            return 0;
        if (w.busy_until_ps < now_ps) {
            send(link, w.busy_until_ps, settle(w));
            return 0;
        }
        const std::uint32_t of_packet = packets == 1 ? wire_bytes : wire_bytes / packets;
        const std::uint64_t data_blocks = std::uint64_t{(of_packet + params_.block_bytes - 1) / params_.block_bytes} * packets;
        const std::uint64_t cells = data_blocks * params_.cells_per_bit, bytes = data_blocks * params_.bytes_per_bit;
        w.cells -= cells < w.cells ? cells : w.cells;
        w.bytes -= bytes < w.bytes ? bytes : w.bytes;
        const bool returns = w.cells >= params_.return_at_cells || w.bytes >= params_.return_at_bytes;
        if (!returns && w.requests == 0)
            return 0;
        return send(link, end_ps, returns ? settle(w) : 0);
    }
    /// The wire is busy until then, control included.
    void set_busy(std::uint32_t link, std::uint64_t until_ps) { wires_[link].busy_until_ps = until_ps; }

    /// Bytes of control that a wire has carried, what it owes included: that goes as soon as it is idle.
    std::uint64_t bytes(std::uint32_t link) const
    {
        const wire& w = wires_[link];
        return (sent_[link].blocks + blocks_for(w)) * params_.control_block_bytes + sent_[link].request_bytes + w.requests;
    }
    /// Nothing is owed any more.
    void reset()
    {
        for (std::uint32_t link = 0; link < wires_.size(); ++link) {
            send(link, wires_[link].busy_until_ps, settle(wires_[link]));
            wires_[link].busy_until_ps = 0;
        }
    }
    std::uint64_t state_bytes() const
    {
        return wires_.capacity() * sizeof(wire) + reverses_.capacity() * sizeof(std::uint32_t) + sent_.capacity() * sizeof(sums);
    }
    /// For hints to the host's cache: what the next packet that leaves behind `link` touches.
    const void* line_behind(std::uint32_t link) const { return &wires_[reverses_[link] == k_none ? link : reverses_[link]]; }

private:
    /// What every packet touches; it never lies across two cache lines.
    struct alignas(32) wire {
        std::uint64_t busy_until_ps = 0;
        std::uint64_t cells = 0, bytes = 0; ///< owed
        std::uint64_t requests = 0;         ///< bytes of requests that are owed
    };
    struct sums {
        std::uint64_t blocks = 0; ///< control blocks sent
        std::uint64_t request_bytes = 0;
    };

    std::uint64_t blocks_for(const wire& w) const
    {
        if ((w.cells | w.bytes) == 0)
            return 0;
        return w.cells <= params_.cells_per_block ? 1 : (w.cells + params_.cells_per_block - 1) / params_.cells_per_block;
    }
    std::uint64_t settle(wire& w) const
    {
        const std::uint64_t blocks = blocks_for(w);
        w.cells = w.bytes = 0;
        return blocks;
    }
    /// So many blocks and all requests go on the wire at `at_ps`; their bytes.
    std::uint64_t send(std::uint32_t link, std::uint64_t at_ps, std::uint64_t blocks)
    {
        wire& w = wires_[link];
        const std::uint64_t requests = w.requests;
        sent_[link].blocks += blocks;
        sent_[link].request_bytes += requests;
        w.requests = 0;
        if (listener_ != nullptr)
            tell(link, at_ps, blocks, requests);
        return requests + blocks * params_.control_block_bytes;
    }
    [[gnu::noinline]] void tell(std::uint32_t link, std::uint64_t at_ps, std::uint64_t blocks, std::uint64_t requests) const
    {
        if (requests != 0)
            listener_->on_control({link, at_ps, requests, 0});
        if (blocks != 0)
            listener_->on_control({link, at_ps, blocks * params_.control_block_bytes, blocks});
    }

    link_control_params params_;
    std::vector<wire> wires_;
    std::vector<std::uint32_t> reverses_; ///< of each wire
    std::vector<sums> sent_;
    control_listener_if* listener_ = nullptr;
};

} // namespace weft
