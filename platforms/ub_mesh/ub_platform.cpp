// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A UB-Mesh machine as the command line sees it: reading, description, proof.
#include "platforms/machine/configured_platform.h"
#include "platforms/ub_mesh/ub_bill_costs.h"
#include "platforms/ub_mesh/ub_cuts.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "hw/ub/ub_link.h"
#include "hw/ub/ub_notices.h"

#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace weft {

namespace {

std::string size_text(const ub_shape& m)
{
    std::string text = fmt::format("{} NPUs: ", m.ranks());
    if (m.pods > 1)
        text += fmt::format("{} pods of ", m.pods);
    if (m.racks_per_pod() > 1)
        text += fmt::format("{} x {} racks of ", m.rack_rows, m.rack_cols);
    return text + fmt::format("{} board{} of {}", m.boards, m.boards == 1 ? "" : "s", m.npus);
}

/// Sources that still use a link send again and again until they hear that it has failed; firmware may not wait so
/// long. "" when that is soon enough.
std::string late_notice(const ub_mesh_config& config, const std::string& fault, std::uint64_t notice_ps)
{
    const bool hop_by_hop = config.faults.notification == ub_notification::hop_by_hop;
    std::string what;
    if (notice_ps > config.run.firmware_timeout.value())
        what = fmt::format(
            "and firmware waits no longer than firmware_timeout = {}, so a collective that loses packets on "
            "the link may end as failed",
            to_string(config.run.firmware_timeout));
    else if (notice_ps > config.ub.rtp_tries_ps())
        what = fmt::format(
            "when ub.rtp_tries = {} from ub.rtp_timeout = {} on have ended, at {}: it goes on to try every "
            "{} until then",
            config.ub.rtp_tries, to_string(config.ub.rtp_timeout), rounded_text(duration(config.ub.rtp_tries_ps())),
            rounded_text(duration(config.ub.rtp_longest_wait_ps())));
    else
        return {};
    return fmt::format(
        "is {}: the last source hears of the failure of faults.{} after {}, {}; write {}a shorter {}.",
        name_of(config.faults.notification), fault, rounded_text(duration(notice_ps)), what,
        hop_by_hop ? "direct, or " : "",
        hop_by_hop ? "faults.flood_per_hop" : "ub.detection, faults.notice_software or faults.table_write");
}

class configured_ub_mesh final : public configured_platform<ub_mesh_config, ub_routes> {
public:
    using configured_platform::configured_platform;
    std::vector<std::string> input_files() const override { return {config_.npu.core.elf, config_.run.routing, config_.run.tuning, config_.prices}; }
    bandwidth links_rate() const override { return config_.links_rate(); }
    std::optional<collective_bound> bound_by_cuts(const collective_case& c) const override
    {
        const ub_routes& routes = routing();
        if (config_.ranks() != config_.mesh.ranks() || routes.tables || !routes.problem().empty())
            return std::nullopt;
        const ub_cuts cuts(routes.plan, routes.down,
                           config_.ub.payload_efficiency() * static_cast<double>(config_.ub.lane_rate.value()));
        if (!c.groups.empty()) {
            std::vector<abi::platform_table> tables;
            for (std::uint32_t rank = 0; rank < ranks(); ++rank)
                tables.push_back(rank_table(rank));
            const std::vector<rank_list> lists =
                find_groups(c.groups, ranks(), [&](std::uint32_t rank) -> const abi::platform_table& {
                    return tables[rank];
                }).lists;
            const auto longest = std::max_element(
                lists.begin(), lists.end(), [](const rank_list& a, const rank_list& b) { return a.size() < b.size(); });
            return longest == lists.end() || longest->size() < 2 ? std::nullopt : cuts.of_group(c, *longest);
        }
        // Inside a rack by shortest paths, and without switches, bounds.h knows all links that are used.
        const bool switches = config_.mesh.racks() > 1 || (config_.mesh.backplane && routes.all_paths);
        if (c.op != abi::collective_op::all_to_all || !switches)
            return std::nullopt;
        std::optional<collective_bound> bound = cuts.of_all_to_all(c.size_bytes, rank_table(0));
        if (bound)
            bound->beside_dimensions = true;
        return bound;
    }
    machine_links working_links() const override
    {
        const ub_routes& routes = routing();
        // Others stand in, or ranks close up.
        const auto later = [](const ub_npu_fault_config& f) { return f.at.value() != 0; };
        if (!routes.problem().empty() || std::any_of(config_.faults.npus.begin(), config_.faults.npus.end(), later))
            return {};
        const ub_plan& plan = routes.plan;
        std::vector<double> lanes;
        for (std::uint32_t l = 0; l < plan.links.size(); ++l)
            lanes.push_back(routes.down.empty() || !routes.down[l] ? plan.links[l].lanes : 0);
        for (const ub_faulty_link& f : faulty_links(config_, *routes.topology)) {
            if (f.fault->at.value() != 0)
                continue;
            for (const std::uint32_t l : {f.link, f.reverse})
                lanes[l] = f.fault->until ? plan.links[l].lanes : f.fault->lanes ? std::min<double>(lanes[l], *f.fault->lanes) : lanes[l];
        }
        const double lane_bytes_per_us = config_.ub.payload_efficiency() * static_cast<double>(config_.ub.lane_rate.value()) / 8e6;
        machine_links all;
        all.routers = static_cast<std::uint32_t>(plan.routers.size());
        for (std::uint32_t l = 0; l < plan.links.size(); ++l)
            if (lanes[l] > 0)
                all.links.push_back({plan.links[l].from, plan.links[l].to, lanes[l] * lane_bytes_per_us});
        // A port for each of two dies.
        const double ports = config_.ub.payload_share() * static_cast<double>(2 * config_.ub.local_port_rate.value()) / 8e6;
        for (const std::uint32_t router : routers_of_ranks(config_, *routes.topology))
            all.ranks.push_back({router, ports});
        all.router_name = [&plan](std::uint32_t router) { return plan.routers[router].name; };
        return all;
    }
    std::unique_ptr<machine> build(const core_fitter& fit) const override
    {
        return std::make_unique<ub_machine>(config_, shared_routing(), fit);
    }

    void add_costs(message_costs& costs) const override
    {
        set_hops(costs);
        const npu_ccu_config& unit = config_.npu.ccu;
        // Links along a dimension are at one die: those along X at the first, those along Y at the second. Queues read
        // for both.
        set_ports(costs, config_.npu.chip(), config_.mesh.boards > 1 && config_.mesh.npus > 1 ? 2 : 1, config_.ub.local_port_rate, config_.ub.format(), 2);
        if (config_.has_ccus())
            set_units(costs);
        // Each cost several times what was predicted, and is off where nobody sets it.
        const ub_config as_shipped;
        for (const auto& [key, set] : {std::pair{"ub.spreading: flow", config_.ub.spreading == ub_spreading::flow},
                                       {"ub.transmit_queue", config_.ub.transmit_queue < as_shipped.transmit_queue},
                                       {"ub.rtp_window", config_.ub.transport == ub_transport::rtp && config_.ub.rtp_window < as_shipped.rtp_window}})
            if (set)
                costs.leaves_out = key;
        costs.flows_take_one_path = config_.ub.spreading == ub_spreading::flow;
        if (!config_.ub.buffers_cover_round_trip && routing().problem().empty())
            for (const ub_link_plan& l : routing().plan.links)
                if (routing().plan.routers[l.from].device == ub_device::npu)
                    costs.credits_share = std::min(costs.credits_share,
                                                   ub_reachable_share(config_.ub, l.lanes, l.propagation, routing().plan.routers[l.to].device));
        costs.unit_access_us = access_us_of(config_.npu.chip(), unit.register_latency);
        costs.unit_start_us = static_cast<double>(unit.task_start.value()) / 1e6;
        costs.unit_bits_us = static_cast<double>(cycles_to_ps(unit.check_bit_cycles.value(), unit.clock)) / 1e6;
    }

    void read_files(const yaml_document& document, std::vector<problem>& problems) override
    {
        if (config_.prices.empty())
            return;
        try {
            prices_ = read_prices(config_.prices, problems);
        } catch (const user_error& e) {
            add_problems_of_file(document, problems, "prices", e);
        }
    }

    void find_problems(const yaml_document& document, std::vector<problem>& problems) override
    {
        if (!routing().problem().empty()) {
            add_problem(document, problems, routing().problem_key(), routing().problem());
            return;
        }
        for (const config_problem& w : warnings())
            add_problem(document, problems, w.key, w.message, w.level);
    }

    std::string description() const override
    {
        const ub_shape& m = config_.mesh;
        const ub_config& ub = config_.ub;
        std::string text = fmt::format("UB-Mesh   {}; inside a rack {}", size_text(m), name_of(m.rack));
        if (m.racks_per_pod() > 1)
            text += fmt::format(", between racks {}", name_of(m.pod));
        text += fmt::format("{}\n", m.hrs ? ", HRS" : "");
        if (config_.ranks() != m.ranks())
            text += fmt::format("Job       {} of {} NPUs\n", config_.ranks(), m.ranks());
        text += routing().topology->ledger().text();
        text += fmt::format(
            "Lanes     {:.5g} Gbps each; x4 carries {:.5g} Gbps net of FEC; full packets leave {:.1f} % of the raw rate to "
            "payload\n",
            static_cast<double>(ub.lane_rate.value()) / 1e9, static_cast<double>(ub.link_rate(4).value()) / 1e9,
            100 * ub.payload_efficiency());
        text += fmt::format("Packets   up to {} of payload in {} flits of {}; {} VLs: {} classes of {}\n",
                            to_string(ub.max_payload),
                            ub.format().wire_bytes_of_one(ub.max_payload.value()) / ub.flit.value(), to_string(ub.flit),
                            k_ub_vls, k_ub_classes, k_ub_lanes_per_class);
        if (const std::uint64_t nics = routing().topology->ledger().nics; nics > 0)
            text += config_.run.host && config_.run.host->checkpoint
                        ? fmt::format("DCN       {} uplinks, one a NIC, {} each way; a checkpoint of {} an NPU\n", nics, to_string(config_.nic.rate),
                                      to_string(config_.run.host->checkpoint->state))
                        : fmt::format("DCN       {} uplinks, one a NIC; what is beyond them is not modelled\n", nics);
        return text + describe_faults(config_) + notices_text();
    }

    std::string routing_report() const override
    {
        if (!prices_)
            return routing().report();
        const ub_comparison comparison(*prices_);
        return routing().report() + "\n" + comparison.text(bill_of(*routing().topology)) +
               (config_.mesh.hrs ? comparison.text()
                                 : "The networks of Fig. 21, 8192 NPUs each, side by side: `weft check` of a machine with HRS, as pod.yaml\n") +
               "\n";
    }

private:
    void set_units(message_costs& costs) const
    {
        const npu_ccu_config& unit = config_.npu.ccu;
        const double latency_us = static_cast<double>(config_.npu.hbm.latency.value()) / 1e6;
        costs.units = unit.capacities();
        costs.unit_reduce_rate = static_cast<double>(unit.reduce_rate.value()) / 8e6;
        costs.unit_sram_rate = static_cast<double>(unit.sram_rate.value()) / 8e6;
        costs.unit_segment = static_cast<double>(unit.segment.value());
        if (latency_us > 0)
            costs.unit_read_rate = unit.read_ahead * static_cast<double>(config_.ub.max_payload.value()) / latency_us;
    }
    /// Along each dimension the head of a packet on the first shortest path to the next rank, switches included.
    void set_hops(message_costs& costs) const
    {
        const ub_routes& routes = routing();
        const abi::platform_table table = rank_table(0);
        if (!routes.problem().empty() || !routes.plan.paths || config_.ranks() != config_.mesh.ranks())
            return;
        const std::vector<std::uint32_t> routers = routers_of_ranks(config_, *routes.topology);
        std::uint32_t next = 1;
        for (std::uint32_t d = table.dim_count; d-- > 0; next *= table.dims[d]) {
            const std::vector<ub_path> paths =
                table.dims[d] > 1 ? routes.plan.paths->paths(routers[0], routers[next], routes.down) : std::vector<ub_path>{};
            if (paths.empty() || paths.front().kind != ub_path_kind::shortest)
                continue;
            const std::uint64_t head_ps = ub_pipeline(config_.ub, ub_device::npu).value() + ub_way_ps(config_.ub, routes.plan, paths.front().links);
            costs.hop_us[d] = static_cast<double>(head_ps) / 1e6;
        }
    }
    /// What can be told only when paths are known.
    std::vector<config_problem> warnings() const
    {
        std::vector<config_problem> all;
        if (const std::string idle = routing().unused_kind(); !idle.empty())
            all.push_back({severity::warning, "ub.paths", idle});
        if (config_.ub.transport != ub_transport::rtp)
            return all;
        const ub_notice_times times = notice_times();
        const std::vector<ub_faulty_link> faulty = faulty_links(config_, *routing().topology);
        for (std::size_t i = 0; i < faulty.size(); ++i) {
            if (faulty[i].fault->at.value() == 0 || !faulty[i].fault->goes_down())
                continue;
            const std::string late = late_notice(config_, fmt::format("links.{}", i), expected_of(times, faulty[i]).at_most_ps);
            if (!late.empty())
                all.push_back({severity::warning, "faults.notification", late});
        }
        const std::vector<ub_faulty_device> devices = faulty_devices(config_, *routing().topology);
        for (std::size_t i = 0; i < devices.size(); ++i) {
            if (devices[i].fault->at.value() == 0 || devices[i].interrupts)
                continue;
            const std::string late = late_notice(config_, fmt::format("devices.{}", i), expected_of(times, devices[i]).at_most_ps);
            if (!late.empty())
                all.push_back({severity::warning, "faults.notification", late});
        }
        return all;
    }
    struct expected {
        std::size_t sources;
        /// With nobody else on the wires, and with full packets and all other notices on them.
        std::uint64_t last_ps, at_most_ps;
    };
    ub_notice_times notice_times() const { return {routing().plan, config_.ub, config_.faults, routing().down}; }
    expected expected_of(const ub_notice_times& times, const ub_failed_part& part, const std::vector<std::uint32_t>& affected) const
    {
        const std::vector<ub_notice> all = times.of(part, affected);
        return {all.size(), ub_notice_times::last_after_ps(all),
                times.at_most_ps(part, affected, times.messages_of(config_.failures(), affected.size()))};
    }
    expected expected_of(const ub_notice_times& times, const ub_faulty_device& d) const
    {
        return expected_of(times, ub_failed_part::of_device(d.router), routing().sources_over(d.links));
    }
    expected expected_of(const ub_notice_times& times, const ub_faulty_link& f) const
    {
        return expected_of(times, f.link, routing().sources_over(f.link));
    }
    std::string notice_line(const expected& e, const std::string& what) const
    {
        if (e.sources == 0)
            return fmt::format("Notices   none: sources go on to use {}\n", what);
        return fmt::format("Notices   {}: {} sources have left {} within {} of its failure when nothing else is on the wires, and {} under full load\n",
                           name_of(config_.faults.notification), e.sources, what, rounded_text(duration(e.last_ps)),
                           rounded_text(duration(e.at_most_ps)));
    }
    /// When the sources of a link that fails while the machine runs have left it.
    std::string notices_text() const
    {
        std::string text;
        const ub_notice_times times = notice_times();
        for (const ub_faulty_link& f : faulty_links(config_, *routing().topology))
            if (f.fault->at.value() != 0 && f.fault->goes_down())
                text += notice_line(expected_of(times, f), fmt::format("{} - {}", f.fault->from, f.fault->to));
        for (const ub_faulty_device& d : faulty_devices(config_, *routing().topology))
            if (d.fault->at.value() != 0 && !d.interrupts)
                text += notice_line(expected_of(times, d), d.fault->device);
        return text;
    }

    std::optional<ub_prices> prices_;
};

/// As the bench of a mesh: small rings and chunks.
firmware_bench_machine bench_boards(std::uint32_t rows, std::uint32_t cols, std::uint32_t rank)
{
    const std::string other = cols > 1 ? "npu(p0,r0,b0,1)" : "npu(p0,r0,b1,0)";
    return {fmt::format("{} of {} NPUs of UB-Mesh", rows == 1 ? "board" : fmt::format("{} boards", rows), cols),
            fmt::format("platform: ub_mesh\nname: firmware_test\nmesh: {{boards: {}, npus: {}, backplane: false}}\n"
                        "npu: {{dma: {{ring_entries: 4}}}}\nworkload:\n"
                        "- {{op: all_reduce, algorithms: [ring_1d], sizes: [512 B, 4096 B], chunk: 256 B}}\n"
                        "- {{op: broadcast, algorithms: [mesh_tree], sizes: [4096 B], chunk: 256 B, root: {}}}\n"
                        "- {{op: all_to_all, algorithms: [direct], sizes: [1024 B], chunk: 1024 B}}\n",
                        rows, cols, rank),
            "npu.core",
            {{fmt::format("npu(p0,r0,b0,0) to {}", other),
              fmt::format("faults.links=[{{from: \"npu(p0,r0,b0,0)\", to: \"{}\", at: {{}}}}]", other)}}};
}
constexpr firmware_bench_source k_firmware_bench = {2, 2, bench_boards};

platform_info make_info()
{
    platform_info info = info_of<configured_ub_mesh>(
        "Huawei UB-Mesh: boards, racks, pods and SuperPods of NPUs as full meshes of Unified Bus links, all-path source routing, spare NPUs; "
        "and its baselines");
    info.firmware_bench = &k_firmware_bench;
    return info;
}

} // namespace

const platform_info k_ub_mesh_info = make_info();

} // namespace weft
