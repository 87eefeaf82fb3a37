// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/burst_errors.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/point_runs.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/workload/host_use.h"
#include "platforms/workload/interruption.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <optional>
#include <set>

namespace weft::cli {

namespace {

struct bursts_options {
    std::string burst = k_burst_under_test;
    bool corner = false;
    std::optional<std::uint64_t> sample;
    std::uint64_t seed = 1;
    bool in_trains = false;
    std::string part; ///< "3/8"; "": all
    std::vector<std::string> only;
    unsigned jobs = 2;
    std::string configs = "configs";
    std::string out;
    bool quiet = false;
};

/// Runs a platform file in this process.
burst_run run_source(const platform_source& source)
{
    const auto [m, outcome] = run_here(read_platform(source));
    for (const fabric_engine* f : m->fabrics())
        for (const link_failure& failure : f->link_failures())
            if (failure.at_ps > outcome.simulated_time_ps) // proves nothing
                throw user_error("a link of this point fails after the end of the run; let it fail earlier.");
    burst_run run;
    for (const case_result& c : outcome.cases)
        run.collectives.push_back({name_of(c.what.op), name_of(c.what.algo), c.what.size_bytes, c.time_ps,
                                   c.check.wrong, c.checked ? c.check.digest : 0, m->train_of(c.what)});
    run.cpu_s = cpu_seconds();
    return run;
}

/// The workload of a point without the collectives that go in single packets with this `burst`, too.
struct train_work {
    std::string workload; ///< "": nothing is left
    std::size_t left_out = 0;
    std::string failure;
};
/// Without building the machine: most points have no trains, and lengths are known from the file.
train_work trains_of(const burst_point_result& p, const std::string& burst)
{
    platform_source source = p.source;
    source.overrides.push_back("burst=" + burst);
    const loaded_platform loaded = read_platform(source);
    train_work work;
    if (!loaded.platform) {
        work.failure = "was refused:\n" + loaded.message();
        return work;
    }
    const train_choice trains = loaded.platform->trains();
    for (const collective_case& c : loaded.platform->run().all_cases()) {
        if (train_of(trains, c) == 1) {
            ++work.left_out;
            continue;
        }
        const std::string entry = workload_text({{name_of(c.op), name_of(c.algo)}}, {fmt::format("{} B", c.size_bytes)},
                                                p.point.work().entry_keys);
        work.workload += (work.workload.empty() ? "" : ", ") + entry.substr(1, entry.size() - 2); // its brackets
    }
    if (!work.workload.empty())
        work.workload = "[" + work.workload + "]";
    return work;
}

/// The same in a child process: a kernel can be elaborated once only.
burst_run run_isolated_with(platform_source source, const std::string& burst, unsigned seconds)
{
    source.overrides.push_back("burst=" + burst);
    const isolated_result r = run_isolated([&] { return to_text(run_source(source)); }, seconds);
    if (r.failure.empty())
        return burst_run_from(r.text);
    burst_run failed;
    failed.failure = r.failure;
    return failed;
}

/// Those of `points` that were run before a stop, in their order.
std::vector<burst_point_result> run_all(const bursts_options& options, std::vector<burst_point_result> points)
{
    std::mutex reading; // of platform files, which is not for several threads at once
    point_work work;
    work.count = points.size();
    work.name = [&](std::size_t i) { return points[i].point.name(); };
    work.run = [&](std::size_t i) {
        burst_point_result& p = points[i];
        const unsigned seconds = p.point.family->seconds_of_host;
        if (options.in_trains) {
            const train_work left = [&] {
                const std::lock_guard<std::mutex> lock(reading);
                return trains_of(p, options.burst);
            }();
            p.left_out = left.left_out;
            p.tested.failure = left.failure;
            if (left.workload.empty())
                return;
            p.source = with_workload(std::move(p.source), left.workload);
        }
        p.single = run_isolated_with(p.source, k_burst_reference, seconds);
        p.tested = run_isolated_with(p.source, options.burst, seconds);
    };
    work.finished = [&](std::size_t i) -> std::string {
        const std::string complaint = complaint_of(points[i]);
        return complaint.empty()
                   ? ""
                   : fmt::format("{} ({}): {}", points[i].point.name(), points[i].point.where(), complaint);
    };
    const std::vector<bool> done = run_points(work, options.jobs, options.quiet);
    std::vector<burst_point_result> finished;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (done[i])
            finished.push_back(std::move(points[i]));
    return finished;
}

std::string command_line_of(const bursts_options& o)
{
    std::string text = fmt::format("weft bursts --burst \"{}\"", o.burst);
    if (o.corner)
        text += " --corner";
    if (o.sample)
        text += fmt::format(" --sample {} --seed {}", *o.sample, o.seed);
    if (o.in_trains)
        text += " --in-trains";
    if (!o.part.empty())
        text += " --part " + o.part;
    for (const std::string& name : o.only)
        text += fmt::format(" --only \"{}\"", name);
    return text + (o.out.empty() ? "" : " --out " + o.out);
}

/// By platform, family or point; without a name every point is.
bool is_wanted(const sweep_point& point, const std::vector<std::string>& only)
{
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
               return name == point.family->platform || name == point.family->name || name == point.name();
           });
}

/// Every N-th of them, from the K-th on: part "K/N".
std::vector<burst_point_result> part_of(std::vector<burst_point_result> points, const std::string& part)
{
    if (part.empty())
        return points;
    unsigned long first = 0, step = 0;
    int end = 0;
    if (std::sscanf(part.c_str(), "%5lu/%5lu%n", &first, &step, &end) != 2 ||
        static_cast<std::size_t>(end) != part.size() || first == 0 || first > step)
        throw user_error(fmt::format(
            "--part {}: K/N is meant, as 1/8 to 8/8: every 8th point, from the first to the eighth on.", part));
    std::vector<burst_point_result> some;
    for (std::size_t i = first - 1; i < points.size(); i += step)
        some.push_back(std::move(points[i]));
    if (some.empty())
        throw user_error(fmt::format("--part {}: there are {} points only.", part, points.size()));
    return some;
}

/// Refuses what no point could run with, before any runs: folder and burst.
void check_input(const bursts_options& options, const std::vector<burst_point_result>& points)
{
    std::set<std::string> checked;
    for (const burst_point_result& p : points) {
        if (!checked.insert(p.source.file).second)
            continue;
        platform_source source = p.source;
        source.overrides.push_back("burst=" + options.burst);
        if (const loaded_platform loaded = read_platform(source); !loaded.platform)
            throw user_error(fmt::format("{} ({}):\n{}", p.point.name(), p.point.where(), loaded.message()));
    }
}

/// Platforms of which trains have been measured against single packets; on others `burst: auto` takes single packets.
std::set<std::string> platforms_with_points()
{
    std::set<std::string> names;
    for (const sweep_family& family : sweep_families())
        names.insert(family.platform);
    return names;
}

int measure(const bursts_options& options)
{
    if (!options.out.empty()) {
        output_targets targets;
        std::error_code unreadable;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(options.configs, unreadable))
            targets.add_input(entry.path().string(), "a platform file of --configs");
        targets.add_output(options.out, "--out");
        targets.check();
        prepare_output_file(options.out);
    }
    const sweep_subset subset = options.corner   ? sweep_subset::corner
                                : options.sample ? sweep_subset::sample
                                                 : sweep_subset::all;
    sweep_workloads workloads(options.configs);
    std::vector<burst_point_result> points;
    for (const sweep_point& point : sweep_points(subset, options.sample.value_or(0), options.seed))
        if (is_wanted(point, options.only))
            points.push_back({point, workloads.source_of(point), {}, {}});
    if (points.empty() && options.only.empty())
        throw user_error(
            fmt::format("--sample {}: no family of points gets one; take 20 or more.", options.sample.value_or(0)));
    if (points.empty())
        throw user_error(fmt::format("--only {}: no point of this subset has that name; a platform, a family "
                                     "(tpu_v3 what-if) or a point (ub_mesh 17) is meant. There are points of {}.",
                                     fmt::join(options.only, ", "), fmt::join(platforms_with_points(), ", ")));
    points = part_of(std::move(points), options.part);
    check_input(options, points);
    interruption signals;
    signals.begin("stops and shows the points that are finished");
    burst_summary summary;
    summary.command = command_line_of(options);
    summary.version = version();
    summary.burst = options.burst;
    summary.planned_points = points.size();
    summary.in_trains = options.in_trains;
    summary.results = run_all(options, std::move(points));
    fmt::print("{}", head_of(summary));
    if (!options.out.empty()) {
        const replaced_files replaced({options.out});
        write_file_atomically(options.out, to_markdown(summary));
        fmt::print("{}", replaced.text());
    }
    if (stop_requested())
        return interrupted_exit_code();
    return holds(summary) ? 0 : 1;
}

} // namespace

void add_bursts(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<bursts_options>();
    CLI::App* command = app.add_subcommand(
        "bursts", "Measure the error of trains over a sweep of machines; exit code 1 beyond the bounds");
    command->add_option("--burst", options->burst, "The value of the key `burst` that is compared with single packets")
        ->type_name("VALUE")
        ->capture_default_str();
    CLI::Option* corner = command->add_flag("--corner", options->corner, "A few single points, some seconds");
    add_number(*command, "--sample", options->sample,
               "So many points of all families at most; without it, and without\n--corner: all 73,000",
               "number of points", 1, 1'000'000)
        ->excludes(corner);
    add_number(*command, "--seed", options->seed, "Seed that draws the sample", "seed", 0, ~std::uint64_t{0})
        ->capture_default_str();
    command->add_flag("--in-trains", options->in_trains,
                      "Leave out collectives that go in single packets with VALUE, too:\n"
                      "all points then take a night, and some 65 hours of CPU without it");
    command->add_option("--part", options->part, "Every N-th point, from the K-th on: 1/8 to 8/8 are all points")
        ->type_name("K/N");
    command
        ->add_option("--only", options->only,
                     "Only points of this platform (tpu_v3), of this family of points\n"
                     "(\"tpu_v3 what-if\"), or this one (\"tpu_v3 mesh 17\"); repeatable")
        ->type_name("NAME")
        ->allow_extra_args(false);
    add_number(*command, "--jobs", options->jobs, "Points that run at the same time", "number of points", 1, 64)
        ->capture_default_str();
    command->add_option("--configs", options->configs, "Folder of the platform files that the points change")
        ->type_name("DIR")
        ->capture_default_str();
    command->add_option("--out", options->out, "Write distribution, worst points and their commands as a Markdown page")
        ->type_name("FILE")
        ->check(is_output_name());
    command->add_flag("--quiet", options->quiet, "No progress bar");
    command->callback([options, &exit_code] { exit_code = measure(*options); });
}

} // namespace weft::cli
