// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/tuning_report.h"

#include "platforms/report/columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace weft {

namespace {

double us_of(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }

/// Time by algorithm `a` over the shortest time; nothing where one is missing.
std::optional<double> factor_of(const tuning_row& row, std::size_t a)
{
    if (!row.fastest || !row.times[a].ps)
        return std::nullopt;
    return static_cast<double>(*row.times[a].ps) /
           static_cast<double>(std::max<std::uint64_t>(*row.times[*row.fastest].ps, 1));
}

std::optional<std::size_t> predicted_algorithm(const tuning_section& s, const tuning_row& row)
{
    const auto at = std::find(s.algorithms.begin(), s.algorithms.end(), row.predicted);
    return at == s.algorithms.end() ? std::nullopt : std::optional<std::size_t>(at - s.algorithms.begin());
}

std::string factor_text(const std::optional<double>& factor) { return factor ? fmt::format("{:.3f}", *factor) : "-"; }

void print_section(std::ostream& out, const tuning_section& s, const table_style& style)
{
    out << "# " << (style.color ? k_bold : "") << s.op << (style.color ? k_plain : "") << ", " << kind_of(s)
        << "; us by algorithm\n";
    std::vector<std::vector<std::string>> lines{{"size(B)"}};
    lines[0].insert(lines[0].end(), s.algorithms.begin(), s.algorithms.end());
    for (const char* column : {"fastest", "next", "next/fastest", "auto", "auto/fastest"})
        lines[0].emplace_back(column);
    for (const tuning_row& row : s.rows) {
        std::vector<std::string> line{std::to_string(row.size_bytes)};
        for (const tuning_time& t : row.times)
            line.push_back(t.ps ? rounded_us(*t.ps) : t.missing);
        line.push_back(row.fastest ? s.algorithms[*row.fastest] : "-");
        line.push_back(row.next ? s.algorithms[*row.next] : "-");
        line.push_back(row.next ? factor_text(factor_of(row, *row.next)) : "-");
        line.push_back(row.predicted.empty() ? "-" : row.predicted);
        const auto predicted = predicted_algorithm(s, row);
        line.push_back(predicted ? factor_text(factor_of(row, *predicted)) : "-");
        lines.push_back(std::move(line));
    }
    print_columns(out, lines, 0);
    if (!s.ranges.empty())
        out << fmt::format("{:<17}{}{}\n", "Fastest", ranges_text(s),
                           s.crossovers.empty() ? "" : " (crossovers are interpolated between simulated sizes)");
    std::vector<std::string> told; // one refusal often holds for several sizes
    for (const tuning_row& row : s.rows)
        for (std::size_t a = 0; a < row.times.size(); ++a) {
            const tuning_time& t = row.times[a];
            if (t.ps || t.reason.empty() ||
                std::find(told.begin(), told.end(), s.algorithms[a] + t.reason) != told.end())
                continue;
            told.push_back(s.algorithms[a] + t.reason);
            out << fmt::format("{:<17}{} of {} B: {}\n", t.missing == "refused" ? "Refused" : "Failed", s.algorithms[a],
                               row.size_bytes, t.reason);
        }
    if (!s.plot_file.empty())
        out << fmt::format("{:<17}{}\n", "Plot", s.plot_file);
    out << '\n';
}

} // namespace

std::string kind_of(const tuning_section& s)
{
    return s.type + (s.redop == "none" ? "" : ", " + s.redop) + (s.how.empty() ? "" : ", " + s.how);
}

std::string ranges_text(const tuning_section& s)
{
    std::string text;
    for (std::size_t i = 0; i < s.ranges.size(); ++i) {
        const tuning_range& r = s.ranges[i];
        const bool joined = i + 1 < s.ranges.size() && s.ranges[i + 1].from_bytes == r.to_bytes + 1;
        const bool after = i > 0 && s.ranges[i - 1].to_bytes + 1 == r.from_bytes;
        std::string where = fmt::format(" from {} to {}", binary_size_text(static_cast<double>(r.from_bytes)),
                                        binary_size_text(static_cast<double>(r.to_bytes)));
        if (s.ranges.size() == 1 && r.from_bytes == r.to_bytes)
            where = fmt::format(" at {}", binary_size_text(static_cast<double>(r.from_bytes)));
        else if (s.ranges.size() == 1 && r.from_bytes == s.rows.front().size_bytes &&
                 r.to_bytes == s.rows.back().size_bytes)
            where = fmt::format(" at all sizes, {} to {}", binary_size_text(static_cast<double>(r.from_bytes)),
                                binary_size_text(static_cast<double>(r.to_bytes)));
        else if (i == 0 && joined)
            where = fmt::format(" below {}", binary_size_text(static_cast<double>(r.to_bytes)));
        else if (i + 1 == s.ranges.size() && after)
            where = " above";
        else if (joined && after)
            where = fmt::format(" to {}", binary_size_text(static_cast<double>(r.to_bytes)));
        text += (i == 0 ? "" : ", ") + s.algorithms[r.algorithm] + where;
    }
    return text;
}

void print_tuning(std::ostream& out, const tuning_report& report, const table_style& style)
{
    out << "# weft " << report.version << ", " << report.title << "\n#\n";
    for (const std::string& warning : report.warnings)
        if (style.warnings)
            out << (style.color ? k_yellow : "") << "# " << warning << (style.color ? k_plain : "") << '\n';
    for (const tuning_section& s : report.sections)
        print_section(out, s, style);
    const std::string refused = report.refused != 0 ? fmt::format(", {} cannot run at their size", report.refused) : "";
    out << fmt::format("{:<17}{} of {} have a time{}{}\n", "Points", report.finished, report.points, refused,
                       report.kept == 0 ? "" : fmt::format(", {} of them from an earlier call", report.kept));
    if (!report.table_file.empty())
        out << fmt::format("{:<17}{}: auto follows it with the key `tuning`, or --set tuning={}\n", "Table",
                           report.table_file, report.table_file);
    out.flush();
}

nlohmann::ordered_json to_json(const tuning_report& report)
{
    using json = nlohmann::ordered_json;
    json j;
    j["version"] = report.version;
    j["machine"] = report.machine_digest;
    j["tables"] = json::array();
    for (const tuning_section& s : report.sections) {
        json section;
        section["op"] = s.op;
        section["type"] = s.type;
        section["redop"] = s.redop;
        if (!s.how.empty())
            section["how"] = s.how;
        section["rows"] = json::array();
        for (const tuning_row& row : s.rows) {
            json line;
            line["size_bytes"] = row.size_bytes;
            line["count"] = row.count;
            line["time_us"] = json::object();
            for (std::size_t a = 0; a < row.times.size(); ++a)
                if (row.times[a].ps)
                    line["time_us"][s.algorithms[a]] = us_of(*row.times[a].ps);
                else
                    line["missing"][s.algorithms[a]] =
                        row.times[a].missing + (row.times[a].reason.empty() ? "" : ": " + row.times[a].reason);
            line["fastest"] = row.fastest ? json(s.algorithms[*row.fastest]) : json();
            if (row.next) {
                line["next"] = s.algorithms[*row.next];
                line["next_factor"] = *factor_of(row, *row.next);
            }
            line["predicted"] = row.predicted.empty() ? json() : json(row.predicted);
            if (const auto predicted = predicted_algorithm(s, row))
                if (const auto factor = factor_of(row, *predicted))
                    line["predicted_factor"] = *factor;
            section["rows"].push_back(std::move(line));
        }
        section["ranges"] = json::array();
        for (const tuning_range& r : s.ranges)
            section["ranges"].push_back(
                {{"from_bytes", r.from_bytes}, {"to_bytes", r.to_bytes}, {"algorithm", s.algorithms[r.algorithm]}});
        section["crossovers"] = json::array();
        for (const tuning_crossover& c : s.crossovers)
            section["crossovers"].push_back(
                {{"bytes", c.bytes}, {"us", c.us}, {"below", s.algorithms[c.below]}, {"above", s.algorithms[c.above]}});
        if (!s.plot_file.empty())
            section["plot"] = s.plot_file;
        j["tables"].push_back(std::move(section));
    }
    j["points"] = report.points;
    j["finished"] = report.finished;
    j["kept"] = report.kept;
    if (!report.table_file.empty())
        j["table"] = report.table_file;
    j["warnings"] = report.warnings;
    return j;
}

tuning_plot plot_of(const tuning_section& s, const std::string& title)
{
    tuning_plot plot;
    plot.title = fmt::format("{}: {}", s.op, kind_of(s));
    plot.subtitle = title;
    for (std::size_t a = 0; a < s.algorithms.size(); ++a) {
        plotted_curve curve;
        curve.name = s.algorithms[a];
        for (const tuning_row& row : s.rows)
            curve.points.push_back(
                row.times[a].ps && *row.times[a].ps > 0
                    ? std::optional(plotted_point{static_cast<double>(row.size_bytes), us_of(*row.times[a].ps)})
                    : std::nullopt);
        plot.curves.push_back(std::move(curve));
    }
    for (const tuning_range& r : s.ranges)
        plot.lowest.push_back({static_cast<double>(r.from_bytes), static_cast<double>(r.to_bytes), r.algorithm});
    for (const tuning_crossover& c : s.crossovers)
        plot.crossovers.push_back({{c.bytes, c.us}, binary_size_text(c.bytes)});
    return plot;
}

} // namespace weft
