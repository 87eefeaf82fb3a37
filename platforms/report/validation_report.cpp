// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/validation_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace weft {

namespace {
std::string text_of(const std::optional<double>& value, const std::string& unit)
{
    return value ? fmt::format("{:.4g}{}{}", *value, unit.empty() ? "" : " ", unit) : "-";
}

std::string tolerance_text(const validation_row& row)
{
    return row.tolerance_percent > 0 ? fmt::format("{:.3g} %", row.tolerance_percent) : "exact";
}

std::string error_text(const validation_row& row)
{
    return row.published && row.simulated ? fmt::format("{:+.1f} %", row.error_percent()) : "-";
}
} // namespace

const char* name_of(verdict v) { return v == verdict::met ? "met" : v == verdict::miss ? "MISS" : "not run"; }

double validation_row::error_percent() const
{
    return published && simulated && *published != 0 ? 100 * (*simulated / *published - 1) : 0;
}

verdict validation_row::result() const
{
    if (!why_not_run.empty())
        return verdict::not_run;
    if (!published || !simulated)
        return verdict::miss; // a run that did not complete has reproduced nothing
    if (tolerance_percent <= 0)
        return std::abs(*simulated - *published) < 1e-9 ? verdict::met : verdict::miss;
    return std::abs(error_percent()) <= tolerance_percent ? verdict::met : verdict::miss;
}

std::size_t validation_report::count(verdict v) const
{
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const validation_row& r) { return r.result() == v; }));
}

std::string line_of(const validation_row& row)
{
    if (row.result() == verdict::not_run)
        return fmt::format("  {:<3} {:<62} not run: {}", row.target, row.what, row.why_not_run);
    return fmt::format("  {:<3} {:<62} published {:>11}  simulated {:>11}  error {:>8}  tolerance {:>6}  {}",
                       row.target, row.what, text_of(row.published, row.unit), text_of(row.simulated, row.unit),
                       error_text(row), tolerance_text(row), name_of(row.result()));
}

std::string to_markdown(const validation_report& r)
{
    std::string text =
        fmt::format("# Validation\n\n<!-- Made by `{}`; do not edit. -->\n\n## {}\n\n", r.command, r.title);
    text += fmt::format("weft {}: {} met, {} missed, {} not run.\n\n", r.version, r.count(verdict::met),
                        r.count(verdict::miss), r.count(verdict::not_run));
    text += "| target | what | published | simulated | error | tolerance | verdict | source of the published value |\n"
            "|---|---|---:|---:|---:|---:|---|---|\n";
    for (const validation_row& row : r.rows) {
        const bool run = row.result() != verdict::not_run;
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", row.target, row.what,
                            text_of(row.published, row.unit), text_of(row.simulated, row.unit), error_text(row),
                            run ? tolerance_text(row) : "-", run ? name_of(row.result()) : row.why_not_run, row.source);
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
    const auto number = [](const std::optional<double>& v) { return v && std::isfinite(*v) ? json(*v) : json(); };
    json j;
    j["name"] = r.name;
    j["version"] = r.version;
    j["targets"] = json::array();
    for (const validation_row& row : r.rows) {
        json line;
        line["target"] = row.target;
        line["what"] = row.what;
        line["unit"] = row.unit;
        line["published"] = number(row.published);
        line["simulated"] = number(row.simulated);
        line["error_percent"] = row.published && row.simulated ? json(row.error_percent()) : json();
        line["tolerance_percent"] = row.tolerance_percent;
        line["verdict"] = name_of(row.result());
        if (!row.why_not_run.empty())
            line["why_not_run"] = row.why_not_run;
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
    return j;
}

} // namespace weft
