// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a chip that shares the rate of another one's HBM: ranks of a device around one stack. Capacity, contents
// and statistics are its own; its accesses wait in line with those of all that share.
//
// Timing: as HBM, with the server of the first one and the latency of this one.
#pragma once

#include "hw/memory/hbm.h"

namespace weft {

class hbm_beside final : public hbm {
public:
    /// `first` outlives it; it is no hbm_beside itself. Of `config` the rate has no effect.
    hbm_beside(const sc_core::sc_module_name& name, const hbm_config& config, hbm& first)
        : hbm(name, config), first_(first)
    {
    }

    std::uint64_t charge(std::uint64_t at_ps, std::uint64_t, std::uint64_t bytes, access kind) override
    {
        if (kind != access::write)
            bytes_read.add(bytes);
        if (kind != access::read)
            bytes_written.add(bytes);
        const std::uint64_t busy_before_ps = first_.busy_time.value();
        const std::uint64_t moved_ps = first_.serve(at_ps, kind == access::read_modify_write ? 2 * bytes : bytes);
        const std::uint64_t took_ps = first_.busy_time.value() - busy_before_ps;
        busy_time.add_ps(took_ps);
        if (kind == access::read_modify_write)
            reduce_time.add_ps(took_ps);
        return moved_ps + latency_ps();
    }
    bool settled(std::uint64_t now_ps) override { return first_.settled(now_ps); }
    /// The whole stack is busy, whoever's bytes move.
    work_load spent_on(work_kind kind, std::uint64_t now_ps) const override
    {
        return kind == work_kind::memory ? first_.spent_on(kind, now_ps) : hbm::spent_on(kind, now_ps);
    }

private:
    hbm& first_;
};

} // namespace weft
