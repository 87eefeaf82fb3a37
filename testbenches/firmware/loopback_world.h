// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A machine without time: N ranks with memory, mailbox and DMA, each a core of world_core.h. A seeded scheduler picks
// at random among everything that can happen next: a rank runs up to its next bus access, a DMA queue reads half of a
// message, half of a message is written at its destination, the host posts the next command. Only what the hardware
// promises is kept: descriptors of a queue are served in order, and messages of one (source, queue, destination)
// arrive in order. Some ranks and some message streams are picked to be very slow; with `freeze_one_in` some ranks,
// DMA queues and message streams stand still until nothing else can happen, so that whoever does not have to wait for
// them is as far ahead as the protocol lets it.
//
// The host part fills the buffers of each rank just before its next command and checks them when its DONE comes,
// while other ranks may still be in the collective, or already in the next one.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "firmware/collectives/device_collectives.h"
#include "hw/abi/descriptor.h"
#include "hw/arithmetic/reduce.h"
#include "testbenches/firmware/element_values.h"
#include "testbenches/firmware/loopback_options.h"
#include "testbenches/firmware/world_core.h"
#include "testbenches/firmware/world_groups.h"
#include "testbenches/support/ccu_interpreter.h"

namespace weft::testing {

class world final : public world_base {
public:
    static constexpr std::uint64_t k_buffer_gap = 256;

    explicit world(const world_options& options) : world_base(options.seed, options.yield_one_in), options_(options)
    {
        const std::uint32_t n = ranks();
        ring_bytes_ = std::uint64_t{options.queues} * options.ring_entries * abi::k_descriptor_bytes;
        hbm_bytes_ = ring_bytes_ + 4 * options.buffer_bytes + 4 * k_buffer_gap;
        for (std::uint32_t r = 0; r < n; ++r) {
            ranks_.push_back(std::make_unique<node>(*this, r));
            ranks_.back()->slow = random_() % 8 == 0;
            ranks_.back()->frozen = freezes();
            for (auto& q : ranks_.back()->queues)
                q.frozen = freezes();
        }
        if (options.ccus) {
            std::vector<std::vector<unsigned char>*> memories;
            for (auto& r : ranks_)
                memories.push_back(&r->hbm);
            ccu_ = std::make_unique<ccu_machine>(memories, options.ccu, options.seed);
        }
    }

    std::uint32_t ranks() const
    {
        std::uint32_t n = options_.rows * options_.cols;
        for (const abi::failed_region& f : options_.failed)
            n -= std::uint32_t{f.rows} * f.cols;
        return n;
    }
    std::uint64_t input_offset() const { return ring_bytes_ + k_buffer_gap; }
    std::uint64_t output_offset() const { return input_offset() + options_.buffer_bytes + k_buffer_gap; }

    std::uint64_t scratch_offset() const { return output_offset() + options_.buffer_bytes + k_buffer_gap; }

    /// The table of rank 0, for supports().
    const ccu_machine& ccus() const { return *ccu_; }
    const abi::platform_table& table() const { return ranks_[0]->table; }
    abi::platform_table& table_of(std::uint32_t rank) { return ranks_[rank]->table; }

    /// Adds a command that all ranks get, or these groups; sequence and offsets are filled in.
    void add(abi::command c, const std::vector<rank_list>& groups = {})
    {
        groups_.add(groups);
        c.sequence = static_cast<std::uint32_t>(commands_.size()) + 1;
        c.buffer_offset = input_offset();
        c.output_offset = output_offset();
        c.scratch_offset = scratch_offset();
        if (c.chunk_bytes == 0)
            c.chunk_bytes = 4096;
        if (c.timeout_ns == 0)
            c.timeout_ns = 1'000'000;
        commands_.push_back(c);
    }

    /// Runs until nothing can happen any more.
    void run()
    {
        make_references();
        for (std::uint32_t r = 0; r < ranks(); ++r) {
            ranks_[r]->start();
            can_happen({action::run_rank, r, 0, nullptr});
            if (r + options_.silent_ranks < ranks() && !commands_.empty())
                can_happen({action::post_command, r, 0, nullptr});
        }
        for (;;) {
            if (actions_.empty() && !thaw()) {
                if (time_out())
                    continue;
                if (ccu_ && !ccu_->problems().empty())
                    problem(ccu_->problems());
                return;
            }
            const std::size_t i = random_() % actions_.size();
            const action a = actions_[i];
            const bool slow = a.what == action::deliver ? a.stream->slow : ranks_[a.rank]->slow;
            if (slow && actions_.size() > 1 && random_() % 16 != 0)
                continue;
            actions_[i] = actions_.back();
            actions_.pop_back();
            ++now_;
            perform(a);
            if (options_.spurious && random_() % 32 == 0)
                ranks_[random_() % ranks()]->raise_spurious();
        }
    }

    /// Empty when every rank answered every command with ok, all answers and memories were right and nothing was left
    /// over.
    using world_base::problems;
    /// Answers of a rank in the order of its commands.
    const std::vector<abi::response>& responses(std::uint32_t rank) const { return ranks_[rank]->responses; }
    std::uint64_t accesses(std::uint32_t rank) const { return ranks_[rank]->accesses; }
    std::uint64_t messages() const { return messages_; }
    /// Of messages to other ranks.
    std::uint64_t bytes_sent(std::uint32_t rank) const { return ranks_[rank]->bytes_sent; }
    std::uint64_t bytes_received(std::uint32_t rank) const { return ranks_[rank]->bytes_received; }
    std::uint64_t max_skew() const { return max_skew_; }
    /// Looks at semaphores by descriptors that wait for one, which found too low a count.
    std::uint64_t waited_in_engines() const { return waited_in_engines_; }
    const std::map<std::string, std::uint64_t>& access_kinds() const { return access_kinds_; }

private:
    struct message {
        abi::dma_descriptor d;
        std::uint64_t bytes() const { return d.bytes * (std::uint64_t{d.more_pieces} + 1); }
        /// Where byte `i` lies behind either offset.
        std::uint64_t place(std::uint64_t i) const { return d.more_pieces == 0 ? i : i / d.bytes * d.stride + i % d.bytes; }
        std::uint64_t span() const { return d.more_pieces * d.stride + d.bytes; }
        std::vector<unsigned char> data;
        bool half_written = false;
    };
    struct message_stream { // messages of one (source, queue, destination)
        std::deque<message> messages;
        bool slow = false;
        bool frozen = false;
    };
    struct action {
        enum kind { run_rank, fetch, deliver, post_command, run_ccus } what;
        std::uint32_t rank;
        std::uint32_t queue;
        message_stream* stream;
    };

    struct node final : world_core {
        node(world& w, std::uint32_t r)
            : world_core(w, abi::k_local_memory_bytes), w_(w), rank(r), hbm(w.hbm_bytes_, k_untouched),
              queues(w.options_.queues)
        {
            fault_access = r == w.options_.fault_rank ? w.options_.fault_access : 0;
            const world_options& o = w.options_;
            table.rank = r;
            table.ranks = w.ranks();
            table.servers = w.options_.servers;
            table.dim_count = 2;
            table.dims[0] = o.rows;
            table.dims[1] = o.cols;
            std::uint32_t at = 0; // counted the slow way: place_of() is what the tests are about
            for (std::uint32_t rank_there = 0;; ++at) {
                const std::uint32_t row = at / o.cols, col = at % o.cols;
                bool works = true;
                for (const abi::failed_region& f : o.failed)
                    works = works && !(row >= f.row && row < f.row + f.rows && col >= f.col && col < f.col + f.cols);
                if (works && rank_there++ == r)
                    break;
            }
            table.coord[0] = at / o.cols;
            table.coord[1] = at % o.cols;
            for (const abi::failed_region& f : o.failed)
                table.failed[table.failed_regions++] = f;
            table.kind[0] = o.wrap_rows ? abi::dimension_kind::ring : abi::dimension_kind::line;
            table.kind[1] = o.wrap_cols ? abi::dimension_kind::ring : abi::dimension_kind::line;
            table.rate_mbps[0] = table.rate_mbps[1] = o.switched || !o.dims.empty() ? 0 : o.mesh_mbps;
            if (o.switched) {
                table.dim_count = 1;
                table.dims[0] = o.rows * o.cols;
                table.coord[0] = r;
                table.kind[0] = abi::dimension_kind::switched;
                table.dims[1] = table.coord[1] = 0;
                table.kind[1] = abi::dimension_kind::line;
            }
            if (!o.dims.empty()) {
                std::uint32_t rest = r;
                for (std::size_t d = o.dims.size(); d-- > 0; rest /= o.dims[d]) {
                    table.dims[d] = o.dims[d];
                    table.coord[d] = rest % o.dims[d];
                    table.kind[d] = o.kind;
                    table.rate_mbps[d] = o.link_mbps * (o.kind == abi::dimension_kind::full ? o.dims[d] - 1 : 2);
                }
                table.dim_count = static_cast<std::uint32_t>(o.dims.size());
            }
            table.dma_queues = o.queues;
            table.dma_ports = o.ports;
            table.dma_ring_entries = o.ring_entries;
            table.hbm_bytes = w.hbm_bytes_;
            table.dma_ring_area = table.hbm_base;
            table.ccus = o.ccus ? abi::ccu::k_dies : 0;
            table.ccu_channels = o.ccus ? o.ccu.channels : 0;
            seal();
        }
        void seal() { testing::seal(table); }

        void run_later() override { w_.can_happen({action::run_rank, rank, 0, nullptr}); }

        // ---- what firmware meets
        void on_access(const char* kind) override
        {
            if (w_.options_.rows == 2)
                ++w_.access_kinds_[kind];
        }
        void on_done(std::uint32_t sequence) override { w_.on_done(*this, sequence); }
        unsigned char* memory(std::uint64_t a, std::uint32_t bytes, bool write) override
        {
            if (write && a >= abi::k_hbm_base && a - abi::k_hbm_base + bytes <= w_.ring_bytes_)
                return &hbm[a - abi::k_hbm_base];
            return a + bytes <= local.size() ? &local[a] : nullptr;
        }
        bool read_device(std::uint64_t a, std::uint32_t bytes, std::uint64_t& v) override
        {
            using namespace abi;
            if (w_.is_ccu(a))
                return w_.ccu_->read(rank, die_of(a), (a - ccu::k_base) % ccu::k_die_stride, v);
            if (bytes == 8) {
                if (a != k_dma_base + dma::SEM_PENDING)
                    return false;
                v = pending;
                pending = 0;
                return true;
            }
            if (a + 4 <= local.size()) {
                std::uint32_t word = 0;
                std::memcpy(&word, &local[a], sizeof word);
                return v = word, true;
            }
            const std::uint64_t o = a - k_dma_base;
            for (std::uint32_t q = 0; q < queues.size(); ++q)
                if (o == dma::HEAD(q))
                    return v = queues[q].head, true;
            for (std::uint32_t s = 0; s < 64; ++s)
                if (o == dma::SEM_COUNT(s))
                    return v = count[64 * bank + s], true;
            switch (a < k_dma_base ? ~0ull : o) {
            case dma::TYPE: return v = dma::TYPE_reset, true;
            case dma::VERSION: return v = dma::VERSION_reset, true;
            case dma::QUEUES: return v = queues.size(), true;
            case dma::SEMAPHORES: return v = 64, true;
            case dma::SEM_BANKS: return v = k_banks, true;
            case dma::IRQ_STATUS: return v = (pending != 0 ? 1u : 0u) | (error != 0 ? 2u : 0u), true;
            case dma::ERROR: return v = error, true;
            case dma::ERROR_QUEUE: return v = 0, true;
            default: return false;
            }
        }
        bool write_device(std::uint64_t a, std::uint32_t bytes, std::uint64_t value) override
        {
            using namespace abi;
            const std::uint64_t o = a - k_dma_base;
            const auto v = static_cast<std::uint32_t>(value);
            if (a < k_dma_base)
                return false;
            if (w_.is_ccu(a)) {
                const bool done = w_.ccu_->write(rank, die_of(a), (a - ccu::k_base) % ccu::k_die_stride, value);
                w_.run_ccus_later();
                return done;
            }
            for (std::uint32_t q = 0; q < queues.size(); ++q) {
                if (o == dma::RING_BASE(q))
                    return queues[q].base = value, bytes == 8;
                if (bytes == 4 && o == dma::TAIL(q)) {
                    if (!w_.options_.deaf_doorbells)
                        w_.doorbell(*this, q, v);
                    return true;
                }
                if (bytes == 4 && o == dma::RING_ENTRIES(q))
                    return queues[q].entries = v, true;
            }
            if (bytes == 8)
                return false;
            for (std::uint32_t s = 0; s < 64; ++s)
                if (o == dma::SEM_THRESHOLD(s)) {
                    threshold[s] = v;
                    armed |= 1ull << s;
                    test(s);
                    return true;
                }
            if (o == dma::SEM_BANK && v < k_banks) {
                bank = v;
                armed = pending = 0;
                return true;
            }
            if (o == dma::ERROR)
                error &= ~v;
            return o == dma::CONTROL || o == dma::IRQ_ENABLE || o == dma::ERROR;
        }
        std::uint32_t lines() const override
        {
            return (command_sequence != command_ack ? abi::k_irq_mailbox : 0u) |
                   (pending != 0 || error != 0 ? abi::k_irq_dma : 0u) | ccu_lines();
        }
        std::uint32_t ccu_lines() const
        {
            std::uint32_t found = 0;
            for (std::uint32_t die = 0; w_.ccu_ && die < abi::ccu::k_dies; ++die)
                found |= w_.ccu_->interrupts(rank, die) ? abi::k_irq_ccu << die : 0u;
            return found;
        }
        static std::uint32_t die_of(std::uint64_t a) { return static_cast<std::uint32_t>((a - abi::ccu::k_base) / abi::ccu::k_die_stride); }
        std::uint32_t wait_irq(std::uint32_t m, std::uint64_t timeout_ns) override
        {
            timed_out = false;
            if (m == 0) {
                pause();
                return 0;
            }
            while ((lines() & m) == 0 && !timed_out) {
                mask = m;
                sleep(timeout_ns);
            }
            mask = 0;
            return lines() & m;
        }
        std::uint64_t now_ns() override { return w_.now_; }
        void set_alarm(std::uint64_t timeout_ns) override { alarm_ns = w_.now_ + timeout_ns; }
        std::uint64_t alarm_ns = 0;

        // ---- devices
        void test(std::uint32_t s)
        {
            if ((armed >> s & 1) != 0 && static_cast<std::int32_t>(count[64 * bank + s] - threshold[s]) >= 0) {
                armed &= ~(1ull << s);
                pending |= 1ull << s;
                spurious_in_a_row = 0;
                wake();
            }
        }
        void raise_spurious()
        {
            if (spurious_in_a_row == 48) // 64 make a broken line
                return;
            ++spurious_in_a_row;
            pending |= 1ull << 39; // the one semaphore that firmware never arms
            wake();
        }
        struct queue_state {
            std::uint64_t base = 0;
            std::uint32_t entries = 0, tail = 0, head = 0;
            bool busy = false;
            bool half_read = false;
            bool waits = false; ///< for a semaphore
            bool frozen = false;
            message current;
        };
        world& w_;
        std::uint32_t rank;
        std::vector<unsigned char> hbm;
        std::vector<queue_state> queues;
        static constexpr std::uint32_t k_banks = abi::dma::SEM_BANKS_reset;
        std::uint32_t count[64 * k_banks] = {}, threshold[64] = {};
        std::uint32_t bank = 0;
        std::uint64_t armed = 0, pending = 0;
        std::uint32_t error = 0;
        std::uint32_t spurious_in_a_row = 0;
        bool slow = false, frozen = false;
        std::uint64_t bytes_sent = 0, bytes_received = 0;
        std::vector<unsigned char> snapshot; ///< input buffer between DONE and the next command
    };

    // ---- scheduler
    bool freezes() { return options_.freeze_one_in != 0 && random_() % options_.freeze_one_in == 0; }

    void can_happen(const action& a)
    {
        node& n = *ranks_[a.rank];
        const bool frozen = a.what == action::deliver ? a.stream->frozen
                            : a.what == action::fetch ? n.queues[a.queue].frozen
                                                      : n.frozen;
        (frozen ? frozen_ : actions_).push_back(a);
    }

    // Nothing else can happen: one frozen action does, and sometimes its owner thaws and another rank freezes.
    bool thaw()
    {
        if (frozen_.empty())
            return false;
        const std::size_t i = random_() % frozen_.size();
        const action a = frozen_[i];
        frozen_[i] = frozen_.back();
        frozen_.pop_back();
        if (random_() % 4 == 0) {
            node& n = *ranks_[a.rank];
            (a.what == action::deliver ? a.stream->frozen
             : a.what == action::fetch ? n.queues[a.queue].frozen
                                       : n.frozen) = false;
            ranks_[random_() % ranks()]->frozen = freezes();
        }
        actions_.push_back(a);
        return true;
    }

    void perform(const action& a)
    {
        node& n = *ranks_[a.rank];
        switch (a.what) {
        case action::run_rank: n.run_on(); break;
        case action::fetch: fetch(n, a.queue); break;
        case action::deliver: deliver(n, *a.stream); break;
        case action::post_command: post_command(n); break;
        case action::run_ccus: run_ccus(); break;
        }
    }

    // Nothing else can happen: of the ranks that wait for their DMA, the one with the least time left sees its timeout.
    bool time_out()
    {
        node* first = nullptr;
        for (auto& n : ranks_)
            if (n->sleeping && (n->polling || (n->mask & (abi::k_irq_dma | 3 * abi::k_irq_ccu)) != 0) &&
                (first == nullptr || n->alarm_ns < first->alarm_ns))
                first = n.get();
        if (first == nullptr)
            return false;
        if (ccu_ && !ccu_->waits().empty())
            problem(ccu_->waits());
        if (ccu_ && ccu_->expire(first->rank)) { // before its core loses patience
            first->wake();
            return true;
        }
        now_ = std::max(now_, first->alarm_ns);
        first->time_out();
        return true;
    }

    // ---- CCUs
    bool is_ccu(std::uint64_t a) const { return ccu_ && a >= abi::ccu::k_base && a < abi::ccu::k_base + abi::ccu::k_dies * abi::ccu::k_die_stride; }
    void run_ccus_later()
    {
        if (!ccus_run_ && ccu_->can_step()) {
            ccus_run_ = true;
            actions_.push_back({action::run_ccus, 0, 0, nullptr});
        }
    }
    void run_ccus()
    {
        ccus_run_ = false;
        for (std::uint32_t k = random_() % 256 + 1; k > 0 && ccu_->can_step(); --k)
            if (const std::int64_t rank = ccu_->step(); rank >= 0)
                ranks_[static_cast<std::size_t>(rank)]->wake();
        run_ccus_later();
    }

    // ---- DMA
    void doorbell(node& n, std::uint32_t q, std::uint32_t tail)
    {
        auto& queue = n.queues[q];
        if (tail - queue.head > queue.entries)
            problem("rank " + std::to_string(n.rank) + " overran the ring of queue " + std::to_string(q));
        queue.tail = tail;
        if (!queue.busy && queue.head != queue.tail) {
            queue.busy = true;
            can_happen({action::fetch, n.rank, q, nullptr});
        }
    }

    static void read(const node& n, message& m, std::uint64_t from, std::uint64_t to)
    {
        for (std::uint64_t i = from; i < to; ++i)
            m.data[i] = n.hbm[m.d.source_offset + m.place(i)];
    }

    enum class wait_state { none, over, waits, bad };
    /// What the entry behind a descriptor says: here it has a semaphore to wait for, and nothing else.
    wait_state wait_of(const node& n, std::uint32_t q, const unsigned char* at) const
    {
        abi::dma_element_entry e;
        std::memcpy(&e, at, sizeof e);
        std::uint32_t words[14];
        std::memcpy(words, &e, sizeof words);
        const auto& queue = n.queues[q];
        if (queue.current.d.element_entries != 1 || queue.tail - queue.head < 2 || e.check != abi::check_word(words, 14) ||
            e.more_sources != 0 || e.more_destinations != 0 || e.wait_semaphore >= std::size(n.count))
            return wait_state::bad;
        return static_cast<std::int32_t>(n.count[e.wait_semaphore] - e.wait_count) >= 0 ? wait_state::over : wait_state::waits;
    }

    void fetch(node& n, std::uint32_t q)
    {
        auto& queue = n.queues[q];
        message& m = queue.current;
        if (!queue.half_read) {
            const auto entry = [&](std::uint32_t i) {
                return &n.hbm[queue.base + std::uint64_t{(queue.head + i) % queue.entries} * abi::k_descriptor_bytes];
            };
            std::memcpy(&m.d, entry(0), sizeof m.d);
            std::uint32_t words[14];
            std::memcpy(words, &m.d, sizeof words);
            const wait_state wait = m.d.element_entries == 0 ? wait_state::none : wait_of(n, q, entry(1));
            if (wait == wait_state::waits) {
                queue.waits = true; // deliver() looks again
                ++waited_in_engines_;
                return;
            }
            if (wait == wait_state::bad || m.d.check != abi::check_word(words, 14) || m.d.destination_rank >= ranks() ||
                m.d.source_offset + m.span() > hbm_bytes_ || m.d.destination_offset + (m.d.rank_stride == 0 ? m.span() : m.d.bytes) > hbm_bytes_ ||
                (m.d.rank_stride != 0 ? m.d.destination_rank + std::uint64_t{m.d.more_pieces} * m.d.rank_stride >= ranks()
                                      : m.d.more_pieces != 0 && (m.d.bytes == 0 || m.d.stride < m.d.bytes)) ||
                m.d.destination_port >= options_.ports || (m.d.bytes == 0 && wait == wait_state::none && m.d.remote_semaphore >= 64 * abi::dma::SEM_BANKS_reset)) {
                problem("bad descriptor from rank " + std::to_string(n.rank));
                n.error |= 1;
                n.wake();
                return; // the queue stops
            }
            if (m.d.rank_stride == 0) {
                m.data.resize(m.bytes());
                read(n, m, 0, m.bytes() / 2);
            }
            queue.half_read = true;
            can_happen({action::fetch, n.rank, q, nullptr});
            return;
        }
        queue.half_read = false;
        queue.head += 1u + m.d.element_entries;
        if (m.d.rank_stride == 0) {
            read(n, m, m.bytes() / 2, m.bytes());
            send(n, q, m);
        } else {
            for (std::uint32_t k = 0; k <= m.d.more_pieces; ++k) {
                message one;
                one.d = m.d;
                one.d.more_pieces = one.d.rank_stride = 0;
                one.d.source_offset += k * m.d.stride;
                one.d.destination_rank += k * m.d.rank_stride;
                one.data.resize(one.bytes());
                read(n, one, 0, one.bytes());
                send(n, q, one);
            }
        }
        m = {};
        queue.busy = queue.head != queue.tail;
        if (queue.busy)
            can_happen({action::fetch, n.rank, q, nullptr});
        if (n.polling)
            n.wake();
    }

    void send(node& n, std::uint32_t q, message& m)
    {
        ++messages_;
        if (m.d.destination_rank != n.rank) {
            n.bytes_sent += m.bytes();
            ranks_[m.d.destination_rank]->bytes_received += m.bytes();
        }
        if (messages_ != options_.drop_message) {
            const auto key = (std::uint64_t{n.rank} * 16 + q) * ranks() + m.d.destination_rank;
            auto [it, fresh] = streams_.try_emplace(key);
            if (fresh) {
                it->second.slow = random_() % 8 == 0;
                it->second.frozen = freezes();
            }
            message_stream& s = it->second;
            if (s.messages.empty())
                can_happen({action::deliver, m.d.destination_rank, 0, &s});
            s.messages.push_back(std::move(m));
        }
    }

    void deliver(node& n, message_stream& s)
    {
        message& m = s.messages.front();
        const std::uint64_t element = abi::element_bytes(m.d.type);
        const std::uint64_t middle = m.bytes() / element / 2 * element;
        const std::uint64_t from = m.half_written ? middle : 0;
        const std::uint64_t to = m.half_written ? m.bytes() : middle;
        for (std::uint64_t i = from; i < to; i += element)
            reduce(m.d.type, m.d.redop, &n.hbm[m.d.destination_offset + m.place(i)], &m.data[i], element);
        if (!m.half_written && m.d.bytes != 0) {
            m.half_written = true;
        } else {
            const std::uint32_t semaphore = m.d.remote_semaphore;
            if (semaphore < std::size(n.count)) {
                ++n.count[semaphore];
                if (semaphore / 64 == n.bank)
                    n.test(semaphore % 64);
                for (std::uint32_t q = 0; q < n.queues.size(); ++q)
                    if (std::exchange(n.queues[q].waits, false))
                        can_happen({action::fetch, n.rank, q, nullptr});
            }
            s.messages.pop_front();
        }
        if (!s.messages.empty())
            can_happen({action::deliver, n.rank, 0, &s});
    }

    // ---- host
    /// A machine of its own that only serves: the host clears its buffer.
    bool is_server(const abi::command& c, std::uint32_t rank) const
    {
        const std::uint32_t servers = options_.servers;
        return c.algo == abi::algorithm::parameter_server && servers != 0 && servers < ranks() && rank + servers >= ranks();
    }
    bool has_room(const abi::command& c) const { return c.count <= options_.buffer_bytes / abi::element_bytes(c.type); }

    /// Ranks that work together with `rank`: all, or those of its group in their order; none, where it is in no group.
    rank_list partners(const abi::command& c, std::uint32_t rank) const
    {
        rank_list found = groups_.members(c, rank, ranks());
        found.erase(std::remove_if(found.begin(), found.end(), [&](std::uint32_t r) { return is_server(c, r); }), found.end());
        return found;
    }

    void make_references()
    {
        for (const abi::command& c : commands_) {
            std::vector<std::int64_t> sums;
            if (!has_room(c)) {
                references_.emplace_back(); // firmware has to refuse it
                continue;
            }
            if (!groups_.any(c) && abi::reduces(c.op))
                sums = reference(c, 0);
            references_.push_back(std::move(sums));
        }
    }

    std::vector<std::int64_t> reference(const abi::command& c, std::uint32_t rank) const
    {
        std::vector<std::int64_t> sums(c.count);
        const std::vector<std::uint32_t> all = partners(c, rank);
        for (std::uint64_t i = 0; i < c.count; ++i) {
            sums[i] = element_value(c, all[0], i);
            for (std::size_t r = 1; r < all.size(); ++r)
                sums[i] = combine(c.redop, c.type, sums[i], element_value(c, all[r], i));
        }
        return sums;
    }

    void post_command(node& n)
    {
        const abi::command& c = commands_[n.responses.size()];
        if (!n.snapshot.empty() && std::memcmp(n.snapshot.data(), &n.hbm[input_offset()], n.snapshot.size()) != 0)
            problem("rank " + std::to_string(n.rank) + ": buffer written between two collectives");
        const std::uint32_t element = abi::element_bytes(c.type);
        std::memset(&n.hbm[ring_bytes_], k_untouched, hbm_bytes_ - ring_bytes_);
        for (std::uint64_t i = 0; has_room(c) && i < c.count; ++i)
            put_element(c.type, &n.hbm[input_offset() + i * element],
                        is_server(c, n.rank) ? 0 : element_value(c, n.rank, i));
        const table_of_rank tables = [this](std::uint32_t r) -> const abi::platform_table& { return ranks_[r]->table; };
        const abi::command told = groups_.told(c, n.rank, tables, n.local.data());
        std::uint64_t slowest = ~0ull;
        for (const auto& other : ranks_)
            slowest = std::min<std::uint64_t>(slowest, other->responses.size());
        max_skew_ = std::max(max_skew_, n.responses.size() - slowest);
        n.post(told);
    }

    void on_done(node& n, std::uint32_t sequence)
    {
        const std::string who = "rank " + std::to_string(n.rank) + " command " + std::to_string(sequence);
        if (n.take_answer(sequence, who) && sequence <= commands_.size())
            check_memory(n, commands_[sequence - 1], who);
        n.snapshot.assign(&n.hbm[input_offset()], &n.hbm[input_offset()] + options_.buffer_bytes);
        if (n.responses.size() < commands_.size())
            can_happen({action::post_command, n.rank, 0, nullptr});
    }

    void check_memory(node& n, const abi::command& c, const std::string& who)
    {
        using abi::collective_op;
        const std::uint32_t element = abi::element_bytes(c.type);
        const auto input = [&](std::uint64_t i) { return get_element(c.type, &n.hbm[input_offset() + i * element]); };
        const rank_list members = groups_.members(c, n.rank, ranks());
        if (members.empty())
            return;
        const auto size = static_cast<std::uint32_t>(members.size());
        const auto place =
            static_cast<std::uint32_t>(std::find(members.begin(), members.end(), n.rank) - members.begin());
        const auto sums = groups_.any(c) && abi::reduces(c.op) ? reference(c, n.rank) : references_[c.sequence - 1];
        const abi::element_range mine = abi::shard_of(c.count, size, place);
        abi::element_range sum_of{0, c.count};
        if (is_server(c, n.rank))
            sum_of = abi::shard_of(c.count, options_.servers, n.rank + options_.servers - ranks());
        std::uint64_t wrong = 0;
        std::uint64_t out_bytes = 0;
        switch (c.op) {
        case collective_op::dispatch:
        case collective_op::combine: break; // this world makes no lists of tokens
        case collective_op::all_reduce:
            for (std::uint64_t i = sum_of.first; i < sum_of.first + sum_of.count; ++i)
                wrong += input(i) != sums[i];
            break;
        case collective_op::reduce_scatter:
            for (std::uint64_t i = mine.first; i < mine.first + mine.count; ++i)
                wrong += input(i) != sums[i];
            break;
        case collective_op::all_gather:
            for (std::uint32_t r = 0; r < size; ++r) {
                const abi::element_range shard = abi::shard_of(c.count, size, r);
                for (std::uint64_t i = shard.first; i < shard.first + shard.count; ++i)
                    wrong += input(i) != element_value(c, members[r], i);
            }
            break;
        case collective_op::broadcast:
            for (std::uint64_t i = 0; i < c.count; ++i)
                wrong += input(i) != element_value(c, members[c.root], i);
            break;
        case collective_op::reduce:
            for (std::uint64_t i = 0; place == c.root && i < c.count; ++i)
                wrong += input(i) != sums[i];
            break;
        case collective_op::all_to_all:
            for (std::uint32_t r = 0; r < size; ++r) {
                for (std::uint64_t i = 0; i < mine.count; ++i) {
                    const std::uint64_t at = output_offset() + (r * mine.count + i) * element;
                    wrong += get_element(c.type, &n.hbm[at]) != element_value(c, members[r], mine.first + i);
                }
            }
            out_bytes = size * mine.count * element;
            break;
        }
        if (wrong != 0)
            problem(who + ": " + std::to_string(wrong) + " wrong elements of " + std::to_string(c.count));
        const std::uint64_t scratch_bytes =
            c.op == collective_op::all_to_all
                ? firmware::scratch_outputs(c.algo) * size * abi::shard_of(c.count, size, 0).count * element
                : 0;
        if (!untouched(n.hbm, ring_bytes_, input_offset()) ||
            !untouched(n.hbm, input_offset() + c.count * element, output_offset()) ||
            !untouched(n.hbm, output_offset() + out_bytes, scratch_offset()) ||
            !untouched(n.hbm, scratch_offset() + scratch_bytes, hbm_bytes_))
            problem(who + ": memory outside the buffers changed");
    }

    world_options options_;
    std::unique_ptr<ccu_machine> ccu_;
    bool ccus_run_ = false; ///< an action is there
    std::uint64_t ring_bytes_ = 0;
    std::uint64_t hbm_bytes_ = 0;
    std::uint64_t now_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t max_skew_ = 0;
    std::uint64_t waited_in_engines_ = 0;
    std::vector<std::unique_ptr<node>> ranks_;
    std::map<std::uint64_t, message_stream> streams_;
    std::vector<action> actions_;
    std::vector<action> frozen_;
    std::vector<abi::command> commands_;
    world_groups groups_;
    std::vector<std::vector<std::int64_t>> references_;
    std::map<std::string, std::uint64_t> access_kinds_;
};

/// Problems of a run to its end; too few answers of a rank are one.
inline std::string run_to_end(world& w, std::size_t commands)
{
    w.run();
    std::string problems = w.problems();
    for (std::uint32_t r = 0; r < w.ranks(); ++r)
        if (w.responses(r).size() != commands)
            problems += "rank " + std::to_string(r) + " answered " + std::to_string(w.responses(r).size()) + " commands; ";
    return problems;
}

/// Runs `commands` back to back; `answers` are those of rank 0.
inline std::string run_all(const world_options& o, const std::vector<abi::command>& commands, std::vector<abi::response>* answers = nullptr)
{
    world w(o);
    for (const abi::command& c : commands)
        w.add(c);
    const std::string problems = run_to_end(w, commands.size());
    if (answers != nullptr)
        *answers = w.responses(0);
    return problems;
}

} // namespace weft::testing
