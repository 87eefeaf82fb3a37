// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/validation_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace weft {

namespace {

std::string text_of(const std::optional<double>& value, const std::vector<std::string>& order, const std::string& unit)
{
    if (!order.empty())
        return fmt::format("{}", fmt::join(order, " > "));
    return value ? fmt::format("{:.4g}{}{}", *value, unit.empty() ? "" : " ", unit) : "-";
}

/// Of a difference: of percentages in points.
std::string unit_of_points(const validation_row& row) { return row.unit.empty() || row.unit == "%" ? "points" : row.unit; }

std::string tolerance_text(const validation_row& row)
{
    const tolerance& t = row.tolerance;
    switch (t.by) {
    case tolerance::kind::percent: return fmt::format("{:.3g} %", t.amount);
    case tolerance::kind::points: return fmt::format("{:.3g} {}", t.amount, unit_of_points(row));
    case tolerance::kind::factor: return fmt::format("factor {:.3g}", t.amount);
    case tolerance::kind::order: return "same order";
    default: return "exact";
    }
}

std::string error_text(const validation_row& row)
{
    if (!row.published || !row.simulated)
        return "-";
    if (row.tolerance.by == tolerance::kind::points)
        return fmt::format("{:+.2f} {}", *row.simulated - *row.published, unit_of_points(row));
    if (row.tolerance.by == tolerance::kind::factor)
        return *row.published != 0 ? fmt::format("x {:.2f}", *row.simulated / *row.published) : "-";
    return *row.published != 0 ? fmt::format("{:+.1f} %", row.error_percent()) : "-";
}

std::string verdict_text(const validation_row& row)
{
    switch (row.result()) {
    case verdict::not_run: return row.why_not_run;
    case verdict::not_judged: return "not judged: " + row.why_not_judged;
    case verdict::miss: return row.why_miss.empty() ? name_of(verdict::miss) : "MISS: " + row.why_miss;
    default: return name_of(row.result());
    }
}

std::string kind_text(const validation_row& row)
{
    const std::string name = name_of(row.kind.which());
    return row.kind.fitted_input().empty() ? name : name + ": " + row.kind.fitted_input();
}

std::string null_text(const validation_row& row)
{
    if (!row.has_null_model())
        return "-";
    return fmt::format("{}{}", text_of(row.null_value, row.null_order, row.unit),
                       !row.judged()            ? ""
                       : row.null_model_meets() ? ", met"
                                                : ", MISS");
}

constexpr verdict k_verdicts[] = {verdict::met, verdict::miss, verdict::not_run, verdict::not_judged};

/// "13 of 18"
std::string met_of_judged(const validation_report& r, row_kind::name kind)
{
    const std::size_t met = r.count(kind, verdict::met);
    return fmt::format("{} of {}", met, met + r.count(kind, verdict::miss));
}

std::string head_table(const validation_report& r)
{
    std::string text = fmt::format("weft {}: **{} emergent targets met**. Rows of other kinds are counted apart.\n\n",
                                   r.version, met_of_judged(r, row_kind::name::emergent));
    text += "| kind | met | missed | not run | not judged | what a row of it says |\n|---|---:|---:|---:|---:|---|\n";
    for (const row_kind::name kind : k_row_kinds) {
        text += fmt::format("| {} |", name_of(kind));
        for (const verdict v : k_verdicts)
            text += fmt::format(" {} |", r.count(kind, v));
        text += fmt::format(" {} |\n", meaning_of(kind));
    }
    if (r.null_models.empty())
        return text + "\n";
    text +=
        "\n### Null models\n\nWhat bytes over a rate and one constant say, without any network, judged by the same tolerances. "
        "Where they meet as many rows as the simulation, these rows are no evidence for it.\n\n"
        "| target | null model | rows judged | simulation meets | null model meets |\n|---|---|---:|---:|---:|\n";
    for (const null_model& n : r.null_models) {
        const null_score s = r.score_of(n.target);
        text += fmt::format("| {} | {} | {} | {} | {} |\n", n.target, n.what, s.rows, s.simulation_met, s.null_met);
    }
    return text + "\n### Rows\n\n";
}

nlohmann::ordered_json counts_json(const validation_report& r, row_kind::name kind)
{
    return {{"met", r.count(kind, verdict::met)},
            {"missed", r.count(kind, verdict::miss)},
            {"not_run", r.count(kind, verdict::not_run)},
            {"not_judged", r.count(kind, verdict::not_judged)}};
}

} // namespace

row_kind row_kind::calibrated(std::string input)
{
    if (input.empty())
        throw std::invalid_argument("a calibrated row names the input that was fitted to it");
    return {name::calibrated, std::move(input)};
}

const char* name_of(row_kind::name n)
{
    constexpr const char* k_names[] = {"emergent", "conformity", "identity", "calibrated"};
    return k_names[static_cast<std::size_t>(n)];
}

const char* meaning_of(row_kind::name n)
{
    switch (n) {
    case row_kind::name::emergent: return "the model could have said something else";
    case row_kind::name::conformity: return "counted, or exact by construction, and still checked";
    case row_kind::name::identity: return "arithmetic on inputs or on published figures: it cannot come out otherwise";
    default: return "the named input was fitted to this very value";
    }
}

const char* name_of(verdict v)
{
    switch (v) {
    case verdict::met: return "met";
    case verdict::miss: return "MISS";
    case verdict::not_run: return "not run";
    default: return "not judged";
    }
}

std::vector<std::string> largest_first(std::vector<std::pair<double, std::string>> values)
{
    std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i != 0 && values[i].first == values[i - 1].first)
            names.back() += " = " + values[i].second; // an order that nothing has decided
        else
            names.push_back(values[i].second);
    return names;
}

const char* name_of(tolerance::kind k)
{
    constexpr const char* k_names[] = {"exact", "percent", "points", "factor", "order"};
    return k_names[static_cast<std::size_t>(k)];
}

double validation_row::error_percent() const
{
    return published && simulated && *published != 0 ? 100 * (*simulated / *published - 1) : 0;
}

verdict validation_row::result() const
{
    if (!why_not_run.empty())
        return verdict::not_run;
    if (!why_not_judged.empty())
        return verdict::not_judged;
    return meets(simulated, simulated_order) ? verdict::met : verdict::miss;
}

bool validation_row::null_model_meets() const { return meets(null_value, null_order); }

bool validation_row::meets(const std::optional<double>& value, const std::vector<std::string>& order) const
{
    if (tolerance.by == tolerance::kind::order)
        return !order.empty() && order == published_order;
    if (!published || !value)
        return false; // a run that did not complete has reproduced nothing
    const double difference = std::abs(*value - *published);
    switch (tolerance.by) {
    case tolerance::kind::percent:
        return *published == 0 ? difference == 0 : 100 * std::abs(*value / *published - 1) <= tolerance.amount;
    case tolerance::kind::points: return difference <= tolerance.amount;
    case tolerance::kind::factor:
        return *value * tolerance.amount >= *published && *value <= *published * tolerance.amount;
    default: return difference < 1e-9;
    }
}

void validation_report::add(validation_row row, const validation_settings& how)
{
    if (how.on_row)
        how.on_row(row);
    rows.push_back(std::move(row));
}

std::size_t validation_report::count(verdict v) const
{
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const validation_row& r) { return r.result() == v; }));
}

std::size_t validation_report::count(row_kind::name kind, verdict v) const
{
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const validation_row& r) { return r.kind.is(kind) && r.result() == v; }));
}

null_score validation_report::score_of(const std::string& target) const
{
    // Of the emergent rows; of all where none is.
    null_score emergent, all;
    for (const validation_row& row : rows)
        if (row.target == target && row.judged() && row.has_null_model())
            for (null_score* s : {&all, &emergent})
                if (s == &all || row.kind.is(row_kind::name::emergent)) {
                    ++s->rows;
                    s->simulation_met += row.result() == verdict::met ? 1 : 0;
                    s->null_met += row.null_model_meets() ? 1 : 0;
                }
    return emergent.rows != 0 ? emergent : all;
}

std::string line_of(const validation_row& row)
{
    const std::string head = fmt::format("  {:<3} {:<10} {:<62}", row.target, name_of(row.kind.which()), row.what);
    if (row.result() == verdict::not_run)
        return fmt::format("{} not run: {}", head, row.why_not_run);
    const std::string published = text_of(row.published, row.published_order, row.unit);
    const std::string simulated = text_of(row.simulated, row.simulated_order, row.unit);
    if (row.tolerance.by == tolerance::kind::order)
        return fmt::format("{} {}\n      published {}\n      simulated {}", head, verdict_text(row), published,
                           simulated);
    return fmt::format("{} published {:>11}  simulated {:>11}  error {:>12}  tolerance {:>11}  null model {:>14}  {}",
                       head, published, simulated, error_text(row), row.judged() ? tolerance_text(row) : "-",
                       null_text(row), verdict_text(row));
}

std::string head_of(const validation_report& r)
{
    std::string text;
    for (const row_kind::name kind : k_row_kinds) {
        text += fmt::format("{:<10}", name_of(kind));
        for (const verdict v : k_verdicts)
            text += fmt::format(" {:>4} {}", r.count(kind, v), v == verdict::miss ? "missed" : name_of(v));
        text += fmt::format("   {}\n", meaning_of(kind));
    }
    for (const null_model& n : r.null_models) {
        const null_score s = r.score_of(n.target);
        text += fmt::format("{:<4} simulation meets {} of {}, the null model {}: {}\n", n.target, s.simulation_met,
                            s.rows, s.null_met, n.what);
    }
    return text;
}

/// A cell of a table: a bar in its text is no border.
static std::string cell(const std::string& text)
{
    std::string escaped;
    for (const char c : text)
        escaped += c == '|' ? "\\|" : std::string(1, c);
    return escaped;
}

std::string to_markdown(const validation_report& r)
{
    std::string text =
        fmt::format("# Validation\n\n<!-- Made by `{}`; do not edit. -->\n\n## {}\n\n", r.command, r.title);
    text += head_table(r);
    text += "| target | kind | what | published | simulated | error | tolerance | verdict | null model | source of the "
            "published value |\n|---|---|---|---:|---:|---:|---:|---|---|---|\n";
    for (const validation_row& row : r.rows)
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.target, kind_text(row),
                            cell(row.what), text_of(row.published, row.published_order, row.unit),
                            text_of(row.simulated, row.simulated_order, row.unit), error_text(row),
                            row.judged() ? tolerance_text(row) : "-", cell(verdict_text(row)), null_text(row),
                            cell(row.source));
    for (const std::string& note : r.notes)
        text += "\n" + note + "\n";
    if (!r.sensitivities.empty()) {
        text +=
            "\n### What the assumed and calibrated inputs do\n\nNothing is judged by these runs.\n\n| run | result |\n|---|---|\n";
        for (const sensitivity_row& s : r.sensitivities)
            text += fmt::format("| {} | {} |\n", cell(s.what), cell(s.result));
    }
    text +=
        "\n### Inputs\n\nSources: quoted from a public document, derived from quoted figures, recalled and not verified, "
        "assumed, calibrated: chosen so that a published result comes out.\n\n| input | value | source |\n|---|---|---|\n";
    for (const input_row& i : r.inputs)
        text += fmt::format("| {} | {} | {} |\n", cell(i.what), cell(i.value), cell(i.source));
    return text;
}

nlohmann::ordered_json to_json(const validation_report& r)
{
    using json = nlohmann::ordered_json;
    const auto value = [](const std::optional<double>& v, const std::vector<std::string>& order) {
        if (!order.empty())
            return json(order);
        return v && std::isfinite(*v) ? json(*v) : json();
    };
    json j;
    j["name"] = r.name;
    j["version"] = r.version;
    for (const row_kind::name kind : k_row_kinds)
        j["kinds"][name_of(kind)] = counts_json(r, kind);
    j["null_models"] = json::array();
    for (const null_model& n : r.null_models) {
        const null_score s = r.score_of(n.target);
        j["null_models"].push_back({{"target", n.target},
                                    {"what", n.what},
                                    {"rows", s.rows},
                                    {"simulation_met", s.simulation_met},
                                    {"null_met", s.null_met}});
    }
    j["targets"] = json::array();
    for (const validation_row& row : r.rows) {
        json line;
        line["target"] = row.target;
        line["kind"] = name_of(row.kind.which());
        if (!row.kind.fitted_input().empty())
            line["fitted_input"] = row.kind.fitted_input();
        line["what"] = row.what;
        line["unit"] = row.unit;
        line["published"] = value(row.published, row.published_order);
        line["simulated"] = value(row.simulated, row.simulated_order);
        line["error_percent"] =
            row.published && row.simulated && *row.published != 0 ? json(row.error_percent()) : json();
        line["tolerance"] = {{"kind", name_of(row.tolerance.by)}, {"amount", row.tolerance.amount}};
        line["verdict"] = name_of(row.result());
        if (row.has_null_model()) {
            line["null_model"] = value(row.null_value, row.null_order);
            line["null_model_meets"] = row.null_model_meets();
        }
        if (row.result() == verdict::miss && !row.why_miss.empty())
            line["why_miss"] = row.why_miss;
        if (!row.why_not_run.empty())
            line["why_not_run"] = row.why_not_run;
        if (!row.why_not_judged.empty())
            line["why_not_judged"] = row.why_not_judged;
        line["source"] = row.source;
        j["targets"].push_back(std::move(line));
    }
    j["sensitivities"] = json::array();
    for (const sensitivity_row& s : r.sensitivities)
        j["sensitivities"].push_back({{"what", s.what}, {"result", s.result}});
    j["inputs"] = json::array();
    for (const input_row& i : r.inputs)
        j["inputs"].push_back({{"what", i.what}, {"value", i.value}, {"source", i.source}});
    j["met"] = r.count(verdict::met);
    j["missed"] = r.count(verdict::miss);
    j["not_run"] = r.count(verdict::not_run);
    j["not_judged"] = r.count(verdict::not_judged);
    return j;
}

} // namespace weft
