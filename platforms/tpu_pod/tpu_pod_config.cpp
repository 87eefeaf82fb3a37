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
    const auto side = [&](std::uint32_t n, const char* key) {
        if (n < 1 || n > k_max_side)
            p.push_back({severity::error, key, fmt::format("is {}, must be 1..{}.", n, k_max_side)});
    };
    side(rows, "rows");
    side(cols, "cols");
    if (wraps_rows() && rows < 3)
        p.push_back({severity::error, "wrap", fmt::format("closes the columns to rings, which needs at least 3 rows, not {}.", rows)});
    if (wraps_cols() && cols < 3)
        p.push_back({severity::error, "wrap", fmt::format("closes the rows to rings, which needs at least 3 columns, not {}.", cols)});
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
    if (mesh.rows < 1 || mesh.cols < 1 || mesh.rows > k_max_side || mesh.cols > k_max_side)
        return p; // nothing below makes sense without a mesh
    if (ranks() < 2)
        p.push_back({severity::error, "mesh", "has one chip; a collective needs at least two."});
    if ((mesh.wraps_rows() || mesh.wraps_cols()) && ici.virtual_lanes < 2)
        p.push_back({severity::error, "ici.virtual_lanes",
                     fmt::format("is {}, but wrap links need 2: with one VL the packets of a ring can block each other in a circle.",
                                 ici.virtual_lanes)});
    for (std::size_t i = 0; i < faults.links_down.size(); ++i) {
        const link_fault_config& f = faults.links_down[i];
        const std::string key = fmt::format("faults.links_down.{}", i);
        if (f.row >= mesh.rows)
            p.push_back({severity::error, key + ".row", fmt::format("is {}, but the mesh has rows 0 to {}.", f.row, mesh.rows - 1)});
        if (f.col >= mesh.cols)
            p.push_back({severity::error, key + ".col", fmt::format("is {}, but the mesh has columns 0 to {}.", f.col, mesh.cols - 1)});
        if (f.row < mesh.rows && f.col < mesh.cols && !has_link(mesh, f))
            p.push_back({severity::error, key, fmt::format("names a link that does not exist: chip ({},{}) is at the edge of the mesh in that direction.", f.row, f.col)});
    }
    const std::uint64_t room = chip.hbm.capacity.value() > chip.ring_area_bytes() ? chip.buffer_bytes() : 0;
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        const collective_spec& spec = run.workload[i];
        const std::string key = fmt::format("workload.{}", i);
        const std::vector<abi::algorithm> algorithms = spec.all_algorithms();
        for (std::size_t a = 0; a < algorithms.size(); ++a) {
            const char* reason = "";
            if (!firmware::supports(spec.op, algorithms[a], table(0), spec.transposed, &reason))
                p.push_back({severity::error, spec.algorithms.empty() ? key : fmt::format("{}.algorithms.{}", key, a),
                             fmt::format("{} of a {}x{} mesh by {} is not possible: {}.", name_of(spec.op), mesh.rows, mesh.cols,
                                         name_of(algorithms[a]), reason)});
        }
        if (spec.root >= ranks())
            p.push_back({severity::error, key + ".root", fmt::format("is {}, but ranks are 0 to {}.", spec.root, ranks() - 1)});
        for (const collective_case& c : spec.cases()) {
            const std::uint64_t need = hbm_bytes_for(run, c, ranks());
            if (need <= room)
                continue;
            p.push_back({severity::error, spec.sizes.empty() ? key + ".range.to" : key + ".sizes",
                         fmt::format("{} of {} needs {} of HBM per chip, but chip.hbm.capacity leaves {} for buffers.", name_of(spec.op),
                                     to_string(data_size(c.size_bytes)), to_string(data_size(need)), to_string(data_size(room)))});
            break;
        }
    }
    // A buffer that does not cover the round trip of its link throttles it: allowed, but said.
    const bool sound = ici.link_rate.value() > 0 && ici.clock.value() > 0 && ici.flit.value() > 0 && ici.max_payload.value() > 0;
    if (sound) {
        const std::uint64_t round_trip = ici.round_trip_ps(ici.cable_propagation.value(), ici.max_payload.value());
        const double needed = static_cast<double>(round_trip) * 1e-12 * static_cast<double>(ici.link_rate.value()) / 8;
        if (static_cast<double>(ici.buffer_per_vl.value()) < needed)
            p.push_back({severity::warning, "ici.buffer_per_vl",
                         fmt::format("is {}, below link_rate x round trip = {:.0f} B ({} round trip over a cable): a link can reach at most {:.0f} % of its rate.",
                                     to_string(ici.buffer_per_vl), needed, to_string(duration(round_trip)),
                                     100.0 * static_cast<double>(ici.buffer_per_vl.value()) / needed)});
        const std::uint64_t raised = std::uint64_t{burst_cells()} * ici.flit.value();
        if (raised > ici.buffer_per_vl.value())
            p.push_back({severity::warning, "burst",
                         fmt::format("of {} packets needs buffers of {} (two bursts); VL buffers of {} are simulated with that size. The error of bursts is measured by `weft bench`.",
                                     run.burst.value(), to_string(data_size(raised)), to_string(ici.buffer_per_vl))});
    }
    return p;
}

namespace {

class configured_pod final : public platform {
public:
    explicit configured_pod(tpu_pod_config config) : config_(std::move(config)) {}
    const run_config& run() const override { return config_.run; }
    config_field resolved() const override { return describe(config_); }
    std::uint32_t ranks() const override { return config_.ranks(); }
    std::unique_ptr<machine> build() const override { return std::make_unique<tpu_pod>(config_); }

    std::string description() const override
    {
        const mesh_config& m = config_.mesh;
        const ici_config& ici = config_.ici;
        const std::uint64_t x_links = 2ull * m.rows * (m.cols - (m.wraps_cols() ? 0 : 1));
        const std::uint64_t y_links = 2ull * m.cols * (m.rows - (m.wraps_rows() ? 0 : 1));
        const auto serialisation = wire_rate(ici.link_rate).time_ps(ici.format().wire_bytes(ici.max_payload.value()));
        std::string text = fmt::format("TPU pod: {} x {} = {} chips, wrap links: {}\n", m.rows, m.cols, config_.ranks(), name_of(m.wrap));
        text += fmt::format("ICI: {} directed links of {} ({} along X, {} along Y), {} VLs with {} each\n", x_links + y_links,
                            to_string(ici.link_rate), x_links, y_links, ici.virtual_lanes, to_string(ici.buffer_per_vl));
        text += fmt::format("packet: {} payload, {} header, {} flits; {} on a wire\n", to_string(ici.max_payload),
                            to_string(ici.header), to_string(ici.flit), to_string(duration(serialisation)));
        const auto hop = [&](duration wire) {
            const std::uint64_t rtt = ici.round_trip_ps(wire.value(), ici.max_payload.value());
            return fmt::format("{} per hop, credit round trip {}, which needs {:.0f} B of buffer",
                               to_string(duration(wire.value() + ici.pipeline_ps())), to_string(duration(rtt)),
                               static_cast<double>(rtt) * 1e-12 * static_cast<double>(ici.link_rate.value()) / 8);
        };
        text += fmt::format("board wires: {}\ncable wires: {}\n", hop(ici.board_propagation), hop(ici.cable_propagation));
        text += fmt::format("chip: {} local ports of {}, HBM {} at {}, {} for buffers\n", ici.local_ports,
                            to_string(ici.local_port_rate), to_string(config_.chip.hbm.capacity),
                            to_string(config_.chip.hbm.rate), to_string(data_size(config_.chip.buffer_bytes())));
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
