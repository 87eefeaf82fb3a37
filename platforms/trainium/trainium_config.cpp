// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the YAML of a Trainium node means: checks that need more than one section, the description of `weft check`,
// reading.
#include "firmware/collectives/supports.h"
#include "platforms/machine/configured_platform.h"
#include "platforms/machine/machine_checks.h"
#include "platforms/machine/workload_checks.h"
#include "firmware/collectives/device_map.h"
#include "platforms/trainium/trainium.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
/// Every rank has a thread of its own on the host.
constexpr std::uint32_t k_most_ranks = 4096;
/// Entries of a ring that takes every descriptor.
constexpr std::uint32_t k_least_ring = 16;
static_assert(k_least_ring >= 1 + abi::k_most_element_entries, "a descriptor comes into its ring whole or not at all");
} // namespace

std::vector<key_rule<trainium_config>> trainium_config::key_rules()
{
    using config = trainium_config;
    std::vector<key_rule<config>> rules;
    add_run_rules(rules);
    rules.push_back({"chip.core.clock_read", "where firmware reads the clock (switchml)", [](const config&) { return false; }});
    const auto several = [](const config& c) { return c.node.nodes > 1; };
    rules.push_back({"neuronlink.node_link_rate", "with several nodes", several});
    rules.push_back({"neuronlink.node_propagation", "with several nodes", several});
    rules.push_back({"chip.hbm.load_block", "with chip.hbm.load", [](const config& c) { return c.chip.hbm.load > 0; }});
    return rules;
}

std::vector<neuronlink_link> trainium_config::known_down() const
{
    std::vector<neuronlink_link> down;
    for (const trainium_link_fault& f : faults.links_down)
        if (f.known_to_routing())
            down.push_back({chip_of(f), f.axis(), f.up()});
    return down;
}

abi::platform_table trainium_config::rank_table(std::uint32_t rank) const
{
    const neuronlink_shape s = shape();
    const packet_format f = neuronlink.format();
    const std::uint64_t payload = f.max_payload_bytes, wire = f.wire_bytes_of_one(payload);
    abi::platform_table t;
    t.rank = rank;
    t.ranks = ranks();
    const auto add = [&](std::uint32_t size, std::uint32_t coordinate, abi::dimension_kind kind, std::uint64_t bits_per_second, std::uint64_t sharers) {
        t.dims[t.dim_count] = size;
        t.coord[t.dim_count] = coordinate;
        t.kind[t.dim_count] = kind;
        t.rate_mbps[t.dim_count++] = abi::mbps_of(bits_per_second, payload, wire * sharers);
    };
    const std::uint32_t at = rank / s.ranks;
    for (std::uint32_t axis = s.axes(); axis-- > 0;) {
        const std::uint64_t rate = (axis == 2 ? neuronlink.node_link_rate : neuronlink.link_rate).value();
        if (s.is_ring(axis))
            add(s.size[axis], s.coordinate(at, axis), abi::dimension_kind::ring, 2 * rate, s.ranks);
        else
            add(s.size[axis], s.coordinate(at, axis), s.size[axis] <= 2 ? abi::dimension_kind::full : abi::dimension_kind::line, rate, s.ranks);
    }
    add(s.ranks, rank % s.ranks, abi::dimension_kind::full, neuronlink.port_rate.value() * neuronlink.ports, 1);
    t.device_ranks = t.device_members = static_cast<std::uint8_t>(s.ranks);
    return t;
}

double trainium_config::payload_share() const
{
    const packet_format f = neuronlink.format();
    return f.max_payload_bytes / static_cast<double>(f.wire_bytes_of_one(f.max_payload_bytes));
}

duration trainium_config::hop_latency(std::uint32_t dimension) const
{
    // The last dimension, inside a chip, wraps around to no axis.
    const std::uint32_t axis = shape().axes() - 1 - dimension;
    const duration wire = axis == 2 ? neuronlink.node_propagation : axis < 2 ? neuronlink.propagation : duration(0);
    return duration(wire.value() + 2 * neuronlink.router_latency.value());
}

train_choice trainium_config::trains() const
{
    train_limits limits;
    limits.packet_payload = static_cast<std::uint32_t>(neuronlink.max_payload.value());
    limits.sides = {ranks()};
    limits.hops = dma_hops(chip.dma, chip.hbm, neuronlink.format(), neuronlink.format().packet_ps(neuronlink.link_rate), neuronlink.link_rate, 1, "chip", "chip.hbm");
    limits.single = "the memory of a rank sets the pace, which trains do not share as packets do";
    limits.no_bound = "nobody has measured trains on this platform";
    return choose_trains(run.burst, std::move(limits));
}

std::string trainium_config::refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const
{
    const char* why = "";
    const abi::platform_table table = rank_table(0);
    if (firmware::supports(op, algo, table, transposed, &why)) {
        if (chip.dma.ring_entries >= k_least_ring || (abi::k_algorithm_rows[static_cast<unsigned>(algo)].traits & abi::traits::on_devices) == 0)
            return {};
        return fmt::format("{} needs chip.dma.ring_entries of {} at least: a descriptor with its elements takes up to {}.", name_of(algo), k_least_ring,
                           1 + abi::k_most_element_entries);
    }
    const bool has_device_algorithms = op == abi::collective_op::all_reduce || op == abi::collective_op::reduce_scatter || op == abi::collective_op::all_gather;
    return fmt::format("{} by {} cannot run on {} x {} chips of {} ranks: {}.{}", name_of(op), name_of(algo), node.nodes * node.rows, node.cols, chip.ranks, why,
                       has_device_algorithms ? " What runs here: device_mesh, device_ring and others of AWS Neuron (`weft list`); auto chooses." : "");
}

workload_limits trainium_config::limits_of_any() const
{
    abi::platform_table any;
    any.device_ranks = any.device_members = 1;
    workload_limits g = limits_without_machine(any, false);
    g.machine = "this machine";
    g.memory = "HBM per rank";
    set_room(g, chip.chip(), "chip.hbm");
    return g;
}

workload_limits trainium_config::limits() const
{
    workload_limits g = limits_of_any();
    g.ranks = ranks();
    g.refusal = [this](abi::collective_op op, abi::algorithm algo, bool transposed) { return refusal_of(op, algo, transposed); };
    g.rank_table = [this](std::uint32_t rank) { return rank_table(rank); };
    return g;
}

std::vector<config_problem> trainium_config::validate() const
{
    std::vector<config_problem> p = run.validate();
    const auto unsound = [&] {
        check_workload(run, limits_of_any(), p);
        return p;
    };
    if (!limit_problems(node).empty() || !limit_problems(chip).empty())
        return unsound();
    const auto refuse = [&](const char* key, std::string text) { p.push_back({severity::error, key, std::move(text)}); };
    if (chip.ranks > 1 && chip.ranks % 2 != 0)
        refuse("chip.ranks", fmt::format("is {}, but a chip has two halves with as many ranks on each: 1, 2, 4, 6 or 8.", chip.ranks));
    if (ranks() < 2)
        refuse("node", "has one rank, but a collective needs at least two.");
    if (ranks() > k_most_ranks)
        refuse("node", fmt::format("has {} ranks, must be at most {}: every rank runs its firmware in a thread of its own.", ranks(), k_most_ranks));
    if (!no_errors(p))
        return unsound();
    check_faults(p);
    if (!no_errors(p) || !limit_problems(neuronlink).empty() || !no_errors(chip.validate()))
        return unsound();
    check_buffers(p);
    if (chip.dma.engines % chip.ranks != 0)
        p.push_back({severity::warning, "chip.dma.engines",
                     fmt::format("is {}, which {} ranks cannot share in equal parts: each has {}.", chip.dma.engines, chip.ranks,
                                 std::max(1u, chip.dma.engines / chip.ranks))});
    check_stacks(chip.chip(), ranks(), "ranks", "chip", p);
    check_workload(run, limits(), p);
    check_burst(run, trains(), p);
    return p;
}

void trainium_config::check_faults(std::vector<config_problem>& p) const
{
    const neuronlink_shape s = shape();
    const std::vector<trainium_link_fault>& all = faults.links_down;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const trainium_link_fault& f = all[i];
        const std::string key = fmt::format("faults.links_down.{}", i);
        bool exists = true;
        const auto inside = [&](const char* name, std::uint32_t value, std::uint32_t size) {
            if (value >= size)
                p.push_back({severity::error, fmt::format("{}.{}", key, name), fmt::format("is {}, but there are {}s 0 to {}.", value, name, size - 1)});
            exists = exists && value < size;
        };
        inside("node", f.node, node.nodes);
        inside("row", f.row, node.rows);
        inside("col", f.col, node.cols);
        if (!exists)
            continue;
        if (!s.has_link(chip_of(f), f.axis(), f.up()))
            p.push_back({severity::error, key,
                         fmt::format("names a link that does not exist: none leaves {} toward {}.",
                                     s.chip_name(chip_of(f)), name_of(f.direction))});
    }
    const auto same = [&](const trainium_link_fault& f, const trainium_link_fault& g) {
        return chip_of(g) == chip_of(f) && g.direction == f.direction;
    };
    check_outages(all, "faults.links_down", same, run, p);
}

void trainium_config::check_buffers(std::vector<config_problem>& p) const
{
    const packet_format f = neuronlink.format();
    check_receive_buffer(chip.chip(), f, "chip", p);
    check_holds_packet(f, "neuronlink.port_buffer", neuronlink.port_buffer, p);
    const auto check_rate = [&](const char* key, bandwidth rate, duration wire) {
        check_link_buffer(f, "neuronlink.buffer_per_vl", neuronlink.buffer_per_vl, key, rate, wire, neuronlink.router_latency, p);
    };
    const std::uint64_t wire = f.wire_bytes_of_one(f.max_payload_bytes);
    check_packet_time("neuronlink.link_rate", neuronlink.link_rate, wire, p);
    check_packet_time("neuronlink.half_rate", neuronlink.half_rate, wire, p);
    check_packet_time("neuronlink.port_rate", neuronlink.port_rate, wire, p);
    if (node.nodes > 1)
        check_packet_time("neuronlink.node_link_rate", neuronlink.node_link_rate, wire, p);
    check_rate("link_rate", neuronlink.link_rate, neuronlink.propagation);
    if (chip.ranks > 1)
        check_rate("half_rate", neuronlink.half_rate, duration(0)); // no wire between the halves
}

namespace {

class configured_trainium final : public configured_platform<trainium_config, trainium_routing> {
public:
    using configured_platform::configured_platform;
    std::unique_ptr<machine> build(const core_fitter& fit) const override
    {
        routing().require_usable();
        return std::make_unique<trainium_machine>(config_, routing(), fit);
    }
    void find_problems(const yaml_document& document, std::vector<problem>& problems) override
    {
        if (!config_.run.routing.empty() || config_.faults.links_down.empty())
            return;
        refuse_faults(document, problems, "faults");
    }
    /// What a rank can send tells nothing of a process group here: others of its device read its memory and send for
    /// it.
    bandwidth links_rate() const override { return bandwidth(0); }
    bandwidth ports_rate() const override
    {
        const packet_format f = config_.neuronlink.format();
        return bandwidth(config_.neuronlink.ports * config_.neuronlink.port_rate.value() / f.wire_bytes_of_one(f.max_payload_bytes) * f.max_payload_bytes);
    }
    void add_costs(message_costs& costs) const override
    {
        set_ports(costs, config_.control_chip(), config_.neuronlink.ports, config_.neuronlink.port_rate, config_.neuronlink.format());
        costs.engine_rate = std::min(costs.engine_rate, costs.ports_rate);
        leave_out_unknown_links(config_.faults.links_down, costs);
        costs.irregular_routes = !config_.faults.links_down.empty() || !config_.run.routing.empty();
    }
    std::vector<published_range> published_ranges(const abi::platform_table& group) const override
    {
        static constexpr const char* k_source = "AWS Neuron documentation, table of algorithms";
        static constexpr const char* k_simulated = "simulations of nodes where rdh cannot run";
        constexpr std::uint64_t mb = 1'000'000, all = ~std::uint64_t{0};
        // Where rdh cannot run, the table has no line. Simulated there, Mesh is as fast as KangaRing at 3.3 MB (3x2
        // chips) to 6 MB (3x3, 5x4), with two ranks a chip as Ring at 1.6 MB (3x2): averages of these.
        const std::uint64_t mesh_ends = config_.chip.ranks < 4 ? 1'600'000 : 4 * mb;
        std::vector<published_range> ranges{{abi::algorithm::device_mesh, 0, mb - 1, k_source},
                                            {abi::algorithm::rdh, mb, 56 * mb, k_source},
                                            {abi::algorithm::device_mesh, mb, mesh_ends, k_simulated},
                                            {abi::algorithm::kangaring, mb, all, k_source},
                                            {abi::algorithm::device_ring, mb, all, k_source}};
        // The table is of chips with four ranks. With two, primaries of all pairs send by one half of the chip:
        // Ring is faster.
        if (config_.chip.ranks < 4) {
            std::swap(ranges[3], ranges[4]);
            ranges[3].source = "simulations of chips with two ranks";
        }
        // The table is of a square torus, with two cycles for rings. Simulated on 2x2, 4x2 and 4x4x4 chips and half of
        // a 4x4 node, with one cycle: RDH is the fastest from 1 MB on. Where a ring is longer than four, its axes are
        // no links: KangaRing passes RDH at 2 MB (8 and 16 chips in a ring) and 5.5 MB (8x2).
        const firmware::device_map map(group);
        if (firmware::device_cycles(map).count() < 2) {
            const bool axes_are_links = std::all_of(map.size, map.size + map.dims, [](std::uint32_t n) { return n <= 4; });
            ranges[1].to_bytes = axes_are_links ? all : (map.dims < 2 ? 2 : 5) * mb;
            ranges[1].source = "simulations of nodes that are no square torus";
            if (map.dims > 2) { // 4x4x4: of 2 MiB 71 us by Mesh and 95 by RDH, of 4 MiB 127 and 98
                ranges[0].to_bytes = 3 * mb - 1;
                ranges[0].source = ranges[1].source;
                ranges[1].from_bytes = 3 * mb;
            }
        }
        // The document has two forms of Mesh, and no size where one gives way to the other. Simulated on chips with up
        // to 4 ranks, groups of 2 to 256 ranks: the one step is up to 1.7 times as fast below 96 KiB over the ranks.
        if (config_.chip.ranks <= 4 && group.ranks > 1)
            ranges.insert(ranges.begin(), {abi::algorithm::device_mesh_one_step, 0, (96 << 10) / group.ranks, "simulations of Mesh in one step and in two",
                                           abi::operations::of(abi::collective_op::all_reduce)});
        return ranges;
    }
    std::string description() const override
    {
        const trainium_node_config& n = config_.node;
        const neuronlink_config& l = config_.neuronlink;
        const chip_config chip = config_.control_chip();
        std::string text = fmt::format("Trainium  {} node{} of {} x {} chips with {} ranks each, {} ranks\n", n.nodes, n.nodes == 1 ? "" : "s", n.rows, n.cols,
                                       config_.chip.ranks, config_.ranks());
        const packet_format f = l.format();
        const std::uint64_t wire = f.wire_bytes_of_one(f.max_payload_bytes);
        text += fmt::format("Links     {} between chips{}, of which packets of {} leave {:.1f} % to payload; {} VLs with a buffer of {} each\n", to_string(l.link_rate),
                            n.nodes > 1 ? fmt::format(", {} between nodes", to_string(l.node_link_rate)) : "", to_string(l.max_payload),
                            100.0 * f.max_payload_bytes / static_cast<double>(wire), neuronlink_vls(config_.shape(), !config_.known_down().empty()),
                            to_string(l.buffer_per_vl));
        text += fmt::format("On chip   two halves joined by {}, {} ports of {} between a rank and its half\n", to_string(l.half_rate), l.ports, to_string(l.port_rate));
        text += fmt::format("Ranks     HBM of {} at {}, {} DMA queues of {} each, {} together\n", to_string(chip.hbm.capacity), to_string(chip.hbm.rate),
                            chip.dma.queues, to_string(chip.dma.engine.queue_rate), to_string(chip.dma.engine.rate));
        if (!config_.faults.links_down.empty())
            text += fmt::format("Faults    {} link{} down, of which routing knows {}\n", config_.faults.links_down.size(),
                                config_.faults.links_down.size() == 1 ? "" : "s", config_.known_down().size());
        return text;
    }
};

/// `rows` chips in a row, each of `cols` ranks. Small rings, so that descriptors go round and rings fill up.
firmware_bench_machine bench_node(std::uint32_t rows, std::uint32_t cols, std::uint32_t)
{
    firmware_bench_machine m;
    m.words = fmt::format("{} chip{} of {} rank{} of Trainium", rows, rows == 1 ? "" : "s", cols, cols == 1 ? "" : "s");
    m.file = fmt::format("platform: trainium\nname: firmware_test\nnode: {{rows: 1, cols: {}}}\nchip: {{ranks: {}, dma: {{ring_entries: 16}}}}\nworkload:\n"
                         "- {{op: all_reduce, algorithms: [{}], sizes: [512 B, 4096 B]}}\n"
                         "- {{op: all_reduce, algorithms: [device_mesh_one_step{}], sizes: [512 B]}}\n"
                         "- {{op: reduce_scatter, algorithms: [device_mesh], sizes: [2048 B]}}\n"
                         "- {{op: broadcast, algorithms: [device_tree], sizes: [1024 B]}}\n"
                         "- {{op: reduce, algorithms: [device_tree], sizes: [1024 B]}}\n"
                         "- {{op: all_to_all, algorithms: [direct], sizes: [1024 B], chunk: 1024 B}}\n",
                         rows, cols, cols > 1 ? "kangaring, device_ring" : "device_ring", (rows & (rows - 1)) == 0 ? ", rdh" : "");
    m.core = "chip.core";
    m.engines_go_on = true;
    if (rows > 1)
        m.links = {{"chip(0,1).-X", "faults.links_down=[{row: 0, col: 1, direction: -X, at: {}}]"}};
    return m;
}
constexpr firmware_bench_source k_firmware_bench = {2, 2, bench_node};

platform_info make_info()
{
    platform_info info = info_of<configured_trainium>(
        "AWS Trainium: nodes of chips with several ranks on a NeuronLink torus, DMA engines that sum, duplicate and wait");
    info.firmware_bench = &k_firmware_bench;
    return info;
}

} // namespace

const platform_info k_trainium_info = make_info();

} // namespace weft
