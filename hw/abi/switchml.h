// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// SwitchML on the wire: header offsets and field codecs of its UDP and RoCE v2 frames, and the table in which a
// worker's firmware finds its job. Field layout: p4lang/p4app-switchML (quoted); byte order is the network's unless
// said otherwise.
//
//   UDP frame    Ethernet 14, IPv4 20, UDP 8, SwitchML 8, exponents 2, payload 256 or 1024            (+ FCS 4,
//                preamble and gap 20)
//   RoCE frame   Ethernet 14, IPv4 20, UDP 8, BTH 12, [RETH 16 in first and only], [immediate 4 in last and only],
//                payload,
//                ICRC 4                                                                            (+ FCS 4, preamble
//                and gap 20)
#pragma once

#include "hw/abi/types.h"

namespace weft::abi::switchml {

// Bytes ---------------------------------------------------------------------------------------------------------------

constexpr void put16(std::uint8_t* to, std::uint32_t v)
{
    to[0] = static_cast<std::uint8_t>(v >> 8);
    to[1] = static_cast<std::uint8_t>(v);
}
constexpr void put32(std::uint8_t* to, std::uint32_t v)
{
    put16(to, v >> 16);
    put16(to + 2, v);
}
constexpr void put48(std::uint8_t* to, std::uint64_t v)
{
    put16(to, static_cast<std::uint32_t>(v >> 32));
    put32(to + 2, static_cast<std::uint32_t>(v));
}
constexpr void put64(std::uint8_t* to, std::uint64_t v)
{
    put32(to, static_cast<std::uint32_t>(v >> 32));
    put32(to + 4, static_cast<std::uint32_t>(v));
}
constexpr std::uint32_t get16(const std::uint8_t* from) { return std::uint32_t{from[0]} << 8 | from[1]; }
constexpr std::uint32_t get32(const std::uint8_t* from) { return get16(from) << 16 | get16(from + 2); }
constexpr std::uint64_t get48(const std::uint8_t* from) { return std::uint64_t{get16(from)} << 32 | get32(from + 2); }
constexpr std::uint64_t get64(const std::uint8_t* from) { return std::uint64_t{get32(from)} << 32 | get32(from + 4); }
constexpr std::uint32_t swap32(std::uint32_t v) { return v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff'0000) | v << 24; }
/// An even number of words between network order and numbers, two at a time; `to` may be `from`.
inline void swap_words(void* to, const void* from, std::size_t bytes)
{
    auto* out = static_cast<unsigned char*>(to);
    const auto* in = static_cast<const unsigned char*>(from);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < bytes; i += 8) {
        std::uint64_t pair = 0;
        __builtin_memcpy(&pair, in + i, sizeof pair);
        pair = __builtin_bswap64(pair);
        pair = pair << 32 | pair >> 32;
        __builtin_memcpy(out + i, &pair, sizeof pair);
    }
}

// Frames --------------------------------------------------------------------------------------------------------------

inline constexpr std::uint32_t k_ethernet = 0; ///< destination 6, source 6, type 2
inline constexpr std::uint32_t k_ip = 14;
inline constexpr std::uint32_t k_udp = 34;
inline constexpr std::uint32_t k_header = 42; ///< SwitchML header, or BTH
inline constexpr std::uint32_t k_exponents = 50;
inline constexpr std::uint32_t k_udp_headers = 52; ///< bytes before the payload of a UDP frame
inline constexpr std::uint32_t k_bth_bytes = 12;
inline constexpr std::uint32_t k_reth_bytes = 16;
inline constexpr std::uint32_t k_immediate_bytes = 4;
inline constexpr std::uint32_t k_icrc_bytes = 4; ///< zero: the P4 program neither checks nor computes it

inline constexpr std::uint32_t k_ether_type_ipv4 = 0x0800;
inline constexpr std::uint32_t k_protocol_udp = 17;
inline constexpr std::uint32_t k_udp_port_base = 0xbee0; ///< 16 ports, one a core: flow steering
inline constexpr std::uint32_t k_udp_port_mask = 0xfff0;
inline constexpr std::uint32_t k_udp_port_roce = 4791;

inline constexpr std::uint32_t k_message_request = 1; ///< msg_type; the response is 1 too
inline constexpr std::uint32_t k_size_64_words = 1;   ///< size code
inline constexpr std::uint32_t k_size_256_words = 3;
inline constexpr std::uint32_t k_version_bit = 0x8000; ///< of the pool index field
inline constexpr std::uint32_t k_slot_mask = 0x3fff;

/// SwitchML header, 8 bytes at k_header of a UDP frame, and the two exponents behind it.
struct header {
    std::uint8_t message_type = k_message_request; ///< 4 bits
    std::uint8_t size_code = k_size_256_words;     ///< 3 bits
    std::uint8_t job = 0;
    std::uint32_t id = 0;   ///< tsi: opaque to the switch, echoed
    std::uint16_t slot = 0; ///< 14 bits
    bool version = false;   ///< the set of the slot
    std::int8_t exponent0 = 0;
    std::int8_t exponent1 = 0;
};
constexpr void encode(const header& h, std::uint8_t* to)
{
    to[0] = static_cast<std::uint8_t>(h.message_type << 4 | (h.size_code & 7));
    to[1] = h.job;
    put32(to + 2, h.id);
    put16(to + 6, (h.version ? k_version_bit : 0) | (h.slot & k_slot_mask));
    to[8] = static_cast<std::uint8_t>(h.exponent0);
    to[9] = static_cast<std::uint8_t>(h.exponent1);
}
constexpr header decode(const std::uint8_t* from)
{
    header h;
    h.message_type = from[0] >> 4;
    h.size_code = from[0] & 7;
    h.job = from[1];
    h.id = get32(from + 2);
    const std::uint32_t pool = get16(from + 6);
    h.slot = static_cast<std::uint16_t>(pool & k_slot_mask);
    h.version = (pool & k_version_bit) != 0;
    h.exponent0 = static_cast<std::int8_t>(from[8]);
    h.exponent1 = static_cast<std::int8_t>(from[9]);
    return h;
}

/// One's complement sum of `bytes` bytes (even), folded and inverted: the IPv4 header checksum with its field zero, 0
/// over a correct header.
constexpr std::uint16_t internet_checksum(const std::uint8_t* from, std::uint32_t bytes)
{
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i + 1 < bytes; i += 2)
        sum += get16(from + i);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

/// Ethernet, IPv4 and UDP headers (42 bytes) of a frame with `udp_payload_bytes` after the UDP header.
struct addresses {
    std::uint64_t destination_mac = 0;
    std::uint64_t source_mac = 0;
    std::uint32_t destination_ip = 0;
    std::uint32_t source_ip = 0;
    std::uint16_t destination_port = 0;
    std::uint16_t source_port = 0;
    std::uint8_t ttl = 128; ///< the client's; the switch answers with 64
    std::uint8_t tos = 0;   ///< RoCE: 2, ECN capable
    bool do_not_fragment = false;
};
constexpr void encode(const addresses& a, std::uint32_t udp_payload_bytes, std::uint8_t* to)
{
    put48(to, a.destination_mac);
    put48(to + 6, a.source_mac);
    put16(to + 12, k_ether_type_ipv4);
    std::uint8_t* ip = to + k_ip;
    ip[0] = 0x45;
    ip[1] = a.tos;
    put16(ip + 2, 20 + 8 + udp_payload_bytes);
    put16(ip + 4, 0);
    put16(ip + 6, a.do_not_fragment ? 0x4000 : 0);
    ip[8] = a.ttl;
    ip[9] = k_protocol_udp;
    put16(ip + 10, 0);
    put32(ip + 12, a.source_ip);
    put32(ip + 16, a.destination_ip);
    put16(ip + 10, internet_checksum(ip, 20));
    std::uint8_t* udp = to + k_udp;
    put16(udp, a.source_port);
    put16(udp + 2, a.destination_port);
    put16(udp + 4, 8 + udp_payload_bytes);
    put16(udp + 6, 0); // no UDP checksum
}
constexpr addresses decode_addresses(const std::uint8_t* from)
{
    addresses a;
    a.destination_mac = get48(from);
    a.source_mac = get48(from + 6);
    const std::uint8_t* ip = from + k_ip;
    a.tos = ip[1];
    a.do_not_fragment = (ip[6] & 0x40) != 0;
    a.ttl = ip[8];
    a.source_ip = get32(ip + 12);
    a.destination_ip = get32(ip + 16);
    a.source_port = static_cast<std::uint16_t>(get16(from + k_udp));
    a.destination_port = static_cast<std::uint16_t>(get16(from + k_udp + 2));
    return a;
}

/// RoCE v2, unreliable connected: opcodes of RDMA writes.
enum class opcode : std::uint8_t {
    write_first = 0x26,
    write_middle = 0x27,
    write_last = 0x28,
    write_last_immediate = 0x29,
    write_only = 0x2a,
    write_only_immediate = 0x2b
};
constexpr bool begins_message(opcode o)
{
    return o == opcode::write_first || o == opcode::write_only || o == opcode::write_only_immediate;
}
constexpr bool ends_message(opcode o) { return o != opcode::write_first && o != opcode::write_middle; }
constexpr bool has_immediate(opcode o)
{
    return o == opcode::write_last_immediate || o == opcode::write_only_immediate;
}

/// Base transport header, 12 bytes at k_header of a RoCE frame.
struct bth {
    opcode op = opcode::write_only_immediate;
    std::uint32_t queue_pair = 0; ///< 24 bits. Toward the switch: bits 20:16 worker, 8:0 queue
    std::uint32_t psn = 0;        ///< 24 bits
};
inline constexpr std::uint32_t k_psn_mask = 0xff'ffff;
constexpr void encode(const bth& b, std::uint8_t* to)
{
    to[0] = static_cast<std::uint8_t>(b.op);
    to[1] = 0x40; // migration state; no pad, version 0
    put16(to + 2, 0xffff);
    put32(to + 4, b.queue_pair & 0xff'ffff);
    put32(to + 8, b.psn & k_psn_mask);
}
constexpr bth decode_bth(const std::uint8_t* from)
{
    return {static_cast<opcode>(from[0]), get32(from + 4) & 0xff'ffff, get32(from + 8) & k_psn_mask};
}
/// RETH, 16 bytes behind the BTH of first and only packets. Toward the switch the key is slot << 1 | version of the
/// first packet; address and length come back with the answer.
struct reth {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::uint32_t length = 0;
};
constexpr void encode(const reth& r, std::uint8_t* to)
{
    put64(to, r.address);
    put32(to + 8, r.key);
    put32(to + 12, r.length);
}
constexpr reth decode_reth(const std::uint8_t* from) { return {get64(from), get32(from + 8), get32(from + 12)}; }
/// Immediate: message id 31:16, exponent 0 15:8, exponent 1 7:0.
constexpr std::uint32_t immediate(std::uint32_t message, std::int8_t exponent0, std::int8_t exponent1)
{
    return message << 16 | static_cast<std::uint32_t>(static_cast<std::uint8_t>(exponent0)) << 8 |
           static_cast<std::uint8_t>(exponent1);
}
/// Bytes before the payload of a RoCE frame.
constexpr std::uint32_t roce_headers(opcode o)
{
    return k_header + k_bth_bytes + (begins_message(o) ? k_reth_bytes : 0) + (has_immediate(o) ? k_immediate_bytes : 0);
}
/// Queue pair of worker `worker`, queue `queue` at the switch.
constexpr std::uint32_t switch_queue_pair(std::uint32_t worker, std::uint32_t queue)
{
    return worker << 16 | (queue & 0x1ff);
}

// A worker's job ------------------------------------------------------------------------------------------------------

/// Written by the builder into the local memory of every core of a worker, next to the platform table; absent (magic 0)
/// on other machines.
inline constexpr std::uint64_t k_table_address = 0x0000'1400;
inline constexpr std::uint32_t k_table_magic = 0x4c'4d'57'53; ///< "SWML"
inline constexpr std::uint32_t k_table_version = 2;

enum class transport : std::uint32_t { udp = 0, rdma = 1 };

struct table {
    std::uint32_t magic = k_table_magic;
    std::uint32_t version = k_table_version;
    std::uint32_t core = 0;  ///< this core of the worker
    std::uint32_t cores = 1; ///< that share the tensor
    std::uint32_t worker = 0;
    std::uint32_t workers = 0; ///< of the job, at most 32 below one switch
    std::uint32_t job = 0;
    transport protocol = transport::udp;
    std::uint32_t first_slot = 0; ///< of the job's pool at the switch
    std::uint32_t slots = 0; ///< of the job, both versions counted once; core c has slots/cores from c*slots/cores on
    std::uint32_t elements_per_packet = 256;
    std::uint32_t packets_per_message = 16; ///< RDMA; a power of two
    std::uint32_t nic_queues = 1;
    std::uint32_t nic_ring_entries = 0;
    std::uint64_t timeout_ns = 0; ///< retransmission
    std::uint64_t nic_base = 0;
    std::uint64_t nic_area = 0; ///< bus address in HBM of the NIC's rings and buffers, see hw/abi/nic.h
    std::uint64_t own_mac = 0;
    std::uint64_t switch_mac = 0;
    std::uint32_t own_ip = 0;
    std::uint32_t switch_ip = 0;
    /// The retransmission timeout doubles after this many timeouts of a core in one collective, again after twice as
    /// many more, and so on; 0: it never does. The P4 client: 100 (quoted).
    std::uint32_t backoff_after = 0;
    /// UDP: packets that a core takes, and announces to the NIC, at a time.
    std::uint32_t packet_batch = 32;
    /// UDP: fewer are announced when nothing has come and this time has passed since the last time that was so; 0: at
    /// once.
    std::uint32_t transmit_hold_ns = 0;
    std::uint32_t reserved = 0;
    std::uint64_t check = 0; ///< check_word of everything before it
};
static_assert(sizeof(table) == 128, "table layout is part of the ABI");

} // namespace weft::abi::switchml
