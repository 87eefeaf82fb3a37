// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/host_costs.h"
#include "platforms/cli/point_costs.h"
#include "platforms/cli/slurm_array.h"
#include "platforms/cli/sweep_folder.h"
#include "platforms/cli/sweep_plan.h"
#include "platforms/config/suggest.h"
#include "platforms/report/columns.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/sweep/sweep_page.h"
#include "platforms/workload/interruption.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <numeric>
#include <thread>

namespace weft::cli {

namespace {

struct sweep_options {
    std::string file;
    std::vector<std::string> overrides;
    std::optional<std::uint64_t> seed;
    unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
    unsigned timeout_s = 0;
    std::string memory;
    std::string out;
    std::string engine = "local";
    std::string sbatch;
    bool skip_invalid = false;
    bool dry_run = false;
    bool quiet = false;
    bool jobs_set = false;
};

/// Behind the reason of a point that did not end; "" when it had no result.
std::string kept_text(const swept_point& p)
{
    if (p.kept() == 0)
        return "";
    return fmt::format("{} {} result{} that had ended before {} kept.", p.reason.empty() || p.reason.back() == '.' ? "" : ";", p.kept(), p.kept() == 1 ? "" : "s",
                       p.kept() == 1 ? "is" : "are");
}

class sweep_run {
public:
    sweep_run(const sweep_options& options, const sweep_file& file, const sweep_plan& plan, const sweep_folder& folder)
        : options_(options), file_(file), plan_(plan), folder_(folder)
    {
        for (std::size_t i = 0; i < plan.points.size(); ++i) {
            outcomes_.push_back(folder.read(i));
            if (outcomes_[i].state != point_state::done && outcomes_[i].state != point_state::refused)
                to_do_.push_back(i);
        }
    }

    /// Number of points, and how long they will take: those of earlier calls tell how far the estimate is off.
    void announce() const
    {
        double estimated = 0, taken = 0, seconds = 0, longest = 0;
        std::uint64_t largest = 0;
        for (std::size_t i = 0; i < outcomes_.size(); ++i)
            if (outcomes_[i].host_seconds && outcomes_[i].state == point_state::done) {
                estimated += plan_.points[i].seconds;
                taken += *outcomes_[i].host_seconds;
            }
        const double factor = estimated > 0 && taken > 0 ? taken / estimated : 1;
        for (const std::size_t i : to_do_) {
            seconds += plan_.points[i].seconds * factor;
            longest = std::max(longest, plan_.points[i].seconds * factor);
            largest = std::max(largest, plan_.points[i].memory_bytes);
        }
        const std::size_t done = plan_.points.size() - to_do_.size() - plan_.refused;
        std::string text =
            fmt::format("{}: {} point{}", file_.file, plan_.points.size(), plan_.points.size() == 1 ? "" : "s");
        if (plan_.refused > 0)
            text += fmt::format(", {} of them left out", plan_.refused);
        if (done > 0)
            text += fmt::format(", {} done by earlier calls", done);
        if (!to_do_.empty()) {
            text += fmt::format("; {} to run, the largest with {} of memory", to_do_.size(),
                                rounded_text(data_size(largest)));
            text += options_.engine == "slurm"
                        ? fmt::format("; about {} of one core", about_seconds(seconds))
                        : fmt::format("; about {} with {} at a time ({})",
                                      about_seconds(std::max(longest, seconds / options_.jobs)), options_.jobs,
                                      estimated > 0 ? "estimated from those" : "estimated from bytes and packets");
        }
        print_to_stderr("{}\n", text);
        for (const std::size_t i : to_do_)
            if (outcomes_[i].edited)
                print_to_stderr("warning: {}/{}: {}; the point runs again.\n", folder_.dir(), outcomes_[i].folder,
                                outcomes_[i].reason);
    }

    void run()
    {
        if (to_do_.empty())
            return;
        if (options_.engine == "slurm") {
            slurm_options how;
            how.sbatch = options_.sbatch;
            how.at_a_time = options_.jobs_set ? options_.jobs : 0;
            how.timeout_s = options_.timeout_s;
            const slurm_work tasks{folder_.dir(), [&](std::size_t i) { return folder_.arguments_of(i); },
                                   [&](std::size_t i) { folder_.prepare(i); }};
            run_slurm_array(tasks, to_do_, how, [&](std::size_t i, const program_result& end) {
                folder_.conclude(i, end);
                if (const std::string told = finish(i, end); !told.empty())
                    print_to_stderr("{}\n", told);
            });
            return;
        }
        std::vector<program_result> ends(to_do_.size());
        point_work work;
        work.count = to_do_.size();
        work.name = [&](std::size_t n) { return plan_.points[to_do_[n]].name; };
        work.run = [&](std::size_t n) {
            folder_.prepare(to_do_[n]);
            ends[n] = run_program(folder_.arguments_of(to_do_[n]), options_.timeout_s);
            folder_.conclude(to_do_[n], ends[n]);
        };
        work.finished = [&](std::size_t n) { return finish(to_do_[n], ends[n]); };
        point_costs costs;
        costs.seconds = [&](std::size_t n) { return plan_.points[to_do_[n]].seconds; };
        costs.memory_bytes = [&](std::size_t n) { return plan_.points[to_do_[n]].memory_bytes; };
        costs.memory_of_all = host_memory_option(options_.memory);
        run_points(work, costs, options_.jobs, options_.quiet);
    }

    /// As the folder has it now, also what ended while others were being stopped.
    sweep_report report()
    {
        sweep_report r;
        r.name = file_.name;
        r.version = version();
        r.platform = file_.platform;
        r.file = file_.file;
        r.common = plan_.common;
        r.plot = file_.plot;
        r.columns = plan_.columns;
        for (const std::size_t i : to_do_)
            outcomes_[i] = folder_.read(i);
        r.points = outcomes_;
        return r;
    }

private:
    /// What users are told of a point that has ended.
    std::string finish(std::size_t i, const program_result& end)
    {
        outcomes_[i] = folder_.read(i);
        swept_point& p = outcomes_[i];
        ++told_;
        const std::string head = fmt::format("[{}/{}] {}", told_, to_do_.size(), p.name);
        if (p.state == point_state::missing)
            p.reason = end.failure.empty() ? "has no results" : end.failure.substr(0, end.failure.find('\n'));
        if (p.state != point_state::done)
            return fmt::format("{}: {}: {}{}", head, name_of(p.state), p.reason,
                               kept_text(p));
        const bool has_bar = options_.engine != "slurm" && has_progress_bar(options_.quiet);
        if (options_.quiet || has_bar)
            return "";
        done_seconds_ += plan_.points[i].seconds;
        double all = 0;
        for (const std::size_t n : to_do_)
            all += plan_.points[n].seconds;
        const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        const std::string left =
            told_ < to_do_.size() && done_seconds_ > 0
                ? fmt::format("; about {} left",
                              about_seconds(passed * std::max(0.0, all - done_seconds_) / done_seconds_))
                : "";
        return fmt::format("{}: {} result{} in {:.1f} s{}", head, p.rows.size(), p.rows.size() == 1 ? "" : "s",
                           *p.host_seconds, left);
    }

    const sweep_options& options_;
    const sweep_file& file_;
    const sweep_plan& plan_;
    const sweep_folder& folder_;
    std::vector<swept_point> outcomes_; ///< of all points
    std::vector<std::size_t> to_do_;
    std::size_t told_ = 0;
    double done_seconds_ = 0; ///< estimated ones
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Writes the table and the page. Returns which could not be written.
std::vector<std::string> write_outputs(const std::string& dir, const sweep_report& report, const sweep_panels& panels,
                   replaced_files& replaced)
{
    std::vector<std::string> lost;
    const std::pair<const char*, std::string> files[] = {{"/sweep.csv", to_csv(report)},
                                                         {"/sweep.html", to_page(report, panels)}};
    for (const auto& [name, content] : files)
        try {
            write_file_atomically(dir + name, content);
        } catch (const user_error& e) {
            print_to_stderr("{}\n", e.what());
            replaced.stays(dir + name);
            lost.push_back(dir + name);
        }
    return lost;
}

void print_winners(const sweep_report& report, const sweep_panels& panels)
{
    constexpr std::size_t k_most_panels = 40;
    if (panels.lines.size() < 2)
        return;
    std::vector<std::vector<std::string>> lines{{"panel", fastest_heading(report, panels)}};
    for (const sweep_panel& panel : panels.panels)
        if (const std::string text = winners_text(panels, panel); !text.empty() && lines.size() <= k_most_panels)
            lines.push_back({panel.title.empty() ? "all" : panel.title, text});
    print_columns(std::cout, lines, 2);
    if (panels.panels.size() > k_most_panels)
        std::cout << "  ... and " << panels.panels.size() - k_most_panels << " more panels, on the page\n";
    std::cout << "\n";
}

void print_states(const sweep_report& report, const std::string& dir, const std::vector<std::string>& lost)
{
    const std::size_t done = report.count(point_state::done);
    std::string text = fmt::format("{} of {} are done", done, report.points.size());
    for (const point_state state :
         {point_state::wrong, point_state::failed, point_state::unfinished, point_state::refused, point_state::missing})
        if (const std::size_t n = report.count(state); n > 0)
            text += fmt::format(", {} {} {}", n, n == 1 ? "is" : "are", name_of(state));
    std::size_t kept = 0;
    for (const swept_point& p : report.points)
        kept += p.kept();
    if (kept > 0)
        text += fmt::format("; of those that did not end {} result{} {} kept", kept, kept == 1 ? "" : "s", kept == 1 ? "is" : "are");
    fmt::print("{:<17}{}\n", "Points", text);
    for (const auto& [what, file] : {std::pair{"Table", dir + "/sweep.csv"}, std::pair{"Page", dir + "/sweep.html"}})
        fmt::print("{:<17}{}{}\n", what, file,
                   std::find(lost.begin(), lost.end(), file) == lost.end() ? "" : ": could not be written");
}

/// After a stop or a full disk: what there is and what there is not.
void tell_missing(const sweep_report& report, const std::string& dir)
{
    constexpr std::size_t k_most_names = 20;
    const std::size_t done = report.count(point_state::done);
    std::string names;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < report.points.size(); ++i) {
        const swept_point& p = report.points[i];
        if (p.state == point_state::done || p.state == point_state::refused)
            continue;
        if (++missing <= k_most_names)
            names += fmt::format("  {} {}: {}{}{}\n", name_of(p.state), i, p.name,
                                 p.reason.empty() ? "" : ": " + p.reason, kept_text(p));
    }
    if (missing > k_most_names)
        names += fmt::format("  ... and {} more\n", missing - k_most_names);
    print_to_stderr("{} of {} points are finished and kept in {}/points; the same command {}.\n{}", done, report.points.size(), dir,
                    missing == 0 ? "needs no more of them" : "goes on from there", names);
}

void check_targets(const sweep_options& options, const sweep_file& file, const sweep_plan& plan, const std::string& dir)
{
    output_targets targets;
    targets.add_input(options.file, "the sweep file");
    targets.add_input(file.platform, "the platform file");
    for (const std::string& input : plan.inputs)
        targets.add_input(input, "named in the platform file");
    for (const char* name : {"/sweep.csv", "/sweep.html"})
        targets.add_output(dir + name, "the command's own");
    targets.check();
}

/// Mistakes of the sweep file and of its points in one pass; throws user_error where the file has any.
sweep_plan planned(const sweep_options& options, sweep_file& file)
{
    std::vector<problem> problems;
    file = read_sweep_file(options.file, problems);
    if (problems.empty())
        return plan_sweep(file, options.overrides, options.seed);
    try {
        if (!file.platform.empty())
            print_to_stderr("{}", plan_sweep(file, options.overrides, options.seed).messages);
    } catch (const user_error& e) {
        problems.insert(problems.end(), e.problems().begin(), e.problems().end());
    }
    throw user_error(std::move(problems));
}

int sweep(const sweep_options& options)
{
    interruption signals;
    static_cast<void>(host_memory_option(options.memory)); // whether it is a size
    check_engine(options.engine, options.sbatch, options.memory);
    sweep_file file;
    const sweep_plan plan = planned(options, file);
    print_to_stderr("{}", plan.messages);
    if (plan.refused == plan.points.size() || (plan.refused > 0 && !options.skip_invalid)) {
        print_to_stderr("{}: {} of {} points cannot run; nothing was run or written.{}\n", file.file, plan.refused,
                   plan.points.size(),
                   plan.refused == plan.points.size()
                       ? ""
                       : fmt::format(" --skip-invalid runs the other {}.", plan.points.size() - plan.refused));
        return 2;
    }
    if (options.engine == "slurm")
        require_slurm();
    const std::string dir = options.out.empty() ? file.out : options.out;
    check_targets(options, file, plan, dir);
    if (options.dry_run) {
        for (std::size_t i = 0; i < plan.points.size(); ++i)
            fmt::print("{}  {}{}\n", i, plan.points[i].name,
                       plan.points[i].refusal.empty()
                           ? fmt::format("  (about {})", about_seconds(plan.points[i].seconds))
                           : "  refused: " + plan.points[i].refusal);
        return 0;
    }
    const made_folders points_folder(dir + "/points");
    const sweep_folder folder(dir, plan);
    sweep_run run(options, file, plan, folder);
    if (!options.quiet)
        run.announce();
    signals.begin("stops when the points that run have saved what they finished, in 20 s at most");
    std::string stopped; // by a full disk, a host without processes, or Slurm
    try {
        run.run();
    } catch (const user_error& e) {
        for (const problem& p : e.problems())
            stopped += (stopped.empty() ? "" : "\n") + p.message;
    }
    const sweep_report report = run.report();
    const placed_results results = place_results(report);
    const sweep_panels panels = panels_of(results, report.plot);
    replaced_files replaced({dir + "/sweep.csv", dir + "/sweep.html"});
    const std::vector<std::string> lost = write_outputs(dir, report, panels, replaced);
    if (!options.quiet) {
        std::cout << "# weft " << report.version << ", sweep " << report.name << " of " << report.platform << "\n#\n";
        print_winners(report, panels);
        std::cout.flush();
        print_states(report, dir, lost);
        if (const std::size_t n = folder.strangers(); n > 0)
            fmt::print("{:<17}{} folder{} in {}/points of points that the sweep does not have now\n", "Left alone", n,
                       n == 1 ? "" : "s", dir);
        fmt::print("{}", replaced.text());
    }
    print_to_stderr("{}", replaced.text_of_those_that_stay());
    if (!stopped.empty())
        print_to_stderr("The sweep stops: {}\n", stopped);
    if (stop_requested() || !stopped.empty())
        tell_missing(report, dir);
    if (stop_requested())
        return interrupted_exit_code();
    return lost.empty() && stopped.empty() &&
                   report.count(point_state::done) + report.count(point_state::refused) == report.points.size()
               ? 0
               : 1;
}

} // namespace

void add_sweep(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<sweep_options>();
    CLI::App* command = app.add_subcommand(
        "sweep", "Run a grid of values for keys of a platform file; write a table and a page of curves");
    command->add_option("SWEEP", options->file, "Sweep file (YAML), for example configs/sweeps/board_lane_rate.yaml")
        ->required()
        ->type_name(" ");
    command
        ->add_option("--set", options->overrides,
                     "Change one value of the platform file in all points; repeatable. Not a swept key")
        ->type_name("KEY.PATH=VALUE")
        ->allow_extra_args(false);
    add_number(*command, "--seed", options->seed, "Seed of the generated inputs, in place of the file's", "seed", 0,
               ~std::uint64_t{0});
    CLI::Option* jobs = add_number(
        *command, "--jobs", options->jobs,
        "Points that run at the same time. Default: one for each core of the host; with\nSlurm: as many as it starts",
        "number of points", 1, 1024);
    add_number(*command, "--timeout,--point-timeout", options->timeout_s, "Host seconds that a point may take; 0: any",
               "number of seconds", 0, 10'000'000)
        ->type_name("S")
        ->capture_default_str();
    add_engine_options(*command, options->engine, options->sbatch, options->memory);
    command
        ->add_option("--out", options->out,
                     "Folder for sweep.csv, sweep.html and points; made if missing. Default: that of\nthe sweep file")
        ->type_name("DIR")
        ->check(is_output_name());
    command->add_flag("--skip-invalid", options->skip_invalid,
                      "Leave points out that cannot run, in place of refusing the sweep");
    command->add_flag("--dry-run", options->dry_run, "Check and list the points; run and write nothing");
    command->add_flag("--quiet", options->quiet, "No table and no progress, only problems");
    command->footer(
        "Every point is a `weft run` with a folder of its own. A second call runs what has no results yet, what has failed,\n"
        "and what another configuration or another version of weft would change. Exit code 1: a point failed, or has wrong\n"
        "elements.\n"
        "\n"
        "    weft sweep configs/sweeps/board_lane_rate.yaml\n"
        "    weft sweep configs/sweeps/tpu_router_latency.yaml --set \"ici.link_rate=100 GB/s\" --out out/faster --jobs 4\n"
        "    weft sweep configs/sweeps/tpu_router_latency.yaml --engine slurm --sbatch --partition=long\n");
    command->callback([options, jobs, &exit_code] {
        options->jobs_set = jobs->count() > 0;
        exit_code = sweep(*options);
    });
}

} // namespace weft::cli
