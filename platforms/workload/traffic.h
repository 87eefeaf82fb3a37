// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Synthetic traffic straight into a fabric, without chips: endpoints that send packets of one size to destinations of a
// pattern and count what arrives. For benches and for tests of fabrics, not a model of any hardware.
#pragma once

#include "tlm/credit.h"
#include "tlm/link_socket.h"
#include "tlm/timeline.h"
#include "tlm/units.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

/// Small counter-based generator (splitmix64): the same numbers on every machine.
class traffic_random {
public:
    explicit traffic_random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next()
    {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    std::uint32_t below(std::uint32_t n)
    {
        return static_cast<std::uint32_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }

private:
    std::uint64_t state_;
};

struct traffic_config {
    std::uint32_t endpoints = 0;
    std::uint32_t vl_count = 1;
    std::uint64_t packets_each = 0;  ///< sent by every endpoint
    std::uint64_t payload_bytes = 0; ///< of one packet
    packet_format format;
    bandwidth wire_rate; ///< of the wire into the fabric
    double load = 1.0;   ///< share of wire_rate offered, in (0, 1]; gaps between packets are random
    std::uint32_t receive_cells = 1024;
    std::uint64_t seed = 1;
    bool check_order = true;    ///< watch that packets of a pair do not overtake each other
    bool carry_data = false;    ///< fill every payload and check it on arrival
    bool random_stalls = false; ///< receivers hold credits back for random times
    /// Fixed destination per source (permutation, hot spot); empty: uniform over all others.
    std::vector<std::uint32_t> destinations;
};

/// All endpoints of one fabric; bind to_fabric(i) / from_fabric(i) to the local port of router i.
class traffic final : public sc_core::sc_module, private timeline_client {
public:
    traffic(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const traffic_config& config);
    ~traffic() override;

    link_initiator_socket& to_fabric(std::uint32_t endpoint);
    link_target_socket& from_fabric(std::uint32_t endpoint);

    std::uint64_t sent() const { return sent_; }
    std::uint64_t received() const { return received_; }
    std::uint64_t bytes_received() const { return bytes_received_; }
    std::uint64_t misdelivered() const { return misdelivered_; } ///< arrived at another endpoint than they were sent to
    std::uint64_t damaged() const { return damaged_; }           ///< payload not as sent (carry_data)
    std::uint64_t out_of_order() const { return out_of_order_; } ///< overtook an earlier packet of the same pair
    std::uint64_t last_arrival_ps() const { return last_arrival_ps_; }
    std::uint64_t latency_sum_ps() const { return latency_sum_ps_; } ///< wire start to last byte, summed over packets
    std::uint64_t latency_max_ps() const { return latency_max_ps_; }

private:
    struct endpoint;
    enum event_kind : std::uint8_t { k_send, k_receive };
    void start_of_simulation() override;
    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void try_send(std::uint32_t e);
    void receive(packet_ptr p);

    timeline& time_;
    packet_pool& pool_;
    traffic_config config_;
    wire_rate rate_;
    std::uint32_t cells_;
    std::uint32_t actor_base_;
    std::vector<std::unique_ptr<endpoint>> endpoints_;
    std::uint64_t sent_ = 0, received_ = 0, bytes_received_ = 0, misdelivered_ = 0, out_of_order_ = 0, damaged_ = 0;
    std::uint64_t last_arrival_ps_ = 0, latency_sum_ps_ = 0, latency_max_ps_ = 0;
};

} // namespace weft
