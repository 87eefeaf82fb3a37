// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/cli.h"

#include "platforms/config/suggest.h"
#include "platforms/config/whole_program.h"
#include "platforms/config/yaml_layers.h"
#include "tlm/standard_error.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::cli {

void add_platform_options(CLI::App& app, platform_source& source)
{
    app.add_option("FILE", source.file, "Platform file (YAML), for example configs/tpu_v3/mesh_4x4.yaml; '-': standard input")
        ->required()
        ->type_name(" ");
    app.add_option("--set", source.overrides,
                   "Change one value of the file; repeatable. The value is YAML, the\n"
                   "entries of a list are numbered from 0, and * is all of them:\n"
                   "  --set mesh.rows=4 --set \"ici.link_rate=100 GB/s\"\n"
                   "  --set workload.0.op=broadcast --set \"workload.0.sizes=[4 B, 1 MiB]\"")
        ->type_name("KEY.PATH=VALUE")
        ->allow_extra_args(false);
    add_number(app, "--seed", source.seed, "Seed of the generated inputs, in place of the file's", "seed", 0,
               ~std::uint64_t{0});
}

std::optional<std::uint64_t> whole_number(const std::string& text)
{
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    const bool leading_zero = text.size() > 1 && text[0] == '0'; // octal to some readers
    if (result.ec != std::errc() || result.ptr != end || leading_zero)
        return std::nullopt;
    return value;
}

CLI::Validator is_whole_number(const char* what, std::uint64_t least, std::uint64_t most)
{
    return CLI::Validator(
        [=](const std::string& text) {
            const std::optional<std::uint64_t> value = whole_number(text);
            return value && *value >= least && *value <= most
                       ? std::string()
                       : fmt::format("{} is no {}; write a whole number from {} to {}", in_quotes(text), what, least,
                                     most);
        },
        "", what);
}

CLI::Validator is_output_name(dash means)
{
    return CLI::Validator(
        [=](const std::string& text) -> std::string {
            if (text.empty())
                return "is empty; give a name";
            if (text == "-" && means == dash::refused)
                return "'-' is standard output, which carries the table; give a name, ./- for a file called '-'. "
                       "`weft run --json -` prints results";
            return {};
        },
        "", "name");
}

namespace {

std::string names_of_platforms()
{
    return fmt::format("{}", fmt::join(platform_names(), ", "));
}

/// The platform that the file names, or nullptr and a problem; `meant` is then a guess, if there is one.
const platform_info* find_platform(const yaml_document& document, std::vector<problem>& problems,
                                   const platform_info*& meant)
{
    const std::size_t before = problems.size();
    const auto wanted = document.peek_string("platform", problems);
    if (!wanted && problems.size() > before) {
        problems.back().message = fmt::format("has no name; write one of: {}.", names_of_platforms());
        return nullptr;
    }
    if (!wanted) {
        std::vector<std::string> keys;
        for (const yaml_entry& entry : document.root().entries)
            keys.push_back(entry.key);
        const std::string key = closest("platform", keys);
        if (const yaml_entry* const sweep = document.root().find("sweep"); sweep != nullptr)
            problems.push_back({severity::error, document.position_of_key(*sweep), "sweep",
                                fmt::format("this is the file of a sweep; `weft sweep {}` runs it.", document.file_name())});
        else if (key.empty())
            problems.push_back(
                {severity::error,
                 {document.file_name(), 0, 0},
                 "platform",
                 fmt::format("is missing; begin the file with \"platform: \" and one of: {}.", names_of_platforms())});
        else
            problems.push_back(
                {severity::error, document.position_of_key(*document.root().find(key)), key_in_path(key),
                 fmt::format("unknown key; did you mean 'platform'? A file must name its platform, one of: {}.",
                             names_of_platforms())});
        return nullptr;
    }
    for (const platform_info* info : platforms())
        if (wanted->text == info->name)
            return info;
    const std::vector<std::string>& names = platform_names();
    if (std::find(names.begin(), names.end(), wanted->text) != names.end())
        throw whole_program_needed("platform: " + wanted->text);
    std::string near = closest(wanted->text, names);
    for (const platform_info* info : platforms())
        if (info->former_name != nullptr && wanted->text == info->former_name)
            near = info->name;
    for (const platform_info* info : platforms())
        if (near == info->name)
            meant = info;
    add_problem(document, problems, "platform",
                fmt::format("{} is no platform; {}`weft list` shows all: {}.", in_quotes(wanted->text),
                            near.empty() ? "" : fmt::format("did you mean '{}'? ", near), names_of_platforms()));
    return nullptr;
}

/// Values of -b, -e, -f and -n are settings; problems with them name the option, unless --set names the same key.
void name_options(const platform_source& source, std::vector<problem>& problems)
{
    for (problem& p : problems) {
        const std::string option = p.where.file == k_override_file ? source.sizes.option_of(p.key_path) : "";
        const auto sets_it = [&](const std::string& o) {
            return o.rfind("workload.*.", 0) == 0 || (p.key_path.rfind(o.substr(0, o.find('=')), 0) == 0 && o.rfind("workload=", 0) != 0);
        };
        if (!option.empty() && std::none_of(source.overrides.begin(), source.overrides.end(), sets_it))
            p.where.file = option;
    }
}

void read(loaded_platform& result, const platform_source& source)
{
    result.source_text = result.document->source();
    result.document->read_layers();
    std::vector<std::string> overrides = source.overrides;
    // Sizes are of a workload that --set gives as a whole, too; --set of one entry wins over them.
    const auto entries = std::stable_partition(overrides.begin(), overrides.end(),
                                               [](const std::string& o) { return o.rfind("workload=", 0) == 0; });
    const std::vector<std::string> sizes = source.sizes.overrides();
    overrides.insert(entries, sizes.begin(), sizes.end());
    if (source.seed)
        overrides.push_back("seed=" + std::to_string(*source.seed));
    std::vector<problem> refused; // what else is wrong is told in the same pass
    for (const std::string& o : overrides)
        for (const char* key : {k_extends_key, k_include_key})
            if (o.substr(0, o.find('=')) == key)
                refused.push_back({severity::error, {"--set", 0, 0}, key,
                                   "is read before anything is changed; write it into a file, of a line or two if need be."});
    try {
        result.document->apply_overrides(overrides);
    } catch (const user_error& e) {
        refused.insert(refused.end(), e.problems().begin(), e.problems().end());
    }
    for (const std::string& key : source.left_out)
        result.document->leave_out(key);
    const platform_info* meant = nullptr;
    result.info = find_platform(*result.document, result.problems, meant);
    if (result.info != nullptr)
        result.platform = result.info->read(*result.document, result.problems);
    else if (meant != nullptr)
        (void)meant->read(*result.document, result.problems); // what else is wrong with the file, in the same pass
    else {
        result.problems.insert(result.problems.end(), result.document->problems().begin(),
                               result.document->problems().end());
        sort_problems(*result.document, result.problems);
    }
    result.problems.insert(result.problems.begin(), refused.begin(), refused.end());
    if (!refused.empty())
        result.platform.reset();
    name_options(source, result.problems);
}

template <class Make> loaded_platform read_from(Make&& make, const std::string& file, const platform_source& source)
{
    loaded_platform result;
    result.file = file;
    try {
        result.document = make();
        read(result, source);
    } catch (const user_error& e) {
        result.problems.insert(result.problems.end(), e.problems().begin(), e.problems().end());
        result.platform.reset();
    }
    return result;
}

} // namespace

std::string loaded_platform::message() const
{
    std::string text;
    std::size_t errors = 0;
    for (const problem& p : problems) {
        const bool of_file = p.where.file == file || p.where.file.empty();
        text += render(p, of_file ? source_text : document ? document->text_of(p.where.file) : "") + "\n";
        errors += p.level == severity::error ? 1 : 0;
    }
    if (!platform)
        text += fmt::format("{}: {} error{}; nothing was built or written.\n", file.empty() ? "''" : file, errors,
                            errors == 1 ? "" : "s");
    return text;
}

std::vector<std::string> loaded_platform::layers() const
{
    std::vector<std::string> names;
    if (document)
        for (std::size_t i = 1; i < document->files().size(); ++i)
            names.push_back(document->files()[i].name);
    return names;
}

const problem* loaded_platform::first_error() const
{
    const auto error = std::find_if(problems.begin(), problems.end(), [](const problem& p) { return p.level == severity::error; });
    return error == problems.end() ? nullptr : &*error;
}

source_text source_text_of(const platform_source& source)
{
    return source.file == "-" ? source_text{"<stdin>", yaml_document::read_stdin()} : source_text{source.file, yaml_document::read_file(source.file)};
}

loaded_platform read_platform(const platform_source& source)
{
    if (source.file == "-")
        return read_from([] { return yaml_document::parse(yaml_document::read_stdin(), "<stdin>"); }, "<stdin>",
                         source);
    return read_from([&] { return yaml_document::load(source.file); }, source.file, source);
}

loaded_platform read_platform_text(std::string text, const std::string& file_name, const platform_source& source)
{
    return read_from([&] { return yaml_document::parse(std::move(text), file_name); }, file_name, source);
}

loaded_platform load(const platform_source& source)
{
    loaded_platform result = read_platform(source);
    print_to_stderr("{}", result.message());
    return result;
}

} // namespace weft::cli
