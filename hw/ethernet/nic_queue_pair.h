// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One RDMA queue pair (RoCE v2 unreliable connected): sequence numbers of what it sends, which answers its writes
// expect, and the message that it receives. Plain C++, without time or memory.
#pragma once

#include "hw/abi/switchml.h"
#include "hw/ethernet/nic_convert.h"

#include <cstdint>

namespace weft {

class nic_queue_pair {
public:
    // Sending

    /// PSN of the next packet.
    std::uint32_t take_send_psn()
    {
        const std::uint32_t psn = send_psn_;
        send_psn_ = (psn + 1) & abi::switchml::k_psn_mask;
        return psn;
    }
    void set_send_psn(std::uint32_t psn) { send_psn_ = psn; }
    /// A write of `queue` begins; from now on an answer may come to `address`, to be converted so. The one before stays
    /// expected; the same address again is the same answer.
    void expect(std::uint32_t queue, std::uint64_t address, const nic_conversion& conversion)
    {
        queue_ = queue;
        if (!latest_.set || latest_.address != address)
            before_ = latest_;
        latest_ = {address, conversion, true};
    }
    std::uint32_t queue() const { return queue_; } ///< of the last write

    // Receiving

    /// A message begins. False: it is for an address whose scale is forgotten, and is dropped.
    bool begin(const abi::switchml::reth& reth)
    {
        address_ = reth.address;
        left_bytes_ = reth.length;
        const bool known_before = before_.set && before_.address == reth.address;
        const bool known = latest_.set && latest_.address == reth.address;
        conversion_ = (!known && known_before ? before_ : latest_).conversion;
        receiving_ = known || known_before || conversion_.format != abi::nic_format::quantised;
        return receiving_;
    }
    /// Whether packet `psn` is the next one of the message.
    bool continues(std::uint32_t psn) const { return receiving_ && psn == next_psn_; }
    /// Whether `payload` bytes more are within the message, its whole rest if the packet `ends` it, and whole words if
    /// they are converted.
    bool fits(std::uint64_t payload, bool ends) const
    {
        const bool words = conversion_.format == abi::nic_format::as_is || ((payload | address_) & 3) == 0;
        return payload <= left_bytes_ && (!ends || payload == left_bytes_) && words;
    }
    void saw(std::uint32_t psn) { next_psn_ = (psn + 1) & abi::switchml::k_psn_mask; }
    void took(std::uint64_t payload)
    {
        address_ += payload;
        left_bytes_ -= payload;
    }
    /// The last packet of the message has come; whole() when nothing of it is missing.
    void end() { receiving_ = false; }
    void whole() { broken_ = 0; }
    /// True: a message was under way, and is given up.
    bool give_up()
    {
        const bool was = receiving_;
        broken_ += was ? 1 : 0;
        receiving_ = false;
        return was;
    }

    bool receiving() const { return receiving_; }
    std::uint32_t next_psn() const { return next_psn_; }
    std::uint64_t address() const { return address_; } ///< where the next byte goes
    std::uint64_t left_bytes() const { return left_bytes_; }
    const nic_conversion& conversion() const { return conversion_; } ///< of the message being received
    std::uint32_t broken() const { return broken_; }                 ///< messages given up since the last whole one

private:
    /// What a write expects of its answer.
    struct expected_answer {
        std::uint64_t address = 0;
        nic_conversion conversion;
        bool set = false;
    };

    std::uint32_t send_psn_ = 0;
    std::uint32_t next_psn_ = 0;
    std::uint32_t queue_ = 0;
    bool receiving_ = false;
    std::uint32_t broken_ = 0;
    std::uint64_t address_ = 0;
    std::uint64_t left_bytes_ = 0;
    nic_conversion conversion_;
    expected_answer latest_;
    expected_answer before_;
};

} // namespace weft
