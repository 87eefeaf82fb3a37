// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/engine.h"

#include "firmware/collectives/full_mesh.h"
#include "firmware/costs.h"

namespace weft::firmware {

namespace {

// Messages that a channel enqueues before the doorbell rings and the next channel has its turn: a long first step must
// neither keep the device nor the other direction waiting.
constexpr std::uint32_t k_batch = 4;

std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

} // namespace

engine::engine(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command)
    : hal_(hal), dma_(dma), context_(context), command_(command), mesh_(mesh_of(context.table)),
      element_bytes_(abi::element_bytes(command.type)),
      chunk_elements_(command.chunk_bytes / element_bytes_ > 0 ? command.chunk_bytes / element_bytes_ : 1),
      window_(larger(2, dma.ring_entries() / 2)), set_up_cycles_(costs::k_engine)
{
    message_.type = command.type;
}

// How this rank sees a ring; the phases of a collective share few of them.
const ring_view& engine::view(ring_id ring)
{
    const std::uint32_t number = ring_number(ring);
    if ((seen_rings_ >> number & 1) == 0) {
        seen_rings_ |= 1u << number;
        if (ring.kind >= ring_kind::whole) {
            charge(context_.table.dim_count *
                   (ring.kind == ring_kind::whole ? costs::k_whole_view : costs::k_axis_view));
            rings_[number] = view_ring(context_.table, ring);
        } else {
            charge(mesh_.broken() ? costs::k_broken_view : costs::k_view);
            rings_[number] = view_ring(mesh_, ring, context_.table.rank);
        }
    }
    return rings_[number];
}

std::uint32_t engine::member(ring_id ring, std::uint32_t position) const
{
    return ring.kind == ring_kind::whole ? ring_member(context_.table, ring, position)
                                         : ring_member(mesh_, ring, context_.table.rank, position);
}

// ------------------------------------------------------------------------------------------------------- shards and counts

std::uint32_t engine::chunks(std::uint64_t elements) const
{
    return static_cast<std::uint32_t>((elements + chunk_elements_ - 1) / chunk_elements_);
}

// How many shards an inner phase sends in each step: the own one and those adopted.
std::uint32_t engine::inner_count(const channel& c) const
{
    return c.phases[c.phase].level != 0 ? lanes_[c.lane].inner_count : 1;
}

// What the phase works on. Only the second level has several lists.
const abi::element_range& engine::range_of(const channel& c, std::uint32_t list) const
{
    const std::uint32_t level = c.phases[c.phase].level;
    return level == 0 ? lanes_[c.lane].outer_range : lanes_[c.lane].inner[level - 1 + list];
}

abi::element_range engine::shard_at(const channel& c, std::uint32_t list, std::uint32_t position) const
{
    const abi::element_range& range = range_of(c, list);
    const abi::element_range shard = abi::shard_of(range.count, c.ring.size, position);
    return {range.first + shard.first, shard.count};
}

abi::element_range engine::shard_of_rank(const channel& c, std::uint32_t rank) const
{
    const abi::element_range all = abi::shard_of(command_.count, c.ring.size, rank);
    const abi::element_range half = abi::shard_of(all.count, 2, c.lane);
    return {all.first + half.first, half.count};
}

// shard_of() makes shards of at most two lengths, so no loop over the ring is needed.
std::uint32_t engine::chunks_of_all_shards(const channel& c, std::uint64_t count) const
{
    const std::uint32_t n = c.ring.size;
    std::uint64_t short_length = count / n;
    std::uint64_t long_length = short_length + 1;
    if (c.by_rank) {
        short_length = abi::shard_of(short_length, 2, c.lane).count;
        long_length = abi::shard_of(long_length, 2, c.lane).count;
    }
    const auto long_shards = static_cast<std::uint32_t>(count % n);
    return long_shards * chunks(long_length) + (n - long_shards) * chunks(short_length);
}

// The run of the current step of a ring, or the next one from there that is not empty, however many are: a rank that walked from
// one to the next would keep all behind it on the ring waiting. Positions fall, and every list has its turn in each. There is
// such a run: messages are left to send.
void engine::find_ring_run(channel& c, std::uint32_t position, std::uint32_t list)
{
    const std::uint32_t lists = inner_count(c);
    c.position = position;
    if (c.by_rank) {
        const ring_id ring = c.phases[c.phase].ring;
        const bool whole = ring.kind == ring_kind::whole;
        if (c.rank_limit < c.ring.size) {
            charge(whole ? context_.table.dim_count * costs::k_whole_jump : costs::k_jump);
            c.position = whole ? ring_position_below(context_.table, ring, position, c.rank_limit)
                               : ring_position_below(mesh_, ring, position, c.rank_limit);
            c.step += position - c.position + (c.position > position ? c.ring.size : 0);
        }
        charge(whole ? costs::k_whole_member + context_.table.dim_count * costs::k_whole_axis : costs::k_member);
        c.shard = shard_of_rank(c, member(ring, c.position));
        return;
    }
    if (lists == 1) {
        if (position >= c.long_shards && c.short_length == 0) {
            c.position = c.long_shards - 1;
            c.step += position - c.position;
        }
        c.shard.first = range_of(c, 0).first + c.short_length * c.position + smaller(c.position, c.long_shards);
        c.shard.count = c.short_length + (c.position < c.long_shards ? 1 : 0);
        return;
    }
    for (;; list = 0) {
        for (; list < lists; ++list, ++c.step) {
            c.shard = shard_at(c, list, c.position);
            if (c.shard.count != 0)
                return;
        }
        // A list of fewer elements than positions has them at the first ones.
        const std::uint32_t below = (c.position == 0 ? c.ring.size : c.position) - 1;
        c.position = 0;
        for (std::uint32_t i = 0; i < lists; ++i) {
            const std::uint64_t count = range_of(c, i).count;
            const std::uint32_t last = count > below ? below : static_cast<std::uint32_t>(count == 0 ? 0 : count - 1);
            c.position = larger(c.position, last);
        }
        c.step += (below - c.position) * lists;
    }
}

// Of phases whose runs have an order of their own, and of the walk around failed chips: one after the other.
void engine::load_run_without_position(channel& c)
{
    if (c.kind() != phase_kind::reduce && c.kind() != phase_kind::gather) {
        load_detached_run(c);
        return;
    }
    const bool reversed = c.phases[c.phase].ring.reversed;
    if (c.step == 0) {
        c.at = place_of(mesh_, c.accumulate ? c.ring.predecessor : context_.table.rank);
    } else {
        charge(costs::k_walk);
        c.at = reversed ? tree_successor(mesh_, c.at) : tree_predecessor(mesh_, c.at);
    }
    c.shard = shard_of_rank(c, rank_of(mesh_, c.at));
}

// The first run of a phase, or the next one.
void engine::load_run(channel& c)
{
    charge(costs::k_run);
    const bool next = c.sent != 0;
    c.shard_done = 0;
    c.run_over = false;
    c.step += next ? 1 : 0;
    if (c.kind() == phase_kind::tree)
        return; // its one run is there already
    if (has_positions(c)) {
        const std::uint32_t lists = inner_count(c);
        const std::uint32_t list = lists == 1 ? 0 : c.step % lists;
        std::uint32_t position = next ? c.position : c.ring.position + (c.accumulate ? 0 : 1);
        if (list == 0)
            position = (position == 0 ? c.ring.size : position) - 1;
        find_ring_run(c, position, list);
        return;
    }
    load_run_without_position(c);
    while (c.shard.count == 0 && !c.sends_empty) {
        charge(costs::k_run);
        ++c.step;
        load_run_without_position(c);
    }
}

void engine::enter_phase(channel& c)
{
    charge(costs::k_phase);
    const phase_plan& p = c.phases[c.phase];
    c.sent = c.step = 0;
    c.total_sends = c.total_receives = c.free_sends = 0;
    c.needs_ready = c.accumulate = c.sends_empty = false;
    c.ring = ring_view{};
    if (p.kind == phase_kind::reduce || p.kind == phase_kind::gather)
        enter_ring_phase(c);
    else
        enter_detached_phase(c);
    c.run_over = c.total_sends != 0; // the first one is looked for behind the doorbell, too
    context_.expected[c.receive_semaphore] += c.total_receives;
}

void engine::enter_ring_phase(channel& c)
{
    const phase_plan& p = c.phases[c.phase];
    c.accumulate = p.kind == phase_kind::reduce;
    c.ring = view(p.ring);
    c.successor = c.ring.successor;
    c.predecessor = c.ring.predecessor;
    if (p.ring.kind == ring_kind::axis) {
        c.receive_semaphore = c.remote_semaphore = axis_semaphore(c.lane, p.ring.axis);
    } else {
        const bool inner = p.level != 0;
        const data_kind data = c.accumulate ? (inner ? data_kind::inner_reduce : data_kind::outer_reduce)
                                            : (inner ? data_kind::inner_gather : data_kind::outer_gather);
        c.receive_semaphore = c.remote_semaphore = data_semaphore(c.lane, data);
    }
    c.receive_base = context_.expected[c.receive_semaphore];
    c.ready_semaphore = ready_semaphore(ring_number(p.ring));
    c.needs_ready = true;
    if (c.ring.size < 2)
        return;

    // A reduce-scatter sends every shard but the one that ends here and receives every one but the first sent; an
    // all-gather sends all but the successor's and receives all but its own.
    const std::uint32_t n = c.ring.size;
    const std::uint32_t position = c.ring.position;
    if (c.by_rank) {
        const std::uint32_t first = c.accumulate ? c.ring.predecessor : context_.table.rank;
        const std::uint32_t never = c.accumulate ? context_.table.rank : c.ring.successor;
        const std::uint32_t all = chunks_of_all_shards(c, command_.count);
        c.free_sends = chunks(shard_of_rank(c, first).count);
        c.total_sends = all - chunks(shard_of_rank(c, never).count);
        c.total_receives = all - c.free_sends;
        const bool all_have_some = abi::shard_of(command_.count / n, 2, c.lane).count != 0;
        c.rank_limit = all_have_some ? n : static_cast<std::uint32_t>(command_.count % n);
        return;
    }
    const abi::element_range& only = range_of(c, 0);
    c.short_length = only.count / n;
    c.long_shards = static_cast<std::uint32_t>(only.count % n);
    const std::uint32_t before = position == 0 ? n - 1 : position - 1;
    const std::uint32_t after = position + 1 == n ? 0 : position + 1;
    for (std::uint32_t list = 0; list < inner_count(c); ++list) {
        charge(costs::k_list);
        const std::uint32_t all = chunks_of_all_shards(c, range_of(c, list).count);
        const std::uint32_t first = chunks(shard_at(c, list, c.accumulate ? before : position).count);
        c.free_sends += first;
        c.total_sends += all - chunks(shard_at(c, list, c.accumulate ? position : after).count);
        c.total_receives += all - first;
    }
}

// ---------------------------------------------------------------------------------------------------------------- sending

void engine::pay()
{
    if (cycles_ != 0)
        hal_.compute(cycles_);
    cycles_ = 0;
}

abi::status engine::notify(std::uint32_t queue_index, std::uint32_t rank, std::uint32_t semaphore)
{
    const std::uint32_t queue = queue_index % dma_.queues();
    abi::dma_descriptor& d = message_;
    d.source_offset = d.destination_offset = d.bytes = 0;
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
    std::uint64_t told = 0; // semaphores; channels may share rings
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        const channel& c = channels_[i];
        if (c.phase_count == 0 && c.total_receives != 0) {
            if (abi::status s = notify(c.index, c.predecessor, c.ready_semaphore); !s.ok())
                return s;
        }
        bool later = false;
        charge(c.phase_count * costs::k_plan_phase);
        for (std::uint32_t p = 0; p < c.phase_count; ++p) {
            later = later || c.phases[p].kind == phase_kind::take_over;
            if (c.phases[p].kind < phase_kind::reduce || c.phases[p].kind > phase_kind::tile_gather)
                continue;
            const std::uint32_t semaphore = ready_semaphore(ring_number(c.phases[p].ring));
            const ring_view& ring = view(c.phases[p].ring);
            if (ring.size < 2 || (told >> semaphore & 1) != 0)
                continue;
            told |= 1ull << semaphore;
            ++context_.expected[semaphore];
            // What is taken over overwrites: nobody may add to it before. Said at the end of take_over.
            if (later && c.phases[p].level != 0)
                continue;
            if (abi::status s = notify(c.index, ring.predecessor, semaphore); !s.ok())
                return s;
        }
    }
    const std::uint32_t semaphore = k_sem_donor_ready + (command_.transposed != 0 ? 1 : 0);
    if (expects_donor_ready_)
        ++context_.expected[semaphore];
    for (std::uint32_t i = 0; i < donor_count_; ++i)
        if (abi::status s = notify(i, donors_[i].rank, semaphore); !s.ok())
            return s;
    return {};
}

[[gnu::always_inline]] inline abi::status engine::send_chunk(channel& c)
{
    const std::uint64_t left = c.shard.count - c.shard_done;
    const std::uint64_t elements = left < chunk_elements_ ? left : chunk_elements_;
    abi::dma_descriptor& d = message_;
    // Buffers are symmetric: the same elements lie at the same offset on every rank.
    d.source_offset = command_.buffer_offset + (c.shard.first + c.shard_done) * element_bytes_;
    d.destination_offset = d.source_offset;
    d.bytes = elements * element_bytes_;
    d.destination_rank = c.successor;
    d.remote_semaphore = c.remote_semaphore;
    d.redop = c.accumulate && elements != 0 ? command_.redop : abi::reduce_op::none;
    d.destination_port = c.port;
    d.tag = c.index << 28 | c.phase << 24 | (c.step & 0xff'ffff);
    charge(costs::k_message);
    if (abi::status s = dma_.enqueue(c.queue, d, command_.timeout_ns); !s.ok())
        return s;
    ++messages_;
    ++c.sent;
    c.shard_done += elements;
    c.run_over = c.shard_done == c.shard.count; // the next one is looked for behind the doorbell
    return {};
}

// Messages of this phase that must have arrived before the next one may be sent.
std::uint32_t engine::receives_needed(const channel& c) const
{
    // The k-th dependent message forwards the k-th received one.
    const std::uint32_t dependency = c.sent >= c.free_sends ? c.sent - c.free_sends + 1 : 0;
    // Do not fill the descriptor ring with sends that lie far ahead of what arrives: the window keeps the channels from
    // blocking each other on a full ring. It never exceeds what will arrive, and 2 or more cannot close a cycle of waits.
    const std::uint32_t window = c.sent >= window_ ? smaller(c.sent - window_ + 1, c.total_receives) : 0;
    return larger(dependency, window);
}

// ------------------------------------------------------------------------------------------------------------- event loop

// Whether the next message must wait whatever it holds, and for what.
[[gnu::always_inline]] inline bool engine::must_wait_for_arrivals(channel& c)
{
    if (c.needs_ready) {
        if (must_wait(c, c.ready_semaphore, context_.expected[c.ready_semaphore], c.successor))
            return true;
        c.needs_ready = false;
    }
    return c.kind() <= phase_kind::gather &&
           must_wait(c, c.receive_semaphore, c.receive_base + receives_needed(c), c.predecessor);
}

// The same for what it holds.
[[gnu::always_inline]] inline bool engine::must_wait_with_run(channel& c)
{
    if (c.kind() > phase_kind::gather)
        return must_wait_detached(c);
    if (c.kind() != phase_kind::reduce || c.phases[c.phase].level != 0 || donor_count_ == 0)
        return false;
    const std::uint64_t left = c.shard.count - c.shard_done;
    return must_wait_for_donors(c, {c.shard.first + c.shard_done, left < chunk_elements_ ? left : chunk_elements_});
}

// Sends what can be sent now, a batch at most; returns with the channel done, waiting for a semaphore, stopped by a full
// ring, or having more.
[[gnu::always_inline]] inline abi::status engine::advance(channel& c)
{
    charge(costs::k_look);
    c.blocked_by_ring = false;
    c.has_more = false;
    std::uint32_t batch = 0;
    for (;;) {
        while (c.sent < c.total_sends) {
            bool waits = must_wait_for_arrivals(c);
            if (!waits) {
                if (c.run_over)
                    load_run(c);
                waits = must_wait_with_run(c);
            }
            if (waits) {
                charge(costs::k_blocked);
                return {};
            }
            if (!dma_.has_space(c.queue)) {
                c.blocked_by_ring = true;
                return dma_.bus_status("DMA.HEAD");
            }
            if (batch++ == k_batch) {
                c.has_more = true;
                return {};
            }
            if (abi::status s = send_chunk(c); !s.ok())
                return s;
        }
        if (must_wait(c, c.receive_semaphore, c.receive_base + c.total_receives, c.predecessor))
            return {};
        if (donor_count_ != 0 && c.kind() == phase_kind::reduce && c.phases[c.phase].level == 0 &&
            must_wait_for_all_donors(c))
            return {};
        if (c.phase + 1 >= c.phase_count) {
            c.done = true;
            return {};
        }
        c.steps_before += c.ring.size - 1;
        const bool took_over = c.kind() == phase_kind::take_over;
        ++c.phase;
        enter_phase(c);
        if (took_over && c.ring.size > 1)
            if (abi::status s = notify(c.index, c.predecessor, c.ready_semaphore); !s.ok())
                return s;
        if (c.kind() == phase_kind::gather && c.phases[c.phase].level == 0)
            for (std::uint32_t i = 0; i < channel_count_; ++i)
                channels_[i].active = channels_[i].active || channels_[i].lane == c.lane;
    }
}

// The next runs are found while what was sent is under way.
void engine::look_ahead()
{
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        channel& c = channels_[i];
        if (c.run_over && c.sent < c.total_sends)
            load_run(c);
    }
}

// Arms the semaphores all waiting channels wait for and sleeps until one fires.
[[gnu::always_inline]] inline abi::status engine::sleep()
{
    charge(costs::k_sleep);
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        const channel& c = channels_[i];
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
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        const channel& c = channels_[i];
        const std::uint64_t bit = 1ull << c.wait_semaphore;
        if (c.done || !c.active || (fired & bit) == 0)
            continue;
        fired &= ~bit;
        if (!reached(context_, c.wait_semaphore, dma_.armed_threshold(c.wait_semaphore)))
            context_.known[c.wait_semaphore] = dma_.armed_threshold(c.wait_semaphore);
        // Having fired says "at least". Where several chunks make a step, more may have come: one read saves wake-ups.
        if (c.wait_semaphore == c.receive_semaphore && c.shard.count > chunk_elements_ && c.sent < c.total_sends) {
            charge(costs::k_count);
            context_.known[c.wait_semaphore] = dma_.semaphore_count(c.wait_semaphore);
        }
    }
    return dma_.bus_status("DMA.SEM_COUNT");
}

// Nobody sleeps for semaphores while a stream has more to send or its ring is full, so what the others wait for is looked at
// here: a stream that never lets its ring run empty would keep them waiting to its end.
abi::status engine::look_at_semaphores(bool ready_only)
{
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        const channel& c = channels_[i];
        if (c.done || !c.active || !c.waiting || (ready_only && !c.needs_ready))
            continue;
        charge(costs::k_count);
        context_.known[c.wait_semaphore] = dma_.semaphore_count(c.wait_semaphore);
    }
    return dma_.bus_status("DMA.SEM_COUNT");
}

void engine::run(collective_result& result)
{
    const std::uint32_t nobody = context_.table.ranks;
    result.failed_peer = nobody;
    charge(costs::k_command + set_up_cycles_);
    abi::status status = say_ready();
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        if (channels_[i].phase_count != 0)
            enter_phase(channels_[i]);
    }
    const channel* waiting = nullptr;
    while (status.ok()) {
        charge(costs::k_turn);
        waiting = nullptr;
        const channel* blocked = nullptr;
        bool more = false;
        for (std::uint32_t i = 0; i < channel_count_ && status.ok(); ++i) {
            channel& c = channels_[i];
            if (!c.active)
                continue;
            // What one channel waits for does not depend on what the others do.
            if (!c.done && (!c.waiting || reached(context_, c.wait_semaphore, c.wait_count)))
                status = advance(c);
            if (!c.done && waiting == nullptr)
                waiting = &c;
            if (!c.done && c.blocked_by_ring)
                blocked = &c;
            more = more || (!c.done && c.has_more);
        }
        charge(dma_.untold() * costs::k_doorbell);
        pay(); // the work comes before the doorbell
        if (!status.ok())
            break;
        dma_.doorbells();
        status = dma_.bus_status("DMA.TAIL");
        if (!status.ok() || waiting == nullptr)
            break;
        look_ahead();
        if (more) {
            status = look_at_semaphores(true); // the others have their turn when the ring is full, at the latest
        } else if (blocked != nullptr) {
            pay();
            status = dma_.wait_space(blocked->queue, command_.timeout_ns);
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
    result.steps = steps_;
    if (!status.ok() && waiting != nullptr) {
        result.steps = result.failed_step = waiting->steps_before + waiting->step;
        result.failed_peer = waiting->blocked_by_ring ? waiting->successor : waiting->wait_peer;
    }
}

} // namespace weft::firmware
