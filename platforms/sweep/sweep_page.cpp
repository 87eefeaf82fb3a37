// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/sweep/sweep_page.h"

#include "platforms/report/columns.h"
#include "platforms/report/plot_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

namespace {

// Pixels of a panel.
constexpr double k_width = 340, k_height = 250;
constexpr double k_left = 58, k_right = 328, k_top = 34, k_bottom = 196;
constexpr double k_strip = 201, k_strip_height = 6; ///< of the fastest line, below the axis
constexpr double k_label_width = 62;                ///< of a tick of x

struct figure {
    const char* key;
    const char* name;
    std::optional<double> (*of)(const stored_row&);
    bool with_winners; ///< crossovers are those of times
};
constexpr figure k_figures[] = {
    {"time", "time (us)", [](const stored_row& r) { return std::optional<double>(r.time_us); }, true},
    {"busbw", "bus bandwidth (GB/s)", [](const stored_row& r) { return r.busbw_GBps; }, false},
    {"algbw", "algorithm bandwidth (GB/s)", [](const stored_row& r) { return r.algbw_GBps; }, false}};

constexpr const char* k_css =
    "body{font:15px/1.45 'DejaVu Sans',Verdana,Arial,sans-serif;margin:24px auto;max-width:1400px;padding:0 16px;background:#fff;color:#1f2937}"
    "h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 8px}p{margin:4px 0 10px}.soft-text{color:#5b6675}"
    ".panels{display:flex;flex-wrap:wrap;gap:10px}.panel{border:1px solid #e3e8ee;border-radius:6px}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:8px 0}.legend svg{vertical-align:middle}"
    ".scroll{overflow-x:auto}.scroll:focus-visible{outline:2px solid #cf5a13}table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums}"
    "th,td{padding:3px 10px;border-bottom:1px solid #e3e8ee;text-align:left;white-space:nowrap}td.wide{white-space:normal;min-width:22em}"
    "th{border-bottom:2px solid #c3cad3}td.n,th.n{text-align:right}.bad{color:#b3261e;font-weight:bold}a{color:#1f6fb4}"
    ".choice{margin:10px 0}.choice label{border:1px solid #c3cad3;border-radius:6px;padding:3px 12px;margin-right:6px;cursor:pointer}"
    "input.pick{position:absolute;opacity:0}section.figure{display:none}"
    "@media (prefers-color-scheme:dark){body{background:#14181f;color:#e6eaf0}.soft-text{color:#a3aebd}.panel,th,td{border-color:#2a323d}"
    "th{border-bottom-color:#465060}.bad{color:#ff8a8f}a{color:#6db3f2}.choice label{border-color:#465060}}";

std::string tick_text(double value)
{
    return value >= 1e5 || value < 1e-3 ? fmt::format("{:.0e}", value) : fmt::format("{:g}", value);
}

/// Panels of one figure, on common axes.
class panel_drawing {
public:
    panel_drawing(const sweep_panels& all, const figure& f) : all_(all), figure_(f)
    {
        bool first = true;
        for (const sweep_panel& panel : all.panels)
            for (const auto& line : panel.rows)
                for (const stored_row* row : line)
                    if (const auto y = value(row)) {
                        y_.least = first ? *y : std::min(y_.least, *y);
                        y_.most = first ? *y : std::max(y_.most, *y);
                        first = false;
                    }
        constexpr double k_margin = 1.3;
        y_ = {y_.least / k_margin, y_.most * k_margin, k_bottom, k_top};
        empty_ = first;
        if (logarithmic()) {
            const double least = static_cast<double>(*all.x.values.front().units),
                         most = static_cast<double>(*all.x.values.back().units);
            x_ = {least, most, k_left + 16, k_right - 16};
        }
    }
    bool empty() const { return empty_; }
    std::string svg(const sweep_panel& panel) const
    {
        std::string out = fmt::format(
            "<svg class=\"panel\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
            "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" font-size=\"11\">\n<title>{2}</title>\n",
            k_width, k_height, escaped(panel.title + ": " + winners_text(all_, panel)));
        out += fmt::format("<rect width=\"{}\" height=\"{}\" class=\"paper\"/>\n", k_width, k_height);
        out += text_at(
            12, 19, panel.title,
            fmt::format("class=\"ink\" font-size=\"12.5\" font-weight=\"bold\"{}", squeezed(panel.title)).c_str());
        return out + y_axis() + x_axis() + (figure_.with_winners ? crossovers(panel) : "") + curves(panel) +
               (figure_.with_winners ? strip(panel) : "") + "</svg>\n";
    }

private:
    bool logarithmic() const { return all_.x.numeric && all_.x.values.size() > 1 && *all_.x.values.front().units > 0; }
    static std::string squeezed(const std::string& title)
    {
        constexpr double k_letter = 8.1, k_room = k_width - 24;
        return static_cast<double>(display_width(title)) * k_letter > k_room
                   ? fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", k_room)
                   : "";
    }
    std::optional<double> value(const stored_row* row) const
    {
        const std::optional<double> v = row == nullptr ? std::nullopt : figure_.of(*row);
        return v && *v > 0 ? v : std::nullopt;
    }
    /// Values that are no numbers, or begin at zero, stand at equal distances.
    double x_of(std::size_t i) const
    {
        if (logarithmic())
            return x_.at(static_cast<double>(*all_.x.values[i].units));
        const double room = k_right - k_left;
        return k_left + room * (static_cast<double>(i) + 0.5) / static_cast<double>(all_.x.values.size());
    }
    std::string y_axis() const
    {
        std::string out;
        for (const double v : y_.ticks()) {
            out += line_at(k_left, y_.at(v), k_right, y_.at(v), "grid");
            out += text_at(k_left - 5, y_.at(v) + 4, tick_text(v), "class=\"ink\" text-anchor=\"end\"");
        }
        return out + line_at(k_left, k_top, k_left, k_bottom, "axis");
    }
    std::string x_axis() const
    {
        std::string out = line_at(k_left, k_bottom, k_right, k_bottom, "axis");
        double taken = 0;
        for (std::size_t i = 0; i < all_.x.values.size(); ++i) {
            const double x = x_of(i);
            out += line_at(x, k_bottom, x, k_bottom + 4, "axis");
            const std::string& text = all_.x.values[i].text;
            const std::string label =
                all_.x.column.unit.empty() ? text : text.substr(0, text.find(' ')); // the title has the unit
            const double width = std::max(k_label_width * 0.3, 6.6 * static_cast<double>(display_width(label)));
            if (x - width / 2 < taken)
                continue;
            taken = x + width / 2 + 4;
            out += text_at(x, k_strip + k_strip_height + 14, label, "class=\"ink\" text-anchor=\"middle\"");
        }
        return out +
               text_at((k_left + k_right) / 2, k_height - 8, all_.x_name, "class=\"soft\" text-anchor=\"middle\"");
    }
    std::string crossovers(const sweep_panel& panel) const
    {
        std::string out;
        double taken = 0;
        for (const sweep_crossover& c : panel.crossovers) {
            const bool placed = c.units && c.us && logarithmic();
            const double x = placed ? x_.at(*c.units) : (x_of(c.from) + x_of(c.to)) / 2;
            out += line_at(x, k_top + 10, x, k_strip, "cross");
            if (placed)
                out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" class=\"axis\"/>\n", x,
                                   y_.at(std::clamp(*c.us, y_.least, y_.most)));
            if (!placed || x - k_label_width / 2 < taken)
                continue;
            taken = x + k_label_width / 2;
            out += text_at(std::clamp(x, k_left + 28, k_right - 24), k_top + 6, all_.x.text_of(*c.units),
                           "class=\"ink\" text-anchor=\"middle\"");
        }
        return out;
    }
    std::string curves(const sweep_panel& panel) const
    {
        std::string out;
        for (std::size_t line = 0; line < panel.rows.size(); ++line) {
            std::string path, markers;
            bool down = false;
            for (std::size_t i = 0; i < panel.rows[line].size(); ++i) {
                const auto v = value(panel.rows[line][i]);
                if (v) {
                    const double x = x_of(i), y = y_.at(*v);
                    path += fmt::format("{}{:.1f} {:.1f}", down ? "L" : "M", x, y);
                    markers += fmt::format("<g>{}<title>{}</title></g>", marker(line, x, y),
                                           escaped(fmt::format("{}, {} {}: {:.6g}", all_.lines[line], all_.x_name,
                                                               all_.x.values[i].text, *v)));
                }
                down = v.has_value();
            }
            if (!path.empty())
                out += fmt::format("<g class=\"{}\">\n{}<g fill=\"currentColor\">{}</g>\n</g>\n", curve_class(line),
                                   curve_line(line, panel.rows.size(), path), markers);
        }
        return out;
    }
    /// Which line is the fastest, between values with a change at crossovers, or half the way; a mark where lines lack
    /// the values that would tell.
    std::string strip(const sweep_panel& panel) const
    {
        std::string out;
        if (all_.lines.size() < 2)
            return out;
        const auto add = [&](std::size_t line, double from, double to) {
            out += fmt::format(
                "<g class=\"{}\"><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"currentColor\"/></g>\n",
                curve_class(line), from, k_strip, std::max(to - from, 1.0), k_strip_height);
        };
        for (std::size_t i = 0; i < panel.fastest.size(); ++i) {
            if (!panel.fastest[i])
                continue;
            if (i == 0 || !knows_between(panel, i - 1))
                add(*panel.fastest[i], x_of(i) - 3, x_of(i) + 3);
            if (i + 1 == panel.fastest.size() || !knows_between(panel, i))
                continue;
            double from = x_of(i);
            std::size_t line = *panel.fastest[i];
            for (const sweep_crossover& c : panel.crossovers)
                if (c.from == i) {
                    const double to = c.units && logarithmic() ? x_.at(*c.units) : (x_of(c.from) + x_of(c.to)) / 2;
                    add(line, from, to);
                    from = to;
                    line = c.after;
                }
            add(line, from, x_of(i + 1));
        }
        return out;
    }

    const sweep_panels& all_;
    const figure& figure_;
    bool empty_ = true;
    log_axis x_, y_;
};

std::string legend_of(const sweep_panels& all)
{
    if (all.lines.size() < 2)
        return "";
    std::string out =
        fmt::format("<div class=\"legend\"><span class=\"soft-text\">{}:</span>\n", escaped(all.line_names));
    for (std::size_t line = 0; line < all.lines.size(); ++line)
        out += fmt::format(
            "<span><svg width=\"34\" height=\"14\"><g class=\"{}\">{}<g fill=\"currentColor\">{}</g></g></svg> {}</span>\n",
            curve_class(line), curve_line(line, all.lines.size(), "M2 7h30"), marker(line, 17, 7),
            escaped(all.lines[line]));
    return out + "</div>\n";
}

std::string table_row(const std::vector<std::string>& cells, const char* tag)
{
    std::string out = "<tr>";
    for (const std::string& cell : cells)
        out += fmt::format("<{0}>{1}</{0}>", tag, escaped(cell));
    return out + "</tr>\n";
}

std::string figures_of(const sweep_report& report, const sweep_panels& panels)
{
    std::vector<const figure*> shown;
    for (const figure& f : k_figures)
        if (!panel_drawing(panels, f).empty())
            shown.push_back(&f);
    const auto asked =
        std::find_if(shown.begin(), shown.end(), [&](const figure* f) { return report.plot.y == f->key; });
    const figure* const first = asked == shown.end() ? shown.front() : *asked; // all times are positive: one is shown
    std::string inputs, labels, sections, css;
    for (const figure* f : shown) {
        const panel_drawing drawing(panels, *f);
        inputs += fmt::format("<input class=\"pick\" type=\"radio\" name=\"figure\" id=\"pick-{}\"{}>\n", f->key,
                              f == first ? " checked" : "");
        labels += fmt::format("<label for=\"pick-{}\">{}</label>", f->key, f->name);
        css += fmt::format(
            "#pick-{0}:checked~section.{0}{{display:block}}#pick-{0}:checked~.choice label[for=pick-{0}]{{background:#1f6fb4;color:#fff}}"
            "#pick-{0}:focus-visible~.choice label[for=pick-{0}]{{outline:2px solid #cf5a13}}",
            f->key);
        sections += fmt::format(
            "<section class=\"figure {}\">\n<p class=\"soft-text\">{} over {}, logarithmic, on the same scale in every panel.{}</p>\n<div class=\"panels\">\n",
            f->key, f->name, escaped(panels.x_name),
            f->with_winners && panels.lines.size() > 1
                ? " Circles: crossovers, interpolated. The strip below an axis: the fastest."
                : "");
        for (const sweep_panel& panel : panels.panels)
            sections += drawing.svg(panel);
        sections += "</div>\n</section>\n";
    }
    return fmt::format("<style>{}</style>\n<div>\n{}<div class=\"choice\">{}</div>\n{}{}</div>\n", css, inputs, labels,
                       legend_of(panels), sections);
}

std::string winners_of(const sweep_report& report, const sweep_panels& panels)
{
    if (panels.lines.size() < 2)
        return "";
    std::string out = "<h2>Fastest, and where it changes</h2>\n" + scroll_begin("Fastest") + "<table>\n";
    out += table_row({"panel", fastest_heading(report, panels)}, "th");
    for (const sweep_panel& panel : panels.panels)
        if (const std::string text = winners_text(panels, panel); !text.empty())
            out += table_row({panel.title, text}, "td");
    out += "</table></div>\n<h2>Crossovers</h2>\n";
    const auto any = std::any_of(panels.panels.begin(), panels.panels.end(),
                                 [](const sweep_panel& p) { return !p.crossovers.empty(); });
    if (!any)
        return out + "<p>In no panel do curves cross.</p>\n";
    out += scroll_begin("Crossovers") + "<table>\n" +
           table_row({"panel", "from", "to", "between", "and", "about", "time there (us)"}, "th");
    for (const sweep_panel& panel : panels.panels)
        for (const sweep_crossover& c : panel.crossovers)
            out += table_row({panel.title, panels.lines[c.before], panels.lines[c.after], panels.x.values[c.from].text,
                              panels.x.values[c.to].text, c.units ? panels.x.text_of(*c.units) : "-",
                              c.us ? fmt::format("{:.4g}", *c.us) : "-"},
                             "td");
    return out +
           "</table></div>\n<p class=\"soft-text\">\"About\" is interpolated between simulated values on logarithmic axes.</p>\n";
}

std::string points_of(const sweep_report& report)
{
    std::string out = "<h2>Points</h2>\n" + scroll_begin("Points") + "<table>\n<tr><th class=\"n\">point</th>";
    for (const sweep_column& c : report.columns)
        out += fmt::format("<th>{}</th>", escaped(c.base ? c.key : heading_of(c)));
    out += "<th>state</th><th class=\"n\">results</th><th>digest</th><th>folder</th><th>reason</th></tr>\n";
    for (std::size_t i = 0; i < report.points.size(); ++i) {
        const swept_point& p = report.points[i];
        out += fmt::format("<tr><td class=\"n\">{}</td>", i);
        for (std::size_t c = 0; c < report.columns.size(); ++c)
            out +=
                fmt::format("<td>{}</td>", escaped(report.columns[c].base ? p.cells[c].text
                                                                          : csv_cell(report.columns[c], p.cells[c])));
        out += fmt::format(
            "<td{}>{}</td><td class=\"n\">{}</td><td>{}</td><td><a href=\"{}\">{}</a></td><td class=\"wide\">{}</td></tr>\n",
            p.state == point_state::done ? "" : " class=\"bad\"", name_of(p.state),
            p.kept() > 0 ? fmt::format("{} {}", p.kept(), k_kept) : std::to_string(p.rows.size()), escaped(p.digest),
            escaped(p.folder), escaped(p.folder), escaped(p.reason));
    }
    return out + "</table></div>\n";
}

} // namespace

std::string page_head(const std::string& title)
{
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n",
        escaped(title), k_css, plot_style());
}

std::string scroll_begin(const std::string& name)
{
    return fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">", escaped(name));
}

std::string to_page(const sweep_report& report, const sweep_panels& panels)
{
    const std::size_t done = report.count(point_state::done);
    std::string out = page_head("Sweep " + report.name);
    out += fmt::format(
        "<h1>Sweep {}</h1>\n<p class=\"soft-text\">{}, weft {}; {} of {} points are done{}.</p>\n",
        escaped(report.name), escaped(report.platform), escaped(report.version), done, report.points.size(),
        report.common.empty() ? "" : "; all with " + escaped(fmt::format("{}", fmt::join(report.common, ", "))));
    for (const point_state state :
         {point_state::wrong, point_state::failed, point_state::unfinished, point_state::refused, point_state::missing})
        if (const std::size_t n = report.count(state); n > 0)
            out += fmt::format("<p class=\"bad\">{} point{} {}: see the table of points.</p>\n", n, n == 1 ? "" : "s",
                               name_of(state));
    std::size_t kept = 0;
    for (const swept_point& p : report.points)
        kept += p.kept();
    if (kept > 0)
        out += fmt::format("<p class=\"bad\">{} result{} of points that did not end {} drawn with the others.</p>\n",
                           kept, kept == 1 ? "" : "s", kept == 1 ? "is" : "are");
    out += panels.panels.empty() ? "<p>No point has a result.</p>\n" : figures_of(report, panels) + winners_of(report, panels);
    return out + points_of(report) + "</body>\n</html>\n";
}

} // namespace weft
