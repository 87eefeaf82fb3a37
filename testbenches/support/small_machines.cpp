// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "testbenches/support/small_machines.h"

#include "hw/tofino/tofino_switch.h"
#include "platforms/config/config_dump.h"
#include "platforms/switchml/aggregators.h"

namespace weft::test {

/// Values that nothing uses stand in the file, too.
static void keep_all(config_field& field)
{
    field.unused = false;
    for (config_field& child : field.children)
        keep_all(child);
}

template <class Config> static std::string text_of(const Config& config)
{
    config_field all = with_platform_key(describe(config), Config::k_platform);
    keep_all(all);
    return to_yaml(all);
}

std::string file_of(const tpu_v3_config& config) { return text_of(config); }
std::string file_of(const switchml_config& config) { return text_of(config); }
std::string file_of(const ub_mesh_config& config) { return text_of(config); }

void machine_kind<switchml_config>::look(const switchml_config&, switchml_machine& m, verdict& v)
{
    for (const auto& sw : m.switches())
        if (!v.failed && !sw->idle())
            v.unsound += std::string(sw->basename()) + " is not idle; ";
}

void machine_kind<ub_mesh_config>::look(const ub_mesh_config& config, ub_machine& m, verdict& v)
{
    const ub_fabric& ub = m.ub();
    const ub_topology topology(config.mesh, config.cables);
    const auto failed = [&](const std::string& name) {
        const auto& all = config.faults.npus;
        return std::any_of(all.begin(), all.end(), [&](const ub_npu_fault_config& f) { return f.npu == name; });
    };
    std::uint64_t wire_bits = 0, separated = 0, failed_npu_packets = 0, spare_packets = 0;
    for (std::uint32_t l = 0; l < topology.plan().links.size(); ++l) {
        const ub_link_plan& link = topology.plan().links[l];
        wire_bits += 8 * ub.engine().link_wire_bytes(ub.link_of(l));
        if (failed(topology.plan().routers[link.from].name) || failed(topology.plan().routers[link.to].name))
            failed_npu_packets += ub.engine().link_packets(ub.link_of(l));
    }
    for (const auto& [from, to] : ub.unreachable())
        separated += failed(ub.endpoint_name(from)) || failed(ub.endpoint_name(to)) ? 0 : 1;
    for (std::uint32_t rack = 0; config.mesh.backplane && rack < config.mesh.racks(); ++rack)
        spare_packets += ub.router_stats(topology.spare_router(rack)).packets_out;
    v.more.update({{"wire_bits", wire_bits},
                   {"separated", separated},
                   {"failed_npu_packets", failed_npu_packets},
                   {"spare_packets", spare_packets}});
    if (!v.failed && !ub.idle())
        v.unsound += "endpoints wait; ";
}

void machine_kind<ub_mesh_config>::check(const ub_mesh_config& config, const verdict& v)
{
    CHECK(v.stat("ub.not_sent") == 0);
    // An NPU that fails when the last answer is out takes acknowledgements with it, of packets that have all arrived.
    // Its peers give them up when the run is over, and find no one else unreachable.
    const bool failed_behind_the_end = v.restarts.empty() && !config.faults.npus.empty();
    CHECK((v.stat("ub.given_up") == 0 || failed_behind_the_end));
    CHECK(v.more.at("separated") == 0);
    CHECK(v.stat("ub.delivered") == v.stat("ub.sent"));
}

std::vector<collective_spec> everything(const std::vector<std::uint64_t>& bytes)
{
    using abi::algorithm;
    using abi::collective_op;
    return {spec(collective_op::all_reduce, {algorithm::ring_1d, algorithm::two_d, algorithm::row_pair}, bytes),
            spec(collective_op::reduce_scatter, {algorithm::ring_1d}, bytes),
            spec(collective_op::all_gather, {algorithm::ring_1d}, bytes),
            spec(collective_op::broadcast, {algorithm::mesh_tree}, bytes),
            spec(collective_op::all_to_all, {algorithm::direct}, bytes)};
}

std::vector<aggregator_kind> aggregator_settings()
{
    std::vector<aggregator_kind> all;
    for (const aggregator_kind kind : {aggregator_kind::model, aggregator_kind::rtl, aggregator_kind::lockstep})
        if (aggregator_refusal(kind, tofino_config{}).empty())
            all.push_back(kind);
    return all;
}

} // namespace weft::test
