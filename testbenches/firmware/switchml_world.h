// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Workers of SwitchML, each core one of world_core.h, with NICs in plain C++ and the switch of switchml_switch.h.
// Time passes only when no core can run. A seeded scheduler lets cores give way between any two accesses.
//
// Links lose, repeat and delay frames. What algorithm 4 relies on is kept: requests of a worker for a slot stay in
// order, and so do RDMA packets of a worker in either direction. UDP answers overtake each other. `junk` adds frames
// that only look like answers.
#pragma once

#include <map>
#include <memory>
#include <queue>

#include "firmware/switchml/switchml_job.h"
#include "hw/ethernet/nic_convert.h"
#include "testbenches/firmware/switchml_values.h"
#include "testbenches/firmware/world_core.h"

namespace weft::testing {

class switchml_world final : public world_base {
public:
    static constexpr std::uint64_t k_gap = 512;

    explicit switchml_world(const switchml_options& o) : world_base(o.seed, o.yield_one_in), options_(o), switch_(o)
    {
        sml::table t = table_of(o);
        t.nic_base = abi::k_nic_base;
        t.switch_mac = 0x02'0000'0000ff;
        t.switch_ip = 0x0a00'00fe;
        buffer_ = k_dma_rings + k_gap;
        nic_area_ = (buffer_ + o.buffer_bytes + k_gap + 63) / 64 * 64;
        t.nic_area = abi::k_hbm_base + nic_area_;
        hbm_bytes_ = nic_area_ + firmware::nic_area_bytes(t) + k_gap;
        job_ = t;
        for (std::uint32_t w = 0; w < o.workers; ++w) {
            workers_.push_back(std::make_unique<worker_node>(*this, w));
            for (std::uint32_t c = 0; c < o.cores; ++c)
                workers_[w]->cores.push_back(std::make_unique<core_node>(*workers_[w], c));
        }
    }

    std::uint64_t buffer_offset() const { return buffer_; }
    sml::table& job_of(std::uint32_t worker, std::uint32_t core) { return workers_[worker]->cores[core]->job; }
    const sml::table& job() const { return job_; }

    void add(abi::command c)
    {
        c.sequence = static_cast<std::uint32_t>(commands_.size()) + 1;
        c.op = abi::collective_op::all_reduce;
        c.buffer_offset = c.buffer_offset != 0 ? c.buffer_offset : buffer_;
        c.chunk_bytes = 4096;
        if (c.timeout_ns == 0)
            c.timeout_ns = 3'000'000;
        commands_.push_back(c);
    }
    void add(std::uint64_t count, abi::element_type type = abi::element_type::int32,
             abi::algorithm algo = abi::algorithm::switchml)
    {
        abi::command c;
        c.algo = algo;
        c.type = type;
        c.count = count;
        if (algo == abi::algorithm::switchml_lossless)
            switch_.be_lossless();
        add(c);
    }

    void run()
    {
        for (auto& w : workers_)
            for (auto& c : w->cores)
                c->begin();
        for (auto& w : workers_)
            if (w->index + options_.silent_workers < options_.workers && !commands_.empty())
                at(delay(options_.late_ns), {event::command, w->index, 0, 0, {}});
        for (;;) {
            while (!ready_.empty()) {
                const std::size_t i = random_() % ready_.size();
                core_node* c = ready_[i];
                ready_[i] = ready_.back();
                ready_.pop_back();
                c->run_on();
            }
            if (events_.empty())
                return;
            const event e = events_.top();
            events_.pop();
            now_ns_ = e.time_ns;
            perform(e);
        }
    }

    std::string problems() const { return problems_ + switch_.problems(); }
    const std::vector<abi::response>& responses(std::uint32_t worker, std::uint32_t core = 0) const
    {
        return workers_[worker]->cores[core]->responses;
    }
    std::uint64_t accesses(std::uint32_t worker) const { return workers_[worker]->cores[0]->accesses; }
    std::uint64_t frames_sent(std::uint32_t worker) const { return workers_[worker]->frames_sent; }
    std::uint64_t frames_received(std::uint32_t worker) const { return workers_[worker]->frames_received; }
    std::uint64_t late_writes() const { return late_writes_; }
    std::uint64_t now_ns() const { return now_ns_; }
    double worst_error() const { return worst_error_; } ///< as a share of the bound

private:
    static constexpr std::uint64_t k_dma_rings = 2048;
    using bytes = std::vector<unsigned char>;

    struct event {
        enum kind { command, to_switch, to_worker, send, deadline } what;
        std::uint32_t worker;
        std::uint32_t index; ///< core, queue
        std::uint64_t ticket;
        std::shared_ptr<bytes> frame;
        std::uint64_t time_ns = 0;
        std::uint64_t order = 0;
        bool operator<(const event& o) const { return time_ns != o.time_ns ? time_ns > o.time_ns : order > o.order; }
    };

    struct worker_node;
    struct core_node final : world_core {
        core_node(worker_node& at, std::uint32_t number) : world_core(at.world, 0x2000), w(at), index(number)
        {
            const switchml_options& o = w.world.options_;
            table.rank = w.index;
            table.ranks = o.workers;
            table.dim_count = 1;
            table.dims[0] = o.workers;
            table.coord[0] = w.index;
            table.kind[0] = abi::dimension_kind::switched;
            table.dma_queues = 4;
            table.dma_ports = 1;
            table.dma_ring_entries = 8;
            table.hbm_bytes = w.world.hbm_bytes_;
            table.dma_ring_area = table.hbm_base;
            job = w.world.job_;
            job.core = index;
            job.worker = w.index;
            job.own_mac = 0x02'0000'000000 + w.index;
            job.own_ip = 0x0a00'0000 + w.index;
            fault_access = w.index == o.fault_worker && index == 0 ? o.fault_access : 0;
            testing::seal(table);
            seal();
        }
        void seal() { testing::seal(job); }
        void begin()
        {
            std::memcpy(&local[sml::k_table_address], &job, sizeof job);
            start();
            run_later();
        }
        void run_later() override { w.world.ready_.push_back(this); }
        void on_done(std::uint32_t sequence) override { w.world.on_done(*this, sequence); }
        bool read_device(std::uint64_t a, std::uint32_t bytes, std::uint64_t& v) override
        {
            using namespace abi;
            switch (bytes == 4 ? a : 0) {
            case k_dma_base + dma::TYPE: return v = dma::TYPE_reset, uses_dma();
            case k_dma_base + dma::VERSION: return v = dma::VERSION_reset, uses_dma();
            case k_dma_base + dma::QUEUES: return v = 4, uses_dma();
            case k_dma_base + dma::SEMAPHORES: return v = 64, uses_dma();
            default: return bytes == 4 && a >= k_nic_base && w.read_nic(a - k_nic_base, v);
            }
        }
        bool write_device(std::uint64_t a, std::uint32_t, std::uint64_t v) override
        {
            using namespace abi;
            if (a >= k_dma_base && a < k_nic_base)
                return uses_dma();
            return a >= k_nic_base && w.write_nic(*this, a - k_nic_base, v);
        }
        bool uses_dma()
        {
            if (index != 0)
                w.world.problem("core " + std::to_string(index) + " uses the DMA");
            return true;
        }
        unsigned char* memory(std::uint64_t a, std::uint32_t size, bool) override
        {
            if (a + size <= local.size())
                return &local[a];
            const std::uint64_t o = a - abi::k_hbm_base;
            return a >= abi::k_hbm_base && o + size <= w.hbm.size() ? &w.hbm[o] : nullptr;
        }
        std::uint32_t lines() const override
        {
            std::uint32_t nic = 0;
            for (std::uint32_t q = index; q < abi::k_max_nic_queues; q += w.world.options_.cores)
                nic |= w.pending >> q & 1;
            return (command_sequence != command_ack ? abi::k_irq_mailbox : 0u) | (nic != 0 ? abi::k_irq_nic : 0u);
        }
        void set_alarm(std::uint64_t timeout_ns) override
        {
            ++ticket;
            if (timeout_ns < ~std::uint64_t{0} - w.world.now_ns_)
                w.world.at(timeout_ns, {event::deadline, w.index, index, ticket, {}});
        }
        std::uint32_t wait_irq(std::uint32_t m, std::uint64_t timeout_ns) override
        {
            if (w.world.gives_way())
                pause();
            if ((lines() & m) == 0) {
                mask = m;
                sleep(timeout_ns);
                mask = 0;
            }
            return lines() & m;
        }
        std::uint64_t now_ns() override { return w.world.now_ns_; }

        worker_node& w;
        std::uint32_t index;
        sml::table job;
        std::uint64_t ticket = 0; ///< of its last alarm
    };

    struct queue_pair {
        std::uint64_t left = 0; ///< of the message, by its RETH
        std::uint32_t psn = 0;  ///< next to send
        std::uint32_t expected = 0;
        std::uint64_t address = 0;
        bool receives = false;
        struct expected_answer {
            std::uint64_t address = ~std::uint64_t{0};
            abi::nic_format format = abi::nic_format::as_is;
            float scale = 1;
        };
        expected_answer now, latest, before; ///< of the message being received; of the last two writes
    };

    struct worker_node {
        worker_node(switchml_world& at, std::uint32_t number)
            : world(at), index(number), hbm(at.hbm_bytes_, k_untouched), queues(abi::k_max_nic_queues), pairs(1024)
        {
        }
        std::uint32_t pair_count() const
        {
            return world.options_.small_messages ? firmware::queue_pairs_needed(world.job_) : 1024;
        }
        bool read_nic(std::uint64_t o, std::uint64_t& v)
        {
            using namespace abi;
            for (std::uint32_t q = 0; q < queues.size(); ++q) {
                if (o == nic::TX_HEAD(q))
                    return v = queues[q].sent, true;
                if (o == nic::RX_HEAD(q))
                    return v = queues[q].filled, true;
            }
            switch (o) {
            case nic::TYPE: return v = nic::TYPE_reset, true;
            case nic::VERSION: return v = nic::VERSION_reset, true;
            case nic::QUEUES: return v = world.options_.cores, true;
            case nic::QUEUE_PAIRS: return v = pair_count(), true;
            case nic::IRQ_PENDING: return v = pending, pending = 0, true;
            case nic::ERROR: return v = error, true;
            case nic::ERROR_QUEUE: return v = error_queue, true;
            default: return false;
            }
        }
        bool write_nic(core_node& c, std::uint64_t o, std::uint64_t v)
        {
            using namespace abi;
            const auto v32 = static_cast<std::uint32_t>(v);
            for (std::uint32_t q = 0; q < queues.size(); ++q) {
                auto& r = queues[q];
                if (o == nic::TX_BASE(q))
                    return r.send_base = v, true;
                if (o == nic::RX_BASE(q))
                    return r.receive_base = v, true;
                if (o == nic::TX_ENTRIES(q) || o == nic::RX_ENTRIES(q))
                    return r.entries = v32, true;
                if (o == nic::RX_TAIL(q)) {
                    if (static_cast<std::int32_t>(r.filled - v32) < 0)
                        world.problem("RX_TAIL beyond RX_HEAD");
                    return r.released = v32, true;
                }
                if (o == nic::TX_TAIL(q)) {
                    if (v32 - r.sent > r.entries || q != c.index)
                        world.problem("bad doorbell");
                    r.posted = v32;
                    if (!r.busy)
                        world.at(world.delay(300), {event::send, index, q, 0, {}});
                    return r.busy = true;
                }
                if (o == nic::RX_ARM(q)) {
                    if (!world.options_.shared_pending)
                        pending &= ~(1u << q);
                    r.armed = true;
                    r.arm = v32;
                    test(q);
                    return true;
                }
            }
            switch (o) {
            case nic::ACTIVE_QUEUES: return active = v32, true;
            case nic::CONTROL: return enabled = (v & 1) != 0, true;
            case nic::ERROR: return error &= ~v32, true;
            default: return false;
            }
        }
        void test(std::uint32_t q)
        {
            auto& r = queues[q];
            if (r.armed && static_cast<std::int32_t>(r.filled - r.arm) >= 0) {
                r.armed = false;
                pending |= 1u << q;
                cores[q % cores.size()]->wake();
            }
        }
        /// One send entry.
        void send(std::uint32_t q)
        {
            auto& r = queues[q];
            abi::nic_send_entry e;
            std::memcpy(&e, &hbm[r.send_base + (r.sent % r.entries) * sizeof e], sizeof e);
            std::uint32_t words[12];
            std::memcpy(words, &e, sizeof words);
            const bool broken =
                ++entries_sent == world.options_.nic_error_after && index == world.options_.nic_error_worker;
            if (broken || e.check != abi::check_word(words, 12) || e.payload_offset + e.payload_bytes > hbm.size()) {
                if (!broken)
                    world.problem("bad send entry");
                error |= 1;
                error_queue = q;
                return; // the queue stops
            }
            bytes payload(hbm.begin() + static_cast<std::ptrdiff_t>(e.payload_offset),
                          hbm.begin() + static_cast<std::ptrdiff_t>(e.payload_offset + e.payload_bytes));
            if (e.what == abi::nic_send::measure) {
                const std::int32_t largest = largest_exponent(abi::k_min_exponent, payload.data(), payload.size());
                complete(q, {abi::nic_event::measured, 0, static_cast<std::uint32_t>(largest), e.queue_pair}, {});
            } else if (e.what == abi::nic_send::frame) {
                bytes frame(e.header, e.header + e.header_bytes);
                frame.insert(frame.end(), payload.begin(), payload.end());
                ++frames_sent;
                world.to_switch(index, frame);
            } else {
                send_message(e, payload);
            }
            ++r.sent;
            for (auto& c : cores)
                if (c->polling)
                    c->wake();
            r.busy = r.sent != r.posted;
            if (r.busy)
                world.at(world.delay(100), {event::send, index, q, 0, {}});
        }
        void send_message(const abi::nic_send_entry& e, bytes& payload)
        {
            if (e.queue_pair >= pair_count() || (e.payload_bytes % e.packet_payload_bytes) != 0)
                return world.problem("bad message");
            queue_pair& p = pairs[e.queue_pair];
            if (p.latest.address != e.remote_address)
                p.before = p.latest;
            p.latest = {e.remote_address, e.receive_format, e.scale};
            const bytes plain = payload;
            convert_to_wire(conversion(e.send_format, e.scale), payload.data(), plain.data(), plain.size());
            const std::uint32_t packets = e.payload_bytes / e.packet_payload_bytes;
            for (std::uint32_t i = 0; i < packets; ++i) {
                const sml::opcode op = packets == 1      ? sml::opcode::write_only_immediate
                                       : i == 0          ? sml::opcode::write_first
                                       : i + 1 < packets ? sml::opcode::write_middle
                                                         : sml::opcode::write_last_immediate;
                bytes frame(e.header, e.header + sml::k_header);
                frame.resize(sml::roce_headers(op));
                sml::encode(sml::bth{op, e.remote_queue_pair, p.psn++}, &frame[sml::k_header]);
                std::size_t at = sml::k_header + sml::k_bth_bytes;
                if (sml::begins_message(op)) {
                    sml::encode(sml::reth{e.remote_address, e.remote_key, e.payload_bytes}, &frame[at]);
                    at += sml::k_reth_bytes;
                }
                if (sml::has_immediate(op))
                    sml::put32(&frame[at], e.immediate);
                const auto* from = &payload[std::size_t{i} * e.packet_payload_bytes];
                frame.insert(frame.end(), from, from + e.packet_payload_bytes);
                frame.insert(frame.end(), 4, 0);
                ++frames_sent;
                world.to_switch(index, frame);
            }
        }
        nic_conversion conversion(abi::nic_format format, float scale) const
        {
            return {format, static_cast<std::uint16_t>(world.options_.workers), scale};
        }
        void complete(std::uint32_t q, abi::nic_completion c, const bytes& frame)
        {
            auto& r = queues[q];
            if (!enabled || r.entries == 0 || r.filled - r.released >= r.entries)
                return; // no room
            unsigned char* at = &hbm[r.receive_base + std::uint64_t{r.filled % r.entries} * 2048];
            std::memcpy(at, &c, sizeof c);
            std::copy(frame.begin(), frame.end(), at + sizeof c);
            ++r.filled;
            test(q);
        }
        void receive(const bytes& frame)
        {
            const std::uint32_t port = sml::get16(&frame[sml::k_udp + 2]);
            if (port != sml::k_udp_port_roce) {
                complete((port & 15) % active, {abi::nic_event::frame, static_cast<std::uint32_t>(frame.size()), 0, 0},
                         frame);
                return;
            }
            const sml::bth b = sml::decode_bth(&frame[sml::k_header]);
            queue_pair& p = pairs[b.queue_pair & 0x1ff];
            std::size_t at = sml::k_header + sml::k_bth_bytes;
            if (sml::begins_message(b.op)) {
                p.address = sml::decode_reth(&frame[at]).address;
                p.left = sml::decode_reth(&frame[at]).length;
                p.now = p.before.address == p.address && p.latest.address != p.address ? p.before : p.latest;
                // As the NIC does it: the scale of an older write is not known any more.
                p.receives = p.now.address == p.address || p.now.format != abi::nic_format::quantised;
                if (!p.receives)
                    return;
                at += sml::k_reth_bytes;
            } else if (!p.receives || b.psn != p.expected) {
                p.receives = false;
                return;
            }
            p.expected = (b.psn + 1) & sml::k_psn_mask;
            std::uint32_t immediate = 0;
            if (sml::has_immediate(b.op)) {
                immediate = sml::get32(&frame[at]);
                at += 4;
            }
            const std::size_t size = frame.size() - 4 - at;
            if (size > p.left) {
                p.receives = false;
                return;
            }
            p.left -= size;
            if (p.address + size > hbm.size())
                return world.problem("RDMA write outside memory");
            const std::uint64_t in_buffer = p.address - world.buffer_;
            if (in_buffer < world.options_.buffer_bytes && idle)
                ++world.late_writes_;
            convert_from_wire(conversion(p.now.format, p.now.scale), &hbm[p.address], &frame[at], size);
            p.address += size;
            if (sml::ends_message(b.op)) {
                const std::uint32_t cores_pairs = 2 * firmware::window_messages(world.job_);
                complete((b.queue_pair & 0x1ff) / cores_pairs,
                         {abi::nic_event::message, 0, immediate, b.queue_pair & 0x1ff}, {});
            }
        }

        struct queue_state {
            std::uint64_t send_base = 0, receive_base = 0;
            std::uint32_t entries = 0, posted = 0, sent = 0, filled = 0, released = 0, arm = 0;
            bool armed = false, busy = false;
        };
        switchml_world& world;
        std::uint32_t index;
        std::vector<unsigned char> hbm;
        std::vector<queue_state> queues;
        std::vector<queue_pair> pairs;
        std::vector<std::unique_ptr<core_node>> cores;
        std::uint32_t pending = 0, active = 1, error = 0, error_queue = 0;
        bool enabled = false;
        bool idle = true; ///< between two commands: the buffer is the host's
        std::uint64_t frames_sent = 0, frames_received = 0, entries_sent = 0, last_to_switch = 0, last_to_worker = 0;
        std::map<std::uint32_t, std::uint64_t> last_of_slot;
        std::uint32_t done_cores = 0, commands_done = 0;
        std::vector<unsigned char> snapshot;
    };

    // ---- links
    bool happens(double probability) { return std::uniform_real_distribution<double>(0, 1)(random_) < probability; }
    std::uint64_t delay(std::uint32_t most) { return 1 + (most == 0 ? 0 : random_() % most); }
    void at(std::uint64_t after_ns, event e)
    {
        e.time_ns = now_ns_ + after_ns;
        e.order = ++order_;
        events_.push(std::move(e));
    }
    void to_switch(std::uint32_t from, const bytes& frame)
    {
        worker_node& w = *workers_[from];
        if (happens(options_.loss))
            return;
        const bool roce = options_.protocol == sml::transport::rdma;
        std::uint64_t& last = roce ? w.last_to_switch : w.last_of_slot[sml::decode(&frame[sml::k_header]).slot];
        auto shared = std::make_shared<bytes>(frame);
        for (int copies = happens(options_.repeat) ? 2 : 1; copies > 0; --copies) {
            last = std::max(last, now_ns_ + delay(roce ? 100 : 2000));
            at(last - now_ns_, {event::to_switch, from, 0, 0, shared});
            if (roce)
                break; // the switch would take it for a gap
        }
    }
    void to_worker(std::uint32_t to, const bytes& frame)
    {
        worker_node& w = *workers_[to];
        if (happens(options_.loss))
            return;
        const bool roce = options_.protocol == sml::transport::rdma;
        for (int copies = happens(options_.repeat) && !roce ? 2 : 1; copies > 0; --copies) {
            std::uint64_t when = now_ns_ + delay(roce ? 100 : 2000);
            if (roce)
                w.last_to_worker = when = std::max(w.last_to_worker, when);
            at(when - now_ns_, {event::to_worker, to, 0, 0, std::make_shared<bytes>(frame)});
        }
        if (!roce && happens(options_.junk)) {
            bytes odd = frame;
            for (std::size_t i = sml::k_udp_headers; i < odd.size(); ++i)
                odd[i] = static_cast<unsigned char>(random_());
            switch (random_() % 8) {
            case 0: odd.resize(odd.size() - 4); break;
            case 1: odd.insert(odd.end(), 4, 0); break;
            case 2: odd[sml::k_header + 1] ^= 1; break;    // job
            case 3: odd[sml::k_header + 5] ^= 1; break;    // id
            case 4: odd[sml::k_header + 6] ^= 0x80; break; // version
            case 5: odd[sml::k_header + 7] ^= 1; break;    // slot
            case 6: odd[sml::k_ip + 9] = 6; break;         // TCP
            default: odd[sml::k_header] ^= 2; break;       // size
            }
            at(delay(2000), {event::to_worker, to, 0, 0, std::make_shared<bytes>(odd)});
        }
    }

    // ---- host
    bool has_room(const abi::command& c) const
    {
        return c.count <= options_.buffer_bytes / 4 && c.buffer_offset == buffer_;
    }

    void post_command(worker_node& w)
    {
        if (w.commands_done == commands_.size())
            return; // it failed to start, which is the answer to command 1
        const abi::command& c = commands_[w.commands_done];
        if (!w.snapshot.empty() && std::memcmp(w.snapshot.data(), &w.hbm[buffer_], w.snapshot.size()) != 0)
            problem("worker " + std::to_string(w.index) + ": buffer written between two collectives");
        std::memset(&w.hbm[k_dma_rings], k_untouched, nic_area_ - k_dma_rings);
        for (std::uint64_t i = 0; has_room(c) && i < c.count; ++i) {
            const std::uint32_t bits = input_of(options_, c, w.index, i);
            std::memcpy(&w.hbm[buffer_ + i * 4], &bits, 4);
        }
        w.done_cores = 0;
        w.idle = false;
        for (auto& k : w.cores)
            k->post(c);
    }

    void on_done(core_node& k, std::uint32_t sequence)
    {
        worker_node& w = k.w;
        const std::string who = "worker " + std::to_string(w.index) + "." + std::to_string(k.index) + " command " +
                                std::to_string(sequence);
        k.take_answer(sequence, who);
        if (++w.done_cores != w.cores.size())
            return;
        bool ok = true;
        for (auto& c : w.cores)
            ok = ok && c->responses.back().code == abi::status_code::ok;
        if (sequence > commands_.size())
            return;
        if (ok)
            check_memory(w, commands_[sequence - 1], who);
        w.snapshot.assign(&w.hbm[buffer_], &w.hbm[buffer_] + options_.buffer_bytes);
        w.idle = true;
        if (++w.commands_done < commands_.size())
            at(delay(options_.late_ns), {event::command, w.index, 0, 0, {}});
    }

    void check_memory(worker_node& w, const abi::command& c, const std::string& who)
    {
        const std::uint64_t wrong = wrong_sums(options_, c, &w.hbm[buffer_], worst_error_);
        if (wrong != 0)
            problem(who + ": " + std::to_string(wrong) + " wrong elements of " + std::to_string(c.count));
        if (!untouched(w.hbm, k_dma_rings, buffer_) || !untouched(w.hbm, buffer_ + c.count * 4, nic_area_))
            problem(who + ": memory outside the buffer changed");
    }

    void perform(const event& e)
    {
        worker_node& w = *workers_[e.worker];
        switch (e.what) {
        case event::command: post_command(w); break;
        case event::to_switch: {
            std::vector<std::pair<std::uint32_t, bytes>> answers;
            switch_.at_switch(e.worker, *e.frame, answers);
            for (const auto& [to, answer] : answers)
                to_worker(to, answer);
            break;
        }
        case event::to_worker:
            ++w.frames_received;
            w.receive(*e.frame);
            break;
        case event::send: w.send(e.index); break;
        case event::deadline: {
            core_node& c = *w.cores[e.index];
            if (c.sleeping && c.ticket == e.ticket)
                c.time_out();
            break;
        }
        }
    }
    switchml_options options_;
    switchml_switch switch_;
    sml::table job_;
    std::uint64_t buffer_ = 0, nic_area_ = 0, hbm_bytes_ = 0, now_ns_ = 0, order_ = 0;
    std::uint64_t late_writes_ = 0;
    double worst_error_ = 0;
    std::vector<std::unique_ptr<worker_node>> workers_;
    std::vector<abi::command> commands_;
    std::priority_queue<event> events_;
    std::vector<core_node*> ready_;
};

} // namespace weft::testing
