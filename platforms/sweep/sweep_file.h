// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep file: a platform file, and which of its keys take which values.
//
//   sweep: {platform: ../tpu_v3/mesh_4x4.yaml, out: out/sweeps/latency, set: {data: off}}
//   grid:                                     # all combinations, the last key changes fastest
//     ici.router_latency: [4 cycles, 47 cycles]
//   list:                                     # or these combinations; with a grid: each of them on the whole grid
//     - {mesh.rows: 2, mesh.cols: 4}
//   plot: {x: ici.router_latency, y: time, lines: [algorithm], panels: [op, size]}
//
// Keys are those of the platform file, with dots; whether the platform has them is not known here.
#pragma once

#include "platforms/config/yaml_document.h"

#include <string>
#include <vector>

namespace weft {

/// key=value as of --set, and where the file says so.
struct sweep_setting {
    std::string key;
    std::string text; ///< of the value, YAML on one line
    source_position key_at;
    source_position value_at;

    std::string assignment() const { return key + "=" + text; }
};

/// One key of the grid, with each of its values.
using swept_key = std::vector<sweep_setting>;

/// What the page shows; empty: chosen from what varies. Names are "op", "algorithm", "type", "redop", "group", "size",
/// or a swept key.
struct sweep_plot {
    std::string x;
    std::string y; ///< "time", "busbw" or "algbw": what is shown first
    std::vector<std::string> lines;
    std::vector<std::string> panels;
};

struct sweep_file {
    std::string file;                  ///< as in messages
    std::string source;                ///< its text
    std::string name;                  ///< default: that of the file
    std::string platform;              ///< platform file; the sweep file names it from its own folder
    std::string out;                   ///< default: out/sweeps/<name>
    std::vector<sweep_setting> common; ///< of every point, before its own
    std::vector<swept_key> grid;
    std::vector<std::vector<sweep_setting>> list;
    sweep_plot plot;

    /// Swept keys, each once, in the order of the file.
    std::vector<std::string> keys() const;
    /// Settings of each point: the list outside, the grid inside, its last key fastest.
    std::vector<std::vector<sweep_setting>> points() const;
};

/// More are refused: each has a folder.
inline constexpr std::size_t k_most_sweep_points = 10'000;

/// Throws user_error with every problem of the file.
sweep_file read_sweep_file(const std::string& path);
sweep_file read_sweep_text(std::string text, const std::string& path);
/// The same with the problems beside it, in the order of the file, and without what they are about.
sweep_file read_sweep_file(const std::string& path, std::vector<problem>& problems);

/// Names that plots may use beside swept keys.
const std::vector<std::string>& sweep_dimensions();

/// Whether the key `inner` is `outer` or one of its section.
bool is_within(const std::string& inner, const std::string& outer);

} // namespace weft
