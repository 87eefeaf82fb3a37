// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "cmake/version.h"
#include "platforms/cli/cli.h"
#include "platforms/cli/commands.h"
#include "platforms/config/config_template.h"
#include "platforms/config/suggest.h"
#include "platforms/report/output_file.h"
#include "platforms/report/replaced_files.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace weft::cli {

namespace {

struct new_options {
    std::string platform;
    std::string file; ///< "": standard output
    std::vector<std::string> overrides;
    bool force = false;
};

/// A legal name of a run: the file's without folder and ending.
std::string name_of_run(const new_options& options)
{
    std::string name = options.file.empty() ? "" : std::filesystem::path(options.file).stem().string();
    for (char& c : name)
        if (std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-").find(c) ==
            std::string_view::npos)
            c = '_';
    return name.empty() || name.front() == '-' ? "my_" + options.platform : name;
}

int write_new(const new_options& options)
{
    std::vector<std::string> names;
    const platform_info* info = nullptr;
    for (const platform_info* p : platforms()) {
        names.emplace_back(p->name);
        if (options.platform == p->name)
            info = p;
    }
    if (info == nullptr)
        throw user_error(fmt::format("weft new: {} is no platform; {}\n`weft list` shows all.",
                                     in_quotes(options.platform), suggestion(options.platform, names)));
    std::error_code unknown;
    if (!options.force && std::filesystem::is_regular_file(options.file, unknown))
        throw user_error(
            fmt::format("{}: is there already, and nothing was written; --force replaces it.", options.file));

    const std::string machine = fmt::format("platform: {}\nname: {}\nworkload:\n"
                                            "  - {{op: all_reduce, algorithms: [auto], sizes: [64 KiB, 1 MiB]}}\n",
                                            info->name, name_of_run(options));
    platform_source source;
    source.overrides = options.overrides;
    const loaded_platform loaded = read_platform_text(machine, "new " + options.platform, source);
    print_to_stderr("{}", loaded.message());
    if (!loaded.platform)
        return 2;
    std::string text = fmt::format(
        "# {}: {}.\n"
        "#\n"
        "# Written by `weft new`, {}.\n"
        "# Every key has the value that stands here; change it, or take the line out for the default.\n"
        "#     weft check FILE                what does this file describe?\n"
        "#     weft run FILE                  run it: times, bandwidths, wrong elements\n"
        "# Sources of defaults: quoted from a public document, derived from quoted figures, recalled and not verified,\n"
        "# assumed, or calibrated. A line that begins with '#' and a key has no value, or nothing uses it as the file stands.\n\n",
        info->name, info->summary, weft::version());
    text += template_yaml(loaded.platform->resolved(), *loaded.document);
    if (options.file.empty()) {
        fmt::print("{}", text);
        return 0;
    }
    prepare_output_file(options.file);
    const replaced_files replaced({options.file});
    write_file_atomically(options.file, text);
    fmt::print("{}: written; next: weft check {}\n{}", options.file, options.file, replaced.text());
    return 0;
}

} // namespace

void add_new(CLI::App& app, int& exit_code)
{
    auto options = std::make_shared<new_options>();
    CLI::App* command = app.add_subcommand(
        "new", "Write a platform file to begin with: every key, its meaning, unit, default and source");
    command->add_option("PLATFORM", options->platform, "What kind of machine: a name of `weft list`")
        ->required()
        ->type_name(" ");
    command->add_option("FILE", options->file, "File to write. Default: standard output")
        ->type_name(" ")
        ->check(is_output_name());
    command
        ->add_option("--set", options->overrides,
                     "Begin with this value in place of the default; repeatable: --set mesh.rows=4")
        ->type_name("KEY.PATH=VALUE")
        ->allow_extra_args(false);
    command->add_flag("--force", options->force, "Replace FILE if it is there");
    command->callback([options, &exit_code] { exit_code = write_new(*options); });
}

} // namespace weft::cli
