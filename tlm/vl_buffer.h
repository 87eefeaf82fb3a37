// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffer of one VL at the receiving end of a link: a FIFO of packets, linked in their pool, so that an empty one costs
// twelve bytes. Its space is the sender's business: credits (credit.h) bound what can be in it. Plain C++.
#pragma once

#include "tlm/packet.h"

namespace weft {

class vl_buffer {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    bool empty() const { return head_ == k_none; }
    std::uint32_t front() const { return head_; } ///< pool index of the head, k_none when empty
    std::uint32_t front_source() const { return head_source_; } ///< rank that the head comes from; while not empty
    void push(packet_pool& pool, const packet& p)
    {
        pool.next(p.index) = {k_none, 0};
        if (head_ == k_none) {
            head_ = p.index;
            head_source_ = p.source;
        } else {
            pool.next(tail_) = {p.index, p.source};
        }
        tail_ = p.index;
    }
    /// Takes out the head, which must be `p`.
    void pop(packet_pool& pool, const packet& p)
    {
        const packet_pool::successor next = pool.next(p.index);
        head_ = next.index;
        head_source_ = next.source;
    }

private:
    std::uint32_t head_ = k_none;
    std::uint32_t head_source_ = 0; ///< beside it: an output asks for it more often than for the rest of the packet
    std::uint32_t tail_ = k_none; ///< meaningless while empty
};

} // namespace weft
