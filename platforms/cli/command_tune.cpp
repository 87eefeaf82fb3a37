// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/host_costs.h"
#include "platforms/cli/point_costs.h"
#include "platforms/cli/seeds.h"
#include "platforms/cli/slurm_array.h"
#include "platforms/cli/terminal.h"
#include "platforms/cli/tune_points.h"
#include "platforms/cli/tuned_kinds.h"
#include "platforms/config/config_reader.h"
#include "platforms/machine/algorithm_choice.h"
#include "platforms/report/columns.h"
#include "platforms/report/folder_lock.h"
#include "platforms/report/replaced_files.h"
#include "platforms/workload/interruption.h"
#include "platforms/workload/tuning_curves.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>
#include <numeric>
#include <set>
#include <thread>

namespace weft::cli {

namespace {

constexpr const char* k_not_run = "not run";

constexpr const char* k_default_sizes = "1KiB..64MiB";

struct tune_options {
    platform_source source;
    tuned_names names;
    std::vector<std::string> sizes{k_default_sizes};
    std::uint32_t factor = 4;
    unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
    unsigned timeout_s = 3600;
    std::string memory;
    std::string engine = "local";
    std::string sbatch;
    std::optional<std::uint32_t> only_point; ///< of a task of Slurm: runs this one, and keeps its time
    bool jobs_set = false;
    std::string out;
    std::string json;
    bool quiet = false;
};

data_size size_named(const std::string& text)
{
    const parsed_quantity size = parse_quantity(quantity_kind::data_size, text);
    if (!size.ok || size.value == 0 || size.value > k_largest_size.value())
        throw user_error(fmt::format("--sizes: {} is no size; write {}, or a range like 4B..256MiB.", in_quotes(text),
                                     legal_units(quantity_kind::data_size)));
    return data_size(size.value);
}

/// Bytes, ascending, each once.
std::vector<std::uint64_t> sizes_of(const tune_options& options)
{
    std::set<std::uint64_t> all;
    for (const std::string& text : options.sizes) {
        collective_spec spec; // knows how a range is gone through
        const std::size_t dots = text.find("..");
        if (dots == std::string::npos) {
            spec.sizes = {size_named(text)};
        } else {
            spec.range =
                size_range{size_named(text.substr(0, dots)), size_named(text.substr(dots + 2)), options.factor};
            if (spec.range->to < spec.range->from)
                throw user_error(fmt::format(
                    "--sizes: the range {} ends below its beginning; write the smaller size first.", in_quotes(text)));
        }
        for (const std::uint64_t bytes : spec.all_sizes())
            all.insert(bytes);
    }
    return {all.begin(), all.end()};
}

/// Sections with a row for each size, and the points that fill them.
struct tune_plan {
    tuning_report report;
    std::vector<tune_point> points;
};

tune_plan plan_of(const std::vector<tuned_kind>& kinds, const std::vector<std::uint64_t>& sizes,
                  const platform& machine)
{
    tune_plan plan;
    plan.report.version = version();
    plan.report.title = fmt::format("{}: {} ranks", machine.run().name, machine.ranks());
    for (const tuned_kind& kind : kinds) {
        tuning_section s;
        s.op = name_of(kind.cases.op);
        s.type = name_of(kind.cases.type);
        s.redop = name_of(kind.cases.redop);
        s.how = kind.how();
        for (const abi::algorithm a : kind.algorithms)
            s.algorithms.emplace_back(name_of(a));
        for (const std::uint64_t bytes : sizes) {
            const collective_case c = kind.case_of(bytes);
            if (!s.rows.empty() && s.rows.back().size_bytes == c.size_bytes)
                continue; // the same whole elements
            tuning_row row;
            row.size_bytes = c.size_bytes;
            row.count = c.count;
            row.times.assign(kind.algorithms.size(), {std::nullopt, k_not_run, ""});
            if (const auto choice = choice_without_table(machine, c))
                row.predicted = name_of(*choice);
            s.rows.push_back(std::move(row));
        }
        plan.report.sections.push_back(std::move(s));
    }
    // Small sizes of all sections first: they tell most in the first seconds.
    for (std::size_t row = 0; row < sizes.size(); ++row)
        for (std::size_t section = 0; section < kinds.size(); ++section) {
            const tuning_section& s = plan.report.sections[section];
            const bool several = std::count_if(kinds.begin(), kinds.end(), [&](const tuned_kind& k) {
                                     return k.cases.op == kinds[section].cases.op;
                                 }) > 1;
            for (std::size_t a = 0; row < s.rows.size() && a < kinds[section].algorithms.size(); ++a) {
                tune_point point;
                point.section = section;
                point.row = row;
                point.algorithm = a;
                point.name =
                    fmt::format("{} by {}, {}{}", s.op, s.algorithms[a], to_string(data_size(s.rows[row].size_bytes)),
                                several ? " of " + kind_of(s) : "");
                point.workload = kinds[section].workload({kinds[section].algorithms[a]}, s.rows[row].size_bytes);
                plan.points.push_back(std::move(point));
            }
        }
    plan.report.points = plan.points.size();
    return plan;
}

/// Fills what follows from the times, of sizes that nothing is missing of: fastest, ranges, crossovers; and the ranges
/// of `table`.
void evaluate(tuning_section& s, const tuned_kind& kind, tuned_cases& table)
{
    measured_curves curves;
    curves.times_ps.resize(s.algorithms.size());
    std::vector<std::size_t> whole; // rows of which every point has run, or cannot
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
        const tuning_row& row = s.rows[i];
        if (std::any_of(row.times.begin(), row.times.end(), [](const tuning_time& t) { return t.missing == k_not_run; }))
            continue;
        whole.push_back(i);
        curves.sizes.push_back(row.size_bytes);
        for (std::size_t a = 0; a < row.times.size(); ++a)
            curves.times_ps[a].push_back(row.times[a].ps);
    }
    const lowest_curves lowest = lowest_of(curves);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        tuning_row& row = s.rows[whole[i]];
        row.fastest = lowest.at[i];
        for (std::size_t a = 0; a < row.times.size(); ++a)
            if (row.times[a].ps && a != row.fastest && (!row.next || *row.times[a].ps < *row.times[*row.next].ps))
                row.next = a;
    }
    table = kind.cases;
    for (const lowest_range& r : lowest.ranges) {
        s.ranges.push_back({r.from_bytes, r.to_bytes, r.curve});
        table.ranges.push_back({data_size(r.from_bytes), data_size(r.to_bytes), kind.algorithms[r.curve]});
    }
    for (const curve_crossover& c : lowest.crossovers)
        s.crossovers.push_back({c.bytes, c.ps / 1e6, c.below, c.above});
}

/// "all_reduce.svg"; further kinds of the same operation are numbered.
std::vector<std::string> plot_names(const std::vector<tuned_kind>& kinds)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto same = std::count_if(kinds.begin(), kinds.begin() + static_cast<std::ptrdiff_t>(i),
                                        [&](const tuned_kind& k) { return k.cases.op == kinds[i].cases.op; });
        names.push_back(same == 0 ? fmt::format("{}.svg", name_of(kinds[i].cases.op))
                                  : fmt::format("{}_{}.svg", name_of(kinds[i].cases.op), same + 1));
    }
    return names;
}

void name_files(const kept_points& kept, tune_plan& plan)
{
    for (tune_point& p : plan.points) {
        const tuning_section& section = plan.report.sections[p.section];
        p.file = kept.file_of(
            p, fmt::format("{}_{}_{}", section.op, section.algorithms[p.algorithm], section.rows[p.row].size_bytes));
    }
}

/// Of a point that needs most: the largest size, of any kind by any algorithm.
std::uint64_t memory_of_points(const tuned_source& source, const std::vector<tuned_kind>& kinds, std::uint64_t largest)
{
    std::uint64_t most = 0;
    const auto look = [&](const tuned_kind& kind, const std::vector<abi::algorithm>& by) {
        const loaded_platform loaded = source.read(kind.workload(by, largest));
        if (loaded.platform)
            most = std::max(most, host_memory_bytes(*loaded.platform));
        return loaded.platform != nullptr;
    };
    for (const tuned_kind& kind : kinds)
        if (!look(kind, kind.algorithms)) // some exclude each other, or are refused at this size
            for (const abi::algorithm a : kind.algorithms)
                look(kind, {a});
    return most;
}

/// This call, for one point, as arguments of this program.
std::vector<std::string> command_of_point(const tune_options& o, const std::string& dir, std::size_t point)
{
    std::vector<std::string> words{"tune",
                                   o.source.file,
                                   "--out",
                                   dir,
                                   "--quiet",
                                   "--point",
                                   std::to_string(point),
                                   "--factor",
                                   std::to_string(o.factor),
                                   "--timeout",
                                   "0"};
    const auto add = [&](const char* option, const std::vector<std::string>& values) {
        if (!values.empty())
            words.insert(words.end(), {option, fmt::format("{}", fmt::join(values, ","))});
    };
    add("--op", o.names.ops);
    add("--sizes", o.sizes);
    add("--algorithms", o.names.algorithms);
    if (o.names.repeats)
        words.insert(words.end(), {"--iters", std::to_string(*o.names.repeats)});
    if (o.source.seed)
        words.insert(words.end(), {"--seed", std::to_string(*o.source.seed)});
    for (const std::string& set : o.source.overrides)
        words.insert(words.end(), {"--set", set});
    return words;
}

/// What a task of Slurm tells: "refused: why", "failed: why".
tuning_time told_by(const program_result& end)
{
    if (!end.failure.empty())
        return {std::nullopt, "failed", end.failure};
    for (const char* what : {"refused", "failed"})
        if (const std::size_t at = end.text.rfind(fmt::format("{}: ", what)); at != std::string::npos) {
            const std::size_t begin = at + std::string_view(what).size() + 2;
            return {std::nullopt, what, end.text.substr(begin, end.text.find('\n', begin) - begin)};
        }
    return {std::nullopt, "failed", fmt::format("the task ended with exit code {} and no time", end.exit_code)};
}

/// One point, for a task of Slurm: its time is kept, or what is missing told. Exit code.
int measure_one(const tune_options& options, const tuned_source& source, const kept_points& kept, tune_plan& plan)
{
    if (*options.only_point >= plan.points.size())
        throw user_error(fmt::format("--point: there are {} points.", plan.points.size()));
    const tune_point& p = plan.points[*options.only_point];
    const tuning_time time = simulate(source, p, options.timeout_s);
    if (time.ps)
        kept.keep(p, *time.ps);
    else
        print_to_stderr("{}: {}\n", time.missing, time.reason);
    return time.ps ? 0 : 1;
}

/// Simulates the points that no earlier call has kept, and fills their times. Exceptions as of run_points().
void measure(const tune_options& options, const tuned_source& source, const kept_points& kept, const std::string& dir,
             std::uint64_t memory_bytes, tune_plan& plan)
{
    const auto time_of = [&](const tune_point& p) -> tuning_time& {
        return plan.report.sections[p.section].rows[p.row].times[p.algorithm];
    };
    std::vector<tune_point> to_do;
    std::vector<std::size_t> numbers; ///< of these points
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        const tune_point& p = plan.points[i];
        if (const auto ps = kept.time_ps(p)) {
            time_of(p) = {ps, "", ""};
            ++plan.report.kept;
        } else {
            to_do.push_back(p);
            numbers.push_back(i);
        }
    }
    plan.report.finished = plan.report.kept;
    const bool lines = !options.quiet && !has_progress_bar(options.quiet);
    if (lines && plan.report.kept > 0)
        print_to_stderr("{} of {} points have a time from an earlier call\n", plan.report.kept, plan.points.size());
    std::size_t told = plan.report.kept;
    point_work work;
    work.count = to_do.size();
    work.name = [&](std::size_t i) { return to_do[i].name; };
    work.run = [&](std::size_t i) {
        const tuning_time time = simulate(source, to_do[i], options.timeout_s);
        if (!time.ps && stop_requested())
            return;
        if (time.ps)
            kept.keep(to_do[i], *time.ps);
        time_of(to_do[i]) = time;
    };
    work.finished = [&](std::size_t i) -> std::string {
        const tuning_time& time = time_of(to_do[i]);
        plan.report.finished += time.ps ? 1 : 0;
        ++told;
        if (!time.ps)
            return fmt::format("[{}/{}] {}: {}: {}", told, plan.points.size(), to_do[i].name, time.missing,
                               time.reason);
        return lines ? fmt::format("[{}/{}] {}: {} us", told, plan.points.size(), to_do[i].name, rounded_us(*time.ps))
                     : "";
    };
    if (options.engine == "slurm" && !to_do.empty()) {
        slurm_options how;
        how.sbatch = options.sbatch;
        how.at_a_time = options.jobs_set ? options.jobs : 0;
        how.timeout_s = options.timeout_s;
        std::vector<std::size_t> places(to_do.size());
        std::iota(places.begin(), places.end(), std::size_t{0});
        const slurm_work tasks{dir, [&](std::size_t i) { return command_of_point(options, dir, numbers[i]); }, {}};
        run_slurm_array(tasks, places, how, [&](std::size_t i, const program_result& end) {
            const auto ps = kept.time_ps(to_do[i]);
            time_of(to_do[i]) = ps ? tuning_time{ps, "", ""} : told_by(end);
            if (const std::string text = work.finished(i); !text.empty())
                print_to_stderr("{}\n", text);
        });
    } else if (!to_do.empty()) {
        point_costs costs;
        costs.memory_bytes = [&](std::size_t) { return memory_bytes; };
        costs.memory_of_all = host_memory_option(options.memory);
        run_points(work, costs, options.jobs, options.quiet);
    }
    // A point that ended while others were being stopped has a time, too.
    plan.report.finished = 0;
    for (const tune_point& p : plan.points)
        plan.report.finished += time_of(p).ps ? 1 : 0;
}

/// Points that the machine cannot run at a size which other algorithms do run.
std::size_t refused_beside_others(const tuning_section& section)
{
    std::size_t all = 0;
    for (const tuning_row& row : section.rows)
        for (const tuning_time& time : row.times)
            all += row.fastest && time.missing == "refused" ? 1 : 0;
    return all;
}

std::string command_line_of(const tune_options& o, const std::string& file)
{
    std::string text = "weft tune " + quoted_for_shell(file);
    if (!o.names.ops.empty())
        text += fmt::format(" --op {}", fmt::join(o.names.ops, ","));
    text += fmt::format(" --sizes {}", quoted_for_shell(fmt::format("{}", fmt::join(o.sizes, ","))));
    if (o.factor != tune_options().factor)
        text += fmt::format(" --factor {}", o.factor);
    if (!o.names.algorithms.empty())
        text += fmt::format(" --algorithms {}", fmt::join(o.names.algorithms, ","));
    if (o.names.repeats)
        text += fmt::format(" -n {}", *o.names.repeats);
    if (o.source.seed)
        text += fmt::format(" --seed {}", *o.source.seed);
    for (const std::string& set : o.source.overrides)
        text += " --set " + quoted_for_shell(set);
    return text;
}

int tune(const tune_options& options)
{
    interruption signals;
    static_cast<void>(host_memory_option(options.memory)); // whether it is a size
    check_engine(options.engine, options.sbatch, options.memory);
    if (options.engine == "slurm" && options.source.file == "-")
        throw user_error("--engine slurm: the nodes cannot read this terminal; write the platform into a file.");
    const std::vector<std::uint64_t> sizes = sizes_of(options);
    const tuned_source source = read_source(options.source);
    // Once as it stands: what is wrong with the machine or with an entry by itself is told with its line. That an
    // algorithm of the file cannot run, or that it names none, does not matter here.
    const loaded_platform as_it_stands = read_platform_text(source.text, source.name, source.source);
    const auto is_of_workload = [](const problem& p) { return p.key_path.rfind("workload", 0) == 0; };
    const bool machine_is_sound =
        as_it_stands.document &&
        std::all_of(as_it_stands.problems.begin(), as_it_stands.problems.end(),
                    [&](const problem& p) { return p.level != severity::error || is_of_workload(p); });
    if (!machine_is_sound) {
        print_to_stderr("{}", as_it_stands.message());
        return 2;
    }
    yaml_document as_written = yaml_document::parse(source.text, source.name);
    as_written.read_layers();
    as_written.apply_overrides(source.source.overrides); // that they fit, also those of the workload
    std::vector<tuned_kind> kinds = kinds_of(options.names, entries_of(*as_it_stands.document));
    find_algorithms(options.names, source, sizes.front(), kinds);
    const loaded_platform loaded = machine_for(source, kinds);
    print_to_stderr("{}", loaded.message());
    if (!loaded.platform)
        return 2;
    const platform& machine = *loaded.platform;
    tune_plan plan = plan_of(kinds, sizes, machine);
    if (plan.points.size() > run_config::k_most_cases)
        throw user_error(
            fmt::format("--sizes: there are {} points, must be at most {}; take fewer sizes or algorithms.",
                        plan.points.size(), run_config::k_most_cases));
    for (const problem& p : loaded.problems)
        plan.report.warnings.push_back(to_string(p));
    if (std::any_of(kinds.begin(), kinds.end(), [](const tuned_kind& k) { return k.repeats == 1; })) {
        tuned_source without_data = source; // data that is generated uses a seed, too, but changes no time
        without_data.source.overrides.push_back("data=off");
        const loaded_platform of_times = machine_for(without_data, kinds);
        const auto seeds = seeds_in_use((of_times.platform ? *of_times.platform : machine).resolved());
        if (!seeds.empty()) {
            plan.report.warnings.push_back(fmt::format("times depend on chance here ({}), and each is of one draw: -n 8 measures means of 8.", seeds.front().first));
            print_to_stderr("warning: {}\n", plan.report.warnings.back());
        }
    }

    if (options.engine == "slurm")
        require_slurm();
    const std::string dir = options.out.empty() ? "out/" + machine.run().name + "/tune" : options.out;
    const std::vector<std::string> plots = plot_names(kinds);
    output_targets targets;
    if (options.source.file != "-")
        targets.add_input(options.source.file, "the platform file");
    for (const std::string& file : machine.input_files())
        targets.add_input(file, "named in the platform file");
    for (const std::string& file : loaded.layers())
        targets.add_input(file, "a part of the platform file");
    for (const std::string& name : plots)
        targets.add_output(dir + "/" + name, "the command's own");
    for (const char* name : {"/tuning.yaml", "/tuning.json"})
        targets.add_output(dir + name, "the command's own");
    if (options.json != "-")
        targets.add_output(options.json, "--json");
    targets.check();
    const std::string points_dir = dir + "/points";
    const made_folders folders(points_dir);
    if (!options.json.empty() && options.json != "-")
        prepare_output_file(options.json);
    prepare_output_dir(dir);
    prepare_output_dir(points_dir);
    std::optional<folder_lock> lock;
    if (!options.only_point) // tasks of Slurm work in the folder of their array
        lock.emplace(dir);

    signals.begin("stops; points that are finished are kept");
    const kept_points kept(points_dir, digest_of_run(machine));
    name_files(kept, plan);
    if (options.only_point)
        return measure_one(options, source, kept, plan);
    measure(options, source, kept, dir, options.engine == "slurm" ? 0 : memory_of_points(source, kinds, sizes.back()),
            plan);
    tuning_report& report = plan.report;
    tuning_table table;
    table.format = tuning_table::k_format;
    table.machine = machine_of(machine);
    report.machine_digest = table.machine.digest;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        tuned_cases cases;
        evaluate(report.sections[i], kinds[i], cases);
        if (!cases.ranges.empty())
            table.tables.push_back(std::move(cases));
    }
    for (const tuning_section& section : report.sections)
        report.refused += refused_beside_others(section);
    const bool stopped = stop_requested();
    replaced_files replaced;
    const auto write = [&replaced](const std::string& file, const std::string& text) {
        replaced.look(file);
        write_file_atomically(file, text);
    };
    if (!stopped) { // half of a table would pass for a whole one
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            report.sections[i].plot_file = dir + "/" + plots[i];
            write(report.sections[i].plot_file, to_svg(plot_of(report.sections[i], report.title)));
        }
        if (!table.tables.empty()) {
            report.table_file = dir + "/tuning.yaml";
            write(report.table_file, to_text(table, fmt::format("Made by `{}`, weft {}.",
                                                                command_line_of(options, source.name), version())));
        }
    }
    const std::string json = to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    if (!stopped)
        write(dir + "/tuning.json", json);
    if (!options.json.empty() && options.json != "-")
        write(options.json, json);
    if (options.json == "-")
        std::cout << json;
    else if (!options.quiet) {
        print_tuning(std::cout, report, style_of_stdout());
        std::cout << replaced.text();
    }
    if (stopped) {
        print_to_stderr("{} of {} points are kept in {}; the same command {}.\n", report.finished, report.points, points_dir,
                        report.finished == report.points ? "needs no more of them" : "goes on from there");
        return interrupted_exit_code();
    }
    return report.finished + report.refused == report.points ? 0 : 1;
}

} // namespace

void add_tune(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<tune_options>();
    CLI::App* command = app.add_subcommand(
        "tune", "Measure which algorithm is the fastest for each size; write a table for `auto`, and plots");
    add_platform_options(*command, options->source);
    command
        ->add_option(
            "--op", options->names.ops,
            "Collectives, separated by commas. Default: those of the file's workload, else\nall_reduce; types, groups and the like are those of the file")
        ->type_name("NAMES")
        ->delimiter(',')
        ->allow_extra_args(false);
    command
        ->add_option("--sizes", options->sizes,
                     "Sizes and ranges, separated by commas: 4B..256MiB, or 4KiB,1MB,3000000B")
        ->type_name("SIZES")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    add_number(*command, "--factor", options->factor,
               "In a range, each size is so many times the one before; 2 narrows the crossovers", "factor", 2,
               1'000'000)
        ->capture_default_str();
    command
        ->add_option("--algorithms", options->names.algorithms,
                     "Algorithms to compare, separated by commas. Default: all that run here")
        ->type_name("NAMES")
        ->delimiter(',')
        ->allow_extra_args(false);
    add_number(*command, "-n,--iters", options->names.repeats, "Run every point N times, and compare means. Default: `repeats` of the file", "number of runs", 1, k_most_repeats);
    CLI::Option* jobs = add_number(
        *command, "--jobs", options->jobs,
        "Points that run at the same time. Default: one for each core of the host; with\nSlurm: as many as it starts",
        "number of points", 1, 1024);
    add_number(*command, "--timeout,--point-timeout", options->timeout_s, "Host seconds that a point may take; 0: any",
               "number of seconds", 0, 10'000'000)
        ->type_name("S")
        ->capture_default_str();
    add_engine_options(*command, options->engine, options->sbatch, options->memory);
    add_number(*command, "--point", options->only_point, "Of a task of Slurm: run this point, and keep its time",
               "number of a point", 0, 1'000'000)
        ->group(""); // not for users
    command
        ->add_option(
            "--out", options->out,
            "Folder for tuning.yaml, tuning.json, plots and kept points; made if missing.\nDefault: out/<name of the run>/tune")
        ->type_name("DIR")
        ->check(is_output_name());
    command
        ->add_option("--json", options->json,
                     "Write the figures as JSON to FILE too; '-' prints them instead of the tables")
        ->type_name("FILE")
        ->check(is_output_name(dash::is_stdout));
    command->add_flag("--quiet", options->quiet, "No tables and no progress, only problems");
    command->footer(
        "Every point is simulated by itself, without data unless --set data=checked asks for them. A second call with the\n"
        "same options goes on where the first one stopped: what has a time is kept in <out>/points.\n"
        "\n"
        "    weft tune configs/tpu_v3/mesh_4x4.yaml\n"
        "    weft tune configs/ub_mesh/rack.yaml --op all_reduce,all_gather --sizes 4B..16MiB --out out/rack\n"
        "    weft run configs/ub_mesh/rack.yaml --set tuning=out/rack/tuning.yaml \\\n"
        "        --set \"workload=[{op: all_reduce, algorithms: [auto], sizes: [1 MiB]}]\"\n");
    command->callback([options, jobs, &exit_code] {
        options->jobs_set = jobs->count() > 0;
        exit_code = tune(*options);
    });
}

} // namespace weft::cli
