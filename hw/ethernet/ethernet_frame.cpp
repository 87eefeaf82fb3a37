// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/ethernet_frame.h"

#include <cstring>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <iterator>

namespace weft {

namespace sml = abi::switchml;

packet_ptr make_frame(packet_pool& pool, std::uint32_t bytes, std::uint32_t carried_bytes)
{
    packet_ptr p = pool.make();
    p->wire_bytes = ethernet_wire_bytes(bytes);
    p->payload_bytes = carried_bytes;
    if (carried_bytes > 0)
        pool.add_payload(*p, carried_bytes);
    return p;
}

packet_ptr copy_frame(packet_pool& pool, const packet& frame)
{
    packet_ptr p = pool.make();
    const std::uint32_t index = p->index;
    *p = frame;
    p->index = index;
    p->payload = nullptr;
    p->pool = &pool;
    if (frame.payload != nullptr) {
        pool.add_payload(*p, frame.payload_bytes);
        std::memcpy(p->payload, frame.payload, frame.payload_bytes);
    }
    return p;
}

void corrupt_frame(packet& frame, std::uint64_t random)
{
    frame.flags = static_cast<std::uint8_t>(frame.flags | k_corrupted);
    if (frame.payload == nullptr || frame.payload_bytes == 0)
        return;
    const std::uint64_t bit = random % (frame.payload_bytes * 8);
    frame.payload[bit / 8] = static_cast<std::uint8_t>(frame.payload[bit / 8] ^ 1u << bit % 8);
}

frame_summary decode_frame(const packet& frame)
{
    frame_summary s;
    s.corrupted = (frame.flags & k_corrupted) != 0;
    s.wire_bytes = frame.wire_bytes;
    const std::uint64_t held = frame.payload == nullptr ? 0 : frame.payload_bytes;
    if (held < sml::k_ip)
        return s;
    const std::uint8_t* b = frame.payload;
    s.addresses.destination_mac = sml::get48(b);
    s.addresses.source_mac = sml::get48(b + 6);
    s.ether_type = sml::get16(b + 12);
    s.payload_bytes = frame_bytes(frame) - sml::k_ip;
    if (s.ether_type != sml::k_ether_type_ipv4 || held < sml::k_header || b[sml::k_ip] != 0x45 ||
        b[sml::k_ip + 9] != sml::k_protocol_udp)
        return s;
    s.addresses = sml::decode_addresses(b);
    s.kind = frame_kind::udp;
    const std::uint32_t udp_bytes = sml::get16(b + sml::k_udp + 4);
    s.payload_bytes = udp_bytes < 8 ? 0 : udp_bytes - 8;
    const auto is_switchml = [](std::uint32_t port) { return (port & sml::k_udp_port_mask) == sml::k_udp_port_base; };
    if ((is_switchml(s.addresses.destination_port) || is_switchml(s.addresses.source_port)) &&
        held >= sml::k_udp_headers && s.payload_bytes >= sml::k_udp_headers - sml::k_header) {
        s.kind = frame_kind::switchml;
        s.switchml = sml::decode(b + sml::k_header);
        s.payload_bytes -= sml::k_udp_headers - sml::k_header;
    } else if (s.addresses.destination_port == sml::k_udp_port_roce && held >= sml::k_header + sml::k_bth_bytes) {
        const sml::bth bth = sml::decode_bth(b + sml::k_header);
        const std::uint32_t headers = sml::roce_headers(bth.op);
        const std::uint32_t beside = headers - sml::k_header + sml::k_icrc_bytes;
        if (bth.op < sml::opcode::write_first || bth.op > sml::opcode::write_only_immediate || held < headers ||
            s.payload_bytes < beside)
            return s;
        s.kind = frame_kind::roce;
        s.bth = bth;
        s.payload_bytes -= beside;
        const std::uint8_t* next = b + sml::k_header + sml::k_bth_bytes;
        if (sml::begins_message(bth.op)) {
            s.reth = sml::decode_reth(next);
            next += sml::k_reth_bytes;
        }
        if (sml::has_immediate(bth.op))
            s.immediate = sml::get32(next);
    }
    return s;
}

namespace {
std::string mac_text(std::uint64_t mac)
{
    // By hand: a trace has two of them in every record of a frame.
    std::string text = "00:00:00:00:00:00";
    for (std::size_t digit = 0; digit < 12; ++digit)
        text[digit + digit / 2] = "0123456789abcdef"[mac >> (44 - 4 * digit) & 0xf];
    return text;
}

const char* opcode_text(sml::opcode op)
{
    switch (op) {
    case sml::opcode::write_first: return "write first";
    case sml::opcode::write_middle: return "write middle";
    case sml::opcode::write_last: return "write last";
    case sml::opcode::write_last_immediate: return "write last with immediate";
    case sml::opcode::write_only: return "write only";
    case sml::opcode::write_only_immediate: return "write only with immediate";
    }
    return "unknown opcode";
}
} // namespace

std::string to_string(const frame_summary& s)
{
    std::string text;
    switch (s.kind) {
    case frame_kind::switchml: { // a format is read once, with what comes behind
        fmt::memory_buffer all;
        fmt::format_to(
            std::back_inserter(all),
            FMT_COMPILE("SwitchML job {} slot {} version {} id {} exponents {}/{}, {} words, {} > {}, {} B{}"),
            s.switchml.job, s.switchml.slot, s.switchml.version ? 1 : 0, s.switchml.id, s.switchml.exponent0,
            s.switchml.exponent1, s.payload_bytes / 4, mac_text(s.addresses.source_mac),
            mac_text(s.addresses.destination_mac), s.wire_bytes, s.corrupted ? ", corrupted" : "");
        return fmt::to_string(all);
    }
    case frame_kind::roce:
        text = fmt::format("RoCE {} queue pair {:#x} PSN {}", opcode_text(s.bth.op), s.bth.queue_pair, s.bth.psn);
        if (sml::begins_message(s.bth.op))
            text += fmt::format(" address {:#x} key {:#x} length {}", s.reth.address, s.reth.key, s.reth.length);
        if (sml::has_immediate(s.bth.op))
            text += fmt::format(" immediate {:#x}", s.immediate);
        text += fmt::format(", {} B payload", s.payload_bytes);
        break;
    case frame_kind::udp:
        text = fmt::format("UDP port {} > {}, {} B payload", s.addresses.source_port, s.addresses.destination_port,
                           s.payload_bytes);
        break;
    default: text = fmt::format("Ethernet type {:#06x}", s.ether_type); break;
    }
    return text + fmt::format(", {} > {}, {} B{}", mac_text(s.addresses.source_mac),
                              mac_text(s.addresses.destination_mac), s.wire_bytes, s.corrupted ? ", corrupted" : "");
}

std::string frame_text(const packet& frame) { return to_string(decode_frame(frame)); }

} // namespace weft
