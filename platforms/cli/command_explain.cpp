// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft explain`: where the time of a collective went, and which changes of the configuration would shorten it.
#include "platforms/cli/commands.h"
#include "platforms/cli/explain_case.h"
#include "platforms/cli/point_runs.h"
#include "platforms/cli/seeds.h"
#include "platforms/config/suggest.h"
#include "platforms/explain/explanation.h"
#include "platforms/explain/what_if.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/workload/interruption.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <thread>

namespace weft::cli {

namespace {

using json = nlohmann::ordered_json;

struct explain_options {
    std::string dir;
    std::string wanted;
    std::optional<std::uint32_t> rank;
    std::vector<std::string> changes;
    bool no_reruns = false;
    unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
    unsigned point_timeout_s = 3600;
    std::string json_file;
    bool quiet = false;
};

struct tried_change {
    what_if what;
    bool asked = false; ///< by the user: no share of the path is known
    bool chance = false; ///< the same machine with other seeds
    json result;        ///< of timed()
};

json in_child(const std::function<json()>& work, unsigned seconds)
{
    const isolated_result r =
        run_isolated([&] { return work().dump(-1, ' ', false, json::error_handler_t::replace); }, seconds);
    if (r.failure.empty())
        return json::parse(r.text);
    json j;
    j["problem"] = r.failure.substr(0, r.failure.find('\n'));
    return j;
}

/// Settings of a change of ours that the machine refuses are left out, one after the other.
json timed_without_refused(const explained_case& c, tried_change& change, unsigned seconds)
{
    while (!change.asked && !change.what.settings.empty()) {
        const loaded_platform loaded = c.machine(change.what.settings);
        const problem* const error = loaded.first_error();
        if (loaded.platform || error == nullptr)
            break;
        auto& all = change.what.settings;
        const auto refused = std::find_if(all.begin(), all.end(),
                                          [&](const std::string& s) { return s.rfind(error->key_path + "=", 0) == 0; });
        const auto out = refused == all.end() ? all.end() - 1 : refused;
        change.what.left_out.push_back(out->substr(0, out->find('=')));
        all.erase(out);
    }
    if (change.what.settings.empty())
        return json{{"problem", "the machine refuses every key of it"}};
    return in_child([&] { return timed(c, change.what.settings); }, seconds);
}

/// "a=1,b=2" at commas behind which a key begins: values may have commas of their own.
std::vector<std::string> settings_of(const std::string& text)
{
    std::vector<std::string> all;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
        if (c != ',' || (depth > 0 && i < text.size()))
            continue;
        std::string one = text.substr(begin, i - begin);
        one.erase(0, one.find_first_not_of(' '));
        if (one.find('=') == std::string::npos || one.front() == '=')
            throw user_error(
                fmt::format("--changes: {} is no key=value, as \"ici.link_rate=164 GB/s\".", in_quotes(one)));
        all.push_back(std::move(one));
        begin = i + 1;
    }
    return all;
}

json to_json(const tried_change& c, std::uint64_t before_ps)
{
    json j;
    j["change"] = c.what.words;
    j["settings"] = c.what.settings;
    j["left_out"] = c.what.left_out;
    if (!c.what.by_lanes.empty())
        j["by_lanes"] = c.what.by_lanes;
    if (c.chance)
        j["chance"] = true;
    else if (!c.asked)
        j["share"] = c.what.share;
    if (c.result.contains("time_ps")) {
        const auto time_ps = c.result["time_ps"].get<std::uint64_t>();
        j["time_us"] = static_cast<double>(time_ps) / 1e6;
        j["time_ps"] = time_ps;
        j["gain"] = 1 - static_cast<double>(time_ps) / static_cast<double>(before_ps);
    } else if (c.result.contains("problem")) {
        j["problem"] = c.result["problem"];
    }
    return j;
}

std::string results_file_of(const std::string& dir)
{
    std::error_code error;
    if (!std::filesystem::exists(dir, error))
        throw user_error(fmt::format("{}: there is no such folder; `weft run FILE --out {}` makes it.", dir, dir));
    if (!std::filesystem::is_directory(dir, error))
        return dir;
    if (!std::filesystem::exists(dir + "/results.json", error))
        throw user_error(fmt::format(
            "{}: has no results.json; explain takes the folder that `weft run` has written (of a sweep, that of a point).",
            dir));
    return dir + "/results.json";
}

int explain(const explain_options& options)
{
    const std::string file = results_file_of(options.dir);
    const explained_case c(file, options.wanted);
    print_to_stderr("{}", c.failure_text());
    if (c.is_edited())
        print_to_stderr("warning: {}: is not what its run has written: it was changed since, or is of an earlier version; "
                        "what is explained is the configuration that stands there now.\n",
                        file);
    std::vector<tried_change> changes;
    const loaded_platform as_run = options.changes.empty() ? loaded_platform{} : c.machine();
    for (const std::string& text : options.changes) {
        tried_change one;
        one.what.words = text;
        one.what.settings = settings_of(text);
        one.asked = true;
        const loaded_platform loaded = c.machine(one.what.settings); // all are refused before anything runs
        if (!loaded.platform) {
            print_to_stderr("--changes: {}\n{}", text, loaded.message());
            return 2;
        }
        if (const std::string other = c.other_work(loaded); !other.empty())
            throw user_error(fmt::format(
                "--changes: {} makes other work of the case: {}. Its time is neither gain nor loss; run both and see `weft compare`.",
                in_quotes(text), other));
        // What the whole file is warned of stands in the output of its run.
        for (const problem& w : loaded.problems)
            if (std::none_of(as_run.problems.begin(), as_run.problems.end(), [&](const problem& p) { return p.key_path == w.key_path && p.message == w.message; }))
                print_to_stderr("warning: --changes: {}: {}: {}\n", text, w.key_path, w.message);
        changes.push_back(std::move(one));
    }
    if (!options.json_file.empty() && options.json_file != "-") {
        output_targets targets;
        targets.add_input(file, "the results that are explained");
        targets.add_output(options.json_file, "--json");
        targets.check();
        prepare_output_file(options.json_file);
    }
    interruption signals;
    signals.begin("stops; what is known is printed");

    json all;
    point_work first;
    first.count = 1;
    first.name = [&](std::size_t) { return c.words(); };
    first.run = [&](std::size_t) {
        all = in_child([&] { return explained(c, options.rank); }, options.point_timeout_s);
    };
    first.finished = [](std::size_t) { return std::string(); };
    run_points(first, 1, options.quiet);
    if (stop_requested()) {
        print_to_stderr("interrupted before the path of {} was known: nothing is explained.\n", c.words());
        return interrupted_exit_code();
    }
    if (all.contains("problem")) {
        print_to_stderr("{}: {} cannot be explained: {}\n", file, c.words(), all["problem"].get<std::string>());
        return all.value("bad_input", false) ? 2 : 1;
    }
    if (!c.failure_text().empty())
        all["unfinished"] = c.unfinished();
    const auto time_ps = all["time_ps"].get<std::uint64_t>();
    if (const stored_row& row = c.row(); row.bound_us && row.bound_share) {
        all["bound_us"] = *row.bound_us;
        all["bound_by"] = row.bound_by;
        all["bound_share"] = *row.bound_us * 1e6 / static_cast<double>(time_ps);
    }
    const bool prints_json = options.json_file == "-";
    if (!prints_json) {
        std::cout << path_text(all);
        std::cout.flush(); // what is known does not wait for what is to be run
    }
    if (!options.no_reruns) {
        const loaded_platform loaded = c.machine();
        for (what_if& w : promising_changes(loaded.platform->resolved(), causes_of(all["critical_path"]), all.value("limited_by", std::string())))
            changes.push_back({std::move(w), false, false, {}});
    }
    if (!changes.empty()) { // of a run with losses by chance, each change is another draw as well
        const auto seeds = seeds_in_use(c.machine().platform->resolved());
        for (const auto& [draw, words] : {std::pair(1, "no change, another draw of chance"), std::pair(2, "no change, a third draw")}) {
            tried_change same;
            for (const auto& [key, value] : seeds)
                same.what.settings.push_back(fmt::format("{}={}", key, value + static_cast<std::uint64_t>(draw)));
            same.what.words = words;
            same.chance = true;
            if (!same.what.settings.empty())
                changes.push_back(std::move(same));
        }
    }
    if (!changes.empty()) {
        point_work reruns;
        reruns.count = changes.size();
        reruns.name = [&](std::size_t i) { return changes[i].what.words; };
        reruns.run = [&](std::size_t i) {
            changes[i].result = timed_without_refused(c, changes[i], options.point_timeout_s);
        };
        reruns.finished = [](std::size_t) { return std::string(); };
        const std::vector<bool> done = run_points(reruns, options.jobs, options.quiet);
        for (std::size_t i = 0; i < changes.size(); ++i)
            if (!done[i])
                changes[i].result = json();
    }
    if (!options.no_reruns || !changes.empty()) {
        all["changes"] = json::array();
        for (const tried_change& change : changes)
            all["changes"].push_back(to_json(change, time_ps));
    }
    if (stop_requested())
        all["interrupted"] = true;
    const std::string as_json = all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    replaced_files replaced;
    if (!options.json_file.empty() && !prints_json) {
        replaced.look(options.json_file);
        write_file_atomically(options.json_file, as_json);
    }
    std::cout << (prints_json ? as_json : changes_text(all) + replaced.text());
    // A run with a recorder takes the time of one without; another version may have another one.
    const double told_ps = c.row().time_us * 1e6;
    if (std::abs(told_ps - static_cast<double>(time_ps)) >= 1)
        fmt::print(
            stderr, "warning: {} says {:.6f} us{}\n", file, c.row().time_us,
            all.value("slowest", true)
                ? fmt::format("{}: what is explained here is the case by itself.", c.why_time_differs())
                : ".");
    if (stop_requested())
        return interrupted_exit_code();
    const bool failed = std::any_of(changes.begin(), changes.end(),
                                    [](const tried_change& t) { return t.asked && !t.result.contains("time_ps"); });
    return failed ? 1 : 0;
}

} // namespace

void add_explain(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<explain_options>();
    CLI::App* command = app.add_subcommand(
        "explain", "Tell where the time of a collective went, and which changes would help: it runs them");
    command->add_option("DIR", options->dir, "Folder of `weft run`, or its results.json")->required()->type_name(" ");
    command
        ->add_option("--case", options->wanted,
                     "Which collective: its number in results.json, from 0, or OP:ALGORITHM:SIZE, as\n"
                     "all_reduce:ring_1d:1MiB. Default: the largest of the first operation")
        ->type_name("CASE");
    add_number(*command, "--rank", options->rank, "Whose path. Default: of the rank that answers last", "rank", 0,
               65'535)
        ->type_name("R");
    command->add_flag("--no-reruns", options->no_reruns,
                      "Do not look for changes that would help; those of --changes are run all the same");
    command
        ->add_option("--changes", options->changes,
                     "A change of your own to run as well, as of --set: \"ici.link_rate=164 GB/s\"; several\n"
                     "keys with commas between them; repeatable")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    add_number(*command, "--jobs", options->jobs,
               "Changes that run at the same time. Default: one for each core of the host", "number of runs", 1, 1024);
    add_number(*command, "--timeout,--point-timeout", options->point_timeout_s,
               "Host seconds that a run may take; 0: any", "number of seconds", 0, 1'000'000)
        ->capture_default_str();
    command
        ->add_option("--json", options->json_file,
                     "Write all of it to this file, too; '-': to standard output, in place of the text")
        ->type_name("FILE")
        ->check(is_output_name(dash::is_stdout));
    command->add_flag("--quiet", options->quiet, "No progress, only the text and problems");
    command->footer(
        "It runs the case again by itself, with data off, and follows the answer of the slowest rank back to the command:\n"
        "every picosecond has one cause. docs/27_explain.md tells what each cause is.\n"
        "\n"
        "Exit codes: 0 explained, 1 it could not be, or a change of --changes could not be run, 2 bad input.\n"
        "\n"
        "    weft run configs/tpu_v3/mesh_4x4.yaml --out out/mesh\n"
        "    weft explain out/mesh --case all_reduce:ring_1d:1MiB\n"
        "    weft explain out/mesh --no-reruns --changes \"ici.link_rate=164 GB/s\"\n");
    command->callback([options, &exit_code] { exit_code = explain(*options); });
}

} // namespace weft::cli
