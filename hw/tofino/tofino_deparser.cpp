// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// From the traffic manager to the ports: who gets a copy of a result.
#include "hw/ethernet/ethernet_format.h"
#include "hw/tofino/answer_headers.h"
#include "hw/tofino/tofino_switch.h"

#include <cstring>

namespace weft {

namespace sml = abi::switchml;

void tofino_switch::leave(std::uint32_t index)
{
    tofino_packet& p = in_flight_[index];
    tofino_job_state& j = jobs_[p.job];
    note_end(p, p.generation != j.generation || p.egress_drop); // its frame may go on as a copy
    if (p.generation != j.generation) {
        drop(drop_reason::job_removed);
    } else if (p.egress_drop) {
        drop(drop_reason::egress_simulated);
    } else if (p.end == packet_fate::multicast) {
        ++broadcasts;
        note(slot_event_kind::multicast, p, p.worker);
        copy_to_all(p, j, true);
    } else if (p.end == packet_fate::from_above) {
        ++results_from_above;
        note(slot_event_kind::result_from_above, p, 0);
        copy_to_all(p, j, true);
    } else if (p.end == packet_fate::up) {
        ++sent_up;
        note(slot_event_kind::sent_up, p, p.worker);
        packet_ptr frame = new_frame(p, sml::k_udp_headers, true, false);
        write_parent_packet(p, j.job, frame->payload);
        transmit(j.job.parent.port, std::move(frame));
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
void tofino_switch::copy_to_all(tofino_packet& p, tofino_job_state& job, bool reuse)
{
    const auto workers = static_cast<std::uint32_t>(job.job.workers.size());
    for (std::uint32_t w = 0; w < workers; ++w) {
        const bool last = reuse && w + 1 == workers;
        if (!job.job.workers[w].inside)
            copy_to_worker(p, job, w, last);
        else if (job.inside[w] != tofino_job_table::k_none)
            copy_to_all(p, jobs_[job.inside[w]], last);
    }
}

void tofino_switch::copy_to_worker(tofino_packet& p, tofino_job_state& job, std::uint32_t worker, bool reuse)
{
    const tofino_worker& to = job.job.workers[worker];
    const std::uint32_t port = p.end == packet_fate::unicast && &job == &jobs_[p.job] ? p.ingress_port : to.port;
    if (!p.fields.rdma) {
        packet_ptr frame = new_frame(p, sml::k_udp_headers, reuse, false);
        write_udp_answer(config_, p, job.job, worker, frame->payload);
        transmit(port, std::move(frame));
        return;
    }
    const sml::opcode op = answer_opcode(p.fields.bth.op);
    packet_ptr frame = new_frame(p, sml::roce_headers(op), reuse, true);
    const std::uint32_t psn = job.send_queues[worker * job.job.queues + p.queue].psn_of(p.position, p.version);
    write_rdma_answer(config_, p, job.job, worker, op, psn, frame->payload);
    transmit(port, std::move(frame));
}

/// A frame with the words of `p` and room for `header_bytes` before them. `reuse`: it may be the packet's own.
packet_ptr tofino_switch::new_frame(tofino_packet& p, std::uint32_t header_bytes, bool reuse, bool rdma)
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
