// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The three forms of a comparison: for a terminal, as CSV, as a page.
#include "platforms/report/columns.h"
#include "platforms/report/plot_parts.h"
#include "platforms/sweep/comparison.h"
#include "platforms/sweep/sweep_page.h"
#include "platforms/sweep/sweep_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

namespace weft {

namespace {

constexpr std::size_t k_stats_shown = 20; ///< on a terminal: hundreds follow from one changed key
constexpr std::size_t k_longest_value = 60;

using table = std::vector<std::vector<std::string>>;

std::string percent(const compared_figure& f)
{
    const double d = 100 * f.difference();
    return std::isinf(d) ? (d > 0 ? "from 0" : "from 0 down") : fmt::format("{:+.{}f} %", d, std::abs(d) < 10 ? 3 : 1);
}

std::string number(double value) { return fmt::format("{:.10g}", value); }

std::string shortened(const std::string& text)
{
    return text.size() <= k_longest_value ? text : text.substr(0, k_longest_value - 3) + "...";
}

table figures_table(const std::vector<compared_figure>& figures, const char* what)
{
    table lines{{what, "A", "B", "unit", "difference"}};
    for (const compared_figure& f : figures)
        lines.push_back({f.name, number(f.a), number(f.b), f.unit, percent(f)});
    return lines;
}

table texts_table(const std::vector<compared_text>& texts, const char* what)
{
    table lines{{what, "A", "B"}};
    for (const compared_text& t : texts)
        lines.push_back({t.key, t.a, t.b});
    return lines;
}

/// The parts of one comparison in the order in which they are read: what came out, what was asked for, what follows
/// from both.
std::vector<table> tables_of(const comparison& c)
{
    std::vector<table> all;
    if (!c.outcomes.empty())
        all.push_back(texts_table(c.outcomes, "outcome"));
    if (!c.beyond.empty())
        all.push_back(figures_table(c.beyond, "result"));
    if (!c.config.empty())
        all.push_back(texts_table(c.config, "configuration"));
    if (!c.bounds.empty())
        all.push_back(figures_table(c.bounds, "bound"));
    if (!c.stats.empty())
        all.push_back(figures_table(c.stats, "statistic"));
    if (!c.only_a.empty() || !c.only_b.empty()) {
        table lines{{"only one has", "in"}};
        for (const std::string& name : c.only_a)
            lines.push_back({name, "A"});
        for (const std::string& name : c.only_b)
            lines.push_back({name, "B"});
        all.push_back(std::move(lines));
    }
    return all;
}

std::string verdict_of(const comparison& c, double tolerance)
{
    const std::size_t beyond = c.differing();
    std::string text = fmt::format("{} figures compared: {} are equal, {} differ by {:g} % or less, {} by more",
                                   c.compared, c.equal, c.compared - c.equal - beyond, 100 * tolerance, beyond);
    if (!c.outcomes.empty())
        text += fmt::format("; {} outcome{} differ{}", c.outcomes.size(), c.outcomes.size() == 1 ? "" : "s",
                            c.outcomes.size() == 1 ? "s" : "");
    if (const std::size_t only = c.only_a.size() + c.only_b.size(); only > 0)
        text += fmt::format("; {} {} in only one", only, only == 1 ? "is" : "are");
    return text + (c.digest_a == c.digest_b ? fmt::format("; both have the digest {}.", c.digest_a)
                                            : fmt::format("; digests {} and {}.", c.digest_a, c.digest_b));
}

void print_pair(std::ostream& out, const comparison& c, double tolerance)
{
    if (!c.name.empty())
        out << "## " << c.name << "\n";
    if (c.version_a != c.version_b)
        out << "# versions: A " << c.version_a << ", B " << c.version_b << "\n";
    for (const std::string& note : c.notes)
        out << "# note: " << note << "\n";
    for (table lines : tables_of(c)) {
        std::size_t left_out = 0;
        if (lines.front().front() == "statistic" && lines.size() > k_stats_shown + 1) {
            left_out = lines.size() - k_stats_shown - 1;
            lines.resize(k_stats_shown + 1);
        }
        for (std::vector<std::string>& line : lines)
            for (std::string& cell : line)
                cell = &cell == &line.front() ? cell : shortened(cell);
        print_columns(out, lines, lines.front().size() == 5 ? 1 : lines.front().size());
        if (left_out > 0)
            out << fmt::format("  ... and {} more statistics; --csv and --html have all\n", left_out);
        out << "\n";
    }
    out << verdict_of(c, tolerance) << "\n";
}

std::string html_table(const table& lines)
{
    std::string out = scroll_begin(lines.front().front()) + "<table>\n";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        out += "<tr>";
        for (std::size_t k = 0; k < lines[i].size(); ++k) {
            const bool right = lines[i].size() == 5 && k != 0 && k != 3;
            out += fmt::format("<{0}{1}>{2}</{0}>", i == 0 ? "th" : "td", right ? " class=\"n\"" : "",
                               escaped(lines[i][k]));
        }
        out += "</tr>\n";
    }
    return out + "</table></div>\n";
}

} // namespace

std::string to_text(const comparisons& all)
{
    std::ostringstream out;
    out << "# A: " << all.a << "\n# B: " << all.b << "\n#\n";
    std::size_t same = 0;
    for (const comparison& c : all.pairs) {
        same += c.same() ? 1 : 0;
        // Of many points only those that differ.
        if (all.pairs.size() == 1 || !c.same() || !c.notes.empty())
            print_pair(out, c, all.tolerance);
        if (all.pairs.size() > 1 && (!c.same() || !c.notes.empty()))
            out << "\n";
    }
    for (const std::string& name : all.only_a)
        out << "only in A: " << name << "\n";
    for (const std::string& name : all.only_b)
        out << "only in B: " << name << "\n";
    if (all.pairs.size() > 1 || !all.only_a.empty() || !all.only_b.empty())
        out << fmt::format("{} points compared: {} are equal within {:g} %, {} differ; {} only in A, {} only in B.\n",
                           all.pairs.size(), same, 100 * all.tolerance, all.pairs.size() - same, all.only_a.size(),
                           all.only_b.size());
    return out.str();
}

std::string to_csv(const comparisons& all)
{
    std::string out = "point,kind,name,A,B,unit,relative difference\n";
    for (const comparison& c : all.pairs) {
        const auto line = [&](const char* kind, const std::string& name, const std::string& a, const std::string& b,
                              const std::string& unit, const std::string& d) {
            out += fmt::format("{},{},{},{},{},{},{}\n", csv_field(c.name), kind, csv_field(name), csv_field(a),
                               csv_field(b), csv_field(unit), d);
        };
        const auto figure_lines = [&](const char* kind, const std::vector<compared_figure>& figures) {
            for (const compared_figure& f : figures)
                line(kind, f.name, fmt::format("{}", f.a), fmt::format("{}", f.b), f.unit,
                     fmt::format("{:.6g}", f.difference()));
        };
        for (const std::string& note : c.notes)
            line("note", note, "", "", "", "");
        for (const compared_text& t : c.outcomes)
            line("outcome", t.key, t.a, t.b, "", "");
        figure_lines("result", c.beyond);
        for (const compared_text& t : c.config)
            line("configuration", t.key, t.a, t.b, "", "");
        figure_lines("bound", c.bounds);
        figure_lines("statistic", c.stats);
        for (const std::string& name : c.only_a)
            line("only one has", name, "there", "", "", "");
        for (const std::string& name : c.only_b)
            line("only one has", name, "", "there", "", "");
    }
    for (const std::string& name : all.only_a)
        out += fmt::format("{},point,,there,,,\n", csv_field(name));
    for (const std::string& name : all.only_b)
        out += fmt::format("{},point,,,there,,\n", csv_field(name));
    return out;
}

std::string to_page(const comparisons& all)
{
    std::string out = page_head(fmt::format("{} and {}", all.a, all.b));
    out += fmt::format("<h1>{}</h1>\n<p class=\"soft-text\">A: {}<br>B: {}<br>tolerance {:g} %</p>\n",
                       all.same() ? "Equal within the tolerance" : "Different", escaped(all.a), escaped(all.b),
                       100 * all.tolerance);
    for (const comparison& c : all.pairs) {
        if (!c.name.empty())
            out += fmt::format("<h2>{}</h2>\n", escaped(c.name));
        out += fmt::format("<p>{}</p>\n", escaped(verdict_of(c, all.tolerance)));
        if (c.version_a != c.version_b)
            out += fmt::format("<p>Versions: A {}, B {}.</p>\n", escaped(c.version_a), escaped(c.version_b));
        for (const std::string& note : c.notes)
            out += fmt::format("<p class=\"bad\">{}</p>\n", escaped(note));
        for (const table& lines : tables_of(c))
            out += html_table(lines) + "<br>\n";
    }
    table only{{"points of only one", "in"}};
    for (const std::string& name : all.only_a)
        only.push_back({name, "A"});
    for (const std::string& name : all.only_b)
        only.push_back({name, "B"});
    if (only.size() > 1)
        out += html_table(only);
    return out + "</body>\n</html>\n";
}

} // namespace weft
