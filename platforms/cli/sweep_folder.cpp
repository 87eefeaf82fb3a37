// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/sweep_folder.h"

#include "platforms/cli/point_runs.h"
#include "platforms/report/output_file.h"
#include "platforms/report/previous_results.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <set>

namespace weft::cli {

namespace {

namespace fs = std::filesystem;

constexpr int k_format = 1;
constexpr int k_stopped = 128 + SIGTERM; ///< exit code of a run that saved what it had finished

nlohmann::json json_of(const std::string& file)
{
    std::error_code error;
    const auto kind = fs::status(file, error).type();
    if (kind != fs::file_type::regular && kind != fs::file_type::not_found)
        throw user_error(fmt::format(
            "{}: is no regular file, and the sweep keeps there what a point is. Move it away, or take another folder with --out.",
            file));
    std::ifstream in(file, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return nlohmann::json::parse(text, nullptr, false);
}

/// What did not complete, and below it who stopped first and why.
std::string first_lines(const std::string& failure)
{
    const std::size_t first = failure.find('\n');
    if (first == std::string::npos)
        return failure;
    return failure.substr(0, first) + " " + failure.substr(first + 1, failure.find('\n', first + 1) - first - 1);
}

/// What a run that printed this has to say of why it ended: its last line that is not a summary, or the picture of a
/// hang its first.
std::string reason_in(const program_result& end)
{
    if (end.exit_code < 0)
        return end.failure;
    std::string first;
    for (std::size_t from = 0; from < end.text.size();) {
        const std::size_t stop = std::min(end.text.find('\n', from), end.text.size());
        const std::string line = end.text.substr(from, stop - from);
        from = stop + 1;
        for (const char* words : {"error: ", "the run failed: ", "the run was ", "wrong elements", "cannot", "bug"})
            if (line.find(words) != std::string::npos && line.find("warning: ") == std::string::npos)
                return line.rfind("error: ", 0) == 0 ? line.substr(7) : line;
        if (first.empty())
            first = line;
    }
    return first.empty() ? fmt::format("ended with exit code {}", end.exit_code) : first;
}

} // namespace

sweep_folder::sweep_folder(std::string dir, const sweep_plan& plan)
    : dir_(std::move(dir)), plan_(plan), lock_(dir_)
{
    prepare_output_dir(dir_);
    prepare_output_dir(dir_ + "/points");
    lock_.take();
}

std::string sweep_folder::dir_of(std::size_t point) const { return dir_ + "/" + plan_.points[point].folder; }

std::vector<std::string> sweep_folder::command_of(std::size_t point) const
{
    const platform_source& source = plan_.points[point].source;
    std::vector<std::string> all{"run", source.file};
    for (const std::string& o : source.overrides) {
        all.emplace_back("--set");
        all.push_back(o);
    }
    if (source.seed) {
        all.emplace_back("--seed");
        all.push_back(std::to_string(*source.seed));
    }
    for (const std::string& word : {std::string("--out"), dir_of(point), std::string("--quiet")})
        all.push_back(word);
    return all;
}

std::vector<std::string> sweep_folder::arguments_of(std::size_t point) const
{
    std::vector<std::string> all = command_of(point);
    all.emplace_back("--of-sweep");
    return all;
}

void sweep_folder::note(std::size_t point, const std::string& reason) const
{
    const planned_point& p = plan_.points[point];
    std::vector<std::string> words;
    for (const std::string& word : command_of(point))
        words.push_back(quoted_for_shell(word));
    nlohmann::ordered_json j;
    j["format"] = k_format;
    j["name"] = p.name;
    j["settings"] = p.source.overrides;
    j["command"] = fmt::format("weft {}", fmt::join(words, " "));
    j["identity"] = p.identity;
    j["reason"] = reason;
    write_file_atomically(dir_of(point) + "/point.json", j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void sweep_folder::prepare(std::size_t point) const
{
    const std::string dir = dir_of(point);
    prepare_output_dir(dir);
    std::error_code error;
    const std::string results = dir + "/results.json";
    if (fs::is_regular_file(results, error))
        fs::rename(results, previous_name(results), error);
    for (const auto& entry : fs::directory_iterator(dir, error)) // a run that was killed could not tidy up
        if (entry.path().extension() == ".part" && entry.is_regular_file(error))
            fs::remove(entry.path(), error);
    write_file_atomically(dir + "/config.yaml", plan_.points[point].config_text);
    note(point, "");
}

void sweep_folder::conclude(std::size_t point, const program_result& end) const
{
    const std::string dir = dir_of(point);
    if (end.exit_code == k_full_disk_exit_code)
        throw output_lost(reason_in(end), ENOSPC);
    write_file_atomically(dir + "/log.txt", end.text);
    const bool stopped_with_sweep = stop_requested() && end.exit_code == k_stopped;
    if (end.exit_code != 0 && !stopped_with_sweep)
        note(point, reason_in(end));
}

swept_point sweep_folder::read(std::size_t point) const
{
    const planned_point& planned = plan_.points[point];
    swept_point p;
    p.name = planned.name;
    p.folder = planned.folder;
    p.cells = planned.cells;
    if (!planned.refusal.empty()) {
        p.state = point_state::refused;
        p.reason = planned.refusal;
        return p;
    }
    const std::string dir = dir_of(point);
    const nlohmann::json noted = json_of(dir + "/point.json");
    const auto is = [&](const char* key, const nlohmann::json& value) {
        return noted.value(key, nlohmann::json()) == value;
    };
    if (!noted.is_object() || !is("identity", planned.identity))
        return p;
    if (!is("name", planned.name) || !is("settings", planned.source.overrides)) {
        p.state = point_state::failed;
        p.edited = true;
        p.reason = "point.json was changed after the sweep had written it";
        return p;
    }
    const nlohmann::json reason = noted.value("reason", nlohmann::json());
    if (reason.is_string() && !reason.get<std::string>().empty()) {
        p.state = point_state::failed;
        p.reason = reason.get<std::string>();
    }
    try {
        stored_results r = read_results(dir + "/results.json");
        if (r.config != planned.config) {
            p.state = point_state::failed;
            p.reason = "ran with another configuration: the platform file has changed since";
            return p;
        }
        p.host_seconds = r.host_seconds;
        if (r.changed) {
            p.state = point_state::failed;
            p.edited = true;
            p.reason = "results.json was changed after the run had written it";
            return p;
        }
        if (!r.failure.empty()) {
            // A run that the sweep has stopped does not know why: for its time, or with the sweep.
            const bool interrupted = r.failure.rfind("interrupted by ", 0) == 0;
            p.state = interrupted && p.reason.empty() ? point_state::unfinished : point_state::failed;
            if (p.reason.empty() || !interrupted)
                p.reason = first_lines(r.failure);
            static const std::string k_asked = "interrupted by SIGTERM"; // by the sweep, whatever that was stopped by
            if (p.state == point_state::unfinished && p.reason.rfind(k_asked, 0) == 0)
                p.reason.replace(0, k_asked.size(), "stopped");
            p.rows = std::move(r.rows);
            return p;
        }
        p.digest = r.digest;
        p.reason = r.wrong_text();
        p.state = p.reason.empty() ? point_state::done : point_state::wrong;
        p.rows = std::move(r.rows);
    } catch (const user_error&) { // not there, or not whole: the point is to be run
    }
    return p;
}

std::size_t sweep_folder::strangers() const
{
    std::set<std::string> known;
    for (const planned_point& p : plan_.points)
        known.insert(p.folder);
    std::error_code error;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(dir_ + "/points", error))
        count += known.count("points/" + entry.path().filename().string()) == 0 ? 1 : 0;
    return count;
}

} // namespace weft::cli
