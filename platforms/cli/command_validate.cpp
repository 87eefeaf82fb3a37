// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/report/run_report.h"
#include "platforms/report/validation_report.h"
#include "platforms/workload/interruption.h"
#include "platforms/workload/platform_studies.h"

#include <cstdio>
#include <filesystem>
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
    how.isolated = in_child;
    how.on_row = [](const validation_row& row) {
        fmt::print("{}\n", line_of(row));
        std::fflush(stdout);
    };
    return how;
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
    targets.check();
    prepare_output_file(options.out);
    if (!options.json.empty())
        prepare_output_file(options.json);
    interruption signals; // rows are printed as they are made; a page that is not whole is not written
    signals.begin("stops; what is printed stays, and no file is written");
    validation_report report = target->validate(settings(options));
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
    write_file_atomically(options.out, to_markdown(report));
    if (!options.json.empty())
        write_file_atomically(options.json, to_json(report).dump(2) + "\n");
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
