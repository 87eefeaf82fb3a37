// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/gapped_costs.h"

#include "firmware/collectives/gapped_lines.h"
#include "platforms/workload/cost_parts.h"

namespace weft {

namespace {

namespace costs = firmware::costs;

// Two shots in the order of ranks load links unevenly here; parameter servers send in chunks of all. Calibrated: 4x4 and
// 8x8 NPUs with a gap and blocks of 6 to 13, 4 to 64 MiB: 0.68 to 0.93 of what links allow, short data like others.
constexpr double k_share_by_rank = 0.85;

/// The mesh as if it had no gaps.
abi::platform_table without_gaps(abi::platform_table table)
{
    const abi::gapped_mesh mesh = table.on_mesh;
    std::uint32_t row = 0, col = 0;
    firmware::gapped_lines(mesh, false).find(table.rank, row, col);
    table.on_mesh = {};
    table.dim_count = 2;
    table.dims[0] = mesh.rows;
    table.dims[1] = mesh.cols;
    table.coord[0] = row;
    table.coord[1] = col;
    table.kind[0] = table.kind[1] = abi::dimension_kind::full;
    table.rate_mbps[0] = mesh.col_mbps;
    table.rate_mbps[1] = mesh.row_mbps;
    table.ranks = std::uint32_t{mesh.rows} * mesh.cols;
    table.rank = row * mesh.cols + col;
    return table;
}
message_costs costs_without_gaps(message_costs m)
{
    m.hop_us[1] = m.hop_us[0];
    return m;
}

/// firmware/collectives/gapped_axes.cpp
class gapped_axes : cost_parts {
public:
    using cost_parts::cost_parts;

    double us() const
    {
        const std::uint32_t phases = c_.op == abi::collective_op::all_reduce ? 2 : 1; // along lines, and across
        const double rows = firmware::share_of_rows(t_.on_mesh) / 256.0;
        const half of_rows{t_.on_mesh, false, rows}, of_columns{t_.on_mesh, true, 1 - rows};
        const double along_us = std::max(along(of_rows), along(of_columns)), across_us = std::max(across(of_rows), across(of_columns));
        const double messages = messages_along(of_rows) + messages_along(of_columns);
        const double made_us = messages * post(costs::k_gapped_cell) + instructions(2 * costs::k_gapped_phase);
        const double others = of_rows.mesh.rows + of_rows.mesh.cols - 2.0;
        const double made_across_us = others * post(costs::k_gapped_cell) + instructions(2 * costs::k_gapped_phase);
        return start() + instructions(costs::k_gapped_begin) + barrier() +
               phases * (std::max(along_us, made_us) + std::max(across_us, made_across_us) + 3 * latency(m_.hop_us[0]));
    }

private:
    struct half {
        const abi::gapped_mesh& mesh;
        bool along_columns;
        double share;
        double places() const { return along_columns ? mesh.rows : mesh.cols; }
        double lines() const { return along_columns ? mesh.cols : mesh.rows; }
        /// Bytes per us of a link along its lines, and across them.
        double link_along() const { return bytes_per_us(along_columns ? mesh.col_mbps : mesh.row_mbps) / (places() - 1); }
        double link_across() const { return bytes_per_us(along_columns ? mesh.row_mbps : mesh.col_mbps) / (lines() - 1); }
    };
    /// Cells that a rank of the line with most gaps gathers besides those of its own place.
    double stood_in_for(const half& h) const
    {
        const firmware::gapped_lines lines(h.mesh, h.along_columns);
        double most = 0;
        for (std::uint32_t line = 0; line < lines.lines(); ++line) {
            double cells = 0;
            for (std::uint32_t place = 0; place < lines.places(); ++place)
                cells += lines.has(line, place) ? 0 : lines.ranks_at(place);
            if (lines.ranks_of_line(line) != 0)
                most = std::max(most, std::ceil(cells / lines.ranks_of_line(line)));
        }
        return most;
    }
    double along(const half& h) const { return bytes_ * h.share / t_.ranks * (h.lines() + stood_in_for(h)) / h.link_along(); }
    /// What a rank sends for others shares a link with what its relay sends.
    double across(const half& h) const { return bytes_ * h.share / t_.ranks * (1 + stood_in_for(h)) / h.link_across(); }
    double messages_along(const half& h) const
    {
        const double cells = c_.op == abi::collective_op::all_reduce ? 1 : h.lines(); // shards of ranks do not lie side by side
        return (h.places() - 1) * (cells + stood_in_for(h));
    }
};

} // namespace

std::optional<double> predicted_on_gapped_mesh_us(const abi::platform_table& table, const message_costs& m, const collective_case& c)
{
    if (firmware::goes_around_gaps(table, c.op, c.algo))
        return gapped_axes(table, m, c).us();
    collective_case one = c;
    if (c.algo == abi::algorithm::ccu_axes) // in one dimension, both are one
        one.algo = abi::algorithm::ccu;
    switch (one.algo) {
    case abi::algorithm::direct: {
        const std::optional<double> us = predicted_us(without_gaps(table), costs_without_gaps(m), one);
        return us && c.op != abi::collective_op::all_to_all ? std::optional(*us / k_share_by_rank) : us;
    }
    case abi::algorithm::ccu:
    case abi::algorithm::ccu_one_shot: return predicted_us(without_gaps(table), costs_without_gaps(m), one);
    case abi::algorithm::parameter_server: {
        // The same exchanges as by direct, but on one full mesh.
        one.algo = abi::algorithm::direct;
        return predicted_us(without_gaps(table), costs_without_gaps(m), one);
    }
    default: break;
    }
    // Rings over all ranks: most of their steps are along rows.
    abi::platform_table rings = table;
    rings.on_mesh = {};
    rings.rate_mbps[0] = table.on_mesh.row_mbps;
    return predicted_us(rings, m, one);
}

} // namespace weft
