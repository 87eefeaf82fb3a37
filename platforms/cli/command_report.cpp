// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/report/report_page.h"
#include "platforms/workload/interruption.h"
#include "tlm/standard_error.h"
#include "tlm/stop_request.h"

#include <filesystem>
#include <fmt/format.h>

namespace weft::cli {

namespace {

struct report_options {
    std::string dir;
    std::string out;
    std::string published;
};

int report(report_options options)
{
    // What one sees in the folder is as good as its name.
    const std::filesystem::path named(options.dir);
    std::error_code error;
    if (std::filesystem::is_regular_file(named, error)) {
        if (const auto name = named.filename(); name != "results.json" && name != k_activity_file && name != k_report_file)
            throw user_error(fmt::format("{}: is a file; give the folder of a `weft run --report`.", options.dir));
        options.dir = named.has_parent_path() ? named.parent_path().string() : ".";
    }
    interruption signals;
    signals.begin("stops; no file is written");
    if (options.out.empty())
        options.out = options.dir + "/" + k_report_file;
    output_targets targets;
    targets.add_input(options.dir + "/results.json", "results.json of the folder");
    targets.add_input(options.dir + "/" + k_activity_file, "activity.json of the folder");
    if (!options.published.empty())
        targets.add_input(options.published, "--published");
    targets.add_output(options.out, "--out");
    targets.check();
    const std::string page = report_page_of(options.dir, options.published, chart_library());
    prepare_output_file(options.out);
    if (stop_requested()) {
        print_to_stderr("weft: interrupted; {} was not written.\n", options.out);
        return interrupted_exit_code();
    }
    const replaced_files replaced({options.out});
    write_file_atomically(options.out, page);
    fmt::print("report:  {}\n{}", options.out, replaced.text());
    return 0;
}

} // namespace

void add_report(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<report_options>();
    CLI::App* command =
        app.add_subcommand("report", "Make report.html, one file to look at, from the folder of a run with --report");
    command->add_option("DIR", options->dir, "Folder of the run, with results.json and activity.json, or one of these files")
        ->required()
        ->type_name(" ");
    command->add_option("--out", options->out, "The page; default DIR/report.html")
        ->type_name("FILE")
        ->check(is_output_name());
    command
        ->add_option("--published", options->published,
                     "Show published against simulated, too: the file of `weft validate PLATFORM --json FILE`")
        ->type_name("FILE");
    command->callback([options, &exit_code] { exit_code = report(*options); });
}

} // namespace weft::cli
