// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/sweep/sweep_panels.h"

#include "platforms/workload/tuning_curves.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>
#include <vector>

namespace weft {

namespace {

using axes_list = std::vector<std::size_t>;

bool contains(const axes_list& all, std::size_t one) { return std::find(all.begin(), all.end(), one) != all.end(); }

struct chosen_axes {
    std::size_t x = 0;
    axes_list lines, panels;
};

class axis_choice {
public:
    axis_choice(const placed_results& results, const sweep_plot& plot) : results_(results), plot_(plot) {}

    chosen_axes choose()
    {
        chosen_axes c;
        c.lines = named(plot_.lines);
        c.panels = named(plot_.panels);
        const auto is_free = [&](std::size_t a) {
            return varies(a) && !contains(c.lines, a) && !contains(c.panels, a);
        };
        c.x = plot_.x.empty() ? best_x(is_free) : *results_.axis(plot_.x);
        axes_list rest;
        for (std::size_t a = 0; a < results_.axes.size(); ++a)
            if (is_free(a) && a != c.x)
                rest.push_back(a);
        drop_determined(rest, c);
        if (plot_.lines.empty())
            take_line(rest, c.lines);
        // Panels that the user has chosen stay as they are: what else varies makes more lines.
        axes_list& others = plot_.panels.empty() ? c.panels : c.lines;
        for (const std::size_t a : rest)
            if (!is_determined(a, c))
                others.push_back(a);
        return c;
    }

private:
    /// Keys that change together: the place on the chosen axes tells the value. Of operations and sizes x alone: that
    /// `auto` takes an algorithm for one size only does not make sizes alike.
    bool is_determined(std::size_t a, const chosen_axes& c) const
    {
        const bool by_x = results_.axes[a].name == "size" || results_.axes[a].name == "op";
        std::map<std::vector<std::size_t>, std::size_t> value;
        for (const placed_result& r : results_.results) {
            std::vector<std::size_t> place{r.at[c.x]};
            for (const axes_list* axes : {&c.lines, &c.panels})
                for (const std::size_t other : *axes)
                    if (!by_x)
                        place.push_back(r.at[other]);
            if (value.emplace(place, r.at[a]).first->second != r.at[a])
                return false;
        }
        return true;
    }
    void drop_determined(axes_list& rest, const chosen_axes& c) const
    {
        rest.erase(std::remove_if(rest.begin(), rest.end(), [&](std::size_t a) { return is_determined(a, c); }),
                   rest.end());
    }
    bool varies(std::size_t a) const { return results_.axes[a].values.size() > 1; }
    axes_list named(const std::vector<std::string>& names) const
    {
        axes_list all;
        for (const std::string& name : names)
            if (const auto a = results_.axis(name))
                all.push_back(*a);
        return all;
    }
    /// The number with the most values, a swept key before the size; else what varies at all.
    template <class Free> std::size_t best_x(const Free& is_free) const
    {
        std::optional<std::size_t> best;
        for (const bool numeric : {true, false}) {
            for (std::size_t a = 0; a < results_.axes.size(); ++a)
                if (is_free(a) && results_.axes[a].numeric == numeric &&
                    (numeric || results_.axes[a].name != "algorithm") &&
                    (!best || results_.axes[a].values.size() > results_.axes[*best].values.size()))
                    best = a;
            if (best)
                return *best;
        }
        return results_.axis("size").value_or(0);
    }
    /// Algorithms are what one compares; else what has the most values that a reader can tell apart.
    void take_line(axes_list& rest, axes_list& lines) const
    {
        constexpr std::size_t k_most_lines = 8;
        auto taken = rest.end();
        for (auto a = rest.begin(); a != rest.end(); ++a) {
            const result_axis& axis = results_.axes[*a];
            if (axis.name == "algorithm") {
                taken = a;
                break;
            }
            if (axis.values.size() <= k_most_lines && axis.name != "op" &&
                (taken == rest.end() || axis.values.size() > results_.axes[*taken].values.size()))
                taken = a;
        }
        if (taken == rest.end())
            return;
        lines.push_back(*taken);
        rest.erase(taken);
    }

    const placed_results& results_;
    const sweep_plot& plot_;
};

std::string place_text(const placed_results& results, const placed_result& r, const axes_list& axes)
{
    std::string text;
    for (const std::size_t a : axes) {
        const std::string& value = results.axes[a].values[r.at[a]].text;
        if (value.empty())
            continue;
        const bool speaks_for_itself = results.axes[a].name == "op" || results.axes[a].name == "algorithm" ||
                                       results.axes[a].name == "type" || results.axes[a].name == "redop" ||
                                       results.axes[a].name == "entry" || results.axes[a].name == "group";
        text +=
            (text.empty() ? "" : ", ") + (!speaks_for_itself ? results.axes[a].name + " " : "") + value;
    }
    return text;
}

std::uint64_t ps_of(const stored_row& row) { return static_cast<std::uint64_t>(std::llround(row.time_us * 1e6)); }

/// A wrong answer is no result that one could choose.
bool is_right(const stored_row* row) { return row != nullptr && row->wrong.value_or(0) == 0; }

/// Whether lines stand for different work at one value of x.
bool is_unlike(const sweep_panel& panel)
{
    for (std::size_t i = 0; !panel.rows.empty() && i < panel.rows.front().size(); ++i) {
        const stored_row* first = nullptr;
        for (const auto& line : panel.rows) {
            const stored_row* const row = line[i];
            if (row == nullptr)
                continue;
            first = first == nullptr ? row : first;
            if (row->op != first->op || row->size_bytes != first->size_bytes)
                return true;
        }
    }
    return false;
}

/// Where lines lack values, the fastest of two neighbours may have no curve from one to the other: what crosses there
/// tells nothing of them.
void forget_unknown_crossovers(sweep_panel& panel)
{
    for (std::size_t i = 0; i + 1 < panel.fastest.size(); ++i)
        if (!knows_between(panel, i))
            panel.crossovers.erase(std::remove_if(panel.crossovers.begin(), panel.crossovers.end(), [&](const sweep_crossover& c) { return c.from == i; }),
                                   panel.crossovers.end());
}

void find_crossovers(const result_axis& x, sweep_panel& panel)
{
    panel.unlike = is_unlike(panel);
    if (panel.unlike) {
        panel.fastest.assign(x.values.size(), std::nullopt);
        return;
    }
    measured_curves curves;
    for (std::size_t i = 0; i < x.values.size(); ++i)
        curves.sizes.push_back(x.numeric ? *x.values[i].units : i + 1);
    for (const auto& line : panel.rows) {
        curves.times_ps.emplace_back();
        for (const stored_row* row : line)
            curves.times_ps.back().push_back(is_right(row) ? std::optional<std::uint64_t>(ps_of(*row)) : std::nullopt);
    }
    const lowest_curves lowest = lowest_of(curves);
    panel.fastest = lowest.at;
    const auto interval_of = [&](double units) {
        std::size_t to = 1;
        while (to + 1 < curves.sizes.size() && static_cast<double>(curves.sizes[to]) < units)
            ++to;
        return to;
    };
    if (!x.numeric) {
        for (std::size_t i = 1; i < lowest.at.size(); ++i)
            if (lowest.at[i - 1] && lowest.at[i] && *lowest.at[i - 1] != *lowest.at[i])
                panel.crossovers.push_back({i - 1, i, std::nullopt, std::nullopt, *lowest.at[i - 1], *lowest.at[i]});
        return;
    }
    for (const curve_crossover& c : lowest.crossovers) {
        const std::size_t to = interval_of(c.bytes);
        sweep_crossover found{to - 1, to, c.bytes, c.ps / 1e6, c.below, c.above};
        if (curves.sizes[to - 1] == 0) { // a logarithm has no zero
            found.units.reset();
            found.us.reset();
        }
        panel.crossovers.push_back(found);
    }
    forget_unknown_crossovers(panel);
}

/// Values of x at which only one line has a result, by that line: it is the fastest of one.
std::map<std::size_t, std::vector<std::size_t>> values_of_one_line(const sweep_panel& panel)
{
    std::map<std::size_t, std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < panel.fastest.size(); ++i)
        if (std::count_if(panel.rows.begin(), panel.rows.end(), [&](const auto& line) { return is_right(line[i]); }) == 1)
            all[*panel.fastest[i]].push_back(i);
    return all;
}

std::string wrong_text(const sweep_panel& panel)
{
    std::size_t wrong = 0;
    for (const auto& line : panel.rows)
        wrong += static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](const stored_row* row) { return row != nullptr && !is_right(row); }));
    return wrong == 0 ? "" : fmt::format(" ({} with wrong answers left out)", wrong);
}

} // namespace

bool knows_between(const sweep_panel& panel, std::size_t i)
{
    if (!panel.fastest[i] || !panel.fastest[i + 1])
        return false;
    std::size_t line = *panel.fastest[i];
    for (const sweep_crossover& c : panel.crossovers)
        if (c.from == i) {
            if (c.before != line)
                return false;
            line = c.after;
        }
    return line == *panel.fastest[i + 1];
}

sweep_panels panels_of(const placed_results& results, const sweep_plot& plot)
{
    sweep_panels all;
    if (results.results.empty())
        return all;
    const chosen_axes axes = axis_choice(results, plot).choose();
    all.x = results.axes[axes.x];
    all.x_name = all.x.name == "size" ? "size (B)" : all.x.column.unit.empty() ? all.x.name : heading_of(all.x.column);
    for (const std::size_t a : axes.lines)
        all.line_names += (all.line_names.empty() ? "" : ", ") + results.axes[a].name;
    // Lines and panels in the order of their values, not of the points that came first.
    const auto key_of = [&](const placed_result& r, const axes_list& of) {
        std::vector<std::size_t> key;
        for (const std::size_t a : of)
            key.push_back(r.at[a]);
        return key;
    };
    std::map<std::vector<std::size_t>, std::string> lines, panels;
    for (const placed_result& r : results.results) {
        lines.emplace(key_of(r, axes.lines), place_text(results, r, axes.lines));
        panels.emplace(key_of(r, axes.panels), place_text(results, r, axes.panels));
    }
    for (const auto& [key, name] : lines)
        all.lines.push_back(name.empty() ? "all" : name);
    const std::size_t columns = all.x.values.size();
    for (const auto& [key, title] : panels) {
        sweep_panel panel;
        panel.title = title;
        panel.rows.assign(lines.size(), std::vector<const stored_row*>(columns, nullptr));
        all.panels.push_back(std::move(panel));
    }
    for (const placed_result& r : results.results) {
        const auto line = static_cast<std::size_t>(std::distance(lines.begin(), lines.find(key_of(r, axes.lines))));
        sweep_panel& panel =
            all.panels[static_cast<std::size_t>(std::distance(panels.begin(), panels.find(key_of(r, axes.panels))))];
        panel.rows[line][r.at[axes.x]] = r.row;
    }
    for (sweep_panel& panel : all.panels)
        find_crossovers(all.x, panel);
    return all;
}

std::string fastest_heading(const sweep_report& report, const sweep_panels& all)
{
    const std::size_t missing = report.points.size() - report.count(point_state::done) - report.count(point_state::wrong);
    return fmt::format("fastest by {}{}", all.x_name,
                       missing == 0 ? "" : fmt::format(" of what has run: {} point{} did not", missing, missing == 1 ? "" : "s"));
}

std::string winners_text(const sweep_panels& all, const sweep_panel& panel)
{
    const auto first =
        std::find_if(panel.fastest.begin(), panel.fastest.end(), [](const auto& f) { return f.has_value(); });
    if (panel.unlike)
        return "none: its lines are of different operations or sizes";
    const std::string wrong = wrong_text(panel);
    if (first == panel.fastest.end())
        return wrong.empty() ? "" : "none" + wrong;
    const auto with_result = static_cast<std::size_t>(std::count_if(first, panel.fastest.end(), [](const auto& f) { return f.has_value(); }));
    std::string behind;
    for (const auto& [line, values] : values_of_one_line(panel)) {
        if (values.size() == with_result)
            return all.lines[line] + ": no other has a result" + wrong;
        std::string at;
        for (const std::size_t i : values)
            at += (at.empty() ? "" : ", ") + all.x.values[i].text;
        behind += fmt::format(" ({} alone has a result at {})", all.lines[line], at);
    }
    behind += wrong;
    // Lines without a common value of x cross nowhere: `auto` takes one here and another one there.
    bool known = !panel.crossovers.empty();
    for (std::size_t i = 0; i + 1 < panel.fastest.size(); ++i)
        known = known && (knows_between(panel, i) || !panel.fastest[i] || !panel.fastest[i + 1]);
    if (!known) {
        std::vector<std::pair<std::size_t, std::string>> stretches; // line, and where it is the fastest
        for (std::size_t i = 0; i < panel.fastest.size(); ++i)
            if (const auto& f = panel.fastest[i]; !f)
                continue;
            else if (stretches.empty() || stretches.back().first != *f)
                stretches.emplace_back(*f, all.x.values[i].text);
            else
                stretches.back().second += ", " + all.x.values[i].text;
        std::string text;
        for (const auto& [line, where] : stretches)
            text += fmt::format("{}{} at {}", text.empty() ? "" : "; ", all.lines[line], where);
        return (stretches.size() > 1 ? text : all.lines[**first] + " everywhere") + behind;
    }
    std::string text = all.lines[**first];
    const auto place = [&](const sweep_crossover& c) {
        return c.units ? all.x.text_of(*c.units)
                       : fmt::format("something between {} and {}", all.x.values[c.from].text, all.x.values[c.to].text);
    };
    for (std::size_t i = 0; i < panel.crossovers.size(); ++i) {
        const sweep_crossover& c = panel.crossovers[i];
        text += fmt::format("{}{}, {}", i == 0 ? " below " : " to ", place(c), all.lines[c.after]);
    }
    return text + " above" + behind;
}

} // namespace weft
