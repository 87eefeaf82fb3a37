// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What each packet of a descriptor reads and writes. A descriptor on chip is a transfer; its packets are numbered in
// the order in which they are read, and every position in it is such a number.
//
//   whole     one message without a gap: packet n lies n x max_payload behind both offsets
//   strided   one message in pieces: every piece is cut into packets by itself, piece after piece
//   to_ranks  one message to each of several ranks: their packets in turn
//   elements  one message, made of one or several sources, to one or several destinations: packet n of destination k is
//             number k x packets + n
//
// Plain C++. Who reads or sends keeps its own position; a transfer does not change once it is loaded.
#pragma once

#include "hw/abi/descriptor.h"
#include "hw/dma/message_order.h"
#include "tlm/packet.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

enum class transfer_shape : std::uint8_t { whole, strided, to_ranks, elements };

/// What of a descriptor its packets need, in a cache line.
struct alignas(64) dma_transfer {
    std::uint64_t source_offset = 0;
    std::uint64_t destination_offset = 0;
    std::uint64_t piece_bytes = 0; ///< of one piece: a whole message is one
    std::uint64_t packets = 0;     ///< of all pieces; elements: of one destination
    std::uint32_t destination_rank = 0; ///< to_ranks: of the first piece
    std::uint32_t semaphore = 0;
    std::uint32_t message = 0;           ///< its number, for traces; to_ranks: of the first piece
    /// Its number among those to its rank and semaphore; to_ranks: see transfer_pieces.
    std::uint32_t semaphore_message = 0;
    std::uint32_t message_packets = 0;   ///< of one message
    std::uint16_t queue = 0;
    std::uint16_t train = 1; ///< most packets of a transaction
    std::uint8_t destination_port = 0;
    std::uint8_t redop = 0;
    std::uint8_t type = 0;
    transfer_shape shape = transfer_shape::whole;
    bool local = false;     ///< wholly to the own rank, and not by the fabric
    bool by_fabric = false; ///< to the own rank as to any other
    bool shortest_paths = false;
    std::uint8_t ring_entries = 1; ///< of its descriptor
};
static_assert(sizeof(dma_transfer) == 64);

/// What only a transfer with elements has.
struct transfer_elements {
    struct source {
        std::uint32_t rank;
        std::uint64_t offset;
    };
    struct destination {
        std::uint32_t rank;
        std::uint32_t semaphore;
        std::uint64_t offset;
        std::uint32_t message;           ///< as in dma_transfer
        std::uint32_t semaphore_message; ///< the same
    };
    std::vector<source> sources; ///< in the order in which they are reduced
    std::vector<destination> destinations;
    std::uint16_t wait_semaphore = abi::k_waits_for_none;
    std::uint32_t wait_count = 0;
    abi::reduce_op redop = abi::reduce_op::none; ///< of the sources
    abi::element_type type = abi::element_type::int32;
};

/// What only a transfer of several pieces has.
struct transfer_pieces {
    std::uint32_t count = 1;
    std::uint32_t first = 0;         ///< to_ranks: piece whose packet goes first
    std::uint64_t stride = 0;        ///< bytes from one to the next
    std::uint64_t piece_packets = 1; ///< of one piece
    std::uint32_t rank_stride = 0;
    std::vector<std::uint32_t> semaphore_messages; ///< to_ranks: dma_transfer::semaphore_message of each

    /// Of packet `n` of messages to several ranks.
    std::uint32_t piece_in_turn(std::uint64_t n) const { return static_cast<std::uint32_t>((n + first) % count); }
};

/// A packet, or a train of full ones, as memory sees it.
struct packet_source {
    std::uint64_t offset; ///< in memory
    std::uint64_t bytes;
    bool local; ///< to the own rank: it does not enter the fabric
};

/// Its place in the message that it belongs to, and where that goes.
struct packet_target {
    std::uint32_t rank;
    std::uint32_t semaphore;
    std::uint32_t message;
    std::uint32_t semaphore_message;
    std::uint64_t offset; ///< in the memory of `rank`
    bool last_of_message;
    bool last_of_transfer;
};

class alignas(64) dma_transfers {
public:
    /// For rank `rank`, whose fabric cuts messages by `format`; `numbered`: messages carry numbers by which they are
    /// put in order.
    dma_transfers(std::uint32_t rank, const packet_format& format, bool numbered)
        : packet_bytes_(format.max_payload_bytes), rank_(rank), numbered_(numbered), format_(format)
    {
    }

    /// A sound descriptor of queue `queue`, in transactions of up to `train` packets; returns its number here.
    std::uint32_t load(const abi::dma_descriptor& d, std::uint32_t queue, std::uint32_t train);
    /// The same for one with elements, of which `entries` are sound.
    std::uint32_t load(const abi::dma_descriptor& d, const std::vector<abi::dma_element_entry>& entries, std::uint32_t queue, std::uint32_t train);
    /// Its last packet has been sent.
    void release(std::uint32_t id) { unused_.push_back(id); }
    const dma_transfer& operator[](std::uint32_t id) const { return transfers_[id]; }

    const transfer_elements& elements_of(std::uint32_t id) const { return elements_[id]; }
    /// How often every packet is sent.
    std::uint32_t destinations(std::uint32_t id) const
    {
        return transfers_[id].shape != transfer_shape::elements ? 1 : static_cast<std::uint32_t>(elements_[id].destinations.size());
    }

    /// Rank to which packet `n` goes.
    std::uint32_t rank_of(std::uint32_t id, std::uint64_t n) const
    {
        const dma_transfer& t = transfers_[id];
        if (t.shape == transfer_shape::elements)
            return elements_[id].destinations[n / t.packets].rank;
        return t.shape != transfer_shape::to_ranks ? t.destination_rank : rank_of_piece(id, pieces_[id].piece_in_turn(n));
    }
    /// Whether packet `n` goes to the own memory, without the fabric.
    bool is_local(std::uint32_t id, std::uint64_t n) const
    {
        return transfers_[id].shape == transfer_shape::elements ? rank_of(id, n) == rank_ : transfers_[id].local;
    }
    /// Packets that go as one transaction from packet `n` on: a train is of full packets, the rest of a piece goes by
    /// itself.
    std::uint32_t train_at(std::uint32_t id, std::uint64_t n) const
    {
        const dma_transfer& t = transfers_[id];
        if (t.train == 1)
            return 1;
        const std::uint64_t full = (t.piece_bytes - within_piece(id, n) * packet_bytes_) / packet_bytes_;
        return std::max(1u, static_cast<std::uint32_t>(std::min<std::uint64_t>(t.train, full)));
    }
    /// What `packets` packets from packet `n` on read; as many as train_at() says. With elements, of the first source.
    packet_source source_of(std::uint32_t id, std::uint64_t n, std::uint32_t packets) const
    {
        const dma_transfer& t = transfers_[id];
        if (t.shape == transfer_shape::to_ranks)
            return source_in_turn(id, n);
        const std::uint64_t within = within_piece(id, n) * packet_bytes_;
        const std::uint64_t bytes = std::min(std::uint64_t{packets} * packet_bytes_, t.piece_bytes - within);
        return {t.source_offset + start_of_piece(id, n) + within, bytes, t.local};
    }
    /// Where they go.
    packet_target target_of(std::uint32_t id, std::uint64_t n, std::uint32_t packets) const
    {
        const dma_transfer& t = transfers_[id];
        if (t.shape == transfer_shape::to_ranks)
            return target_in_turn(id, n);
        if (t.shape == transfer_shape::elements)
            return target_of_element(id, n, packets);
        const bool last = n + packets == t.packets;
        const std::uint64_t behind = start_of_piece(id, n) + within_piece(id, n) * packet_bytes_;
        return {t.destination_rank, t.semaphore, t.message, t.semaphore_message, t.destination_offset + behind, last, last};
    }

    /// All transfers are gone, and messages count from the start. Numbers that only a trace sees go on.
    void reset();

private:
    std::uint32_t place();
    void load_pieces(std::uint32_t id, const abi::dma_descriptor& d);
    std::uint32_t rank_of_piece(std::uint32_t id, std::uint32_t piece) const
    {
        return transfers_[id].destination_rank + piece * pieces_[id].rank_stride;
    }
    packet_source source_in_turn(std::uint32_t id, std::uint64_t n) const;
    packet_target target_in_turn(std::uint32_t id, std::uint64_t n) const;
    packet_target target_of_element(std::uint32_t id, std::uint64_t n, std::uint32_t packets) const;
    /// Packets of its piece before packet `n` of one message.
    std::uint64_t within_piece(std::uint32_t id, std::uint64_t n) const
    {
        const dma_transfer& t = transfers_[id];
        return t.shape == transfer_shape::whole ? n : t.shape == transfer_shape::elements ? n % t.packets : n % pieces_[id].piece_packets;
    }
    /// Bytes from both offsets to the piece of packet `n` of one message.
    std::uint64_t start_of_piece(std::uint32_t id, std::uint64_t n) const
    {
        const transfer_shape shape = transfers_[id].shape;
        return shape == transfer_shape::whole || shape == transfer_shape::elements ? 0 : n / pieces_[id].piece_packets * pieces_[id].stride;
    }

    std::uint64_t packet_bytes_; ///< payload of a full packet
    std::vector<dma_transfer> transfers_;
    /// Of the transfers in the same places; as long as the last one that has several.
    std::vector<transfer_pieces> pieces_;
    std::vector<transfer_elements> elements_; ///< the same
    std::uint32_t rank_;
    bool numbered_;
    std::vector<std::uint32_t> unused_; ///< places
    packet_format format_;
    message_numbers numbers_;
    std::uint32_t next_message_ = 0;
};

} // namespace weft
