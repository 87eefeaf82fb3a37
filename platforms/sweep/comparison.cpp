// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/sweep/comparison.h"

#include "tlm/check.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>

namespace weft {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr const char* k_not_there = "not there";
/// Of the host and of how the program simulates, not of the machine.
constexpr const char* k_host_stats[] = {"run.host_cpu_seconds", "run.kernel_activations"};
/// Which links are among the first few changes with nothing; of a link that both name the figures are compared.
constexpr const char* k_first_links = "busiest_link.";

std::string text_of(const json& j)
{
    return j.is_string() ? j.get<std::string>() : j.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// For a cell of a table.
std::string in_one_line(std::string text)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

/// Leaves by path; empty lists and sections count as leaves.
void flatten(const json& j, const std::string& path, std::map<std::string, std::string>& out)
{
    if (j.is_object() && !j.empty()) {
        for (const auto& [key, value] : j.items())
            flatten(value, path.empty() ? key : path + "." + key, out);
    } else if (j.is_array() && !j.empty() && j.front().is_structured()) {
        for (std::size_t i = 0; i < j.size(); ++i)
            flatten(j[i], fmt::format("{}.{}", path, i), out);
    } else {
        out[path] = text_of(j);
    }
}

std::string name_of_row(const stored_row& row)
{
    std::string name = row.op + " " + row.algorithm;
    if (row.size_bytes)
        name += fmt::format(" {} B", *row.size_bytes);
    if (row.token_bytes)
        name += fmt::format(" tokens of {} B to {}", *row.token_bytes, row.experts_per_token.value_or(0));
    if (row.expert_skew.value_or(0) > 0)
        name += fmt::format(" skew {}", *row.expert_skew);
    for (const std::string* part : {&row.type, &row.redop, &row.group})
        if (!part->empty() && *part != "none")
            name += " " + *part;
    return name;
}

/// By name; rows that were run several times are numbered from the second on.
std::map<std::string, const stored_row*> rows_by_name(const stored_results& r, std::vector<std::string>& order)
{
    std::map<std::string, const stored_row*> all;
    for (const stored_row& row : r.rows) {
        std::string name = name_of_row(row);
        for (std::size_t n = 2; all.count(name) != 0; ++n)
            name = fmt::format("{} #{}", name_of_row(row), n);
        all.emplace(name, &row);
        order.push_back(name);
    }
    return all;
}

class comparer {
public:
    comparer(const stored_results& a, const stored_results& b, double tolerance) : a_(a), b_(b), tolerance_(tolerance)
    {
    }
    comparison compare()
    {
        out_.version_a = a_.version;
        out_.version_b = b_.version;
        out_.digest_a = a_.digest;
        out_.digest_b = b_.digest;
        note("A", a_);
        note("B", b_);
        out_.config = compare_configs(a_.config, b_.config);
        add_text("failure", a_.failure, b_.failure);
        rows();
        host_bytes();
        stats();
        const auto larger = [](const compared_figure& x, const compared_figure& y) {
            return std::abs(x.difference()) > std::abs(y.difference());
        };
        for (auto* figures : {&out_.beyond, &out_.bounds, &out_.stats})
            std::stable_sort(figures->begin(), figures->end(), larger);
        return std::move(out_);
    }

private:
    void note(const char* which, const stored_results& r)
    {
        if (!r.failure.empty())
            out_.notes.push_back(fmt::format("{}: the run did not end, and has only what had ended before: {}", which,
                                             r.failure.substr(0, r.failure.find('\n'))));
        if (r.changed)
            out_.notes.push_back(fmt::format("{}: {} is not what its run has written: it was changed since, or is of "
                                             "another version.",
                                             which, r.file));
    }
    /// Other machines have other answers.
    bool one_machine() const
    {
        return std::all_of(out_.config.begin(), out_.config.end(), [](const auto& key) { return key.key == "seed" || key.key == "name"; });
    }
    void add_text(const std::string& key, const std::string& a, const std::string& b)
    {
        if (a != b)
            out_.outcomes.push_back({key, in_one_line(a.empty() ? "none" : a), in_one_line(b.empty() ? "none" : b)});
    }
    void add_figure(std::vector<compared_figure>& to, compared_figure f)
    {
        ++out_.compared;
        out_.equal += f.a == f.b ? 1 : 0;
        if (std::abs(f.difference()) > tolerance_)
            to.push_back(std::move(f));
    }
    void host_bytes()
    {
        const auto wrong = [](const stored_results& r) {
            return r.wrong_bytes ? fmt::format("{}", *r.wrong_bytes) : std::string("not checked");
        };
        add_text("wrong bytes of checkpoints and host traffic", wrong(a_), wrong(b_));
    }
    void rows()
    {
        std::vector<std::string> order_a, order_b;
        const auto all_a = rows_by_name(a_, order_a), all_b = rows_by_name(b_, order_b);
        for (const std::string& name : order_a) {
            const auto other = all_b.find(name);
            if (other == all_b.end()) {
                out_.only_a.push_back(name);
                continue;
            }
            const stored_row &x = *all_a.at(name), &y = *other->second;
            ++out_.results;
            // Bandwidths and the share of the bound follow from these.
            add_figure(out_.beyond, {name + ": time", "us", x.time_us, y.time_us});
            const auto wrong = [](const stored_row& row) {
                return row.wrong ? fmt::format("{}", *row.wrong) : std::string("not checked");
            };
            add_text(name + ": wrong elements", wrong(x), wrong(y));
            if (one_machine() && !x.answers.empty() && !y.answers.empty())
                add_text(name + ": bits of the answers (digest)", x.answers, y.answers);
            for (const auto& [what, figure] : {std::pair{"shortest of its repeats", &stored_row::least_us}, {"longest of its repeats", &stored_row::most_us}})
                if ((x.*figure) && (y.*figure))
                    add_figure(out_.beyond, {fmt::format("{}: {}", name, what), "us", *(x.*figure), *(y.*figure)});
            if (x.bound_us && y.bound_us) {
                add_figure(out_.bounds, {name + ": least time by the bound", "us", *x.bound_us, *y.bound_us});
                add_text(name + ": bound by", x.bound_by, y.bound_by);
            }
        }
        for (const std::string& name : order_b)
            if (all_a.count(name) == 0)
                out_.only_b.push_back(name);
    }
    void stats()
    {
        const auto by_name = [](const stored_results& r) {
            std::map<std::string, const stored_stat*> all;
            for (const stored_stat& s : r.stats)
                if (std::find(std::begin(k_host_stats), std::end(k_host_stats), s.name) == std::end(k_host_stats))
                    all.emplace(s.name, &s);
            return all;
        };
        const auto all_a = by_name(a_), all_b = by_name(b_);
        for (const auto& [name, x] : all_a) {
            const auto other = all_b.find(name);
            if (other == all_b.end())
                add_only(out_.only_a, name);
            else if (x->unit != other->second->unit)
                add_text(name + ": unit", x->unit, other->second->unit);
            else
                add_figure(out_.stats, {name, x->unit, x->value, other->second->value});
        }
        for (const auto& [name, y] : all_b)
            if (all_a.count(name) == 0)
                add_only(out_.only_b, name);
    }
    static void add_only(std::vector<std::string>& to, const std::string& name)
    {
        if (name.rfind(k_first_links, 0) != 0)
            to.push_back(name);
    }

    const stored_results &a_, &b_;
    double tolerance_;
    comparison out_;
};

struct sweep_point_folder {
    std::string folder;
    std::string reason; ///< of a point that has failed
    bool has_results = false;
};

/// By settings, of a folder that `weft sweep` has made; nothing: it is none.
std::optional<std::map<std::string, sweep_point_folder>> points_of(const std::string& folder)
{
    std::error_code error;
    if (!fs::is_directory(folder + "/points", error))
        return std::nullopt;
    // A sweep whose file was changed leaves the points that it does not have any more.
    std::ifstream table(folder + "/sweep.csv", std::ios::binary);
    const std::string listed(std::istreambuf_iterator<char>(table), {});
    std::map<std::string, sweep_point_folder> all;
    for (const auto& entry : fs::directory_iterator(folder + "/points", error)) {
        if (!fs::is_regular_file(entry.path() / "point.json", error) ||
            (!listed.empty() && listed.find("points/" + entry.path().filename().string()) == std::string::npos))
            continue;
        std::ifstream in(entry.path() / "point.json", std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(in), {});
        const json point = json::parse(text, nullptr, false);
        if (!point.is_object() || !point.contains("name") || !point["name"].is_string())
            continue;
        const auto reason = point.find("reason");
        all[point["name"].get<std::string>()] = {entry.path().string(),
                                                 reason != point.end() && reason->is_string() ? reason->get<std::string>() : "",
                                                 fs::exists(entry.path() / "results.json", error)};
    }
    return all.empty() ? std::nullopt : std::optional(all);
}

std::string results_of(const std::string& path)
{
    std::error_code error;
    if (!fs::exists(path, error))
        throw user_error(fmt::format("{}: there is no such file or folder.", path));
    if (!fs::is_directory(path, error))
        return path;
    const std::string file = (fs::path(path) / "results.json").string();
    if (!fs::exists(file, error) && fs::exists(fs::path(path) / "results.previous.json", error))
        throw user_error(fmt::format(
            "{0}: has no results.json: a run works there, or was killed. Those of the run before are {0}/results.previous.json.",
            path));
    if (!fs::exists(file, error))
        throw user_error(fmt::format(
            "{}: has no results.json and no points of a sweep; give the --out folder of `weft run` or `weft sweep`.",
            path));
    return file;
}

} // namespace

double compared_figure::difference() const
{
    if (a == b)
        return 0;
    return a == 0 ? std::copysign(std::numeric_limits<double>::infinity(), b) : (b - a) / std::abs(a);
}

std::vector<compared_text> compare_configs(const json& a, const json& b)
{
    std::map<std::string, std::string> all_a, all_b;
    flatten(a, "", all_a);
    flatten(b, "", all_b);
    std::set<std::string> keys;
    for (const auto* all : {&all_a, &all_b})
        for (const auto& [key, value] : *all)
            keys.insert(key);
    std::vector<compared_text> different;
    for (const std::string& key : keys) {
        const auto x = all_a.find(key), y = all_b.find(key);
        if (x == all_a.end() || y == all_b.end() || x->second != y->second)
            different.push_back(
                {key, x == all_a.end() ? k_not_there : x->second, y == all_b.end() ? k_not_there : y->second});
    }
    return different;
}

comparison compare(const stored_results& a, const stored_results& b, double tolerance)
{
    return comparer(a, b, tolerance).compare();
}

bool comparisons::same() const
{
    return only_a.empty() && only_b.empty() &&
           std::all_of(pairs.begin(), pairs.end(), [](const comparison& c) { return c.same(); });
}

comparisons compare_paths(const std::string& a, const std::string& b, double tolerance)
{
    comparisons all;
    all.a = a;
    all.b = b;
    all.tolerance = tolerance;
    const auto points_a = points_of(a), points_b = points_of(b);
    if (points_a.has_value() != points_b.has_value())
        throw user_error(fmt::format("{}: is the folder of a sweep, and {} is not; compare two sweeps, or two runs.",
                                     points_a ? a : b, points_a ? b : a));
    if (!points_a) {
        all.pairs.push_back(compare(read_results(results_of(a)), read_results(results_of(b)), tolerance));
        return all;
    }
    for (const auto& [name, x] : *points_a) {
        const auto y = points_b->find(name);
        if (!x.has_results)
            continue;
        if (y == points_b->end() || !y->second.has_results) {
            all.only_a.push_back(name);
            continue;
        }
        all.pairs.push_back(compare(read_results(x.folder + "/results.json"),
                                    read_results(y->second.folder + "/results.json"), tolerance));
        comparison& pair = all.pairs.back();
        pair.name = name;
        for (const auto& [which, point] : {std::pair{"A", &x}, {"B", &y->second}})
            if (pair.notes.empty() && !point->reason.empty())
                pair.notes.push_back(fmt::format("{}: the sweep notes that it failed: {}", which, point->reason));
    }
    for (const auto& [name, y] : *points_b) {
        const auto x = points_a->find(name);
        if (y.has_results && (x == points_a->end() || !x->second.has_results))
            all.only_b.push_back(name);
    }
    if (all.pairs.empty() && all.only_a.empty() && all.only_b.empty())
        throw user_error(fmt::format("{} and {}: neither sweep has a point with results.", a, b));
    return all;
}

} // namespace weft
