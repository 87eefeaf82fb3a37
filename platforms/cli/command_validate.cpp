// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/bench_cases.h"
#include "platforms/cli/cli.h"
#include "platforms/report/run_report.h"
#include "platforms/report/validation_report.h"
#include "platforms/switchml/validation.h"
#include "platforms/tpu_pod/validation.h"
#include "platforms/ub_mesh/validation.h"
#include "platforms/workload/interruption.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace weft::cli {

namespace {

struct validate_options {
    std::string target;
    std::string out;
    std::string json;
    std::string configs;
    bool quick = false;
};

/// A page and a folder of platform files for each target: remaking one page leaves the others alone.
struct validation_target {
    const char* name;
    const char* out;
    const char* configs;
};
constexpr validation_target k_targets[] = {{"tpu_v3", "docs/06_validation.md", "configs/tpu_v3"},
                                           {"switchml", "docs/06_validation_switchml.md", "configs/switchml"},
                                           {"ub_mesh", "docs/06_validation_ub_mesh.md", "configs/ub_mesh"}};

template <class How> How settings(const validate_options& options)
{
    How how;
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
    for (const validation_target& t : k_targets)
        if (options.target == t.name) {
            options.out = options.out.empty() ? t.out : options.out;
            options.configs = options.configs.empty() ? t.configs : options.configs;
        }
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
    validation_report report = options.target == "switchml"  ? validate_switchml(settings<switchml_validation>(options))
                               : options.target == "ub_mesh" ? validate_ub_mesh(settings<ub_mesh_validation>(options))
                                                             : validate_tpu_v3(settings<tpu_v3_validation>(options));
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
    command->add_option("PLATFORM", options->target, "tpu_v3, switchml or ub_mesh")
        ->required()
        ->type_name(" ")
        ->check(CLI::IsMember({"tpu_v3", "switchml", "ub_mesh"}));
    command
        ->add_option("--out", options->out,
                     "The Markdown page; default docs/06_validation.md, for others docs/06_validation_PLATFORM.md")
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
