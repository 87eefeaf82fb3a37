// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// bulk_mover: what sends and receives behind the UB IO controller of a CPU or a NIC, and beside the DMA engine of an
// NPU: messages that no firmware posts, of host programs and checkpoints. A message is bytes of the own memory, written
// to the memory of a peer.
//
// Models: messages to several peers packet by packet in turn; a bounded number of packets read ahead; credits toward
// the controller; a receive buffer that frees as the memory takes the data; messages that are whole in memory. Does not
// model: descriptors, doorbells, interrupts, address translation.
//
// Timing.
//   a packet is read while a read-ahead slot is free and its way has room (link_fw_if::has_room)
//   packet on the wire = max(data read, wire idle, credits there), in the order of the reads
//   packet received at its last byte -> memory access
//   the receive buffer is free when the memory has taken the data: after its queueing, without its latency
//   a message has arrived when its last byte is in memory, whatever overtook what
#pragma once

#include "tlm/component.h"
#include "tlm/link_socket.h"
#include "tlm/mem_socket.h"
#include "tlm/stats.h"
#include "tlm/timeline.h"
#include "tlm/units.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

struct bulk_message {
    std::uint32_t peer = 0;   ///< endpoint
    std::uint32_t number = 0; ///< of all messages of the machine; the receiver's listener gets it
    std::uint64_t source_offset = 0;
    std::uint64_t destination_offset = 0;
    std::uint64_t bytes = 0; ///< not 0
    std::uint32_t port = 0;  ///< of the sender
};

/// Told when a message is whole in the memory of its receiver.
class bulk_listener {
public:
    virtual void bulk_arrived(std::uint32_t number) = 0;

protected:
    ~bulk_listener() = default;
};

struct bulk_mover_view {
    std::uint32_t ports = 1; ///< controllers
    std::uint32_t vl_count = 1;
    packet_format format;
    bandwidth port_rate;               ///< to the controller
    std::uint32_t read_ahead = 64;     ///< packets of one port between memory and wire
    /// Buffer per port and VL; 0: that of the DMA engine beside it is its own as well.
    std::uint64_t receive_bytes = 0;
    bool carry_data = true;            ///< false: no payload bytes, same times
};

class bulk_mover final : public sc_core::sc_module, public component, private timeline_client {
public:
    /// `memory` and `listener` outlive it. `prefix`: of its statistics.
    bulk_mover(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const bulk_mover_view& view, memory_if& memory,
               bulk_listener& listener, std::string prefix);
    ~bulk_mover() override;

    link_initiator_socket& to_fabric(std::uint32_t port);
    link_target_socket& from_fabric(std::uint32_t port);

    void post(const bulk_message& m);
    /// What has not been read yet is not sent: of all messages, or of those to a peer.
    void drop_queue();
    void drop_queue_to(std::uint32_t peer);
    /// Nothing queued, on the way out, or coming in. Messages of which the rest is lost count as gone.
    bool idle() const;
    memory_if& memory() { return memory_; }

    bool settled(std::uint64_t now_ps) override;
    void reset(std::uint32_t draw) override;
    std::string stat_prefix() const override { return prefix_; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    std::string waits() const override;

    stat_group stats;
    counter messages_sent;
    counter messages_received;
    counter bytes_sent; ///< payload
    counter bytes_received;

private:
    enum event_kind : std::uint8_t { k_send, k_receive, k_complete };
    struct port;
    struct inbound {
        std::uint32_t packets_left;
        std::uint64_t done_ps;
    };
    void start_of_simulation() override;
    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void expect(packet_ptr p, std::uint64_t delay_ps);
    void take(packet_ptr p);

    timeline& time_;
    packet_pool& pool_;
    const bulk_mover_view view_;
    memory_if& memory_;
    bulk_listener& listener_;
    std::string prefix_;
    wire_rate rate_;
    std::uint32_t actors_; ///< arrivals, messages that are whole, sending by port
    std::uint32_t arrival_sequence_ = 0, message_sequence_ = 0;
    std::vector<std::unique_ptr<port>> ports_;
    std::unordered_map<std::uint32_t, inbound> inbound_; ///< by message; looked up, never walked
    std::uint32_t expected_ = 0;   ///< packets on their way from the controller
    std::uint32_t completing_ = 0; ///< messages whose last byte is on its way into memory
};

} // namespace weft
