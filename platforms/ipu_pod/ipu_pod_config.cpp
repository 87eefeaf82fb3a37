// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the YAML of an IPU-Pod means: checks that need more than one section, the description of `weft check`, reading.
#include "firmware/collectives/replica_collectives.h"
#include "firmware/collectives/replica_rings.h"
#include "firmware/collectives/supports.h"
#include "platforms/ipu_pod/gcl_choice.h"
#include "platforms/ipu_pod/ipu_cuts.h"
#include "platforms/ipu_pod/ipu_pod.h"
#include "platforms/machine/configured_platform.h"
#include "platforms/machine/machine_checks.h"
#include "platforms/machine/workload_checks.h"
#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint32_t k_links_along = 2;  ///< of an IPU to the next one of its column
constexpr std::uint32_t k_links_across = 6; ///< of a rung
constexpr std::uint32_t k_pod_machines = 16; ///< of the largest Pod, a Pod64

abi::ring_order order_of(ring_choice c)
{
    switch (c) {
    case ring_choice::flat: return abi::ring_order::flat;
    case ring_choice::serpent: return abi::ring_order::serpent;
    default: return abi::ring_order::interleaved;
    }
}

} // namespace

std::vector<key_rule<ipu_pod_config>> ipu_pod_config::key_rules()
{
    using config = ipu_pod_config;
    std::vector<key_rule<config>> rules;
    add_run_rules(rules);
    add_no_mesh_rules(rules);
    rules.push_back({"ipu.core.clock_read", "where firmware reads the clock (switchml)", [](const config&) { return false; }});
    const auto several = [](const config& c) { return c.pod.domains > 1; };
    // Streaming Memory and samples come by the Host-Link, too.
    for (const char* key : {"gateway.host_link_rate", "gateway.host_link_usable"})
        rules.push_back({key, "with several domains, with training_step.streaming, and with samples from hosts", [](const config& c) {
                         const auto& step = c.run.training_step;
                         const bool streams = step && step->streaming && // at this rate, which may be filled in already
                                              step->streaming->rate.value_or(c.gateway.host_link_payload()) ==
                                                  c.gateway.host_link_payload();
                         return c.pod.domains > 1 || streams || (step && step->input.data != sample_source::synthetic);
                     }});
    for (const char* key : {"gateway.gw_link_rate", "gateway.gw_link_usable", "gateway.gw_link_latency", "gateway.buffer"})
        rules.push_back({key, "with several domains", several});
    rules.push_back({"gateway.host_link_latency", "with several domains, and with bytes of training_step.streaming", [](const config& c) {
                         const auto& step = c.run.training_step;
                         return c.pod.domains > 1 || (step && step->streaming && step->streaming->bytes.value() != 0);
                     }});
    rules.push_back({"gateway.host_rate", "with samples from hosts", [](const config& c) {
                         const auto& step = c.run.training_step;
                         return step && step->input.data != sample_source::synthetic;
                     }});
    rules.push_back({"sync.gateway_hop", "with several domains, and gcl.exchange: syncful",
                     [](const config& c) { return c.pod.domains > 1 && c.gcl.exchange == abi::exchange_mode::syncful; }});
    for (const char* key : {"sync.hop", "sync.register_latency"})
        rules.push_back({key, "unless gcl.exchange is syncless", [](const config& c) { return c.gcl.exchange != abi::exchange_mode::syncless; }});
    return rules;
}

abi::ring_order ipu_pod_config::order() const
{
    return gcl.ring_order == ring_choice::automatic ? gcl_order(pod.topology, pod.replica_size) : order_of(gcl.ring_order);
}

std::vector<ipu_link_end> ipu_pod_config::known_down() const
{
    std::vector<ipu_link_end> down;
    for (const ipu_link_fault& f : faults.links_down)
        if (f.known_to_routing())
            down.push_back({f.ipu, static_cast<std::uint32_t>(f.controller)});
    for (const gw_link_fault& f : faults.gw_links_down)
        if (f.at.value() == 0)
            down.push_back({shape().gateway(f.domain, f.slot), port_of(f.side)});
    return down;
}

std::vector<swapped_cables> ipu_pod_config::swaps() const
{
    std::vector<swapped_cables> all;
    for (const cable_swap& s : faults.swapped_cables)
        all.push_back({{{s.ipu, static_cast<std::uint32_t>(s.controller)}, {s.other_ipu, static_cast<std::uint32_t>(s.other_controller)}}});
    for (const gw_cable_swap& s : faults.swapped_gw_cables)
        all.push_back({{{shape().gateway(s.domain, s.slot), port_of(s.side)}, {shape().gateway(s.other_domain, s.other_slot), port_of(s.other_side)}}});
    return all;
}

std::vector<swapped_sync_cables> ipu_pod_config::sync_swaps() const
{
    const std::uint32_t machines = shape().machines;
    std::vector<swapped_sync_cables> all;
    for (const sync_cable_swap& s : faults.swapped_sync_cables)
        all.push_back({{{s.domain * machines + s.slot, s.end == machine_end::up}, {s.other_domain * machines + s.other_slot, s.other_end == machine_end::up}}});
    return all;
}

std::string ipu_pod_config::replica_groups() const
{
    if (pod.replica_size == 1)
        return {};
    if (replicas() * pod.domains == 1)
        return "blocks of 1";
    return replicas() == 1 || pod.domains == 1 ? "dimension 1" : "dimensions 1 2";
}

void ipu_pod_config::name_defaults()
{
    using op = abi::collective_op;
    for (collective_spec& spec : run.workload)
        if (spec.algorithms.empty() &&
            (spec.op == op::all_reduce || spec.op == op::reduce_scatter || spec.op == op::all_gather))
            spec.algorithms = {k_auto_algorithm};
    if (run.training_step && !run.training_step->algorithm)
        run.training_step->algorithm = k_auto_algorithm;
    if (run.training_step && run.training_step->streaming && !run.training_step->streaming->rate)
        run.training_step->streaming->rate = std::min(gateway.host_link_payload(), rate_of_io_tiles(*run.training_step->streaming));
}

void ipu_pod_config::complete()
{
    name_defaults();
    if (const std::string groups = replica_groups(); !groups.empty())
        for (collective_spec& spec : run.workload)
            if (spec.groups.empty())
                spec.groups = {groups};
    if (!run.training_step)
        return;
    training_step_config& step = *run.training_step;
    if (step.pipeline) {
        if (!step.pipeline->rate)
            step.pipeline->rate = between_stages(*step.pipeline);
        // As any exchange with a neighbour: sync there and back, set-up, the way of a message.
        const std::uint64_t sync_ps = gcl.exchange == abi::exchange_mode::syncless ? 0 : 2 * sync.hop.value() + sync.register_latency.value();
        step.pipeline->each = duration(sync_ps + ipu.dma.setup.value()) + hop_latency(1);
    }
    if (step.streaming)
        step.streaming->each = gateway.host_link_latency;
    if (step.input.data == sample_source::synthetic)
        return;
    step.input.into_ranks = host_links();
    step.input.pods = pods();
    const std::uint64_t takers = step.pipeline ? 1 : pod.replica_size;
    const bandwidth each = step.streaming && step.streaming->io_tiles != 0 ? std::min(gateway.host_link_payload(), rate_of_io_tiles(*step.streaming)) : gateway.host_link_payload();
    step.input.onto_tiles = bandwidth(takers * each.value());
}

bandwidth ipu_pod_config::between_stages(const step_pipeline& pipeline) const
{
    return bandwidth(pipeline.fewest_links() * ipu_link.payload_rate().value());
}

bandwidth ipu_pod_config::rate_of_io_tiles(const step_streaming& streaming) const
{
    const double tiles = streaming.io_tiles == 0 ? streaming.tiles : streaming.io_tiles;
    return bandwidth(static_cast<std::uint64_t>(static_cast<double>(ipu_link.exchange_rate.value()) * tiles / streaming.tiles));
}

std::uint32_t ipu_pod_config::pods() const
{
    return (pod.machines * pod.domains + k_pod_machines - 1) / k_pod_machines;
}

bandwidth ipu_pod_config::host_links() const
{
    // Of a pipeline only the first stage takes samples.
    const bool first_stages = run.training_step && run.training_step->pipeline;
    const std::uint64_t ipus = first_stages ? replicas() * pod.domains : ranks();
    return bandwidth(std::min(ipus * gateway.host_link_payload().value(), pod.machines * pod.domains * gateway.host_rate.value()));
}

abi::platform_table ipu_pod_config::rank_table(std::uint32_t rank) const
{
    const ipu_shape s = shape();
    const std::uint64_t link = ipu_link.payload_rate().value();
    abi::platform_table t;
    t.rank = rank;
    t.ranks = ranks();
    const auto add = [&](std::uint32_t size, std::uint32_t coordinate, abi::dimension_kind kind, std::uint64_t bits_per_second) {
        t.dims[t.dim_count] = size;
        t.coord[t.dim_count] = coordinate;
        t.kind[t.dim_count] = kind;
        t.rate_mbps[t.dim_count++] = abi::mbps_of(bits_per_second);
    };
    const auto along = [&](std::uint32_t size, bool closes) {
        return closes ? abi::dimension_kind::ring : size == 2 ? abi::dimension_kind::full : abi::dimension_kind::line;
    };
    // Four IPUs share a gateway; routing uses both sides of the ring where they are as near.
    if (s.domains > 1)
        add(s.domains, s.domain_of(rank), along(s.domains, s.domains > 2), std::min(gateway.host_link_payload().value(), 2 * gateway.gw_link_payload().value() / k_machine_ipus));
    const std::uint32_t in_domain = rank % s.domain_ipus();
    if (pod.replica_size <= 2) { // a ladder
        const std::uint32_t ways = s.rungs() > 2 ? 2 : 1;
        add(s.rungs(), s.rung_of(rank), along(s.rungs(), s.closes()), ways * k_links_along * link);
        add(std::min(2u, s.domain_ipus()), s.column_of(rank), abi::dimension_kind::full, k_links_across * link);
    } else {
        if (replicas() > 1)
            add(replicas(), in_domain / pod.replica_size, abi::dimension_kind::switched, 2 * k_links_along * link);
        add(pod.replica_size, in_domain % pod.replica_size, abi::dimension_kind::switched, (k_links_across + 2 * k_links_along) * link);
    }
    t.order = order();
    t.exchanges = gcl.exchange;
    t.parallel_links = k_links_along;
    t.gateway_dims = s.domains > 1 ? 1 : 0;
    t.replica_ranks = static_cast<std::uint16_t>(pod.replica_size);
    // Replicas of more than two IPUs on a torus: two places at a time, one in each column. Places of one column could
    // wait for each other.
    t.split_exchanges = static_cast<std::uint16_t>(pod.topology == ipu_topology::torus && pod.replica_size > 2 ? pod.replica_size / 2 : 1);
    t.domain_ranks = s.domains > 1 ? s.domain_ipus() : 0;
    t.rung_links = k_links_across;
    t.sync_base = abi::k_sync_base;
    return t;
}

duration ipu_pod_config::hop_latency(std::uint32_t dimension) const
{
    const bool over_gateways = pod.domains > 1 && dimension == 0;
    const std::uint64_t ways_ps =
        over_gateways ? 2 * (gateway.host_link_latency.value() + gateway.gw_link_latency.value()) + 4 * ipu_link.transit.value()
                      : ipu_link.latency.value() + 2 * ipu_link.transit.value();
    return duration(ways_ps + ipu_link.congested_exchange().value());
}

train_choice ipu_pod_config::trains() const
{
    train_limits limits;
    limits.packet_payload = static_cast<std::uint32_t>(ipu_link.max_payload.value());
    limits.sides = {ranks()};
    limits.hops = dma_hops(ipu.dma, ipu.hbm, ipu_link.format(), ipu_link.format().packet_ps(ipu_link.payload_rate()), ipu_link.payload_rate(), 1, "ipu", "ipu.memory");
    const auto add = [&](const char* key, data_size buffer, bandwidth rate) {
        const std::uint64_t packet = ipu_link.format().packet_ps(rate);
        limits.hops.push_back({fmt::format("{} = {}", key, to_string(buffer)),
                               buffer.value() / ipu_link.format().cell_bytes() / ipu_link.format().cells_of_one(ipu_link.max_payload.value()), packet, packet});
    };
    add("ipu_link.buffer_per_vl", ipu_link.buffer_per_vl, ipu_link.payload_rate());
    if (pod.domains > 1)
        add("gateway.buffer", gateway.buffer, gateway.gw_link_rate);
    limits.no_bound = "nobody has measured trains on this platform";
    return choose_trains(run.burst, std::move(limits));
}

abi::platform_table ipu_pod_config::table_of_collectives() const
{
    const std::string groups = replica_groups();
    if (groups.empty())
        return rank_table(0);
    std::vector<abi::platform_table> all;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank)
        all.push_back(rank_table(rank));
    const table_of_rank table_of = [&](std::uint32_t rank) -> const abi::platform_table& { return all[rank]; };
    return tables_of_group(find_groups({groups}, ranks(), table_of).lists.front(), table_of, 0).front();
}

std::string ipu_pod_config::refusal_of(const abi::platform_table& table, abi::collective_op op, abi::algorithm algo, bool transposed) const
{
    const char* why = "";
    if (firmware::supports(op, algo, table, transposed, &why))
        return {};
    // Of an algorithm that has no such operation the firmware lists what runs it on any machine.
    abi::platform_table any_shape;
    any_shape.ranks = 1;
    const char* nowhere = "";
    const std::string here =
        firmware::supports(op, algo, any_shape, transposed, &nowhere) ? "" : what_runs(table, op);
    return fmt::format("{} by {} cannot run on {} IPUs: {}.", name_of(op), name_of(algo), ranks(),
                       here.empty() ? std::string(why) : fmt::format("{} is not made for it; here it runs by {}", name_of(algo), here));
}

workload_limits ipu_pod_config::limits_of_any() const
{
    abi::platform_table any;
    any.order = order();
    workload_limits g = limits_without_machine(any, false);
    g.members = "IPUs";
    g.memory = "memory per IPU";
    g.memories = "IPU memories";
    set_room(g, ipu.chip(), "ipu.memory");
    g.group_refusal = [](std::uint32_t n) -> std::string {
        if ((n & (n - 1)) != 0)
            return fmt::format("is {}, but a span is a power of two: its IPUs form a ring (Scaling, section 7.2.1 and 7).", n);
        return {};
    };
    return g;
}

workload_limits ipu_pod_config::limits() const
{
    workload_limits g = limits_of_any();
    g.ranks = ranks();
    g.replica_ranks = pod.replica_size;
    g.refusal = [this, table = table_of_collectives()](abi::collective_op op, abi::algorithm algo, bool transposed) { return refusal_of(table, op, algo, transposed); };
    g.rank_table = [this](std::uint32_t rank) { return rank_table(rank); };
    g.group_refusal = [this, of_any = g.group_refusal](std::uint32_t n) -> std::string {
        if (std::string why = of_any(n); !why.empty())
            return why;
        if (pod.replica_size > 1)
            return fmt::format("is {}, but pod.replica_size is {}: spans are of replicas with one IPU.", n, pod.replica_size);
        return n > shape().domain_ipus() ? fmt::format("is {}, but an IPU-Link domain has {} IPUs.", n, shape().domain_ipus()) : std::string();
    };
    return g;
}

std::vector<config_problem> ipu_pod_config::validate() const
{
    std::vector<config_problem> p = run.validate();
    bool shape_is_sound = limit_problems(pod).empty(); // machines alone
    bool all_is_sound = shape_is_sound;                // and replicas and rings on them
    if (shape_is_sound)
        for (config_problem& found : pod_problems()) {
            shape_is_sound = shape_is_sound && found.key != "pod.partition" && found.key != "pod.topology";
            all_is_sound = all_is_sound && found.level != severity::error;
            p.push_back(std::move(found));
        }
    check_faults(shape_is_sound, p);
    const bool links = limit_problems(ipu_link).empty(), chips = no_errors(ipu.validate());
    if (links && limit_problems(gateway).empty())
        check_buffers(p);
    if (chips && shape_is_sound)
        check_stacks(ipu.chip(), ranks(), "IPUs", "ipu", p);
    const std::uint32_t lanes = pod.topology == ipu_topology::barley_twist ? 8 : 4; // of the rings with most of them
    if (ipu.dma.queues % k_links_along != 0 || ipu.dma.queues < lanes)
        p.push_back({severity::warning, "ipu.dma.queues",
                     fmt::format("is {}; rings take up to {} queues, one for each of two links: with an odd number, or fewer, messages share a link.", ipu.dma.queues, lanes)});
    if (run.training_step && is_sound(*run.training_step))
        check_step(*run.training_step, all_is_sound, p);
    if (!all_is_sound) {
        ipu_pod_config named = *this;
        named.name_defaults();
        check_workload(named.run, limits_of_any(), p);
        return p;
    }
    if (!replica_groups().empty())
        for (std::size_t i = 0; i < run.workload.size(); ++i)
            if (const auto& groups = run.workload[i].groups; !groups.empty() && groups != std::vector{replica_groups()})
                p.push_back({severity::error, fmt::format("workload.{}.groups", i),
                             fmt::format("stand beside pod.replica_size = {}, which makes groups of its own; remove them, or set pod.replica_size to 1.", pod.replica_size)});
    // Over gateways all rings go both ways.
    if (replicas() == 1 && pod.domains > 1)
        for (std::size_t i = 0; i < run.workload.size(); ++i)
            for (std::size_t k = 0; k < run.workload[i].algorithms.size(); ++k)
                if (const abi::algorithm a = run.workload[i].algorithms[k]; abi::is_in(abi::algorithms_with(abi::traits::of_replicas), a) && a != abi::algorithm::replica_broadcast)
                    p.push_back({severity::warning, fmt::format("workload.{}.algorithms.{}", i, k),
                                 fmt::format("is {}, which has nothing to do here: a domain holds one replica, and over gateways every method goes both ways round the ring of domains.", name_of(a))});
    ipu_pod_config whole = *this; // as it will run
    whole.complete();
    check_sizes_of_groups(p);
    check_workload(whole.run, whole.limits(), p);
    if (links && chips && limit_problems(gateway).empty())
        check_burst(run, trains(), p);
    return p;
}

/// The library has rings of 1, 2, 4 ... replicas only.
void ipu_pod_config::check_sizes_of_groups(std::vector<config_problem>& p) const
{
    if (std::all_of(run.workload.begin(), run.workload.end(), [](const collective_spec& spec) { return spec.groups.empty(); }))
        return; // no need of tables
    std::vector<abi::platform_table> tables;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank)
        tables.push_back(rank_table(rank));
    const table_of_rank table_of = [&](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; };
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        const collective_spec& spec = run.workload[i];
        if (spec.groups.empty())
            continue;
        const std::vector<rank_list> lists = find_groups(spec.groups, ranks(), table_of).lists;
        const auto odd = std::find_if(lists.begin(), lists.end(), [](const rank_list& l) { return (l.size() & (l.size() - 1)) != 0; });
        if (odd == lists.end())
            continue;
        const std::string sizes = fmt::format("a group has {} ranks, but replicas of a ring of the library are a power of two (Scaling, section 7)", odd->size());
        for (std::size_t k = 0; k < spec.algorithms.size(); ++k)
            if (const abi::algorithm a = spec.algorithms[k]; abi::is_in(abi::algorithms_with(abi::traits::of_replicas), a) && a != abi::algorithm::replica_broadcast)
                p.push_back({severity::warning, fmt::format("workload.{}.algorithms.{}", i, k), fmt::format("is {}: {}; it runs here, but nothing says how it does there.", name_of(a), sizes)});
    }
}

/// Of a `pod` whose values are within their limits.
std::vector<config_problem> ipu_pod_config::pod_problems() const
{
    std::vector<config_problem> p;
    const auto refuse = [&](const char* key, std::string text) { p.push_back({severity::error, key, std::move(text)}); };
    if (pod.replica_size > shape().domain_ipus())
        refuse("pod.replica_size", fmt::format("is {}, but a domain has {} IPUs.", pod.replica_size, shape().domain_ipus()));
    else if (replicas() * pod.domains < 2 && !(run.workload.empty() && run.training_step))
        refuse(pod.partition == k_machine_ipus ? "pod.replica_size" : "pod.partition",
               fmt::format("is {}, which leaves one replica; a collective needs two. A training step runs on one, too.",
                           pod.partition == k_machine_ipus ? pod.replica_size : pod.partition));
    if (pod.partition != k_machine_ipus && pod.machines * pod.domains > 1)
        refuse("pod.partition", fmt::format("is {}, but only an IPU-Machine that stands alone can be used in part; pod.machines and pod.domains are {} and {}.", pod.partition,
                                            pod.machines, pod.domains));
    if (pod.topology == ipu_topology::torus && pod.replica_size > 4)
        p.push_back({severity::warning, "pod.replica_size",
                     fmt::format("is {} on a torus, for which the library has mappings of 1, 2 and 4 IPUs only.", pod.replica_size)});
    if (pod.topology != ipu_topology::mesh && pod.machines < 2)
        refuse("pod.topology", fmt::format("is {}, but loop-back cables need two IPU-Machines at least; pod.machines is 1.", name_of(pod.topology)));
    if (pod.topology == ipu_topology::barley_twist && pod.replica_size > 1)
        refuse("pod.replica_size", fmt::format("is {}, but a Barley twist has rings of replicas with one IPU only.", pod.replica_size));
    if (gcl.ring_order == ring_choice::serpent && pod.topology != ipu_topology::barley_twist)
        refuse("gcl.ring_order", fmt::format("is serpent, but pod.topology is {}: serpents are cycles of a Barley twist only.", name_of(pod.topology)));
    if (gcl.ring_order != ring_choice::automatic && gcl.ring_order != ring_choice::serpent && pod.topology == ipu_topology::barley_twist)
        refuse("gcl.ring_order", fmt::format("is {}, but a Barley twist has serpents only; pod.topology: torus has this order.", name_of(gcl.ring_order)));
    return p;
}

/// With a shape that is not known: what holds on every machine.
void ipu_pod_config::check_faults(bool shape_is_known, std::vector<config_problem>& p) const
{
    const ipu_shape s = shape();
    const auto refuse = [&](std::string key, std::string text) { p.push_back({severity::error, std::move(key), std::move(text)}); };
    const auto exists = [&](const std::string& key, const char* name, std::uint32_t value, std::uint32_t size) {
        if (!shape_is_known || value < size)
            return true;
        const std::string_view what = name, other = "other_";
        refuse(fmt::format("{}.{}", key, name), fmt::format("is {}, but there are {}s 0 to {}.", value, what.substr(what.rfind(other, 0) == 0 ? other.size() : 0), size - 1));
        return false;
    };
    const auto has_cable = [&](std::uint32_t number, ipu_controller port) {
        return !shape_is_known || s.far_end(number, static_cast<std::uint32_t>(port)).has_value();
    };
    // Of a list: the first entry that names the same as entry i, if that is an earlier one.
    const auto named_before = [](const auto& list, std::size_t i, auto&& same) -> std::optional<std::size_t> {
        const auto first = static_cast<std::size_t>(std::find_if(list.begin(), list.end(), [&](const auto& other) { return same(list[i], other); }) - list.begin());
        return first < i ? std::optional(first) : std::nullopt;
    };
    const auto is_late = [&](const std::string& key, duration at) {
        if (at > run.time_limit)
            p.push_back({severity::warning, key + ".at",
                         fmt::format("is {}, behind time_limit = {}: nothing will fail in this run.", to_string(at), to_string(run.time_limit))});
    };
    for (std::size_t i = 0; i < faults.links_down.size(); ++i) {
        const ipu_link_fault& f = faults.links_down[i];
        const std::string key = fmt::format("faults.links_down.{}", i);
        if (!exists(key, "ipu", f.ipu, s.ipus()))
            continue;
        const auto first = named_before(faults.links_down, i, [](const auto& a, const auto& b) { return a.ipu == b.ipu && a.controller == b.controller; });
        if (!has_cable(f.ipu, f.controller))
            refuse(key, fmt::format("names {}.{}, which has no cable: it closes the ladder of a torus only.", s.ipu_name(f.ipu), name_of(f.controller)));
        else if (first)
            refuse(key, fmt::format("names the link of faults.links_down.{} again; a link fails once.", *first));
        if (f.at.value() != 0 && f.known_to_routing())
            refuse(key + ".announced",
                   fmt::format("is true, but the link goes down at {}: routing is planned before time zero and cannot know. Remove `announced` or `at`.", to_string(f.at)));
        is_late(key, f.at);
    }
    for (std::size_t i = 0; i < faults.gw_links_down.size(); ++i) {
        const gw_link_fault& f = faults.gw_links_down[i];
        const std::string key = fmt::format("faults.gw_links_down.{}", i);
        if (const auto first = named_before(faults.gw_links_down, i, [](const auto& a, const auto& b) { return a.domain == b.domain && a.slot == b.slot && a.side == b.side; }))
            refuse(key, fmt::format("names the link of faults.gw_links_down.{} again; a link fails once.", *first));
        if (shape_is_known && s.domains == 1)
            refuse(key, "names a GW-Link, but pod.domains is 1: nothing goes over gateways.");
        else if (const bool domain = exists(key, "domain", f.domain, s.domains); exists(key, "slot", f.slot, s.machines) && domain)
            is_late(key, f.at);
    }
    for (std::size_t i = 0; i < faults.machines_down.size(); ++i) {
        const machine_fault& f = faults.machines_down[i];
        const std::string key = fmt::format("faults.machines_down.{}", i);
        if (const auto first = named_before(faults.machines_down, i, [](const auto& a, const auto& b) { return a.domain == b.domain && a.slot == b.slot; }))
            refuse(key, fmt::format("names the IPU-Machine of faults.machines_down.{} again; a machine fails once.", *first));
        if (const bool domain = exists(key, "domain", f.domain, s.domains); exists(key, "slot", f.slot, s.machines) && domain)
            is_late(key, f.at);
    }
    for (std::size_t i = 0; i < faults.sync_cut.size(); ++i) {
        const std::string key = fmt::format("faults.sync_cut.{}", i);
        if (const auto first = named_before(faults.sync_cut, i, [](const auto& a, const auto& b) { return a.ipu == b.ipu; }))
            refuse(key, fmt::format("names the IPU of faults.sync_cut.{} again; a wire is cut once.", *first));
        if (exists(key, "ipu", faults.sync_cut[i].ipu, s.ipus()))
            is_late(key, faults.sync_cut[i].at);
        if (gcl.exchange == abi::exchange_mode::syncless)
            p.push_back({severity::warning, key, "does nothing: gcl.exchange is syncless."});
    }
    for (std::size_t i = 0; i < faults.late.size(); ++i) {
        const std::string key = fmt::format("faults.late.{}", i);
        if (const auto first =
                named_before(faults.late, i, [](const auto& a, const auto& b) { return a.replica == b.replica; }))
            refuse(key, fmt::format("names the replica of faults.late.{} again.", *first));
        if (shape_is_known && pod.replica_size <= s.domain_ipus())
            exists(key, "replica", faults.late[i].replica, s.ipus() / pod.replica_size);
        if (faults.late[i].by >= run.firmware_timeout)
            p.push_back({severity::warning, key + ".by",
                         fmt::format("is {}, not shorter than firmware_timeout = {}: the others give up.",
                                     to_string(faults.late[i].by), to_string(run.firmware_timeout))});
    }
    for (std::size_t i = 0; i < faults.swapped_cables.size(); ++i) {
        const cable_swap& c = faults.swapped_cables[i];
        const std::string key = fmt::format("faults.swapped_cables.{}", i);
        if (!exists(key, "ipu", c.ipu, s.ipus()) || !exists(key, "other_ipu", c.other_ipu, s.ipus()))
            continue;
        for (const auto& [number, port] : {std::pair{c.ipu, c.controller}, {c.other_ipu, c.other_controller}})
            if (!has_cable(number, port))
                refuse(key, fmt::format("names {}.{}, which has no cable.", s.ipu_name(number), name_of(port)));
            else if (shape_is_known && s.on_board(number, static_cast<std::uint32_t>(port)))
                refuse(key, fmt::format("names {}.{}, a link on the board of an IPU-Machine: only cables can be swapped.",
                                        s.ipu_name(number), name_of(port)));
        if (c.ipu == c.other_ipu && c.controller == c.other_controller)
            refuse(key, "names one port twice.");
    }
    const auto exist = [&](const std::string& key, const auto& c) { // every one is told
        const bool found[] = {exists(key, "domain", c.domain, s.domains), exists(key, "slot", c.slot, s.machines),
                              exists(key, "other_domain", c.other_domain, s.domains), exists(key, "other_slot", c.other_slot, s.machines)};
        return std::all_of(std::begin(found), std::end(found), [](bool f) { return f; });
    };
    for (std::size_t i = 0; i < faults.swapped_gw_cables.size(); ++i) {
        const gw_cable_swap& c = faults.swapped_gw_cables[i];
        const std::string key = fmt::format("faults.swapped_gw_cables.{}", i);
        if (shape_is_known && s.domains == 1)
            refuse(key, "names GW-Links, but pod.domains is 1: nothing goes over gateways.");
        else if (exist(key, c) && c.domain == c.other_domain && c.slot == c.other_slot && c.side == c.other_side)
            refuse(key, "names one port twice.");
    }
    for (std::size_t i = 0; i < faults.swapped_sync_cables.size(); ++i) {
        const sync_cable_swap& c = faults.swapped_sync_cables[i];
        const std::string key = fmt::format("faults.swapped_sync_cables.{}", i);
        if (!exist(key, c))
            continue;
        for (const auto& [domain, slot, end] : {std::tuple{c.domain, c.slot, c.end}, {c.other_domain, c.other_slot, c.other_end}})
            if (const std::uint32_t machine = domain * s.machines + slot; shape_is_known && !sync_neighbour(s, {machine, end == machine_end::up}))
                refuse(key, fmt::format("names {}.{}, which has no Sync-Link cable: it closes the ladder of a torus only.", s.machine_name(machine), name_of(end)));
        if (c.domain == c.other_domain && c.slot == c.other_slot && c.end == c.other_end)
            refuse(key, "names one connector twice.");
    }
}

std::vector<scaled_machine::missing_entry> ipu_pod_config::missing_faults() const
{
    std::vector<config_problem> found;
    check_faults(true, found);
    std::vector<scaled_machine::missing_entry> missing;
    for (const config_problem& f : found) {
        if (f.level != severity::error)
            continue;
        // faults.LIST.N or faults.LIST.N.KEY
        const std::size_t list_end = f.key.find('.', f.key.find('.') + 1);
        std::size_t number_end = 0;
        const std::size_t entry = std::stoul(f.key.substr(list_end + 1), &number_end);
        const std::string list = f.key.substr(0, list_end), member = f.key.substr(list_end + 1 + number_end);
        if (!missing.empty() && missing.back().list == list && missing.back().entry == entry)
            continue;
        const std::string sentence = (member.empty() ? "" : member.substr(1) + " ") + f.message;
        missing.push_back({list, entry, sentence.substr(0, sentence.size() - 1)}); // without its full stop
    }
    return missing;
}

/// What a training step says of links and hosts that this machine does not have.
void ipu_pod_config::check_step(const training_step_config& step, bool machine_is_known, std::vector<config_problem>& p) const
{
    const auto warn = [&](const char* key, std::string text) {
        p.push_back({severity::warning, fmt::format("training_step.{}", key), std::move(text)});
    };
    if (step.overlap != overlap_rule::none)
        warn("overlap", "is when_ready: all-reduces run beside compute here and cost it nothing, but tiles of an IPU compute or exchange, never both (bulk-synchronous); the step is too short by what overlaps. Write none.");
    if (step.pipeline && step.pipeline->rate && *step.pipeline->rate > between_stages(*step.pipeline))
        warn("pipeline.rate", fmt::format("is {}, but the {} IPU-Links between two of {} stages carry {}.",
                                          to_string(*step.pipeline->rate), step.pipeline->fewest_links(),
                                          step.pipeline->stages, to_string(between_stages(*step.pipeline))));
    if (step.streaming && step.streaming->rate && *step.streaming->rate > rate_of_io_tiles(*step.streaming))
        warn("streaming.rate", fmt::format("is {}, but {} I/O tile{} of {} exchange {}: a share of ipu_link.exchange_rate = {}.", to_string(*step.streaming->rate),
                                           step.streaming->io_tiles, step.streaming->io_tiles == 1 ? "" : "s", step.streaming->tiles,
                                           to_string(rate_of_io_tiles(*step.streaming)), to_string(ipu_link.exchange_rate)));
    if (step.streaming && step.streaming->rate && *step.streaming->rate > gateway.host_link_payload())
        warn("streaming.rate", fmt::format("is {}, but the Host-Link carries {}: gateway.host_link_rate times host_link_usable.",
                                           to_string(*step.streaming->rate), to_string(gateway.host_link_payload())));
    if (step.input.data == sample_source::synthetic || !machine_is_known)
        return;
    step_input input = step.input;
    input.pods = pods();
    if (input.links_bps() > static_cast<double>(host_links().value()))
        warn("input.links", fmt::format("is {} of {}{}, but the machine takes {} from them (gateway.host_rate, Host-Links): what goes beyond brings nothing.",
                                        input.links, to_string(input.link_rate),
                                        input.hosts_per_pod == 0 ? "" : fmt::format(" of each of {} hosts", input.hosts()),
                                        to_string(host_links())));
    if (input.hosts_per_pod != 0)
        return;
    const auto too_few = [&](const char* key, std::uint32_t value, const char* what) {
        if (value < input.pods)
            warn(key, fmt::format("is {}, but {} IPU-Machines are {} Pods, and each has a host at least (Scaling 7.5): "
                                  "write {} {} or more, or hosts_per_pod and those of one host.",
                                  value, pod.machines * pod.domains, input.pods, input.pods, what));
    };
    too_few("input.links", input.links, "links");
    if (input.data == sample_source::real)
        too_few("input.instances", input.instances, "instances");
}

void ipu_pod_config::check_buffers(std::vector<config_problem>& p) const
{
    const packet_format f = ipu_link.format();
    const auto check = [&](const char* key, const char* rate_key, data_size buffer, bandwidth rate, duration wire) {
        check_link_buffer(f, key, buffer, rate_key, rate, wire, ipu_link.transit, p);
    };
    const std::uint64_t wire = f.wire_bytes_of_one(f.max_payload_bytes);
    check_packet_time("ipu_link.rate", ipu_link.payload_rate(), wire, p);
    check_hop_time("ipu_link.latency", "times ipu_link.congestion", ipu_link.latency + ipu_link.congested_exchange(), p);
    // A lane of the exchange takes what one link brings; congestion is its time of flight.
    check("ipu.dma.receive_buffer", "ipu_link.rate x usable", ipu.dma.receive_buffer, ipu_link.payload_rate(), ipu_link.congested_exchange());
    check("ipu_link.buffer_per_vl", "rate x usable", ipu_link.buffer_per_vl, ipu_link.payload_rate(), ipu_link.latency);
    if (pod.domains > 1) {
        check_packet_time("gateway.gw_link_rate", gateway.gw_link_payload(), wire, p);
        check_packet_time("gateway.host_link_rate", gateway.host_link_payload(), wire, p);
        check("gateway.buffer", "gw_link_rate", gateway.buffer, gateway.gw_link_payload(), gateway.gw_link_latency);
        check("gateway.buffer", "host_link_rate", gateway.buffer, gateway.host_link_payload(), gateway.host_link_latency);
    }
}

namespace {

class configured_ipu_pod final : public configured_platform<ipu_pod_config, ipu_pod_planned_routing> {
public:
    explicit configured_ipu_pod(ipu_pod_config config) : configured_platform(std::move(config)) { config_.complete(); }
    const ipu_pod_config& as_read() const { return config_; }
    std::unique_ptr<machine> build(const core_fitter& fit) const override
    {
        routing().require_usable();
        return std::make_unique<ipu_pod_machine>(config_, routing(), fit);
    }
    void find_problems(const yaml_document& document, std::vector<problem>& problems) override
    {
        const ipu_shape shape = config_.shape();
        const fabric_plan& plan = routing().plan();
        bool wired = true;
        const auto check = [&](const std::string& key, bool given, const char* what, const std::vector<std::string>& wrong) {
            constexpr std::size_t k_show = 4;
            for (std::size_t i = 0; i < std::min(wrong.size(), k_show); ++i)
                add_problem(document, problems, key, fmt::format("wire {} wrongly: {}.", what, wrong[i]));
            if (wrong.empty() && given)
                problems.push_back({severity::warning, document.position_of(key), key,
                                    "exchange links of one way, or undo each other: every cable leads where it should."});
            wired = wired && wrong.empty();
        };
        const ipu_faults_config& faults = config_.faults;
        check("faults.swapped_cables", !faults.swapped_cables.empty(), "the ladder", wrong_cables(shape, plan));
        check("faults.swapped_gw_cables", !faults.swapped_gw_cables.empty(), "the gateways", wrong_gw_cables(shape, plan));
        check("faults.swapped_sync_cables", !faults.swapped_sync_cables.empty(), "the Sync-Links", wrong_sync_cables(shape, config_.sync_swaps()));
        if (!config_.run.routing.empty() || !wired)
            return;
        const auto& down = config_.faults.links_down;
        const bool by_links = std::any_of(down.begin(), down.end(), [](const ipu_link_fault& f) { return f.known_to_routing(); });
        refuse_faults(document, problems, by_links ? "faults.links_down" : "faults.gw_links_down");
    }
    std::vector<published_range> published_ranges(const abi::platform_table& group) const override
    {
        return gcl_ranges(config_.pod.topology, config_.pod.replica_size, firmware::replicas_of_domain(group), group.ranks);
    }
    bandwidth links_rate() const override { return std::min(platform::links_rate(), config_.ipu_link.exchange_rate); }
    void add_costs(message_costs& costs) const override
    {
        const ipu_shape s = config_.shape();
        const auto there_and_back_us = [&](std::uint32_t ranks, std::uint32_t stride) {
            const std::vector<duration> ways = ipu_sync_wires(s, config_.sync).ways(sync_zone{0, stride, ranks});
            return static_cast<double>(2 * std::max_element(ways.begin(), ways.end())->value() + config_.sync.register_latency.value()) / 1e6;
        };
        const abi::exchange_mode mode = config_.gcl.exchange;
        costs.sync_us = mode == abi::exchange_mode::syncless ? 0 : there_and_back_us(s.domain_ipus(), 1);
        costs.gateway_sync_us =
            mode == abi::exchange_mode::syncful && s.domains > 1 ? there_and_back_us(s.domains, s.domain_ipus()) : 0;
        costs.once_us = static_cast<double>(config_.ipu_link.congested_exchange().value()) / 1e6;
        leave_out_unknown_links(config_.faults.links_down, costs);
        costs.irregular_routes = true; // a way has several links, and a message takes one of them
    }
    std::optional<collective_bound> bound_by_cuts(const collective_case& c) const override
    {
        if (!cuts_)
            cuts_.emplace(config_.shape(), routing().plan());
        if (c.ranks_per_group != 0 || (!c.groups.empty() && c.groups != std::vector{config_.replica_groups()}))
            return std::nullopt;
        return cuts_->bound(c, c.groups.empty() ? 1 : config_.pod.replica_size);
    }
    std::string description() const override
    {
        const ipu_shape s = config_.shape();
        const ipu_link_config& l = config_.ipu_link;
        std::string text = fmt::format("IPU-Pod   {} IPU-Link domain{} of {} IPU-Machine{}, a {} of 2 x {} IPUs each; {} replica{} of {} IPU{}\n", s.domains,
                                       s.domains == 1 ? "" : "s", s.machines, s.machines == 1 ? "" : "s", name_of(s.topology), s.rungs(), config_.replicas() * s.domains,
                                       config_.replicas() * s.domains == 1 ? "" : "s", config_.pod.replica_size, config_.pod.replica_size == 1 ? "" : "s");
        text += fmt::format("Links     {} each, {} of it payload; six across a rung, two along the ladder, {}\n", to_string(l.rate), to_string(l.payload_rate()),
                            to_string(bandwidth(k_links_along * l.payload_rate().value())));
        if (s.domains > 1)
            text += fmt::format("Gateways  {} from an IPU, {} to each side, through a switch per slot\n", to_string(config_.gateway.host_link_rate),
                                to_string(config_.gateway.gw_link_rate));
        sync_zone all{0, 1, s.domain_ipus()};
        const std::vector<duration> ways = ipu_sync_wires(s, config_.sync).ways(all);
        const duration farthest = *std::max_element(ways.begin(), ways.end());
        text += fmt::format("Sync      {} a hop; a sync of one domain takes {} there and back; exchanges are {}\n", to_string(config_.sync.hop),
                            to_string(duration(2 * farthest.value())), name_of(config_.gcl.exchange));
        std::string ring;
        const std::uint32_t n = config_.replicas();
        for (std::uint32_t i = 0; i < n; ++i)
            ring += fmt::format("{}{}", i == 0 ? "" : " ", firmware::replica_at(config_.order(), false, n, i));
        text += fmt::format("Rings     of {} replicas, order {}\n", n, ring);
        return text + wiring_text(s);
    }

private:
    mutable std::optional<ipu_cuts> cuts_; ///< made when first asked for
};

/// A ladder of `rows` rungs. Short rings, so that descriptors go round and rings fill up.
firmware_bench_machine bench_pod(std::uint32_t rows, std::uint32_t cols, std::uint32_t)
{
    const std::uint32_t ipus = rows * cols;
    const bool whole = ipus % k_machine_ipus == 0; // other numbers are refused by the platform
    firmware_bench_machine m;
    m.words = fmt::format("{} IPUs of {} IPU-Machine{}", ipus, whole ? ipus / k_machine_ipus : 1, ipus <= k_machine_ipus ? "" : "s");
    m.file = fmt::format("platform: ipu_pod\nname: firmware_test\npod: {{machines: {}, partition: {}}}\nipu: {{dma: {{ring_entries: 4}}}}\nworkload:\n"
                         "- {{op: all_reduce, algorithms: [meet_in_the_middle, bidirectional_pair], sizes: [512 B, 4096 B]}}\n"
                         "- {{op: reduce_scatter, algorithms: [clockwise], sizes: [2048 B]}}\n"
                         "- {{op: all_to_all, algorithms: [direct], sizes: [1024 B], chunk: 1024 B}}\n",
                         whole ? ipus / k_machine_ipus : 1, whole ? k_machine_ipus : ipus);
    m.core = "ipu.core";
    m.links = {{"ipu0.0B", "faults.links_down=[{ipu: 0, controller: 0B, at: {}}]"}};
    return m;
}
constexpr firmware_bench_source k_firmware_bench = {2, 2, bench_pod};

/// From a part of an IPU-Machine up. A file with several domains has domains of that size, one with a single domain up
/// to a Pod64, the largest.
scaled_machine scaled_pod(const platform& like, std::uint32_t replicas)
{
    const abi::platform_table of_file = like.rank_table(0);
    const std::uint32_t size = of_file.replica_ranks, ipus = replicas * size,
                        largest = of_file.domain_ranks != 0 ? of_file.domain_ranks : k_pod_machines * k_machine_ipus;
    if ((replicas & (replicas - 1)) != 0 || ipus > 16 * largest || size > largest)
        return {};
    const std::uint32_t in_domain = std::min(ipus, largest), machines = std::max(1u, in_domain / k_machine_ipus);
    ipu_pod_config other = dynamic_cast<const configured_ipu_pod&>(like).as_read();
    ipu_pod_shape_config& pod = other.pod;
    pod.machines = machines;
    pod.domains = ipus / in_domain;
    pod.partition = std::min(in_domain, k_machine_ipus);
    scaled_machine m;
    m.settings = {fmt::format("pod.machines={}", pod.machines), fmt::format("pod.domains={}", pod.domains),
                  fmt::format("pod.partition={}", pod.partition)};
    if (machines == 1) { // no loop-back cables yet
        pod.topology = ipu_topology::mesh;
        m.settings.push_back("pod.topology=mesh");
        if (other.gcl.ring_order == ring_choice::serpent) // of a Barley twist only
            m.settings.push_back("gcl.ring_order=auto");
    }
    m.over_gateways = ipus > largest;
    m.missing = other.missing_faults();
    return m;
}

platform_info make_info()
{
    platform_info info = info_of<configured_ipu_pod>(
        "Graphcore IPU-Pod: IPU-Machines on a ladder of IPU-Links with a sync network, clusters of Pods over gateways");
    info.scaled = scaled_pod;
    info.firmware_bench = &k_firmware_bench;
    return info;
}

} // namespace

const platform_info k_ipu_pod_info = make_info();

} // namespace weft
