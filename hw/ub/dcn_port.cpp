// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/dcn_port.h"

#include <algorithm>

namespace weft {

dcn_port::dcn_port(timeline& time, const dcn_config& config, memory_if& storage, std::string name)
    : stats(name), rate_(config.rate), latency_ps_(config.latency.value()), storage_(storage), name_(std::move(name))
{
    stats.add("bytes_out", "B", "Payload to the DCN", out_.bytes);
    stats.add("bytes_in", "B", "Payload from the DCN", in_.bytes);
    stats.add("busy_out", "ps", "Time that the way to the DCN was in use", out_.busy);
    stats.add("busy_in", "ps", "Time that the way from the DCN was in use", in_.busy);
    time.components().add(*this);
}

std::uint64_t dcn_port::charge(std::uint64_t at_ps, std::uint64_t, std::uint64_t bytes, access kind)
{
    direction& d = kind == access::read ? in_ : out_;
    const std::uint64_t takes_ps = rate_.time_ps(bytes);
    d.until_ps = std::max(d.until_ps, at_ps) + takes_ps;
    d.bytes.add(bytes);
    d.busy.add_ps(takes_ps);
    return d.until_ps + latency_ps_;
}

} // namespace weft
