// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/switchml_parser.h"

namespace weft {

namespace sml = abi::switchml;

namespace {

constexpr std::uint32_t wire_overhead = 24; // frame check sequence, preamble and gap

drop_reason parse_udp(const std::uint8_t* bytes, std::uint32_t ip_bytes, std::uint64_t carried, switchml_packet& to)
{
    if (carried < sml::k_udp_headers)
        return drop_reason::truncated;
    to.rdma = false;
    to.last_of_message = true;
    to.header = sml::decode(bytes + sml::k_header);
    to.header_bytes = sml::k_udp_headers;
    if (to.header.size_code != sml::k_size_64_words && to.header.size_code != sml::k_size_256_words)
        return drop_reason::size_code;
    to.size = static_cast<packet_size>(to.header.size_code);
    to.words = to.size == packet_size::words64 ? 64 : 256;
    return ip_bytes == sml::k_udp_headers - sml::k_ip + 4 * to.words ? drop_reason::none : drop_reason::wrong_length;
}

drop_reason parse_roce(const std::uint8_t* bytes, std::uint32_t ip_bytes, std::uint64_t carried, switchml_packet& to)
{
    if (carried < sml::k_header + sml::k_bth_bytes)
        return drop_reason::truncated;
    to.rdma = true;
    to.bth = sml::decode_bth(bytes + sml::k_header);
    if (to.bth.op < sml::opcode::write_first || to.bth.op > sml::opcode::write_only_immediate)
        return drop_reason::rdma_opcode;
    to.header_bytes = sml::roce_headers(to.bth.op);
    if (carried < to.header_bytes)
        return drop_reason::truncated;
    to.last_of_message = sml::ends_message(to.bth.op);
    const std::uint8_t* next = bytes + sml::k_header + sml::k_bth_bytes;
    to.reth = {};
    if (sml::begins_message(to.bth.op)) {
        to.reth = sml::decode_reth(next);
        next += sml::k_reth_bytes;
    }
    const std::uint32_t immediate = sml::has_immediate(to.bth.op) ? sml::get32(next) : 0;
    to.message = immediate >> 16;
    to.header.exponent0 = static_cast<std::int8_t>(immediate >> 8);
    to.header.exponent1 = static_cast<std::int8_t>(immediate);
    const std::uint32_t others = to.header_bytes - sml::k_ip + sml::k_icrc_bytes;
    if (ip_bytes != others + 4 * 64 && ip_bytes != others + 4 * 256)
        return drop_reason::wrong_length;
    to.words = (ip_bytes - others) / 4;
    to.size = to.words == 64 ? packet_size::words64 : packet_size::words256;
    return drop_reason::none;
}

} // namespace

drop_reason parse_switchml(const packet& frame, switchml_packet& to)
{
    const std::uint8_t* bytes = frame.payload;
    if (sml::get16(bytes + 12) != sml::k_ether_type_ipv4)
        return drop_reason::not_switchml;
    if (frame.payload_bytes < sml::k_header)
        return drop_reason::truncated;
    const std::uint8_t* ip = bytes + sml::k_ip;
    if (ip[0] != 0x45 || ip[9] != sml::k_protocol_udp || (sml::get16(ip + 6) & 0x3fff) != 0)
        return drop_reason::not_switchml; // options, other protocols, fragments
    if (sml::internet_checksum(ip, 20) != 0)
        return drop_reason::bad_ip_checksum;
    const std::uint32_t ip_bytes = sml::get16(ip + 2);
    if (frame.wire_bytes < sml::k_ip + ip_bytes + wire_overhead)
        return drop_reason::truncated;
    to.source_mac = sml::get48(bytes + 6);
    to.source_ip = sml::get32(ip + 12);
    to.source_port = static_cast<std::uint16_t>(sml::get16(bytes + sml::k_udp));
    to.destination_port = static_cast<std::uint16_t>(sml::get16(bytes + sml::k_udp + 2));
    drop_reason verdict = drop_reason::not_switchml;
    to.request = (to.destination_port & sml::k_udp_port_mask) == sml::k_udp_port_base;
    if (to.request || (to.source_port & sml::k_udp_port_mask) == sml::k_udp_port_base)
        verdict = parse_udp(bytes, ip_bytes, frame.payload_bytes, to);
    else if (to.destination_port == sml::k_udp_port_roce)
        verdict = parse_roce(bytes, ip_bytes, frame.payload_bytes, to);
    if (verdict != drop_reason::none)
        return verdict;
    to.has_data = frame.payload_bytes != to.header_bytes;
    if (to.has_data && frame.payload_bytes < to.header_bytes + 4 * to.words)
        return drop_reason::truncated;
    return drop_reason::none;
}

} // namespace weft
