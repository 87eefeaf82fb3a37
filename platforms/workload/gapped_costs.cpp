// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/gapped_costs.h"

#include "firmware/collectives/gapped_lines.h"
#include "platforms/workload/bounds.h"
#include "platforms/workload/cost_parts.h"

namespace weft {

namespace {

namespace costs = firmware::costs;

// Exchanges of everybody with everybody load links unevenly here. Calibrated: two shots on 4x4 and 8x8 NPUs with a gap
// and blocks of 6 to 13, 4 to 64 MiB, 0.68 to 0.93 of what links along rows and columns allow.
constexpr double k_share_of_exchange = 0.85;
// Rings borrow links to switches: this part of them, over the ranks of a row. As k_outside_share of cost_parts.cpp.
constexpr double k_borrowed_by_rings = 1.6;

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
    /// Calls see(cells whose place is a gap, ranks) for each line.
    template <class See> static void each_line(const half& h, See&& see)
    {
        const firmware::gapped_lines lines(h.mesh, h.along_columns);
        for (std::uint32_t line = 0; line < lines.lines(); ++line) {
            double cells = 0;
            for (std::uint32_t place = 0; place < lines.places(); ++place)
                cells += lines.has(line, place) ? 0 : lines.ranks_at(place);
            if (lines.ranks_of_line(line) != 0)
                see(cells, lines.ranks_of_line(line));
        }
    }
    /// Cells that a rank of the line with most gaps gathers besides those of its own place.
    static double stood_in_for(const half& h)
    {
        double most = 0;
        each_line(h, [&](double cells, double ranks) { most = std::max(most, std::ceil(cells / ranks)); });
        return most;
    }
    double along(const half& h) const { return bytes_ * h.share / t_.ranks * (h.lines() + stood_in_for(h)) / h.link_along(); }
    /// What a rank sends for others shares a link with what its relay sends.
    double across(const half& h) const { return bytes_ * h.share / t_.ranks * (1 + stood_in_for(h)) / h.link_across(); }
    double messages_along(const half& h) const
    {
        // Shards of ranks do not lie side by side.
        const double cells = c_.op == abi::collective_op::all_reduce ? 1 : h.lines();
        double most = 0;
        each_line(h, [&](double of_gaps, double ranks) { most = std::max(most, (ranks - 1) * cells + of_gaps * (ranks - 1) / ranks); });
        return most;
    }
};

} // namespace

std::optional<double> predicted_on_gapped_mesh_us(const abi::platform_table& table, const message_costs& m, const collective_case& c)
{
    if (firmware::goes_around_gaps(table, c.op, c.algo))
        return gapped_axes(table, m, c).us();
    abi::platform_table as_told = table; // ranks in one dimension
    as_told.on_mesh = {};
    const bool by_servers = c.algo == abi::algorithm::parameter_server;
    if (c.algo == abi::algorithm::direct || by_servers || abi::is_in(abi::k_by_ccu, c.algo)) {
        const std::optional<double> us = predicted_us(as_told, m, c);
        collective_case least = c; // what is no matter of bytes
        least.size_bytes = std::min<std::uint64_t>(c.size_bytes, std::uint64_t{table.ranks} * abi::element_bytes(c.type));
        least.count = least.size_bytes / abi::element_bytes(c.type);
        const std::optional<double> least_us = predicted_us(as_told, m, least);
        if (!us || !least_us)
            return us;
        const double exchanges = c.op == abi::collective_op::all_reduce ? 2 : 1;
        const auto wire_us = [&](std::uint64_t links_bps) {
            const auto bound = bound_of(without_gaps(table), links_bps, 0, abi::collective_op::all_to_all, c.size_bytes);
            return bound ? exchanges * bound->us / k_share_of_exchange : 0;
        };
        // Servers take all paths. Links to switches help where lines are short: 8x2 NPUs take a third of the time of
        // two shots, between the bounds without and with these links; 4x4 to 8x8 take as long.
        const bool helped = by_servers && std::min(table.on_mesh.rows, table.on_mesh.cols) < 3;
        return std::max(*us, *least_us + (helped ? std::sqrt(wire_us(0) * wire_us(m.links_bps)) : wire_us(0)));
    }
    // Rings over all ranks: most of their steps are along rows.
    const double outside_mbps = static_cast<double>(m.links_bps) / 1e6 - table.on_mesh.row_mbps - table.on_mesh.col_mbps;
    as_told.rate_mbps[0] = table.on_mesh.row_mbps +
                           static_cast<std::uint32_t>(std::max(0.0, k_borrowed_by_rings * outside_mbps / table.on_mesh.cols));
    return predicted_us(as_told, m, c);
}

} // namespace weft
