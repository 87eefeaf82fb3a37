// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory slices of a CCU: bytes, the rate of the SRAM, and whose a slice is at the moment.
//
// Timing of an access of n bytes at t: start = max(t, busy until); busy until = start + n / rate. Reads and writes have
// a port each.
#pragma once

#include "hw/ccu/ccu_config.h"
#include "tlm/busy_time.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class ccu_slices {
public:
    static constexpr std::uint32_t k_nobody = 0xffff'ffff;

    explicit ccu_slices(const ccu_config& config) : rate_(config.sram_rate), bytes_(config.slices), users_(config.slices) {}

    std::uint32_t count() const { return static_cast<std::uint32_t>(users_.size()); }
    std::uint64_t read(std::uint64_t at_ps, std::uint64_t bytes) { return reads_.serve(at_ps, rate_.time_ps(bytes)); }
    std::uint64_t write(std::uint64_t at_ps, std::uint64_t bytes) { return writes_.serve(at_ps, rate_.time_ps(bytes)); }
    const busy_time& reads() const { return reads_; }
    const busy_time& writes() const { return writes_; }

    /// Its 4 KiB, made when first asked for.
    std::uint8_t* bytes_of(std::uint32_t slice)
    {
        if (bytes_[slice] == nullptr)
            bytes_[slice] = std::make_unique<std::uint8_t[]>(abi::ccu::k_slice_bytes);
        return bytes_[slice].get();
    }

    /// An operation of `task` uses it from now on; false: it is another task's. What a task has used stays its own
    /// until the task and its last operation have ended: between two operations the slice holds its data.
    bool begin(std::uint32_t slice, std::uint32_t task)
    {
        user& u = users_[slice];
        if (u.task != task && (u.held || u.operations != 0))
            return false;
        u.task = task;
        u.held = true;
        ++u.operations;
        return true;
    }
    void end(std::uint32_t slice) { --users_[slice].operations; }
    void task_ended(std::uint32_t task)
    {
        for (user& u : users_)
            if (u.task == task)
                u.held = false;
    }

    void reset()
    {
        std::fill(users_.begin(), users_.end(), user{});
        for (auto& b : bytes_)
            b.reset();
    }

private:
    struct user {
        std::uint32_t task = k_nobody;
        std::uint32_t operations = 0;
        bool held = false;
    };
    wire_rate rate_;
    busy_time reads_, writes_;
    std::vector<std::unique_ptr<std::uint8_t[]>> bytes_;
    std::vector<user> users_;
};

} // namespace weft
