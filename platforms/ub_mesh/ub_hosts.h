// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// CPUs and NICs of a UB-Mesh machine as endpoints that send and receive, and what they exchange with NPUs: streams,
// checkpoints, loads.
//
//   NPU n of a rack  streams with CPU n modulo CPUs; writes its state to NICs as host.checkpoint.nics says, counted
//                    among those that work
//   controllers      messages of an NPU go by its two IO dies in turn
//   device fails     when the slowest notice has come, or a controller gives it up (rtp): its streams go on with
//                    another CPU, what a NIC has not taken whole is sent to another one of the rack
#pragma once

#include "hw/chip/chip.h"
#include "hw/memory/hbm.h"
#include "hw/memory/sparse_store.h"
#include "hw/ub/bulk_mover.h"
#include "hw/ub/dcn_port.h"
#include "hw/ub/ub_fabric.h"
#include "platforms/workload/host_traffic.h"
#include "tlm/slots.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

struct ub_mesh_config;
class ub_topology;

/// Memory of a CPU, as its bulk_mover and streams use it.
struct ub_cpu_config {
    bandwidth rate = bandwidth(2'457'600'000'000);
    duration latency = duration(100'000);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("memory_rate", self.rate, "Of the memory of a CPU, reads and writes together", assumed("307.2 GB/s: eight channels of DDR5-4800"),
              between(bandwidth(1'000'000), bandwidth(8'000'000'000'000'000)).because("; write for example \"300 GB/s\""));
        visit("memory_latency", self.latency, "From the request to its first byte, unloaded", assumed("100 ns"), at_most(duration(1'000'000'000)));
    }
    std::vector<config_problem> validate() const { return limit_problems(*this); }
};

/// One server for reads and writes, and a latency, as HBM (hw/memory/hbm.h); without a bus, because programs of hosts
/// take no time.
class ub_cpu_memory final : public memory_if, public component {
public:
    ub_cpu_memory(timeline& time, const ub_cpu_config& config, std::uint64_t capacity_bytes, const std::string& name);

    std::uint64_t charge(std::uint64_t at_ps, std::uint64_t offset, std::uint64_t bytes, access kind) override;
    std::uint8_t* span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) override
    {
        return contents_.span_for_write(offset, bytes, got_bytes);
    }
    const std::uint8_t* span_for_read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) const override
    {
        return contents_.span_for_read(offset, bytes, got_bytes);
    }
    std::uint64_t capacity_bytes() const override { return contents_.capacity_bytes(); }
    std::uint64_t latency_ps() const override { return latency_ps_; }

    bool settled(std::uint64_t now_ps) override { return busy_until_ps_ <= now_ps; }
    std::string stat_prefix() const override { return "cpu_memory"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }

    stat_group stats;

private:
    wire_rate rate_;
    std::uint64_t latency_ps_;
    std::uint64_t busy_until_ps_ = 0;
    counter bytes_read_, bytes_written_;
    sparse_store contents_;
};

/// What lies beyond the DCN and outlives a restart: the contents of two checkpoints, so that one that is broken off
/// spoils none.
class ub_checkpoint_store final : public memory_if {
public:
    explicit ub_checkpoint_store(std::uint64_t bytes_of_one) : bytes_of_one_(bytes_of_one), contents_(2 * bytes_of_one) {}
    std::uint64_t base_of_last() const { return last_place_ * bytes_of_one_; }
    /// Whatever its number: some are broken off.
    std::uint64_t base_of_next() const { return (1 - last_place_) * bytes_of_one_; }
    void complete(std::uint32_t checkpoint)
    {
        last = checkpoint;
        last_place_ = 1 - last_place_;
    }

    std::uint64_t charge(std::uint64_t at_ps, std::uint64_t, std::uint64_t, access) override { return at_ps; }
    std::uint8_t* span_for_write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) override
    {
        return contents_.span_for_write(offset, bytes, got_bytes);
    }
    const std::uint8_t* span_for_read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t& got_bytes) const override
    {
        return contents_.span_for_read(offset, bytes, got_bytes);
    }
    std::uint64_t capacity_bytes() const override { return contents_.capacity_bytes(); }
    std::uint64_t latency_ps() const override { return 0; }

    std::optional<std::uint32_t> last;       ///< complete
    std::vector<host_stream_result> streams; ///< over the whole run

private:
    std::uint64_t bytes_of_one_;
    std::uint64_t last_place_ = 1;
    sparse_store contents_;
};

inline constexpr std::uint32_t k_ub_dies = 2; ///< UB IO controllers of an NPU

class ub_hosts final : public host_devices, public component, private bulk_listener, private ub_unreachable_if, private timeline_client {
public:
    /// Makes what stands behind the controllers of CPUs and NICs. All outlive it. Names end in `suffix`.
    ub_hosts(timeline& time, packet_pool& pool, ub_fabric& fabric, const ub_topology& topology, const ub_mesh_config& config, ub_checkpoint_store& store,
             const std::string& suffix);
    ~ub_hosts();

    /// The mover of the NPU of the next rank, which stands at `position`; its ports are not bound yet.
    void add_npu(chip& c, std::uint32_t position, const std::string& name);
    bulk_mover& mover_beside(const chip& c) { return *npus_.at(c.rank()).mover; }
    bool is_host(std::uint32_t router) const { return router >= first_cpu_ && router < end_; }
    /// A CPU or a NIC fails at `at_ps`. A rank uses it no more from hears() on, all others from `known_ps` (k_never_ps:
    /// never).
    void device_fails(std::uint32_t router, std::uint64_t at_ps, std::uint64_t known_ps);
    void hears(std::uint32_t rank, std::uint32_t failed_router) { unreachable(rank, failed_router); }
    bool idle() const;

    // host_devices
    void begin_traffic() override;
    void end_traffic() override;
    void begin_checkpoint(std::uint32_t number, std::uint64_t after_ps) override;
    void begin_load(std::uint32_t number) override;
    std::optional<std::uint32_t> last_checkpoint() const override { return store_.last; }
    bool busy() const override { return busy_; }
    std::string failure() override { return failure_; }
    bool expects_more() const override;
    std::uint64_t moved() const override;
    std::uint64_t began_ps() const override { return start_at_ps_; }
    sc_core::sc_event& done() override { return done_; }
    checkpoint_result result() const override { return result_; }
    std::string progress() const override;
    std::vector<host_stream_result> streams() const override;
    void give_up() override;

    // component
    void reset(std::uint32_t draw) override;
    std::string stat_prefix() const override { return "hosts"; }
    std::uint64_t work() const override { return moved(); }

private:
    enum event_kind : std::uint8_t { k_due, k_start, k_failed, k_unreachable };
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    struct npu {
        std::uint32_t position;
        std::uint32_t rack;
        std::uint32_t in_rack; ///< number in its rack
        std::unique_ptr<bulk_mover> mover;
        std::vector<bool> avoids; ///< NICs of its rack that it does not reach
    };
    struct cpu {
        std::unique_ptr<ub_cpu_memory> memory;
        std::unique_ptr<bulk_mover> mover;
        bool failed = false;
    };
    struct nic {
        std::unique_ptr<dcn_port> dcn;
        std::unique_ptr<bulk_mover> mover;
        bool failed = false;
        std::uint64_t fails_ps = k_never_ps; ///< nothing reaches the storage from then on, whoever has heard
    };
    /// A message of a checkpoint or a load.
    struct piece {
        std::uint32_t rank;
        std::uint32_t index; ///< among those of its NPU
        std::uint32_t nic;   ///< of all
        std::uint32_t number; ///< k_none: it has arrived
    };
    /// A stream of one NPU.
    struct flow {
        std::uint32_t stream;
        std::uint32_t rank;
        std::uint32_t cpu; ///< of all; k_none: none is left
        std::uint64_t due_ps = k_never_ps;
        bool waits = false; ///< its message is due, and four are under way
        std::uint32_t outstanding = 0;
        std::uint32_t next_slot = 0;    ///< where it is free
        std::uint32_t slots_in_use = 0; ///< bits: messages overtake each other
    };
    struct stream_message {
        std::uint32_t flow;
        std::uint32_t slot;
        std::uint64_t due_ps;
    };
    struct window {
        std::uint64_t offset = 0, bytes = 0;
    };

    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void bulk_arrived(std::uint32_t number) override;
    void unreachable(std::uint32_t source, std::uint32_t destination) override;
    void schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind);
    void add_devices(packet_pool& pool, const std::string& suffix);
    void make_flows();
    template <class Which> void send_by_others(Which&& which);
    std::uint64_t state_bytes() const;  ///< of one NPU
    std::uint64_t stream_bytes() const; ///< of one NPU, for messages under way

    // Checkpoints
    void begin(std::uint32_t number, bool load, std::uint64_t after_ps);
    void start();
    std::uint32_t nic_for(const npu& n, std::uint32_t message) const;
    void post(piece& p);
    bool send_by_another(piece& p);
    void arrived(piece& p);
    void end(std::string failure);
    bool awaits_controllers() const;
    std::uint64_t offset_of(const piece& p) const;
    std::uint64_t bytes_of(const piece& p) const;
    void fill_states();
    void check(const piece& p);
    void find_bound();
    void note_use();
    void find_busiest();

    // Streams
    void due(std::uint32_t f);
    void post(std::uint32_t f);
    void stream_arrived(std::uint32_t number, const stream_message& m);
    window slot_of(const flow& f, std::uint32_t slot, bool at_npu) const;
    std::uint32_t cpu_for(const npu& n) const;
    void leave(std::uint32_t lost);
    template <class Which> void forget_messages(Which&& which);

    void lose(std::uint32_t router);

    timeline& time_;
    ub_fabric& fabric_;
    const ub_topology& topology_;
    const ub_mesh_config& config_;
    const std::uint64_t host_offset_; ///< ub_mesh_config::host_offset()
    ub_checkpoint_store& store_;
    std::uint32_t actor_;
    std::uint32_t sequence_ = 0;
    std::uint32_t first_cpu_, first_nic_, end_; ///< endpoints
    std::uint32_t cpus_per_rack_, nics_per_rack_;
    bulk_mover_view npu_view_;
    packet_pool& pool_;
    std::vector<npu> npus_; ///< by rank
    std::vector<cpu> cpus_;
    std::vector<nic> nics_;
    struct failure_to_come {
        std::uint32_t router;
        std::uint64_t at_ps, known_ps;
    };
    std::vector<failure_to_come> failures_;
    slots<std::pair<std::uint32_t, std::uint32_t>> lost_pairs_;
    std::uint32_t next_number_ = 0;
    std::uint64_t resets_ = 0;

    // Checkpoints
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

    // Streams
    bool on_ = false;
    std::uint64_t on_since_ps_ = 0;
    std::vector<flow> flows_;
    std::map<std::uint32_t, stream_message> stream_messages_; ///< under way, by number
};

} // namespace weft
