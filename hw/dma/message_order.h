// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// When messages are complete on a fabric that lets packets overtake each other (order at the target): a message counts
// when all its packets are in memory and every earlier message of the same source to the same semaphore has counted.
// Plain C++.
#pragma once

#include "tlm/flat_index.h"
#include "tlm/cache_hints.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// Index of messages: those of neighbouring ranks to one semaphore lie side by side.
constexpr std::uint64_t message_key(std::uint32_t rank, std::uint32_t semaphore)
{
    return std::uint64_t{semaphore} << 32 | rank;
}

/// Sender: numbers of the messages to each (destination, semaphore).
class message_numbers {
public:
    std::uint32_t next(std::uint32_t destination, std::uint32_t semaphore)
    {
        const std::uint32_t i = index_.insert(message_key(destination, semaphore));
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
    /// `packets` of the `of_packets` of message `number` are in memory at `done_ps`. complete(at_ps) for each message
    /// that counts through that, in order, at_ps never falling for one source and semaphore.
    template <class Complete>
    void arrived(std::uint32_t source, std::uint32_t semaphore, std::uint32_t number, std::uint32_t packets,
                 std::uint32_t of_packets, std::uint64_t done_ps, Complete&& complete)
    {
        const std::uint32_t i = index_.insert(message_key(source, semaphore));
        if (i == streams_.size())
            streams_.emplace_back();
        stream& s = streams_[i];
        const std::uint32_t ahead = number - s.next;
        if (ahead > s.later.size())
            s.later.resize(ahead);
        message& m = ahead == 0 ? s.oldest : s.later[ahead - 1];
        m.arrived += packets;
        m.of = of_packets;
        m.done_ps = std::max(m.done_ps, done_ps);
        while (s.oldest.of != 0 && s.oldest.arrived == s.oldest.of) {
            s.last_ps = std::max(s.last_ps, s.oldest.done_ps);
            complete(s.last_ps);
            ++s.next;
            s.oldest = {};
            if (!s.later.empty()) {
                s.oldest = s.later.front();
                s.later.erase(s.later.begin());
            }
        }
    }
    /// Brings into the cache what arrived() for this source and semaphore will touch.
    void bring_near(std::uint32_t source, std::uint32_t semaphore) const
    {
        const std::uint32_t i = index_.find(message_key(source, semaphore));
        if (i != flat_index::k_none)
            fetch_line(&streams_[i]);
    }
    /// Messages of which something has arrived and that do not count yet.
    std::size_t open() const
    {
        std::size_t n = 0;
        for (const stream& s : streams_) {
            n += s.oldest.of != 0 ? 1 : 0;
            for (const message& m : s.later)
                n += m.of != 0 ? 1 : 0;
        }
        return n;
    }

private:
    struct message {
        std::uint32_t arrived = 0; ///< packets
        std::uint32_t of = 0;      ///< 0: nothing has come
        std::uint64_t done_ps = 0;
    };
    struct alignas(64) stream {
        std::uint32_t next = 0;     ///< number of the oldest message that does not count yet
        message oldest;             ///< that one
        std::uint64_t last_ps = 0;  ///< when the newest one that does, did
        std::vector<message> later; ///< from `next` + 1 on
    };
    flat_index index_;
    std::vector<stream> streams_;
};

} // namespace weft
