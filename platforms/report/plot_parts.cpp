// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/plot_parts.h"

#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::size_t k_colours = 8, k_shapes = 4;

constexpr const char* k_style =
    ".paper{fill:#ffffff}.ink{fill:#1f2937}.soft{fill:#5b6675}.axis{stroke:#5b6675;fill:none}.grid{stroke:#e3e8ee;fill:none}"
    ".cross{stroke:#5b6675;stroke-dasharray:3 4;fill:none}.curve{fill:none;stroke-linejoin:round}"
    ".c0{color:#1f6fb4}.c1{color:#cf5a13}.c2{color:#16865a}.c3{color:#b13c94}.c4{color:#8a6d00}.c5{color:#5a4fcf}.c6{color:#0d7f8c}.c7{color:#c0303a}"
    "@media (prefers-color-scheme:dark){.paper{fill:#14181f}.ink{fill:#e6eaf0}.soft{fill:#a3aebd}.axis{stroke:#a3aebd}.grid{stroke:#2a323d}"
    ".cross{stroke:#a3aebd}"
    ".c0{color:#6db3f2}.c1{color:#ff9a57}.c2{color:#4fd69c}.c3{color:#f08bd6}.c4{color:#e6c545}.c5{color:#aba4ff}.c6{color:#63d3e0}.c7{color:#ff8a8f}}";

} // namespace

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text)
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    return out;
}

std::vector<double> log_axis::ticks() const
{
    constexpr std::size_t k_enough = 3;
    const int first = static_cast<int>(std::floor(std::log10(least))), last = static_cast<int>(std::ceil(std::log10(most)));
    const auto in_decades = [&](const std::vector<int>& digits, int step) {
        std::vector<double> found;
        for (int decade = first; decade <= last; ++decade)
            for (const int digit : digits)
                if (const double v = digit * std::pow(10.0, decade); v >= least && v <= most && decade % step == 0)
                    found.push_back(v);
        return found;
    };
    constexpr int k_most_decades = 6;
    std::vector<double> found = in_decades({1}, last - first > k_most_decades + 1 ? 2 : 1);
    if (found.size() < k_enough)
        found = in_decades({1, 2, 5}, 1);
    if (found.size() >= k_enough)
        return found;
    // Less than a decade: equal steps.
    for (int decade = last; decade >= first - 3; --decade)
        for (const int digit : {5, 2, 1}) {
            const double step = digit * std::pow(10.0, decade);
            found.clear();
            for (double i = std::ceil(least / step); i * step <= most; ++i)
                found.push_back(i * step);
            if (found.size() >= k_enough)
                return found;
        }
    return found;
}

std::string text_at(double x, double y, const std::string& what, const char* how)
{
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, how, escaped(what));
}

std::string line_at(double x1, double y1, double x2, double y2, const char* how)
{
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                       how);
}

std::string marker(std::size_t shape, double x, double y)
{
    switch (shape % k_shapes) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.6\"/>", x, y);
    case 1: return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6.6\" height=\"6.6\"/>", x - 3.3, y - 3.3);
    case 2: return fmt::format("<path d=\"M{:.1f} {:.1f}l4.4 7.6h-8.8z\"/>", x, y - 4.6);
    default: return fmt::format("<path d=\"M{:.1f} {:.1f}l4.7 4.7l-4.7 4.7l-4.7 -4.7z\"/>", x, y - 4.7);
    }
}

std::string curve_class(std::size_t curve) { return fmt::format("c{}", curve % k_colours); }
const char* dashes(std::size_t curve) { return curve >= k_colours ? " stroke-dasharray=\"7 4\"" : ""; }

std::string curve_line(std::size_t curve, std::size_t curves, const std::string& path)
{
    return fmt::format("<path d=\"{}\" class=\"curve\" stroke=\"currentColor\" stroke-width=\"{:.1f}\"{}/>\n", path,
                       1.8 + 0.4 * static_cast<double>(curves - 1 - curve), dashes(curve));
}

const char* plot_style() { return k_style; }

} // namespace weft
