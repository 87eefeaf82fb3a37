// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// When messages are complete on a fabric that lets packets overtake each other (order at the target): a message counts when all its
// packets are in memory and every earlier message of the same source to the same semaphore has counted. Plain C++.
#pragma once

#include "tlm/flat_index.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// Sender: numbers of the messages to each (destination, semaphore).
class message_numbers {
public:
    std::uint32_t next(std::uint32_t destination, std::uint32_t semaphore)
    {
        const std::uint32_t i = index_.insert(std::uint64_t{destination} << 32 | semaphore);
        if (i == next_.size())
            next_.push_back(0);
        return next_[i]++;
    }

private:
    flat_index index_;
    std::vector<std::uint32_t> next_;
};

/// Receiver.
class message_order {
public:
    /// `packets` of the `of_packets` of message `number` are in memory at `done_ps`. complete(at_ps) for each message that counts
    /// through that, in order, at_ps never falling for one source and semaphore.
    template <class Complete>
    void arrived(std::uint32_t source, std::uint32_t semaphore, std::uint32_t number, std::uint32_t packets,
                 std::uint32_t of_packets, std::uint64_t done_ps, Complete&& complete)
    {
        const std::uint32_t i = index_.insert(std::uint64_t{source} << 32 | semaphore);
        if (i == streams_.size())
            streams_.emplace_back();
        stream& s = streams_[i];
        const std::uint32_t ahead = number - s.next;
        if (ahead >= s.open.size())
            s.open.resize(ahead + 1);
        message& m = s.open[ahead];
        m.arrived += packets;
        m.of = of_packets;
        m.done_ps = std::max(m.done_ps, done_ps);
        std::size_t counted = 0;
        while (counted < s.open.size() && s.open[counted].of != 0 && s.open[counted].arrived == s.open[counted].of) {
            s.last_ps = std::max(s.last_ps, s.open[counted].done_ps);
            complete(s.last_ps);
            ++counted;
        }
        s.open.erase(s.open.begin(), s.open.begin() + static_cast<std::ptrdiff_t>(counted));
        s.next += static_cast<std::uint32_t>(counted);
    }
    /// Messages of which something has arrived and that do not count yet.
    std::size_t open() const
    {
        std::size_t n = 0;
        for (const stream& s : streams_)
            for (const message& m : s.open)
                n += m.of != 0 ? 1 : 0;
        return n;
    }

private:
    struct message {
        std::uint32_t arrived = 0; ///< packets
        std::uint32_t of = 0;      ///< 0: nothing has come
        std::uint64_t done_ps = 0;
    };
    struct stream {
        std::uint32_t next = 0;    ///< number of the oldest message that does not count yet
        std::uint64_t last_ps = 0; ///< when the newest one that does, did
        std::vector<message> open; ///< from `next` on
    };
    flat_index index_;
    std::vector<stream> streams_;
};

} // namespace weft
