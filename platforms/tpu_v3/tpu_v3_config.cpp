// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the YAML of a TPU pod means: checks that need more than one section, the description of `weft check`, reading.
#include "firmware/collectives/mesh.h"
#include "platforms/machine/configured_platform.h"
#include "platforms/machine/machine_checks.h"
#include "platforms/machine/workload_checks.h"
#include "platforms/tpu_v3/tiles.h"
#include "platforms/tpu_v3/tpu_v3.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
/// Every chip has a thread of its own on the host; the kernel of the host limits how many stacks a process can guard.
constexpr std::uint32_t k_max_chips = 16384;

/// Whether the mesh has a link from (row, col) in this direction.
bool has_link(const mesh_config& m, const link_fault_config& f)
{
    switch (f.direction) {
    case mesh_direction::plus_x: return f.col + 1 < m.cols || m.wraps_cols();
    case mesh_direction::minus_x: return f.col > 0 || m.wraps_cols();
    case mesh_direction::plus_y: return f.row + 1 < m.rows || m.wraps_rows();
    default: return f.row > 0 || m.wraps_rows();
    }
}

/// Where that link leads.
std::pair<std::uint32_t, std::uint32_t> other_end(const mesh_config& m, const link_fault_config& f)
{
    switch (f.direction) {
    case mesh_direction::plus_x: return {f.row, (f.col + 1) % m.cols};
    case mesh_direction::minus_x: return {f.row, (f.col + m.cols - 1) % m.cols};
    case mesh_direction::plus_y: return {(f.row + 1) % m.rows, f.col};
    default: return {(f.row + m.rows - 1) % m.rows, f.col};
    }
}

bool holds(const failed_region_config& f, std::uint32_t row, std::uint32_t col)
{
    return mesh_region{f.row, f.col, f.rows, f.cols}.holds(row, col);
}

/// Of `size` rows or columns from `first` on: all are in one of the pairs that row_pair makes.
bool in_one_pair(std::uint32_t first, std::uint32_t size) { return first / 2 == (first + size - 1) / 2; }
} // namespace

std::vector<config_problem> mesh_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    const auto need = [&](bool ok, const char* key, std::string text) {
        if (!ok)
            p.push_back({severity::error, key, std::move(text)});
        return ok;
    };
    if (!p.empty())
        return p;
    need(rows * cols >= 2, "", "has one chip, but a collective needs at least two.");
    need(rows * cols <= k_max_chips, "",
         fmt::format("has {} x {} = {} chips, must be at most {}: every chip runs its firmware in a thread of its own.",
                     rows, cols, rows * cols, k_max_chips));
    need(!wraps_rows() || rows >= 3, "wrap",
         fmt::format("is {}, which closes every column to a ring; that needs at least 3 rows, not {}.", name_of(wrap),
                     rows));
    need(!wraps_cols() || cols >= 3, "wrap",
         fmt::format("is {}, which closes every row to a ring; that needs at least 3 columns, not {}.", name_of(wrap),
                     cols));
    return p;
}

std::vector<key_rule<tpu_v3_config>> tpu_v3_config::key_rules()
{
    using config = tpu_v3_config;
    std::vector<key_rule<config>> rules;
    add_run_rules(rules);
    rules.push_back(
        {"chip.core.clock_read", "where firmware reads the clock (switchml)", [](const config&) { return false; }});
    rules.push_back({"ici.cable_propagation", "for meshes of more than one board of 2x2 chips, and for wrap links",
                     [](const config& c) { return c.mesh.rows > 2 || c.mesh.cols > 2; }});
    rules.push_back({"ici.virtual_lanes", "with mesh.wrap, for detours around faults that routing knows of, and with routing: FILE",
                     &tpu_v3_config::uses_second_lane});
    return rules;
}

bool tpu_v3_config::uses_second_lane(const tpu_v3_config& c)
{
    const auto& down = c.faults.links_down;
    return c.mesh.wraps_rows() || c.mesh.wraps_cols() || !c.run.routing.empty() || !c.faults.regions.empty() ||
           std::any_of(down.begin(), down.end(), [](const link_fault_config& f) { return f.known_to_routing(); });
}

abi::platform_table tpu_v3_config::rank_table(std::uint32_t rank) const
{
    abi::platform_table t;
    t.rank = rank;
    t.ranks = ranks();
    t.dim_count = 2;
    t.dims[0] = mesh.rows;
    t.dims[1] = mesh.cols;
    const mesh_description known = description();
    const bool detours = !known.failed.empty() || !known.links_down.empty(); // they use no wrap links
    using kind = abi::dimension_kind;
    t.kind[0] = mesh.wraps_rows() && !detours ? kind::ring : kind::line;
    t.kind[1] = mesh.wraps_cols() && !detours ? kind::ring : kind::line;
    t.rate_mbps[0] = t.rate_mbps[1] = payload_mbps(2 * ici.link_rate.value()); // a link each way
    for (const failed_region_config& f : faults.regions)
        if (t.failed_regions < abi::k_max_failed_regions)
            t.failed[t.failed_regions++] = {static_cast<std::uint16_t>(f.row), static_cast<std::uint16_t>(f.col),
                                            static_cast<std::uint16_t>(f.rows), static_cast<std::uint16_t>(f.cols)};
    const firmware::place at = firmware::place_of(firmware::mesh_of(t), rank);
    t.coord[0] = at.row;
    t.coord[1] = at.col;
    return t;
}

std::uint32_t tpu_v3_config::payload_mbps(std::uint64_t bits_per_second) const
{
    const std::uint64_t payload = ici.max_payload.value();
    return abi::mbps_of(bits_per_second, payload,
                        ici.rate_counts == rate_basis::wire ? payload + ici.header.value() : payload);
}

double tpu_v3_config::payload_share() const
{
    const auto payload = static_cast<double>(ici.max_payload.value());
    return ici.rate_counts == rate_basis::wire ? payload / (payload + static_cast<double>(ici.header.value())) : 1;
}

duration tpu_v3_config::longest_propagation() const
{
    return mesh.rows > 2 || mesh.cols > 2 ? ici.cable_propagation : ici.board_propagation;
}

duration tpu_v3_config::hop_latency(std::uint32_t) const
{
    return duration(ici.pipeline_ps()) + longest_propagation();
}

std::uint32_t tpu_v3_config::ranks() const
{
    std::uint32_t n = mesh.rows * mesh.cols;
    for (const failed_region_config& f : faults.regions)
        n -= f.rows * f.cols; // inside the mesh and disjoint: check_regions()
    return n;
}

mesh_description tpu_v3_config::description() const
{
    mesh_description d = ici_mesh(ici, mesh.rows, mesh.cols, mesh.wraps_rows(), mesh.wraps_cols());
    for (const failed_region_config& f : faults.regions)
        d.failed.push_back({f.row, f.col, f.rows, f.cols});
    for (const link_fault_config& f : faults.links_down)
        if (f.known_to_routing())
            d.links_down.push_back({f.row, f.col, static_cast<std::uint32_t>(f.direction)});
    return d;
}

train_choice tpu_v3_config::trains() const
{
    const packet_format format = ici.format();
    const std::uint64_t wire_bytes = format.wire_bytes_of_one(format.max_payload_bytes);
    const std::uint64_t link_ps = wire_rate(ici.link_rate).time_ps(wire_bytes);
    const std::uint64_t local_ps = wire_rate(ici.local_port_rate).time_ps(wire_bytes);
    const auto packets_in = [&](data_size buffer) {
        return buffer.value() / format.cell_bytes() / format.cells_of_one(format.max_payload_bytes);
    };
    const std::uint64_t depth = packets_in(ici.buffer_per_vl);
    // Each output has its share.
    const std::uint64_t local_depth = packets_in(ici.local_buffer_in_use()) / (ici.voq ? 4 : 1);
    const bool cables = mesh.rows > 2 || mesh.cols > 2;
    const std::uint64_t wire_ps = (cables ? std::max(ici.cable_propagation, ici.board_propagation) : ici.board_propagation).value();
    const std::string buffer = fmt::format("ici.buffer_per_vl = {}", to_string(ici.buffer_per_vl));
    const std::uint64_t most_ps = std::max(local_ps, link_ps);
    // Calibrated: in 32 packets two trains of 10 were 8 % off (two_d), in 64 packets two of 28 were not.
    const std::uint32_t own_trains = depth < 64 ? 4 : 2;
    const bandwidth links(4 * ici.link_rate.value());
    // Two_d alone sums on all four, in single packets without links of its own.
    const bandwidth ring_links(2 * ici.link_rate.value());
    train_limits limits;
    limits.packet_payload = static_cast<std::uint32_t>(format.max_payload_bytes);
    limits.sides = {mesh.rows, mesh.cols};
    limits.packet_ps = link_ps;
    limits.message_ps = message_ps_of(chip);
    limits.detours = !faults.regions.empty() || !faults.links_down.empty();
    if (faults.regions.size() == 1 && faults.links_down.empty()) {
        const failed_region_config& f = faults.regions.front();
        const bool large = mesh.rows >= 6 && mesh.cols >= 6 && !mesh.wraps_rows() && !mesh.wraps_cols();
        limits.one_pair_of_rows = large && in_one_pair(f.row, f.rows);
        limits.one_pair_of_columns = large && in_one_pair(f.col, f.cols);
    }
    // On a whole mesh without wraps every stream of a ring has a local port and links of its own.
    limits.own_links = ici.local_ports > 1 && !mesh.wraps_rows() && !mesh.wraps_cols() && !limits.detours;
    // Streams of all local ports read at once. Where the read-ahead does not cover their latency, single packets wait
    // for each other and trains less: ring_1d on 2x5 chips with packets of 128 B was 1.3 to 3.5 % off.
    limits.hops = dma_hops(chip.dma, chip.hbm, format, link_ps, links, 1, "chip", "chip.hbm", ici.local_ports);
    const std::string local_buffer =
        fmt::format("ici.local_buffer = {}{}", to_string(ici.local_buffer_in_use()), ici.voq ? " for four links" : "");
    // The DMA engine takes credits of the local buffer when it reads; they must last, at the rate of a link, until they
    // come back.
    limits.hops.push_back({fmt::format("{} over chip.hbm.latency = {}", local_buffer, to_string(chip.hbm.latency)), local_depth, link_ps,
                           link_ps, 8, own_trains, 1, chip.hbm.latency.value() + ici.pipeline_ps() + most_ps});
    limits.hops.push_back({buffer, depth, link_ps, local_ps, 8, own_trains, 1, ici.pipeline_ps() + 2 * wire_ps + most_ps});
    limits.hops.push_back(longest_on_a_wire(most_ps, wire_bytes));
    limits.single = ici.switching == switching_mode::store_and_forward
                        ? "ici.switching is store_and_forward"
                        : memory_sets_the_pace(chip.hbm.rate, limits.own_links ? links : ring_links, "chip.hbm.rate", limits.own_links);
    const bool fails_later = std::any_of(faults.links_down.begin(), faults.links_down.end(),
                                         [](const link_fault_config& f) { return f.at.value() != 0; });
    if (std::string why = no_train_bound(run); !why.empty())
        limits.no_bound = std::move(why);
    else if (ici.local_ports == 1)
        limits.no_bound = "ici.local_ports = 1: one port serves four links";
    else if (!limits.own_links && ici.local_port_rate.value() < ici.link_rate.value())
        limits.no_bound = "ici.local_port_rate is below ici.link_rate: packets pile up into the mesh";
    else if (fails_later)
        limits.no_bound = "faults.links_down: a link goes down in mid-run";
    return choose_trains(run.burst, std::move(limits));
}

std::vector<config_problem> tpu_v3_config::validate() const
{
    std::vector<config_problem> p = run.validate();
    if (run.workload.empty() && !run.training_step && !faults.regions.empty()) {
        // A mesh with failed chips has its routing and its proof, but no collective yet.
        p.erase(std::remove_if(p.begin(), p.end(), [](const config_problem& x) { return x.key == "workload"; }),
                p.end());
        p.push_back(
            {severity::warning, "faults.regions",
             "fail chips of a file without a workload: there is nothing to run; `weft check` proves the routing."});
    }
    // What a section itself refuses is not computed with.
    if (no_errors(ici.validate()))
        check_buffers(p);
    std::vector<config_problem> faulty;
    const bool whole = no_errors(mesh.validate());
    if (whole)
        check_faults(faulty);
    p.insert(p.end(), faulty.begin(), faulty.end());
    if (!whole || !no_errors(faulty)) { // how many chips there are is not known
        check_workload(run, limits_of_any(), p);
        return p;
    }
    check_workload(run, limits(), p);
    if (no_errors(ici.validate()) && no_errors(chip.hbm.validate()) && no_errors(chip.dma.validate()))
        check_burst(run, trains(), p);
    if ((mesh.wraps_rows() || mesh.wraps_cols()) && ici.virtual_lanes < 2)
        p.push_back(
            {severity::error, "ici.virtual_lanes",
             fmt::format(
                 "is {}, but wrap links need 2: with one VL the packets of a ring can block each other in a circle.",
                 ici.virtual_lanes)});
    if (ici.virtual_lanes > 2 && run.routing.empty() && uses_second_lane(*this))
        p.push_back({severity::warning, "ici.virtual_lanes",
                     fmt::format("is {}, but datelines and detours use two, and only tables of routing: FILE use more: as 2.", ici.virtual_lanes)});
    if (no_errors(chip.core.validate()))
        check_stacks(chip, ranks(), "chips", "chip", p);
    return p;
}

void tpu_v3_config::check_faults(std::vector<config_problem>& p) const
{
    check_regions(p);
    for (std::size_t i = 0; i < faults.links_down.size(); ++i) {
        const link_fault_config& f = faults.links_down[i];
        const auto holds_an_end = [&](const failed_region_config& region) {
            const auto [row, col] = other_end(mesh, f);
            return holds(region, f.row, f.col) || holds(region, row, col);
        };
        const std::string key = fmt::format("faults.links_down.{}", i);
        if (f.row >= mesh.rows)
            p.push_back({severity::error, key + ".row",
                         fmt::format("is {}, but the mesh has rows 0 to {}.", f.row, mesh.rows - 1)});
        if (f.col >= mesh.cols)
            p.push_back({severity::error, key + ".col",
                         fmt::format("is {}, but the mesh has columns 0 to {}.", f.col, mesh.cols - 1)});
        if (f.row >= mesh.rows || f.col >= mesh.cols)
            continue;
        if (!has_link(mesh, f))
            p.push_back(
                {severity::error, key,
                 fmt::format(
                     "names a link that does not exist: chip ({},{}) is at the edge of the mesh, and no link leaves it toward {}.",
                     f.row, f.col, name_of(f.direction))});
        else if (const auto failed = std::find_if(faults.regions.begin(), faults.regions.end(), holds_an_end);
                 failed != faults.regions.end())
            p.push_back(
                {severity::error, key,
                 fmt::format(
                     "names a link of a chip in faults.regions.{}: failed chips have no links; leave the entry out.",
                     failed - faults.regions.begin())});
    }
    const auto same = [](const link_fault_config& a, const link_fault_config& b) {
        return a.row == b.row && a.col == b.col && a.direction == b.direction;
    };
    check_outages(faults.links_down, "faults.links_down", same, run, p);
}

void tpu_v3_config::check_regions(std::vector<config_problem>& p) const
{
    const std::size_t before = p.size();
    if (faults.regions.size() > abi::k_max_failed_regions)
        p.push_back({severity::error, "faults.regions",
                     fmt::format("has {} entries, but the platform table of the firmware holds {}.",
                                 faults.regions.size(), abi::k_max_failed_regions)});
    for (std::size_t i = 0; i < faults.regions.size(); ++i) {
        const failed_region_config& f = faults.regions[i];
        const std::string key = fmt::format("faults.regions.{}", i);
        const auto along = [&](std::uint32_t first, std::uint32_t count, std::uint32_t side, const char* at,
                               const char* what) {
            if (count == 0)
                p.push_back({severity::error, fmt::format("{}.{}s", key, at),
                             "is 0, must be at least 1; leave the entry out when no chip fails."});
            else if (first >= side || count > side - first)
                p.push_back({severity::error, fmt::format("{}.{}", key, at),
                             fmt::format("is {}, and with {} {} the region leaves the mesh, which has {} 0 to {}.",
                                         first, count, what, what, side - 1)});
        };
        along(f.row, f.rows, mesh.rows, "row", "rows");
        along(f.col, f.cols, mesh.cols, "col", "columns");
        for (std::size_t k = 0; k < i; ++k) {
            const failed_region_config& g = faults.regions[k];
            const auto apart = [](std::uint64_t a, std::uint64_t n, std::uint64_t b, std::uint64_t m) {
                return a + n <= b || b + m <= a;
            };
            if (!apart(f.row, f.rows, g.row, g.rows) && !apart(f.col, f.cols, g.col, g.cols))
                p.push_back({severity::error, key,
                             fmt::format("overlaps faults.regions.{}: both hold chip ({},{}); a chip fails once.", k,
                                         std::max(f.row, g.row), std::max(f.col, g.col))});
        }
    }
    if (faults.regions.empty() || p.size() > before)
        return;
    if (ranks() < 2) {
        p.push_back(
            {severity::error, "faults.regions",
             fmt::format("leave {} of {} chips; a machine needs at least two.", ranks(), mesh.rows * mesh.cols)});
        return;
    }
    mesh_description d = description(); // of the regions alone
    d.links_down.clear();
    const weft::mesh rest(d);
    if (const auto cut = cut_off_pair(rest))
        p.push_back({severity::error, "faults.regions",
                     fmt::format("split the mesh: no way leads from {} to {}{}.", rest.plan().endpoint_name(cut->first),
                                 rest.plan().endpoint_name(cut->second),
                                 !mesh.wraps_rows() && !mesh.wraps_cols() ? "" : " (detours do not use wrap links)")});
}

workload_limits tpu_v3_config::limits_of_any() const
{
    workload_limits g = limits_without_machine({}, false);
    g.machine = "this mesh";
    g.members = "chips";
    set_room(g, chip, "chip.hbm");
    return g;
}

workload_limits tpu_v3_config::limits() const
{
    workload_limits g = limits_of_any();
    g.ranks = ranks();
    g.refusal = [this](abi::collective_op op, abi::algorithm algo, bool transposed) {
        return refusal_of(op, algo, transposed);
    };
    g.root_refusal = [this](std::uint32_t root, bool transposed) { return broadcast_refusal(root, transposed); };
    g.rank_table = [this](std::uint32_t rank) { return rank_table(rank); };
    g.group_refusal = [this](std::uint32_t ranks_per_group) { return group_refusal(ranks_per_group); };
    return g;
}

/// Groups are tiles, see tiles.h.
std::string tpu_v3_config::group_refusal(std::uint32_t ranks_per_group) const
{
    const std::string why = tile_refusal(description(), ranks_per_group);
    return why.empty() && ranks_per_group == ranks()
               ? refusal_of(abi::collective_op::all_reduce, abi::algorithm::ring_1d, false)
               : why;
}

void tpu_v3_config::check_buffers(std::vector<config_problem>& p) const
{
    const packet_format format = ici.format();
    check_receive_buffer(chip, format, "chip", p);
    check_link_buffer(format, "ici.buffer_per_vl", ici.buffer_per_vl, "link_rate", ici.link_rate, longest_propagation(), duration(ici.pipeline_ps()), p);
    const std::uint64_t one = format.room_of_one().value();
    // A link of the four has its share of the buffer behind a local port, which is filled from memory.
    const std::uint64_t packet_ps = format.packet_ps(ici.link_rate);
    const std::uint64_t filled_ps = chip.hbm.latency.value() + ici.pipeline_ps() + format.packet_ps(ici.local_port_rate) + packet_ps;
    const std::uint64_t packets = ici.local_buffer_in_use().value() / 4 / one;
    if (ici.voq && ici.local_buffer && packets * packet_ps < filled_ps)
        p.push_back(
            {severity::warning, "ici.local_buffer",
             fmt::format("is {}, of which each of four links has a quarter, {}: {} gone before memory, after {}, has the next ones, so "
                         "a link may stand idle in between; {} would do.",
                         to_string(*ici.local_buffer), packets == 0 ? "less than a packet, and takes one" : fmt::format("{} packet{}", packets, packets == 1 ? "" : "s"),
                         packets > 1 ? "they are" : "it is", rounded_text(duration(filled_ps)),
                         rounded_text(data_size(4 * ((filled_ps + packet_ps - 1) / packet_ps) * one)))});
}

namespace {

class configured_tpu_v3 final : public configured_platform<tpu_v3_config, tpu_v3_routing> {
public:
    using configured_platform::configured_platform;
    std::unique_ptr<machine> build(const core_fitter& fit) const override
    {
        return std::make_unique<tpu_v3>(config_, routing(), fit);
    }
    bandwidth links_rate() const override
    {
        const ici_config& ici = config_.ici;
        const std::uint64_t ports_mbps = config_.payload_mbps(ici.local_ports * ici.local_port_rate.value());
        return std::min(platform::links_rate(), bandwidth(ports_mbps * 1'000'000));
    }
    void add_costs(message_costs& costs) const override
    {
        set_ports(costs, config_.chip, config_.ici.local_ports, config_.ici.local_port_rate, config_.ici.format());
        const ici_config& ici = config_.ici;
        const duration wire = config_.longest_propagation(), pipeline(ici.pipeline_ps());
        if (ici.buffer_per_vl < ici.format().room_for_full_rate(ici.link_rate, wire, pipeline))
            costs.credits_share = ici.format().reachable_share(ici.buffer_per_vl, ici.link_rate, wire, pipeline);
        leave_out_unknown_links(config_.faults.links_down, costs);
        costs.irregular_routes = !config_.faults.regions.empty() || !config_.faults.links_down.empty() || !config_.run.routing.empty();
    }
    void find_problems(const yaml_document& document, std::vector<problem>& problems) override
    {
        if (!config_.run.routing.empty() || (config_.faults.regions.empty() && config_.faults.links_down.empty()))
            return; // tables that have been read; dimension order, whose proof build() and weft check make
        refuse_faults(document, problems, "faults");
    }

    std::string description() const override
    {
        const mesh_config& m = config_.mesh;
        const ici_config& ici = config_.ici;
        mesh_description present = config_.description();
        present.links_down.clear();
        const weft::mesh wired(present); // a link that is down is there
        const std::vector<plan_link>& links = wired.plan().links;
        const auto x_links = static_cast<std::uint64_t>(
            std::count_if(links.begin(), links.end(), [](const plan_link& l) { return l.from_port < k_plus_y; }));
        const std::uint64_t y_links = links.size() - x_links;
        std::string text = fmt::format(
            "TPU pod   {} x {} mesh of {} chips{}, wrap links: {}\n", m.rows, m.cols, m.rows * m.cols,
            config_.faults.regions.empty() ? "" : fmt::format(", of which {} work", config_.ranks()), name_of(m.wrap));
        text += fmt::format("Links     {} directed ({} along X, {} along Y) of {}, {} VL{} with a buffer of {} each\n",
                            x_links + y_links, x_links, y_links, to_string(ici.link_rate), ici.virtual_lanes,
                            ici.virtual_lanes == 1 ? "" : "s", to_string(ici.buffer_per_vl));
        text += fmt::format("Packets   up to {} of payload, {} of header, flits of {}; a full one takes {} on a link\n",
                            to_string(ici.max_payload), to_string(ici.header), to_string(ici.flit),
                            rounded_text(duration(ici.format().packet_ps(ici.link_rate))));
        const auto hop = [&](const char* what, duration wire) {
            return fmt::format(
                "{}{} from router to router; credits back after {}, so a buffer of {} keeps a link busy\n", what,
                rounded_text(duration(wire.value() + ici.pipeline_ps())),
                rounded_text(duration(ici.round_trip_ps(wire))),
                rounded_text(ici.buffer_for_full_rate(wire)));
        };
        text += hop("On board  ", ici.board_propagation) + hop("Cables    ", ici.cable_propagation);
        text += fmt::format(
            "Chips     {} port{} of {} to the router, HBM of {} at {}, of which the descriptor rings take {}\n",
            ici.local_ports, ici.local_ports == 1 ? "" : "s", to_string(ici.local_port_rate),
            to_string(config_.chip.hbm.capacity), to_string(config_.chip.hbm.rate),
            to_string(data_size(config_.chip.chip().ring_area_bytes())));
        return text + describe_faults(config_);
    }
};

/// Small rings and chunks, so that descriptors go round, rings fill up and steps overlap within a few hundred accesses.
/// The small all-reduce has one chunk a step: nothing but the semaphore that fired tells what has arrived.
firmware_bench_machine bench_mesh(std::uint32_t rows, std::uint32_t cols, std::uint32_t rank)
{
    const char* const down = "faults.links_down=[{{row: 1, col: 0, direction: {}, at: {{}}}}]";
    return {fmt::format("{}x{} mesh of the TPU pod", rows, cols),
            fmt::format("platform: tpu_v3\nname: firmware_test\nmesh: {{rows: {}, cols: {}}}\n"
                        "chip: {{dma: {{ring_entries: 4}}}}\nworkload:\n"
                        "- {{op: all_reduce, algorithms: [ring_1d], sizes: [512 B, 4096 B], chunk: 256 B}}\n"
                        "- {{op: broadcast, algorithms: [mesh_tree], sizes: [4096 B], chunk: 256 B, root: {}}}\n"
                        "- {{op: all_to_all, algorithms: [direct], sizes: [1024 B], chunk: 1024 B}}\n",
                        rows, cols, rank),
            "chip.core",
            {{"chip(1,0).+X", fmt::format(down, "+X")}, {"chip(1,0).-Y", fmt::format(down, "-Y")}}};
}
constexpr firmware_bench_source k_firmware_bench = {2, 2, bench_mesh};

platform_info make_info()
{
    platform_info info = info_of<configured_tpu_v3>(
        "TPU-v3 pod: a 2-D mesh of chips with ICI links, dimension-order routing, detours around failed chips and links, optional wrap links");
    info.former_name = "tpu_pod";
    info.firmware_bench = &k_firmware_bench;
    return info;
}

} // namespace

const platform_info k_tpu_v3_info = make_info();

} // namespace weft
