// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a SwitchML platform file may say, and the tables that follow from it.
#include "firmware/collectives/supports.h"
#include "firmware/switchml/switchml_job.h"
#include "hw/ethernet/ethernet_format.h"
#include "hw/routing/channel_dependency.h"
#include "hw/routing/star.h"
#include "platforms/machine/machine_checks.h"
#include "platforms/machine/workload_checks.h"
#include "platforms/switchml/aggregators.h"
#include "platforms/switchml/sum_costs.h"
#include "platforms/switchml/switchml.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace weft {

namespace {

constexpr bool is_power_of_two(std::uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

std::uint32_t next_power_of_two(std::uint32_t v)
{
    std::uint32_t p = 1;
    while (p < v)
        p *= 2;
    return p;
}

constexpr std::uint64_t k_pipe_bps = 1'600'000'000'000;

bool summed_by_switch(abi::element_type t) { return t == abi::element_type::int32 || t == abi::element_type::float32; }
std::string type_refusal(abi::element_type t)
{
    return fmt::format("{} cannot be summed in the switch: int32 and float32 can.", name_of(t));
}

} // namespace

std::vector<config_problem> switchml_network_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    lossless_star_config star;
    star.buffer = lossless_buffer;
    for (config_problem problem : star.validate()) {
        problem.key = "lossless_buffer";
        p.push_back(problem);
    }
    return p;
}

std::vector<config_problem> switchml_switch_config::validate() const
{
    std::vector<config_problem> p = chip.validate();
    if (!waves.empty() && aggregator == aggregator_kind::model)
        p.push_back({severity::error, "waves", "needs aggregator: rtl or lockstep; the C++ model has no signals."});
    return p;
}

std::vector<config_problem> switchml_job_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    const auto refuse = [&](const char* key, std::string text) {
        p.push_back({severity::error, key, std::move(text)});
    };
    if (jobs > 1 && transport == abi::switchml::transport::rdma)
        refuse("jobs", fmt::format("is {}, but frames of RDMA carry no job number: one job, or transport: udp.", jobs));
    return p;
}

server_core_config::server_core_config()
{
    clock = frequency(2'200'000'000);
    cpi = 0.5;
    mmio_overhead = cycle_count(4);
    irq_wake = cycle_count(200);
}

std::vector<config_problem> server_core_config::validate() const
{
    std::vector<config_problem> p = core_config::validate();
    if (model == core_model::rv64 && instruction_set != abi::instruction_set::rv64gc)
        p.push_back({severity::error, "instruction_set",
                     fmt::format("is {}, but an rv64 core executes RISC-V instructions and is charged those; write "
                                 "instruction_set: rv64gc, or model: native.",
                                 name_of(instruction_set))});
    return p;
}

server_memory_config::server_memory_config()
{
    name = "Memory";
    capacity = data_size(8ull << 30);
    rate = bandwidth(1'600'000'000'000);
    latency = duration(20'000);
}

std::vector<config_problem> switchml_worker_config::validate() const
{
    std::vector<config_problem> p = chip().validate();
    for (config_problem& found : limit_problems(*this))
        p.push_back(std::move(found));
    if (nic.queues < cores)
        p.push_back({severity::error, "nic.queues",
                     fmt::format("is {}, but each of {} cores needs a queue of its own.", nic.queues, cores)});
    return p;
}

train_choice switchml_config::trains() const
{
    const lossless_star_config s = star();
    const packet_format format = s.format();
    const std::uint64_t wire_bytes = format.wire_bytes_of_one(format.max_payload_bytes);
    const std::uint64_t wire_ps = wire_rate(s.rate).time_ps(wire_bytes);
    const std::uint64_t local_ps = wire_rate(bandwidth(2 * s.rate.value())).time_ps(wire_bytes);
    const std::uint64_t depth = s.buffer.value() / format.cells_of_one(format.max_payload_bytes);
    const std::uint64_t nic_ps = s.nic_latency.value();
    // A cable leads into a NIC or the switch.
    const std::uint64_t either_ps = std::max(nic_ps, s.switch_latency.value());
    const std::string buffer = fmt::format("network.lossless_buffer = {}", to_string(network.lossless_buffer));
    train_limits limits;
    limits.packet_payload = static_cast<std::uint32_t>(format.max_payload_bytes);
    limits.sides = {workers};
    limits.packet_ps = wire_ps;
    limits.message_ps = message_ps_of(worker.chip());
    limits.hops = dma_hops(worker.dma, worker.hbm, format, wire_ps, s.rate, 1, "worker", "worker.memory");
    limits.hops.push_back({buffer + " behind a NIC", depth, local_ps, wire_ps, 8, 8, 1, nic_ps + wire_ps});
    limits.hops.push_back({buffer, depth, wire_ps, local_ps, 8, 8, 1, 2 * s.propagation.value() + either_ps + wire_ps});
    limits.hops.push_back(longest_on_a_wire(wire_ps, wire_bytes));
    limits.single = memory_sets_the_pace(worker.hbm.rate, s.rate, "worker.memory.rate");
    constexpr std::uint64_t k_deep_buffer = 1 << 20; // calibrated: with 2 MiB 0.8 % off, with 4 MiB 3.6 and 18 %
    if (std::string why = no_train_bound(run); !why.empty())
        limits.no_bound = std::move(why);
    else if (s.buffer.value() > k_deep_buffer)
        limits.no_bound = "network.lossless_buffer is above 1 MiB: behind a NIC one message stands in front of others for long";
    return choose_trains(run.burst, std::move(limits));
}

lossless_star_config switchml_config::star() const
{
    lossless_star_config s;
    s.rate = network.rate;
    s.propagation = network.cable.propagation;
    s.switch_latency = tofino.chip.first_pass_latency;
    s.nic_latency = network.nic_latency;
    s.buffer = network.lossless_buffer;
    return s;
}

double switchml_config::payload_share() const
{
    const auto full = static_cast<double>(star().max_payload.value());
    return full / (full + lossless_star_config::k_header_bytes);
}

duration switchml_config::hop_latency(std::uint32_t) const
{
    const lossless_star_config s = star();
    return s.nic_latency + s.propagation + s.switch_latency + s.propagation + s.nic_latency;
}

ethernet_link_config switchml_config::cable() const
{
    ethernet_link_config cable = network.cable;
    cable.seed += run.seed;
    return cable;
}

tofino_config switchml_config::switch_chip(std::uint32_t ports) const
{
    tofino_config chip = tofino.chip;
    chip.ports = ports;
    chip.port_rate = network.rate;
    chip.drop_seed += run.seed;
    return chip;
}

abi::platform_table switchml_config::rank_table(std::uint32_t rank) const
{
    abi::platform_table t;
    t.rank = rank;
    t.ranks = machines();
    t.dim_count = 1;
    t.dims[0] = machines();
    t.coord[0] = rank;
    t.packet_cores = static_cast<std::uint16_t>(worker.cores);
    t.servers = servers;
    const lossless_star_config s = star();
    const std::uint64_t full = s.max_payload.value();
    t.rate_mbps[0] = abi::mbps_of(s.rate.value(), full, full + lossless_star_config::k_header_bytes);
    t.kind[0] = abi::dimension_kind::switched; // the switch brings everybody one hop from everybody
    return t;
}

abi::switchml::table switchml_config::table(std::uint32_t rank, std::uint32_t core) const
{
    abi::switchml::table t;
    const std::uint32_t number = rank / workers_per_job();
    t.core = core;
    t.cores = worker.cores;
    t.worker = rank % workers_per_job();
    t.workers = workers_per_job();
    if (!tree.empty()) // its place below its own switch
        t.worker = rank % tree.back();
    t.job = number;
    t.protocol = job.transport;
    t.first_slot = job.first_slot + number * job.slots;
    t.slots = job.slots;
    t.elements_per_packet = job.elements_per_packet;
    t.packets_per_message = job.packets_per_message;
    t.nic_queues = worker.cores;
    t.nic_ring_entries = std::max(64u, next_power_of_two(2 * std::min(job.slots / worker.cores, 512u)));
    t.timeout_ns = job.timeout.value() / 1000;
    t.backoff_after = job.backoff_after;
    t.packet_batch = static_cast<std::uint32_t>(worker.packet_batch.value());
    t.transmit_hold_ns = static_cast<std::uint32_t>(worker.transmit_hold.value() / 1000);
    t.nic_base = abi::k_nic_base;
    t.own_mac = worker_mac(rank);
    t.own_ip = worker_ip(rank);
    const tofino_config plain;
    const std::uint32_t leaf = tree.empty() ? 0 : leaf_of(rank);
    t.switch_mac = tree.empty() ? plain.mac : switch_mac(leaf);
    t.switch_ip = tree.empty() ? plain.ip : switch_ip(leaf);
    t.nic_area = abi::k_hbm_base + worker.chip().buffer_bytes() - firmware::nic_area_bytes(t) / 4096 * 4096 - 4096;
    return t;
}

std::uint64_t switchml_config::nic_area_offset() const { return table(0, 0).nic_area - abi::k_hbm_base; }

/// Switches are numbered depth first.
std::uint32_t switchml_config::leaf_of(std::uint32_t rank) const
{
    std::vector<std::uint32_t> switches(tree.size(), 1); // of a subtree whose top is in that level
    for (std::size_t l = tree.size() - 1; l-- > 0;)
        switches[l] = 1 + tree[l] * switches[l + 1];
    std::uint32_t below = workers;
    std::uint32_t at = 0;
    for (std::size_t l = 0; l + 1 < tree.size(); ++l) {
        below /= tree[l];
        at += 1 + rank / below * switches[l + 1];
        rank %= below;
    }
    return at;
}

std::uint32_t switchml_config::most_workers_of_a_node() const
{
    return std::min(tofino.chip.ports_per_pipe,
                    job.elements_per_packet == 256 ? k_wide_packet_workers : k_max_aggregation_workers);
}

std::vector<switchml_config::node> switchml_config::nodes() const
{
    const std::uint32_t pipe = tofino.chip.ports_per_pipe;
    const std::uint32_t used = job.elements_per_packet == 256 ? std::min(pipe, k_wide_packet_workers) : pipe;
    const std::uint32_t n = workers_per_job();
    std::vector<node> all;
    std::uint32_t port = 0;
    for (std::uint32_t first = 0; first < workers; first += n)
        for (std::uint32_t w = 0; w < n; w += all.back().workers) {
            const std::uint32_t here = std::min(most_workers_of_a_node(), n - w);
            if (port % pipe + here > used)
                port = (port / pipe + 1) * pipe;
            all.push_back({first + w, here, port});
            port += here;
        }
    return all;
}

std::uint32_t switchml_config::ports_of(const std::vector<node>& nodes)
{
    return nodes.back().first_port + nodes.back().workers;
}

switchml_config switchml_config::in_force() const
{
    switchml_config c = *this;
    c.worker.nic.rate = c.tofino.chip.port_rate = network.rate;
    return c;
}

switchml_switch_config switchml_config::switch_in_use() const
{
    switchml_switch_config used = tofino;
    if (!runs_any(run, abi::by_switch) && runs_any(run, [](abi::algorithm) { return true; })) {
        used.aggregator = aggregator_kind::model;
        used.waves.clear();
    }
    return used;
}

bool switchml_config::cables_draw() const
{
    return network.cable.impairments.any() ||
           std::any_of(faults.cables.begin(), faults.cables.end(), [](const auto& f) { return f.impairments.any(); });
}

bool switchml_config::draws() const
{
    return runs_any(run, abi::by_switch) && (cables_draw() || tofino.chip.drops());
}

std::vector<key_rule<switchml_config>> switchml_config::key_rules()
{
    using config = switchml_config;
    static const auto by_switch = [](const config& c) { return may_run(c.run, abi::by_switch); };
    static const auto recovering = [](const config& c) { return may_run(c.run, [](abi::algorithm a) { return a == abi::algorithm::switchml; }); };
    static const auto over_star = [](const config& c) { return may_run(c.run, [](abi::algorithm a) { return !abi::by_switch(a); }); };
    std::vector<key_rule<config>> rules;
    add_run_rules(rules);
    add_no_mesh_rules(rules);
    const auto rule = [&](const char* key, const char* only, bool (*applies)(const config&)) {
        rules.push_back({key, only, applies});
    };
    for (const char* key : {"burst", "network.lossless_buffer", "network.nic_latency", "worker.dma"})
        rule(key, "for algorithms over the lossless network, and auto", [](const config& c) { return over_star(c); });
    for (const char* key :
         {"network.cable.impairments", "network.cable.outages", "switch.aggregator", "switch.waves", "switch.egress_queue",
          "switch.ingress_latency", "switch.pass_latency", "switch.recirculation_rate", "switch.recirculation_queue",
          "switch.register_depth", "switch.stale_filter", "switch.ingress_drop", "switch.egress_drop", "switch.ports",
          "switch.ports_per_pipe", "job", "worker.nic.prefetch", "worker.nic.read_ahead", "worker.nic.host_latency", "tree", "faults"})
        rule(key, "for algorithms by the switch, and auto", [](const config& c) { return by_switch(c); });
    static const auto by_servers = [](const config& c) {
        return runs_any(c.run, [](abi::algorithm a) { return a == abi::algorithm::parameter_server; });
    };
    static const auto over_udp = [](const config& c) {
        return by_switch(c) && c.job.transport == abi::switchml::transport::udp;
    };
    // A core of a server probes its queue.
    for (const char* key : {"worker.cores", "worker.core.instruction_set", "worker.nic"})
        rule(key, "for algorithms by the switch or by parameter servers, and auto",
             [](const config& c) { return by_switch(c) || by_servers(c); });
    for (const char* key : {"worker.packet_batch", "worker.transmit_hold"})
        rule(key, "for algorithms by the switch over udp, and auto", [](const config& c) { return over_udp(c); });
    rule("network.cable.seed", "with impairments", [](const config& c) { return by_switch(c) && c.cables_draw(); });
    rule("switch.drop_seed", "with ingress_drop or egress_drop", [](const config& c) {
        return by_switch(c) && c.tofino.chip.drops();
    });
    rule("job.packets_per_message", "with transport: rdma",
         [](const config& c) { return c.job.transport == abi::switchml::transport::rdma; });
    rule("worker.nic.queue_pairs", "with job.transport: rdma",
         [](const config& c) { return c.job.transport == abi::switchml::transport::rdma; });
    for (const char* key : {"job.timeout", "job.backoff_after"})
        rule(key, "with the algorithm switchml, which sends again what is lost, and auto", [](const config& c) { return recovering(c); });
    rule("worker.core.clock_read", "with the algorithm switchml, and auto", [](const config& c) { return recovering(c); });
    rule("worker.nic.rate", "as network.rate, the rate of every port",
         [](const config& c) { return c.worker.nic.rate == c.network.rate; });
    rule("switch.port_rate", "as network.rate, the rate of every port",
         [](const config& c) { return c.tofino.chip.port_rate == c.network.rate; });
    return rules;
}

std::vector<config_problem> switchml_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    check_shape(p);
    const bool sound = no_errors(p) && no_errors(job.validate()) && no_errors(worker.validate()) &&
                       no_errors(network.validate()) && no_errors(tofino.validate()) &&
                       no_errors(worker.nic.validate()) && no_errors(worker.hbm.validate()) &&
                       no_errors(worker.dma.validate());
    // One rate for all: what the parts say of their own would be ignored.
    const auto one_rate = [&](bandwidth own, bandwidth plain, const char* key) {
        if (own != plain && own != network.rate)
            p.push_back({severity::error, key,
                         fmt::format("is {}, but network.rate = {} is the rate of every port; leave it out.",
                                     to_string(own), to_string(network.rate))});
    };
    one_rate(worker.nic.rate, nic_config{}.rate, "worker.nic.rate");
    one_rate(tofino.chip.port_rate, tofino_config{}.port_rate, "switch.port_rate");
    if (const std::string refusal = aggregator_refusal(tofino.aggregator, tofino.chip); !refusal.empty())
        p.push_back({severity::error, "switch.aggregator", refusal + "."});
    if (!sound) {
        check_workload(run, limits(false), p);
        return p;
    }
    check_job(p);
    // What a Tofino takes: 16 ports of 100 Gb/s a pipe, and packets of 256 elements go through all four.
    const std::uint32_t senders = tree.empty() ? workers : *std::max_element(tree.begin(), tree.end());
    const std::uint32_t together = job.elements_per_packet == 256 ? senders : std::min(senders, most_workers_of_a_node());
    if (const std::uint64_t asked = together * network.rate.value(); asked > k_pipe_bps)
        p.push_back({severity::warning, "network.rate",
                     fmt::format("is {} of {} workers, {} together, but {}: the model adds what no such switch can. Take fewer workers a switch (tree), or slower ones.",
                                 to_string(network.rate), together, to_string(bandwidth(asked)),
                                 job.elements_per_packet == 256 ? "a Tofino that sums 256 elements has 1.6 Tbps for workers, its other ports loop back (Sapio et al., section 5)"
                                                                : "a pipe of a Tofino takes 1.6 Tbps, 16 ports of 100 Gbps")});
    if (job.elements_per_packet == 256 && tofino.chip.recirculation_rate < network.rate)
        p.push_back(
            {severity::warning, "switch.recirculation_rate",
             fmt::format(
                 "is {}, below network.rate = {}, at which packets come: those of 256 elements queue between the "
                 "pipes.",
                 to_string(tofino.chip.recirculation_rate), to_string(network.rate))});
    check_faults(p);
    check_workload(run, limits(true), p);
    check_sums(p);
    check_recovery(p);
    check_receive_buffer(worker.chip(), star().format(), "worker", p);
    if (runs_any(run, [](abi::algorithm a) { return !abi::by_switch(a); })) {
        const lossless_star_config lossless = star();
        const packet_format f = lossless.format();
        check_packet_time("network.rate", lossless.rate, f.wire_bytes_of_one(f.max_payload_bytes), p);
        check_hop_time("network.cable.propagation", "with network.nic_latency or switch.first_pass_latency",
                       lossless.propagation + std::max(lossless.nic_latency, lossless.switch_latency), p);
    }
    check_stacks(worker.chip(), control_cores(), "cores", "worker", p);
    check_burst(run, trains(), p);
    return p;
}

void switchml_config::check_shape(std::vector<config_problem>& p) const
{
    if (servers > k_most_workers || workers < 1 || workers > k_most_workers)
        return; // beyond their limits
    const auto among_workers = [](abi::algorithm a) { return !abi::by_switch(a) && a != abi::algorithm::parameter_server; };
    if (workers == 1 && runs_any(run, among_workers))
        p.push_back({severity::error, "workers", "is 1, but a collective among workers needs at least two."});
    if (job.jobs != 0 && workers % job.jobs != 0)
        p.push_back(
            {severity::error, "job.jobs", fmt::format("is {}, which does not divide {} workers.", job.jobs, workers)});
    if (!no_errors(p) || !no_errors(job.validate()) || !no_errors(tofino.validate()))
        return; // what follows counts with them
    const std::uint32_t pipe = tofino.chip.ports_per_pipe;
    const std::uint32_t most = most_workers_of_a_node();
    if (tree.empty()) {
        const std::vector<node> all = nodes();
        const std::uint32_t ports = ports_of(all);
        if (ports > k_tofino_pipes * pipe)
            p.push_back(
                {severity::error, "workers",
                 fmt::format("is {}: {} node{} of at most {} workers, each in one pipe, do not fit into {} pipes "
                             "of {} ports; write a tree of switches, for example tree: [{}, {}].",
                             workers, all.size(), all.size() == 1 ? "" : "s", most, k_tofino_pipes, pipe,
                             (workers + most - 1) / most, most)});
        else if (ports > tofino.chip.ports)
            p.push_back(
                {severity::error, "switch.ports", fmt::format("is {}, but {} are needed.", tofino.chip.ports, ports)});
        return;
    }
    const std::uint32_t ports = *std::max_element(tree.begin(), tree.end());
    if (ports >= tofino.chip.ports)
        p.push_back(
            {severity::error, "switch.ports",
             fmt::format("is {}, but {} switches or workers and the way up need more.", tofino.chip.ports, ports)});
    std::uint64_t product = 1;
    for (std::size_t l = 0; l < tree.size(); ++l) {
        product *= tree[l];
        if (tree[l] < 1 || tree[l] > most)
            p.push_back(
                {severity::error, fmt::format("tree.{}", l),
                 fmt::format("is {}, must be 1 to {}: one pipe aggregates what its ports bring.", tree[l], most)});
    }
    if (product != workers)
        p.push_back(
            {severity::error, "tree", fmt::format("has room for {} workers, but workers is {}.", product, workers)});
    if (tree.size() > 8)
        p.push_back({severity::error, "tree", fmt::format("has {} levels, must be at most 8.", tree.size())});
    if (job.transport == abi::switchml::transport::rdma)
        p.push_back(
            {severity::error, "job.transport",
             "is rdma; a tree of switches speaks UDP: the messages of RDMA are put together below one switch only."});
    if (job.jobs > 1)
        p.push_back({severity::error, "job.jobs",
                     fmt::format("is {}; several jobs share one switch, not a tree of them.", job.jobs)});
}

void switchml_config::check_job(std::vector<config_problem>& p) const
{
    const std::uint32_t per_node = most_workers_of_a_node();
    const std::uint32_t n = workers_per_job();
    const std::uint32_t nodes_of_job = tree.empty() && n > per_node ? (n + per_node - 1) / per_node + 1 : 1;
    const std::uint64_t needed = job.first_slot + std::uint64_t{job.slots} * job.jobs * nodes_of_job;
    const std::uint64_t present = tofino.chip.register_depth / 2;
    if (needed > present)
        p.push_back({severity::error, "job.slots",
                     fmt::format("is {}: {} up to {}, but registers of {} entries hold {} slots in two "
                                 "versions.",
                                 job.slots,
                                 nodes_of_job > 1
                                     ? fmt::format("{} virtual switches and the one that joins them need slots",
                                                   nodes_of_job - 1)
                                     : fmt::format("{} job{} slots", job.jobs, job.jobs == 1 ? " needs" : "s need"),
                                 needed, tofino.chip.register_depth, present)});
    const std::uint32_t most =
        job.transport == abi::switchml::transport::rdma ? per_node : firmware::k_switchml_workers;
    if (n > most)
        p.push_back(
            {severity::error, "workers",
             fmt::format("is {} in one job, but a job over {} has at most {}.", n, name_of(job.transport), most)});
    const std::uint32_t window = job.slots / worker.cores;
    const bool rdma = job.transport == abi::switchml::transport::rdma;
    const std::uint32_t unit = rdma ? job.packets_per_message : 1;
    if (window < unit)
        p.push_back({severity::error, "job.slots",
                     fmt::format("is {}, which leaves each of {} cores {} slots; one {} takes {}.", job.slots,
                                 worker.cores, window, rdma ? "message" : "packet", unit)});
    else if (job.slots % (worker.cores * unit) != 0)
        p.push_back({severity::warning, "job.slots",
                     fmt::format("is {}, and {} cores share {} of them; the rest is never used.", job.slots,
                                 worker.cores, window / unit * unit * worker.cores)});
    if (window > firmware::k_max_window)
        p.push_back({severity::warning, "job.slots",
                     fmt::format("is {}, but a core uses at most {} slots.", job.slots, firmware::k_max_window)});
    if (window < unit)
        return;
    const abi::switchml::table t = table(0, 0);
    if (firmware::queue_pairs_needed(t) > worker.nic.queue_pairs)
        p.push_back({severity::error, "worker.nic.queue_pairs",
                     fmt::format("is {}, but {} messages under way need {}.", worker.nic.queue_pairs,
                                 firmware::queue_pairs_needed(t) / 2, firmware::queue_pairs_needed(t))});
    if (firmware::nic_area_bytes(t) + 8192 > worker.chip().buffer_bytes())
        p.push_back({severity::error, "worker.memory.capacity",
                     fmt::format("is {}, but the rings and buffers of the NIC need {}.", to_string(worker.hbm.capacity),
                                 rounded_text(data_size(firmware::nic_area_bytes(t))))});
    // Appendix C: in flight from one worker must cover rate x delay.
    const std::uint32_t used = (rdma ? firmware::window_messages(t) * unit : firmware::window_slots(t)) * worker.cores;
    const double bdp = static_cast<double>(packet_wire_bytes(job)) * used;
    const double delay_ps =
        4.0 * static_cast<double>(network.cable.propagation.value()) +
        static_cast<double>(tofino.chip.first_pass_latency.value()) +
        (job.elements_per_packet == 256 ? 10 : 1) * static_cast<double>(tofino.chip.pass_latency.value());
    const double needed_bytes = static_cast<double>(network.rate.value()) / 8e12 * delay_ps;
    if (bdp < needed_bytes)
        p.push_back(
            {severity::warning, "job.slots",
             fmt::format("is {}: {}{} in flight, below rate x delay = {} of the network alone ({}), so workers "
                         "reach at most {:.3g} % of the line rate.",
                         job.slots, used == job.slots ? "" : fmt::format("{} of them are used, ", used),
                         rounded_text(data_size(static_cast<std::uint64_t>(bdp))),
                         rounded_text(data_size(static_cast<std::uint64_t>(needed_bytes))),
                         rounded_text(duration(static_cast<std::uint64_t>(delay_ps))), 100 * bdp / needed_bytes)});
}

void switchml_config::check_faults(std::vector<config_problem>& p) const
{
    const auto check_worker = [&](std::uint32_t w, const std::string& key) {
        if (w >= workers)
            p.push_back(
                {severity::error, key + ".worker", fmt::format("is {}, but the workers are 0 to {}.", w, workers - 1)});
    };
    for (std::size_t i = 0; i < faults.cables.size(); ++i)
        check_worker(faults.cables[i].worker, fmt::format("faults.cables.{}", i));
    for (std::size_t i = 0; i < faults.outages.size(); ++i) {
        const worker_outage_config& o = faults.outages[i];
        const std::string key = fmt::format("faults.outages.{}", i);
        check_worker(o.worker, key);
        if (o.until && o.until->value() <= o.from.value())
            p.push_back({severity::error, key + ".until",
                         fmt::format("is {}, not after from = {}.", to_string(*o.until), to_string(o.from))});
        else if (o.until && o.until->value() - o.from.value() >= run.firmware_timeout.value())
            p.push_back({severity::warning, key + ".until",
                         fmt::format("is {}: the others wait no longer than firmware_timeout = {} for the worker, and give up before.", to_string(*o.until),
                                     to_string(run.firmware_timeout))});
    }
}

std::string switchml_config::refusal_of(abi::collective_op op, abi::algorithm algo) const
{
    const abi::switchml::table job_table = table(0, 0);
    const char* reason = "";
    if (!firmware::supports(op, algo, rank_table(0), false, &reason, &job_table))
        return fmt::format("{} by {} does not run here: {}.", name_of(op), name_of(algo), reason);
    if (servers != 0 && algo != abi::algorithm::parameter_server)
        return fmt::format(
            "{} does not use servers, and {} are there: leave servers out, or run parameter_server alone.",
            name_of(algo), servers);
    if (algo == abi::algorithm::switchml_lossless && job.transport == abi::switchml::transport::rdma)
        return "switchml_lossless needs transport: udp; RDMA messages are always recovered.";
    if (algo == abi::algorithm::switchml_lossless && tofino.aggregator != aggregator_kind::model)
        return "switchml_lossless needs aggregator: model; the RTL holds the algorithm with loss recovery.";
    return {};
}

workload_limits switchml_config::limits(bool is_sound) const
{
    workload_limits g = limits_without_machine({}, true);
    g.machine = "these workers";
    g.members = g.memories = "workers";
    g.memory = "memory per worker";
    if (!is_sound)
        return g;
    const std::uint64_t room = nic_area_offset();
    g.ranks = workers;
    g.much_host_bytes = 8ull << 30;
    g.room_bytes = room;
    g.room_text =
        fmt::format("worker.memory.capacity is {}, of which rings and buffers take {}", to_string(worker.hbm.capacity),
                    rounded_text(data_size(worker.hbm.capacity.value() - room)));
    g.rank_table = [this](std::uint32_t rank) { return rank_table(rank); };
    g.refusal = [this](abi::collective_op op, abi::algorithm algo, bool) { return refusal_of(op, algo); };
    return g;
}

/// What the switch cannot add.
void switchml_config::check_sums(std::vector<config_problem>& p) const
{
    const auto check_type = [&](abi::algorithm algo, abi::element_type type, const std::string& key) {
        if (abi::by_switch(algo) && !summed_by_switch(type))
            p.push_back({severity::error, key, type_refusal(type)});
    };
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        const collective_spec& spec = run.workload[i];
        const std::string key = fmt::format("workload.{}", i);
        for (const abi::algorithm a : spec.algorithms) { // auto takes the switch for what it can add
            for (const abi::element_type type : spec.types)
                check_type(a, type, key + ".types");
            for (const abi::reduce_op r : spec.redops)
                if (abi::by_switch(a) && r != abi::reduce_op::sum)
                    p.push_back({severity::error, key + ".redops",
                                 fmt::format("{} cannot be done by the switch, which only adds.", name_of(r))});
        }
    }
    if (!run.training_step || !is_sound(*run.training_step))
        return;
    const training_step_config& step = *run.training_step;
    for (std::size_t i = 0; i < step.groups.size(); ++i)
        check_type(step.by(), step.groups[i].type, fmt::format("training_step.groups.{}.type", i));
    for (std::size_t i = 0; i < step.exchanges.size(); ++i)
        check_type(step.by(), step.exchanges[i].type, fmt::format("training_step.exchanges.{}.type", i));
}

/// All that the switch adds goes by the algorithm of the first use.
void switchml_config::check_programs(std::vector<config_problem>& p) const
{
    std::optional<std::pair<abi::algorithm, std::string>> first;
    const auto use = [&](abi::algorithm a, const std::string& entry, const std::string& key) {
        if (!abi::by_switch(a))
            return;
        if (!first)
            first.emplace(a, entry);
        else if (a != first->first)
            p.push_back({severity::error, entry + "." + key,
                         fmt::format("{} beside {} of {}: the switch runs one program for a job; use two files.", name_of(a),
                                     name_of(first->first), first->second)});
    };
    for (std::size_t i = 0; i < run.workload.size(); ++i)
        for (const abi::algorithm a : run.workload[i].taken_algorithms())
            use(a, fmt::format("workload.{}", i), "algorithms");
    if (run.training_step && is_sound(*run.training_step))
        use(run.training_step->by(), "training_step", "algorithm");
}

/// Timers against each other, and what is lost without one.
void switchml_config::check_recovery(std::vector<config_problem>& p) const
{
    check_programs(p);
    const bool lossless = runs_any(run, [](abi::algorithm a) { return a == abi::algorithm::switchml_lossless; });
    const ethernet_impairments& worse = network.cable.impairments;
    const bool losses = worse.loss > 0 || worse.corruption > 0 || tofino.chip.drops() || !network.cable.outages.empty() ||
                        !faults.cables.empty() || !faults.outages.empty();
    if (lossless && losses)
        p.push_back(
            {severity::warning, "workload",
             "switchml_lossless never sends a packet again: the first one that is lost ends the run with a timeout."});
    if (lossless && worse.duplication > 0)
        p.push_back({severity::warning, "workload",
                     "switchml_lossless does not know a packet that arrives twice: it is added twice. Use switchml."});
    if (job.timeout.value() >= run.firmware_timeout.value())
        p.push_back({severity::error, "job.timeout",
                     fmt::format("is {}, not below firmware_timeout = {}, after which a worker gives up.",
                                 to_string(job.timeout), to_string(run.firmware_timeout))});
    // A worker has its whole pool under way: the last packet of it waits for all others on the cable.
    const bool resends = runs_any(run, [](abi::algorithm a) { return a == abi::algorithm::switchml; });
    if (resends && resends_for_nothing(*this))
        p.push_back({severity::warning, "job.timeout",
                     fmt::format("is {}, and the slots of a worker take {} on its cable alone: packets are sent again although none is lost. Raise it, or "
                                 "set fewer job.slots.",
                                 to_string(job.timeout), rounded_text(duration(static_cast<std::uint64_t>(pool_on_cable_us(*this) * 1e6))))});
    if (job.transport == abi::switchml::transport::rdma && worse.duplication > 0)
        p.push_back({severity::warning, "network.cable.impairments.duplication",
                     fmt::format("is {:g}, and job.transport is rdma: a packet that comes twice is out of order for the queue pair, so its whole message of {} packets waits "
                                 "for job.timeout and is sent again.",
                                 worse.duplication, job.packets_per_message)});
    if (job.transport == abi::switchml::transport::udp && worker.transmit_hold.value() >= job.timeout.value())
        p.push_back({severity::error, "worker.transmit_hold",
                     fmt::format("is {}, not below job.timeout = {}: packets would be late before they are sent.",
                                 to_string(worker.transmit_hold), to_string(job.timeout))});
    if (worker.core.model == core_model::rv64 &&
        runs_any(run, [](abi::algorithm a) { return a == abi::algorithm::parameter_server; }))
        p.push_back(
            {severity::warning, "worker.core.model",
             "is rv64, whose cores are charged what they execute, and not for the packets and additions of parameter servers, which "
             "the DMA engine does: the times of "
             "parameter_server are those of the network alone. Use native cores to compare it."});
}

} // namespace weft
