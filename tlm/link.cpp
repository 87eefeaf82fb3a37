// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/link.h"

#include <algorithm>

namespace weft {

void corrupt(packet& p)
{
    p.flags = static_cast<std::uint8_t>(p.flags | k_corrupted);
    if (p.payload != nullptr && p.payload_bytes > 0)
        p.payload[0] = static_cast<std::uint8_t>(p.payload[0] ^ 1u);
}

link::link(const sc_core::sc_module_name& name, std::uint32_t vl_count, duration propagation)
    : sc_core::sc_module(name), in("in", vl_count), out("out", vl_count), propagation_ps_(propagation.value())
{
    in.bind(static_cast<link_fw_if&>(*this));
    out.bind(static_cast<link_bw_if&>(*this));
}

void link::send(packet_ptr p, std::uint64_t delay_ps)
{
    packets_ += p->packet_count;
    std::uint64_t delay = delay_ps + propagation_ps_;
    if (hook_ != nullptr) {
        const std::uint64_t now = sc_core::sc_time_stamp().value();
        const link_verdict verdict = hook_->on_packet(now, *p);
        if (verdict.drop) {
            dropped_ += p->packet_count;
            credit(p->vl, p->cells, delay + p->serialisation_ps);
            return;
        }
        if (verdict.corrupt)
            corrupt(*p);
        const std::uint64_t arrival = std::max(last_tail_ps_, now + delay + verdict.extra_delay_ps);
        last_tail_ps_ = arrival + p->serialisation_ps;
        delay = arrival - now;
    }
    out->send(std::move(p), delay);
}

void link::credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps)
{
    in->credit(vl, cells, delay_ps + propagation_ps_);
}

} // namespace weft
