// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/invariants.h"

#include "platforms/workload/link_failure_report.h"

namespace weft {

void check_invariants(machine& m)
{
    const std::string leak = m.pool().leak_report();
    if (!leak.empty() && !link_failure_holds_packets(m)) // what waits for a link that is down is told as a warning
        throw bug("packet_pool", m.time().now_ps(), leak);
    for (const component* c : m.time().components())
        if (const std::string audit = c->audit(); !audit.empty())
            throw bug(c->stat_prefix(), m.time().now_ps(), audit);
}

} // namespace weft
