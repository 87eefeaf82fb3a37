// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Times over sizes on two logarithmic axes, as one SVG without scripts. Its colours follow the reader's choice of light
// or dark; curves differ by colour and marker, from the ninth on by dashes. The same plot gives the same bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct plotted_point {
    double bytes = 0;
    double us = 0;
};
struct plotted_curve {
    std::string name;
    std::vector<std::optional<plotted_point>> points; ///< ascending; nothing: the curve is interrupted there
};
/// Where the lowest curve changes.
struct plotted_crossover {
    plotted_point at;
    std::string text; ///< "68.4 KiB"
};
/// Sizes at which a curve is the lowest.
struct plotted_range {
    double from_bytes = 0;
    double to_bytes = 0;
    std::size_t curve = 0;
};

struct tuning_plot {
    std::string title;
    std::string subtitle;
    std::vector<plotted_curve> curves; ///< of positive values
    std::vector<plotted_range> lowest;
    std::vector<plotted_crossover> crossovers;
};

/// A plot without a point says so.
std::string to_svg(const tuning_plot& plot);

/// "64 B", "68.4 KiB", "1.5 MiB": three digits and a binary prefix.
std::string binary_size_text(double bytes);

} // namespace weft
