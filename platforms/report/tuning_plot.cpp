// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/tuning_plot.h"

#include "platforms/report/plot_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace weft {

namespace {

// Pixels.
constexpr double k_left = 84, k_right = 690, k_top = 104, k_bottom = 500;
constexpr double k_width = 900, k_height = 590;
constexpr double k_strip = 516, k_strip_height = 10; ///< of the lowest curve, below the axis
constexpr double k_label_width = 74;                 ///< of a crossover
constexpr double k_legend = 716, k_legend_line = 22;
constexpr std::size_t k_label_rows = 3;

class drawing {
public:
    explicit drawing(const tuning_plot& plot) : plot_(plot)
    {
        double least_x = 0, most_x = 0, least_y = 0, most_y = 0;
        for (const plotted_curve& c : plot.curves)
            for (const std::optional<plotted_point>& p : c.points)
                if (p) {
                    least_x = empty_ ? p->bytes : std::min(least_x, p->bytes);
                    most_x = std::max(most_x, p->bytes);
                    least_y = empty_ ? p->us : std::min(least_y, p->us);
                    most_y = std::max(most_y, p->us);
                    empty_ = false;
                }
        if (empty_)
            return;
        constexpr double k_margin = 1.25; // so that no marker stands on an axis
        const double x_margin = least_x == most_x ? 2 : k_margin;
        x_ = {least_x / x_margin, most_x * x_margin, k_left, k_right};
        y_ = {least_y / k_margin, most_y * k_margin, k_bottom, k_top};
    }
    std::string svg() const
    {
        std::string out = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
            "role=\"img\" "
            "aria-labelledby=\"t d\" font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" font-size=\"13\">\n",
            k_width, k_height);
        out += fmt::format("<title id=\"t\">{}</title>\n<desc id=\"d\">{}</desc>\n<style>{}</style>\n",
                           escaped(plot_.title), escaped(description()), plot_style());
        out += fmt::format("<rect width=\"{}\" height=\"{}\" class=\"paper\"/>\n", k_width, k_height);
        out += text_at(k_left, 28, plot_.title, "class=\"ink\" font-size=\"17\" font-weight=\"bold\"");
        out += text_at(k_left, 48, plot_.subtitle, "class=\"soft\"");
        if (empty_)
            return out + text_at(k_left, 120, "No point has completed.", "class=\"ink\"") + "</svg>\n";
        return out + x_axis() + y_axis() + crossovers() + curves() + strip() + legend() + "</svg>\n";
    }

private:
    std::string description() const
    {
        std::string text = "Time over size, both on logarithmic scales, one curve for each algorithm.";
        for (const plotted_range& r : plot_.lowest)
            text += fmt::format(" {} is the fastest from {} to {}.", plot_.curves[r.curve].name,
                                binary_size_text(r.from_bytes), binary_size_text(r.to_bytes));
        return text;
    }
    std::string x_axis() const
    {
        constexpr int k_most_ticks = 9;
        const int first = static_cast<int>(std::ceil(std::log2(x_.least))),
                  last = static_cast<int>(std::floor(std::log2(x_.most)));
        int step = 1;
        while ((last - first) / step + 1 > k_most_ticks)
            ++step;
        std::string out;
        for (int power = first; power <= last; ++power)
            if (power % step == 0 || (last - first) / step == 0) {
                const double x = x_.at(std::exp2(power));
                out += line_at(x, k_top, x, k_bottom, "grid");
                out += text_at(x, k_strip + k_strip_height + 18, binary_size_text(std::exp2(power)),
                               "class=\"ink\" text-anchor=\"middle\"");
            }
        out += line_at(k_left, k_bottom, k_right, k_bottom, "axis");
        return out + text_at((k_left + k_right) / 2, k_strip + k_strip_height + 42, "size (B), logarithmic",
                             "class=\"soft\" text-anchor=\"middle\"");
    }
    std::string y_axis() const
    {
        std::string out;
        const bool few_decades = y_.most / y_.least < 300;
        for (int decade = static_cast<int>(std::floor(std::log10(y_.least)));
             decade <= static_cast<int>(std::ceil(std::log10(y_.most))); ++decade)
            for (const int digit : {1, 2, 5}) {
                const double value = digit * std::pow(10.0, decade);
                if (value < y_.least || value > y_.most || (digit != 1 && !few_decades))
                    continue;
                const double y = y_.at(value);
                out += line_at(k_left, y, k_right, y, "grid");
                out += text_at(k_left - 8, y + 4.5, fmt::format("{:.{}f}", value, decade < 0 ? -decade : 0),
                               "class=\"ink\" text-anchor=\"end\"");
            }
        out += line_at(k_left, k_top, k_left, k_bottom, "axis");
        const double middle = (k_top + k_bottom) / 2;
        return out +
               text_at(20, middle, "time (us), logarithmic",
                       fmt::format("class=\"soft\" text-anchor=\"middle\" transform=\"rotate(-90 20 {:.1f})\"", middle)
                           .c_str());
    }
    /// Labels stand in rows, so that neighbours do not cover each other.
    std::string crossovers() const
    {
        std::string out;
        double taken[k_label_rows] = {};
        for (const plotted_crossover& c : plot_.crossovers) {
            const double x = x_.at(c.at.bytes), y = y_.at(c.at.us);
            std::size_t row = 0;
            while (row + 1 < k_label_rows && x - k_label_width / 2 < taken[row])
                ++row;
            taken[row] = x + k_label_width / 2;
            const double label = k_top - 8 - 14 * static_cast<double>(row);
            out += line_at(x, label + 3, x, k_strip, "cross");
            out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\" class=\"axis\"/>\n", x, y);
            out += text_at(x, label, c.text, "class=\"ink\" text-anchor=\"middle\" font-size=\"12\"");
        }
        return out;
    }
    std::string curves() const
    {
        std::string out;
        for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
            std::string path, markers;
            bool pen_down = false;
            for (const std::optional<plotted_point>& p : plot_.curves[i].points) {
                if (p) {
                    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x_.at(p->bytes), y_.at(p->us));
                    markers += marker(i, x_.at(p->bytes), y_.at(p->us));
                }
                pen_down = p.has_value();
            }
            if (!path.empty())
                out += fmt::format("<g class=\"{}\">\n{}<g fill=\"currentColor\">{}</g>\n</g>\n", curve_class(i),
                                   curve_line(i, plot_.curves.size(), path), markers);
        }
        return out;
    }
    std::string strip() const
    {
        std::string out;
        for (const plotted_range& r : plot_.lowest) {
            const double from = x_.at(r.from_bytes), to = x_.at(r.to_bytes);
            out += fmt::format(
                "<g class=\"{}\"><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"currentColor\"/></g>\n",
                curve_class(r.curve), from, k_strip, std::max(to - from, 2.0), k_strip_height);
        }
        return out + text_at(k_legend, k_strip + k_strip_height, "fastest", "class=\"soft\"");
    }
    std::string legend() const
    {
        std::string out;
        double y = k_top + 10;
        for (std::size_t i = 0; i < plot_.curves.size(); ++i, y += k_legend_line) {
            out += fmt::format("<g class=\"{}\">\n{}<g fill=\"currentColor\">{}</g>\n</g>\n", curve_class(i),
                               curve_line(i, plot_.curves.size(), fmt::format("M{} {:.1f}h30", k_legend, y)),
                               marker(i, k_legend + 15, y));
            out += text_at(k_legend + 38, y + 4.5, plot_.curves[i].name, "class=\"ink\"");
        }
        if (!plot_.crossovers.empty()) {
            out += fmt::format("<circle cx=\"{}\" cy=\"{:.1f}\" r=\"7\" class=\"axis\"/>\n", k_legend + 15, y + 6);
            out += text_at(k_legend + 38, y + 10.5, "crossover,", "class=\"soft\"");
            out += text_at(k_legend + 38, y + 26.5, "interpolated", "class=\"soft\"");
        }
        return out;
    }

    const tuning_plot& plot_;
    bool empty_ = true;
    log_axis x_, y_;
};

} // namespace

std::string binary_size_text(double bytes)
{
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1023.5 && unit + 1 < std::size(units)) {
        bytes /= 1024;
        ++unit;
    }
    std::string number = fmt::format("{:.{}f}", bytes, unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2);
    if (number.find('.') != std::string::npos) {
        number.erase(number.find_last_not_of('0') + 1);
        if (number.back() == '.')
            number.pop_back();
    }
    return number + " " + units[unit];
}

std::string to_svg(const tuning_plot& plot) { return drawing(plot).svg(); }

} // namespace weft
