// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The switch that the workers of switchml_world.h meet: algorithm 3 of the paper, or algorithm 1 without loss recovery, on plain
// words, with the UDP and RoCE v2 frames of hw/abi/switchml.h around it. Nothing of the product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hw/abi/switchml.h"

namespace weft::testing {

namespace sml = abi::switchml;

struct switchml_options {
    std::uint32_t workers = 2;
    std::uint32_t cores = 1;
    std::uint32_t slots = 8;
    std::uint32_t first_slot = 0;
    std::uint32_t elements_per_packet = 64;
    std::uint32_t packets_per_message = 4;
    sml::transport protocol = sml::transport::udp;
    std::uint32_t ring_entries = 16;
    std::uint32_t seed = 1;
    std::uint32_t yield_one_in = 8;
    double loss = 0; ///< of a frame on a link
    double repeat = 0;
    double junk = 0;
    std::uint32_t late_ns = 0; ///< a worker gets its commands up to this much later
    std::uint64_t timeout_ns = 20'000;
    std::uint32_t backoff_after = 0;
    std::uint64_t buffer_bytes = 1 << 16;
    std::uint32_t silent_workers = 0;   ///< the last ones get no commands
    std::uint64_t deaf_after = 0;       ///< the switch takes no frame after this many; 0: it does
    std::uint32_t fault_worker = 0;     ///< of its core 0
    std::uint64_t fault_access = 0;     ///< this access is answered with a bus error, counted from 1
    std::uint32_t nic_error_worker = 0; ///< this worker's NIC stops with an error
    std::uint64_t nic_error_after = 0;  ///< at this send entry, counted from 1
    bool shared_pending = false;        ///< arming does not clear IRQ_PENDING
    bool wild_floats = false;           ///< any bit pattern
    bool psn_counts = false;            ///< answers carry a PSN that counts them, whatever their position
    bool small_messages = false;        ///< queue pairs only as many as needed, else 1024
};

/// What of a job's table follows from the options alone.
inline sml::table table_of(const switchml_options& o)
{
    sml::table t;
    t.cores = o.cores;
    t.workers = o.workers;
    t.job = 7;
    t.protocol = o.protocol;
    t.first_slot = o.first_slot;
    t.slots = o.slots;
    t.elements_per_packet = o.elements_per_packet;
    t.packets_per_message = o.packets_per_message;
    t.nic_queues = o.cores;
    t.nic_ring_entries = o.ring_entries;
    t.timeout_ns = o.timeout_ns;
    t.backoff_after = o.backoff_after;
    return t;
}

class switchml_switch {
public:
    using bytes = std::vector<unsigned char>;

    explicit switchml_switch(const switchml_options& o) : options_(o) {}
    void be_lossless() { lossless_ = true; }
    const std::string& problems() const { return problems_; }

    /// A frame of a worker: the answers, and to whom they go.
    void at_switch(std::uint32_t from, const bytes& frame, std::vector<std::pair<std::uint32_t, bytes>>& answers)
    {
        if (options_.deaf_after != 0 && ++switch_frames_ > options_.deaf_after)
            return;
        if (sml::get16(&frame[sml::k_udp + 2]) == sml::k_udp_port_roce)
            return rdma_at_switch(from, frame, answers);
        const sml::header h = sml::decode(&frame[sml::k_header]);
        if (h.job != 7 || sml::internet_checksum(&frame[sml::k_ip], 20) != 0 ||
            frame.size() != sml::k_udp_headers + options_.elements_per_packet * 4 ||
            sml::get16(&frame[sml::k_ip + 2]) != frame.size() - sml::k_ip || h.slot < options_.first_slot ||
            h.slot >= options_.first_slot + options_.slots)
            return problem("bad request");
        const std::uint32_t pool = h.slot * 2u + (h.version ? 1 : 0);
        const int verdict = aggregate(from, pool, &frame[sml::k_udp_headers], h.id, true, h.exponent0, h.exponent1);
        if (verdict == 0)
            return;
        bytes answer = frame;
        pool_slot& p = pools_[pool];
        sml::header out = h;
        out.exponent0 = static_cast<std::int8_t>(p.exponent0);
        out.exponent1 = static_cast<std::int8_t>(p.exponent1);
        sml::encode(out, &answer[sml::k_header]);
        for (std::uint32_t i = 0; i < options_.elements_per_packet; ++i)
            sml::put32(&answer[sml::k_udp_headers + i * 4], p.words[i]);
        for (std::uint32_t w = 0; w < options_.workers; ++w)
            if (verdict == 2 || w == from) {
                bytes copy = answer;
                const std::uint32_t source = sml::get16(&frame[sml::k_udp]);
                sml::put16(&copy[sml::k_udp], sml::get16(&frame[sml::k_udp + 2]));
                sml::put16(&copy[sml::k_udp + 2], source);
                answers.emplace_back(w, copy);
            }
        finish_lossless(pool, verdict);
    }

private:
    struct pool_slot {
        std::vector<std::uint32_t> words;
        std::uint32_t count = 0;
        std::uint32_t seen = 0;
        std::uint32_t id = 0;
        int exponent0 = 0, exponent1 = 0;
    };
    struct connection {
        std::uint32_t psn = 0, pool = 0, first_pool = 0, out = 0;
        std::uint32_t base[2] = {}; ///< of the present message, by version
        bool broken = true;
    };

    void rdma_at_switch(std::uint32_t from, const bytes& frame, std::vector<std::pair<std::uint32_t, bytes>>& answers)
    {
        const sml::bth b = sml::decode_bth(&frame[sml::k_header]);
        if (b.queue_pair >> 16 != from)
            return problem("queue pair of another worker");
        const std::uint32_t queue = b.queue_pair & 0x1ff;
        connection& c = connections_[from << 16 | queue];
        std::size_t at = sml::k_header + sml::k_bth_bytes;
        sml::reth r;
        if (sml::begins_message(b.op)) {
            r = sml::decode_reth(&frame[at]);
            at += sml::k_reth_bytes;
            c.broken = false;
            c.pool = c.first_pool = r.key;
        } else if (c.broken || b.psn != c.psn) {
            c.broken = true;
            return;
        } else {
            c.pool += 2;
        }
        c.psn = (b.psn + 1) & sml::k_psn_mask;
        std::uint32_t immediate = 0;
        if (sml::has_immediate(b.op)) {
            immediate = sml::get32(&frame[at]);
            at += 4;
        }
        if (c.pool / 2 < options_.first_slot || c.pool / 2 >= options_.first_slot + options_.slots)
            return problem("slot outside the pool");
        const bool last = sml::has_immediate(b.op);
        const int verdict = aggregate(from, c.pool, &frame[at], last ? immediate >> 16 : 0, last,
                                      static_cast<std::int8_t>(immediate >> 8), static_cast<std::int8_t>(immediate));
        if (verdict == 0)
            return;
        pool_slot& p = pools_[c.pool];
        bytes answer = frame;
        if (last)
            sml::put32(&answer[at - 4], sml::immediate(immediate >> 16, static_cast<std::int8_t>(p.exponent0),
                                                       static_cast<std::int8_t>(p.exponent1)));
        for (std::uint32_t i = 0; i < options_.elements_per_packet; ++i)
            sml::put32(&answer[at + i * 4], p.words[i]);
        for (std::uint32_t w = 0; w < options_.workers; ++w)
            if (verdict == 2 || w == from) {
                connection& back = connections_[w << 16 | queue];
                // By position: what is skipped or comes twice is a gap to the receiver, not data in the wrong place.
                if (sml::begins_message(b.op))
                    back.base[c.pool & 1] = back.out += options_.packets_per_message;
                const std::uint32_t position = (c.pool - c.first_pool) / 2;
                sml::encode(sml::bth{b.op, queue, options_.psn_counts ? back.out++ : back.base[c.pool & 1] + position},
                            &answer[sml::k_header]);
                answers.emplace_back(w, answer);
            }
        finish_lossless(c.pool, verdict);
    }

    /// 0: nothing to send, 1: the result to the sender, 2: to all.
    int aggregate(std::uint32_t from, std::uint32_t pool, const unsigned char* words, std::uint32_t id, bool last,
                  int e0, int e1)
    {
        pool_slot& p = pools_[pool];
        const std::uint32_t bit = 1u << from;
        if ((p.seen & bit) != 0) {
            if (lossless_)
                problem("a slot is used twice");
            return p.count == 0 ? 1 : 0;
        }
        p.seen |= bit;
        if (!lossless_)
            pools_[pool ^ 1].seen &= ~bit;
        p.count = (p.count + 1) % options_.workers;
        const bool first = p.count == 1 || options_.workers == 1;
        if (first)
            p.words.assign(options_.elements_per_packet, 0);
        for (std::uint32_t i = 0; i < options_.elements_per_packet; ++i)
            p.words[i] += sml::get32(words + i * 4);
        if (last) {
            if (first || p.id == ~0u) {
                p.id = id;
                p.exponent0 = e0;
                p.exponent1 = e1;
            } else if (p.id != id) {
                problem("two uses meet in one slot");
            }
            p.exponent0 = std::max(p.exponent0, e0);
            p.exponent1 = std::max(p.exponent1, e1);
        }
        return p.count == 0 ? 2 : 0;
    }
    void finish_lossless(std::uint32_t pool, int verdict)
    {
        if (lossless_ && verdict == 2)
            pools_[pool] = {};
    }

    void problem(const std::string& text)
    {
        if (problems_.size() < 600)
            problems_ += text + "; ";
    }

    switchml_options options_;
    bool lossless_ = false;
    std::uint64_t switch_frames_ = 0;
    std::map<std::uint32_t, pool_slot> pools_;
    std::map<std::uint32_t, connection> connections_;
    std::string problems_;
};

} // namespace weft::testing
