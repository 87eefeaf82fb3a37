// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/config/suggest.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "platforms/sweep/comparison.h"
#include "tlm/standard_error.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace weft::cli {

namespace {

struct compare_options {
    std::string a, b;
    std::string tolerance = "1%";
    std::string html;
    bool csv = false;
    bool quiet = false;
};

/// "1%", "0.01" and "0" as a share.
double tolerance_of(const std::string& text)
{
    const bool percent = !text.empty() && text.back() == '%';
    const std::string number = percent ? text.substr(0, text.size() - 1) : text;
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    const bool digits = number.find_first_not_of("0123456789.eE-+") == std::string::npos && !number.empty();
    if (!digits || *end != '\0' || !std::isfinite(value) || value < 0)
        throw user_error(fmt::format("--tolerance: {} is no share; write for example 1% or 0.01.", in_quotes(text)));
    return percent ? value / 100 : value;
}

int compare(const compare_options& options)
{
    const double tolerance = tolerance_of(options.tolerance);
    if (!options.html.empty()) {
        output_targets targets;
        for (const std::string* path : {&options.a, &options.b}) {
            if (path == &options.b && options.b == options.a)
                continue;
            std::error_code error;
            targets.add_input(std::filesystem::is_directory(*path, error) ? *path + "/results.json" : *path,
                              "a file that is compared");
        }
        targets.add_output(options.html, "--html");
        targets.check();
        prepare_output_file(options.html);
    }
    const comparisons all = compare_paths(options.a, options.b, tolerance);
    replaced_files replaced;
    if (!options.html.empty()) {
        replaced.look(options.html);
        write_file_atomically(options.html, to_page(all));
    }
    if (options.csv)
        fmt::print("{}", to_csv(all));
    else if (!options.quiet)
        fmt::print("{}{}", to_text(all), replaced.text());
    if (all.pairs.size() == 1 && all.pairs[0].results == 0 && !all.pairs[0].notes.empty() && all.same()) {
        print_to_stderr("weft compare: neither has a result: nothing was compared.\n");
        return 1;
    }
    return all.same() ? 0 : 1;
}

} // namespace

void add_compare(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<compare_options>();
    CLI::App* command = app.add_subcommand(
        "compare", "Compare two results key by key, configuration first; exit code 1 when they differ");
    command->add_option("A", options->a, "Folder of `weft run` or `weft sweep`, or a results.json")
        ->required()
        ->type_name(" ");
    command->add_option("B", options->b, "The same; differences are B against A")->required()->type_name(" ");
    command
        ->add_option("--tolerance", options->tolerance, "Share by which figures may differ, 1% or 0.01; 0: not at all")
        ->type_name("SHARE")
        ->capture_default_str();
    command->add_option("--html", options->html, "Write the comparison as a page that needs no network")
        ->type_name("FILE")
        ->check(is_output_name());
    command->add_flag("--csv", options->csv, "Print CSV in place of the tables");
    command->add_flag("--quiet", options->quiet, "Print nothing: the exit code tells");
    command->footer(
        "Results are paired by collective, algorithm, size, type, reduction and group; statistics by name; points of sweeps by\n"
        "their settings. Figures of the host (its seconds) are left out. First come keys of the configuration that differ,\n"
        "then results and statistics beyond the tolerance, the largest difference first, then what only one has.\n"
        "\n"
        "Exit codes: 0 all figures are equal within the tolerance, whatever the configurations; 1 they differ, or only one\n"
        "has a result; 2 one of them cannot be used.\n"
        "\n"
        "    weft compare out/before out/after --tolerance 0\n"
        "    weft compare out/a/results.json out/b/results.json --html out/difference.html\n");
    command->callback([options, &exit_code] { exit_code = compare(*options); });
}

} // namespace weft::cli
