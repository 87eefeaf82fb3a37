// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Why nobody's data is overwritten too early: nobody sends before all of its zone have arrived. Where exchanges are
// syncless, nobody sends before its successor has said that it has entered. An all-gather overwrites a fragment whose
// final sum has a part of this rank, so the fragment has been read before. A rank leaves when all has come and all that
// it sent has left memory. Each direction of a ring has a ready semaphore of its own.
#include "firmware/collectives/replica_collectives.h"

#include "firmware/collectives/exchange.h"
#include "firmware/collectives/replica_rings.h"
#include "firmware/drivers/sync_driver.h"

namespace weft::firmware {

namespace {

// Semaphores: rings of a domain, rings over gateways, what is added last, contributions of everybody.
inline constexpr std::uint32_t k_most_stripes = 2; ///< but across a rung
inline constexpr std::uint32_t k_rung_stripes = 6;
inline constexpr std::uint32_t k_sem_domain = k_sem_data;
inline constexpr std::uint32_t k_sem_gateway = k_sem_domain + k_most_replica_rings * k_most_stripes;
inline constexpr std::uint32_t k_sem_combined = k_sem_gateway + 2 * k_most_stripes;
inline constexpr std::uint32_t k_sem_contribution = k_sem_combined + 1;
static_assert(k_sem_contribution < k_sem_ready, "semaphore ranges overlap");
static_assert(2 * k_rung_stripes <= k_sem_combined, "two rings across a rung, of a group that no gateway parts");
inline constexpr std::uint32_t k_sem_domain_ready = k_sem_ready;
inline constexpr std::uint32_t k_sem_gateway_ready = k_sem_ready + k_most_replica_rings;

/// Replicas among which a phase runs; ranks are those of the table.
struct replica_line {
    std::uint32_t size = 1;
    std::uint32_t at = 0;
    std::uint32_t first = 0;
    std::uint32_t stride = 1;
    bool meets = false; ///< exchanges begin with a sync of `where`
    zone where;
    std::uint32_t data = k_sem_domain;
    std::uint32_t ready = k_sem_domain_ready;

    std::uint32_t rank(std::uint32_t replica) const { return first + replica * stride; }
};

class replica_runner {
public:
    replica_runner(exchange& e)
        : x(e), sync_(e.hal, e.context.table.sync_base), element_(abi::element_bytes(e.command.type)), chunk_(e.command.chunk_bytes / element_),
          stripes_(e.context.table.parallel_links < k_most_stripes ? 1 : k_most_stripes)
    {
        // Two IPUs of a rung have all of its links for themselves.
        if (e.context.table.ranks == 2 && e.context.table.rung_links == k_rung_stripes && on_machine(0) / 2 == on_machine(1) / 2)
            stripes_ = k_rung_stripes;
        chunk_ = chunk_ == 0 ? 1 : chunk_;
    }

    abi::status run_rings();
    abi::status run_broadcast();

private:
    abi::platform_table& table() { return x.context.table; }
    std::uint32_t on_machine(std::uint32_t rank)
    {
        return x.context.in_group && table().members != 0 ? x.hal.read32(table().members + sizeof(std::uint32_t) * rank) : rank;
    }
    abi::status enqueue(std::uint32_t queue, abi::dma_descriptor& d) { return x.enqueue(queue, d, costs::k_replica_message); }
    void find_zone(replica_line& line, bool wanted, bool whole_machine);
    abi::status phase(const replica_line& line, abi::algorithm method, bool reduces, const fragment_map& map);
    abi::status say_ready(const replica_line& line, const replica_rings& rings);
    abi::status exchange_step(const replica_line& line, const replica_rings& rings, bool reduces, const fragment_map& map, std::uint32_t step);
    abi::status send(const replica_line& line, const replica_ring& ring, std::uint32_t number, bool reduces, const fragment_map& map, std::uint32_t step,
                     std::uint64_t round, bool& more);
    abi::status combine(const replica_line& line, const fragment_map& map);
    abi::element_range stripe_of(const replica_ring& ring, abi::element_range piece, std::uint32_t stripe) const
    {
        const abi::element_range part = abi::shard_of(piece.count, ring.parts, ring.part), own = abi::shard_of(part.count, stripes_, stripe);
        return {piece.first + part.first + own.first, own.count};
    }
    static std::uint32_t ready_semaphore_of(const replica_line& line, const replica_ring& ring)
    {
        return line.ready + (ring.reversed ? 1 : 0) + (ring.mirrored ? 2 : 0);
    }
    std::uint32_t messages(abi::element_range r) const { return static_cast<std::uint32_t>((r.count + chunk_ - 1) / chunk_); }
    std::uint32_t data_semaphore(const replica_line& line, std::uint32_t ring, std::uint32_t stripe) const { return line.data + ring * stripes_ + stripe; }

    exchange& x;
    sync_driver sync_;
    std::uint64_t element_;
    std::uint64_t chunk_; ///< elements
    std::uint32_t stripes_;
};

/// Where ranks stand at unequal distances there is no zone of theirs: their exchanges are syncless. So are those of
/// groups over gateways, if hybrid.
void replica_runner::find_zone(replica_line& line, bool wanted, bool whole_machine)
{
    if (!wanted || table().sync_base == 0)
        return;
    line.meets = true;
    const std::uint32_t replica = table().replica_ranks;
    if (replica > 1) { // of whole replicas
        const std::uint32_t ranks = (whole_machine ? table().ranks : line.size) * replica;
        line.where = {whole_machine ? 0 : line.first * replica, 1, ranks};
        return;
    }
    line.where = {on_machine(line.rank(0)), line.size > 1 ? on_machine(line.rank(1)) - on_machine(line.rank(0)) : 1, line.size};
    if (!x.context.in_group)
        return;
    const std::uint32_t domain = table().domain_ranks;
    if (!whole_machine && table().exchanges == abi::exchange_mode::hybrid && domain != 0)
        for (std::uint32_t i = 1; i < line.size; ++i)
            if (on_machine(line.rank(i)) / domain != line.where.first / domain) {
                line.meets = false; // not over gateways
                return;
            }
    line.meets = line.where.stride != 0 && line.where.stride < 0x8000'0000u;
    for (std::uint32_t i = 2; i < line.size && line.meets; ++i)
        line.meets = on_machine(line.rank(i)) == line.where.first + i * line.where.stride;
}

abi::status replica_runner::say_ready(const replica_line& line, const replica_rings& rings)
{
    for (std::uint32_t i = 0; i < rings.count; ++i) {
        if (rings.ring[i].hops == 0)
            continue;
        ++x.context.expected[ready_semaphore_of(line, rings.ring[i])];
        x.peer = line.rank(rings.ring[i].predecessor());
        if (abi::status s = x.notify(x.peer, ready_semaphore_of(line, rings.ring[i])); !s.ok())
            return s;
    }
    for (std::uint32_t i = 0; i < rings.count; ++i) {
        x.peer = line.rank(rings.ring[i].successor());
        if (abi::status s = x.wait_expected(ready_semaphore_of(line, rings.ring[i])); !s.ok())
            return s;
    }
    return {};
}

/// Piece `round` of `chunk_` elements of each message: messages of all links begin at once, however long they are.
abi::status replica_runner::send(const replica_line& line, const replica_ring& ring, std::uint32_t number, bool reduces, const fragment_map& map,
                                 std::uint32_t step, std::uint64_t round, bool& more)
{
    const std::uint32_t owner = ring.sent(reduces, step);
    const bool aside = reduces && ring.combines && ring.is_last(step); // its receiver owns it
    const std::uint64_t done = round * chunk_;
    x.peer = line.rank(ring.successor());
    std::uint64_t before = 0; // elements of the fragment
    for (std::uint32_t k = 0; k < map.pieces(); ++k) {
        const abi::element_range piece = map.piece(owner, k);
        for (std::uint32_t stripe = 0; stripe < stripes_; ++stripe) {
            const abi::element_range r = stripe_of(ring, piece, stripe);
            if (done >= r.count)
                continue;
            const std::uint64_t left = r.count - done;
            more = more || left > chunk_;
            abi::dma_descriptor d;
            d.source_offset = x.command.buffer_offset + (r.first + done) * element_;
            d.destination_offset = aside ? x.command.scratch_offset + (before + r.first - piece.first + done) * element_ : d.source_offset;
            d.bytes = (left < chunk_ ? left : chunk_) * element_;
            d.destination_rank = x.peer;
            d.remote_semaphore = data_semaphore(line, number, stripe);
            d.redop = reduces && !aside ? x.command.redop : abi::reduce_op::none;
            d.type = x.command.type;
            d.tag = x.step;
            if (abi::status s = enqueue(number * stripes_ + stripe, d); !s.ok())
                return s;
        }
        before += piece.count;
    }
    return {};
}

abi::status replica_runner::exchange_step(const replica_line& line, const replica_rings& rings, bool reduces, const fragment_map& map, std::uint32_t step)
{
    constexpr std::uint64_t k_rounds_per_doorbell = 32; // the exchange begins before the last piece is posted
    x.hal.compute(costs::k_replica_step);
    bool more = true;
    for (std::uint64_t round = 0; more; ++round) {
        more = false;
        for (std::uint32_t i = 0; i < rings.count; ++i)
            if (rings.ring[i].works_in(step))
                if (abi::status s = send(line, rings.ring[i], i, reduces, map, step, round, more); !s.ok())
                    return s;
        if (!more || round % k_rounds_per_doorbell == 0)
            x.dma.doorbells();
    }
    if (abi::status s = x.dma.bus_status("DMA.TAIL"); !s.ok())
        return s;
    for (std::uint32_t i = 0; i < rings.count; ++i) {
        const replica_ring& ring = rings.ring[i];
        if (!ring.works_in(step))
            continue;
        x.peer = line.rank(ring.predecessor());
        const std::uint32_t owner = ring.received(reduces, step);
        x.hal.compute(costs::k_replica_ring);
        for (std::uint32_t stripe = 0; stripe < stripes_; ++stripe) {
            const std::uint32_t semaphore = data_semaphore(line, i, stripe);
            for (std::uint32_t k = 0; k < map.pieces(); ++k)
                x.context.expected[semaphore] += messages(stripe_of(ring, map.piece(owner, k), stripe));
            if (abi::status s = x.wait_expected(semaphore); !s.ok())
                return s;
        }
    }
    return {};
}

/// The step that combines: what came by the other ring is added to the own fragment.
abi::status replica_runner::combine(const replica_line& line, const fragment_map& map)
{
    std::uint64_t before = 0;
    x.peer = table().rank;
    for (std::uint32_t k = 0; k < map.pieces(); ++k) {
        const abi::element_range piece = map.piece(line.at, k);
        if (piece.count == 0)
            continue;
        abi::dma_descriptor d;
        d.source_offset = x.command.scratch_offset + before * element_;
        d.destination_offset = x.command.buffer_offset + piece.first * element_;
        d.bytes = piece.count * element_;
        d.destination_rank = table().rank;
        d.remote_semaphore = k_sem_combined;
        d.redop = x.command.redop;
        d.type = x.command.type;
        d.tag = x.step;
        ++x.context.expected[k_sem_combined];
        if (abi::status s = enqueue(0, d); !s.ok())
            return s;
        before += piece.count;
    }
    x.dma.doorbells();
    return x.wait_expected(k_sem_combined);
}

abi::status replica_runner::phase(const replica_line& line, abi::algorithm method, bool reduces, const fragment_map& map)
{
    if (line.size == 1)
        return {};
    const replica_rings rings(method, order_of_phase(table().order, line.size, line.data == k_sem_gateway), line.size,
                              line.at);
    x.hal.compute(costs::k_replica_phase);
    // In an all-gather behind a reduce-scatter among the same, everybody is known to have entered.
    const bool first = reduces || x.command.op == abi::collective_op::all_gather;
    if (abi::status s = line.meets ? sync_.join(line.where) : first ? say_ready(line, rings) : abi::status{}; !s.ok())
        return s;
    const std::uint32_t turns = line.meets ? table().split_exchanges : 1;
    const std::uint32_t own_turn = turns == 1 ? 0 : on_machine(table().rank) % table().replica_ranks / 2 % turns;
    for (std::uint32_t step = 0; step < rings.exchanges; ++step, ++x.step)
        for (std::uint32_t turn = 0; turn < turns; ++turn) {
            x.peer = table().ranks; // who is late is not known here: the zone tells
            if (abi::status s = line.meets ? sync_.meet(x.command.timeout_ns) : abi::status{}; !s.ok())
                return s;
            if (turn == own_turn)
                if (abi::status s = exchange_step(line, rings, reduces, map, step); !s.ok())
                    return s;
        }
    if (rings.steps != rings.exchanges) {
        if (abi::status s = reduces && rings.ring[1].hops != 0 ? combine(line, map) : abi::status{}; !s.ok())
            return s;
        ++x.step;
    }
    return {};
}

abi::status replica_runner::run_rings()
{
    if (x.command.gathers_by > abi::k_algorithms)
        return {abi::status_code::bad_command, "command.gathers_by", x.command.gathers_by};
    const replica_phases p(table(), x.command);
    const abi::exchange_mode mode = table().exchanges;
    replica_line inside{p.domain_size, p.at, p.domain * p.domain_size, 1, false, {}, k_sem_domain, k_sem_domain_ready};
    find_zone(inside, mode != abi::exchange_mode::syncless, false);
    replica_line across{p.domains, p.domain, p.at, p.domain_size, false, {}, k_sem_gateway, k_sem_gateway_ready};
    if (p.domains > 1)
        find_zone(across, mode == abi::exchange_mode::syncful, true);

    abi::status s;
    if (p.reduces)
        s = phase(inside, x.command.algo, true, p.inside);
    if (s.ok() && p.reduces)
        s = phase(across, k_method_over_gateways, true, p.across);
    if (s.ok() && p.gathers)
        s = phase(across, k_method_over_gateways, false, p.across);
    if (s.ok() && p.gathers)
        s = phase(inside, gather_method(x.command), false, p.inside);
    return s;
}

abi::status replica_runner::run_broadcast()
{
    const std::uint32_t n = table().ranks, rank = table().rank;
    replica_line all{n, rank, 0, 1, false, {}, k_sem_domain, k_sem_domain_ready};
    const bool leaves_domain = replicas_of_domain(table()) != n;
    find_zone(all, table().exchanges == abi::exchange_mode::syncful || (table().exchanges == abi::exchange_mode::hybrid && !leaves_domain), leaves_domain);
    x.peer = n;
    if (abi::status s = all.meets ? sync_.join(all.where) : x.meet_everybody(); !s.ok())
        return s;
    if (abi::status s = all.meets ? sync_.meet(x.command.timeout_ns) : abi::status{}; !s.ok())
        return s;
    // Slot r of everybody's scratch memory is for rank r: all add in one order, so all have the same bits.
    const std::uint64_t bytes = x.command.count * element_;
    for (std::uint32_t k = 0; k < n; ++k) {
        abi::dma_descriptor d;
        d.source_offset = x.command.buffer_offset;
        d.destination_offset = x.command.scratch_offset + rank * bytes;
        d.bytes = bytes;
        d.destination_rank = rank + k < n ? rank + k : rank + k - n;
        d.remote_semaphore = k_sem_contribution;
        d.tag = x.step;
        if (abi::status s = enqueue(k, d); !s.ok())
            return s;
    }
    x.dma.doorbells();
    x.context.expected[k_sem_contribution] += n;
    if (abi::status s = x.wait_expected(k_sem_contribution); !s.ok())
        return s;
    if (abi::status s = x.dma.drain(x.command.timeout_ns); !s.ok()) // the sum goes where all that is sent comes from
        return s;
    ++x.step;
    for (std::uint32_t k = 0; k < n; ++k) {
        abi::dma_descriptor d;
        d.source_offset = x.command.scratch_offset + k * bytes;
        d.destination_offset = x.command.buffer_offset;
        d.bytes = bytes;
        d.destination_rank = rank;
        d.redop = k == 0 ? abi::reduce_op::none : x.command.redop;
        d.type = x.command.type;
        d.remote_semaphore = k + 1 == n ? k_sem_combined : abi::k_no_semaphore;
        d.tag = x.step;
        if (abi::status s = enqueue(0, d); !s.ok())
            return s;
    }
    x.dma.doorbells();
    ++x.context.expected[k_sem_combined];
    return x.wait_expected(k_sem_combined);
}

} // namespace

void run_replica_rings(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command + costs::k_replica_plan);
    x.finish(result, replica_runner(x).run_rings());
}

void run_replica_broadcast(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command + costs::k_replica_plan);
    x.finish(result, replica_runner(x).run_broadcast());
}

} // namespace weft::firmware
