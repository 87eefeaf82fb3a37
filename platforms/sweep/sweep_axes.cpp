// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/sweep/sweep_axes.h"

#include "platforms/report/tuning_plot.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace weft {

namespace {

constexpr const char* k_entry = "entry";

std::string decimal_prefix(double value, const char* unit)
{
    constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < std::size(prefixes)) {
        value /= 1000;
        ++prefix;
    }
    return fmt::format("{:.3g} {}{}", value, prefixes[prefix], unit);
}

/// Of one result: its value on the axis of a dimension.
sweep_axis_value dimension_value(const std::string& name, const stored_row& row)
{
    if (name == "op")
        return {row.op, std::nullopt};
    if (name == "algorithm")
        return {row.algorithm, std::nullopt};
    if (name == "type")
        return {row.type, std::nullopt};
    if (name == "redop")
        return {row.redop, std::nullopt};
    if (name == "group")
        return {row.group, std::nullopt};
    return row.size_bytes ? sweep_axis_value{binary_size_text(static_cast<double>(*row.size_bytes)), *row.size_bytes}
                          : sweep_axis_value{"", std::nullopt};
}

std::size_t index_of(result_axis& axis, const sweep_axis_value& value)
{
    const auto found = std::find_if(axis.values.begin(), axis.values.end(), [&](const sweep_axis_value& v) {
        return v.units ? v.units == value.units : !value.units && v.text == value.text;
    });
    if (found != axis.values.end())
        return static_cast<std::size_t>(found - axis.values.begin());
    axis.values.push_back(value);
    return axis.values.size() - 1;
}

/// "all_reduce ring_1d, second of its kind in the workload": of rows that differ in nothing that a result tells.
/// Operation and algorithm are named where no other axis does.
void name_entries(placed_results& all)
{
    std::string what;
    for (const char* name : {"op", "algorithm"})
        if (const result_axis& axis = all.axes[*all.axis(name)]; axis.values.size() == 1)
            what += axis.values.front().text + " ";
    if (!what.empty())
        what.replace(what.size() - 1, 1, ", ");
    constexpr const char* k_ordinals[] = {"first", "second", "third"};
    std::vector<sweep_axis_value>& entries = all.axes.back().values;
    for (std::size_t i = 0; i < entries.size(); ++i) // in the order of their numbers
        entries[i].text = fmt::format("{}{} of its kind in the workload", what, i < std::size(k_ordinals) ? k_ordinals[i] : fmt::format("{}th", i + 1));
}

/// Numbers in ascending order, and the places of results with them.
void sort_axis(placed_results& all, std::size_t a)
{
    result_axis& axis = all.axes[a];
    axis.numeric = !axis.values.empty() && std::all_of(axis.values.begin(), axis.values.end(),
                                                       [](const sweep_axis_value& v) { return v.units.has_value(); });
    if (!axis.numeric)
        return;
    std::vector<std::size_t> order(axis.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t x, std::size_t y) { return *axis.values[x].units < *axis.values[y].units; });
    std::vector<std::size_t> place(order.size());
    std::vector<sweep_axis_value> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        sorted.push_back(axis.values[order[i]]);
    }
    axis.values = std::move(sorted);
    for (placed_result& r : all.results)
        r.at[a] = place[r.at[a]];
}

} // namespace

std::string rounded_quantity(quantity_kind kind, double base_units)
{
    switch (kind) {
    case quantity_kind::data_size: return binary_size_text(base_units);
    case quantity_kind::duration: return rounded_text(duration(static_cast<std::uint64_t>(std::llround(base_units))));
    case quantity_kind::bandwidth: return decimal_prefix(base_units, "bps");
    case quantity_kind::frequency: return decimal_prefix(base_units, "Hz");
    case quantity_kind::packets: return fmt::format("{:.3g} packets", base_units);
    case quantity_kind::cycles: return fmt::format("{:.3g} cycles", base_units);
    }
    return "";
}

double result_axis::number_of(double units) const { return column.real ? units / k_parts_of_real : units; }

std::string result_axis::text_of(double units) const
{
    for (const sweep_axis_value& v : values)
        if (v.units && static_cast<double>(*v.units) == units)
            return v.text;
    return column.kind ? rounded_quantity(*column.kind, units) : fmt::format("{:.3g}", number_of(units));
}

std::optional<std::size_t> placed_results::axis(const std::string& name) const
{
    const auto found = std::find_if(axes.begin(), axes.end(), [&](const result_axis& a) { return a.name == name; });
    return found == axes.end() ? std::nullopt : std::optional<std::size_t>(found - axes.begin());
}

placed_results place_results(const sweep_report& report)
{
    placed_results all;
    for (const sweep_column& column : report.columns)
        all.axes.push_back({column.key, column, false, {}});
    for (const std::string& name : sweep_dimensions()) {
        all.axes.push_back({name, {}, false, {}});
        if (name == "size")
            all.axes.back().column.kind = quantity_kind::data_size;
    }
    all.axes.push_back({k_entry, {}, false, {}});
    for (const swept_point& point : report.points) {
        const std::size_t first = all.results.size();
        for (const stored_row& row : point.rows) {
            placed_result r{&row, {}};
            for (std::size_t c = 0; c < report.columns.size(); ++c)
                r.at.push_back(index_of(all.axes[c], {point.cells[c].text, point.cells[c].units}));
            for (std::size_t d = 0; d < sweep_dimensions().size(); ++d)
                r.at.push_back(
                    index_of(all.axes[report.columns.size() + d], dimension_value(sweep_dimensions()[d], row)));
            const auto same = std::count_if(
                all.results.begin() + static_cast<std::ptrdiff_t>(first), all.results.end(),
                [&](const placed_result& o) { return std::equal(r.at.begin(), r.at.end(), o.at.begin()); });
            r.at.push_back(index_of(all.axes.back(), {std::to_string(same + 1), std::nullopt}));
            all.results.push_back(std::move(r));
        }
    }
    name_entries(all);
    for (std::size_t a = 0; a < all.axes.size(); ++a)
        sort_axis(all, a);
    return all;
}

} // namespace weft
