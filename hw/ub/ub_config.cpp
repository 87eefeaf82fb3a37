// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_config.h"

#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint32_t k_link_header_bytes = 4;
constexpr std::uint32_t k_flits_per_ack_bit = 32;   // UB
constexpr std::uint32_t k_control_block_flits = 2;  // Crd_Ack: 40 B (UB)
constexpr std::uint32_t k_largest_count = 63;       // of one VL: 6 bits (UB)
constexpr std::uint32_t k_cells_per_count = 32;     // as in a public UB simulator
} // namespace

std::vector<key_rule<ub_config>> ub_config::key_rules()
{
    std::vector<key_rule<ub_config>> rules;
    for (const char* key :
         {"rtp_window", "rtp_send_buffer", "rtp_timeout", "rtp_tries", "rtp_packets_per_ack", "rtp_ack_delay"})
        rules.push_back(
            {key, "with transport: rtp", [](const ub_config& c) { return c.transport == ub_transport::rtp; }});
    for (const char* key : {"credit_bit_cells", "credit_return_at"})
        rules.push_back({key, "with control_blocks: charged",
                         [](const ub_config& c) { return c.control_blocks == ub_control_blocks::charged; }});
    rules.push_back(
        {"transmit_queue", "with transport: ctp", [](const ub_config& c) { return c.transport == ub_transport::ctp; }});
    return rules;
}

packet_format ub_config::format() const
{
    packet_format f;
    f.max_payload_bytes = static_cast<std::uint32_t>(max_payload.value());
    f.header_bytes = static_cast<std::uint32_t>(header.value() + route_header.value()) + k_link_header_bytes;
    f.flit_bytes = static_cast<std::uint32_t>(flit.value());
    f.block_flits = block_flits;
    f.cell_flits = cell_flits;
    return f;
}

std::optional<link_control_params> ub_config::control() const
{
    if (control_blocks == ub_control_blocks::free)
        return std::nullopt;
    const auto flit_bytes = static_cast<std::uint32_t>(flit.value());
    link_control_params p;
    p.block_bytes = block_flits * flit_bytes;
    p.cells_per_bit = credit_bit_cells;
    p.bytes_per_bit = k_flits_per_ack_bit * flit_bytes;
    p.control_block_bytes = k_control_block_flits * flit_bytes;
    p.cells_per_block = k_largest_count * k_cells_per_count;
    p.return_at_cells = credit_return_at;
    p.return_at_bytes = credit_return_at * cell_flits * flit_bytes;
    return p;
}

double ub_config::payload_efficiency() const
{
    return payload_share() * static_cast<double>(link_rate(1).value()) / static_cast<double>(lane_rate.value());
}

double ub_config::payload_share() const
{
    return static_cast<double>(max_payload.value()) / static_cast<double>(format().wire_bytes_of_one(max_payload.value()));
}

namespace {

/// Of a data link layer packet: 16 blocks of 32 (quoted: UB Base Specification 2.0).
constexpr std::uint64_t k_most_flits = 512;

} // namespace

std::vector<config_problem> ub_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    for (const config_problem& found : p) // what is out of its range is not computed with
        for (const char* used : {"flit", "block_flits", "cell_flits", "header", "route_header", "max_payload"})
            if (found.key == used)
                return p;
    if (std::string why = format().no_room_for_one(buffer_per_vl); !why.empty())
        p.push_back({severity::error, "buffer_per_vl", std::move(why)});
    if (const std::uint64_t flits = format().flits_of_one(max_payload.value()); flits > k_most_flits) {
        std::uint64_t fits = max_payload.value();
        while (fits > 4 && format().flits_of_one(fits) > k_most_flits)
            fits -= 4;
        const std::string remedy = format().flits_of_one(fits) > k_most_flits ? "Write a longer flit or shorter headers." : fmt::format("Write {} B or less.", fits);
        p.push_back({severity::error, "max_payload", fmt::format("makes packets of {} flits, but a data packet of UB has {} at most. {}", flits, k_most_flits, remedy)});
    }
    return p;
}

} // namespace weft
