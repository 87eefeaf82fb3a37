// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/engine.h"

#include "firmware/costs.h"

namespace weft::firmware {

namespace {

// Edges of the broadcast tree, seen from the parent. Bit 0: towards rising numbers; bit 1: across rows.
enum tree_direction : std::uint32_t { west = 0, east = 1, north = 2, south = 3 };

// Messages that a channel enqueues before the doorbell rings and the next channel has its turn: a long first step must
// neither keep the device nor the other direction waiting.
constexpr std::uint32_t k_batch = 4;

std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

} // namespace

ring_id hamiltonian_ring(const mesh& m, bool transposed, bool reversed)
{
    const bool asked_fits = (transposed ? m.cols : m.rows) % 2 == 0;
    return {ring_kind::hamiltonian, transposed == asked_fits, reversed};
}

engine::engine(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command)
    : hal_(hal), dma_(dma), context_(context), command_(command), mesh_(mesh_of(context.table)),
      element_bytes_(abi::element_bytes(command.type)),
      chunk_elements_(command.chunk_bytes / element_bytes_ > 0 ? command.chunk_bytes / element_bytes_ : 1),
      window_(larger(2, dma.ring_entries() / 2))
{
}

// ---------------------------------------------------------------------------------------------------------------- plans

channel& engine::add_channel()
{
    channel& c = channels_[channel_count_];
    c.index = channel_count_++;
    return c;
}

void engine::plan()
{
    const bool transposed = command_.transposed != 0;
    if (command_.op == abi::collective_op::broadcast) {
        plan_broadcast();
    } else if (command_.algo == abi::algorithm::two_d) {
        // A ring over a line without wrap uses the links of both directions already; a closed one needs a second channel.
        const bool both_ways = mesh_.wrap_rows || mesh_.wrap_cols;
        const ring_id x{ring_kind::line, transposed, false};
        const ring_id y{ring_kind::line, !transposed, false};
        plan_all_reduce_2d(x, y, 0, 2, both_ways);
        plan_all_reduce_2d(y, x, 1, 2, both_ways);
    } else if (command_.algo == abi::algorithm::row_pair) {
        plan_all_reduce_2d({ring_kind::pair, transposed, false}, {ring_kind::alternate, transposed, false}, 0, 1, true);
    } else {
        plan_ring_1d();
    }
}

void engine::plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours,
                                bool both_ways)
{
    const std::uint32_t directions = both_ways ? 2 : 1;
    for (std::uint32_t d = 0; d < directions; ++d) {
        first.reversed = second.reversed = d != 0;
        channel& c = add_channel();
        c.outer_range = abi::shard_of(command_.count, colours * directions, colour * directions + d);
        c.phases[0] = {first, true, false};
        c.phases[1] = {second, true, true};
        c.phases[2] = {second, false, true};
        c.phases[3] = {first, false, false};
        c.phase_count = 4;
        const ring_view outer = view_ring(mesh_, first, context_.table.rank);
        c.inner_range = abi::shard_of(c.outer_range.count, outer.size, outer.position);
        c.inner_range.first += c.outer_range.first;
    }
    steps_ = larger(steps_, 2 * (ring_size(mesh_, first) - 1 + ring_size(mesh_, second) - 1));
}

void engine::plan_ring_1d()
{
    const bool reduces = command_.op != abi::collective_op::all_gather;
    const bool gathers = command_.op != abi::collective_op::reduce_scatter;
    for (std::uint32_t d = 0; d < 2; ++d) {
        const ring_id ring = hamiltonian_ring(mesh_, command_.transposed != 0, d != 0);
        channel& c = add_channel();
        // With only one half of the work the user sees which rank has which shard, so shards go by rank.
        c.by_rank = !(reduces && gathers);
        c.outer_range = c.by_rank ? abi::element_range{0, command_.count} : abi::shard_of(command_.count, 2, d);
        if (reduces)
            c.phases[c.phase_count++] = {ring, true, false};
        if (gathers)
            c.phases[c.phase_count++] = {ring, false, false};
        steps_ = c.phase_count * (ring_size(mesh_, ring) - 1);
    }
}

void engine::plan_broadcast()
{
    const bool transposed = command_.transposed != 0;
    const mesh o = transposed ? mesh{mesh_.cols, mesh_.rows, false, false} : mesh_;
    const auto row_of = [&](std::uint32_t r) { return transposed ? r % mesh_.cols : r / mesh_.cols; };
    const auto col_of = [&](std::uint32_t r) { return transposed ? r / mesh_.cols : r % mesh_.cols; };
    const auto rank_at = [&](std::uint32_t row, std::uint32_t col) {
        return transposed ? col * mesh_.cols + row : row * mesh_.cols + col;
    };
    const std::uint32_t row = row_of(context_.table.rank);
    const std::uint32_t col = col_of(context_.table.rank);
    const std::uint32_t root_row = row_of(command_.root);
    const std::uint32_t root_col = col_of(command_.root);
    steps_ = larger(root_row, o.rows - 1 - root_row) + larger(root_col, o.cols - 1 - root_col);

    const bool on_root_row = row == root_row;
    const bool is_root = on_root_row && col == root_col;
    const std::uint32_t total = chunks(command_.count);
    const std::uint32_t base = context_.expected[k_sem_tree_data];

    const auto add_edge = [&](std::uint32_t direction, std::uint32_t child) {
        channel& c = add_channel();
        // Ready semaphores go by the direction on the machine, so that each has one possible sender for ever.
        c.ready_semaphore = k_sem_tree_ready + (transposed ? direction ^ 2u : direction);
        ++context_.expected[c.ready_semaphore];
        c.successor = child;
        c.remote_semaphore = k_sem_tree_data;
        c.total_sends = total;
        c.free_sends = is_root ? total : 0;
    };
    if (on_root_row && col <= root_col && col > 0)
        add_edge(west, rank_at(row, col - 1));
    if (on_root_row && col >= root_col && col + 1 < o.cols)
        add_edge(east, rank_at(row, col + 1));
    if (row <= root_row && row > 0)
        add_edge(north, rank_at(row - 1, col));
    if (row >= root_row && row + 1 < o.rows)
        add_edge(south, rank_at(row + 1, col));

    std::uint32_t parent = command_.root;
    if (!is_root) {
        channel& arrivals = add_channel();
        arrivals.total_receives = total;
        std::uint32_t direction = 0; // from the parent to this rank
        if (on_root_row) {
            direction = col < root_col ? west : east;
            parent = rank_at(row, col < root_col ? col + 1 : col - 1);
        } else {
            direction = row < root_row ? north : south;
            parent = rank_at(row < root_row ? row + 1 : row - 1, col);
        }
        // The arrivals send nothing, so this is not waited for: it is what say_ready() tells the parent.
        arrivals.ready_semaphore = k_sem_tree_ready + (transposed ? direction ^ 2u : direction);
        context_.expected[k_sem_tree_data] += total;
    }
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        channel& c = channels_[i];
        c.predecessor = parent;
        c.receive_semaphore = k_sem_tree_data;
        c.receive_base = base;
        c.shard = {0, command_.count};
    }
}

// ------------------------------------------------------------------------------------------------------- shards and counts

std::uint32_t engine::chunks(std::uint64_t elements) const
{
    return static_cast<std::uint32_t>((elements + chunk_elements_ - 1) / chunk_elements_);
}

abi::element_range engine::shard_at(const channel& c, std::uint32_t position) const
{
    const ring_phase& phase = c.phases[c.phase];
    if (c.by_rank) {
        const std::uint32_t owner = ring_member(mesh_, phase.ring, context_.table.rank, position);
        const abi::element_range all = abi::shard_of(command_.count, c.ring.size, owner);
        const abi::element_range half = abi::shard_of(all.count, 2, phase.ring.reversed ? 1 : 0);
        return {all.first + half.first, half.count};
    }
    const abi::element_range& range = phase.inner ? c.inner_range : c.outer_range;
    const abi::element_range shard = abi::shard_of(range.count, c.ring.size, position);
    return {range.first + shard.first, shard.count};
}

// shard_of() makes shards of at most two lengths, so no loop over the ring is needed.
std::uint32_t engine::chunks_of_all_shards(const channel& c) const
{
    const ring_phase& phase = c.phases[c.phase];
    const std::uint32_t n = c.ring.size;
    const std::uint64_t count = phase.inner ? c.inner_range.count : c.outer_range.count;
    std::uint64_t short_length = count / n;
    std::uint64_t long_length = short_length + 1;
    if (c.by_rank) {
        short_length = abi::shard_of(short_length, 2, phase.ring.reversed ? 1 : 0).count;
        long_length = abi::shard_of(long_length, 2, phase.ring.reversed ? 1 : 0).count;
    }
    const auto long_shards = static_cast<std::uint32_t>(count % n);
    return long_shards * chunks(long_length) + (n - long_shards) * chunks(short_length);
}

std::uint32_t engine::sent_position(const channel& c, std::uint32_t step) const
{
    const std::uint32_t back = step + (c.reduce ? 1 : 0); // < size
    return c.ring.position >= back ? c.ring.position - back : c.ring.position + c.ring.size - back;
}

void engine::enter_phase(channel& c)
{
    charge(costs::k_phase_cycles);
    const ring_phase& phase = c.phases[c.phase];
    c.reduce = phase.reduce;
    c.ring = view_ring(mesh_, phase.ring, context_.table.rank);
    c.successor = c.ring.successor;
    c.predecessor = c.ring.predecessor;
    c.receive_semaphore = c.remote_semaphore = data_semaphore(c.index, c.phase);
    c.ready_semaphore = k_sem_ready + ring_number(phase.ring);
    c.receive_base = context_.expected[c.receive_semaphore];
    c.sent = c.step = 0;
    c.total_sends = c.total_receives = c.free_sends = 0;
    if (c.ring.size < 2)
        return;

    // A reduce-scatter sends every shard but the one that ends here and receives every one but the first sent; an
    // all-gather sends all but the successor's and receives all but its own.
    const std::uint32_t n = c.ring.size;
    const std::uint32_t position = c.ring.position;
    const std::uint32_t all = chunks_of_all_shards(c);
    c.shard = shard_at(c, sent_position(c, 0));
    c.shard_done = 0;
    c.free_sends = chunks(c.shard.count);
    const std::uint32_t never_sent = c.reduce ? position : (position + 1 == n ? 0 : position + 1);
    c.total_sends = all - chunks(shard_at(c, never_sent).count);
    c.total_receives = all - c.free_sends;
    context_.expected[c.receive_semaphore] += c.total_receives;
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
    abi::dma_descriptor d;
    d.destination_rank = rank;
    d.remote_semaphore = semaphore;
    d.destination_port = static_cast<std::uint8_t>(queue % context_.table.dma_ports);
    d.tag = semaphore;
    charge(costs::k_descriptor_cycles);
    ++messages_;
    return dma_.enqueue(queue, d, command_.timeout_ns);
}

// Tells everyone who will send to this rank that it has entered the collective.
abi::status engine::say_ready()
{
    std::uint32_t told = 0; // rings; channels may share them
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        const channel& c = channels_[i];
        if (c.phase_count == 0 && c.total_receives != 0) {
            if (abi::status s = notify(c.index, c.predecessor, c.ready_semaphore); !s.ok())
                return s;
        }
        for (std::uint32_t p = 0; p < c.phase_count; ++p) {
            const std::uint32_t number = ring_number(c.phases[p].ring);
            const ring_view ring = view_ring(mesh_, c.phases[p].ring, context_.table.rank);
            if (ring.size < 2 || (told & (1u << number)) != 0)
                continue;
            told |= 1u << number;
            ++context_.expected[k_sem_ready + number];
            if (abi::status s = notify(c.index, ring.predecessor, k_sem_ready + number); !s.ok())
                return s;
        }
    }
    return {};
}

abi::status engine::send_chunk(channel& c)
{
    const std::uint32_t queue = c.index % dma_.queues();
    const std::uint64_t left = c.shard.count - c.shard_done;
    const std::uint64_t elements = left < chunk_elements_ ? left : chunk_elements_;
    abi::dma_descriptor d;
    // Buffers are symmetric: the same elements lie at the same offset on every rank.
    d.source_offset = command_.buffer_offset + (c.shard.first + c.shard_done) * element_bytes_;
    d.destination_offset = d.source_offset;
    d.bytes = elements * element_bytes_;
    d.destination_rank = c.successor;
    d.remote_semaphore = c.remote_semaphore;
    d.redop = c.reduce ? command_.redop : abi::reduce_op::none;
    d.type = command_.type;
    d.destination_port = static_cast<std::uint8_t>(queue % context_.table.dma_ports);
    d.tag = c.index << 28 | c.phase << 24 | (c.step & 0xff'ffff);
    charge(costs::k_descriptor_cycles);
    if (abi::status s = dma_.enqueue(queue, d, command_.timeout_ns); !s.ok())
        return s;
    ++messages_;
    ++c.sent;
    c.shard_done += elements;
    // On to the next shard that has elements; sent < total_sends promises one.
    while (c.shard_done == c.shard.count && c.sent < c.total_sends) {
        c.shard = shard_at(c, sent_position(c, ++c.step));
        c.shard_done = 0;
    }
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

bool engine::must_wait(channel& c, std::uint32_t semaphore, std::uint32_t count)
{
    c.wait_semaphore = semaphore;
    c.wait_count = count;
    return !reached(context_, semaphore, count);
}

// Sends what can be sent now, a batch at most; returns with the channel done, waiting for a semaphore, stopped by a full
// ring, or having more.
abi::status engine::advance(channel& c)
{
    c.blocked_by_ring = false;
    c.has_more = false;
    std::uint32_t batch = 0;
    for (;;) {
        while (c.sent < c.total_sends) {
            if (c.shard_done == c.shard.count) { // an empty shard first
                c.shard = shard_at(c, sent_position(c, ++c.step));
                c.shard_done = 0;
                continue;
            }
            if (must_wait(c, c.ready_semaphore, context_.expected[c.ready_semaphore]))
                return {};
            if (must_wait(c, c.receive_semaphore, c.receive_base + receives_needed(c)))
                return {};
            if (!dma_.has_space(c.index % dma_.queues())) {
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
        if (must_wait(c, c.receive_semaphore, c.receive_base + c.total_receives))
            return {};
        if (c.phase + 1 >= c.phase_count) {
            c.done = true;
            return {};
        }
        c.steps_before += c.ring.size - 1;
        ++c.phase;
        enter_phase(c);
    }
}

// Arms the semaphores all waiting channels wait for and sleeps until one fires.
abi::status engine::sleep()
{
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        if (!channels_[i].done)
            dma_.arm(channels_[i].wait_semaphore, channels_[i].wait_count);
    }
    if (abi::status s = dma_.bus_status("DMA.SEM_THRESHOLD"); !s.ok())
        return s;
    std::uint64_t fired = 0;
    if (abi::status s = dma_.wait(command_.timeout_ns, fired); !s.ok())
        return s;
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        const channel& c = channels_[i];
        const std::uint64_t bit = 1ull << c.wait_semaphore;
        if (c.done || (fired & bit) == 0)
            continue;
        fired &= ~bit;
        context_.known[c.wait_semaphore] = dma_.armed_threshold(c.wait_semaphore);
        // Having fired says "at least". Where several chunks make a step, more may have come: one read saves wake-ups.
        if (c.wait_semaphore == c.receive_semaphore && c.shard.count > chunk_elements_ && c.sent < c.total_sends)
            context_.known[c.wait_semaphore] = dma_.semaphore_count(c.wait_semaphore);
    }
    return dma_.bus_status("DMA.SEM_COUNT");
}

void engine::run(collective_result& result)
{
    const std::uint32_t nobody = context_.table.ranks;
    result.failed_peer = nobody;
    charge(costs::k_command_cycles);
    abi::status status = say_ready();
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        if (channels_[i].phase_count != 0)
            enter_phase(channels_[i]);
    }
    const channel* waiting = nullptr;
    while (status.ok()) {
        charge(costs::k_loop_turn_cycles);
        waiting = nullptr;
        const channel* blocked = nullptr;
        bool more = false;
        for (std::uint32_t i = 0; i < channel_count_ && status.ok(); ++i) {
            channel& c = channels_[i];
            if (!c.done)
                status = advance(c);
            if (!c.done && waiting == nullptr)
                waiting = &c;
            if (!c.done && c.blocked_by_ring)
                blocked = &c;
            more = more || (!c.done && c.has_more);
        }
        pay(); // the work comes before the doorbell
        if (!status.ok())
            break;
        for (std::uint32_t q = 0; q < dma_.queues(); ++q)
            dma_.doorbell(q);
        status = dma_.bus_status("DMA.TAIL");
        if (!status.ok() || waiting == nullptr)
            break;
        if (more)
            continue;
        status = blocked != nullptr ? dma_.wait_space(blocked->index % dma_.queues(), command_.timeout_ns) : sleep();
    }
    pay();
    if (status.ok())
        status = dma_.drain(command_.timeout_ns);

    result.status = status;
    result.messages = messages_;
    result.steps = steps_;
    if (!status.ok() && waiting != nullptr) {
        const bool for_ready = waiting->wait_semaphore == waiting->ready_semaphore || waiting->blocked_by_ring;
        result.steps = result.failed_step = waiting->steps_before + waiting->step;
        result.failed_peer = for_ready ? waiting->successor : waiting->predecessor;
    }
}

} // namespace weft::firmware
