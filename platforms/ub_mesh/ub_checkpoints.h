// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a UB-Mesh machine, written to NICs, and loads of the last one. NPU n of a rack writes its state to
// NICs as host.checkpoint.nics says, counted among those that work; messages go by its two IO dies in turn. What a NIC
// that fails has not taken whole is sent to another one of the rack.
#pragma once

#include "platforms/ub_mesh/ub_host_devices.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

class ub_checkpoints {
public:
    /// `give_up_all` is called when an NPU reaches no NIC any more. `devices` outlives it.
    ub_checkpoints(ub_host_devices& devices, std::function<void()> give_up_all);

    /// `after_ps` from now, as host_devices::begin_checkpoint() and begin_load().
    void begin(std::uint32_t number, bool load, std::uint64_t after_ps);
    /// At its time, ub_host_devices::k_start.
    void start();
    /// False: the message is of something else.
    bool arrived(std::uint32_t number);
    /// Whatever has not arrived by the NIC `lost`, of all ranks or one.
    void send_by_others(std::uint32_t lost, std::optional<std::uint32_t> rank = std::nullopt);
    void give_up();

    bool busy() const { return busy_; }
    const std::string& failure() const { return failure_; }
    bool expects_more() const;
    std::uint64_t moved() const;
    std::uint64_t began_ps() const { return start_at_ps_; }
    sc_core::sc_event& done() { return done_; }
    const checkpoint_result& result() const { return result_; }
    std::string progress() const;

private:
    /// A message of a checkpoint or a load.
    struct piece {
        std::uint32_t rank;
        std::uint32_t index; ///< among those of its NPU
        std::uint32_t nic;   ///< of all
        std::uint32_t number; ///< ub_host_devices::k_none: it has arrived
    };

    std::uint32_t nic_for(const ub_host_devices::npu& n, std::uint32_t message) const;
    void post(piece& p);
    bool send_by_another(piece& p);
    void take(piece& p);
    void end(std::string failure);
    bool awaits_controllers() const;
    std::uint64_t offset_of(const piece& p) const;
    std::uint64_t bytes_of(const piece& p) const;
    void fill_states();
    void check(const piece& p);
    void find_bound();
    void note_use();
    void find_busiest();

    ub_host_devices& devices_;
    std::function<void()> give_up_all_;
    std::vector<piece> pieces_;
    std::unordered_map<std::uint32_t, std::uint32_t> piece_of_; ///< by number of the message; looked up, never walked
    std::uint64_t left_ = 0;
    bool busy_ = false;
    std::uint64_t start_at_ps_ = 0; ///< of a checkpoint that begins later
    std::string failure_;
    checkpoint_result result_;
    sc_core::sc_event done_;
    std::vector<std::uint32_t> watched_links_; ///< of the plan, that bytes of hosts may use
    std::vector<std::uint64_t> used_ps_;       ///< of links, DCN ports, memories, when it began
};

} // namespace weft
