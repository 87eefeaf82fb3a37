// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// dcn_port: the DCN side of a NIC, as the memory behind its bulk_mover: what is written goes out, what is read comes
// in. Beyond it lies storage that all NICs reach and that is never slower than they are.
//
// Models: a rate for each direction, a latency to the storage, the contents. Nothing is lost: what the rate does not
// take yet stays in the receive buffer of the NIC, and its credits stop the fabric. Does not model: frames, switches
// and congestion of the DCN.
//
// Timing of n bytes that come at t, each direction by itself:  busy until = max(t, busy until) + n / rate; in the
// storage, or here, `latency` later.
#pragma once

#include "tlm/component.h"
#include "tlm/config_fields.h"
#include "tlm/mem_socket.h"
#include "tlm/timeline.h"
#include "tlm/units.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct dcn_config {
    static constexpr config_part k_part = config_part::nic;
    static constexpr data_size k_largest_buffer = data_size(1 << 30);

    bandwidth rate = bandwidth(400'000'000'000);
    duration latency = duration(5'000'000);
    data_size buffer = data_size(1 << 20);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("dcn_rate", self.rate, "Rate of a NIC to and from the DCN, payload, each direction", assumed("400 Gb/s a NIC; the paper gives none"),
              between(bandwidth(1'000'000), bandwidth(100'000'000'000'000)).because("; write for example \"400 Gbps\""));
        visit("dcn_latency", self.latency, "Through the DCN to the storage, one way", assumed("5 us"), at_most(duration(1'000'000'000'000)));
        visit("buffer", self.buffer,
              "Of a NIC, for each direction, and for each VL of what comes from the fabric: what the DCN does not take yet waits here, and then on the links. "
              "A load reads as much ahead: with less than dcn_rate x dcn_latency the DCN waits",
              assumed("1 MiB: more than dcn_rate x dcn_latency"), between(data_size(2 << 10), k_largest_buffer));
    }
    std::vector<config_problem> validate() const { return limit_problems(*this); }
};

class dcn_port final : public memory_if, public component {
public:
    /// `storage`: contents alone, without time of its own; it outlives the port.
    dcn_port(timeline& time, const dcn_config& config, memory_if& storage, std::string name);

    std::uint64_t charge(std::uint64_t at_ps, std::uint64_t offset, std::uint64_t bytes, access kind) override;
    std::uint8_t* span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) override
    {
        return storage_.span_for_write(offset, bytes, got_bytes);
    }
    const std::uint8_t* span_for_read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) const override
    {
        return storage_.span_for_read(offset, bytes, got_bytes);
    }
    std::uint64_t capacity_bytes() const override { return storage_.capacity_bytes(); }
    std::uint64_t latency_ps() const override { return latency_ps_; }

    bool settled(std::uint64_t now_ps) override { return out_.until_ps <= now_ps && in_.until_ps <= now_ps; }
    std::string stat_prefix() const override { return "dcn"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    const std::string& name() const { return name_; }
    /// When the last byte that it has been given will be in its place.
    std::uint64_t in_place_ps() const { return std::max(out_.until_ps, in_.until_ps) + latency_ps_; }
    std::uint64_t busy_ps() const { return out_.busy.value() + in_.busy.value(); }

    stat_group stats;

private:
    struct direction {
        std::uint64_t until_ps = 0;
        counter bytes;
        accumulated_time busy;
    };
    wire_rate rate_;
    std::uint64_t latency_ps_;
    memory_if& storage_;
    std::string name_;
    direction out_, in_;
};

} // namespace weft
