// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// all_to_all, two_phase, on a full mesh of two dimensions: paths with at most one relay, chosen by firmware. Half of
// every block goes along the first dimension to the rank with the receiver's coordinate there, waits in its memory, and
// goes on along the second one; the other half goes along the second dimension first. So the links of both work in both
// phases. By two_phase_one_path whole blocks go along the first dimension first: in each phase the links of the other
// one are idle.
//
// One descriptor sends to all of a line, packet by packet in turn, so that all its links work from the first message
// on. Of process groups, whose members may be anywhere, each takes a descriptor. Each dimension has a local port of its
// own. A block keeps its length and a whole slot where it waits. Those of the first ranks are an element longer, and
// have slots of their own.
//
// The own rank is a relay like others, by copies in memory.
#include "firmware/collectives/collectives.h"
#include "firmware/collectives/exchange.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_ways = 2; ///< way h goes along dimension h first, 0 being the innermost

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

struct line_relay {
    exchange& x;
    near_block near;
    std::uint32_t rank, ranks;
    std::uint32_t ways; ///< that blocks are cut for
    std::uint32_t size[k_ways] = {1, 1};
    std::uint32_t at[k_ways] = {0, 0};
    std::uint32_t stride[k_ways] = {0, 0}; ///< of ranks
    std::uint64_t element;
    std::uint64_t longest;   ///< elements of a block of the first ranks
    std::uint32_t long_ones; ///< ranks with such a block, where not all have

    explicit line_relay(exchange& e)
        : x(e), near(e.context.table), rank(e.context.table.rank), ranks(e.context.table.ranks),
          ways(e.command.algo == abi::algorithm::two_phase_one_path ? 1 : k_ways),
          element(abi::element_bytes(e.command.type)), longest(abi::shard_of(e.command.count, ranks, 0).count),
          long_ones(static_cast<std::uint32_t>(e.command.count % ranks))
    {
        const abi::platform_table& t = x.context.table;
        std::uint32_t n = 0;
        for (std::uint32_t d = t.dim_count; d-- > 0;) {
            if (t.dims[d] == 1)
                continue;
            size[n] = t.dims[d];
            at[n] = t.coord[d];
            stride[n++] = rank_stride(t, d);
        }
    }

    /// The rank with coordinate `a` along dimension `way` and `b` along the other one.
    std::uint32_t rank_at(std::uint32_t way, std::uint32_t a, std::uint32_t b) const
    {
        return a * stride[way] + b * stride[1 - way];
    }
    abi::element_range block_of(std::uint32_t receiver) const
    {
        return abi::shard_of(x.command.count, ranks, receiver);
    }
    /// Of a block of so many elements, what goes this way.
    abi::element_range part_of(std::uint64_t block, std::uint32_t way) const
    {
        return ways == 1 ? abi::element_range{0, block} : abi::shard_of(block, k_ways, way);
    }
    /// Slot number `slot` of blocks of this length.
    std::uint64_t in_slot(std::uint64_t block, std::uint32_t slot, abi::element_range part) const
    {
        const std::uint64_t before = block == longest ? 0 : ranks * longest;
        return x.command.scratch_offset + (before + slot * block + part.first) * element;
    }
    /// Of the ranks with coordinate `a` along dimension `way`, how many have long blocks; they are the first ones.
    std::uint32_t long_ones_at(std::uint32_t way, std::uint32_t a) const
    {
        const std::uint32_t first = a * stride[way];
        const std::uint32_t step = stride[1 - way];
        return long_ones <= first ? 0 : smaller(size[1 - way], (long_ones - first + step - 1) / step);
    }
    bool in_list() const { return x.context.table.members != 0; }

    /// To the ranks at `first` to `end` of the line along `dimension`, from places that lie `apart` bytes apart.
    abi::status send(std::uint32_t dimension, std::uint32_t first, std::uint32_t end, abi::dma_descriptor& d,
                     std::uint64_t apart)
    {
        const std::uint32_t together = in_list() ? 1 : end - first;
        const std::uint32_t next = at[dimension] + 1; // so that not all begin with the same
        d.more_pieces = static_cast<std::uint16_t>(together - 1);
        d.rank_stride = static_cast<std::uint16_t>(together != 1 ? stride[dimension] : 0);
        d.stride = together != 1 ? apart : 0;
        d.first_piece = static_cast<std::uint16_t>(together != 1 && next > first && next < end ? next - first : 0);
        d.type = x.command.type;
        for (; first < end; first += together, d.source_offset += apart) {
            d.destination_rank = rank_at(dimension, first, at[1 - dimension]);
            d.shortest_paths = near.holds(d.destination_rank) ? 1 : 0;
            d.tag = x.step << 24 | d.destination_rank;
            x.peer = d.destination_rank;
            if (abi::status s = x.enqueue(dimension, d); !s.ok())
                return s;
        }
        return {};
    }

    /// First phase: to relays `first` to `end`, the blocks of the receivers across them at `across`, equally long.
    abi::status send_to_relays(std::uint32_t way, std::uint32_t across, std::uint32_t first, std::uint32_t end)
    {
        if (first == end)
            return {};
        const abi::element_range block = block_of(rank_at(way, first, across));
        const abi::element_range part = part_of(block.count, way);
        if (part.count == 0)
            return {};
        abi::dma_descriptor d;
        d.source_offset = x.command.buffer_offset + (block.first + part.first) * element;
        d.destination_offset = in_slot(block.count, rank_at(way, at[way], across), part);
        d.bytes = part.count * element;
        d.remote_semaphore = k_sem_data + way;
        return send(way, first, end, d, stride[way] * block.count * element);
    }

    /// Second phase: what has come from `source` of the line along `way`, to receivers `first` to `end` across it,
    /// whose blocks are equally long.
    abi::status send_on(std::uint32_t way, std::uint32_t source, std::uint32_t first, std::uint32_t end)
    {
        if (first == end)
            return {};
        const std::uint64_t block = block_of(rank_at(way, at[way], first)).count;
        const abi::element_range part = part_of(block, way);
        if (part.count == 0)
            return {};
        abi::dma_descriptor d;
        d.source_offset = in_slot(block, rank_at(way, source, first), part);
        d.destination_offset =
            x.command.output_offset + (rank_at(way, source, at[1 - way]) * block + part.first) * element;
        d.bytes = part.count * element;
        d.remote_semaphore = k_sem_all_to_all;
        return send(1 - way, first, end, d, stride[1 - way] * block * element);
    }

    /// Messages number `first` to `end` of the first phase, of both ways.
    abi::status enqueue_first(std::uint32_t first, std::uint32_t end, bool rings)
    {
        for (std::uint32_t k = first; k < end; ++k)
            for (std::uint32_t way = 0; way < ways; ++way) {
                if (k >= size[1 - way])
                    continue;
                const std::uint32_t across = (at[1 - way] + 1 + k) % size[1 - way];
                const std::uint32_t long_blocks = long_ones_at(1 - way, across);
                x.hal.compute(costs::k_two_phase_message);
                abi::status s = send_to_relays(way, across, 0, long_blocks);
                if (s.ok())
                    s = send_to_relays(way, across, long_blocks, size[way]);
                if (!s.ok())
                    return s;
                if (rings)
                    x.dma.doorbells();
            }
        return {};
    }

    void expect()
    {
        const std::uint64_t mine = block_of(rank).count;
        const std::uint64_t shorter = long_ones != 0 ? longest - 1 : longest;
        for (std::uint32_t way = 0; way < ways; ++way) {
            const std::uint32_t long_blocks = long_ones_at(way, at[way]);
            const std::uint32_t of_source = (part_of(longest, way).count != 0 ? long_blocks : 0) +
                                            (part_of(shorter, way).count != 0 ? size[1 - way] - long_blocks : 0);
            x.context.expected[k_sem_data + way] += of_source * size[way];
            x.context.expected[k_sem_all_to_all] += part_of(mine, way).count != 0 ? ranks : 0;
        }
        x.hal.compute(k_ways * costs::k_two_phase_line);
    }

    abi::status enqueue_second(std::uint32_t way, bool rings)
    {
        const std::uint32_t long_blocks = long_ones_at(way, at[way]);
        for (std::uint32_t k = 0; k < size[way]; ++k) {
            const std::uint32_t source = (at[way] + 1 + k) % size[way];
            x.hal.compute(costs::k_two_phase_message);
            abi::status s = send_on(way, source, 0, long_blocks);
            if (s.ok())
                s = send_on(way, source, long_blocks, size[1 - way]);
            if (!s.ok())
                return s;
            if (rings)
                x.dma.doorbells();
        }
        return {};
    }

    /// Whichever way has come first.
    abi::status send_relayed()
    {
        std::uint32_t left = (1u << ways) - 1;
        for (;;) {
            for (std::uint32_t way = 0; way < ways; ++way) {
                const std::uint32_t awaited = k_sem_data + way;
                if ((left >> way & 1) == 0 || !firmware::reached(x.context, awaited, x.context.expected[awaited]))
                    continue;
                left &= ~(1u << way);
                if (abi::status s = enqueue_second(way, true); !s.ok())
                    return s;
            }
            if (left == 0)
                return {};
            for (std::uint32_t way = 0; way < ways; ++way)
                if ((left >> way & 1) != 0)
                    x.dma.arm(k_sem_data + way, x.context.expected[k_sem_data + way]);
            x.hal.compute(costs::k_direct_wait);
            x.peer = ranks; // whoever is late is not known by one counter
            std::uint64_t fired = 0;
            if (abi::status s = x.dma.wait(x.command.timeout_ns, fired); !s.ok())
                return s;
            for (std::uint32_t way = 0; way < ways; ++way)
                if ((fired >> (k_sem_data + way) & 1) != 0)
                    x.context.known[k_sem_data + way] = x.dma.armed_threshold(k_sem_data + way);
        }
    }

    std::uint32_t longer_line() const { return size[0] > size[1] ? size[0] : size[1]; }
    /// Whether rings hold the messages of both phases, two for each rank of a line where blocks differ. With less,
    /// making one of them would tell the device of others. So would telling a line by a queue that has some.
    bool holds_all() const
    {
        return x.meets_by_lines() && !in_list() && x.dma.queues() > k_ways && x.dma.ring_entries() > 4 * longer_line();
    }

    /// The first messages are made while ranks meet: slots of others may be written when all have entered.
    abi::status meet()
    {
        const abi::platform_table& t = x.context.table;
        bool made = false;
        for (std::uint32_t d = t.dim_count; d-- > 0;) {
            if (t.dims[d] == 1)
                continue;
            abi::status s = x.tell_line(d);
            if (s.ok() && !made)
                s = enqueue_first(0, 1, false);
            made = true;
            if (s.ok())
                s = x.wait_expected(k_sem_barrier + d);
            if (!s.ok())
                return s;
            ++x.step;
        }
        x.dma.doorbells();
        return {};
    }

    /// Messages of the second phase are made while the first one is under way.
    abi::status send_all_relayed()
    {
        for (std::uint32_t way = 0; way < ways; ++way)
            if (abi::status s = enqueue_second(way, false); !s.ok())
                return s;
        x.peer = ranks; // whoever is late is not known by one counter
        for (std::uint32_t way = 0; way < ways; ++way)
            if (abi::status s = x.wait_expected(k_sem_data + way); !s.ok())
                return s;
        x.dma.doorbells();
        return {};
    }

    abi::status run()
    {
        const bool ahead = holds_all();
        abi::status s = ahead ? meet() : x.meet_everybody();
        expect();
        if (s.ok())
            s = enqueue_first(ahead ? 1 : 0, longer_line(), true);
        ++x.step;
        if (s.ok())
            s = ahead ? send_all_relayed() : send_relayed();
        if (s.ok())
            s = x.dma.bus_status("DMA.TAIL");
        x.peer = s.ok() ? ranks : x.peer;
        return s.ok() ? x.wait_expected(k_sem_all_to_all) : s;
    }
};

} // namespace

void run_two_phase_by_lines(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                            collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    const abi::status status = line_relay(x).run();
    x.finish(result, status);
}

} // namespace weft::firmware
