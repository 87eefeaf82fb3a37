// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffer of one VL at the receiving end of a link: a FIFO of packets, linked in their pool, so that an empty one costs
// eight bytes. Its space is the sender's business: credits (credit.h) bound what can be in it. Plain C++.
#pragma once

#include "tlm/packet.h"

namespace weft {

class vl_buffer {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    bool empty() const { return head_ == k_none; }
    std::uint32_t front() const { return head_; } ///< pool index of the head, k_none when empty
    void push(packet_pool& pool, const packet& p)
    {
        pool.next(p.index) = k_none;
        if (head_ == k_none)
            head_ = p.index;
        else
            pool.next(tail_) = p.index;
        tail_ = p.index;
    }
    /// Takes out the head, which must be `p`.
    void pop(packet_pool& pool, const packet& p) { head_ = pool.next(p.index); }

private:
    std::uint32_t head_ = k_none;
    std::uint32_t tail_ = k_none; ///< meaningless while empty
};

} // namespace weft
