// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/answer_headers.h"

namespace weft {

namespace sml = abi::switchml;

namespace {

constexpr std::uint8_t k_answer_ttl = 64;
constexpr std::uint8_t k_ecn_capable = 2;

/// UDP source port of RDMA answers, "built from the worker number" in the published program.
constexpr std::uint16_t rdma_source_port(std::uint32_t worker) { return static_cast<std::uint16_t>(0x8000 | worker); }

} // namespace

sml::opcode answer_opcode(sml::opcode o)
{
    if (o == sml::opcode::write_last)
        return sml::opcode::write_last_immediate;
    return o == sml::opcode::write_only ? sml::opcode::write_only_immediate : o;
}

void write_udp_answer(const tofino_config& own, const tofino_packet& p, const tofino_job& job, std::uint32_t worker,
                      std::uint8_t* to)
{
    const bool down = p.end == packet_fate::from_above; // the parent has swapped the ports
    sml::addresses a;
    a.destination_mac = job.workers[worker].mac;
    a.source_mac = own.mac;
    a.destination_ip = job.workers[worker].ip;
    a.source_ip = own.ip;
    a.destination_port = down ? p.fields.destination_port : p.fields.source_port;
    a.source_port = down ? p.fields.source_port : p.fields.destination_port;
    a.ttl = k_answer_ttl;
    sml::encode(a, sml::k_udp_headers - sml::k_header + 4 * p.fields.words, to);
    sml::header h = p.fields.header;
    h.message_type = sml::k_message_request;
    h.slot = p.slot;
    h.version = p.version;
    h.exponent0 = p.exponent0;
    h.exponent1 = p.exponent1;
    sml::encode(h, to + sml::k_header);
}

void write_rdma_answer(const tofino_config& own, const tofino_packet& p, const tofino_job& job, std::uint32_t worker,
                       sml::opcode op, std::uint32_t psn, std::uint8_t* to)
{
    const tofino_worker& receiver = job.workers[worker];
    sml::addresses a;
    a.destination_mac = receiver.mac;
    a.source_mac = own.mac;
    a.destination_ip = receiver.ip;
    a.source_ip = own.ip;
    a.destination_port = sml::k_udp_port_roce;
    a.source_port = rdma_source_port(worker);
    a.ttl = k_answer_ttl;
    a.tos = k_ecn_capable;
    a.do_not_fragment = true;
    const std::uint32_t headers = sml::roce_headers(op);
    sml::encode(a, headers - sml::k_header + 4 * p.fields.words + sml::k_icrc_bytes, to);
    sml::encode(sml::bth{op, receiver.queue_pair_base + job.first_queue + p.queue, psn}, to + sml::k_header);
    std::uint8_t* next = to + sml::k_header + sml::k_bth_bytes;
    if (sml::begins_message(op)) {
        sml::encode(p.fields.reth, next);
        next += sml::k_reth_bytes;
    }
    if (sml::has_immediate(op))
        sml::put32(next, sml::immediate(p.fields.message, p.exponent0, p.exponent1));
}

void write_parent_packet(const tofino_packet& p, const tofino_job& job, std::uint8_t* to)
{
    const tofino_parent& parent = job.parent;
    sml::addresses a;
    a.destination_mac = parent.mac;
    a.source_mac = parent.own_mac;
    a.destination_ip = parent.ip;
    a.source_ip = parent.own_ip;
    a.destination_port = p.fields.destination_port;
    a.source_port = p.fields.source_port;
    a.ttl = k_answer_ttl;
    sml::encode(a, sml::k_udp_headers - sml::k_header + 4 * p.fields.words, to);
    sml::header h = p.fields.header;
    h.message_type = sml::k_message_request;
    h.exponent0 = p.exponent0;
    h.exponent1 = p.exponent1;
    sml::encode(h, to + sml::k_header);
}

} // namespace weft
