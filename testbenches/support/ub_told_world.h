// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A UB-Mesh machine without chips whose devices send notices of what fails.
#pragma once

#include "hw/ub/ub_notices.h"
#include "testbenches/support/ub_patterns.h"

namespace weft::testing {

struct ub_told_world : private link_listener_if {
    timeline time;
    packet_pool pool;
    ub_config config;
    ub_notice_config faults;
    std::vector<bool> down;
    ub_fabric fabric;
    ub_traffic traffic;
    std::unique_ptr<ub_notices> notices; ///< none with notification: none

    ub_told_world(const ub_ways& ways, const ub_config& c, const ub_notice_config& f, ub_load load = {})
        : time("timeline"), config(c), faults(f),
          fabric("ub", time, pool, ways.plan, config, 1, f.notification != ub_notification::none),
          traffic("traffic", time, pool, fabric, config, std::move(load))
    {
        time.set_run_ahead(true);
        if (f.notification == ub_notification::none)
            return;
        notices = std::make_unique<ub_notices>(fabric, time, config, faults, down, false);
        fabric.set_link_listener(this);
        fabric.set_fall_back_listener(notices.get());
    }
    /// All links of the part fail, and the ends will tell `affected`.
    void fail(const ub_failed_part& part, std::uint64_t at_ps, const std::vector<std::uint32_t>& affected,
              std::uint64_t until_ps = k_never_ps)
    {
        for (const std::uint32_t l : part.links(fabric.plan())) {
            fabric.fail_link_at(l, at_ps);
            if (until_ps != k_never_ps)
                fabric.restore_link_at(l, until_ps);
        }
        notices->expect(part, at_ps, until_ps, affected);
    }
    std::uint64_t wire_bytes() const
    {
        std::uint64_t bytes = 0;
        for (std::uint32_t l = 0; l < fabric.plan().links.size(); ++l)
            bytes += fabric.engine().link_wire_bytes(fabric.link_of(l));
        return bytes;
    }
    /// What is wrong after a run, but for packets that were not delivered.
    std::string complaint()
    {
        std::string text = fabric.engine().audit() + pool.leak_report();
        if (fabric.engine().packets_inside() != 0)
            text += fabric.engine().describe_blocked(4);
        return fabric.idle() ? text : text + "not idle: " + fabric.blocked_on(4);
    }

private:
    void link_down(std::uint32_t link, std::uint64_t) override { notices->link_down(fabric.plan_link_of(link)); }
    void link_up(std::uint32_t link, std::uint64_t) override { notices->link_up(fabric.plan_link_of(link)); }
};

inline std::vector<std::uint32_t> everybody_in(const ub_ways& ways)
{
    std::vector<std::uint32_t> all(ways.topology->endpoints());
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

} // namespace weft::testing
