// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The packet of every fabric, and its pool. One object stands for `packet_count` packets of one message that travel
// together (a train, docs/adr/0003; 1 is the reference): headers, flits and credits are charged for each of them,
// events once.
//
// Packets live in their pool and are known by a 32-bit index; packet_ptr is the only owner. Payload bytes are optional:
// with `data: off` no packet has any, and nothing else changes.
#pragma once

#include "tlm/units.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class packet_pool;

/// What a packet asks of its receiver. The numbers in write_op and element are those of hw/abi/types.h (reduce_op,
/// element_type); the transport layer only carries them. Two cache lines: what every hop reads, and what the ends of
/// the way read.
struct alignas(64) packet {
    // Read on every hop.
    std::uint32_t index = 0;       ///< in the pool, set once
    std::uint32_t fifo = 0;        ///< where it waits for its output, with virtual output queues (the fabric's number)
    std::uint32_t link = 0;        ///< link it travels on or is buffered behind (the fabric's number)
    std::uint32_t out_link = 0;    ///< where routing sends it from there
    std::uint32_t destination = 0; ///< endpoint (rank) it goes to
    std::uint32_t source = 0;      ///< endpoint (rank) it comes from
    std::uint32_t wire_bytes = 0;  ///< bytes charged on a wire, all packets of the train
    std::uint32_t cells = 0;       ///< credits it needs, all packets of the train
    std::uint64_t tail_ps = 0;     ///< when its last byte is in the present buffer
    std::uint64_t route = 0;       ///< source-route header of fabrics that have one (hw/abi/ub.h); 0: none
    std::uint32_t serialisation_ps = 0; ///< time it takes on the present wire
    std::uint32_t packet_count = 1;     ///< packets of the train, all full where there are several
    std::uint16_t hops = 0;             ///< router-to-router links crossed
    std::uint8_t vl = 0;
    std::uint8_t out_vl = 0;
    std::uint8_t destination_port = 0; ///< local port at the destination
    std::uint8_t flags = 0;            ///< packet_flags
    std::uint8_t write_op = 0;
    std::uint8_t element = 0;
    // Read by the receiver, but for the flow.
    std::uint64_t destination_offset = 0; ///< byte offset in the destination's memory
    std::uint8_t* payload = nullptr;      ///< payload_bytes bytes, or nullptr with data off
    std::uint32_t payload_bytes = 0;      ///< all packets of the train
    std::uint32_t flow = 0;               ///< packets of one flow take the same way where tables leave a choice
    std::uint32_t semaphore = 0;          ///< counts up at the destination after the last packet of the message
    std::uint32_t message = 0;            ///< message number of the source, for traces and checks
    std::uint32_t packet_number = 0;      ///< of an end-to-end transport (PSN), per source and destination
    // Where a fabric may let packets of a message, or messages, overtake each other.
    std::uint32_t message_packets = 0;   ///< packets of the whole message
    std::uint32_t semaphore_message = 0; ///< number of the message among those of its source to this semaphore
    std::uint32_t fabric = 0;            ///< engine it is in (its first actor number); link numbers are that engine's
    std::uint64_t born_ps = 0;           ///< when its source sent it
    packet_pool* pool = nullptr;
};
static_assert(sizeof(packet) == 128, "a packet takes two cache lines");

enum packet_flags : std::uint8_t {
    k_last_of_message = 1, ///< the message is complete when this packet is in memory
    k_corrupted = 2,       ///< a fault hook damaged it
    k_acknowledgement = 4, ///< of an end-to-end transport: for the controllers, not for the chip
    k_last_try = 8,        ///< of an end-to-end transport, over all paths: its acknowledgement takes all paths as well
    k_from_second_die = 16, ///< of an end-to-end transport: it came by the second local port of its source
    k_shortest_paths = 32,  ///< it keeps to them, where its fabric has others
    k_for_coprocessor = 64  ///< for the coprocessor of the IO die that destination_port names, not for the DMA engine
};

struct packet_returner {
    void operator()(packet* p) const;
};
using packet_ptr = std::unique_ptr<packet, packet_returner>;

/// Owns all packets of a simulation. Freed packets are wholly reset before they are used again.
class packet_pool {
public:
    packet_pool() = default;
    packet_pool(const packet_pool&) = delete;
    packet_pool& operator=(const packet_pool&) = delete;
    ~packet_pool();

    packet_ptr make();
    /// A train of packets first .. first + count - 1 of train `whole`, with a copy of their bytes.
    packet_ptr part_of(const packet& whole, std::uint32_t first, std::uint32_t count);
    /// The same as `whole`, with a copy of its bytes, and nothing of the way that it has gone.
    packet_ptr copy_of(const packet& whole);
    /// Cuts a train behind its first `count` packets; what comes back is the rest.
    packet_ptr cut_behind(packet& train, std::uint32_t count);
    /// Give `p` room for `bytes` of payload (undefined contents).
    void add_payload(packet& p, std::uint64_t bytes) { adopt_payload(p, take_payload(bytes), bytes); }
    /// The same in two steps, for bytes that are read before there is a packet for them.
    std::uint8_t* take_payload(std::uint64_t bytes);
    void adopt_payload(packet& p, std::uint8_t* payload, std::uint64_t bytes);
    void release(packet* p);

    /// Who stands behind a packet in the one list that it may be in (vl_buffer.h). Beside the packets: what is appended
    /// need not touch the one before, which may have waited for long.
    struct successor {
        std::uint32_t index = 0;
        std::uint32_t source = 0; ///< of that packet
    };
    successor& next(std::uint32_t index) { return next_[index]; }
    const successor& next(std::uint32_t index) const { return next_[index]; }
    packet& at(std::uint32_t index) { return chunks_[index >> k_chunk_shift][index & k_chunk_mask]; }
    std::uint64_t live() const { return live_; }
    std::uint64_t peak() const { return static_cast<std::uint64_t>(chunks_.size()) << k_chunk_shift; }
    /// Text about the oldest packets that nobody returned ("" when there are none); the pool must be full at the end.
    std::string leak_report(std::size_t at_most = 8);

private:
    static constexpr std::uint32_t k_chunk_shift = 10;
    static constexpr std::uint32_t k_chunk_mask = (1u << k_chunk_shift) - 1;
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    static constexpr unsigned k_payload_classes = 33; // 2^n bytes

    std::vector<std::unique_ptr<packet[]>> chunks_;
    std::vector<successor> next_;
    std::uint32_t free_head_ = k_none;
    std::uint64_t live_ = 0;
    std::vector<std::uint8_t> payload_class_; ///< of each packet that has a payload, by index
    std::vector<std::uint8_t*> free_payloads_[k_payload_classes];
    std::vector<std::unique_ptr<std::uint8_t[]>> payload_blocks_;
};

/// How payload becomes packets, flits and credits on one kind of fabric. Two forms:
///  * plain (`block_flits` 0): payload is padded to whole flits, a header stands beside them;
///  * blocks: header and payload run through blocks of up to `block_flits` flits. Every block ends in a trailer, every
///    block but the first begins with a header of its own, and the last flit of the packet is padded. (Unified Bus:
///    facts of its base specification, ch. 4.)
struct packet_format {
    std::uint32_t max_payload_bytes = 256;
    std::uint32_t header_bytes = 16;
    std::uint32_t flit_bytes = 32;
    bool charge_header_on_wire = true;     ///< false where the link rate is already net of headers
    std::uint32_t block_flits = 0;         ///< 0: plain
    std::uint32_t block_header_bytes = 2;  ///< of every block but the first
    std::uint32_t block_trailer_bytes = 4; ///< check sum at the end of every block
    std::uint32_t cell_flits = 1;          ///< flits of one credit

    std::uint64_t cell_bytes() const { return std::uint64_t{cell_flits} * flit_bytes; }
    std::uint32_t cells_of_buffer(data_size buffer) const { return static_cast<std::uint32_t>(buffer.value() / cell_bytes()); }
    std::uint32_t packets_for(std::uint64_t payload) const
    {
        return payload == 0 ? 1u : static_cast<std::uint32_t>((payload + max_payload_bytes - 1) / max_payload_bytes);
    }
    /// Blocks that hold `content` bytes of header and payload.
    std::uint64_t blocks_for(std::uint64_t content) const
    {
        const std::uint64_t later = std::uint64_t{block_flits} * flit_bytes - block_header_bytes - block_trailer_bytes;
        const std::uint64_t first = later + block_header_bytes;
        return content <= first ? 1 : 1 + (content - first + later - 1) / later;
    }
    /// Flits of one packet, header included; 0 where a plain packet has neither header nor payload.
    std::uint64_t flits_of_one(std::uint64_t payload, bool with_header = true) const
    {
        std::uint64_t bytes = payload + (with_header ? header_bytes : 0);
        if (block_flits != 0) {
            const std::uint64_t blocks = blocks_for(bytes);
            bytes += blocks * block_trailer_bytes + (blocks - 1) * block_header_bytes;
        }
        return (bytes + flit_bytes - 1) / flit_bytes;
    }
    /// Bytes on the wire of one packet, never less than one flit. Plain: header plus payload in whole flits.
    std::uint64_t wire_bytes_of_one(std::uint64_t payload) const
    {
        const std::uint64_t bytes =
            block_flits != 0 ? flits_of_one(payload, charge_header_on_wire) * flit_bytes
                             : flits_of_one(payload, false) * flit_bytes + (charge_header_on_wire ? header_bytes : 0);
        return bytes < flit_bytes ? flit_bytes : bytes;
    }
    /// Credits of one packet: it is buffered with its header, and takes a cell even when it has neither header nor
    /// payload.
    std::uint64_t cells_of_one(std::uint64_t payload) const
    {
        const std::uint64_t flits = flits_of_one(payload);
        return flits == 0 ? 1 : (flits + cell_flits - 1) / cell_flits;
    }

    /// What a full packet fills of a buffer.
    data_size room_of_one() const { return data_size(cells_of_one(max_payload_bytes) * cell_bytes()); }
    /// "is 256 B, but one packet fills 288 B (...), so none could ever pass."; "" where `buffer` holds one.
    std::string no_room_for_one(data_size buffer) const;
    /// A full packet on a wire of `rate`; at least the 1 ps that time can tell apart.
    std::uint64_t packet_ps(bandwidth rate) const
    {
        const std::uint64_t span = wire_rate(rate).time_ps(wire_bytes_of_one(max_payload_bytes));
        return span == 0 ? 1 : span;
    }
    /// Of a credit: a full packet out, and its credit back (docs/03_timing_model.md).
    std::uint64_t round_trip_ps(bandwidth rate, duration wire, duration pipeline) const { return 2 * wire.value() + pipeline.value() + packet_ps(rate); }
    /// Buffer with which a stream of full packets runs at the rate of a link: whole packets, headers included.
    data_size room_for_full_rate(bandwidth rate, duration wire, duration pipeline) const
    {
        return data_size((round_trip_ps(rate, wire, pipeline) + packet_ps(rate) - 1) / packet_ps(rate) * room_of_one().value());
    }
    /// The share of that rate which `buffer` allows, 0 to 1.
    double reachable_share(data_size buffer, bandwidth rate, duration wire, duration pipeline) const
    {
        const double share = static_cast<double>(buffer.value() / room_of_one().value() * packet_ps(rate)) /
                             static_cast<double>(round_trip_ps(rate, wire, pipeline));
        return share < 1 ? share : 1;
    }

    /// Sums over the packets that `payload` bytes are cut into.
    std::uint64_t wire_bytes(std::uint64_t payload) const
    {
        const std::uint64_t n = packets_for(payload);
        return (n - 1) * wire_bytes_of_one(max_payload_bytes) +
               wire_bytes_of_one(payload - (n - 1) * max_payload_bytes);
    }
    std::uint64_t cells(std::uint64_t payload) const
    {
        const std::uint64_t n = packets_for(payload);
        return (n - 1) * cells_of_one(max_payload_bytes) + cells_of_one(payload - (n - 1) * max_payload_bytes);
    }
};

inline void packet_returner::operator()(packet* p) const { p->pool->release(p); }

} // namespace weft
