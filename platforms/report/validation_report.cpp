// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/validation_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {

std::string text_of(const std::optional<double>& value, const std::vector<std::string>& order, const std::string& unit)
{
    if (!order.empty())
        return fmt::format("{}", fmt::join(order, " > "));
    return value ? fmt::format("{:.4g}{}{}", *value, unit.empty() ? "" : " ", unit) : "-";
}

std::string tolerance_text(const tolerance& t)
{
    switch (t.by) {
    case tolerance::kind::percent: return fmt::format("{:.3g} %", t.amount);
    case tolerance::kind::points: return fmt::format("{:.3g} points", t.amount);
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
        return fmt::format("{:+.2f} points", *row.simulated - *row.published);
    if (row.tolerance.by == tolerance::kind::factor)
        return *row.published != 0 ? fmt::format("x {:.2f}", *row.simulated / *row.published) : "-";
    return *row.published != 0 ? fmt::format("{:+.1f} %", row.error_percent()) : "-";
}

std::string verdict_text(const validation_row& row)
{
    switch (row.result()) {
    case verdict::not_run: return row.why_not_run;
    case verdict::not_judged: return "not judged: " + row.why_not_judged;
    default: return name_of(row.result());
    }
}

} // namespace

const char* name_of(verdict v)
{
    switch (v) {
    case verdict::met: return "met";
    case verdict::miss: return "MISS";
    case verdict::not_run: return "not run";
    default: return "not judged";
    }
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
    const auto judged = [](bool fine) { return fine ? verdict::met : verdict::miss; };
    if (tolerance.by == tolerance::kind::order)
        return judged(!simulated_order.empty() && simulated_order == published_order);
    if (!published || !simulated)
        return verdict::miss; // a run that did not complete has reproduced nothing
    switch (tolerance.by) {
    case tolerance::kind::percent: return judged(std::abs(error_percent()) <= tolerance.amount);
    case tolerance::kind::points: return judged(std::abs(*simulated - *published) <= tolerance.amount);
    case tolerance::kind::factor:
        return judged(*simulated * tolerance.amount >= *published && *simulated <= *published * tolerance.amount);
    default: return judged(std::abs(*simulated - *published) < 1e-9);
    }
}

std::size_t validation_report::count(verdict v) const
{
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const validation_row& r) { return r.result() == v; }));
}

std::string line_of(const validation_row& row)
{
    const std::string head = fmt::format("  {:<3} {:<62}", row.target, row.what);
    if (row.result() == verdict::not_run)
        return fmt::format("{} not run: {}", head, row.why_not_run);
    const std::string published = text_of(row.published, row.published_order, row.unit);
    const std::string simulated = text_of(row.simulated, row.simulated_order, row.unit);
    if (row.tolerance.by == tolerance::kind::order)
        return fmt::format("{} {}\n      published {}\n      simulated {}", head, verdict_text(row), published,
                           simulated);
    const bool judged = row.result() != verdict::not_judged;
    return fmt::format("{} published {:>11}  simulated {:>11}  error {:>12}  tolerance {:>11}  {}", head, published,
                       simulated, error_text(row), judged ? tolerance_text(row.tolerance) : "-", verdict_text(row));
}

std::string to_markdown(const validation_report& r)
{
    std::string text =
        fmt::format("# Validation\n\n<!-- Made by `{}`; do not edit. -->\n\n## {}\n\n", r.command, r.title);
    text += fmt::format("weft {}: {} met, {} missed, {} not run, {} not judged.\n\n", r.version, r.count(verdict::met),
                        r.count(verdict::miss), r.count(verdict::not_run), r.count(verdict::not_judged));
    text += "| target | what | published | simulated | error | tolerance | verdict | source of the published value |\n"
            "|---|---|---:|---:|---:|---:|---|---|\n";
    for (const validation_row& row : r.rows) {
        const bool judged = row.result() == verdict::met || row.result() == verdict::miss;
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", row.target, row.what,
                            text_of(row.published, row.published_order, row.unit),
                            text_of(row.simulated, row.simulated_order, row.unit), error_text(row),
                            judged ? tolerance_text(row.tolerance) : "-", verdict_text(row), row.source);
    }
    for (const std::string& note : r.notes)
        text += "\n" + note + "\n";
    if (!r.sensitivities.empty()) {
        text +=
            "\n### What the assumed and calibrated inputs do\n\nNothing is judged by these runs.\n\n| run | result |\n|---|---|\n";
        for (const sensitivity_row& s : r.sensitivities)
            text += fmt::format("| {} | {} |\n", s.what, s.result);
    }
    text +=
        "\n### Inputs\n\nConfidence: Q quoted from a public document, D derived from quoted figures, R recalled and not verified, "
        "A assumed, C calibrated: chosen so that a published result comes out.\n\n| input | value | source |\n|---|---|---|\n";
    for (const input_row& i : r.inputs)
        text += fmt::format("| {} | {} | {} |\n", i.what, i.value, i.source);
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
    j["targets"] = json::array();
    for (const validation_row& row : r.rows) {
        json line;
        line["target"] = row.target;
        line["what"] = row.what;
        line["unit"] = row.unit;
        line["published"] = value(row.published, row.published_order);
        line["simulated"] = value(row.simulated, row.simulated_order);
        line["error_percent"] =
            row.published && row.simulated && *row.published != 0 ? json(row.error_percent()) : json();
        line["tolerance"] = {{"kind", name_of(row.tolerance.by)}, {"amount", row.tolerance.amount}};
        line["verdict"] = name_of(row.result());
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
