// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A node of AWS Trainium chips, or several (AWS Neuron documentation, "Intra-node Collective Communications with AWS
// Neuron"). A rank is a logical NeuronCore (LNC) with its communication core, DMA engines and share of HBM. Ranks count
// inside a chip first, then along rows, columns and nodes.
#pragma once

#include "hw/fabric/plan_fabric.h"
#include "hw/memory/memory_path.h"
#include "hw/neuronlink/neuronlink_config.h"
#include "hw/routing/neuronlink/neuronlink_routing.h"
#include "platforms/machine/machine_hardware.h"
#include "platforms/machine/planned_routing.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace weft {

struct workload_limits;

enum class torus_direction : std::uint8_t { plus_x, minus_x, plus_y, minus_y, plus_z, minus_z };
template <> struct enum_names<torus_direction> {
    static constexpr std::pair<torus_direction, const char*> values[] = {
        {torus_direction::plus_x, "+X"}, {torus_direction::minus_x, "-X"}, {torus_direction::plus_y, "+Y"},
        {torus_direction::minus_y, "-Y"}, {torus_direction::plus_z, "+Z"}, {torus_direction::minus_z, "-Z"}};
};

struct trainium_node_config {
    std::uint32_t rows = 4;
    std::uint32_t cols = 4;
    std::uint32_t nodes = 1;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("rows", self.rows, "Chips along Y; three and more form rings", quoted("4x4 chips: AWS Neuron documentation"), between(1, 16));
        visit("cols", self.cols, "Chips along X; three and more form rings", quoted("4x4 chips: AWS Neuron documentation"), between(1, 16));
        visit("nodes", self.nodes, "Nodes, joined along Z at equal places", quoted("1; 4 of an UltraServer, the same"), between(1, 16));
    }
};

/// One directed link that does not work, from time zero or from `at` on.
struct trainium_link_fault {
    std::uint32_t node = 0;
    std::uint32_t row = 0;
    std::uint32_t col = 0;
    torus_direction direction = torus_direction::plus_x;
    std::optional<bool> announced = {};
    duration at = duration(0);

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("node", self.node, "Node of the chip that sends on the link", k_user_choice);
        visit("row", self.row, "Row of that chip", k_must_be_given);
        visit("col", self.col, "Column of that chip", k_must_be_given);
        visit("direction", self.direction, "+X: to col + 1, +Y: to row + 1, +Z: to the next node, and the opposite ones", k_must_be_given);
        visit("announced", self.announced,
              "true: routing knows and goes around; false: it does not, and what is sent there waits. Left out: true, with `at` false", k_user_choice);
        visit("at", self.at, "When the link goes down: 0 ps from the start; later, routing never knows", k_user_choice);
    }
    bool known_to_routing() const { return announced.value_or(at.value() == 0); }
    std::uint32_t axis() const { return static_cast<std::uint32_t>(direction) / 2; }
    bool up() const { return static_cast<std::uint32_t>(direction) % 2 == 0; }
};

struct trainium_faults_config {
    std::vector<trainium_link_fault> links_down;
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("links_down", self.links_down, "Directed links that are down from time zero, or go down at a time", k_user_choice);
    }
};

// A rank: what is published of it, beside what every chip assumes.
struct trainium_core_config : core_config {
    trainium_core_config()
    {
        clock = frequency(1'400'000'000);
        cpi = 0.05;
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"clock", assumed("1.4 GHz: the communication cores of a chip, 16 or 20, are not described further")},
            {"cpi", assumed("0.05: the runtime writes descriptors before a collective begins, so that writing them takes little here; a core that did it would need about 1")}};
        with_sources sourced(visit, k_sources);
        core_config::fields(self, sourced);
    }
};

struct trainium_bus_config : bus_config {
    trainium_bus_config() { posted_writes = true; }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"posted_writes", assumed("the runtime writes most descriptors before a collective begins; here a core writes them, and does not wait for HBM")}};
        with_sources sourced(visit, k_sources);
        bus_config::fields(self, sourced);
    }
};

struct trainium_memory_config : hbm_config {
    trainium_memory_config()
    {
        capacity = data_size(96ull << 30);
        rate = bandwidth(23'200'000'000'000);
        latency = duration(200'000);
        load_block = data_size(64 << 10);
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"capacity", quoted("96 GiB of Trn2, AWS Neuron documentation; ranks share it in equal parts")},
            {"rate", quoted("2.9 TB/s of Trn2, AWS Neuron documentation; ranks share it in equal parts")},
            {"latency", assumed("nothing is published")},
        };
        with_sources sourced(visit, k_sources);
        hbm_config::fields(self, sourced);
        visit("load", self.load, "What compute engines take of the rate of a stack, while ranks communicate", assumed("0: none"), real_between(0, 0.95));
        visit("load_block", self.load_block, "Bytes that they move at once; what comes meanwhile waits", assumed("64 KiB: an element of a DMA queue of their own"),
              between(data_size(64), data_size(16 << 20)));
    }
};

struct trainium_dma_config : dma_config {
    std::uint32_t engines = 128;
    std::uint32_t engines_per_queue = 16;
    bandwidth engine_rate = bandwidth(184'000'000'000);
    duration start = duration(1'300'000);
    duration wake = duration(1'300'000);
    data_size element = data_size(64 << 10);
    data_size element_overhead = data_size(350);

    trainium_dma_config()
    {
        queues = 16;
        read_ahead = 32;
        ring_entries = 128;
        receive_buffer = data_size(128 << 10);
    }
    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        static constexpr std::pair<const char*, value_source> k_sources[] = {
            {"queues", quoted("16 rings of an engine, AWS Neuron documentation; here one for all engines of a core, among which the runtime parts a transfer")},
            {"ring_entries", assumed("a collective is posted ahead")},
            {"read_ahead", assumed("covers hbm.latency at neuronlink.port_rate, 25 packets of 2 KiB")},
        };
        with_sources sourced(visit, k_sources);
        dma_config::fields(self, sourced);
        visit("engines", self.engines, "Of a chip; ranks have equal parts", quoted("128 of Trn2, AWS Neuron documentation"), between(1, 1024));
        visit("engines_per_queue", self.engines_per_queue, "Engines among which what one queue transfers is parted", quoted("16 of a core, AWS Neuron documentation"),
              between(1, 64));
        visit("engine_rate", self.engine_rate, "What an engine moves; a transfer counts once for each source, or destination where there are more",
              quoted("practical 23 GB/s of Trn2; sums run at half of the rate of copies: AWS Neuron documentation"),
              between(bandwidth(1'000'000'000), bandwidth(10'000'000'000'000)));
        visit("start", self.start, "From a doorbell to the fetch of descriptors", quoted("1300 ns to start a DMA, AWS Neuron documentation"),
              at_most(duration(1'000'000'000)));
        visit("wake", self.wake, "From a semaphore to the first read of a descriptor that is on chip and waited for it",
              quoted("about 1300 ns from semaphore to start, AWS Neuron documentation"), at_most(duration(1'000'000'000)));
        visit("element", self.element, "Most bytes of one 16-byte descriptor", quoted("64 KiB, AWS Neuron documentation"),
              between(data_size(512), data_size(1 << 20)));
        visit("element_overhead", self.element_overhead, "Bytes that an element takes of an engine besides its own",
              calibrated("efficiency s / (s + 350 B), through the points of the AWS Neuron documentation"), at_most(data_size(1 << 20)));
    }
    dma_engine_timing timing(std::uint32_t ranks) const
    {
        dma_engine_timing t;
        t.start = start;
        t.wake = wake;
        const std::uint32_t of_rank = std::max(1u, engines / std::max(1u, ranks));
        t.spread = std::min(engines_per_queue, of_rank);
        t.queue_rate = bandwidth(engine_rate.value() * t.spread);
        t.rate = bandwidth(engine_rate.value() * of_rank);
        t.element = element;
        t.element_overhead = element_overhead;
        return t;
    }
};

struct trainium_chip_config : chip_sections<trainium_core_config, trainium_bus_config, trainium_memory_config, trainium_dma_config> {
    std::uint32_t ranks = 4;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("ranks", self.ranks, "Ranks of a chip, among which its HBM and DMA engines are parted", quoted("4: LNC=2 of 8 NeuronCores, AWS Neuron documentation"),
              between(1, 8).because(": one, or an even number, half of them on each half of the chip"));
        chip_sections::fields(self, visit, "DMA engines", "hbm", "HBM of a chip");
    }
    std::vector<config_problem> validate() const { return chip().validate(); }
    /// Of a rank.
    chip_config chip() const
    {
        constexpr std::uint64_t page = 64 << 10;
        const std::uint32_t parts = std::max(1u, ranks);
        chip_config c = *this;
        c.hbm.capacity = data_size(hbm.capacity.value() / parts / page * page);
        c.hbm.rate = bandwidth(hbm.rate.value() / parts);
        c.dma.engine = dma.timing(parts);
        return c;
    }
};

struct trainium_config {
    static constexpr const char* k_platform = "trainium";
    static constexpr std::uint32_t k_algorithm_traits = abi::traits::on_devices; ///< beside algorithms of any machine
    run_config run;
    trainium_node_config node;
    neuronlink_config neuronlink;
    trainium_chip_config chip;
    trainium_faults_config faults;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        run_config::fields(self.run, visit);
        visit("node", self.node, "Chips", k_user_choice);
        visit("neuronlink", self.neuronlink, "Links between chips, and the fabric on a chip", k_user_choice);
        visit("chip", self.chip, "One chip", k_user_choice);
        visit("faults", self.faults, "What is broken", k_user_choice);
    }
    std::vector<config_problem> validate() const;
    static std::vector<key_rule<trainium_config>> key_rules();

    neuronlink_shape shape() const { return {{node.cols, node.rows, node.nodes}, chip.ranks, neuronlink.ports}; }
    std::uint32_t ranks() const { return shape().chips() * chip.ranks; }
    abi::platform_table rank_table(std::uint32_t rank) const;
    train_choice trains() const;
    chip_config control_chip() const { return chip.chip(); }
    duration hop_latency(std::uint32_t dimension) const;
    double payload_share() const; ///< of a wire, in full packets
    std::uint64_t control_cores() const { return ranks(); }
    std::vector<neuronlink_link> known_down() const; ///< what routing goes around
    std::uint32_t chip_of(const trainium_link_fault& f) const { return (f.node * node.rows + f.row) * node.cols + f.col; }
    workload_limits limits() const; ///< of collectives

private:
    void check_faults(std::vector<config_problem>& problems) const;
    void check_buffers(std::vector<config_problem>& problems) const;
    workload_limits limits_of_any() const; ///< where the machine is not sound
    std::string refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const;
};

/// Order X, Y, Z, and a tree around links that have failed; or the tables of `routing: FILE`.
struct trainium_routing final : planned_routing {
    explicit trainium_routing(const trainium_config& config);
    std::string problem() const override;

private:
    std::string unreachable_;
};

class trainium_machine final : public standing_machine {
public:
    trainium_machine(const trainium_config& config, const trainium_routing& routing, const core_fitter& fit);
    std::string chip_name(std::uint32_t rank) const override { return shape_.rank_name(rank); }
    std::string node_name(std::uint32_t rank) const override
    {
        return fabric_.engine().router_name(2 * (rank / shape_.ranks) + shape_.half_of_rank(rank % shape_.ranks));
    }

private:
    void let_read_each_other(const trainium_config& config);

    neuronlink_shape shape_;
    std::vector<std::unique_ptr<shared_wires>> wires_; ///< of each half, for what is read from it by the other one
    std::vector<std::unique_ptr<memory_path>> paths_;
    plan_fabric fabric_;
};

extern const platform_info k_trainium_info;

} // namespace weft
