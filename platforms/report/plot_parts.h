// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What plots in SVG are made of: texts, lines, markers, and the colours of curves by light and dark. Lengths are
// pixels.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace weft {

/// For text and attributes of SVG and HTML.
std::string escaped(const std::string& text);

std::string text_at(double x, double y, const std::string& what, const char* how);
std::string line_at(double x1, double y1, double x2, double y2, const char* how);

/// A logarithmic axis: `least` to `most` onto pixels.
struct log_axis {
    double least = 1, most = 10, from = 0, to = 1;

    double at(double value) const
    {
        return from + (std::log(value) - std::log(least)) / (std::log(most) - std::log(least)) * (to - from);
    }
    /// Round values from `least` to `most`, ascending: powers of ten, or what lies between them where these are fewer
    /// than three.
    std::vector<double> ticks() const;
};

/// One of four shapes.
std::string marker(std::size_t shape, double x, double y);
/// Of a curve: one of eight colours, and dashes when all are taken.
std::string curve_class(std::size_t curve);
const char* dashes(std::size_t curve);
/// Later curves are drawn over earlier ones, and are thinner: equal curves are seen.
std::string curve_line(std::size_t curve, std::size_t curves, const std::string& path);

/// CSS of the classes that these parts have.
const char* plot_style();

} // namespace weft
