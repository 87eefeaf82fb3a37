// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small multiples of a sweep: which axis is x, which make lines and which make panels, and where the fastest line
// changes in each panel.
#pragma once

#include "platforms/sweep/sweep_axes.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Between two values of x that follow each other, the fastest line changes.
struct sweep_crossover {
    std::size_t from = 0, to = 0; ///< indices of the values
    std::optional<double>
        units;                ///< where, interpolated on logarithmic axes; none: x is no number there, or begins at 0
    std::optional<double> us; ///< time there
    std::size_t before = 0, after = 0; ///< lines
};

struct sweep_panel {
    std::string title;                                   ///< "op all_reduce, size 4 KiB"
    std::vector<std::vector<const stored_row*>> rows;    ///< by line, then by value of x; nullptr: no result
    std::vector<std::optional<std::size_t>> fastest;     ///< by value of x: line; none: no result
    std::vector<sweep_crossover> crossovers;
    bool unlike = false; ///< lines differ in operation or size: none is the fastest
};

struct sweep_panels {
    result_axis x;
    std::string x_name;             ///< "size (B)"
    std::vector<std::string> lines; ///< the same in all panels
    std::string line_names;         ///< what they differ in: "algorithm"
    std::vector<sweep_panel> panels;
};

/// Whether it is known which line is the fastest all the way from value `i` of x to the next: a curve, or curves that
/// cross, lead from the fastest there to the fastest here.
bool knows_between(const sweep_panel& panel, std::size_t i);

/// Axes that `plot` does not name are chosen from what varies; no result is left out, and no two share a place.
sweep_panels panels_of(const placed_results& results, const sweep_plot& plot);

/// "direct below 68.4 KiB, ring_1d above"; "" where nothing has a result.
std::string winners_text(const sweep_panels& all, const sweep_panel& panel);
/// Of a column of winners: "fastest by size", and that points are missing, where some have not ended.
std::string fastest_heading(const sweep_report& report, const sweep_panels& all);

} // namespace weft
