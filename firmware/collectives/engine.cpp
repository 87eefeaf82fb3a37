// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/engine.h"

#include "firmware/costs.h"

#include <new>

namespace weft::firmware {

namespace {

// Messages that a channel enqueues before the doorbell rings and the next channel has its turn: a long first step must
// neither keep the device nor the other direction waiting.
constexpr std::uint32_t k_batch = 4;
// Instructions of entering a pass that are worth a doorbell before it: one costs an access of the bus, about 300.
constexpr std::uint32_t k_long_entry = 500;
// The same in direct exchanges: every message has a queue and a link for itself, so a line's worth starts as many
// links.
constexpr std::uint32_t k_direct_batch = 8;
// The same on rings of multi_axis: each lane that is awake keeps a link of its own busy. It waits while another lane
// enqueues more.
constexpr std::uint32_t k_axis_ring_batch = 1;
constexpr std::uint64_t k_long_run_bytes = 32 << 10; // of shorter ones the core sets the pace

std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

} // namespace

engine::engine(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
               const ring_map& rings, const schedule& s)
    : hal_(hal), dma_(dma), context_(context), command_(command), schedule_(s), runs_(s, rings),
      element_bytes_(abi::element_bytes(command.type)), window_(larger(2, dma.ring_entries() / 2)),
      cycles_(costs::k_command + s.cost), end_(channels_ + s.channel_count)
{
    message_.type = command.type;
    for (std::uint32_t i = 0; i < s.channel_count; ++i) {
        channel& c = *new (&channels_[i]) channel;
        c.plan = &s.channels[i];
        c.index = i;
        c.active = !c.plan->sleeps;
        c.cursor.lane = c.plan->lane;
        use_queue(c, c.plan->queue);
    }
}

void engine::use_queue(channel& c, std::uint32_t queue_index)
{
    c.queue = queue_index % dma_.queues();
    c.port = static_cast<std::uint8_t>(c.queue % context_.table.dma_ports);
}

// ------------------------------------------------------------------------------------------------------------ passes
// and runs

void engine::start_channels()
{
    for (channel& c : channels())
        enter_pass(c);
    for (channel& c : channels())
        if (c.now->posted_ahead)
            start_ahead(c);
}

void engine::enter_pass(channel& c)
{
    const pass& p = c.plan->passes[c.pass_index];
    c.now = &p;
    c.counts = runs_.enter(p, c.plan->lane, c.cursor);
    charge(runs_.take_cost());
    c.sent = 0;
    c.needs_ready = p.needs_ready;
    c.run_over = c.counts.sends != 0; // the first one is looked for behind the doorbell, too
    c.receive_base = context_.expected[p.receive_semaphore] - p.shared_receives;
    context_.expected[p.receive_semaphore] += c.counts.receives;
    c.batch = p.source == run_source::axis_direct || is_of_tree(p.source) ? k_direct_batch : k_batch;
    if (c.run_over && p.source == run_source::fan_out)
        load_run(c);
}

// The first run of a pass, or the next one.
void engine::load_run(channel& c)
{
    runs_.find(*c.now, c.cursor, c.sent == 0);
    charge(runs_.take_cost());
    c.run_done = 0;
    c.run_over = false;
    if (c.now->source == run_source::fan_out)
        use_queue(c, c.index + c.cursor.turn); // the same for a rank always: its chunks stay in order
    else if (c.now->source == run_source::axis_direct)
        use_queue(c, c.now->first_queue + c.cursor.turn - 1u);
    else if (c.now->source == run_source::axis_ring)
        c.batch = c.cursor.run.count * element_bytes_ < k_long_run_bytes ? k_batch : k_axis_ring_batch;
    else if (is_of_tree(c.now->source))
        use_queue(c, c.cursor.queue);
    else if (c.now->has_queue)
        use_queue(c, c.now->first_queue);
}

// --- sending ---------------------------------------------------------------------------------------------------------

void engine::pay()
{
    if (cycles_ != 0)
        hal_.compute(cycles_);
    cycles_ = 0;
}

void engine::ring_doorbells()
{
    charge(dma_.pending_doorbells() * costs::k_doorbell);
    pay(); // the work comes before the doorbell
    dma_.doorbells();
}

// `more_ranks`: message_.rank_stride apart.
abi::status engine::notify(std::uint32_t queue_index, std::uint32_t rank, std::uint32_t semaphore, std::uint32_t more_ranks)
{
    const std::uint32_t queue = queue_index % dma_.queues();
    abi::dma_descriptor& d = message_;
    d.source_offset = d.destination_offset = d.bytes = d.stride = 0;
    d.more_pieces = static_cast<std::uint16_t>(more_ranks);
    d.redop = abi::reduce_op::none;
    d.destination_rank = rank;
    d.remote_semaphore = semaphore;
    d.destination_port = static_cast<std::uint8_t>(queue % context_.table.dma_ports);
    d.tag = semaphore;
    charge(costs::k_notify);
    ++messages_;
    return dma_.enqueue(queue, d, command_.timeout_ns);
}

// Tells everyone who will send to this rank that it has entered the collective.
abi::status engine::say_ready()
{
    for (std::uint32_t i = 0; i < schedule_.expectation_count; ++i) {
        const expectation& e = schedule_.expectations[i];
        context_.expected[e.semaphore] += e.messages;
    }
    for (std::uint32_t i = 0; i < schedule_.notice_count; ++i) {
        const notice& n = schedule_.notices[i];
        if (abi::status s = notify(n.queue, n.to, n.semaphore); !s.ok())
            return s;
    }
    for (std::uint32_t i = 0; i < schedule_.line_count; ++i) {
        const told_line& line = schedule_.lines[i];
        message_.rank_stride = static_cast<std::uint16_t>(line.stride);
        message_.first_piece = static_cast<std::uint16_t>(line.at);
        const abi::status s =
            notify(line.first_queue, context_.table.rank - line.at * line.stride, line.semaphore, line.size - 1);
        message_.rank_stride = message_.first_piece = 0;
        if (!s.ok())
            return s;
    }
    return {};
}

[[gnu::always_inline]] inline abi::status engine::send_chunk(channel& c)
{
    const std::uint64_t left = c.cursor.run.count - c.run_done;
    const std::uint64_t elements = left < schedule_.chunk_elements ? left : schedule_.chunk_elements;
    abi::dma_descriptor& d = message_;
    // Buffers are symmetric: the same elements lie at the same offset on every rank.
    d.source_offset = command_.buffer_offset + (c.cursor.run.first + c.run_done) * element_bytes_;
    d.destination_offset = d.source_offset;
    d.bytes = elements * element_bytes_;
    d.more_pieces = static_cast<std::uint16_t>(c.cursor.more_pieces);
    d.stride = c.cursor.stride * element_bytes_;
    d.destination_rank = c.cursor.to;
    d.remote_semaphore = c.cursor.semaphore;
    d.shortest_paths = c.now->shortest_paths ? 1 : 0;
    d.redop = c.now->accumulate && elements != 0 ? command_.redop : abi::reduce_op::none;
    d.destination_port = c.port;
    d.tag = c.index << 28 | c.pass_index << 24 | (c.cursor.step & 0xff'ffff);
    charge(costs::k_message);
    if (abi::status s = c.group == 0 ? dma_.enqueue(c.queue, d, command_.timeout_ns) : post_ahead(c); !s.ok())
        return s;
    ++messages_;
    ++c.sent;
    c.run_done += elements;
    c.run_over = c.run_done == c.cursor.run.count; // the next one is looked for behind the doorbell
    return {};
}

// Messages of this pass that must have arrived before the next one may be sent.
std::uint32_t engine::receives_needed(const channel& c) const
{
    // The k-th dependent message forwards the k-th received one.
    const std::uint32_t dependency = c.sent >= c.counts.free_sends ? c.sent - c.counts.free_sends + 1 : 0;
    // Do not fill the descriptor ring with sends that lie far ahead of what arrives: the window keeps the channels from
    // blocking each other on a full ring. It never exceeds what will arrive, and 2 or more cannot close a cycle of
    // waits.
    const std::uint32_t window = c.sent >= window_ ? smaller(c.sent - window_ + 1, c.counts.receives) : 0;
    return larger(dependency, window);
}

// ------------------------------------------------------------------------------------------------------------- event
// loop

// Whether the next message must wait whatever it holds, and for what.
[[gnu::always_inline]] inline bool engine::must_wait_for_arrivals(channel& c)
{
    if (c.needs_ready) {
        const std::uint32_t semaphore = c.now->ready_semaphore;
        if (must_wait(c, semaphore, context_.expected[semaphore], c.cursor.to))
            return true;
        c.needs_ready = false;
    }
    return c.now->forwards && c.group == 0 &&
           must_wait(c, c.now->receive_semaphore, c.receive_base + receives_needed(c), c.now->view.predecessor);
}

// The same for what it holds: of guarded passes only.
bool engine::held_back(channel& c)
{
    if (c.group != 0)
        return is_far_ahead(c);
    if (c.now->of_contributions)
        return must_wait_for_contributions(c);
    if (is_of_tree(c.now->source))
        return held_back_in_tree(c);
    if (c.now->posted_ahead)
        return false; // a message that waits for arrivals only
    if (c.now->source != run_source::fan_out)
        return held_back_by_failed_chips(c);
    return c.sent >= c.counts.free_sends && // the root has it all
           must_wait(c, c.now->receive_semaphore, c.receive_base + c.sent / (c.now->view.size - 1) + 1,
                     c.now->view.predecessor);
}

// A piece goes on when it has come: from the parent, or from all that have a part in its sum.
bool engine::held_back_in_tree(channel& c)
{
    const std::uint32_t semaphore = c.now->receive_semaphore;
    if (c.now->source == run_source::tree_spread)
        return must_wait(c, semaphore, c.receive_base + c.cursor.turn + 1, c.now->view.predecessor);
    return must_wait(c, semaphore + c.cursor.turn, context_.expected[semaphore + c.cursor.turn],
                     context_.table.rank);
}

// Of a reduce: message k of the sums holds what all children of the tree have sent of it, or all that they have sent
// where it is the only one.
bool engine::must_wait_for_contributions(channel& c)
{
    for (const channel& from : channels()) {
        if (from.plan->lane != c.plan->lane || from.counts.receives == 0)
            continue;
        charge(costs::k_donor);
        const std::uint32_t needed = from.counts.receives / c.counts.sends * (c.sent + 1);
        if (must_wait(c, from.now->receive_semaphore, from.receive_base + needed, from.now->view.predecessor))
            return true;
    }
    return false;
}

// Sends what can be sent now, a batch at most; returns with the channel done, waiting for a semaphore, stopped by a
// full ring, or having more.
[[gnu::always_inline]] inline abi::status engine::advance(channel& c)
{
    charge(costs::k_look);
    c.blocked_by_ring = false;
    c.has_more = false;
    std::uint32_t batch = 0;
    for (;;) {
        while (c.sent < c.counts.sends) {
            bool waits = must_wait_for_arrivals(c);
            if (!waits) {
                if (c.run_over)
                    load_run(c);
                waits = c.now->guarded && held_back(c);
            }
            if (waits) {
                charge(costs::k_blocked);
                return {};
            }
            if (!dma_.has_space(c.queue)) { // a group has room
                c.blocked_by_ring = true;
                return dma_.bus_status("DMA.HEAD");
            }
            if (batch++ == c.batch) {
                c.has_more = true;
                return {};
            }
            if (abi::status s = send_chunk(c); !s.ok())
                return s;
            if (c.batch != k_batch) {
                ring_doorbells(); // its link need not wait for the others' messages
                c.batch = c.group != 0 ? k_batch : c.batch;
            }
        }
        const pass& p = *c.now;
        if (must_wait(c, p.receive_semaphore, c.receive_base + c.counts.receives, p.view.predecessor))
            return {};
        if (p.guarded && p.source == run_source::ring && must_wait_for_all_donors(c))
            return {};
        if (c.pass_index + 1 >= c.plan->pass_count) {
            c.done = true;
            return {};
        }
        if (abi::status s = next_pass(c); !s.ok())
            return s;
        if (!c.active)
            return {};
    }
}

abi::status engine::next_pass(channel& c)
{
    c.steps_before += c.now->view.size - 1;
    ++c.pass_index;
    if (c.plan->passes[c.pass_index].entry_cost > k_long_entry)
        ring_doorbells(); // what has been sent need not wait for it
    enter_pass(c);
    const pass& p = *c.now;
    if (p.tells_when_entered)
        if (abi::status s = notify(c.index, p.view.predecessor, p.ready_semaphore); !s.ok())
            return s;
    if (p.after_all_lanes)
        wait_for_all_lanes(c);
    if (p.wakes != k_no_lane)
        for (channel& other : channels())
            other.active = other.active || other.plan->lane == p.wakes;
    return {};
}

// The last channel that comes to this pass lets all of them go on.
void engine::wait_for_all_lanes(channel& c)
{
    c.active = false;
    for (const channel& other : channels())
        if (other.pass_index < c.pass_index)
            return;
    for (channel& other : channels())
        other.active = true;
    c.has_more = true; // those before it have had their turn
}

// The next runs are found while what was sent is under way.
void engine::look_ahead()
{
    for (channel& c : channels()) {
        if (c.run_over && c.sent < c.counts.sends)
            load_run(c);
    }
}

// Arms the semaphores all waiting channels wait for and sleeps until one fires.
[[gnu::always_inline]] inline abi::status engine::sleep()
{
    charge(costs::k_sleep);
    for (const channel& c : channels()) {
        if (!c.done && c.active && dma_.arm(c.wait_semaphore, c.wait_count))
            charge(costs::k_arm);
    }
    pay();
    if (abi::status s = dma_.bus_status("DMA.SEM_THRESHOLD"); !s.ok())
        return s;
    std::uint64_t fired = 0;
    if (abi::status s = dma_.wait(command_.timeout_ns, fired); !s.ok())
        return s;
    charge(costs::k_wake);
    for (const channel& c : channels()) {
        const std::uint64_t bit = 1ull << c.wait_semaphore;
        if (c.done || !c.active || (fired & bit) == 0)
            continue;
        fired &= ~bit;
        if (!reached(context_, c.wait_semaphore, dma_.armed_threshold(c.wait_semaphore)))
            context_.known[c.wait_semaphore] = dma_.armed_threshold(c.wait_semaphore);
        // Having fired says "at least". Where several chunks make a step, more may have come: one read saves wake-ups.
        const bool by_guard = c.now->of_contributions && !c.needs_ready;
        if ((by_guard || c.wait_semaphore == c.now->receive_semaphore) &&
            c.cursor.run.count > schedule_.chunk_elements && c.sent < c.counts.sends) {
            charge(costs::k_count);
            context_.known[c.wait_semaphore] = dma_.semaphore_count(c.wait_semaphore);
        }
    }
    return dma_.bus_status("DMA.SEM_COUNT");
}

// Nobody sleeps for semaphores while a stream has more to send or its ring is full, so what the others wait for is
// looked at here: a stream that never lets its ring run empty would keep them waiting to its end.
abi::status engine::look_at_semaphores(bool ready_only)
{
    for (const channel& c : channels()) {
        if (c.done || !c.active || !c.waiting || (ready_only && !c.needs_ready))
            continue;
        charge(costs::k_count);
        context_.known[c.wait_semaphore] = dma_.semaphore_count(c.wait_semaphore);
    }
    return dma_.bus_status("DMA.SEM_COUNT");
}

bool engine::somebody_waits() const
{
    for (const channel* c = channels_; c != end_; ++c)
        if (!c->done && c->active && c->waiting)
            return true;
    return false;
}

void engine::run(collective_result& result)
{
    const std::uint32_t nobody = context_.table.ranks;
    result.failed_peer = nobody;
    abi::status status = say_ready();
    start_channels();
    const channel* waiting = nullptr;
    while (status.ok()) {
        charge(costs::k_turn);
        waiting = nullptr;
        const channel* blocked = nullptr;
        bool more = false;
        for (channel& c : channels()) {
            if (!c.active)
                continue;
            // What one channel waits for does not depend on what the others do.
            if (!c.done && (!c.waiting || reached(context_, c.wait_semaphore, c.wait_count))) {
                status = advance(c);
                more = more || (!c.done && c.has_more);
            }
            if (!status.ok()) {
                waiting = waiting == nullptr ? &c : waiting;
                break;
            }
            if (!c.done && waiting == nullptr)
                waiting = &c;
            if (!c.done && c.blocked_by_ring)
                blocked = &c;
        }
        if (!status.ok()) {
            charge(dma_.pending_doorbells() * costs::k_doorbell);
            pay();
            break;
        }
        ring_doorbells();
        status = dma_.bus_status("DMA.TAIL");
        if (!status.ok() || waiting == nullptr)
            break;
        look_ahead();
        if (more) {
            status = look_at_semaphores(true); // the others have their turn when the ring is full, at the latest
        } else if (blocked != nullptr) {
            pay();
            // Half a ring is too long where another channel waits for arrivals.
            status = somebody_waits() ? dma_.wait_entry(blocked->queue, command_.timeout_ns)
                                      : dma_.wait_space(blocked->queue, command_.timeout_ns);
            if (status.ok())
                status = look_at_semaphores(false);
        } else {
            status = sleep();
        }
    }
    charge(costs::k_drain + costs::k_engine_end);
    pay();
    if (status.ok())
        status = dma_.drain(command_.timeout_ns);

    result.status = status;
    result.messages = messages_;
    result.steps = schedule_.steps;
    if (!status.ok() && waiting != nullptr) {
        result.steps = result.failed_step = waiting->steps_before + waiting->cursor.step;
        result.failed_peer = waiting->blocked_by_ring ? waiting->cursor.to : waiting->wait_peer;
    }
}

} // namespace weft::firmware
