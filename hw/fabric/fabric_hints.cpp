// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints of the fabric engine to the host's cache: what an arrival and a wake of an output will touch.
#include "hw/fabric/fabric_engine.h"

namespace weft {

void fabric_engine::announce(std::uint32_t a, std::uint8_t kind, int stage) const
{
    if (kind == k_arrival) {
        const packet& p = pool_.at(a);
        if (stage == 0) {
            fetch_line(&p);
            return;
        }
        const std::uint32_t qi = queue_of(p.link, p.vl);
        fetch_lines(&links_[p.out_link], sizeof(link_state));
        fetch_line(&links_[p.link]); // its rate
        fetch_line(&queues_[qi]);
        fetch_line(&queues_[queue_of(p.out_link, p.out_vl)]);
        fetch_line(voq_ ? static_cast<const void*>(&voqs_[p.fifo]) : &buffers_[qi]);
        if (control_.on())
            fetch_line(control_.line_behind(p.link));
        if (arbiter_.counts_turns()) {
            fetch_line(arbiter_.turns_of(p.out_link));
            if (voq_)
                fetch_line(arbiter_.share_at(p.fifo));
        }
    } else if (kind == k_wake) {
        const link_state& l = links_[a];
        if (stage == 0) {
            fetch_lines(&l, sizeof l);
        } else if (!voq_) {
            fetch_line(l.feeding != k_none ? static_cast<const void*>(&buffers_[l.feeding]) : arbiter_.waiters_of(l));
        } else if (l.waiters > 0) {
            fetch_line(&pool_.at(l.expected));
            fetch_line(&pool_.next(l.expected));
            fetch_line(arbiter_.waiters_of(l, l.expected_bit));
            fetch_line(&voqs_[voq_of(l, l.expected_bit)]);
            if (arbiter_.counts_turns()) {
                fetch_line(arbiter_.turns_of(a));
                // All are compared.
                arbiter_.each(l, [&](std::uint32_t bit) { fetch_line(arbiter_.share_at(voq_of(l, bit))); });
            }
            if (l.has_entries)
                fetch_line(arbiter_.entries_of(l));
            fetch_line(&queues_[queue_of_bit(l.router, l.expected_bit)]);
        }
    }
}

} // namespace weft
