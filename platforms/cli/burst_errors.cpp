// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/burst_errors.h"

#include "platforms/cli/point_runs.h"
#include "tlm/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace weft::cli {

namespace {

constexpr std::uint64_t k_large_bytes = 64 << 10;
constexpr double k_bound_of_large_percent = 2;
constexpr double k_bound_of_small_percent = 5;
constexpr double k_bound_of_small_us = 1;
constexpr std::size_t k_worst_shown = 12; ///< of each platform
constexpr std::size_t k_complaints_shown = 40;

constexpr double k_bins_percent[] = {0, 0.1, 0.5, 1, 2, 5, 10, 20, 50};

double us(std::uint64_t ps) { return static_cast<double>(ps) * 1e-6; }

std::string size_text(std::uint64_t bytes) { return to_string(data_size(bytes)); }

std::vector<double> sorted_magnitudes(const std::vector<const burst_error*>& errors)
{
    std::vector<double> all;
    for (const burst_error* e : errors)
        all.push_back(std::abs(e->percent));
    std::sort(all.begin(), all.end());
    return all;
}

std::size_t count_beyond(const std::vector<const burst_error*>& errors)
{
    return static_cast<std::size_t>(
        std::count_if(errors.begin(), errors.end(), [](const burst_error* e) { return e->of_bound > 1; }));
}

/// Errors that belong together, in the order in which their groups first occur.
struct error_group {
    std::vector<std::string> key;
    std::vector<const burst_error*> errors;
};
using key_of_error = std::function<std::vector<std::vector<std::string>>(const burst_error&)>;

std::vector<error_group> grouped(const std::vector<burst_error>& errors, const key_of_error& keys)
{
    std::vector<error_group> all;
    std::map<std::vector<std::string>, std::size_t> places;
    for (const burst_error& e : errors)
        for (std::vector<std::string>& key : keys(e)) {
            const auto [place, is_new] = places.emplace(key, all.size());
            if (is_new)
                all.push_back({std::move(key), {}});
            all[place->second].errors.push_back(&e);
        }
    return all;
}

std::string distribution(const error_group& group)
{
    const std::vector<double> m = sorted_magnitudes(group.errors);
    const auto [least, most] =
        std::minmax_element(group.errors.begin(), group.errors.end(),
                            [](const burst_error* a, const burst_error* b) { return a->percent < b->percent; });
    return fmt::format("{} | {:.2f} | {:.2f} | {:.2f} | {:+.2f} to {:+.2f} | {}", m.size(), quantile(m, 0.5),
                       quantile(m, 0.9), quantile(m, 0.99), (*least)->percent, (*most)->percent,
                       count_beyond(group.errors));
}

std::string distribution_table(const std::vector<burst_error>& errors, const std::vector<std::string>& columns,
                               const key_of_error& keys, bool worst_first)
{
    std::string text = "|";
    for (const std::string& c : columns)
        text += " " + c + " |";
    text += " errors | median % | 90 % below % | 99 % below % | from to % | beyond bound |\n|";
    for (std::size_t i = 0; i < columns.size(); ++i)
        text += "---|";
    text += "--:|--:|--:|--:|--:|--:|\n";
    std::vector<error_group> groups = grouped(errors, keys);
    if (worst_first)
        std::stable_sort(groups.begin(), groups.end(), [](const error_group& a, const error_group& b) {
            return static_cast<double>(count_beyond(a.errors)) * static_cast<double>(b.errors.size()) >
                   static_cast<double>(count_beyond(b.errors)) * static_cast<double>(a.errors.size());
        });
    for (const error_group& group : groups) {
        text += "|";
        for (const std::string& k : group.key)
            text += " " + k + " |";
        text += " " + distribution(group) + " |\n";
    }
    return text + "\n";
}

std::string histogram(const std::vector<burst_error>& errors)
{
    std::string text = "| platform, size |";
    for (std::size_t i = 1; i < std::size(k_bins_percent); ++i)
        text += fmt::format(" <= {:g} % |", k_bins_percent[i]);
    text += fmt::format(" more |\n|---|{}\n", [] {
        std::string columns;
        for (std::size_t i = 0; i < std::size(k_bins_percent); ++i)
            columns += "--:|";
        return columns;
    }());
    for (const error_group& group : grouped(errors, [](const burst_error& e) {
             const std::string& platform = e.result->point.family->platform;
             std::vector<std::vector<std::string>> keys{{platform, "all"}, {platform, size_text(e.what.size_bytes)}};
             keys.push_back({platform, e.train > 1 ? "in trains" : "in single packets"});
             return keys;
         })) {
        text += fmt::format("| {}, {} |", group.key[0], group.key[1]);
        const std::vector<double> m = sorted_magnitudes(group.errors);
        auto from = m.begin();
        for (std::size_t i = 1; i <= std::size(k_bins_percent); ++i) {
            const auto to =
                i == std::size(k_bins_percent) ? m.end() : std::upper_bound(from, m.end(), k_bins_percent[i]);
            text += fmt::format(" {} |", to - from);
            from = to;
        }
        text += "\n";
    }
    return text + "\n";
}

std::string swept_table()
{
    std::string text;
    for (const sweep_family& family : sweep_families()) {
        text += fmt::format(
            "**{}**: `{}`{}, {} points.\n\n", family.name, family.file,
            [&] {
                std::string with;
                for (const std::string& o : family.overrides)
                    with += fmt::format("{} `{}`", with.empty() ? " with" : ",", o);
                return with;
            }(),
            family.count());
        for (const sweep_axis& axis : family.axes) {
            text += fmt::format("* {}: ", axis.name);
            for (std::size_t i = 0; i < axis.values.size(); ++i)
                text += (i == 0 ? "" : "; ") + axis.values[i].name;
            text += "\n";
        }
        text += "\n";
    }
    return text;
}

std::string cpu_table(const burst_summary& summary)
{
    struct cost {
        std::size_t points = 0;
        double single_s = 0;
        double tested_s = 0;
    };
    std::vector<std::pair<std::string, cost>> families;
    cost all;
    for (const burst_point_result& r : summary.results) {
        const std::string& name = r.point.family->name;
        auto place = std::find_if(families.begin(), families.end(), [&](const auto& f) { return f.first == name; });
        if (place == families.end())
            place = families.insert(families.end(), {name, {}});
        for (cost* c : {&place->second, &all}) {
            ++c->points;
            c->single_s += r.single.cpu_s;
            c->tested_s += r.tested.cpu_s;
        }
    }
    families.emplace_back("all", all);
    std::string text =
        fmt::format("| family | points | single packets, s | {}, s | ratio |\n|---|--:|--:|--:|--:|\n", summary.burst);
    for (const auto& [name, c] : families)
        text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.2f} |\n", name, c.points, c.single_s, c.tested_s,
                            c.tested_s > 0 ? c.single_s / c.tested_s : 0);
    return text + "\n";
}

std::string worst_points(const burst_summary& summary, const std::vector<burst_error>& errors)
{
    std::string text;
    for (const error_group& group : grouped(errors, [](const burst_error& e) {
             return std::vector<std::vector<std::string>>{{e.result->point.family->platform}};
         })) {
        std::vector<const burst_error*> worst = group.errors;
        std::stable_sort(worst.begin(), worst.end(),
                         [](const burst_error* a, const burst_error* b) { return a->of_bound > b->of_bound; });
        std::set<const burst_point_result*> shown; // each point with its worst collective
        worst.erase(std::remove_if(worst.begin(), worst.end(),
                                   [&](const burst_error* e) { return !shown.insert(e->result).second; }),
                    worst.end());
        worst.resize(std::min(worst.size(), k_worst_shown));
        text += fmt::format("### {}\n\n", group.key[0]);
        for (const burst_error* e : worst)
            text += fmt::format(
                "* **{:+.2f} %**: {:.3f} us, single packets {:.3f} us. {} {} {}, trains of {}. {} ({}).\n\n  ```\n  {}\n  ```\n",
                e->percent, us(e->tested_ps), us(e->what.time_ps), e->what.op, e->what.algorithm,
                size_text(e->what.size_bytes), e->train, e->result->point.name(), e->result->point.where(),
                command_of(*e, summary.burst));
        text += "\n";
    }
    return text;
}

std::string complaints_text(const burst_summary& summary)
{
    std::string text;
    std::size_t complaints = 0;
    for (const burst_point_result& r : summary.results) {
        const std::string complaint = complaint_of(r);
        if (complaint.empty() || ++complaints > k_complaints_shown)
            continue;
        text += fmt::format("* {} ({}): {}\n\n  ```\n  {}\n  ```\n", r.point.name(), r.point.where(), complaint,
                            run_command(r.source, r.single.failure.empty() ? summary.burst : k_burst_reference));
    }
    if (complaints > k_complaints_shown)
        text += fmt::format("* {} more\n", complaints - k_complaints_shown);
    return complaints == 0 ? "None.\n" : text;
}

} // namespace

std::string to_text(const burst_run& run)
{
    std::string text = fmt::format("{:.6f}\n", run.cpu_s);
    for (const timed_collective& c : run.collectives)
        text += fmt::format("{} {} {} {} {} {} {}\n", c.op, c.algorithm, c.size_bytes, c.time_ps, c.wrong,
                            c.data_digest, c.train);
    return text;
}

burst_run burst_run_from(const std::string& text)
{
    burst_run run;
    std::istringstream in(text);
    in >> run.cpu_s;
    for (timed_collective c;
         in >> c.op >> c.algorithm >> c.size_bytes >> c.time_ps >> c.wrong >> c.data_digest >> c.train;)
        run.collectives.push_back(c);
    if (run.collectives.empty())
        run.failure = "gave no times";
    return run;
}

std::string complaint_of(const burst_point_result& r)
{
    if (!r.single.failure.empty())
        return "with single packets the run " + r.single.failure;
    if (!r.tested.failure.empty())
        return "with bursts the run " + r.tested.failure;
    if (r.single.collectives.size() != r.tested.collectives.size())
        return "the two runs have different collectives";
    for (std::size_t i = 0; i < r.single.collectives.size(); ++i) {
        const timed_collective& a = r.single.collectives[i];
        const timed_collective& b = r.tested.collectives[i];
        const std::string what = fmt::format("{} {} {}", a.op, a.algorithm, size_text(a.size_bytes));
        if (a.op != b.op || a.algorithm != b.algorithm || a.size_bytes != b.size_bytes)
            return "the two runs have different collectives";
        if (a.wrong != 0 || b.wrong != 0)
            return fmt::format("{}: {} wrong elements with single packets, {} with bursts", what, a.wrong, b.wrong);
        if (a.data_digest != b.data_digest)
            return what + ": the answers differ";
        if (a.time_ps == 0 || b.time_ps == 0)
            return what + ": took no time";
    }
    return {};
}

double error_percent(std::uint64_t single_ps, std::uint64_t tested_ps)
{
    return 100 * (static_cast<double>(tested_ps) - static_cast<double>(single_ps)) / static_cast<double>(single_ps);
}

double share_of_bound(std::uint64_t size_bytes, std::uint64_t single_ps, std::uint64_t tested_ps)
{
    const double percent = std::abs(error_percent(single_ps, tested_ps));
    if (size_bytes >= k_large_bytes)
        return percent / k_bound_of_large_percent;
    const double difference_us = std::abs(us(tested_ps) - us(single_ps));
    return std::min(percent / k_bound_of_small_percent, difference_us / k_bound_of_small_us);
}

double quantile(const std::vector<double>& sorted, double q)
{
    if (sorted.empty())
        return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
    return sorted[std::min(sorted.size(), std::max<std::size_t>(rank, 1)) - 1];
}

std::vector<burst_error> errors_of(const std::vector<burst_point_result>& results)
{
    std::vector<burst_error> all;
    for (const burst_point_result& r : results) {
        if (!complaint_of(r).empty())
            continue;
        for (std::size_t i = 0; i < r.single.collectives.size(); ++i) {
            const timed_collective& c = r.single.collectives[i];
            const std::uint64_t tested_ps = r.tested.collectives[i].time_ps;
            all.push_back({&r, c, tested_ps, r.tested.collectives[i].train, error_percent(c.time_ps, tested_ps),
                           share_of_bound(c.size_bytes, c.time_ps, tested_ps)});
        }
    }
    return all;
}

std::string command_of(const burst_error& e, const std::string& burst)
{
    const platform_source& source = e.result->source;
    // Only independent cases take the same time alone.
    const bool alone =
        std::find(source.overrides.begin(), source.overrides.end(), "cases=continuous") == source.overrides.end();
    if (!alone)
        return run_command(source, burst);
    return run_command(
        with_workload(source, workload_text({{e.what.op, e.what.algorithm}}, {size_text(e.what.size_bytes)},
                                            e.result->point.work().entry_keys)),
        burst);
}

bool holds(const burst_summary& summary)
{
    if (summary.results.size() != summary.planned_points)
        return false;
    for (const burst_point_result& r : summary.results)
        if (!complaint_of(r).empty())
            return false;
    for (const burst_error& e : errors_of(summary.results))
        if (e.of_bound > 1)
            return false;
    return true;
}

std::string head_of(const burst_summary& summary)
{
    std::size_t complaints = 0;
    for (const burst_point_result& r : summary.results)
        complaints += complaint_of(r).empty() ? 0 : 1;
    const std::vector<burst_error> errors = errors_of(summary.results);
    std::size_t large = 0;
    std::size_t large_beyond = 0;
    std::size_t small_beyond = 0;
    double worst_large = 0;
    double worst_small = 0;
    std::size_t trains = 0;
    std::size_t trains_beyond = 0;
    double worst_train = 0;
    std::uint32_t longest_train = 1;
    for (const burst_error& e : errors) {
        const bool is_large = e.what.size_bytes >= k_large_bytes;
        large += is_large ? 1 : 0;
        (is_large ? large_beyond : small_beyond) += e.of_bound > 1 ? 1 : 0;
        if (e.train > 1) {
            ++trains;
            trains_beyond += e.of_bound > 1 ? 1 : 0;
            worst_train = std::max(worst_train, std::abs(e.percent));
            longest_train = std::max(longest_train, e.train);
        }
        double& worst = is_large ? worst_large : worst_small;
        worst = std::max(worst, std::abs(e.percent));
    }
    std::size_t left_out = 0;
    for (const burst_point_result& r : summary.results)
        left_out += r.left_out;
    std::string text;
    if (summary.results.size() != summary.planned_points)
        text += fmt::format("Interrupted: {} of {} points.\n", summary.results.size(), summary.planned_points);
    text += fmt::format("burst: {}: {} points, {} collectives compared\n", summary.burst, summary.results.size(),
                        errors.size());
    if (summary.in_trains)
        text += fmt::format("  left out:        {} that go in single packets either way\n", left_out);
    text +=
        fmt::format("  in trains:       {} of {} beyond their bound; the worst {:.2f} %; trains of up to {} packets\n",
                    trains_beyond, trains, worst_train, longest_train);
    text +=
        fmt::format("  64 KiB and more: {} of {} beyond 2 %; the worst {:.2f} %\n", large_beyond, large, worst_large);
    text += fmt::format("  below 64 KiB:    {} of {} beyond 5 % and 1 us; the worst {:.2f} %\n", small_beyond,
                        errors.size() - large, worst_small);
    text += fmt::format("  {} points failed, or gave other answers\n", complaints);
    text += holds(summary) ? "The bounds hold.\n" : "The bounds do not hold.\n";
    return text;
}

std::string to_markdown(const burst_summary& summary)
{
    const std::vector<burst_error> errors = errors_of(summary.results);
    std::string text = fmt::format(
        "# Error of trains\n\n<!-- Made by `{}`; do not edit. -->\n\nweft {}\n\n"
        "Every point runs twice: with `burst: {}`, and with single packets. The error of a "
        "collective is its time with trains by its time with single packets, minus one. What goes in single packets "
        "under `auto`, too, {}. Bounds: "
        "2 % for sizes of 64 KiB and more; 5 %, or 1 us, below that. Answers are compared, too.\n\n",
        summary.command, summary.version, summary.burst,
        summary.in_trains ? "would be the same simulation, and was not run" : "has none, and is counted by itself");
    text += fmt::format("## Verdict\n\n```\n{}```\n\n", head_of(summary));
    if (!errors.empty()) {
        const auto platform = [](const burst_error& e) { return e.result->point.family->platform; };
        text += "## Distribution\n\nNumber of collectives by the magnitude of their error.\n\n" + histogram(errors);
        text += distribution_table(
            errors, {"platform", "size"},
            [&](const burst_error& e) {
                return std::vector<std::vector<std::string>>{{platform(e), size_text(e.what.size_bytes)}};
            },
            false);
        text += "By collective:\n\n" +
                distribution_table(
                    errors, {"platform", "collective", "algorithm"},
                    [&](const burst_error& e) {
                        return std::vector<std::vector<std::string>>{{platform(e), e.what.op, e.what.algorithm}};
                    },
                    false);
        // A family of one axis is a list of single what-ifs.
        const auto by_value = [](const burst_error& e, bool of_lists) {
            const sweep_point& point = e.result->point;
            std::vector<std::vector<std::string>> keys;
            const std::vector<const sweep_value*> values = point.values();
            for (std::size_t a = 0; a < values.size() && (values.size() == 1) == of_lists; ++a)
                if (of_lists)
                    keys.push_back({point.family->name, values[a]->name});
                else
                    keys.push_back({point.family->name, point.family->axes[a].name, values[a]->name});
            return keys;
        };
        text +=
            "By the values of the axes, those with the largest share beyond the bound first:\n\n" +
            distribution_table(
                errors, {"family", "axis", "value"}, [&](const burst_error& e) { return by_value(e, false); }, true);
        text += "Single what-ifs, in the same order:\n\n" +
                distribution_table(
                    errors, {"family", "what"}, [&](const burst_error& e) { return by_value(e, true); }, true);
        text += "## Worst points\n\n"
                "With `burst=1 packet` in place of the last value the same command gives the reference.\n\n" +
                worst_points(summary, errors);
    }
    text += "## Points that failed, or gave other answers\n\n" + complaints_text(summary) + "\n";
    text += "## CPU time\n\nOf whole processes, data included; hosts differ.\n\n" + cpu_table(summary);
    text += "## What is swept\n\n" + swept_table();
    return text;
}

} // namespace weft::cli
