// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// DMA engine of a chip: descriptor queues in HBM, doorbells, memory reads turned into packets, remote writes with
// accumulate-on-write, semaphores, interrupts.
//
// Models: register file (hw/abi/dma_regs.def); one ring per queue, fetched with a bounded prefetch; queues of one local port
// served round robin, a packet (or train) each; a bounded number of packets read ahead per port; credits toward the fabric;
// receive buffers that free as memory takes the data; write and accumulate; semaphores that count whole messages; errors
// that stop the queue; fabrics that let packets and messages overtake each other (order at the target: message_order.h). Does not
// model: address translation, remote reads.
//
// Timing, all in docs/03_timing_model.md:
//   doorbell at t -> descriptor loaded at t + HBM access of 64 B -> its first packet is read from HBM
//   packets are read in turn while a read-ahead slot is free; a slot is held from the read until the packet starts on the wire
//   a queue whose message the fabric has no room for (link_fw_if::has_room) is passed over until credits come
//   packet on the wire = max(data read, wire idle, credits there), in the order of the reads
//   packet received at its last byte -> HBM access (accumulate: read + write) -> with the last packet: semaphore + 1;
//   where packets overtake each other: with the last one to arrive, and not before the messages sent to that semaphore before it
//   receive credit returns when the HBM has taken the data: its queueing, not its latency
#pragma once

#include "hw/abi/descriptor.h"
#include "hw/abi/registers.h"
#include "hw/dma/message_order.h"
#include "tlm/arbiter.h"
#include "tlm/config_fields.h"
#include "tlm/credit.h"
#include "tlm/packet_trace.h"
#include "tlm/irq_if.h"
#include "tlm/link_socket.h"
#include "tlm/mem_socket.h"
#include "tlm/reg_file.h"
#include "tlm/stats.h"
#include "tlm/timeline.h"

#include <array>
#include <memory>
#include <vector>

namespace weft {

struct dma_config {
    static constexpr std::uint32_t k_most_queues = abi::dma::TAIL_count;

    std::uint32_t queues = 8;
    std::uint32_t ring_entries = 64;
    std::uint32_t prefetch = 4;
    std::uint32_t read_ahead = 64;
    data_size receive_buffer = data_size(32 << 10);
    duration register_latency = duration(20'000);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("queues", self.queues, "Descriptor queues; queue q uses local port q modulo ports", "assumed",
              between(4, k_most_queues).because(": the collectives run up to four channels at once"));
        visit("ring_entries", self.ring_entries, "Descriptors per ring, a power of two", "assumed",
              between(4, 65'536).powers_of_two());
        visit("prefetch", self.prefetch, "Descriptors of one queue held on chip", "assumed",
              between(1, 64).because(" descriptors"));
        visit("read_ahead", self.read_ahead, "Packets of one port between memory and wire",
              "assumed: covers HBM latency at port rate", between(1, 65'536).because(" packets"));
        visit("receive_buffer", self.receive_buffer,
              "Buffer per local port and VL for packets on their way to memory", "assumed",
              at_most(data_size(1 << 30)));
        visit("register_latency", self.register_latency, "One register access inside the DMA", "assumed",
              at_most(duration(1'000'000'000)));
    }
    std::vector<config_problem> validate() const;
};

/// What the fabric behind the local ports looks like.
struct dma_fabric_view {
    std::uint32_t ports = 1;
    std::uint32_t vl_count = 1;
    bandwidth port_rate;
    packet_format format;
    std::uint32_t train = 1; ///< packets of a message that go as one transaction
    bool carry_data = true; ///< false: no payload bytes, same times
    bool in_order = true;                ///< false: packets may overtake each other
    bool returns_to_sender = false;      ///< a packet to the own rank comes back
};

class dma final : public sc_core::sc_module, public component, private event_hints, private timeline_client {
public:
    mmio_target_socket registers;
    sc_core::sc_port<memory_if> memory;

    dma(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, irq_if& core, std::uint32_t rank,
        std::uint32_t ranks, const dma_config& config, const dma_fabric_view& view);
    ~dma() override;

    link_initiator_socket& to_fabric(std::uint32_t port);
    link_target_socket& from_fabric(std::uint32_t port);

    bool idle() const;                                      ///< no descriptor loaded or waiting, nothing being received
    void set_event_sink(event_sink* sink) { sink_ = sink; } ///< nullptr: no records
    /// Packets of a train, of messages that are loaded from now on; at most those that the buffers were checked for.
    void set_train(std::uint32_t packets) { train_ = packets; }
    bool settled(std::uint64_t now_ps) override;
    /// Registers, rings, semaphores and turns; credits and numbers of messages, which only a trace sees, stay.
    void reset(std::uint32_t draw) override;
    /// For the stall report: queues that have work and what each waits for; "" when idle.
    std::string blocked_on() const;

    std::string stat_prefix() const override { return "dma"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    std::uint64_t work() const override { return bytes_sent.value() + bytes_received.value(); }
    std::uint64_t arrived_bytes() const override { return bytes_received.value(); }
    std::string waits() const override { return blocked_on(); }
    void record_into(trace_sink& trace) override;

    stat_group stats;
    counter descriptors;
    counter messages_received;
    counter bad_descriptors;
    counter bytes_sent;
    counter bytes_received;

private:
    enum event_kind : std::uint8_t { k_doorbell, k_fetched, k_send, k_receive, k_semaphore };
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    /// A descriptor on chip, from its fetch until its last packet is on the wire: what of it a packet needs, in a cache line.
    struct alignas(64) loaded {
        std::uint64_t source_offset = 0;
        std::uint64_t destination_offset = 0;
        std::uint64_t bytes = 0;
        std::uint64_t read_bytes = 0; ///< of its source
        std::uint32_t destination_rank = 0;
        std::uint32_t semaphore = 0;
        std::uint32_t message = 0;
        std::uint32_t semaphore_message = 0;
        std::uint32_t packets = 0;
        std::uint16_t queue = 0;
        std::uint16_t train = 1; ///< packets of a transaction
        std::uint8_t destination_port = 0;
        std::uint8_t redop = 0;
        std::uint8_t type = 0;
        bool local = false; ///< to the own rank, and not by the fabric
        bool by_fabric = false;
        bool shortest_paths = false;
        bool in_pieces = false; ///< it has an entry in pieces_
        bool to_ranks = false;  ///< and its pieces are messages to several ranks: `bytes`, `read_bytes` and staged offsets count packets
    };
    static_assert(sizeof(loaded) == 64);
    /// Of a message in pieces, whose offsets count through all of them; or of one message to each of several ranks.
    struct piece_layout {
        std::uint64_t bytes = 0; ///< of a piece
        std::uint64_t stride = 0;
        std::uint32_t pieces = 1;
        std::uint32_t rank_stride = 0;
        std::uint32_t first = 0;
        std::vector<std::uint32_t> numbers; ///< loaded::semaphore_message, by rank

        std::uint32_t piece_of(std::uint64_t packet) const { return static_cast<std::uint32_t>((packet + first) % pieces); }
        std::uint64_t place(std::uint64_t offset) const { return offset / bytes * stride + offset % bytes; }
        std::uint64_t rest(std::uint64_t offset) const { return bytes - offset % bytes; }
    };
    struct queue {
        std::uint32_t reading = k_none; ///< first of `ready`, beside it: every packet asks
        std::uint32_t tail = 0;         ///< posted
        std::uint32_t fetched = 0;      ///< loaded or being loaded
        std::uint32_t finished = 0;     ///< wholly sent, though HEAD counts them only when they have left the wire
        std::uint32_t head = 0;         ///< completed, as HEAD shows
        std::uint64_t had = 0;          ///< packets, as in fair_turn
        bool fetching = false;
        bool stopped = false;
        std::vector<std::uint32_t> doorbells;       ///< written, on their way across the bus
        std::vector<std::uint32_t> ready;           ///< into loaded_: not wholly read, at most `prefetch`, oldest first
        std::vector<std::uint64_t> completes_at_ps; ///< of finished descriptors that HEAD does not yet show
    };
    /// A packet, or a train of full ones, between memory and wire. There are many, and most wait long: they become packets when they are sent.
    struct alignas(32) staged_packet {
        std::uint64_t ready_ps;
        std::uint64_t offset;  ///< in its message
        std::uint8_t* payload; ///< nullptr with data off
        std::uint32_t payload_bytes;
        std::uint32_t descriptor : 31; ///< into loaded_
        std::uint32_t local : 1;       ///< to the own rank: it does not enter the fabric
    };
    static_assert(sizeof(staged_packet) == 32);
    /// One local port: its sockets.
    struct local_port;
    /// And what each of its packets touches.
    struct alignas(64) port_state {
        std::vector<staged_packet> staged; ///< a ring, a power of two long; it grows: few trains wait where many packets would
        std::uint32_t slots = 0;           ///< of read-ahead, in packets
        std::uint32_t first_staged = 0;
        std::uint32_t staged_count = 0;   ///< transactions
        std::uint32_t staged_packets = 0; ///< of them
        std::uint32_t round_robin = 0; ///< queue after the one last served
        fair_turn turn;                ///< with trains
        std::uint64_t wire_busy_until_ps = 0;
        link_fw_if* to_fabric = nullptr; ///< what the sockets are bound to, without their checks
        link_bw_if* to_sender = nullptr;
        const use_hints* fabric_hints = nullptr; ///< of to_fabric
        std::uint32_t ready_queues = 0; ///< bit q: queue q has a descriptor loaded
        std::uint32_t sequence = 0;
        bool awaiting_credit = false;
        bool awaiting_room = false; ///< no queue with work finds any
        credit_counter credits; ///< of VL 0: it sends on no other
        credit_pool credits_under_way;

        const staged_packet& head() const { return staged[first_staged]; }
        const staged_packet& behind_head() const { return staged[(first_staged + 1) & (staged.size() - 1)]; }
        staged_packet& add_staged();
    };

    void start_of_simulation() override;
    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void announce(std::uint32_t a, std::uint8_t kind, int stage) const override;
    void announce_send(const port_state& side) const;
    void set_up_registers();
    std::uint64_t place_of_next(std::uint32_t q) const;
    void start_fetch(std::uint32_t q);
    void fetched(std::uint32_t q);
    void read_ahead(std::uint32_t port);
    std::uint32_t next_train(const queue& q) const;
    const piece_layout& layout_of(const loaded& l) const { return pieces_[&l - loaded_.data()]; }
    /// Rank that packet `index` of a descriptor to several ranks goes to.
    std::uint32_t rank_of(const loaded& l, std::uint64_t index) const
    {
        const piece_layout& to = layout_of(l);
        return l.destination_rank + to.piece_of(index) * to.rank_stride;
    }
    /// From `offset` of a message, where that lies behind the message's offset in memory; and how far memory goes on from there.
    std::uint64_t place_in(const loaded& l, std::uint64_t offset) const
    {
        return l.in_pieces ? layout_of(l).place(offset) : offset;
    }
    std::uint64_t rest_at(const loaded& l, std::uint64_t offset) const
    {
        return l.in_pieces ? layout_of(l).rest(offset) : l.bytes - offset;
    }
    std::uint32_t choose_queue(port_state& side);
    void read_packet(std::uint32_t port, std::uint32_t q);
    void load_pieces(std::uint32_t place, const abi::dma_descriptor& d);
    std::uint32_t cells_of(const staged_packet& s) const
    {
        return s.payload_bytes == packet_payload_ ? packet_cells_
               : s.payload_bytes > packet_payload_ ? s.payload_bytes / packet_payload_ * packet_cells_
                                                   : static_cast<std::uint32_t>(view_.format.cells(s.payload_bytes));
    }
    std::uint32_t packets_of(const staged_packet& s) const
    {
        return s.payload_bytes <= packet_payload_ ? 1 : s.payload_bytes / packet_payload_;
    }
    void take_credit(std::uint32_t port, std::uint32_t cells, std::uint64_t delay_ps);
    void plan_send(std::uint32_t port);
    void send_staged(std::uint32_t port);
    void receive(packet_ptr p, bool from_fabric);
    void count_semaphore(std::uint32_t semaphore);
    void complete(std::uint32_t semaphore, std::uint64_t at_ps);
    void raise_error(std::uint32_t q, std::uint32_t bits);
    void update_irq();
    void write_payload(const packet& p);
    std::uint8_t* read_payload(std::uint64_t offset, std::uint64_t bytes);
    std::uint32_t load(const loaded& l);
    bool armed_and_reached(std::uint32_t semaphore) const;
    std::uint32_t head_at(queue& q, std::uint64_t at_ps);

    // What every packet touches, side by side.
    timeline& time_;
    packet_pool& pool_;
    memory_if* memory_ = nullptr;    ///< what `memory` is bound to, without its checks
    const use_hints* memory_hints_ = nullptr;
    std::uint64_t memory_bytes_ = 0; ///< its capacity
    std::vector<port_state> ports_;
    std::vector<loaded> loaded_;
    std::vector<queue> queues_;
    wire_rate port_rate_;
    std::uint32_t packet_payload_, packet_wire_bytes_, packet_cells_; ///< of a full packet
    std::uint32_t rank_;
    std::uint32_t actor_base_;
    std::uint32_t receiving_ = 0;
    event_sink* sink_ = nullptr;
    dma_fabric_view view_;
    std::uint32_t train_;
    message_order order_; ///< these two only where packets overtake each other
    message_numbers numbers_;

    irq_if& core_;
    std::uint32_t ranks_;
    dma_config config_;
    reg_file regs_;
    std::vector<std::unique_ptr<local_port>> sockets_;
    std::vector<std::uint32_t> unused_; ///< places of loaded_
    std::vector<piece_layout> pieces_;  ///< of the messages in the same places of loaded_
    static constexpr std::uint32_t k_bank = abi::dma::SEM_COUNT_count; ///< semaphores
    std::array<std::uint32_t, k_bank * abi::dma::SEM_BANKS_reset> sem_count_{};
    std::array<std::uint32_t, k_bank> sem_threshold_{}; ///< of the bank shown, as what is armed
    std::uint32_t sem_bank_ = 0; ///< its first semaphore
    std::uint64_t sem_armed_ = 0;
    std::uint32_t sem_sequence_ = 0;
    std::uint32_t next_message_ = 0;
    bool irq_level_ = false;
    bool enabled_ = false;
    std::unique_ptr<packet_trace> trace_;
};

} // namespace weft
