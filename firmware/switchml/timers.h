// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One retransmission timer per slot, in the circular order of sending: all run equally long, so the one that was
// started first ends first, and a list is enough. start(), stop() and oldest() take a few loads and stores.
#pragma once

#include <cstdint>

namespace weft::firmware {

template <std::uint32_t Most> class send_timers {
public:
    send_timers() { next_[Most] = previous_[Most] = Most; }

    /// Starts the timer of `slot` anew, which must be stopped. `now_ns` never falls.
    void start(std::uint32_t slot, std::uint64_t now_ns)
    {
        const std::uint16_t last = previous_[Most];
        started_ns_[slot] = now_ns;
        previous_[slot] = last;
        next_[slot] = Most;
        next_[last] = previous_[Most] = static_cast<std::uint16_t>(slot);
    }
    void stop(std::uint32_t slot)
    {
        next_[previous_[slot]] = next_[slot];
        previous_[next_[slot]] = previous_[slot];
    }
    bool none() const { return next_[Most] == Most; }
    std::uint32_t oldest() const { return next_[Most]; }
    std::uint64_t started_ns(std::uint32_t slot) const { return started_ns_[slot]; }

private:
    // The last element ties both ends together. Elements of slots that never started are never read.
    std::uint16_t next_[Most + 1];
    std::uint16_t previous_[Most + 1];
    std::uint64_t started_ns_[Most];
};

/// How long a timer runs: the P4 client's back-off (quoted) as an option.
class retransmission_timeout {
public:
    retransmission_timeout(std::uint64_t timeout_ns, std::uint32_t backoff_after)
        : timeout_ns_(timeout_ns), step_(backoff_after), left_(backoff_after)
    {
    }
    std::uint64_t ns() const { return timeout_ns_; }
    std::uint32_t count() const { return count_; }
    void on_timeout()
    {
        ++count_;
        if (step_ == 0 || --left_ != 0)
            return;
        if (timeout_ns_ < 1ull << 62)
            timeout_ns_ *= 2;
        multiple_ += 1;
        left_ = step_ * multiple_;
    }

private:
    std::uint64_t timeout_ns_;
    std::uint32_t step_;
    std::uint32_t left_;
    std::uint32_t multiple_ = 1;
    std::uint32_t count_ = 0;
};

} // namespace weft::firmware
