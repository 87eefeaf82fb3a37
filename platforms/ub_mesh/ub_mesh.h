// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// UB-Mesh: boards, racks, pods and SuperPods of NPUs joined by Unified Bus links (arXiv 2503.20377), and the baselines
// it is compared with. Ranks count NPUs: rank = ((pod * racks + rack) * boards + board) * npus + npu.
#pragma once

#include "firmware/drivers/ccu_driver.h"
#include "hw/ccu/ccu.h"
#include "hw/chip/chip.h"
#include "hw/ub/ub_config.h"
#include "hw/ub/ub_fabric.h"
#include "hw/ub/ub_idle_port.h"
#include "hw/ub/ub_port_sharer.h"
#include "platforms/machine/machine_hardware.h"
#include "platforms/ub_mesh/ub_faults.h"
#include "platforms/ub_mesh/ub_hosts.h"
#include "hw/ub/ub_notices.h"
#include "hw/routing/ub/ub_shape.h"
#include "hw/routing/ub/ub_topology.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct workload_limits;

// An NPU, where it differs from the chip of a pod.
struct npu_memory_config : hbm_config {
    npu_memory_config();
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"capacity", quoted("910C as the reference, CloudMatrix384 (arXiv 2506.12708)")},
            {"rate", quoted("3.2 TB/s, 910C as the reference, CloudMatrix384")},
            {"latency", assumed("nothing is published")},
        };
        with_sources sourced(visit, k_sources);
        hbm_config::fields(self, sourced);
        visit("load", self.load, "What compute units take of the rate, while ranks communicate", assumed("0: none"), real_between(0, 0.95));
        visit("load_block", self.load_block, "Bytes that they move at once, at random intervals", assumed("4 KiB"), between(data_size(64), data_size(1 << 20)));
    }
};
struct npu_core_config : core_config {
    npu_core_config();
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"clock", assumed("1 GHz; the control core of an NPU is not published")},
            {"cpi", assumed("as the TPU-v3 model, where a ring step takes about 1 us")},
        };
        with_sources sourced(visit, k_sources);
        core_config::fields(self, sourced);
    }
};

struct npu_dma_config : dma_config {
    npu_dma_config() { queues = 16; }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"queues", assumed("one for each of the 14 NPUs of a rack that an NPU is joined to, and two more")},
        };
        with_sources sourced(visit, k_sources);
        dma_config::fields(self, sourced);
    }
};

/// Which NPUs have collective communication units: those of machines that use them, all, none.
enum class ccu_presence : std::uint8_t { used, always, never };
template <> struct enum_names<ccu_presence> {
    static constexpr std::pair<ccu_presence, const char*> values[] = {{ccu_presence::used, "used"}, {ccu_presence::always, "always"}, {ccu_presence::never, "never"}};
};
struct npu_ccu_config : ccu_config {
    ccu_presence presence = ccu_presence::used;
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit(
            "presence", self.presence,
            "used: NPUs have them where the workload names one of their algorithms, or auto takes one; always, also for firmware of your own; never",
            quoted("one in each IO die, UB-Mesh section 7; units that nobody uses change no time"));
        ccu_config::fields(self, visit);
    }
    firmware::ccu_capacities capacities() const
    {
        return {instructions,  missions, loop_engines, address_registers, general_registers,
                check_entries, slices,   channels,     outstanding};
    }
};

struct npu_config : chip_sections<npu_core_config, bus_config, npu_memory_config, npu_dma_config> {
    npu_ccu_config ccu;
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        chip_sections::fields(self, visit, "DMA engine; one local port to each of the two UB IO controllers");
        visit("ccu", self.ccu, "Collective communication unit, one in each IO die", k_user_choice);
    }
    std::vector<config_problem> validate() const { return chip().validate(); }
    chip_config chip() const { return *this; }
};

struct ub_mesh_config {
    static constexpr const char* k_platform = "ub_mesh";
    static constexpr std::uint32_t k_algorithm_traits = abi::traits::by_ccu; ///< beside algorithms of any machine
    run_config run;
    ub_shape mesh;
    ub_cables cables;
    ub_config ub;
    npu_config npu;
    ub_cpu_config cpu;
    dcn_config nic;
    ub_faults_config faults;
    file_name prices;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        run_config::fields(self.run, visit);
        visit("mesh", self.mesh, "Shape of the machine", k_user_choice);
        visit("cables", self.cables, "Cables by class", k_user_choice);
        visit("ub", self.ub, "Unified Bus: links, controllers, switches, routing", k_user_choice);
        visit("npu", self.npu, "One NPU", k_user_choice);
        visit("cpu", self.cpu, "One CPU", k_user_choice);
        visit("nic", self.nic, "One NIC", k_user_choice);
        visit("host", self.run.host, "What CPUs and NICs exchange with NPUs beside collectives and training steps; left out: nothing", k_user_choice);
        visit("faults", self.faults, "What is broken, or breaks", k_user_choice);
        visit(
            "prices", self.prices,
            "File with prices and failure rates, from the folder of this file or the present one: `weft check` then prints the bill of materials and "
            "availability and, of a machine with HRS, the cost of the networks of Fig. 21",
            k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<ub_mesh_config>> key_rules();

    std::uint32_t ranks() const; ///< NPUs that run the job
    /// NPU position (rank of the healthy machine) of every rank; where a spare NPU stands in, the position it serves.
    std::vector<std::uint32_t> positions() const;
    abi::platform_table rank_table(std::uint32_t rank) const;
    /// Boards and NPUs of a rack with masked NPUs; rows = 0: it is no such mesh, or has more gaps than a table holds.
    abi::gapped_mesh mesh_with_gaps() const;
    bool has_ccus() const; ///< of every NPU, two
    /// Where the memory of an NPU holds what it exchanges with hosts, below the descriptor rings: state, then messages
    /// of streams.
    std::uint64_t host_offset() const;
    /// Packets that a NIC reads from the DCN before their way has taken them.
    std::uint64_t nic_read_ahead() const { return std::max<std::uint64_t>(1, nic.buffer.value() / ub.max_payload.value()); }
    train_choice trains() const;
    chip_config control_chip() const { return npu; }
    duration hop_latency(std::uint32_t dimension) const; ///< through both NPUs and the cable between them
    bandwidth links_rate() const; ///< of an NPU, those to its LRS included
    std::uint64_t control_cores() const { return ranks(); }
    /// Gives ports and DMA engines the buffers of configs/ub_mesh/superpod.yaml, in which trains are long. Assumed
    /// values.
    void deepen_buffers();
    bool has_bit_errors() const; ///< of any link
    /// That are planned and that sources are told of, at most.
    std::uint64_t failures() const { return faults.links.size() + faults.devices.size(); }
    /// Devices speak to each other: links may go down while the machine runs, and sources are told.
    bool sends_notices() const { return faults.notification != ub_notification::none && (faults.links_fail_later() || has_bit_errors()); }
    /// Of the last of all packets that an NPU's controllers keep, without anybody else's traffic.
    std::uint64_t loaded_round_trip_ps(const ub_topology& topology) const;
    workload_limits limits() const; ///< of collectives

private:
    std::vector<config_problem> shape_problems() const;
    workload_limits limits_of_any() const; ///< where the machine is not sound
    void check_transport(std::vector<config_problem>& problems) const;
    void check_hosts(std::vector<config_problem>& problems) const;
    bool training_steps_without_checkpoint() const;
    void check_units(std::vector<config_problem>& problems) const;
    void check_delays(std::vector<config_problem>& problems) const;
    void check_link_buffers(std::vector<config_problem>& problems) const;
    /// At zero load, of the nearest NPU; 0 without one.
    std::uint64_t neighbour_round_trip_ps(const ub_topology& topology) const;
    std::string refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const;
    std::string lack_of_units(abi::collective_op op, abi::algorithm algo, bool transposed, const abi::platform_table& table) const;
};

class ub_paths;
class ub_table_paths;

/// How packets go, decided and proved before anything is built.
struct ub_routes {
    explicit ub_routes(const ub_mesh_config& config);
    std::shared_ptr<const ub_topology> topology;
    ub_plan plan; ///< the topology's, with lane rule and paths
    std::shared_ptr<const ub_paths> paths;
    std::shared_ptr<const ub_table_paths> tables; ///< of the key `routing`: in place of the path sets
    bool all_paths = false; ///< more than the shortest are in use
    std::vector<bool> down; ///< links that are down from the start
    /// Endpoints that have a path over the link or its reverse among those they use.
    std::vector<std::uint32_t> sources_over(std::uint32_t link) const;
    std::vector<std::uint32_t> sources_over(const std::vector<std::uint32_t>& links) const; ///< over any of them
    /// Lines for `weft check`: proof, and how many paths the rule admits, counted when asked.
    std::string report() const;
    std::string route_tables() const; ///< as platform::route_tables()
    /// What is to be said when the machine has no path of the kind that ub.paths names beside the shortest; "" when it
    /// has.
    std::string unused_kind() const;
    const std::string& problem() const { return problem_; }         ///< why it cannot be used; "" when it can
    const std::string& problem_key() const { return problem_key_; } ///< of the file

private:
    std::string problem_, problem_key_;
    std::string proved; ///< lines of the report
    ub_path_use use_ = ub_path_use::all;
    ub_config ub_;
    std::uint32_t ranks_ = 0;
    std::string unreachable_pair(const ub_mesh_config& config) const;
    void use_tables(const ub_mesh_config& config);
    void prove_notices(const ub_mesh_config& config);
};

struct ub_faulty_device;

class ub_machine final : public machine, private restarting {
public:
    ub_machine(const ub_mesh_config& config, std::shared_ptr<const ub_routes> routes, core_fitter fit = {});
    ~ub_machine() override;
    timeline& time() override { return now().hardware.time; }
    packet_pool& pool() override { return now().hardware.pool; }
    const std::vector<chip*>& chips() const override { return now().hardware.chips(); }
    const std::vector<fabric_engine*>& fabrics() const override { return now().hardware.fabrics(); }
    std::string chip_name(std::uint32_t rank) const override;
    std::string node_name(std::uint32_t rank) const override { return routes_->plan.routers[now().routers[rank]].name; }
    std::uint32_t train_of(const collective_case& c) const override { return weft::train_of(trains_, c); }
    bool at_rest() override;
    restarting* restarts() override { return this; }
    host_devices* hosts() override { return now().hosts.get(); }
    std::vector<std::string> warnings() const override;
    bool tells_failure(const fabric_engine& fabric, const link_failure& failure) const override;
    std::uint64_t resend_timeout_ps() const override { return config_.ub.transport == ub_transport::rtp ? config_.ub.rtp_timeout.value() : 0; }
    std::vector<std::uint16_t> near_ranks(const std::vector<std::vector<std::uint32_t>>& groups,
                                          const std::vector<abi::platform_table>& tables) const override;

    ub_fabric& ub() { return *now().fabric; }
    const ub_fabric& ub() const { return *now().fabric; }

private:
    /// All hardware between two restarts: a restart resets every NPU, so it finds hardware of its own.
    struct incarnation final : link_listener_if {
        incarnation(const core_fitter& fit, const std::string& suffix) : hardware(fit, suffix) {}
        void link_down(std::uint32_t link, std::uint64_t now_ps) override { owner->link_fails(*this, link, now_ps); }
        void link_up(std::uint32_t link, std::uint64_t) override { owner->link_works_again(*this, link); }
        ub_machine* owner = nullptr;
        machine_hardware hardware;
        std::unique_ptr<ub_fabric> fabric;
        std::unique_ptr<ub_notices> notices; ///< none where nobody is told
        std::vector<std::unique_ptr<ub_idle_port>> idle_ports;
        std::unique_ptr<ub_hosts> hosts; ///< nullptr: CPUs and NICs do nothing
        std::vector<std::unique_ptr<ub_port_sharer>> sharers; ///< of NPUs with CCUs, or with hosts
        std::vector<ccu*> ccus;
        std::vector<std::uint32_t> positions; ///< of ranks, see ub_mesh_config::positions()
        std::vector<std::uint32_t> routers;   ///< of ranks: that of the position, or of the spare NPU that stands in
        ub_mesh_config config;                ///< faults from the start of this incarnation
        std::vector<std::uint32_t> given_up;  ///< links that bit errors have brought down
        std::vector<bool> down;               ///< links that are down from the start, by their number in the plan
        std::size_t number = 0;
    };
    /// NPUs of the job that fail at the same time: one take-over for all of them.
    struct interruption {
        std::uint64_t at_ps;
        std::vector<std::string> npus; ///< and spare ones that stand in
    };
    std::uint64_t interrupted_at_ps() const override;
    restart_plan restart() override;
    std::vector<std::string> interruptions_to_come() const override;
    std::vector<timeline*> timelines() override;
    void build(std::size_t number);
    void add_faults(incarnation& i, std::size_t number);
    chip_options with_ccus(incarnation& i, std::uint32_t rank) const;
    void bind_ports(incarnation& i, chip& c, std::uint32_t router, const std::string& name) const;
    /// When all sources have been told at the latest that this CPU or NIC has failed; never where nobody is told.
    std::uint64_t hosts_know_ps(const incarnation& i, const ub_faulty_device& d) const;
    bool of_failed_device(std::uint32_t plan_link) const;
    static void down_from_the_start(incarnation& i, std::uint32_t plan_link);
    void link_fails(incarnation& i, std::uint32_t link, std::uint64_t now_ps);
    void give_up(incarnation& i, std::uint32_t plan_link, std::uint64_t now_ps);
    void link_works_again(incarnation& i, std::uint32_t link);
    bool is_given_up(const incarnation& i, std::uint32_t plan_link) const;
    void expect(incarnation& i, const ub_failed_part& part, std::uint64_t at_ps, std::uint64_t until_ps,
                const std::vector<std::uint32_t>& affected);
    bool taken_along(const incarnation& i, std::uint32_t plan_link) const;
    incarnation& now() const { return *incarnations_[present_]; }

    ub_mesh_config config_;
    train_choice trains_;
    std::shared_ptr<const ub_routes> routes_;
    core_fitter fit_;
    std::vector<interruption> interruptions_; ///< in order of time
    std::unique_ptr<ub_checkpoint_store> store_; ///< outlives restarts
    std::vector<std::unique_ptr<incarnation>> incarnations_;
    std::size_t present_ = 0;
};

/// A link of `faults.links` in the plan: both directions.
struct ub_faulty_link {
    const ub_link_fault_config* fault;
    std::uint32_t link, reverse; ///< into ub_plan::links
};
/// A device of `faults.devices`.
struct ub_faulty_device {
    const ub_device_fault_config* fault;
    std::uint32_t router;
    std::vector<std::uint32_t> links; ///< into ub_plan::links, both directions
    bool interrupts;                  ///< a spare NPU that stands in when it fails
};
/// Both directions of all links of a router.
std::vector<std::uint32_t> links_of(const ub_topology& topology, std::uint32_t router);
/// Only of faults that check_faults() has let pass.
std::vector<ub_faulty_device> faulty_devices(const ub_mesh_config& config, const ub_topology& topology);
/// Rack (numbered over all pods) of "spare(p0,r1)"; nothing when it is no such name or lies outside.
std::optional<std::uint32_t> rack_of_spare(const ub_shape& shape, const std::string& name);
/// A spare NPU that fails when it stands in for another one, or at the same time as that.
bool stands_in(const ub_mesh_config& config, const ub_device_fault_config& f);
/// Without NPUs of the job that fail after `at_ps`.
ub_mesh_config config_at(const ub_mesh_config& config, std::uint64_t at_ps);
/// Adds what is wrong with `faults`: names of nothing, links that do not exist, no NPUs that are left.
void check_faults(const ub_mesh_config& config, std::vector<config_problem>& problems);
/// Only of faults that check_faults() has let pass.
std::vector<ub_faulty_link> faulty_links(const ub_mesh_config& config, const ub_topology& topology);
/// Behind which each rank stands: that of its position, or of the spare NPU that stands in there.
std::vector<std::uint32_t> routers_of_ranks(const ub_mesh_config& config, const ub_topology& topology);
/// Positions of NPUs that the job does without, in order; with recovery: spare those for which no spare NPU stands in.
std::vector<std::uint32_t> masked_npus(const ub_mesh_config& config);
/// Positions of NPUs that a spare one stands in for, in order.
std::vector<std::uint32_t> replaced_npus(const ub_mesh_config& config);
/// Position of "npu(p0,r0,b1,3)"; nothing when it is no such name or lies outside.
std::optional<std::uint32_t> npu_by_name(const ub_shape& shape, const std::string& name);
std::string describe_faults(const ub_mesh_config& config); ///< lines for `weft check`; "" when nothing is broken

extern const platform_info k_ub_mesh_info;

} // namespace weft
