// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the YAML of a UB-Mesh machine means: checks that need more than one section.
#include "firmware/collectives/ccu_plan.h"
#include "firmware/collectives/supports.h"
#include "hw/ub/ub_link.h"
#include "platforms/machine/machine_checks.h"
#include "platforms/machine/workload_checks.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace weft {

namespace {

constexpr std::uint64_t k_most_checkpoint_messages = 1 << 26; ///< of all NPUs: each takes some 100 B of host memory
constexpr std::uint32_t k_most_ranks = 8192;

/// As long as nothing is chosen, auto may take any algorithm that the machine can have.
bool uses_ccus(const ub_mesh_config& c)
{
    return runs_any(c.run, [](abi::algorithm a) { return abi::is_in(abi::k_by_ccu, a) || a == k_auto_algorithm; });
}

bool streams(const ub_mesh_config& c) { return c.run.host && !c.run.host->traffic.empty(); }
bool saves(const ub_mesh_config& c) { return c.run.host && c.run.host->checkpoint.has_value(); }

void add_host_rules(std::vector<key_rule<ub_mesh_config>>& rules)
{
    for (const char* key : {"cpu.memory_rate", "cpu.memory_latency", "ub.cpu_latency"})
        rules.push_back({key, "with host.traffic", streams});
    for (const char* key : {"nic.dcn_rate", "nic.dcn_latency", "nic.buffer", "ub.nic_latency"})
        rules.push_back({key, "with host.checkpoint", saves});
    rules.push_back({"host.checkpoint.every", "with training_step", [](const ub_mesh_config& c) { return c.run.training_step.has_value(); }});
}

/// Where nothing turns between dies the buffers of links are still raised to a round trip with a turn.
bool crossing_raises_buffers(const ub_mesh_config& c)
{
    if (!no_errors(c.ub.validate()) || !no_errors(c.run.validate()))
        return true; // not computed with
    const auto depth = [&](duration die_crossing) {
        ub_config ub = c.ub;
        ub.die_crossing = die_crossing;
        return ub_depth_cells(ub, c.mesh.x_lanes, c.cables.x, ub_device::npu);
    };
    // Zero is a value like others: it makes a difference where the default would.
    return depth(c.ub.die_crossing) != depth(duration(0)) || depth(c.ub.die_crossing) != depth(ub_config{}.die_crossing);
}

/// An NPU's part of the lanes that leaves have to HRS of pods, as ub_full_mesh_2d.cpp builds them: as many of each
/// leaf, and a leaf of each board for each backplane, whatever NPUs there are.
double lanes_to_hrs(const ub_shape& mesh)
{
    return static_cast<double>(ub_generator::planes_of(mesh) * ub_generator::k_hrs_per_leaf * ub_generator::hrs_lanes_of(mesh)) / mesh.npus;
}

} // namespace

std::vector<config_problem> ub_shape::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    if (!no_errors(p))
        return p;
    if (ranks() < 2)
        p.push_back({severity::error, "", "has one NPU; a machine needs at least two."});
    if (!backplane && racks() > 1)
        p.push_back(
            {severity::error, "backplane", "is false, but racks are connected by the LRS of their backplanes."});
    if (!hrs && pods > 1)
        p.push_back({severity::error, "hrs", "is false, but several pods are connected by HRS only; write hrs: true."});
    if (!backplane && hrs)
        p.push_back({severity::error, "hrs",
                     "is true, but HRS are connected to the LRS of backplanes; write backplane: true."});
    if (pod == ub_pod_kind::clos && !hrs)
        p.push_back({severity::error, "hrs", "is false, but pod: clos connects racks by HRS; write hrs: true."});
    return p;
}

std::vector<config_problem> ub_cables::validate() const { return limit_problems(*this); }

npu_memory_config::npu_memory_config()
{
    capacity = data_size(128ull << 30);
    rate = bandwidth(25'600'000'000'000);
}

npu_core_config::npu_core_config() { clock = frequency(1'000'000'000); }

std::vector<std::uint32_t> ub_mesh_config::positions() const
{
    const std::vector<std::uint32_t> failed = masked_npus(*this);
    std::vector<std::uint32_t> all;
    for (std::uint32_t n = 0; n < mesh.ranks(); ++n)
        if (std::find(failed.begin(), failed.end(), n) == failed.end())
            all.push_back(n);
    return all;
}

std::uint32_t ub_mesh_config::ranks() const
{
    return mesh.ranks() - static_cast<std::uint32_t>(masked_npus(*this).size());
}

abi::gapped_mesh ub_mesh_config::mesh_with_gaps() const
{
    const std::vector<std::uint32_t> missing = masked_npus(*this);
    abi::gapped_mesh m;
    if (mesh.ranks() != mesh.boards * mesh.npus || mesh.rack != ub_rack_kind::full_mesh_2d || mesh.boards < 2 || mesh.npus < 2 ||
        missing.size() > abi::k_most_gaps)
        return m;
    const auto mbps = [&](std::uint32_t links, double lanes) {
        return abi::mbps_of(static_cast<std::uint64_t>(ub.payload_efficiency() * static_cast<double>(ub.lane_rate.value()) * links * lanes));
    };
    m.rows = static_cast<std::uint16_t>(mesh.boards);
    m.cols = static_cast<std::uint16_t>(mesh.npus);
    m.row_mbps = mbps(mesh.npus - 1, mesh.x_lanes);
    m.col_mbps = mbps(mesh.boards - 1, mesh.y_lanes);
    for (const std::uint32_t n : missing)
        m.gap[m.gaps++] = static_cast<std::uint16_t>(n);
    std::sort(m.gap, m.gap + m.gaps);
    return m;
}

abi::platform_table ub_mesh_config::rank_table(std::uint32_t rank) const
{
    abi::platform_table t;
    t.rank = rank;
    t.ranks = ranks();
    t.ccus = has_ccus() ? abi::ccu::k_dies : 0;
    t.ccu_channels = has_ccus() ? npu.ccu.channels : 0;
    const auto dimension = [&](std::uint32_t size, std::uint32_t coordinate, double lanes = 0) {
        if (size == 1)
            return;
        t.rate_mbps[t.dim_count] =
            abi::mbps_of(static_cast<std::uint64_t>(ub.payload_efficiency() * (static_cast<double>(ub.lane_rate.value()) * lanes)));
        t.dims[t.dim_count] = size;
        t.coord[t.dim_count] = coordinate;
        t.kind[t.dim_count] = abi::dimension_kind::full;
        ++t.dim_count;
    };
    if (t.ranks != mesh.ranks()) { // holes: no coordinates any more, but everybody reaches everybody
        t.on_mesh = mesh_with_gaps();
        // Nobody knows where its ranks stand: what goes two ways takes two links.
        const double lanes = mesh.rack == ub_rack_kind::full_mesh_2d ? (mesh.npus - 1) * mesh.x_lanes + (mesh.boards - 1) * mesh.y_lanes : ub_topology::k_npu_lanes;
        dimension(t.ranks, rank, t.on_mesh.rows != 0 ? 0 : lanes / 2);
        return t;
    }
    const std::uint32_t rack = rank / mesh.npus_per_rack() % mesh.racks_per_pod();
    // Lanes of an NPU along a dimension; LRS and HRS share theirs among all, so that each has its part.
    const bool direct = mesh.rack == ub_rack_kind::full_mesh_2d;
    const double to_rack = static_cast<double>(mesh.rack_link_lanes) / mesh.npus_per_rack();
    dimension(mesh.pods, rank / mesh.npus_per_rack() / mesh.racks_per_pod(), lanes_to_hrs(mesh));
    dimension(mesh.rack_rows, rack / mesh.rack_cols, (mesh.rack_rows - 1) * to_rack);
    dimension(mesh.rack_cols, rack % mesh.rack_cols, (mesh.rack_cols - 1) * to_rack);
    dimension(mesh.boards, rank / mesh.npus % mesh.boards, direct ? (mesh.boards - 1) * mesh.y_lanes : ub_topology::k_npu_lanes);
    dimension(mesh.npus, rank % mesh.npus, direct ? (mesh.npus - 1) * mesh.x_lanes : ub_topology::k_npu_lanes);
    return t;
}

bool ub_mesh_config::has_ccus() const
{
    return npu.ccu.presence == ccu_presence::used ? uses_ccus(*this) : npu.ccu.presence == ccu_presence::always;
}

duration ub_mesh_config::hop_latency(std::uint32_t dimension) const
{
    std::vector<duration> wires; // of rank_table()
    const auto add = [&](std::uint32_t size, duration wire) {
        if (size > 1)
            wires.push_back(wire);
    };
    add(mesh.pods, cables.hrs + cables.hrs + ub.hrs_latency);
    add(mesh.rack_rows, cables.alpha);
    add(mesh.rack_cols, cables.z);
    add(mesh.boards, cables.y);
    add(mesh.npus, cables.x);
    return ub.npu_latency + ub.npu_latency + ub.mac_latency + (dimension < wires.size() ? wires[dimension] : duration());
}

bandwidth ub_mesh_config::links_rate() const
{
    std::uint32_t lanes = ub_topology::k_npu_lanes;
    // Shortest paths in a rack take no switch.
    const bool switched = mesh.racks() > 1 || (mesh.backplane && ub.paths != ub_path_use::shortest);
    if (mesh.rack == ub_rack_kind::full_mesh_2d)
        lanes = (mesh.npus - 1) * mesh.x_lanes + (mesh.boards - 1) * mesh.y_lanes +
                (switched ? mesh.backplane_lanes : 0);
    const double of_lanes = ub.payload_efficiency() * static_cast<double>(ub.lane_rate.value() * lanes);
    const double of_ports = ub.payload_share() * static_cast<double>(2 * ub.local_port_rate.value()); // a die each
    return bandwidth(static_cast<std::uint64_t>(std::min(of_lanes, of_ports)));
}

void ub_mesh_config::deepen_buffers()
{
    ub.buffer_per_vl = data_size(4480 << 10);
    ub.transmit_queue = 24576;
    npu.dma.receive_buffer = data_size(4608 << 10);
    npu.dma.read_ahead = 4096;
}

bool ub_mesh_config::has_bit_errors() const
{
    return ub.bit_error_rate > 0 || std::any_of(faults.links.begin(), faults.links.end(), [](const ub_link_fault_config& f) {
               return f.bit_error_rate.value_or(0) > 0;
           });
}

/// What of the CCUs `algo` lacks among ranks that are told `table`, and the remedy; "" where more of it would not help.
std::string ub_mesh_config::lack_of_units(abi::collective_op op, abi::algorithm algo, bool transposed, const abi::platform_table& table) const
{
    if (!abi::is_in(abi::k_by_ccu, algo))
        return "";
    if (npu.ccu.presence == ccu_presence::never)
        return "npu.ccu.presence is never; write used or always";
    abi::platform_table with_all = table;
    with_all.ccu_channels = firmware::k_ccu_channels;
    const char* reason = "";
    const std::uint32_t needed = firmware::ccu_channels_of(op, algo, table), along_lines = firmware::ccu_channels_of(op, abi::algorithm::ccu_axes, table);
    if (!firmware::supports(op, algo, with_all, transposed, &reason) || needed <= npu.ccu.channels)
        return "";
    return fmt::format("it needs {} channel{}, one to each other NPU{}, but npu.ccu.channels is {}; write {} or more{}", needed, needed == 1 ? "" : "s",
                       algo == abi::algorithm::ccu_axes ? " of the own lines" : "", npu.ccu.channels, needed,
                       along_lines < needed ? fmt::format(" (ccu_axes needs {})", along_lines) : "");
}

std::string ub_mesh_config::refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const
{
    const char* reason = "";
    if (const abi::platform_table table = rank_table(0); !firmware::supports(op, algo, table, transposed, &reason)) {
        const std::string where =
            ranks() == mesh.ranks() ? "here" : fmt::format("on the {} NPUs that are left", ranks());
        const std::string lack = lack_of_units(op, algo, transposed, table);
        return fmt::format("{} by {} cannot run {}: {}.", name_of(op), name_of(algo), where, lack.empty() ? reason : lack);
    }
    if (ranks() == mesh.ranks() || faults.only_from_the_start())
        return {};
    ub_mesh_config before = *this; // a job that loses NPUs begins with all of them
    before.faults.npus.clear();
    return before.refusal_of(op, algo, transposed);
}

namespace {
abi::command command_of_units(const collective_case& c)
{
    abi::command command;
    command.op = c.op;
    command.algo = c.algo;
    command.type = c.type;
    command.redop = reduces(c.op) ? abi::reduce_op::sum : abi::reduce_op::none;
    command.count = c.size_bytes / abi::element_bytes(c.type);
    command.root = c.root;
    return command;
}

/// Why CCUs cannot carry out `command` among the ranks of `table`: each reason with its remedy.
std::vector<std::string> unit_refusals(const abi::platform_table& table, const abi::command& command, const firmware::ccu_capacities& capacities)
{
    std::vector<std::string> all;
    const firmware::ccu_lacks lacks = firmware::ccu_lacks_of(table, command, capacities);
    for (std::uint32_t i = 0; i < lacks.count; ++i) {
        const firmware::ccu_lack& lack = lacks.of[i];
        std::string what = lack.key;
        std::replace(what.begin(), what.end(), '_', ' ');
        all.push_back(fmt::format("it needs {} {}, but npu.ccu.{} is {}; write {} or more", lack.needs, what, lack.key, lack.has, lack.needs));
    }
    if (!all.empty())
        return all;
    const abi::status refused = firmware::ccu_refusal(table, command, capacities);
    if (refused.ok())
        return all;
    const std::string_view text = refused.where;
    const std::size_t remedy = std::min(text.find(';'), text.size());
    return {fmt::format("{} ({}){}; npu.ccu says what a unit has", text.substr(0, remedy), refused.detail, text.substr(remedy))};
}

/// What of a CCU is too small for all programs of `command` together; "" when nothing is.
std::string unit_shortage(const abi::platform_table& table, const abi::command& command, const firmware::ccu_capacities& capacities)
{
    const firmware::ccu_plan plan(table, command, capacities);
    for (std::uint32_t die = 0; die < abi::ccu::k_dies; ++die) {
        const firmware::ccu_use use = plan.use_of(die);
        if (use.instructions > capacities.instructions)
            return fmt::format("has programs of {} instructions together, but npu.ccu.instructions is {}",
                               use.instructions, capacities.instructions);
        if (use.programs > firmware::k_ccu_programs)
            return fmt::format("has {} programs, but firmware remembers {}", use.programs, firmware::k_ccu_programs);
    }
    return "";
}

/// Ranks that use their CCUs together, as the first of them is told of them.
struct unit_users {
    abi::platform_table table;
    std::string place; ///< "here", "among ranks 0 to 7"
};

/// One of each shape: they have one plan. `bank` is that of their semaphores.
std::vector<unit_users> users_of_groups(const std::vector<rank_list>& groups, const table_of_rank& table_of, std::uint32_t bank)
{
    std::vector<unit_users> users;
    for (const rank_list& list : groups) {
        const abi::platform_table first = tables_of_group(list, table_of, bank).front();
        const bool is_known = std::any_of(users.begin(), users.end(), [&](const unit_users& u) {
            return u.table.ranks == first.ranks && u.table.dim_count == first.dim_count &&
                   std::equal(std::begin(first.dims), std::end(first.dims), std::begin(u.table.dims));
        });
        if (!is_known)
            users.push_back({first, "among " + text_of_group(list)});
    }
    return users;
}

bool uses_units(const collective_spec& spec)
{
    return std::any_of(spec.algorithms.begin(), spec.algorithms.end(), [](abi::algorithm a) { return abi::is_in(abi::k_by_ccu, a); });
}

/// What CCUs are too small for, said once for each algorithm.
class unit_checks {
public:
    unit_checks(const firmware::ccu_capacities& capacities, std::vector<config_problem>& p) : capacities_(capacities), p_(p) {}

    void check(const collective_case& c, const std::string& key, const std::vector<unit_users>& users)
    {
        const std::string what = fmt::format("{} by {} of {}", name_of(c.op), name_of(c.algo), to_string(data_size(c.size_bytes)));
        const abi::command command = command_of_units(c);
        for (const unit_users& u : users) {
            if (u.table.ranks < 2 || refused_.count(c.algo) != 0)
                continue;
            for (const std::string& why : unit_refusals(u.table, command, capacities_)) {
                refused_.insert(c.algo);
                p_.push_back({severity::error, key, fmt::format("{} cannot run {}: {}.", what, u.place, why)});
            }
            if (refused_.count(c.algo) != 0 || c.size_bytes < abi::element_bytes(c.type) || short_of_.count(c.algo) != 0)
                continue;
            if (const std::string lack = unit_shortage(u.table, command, capacities_); !lack.empty()) {
                short_of_.insert(c.algo);
                p_.push_back({severity::warning, key, fmt::format("{} {}; the core writes some anew within the time of the collective.", what, lack)});
            }
        }
    }

private:
    const firmware::ccu_capacities& capacities_;
    std::vector<config_problem>& p_;
    std::set<abi::algorithm> refused_, short_of_;
};

/// Of an entry of the workload.
void check_units_of(const collective_spec& spec, const std::string& entry, const std::vector<unit_users>& users,
                    const firmware::ccu_capacities& capacities, std::vector<config_problem>& p)
{
    unit_checks checks(capacities, p);
    for (const collective_case& c : spec.cases())
        if (const auto in_file = std::find(spec.algorithms.begin(), spec.algorithms.end(), c.algo);
            abi::is_in(abi::k_by_ccu, c.algo) && in_file != spec.algorithms.end())
            checks.check(c, fmt::format("{}.algorithms.{}", entry, in_file - spec.algorithms.begin()), users);
}

/// Of what a training step sums among all ranks.
void check_units_of(const training_step_config& step, const std::vector<unit_users>& users, const firmware::ccu_capacities& capacities,
                    std::vector<config_problem>& p)
{
    if (step.by() == k_auto_algorithm || !abi::is_in(abi::k_by_ccu, step.by()))
        return;
    unit_checks checks(capacities, p);
    const auto check = [&](abi::collective_op op, abi::element_type type, std::uint64_t bytes) {
        collective_case c;
        c.op = op;
        c.algo = step.by();
        c.type = type;
        c.size_bytes = bytes;
        checks.check(c, "training_step.algorithm", users);
    };
    for (const gradient_group& g : step.summed()) {
        check(step.sharded() ? abi::collective_op::reduce_scatter : abi::collective_op::all_reduce, g.type, g.size_bytes());
        if (step.sharded())
            check(abi::collective_op::all_gather, g.type, g.size_bytes());
    }
    for (const step_exchange& e : step.exchanges)
        if (!e.ranks_per_group)
            check(abi::collective_op::all_reduce, e.type, e.bytes.value());
}
} // namespace

/// What CCUs are too small for, of the training step and of the entries of the workload: all ranks, or each group of
/// them.
void ub_mesh_config::check_units(std::vector<config_problem>& p) const
{
    const firmware::ccu_capacities capacities = npu.ccu.capacities();
    if (run.training_step && no_errors(run.training_step->validate()))
        check_units_of(*run.training_step, {{rank_table(0), "here"}}, capacities, p);
    if (std::none_of(run.workload.begin(), run.workload.end(), uses_units))
        return;
    std::vector<abi::platform_table> tables; // by rank; made when first needed
    const table_of_rank table_of = [&tables](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; };
    // As group_assignment has them: each has a bank of semaphores, from 1 on.
    std::vector<std::vector<rank_list>> divisions;
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        const collective_spec& spec = run.workload[i];
        std::vector<unit_users> users;
        std::vector<rank_list> groups;
        if (!spec.groups.empty()) {
            for (auto rank = static_cast<std::uint32_t>(tables.size()); rank < ranks(); ++rank)
                tables.push_back(rank_table(rank));
            groups = find_groups(spec.groups, ranks(), table_of).lists;
        }
        const bool is_whole = groups.size() == 1 && groups[0].size() == ranks() && std::is_sorted(groups[0].begin(), groups[0].end());
        if (groups.empty() || is_whole) { // a group of all ranks in their order has no bank of its own
            users.push_back({rank_table(0), "here"});
        } else {
            if (run.cases == case_start::independent)
                divisions.clear();
            auto known = std::find(divisions.begin(), divisions.end(), groups);
            if (known == divisions.end())
                known = divisions.insert(divisions.end(), groups);
            if (uses_units(spec))
                users = users_of_groups(groups, table_of, static_cast<std::uint32_t>(known - divisions.begin()) + 1);
        }
        check_units_of(spec, fmt::format("workload.{}", i), users, capacities, p);
    }
}

std::vector<key_rule<ub_mesh_config>> ub_mesh_config::key_rules()
{
    using config = ub_mesh_config;
    std::vector<key_rule<config>> rules;
    add_run_rules(rules);
    add_no_mesh_rules(rules);
    for (const char* key : {"ub.retries", "ub.reinitialisations", "ub.reinitialisation_time", "ub.error_seed"})
        rules.push_back({key, "with bit errors", [](const config& c) { return c.has_bit_errors(); }});
    for (const char* key : {"ub.paths", "ub.choice", "ub.spreading"})
        rules.push_back({key, "without routing, whose tables have one path a pair", [](const config& c) { return c.run.routing.empty(); }});
    rules.push_back({"ub.detection", "for links that fail while the machine runs",
                     [](const config& c) { return c.faults.links_fail_later() || c.has_bit_errors(); }});
    static const auto cores_drive = [](const config& c) { return may_run(c.run, abi::by_dma); };
    rules.push_back({"burst", "for algorithms that cores drive", [](const config& c) { return cores_drive(c); }});
    // The receive buffer of a port is that of its CCU as well.
    for (const char* key : {"npu.dma.queues", "npu.dma.ring_entries", "npu.dma.prefetch", "npu.dma.read_ahead", "npu.dma.register_latency"})
        rules.push_back({key, "for algorithms that cores drive, and with host", [](const config& c) { return c.run.host || cores_drive(c); }});
    rules.push_back({"ub.table_lookup", "with ub.source_routing: differing",
                     [](const config& c) { return c.ub.source_routing == ub_source_routing::differing; }});
    for (const char* key : {"ub.choice", "ub.spreading"})
        rules.push_back({key, "where a pair has several paths", [](const config& c) {
                             const bool one_path = c.ub.paths == ub_path_use::shortest && c.mesh.ranks() <= c.mesh.npus;
                             return !one_path || !c.faults.links.empty();
                         }});
    rules.push_back({"npu.hbm.load_block", "with npu.hbm.load", [](const config& c) { return c.npu.hbm.load > 0; }});
    rules.push_back(
        {"npu.core.clock_read", "where firmware reads the clock (switchml)", [](const config&) { return false; }});
    for (const char* key : {"npu.ccu.instructions", "npu.ccu.missions", "npu.ccu.loop_engines",
                            "npu.ccu.address_registers", "npu.ccu.general_registers", "npu.ccu.check_entries",
                            "npu.ccu.slices", "npu.ccu.channels", "npu.ccu.queue_depth", "npu.ccu.clock", "npu.ccu.check_bit_cycles",
                            "npu.ccu.sram_rate", "npu.ccu.reduce_rate", "npu.ccu.copy_rate", "npu.ccu.outstanding",
                            "npu.ccu.segment", "npu.ccu.read_ahead", "npu.ccu.task_start", "npu.ccu.register_latency"})
        rules.push_back({key, "with algorithms of the CCUs (ccu, ccu_one_shot, ccu_axes) and auto",
                         [](const config& c) { return uses_ccus(c) || uses_auto(c.run); }});
    add_host_rules(rules);
    const auto side = [&](const char* key, const char* only, bool (*applies)(const config&)) {
        rules.push_back({key, only, applies});
    };
    side("cables.x", "for boards of several NPUs", [](const config& c) { return c.mesh.npus > 1; });
    side("cables.y", "for racks of several boards", [](const config& c) { return c.mesh.boards > 1; });
    side("mesh.x_lanes", "for boards of several NPUs", [](const config& c) { return c.mesh.npus > 1; });
    side("mesh.y_lanes", "for racks of several boards", [](const config& c) { return c.mesh.boards > 1; });
    side("cables.backplane", "with mesh.backplane: true", [](const config& c) { return c.mesh.backplane; });
    side("ub.die_crossing", "where NPUs have links on both IO dies: several boards, or mesh.backplane or mesh.hrs: true",
         [](const config& c) { return c.mesh.boards > 1 || c.mesh.backplane || c.mesh.hrs || crossing_raises_buffers(c); });
    side("mesh.backplane_lanes", "with mesh.backplane: true", [](const config& c) { return c.mesh.backplane; });
    side("mesh.rack_link_lanes", "for pods of several racks", [](const config& c) { return c.mesh.racks_per_pod() > 1; });
    side("mesh.pod", "for pods of several racks", [](const config& c) { return c.mesh.racks_per_pod() > 1; });
    side("cables.z", "with mesh.rack_cols above 1", [](const config& c) { return c.mesh.rack_cols > 1; });
    side("cables.alpha", "with mesh.rack_rows above 1", [](const config& c) { return c.mesh.rack_rows > 1; });
    side("cables.hrs", "with mesh.hrs: true", [](const config& c) { return c.mesh.hrs; });
    side("ub.hrs_latency", "with mesh.hrs: true", [](const config& c) { return c.mesh.hrs; });
    side("ub.lrs_latency", "with mesh.backplane: true", [](const config& c) { return c.mesh.backplane; });
    return rules;
}

std::vector<config_problem> ub_mesh_config::validate() const
{
    std::vector<config_problem> p = run.validate();
    const bool runs = no_errors(p) && no_errors(ub.validate()) && no_errors(npu.validate()) &&
                      no_errors(npu.hbm.validate()) && no_errors(npu.dma.validate()) && no_errors(npu.ccu.validate());
    // What a section itself refuses is not computed with.
    const auto unsound = [&] {
        check_workload(run, limits_of_any(), p);
        return p;
    };
    if (!no_errors(mesh.validate()) || !no_errors(cables.validate()))
        return unsound();
    std::vector<config_problem> found = shape_problems();
    if (no_errors(found) && no_errors(faults.validate()))
        check_faults(*this, found);
    const bool sound = no_errors(found) && no_errors(faults.validate());
    p.insert(p.end(), found.begin(), found.end());
    if (!sound || !runs)
        return unsound();
    check_workload(run, limits(), p);
    check_burst(run, trains(), p);
    check_transport(p);
    check_hosts(p);
    if (no_errors(p))
        check_units(p);
    check_delays(p);
    check_link_buffers(p);
    check_receive_buffer(npu.chip(), ub.format(), "npu", p);
    std::set<std::uint64_t> restarts; // each has NPUs of its own
    for (const ub_npu_fault_config& f : faults.npus)
        if (f.at.value() != 0)
            restarts.insert(f.at.value());
    for (const ub_device_fault_config& f : faults.devices)
        if (f.at.value() != 0 && stands_in(*this, f))
            restarts.insert(f.at.value());
    check_stacks(npu.chip(), ranks() * (1 + restarts.size()),
                 restarts.empty() ? "NPUs" : "NPUs before and after restarts", "npu", p);
    return p;
}

std::vector<config_problem> ub_mesh_config::shape_problems() const
{
    std::vector<config_problem> p;
    if (mesh.ranks() > k_most_ranks)
        p.push_back(
            {severity::error, "mesh", fmt::format("has {} NPUs, must be at most {}.", mesh.ranks(), k_most_ranks)});
    for (const std::string& reason : ub_topology::problems(mesh))
        p.push_back({severity::error, "mesh", fmt::format("cannot be built: {}.", reason)});
    if (!no_errors(p))
        return p;
    for (const std::string& violation : ub_topology(mesh, cables).ledger().violations)
        p.push_back({severity::error, "mesh", fmt::format("has lanes that do not fit: {}.", violation)});
    return p;
}

workload_limits ub_mesh_config::limits_of_any() const
{
    abi::platform_table any;
    any.ccus = k_ub_dies;
    workload_limits g = limits_without_machine(any, false);
    g.members = "NPUs";
    if (no_errors(npu.validate()))
        set_room(g, npu.chip(), "npu.hbm");
    return g;
}

workload_limits ub_mesh_config::limits() const
{
    workload_limits g = limits_of_any();
    g.ranks = ranks();
    if (run.host && no_errors(run.host->validate())) {
        g.room_bytes = host_offset();
        g.room_text += fmt::format(", and what hosts exchange {}", to_string(data_size(run.host->memory_bytes())));
    }
    g.rank_table = [this](std::uint32_t rank) { return rank_table(rank); };
    g.refusal = [this](abi::collective_op op, abi::algorithm algo, bool transposed) {
        return refusal_of(op, algo, transposed);
    };
    g.lack = [this](abi::collective_op op, abi::algorithm algo, bool transposed, const abi::platform_table& table) {
        return lack_of_units(op, algo, transposed, table);
    };
    return g;
}

std::uint64_t ub_mesh_config::host_offset() const
{
    constexpr std::uint64_t k_alignment = 4096;
    const std::uint64_t room = npu.chip().buffer_bytes(), host = run.host ? run.host->memory_bytes() : 0;
    return host > room ? 0 : (room - host) / k_alignment * k_alignment;
}

void ub_mesh_config::check_hosts(std::vector<config_problem>& p) const
{
    if (!run.host || !no_errors(run.host->validate()) || !no_errors(cpu.validate()) || !no_errors(nic.validate()))
        return;
    const host_config& host = *run.host;
    const auto refuse = [&](std::string key, std::string text) { p.push_back({severity::error, std::move(key), std::move(text)}); };
    const ub_topology topology(mesh, cables);
    const auto works = [&](std::uint32_t router) {
        const std::string& name = topology.plan().routers[router].name;
        return std::none_of(faults.devices.begin(), faults.devices.end(), [&](const auto& d) { return d.at.value() == 0 && d.device == name; });
    };
    const auto check = [&](const char* key, const char* kind, std::uint32_t of_rack, const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& router) {
        if (!mesh.backplane || of_rack == 0)
            return refuse(key, fmt::format("needs {}, and this machine has none{}.", kind, mesh.backplane ? "" : ": write mesh.backplane: true"));
        for (std::uint32_t rack = 0; rack < mesh.racks(); ++rack) {
            bool any = false;
            for (std::uint32_t j = 0; j < of_rack; ++j)
                any = any || works(router(rack, j));
            if (!any)
                return refuse(key, fmt::format("needs {}, and all of the rack of {} have failed from the start; leave one of them out of faults.devices.", kind,
                                               topology.plan().routers[rack * mesh.npus_per_rack()].name));
        }
    };
    if (!host.traffic.empty())
        check("host.traffic", "CPUs", topology.cpus_per_rack(), [&](std::uint32_t rack, std::uint32_t j) { return topology.cpu_router(rack, j); });
    if (host.checkpoint)
        check("host.checkpoint", "NICs", topology.nics_per_rack(), [&](std::uint32_t rack, std::uint32_t j) { return topology.nic_router(rack, j); });
    if (const std::uint64_t most = k_most_checkpoint_messages / mesh.ranks(); host.checkpoint && host.checkpoint->messages() > most)
        refuse("host.checkpoint.message",
               fmt::format("is {}: the states of {} NPUs make {} messages, must be at most {}; write {} or more.", to_string(host.checkpoint->message),
                           mesh.ranks(), host.checkpoint->messages() * mesh.ranks(), k_most_checkpoint_messages,
                           to_string(data_size((host.checkpoint->state.value() / most / 8 + 1) * 8))));
    const std::uint64_t room = npu.chip().buffer_bytes();
    if (host.memory_bytes() > room)
        refuse(host.checkpoint ? "host.checkpoint.state" : "host.traffic",
               fmt::format("needs {} of the HBM of an NPU{}, but npu.hbm.capacity is {}, of which the descriptor rings take {}.",
                           to_string(data_size(host.memory_bytes())), host.checkpoint && !host.traffic.empty() ? " together with the messages of host.traffic" : "",
                           to_string(npu.hbm.capacity), to_string(data_size(npu.chip().ring_area_bytes()))));
    if (host.checkpoint && training_steps_without_checkpoint())
        p.push_back({severity::warning, "host.checkpoint.every",
                     fmt::format("is {}, but there are {} training steps: none of them has a checkpoint.", host.checkpoint->every, run.training_step->steps)});
    if (host.checkpoint && faults.checkpoint_load)
        p.push_back({severity::warning, "faults.checkpoint_load",
                     fmt::format("is {}, so a restart takes that time for it; leave it out, and the state of host.checkpoint comes back packet by packet.",
                                 to_string(*faults.checkpoint_load))});
    const bool loads = host.checkpoint && !faults.checkpoint_load &&
                       std::any_of(faults.npus.begin(), faults.npus.end(), [](const ub_npu_fault_config& f) { return f.at.value() != 0; });
    const double ahead = static_cast<double>(nic_read_ahead() * ub.max_payload.value());
    const double under_way = static_cast<double>(nic.rate.value()) / 8e12 * static_cast<double>(nic.latency.value());
    if (loads && ahead < under_way) {
        const std::uint64_t payload = ub.max_payload.value(), enough = (static_cast<std::uint64_t>(under_way) / payload + 1) * payload;
        p.push_back({severity::warning, "nic.buffer",
                     fmt::format("is {}, less than dcn_rate x dcn_latency: a load of a checkpoint reads only so much ahead, and keeps {:.2g} % of the DCN busy; {}.",
                                 to_string(nic.buffer), 100 * ahead / under_way,
                                 enough > dcn_config::k_largest_buffer.value() ? "no buffer is large enough for this nic.dcn_latency"
                                                                               : fmt::format("write {} or more", to_string(data_size(enough))))});
    }
    if (host.checkpoint && run.data == data_mode::checked) {
        // In HBMs and twice in the storage.
        const std::uint64_t bytes = 3 * mesh.ranks() * host.checkpoint->state.value();
        if (bytes > workload_limits{}.much_host_bytes)
            p.push_back({severity::warning, "host.checkpoint.state",
                         fmt::format("needs {} of host memory for the states of {} NPUs and what is stored of them; with \"data: off\" it needs none, and the times "
                                     "are the same.",
                                     rounded_text(data_size(bytes)), mesh.ranks())});
    }
}

bool ub_mesh_config::training_steps_without_checkpoint() const
{
    return run.training_step && run.workload.empty() && run.host->checkpoint->every > run.training_step->steps;
}

/// The last packet that an NPU's controllers may keep waits for all others: its acknowledgement cannot come before they
/// have left.
void ub_mesh_config::check_transport(std::vector<config_problem>& p) const
{
    if (ub.transport != ub_transport::rtp)
        return;
    const ub_topology topology(mesh, cables);
    if (const std::uint64_t least_ps = neighbour_round_trip_ps(topology); ub.rtp_timeout.value() < least_ps) {
        p.push_back({severity::error, "ub.rtp_timeout",
                     fmt::format("is {}, but a packet to the nearest NPU and its acknowledgement take {} with nobody else on "
                                 "the way: no wait could end in time; write {} or more, for example 25.6 us.",
                                 to_string(ub.rtp_timeout), rounded_text(duration(least_ps)),
                                 to_string(duration(least_ps)))});
        return;
    }
    const std::uint64_t loaded_ps = loaded_round_trip_ps(topology);
    if (ub.rtp_timeout.value() < loaded_ps)
        p.push_back(
            {severity::warning, "ub.rtp_timeout",
             fmt::format(
                 "is {}, but with rtp_send_buffer = {} packets on their way an acknowledgement takes {} or more: until "
                 "round trips have been measured, packets may be sent again that were not lost.",
                 to_string(ub.rtp_timeout), ub.rtp_send_buffer, rounded_text(duration(loaded_ps)))});
}

std::uint64_t ub_mesh_config::neighbour_round_trip_ps(const ub_topology& topology) const
{
    std::uint64_t least_ps = k_never_ps;
    for (const ub_link_plan& l : topology.plan().links) {
        if (topology.plan().routers[l.from].device != ub_device::npu)
            continue;
        const ub_device into = topology.plan().routers[l.to].device;
        std::vector<ub_hop> hops{{l.lanes, l.propagation, into, false}};
        if (into != ub_device::npu) // through a switch and down again
            hops.push_back({l.lanes, l.propagation, ub_device::npu, false});
        least_ps = std::min(least_ps, ub_zero_load_round_trip_ps(ub, hops));
    }
    return least_ps == k_never_ps ? 0 : least_ps; // 0: one NPU alone
}

/// A buffer that does not cover the round trip of its link throttles it: allowed, but said, of the link that suffers
/// most.
std::uint64_t ub_mesh_config::loaded_round_trip_ps(const ub_topology& topology) const
{
    const std::uint32_t router = topology.npu_router(0);
    std::uint32_t lanes = 0;
    for (std::uint32_t port = 0; port < topology.ports(router); ++port)
        if (const std::uint32_t l = topology.out_link(router, port); l != ub_topology::k_none)
            lanes += topology.plan().links[l].lanes;
    const std::uint64_t kept = 2ull * ub.rtp_send_buffer; // of both controllers
    const std::uint64_t queue_ps = wire_rate(ub.link_rate(std::max(1u, lanes)))
                                       .time_ps(kept * ub.format().wire_bytes_of_one(ub.max_payload.value()));
    // There and back with one relay, at zero load.
    const std::uint64_t way_ps = 3 * ub.npu_latency.value() + 2 * (ub.mac_latency.value() + cables.backplane.value());
    return queue_ps + 2 * way_ps + ub.rtp_ack_delay.value();
}

} // namespace weft
