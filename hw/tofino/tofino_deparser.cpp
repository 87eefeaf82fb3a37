// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// From the traffic manager to the ports: copies of a result, and their headers.
#include "hw/ethernet/ethernet_format.h"
#include "hw/tofino/tofino_switch.h"

#include <cstring>

namespace weft {

namespace sml = abi::switchml;

namespace {

constexpr std::uint8_t k_answer_ttl = 64;
constexpr std::uint8_t k_ecn_capable = 2;

/// UDP source port of RDMA answers, "built from the worker number" in the published program.
constexpr std::uint16_t rdma_source_port(std::uint32_t worker) { return static_cast<std::uint16_t>(0x8000 | worker); }

/// Answers carry the opcode of the packet that completed the slot; a last one always has an immediate.
constexpr sml::opcode answer_opcode(sml::opcode o)
{
    if (o == sml::opcode::write_last)
        return sml::opcode::write_last_immediate;
    return o == sml::opcode::write_only ? sml::opcode::write_only_immediate : o;
}

} // namespace

void tofino_switch::leave(std::uint32_t index)
{
    in_flight& p = in_flight_[index];
    job_state& j = jobs_[p.job];
    note_end(p, p.generation != j.generation || p.egress_drop); // its frame may go on as a copy
    if (p.generation != j.generation) {
        drop(drop_reason::job_removed);
    } else if (p.egress_drop) {
        drop(drop_reason::egress_simulated);
    } else if (p.end == fate::multicast) {
        ++broadcasts;
        note(slot_event_kind::multicast, p, p.worker);
        copy_to_all(p, j, true);
    } else if (p.end == fate::from_above) {
        ++results_from_above;
        note(slot_event_kind::result_from_above, p, 0);
        copy_to_all(p, j, true);
    } else if (p.end == fate::up) {
        ++sent_up;
        note(slot_event_kind::sent_up, p, p.worker);
        send_to_parent(p, j);
    } else {
        ++retransmissions;
        note(slot_event_kind::unicast_retransmit, p, p.worker);
        if (j.job.workers[p.worker].inside) // which of its workers asked is not known here
            copy_to_all(p, jobs_[j.inside[p.worker]], true);
        else
            copy_to_worker(p, j, p.worker, true);
    }
    release(index);
}

/// `reuse`: nobody needs the packet's own frame after the last copy.
void tofino_switch::copy_to_all(in_flight& p, job_state& job, bool reuse)
{
    const auto workers = static_cast<std::uint32_t>(job.job.workers.size());
    for (std::uint32_t w = 0; w < workers; ++w) {
        const bool last = reuse && w + 1 == workers;
        if (!job.job.workers[w].inside)
            copy_to_worker(p, job, w, last);
        else if (job.inside[w] != k_none)
            copy_to_all(p, jobs_[job.inside[w]], last);
    }
}

void tofino_switch::copy_to_worker(in_flight& p, job_state& job, std::uint32_t worker, bool reuse)
{
    const tofino_worker& to = job.job.workers[worker];
    const std::uint32_t port = p.end == fate::unicast && &job == &jobs_[p.job] ? p.ingress_port : to.port;
    if (!p.fields.rdma) {
        packet_ptr frame = new_frame(p, sml::k_udp_headers, reuse, false);
        write_udp_answer(p, job, worker, frame->payload);
        transmit(port, std::move(frame));
        return;
    }
    const sml::opcode op = answer_opcode(p.fields.bth.op);
    packet_ptr frame = new_frame(p, sml::roce_headers(op), reuse, true);
    write_rdma_answer(p, job, worker, op, frame->payload);
    transmit(port, std::move(frame));
}

void tofino_switch::write_udp_answer(const in_flight& p, const job_state& job, std::uint32_t worker,
                                     std::uint8_t* to) const
{
    const bool down = p.end == fate::from_above; // the parent has swapped the ports
    sml::addresses a;
    a.destination_mac = job.job.workers[worker].mac;
    a.source_mac = config_.mac;
    a.destination_ip = job.job.workers[worker].ip;
    a.source_ip = config_.ip;
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

void tofino_switch::write_rdma_answer(const in_flight& p, job_state& job, std::uint32_t worker, sml::opcode op,
                                      std::uint8_t* to)
{
    const tofino_worker& receiver = job.job.workers[worker];
    sml::addresses a;
    a.destination_mac = receiver.mac;
    a.source_mac = config_.mac;
    a.destination_ip = receiver.ip;
    a.source_ip = config_.ip;
    a.destination_port = sml::k_udp_port_roce;
    a.source_port = rdma_source_port(worker);
    a.ttl = k_answer_ttl;
    a.tos = k_ecn_capable;
    a.do_not_fragment = true;
    const std::uint32_t headers = sml::roce_headers(op);
    sml::encode(a, headers - sml::k_header + 4 * p.fields.words + sml::k_icrc_bytes, to);
    send_queue& q = job.send_queues[worker * job.job.queues + p.queue];
    if (p.position == 0)
        q.base[p.version ? 1 : 0] = q.next;
    const std::uint32_t psn = (q.base[p.version ? 1 : 0] + p.position) & sml::k_psn_mask;
    if (((psn - q.next) & sml::k_psn_mask) <= sml::k_psn_mask / 2)
        q.next = (psn + 1) & sml::k_psn_mask;
    sml::encode(sml::bth{op, receiver.queue_pair_base + job.job.first_queue + p.queue, psn}, to + sml::k_header);
    std::uint8_t* next = to + sml::k_header + sml::k_bth_bytes;
    if (sml::begins_message(op)) {
        sml::encode(p.fields.reth, next);
        next += sml::k_reth_bytes;
    }
    if (sml::has_immediate(op))
        sml::put32(next, sml::immediate(p.fields.message, p.exponent0, p.exponent1));
}

void tofino_switch::send_to_parent(in_flight& p, const job_state& job)
{
    const tofino_parent& parent = job.job.parent;
    packet_ptr frame = new_frame(p, sml::k_udp_headers, true, false);
    sml::addresses a;
    a.destination_mac = parent.mac;
    a.source_mac = parent.own_mac;
    a.destination_ip = parent.ip;
    a.source_ip = parent.own_ip;
    a.destination_port = p.fields.destination_port;
    a.source_port = p.fields.source_port;
    a.ttl = k_answer_ttl;
    sml::encode(a, sml::k_udp_headers - sml::k_header + 4 * p.fields.words, frame->payload);
    sml::header h = p.fields.header;
    h.message_type = sml::k_message_request;
    h.exponent0 = p.exponent0;
    h.exponent1 = p.exponent1;
    sml::encode(h, frame->payload + sml::k_header);
    transmit(parent.port, std::move(frame));
}

/// A frame with the words of `p` and room for `header_bytes` before them. `reuse`: it may be the packet's own.
packet_ptr tofino_switch::new_frame(in_flight& p, std::uint32_t header_bytes, bool reuse, bool rdma)
{
    const std::uint32_t trailer = rdma ? sml::k_icrc_bytes : 0;
    const std::uint32_t frame_bytes = header_bytes + 4 * p.fields.words + trailer;
    const std::uint32_t carried = p.words != nullptr ? frame_bytes : header_bytes;
    packet_ptr frame;
    if (reuse && p.fields.header_bytes == header_bytes && p.frame->payload_bytes >= carried) {
        frame = std::move(p.frame);
    } else {
        frame = pool_.make();
        pool_.add_payload(*frame, carried);
        if (p.words != nullptr)
            std::memcpy(frame->payload + header_bytes, p.words, 4 * p.fields.words);
    }
    if (p.words != nullptr && rdma)
        std::memset(frame->payload + frame_bytes - trailer, 0, trailer);
    frame->payload_bytes = carried;
    frame->wire_bytes = ethernet_wire_bytes(frame_bytes);
    frame->born_ps = time_.now_ps();
    return frame;
}

void tofino_switch::transmit(std::uint32_t port, packet_ptr frame)
{
    if (ports_[port]->transmitter.send(std::move(frame), time_.now_ps()))
        ++frames_out;
    else
        drop(drop_reason::egress_queue);
}

} // namespace weft
