// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The way of a reader to a memory that is not beside it: another stack of its chip, over a fabric that several readers
// share.
//
// Timing of an access of n bytes that arrives at t:
//   the memory serves it as one of its own; the shared fabric, in the order of arrival, takes n / rate; the later one
//   of both, and `latency` more
// Reads have the data wires of the fabric for themselves, as on a bus with separate channels for reads and writes:
// packets do not slow them down.
#pragma once

#include "tlm/mem_socket.h"
#include "tlm/units.h"

#include <algorithm>
#include <cstdint>
#include <systemc>

namespace weft {

/// One direction of a fabric between parts of a chip.
class shared_wires {
public:
    explicit shared_wires(bandwidth rate) : rate_(rate) {}
    /// `bytes` that ask at `at_ps`; when the last one has crossed.
    std::uint64_t take(std::uint64_t at_ps, std::uint64_t bytes)
    {
        busy_until_ps_ = std::max(busy_until_ps_, at_ps) + rate_.time_ps(bytes);
        moved_bytes_ += bytes;
        return busy_until_ps_;
    }
    std::uint64_t moved_bytes() const { return moved_bytes_; }

private:
    wire_rate rate_;
    std::uint64_t busy_until_ps_ = 0;
    std::uint64_t moved_bytes_ = 0;
};

class memory_path final : public memory_if {
public:
    /// `wires`: nullptr: none are shared. Both outlive it.
    memory_path(memory_if& memory, duration latency, shared_wires* wires = nullptr)
        : memory_(memory), latency_ps_(latency.value()), wires_(wires)
    {
    }
    std::uint64_t charge(std::uint64_t at_ps, std::uint64_t offset, std::uint64_t bytes, access kind) override
    {
        std::uint64_t done_ps = memory_.charge(at_ps, offset, bytes, kind);
        if (wires_ != nullptr)
            done_ps = std::max(done_ps, wires_->take(at_ps, bytes));
        return done_ps + latency_ps_;
    }
    std::uint8_t* span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) override
    {
        return memory_.span_for_write(offset, bytes, got_bytes);
    }
    const std::uint8_t* span_for_read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) const override
    {
        return memory_.span_for_read(offset, bytes, got_bytes);
    }
    std::uint64_t capacity_bytes() const override { return memory_.capacity_bytes(); }
    std::uint64_t latency_ps() const override { return memory_.latency_ps() + latency_ps_; }

private:
    memory_if& memory_;
    std::uint64_t latency_ps_;
    shared_wires* wires_;
};

} // namespace weft
