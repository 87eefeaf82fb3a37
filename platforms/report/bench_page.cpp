// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/bench_page.h"

#include "tlm/check.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>

namespace weft {

void bench_page::title(const std::string& text)
{
    add(fmt::format("\n### {}\n\n| measured | figure | target | |\n|---|---|---|---|\n", text), "\n" + text + "\n");
}

void bench_page::line(const std::string& what, const std::string& figure, const std::string& target, bool met)
{
    const char* verdict = target.empty() ? "" : met ? "met" : "MISSED";
    add(fmt::format("| {} | {} | {} | {} |\n", what, figure, target, verdict),
        fmt::format("  {:<66} {:>18}  {:<16} {}\n", what, figure, target, verdict));
    missed_ += target.empty() || met ? 0 : 1;
}

void bench_page::add(const std::string& markdown, const std::string& plain)
{
    markdown_ += markdown;
    fmt::print("{}", plain);
    std::fflush(stdout);
}

run_figures bench_settings::median_of(const std::function<run_figures()>& measure) const
{
    std::map<std::string, std::vector<double>> all;
    for (unsigned i = 0; i < repeats; ++i)
        for (const auto& [name, value] : isolated(measure))
            all[name].push_back(value);
    run_figures result;
    for (auto& [name, values] : all) {
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
        result[name] = values[values.size() / 2];
    }
    return result;
}

void require_sound(const std::vector<config_problem>& problems)
{
    for (const config_problem& p : problems)
        if (p.level == severity::error)
            throw bug("bench", 0, p.key + " " + p.message);
}

std::string millions(double value) { return fmt::format("{:.2f} M/s", value / 1e6); }

} // namespace weft
