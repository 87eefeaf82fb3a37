// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the YAML of a TPU pod means: checks that need more than one section, the description of `weft check`, reading.
#include "firmware/collectives/supports.h"
#include "platforms/config/config_reader.h"
#include "platforms/tpu_pod/tpu_pod.h"
#include "platforms/workload/collective_runner.h"

#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint32_t k_max_side = 256;
/// Every chip has a thread of its own on the host; the kernel of the host limits how many stacks a process can guard.
constexpr std::uint32_t k_max_chips = 16384;
constexpr std::uint64_t k_max_stacks_bytes = 64ull << 30;
constexpr std::uint64_t k_max_burst_bytes = 64ull << 20;
/// The fabric holds the time of a transmission in 32 bits of picoseconds.
constexpr std::uint64_t k_longest_transmission_ps = 4'000'000'000;
constexpr std::uint64_t k_much_host_memory = 16ull << 30;

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
} // namespace

std::vector<config_problem> mesh_config::validate() const
{
    std::vector<config_problem> p;
    const auto need = [&](bool ok, const char* key, std::string text) {
        if (!ok)
            p.push_back({severity::error, key, std::move(text)});
        return ok;
    };
    const auto side = [&](std::uint32_t n, const char* key) {
        return need(n >= 1 && n <= k_max_side, key, fmt::format("is {}, must be 1 to {}.", n, k_max_side));
    };
    if (!(side(rows, "rows") & side(cols, "cols")))
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

abi::platform_table tpu_pod_config::table(std::uint32_t rank) const
{
    abi::platform_table t;
    t.rank = rank;
    t.ranks = ranks();
    t.dim_count = 2;
    t.dims[0] = mesh.rows;
    t.dims[1] = mesh.cols;
    t.coord[0] = rank / mesh.cols;
    t.coord[1] = rank % mesh.cols;
    t.wrap[0] = mesh.wraps_rows() ? 1 : 0;
    t.wrap[1] = mesh.wraps_cols() ? 1 : 0;
    return t;
}

std::uint32_t tpu_pod_config::burst_cells() const
{
    return run.burst.value() <= 1 ? 0 : 2 * static_cast<std::uint32_t>(ici.format().cells(burst_payload()));
}

std::vector<config_problem> tpu_pod_config::validate() const
{
    std::vector<config_problem> p = run.validate();
    // What a section itself refuses is not computed with.
    if (no_errors(ici.validate())) {
        check_buffers(p);
        check_burst(p);
    }
    if (!no_errors(mesh.validate()))
        return p;
    check_faults(p);
    check_workload(p);
    check_training_step(p);
    check_host_memory(p);
    if ((mesh.wraps_rows() || mesh.wraps_cols()) && ici.virtual_lanes < 2)
        p.push_back(
            {severity::error, "ici.virtual_lanes",
             fmt::format(
                 "is {}, but wrap links need 2: with one VL the packets of a ring can block each other in a circle.",
                 ici.virtual_lanes)});
    const std::uint64_t stacks = chip.core.stack.value() * ranks();
    if (no_errors(chip.core.validate()) && stacks > k_max_stacks_bytes)
        p.push_back(
            {severity::error, "chip.core.stack",
             fmt::format("is {}, which for {} chips takes {} of addresses on the host; must be at most 64 GiB in all.",
                         to_string(chip.core.stack), ranks(), rounded_text(data_size(stacks)))});
    return p;
}

void tpu_pod_config::check_faults(std::vector<config_problem>& p) const
{
    for (std::size_t i = 0; i < faults.links_down.size(); ++i) {
        const link_fault_config& f = faults.links_down[i];
        const std::string key = fmt::format("faults.links_down.{}", i);
        if (f.row >= mesh.rows)
            p.push_back({severity::error, key + ".row",
                         fmt::format("is {}, but the mesh has rows 0 to {}.", f.row, mesh.rows - 1)});
        if (f.col >= mesh.cols)
            p.push_back({severity::error, key + ".col",
                         fmt::format("is {}, but the mesh has columns 0 to {}.", f.col, mesh.cols - 1)});
        if (f.row < mesh.rows && f.col < mesh.cols && !has_link(mesh, f))
            p.push_back(
                {severity::error, key,
                 fmt::format(
                     "names a link that does not exist: chip ({},{}) is at the edge of the mesh, and no link leaves it toward {}.",
                     f.row, f.col, name_of(f.direction))});
    }
}

std::string tpu_pod_config::refusal_of(abi::collective_op op, abi::algorithm algo, bool transposed) const
{
    abi::platform_table any_shape;
    any_shape.ranks = 1;
    const char* reason = "";
    if (!firmware::supports(op, algo, any_shape, transposed, &reason))
        return fmt::format("{} cannot run by {}: {}.", name_of(op), name_of(algo), reason);
    if (!firmware::supports(op, algo, table(0), transposed, &reason))
        return fmt::format("{} by {} cannot run on a {}x{} mesh (rows x columns): {}.", name_of(op), name_of(algo),
                           mesh.rows, mesh.cols, reason);
    return {};
}

std::uint64_t tpu_pod_config::room_for_buffers() const
{
    const bool sound = no_errors(chip.hbm.validate()) && no_errors(chip.dma.validate()) && no_errors(chip.validate());
    return sound ? chip.buffer_bytes() : ~std::uint64_t{0};
}

void tpu_pod_config::check_training_step(std::vector<config_problem>& p) const
{
    if (!run.training_step)
        return;
    const training_step_config& step = *run.training_step;
    const std::string refusal = refusal_of(abi::collective_op::all_reduce, step.algorithm, step.transposed);
    if (!refusal.empty())
        p.push_back({severity::error, "training_step.algorithm", refusal});
    for (std::size_t i = 0; i < step.exchanges.size(); ++i) {
        const std::uint32_t group = step.exchanges[i].ranks_per_group.value_or(ranks());
        if (group != ranks())
            p.push_back({severity::error, fmt::format("training_step.exchanges.{}.ranks_per_group", i),
                         fmt::format("is {}, but the firmware sums over all {} ranks of the mesh only, which takes longer than "
                                     "over a few neighbours; remove the entry, or remove this key to exchange over all ranks.",
                                     group, ranks())});
    }
    if (is_sound(step) && step.buffer_bytes() > room_for_buffers())
        p.push_back({severity::error, "training_step.groups",
                     fmt::format("need {} of HBM per chip together with the exchanges, but chip.hbm.capacity is {}, of which the "
                                 "descriptor rings take {}.",
                                 rounded_text(data_size(step.buffer_bytes())), to_string(chip.hbm.capacity),
                                 to_string(data_size(chip.ring_area_bytes())))});
}

void tpu_pod_config::check_host_memory(std::vector<config_problem>& p) const
{
    for (const collective_spec& spec : run.workload)
        if (!is_sound(spec))
            return;
    if (run.case_count() > run_config::k_most_cases || (run.training_step && !is_sound(*run.training_step)))
        return;
    const std::uint64_t host = host_data_bytes_for(run, ranks());
    if (host > k_much_host_memory)
        p.push_back(
            {severity::warning, run.workload.empty() ? "training_step" : "workload",
             fmt::format(
                 "needs {} of host memory for the contents of {} HBMs; with \"data: off\" it needs none, and the times are the same.",
                 rounded_text(data_size(host)), ranks())});
}

void tpu_pod_config::check_workload(std::vector<config_problem>& p) const
{
    const std::uint64_t room = room_for_buffers();
    bool all_sound = run.case_count() <= run_config::k_most_cases;
    const std::uint64_t output_offset = all_sound ? output_offset_for(run) : 0;
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        const collective_spec& spec = run.workload[i];
        const std::string key = fmt::format("workload.{}", i);
        const std::vector<abi::algorithm> algorithms = spec.all_algorithms();
        for (std::size_t a = 0; a < algorithms.size(); ++a) {
            const std::string place = spec.algorithms.empty() ? key : fmt::format("{}.algorithms.{}", key, a);
            const std::string refusal = refusal_of(spec.op, algorithms[a], spec.transposed);
            if (!refusal.empty())
                p.push_back({severity::error, place, refusal});
        }
        if (spec.root >= ranks())
            p.push_back({severity::error, key + ".root",
                         fmt::format("is {}, but the ranks of this mesh are 0 to {}.", spec.root, ranks() - 1)});
        all_sound = all_sound && is_sound(spec);
        if (!all_sound)
            continue;
        for (const collective_case& c : spec.cases()) {
            const std::uint64_t need = hbm_bytes_for(output_offset, c, ranks());
            if (need <= room)
                continue;
            p.push_back(
                {severity::error, spec.sizes.empty() ? key + ".range.to" : key + ".sizes",
                 fmt::format(
                     "{} of {} needs {} of HBM per chip, but chip.hbm.capacity is {}, of which the descriptor rings take {}.",
                     name_of(spec.op), to_string(data_size(c.size_bytes)), to_string(data_size(need)),
                     to_string(chip.hbm.capacity), to_string(data_size(chip.ring_area_bytes())))});
            break;
        }
    }
}

/// A buffer that does not cover the round trip of its link throttles it: allowed, but said. One that holds no packet: refused.
void tpu_pod_config::check_buffers(std::vector<config_problem>& p) const
{
    const std::uint64_t one = ici.format().cells_of_one(ici.max_payload.value()) * ici.flit.value();
    if (chip.dma.receive_buffer.value() < one)
        p.push_back(
            {severity::error, "chip.dma.receive_buffer",
             fmt::format(
                 "is {}, but one packet fills {} ({} of payload and {} of header in flits of {}), so none could ever arrive.",
                 to_string(chip.dma.receive_buffer), to_string(data_size(one)), to_string(ici.max_payload),
                 to_string(ici.header), to_string(ici.flit))});
    // Cables exist where a side is longer than a board of 2x2 chips, and as wrap links.
    const bool cables = mesh.rows > 2 || mesh.cols > 2;
    const duration wire = cables ? ici.cable_propagation : ici.board_propagation;
    const std::uint64_t needed = ici.buffer_for_full_rate(wire.value());
    if (ici.buffer_per_vl.value() >= one && ici.buffer_per_vl.value() < needed)
        p.push_back(
            {severity::warning, "ici.buffer_per_vl",
             fmt::format(
                 "is {}, below link_rate x round trip = {} (a credit is back after {} over a {}, packets are buffered with their "
                 "headers), so a link reaches at most {:.3g} % of its rate.",
                 to_string(ici.buffer_per_vl), rounded_text(data_size(needed)),
                 rounded_text(duration(ici.round_trip_ps(wire.value(), ici.max_payload.value()))),
                 cables ? "cable" : "board wire", 100 * ici.reachable_share(wire.value()))});
}

void tpu_pod_config::check_burst(std::vector<config_problem>& p) const
{
    if (run.burst.value() < 1 || run.burst.value() > run_config::k_largest_burst)
        return; // refused already
    if (burst_payload() > k_max_burst_bytes) {
        p.push_back(
            {severity::error, "burst",
             fmt::format("is {} of ici.max_payload = {}, {} in one transaction; must be at most 64 MiB.",
                         to_string(run.burst), to_string(ici.max_payload), to_string(data_size(burst_payload())))});
        return;
    }
    const bandwidth slower = std::min(ici.link_rate, ici.local_port_rate);
    const std::uint64_t transmission = wire_rate(slower).time_ps(ici.format().wire_bytes(burst_payload()));
    if (transmission > k_longest_transmission_ps)
        p.push_back({severity::error, "burst",
                     fmt::format("is {}, which take {} on a wire of {}; must take at most 4 ms.", to_string(run.burst),
                                 rounded_text(duration(transmission)), to_string(slower))});
    const std::uint64_t raised = std::uint64_t{burst_cells()} * ici.flit.value();
    if (raised > ici.buffer_per_vl.value())
        p.push_back(
            {severity::warning, "burst",
             fmt::format(
                 "is {}, and two bursts fill {}: buffers of ici.buffer_per_vl = {} are simulated with that size. `weft bench` "
                 "measures the error of bursts.",
                 to_string(run.burst), rounded_text(data_size(raised)), to_string(ici.buffer_per_vl))});
}

namespace {

class configured_pod final : public platform {
public:
    explicit configured_pod(tpu_pod_config config) : config_(std::move(config)) {}
    const run_config& run() const override { return config_.run; }
    config_field resolved() const override
    {
        config_field all = describe(config_);
        config_field name;
        name.name = "platform";
        name.doc = "Which platform this is";
        name.type = field_type::text;
        name.value = std::string(k_tpu_pod_info.name);
        all.children.insert(all.children.begin(), std::move(name));
        return all;
    }
    std::uint32_t ranks() const override { return config_.ranks(); }
    std::unique_ptr<machine> build() const override { return std::make_unique<tpu_pod>(config_); }

    std::string description() const override
    {
        const mesh_config& m = config_.mesh;
        const ici_config& ici = config_.ici;
        const std::uint64_t x_links = 2ull * m.rows * (m.cols - (m.wraps_cols() ? 0 : 1));
        const std::uint64_t y_links = 2ull * m.cols * (m.rows - (m.wraps_rows() ? 0 : 1));
        std::string text = fmt::format("TPU pod   {} x {} mesh of {} chips, wrap links: {}\n", m.rows, m.cols,
                                       config_.ranks(), name_of(m.wrap));
        text += fmt::format("Links     {} directed ({} along X, {} along Y) of {}, {} VL{} with a buffer of {} each\n",
                            x_links + y_links, x_links, y_links, to_string(ici.link_rate), ici.virtual_lanes,
                            ici.virtual_lanes == 1 ? "" : "s", to_string(ici.buffer_per_vl));
        text += fmt::format("Packets   up to {} of payload, {} of header, flits of {}; a full one takes {} on a link\n",
                            to_string(ici.max_payload), to_string(ici.header), to_string(ici.flit),
                            rounded_text(duration(ici.packet_ps(ici.link_rate))));
        const auto hop = [&](const char* what, duration wire) {
            return fmt::format(
                "{}{} from router to router; credits back after {}, so a buffer of {} keeps a link busy\n", what,
                rounded_text(duration(wire.value() + ici.pipeline_ps())),
                rounded_text(duration(ici.round_trip_ps(wire.value(), ici.max_payload.value()))),
                rounded_text(data_size(ici.buffer_for_full_rate(wire.value()))));
        };
        text += hop("On board  ", ici.board_propagation) + hop("Cables    ", ici.cable_propagation);
        text += fmt::format(
            "Chips     {} port{} of {} to the router, HBM of {} at {}, of which the descriptor rings take {}\n",
            ici.local_ports, ici.local_ports == 1 ? "" : "s", to_string(ici.local_port_rate),
            to_string(config_.chip.hbm.capacity), to_string(config_.chip.hbm.rate),
            to_string(data_size(config_.chip.ring_area_bytes())));
        if (!config_.faults.links_down.empty())
            text += fmt::format("Faults    {} link{} down\n", config_.faults.links_down.size(),
                                config_.faults.links_down.size() == 1 ? "" : "s");
        return text;
    }

private:
    tpu_pod_config config_;
};

} // namespace

const platform_info k_tpu_pod_info = {
    "tpu_pod", "TPU-v3 pod: a 2-D mesh of chips with ICI links, dimension-order routing, optional wrap links",
    [](const yaml_document& document, std::vector<problem>& problems) -> std::unique_ptr<platform> {
        tpu_pod_config config = read_config<tpu_pod_config>(document, problems, {"platform"});
        for (const problem& p : problems)
            if (p.level == severity::error)
                return nullptr;
        return std::make_unique<configured_pod>(std::move(config));
    },
    [] { return describe(tpu_pod_config{}); }};

} // namespace weft
