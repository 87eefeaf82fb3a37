// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The platform of SwitchML (Sapio et al., NSDI 2021): workers with Ethernet NICs below one programmable switch or a
// tree of them, and the same workers on a lossless network of the same rate for what it is compared with.
//
// A worker is a chip (hw/chip) with several cores, a NIC toward the switch and a DMA engine toward the lossless star.
// One workload may use both: switchml and switchml_lossless go through the switch, ring_1d, halving_doubling and
// parameter_server over the star. Only one collective runs at a time, so the two never compete.
#pragma once

#include "firmware/switchml/switchml_job.h"
#include "hw/abi/switchml.h"
#include "hw/ethernet/ethernet_link.h"
#include "hw/ethernet/ethernet_nic.h"
#include "hw/ethernet/lossless_star.h"
#include "hw/tofino/tofino_config.h"
#include "hw/tofino/tofino_job.h"
#include "hw/ethernet/ethernet_transmitter.h"
#include "platforms/machine/machine_hardware.h"
#include "platforms/machine/planned_routing.h"

#include <memory>
#include <optional>
#include <vector>

namespace weft {

class tofino_switch;
class empty_port;
class pin_waves;
struct workload_limits;

enum class aggregator_kind : std::uint8_t { model, rtl, lockstep };
template <> struct enum_names<aggregator_kind> {
    static constexpr std::pair<aggregator_kind, const char*> values[] = {
        {aggregator_kind::model, "model"}, {aggregator_kind::rtl, "rtl"}, {aggregator_kind::lockstep, "lockstep"}};
};
template <> struct enum_names<abi::switchml::transport> {
    static constexpr std::pair<abi::switchml::transport, const char*> values[] = {
        {abi::switchml::transport::udp, "udp"}, {abi::switchml::transport::rdma, "rdma"}};
};

struct switchml_switch_config {
    static constexpr config_part k_part = config_part::aggregation;
    aggregator_kind aggregator = aggregator_kind::model;
    std::string waves;
    tofino_config chip;

    /// 64 ports of 100 Gb/s, section 7 (quoted). The filter is ours: cables may reorder.
    switchml_switch_config()
    {
        chip.ports = 64;
        chip.stale_filter = true;
    }

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit(
            "aggregator", self.aggregator,
            "Who adds: model (C++), rtl (the Verilog of rtl/aggregation), lockstep (both; the first difference stops the run)",
            k_user_choice);
        visit(
            "waves", self.waves,
            "Waves of the Verilog, FST: this name, with switch, pipe and \".fst\" added; about a millisecond a thousand passes. Empty: "
            "none",
            k_user_choice);
        tofino_config::fields(self.chip, visit);
    }
    std::vector<config_problem> validate() const;
};

/// One cable that is worse than the others.
enum class cable_end : std::uint8_t { both, up, down };
template <> struct enum_names<cable_end> {
    static constexpr std::pair<cable_end, const char*> values[] = {
        {cable_end::both, "both"}, {cable_end::up, "up"}, {cable_end::down, "down"}};
};
struct cable_fault_config {
    std::uint32_t worker = 0;
    cable_end direction = cable_end::both;
    ethernet_impairments impairments;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("worker", self.worker, "Whose cable", k_must_be_given);
        visit("direction", self.direction, "up: to the switch; down: from it; both", k_user_choice);
        visit("impairments", self.impairments, "In place of network.cable.impairments", k_user_choice);
    }
};
struct worker_outage_config {
    std::uint32_t worker = 0;
    duration from{0};
    std::optional<duration> until = {};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("worker", self.worker, "Whose cable fails: the worker is not heard any more", k_must_be_given);
        visit("from", self.from, "Simulated time at which it fails", k_user_choice);
        visit("until", self.until, "Simulated time at which it works again; left out: never", k_user_choice);
    }
};
struct switchml_faults_config {
    std::vector<cable_fault_config> cables;
    std::vector<worker_outage_config> outages;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("cables", self.cables, "Cables that lose, damage, repeat or delay more than the others", k_user_choice);
        visit("outages", self.outages, "Workers that stop, for a time or for good", k_user_choice);
    }
};

struct switchml_network_config {
    static constexpr config_part k_part = config_part::links;
    bandwidth rate{100'000'000'000};
    ethernet_link_config cable;
    data_size lossless_buffer{256 << 10};
    duration nic_latency{300'000};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("rate", self.rate, "Of every port and direction", quoted("10 or 100 Gb/s, Sapio et al. section 6"),
              between(bandwidth(1'000'000), bandwidth(1'000'000'000'000)).because("; write for example \"100 Gbps\""));
        visit("cable", self.cable, "Cables between workers and switches", k_user_choice);
        visit("lossless_buffer", self.lossless_buffer,
              "Buffer of a port of the lossless network, for ring_1d, halving_doubling and parameter_server",
              assumed("priority flow control stops before anything is lost"));
        visit("nic_latency", self.nic_latency, "Through a NIC of the lossless network", assumed("nothing is published"),
              at_most(duration(1'000'000'000)));
    }
    std::vector<config_problem> validate() const;
};

struct switchml_job_config {
    static constexpr config_part k_part = config_part::job;
    abi::switchml::transport transport = abi::switchml::transport::udp;
    std::uint32_t elements_per_packet = 256;
    std::uint32_t packets_per_message = 16;
    std::uint32_t slots = 512;
    std::uint32_t first_slot = 0;
    duration timeout{1'000'000'000};
    std::uint32_t backoff_after = 0;
    std::uint32_t jobs = 1;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("transport", self.transport, "udp: cores make packets and convert; rdma: the NIC does, from messages",
              quoted("Sapio et al., appendix B"));
        visit("elements_per_packet", self.elements_per_packet, "64 or 256", quoted("k of Sapio et al., section 5"),
              one_of(64, 256).because(": what the switch aggregates"));
        visit("packets_per_message", self.packets_per_message, "RDMA: 1, 2, 4, 8 or 16",
              quoted("16, Sapio et al., section 5"), one_of(1, 2, 4, 8, 16));
        visit("slots", self.slots, "Slots of a job's pool, each in two versions",
              quoted("512 at 100 Gb/s and 128 at 10 Gb/s, Sapio et al., appendix C"),
              at_least(1).because("; every packet needs a slot"));
        visit("first_slot", self.first_slot, "First slot of the first job; others follow", k_user_choice);
        visit("timeout", self.timeout, "Retransmission", quoted("1 ms, Sapio et al., section 6.3"),
              between(duration(1'000'000), duration(10'000'000'000'000)));
        visit("backoff_after", self.backoff_after,
              "The timeout doubles after this many timeouts of a core, again after twice as many; 0: never",
              quoted("the P4 client has 100; the paper has none"));
        visit("jobs", self.jobs,
              "Jobs that share the switch, each with an equal part of the workers and a pool of its own", k_user_choice,
              between(1, 256).because(": a packet names its job in 8 bits"));
    }
    std::vector<config_problem> validate() const;
};

// A server, as its NIC and cores see it. No public figures: clock, instructions and memory are assumed.
struct server_core_config : core_config {
    server_core_config();
    std::vector<config_problem> validate() const;
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"clock", assumed("a server core")},
            {"cpi", assumed("two instructions a cycle")},
            {"mmio_overhead", assumed("nothing is published")},
            {"copy_per_8_bytes", assumed("17.6 GB/s of one core from or to the last-level cache and memory")},
            {"irq_wake", assumed("a poll loop rather than an interrupt")},
        };
        with_sources sourced(visit, k_sources);
        core_config::fields(self, sourced);
        visit("instruction_set", self.instruction_set,
              "Whose instructions the loops over elements are charged in: rv64gc, scalar; x86_sse and x86_avx2, as the "
              "published client converts; native only",
              quoted("columns of firmware/costs.h. The paper: x86 SSE and AVX, Sapio et al., section 6.3 and appendix B"));
    }
};
struct server_bus_config : bus_config {
    server_bus_config() { latency = duration(5'000); }
};
struct server_memory_config : hbm_config {
    server_memory_config();
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"capacity", assumed("nothing is published")},
            {"rate", assumed("eight channels of server memory")},
            {"latency", assumed("frames and tensors pass through the last-level cache")},
        };
        with_sources sourced(visit, k_sources);
        hbm_config::fields(self, sourced);
    }
};

struct switchml_worker_config : chip_sections<server_core_config, server_bus_config, server_memory_config> {
    std::uint32_t cores = 4;
    packet_count packet_batch{32};
    duration transmit_hold{10'000'000};
    nic_config nic;

    static constexpr config_part k_part = config_part::nic; ///< its own keys say when a frame goes to the card

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("cores", self.cores, "Cores that run the worker's firmware and share every tensor",
              quoted("4 threads, P4 client (quoted); up to 8, Sapio et al. section 5 (quoted)"),
              between(1, firmware::k_switchml_cores));
        visit("packet_batch", self.packet_batch, "Packets that a core takes, and announces to the NIC, at a time; udp only",
              quoted("32, Sapio et al., appendix B (quoted); P4 client: 64 (quoted)"),
              between(packet_count(1), packet_count(firmware::k_max_window)).because(": a core has no more packets under way"));
        visit("transmit_hold", self.transmit_hold,
              "A part of a batch is announced when nothing has come and this time has passed since packets were last announced; "
              "0: at once; udp only",
              quoted("10 us, P4 client, bulk_drain_tx_us"), at_most(duration(1'000'000'000'000)));
        chip_sections::fields(self, visit, "DMA engine toward the lossless network", "memory", "Memory of the worker, where tensors and rings are");
        visit("nic", self.nic, "Ethernet NIC; its rate is network.rate", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    chip_config chip() const { return *this; }
};

struct switchml_config {
    static constexpr const char* k_platform = "switchml";
    static constexpr std::uint32_t k_algorithm_traits = abi::traits::by_switch; ///< beside algorithms of any machine
    static constexpr std::uint32_t k_most_workers = 4096;

    run_config run;
    std::uint32_t workers = 8;
    std::uint32_t servers = 0;
    std::vector<std::uint32_t> tree;
    switchml_network_config network;
    switchml_switch_config tofino;
    switchml_job_config job;
    switchml_worker_config worker;
    switchml_faults_config faults;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        run_config::fields(self.run, visit);
        visit("workers", self.workers, "Machines of all jobs", quoted("8 or 16, Sapio et al., section 6"),
              between(1, k_most_workers));
        visit("servers", self.servers,
              "Further machines on the lossless network that sum for parameter_server; 0: the workers do it themselves",
              quoted("as many as workers, or none, Sapio et al., section 6"), between(0, k_most_workers));
        visit(
            "tree", self.tree,
            "Switches below each other, from the root down: [4, 8] is a root with 4 switches of 8 workers. Empty: one "
            "switch",
            quoted("Sapio et al., section 7"));
        visit("network", self.network, "Ethernet", k_user_choice);
        visit("switch", self.tofino, "Programmable switch", k_user_choice);
        visit("job", self.job, "What workers and switch have agreed on", k_user_choice);
        visit("worker", self.worker, "One machine", k_user_choice);
        visit("faults", self.faults, "What is worse than the rest", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<switchml_config>> key_rules();
    bool cables_draw() const; ///< lose, damage, delay or repeat frames by chance
    bool draws() const;       ///< the seed of the run decides more than the data
    /// With what follows from other keys in its place: the values in force.
    switchml_config in_force() const;
    /// Without the RTL and its waves where no algorithm uses the switch: a warning calls these keys unused.
    switchml_switch_config switch_in_use() const;

    std::uint32_t ranks() const { return workers; }
    std::uint32_t machines() const { return workers + servers; }
    std::uint32_t workers_per_job() const { return workers / job.jobs; }
    abi::switchml::table table(std::uint32_t rank, std::uint32_t core) const;
    abi::platform_table rank_table(std::uint32_t rank) const; ///< of the lossless network
    lossless_star_config star() const;
    train_choice trains() const;
    chip_config control_chip() const { return worker.chip(); }
    duration hop_latency(std::uint32_t dimension) const; ///< of the lossless network, through its switch
    double payload_share() const;                        ///< of its wires, in full packets
    std::uint64_t control_cores() const { return std::uint64_t{workers} * worker.cores + servers; }
    ethernet_link_config cable() const;                   ///< with the run's seed
    tofino_config switch_chip(std::uint32_t ports) const; ///< with the network's rate
    std::uint64_t nic_area_offset() const;                ///< in the worker's memory; buffers end there
    std::uint32_t leaf_of(std::uint32_t rank) const;      ///< number of the switch above it, in a tree

    /// Workers of a job that one pipe of the switch aggregates: their ports lie side by side in it.
    struct node {
        std::uint32_t first_rank = 0;
        std::uint32_t workers = 0;
        std::uint32_t first_port = 0;
    };
    /// Below one switch: job by job, all jobs alike. A node that finds no room in the pipe of the one before begins the
    /// next.
    std::vector<node> nodes() const;
    /// Of a node: ports of a pipe, those with a recirculation port of their own (256 elements), bits of a bitmap.
    std::uint32_t most_workers_of_a_node() const;
    static std::uint32_t ports_of(const std::vector<node>& nodes); ///< from port 0 to the last one
    workload_limits limits(bool is_sound = true) const; ///< of collectives

private:
    void check_job(std::vector<config_problem>& problems) const;
    void check_shape(std::vector<config_problem>& problems) const;
    void check_sums(std::vector<config_problem>& problems) const;
    void check_programs(std::vector<config_problem>& problems) const;
    void check_recovery(std::vector<config_problem>& problems) const;
    void check_faults(std::vector<config_problem>& problems) const;
    std::string refusal_of(abi::collective_op op, abi::algorithm algo) const;
};

/// Bytes on the wire of a full packet: the least of a message, and the average.
std::uint32_t least_wire_bytes(const switchml_job_config& job);
std::uint32_t packet_wire_bytes(const switchml_job_config& job);

constexpr std::uint64_t switch_mac(std::uint32_t number) { return 0x02'00'00'00'80'00ull + number; }
constexpr std::uint32_t switch_ip(std::uint32_t number) { return 0x0a'00'80'00 + number; }
constexpr std::uint64_t worker_mac(std::uint32_t rank) { return 0x02'00'00'00'01'00ull + rank; }
constexpr std::uint32_t worker_ip(std::uint32_t rank) { return 0x0a'00'01'00 + rank; }

/// How packets of the lossless network go.
struct switchml_routing final : planned_routing {
    explicit switchml_routing(const switchml_config& config);
    std::string report() const override;
};

class switchml_machine final : public standing_machine {
public:
    explicit switchml_machine(const switchml_config& config) : switchml_machine(config, switchml_routing(config)) {}
    /// `waves`: a file in which the pins of all pipes are drawn; "": none.
    switchml_machine(const switchml_config& config, const switchml_routing& routing, const core_fitter& fit = {},
                     const std::string& waves = "");
    ~switchml_machine() override;
    std::string chip_name(std::uint32_t rank) const override;
    /// As of hw/routing/star.h.
    std::string node_name(std::uint32_t rank) const override { return "nic(" + std::to_string(rank) + ")"; }
    std::uint32_t data_ranks() const override { return config_.workers; }
    collective_case as_run(const collective_case& c) const override;
    bool recovers(const collective_case& c) const override { return c.algo == abi::algorithm::switchml; }
    group_layout groups_of(std::uint32_t ranks_per_group) const override;
    std::string group_name(std::uint32_t group) const override { return "job " + std::to_string(group); }
    std::string waits() const override;
    std::vector<std::string> warnings() const override;

    const std::vector<std::unique_ptr<tofino_switch>>& switches() const { return switches_; } ///< root first
    ethernet_link& cable(std::uint32_t rank) { return *cables_.at(rank); }

private:
    void add_workers(const switchml_routing& routing);
    std::unique_ptr<ethernet_nic> make_nic(chip& host, bool carry_data);
    chip& add_machine(std::uint32_t rank, const dma_fabric_view& view, const chip_options& options);
    /// Where a subtree hangs: the switch above and which of its children it is.
    struct place_above {
        std::uint32_t number;
        std::uint32_t child;
    };
    std::uint32_t add_subtree(std::uint32_t level, std::uint32_t first_worker, const place_above* above);
    void connect(std::uint32_t sw, std::uint32_t port, ethernet_link& link, std::uint32_t end);
    void admit_jobs();
    std::string vain_resends() const;
    std::string silent_worker(const awaited_sender& sender) const;

    switchml_config config_;
    std::shared_ptr<pin_waves> pin_waves_;
    std::unique_ptr<lossless_star> star_;
    std::vector<std::unique_ptr<tofino_switch>> switches_;
    std::vector<std::unique_ptr<ethernet_link>> cables_; ///< of the workers; end 1 is nearer to the root
    std::vector<std::unique_ptr<ethernet_link>> trunks_; ///< between switches
    std::vector<std::unique_ptr<empty_port>> empty_ports_;
};

extern const platform_info k_switchml_info;

} // namespace weft
