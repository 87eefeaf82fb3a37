// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffer of one VL at the receiving end of a link: a FIFO of packets, linked through the packets themselves, so that an empty
// one costs eight bytes. Its space is the sender's business: credits (credit.h) bound what can be in it. Plain C++.
#pragma once

#include "tlm/packet.h"

namespace weft {

class vl_buffer {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    bool empty() const { return head_ == k_none; }
    std::uint32_t front() const { return head_; } ///< pool index of the head, k_none when empty
    void push(packet_pool& pool, packet& p)
    {
        p.next = k_none;
        if (head_ == k_none)
            head_ = p.index;
        else
            pool.at(tail_).next = p.index;
        tail_ = p.index;
    }
    /// Takes out the head, which must be `p`.
    void pop(const packet& p) { head_ = p.next; }

private:
    std::uint32_t head_ = k_none;
    std::uint32_t tail_ = k_none; ///< meaningless while empty
};

} // namespace weft
