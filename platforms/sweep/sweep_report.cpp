// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/sweep/sweep_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

namespace {

/// The unit of "82 GB/s"; "" of what is no number with a unit.
std::string unit_of(const std::string& text)
{
    const std::size_t blank = text.find(' ');
    const bool number = !text.empty() && text.find_first_not_of("0123456789.") == blank;
    return number && blank != std::string::npos ? text.substr(blank + 1) : "";
}

/// Of the kinds whose values people write with several units.
const char* base_unit_of(quantity_kind kind)
{
    switch (kind) {
    case quantity_kind::data_size: return "B";
    case quantity_kind::duration: return "ps";
    case quantity_kind::bandwidth: return "bps";
    case quantity_kind::frequency: return "Hz";
    default: return nullptr;
    }
}

std::string value_of(const config_field& field)
{
    if (field.type != field_type::section && field.type != field_type::list)
        return value_text(field);
    return to_json(field).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

const char* name_of(point_state state)
{
    switch (state) {
    case point_state::done: return "done";
    case point_state::wrong: return "wrong";
    case point_state::failed: return "failed";
    case point_state::unfinished: return "unfinished";
    case point_state::refused: return "refused";
    case point_state::missing: break;
    }
    return "missing";
}

std::size_t sweep_report::count(point_state state) const
{
    return static_cast<std::size_t>(
        std::count_if(points.begin(), points.end(), [&](const swept_point& p) { return p.state == state; }));
}

const config_field* field_at(const config_field& root, const std::string& key_path)
{
    const config_field* field = &root;
    for (std::size_t from = 0; from <= key_path.size();) {
        const std::size_t dot = std::min(key_path.find('.', from), key_path.size());
        const std::string part = key_path.substr(from, dot - from);
        from = dot + 1;
        const std::vector<config_field>& children = field->children;
        const bool index = field->type == field_type::list && !part.empty() && part.size() <= 9 &&
                           part.find_first_not_of("0123456789") == std::string::npos;
        const auto found =
            index
                ? children.begin() +
                      static_cast<std::ptrdiff_t>(std::min<std::size_t>(std::stoul(part), children.size()))
                : std::find_if(children.begin(), children.end(), [&](const config_field& f) { return f.name == part; });
        if (found == children.end() || !found->present)
            return nullptr;
        field = &*found;
    }
    return field;
}

sweep_cell cell_of(const config_field& root, const std::string& key_path)
{
    const config_field* const field = field_at(root, key_path);
    if (field == nullptr)
        return {};
    sweep_cell cell{value_of(*field), std::nullopt};
    if (field->type == field_type::quantity) {
        if (const parsed_quantity q = parse_quantity(field->kind, cell.text); q.ok)
            cell.units = q.value;
    } else if (const auto* whole = std::get_if<std::uint64_t>(&field->value)) {
        cell.units = *whole;
    } else if (const auto* real = std::get_if<double>(&field->value);
               real != nullptr && *real >= 0 && *real < k_parts_of_real) {
        cell.units = static_cast<std::uint64_t>(std::llround(*real * k_parts_of_real));
    }
    return cell;
}

sweep_column column_of(const std::string& key, const config_field* field, const std::vector<sweep_cell>& cells)
{
    sweep_column column;
    column.key = key;
    if (field != nullptr && field->type == field_type::quantity)
        column.kind = field->kind;
    column.real = field != nullptr && field->type == field_type::real;
    column.unit = cells.empty() ? "" : unit_of(cells.front().text);
    for (const sweep_cell& cell : cells)
        if (unit_of(cell.text) != column.unit)
            column.unit.clear();
    const bool numbers =
        std::all_of(cells.begin(), cells.end(), [](const sweep_cell& c) { return c.units.has_value(); });
    column.base = column.unit.empty() && column.kind && base_unit_of(*column.kind) != nullptr && numbers;
    return column;
}

std::string heading_of(const sweep_column& column)
{
    const std::string unit = column.base ? base_unit_of(*column.kind) : column.unit;
    return unit.empty() ? column.key : fmt::format("{} ({})", column.key, unit);
}

std::string csv_cell(const sweep_column& column, const sweep_cell& cell)
{
    if (column.base)
        return cell.units ? std::to_string(*cell.units) : "";
    return column.unit.empty() ? cell.text : cell.text.substr(0, cell.text.find(' '));
}

std::string to_csv(const sweep_report& report)
{
    std::vector<std::string> heading{"point"};
    for (const sweep_column& c : report.columns)
        heading.push_back(csv_field(heading_of(c)));
    heading.emplace_back("state");
    heading.insert(heading.end(), csv_result_headings().begin(), csv_result_headings().end());
    for (const char* name : {"digest", "folder", "host (s)", "reason"})
        heading.emplace_back(name);
    std::string out = fmt::format("{}\n", fmt::join(heading, ","));
    for (std::size_t i = 0; i < report.points.size(); ++i) {
        const swept_point& p = report.points[i];
        std::vector<std::string> point{std::to_string(i)};
        for (std::size_t c = 0; c < report.columns.size(); ++c)
            point.push_back(csv_field(csv_cell(report.columns[c], p.cells[c])));
        std::vector<std::string> of_result = point;
        of_result.emplace_back(p.kept() > 0 ? k_kept : name_of(p.state));
        point.emplace_back(name_of(p.state));
        const std::vector<std::string> end{p.digest, csv_field(p.folder), csv_number(p.host_seconds),
                                           csv_field(p.reason)};
        for (const stored_row& row : p.rows) {
            std::vector<std::string> line = of_result;
            const std::vector<std::string> result = csv_result(row);
            line.insert(line.end(), result.begin(), result.end());
            line.insert(line.end(), end.begin(), end.end());
            out += fmt::format("{}\n", fmt::join(line, ","));
        }
        if (p.rows.empty() || p.kept() > 0) {
            point.resize(point.size() + csv_result_headings().size());
            point.insert(point.end(), end.begin(), end.end());
            out += fmt::format("{}\n", fmt::join(point, ","));
        }
    }
    return out;
}

} // namespace weft
