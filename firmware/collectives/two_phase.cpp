// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// all_to_all, two_phase: half of every block goes along its sender's row to the column of its receiver, waits in memory
// there and goes on along the column; the other half goes along the column first. So the links of both dimensions work
// in both phases, and no message turns. Inside a line everybody sends to everybody, nearest first: in such a round all
// links of its middle work.
//
// A relay keeps the half from source s for destination d, of which it has one coordinate each, in the slot of the rank
// with the other two: the coordinate of s in the dimension of the first phase and that of d in the other one. Two
// halves share the slot of a rank.
//
// A relay sends on what has come from some ranks of its line while the others still send: those ranks are parted into
// groups, nearest first, each with a semaphore for each half. What a rank has for its own line in the second phase
// needs no relay, and comes first.
#include "firmware/collectives/collectives.h"
#include "firmware/collectives/exchange.h"
#include "firmware/collectives/mesh.h"

namespace weft::firmware {

namespace {

/// Half h goes along dimension h first: 0 along rows, from column to column; 1 along columns.
constexpr std::uint32_t k_halves = 2;
constexpr std::uint32_t k_streams = 4; ///< one a link of a chip: rows falling, rising, columns falling, rising

constexpr std::uint32_t k_groups = 8;  ///< of the other ranks of a line, for each half
constexpr std::uint64_t k_group_bytes = 4096; ///< of half a block: smaller ones are waited for all together
static_assert(k_sem_data + k_halves * k_groups <= k_sem_ready, "semaphore ranges overlap");

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

struct relay {
    exchange& x;
    std::uint32_t rank;
    std::uint32_t ranks;
    std::uint32_t size[k_halves];   ///< of a row, of a column
    std::uint32_t at[k_halves];     ///< column, row
    bool ring[k_halves];
    std::uint32_t stride[k_halves]; ///< between the ranks of a row, of a column
    std::uint64_t element;
    std::uint64_t slot_elements;
    std::uint32_t groups; ///< in use
    bool one_path;        ///< whole blocks go along rows first

    explicit relay(exchange& e) : x(e), rank(e.context.table.rank), ranks(e.context.table.ranks)
    {
        const mesh m = mesh_of(e.context.table);
        size[0] = stride[1] = m.cols;
        size[1] = m.rows;
        stride[0] = 1;
        at[0] = rank % m.cols;
        at[1] = rank / m.cols;
        ring[0] = m.wrap_cols && m.cols > 2;
        ring[1] = m.wrap_rows && m.rows > 2;
        element = abi::element_bytes(e.command.type);
        one_path = e.command.algo == abi::algorithm::two_phase_one_path;
        slot_elements = abi::shard_of(e.command.count, ranks, 0).count;
        groups = half_of(slot_elements, 0).count * element >= k_group_bytes ? k_groups : 1;
    }

    /// The rank with coordinate `a` in `dimension` and `b` in the other one.
    std::uint32_t rank_at(std::uint32_t dimension, std::uint32_t a, std::uint32_t b) const
    {
        return a * stride[dimension] + b * stride[1 - dimension];
    }
    std::uint64_t block_elements(std::uint32_t destination) const
    {
        return abi::shard_of(x.command.count, ranks, destination).count;
    }
    /// Of a block, the part that goes along `half` first.
    abi::element_range half_of(std::uint64_t block, std::uint32_t half) const
    {
        if (one_path)
            return half == 0 ? abi::element_range{0, block} : abi::element_range{block, 0};
        return abi::shard_of(block, k_halves, half);
    }

    std::uint64_t in_input(std::uint32_t destination, abi::element_range part) const
    {
        return x.command.buffer_offset + (abi::shard_of(x.command.count, ranks, destination).first + part.first) * element;
    }
    // Blocks of two destinations that share a slot may differ by an element.
    std::uint64_t in_slot(std::uint32_t slot, std::uint32_t half) const
    {
        return x.command.scratch_offset + (slot * slot_elements + half_of(slot_elements, half).first) * element;
    }
    std::uint64_t in_output(std::uint32_t source, std::uint64_t block, abi::element_range part) const
    {
        return x.command.output_offset + (source * block + part.first) * element;
    }

    // Others of a line that are reached by its falling (0) or rising (1) links; on a ring as routing goes, where even
    // coordinates go up to the opposite one.
    std::uint32_t reached(std::uint32_t dimension, std::uint32_t rising) const
    {
        const std::uint32_t n = size[dimension];
        const std::uint32_t here = at[dimension];
        if (!ring[dimension])
            return rising != 0 ? n - 1 - here : here;
        return (n - 1) / 2 + (n % 2 == 0 && here % 2 != rising ? 1 : 0);
    }
    std::uint32_t coordinate(std::uint32_t dimension, std::uint32_t rising, std::uint32_t away) const
    {
        const std::uint32_t n = size[dimension];
        const std::uint32_t here = at[dimension];
        if (rising != 0)
            return here + away < n ? here + away : here + away - n;
        return here >= away ? here - away : here + n - away;
    }

    abi::status send(std::uint32_t stream, std::uint32_t to, std::uint64_t from, std::uint64_t into, std::uint64_t elements,
                     std::uint32_t semaphore)
    {
        abi::dma_descriptor d;
        d.source_offset = from;
        d.destination_offset = into;
        d.bytes = elements * element;
        d.destination_rank = to;
        d.remote_semaphore = semaphore;
        d.type = x.command.type;
        d.shortest_paths = 1;
        d.tag = x.step << 24 | to;
        x.peer = to;
        // A local port for each dimension, and in it a queue for each direction.
        return x.post((stream / 2 + stream % 2 * 2) % x.dma.queues(), d);
    }

    /// Coordinate of the rank of a line that is served as number `k`; 0 is the own one. Nearest first.
    std::uint32_t place(std::uint32_t dimension, std::uint32_t k) const
    {
        const std::uint32_t n = size[dimension];
        const std::uint32_t here = at[dimension];
        const std::uint32_t both = ring[dimension] ? n : 2 * smaller(here, n - 1 - here); // ways
        if (k <= both)
            return coordinate(dimension, k % 2, (k + 1) / 2);
        return 2 * here < n ? here + k - both / 2 : here + both / 2 - k;
    }
    /// The inverse of place(), of the rank of the line at `here`: as which number it serves `there`.
    std::uint32_t number_of(std::uint32_t dimension, std::uint32_t here, std::uint32_t there) const
    {
        const std::uint32_t n = size[dimension];
        if (here == there)
            return 0;
        if (!ring[dimension]) {
            const std::uint32_t away = there > here ? there - here : here - there;
            const std::uint32_t both = smaller(here, n - 1 - here);
            return away > both ? away + both : 2 * away - (there > here ? 1 : 0);
        }
        const std::uint32_t above = there > here ? there - here : there + n - here;
        return 2 * above <= n ? 2 * above - 1 : 2 * (n - above);
    }
    /// Group of number `k` of the others of a line, and the first number of a group.
    std::uint32_t group(std::uint32_t dimension, std::uint32_t k) const { return (k - 1) * groups / (size[dimension] - 1); }
    std::uint32_t first_of(std::uint32_t dimension, std::uint32_t of_group) const
    {
        return (of_group * (size[dimension] - 1) + groups - 1) / groups + 1;
    }
    std::uint32_t relay_semaphore(std::uint32_t half, std::uint32_t of_group) const { return k_sem_data + half * k_groups + of_group; }
    /// Whether routing goes there by the rising links.
    std::uint32_t rises(std::uint32_t dimension, std::uint32_t there) const
    {
        const std::uint32_t here = at[dimension];
        if (!ring[dimension])
            return there > here ? 1 : 0;
        const std::uint32_t above = there > here ? there - here : there + size[dimension] - here;
        return above <= reached(dimension, 1) ? 1 : 0;
    }
    // First phase along the dimension of `half`: what the peer shall get, or number `k` across from it.
    abi::status send_first(std::uint32_t stream, std::uint32_t half, std::uint32_t peer, std::uint32_t k)
    {
        const std::uint32_t across = place(1 - half, k);
        const std::uint32_t destination = rank_at(half, peer, across);
        const std::uint64_t block = block_elements(destination);
        const abi::element_range part = half_of(block, half);
        if (part.count == 0)
            return skip();
        const bool there = k == 0;
        return send(stream, rank_at(half, peer, at[1 - half]), in_input(destination, part),
                    there ? in_output(rank, block, part) : in_slot(rank_at(half, at[half], across), half), part.count,
                    there ? k_sem_all_to_all : relay_semaphore(half, group(half, number_of(half, peer, at[half]))));
    }

    // Second phase across it: what came from `source` of the own line, for the peer.
    abi::status send_second(std::uint32_t half, std::uint32_t peer, std::uint32_t source)
    {
        const std::uint32_t stream = 2 * (1 - half) + rises(1 - half, peer);
        const std::uint32_t destination = rank_at(half, at[half], peer);
        const std::uint64_t block = block_elements(destination);
        const abi::element_range part = half_of(block, half);
        if (part.count == 0)
            return skip();
        const bool own = source == at[half];
        return send(stream, destination, own ? in_input(destination, part) : in_slot(rank_at(half, source, peer), half),
                    in_output(rank_at(half, source, at[1 - half]), block, part), part.count, k_sem_all_to_all);
    }

    abi::status skip()
    {
        x.hal.compute(costs::k_direct_skip);
        return {};
    }

    /// First phase, both halves.
    abi::status send_to_relays()
    {
        std::uint32_t away[k_streams];
        std::uint32_t across[k_streams] = {};
        std::uint32_t left = 0;
        for (std::uint32_t s = 0; s < k_streams; ++s) {
            away[s] = 1;
            left += reached(s / 2, s % 2) != 0 ? 1 : 0;
        }
        while (left != 0)
            for (std::uint32_t s = 0; s < k_streams; ++s) {
                const std::uint32_t half = s / 2;
                const std::uint32_t all = reached(half, s % 2);
                if (away[s] > all)
                    continue;
                x.hal.compute(costs::k_two_phase_message);
                if (abi::status status = send_first(s, half, coordinate(half, s % 2, away[s]), across[s]); !status.ok())
                    return status;
                if (++across[s] == size[1 - half]) {
                    across[s] = 0;
                    left -= away[s]++ == all ? 1 : 0;
                }
            }
        return {};
    }

    /// Second phase, what needs no relay.
    abi::status send_own()
    {
        const std::uint32_t longest = size[0] > size[1] ? size[0] : size[1];
        for (std::uint32_t k = 1; k < longest; ++k)
            for (std::uint32_t half = 0; half < k_halves; ++half) {
                if (k >= size[1 - half])
                    continue;
                x.hal.compute(costs::k_two_phase_message);
                if (abi::status s = send_second(half, place(1 - half, k), at[half]); !s.ok())
                    return s;
            }
        return {};
    }

    /// The same, what has come from a group.
    abi::status send_group(std::uint32_t half, std::uint32_t of_group)
    {
        const std::uint32_t first = first_of(half, of_group);
        const std::uint32_t end = first_of(half, of_group + 1);
        for (std::uint32_t k = 1; k < size[1 - half]; ++k)
            for (std::uint32_t other = first; other < end; ++other) {
                x.hal.compute(costs::k_two_phase_message);
                if (abi::status s = send_second(half, place(1 - half, k), place(half, other)); !s.ok())
                    return s;
            }
        return {};
    }

    /// What arrives here: blocks and, of each half, what is to go on.
    void expect()
    {
        const std::uint64_t mine = block_elements(rank);
        std::uint32_t* const expected = x.context.expected;
        expected[k_sem_all_to_all] += mine != 0 ? 1 : 0; // from itself
        for (std::uint32_t half = 0; half < k_halves; ++half) {
            expected[k_sem_all_to_all] += half_of(mine, half).count != 0 ? ranks - 1 : 0;
            std::uint32_t across = 0; // blocks that each rank of the line sends
            for (std::uint32_t k = 1; k < size[1 - half]; ++k)
                across += half_of(block_elements(rank_at(half, at[half], place(1 - half, k))), half).count != 0 ? 1 : 0;
            for (std::uint32_t k = 1; k < size[half]; ++k)
                expected[relay_semaphore(half, group(half, k))] += across;
        }
        x.hal.compute((size[0] + size[1]) * costs::k_two_phase_line);
    }

    abi::status keep_own()
    {
        const abi::element_range block = abi::shard_of(x.command.count, ranks, rank);
        if (block.count == 0)
            return {};
        return send(0, rank, in_input(rank, {0, 0}), in_output(rank, block.count, {0, 0}), block.count, k_sem_all_to_all);
    }

    /// Second phase, of whichever groups have come.
    abi::status send_relayed()
    {
        const std::uint32_t all = k_halves * k_groups;
        std::uint32_t left = 0; // bits: groups that have not been sent on
        for (std::uint32_t half = 0; half < k_halves; ++half)
            for (std::uint32_t k = 1; k < size[half]; ++k)
                left |= 1u << (half * k_groups + group(half, k));
        for (;;) {
            for (std::uint32_t g = 0; g < all; ++g) {
                const std::uint32_t awaited = k_sem_data + g;
                if ((left >> g & 1) == 0 || !firmware::reached(x.context, awaited, x.context.expected[awaited]))
                    continue;
                left &= ~(1u << g);
                if (abi::status s = send_group(g / k_groups, g % k_groups); !s.ok())
                    return s;
            }
            if (left == 0)
                return {};
            for (std::uint32_t g = 0; g < all; ++g)
                if ((left >> g & 1) != 0)
                    x.dma.arm(k_sem_data + g, x.context.expected[k_sem_data + g]);
            x.hal.compute(costs::k_direct_wait);
            x.peer = ranks; // whoever is late is not known by one counter
            std::uint64_t fired = 0;
            if (abi::status s = x.dma.wait(x.command.timeout_ns, fired); !s.ok())
                return s;
            for (std::uint32_t g = 0; g < all; ++g)
                if ((fired >> (k_sem_data + g) & 1) != 0)
                    x.context.known[k_sem_data + g] = x.dma.armed_threshold(k_sem_data + g);
        }
    }
};

} // namespace

void run_two_phase(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                   collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    relay r(x);
    abi::status status = x.meet_everybody();
    r.expect();
    x.step += r.ranks > 1 ? 1 : 0;
    if (status.ok())
        status = r.send_to_relays();
    if (status.ok())
        status = r.keep_own();
    x.step += r.ranks > 1 ? 1 : 0;
    if (status.ok())
        status = r.send_own();
    if (status.ok())
        status = r.send_relayed();
    if (status.ok()) {
        x.peer = context.table.ranks;
        status = x.wait_expected(k_sem_all_to_all);
    }
    x.finish(result, status);
}

} // namespace weft::firmware
