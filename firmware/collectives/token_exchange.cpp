// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/token_exchange.h"

namespace weft::firmware {

token_exchange::token_exchange(exchange& e, const abi::token_table& t)
    : x(e), table(t), places(e.command.scratch_offset, t.ranks, t.line, t.most_runs), order(e.context.table), rank(e.context.table.rank), ranks(e.context.table.ranks), line(t.line),
      passes_on(e.command.algo == abi::algorithm::hierarchical), queues(e.dma.queues()), shortest(one_full_line(e.context.table) ? 1 : 0),
      grain(static_cast<std::uint32_t>(t.token_bytes < k_message_bytes ? k_message_bytes / t.token_bytes : 1))
{
}

abi::status token_exchange::send_bytes(std::uint32_t to, std::uint32_t queue, std::uint64_t from, std::uint64_t into, std::uint64_t bytes,
                                       std::uint32_t semaphore, abi::reduce_op redop)
{
    abi::dma_descriptor d;
    d.source_offset = from;
    d.destination_offset = into;
    d.bytes = bytes;
    d.destination_rank = d.tag = x.peer = to;
    d.remote_semaphore = semaphore;
    d.redop = redop;
    d.shortest_paths = shortest;
    d.type = x.command.type;
    return x.post(queue % queues, d);
}

abi::status token_exchange::send(std::uint32_t to, std::uint32_t queue, std::uint64_t from, std::uint64_t into, std::uint32_t tokens,
                                 std::uint32_t semaphore, abi::reduce_op redop)
{
    x.hal.compute(costs::k_token_send);
    return send_bytes(to, queue, from, into, tokens * table.token_bytes, semaphore, redop);
}

const abi::token_list& token_exchange::head(std::uint64_t from, std::uint32_t number)
{
    const std::uint64_t base = x.context.table.hbm_base;
    x.hal.compute(costs::k_token_list);
    if (ranks > k_heads) {
        x.hal.copy_in(heads_, base + from + number * sizeof heads_[0], sizeof heads_[0]);
        return heads_[0];
    }
    if (heads_from_ != from)
        x.hal.copy_in(heads_, base + from, ranks * static_cast<std::uint32_t>(sizeof heads_[0]));
    heads_from_ = from;
    return heads_[number];
}

/// A descriptor of each local port tells all ranks whose number is that of the port, modulo how many there are.
abi::status token_exchange::send_by_ports(abi::dma_descriptor d, std::uint64_t stride)
{
    const std::uint32_t ports = x.context.table.dma_ports < ranks ? x.context.table.dma_ports : ranks;
    const std::uint64_t from = d.source_offset;
    for (std::uint32_t port = 0; port < ports; ++port) {
        d.source_offset = from + port * stride;
        x.to_ranks(d, port, (ranks - port + ports - 1) / ports, ports, ports * stride);
        if (abi::status s = x.post(port, d); !s.ok())
            return s;
    }
    return {};
}

abi::status token_exchange::send_to_all(std::uint64_t from, std::uint64_t stride, std::uint64_t bytes, std::uint64_t into, std::uint32_t semaphore)
{
    expect(semaphore, ranks);
    if (reaches_all_by_ports()) {
        abi::dma_descriptor d;
        d.source_offset = from;
        d.bytes = bytes;
        d.destination_offset = into;
        d.remote_semaphore = semaphore;
        d.shortest_paths = 1;
        return send_by_ports(d, stride);
    }
    for (std::uint32_t k = 0; k < ranks; ++k) {
        const peer to = order.at(k);
        x.hal.compute(order.cost());
        if (abi::status s = send_bytes(to.rank, to.queue, from + to.rank * stride, into, bytes, semaphore); !s.ok())
            return s;
    }
    return {};
}

abi::token_run token_exchange::run_of(std::uint64_t runs, const abi::token_list& h, std::uint32_t number)
{
    const std::uint32_t first = number - number % k_cached_runs;
    const std::uint64_t at = x.context.table.hbm_base + runs + abi::token_places::runs_offset(line) + first * sizeof(abi::token_run);
    if (at != cached_at_) {
        const std::uint32_t left = h.runs_of_others + h.led_runs - first;
        x.hal.copy_in(cached_, at, (left < k_cached_runs ? left : k_cached_runs) * sizeof(abi::token_run));
        cached_at_ = at;
    }
    x.hal.compute(costs::k_token_run);
    return cached_[number % k_cached_runs];
}

void token_exchange::note_in_row(std::uint32_t source, std::uint32_t word)
{
    const std::uint32_t place = source % k_row_words;
    row_words_[place] = word;
    if (place + 1 == k_row_words || source + 1 == ranks)
        x.hal.copy_out(x.context.table.hbm_base + places.own_row() + (source - place) * sizeof word, row_words_,
                       (place + 1) * static_cast<std::uint32_t>(sizeof word));
}

abi::status token_exchange::send_row()
{
    const std::uint32_t first = rank - rank % line, own = rank % line;
    expect(k_sem_token_rows, line);
    for (std::uint32_t k = 1; k <= line; ++k) { // the own one last: a copy
        const std::uint32_t place = own + k < line ? own + k : own + k - line;
        if (abi::status s = send_bytes(first + place, k, places.own_row(), places.row(own), places.row_bytes(), k_sem_token_rows); !s.ok())
            return s;
    }
    return {};
}

} // namespace weft::firmware
