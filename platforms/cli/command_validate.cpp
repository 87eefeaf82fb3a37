// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/cli/counted_runs.h"
#include "platforms/cli/kept_runs.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/report/run_report.h"
#include "platforms/report/validation_report.h"
#include "platforms/workload/interruption.h"
#include "platforms/workload/platform_studies.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::cli {

namespace {

struct validate_options {
    std::string target;
    std::string out;
    std::string json;
    std::string configs;
    bool quick = false;
};

std::vector<std::string> validated_names()
{
    std::vector<std::string> all;
    for (const platform_studies* one : studies())
        if (one->validate != nullptr)
            all.emplace_back(one->platform->name);
    return all;
}

validation_settings settings(const validate_options& options)
{
    validation_settings how;
    how.config_dir = options.configs;
    how.sensitivities = !options.quick;
    how.on_row = [](const validation_row& row) {
        fmt::print("{}\n", line_of(row));
        std::fflush(stdout);
    };
    return how;
}

/// "docs/page.WHAT" for "docs/page.md".
std::string beside(const std::string& path, const std::string& what)
{
    const std::filesystem::path file(path);
    return (file.parent_path() / (file.stem().string() + "." + what)).string();
}

/// "docs/06_validation_tpu_v3.partial.md" for "docs/06_validation_tpu_v3.md": a page that is whole is worth more than
/// one that is new.
std::string partial_name(const std::string& path) { return beside(path, "partial" + std::filesystem::path(path).extension().string()); }

/// Figures of simulations that have ended, for the next call.
std::string kept_name(const validate_options& options) { return beside(options.out, "kept.json"); }

/// "N2: all_reduce, 64 ranks", as the page names a row.
std::string name_of_row(const std::string& target, const std::string& what) { return target + ": " + what; }

/// Rows of the whole page that stands there from an earlier call; none where there is no such page.
std::vector<std::string> rows_of_page(const std::string& path)
{
    std::error_code error;
    std::vector<std::string> all;
    if (!std::filesystem::is_regular_file(path, error))
        return all;
    std::ifstream page(path);
    for (std::string line; std::getline(page, line);) {
        for (std::size_t at = 0; (at = line.find("\\|", at)) != std::string::npos; ++at)
            line.erase(at, 1);
        std::vector<std::string> cells;
        for (std::size_t from = 0, to = 0; (to = line.find(" | ", from)) != std::string::npos; from = to + 3)
            cells.push_back(line.substr(from, to - from));
        const bool is_row = cells.size() > 3 && std::any_of(std::begin(k_row_kinds), std::end(k_row_kinds),
                                                            [&](row_kind::name k) { return cells[1] == name_of(k); });
        if (is_row)
            all.push_back(name_of_row(cells[0].substr(2), cells[2]));
    }
    return all;
}

/// After a stop: writes the rows that are finished beside the pages, and says what is missing.
int keep_finished(validation_report report, const validate_options& options, std::size_t kept)
{
    constexpr std::size_t k_most_names = 30;
    std::vector<std::string> missing = rows_of_page(options.out);
    for (const validation_row& row : report.rows)
        missing.erase(std::remove(missing.begin(), missing.end(), name_of_row(row.target, row.what)), missing.end());
    const bool knows = std::filesystem::exists(options.out);
    std::string text = fmt::format("weft: interrupted; {} row{} finished", report.rows.size(),
                                   report.rows.size() == 1 ? " is" : "s are");
    text += knows ? fmt::format(", {} of {} are missing:\n", missing.size(), options.out)
                  : std::string("; which are missing is not known, as there is no whole page.\n");
    for (std::size_t i = 0; i < missing.size() && i < k_most_names; ++i)
        text += "  " + missing[i] + "\n";
    if (missing.size() > k_most_names)
        text += fmt::format("  and {} more\n", missing.size() - k_most_names);
    print_to_stderr("{}", text);
    if (kept > 0)
        print_to_stderr("The same command goes on with {} simulation{} kept in {}.\n", kept, kept == 1 ? "" : "s", kept_name(options));
    if (report.rows.empty()) {
        print_to_stderr("{}", kept == 0 ? "No file was written.\n" : "");
        return interrupted_exit_code();
    }
    report.title = fmt::format("{}: interrupted, {} rows", options.target, report.rows.size());
    report.notes = {"This run was interrupted: rows are missing, and numbers of met and missed targets are of those that are here."};
    const std::string page = partial_name(options.out);
    const replaced_files replaced({page, options.json.empty() ? "" : partial_name(options.json)});
    write_file_atomically(page, to_markdown(report));
    print_to_stderr("They are in {}{}.\n", page, knows ? fmt::format("; {} stays as it was", options.out) : "");
    if (!options.json.empty()) {
        nlohmann::ordered_json j = to_json(report);
        j["interrupted"] = true;
        j["missing"] = missing;
        write_file_atomically(partial_name(options.json), j.dump(2) + "\n");
    }
    print_to_stderr("{}", replaced.text());
    return interrupted_exit_code();
}

int validate(validate_options options)
{
    const platform_studies* target = nullptr;
    for (const platform_studies* one : studies())
        if (options.target == one->platform->name)
            target = one;
    // A page and a folder of platform files for each: remaking one page leaves the others alone.
    if (options.out.empty())
        options.out = fmt::format("docs/06_validation_{}.md", options.target);
    if (options.configs.empty())
        options.configs = "configs/" + options.target;
    output_targets targets;
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options.configs, unreadable))
        targets.add_input(entry.path().string(), "a platform file of --configs");
    targets.add_output(options.out, "--out");
    targets.add_output(options.json, "--json");
    targets.add_output(partial_name(options.out), "the command's own, when it is interrupted,");
    if (!options.json.empty())
        targets.add_output(partial_name(options.json), "the command's own, when it is interrupted,");
    targets.add_output(kept_name(options), "the command's own, until the page is whole,");
    targets.check();
    prepare_output_file(options.out);
    if (!options.json.empty())
        prepare_output_file(options.json);
    interruption signals;
    signals.begin("stops and saves the rows that are finished");
    validation_report finished;
    finished.name = options.target;
    validation_settings how = settings(options);
    counted_runs runs(isolated_run{in_child}, std::chrono::minutes(1), [](const std::string& text) { print_to_stderr("weft: {}\n", text); });
    const auto counted = [&runs](const isolated_run::simulation& simulation, const std::string&) { return runs.run(simulation); };
    kept_runs kept(isolated_run{counted}, kept_name(options));
    how.isolated = isolated_run([&kept](const auto& simulation, const std::string& inputs) { return kept(simulation, inputs); });
    how.on_row = [&finished, told = how.on_row](const validation_row& row) {
        told(row);
        finished.rows.push_back(row);
    };
    validation_report report;
    try {
        report = target->validate(how);
    } catch (const interrupted&) {
        finished.version = version();
        finished.command = "weft validate " + options.target;
        return keep_finished(std::move(finished), options, kept.kept());
    }
    report.version = version();
    report.command = "weft validate " + options.target;
    if (!report.sensitivities.empty())
        fmt::print("\nNot judged: what assumed and calibrated inputs do\n");
    for (const sensitivity_row& s : report.sensitivities)
        fmt::print("  {:<70} {}\n", s.what, s.result);
    fmt::print("\nInputs\n");
    for (const input_row& i : report.inputs)
        fmt::print("  {}: {}: {}\n", i.what, i.value, i.source);
    fmt::print("\n{}{}\n", head_of(report), options.out);
    const replaced_files replaced({options.out, options.json});
    write_file_atomically(options.out, to_markdown(report));
    if (!options.json.empty())
        write_file_atomically(options.json, to_json(report).dump(2) + "\n");
    fmt::print("{}", replaced.text());
    kept.remove_file();
    for (const std::string* whole : {&options.out, &options.json}) {
        std::error_code none;
        const std::string partial = partial_name(*whole);
        if (!whole->empty() && std::filesystem::is_regular_file(partial, none) && std::filesystem::remove(partial, none))
            fmt::print("removed: {} (of an interrupted call)\n", partial);
    }
    return report.count(verdict::miss) > 0 ? 1 : 0;
}

} // namespace

void add_validate(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<validate_options>();
    CLI::App* command = app.add_subcommand(
        "validate", "Compare published results of a machine with the simulation; exit code 1 on a miss");
    const std::vector<std::string> names = validated_names();
    command->add_option("PLATFORM", options->target, fmt::format("One of {}", fmt::join(names, ", ")))
        ->required()
        ->type_name(" ")
        ->check(CLI::IsMember(names));
    command
        ->add_option("--out", options->out,
                     "The Markdown page; default docs/06_validation_PLATFORM.md")
        ->type_name("FILE")
        ->check(is_output_name());
    command->add_option("--json", options->json, "Write the same as JSON to FILE")
        ->type_name("FILE")
        ->check(is_output_name());
    command->add_option("--configs", options->configs, "Folder of the platform files; default configs/PLATFORM")
        ->type_name("DIR");
    command->add_flag("--quick", options->quick, "Only what is judged, not what assumed inputs do");
    command->callback([options, &exit_code] { exit_code = validate(*options); });
}

} // namespace weft::cli
