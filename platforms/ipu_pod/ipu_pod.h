// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphcore IPU-Pods: IPU-Machines on a ladder of IPU-Links, and clusters of them over gateways (Graphcore, "Scaling an
// application over multiple replicas", section 7.9). A rank is an IPU: its exchange program runs on a modelled core,
// which synchronises, lets the exchange move fragments, and waits. Numbers are those of Fig. 7.3, domain by domain.
#pragma once

#include "hw/fabric/plan_fabric.h"
#include "hw/ipu/ipu_link_config.h"
#include "hw/routing/ipu/ipu_pod_routing.h"
#include "platforms/ipu_pod/ipu_sync_wires.h"
#include "platforms/machine/machine_hardware.h"
#include "platforms/machine/planned_routing.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct workload_limits;

enum class ipu_controller : std::uint8_t { c0B, c0C, c1B, c1C, c2A, c2B, c2C, c3A, c3B, c3C }; ///< as k_controllers
template <> struct enum_names<ipu_controller> {
    static constexpr std::pair<ipu_controller, const char*> values[] = {
        {ipu_controller::c0B, "0B"}, {ipu_controller::c0C, "0C"}, {ipu_controller::c1B, "1B"}, {ipu_controller::c1C, "1C"}, {ipu_controller::c2A, "2A"},
        {ipu_controller::c2B, "2B"}, {ipu_controller::c2C, "2C"}, {ipu_controller::c3A, "3A"}, {ipu_controller::c3B, "3B"}, {ipu_controller::c3C, "3C"}};
};
enum class gateway_side : std::uint8_t { east, west };
constexpr std::uint32_t port_of(gateway_side side) { return side == gateway_side::east ? k_east_port : k_west_port; }
template <> struct enum_names<gateway_side> {
    static constexpr std::pair<gateway_side, const char*> values[] = {{gateway_side::east, "east"}, {gateway_side::west, "west"}};
};
/// Key of `gcl.ring_order`: automatic is that of gcl_order().
enum class ring_choice : std::uint8_t { automatic, interleaved, flat, serpent };
template <> struct enum_names<ring_choice> {
    static constexpr std::pair<ring_choice, const char*> values[] = {
        {ring_choice::automatic, "auto"}, {ring_choice::interleaved, "interleaved"}, {ring_choice::flat, "flat"}, {ring_choice::serpent, "serpent"}};
};
template <> struct enum_names<abi::exchange_mode> {
    static constexpr std::pair<abi::exchange_mode, const char*> values[] = {
        {abi::exchange_mode::syncful, "syncful"}, {abi::exchange_mode::hybrid, "hybrid"}, {abi::exchange_mode::syncless, "syncless"}};
};

struct ipu_pod_shape_config {
    std::uint32_t machines = 4;
    std::uint32_t domains = 1;
    ipu_topology topology = ipu_topology::mesh;
    std::uint32_t replica_size = 1;
    std::uint32_t partition = k_machine_ipus;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        const char* const k_power = ": the number of IPUs is always a power of two, for the rings of replicas (Scaling, section 7)";
        visit("machines", self.machines, "IPU-Machines of an IPU-Link domain: 4 of a Pod16, 16 of a Pod64, the largest",
              quoted("4: a Pod16, Scaling 7.9.1"), between(1, 16).powers_of_two().because(k_power));
        visit("domains", self.domains, "IPU-Link domains side by side, joined by gateways: 2 x Pod64 are 2 of 16 machines, or 8 of 4",
              assumed("1: a single Pod"), between(1, 16).powers_of_two().because(k_power));
        visit("topology", self.topology,
              "Of a domain: mesh is a ladder; torus has loop-back cables from top to bottom; barley_twist is a torus whose rings are the two serpents",
              quoted("mesh: the default of the IPU-Links, Scaling 7.9.1"));
        visit("replica_size", self.replica_size,
              "IPUs of a replica, numbers that follow each other. Collectives run among the IPUs of the same place in all replicas, all places at once",
              quoted("1: one replica on each IPU, as ResNet-50 in Scaling 7.2.1"), between(1, 64).powers_of_two().because(k_power));
        visit("partition", self.partition, "IPUs in use of an IPU-Machine that stands alone: 1, 2 or 4", assumed("4: all"), between(1, k_machine_ipus).powers_of_two().because(k_power));
    }
};

struct gcl_config {
    ring_choice ring_order = ring_choice::automatic;
    abi::exchange_mode exchange = abi::exchange_mode::hybrid;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("ring_order", self.ring_order,
              "interleaved: 0 2 4 .. 5 3 1, the ring on a line; flat: the direct ring; serpent: of a Barley twist. auto: as the library chooses",
              quoted("auto: the last open version of GCL"));
        visit("exchange", self.exchange,
              "syncful: all IPUs of a zone synchronise before every exchange; hybrid: not over gateways; syncless: a receiver says that it is ready, once",
              quoted("hybrid: an option of GCL; that it is the default is assumed"));
    }
};

/// One direction of an IPU-Link that does not work, from time zero or from `at` on.
struct ipu_link_fault {
    std::uint32_t ipu = 0;
    ipu_controller controller = ipu_controller::c0B;
    std::optional<bool> announced = {};
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("ipu", self.ipu, "IPU that sends on the link, counted over all domains", k_must_be_given);
        visit("controller", self.controller, "Its link controller", k_must_be_given);
        visit("announced", self.announced,
              "true: the other links of that way share its load; false: nobody knows, and what is sent there waits. Left out: true, with `at` false", k_user_choice);
        visit("at", self.at, "When the link goes down: 0 ps from the start; later, nobody knows", k_user_choice);
    }
    bool known_to_routing() const { return announced.value_or(at.value() == 0); }
};

/// The same of a GW-Link. Routing goes the other way round the ring of domains where it is down from the start.
struct gw_link_fault {
    std::uint32_t domain = 0;
    std::uint32_t slot = 0;
    gateway_side side = gateway_side::east;
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("domain", self.domain, "Domain of the gateway that sends on the link", k_must_be_given);
        visit("slot", self.slot, "Its IPU-Machine, from the lowest of the domain on", k_must_be_given);
        visit("side", self.side, "east: toward the next domain; west: toward the one before", k_must_be_given);
        visit("at", self.at,
              "When it goes down: 0 ps from the start, and routing goes the other way round; later, nobody knows",
              k_user_choice);
    }
};

/// An IPU-Machine that goes down during the run: nothing comes from it any more, and nothing gets to it.
struct machine_fault {
    std::uint32_t domain = 0;
    std::uint32_t slot = 0;
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("domain", self.domain, "Domain of the IPU-Machine", k_user_choice);
        visit("slot", self.slot, "Which one, from the lowest of the domain on", k_must_be_given);
        visit("at", self.at, "When it goes down: all links of its IPUs and of its gateway, and its part in syncs", k_must_be_given,
              at_least(duration(1)).because("; a file without it has fewer pod.machines"));
    }
};

struct sync_fault {
    std::uint32_t ipu = 0;
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("ipu", self.ipu, "IPU whose arrivals are lost, counted over all domains", k_must_be_given);
        visit("at", self.at, "From when on", k_user_choice);
    }
};

/// A replica whose program comes to each collective later than the others.
struct late_replica {
    std::uint32_t replica = 0;
    duration by = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("replica", self.replica, "Counted over all domains; its IPUs follow each other", k_must_be_given);
        visit(
            "by", self.by,
            "How much later it begins each collective, training steps included; the time of a collective counts from the others' start",
            k_user_choice, between(duration(1), duration(1'000'000'000'000)));
    }
};

/// Two external cables exchanged by mistake.
struct cable_swap {
    std::uint32_t ipu = 0;
    ipu_controller controller = ipu_controller::c1B;
    std::uint32_t other_ipu = 0;
    ipu_controller other_controller = ipu_controller::c1C;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("ipu", self.ipu, "IPU with one of the two ports, counted over all domains", k_must_be_given);
        visit("controller", self.controller, "That port", k_must_be_given);
        visit("other_ipu", self.other_ipu, "IPU with the other port", k_must_be_given);
        visit("other_controller", self.other_controller, "That port", k_must_be_given);
    }
};

/// The same of the cables of two GW-Links.
struct gw_cable_swap {
    std::uint32_t domain = 0;
    std::uint32_t slot = 0;
    gateway_side side = gateway_side::east;
    std::uint32_t other_domain = 0;
    std::uint32_t other_slot = 0;
    gateway_side other_side = gateway_side::west;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("domain", self.domain, "Domain of the gateway with one of the two ports", k_must_be_given);
        visit("slot", self.slot, "Its IPU-Machine, from the lowest of the domain on", k_must_be_given);
        visit("side", self.side, "That port", k_must_be_given);
        visit("other_domain", self.other_domain, "Domain of the gateway with the other port", k_must_be_given);
        visit("other_slot", self.other_slot, "Its IPU-Machine", k_must_be_given);
        visit("other_side", self.other_side, "That port", k_must_be_given);
    }
};

enum class machine_end : std::uint8_t { up, down };
template <> struct enum_names<machine_end> {
    static constexpr std::pair<machine_end, const char*> values[] = {{machine_end::up, "up"}, {machine_end::down, "down"}};
};

/// The same of two Sync-Link cables between IPU-Machines.
struct sync_cable_swap {
    std::uint32_t domain = 0;
    std::uint32_t slot = 0;
    machine_end end = machine_end::up;
    std::uint32_t other_domain = 0;
    std::uint32_t other_slot = 0;
    machine_end other_end = machine_end::down;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("domain", self.domain, "Domain of the IPU-Machine with one of the two connectors", k_user_choice);
        visit("slot", self.slot, "That IPU-Machine, from the lowest of the domain on", k_must_be_given);
        visit("end", self.end, "up: toward the next machine of the ladder; down: toward the one before", k_must_be_given);
        visit("other_domain", self.other_domain, "Domain of the IPU-Machine with the other connector", k_user_choice);
        visit("other_slot", self.other_slot, "That IPU-Machine", k_must_be_given);
        visit("other_end", self.other_end, "That connector", k_must_be_given);
    }
};

struct ipu_faults_config {
    std::vector<ipu_link_fault> links_down;
    std::vector<gw_link_fault> gw_links_down;
    std::vector<machine_fault> machines_down;
    std::vector<sync_fault> sync_cut;
    std::vector<cable_swap> swapped_cables;
    std::vector<gw_cable_swap> swapped_gw_cables;
    std::vector<sync_cable_swap> swapped_sync_cables;
    std::vector<late_replica> late;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("links_down", self.links_down, "Directed IPU-Links that are down from time zero, or go down at a time",
              k_user_choice);
        visit("gw_links_down", self.gw_links_down,
              "Directed GW-Links that are down from time zero, or go down at a time", k_user_choice);
        visit("machines_down", self.machines_down, "IPU-Machines that go down", k_user_choice);
        visit("sync_cut", self.sync_cut, "IPUs whose arrivals at syncs are lost", k_user_choice);
        visit("swapped_cables", self.swapped_cables, "Cables in each other's ports; `weft check` finds them",
              k_user_choice);
        visit("swapped_gw_cables", self.swapped_gw_cables, "The same of GW-Links, between gateways and their switches",
              k_user_choice);
        visit("swapped_sync_cables", self.swapped_sync_cables, "The same of Sync-Links between IPU-Machines", k_user_choice);
        visit("late", self.late, "Replicas that come late to every collective", k_user_choice);
    }
};

// An IPU: what is published of it, beside what every chip assumes.
struct ipu_core_config : core_config {
    ipu_core_config()
    {
        clock = frequency(1'330'000'000);
        cpi = 0.02;
        irq_wake = cycle_count(10);
        mmio_overhead = cycle_count(2);
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"clock", quoted("1.33 GHz of a GC200, MLPerf logs")},
            {"cpi", assumed("0.02: the compiler writes the exchange program, so that little is computed between exchanges; dma.setup has their published cost")},
            {"irq_wake", assumed("10 cycles: a tile waits for sync in an instruction of its own")},
            {"mmio_overhead", assumed("2 cycles: the same")}};
        with_sources sourced(visit, k_sources);
        core_config::fields(self, sourced);
    }
};

struct ipu_bus_config : bus_config {
    ipu_bus_config() { posted_writes = true; }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {{"posted_writes", assumed("as `cpi`")}};
        with_sources sourced(visit, k_sources);
        bus_config::fields(self, sourced);
    }
};

struct ipu_memory_config : hbm_config {
    ipu_memory_config()
    {
        capacity = data_size(900'000'000 / (64 << 10) * (64 << 10));
        rate = bandwidth(380'000'000'000'000);
        latency = duration(10'000);
        name = "SRAM";
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"capacity", quoted("900 MB of a GC200 on 1472 tiles, Graphcore documentation, in whole pages")},
            {"rate", quoted("47.5 TB/s, the same")},
            {"latency", assumed("10 ns")}};
        with_sources sourced(visit, k_sources);
        hbm_config::fields(self, sourced);
    }
};

struct ipu_dma_config : dma_config {
    duration setup = duration(500'000);

    ipu_dma_config()
    {
        queues = 12;
        read_ahead = 128;
        ring_entries = 256;
        receive_buffer = data_size(128 << 10);
        register_latency = duration(5'000);
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"queues", assumed("a lane of the exchange for each of two links and up to six rings")},
            {"ring_entries", assumed("an exchange is posted as a whole")},
            {"read_ahead", assumed("covers memory.latency at the rate of a port of the exchange")},
            {"register_latency", assumed("5 ns")}};
        with_sources sourced(visit, k_sources);
        dma_config::fields(self, sourced);
        visit("setup", self.setup, "From the start of an exchange to its first byte", assumed("0.5 us"), at_most(duration(1'000'000'000)));
    }
};

struct ipu_config : chip_sections<ipu_core_config, ipu_bus_config, ipu_memory_config, ipu_dma_config> {
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        chip_sections::fields(self, visit, "Exchange: what moves fragments between memory and links", "memory", "Memory of the tiles");
    }
    std::vector<config_problem> validate() const
    {
        std::vector<config_problem> all = chip().validate();
        for (config_problem& p : all)
            if (p.key.rfind("hbm.", 0) == 0)
                p.key.replace(0, 3, "memory");
        return all;
    }
    chip_config chip() const
    {
        chip_config c = *this;
        c.dma.engine.start = dma.setup;
        return c;
    }
};

struct ipu_pod_config {
    static constexpr const char* k_platform = "ipu_pod";
    static constexpr std::uint32_t k_algorithm_traits = abi::traits::of_replicas; ///< beside algorithms of any machine
    run_config run;
    ipu_pod_shape_config pod;
    ipu_link_config ipu_link;
    gateway_config gateway;
    ipu_sync_config sync;
    ipu_config ipu;
    gcl_config gcl;
    ipu_faults_config faults;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        run_config::fields(self.run, visit);
        visit("pod", self.pod, "IPUs and how they stand", k_user_choice);
        visit("ipu_link", self.ipu_link, "Links between IPUs", k_user_choice);
        visit("gateway", self.gateway, "Gateways and their links", k_user_choice);
        visit("sync", self.sync, "Sync-Links", k_user_choice);
        visit("ipu", self.ipu, "One IPU", k_user_choice);
        visit("gcl", self.gcl, "Communication library", k_user_choice);
        visit("faults", self.faults, "What is broken", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<ipu_pod_config>> key_rules();

    ipu_shape shape() const { return {pod.machines, pod.domains, pod.topology, pod.partition}; }
    std::uint32_t ranks() const { return shape().ipus(); }
    std::uint32_t replicas() const { return shape().domain_ipus() / pod.replica_size; } ///< of a domain
    abi::ring_order order() const;
    abi::platform_table rank_table(std::uint32_t rank) const;
    train_choice trains() const;
    chip_config control_chip() const { return ipu.chip(); }
    duration hop_latency(std::uint32_t dimension) const;
    std::uint64_t control_cores() const { return ranks(); }
    std::vector<ipu_link_end> known_down() const; ///< what routing spreads around
    std::vector<swapped_cables> swaps() const;
    std::vector<swapped_sync_cables> sync_swaps() const;
    /// With replicas of several IPUs, what runs among IPUs of the same place: "dimension 1"; of one replica alone,
    /// "blocks of 1". "": all ranks run together.
    std::string replica_groups() const;
    /// That in every entry of the workload that names no groups; and what the library chooses where a file names no
    /// algorithm; and the links that a training step has here.
    void complete();
    bandwidth rate_of_io_tiles(const step_streaming& streaming) const; ///< of all tiles where none are set apart
    bandwidth between_stages(const step_pipeline& pipeline) const; ///< IPU-Links between two stages
    bandwidth host_links() const;                                  ///< of all IPUs that take samples
    std::uint32_t pods() const; ///< Pod64, or less, that the domains are part of
    /// Entries of `faults` that name what a machine of this shape does not have. Of a shape other than that of the
    /// file, which has them all.
    std::vector<scaled_machine::missing_entry> missing_faults() const;
    workload_limits limits() const; ///< of collectives

private:
    /// What the first rank is told that runs a collective: of all ranks, or of its place in all replicas.
    abi::platform_table table_of_collectives() const;
    /// Algorithms and rates that the file leaves out, as far as no machine is needed for it.
    void name_defaults();
    void check_sizes_of_groups(std::vector<config_problem>& p) const;
    std::vector<config_problem> pod_problems() const;
    void check_faults(bool shape_is_known, std::vector<config_problem>& problems) const;
    void check_buffers(std::vector<config_problem>& problems) const;
    void check_step(const training_step_config& step, bool machine_is_known, std::vector<config_problem>& problems) const;
    workload_limits limits_of_any() const; ///< where `pod` is not sound
    std::string refusal_of(const abi::platform_table& table, abi::collective_op op, abi::algorithm algo, bool transposed) const;
};

/// Rungs, ladder, gateways; or the tables of `routing: FILE`.
struct ipu_pod_planned_routing final : planned_routing {
    explicit ipu_pod_planned_routing(const ipu_pod_config& config);
    std::string problem() const override;

private:
    std::string unreachable_;
};

class ipu_pod_machine final : public standing_machine {
public:
    ipu_pod_machine(const ipu_pod_config& config, const ipu_pod_planned_routing& routing, const core_fitter& fit);
    std::string chip_name(std::uint32_t rank) const override { return config_.shape().ipu_name(rank); }
    std::uint32_t replicas() const override { return config_.replicas() * config_.pod.domains; }
    /// Replicas of several IPUs as groups; spans of a training step by what the library chooses for them.
    collective_case as_run(const collective_case& c) const override;
    group_layout groups_of(std::uint32_t ranks_per_group) const override;
    std::uint64_t late_ps(std::uint32_t rank) const override;

    std::vector<std::string> warnings() const override;

    const sync_network& sync() const { return sync_; }

private:
    std::string full_buffers() const; ///< a sentence, where links waited for them; "": none did

    ipu_pod_config config_;
    ipu_sync_wires wires_;
    sync_network sync_;
    plan_fabric fabric_;
};

extern const platform_info k_ipu_pod_info;

} // namespace weft
