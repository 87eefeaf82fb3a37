// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Targets of single collectives: all-reduce of a board against its bound (V15), all-to-all of 4 x 4 NPUs by two ways a
// pair (V16), the published utilisation of a mesh link against the size of a message (V18).
#include "platforms/ub_mesh/validation_pieces.h"
#include "platforms/ub_mesh/validation_runs.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr double k_mib = 1 << 20;
constexpr double k_port_gbytes = 56; ///< GB/s of an x4 port, raw (quoted)

/// Keys that stand for the two constants of the published curve, and what they are fitted to: the first and the last of
/// its points. An algorithm that leaves less to software has a fit of its own.
struct curve_fit {
    const char* algorithm;
    double efficiency;       ///< ub.efficiency: stands for the payload efficiency
    std::uint64_t clock_mhz; ///< npu.core.clock: stands for the fixed cost of a collective
};
constexpr curve_fit k_fit{"direct", 0.9740, 1840};
constexpr const char* k_fitted_inputs = "ub.efficiency and npu.core.clock";

/// HCCL's table of utilisations, column of meshes, by the most that a link carries, MiB.
constexpr std::pair<double, double> k_published[] = {{1, 0.7135},  {2, 0.7758},  {4, 0.8112},   {8, 0.8301},  {16, 0.8400},
                                                     {32, 0.8449}, {64, 0.8475}, {128, 0.8487}, {256, 0.8494}};
constexpr const char* k_curve_source = "utilisation table of a public cost model of collectives (quoted); size: bytes on one link (assumed); tolerance: 1 point";

/// What the two constants alone say: 4.21 us and 47.6 GB/s.
double null_utilisation(double mib) { return 0.85 * mib / (mib + 0.1913); }

/// Bytes that a link of a board of 8 carries once, of a collective of this size: each NPU has its eighth.
constexpr double k_ranks = 8;

} // namespace

/// The same by collective communication units, with nothing fitted: their task start is published (quoted).
void ub_validation::utilisation_by_units()
{
    std::vector<double> sizes_mib;
    for (const auto& [mib, published] : k_published)
        sizes_mib.push_back(mib * k_ranks);
    const std::vector<std::optional<double>> times = board_times(how_.isolated, ub_board_machine{}, abi::collective_op::all_gather, "ccu", sizes_mib);
    for (std::size_t i = 0; i < std::size(k_published); ++i) {
        const auto [mib, published] = k_published[i];
        validation_row row(row_kind::emergent(), "V18", fmt::format("board, all_gather by ccu, {:g} MiB on a link: of 56 GB/s", mib), "%",
                           std::string(k_curve_source) + "; nothing fitted");
        row.published = 100 * published;
        if (times[i])
            row.simulated = 100 * mib * k_mib / *times[i] * 1e-3 / k_port_gbytes;
        row.tolerance = tolerance::points(1);
        row.null_value = 100 * null_utilisation(mib);
        row.why_miss = "the start of a task, 2 us (quoted), comes on top of launch and syncs; the published curve has 4.21 us that do not depend on the size";
        add(std::move(row));
    }
}

/// V18: two constants are fitted to two points of the curve, the seven others and all of the other collective follow.
void ub_validation::utilisation()
{
    std::vector<double> sizes_mib;
    for (const auto& [mib, published] : k_published)
        sizes_mib.push_back(mib * k_ranks);
    const ub_board_machine machine{8, 1, 112, true, k_fit.efficiency, k_fit.clock_mhz};
    add_null("V18", "0.85 S / (S + 0.1913 MiB): the two constants themselves, 47.6 GB/s and 4.21 us");
    for (const auto op : {abi::collective_op::all_gather, abi::collective_op::reduce_scatter}) {
        const std::vector<std::optional<double>> times = board_times(how_.isolated, machine, op, k_fit.algorithm, sizes_mib);
        for (std::size_t i = 0; i < std::size(k_published); ++i) {
            const auto [mib, published] = k_published[i];
            const bool fitted = i == 0 || i + 1 == std::size(k_published); // both collectives have the same curve
            const bool again = op == abi::collective_op::reduce_scatter; // the same links, the other way: counted once
            validation_row row(fitted ? row_kind::calibrated(k_fitted_inputs) : again ? row_kind::conformity() : row_kind::emergent());
            row.target = "V18";
            row.what = fmt::format("board, {} by {}, {:g} MiB on a link: of 56 GB/s", name_of(op), k_fit.algorithm, mib);
            row.unit = "%";
            row.published = 100 * published;
            if (times[i])
                row.simulated = 100 * mib * k_mib / *times[i] * 1e-3 / k_port_gbytes;
            row.tolerance = tolerance::points(1);
            row.source = k_curve_source;
            if (!fitted && !again)
                row.null_value = 100 * null_utilisation(mib);
            add(std::move(row));
        }
    }
}

/// V15: the bound is 2/8 of the size over a link.
void ub_validation::board_all_reduce()
{
    constexpr double k_bytes = 360e6;
    const ub_board_machine machine{8, 1, 112, true, k_fit.efficiency, k_fit.clock_mhz};
    const double bound_ms = 2 * k_bytes / k_ranks / (0.85 * k_port_gbytes) * 1e-6;
    for (const char* algorithm : {"multi_axis", "direct", "ccu"}) {
        const bool by_units = std::string(algorithm) == "ccu"; // nothing is fitted for them
        const std::vector<std::optional<double>> times =
            board_times(how_.isolated, by_units ? ub_board_machine{} : machine, abi::collective_op::all_reduce, algorithm, {k_bytes / k_mib});
        validation_row row(row_kind::conformity(), "V15", fmt::format("board, all_reduce of 360 MB by {}: against the two-shot bound", algorithm), "ms",
                           "2 x (360 MB / 8) over 47.6 GB/s, 85 % of 56 GB/s (derived); tolerance: ours");
        row.published = bound_ms;
        if (times.front())
            row.simulated = *times.front() * 1e-3;
        row.tolerance = tolerance::percent(5);
        row.why_miss = "each step of an exchange waits for the last message of the one before";
        add(std::move(row));
    }
}

/// V17: a two-shot all-reduce reads each shard once of every rank and writes its sum once to every rank.
void ub_validation::bytes_of_units()
{
    constexpr double k_size_mib = 16;
    const double all_bytes = k_ranks * k_size_mib * k_mib;
    constexpr const char* k_source = "microcode of group reduce and group broadcast: n reads and n writes of each shard, of which n - 1 come and go over links (derived)";
    const ub_unit_bytes got = board_unit_bytes(how_.isolated, ub_board_machine{}, abi::collective_op::all_reduce, "ccu", k_size_mib);
    const auto count = [&](const char* what, double published, const std::optional<double>& simulated) {
        validation_row row(row_kind::conformity(), "V17", fmt::format("board, all_reduce of 16 MiB by ccu: {}", what), "B", k_source);
        row.published = published;
        row.simulated = simulated;
        row.tolerance = tolerance::exact();
        add(std::move(row));
    };
    count("read from memories, n S", all_bytes, got.read);
    count("written to memories, n S", all_bytes, got.written);
    count("sent to peers, 2 (n - 1) S", 2 * (k_ranks - 1) / k_ranks * all_bytes, got.sent);
}

/// V16: half of each message X then Y, half Y then X, as packets that are spread; ports of 400 Gb/s.
void ub_validation::all_to_all_by_two_ways()
{
    constexpr double k_size_mib = 16;
    ub_board_machine machine{4, 4, 100, false, 1, 1000};
    // Of 15 others 6 are a link away and 9 two: 24 link crossings of a sixteenth of the size over 6 links.
    const double payload_gbytes = 50 * 1024.0 / static_cast<double>(ub_config{}.format().wire_bytes_of_one(1024));
    const double bound_us = 24.0 / 6 * k_size_mib * k_mib / 16 / payload_gbytes * 1e-3;
    const std::vector<std::optional<double>> times =
        board_times(how_.isolated, machine, abi::collective_op::all_to_all, "direct", {k_size_mib});
    validation_row row(row_kind::conformity(), "V16", "4 x 4 NPUs, all_to_all of 16 MiB an NPU by both ways of a pair, ports of 400 Gb/s", "us",
                       "counted on the case of a public UB simulator, whose own time is not published (derived); 16 MB taken as an NPU's (assumed); tolerance: ours");
    row.published = bound_us;
    if (times.front())
        row.simulated = *times.front();
    row.tolerance = tolerance::percent(10);
    add(std::move(row));
}

void ub_validation::curve_inputs()
{
    report.inputs.push_back({"V15, V18: ub.efficiency, share of a link's rate that packets get", fmt::format("{:g}", k_fit.efficiency),
                             "stands for the payload efficiency of 0.85; fitted to the utilisation at 256 MiB (calibrated)"});
    report.inputs.push_back({"V15, V18: npu.core.clock", fmt::format("{:g} GHz", static_cast<double>(k_fit.clock_mhz) * 1e-3),
                             "stands for the fixed cost of a collective, 4.21 us; fitted to the utilisation at 1 MiB (calibrated)"});
    report.inputs.push_back({"V18: size", "bytes that one link carries", "the table does not say (assumed); with it the fixed cost is 4.21 us, with the whole "
                                                                         "buffer of an all-reduce of 8 it would be 0.53 us"});
}

} // namespace weft
