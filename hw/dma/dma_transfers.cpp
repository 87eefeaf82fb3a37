// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_transfers.h"

namespace weft {

std::uint32_t dma_transfers::load(const abi::dma_descriptor& d, std::uint32_t queue, std::uint32_t train)
{
    const std::uint32_t id = place();
    const std::uint32_t pieces = d.more_pieces + 1;
    dma_transfer& t = transfers_[id];
    t = {};
    if (d.more_pieces != 0)
        t.shape = d.rank_stride != 0 ? transfer_shape::to_ranks : transfer_shape::strided;
    const bool to_ranks = t.shape == transfer_shape::to_ranks;
    t.source_offset = d.source_offset;
    t.destination_offset = d.destination_offset;
    t.piece_bytes = d.bytes;
    t.packets = std::uint64_t{format_.packets_for(d.bytes)} * (d.more_pieces + std::uint64_t{1});
    t.message_packets = format_.packets_for(d.bytes) * (to_ranks ? 1 : pieces);
    t.destination_rank = d.destination_rank;
    t.semaphore = d.remote_semaphore;
    t.message = next_message_;
    next_message_ += to_ranks ? pieces : 1; // the pieces are messages of their own
    t.queue = static_cast<std::uint16_t>(queue);
    t.train = static_cast<std::uint16_t>(to_ranks ? 1 : train);
    t.destination_port = d.destination_port;
    t.redop = static_cast<std::uint8_t>(d.redop);
    t.type = static_cast<std::uint8_t>(d.type);
    t.by_fabric = d.by_fabric != 0;
    t.local = d.destination_rank == rank_ && !t.by_fabric && !to_ranks;
    t.shortest_paths = d.shortest_paths != 0;
    if (t.shape != transfer_shape::whole)
        load_pieces(id, d);
    if (numbered_ && !to_ranks)
        t.semaphore_message = numbers_.next(d.destination_rank, d.remote_semaphore);
    return id;
}

std::uint32_t dma_transfers::load(const abi::dma_descriptor& d, const std::vector<abi::dma_element_entry>& entries, std::uint32_t queue,
                                  std::uint32_t train)
{
    const std::uint32_t id = load(d, queue, train);
    if (elements_.size() < transfers_.size())
        elements_.resize(transfers_.size());
    dma_transfer& t = transfers_[id];
    transfer_elements& all = elements_[id];
    t.shape = transfer_shape::elements;
    const abi::dma_element_entry& first = entries.front();
    t.ring_entries = static_cast<std::uint8_t>(1 + entries.size());
    t.local = false;
    all.sources.clear();
    if (d.source_offset != abi::k_no_source)
        all.sources.push_back({rank_, d.source_offset});
    all.destinations = {{d.destination_rank, d.remote_semaphore, d.destination_offset, t.message, t.semaphore_message}};
    all.wait_semaphore = first.wait_semaphore;
    all.wait_count = first.wait_count;
    const bool reduces = all.sources.size() + first.more_sources > 1;
    all.redop = reduces ? d.redop : abi::reduce_op::none;
    all.type = d.type;
    if (reduces)
        t.redop = static_cast<std::uint8_t>(abi::reduce_op::none);
    for (std::uint32_t i = 0; i < std::uint32_t{first.more_sources} + first.more_destinations; ++i) {
        const abi::dma_element& e = entries[i / abi::k_elements_of_entry].element[i % abi::k_elements_of_entry];
        if (i < first.more_sources)
            all.sources.push_back({e.rank, e.offset});
        else
            all.destinations.push_back({e.rank, e.semaphore, e.offset, next_message_++, numbered_ ? numbers_.next(e.rank, e.semaphore) : 0});
    }
    return id;
}

void dma_transfers::load_pieces(std::uint32_t id, const abi::dma_descriptor& d)
{
    if (pieces_.size() < transfers_.size())
        pieces_.resize(transfers_.size());
    transfer_pieces& p = pieces_[id];
    p.count = d.more_pieces + 1;
    p.first = d.first_piece;
    p.stride = d.stride;
    p.piece_packets = format_.packets_for(d.bytes);
    p.rank_stride = d.rank_stride;
    p.semaphore_messages.clear();
    for (std::uint32_t k = 0; numbered_ && p.rank_stride != 0 && k < p.count; ++k)
        p.semaphore_messages.push_back(numbers_.next(rank_of_piece(id, k), d.remote_semaphore));
}

std::uint32_t dma_transfers::place()
{
    if (unused_.empty()) {
        transfers_.emplace_back();
        return static_cast<std::uint32_t>(transfers_.size() - 1);
    }
    const std::uint32_t id = unused_.back();
    unused_.pop_back();
    return id;
}

packet_source dma_transfers::source_in_turn(std::uint32_t id, std::uint64_t n) const
{
    const dma_transfer& t = transfers_[id];
    const transfer_pieces& p = pieces_[id];
    const std::uint32_t piece = p.piece_in_turn(n);
    const std::uint64_t within = n / p.count * packet_bytes_;
    return {t.source_offset + piece * p.stride + within, std::min(packet_bytes_, t.piece_bytes - within),
            rank_of_piece(id, piece) == rank_ && !t.by_fabric};
}

packet_target dma_transfers::target_in_turn(std::uint32_t id, std::uint64_t n) const
{
    const dma_transfer& t = transfers_[id];
    const transfer_pieces& p = pieces_[id];
    const std::uint32_t piece = p.piece_in_turn(n);
    const std::uint64_t round = n / p.count;
    return {rank_of_piece(id, piece),
            t.semaphore,
            t.message + piece,
            numbered_ ? p.semaphore_messages[piece] : 0,
            t.destination_offset + round * packet_bytes_,
            round + 1 == p.piece_packets,
            n + 1 == t.packets};
}

packet_target dma_transfers::target_of_element(std::uint32_t id, std::uint64_t n, std::uint32_t packets) const
{
    const dma_transfer& t = transfers_[id];
    const transfer_elements& all = elements_[id];
    const std::uint64_t k = n / t.packets;
    const transfer_elements::destination& to = all.destinations[k];
    const bool last = n % t.packets + packets == t.packets;
    return {to.rank, to.semaphore, to.message, to.semaphore_message, to.offset + n % t.packets * packet_bytes_, last,
            last && k + 1 == all.destinations.size()};
}

void dma_transfers::reset()
{
    transfers_.clear();
    pieces_.clear();
    elements_.clear();
    unused_.clear();
    numbers_ = {};
}

} // namespace weft
