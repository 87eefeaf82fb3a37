// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// CPUs and NICs of a UB-Mesh machine behind their controllers, what they hold, and the movers of NPUs that exchange
// with them.
#pragma once

#include "hw/chip/chip.h"
#include "hw/memory/hbm.h"
#include "hw/memory/sparse_store.h"
#include "hw/ub/bulk_mover.h"
#include "hw/ub/dcn_port.h"
#include "hw/ub/ub_fabric.h"
#include "platforms/workload/host_traffic.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

struct ub_host_devices {
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    /// What the timeline wakes ub_hosts for.
    enum event_kind : std::uint8_t { k_due, k_start, k_failed, k_unreachable };
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

    /// Makes what stands behind the controllers of CPUs and NICs. All outlive it. Names end in `suffix`. `client` is
    /// woken, `listener` is told what has arrived.
    ub_host_devices(timeline& time, packet_pool& pool, ub_fabric& fabric, const ub_topology& topology, const ub_mesh_config& config, ub_checkpoint_store& store,
                    const std::string& suffix, timeline_client& client, bulk_listener& listener);

    void add_npu(chip& c, std::uint32_t position, const std::string& name, bulk_listener& listener);
    void schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind);
    bool is_host(std::uint32_t router) const { return router >= first_cpu && router < end; }
    bool idle() const;
    void drop_queues();
    std::uint64_t state_bytes() const;  ///< of one NPU
    std::uint64_t stream_bytes() const; ///< of one NPU, for messages under way

    timeline& time;
    packet_pool& pool;
    ub_fabric& fabric;
    const ub_topology& topology;
    const ub_mesh_config& config;
    const std::uint64_t host_offset; ///< ub_mesh_config::host_offset()
    ub_checkpoint_store& store;
    std::uint32_t first_cpu, first_nic, end; ///< endpoints
    std::uint32_t cpus_per_rack, nics_per_rack;
    bulk_mover_view npu_view;
    std::vector<npu> npus; ///< by rank
    std::vector<cpu> cpus;
    std::vector<nic> nics;
    std::uint32_t next_number = 0; ///< of a message
    std::uint64_t resets = 0;      ///< of the machine: contents differ

private:
    void add_devices(const std::string& suffix, bulk_listener& listener);
    timeline_client& client_;
    std::uint32_t actor_;
    std::uint32_t sequence_ = 0;
};

} // namespace weft
